"""Every public function gives a value or says what to do, whatever it is called with.

The functions are found by ``__all__`` of the package and of its modules: a new one has to be put
among `CALLS`, with a call that works, or among `RECORDS`.
"""

import importlib
import inspect
import pkgutil
import warnings
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import surprise

import harness
from harness import metrics, splits, statistics
from harness.algorithms.trainset import ColumnTrainset
from harness.datasets.section import DatasetSection
from harness.errors import HarnessError
from harness.models import estimates as models
from harness.splits import random

ROWS = [(f"u{u}", f"i{i}", float((u * u + 3 * i) % 5 + 1)) for u in range(8) for i in range(6)]
FRAME = pd.DataFrame(ROWS, columns=["user", "item", "rating"])
CONFIG = {
    "dataset": "given",
    "split": {"kind": "holdout", "test_size": 0.25},
    "algorithms": ["ItemMean", "UserMean"],
    "metrics": ["ndcg@3", "rmse"],
    "baselines": False,
}
RECORDS = {
    "harness.Ratings": "the constructor of checked columns, whose docstring says so",
    "harness.Run": "made by `run` and `read_run`",
    "harness.models.estimates.ColumnTrainset": "made of checked columns",
    "harness.models.estimates.Lists": "columns without a check",
    "harness.models.estimates.RatingLists": "a view of columns",
    "harness.Analysis": "a base class of plug-ins",
    "harness.Note": "a code with values",
    "harness.Filter": "a part of a config, checked there",
    "harness.Split": "a part of a config, checked there",
    "harness.Tracker": "a base class of plug-ins",
    "harness.TrainingData": "columns without a check",
    "harness.extras.audit.Audit": "a result",
    "harness.extras.audit.Finding": "a result",
    "harness.patch_surprise": "changes Surprise for all other tests",
    "harness.patched_surprise": "a context around the two functions that patch",
    "harness.metrics.Convention": "made of the package's own file",
    "harness.metrics.Definition": "made by `metric`",
    "harness.metrics.Metric": "made by `parse`",
    "harness.metrics.Scores": "a result",
    "harness.metrics.Value": "a parameter's text, read by `parse`",
    "harness.rankings.Evidence": "a result",
    "harness.extras.reproduce.Band": "a value of the package's own file",
    "harness.extras.reproduce.compare": "takes what `reproduce` computed, in the own form",
    "harness.extras.reproduce.ReproducedValue": "a result",
    "harness.extras.reproduce.NotRun": "a reason",
    "harness.extras.reproduce.Quantity": "made of the package's own file",
    "harness.extras.reproduce.Reproduction": "a result",
    "harness.extras.reproduce.trained_runs": "it trains for many minutes",
    "harness.candidates.Candidates": "columns without a check",
    "harness.candidates.CandidatesSection": "a part of a config, checked there",
    "harness.candidates.Catalogue": "a part of a config, checked there",
    "harness.candidates.Rated": "a part of a config, checked there",
    "harness.splits.FilterSection": "a part of a config, checked there",
    "harness.splits.Fold": "a result",
    "harness.splits.Split": "a result",
    "harness.splits.SplitSection": "a part of a config, checked there",
    "harness.statistics.Comparison": "a result",
    "harness.statistics.Friedman": "a result",
    "harness.statistics.RankComparison": "a result",
    "harness.statistics.StandardError": "a result",
}


