"""What cannot be used is refused in words, and soon."""

from __future__ import annotations

import json
import re
import socket
import sys
import time
from importlib.metadata import version
from pathlib import Path

import pytest
from cluster_processes import (
    Cluster,
    Running,
    config_here,
    config_on,
    marks,
    paced,
    wait_until,
)

from harness.errors import ClusterError, ConfigError
from harness.experiment import run
from harness.experiment.events import Note

pytestmark = [
    pytest.mark.dask,
    pytest.mark.timeout(240),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

SECONDS = 10.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def foreign_version(folder: Path) -> str:
    """Return a path under which the package has another version."""
    about = folder / "surprise_harness-0.0.1.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Name: surprise-harness\nVersion: 0.0.1\n")
    return str(folder)


def test_an_address_where_no_scheduler_listens_is_an_error_within_ten_seconds() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        nobody = f"tcp://127.0.0.1:{free_port()}"
        somebody_else = f"127.0.0.1:{silent.getsockname()[1]}"
        no_host = "tcp://nowhere.invalid:8786"
        begun = time.monotonic()
        runs = {each: Running(config_on(each)) for each in (nobody, somebody_else, no_host)}
        for address, running in runs.items():
            message = rf"no Dask scheduler answers at {address}.*start one with `dask scheduler`"
            with pytest.raises(ClusterError, match=message):
                running.end()
        assert time.monotonic() - begun < SECONDS


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "neither an address nor a file that can be read"),
        ("{", "a file without an address"),
        (json.dumps(["tcp://127.0.0.1:1"]), "a file without an address"),
        (json.dumps({"id": "x"}), "a file without an address"),
    ],
)
def test_a_scheduler_file_that_is_none_is_refused(
    tmp_path: Path, text: str | None, message: str
) -> None:
    path = tmp_path / "scheduler.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(ClusterError, match=f"scheduler.json: {message}"):
        run(config_on(path), results=None)


def test_a_protocol_that_dask_does_not_know_is_refused() -> None:
    with pytest.raises(ClusterError, match=r"no Dask scheduler answers at http://x:1"):
        run(config_on("http://x:1"), results=None)


def test_without_dask_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ClusterError, match=r"needs distributed; pip install .*\[dask\]"):
        run(config_on("tcp://127.0.0.1:1"), results=None)


def test_an_executor_and_a_scheduler_belong_together() -> None:
    with pytest.raises(ConfigError, match="`executor: dask` without `scheduler`; give its address"):
        run(config_here(execution={"executor": "dask"}), results=None)
    with pytest.raises(ConfigError, match="`scheduler` without `executor: dask`"):
        run(config_here(execution={"scheduler": "tcp://127.0.0.1:1"}), results=None)


def test_workers_of_another_version_are_refused_by_name_and_others_used(
    cluster: Cluster, tmp_path: Path, pace: Path
) -> None:
    cluster.start_scheduler()
    cluster.start_worker(PYTHONPATH=foreign_version(tmp_path / "foreign"))
    cluster.start_worker()
    wait_until(lambda: cluster.n_joined() == 2, "both workers")
    running = Running(config_on(cluster.file, algorithms=paced(2, pace)), tmp_path)
    wait_until(lambda: marks(pace), "the first cell")
    time.sleep(1.0)
    assert len(marks(pace)) == 1, "the refused worker computes"
    (pace / "go").touch()
    assert not running.end().failed
    notes = [event.message for event in running.heard if isinstance(event, Note)]
    (refusal,) = [note for note in notes if "refused" in note]
    where, _, why = refusal.partition(" refused: ")
    here = version("surprise-harness")
    assert re.fullmatch(r"dask: tcp://127\.0\.0\.1:\d+", where)
    assert why == (
        f"surprise-harness is 0.0.1 there, {here} here; pip install surprise-harness=={here} there"
    )
    assert any(note.startswith("dask: 1 worker, 1 cell at a time") for note in notes)


def test_a_foreign_worker_that_joins_late_computes_nothing(
    cluster: Cluster, tmp_path: Path, pace: Path
) -> None:
    cluster.start_scheduler()
    cluster.start_worker()
    running = Running(config_on(cluster.file, algorithms=paced(3, pace)), tmp_path)
    wait_until(lambda: marks(pace), "the first cell")
    cluster.start_worker(PYTHONPATH=foreign_version(tmp_path / "foreign"))
    wait_until(running.said("refused: surprise-harness is 0.0.1 there"), "the refusal")
    assert len(marks(pace)) == 1
    (pace / "go").touch()
    assert not running.end().failed


def test_a_cluster_of_foreign_workers_alone_is_an_error(cluster: Cluster, tmp_path: Path) -> None:
    cluster.start_scheduler()
    cluster.start_worker(PYTHONPATH=foreign_version(tmp_path / "foreign"))
    with pytest.raises(ClusterError, match="every worker is refused, as none has surprise-harness"):
        run(config_on(cluster.file), results=None)
