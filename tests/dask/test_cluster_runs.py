"""A run on a cluster leaves what a local one leaves, and moves data once."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from cluster_processes import Cluster, config_here, config_on, table_text

from harness import datasets, splits
from harness.datasets import Ratings
from harness.experiment import run
from harness.experiment.events import CellFinished, CellStarted, Event, Note
from harness.splits.kinds import Holdout

pytestmark = [
    pytest.mark.dask,
    pytest.mark.timeout(240),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


def run_both(
    pair: Cluster,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    ratings: Any = None,
    watch: Any = lambda event: None,
    **more: Any,
) -> tuple[Any, Any]:
    """Run on the cluster and here, with caches that know nothing of each other."""
    there = run(
        config_on(pair.file, **more), results=folder / "there", ratings=ratings, watch=watch
    )
    monkeypatch.setenv("HARNESS_CACHE", str(folder / "another-driver"))
    here = run(config_here(**more), results=folder / "here", ratings=ratings)
    return there, here


def test_the_table_and_every_users_score_are_the_local_ones(
    pair: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there, here = run_both(pair, tmp_path, monkeypatch)
    assert table_text(there) == table_text(here)
    pd.testing.assert_frame_equal(
        pd.read_parquet(there.folder / "users.parquet"),
        pd.read_parquet(here.folder / "users.parquet"),
    )


def test_watchers_hear_of_workers_and_of_every_cell(pair: Cluster, tmp_path: Path) -> None:
    heard: list[Event] = []
    run(config_on(pair.file, seed=3), results=None, watch=heard.append, workers=2)
    notes = [event.message for event in heard if isinstance(event, Note)]
    told = r"dask: 2 workers, 2 cells at a time; dashboard http://127\.0\.0\.1:\d+/status"
    assert any(re.fullmatch(told, note) for note in notes)
    ended = {event.cell for event in heard if isinstance(event, CellFinished)}
    begun = {event.cell for event in heard if isinstance(event, CellStarted)}
    assert len(ended) == 6
    assert begun == ended


def test_data_given_from_python_with_numbers_as_ids_travel(
    pair: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(4)
    rated = rng.choice(40 * 30, 500, replace=False)
    ratings = Ratings.from_columns(
        rated // 30 + 1000, rated % 30, rng.integers(1, 6, 500), scale=(1, 5), name="given"
    )
    there, here = run_both(pair, tmp_path, monkeypatch, ratings=ratings)
    assert table_text(there) == table_text(here)


def test_filters_searches_and_saved_splits_travel(
    pair: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = {"synthetic": {"n_users": 60, "n_items": 50, "n_ratings": 900}}
    whole, _ = splits.filter([], datasets.load(data), 0)
    saved = tmp_path / "saved.split"
    splits.save(splits.make(Holdout(), whole, seed=5), saved)
    more = {
        "split": [
            {"kind": "file", "path": str(saved)},
            {"kind": "holdout", "random_state": 1, "validation": {"kind": "holdout"}},
        ],
        "algorithms": [{"name": "KNNBasic", "search": {"k": [2, 5, 9]}}],
        "tuning": {"trials": 2, "metric": "ndcg@5"},
        "seed": [0, 1],
    }
    there, here = run_both(pair, tmp_path, monkeypatch, **more)
    assert not here.failed
    assert table_text(there) == table_text(here)


def test_threads_of_a_worker_are_cells_at_a_time_with_one_thread_each(cluster: Cluster) -> None:
    cluster.start_scheduler()
    cluster.start_worker("--nthreads", "2")
    heard: list[Event] = []
    more = {"algorithms": ["cluster_algorithms:Threads"], "metrics": ["mae"], "clip": False}
    data = {"synthetic": {"n_users": 20, "n_items": 20, "n_ratings": 100, "scale": [2.0, 4.0]}}
    done = run(config_on(cluster.file, dataset=data, **more), results=None, watch=heard.append)
    notes = [event.message for event in heard if isinstance(event, Note)]
    assert any("1 worker, 2 cells at a time" in note for note in notes)
    assert not done.failed
    # Every estimate is the number of threads, so the error is the mean rating less one.
    ratings = datasets.load(data)
    assert done.table["mae"].item() == pytest.approx(ratings.ratings.mean() - 1, abs=0.02)


def test_a_worker_may_allow_its_cells_more_threads(cluster: Cluster) -> None:
    cluster.start_scheduler()
    cluster.start_worker(HARNESS_THREADS="3")
    more = {"algorithms": ["cluster_algorithms:Threads"], "metrics": ["mae"], "clip": False}
    data = {"synthetic": {"n_users": 20, "n_items": 20, "n_ratings": 100, "scale": [4.0, 5.0]}}
    done = run(config_on(cluster.file, dataset=data, **more), results=None)
    ratings = datasets.load(data)
    assert done.table["mae"].item() == pytest.approx(ratings.ratings.mean() - 3, abs=0.02)
