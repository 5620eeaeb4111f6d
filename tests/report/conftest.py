"""A run as the harness writes it, with two tables, two folds, a failed cell and hostile names."""

import numpy as np
import pandas as pd
import pytest

from harness.config.experiment import Experiment, Inference
from harness.report import build_page
from harness.results.record import RunInfo
from harness.results.runs import Run
from harness.results.scores import infer
from harness.results.store import key_of, short_key

HOSTILE = "<script>alert('x')</script> & a_b $x^2$ {100%}\nnew 🙂"
NASTY_ERROR = 'ValueError: <img src=x onerror=alert(1)> & "quoted" `code` 50% a_b\n\x1b[31mred 💥'
NASTY_NOTE = "<b>note</b> & `kind: x` a_b (doi:10.1145/2827872)\nsecond line 🙂"
NAME = "nasty_<i>run</i>&🙂"
METRICS = ["ndcg@5", "ndcg@10", "ndcg@20", "rmse"]
ALGORITHMS = ["SVD", "SVD++", "BaselineOnly", HOSTILE, "Random"]
FAILS = "NMF"
CANDIDATES = ["rated", "catalogue"]
N_USERS = 60
MEASURED = {"processor": "<cpu>", "cores": 2, "workers": 1, "threads": 1}
MEASURED |= {"version": "0.1.0", "date": "2026-01-02"}


def numbers(scores):
    """Return what is known of every metric but rmse."""
    return dict.fromkeys(METRICS[:3], scores)


def build(name=NAME, candidates=CANDIDATES, folds=(0, 1), algorithms=ALGORITHMS, fails=FAILS):
    """Return a run made from a fixed seed."""
    rng = np.random.default_rng(7)
    cells, frames, bounds = [], [], []
    for section in candidates:
        easy = rng.beta(6, 2, N_USERS)
        for fold in folds:
            where = table_of(section) | {"seed": 0, "fold": fold}
            for place, algorithm in enumerate(algorithms):
                cell, frame = _cell(rng, where, place, algorithm, len(folds), easy)
                cells.append(cell)
                frames.append(frame)
            if fails:
                cell = {"n_folds": len(folds), "key": "f" * 64, "params": {}, "error": NASTY_ERROR}
                cell |= {"algorithm": fails, "row": row_of(where, fails)}
                cells.append(where | cell | {"split_fingerprint": "cd" * 32})
        spread = numbers(0.0 if len(folds) > 1 else None)
        bounds += [
            table_of(section) | {"bound": bound, "scores": numbers(value), "deviations": spread}
            for bound, value in (("best", 1.0), ("random", 0.5))
        ]
    users = pd.concat(frames, ignore_index=True)
    titles = [*algorithms, *([fails] if fails else [])]
    labels = [{"name": "SVD", "label": " ".join(title.split())[:80]} for title in titles]
    said = {"name": "nasty", "description": "What & <why>?", "metrics": METRICS}
    config = {"dataset": "ml-100k", "split": {"kind": "kfold", "n_splits": 2}, "baselines": False}
    config |= said | {"candidates": candidates, "algorithms": labels}
    info = said | {
        "seeds": [0],
        "config": Experiment.model_validate(config).model_dump(mode="json"),
        "config_file": "configs/nasty.yaml",
        "datasets": [
            {
                "name": "ml-100k",
                "source": "ml-100k",
                "fingerprint": "ab" * 32,
                "n_users": 943,
                "n_items": 1682,
                "n_ratings": 100_000,
                "scale": [1.0, 5.0],
                "filters": [],
                "notes": [],
            }
        ],
        "splits": [
            {
                "dataset": "ml-100k",
                "split": "2-fold",
                "seed": 0,
                "fold": fold,
                "fingerprint": "cd" * 32,
                "n_train": 50_000,
                "n_test": 50_000,
                "notes": [],
            }
            for fold in folds
        ],
        "notes": [NASTY_NOTE],
        "cells": cells,
        "rows": rows_of(cells, users),
        "bounds": bounds,
        "statistics": [],
        "versions": {"python": "3.11.7", "harness": "0.1.0", "scikit-surprise": "1.1.5"},
        "machine": {"system": "Linux", "processor": "<cpu>", "cores": 2, "memory_gb": 25.3},
        "commit": None,
        "started": "2026-01-02T03:04:05+00:00",
        "seconds": 12.5,
        "files": {},
    }
    info = RunInfo(**info, **_redefined(candidates, algorithms))
    statistics, _ = infer(users, METRICS[:3], info.cells, Inference(resamples=500), 0)
    return Run(info.model_copy(update={"name": name, "statistics": statistics}), users)


def table_of(candidates):
    """Return names and identity of a table."""
    names = {"dataset": "ml-100k", "split": "2-fold", "candidates": candidates}
    return names | {"table": short_key(names)}


def row_of(where, algorithm):
    """Return the identity of a row."""
    return short_key({"table": where["table"], "algorithm": algorithm})


