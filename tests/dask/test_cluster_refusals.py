"""What cannot be used is refused in words, and soon."""

from __future__ import annotations

import json
import socket
import sys
import time
from pathlib import Path

import pytest
from cluster_processes import Cluster, config_here, config_on

from harness.errors import ClusterError, ConfigError
from harness.experiment import run
from harness.experiment.events import Event, Note

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


def foreign_version(folder: Path, version: str = "0.0.1") -> str:
    """Return a path under which the package has another version."""
    about = folder / f"surprise_harness-{version}.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Name: surprise-harness\nVersion: {version}\n")
    return str(folder)


def test_an_address_where_nobody_listens_is_an_error_within_ten_seconds() -> None:
    begun = time.monotonic()
    with pytest.raises(ClusterError, match=r"no Dask scheduler answers at tcp://127.0.0.1:.*start"):
        run(config_on(f"tcp://127.0.0.1:{free_port()}"), results=None)
    assert time.monotonic() - begun < SECONDS


def test_an_address_where_somebody_else_listens_is_an_error_within_ten_seconds() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        begun = time.monotonic()
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(ClusterError, match=f"no Dask scheduler answers at {address}"):
            run(config_on(address), results=None)
        assert time.monotonic() - begun < SECONDS


def test_a_host_that_is_not_there_is_an_error_within_ten_seconds() -> None:
    begun = time.monotonic()
    with pytest.raises(ClusterError, match=r"no Dask scheduler answers at tcp://nowhere.invalid"):
        run(config_on("tcp://nowhere.invalid:8786"), results=None)
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
    cluster: Cluster, tmp_path: Path
) -> None:
    cluster.start_scheduler()
    cluster.start_worker(PYTHONPATH=foreign_version(tmp_path / "foreign"))
    cluster.start_worker()
    heard: list[Event] = []
    done = run(config_on(cluster.file), results=None, workers=1, watch=heard.append)
    assert not done.failed
    # Whichever joined first: the foreign one is noticed before or after it has had a cell.
    notes = [event.message for event in heard if isinstance(event, Note)]
    refusals = [note for note in notes if "refused: surprise-harness is 0.0.1 there" in note]
    assert len(refusals) <= 1
    assert not cluster.parcels(1) or refusals


def test_a_foreign_worker_that_joins_late_computes_nothing(
    cluster: Cluster, tmp_path: Path, pace: Path
) -> None:
    from test_cluster_losses import Running, marks, paced, wait_until

    cluster.start_scheduler()
    cluster.start_worker(PACE=str(pace))
    running = Running(config_on(cluster.file, algorithms=paced(3)), tmp_path)
    wait_until(lambda: marks(pace), "the first cell")
    cluster.start_worker(PYTHONPATH=foreign_version(tmp_path / "foreign"), PACE=str(pace))
    wait_until(running.said("refused: surprise-harness is 0.0.1 there"), "the refusal")
    assert len(marks(pace)) == 1
    (pace / "go").touch()
    assert not running.end().failed


def test_a_cluster_of_foreign_workers_alone_is_an_error(cluster: Cluster, tmp_path: Path) -> None:
    cluster.start_scheduler()
    cluster.start_worker(PYTHONPATH=foreign_version(tmp_path / "foreign"))
    with pytest.raises(ClusterError, match="every worker is refused, as none has surprise-harness"):
        run(config_on(cluster.file), results=None)
