"""A cluster over separate networks, one of which is taken away in mid-run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.dask, pytest.mark.long, pytest.mark.timeout(240)]

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "cluster_namespaces.py"


def reason_to_skip() -> str:
    """Return why no namespace can be made here; empty where one can."""
    if not sys.platform.startswith("linux") or shutil.which("ip") is None:
        return "needs Linux and `ip`"
    if os.geteuid() != 0:
        return "needs root"
    name = f"hprobe{os.getpid()}"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, check=False)
    if made.returncode == 0:
        subprocess.run(["ip", "netns", "del", name], check=True)
    return made.stderr.decode().strip()


def test_cells_of_a_worker_that_is_cut_off_are_computed_elsewhere(tmp_path: Path) -> None:
    if reason := reason_to_skip():
        pytest.skip(f"no network namespaces: {reason}")
    done = subprocess.run(
        [sys.executable, BENCHMARK],
        env=os.environ | {"TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "finished with 0 failed cells; begun twice: 1" in done.stdout
    assert "the same table as here, seconds and memory aside: True" in done.stdout