def rows_of(cells, users):
    """Return the rows of a run, each with its values."""
    found = {}
    for cell in cells:
        names = {key: cell[key] for key in ("dataset", "split", "candidates", "algorithm")}
        found[cell["row"]] = names | {"table": cell["table"], "row": cell["row"]}
    for row, entry in found.items():
        own = users[users["row"] == row]
        means = own.groupby("user")[METRICS].mean().mean().to_dict()
        good = [c["scores"]["rmse"]["mean"] for c in cells if c["row"] == row and "scores" in c]
        means["rmse"] = sum(good) / len(good) if good else float("nan")
        entry["scores"] = {m: None if np.isnan(value) else value for m, value in means.items()}
    tables = list(dict.fromkeys(cell["table"] for cell in cells))
    return sorted(found.values(), key=lambda entry: tables.index(entry["table"]))


def _redefined(candidates, algorithms):
    """Return tie and convention tables in which each number can be told from the others."""
    conventions, ties = [], []
    for far, section in enumerate(candidates):
        where = table_of(section)
        rows = [
            {
                "convention": library,
                "label": label,
                "scores": {
                    row_of(where, name): None if note else base + 0.001 * place + 0.1 * far
                    for place, name in enumerate(algorithms)
                },
                "note": note,
            }
            for library, label, base, note in (
                ("one <b>&", "ndcg(gain=linear)@10", 0.5, ""),
                ("two", "ndcg(gain=linear)@10", 0.5, ""),
                ("three", "ndcg(ties=first)@10", 0.6, ""),
                ("four", "ndcg(gain=binary)@10", 0.7, "<i>refused</i>"),
            )
        ]
        conventions.append(where | {"metric": "ndcg", "k": 10, "rows": rows})
        scores = {"average": 0.41, "first": 0.42, "last": 0.43, "best": 0.49, "worst": 0.4}
        rows = [
            {
                "row": row_of(where, name),
                "algorithm": name,
                "tied": 0.01 * place,
                "scores": scores | {"best": 0.49 + 0.01 * place},
            }
            for place, name in enumerate(algorithms)
        ]
        ties.append(where | {"metric": "ndcg@10", "rows": rows})
    return {"conventions": conventions, "ties": ties}


def _cell(rng, where, place, algorithm, n_folds, easy):
    quality = 0.02 * (5 - place)
    scores = {}
    for label, shift in zip(METRICS[:3], (-0.05, 0.0, 0.03), strict=True):
        noise = rng.normal(0, 0.05, N_USERS)
        scores[label] = np.clip(easy * 0.8 + quality + shift + noise, 0, 1)
    scores["ndcg@5"][:3] = np.nan
    scores["rmse"] = 0.9 + 0.05 * place + rng.normal(0, 0.05, N_USERS)
    means = {
        label: {"mean": float(np.nanmean(values)), "n_undefined": int(np.isnan(values).sum())}
        for label, values in scores.items()
    }
    described = where | {
        "algorithm": algorithm,
        "row": row_of(where, algorithm),
        "n_folds": n_folds,
        "key": key_of(where | {"algorithm": algorithm}),
        "split_fingerprint": "cd" * 32,
        "params": {"random_state": 1, "note": "<u>"},
        "fit_seconds": 0.01 * 4**place,
        "score_seconds": 0.002,
        "metric_seconds": 0.001,
        "peak_mb": 300.0 + place,
        "measured": MEASURED,
        "fit_path": "accelerated",
        "scoring_path": "accelerated",
        "n_impossible": place,
        "n_test": 50_000,
        "n_users": N_USERS,
        "notes": [],
        "scores": means,
        "tied_at_cut": dict.fromkeys(METRICS[:3], 0.01 * place),
    }
    frame = pd.DataFrame(
        {
            **{key: described[key] for key in (*table_of(""), "row", "algorithm", "seed", "fold")},
            "user": [str(user) for user in range(N_USERS)],
            **scores,
        }
    )
    return described, frame


@pytest.fixture(scope="session")
def build_run():
    """What makes a run of any algorithms from a fixed seed."""
    return build


@pytest.fixture(scope="session")
def _nasty():
    return build()


@pytest.fixture
def nasty(_nasty):
    """A run with two tables, two folds, a failed cell and hostile names."""
    return Run(_nasty.info.model_copy(deep=True), _nasty.users)


@pytest.fixture(scope="session")
def nasty_page(_nasty):
    """The page of that run."""
    return build_page([_nasty])


@pytest.fixture
def other_run(plain_run):
    """The plain run with other cells, as of another version."""
    info = plain_run.info.model_copy(deep=True, update={"name": "other"})
    for number, cell in enumerate(info.cells):
        cell.key = f"{number}".rjust(64, "e")
    return Run(info, plain_run.users)


@pytest.fixture(scope="session")
def plain_run():
    """A run with one table, one metric and one cell a row, all of them well."""
    run = build("plain", ["rated"], (0,), ["SVD", "BaselineOnly", "Random"], None)
    label = "ndcg@10"
    info = run.info.model_dump()
    for each in [*info["cells"], *info["rows"], *info["bounds"]]:
        for scores in {"scores", "deviations"} & each.keys():
            each[scores] = {label: each[scores][label]}
    info["metrics"] = [label]
    info["statistics"] = [each for each in info["statistics"] if each["metric"] == label]
    return Run(RunInfo(**info), run.users)
