"""Clusters for the tests of this folder, skipped with a reason where Dask is missing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from cluster_processes import Cluster  # noqa: E402


@pytest.fixture(scope="session")
def _dask() -> None:
    pytest.importorskip(
        "distributed", reason="the extra `dask` is not installed: pip install distributed"
    )


@pytest.fixture(autouse=True)
def _own_cache(_dask: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the driver a cache that no worker shares."""
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "driver"))


@pytest.fixture
def cluster(_dask: None, tmp_path: Path) -> Iterator[Cluster]:
    """A cluster without anything in it yet."""
    (tmp_path / "cluster").mkdir()
    made = Cluster(tmp_path / "cluster")
    try:
        yield made
    finally:
        made.stop()


@pytest.fixture(scope="module")
def pair(_dask: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A scheduler with two workers of one thread each, for tests that leave them alive."""
    made = Cluster(tmp_path_factory.mktemp("pair"))
    try:
        made.start_scheduler()
        for _ in range(2):
            made.start_worker()
        yield made
    finally:
        made.stop()


@pytest.fixture
def pace(tmp_path: Path) -> Path:
    """A folder through which a test and the cells of `cluster_algorithms` talk."""
    folder = tmp_path / "pace"
    folder.mkdir()
    return folder
