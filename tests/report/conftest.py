"""A run as the harness writes it, with two tables, two folds, a failed cell and hostile names."""

import numpy as np
import pandas as pd
import pytest

from harness.config.experiment import Experiment, Inference
from harness.report import build_page
from harness.results.compare import infer
from harness.results.record import RunInfo
from harness.results.runs import Run
from harness.results.store import key_of, short_key

HOSTILE = "<script>alert('x')</script> & a_b $x^2$ {100%}\nnew 🙂"
NASTY_ERROR = 'ValueError: <img src=x onerror=alert(1)> & "quoted" `code` 50% a_b\n\x1b[31mred 💥'
NASTY_NOTE = "<b>note</b> & `kind: x` a_b (doi:10.1145/2827872)\nsecond line 🙂"
METRICS = ["ndcg@5", "ndcg@10", "ndcg@20", "rmse"]
ALGORITHMS = ["SVD", "SVD++", "BaselineOnly", HOSTILE, "Random"]
N_USERS = 60
SPLIT = "cd" * 32
MEASURED = {"processor": "<cpu>", "cores": 2, "workers": 1, "threads": 1}
DATA = {"name": "ml-100k", "source": "ml-100k", "fingerprint": "ab" * 32, "n_users": 943}
DATA |= {"n_items": 1682, "n_ratings": 100_000, "scale": [1.0, 5.0], "filters": [], "notes": []}
MADE = {"name": "nasty", "description": "What & <why>?", "metrics": METRICS}
CONFIG = {"dataset": "ml-100k", "split": {"kind": "kfold", "n_splits": 2}, "baselines": False}


def build(
    name="nasty_<i>run</i>&🙂",
    candidates=("rated", "catalogue"),
    folds=(0, 1),
    algorithms=ALGORITHMS,
    fails="NMF",
):
    """Return a run made from a fixed seed."""
    rng = np.random.default_rng(7)
    cells, frames, parts = [], [], {"bounds": [], "conventions": [], "ties": [], "groups": []}
    for far, section in enumerate(candidates):
        table = {"dataset": "ml-100k", "split": "2-fold", "candidates": section}
        table["table"] = short_key(table)
        easy = rng.beta(6, 2, N_USERS)
        for fold in folds:
            where = table | {"seed": 0, "fold": fold}
            for place, algorithm in enumerate(algorithms):
                cells.append(_cell(where, algorithm, len(folds)))
                frames.append(_score(rng, cells[-1], place, easy))
            if fails:
                cells.append(_cell(where, fails, len(folds)) | {"error": NASTY_ERROR})
        spread = dict.fromkeys(METRICS[:3], 0.0 if len(folds) > 1 else None)
        for bound, value in (("best", 1.0), ("random", 0.5)):
            scores = dict.fromkeys(METRICS[:3], value)
            parts["bounds"].append(table | {"bound": bound, "scores": scores, "deviations": spread})
        keys = {algorithm: _row(table, algorithm) for algorithm in algorithms}
        parts["conventions"].append(table | _conventions(keys, far))
        parts["ties"].append(table | _ties(keys))
        parts["groups"] += [table | _groups(keys, label) for label in METRICS[:3]]
    users = pd.concat(frames, ignore_index=True)
    labels = [" ".join(title.split())[:80] for title in (*algorithms, *([fails] if fails else ()))]
    config = CONFIG | MADE | {"candidates": list(candidates)}
    config["algorithms"] = [{"name": "SVD", "label": label} for label in labels]
    splits = [{"dataset": "ml-100k", "split": "2-fold", "seed": 0, "fold": fold} for fold in folds]
    counts = {"fingerprint": SPLIT, "n_train": 50_000, "n_test": 50_000, "notes": []}
    machine = {"system": "Linux", "processor": "<cpu>", "cores": 2, "memory_gb": 25.3}
    info = RunInfo(
        **MADE,
        **parts,
        seeds=[0],
        config=Experiment.model_validate(config).model_dump(mode="json"),
        config_file="configs/nasty.yaml",
        datasets=[DATA],
        splits=[split | counts for split in splits],
        notes=[NASTY_NOTE],
        cells=cells,
        rows=_rows(cells, users),
        statistics=[],
        versions={"python": "3.11.7", "harness": "0.1.0", "scikit-surprise": "1.1.5"},
        machine=machine,
        commit=None,
        started="2026-01-02T03:04:05+00:00",
        seconds=12.5,
        files={},
    )
    statistics, _ = infer(users, METRICS[:3], info.cells, Inference(resamples=500), 0)
    return Run(info.model_copy(update={"name": name, "statistics": statistics}), users)


def changed(run, **changes):
    """Return a copy of a run that shares nothing that a test would change."""
    return Run(run.info.model_copy(deep=True, update=changes), run.users)


def _row(table, algorithm):
    """Return the identity of a row."""
    return short_key({"table": table["table"], "algorithm": algorithm})


def _cell(where, algorithm, n_folds):
    """Return a cell without what is known of finished ones, or of failed ones."""
    named = where | {"algorithm": algorithm, "row": _row(where, algorithm), "n_folds": n_folds}
    key = key_of(where | {"algorithm": algorithm})
    return named | {"key": key, "split_fingerprint": SPLIT, "params": {}}


