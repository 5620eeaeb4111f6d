"""A run on a cluster leaves what a local one leaves; what cannot be used is refused, and soon."""

import json
import re
import socket
import sys
import threading
import time
from contextlib import suppress
from importlib.metadata import version

import numpy as np
import pandas as pd
import pytest
from cluster_processes import Running, config_here, config_on, marks, paced, table_text, wait_until

from harness import datasets, splits
from harness.datasets import Ratings
from harness.errors import ClusterError, ConfigError
from harness.experiment.execute.progress import CellFinished, CellStarted
from harness.experiment.execute.progress import Noted as Note
from harness.experiment.run import run
from harness.splits.random import Holdout

pytestmark = [
    pytest.mark.dask,
    pytest.mark.timeout(240),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture
def run_both(pair, tmp_path, monkeypatch):
    """Return a function that runs there and here, with caches that know nothing of each other."""

    def both(ratings=None, **more):
        there = run(config_on(pair.file, **more), results=tmp_path / "there", ratings=ratings)
        monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "another-driver"))
        here = run(config_here(**more), results=tmp_path / "here", ratings=ratings)
        assert not here.failed
        assert table_text(there) == table_text(here)
        one, other = (pd.read_parquet(run.folder / "users.parquet") for run in (there, here))
        pd.testing.assert_frame_equal(one, other)

    return both


def test_data_given_from_python_with_numbers_as_ids_travel(run_both):
    rng = np.random.default_rng(4)
    rated = rng.choice(40 * 30, 500, replace=False)
    ratings = Ratings.from_columns(
        rated // 30 + 1000, rated % 30, rng.integers(1, 6, 500), scale=(1, 5), name="given"
    )
    run_both(ratings=ratings, dataset="bundled")


def test_filters_searches_and_saved_splits_travel(run_both, tmp_path):
    data = {"synthetic": {"n_users": 60, "n_items": 50, "n_ratings": 900}}
    ratings, _ = splits.filter([], datasets.load(data), 0)
    saved = tmp_path / "saved.split"
    splits.save(splits.make(Holdout(), ratings, seed=5), saved)
    run_both(
        split=[
            {"kind": "file", "path": str(saved)},
            {"kind": "holdout", "random_state": 1, "validation": {"kind": "holdout"}},
        ],
        algorithms=[{"name": "KNNBasic", "search": {"k": [2, 5, 9]}}],
        tuning={"trials": 2, "metric": "ndcg@5"},
        seed=[0, 1],
    )


def test_watchers_hear_of_workers_and_of_every_cell(pair):
    heard = []
    run(config_on(pair.file, seed=3), results=None, watch=heard.append, workers=2)
    note = r"dask: 2 workers, 2 cells at a time; dashboard http://127\.0\.0\.1:\d+/status"
    assert any(re.fullmatch(note, event.message) for event in heard if isinstance(event, Note))
    ended, begun = (
        {event.cell for event in heard if isinstance(event, kind)}
        for kind in (CellFinished, CellStarted)
    )
    assert len(ended) == 6
    assert begun == ended


@pytest.mark.parametrize(
    ("options", "environment", "n_cells", "n_threads"),
    [(["--nthreads", "2"], {}, 2, 1), ([], {"HARNESS_THREADS": "3"}, 1, 3)],
    ids=["one for each cell", "as many as the worker allows"],
)
def test_threads_of_a_worker_are_cells_at_a_time_and_each_cell_has_its_own(
    cluster, options, environment, n_cells, n_threads
):
    cluster.start_scheduler()
    cluster.start_worker(*options, **environment)
    data = {"synthetic": {"n_users": 20, "n_items": 20, "n_ratings": 100, "scale": [3.0, 5.0]}}
    more = {"algorithms": ["cluster_algorithms:Threads"], "metrics": ["mae"], "clip": False}
    running = Running(config_on(cluster.file, dataset=data, **more))
    ended = running.end()
    assert running.said(f"1 worker, {n_cells} cell{'s' * (n_cells > 1)} at a time")()
    assert not ended.failed
    # Every estimate is the number of threads, so the error is the mean rating less that number.
    mean = datasets.load(data).ratings.mean()
    assert ended.table["mae"].item() == pytest.approx(mean - n_threads, abs=0.02)


