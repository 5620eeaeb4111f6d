"""What every test has: a cache of its own, no data of the user's, and ml-100k on request."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from filelock import FileLock
from hypothesis import settings

from harness import datasets
from harness.errors import DownloadError

# A deadline would measure the machine, and the compilation of kernels, instead of the code.
settings.register_profile("harness", deadline=None)
settings.load_profile("harness")

USERS_CACHE = os.environ.get("HARNESS_CACHE")


@pytest.fixture(autouse=True)
def _own_folders(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep every test away from the user's cache, data and mirrors."""
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path_factory.getbasetemp() / "no-cache"))
    monkeypatch.setenv("SURPRISE_DATA_FOLDER", str(tmp_path_factory.getbasetemp()))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    for name in ("HARNESS_DATA", "HARNESS_MIRROR"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def ml_100k(tmp_path_factory: pytest.TempPathFactory) -> datasets.Ratings:
    """MovieLens 100K, fetched once for all workers; skips where no source can be reached."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    cache = Path(USERS_CACHE) if USERS_CACHE else shared / "cache"
    unreachable = shared / "ml-100k-unreachable.txt"
    with FileLock(shared / "ml-100k.lock"):
        if unreachable.exists():
            pytest.skip(unreachable.read_text())
        try:
            return datasets.load("ml-100k", cache=cache)
        except DownloadError as error:
            unreachable.write_text(str(error))
            pytest.skip(str(error))
