"""A run as the harness writes it, with two tables, two folds, a failed cell and hostile names."""

import json

import pytest

import harness
from harness.config.experiment import Experiment
from harness.report import build_page
from harness.results.record import RunInfo
from harness.results.runs import Run

HOSTILE = "<script>alert('x')</script> & a_b $x^2$ {100%}\nnew 🙂"
NASTY_ERROR = 'ValueError: <img src=x onerror=alert(1)> & "quoted" `code` 50% a_b\n\x1b[31mred 💥'
NASTY_NOTE = "<b>note</b> & `kind: x` a_b (doi:10.1145/2827872)\nsecond line 🙂"
METRICS = ["ndcg@5", "ndcg@10", "ndcg@20", "rmse"]
ALGORITHMS = ["SVD", "SVD++", "BaselineOnly", HOSTILE, "Random"]
GROUPS = ("a <i>$x^2$", "b & _c_")
SMALL = {"dataset": "bundled", "filters": [{"kind": "first-users", "n": 59}]}
DATA = {"name": "ml-100k", "source": "ml-100k", "fingerprint": "ab" * 32, "n_users": 943}
DATA |= {"n_items": 1682, "n_ratings": 100_000, "scale": [1.0, 5.0], "filters": [], "notes": []}
MADE = {"config_file": "configs/nasty.yaml", "notes": [NASTY_NOTE], "commit": None, "files": {}}
MADE |= {"started": "2026-01-02T03:04:05+00:00", "seconds": 12.5, "datasets": [DATA]}


def build(
    name="nasty_<i>run</i>&🙂",
    candidates=("rated", "catalogue"),
    n_folds=2,
    algorithms=ALGORITHMS,
    fails="NMF",
    metrics=METRICS,
):
    """Return a run with names, times and sizes of our own; the later a row, the worse it is."""
    titles = [*algorithms, *([fails] if fails else ())]
    labels = dict(zip((" ".join(title.split())[:80] for title in titles), titles, strict=True))
    noises = [2.5 * (place / len(labels)) ** 2 for place in range(len(labels))]
    rows = [
        {"name": "SVD", "label": label, "params": {"n_factors": 5, "init_std_dev": noise}}
        for label, noise in zip(labels, noises, strict=True)
    ]
    if fails:
        rows[-1]["params"] = {"lr_all": 50}
    config = {
        "name": "nasty",
        "description": "What & <why>?",
        "split": {"kind": "kfold", "n_splits": 2} if n_folds > 1 else "holdout",
        "candidates": list(candidates),
        "algorithms": rows,
        "metrics": metrics,
        "headline": "ndcg@10" if metrics is METRICS else None,
        "baselines": False,
        "statistics": {"resamples": 500},
        "groups": [{"users": "training_ratings", "quantiles": 2}],
    }
    run = harness.run(config | SMALL, results=None)
    text = run.info.model_dump_json().replace('"ml-latest-small-2016"', '"ml-100k"')
    for names in labels.items():
        text = text.replace(*(json.dumps(name, ensure_ascii=False) for name in names))
    recorded = Experiment.model_validate(config | {"dataset": "ml-100k"}).model_dump(mode="json")
    info = json.loads(text) | MADE | {"config": recorded}
    info["machine"]["processor"] = "<cpu>"
    for split in info["splits"]:
        split |= {"n_train": 50_000, "n_test": 50_000}
    for cell in info["cells"]:
        place = titles.index(cell["algorithm"])
        if "scores" in cell:
            cell |= {"fit_seconds": 0.01 * 4**place, "score_seconds": 0.002}
            cell |= {"n_impossible": place, "n_test": 50_000}
            cell["params"]["note"] = "<u>"
            cell["tied"] = dict.fromkeys(cell["tied"], 0.01 * place)
        else:
            cell["error"] = NASTY_ERROR
    for far, (conventions, ties) in enumerate(zip(info["conventions"], info["ties"], strict=True)):
        keys = {row["algorithm"]: row["row"] for row in ties["rows"]}
        conventions |= _conventions(keys, far)
        ties |= _ties(keys)
    for entry in info["groups"]:
        names = dict(zip((own["group"] for own in entry["groups"]), GROUPS, strict=True))
        entry["by"] = "<u>own"
        for part in (*entry["groups"], *entry["gaps"]):
            part |= {key: names[part[key]] for key in {"group", "greatest", "least"} & part.keys()}
    names = run.users["algorithm"].astype(str).replace(labels)
    users = run.users.assign(dataset="ml-100k", algorithm=names)
    if "ndcg@5" in users:  # of users without a score
        users.loc[users["user"].isin(users["user"].unique()[:3]), "ndcg@5"] = float("nan")
    return Run(RunInfo(**info).model_copy(update={"name": name}), users)


def changed(run, **changes):
    """Return a copy of a run that shares nothing that a test would change."""
    return Run(run.info.model_copy(deep=True, update=changes), run.users)


def _conventions(keys, far):
    """Return a table of conventions in which each number differs from the others."""
    rows = []
    for library, label, base, note in (
        ("one <b>&", "ndcg(gain=linear)@10", 0.5, ""),
        ("two", "ndcg(gain=linear)@10", 0.5, ""),
        ("three", "ndcg(ties=first)@10", 0.6, ""),
        ("four", "ndcg(gain=binary)@10", 0.7, "<i>refused</i>"),
    ):
        values = [None if note else base + 0.001 * i + 0.1 * far for i in range(len(keys))]
        scores = dict(zip(keys.values(), values, strict=True))
        rows.append({"convention": library, "label": label, "scores": scores, "note": note})
    return {"metric": "ndcg", "k": 10, "rows": rows}


def _ties(keys):
    """Return a table of ties in which the best order of ties gains most in the last row."""
    rows = []
    for i, (name, key) in enumerate(keys.items()):
        scores = {"average": 0.41, "first": 0.42, "last": 0.43, "best": 0.49, "worst": 0.4}
        scores["best"] += 0.01 * i
        rows.append({"row": key, "algorithm": name, "tied": 0.01 * i, "scores": scores})
    return {"metric": "ndcg@10", "rows": rows}


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
    run = build("plain", ["rated"], 1, ["SVD", "BaselineOnly", "Random"], None, ["ndcg@10"])
    return changed(run, groups=[])