def test_what_your_own_code_reads_is_compared_on_the_workers(pair, tmp_path):
    file = tmp_path / "number.txt"
    row = {"name": "cluster_algorithms:FromFile", "params": {"file": str(file)}}
    config = config_on(pair.file, algorithms=[row], metrics=["rmse"], baselines=False)

    def scored(number):
        file.write_text(number)
        events = []
        done = run(config, results=None, watch=events.append)
        assert not done.failed
        found = [event.found for event in events if isinstance(event, CellFinished)]
        return done.table["rmse"][0], found

    before, found = scored("2.5")
    assert not any(found)
    again, found = scored("2.5")
    assert again == before
    assert all(found)
    after, found = scored("4.5")
    assert after != before
    assert not any(found)


def test_an_address_where_no_scheduler_listens_is_an_error_within_ten_seconds():
    with socket.socket() as silent, socket.socket() as free, socket.socket() as ssh:
        for listener in (silent, free, ssh):
            listener.bind(("127.0.0.1", 0))
        silent.listen()
        ssh.listen()

        def greet() -> None:
            with suppress(OSError), ssh.accept()[0] as caller:
                caller.sendall(b"SSH-2.0-OpenSSH_9.0\r\n")
                caller.recv(1000)

        threading.Thread(target=greet).start()
        no_scheduler, free_port, other = (
            f"127.0.0.1:{listener.getsockname()[1]}" for listener in (silent, free, ssh)
        )
        free.close()
        addresses = [f"tcp://{free_port}", no_scheduler, other, "tcp://nowhere.invalid:8786"]
        runs = {address: Running(config_on(address)) for address in [*addresses, "http://x:1"]}
        for address, running in runs.items():
            message = rf"no Dask scheduler answers at {address}.*start one with `dask scheduler`"
            with pytest.raises(ClusterError, match=message):
                running.end()


@pytest.mark.parametrize("text", [None, "{", '["tcp://127.0.0.1:1"]', json.dumps({"id": "x"})])
def test_a_scheduler_file_that_is_none_is_refused(tmp_path, text):
    path, reason = tmp_path / "scheduler.json", "neither an address nor a file that can be read"
    if text is not None:
        path.write_text(text)
        reason = "a file without an address"
    with pytest.raises(ClusterError, match=f"scheduler.json: {reason}"):
        run(config_on(path), results=None)


def test_without_dask_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ClusterError, match=r"needs distributed; pip install .*\[dask\]"):
        run(config_on("tcp://127.0.0.1:1"), results=None)


def test_an_executor_and_a_scheduler_belong_together():
    with pytest.raises(ConfigError, match="`executor: dask` without `scheduler`; give its address"):
        run(config_here(execution={"executor": "dask"}), results=None)
    with pytest.raises(ConfigError, match="`join_timeout` without `executor: dask`"):
        run(config_here(execution={"join_timeout": 1.0}), results=None)
    with pytest.raises(ConfigError, match="`scheduler` without `executor: dask`"):
        run(config_here(execution={"scheduler": "tcp://127.0.0.1:1"}), results=None)


@pytest.fixture
def foreign(tmp_path):
    """The environment of a worker under which the package has another version."""
    about = tmp_path / "foreign" / "surprise_harness-0.0.1.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Name: surprise-harness\nVersion: 0.0.1\n")
    return {"PYTHONPATH": str(about.parent)}


@pytest.mark.parametrize("joins_late", [False, True])
def test_workers_of_another_version_are_refused_by_name_and_others_used(
    cluster, tmp_path, pace, foreign, joins_late
):
    cluster.start_scheduler()
    if not joins_late:
        cluster.start_worker(**foreign)
    cluster.start_worker()
    wait_until(lambda: cluster.n_joined() == 2 - joins_late, "the workers")
    running = Running(config_on(cluster.file, algorithms=paced(2 + joins_late, pace)), tmp_path)
    wait_until(lambda: marks(pace), "the first cell")
    if joins_late:
        cluster.start_worker(**foreign)
    wait_until(running.said("refused: surprise-harness is 0.0.1 there"), "the refusal")
    time.sleep(1.0)
    assert len(marks(pace)) == 1, "the refused worker computes"
    (pace / "go").touch()
    assert not running.end().failed
    (refusal,) = [note for note in running.notes if "refused" in note]
    here = version("surprise-harness")
    assert re.fullmatch(
        r"dask: tcp://127\.0\.0\.1:\d+ refused: surprise-harness is 0\.0\.1 there, "
        rf"{here} here; pip install surprise-harness=={here} there",
        refusal,
    )
    assert running.said("dask: 1 worker, 1 cell at a time")()


def test_a_cluster_of_foreign_workers_alone_is_an_error(cluster, foreign):
    cluster.start_scheduler()
    cluster.start_worker(**foreign)
    with pytest.raises(ClusterError, match="every worker is refused, as none has surprise-harness"):
        run(config_on(cluster.file), results=None)
