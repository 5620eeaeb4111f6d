"""Clusters for the tests of this folder, skipped with a reason where Dask is missing."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from cluster_processes import Cluster


@pytest.fixture(scope="session")
def _dask():
    reason = "the extra `dask` is not installed: pip install distributed"
    pytest.importorskip("distributed", reason=reason)


@pytest.fixture(autouse=True)
def _own_cache(_dask, tmp_path, monkeypatch):
    """Give the driver a cache that no worker shares."""
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "driver"))


@pytest.fixture
def cluster(_dask, tmp_path):
    """A cluster without anything in it yet."""
    cluster = Cluster(tmp_path / "cluster")
    yield cluster
    cluster.stop()


@pytest.fixture(scope="module")
def pair(_dask, tmp_path_factory):
    """A scheduler with two workers of one thread each, for tests that leave them alive."""
    cluster = Cluster(tmp_path_factory.mktemp("pair"))
    try:
        cluster.start_scheduler()
        for _ in range(2):
            cluster.start_worker()
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture
def pace(tmp_path):
    """A folder through which a test and the cells of `cluster_algorithms` talk."""
    folder = tmp_path / "pace"
    folder.mkdir()
    return folder