def _score(rng, cell, place, easy):
    """Finish a cell, and return the scores of its users."""
    quality = 0.02 * (5 - place)
    scores = {}
    for label, shift in zip(METRICS[:3], (-0.05, 0.0, 0.03), strict=True):
        noise = rng.normal(0, 0.05, N_USERS)
        scores[label] = np.clip(easy * 0.8 + quality + shift + noise, 0, 1)
    scores["ndcg@5"][:3] = np.nan
    scores["rmse"] = 0.9 + 0.05 * place + rng.normal(0, 0.05, N_USERS)
    names = ("dataset", "split", "candidates", "table", "row", "algorithm", "seed", "fold")
    frame = {**{key: cell[key] for key in names}, "user": [str(user) for user in range(N_USERS)]}
    cell |= {"params": {"random_state": 1, "note": "<u>"}, "notes": []}
    cell |= {"fit_seconds": 0.01 * 4**place, "score_seconds": 0.002, "metric_seconds": 0.001}
    cell |= {"peak_mb": 300.0 + place, "fit_path": "accelerated", "scoring_path": "accelerated"}
    cell |= {"n_impossible": place, "n_test": 50_000, "n_users": N_USERS}
    cell["measured"] = MEASURED | {"version": "0.1.0", "date": "2026-01-02"}
    cell["tied"] = dict.fromkeys(METRICS[:3], 0.01 * place)
    cell["scores"] = {
        label: {"mean": float(np.nanmean(values)), "n_undefined": int(np.isnan(values).sum())}
        for label, values in scores.items()
    }
    return pd.DataFrame(frame | scores)


def _rows(cells, users):
    """Return the rows of a run, each with its values, table by table."""
    found = {}
    for cell in cells:
        names = ("dataset", "split", "candidates", "table", "row", "algorithm")
        own = users[users["row"] == cell["row"]]
        means = own.groupby("user")[METRICS].mean().mean().to_dict()
        good = [c["scores"]["rmse"]["mean"] for c in cells if c["row"] == cell["row"] and own.size]
        means["rmse"] = sum(good) / len(good) if good else np.nan
        scores = {label: None if np.isnan(mean) else mean for label, mean in means.items()}
        found[cell["row"]] = {key: cell[key] for key in names} | {"scores": scores}
    tables = list(dict.fromkeys(cell["table"] for cell in cells))
    return sorted(found.values(), key=lambda entry: tables.index(entry["table"]))


def _conventions(keys, far):
    """Return a table of conventions in which each number differs from the others."""
    rows = [
        {
            "convention": library,
            "label": label,
            "scores": {
                key: None if note else base + 0.001 * place + 0.1 * far
                for place, key in enumerate(keys.values())
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
    return {"metric": "ndcg", "k": 10, "rows": rows}


def _ties(keys):
    """Return a table of ties in which the best order of ties gains most in the last row."""
    scores = {"average": 0.41, "first": 0.42, "last": 0.43, "best": 0.49, "worst": 0.4}
    rows = [
        {"row": key, "algorithm": name, "tied": 0.01 * place}
        | {"scores": scores | {"best": 0.49 + 0.01 * place}}
        for place, (name, key) in enumerate(keys.items())
    ]
    return {"metric": "ndcg@10", "rows": rows}


def _groups(keys, label):
    """Return two groups of users, of whom one is small, and a gap."""
    ends = {"low": 0.3, "high": 0.5}
    rest = {"rest": 0.1, "rest_low": 0.0, "rest_high": 0.2}
    groups = []
    for number, (name, n_users) in enumerate((("a <i>$x^2$", 40), ("b & _c_", 20))):
        rows = [
            {"row": key, "algorithm": name, "mean": 0.4 + 0.1 * number + 0.01 * place}
            | ends | rest | {"letters": "" if number else "ab", "n_users": n_users}
            for place, (name, key) in enumerate(keys.items())
        ]  # fmt: skip
        sizes = {"n_members": n_users + 1, "n_users": n_users, "n_left_out": 1}
        groups.append({"group": name, "random": 0.25, "algorithms": rows} | sizes)
    gaps = [
        {"row": key, "algorithm": name, "greatest": "a <i>$x^2$", "least": "b & _c_"}
        | {"difference": 0.1} | ends
        for name, key in keys.items()
    ]  # fmt: skip
    return {"side": "users", "by": "<u>own", "metric": label, "groups": groups, "gaps": gaps}


@pytest.fixture(scope="session")
def _nasty():
    return build()


@pytest.fixture
def nasty(_nasty):
    """A run with two tables, two folds, a failed cell and hostile names."""
    return changed(_nasty)


@pytest.fixture(scope="session")
def nasty_page(_nasty):
    """The page of that run."""
    return build_page([_nasty])


@pytest.fixture
def other_run(plain_run):
    """The plain run with other cells, as of another version."""
    other = changed(plain_run, name="other")
    for number, cell in enumerate(other.info.cells):
        cell.key = f"{number}".rjust(64, "e")
    return other


@pytest.fixture
def plain_run(_plain):
    """A run with one table, one metric and one cell a row, all of them well."""
    return changed(_plain)


@pytest.fixture(scope="session")
def _plain():
    run = build("plain", ["rated"], (0,), ["SVD", "BaselineOnly", "Random"], None)
    label = "ndcg@10"
    info = run.info.model_dump()
    for each in [*info["cells"], *info["rows"], *info["bounds"]]:
        for scores in {"scores", "deviations"} & each.keys():
            each[scores] = {label: each[scores][label]}
    info["metrics"] = [label]
    info["groups"] = []
    info["statistics"] = [each for each in info["statistics"] if each["metric"] == label]
    return Run(RunInfo(**info), run.users)