ODD = {
    "None": lambda: None,
    "true": lambda: True,
    "negative": lambda: -1,
    "zero": lambda: 0,
    "three": lambda: 3,
    "fraction": lambda: 2.5,
    "nan": lambda: float("nan"),
    "infinity": lambda: float("inf"),
    "huge": lambda: 1e308,
    "tiny": lambda: 1e-310,
    "beyond 64 bits": lambda: 10**30,
    "complex": lambda: 3 + 4j,
    "no text": lambda: "",
    "a word": lambda: "word",
    "a number as text": lambda: "3",
    "NUL": lambda: "a\0b",
    "300 letters": lambda: "x" * 300,
    "3,000 letters": lambda: "é" * 3000,
    "a surrogate": lambda: "\ud800",
    "bytes": lambda: b"abc",
    "a date": lambda: date(2020, 1, 1),
    "an empty list": list,
    "an empty mapping": dict,
    "an empty tuple": tuple,
    "a list of None": lambda: [None],
    "a list of lists": lambda: [[1, 2], [3]],
    "a list of text": lambda: ["word", "x" * 3000, "\ud800", "a\0b"],
    "a mapping": lambda: {"user": 1},
    "a set": lambda: {1, 2},
    "a generator": lambda: (number for number in (1, 2)),
    "an object": object,
    "a class": lambda: surprise.SVD,
    "a function": lambda: lambda *arguments, **named: None,
    "a path": lambda: Path("no such file"),
    "an empty array": lambda: np.zeros(0),
    "an empty table": lambda: np.zeros((0, 0)),
    "an array": lambda: np.arange(4.0),
    "complex numbers": lambda: np.array([1 + 2j]),
    "dates": lambda: np.array(["2020-01-01"], "datetime64[s]"),
    "masked": lambda: np.ma.array([1.0, 2.0], mask=[0, 1]),
    "huge numbers": lambda: np.full((8, 2), 1e308) * [1, 0.5],
    "tiny numbers": lambda: np.full((8, 2), 1e-310) * [1, 3],
    "not numbers": lambda: np.full((8, 2), np.nan),
    "an empty frame": pd.DataFrame,
    "a frame": lambda: pd.DataFrame(
        {"user": pd.Series(["\ud800"], dtype=object), "item": [None], "rating": ["x"]}
    ),
    "an unfitted model": lambda: surprise.SVD(),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """What valid calls need: ratings, a fitted model, a run, files."""
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        ratings = harness.load(FRAME)
        trainset = ratings.to_surprise().build_full_trainset()
        model = harness.fit(surprise.BaselineOnly(verbose=False), trainset)
        harness.save_model(model, folder / "model.zip")
        run = harness.run(CONFIG, ratings=FRAME, results=folder)
        other = FRAME.assign(rating=FRAME["rating"].to_numpy()[::-1])
        second = harness.run(CONFIG | {"name": "second"}, ratings=other, results=folder)
        split = splits.make(random.Holdout(test_size=0.25), ratings, 0)
        splits.save(split, folder / "split.parquet")
        FRAME.assign(estimate=3.5).to_csv(folder / "predictions.csv", index=False)
    columns = surprise.BaselineOnly(verbose=False)
    models.fit(columns, ColumnTrainset.from_surprise(trainset))
    scores = np.random.default_rng(0).random((8, 2))
    return {
        "folder": folder, "ratings": ratings, "trainset": trainset, "model": model, "run": run,
        "second": second, "split": split, "columns": columns, "scores": scores,
        "compared": statistics.compare(scores, ["A", "B"], n_resamples=100),
    }  # fmt: skip


def run_of_config(folder):
    """Return the folder of a run that can be repeated, which is made once."""
    if not (folder / "repeatable").exists():
        sizes = {"n_users": 30, "n_items": 20, "n_ratings": 200}
        config = {"name": "repeatable", "dataset": {"synthetic": sizes}, "metrics": ["rmse"]}
        harness.run(config | {"algorithms": ["ItemMean"], "baselines": False}, results=folder)
    return folder / "repeatable"


PAIRS = {"users": [1, 1, 2], "estimates": [3.0, 4.0, 5.0], "ratings": [1.0, 2.0, 3.0]}
LISTS = {
    "offsets": [0, 2], "relevance": [1.0, 3.0], "rank": [1, 2], "tie_low": [1, 2],
    "tie_high": [1, 2], "n_ranked": [2],
}  # fmt: skip


def grouped():
    return metrics.Pairs([0, 2], [3.0, 4.0], [1.0, 2.0])


# By function, the arguments of a call that works; `m` is what `made` gives.
CALLS = {
    "harness.Ratings.from_columns": lambda m: {"users": ["a"], "items": ["x"], "ratings": [3.0]},
    "harness.Ratings.from_frame": lambda m: {"frame": FRAME},
    "harness.Ratings.from_surprise": lambda m: {"dataset": m["ratings"].to_surprise()},
    "harness.across": lambda m: {"runs": [m["run"], m["second"]], "metric": "ndcg@3"},
    "harness.audit": lambda m: {"source": m["folder"] / "predictions.csv", "metric": "ndcg@3"},
    "harness.best": lambda m: {"run": m["run"], "metric": "ndcg@3"},
    "harness.describe": lambda m: {"source": m["ratings"]},
    "harness.estimate": lambda m: {"model": m["model"], "pairs": [("u1", "i1")]},
    "harness.fit": lambda m: {
        "model": surprise.BaselineOnly(verbose=False), "trainset": m["trainset"],
    },
    "harness.fit_row": lambda m: {"source": CONFIG, "algorithm": "ItemMean", "ratings": FRAME},
    "harness.update": lambda m: {"model": m["model"], "ratings": [("i1", "i1", 3.0)]},
    "harness.fold_in": lambda m: {"model": m["model"], "ratings": {"i1": 3.0}},
    "harness.power": lambda m: {"run": m["run"], "metric": "ndcg@3", "difference": 0.1},
    "harness.gate": lambda m: {
        "new": m["run"], "old": m["run"], "metric": "ndcg@3", "row": "UserMean",
        "old_row": "ItemMean",
    },
    "harness.load": lambda m: {"source": FRAME},
    "harness.load_model": lambda m: {"path": m["folder"] / "model.zip"},
    "harness.extras.audit.checks": lambda m: {},
    "harness.patch_report": lambda m: {},
    "harness.unpatch_surprise": lambda m: {},
    "harness.verify": lambda m: {"recorded": run_of_config(m["folder"])},
    "harness.metric": lambda m: {"summary": "a share"},
    "harness.ndcg": lambda m: {"predictions": [(3.0, 1.0), (2.0, 2.0)], "k": 2},
    "harness.read_run": lambda m: {"folder": m["run"].folder},
    "harness.recommend": lambda m: {"model": m["model"], "n": 2},
    "harness.recommend_in_blocks": lambda m: {"model": m["model"], "n": 2},
    "harness.run": lambda m: {"config": CONFIG, "ratings": FRAME, "results": None},
    "harness.save_model": lambda m: {"model": m["model"], "path": "saved.zip"},
    "harness.explain": lambda m: {"model": m["model"], "user": "u0", "item": "i0"},
    "harness.similar": lambda m: {
        "model": harness.fit(surprise.SVD(n_factors=2), m["trainset"]), "item": "i0",
    },
    "harness.models.estimates.catalogue": lambda m: {"model": m["columns"], "users": [0, 1]},
    "harness.models.estimates.estimate": lambda m: {
        "model": m["columns"], "users": [0, 1], "items": [1, 1],
    },
    "harness.models.estimates.fit": lambda m: {
        "model": surprise.BaselineOnly(verbose=False), "trainset": m["trainset"],
    },
    "harness.datasets.load_under": lambda m: {
        "source": FRAME, "section": DatasetSection(name="synthetic"),
    },
    "harness.datasets.available": lambda m: {},
    "harness.datasets.cache_folder": lambda m: {},
    "harness.metrics.Exposure": lambda m: {"users": [0, 1], "items": [0, 1], "list_users": [0, 1]},
    "harness.metrics.Pairs": lambda m: {"offsets": [0, 1], "estimates": [3.0], "ratings": [4.0]},
    "harness.metrics.Rankings": lambda m: LISTS,
    "harness.metrics.check_relevance": lambda m: {
        "metric": metrics.parse("ndcg@3"), "relevance": [1.0],
    },
    "harness.metrics.conventions": lambda m: {},
    "harness.metrics.describe": lambda m: {},
    "harness.metrics.number": lambda m: {"value": 2.0},
    "harness.metrics.parse": lambda m: {"label": "ndcg@3"},
    "harness.metrics.parse_many": lambda m: {"labels": ["ndcg@3"]},
    "harness.metrics.score": lambda m: {
        "metrics": [metrics.parse("ndcg@3")], "rankings": metrics.Rankings(**LISTS),
    },
    "harness.rankings.from_grouped": lambda m: {"pairs": grouped()},
    "harness.rankings.from_lists": lambda m: {"predictions": [[1, 2]], "labels": [[2]]},
    "harness.rankings.from_matrix": lambda m: {"relevance": [[1, 2]], "scores": [[0.5, 0.1]]},
    "harness.rankings.from_pairs": lambda m: PAIRS,
    "harness.rankings.from_predictions": lambda m: {"predictions": [(3.0, 1.0)]},
    "harness.rankings.from_recommendations": lambda m: {
        "recommendations": {"user_id": [1], "item_id": ["a"], "rank": [1]},
        "interactions": {"user_id": [1], "item_id": ["a"]},
    },
    "harness.rankings.group_pairs": lambda m: PAIRS,
    "harness.rankings.rank_block": lambda m: {
        "estimates": np.array([[1.0, 3.0]]), "judged_offsets": [0, 1], "judged_items": [1],
        "judged_ratings": [4.0],
    },
    "harness.rankings.read": lambda m: {"path": m["folder"] / "predictions.csv"},
    "harness.report.build_page": lambda m: {"runs": [m["run"]]},
    "harness.report.critical_difference": lambda m: {
        "across": harness.across([m["run"], m["second"]], metric="ndcg@3"),
    },
    "harness.report.evidence": lambda m: {"run": m["run"], "metric": "ndcg@3"},
    "harness.report.join": lambda m: {"runs": [m["run"]]},
    "harness.report.latex": lambda m: {"run": m["run"]},
    "harness.report.style": lambda m: {"run": m["run"]},
    "harness.report.write_index": lambda m: {"results": m["folder"]},
    "harness.report.write_page": lambda m: {"runs": [m["run"]], "path": Path("page.html")},
    "harness.extras.reproduce.published": lambda m: {"source": "rectools-docs"},
    "harness.extras.reproduce.reproduce": lambda m: {"source": "rectools-docs"},
    "harness.extras.reproduce.sources": lambda m: {},
    "harness.results.find_runs": lambda m: {"results": m["folder"]},
    "harness.results.open_run": lambda m: {"name": m["run"].name, "results": m["folder"]},
    "harness.splits.filter": lambda m: {"sections": [], "ratings": m["ratings"], "seed": 0},
    "harness.splits.k_core": lambda m: {
        "users": m["ratings"].users, "items": m["ratings"].items, "n": 2,
    },
    "harness.splits.make": lambda m: {
        "section": random.Holdout(test_size=0.25), "ratings": m["ratings"], "seed": 0,
    },
    "harness.splits.read": lambda m: {
        "path": m["folder"] / "split.parquet", "ratings": m["ratings"],
    },
    "harness.splits.save": lambda m: {"splits": m["split"], "path": "split.parquet"},
    "harness.splits.validation": lambda m: {
        "split": m["split"][0], "section": random.Holdout(test_size=0.25), "seed": 0,
    },
    "harness.statistics.Draws": lambda m: {"seed": 3},
    "harness.statistics.adjust": lambda m: {"p_values": [0.1], "correction": "holm"},
    "harness.statistics.against": lambda m: {
        "pairs": m["compared"].pairs, "baseline": "A", "correction": "holm", "level": 0.05,
        "margin": None,
    },
    "harness.statistics.bootstrap_interval": lambda m: {"values": m["scores"], "n_resamples": 100},
    "harness.statistics.compare": lambda m: {
        "scores": m["scores"], "names": ["A", "B"], "n_resamples": 100,
    },
    "harness.statistics.compare_ranks": lambda m: {"scores": m["scores"], "names": ["A", "B"]},
    "harness.statistics.components": lambda m: {"scores": m["scores"], "levels": ["seed"]},
    "harness.statistics.effect_size": lambda m: {"differences": m["scores"]},
    "harness.statistics.gaps": lambda m: {
        "one": m["scores"], "other": m["scores"][::-1], "paired": True, "n_resamples": 100,
    },
    "harness.statistics.letters": lambda m: {"different": np.zeros((2, 2), bool)},
    "harness.statistics.paired_t": lambda m: {"differences": m["scores"]},
    "harness.statistics.randomisation": lambda m: {
        "differences": m["scores"], "n_resamples": 100,
    },
    "harness.statistics.wilcoxon": lambda m: {"differences": m["scores"]},
}  # fmt: skip


def public_names():
    """Return the callables of every ``__all__``, by the shortest name."""
    homes = {}
    for module in sorted(modules_with_all(), key=lambda module: module.__name__.count(".")):
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isroutine(value) or inspect.isclass(value):
                homes.setdefault(value, f"{module.__name__}.{name}")
    return homes


def modules_with_all():
    yield harness
    for package in pkgutil.walk_packages(harness.__path__, "harness."):
        name = package.name
        if (
            "runners" in name
            or "compiled" in name
            or name in ("harness.__main__", "harness._util.libraries")
        ):
            continue
        source = Path(importlib.util.find_spec(name).origin).read_text("utf-8")
        if "\n__all__" in source:
            yield importlib.import_module(name)


def function_of(name):
    module, _, attribute = name.rpartition(".")
    if module == "harness.Ratings":
        return getattr(harness.Ratings, attribute)
    return getattr(importlib.import_module(module), attribute)


def test_every_public_function_is_called_here_or_is_a_record():
    assert {*public_names().values()} <= CALLS.keys() | RECORDS.keys()
    ways = {
        f"harness.Ratings.{name}"
        for name, value in vars(harness.Ratings).items()
        if isinstance(value, classmethod) and name != "from_table"  # of a table read from a file
    }
    assert ways <= CALLS.keys()


def run_to_the_end(function, arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = function(**arguments)
        if inspect.isgenerator(value):
            for _ in value:
                pass
    return value


@pytest.mark.parametrize("argument", ["results", "watch"])
def test_another_decorator_hides_no_annotation(argument):
    with pytest.raises(HarnessError, match=rf"run: {argument} is 3 \(int\); give .* or None"):
        harness.run(CONFIG, ratings=FRAME, **{"results": None, argument: 3})


SLOW = {
    "harness.gate", "harness.verify",
    "harness.across", "harness.report.build_page", "harness.report.critical_difference",
    "harness.report.write_page", "harness.run", "harness.statistics.compare_ranks",
}  # fmt: skip


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.long) if name in SLOW else name for name in CALLS]
)
def test_odd_arguments_give_a_value_or_say_what_to_do(name, made, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    function, valid = function_of(name), CALLS[name](made)
    run_to_the_end(function, valid)
    faults = []
    parameters = [
        parameter.name
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
    ]
    for parameter in parameters:
        for kind, make in ODD.items():
            try:
                run_to_the_end(function, CALLS[name](made) | {parameter: make()})
            except HarnessError as error:
                if not any(mark in str(error) for mark in (";", "did you mean")):
                    faults.append(f"{parameter} = {kind}: does not say what to do: {error}")
            except Exception as error:
                faults.append(f"{parameter} = {kind}: {type(error).__name__}: {error}"[:200])
    assert not faults, f"{len(faults)} of {name}:\n" + "\n".join(faults)
