"""One package with a plug-in of every kind, all at once, whatever they do while commands run.

Each part does as the environment says: it is right, prints, raises, ends its process, or returns
None, a masked array or complex numbers.
"""

import json
import sys

import pytest

from harness.plugins import registry as plugins
from tests.plugins.test_plugins import install, site

__all__ = ["site"]

MODULE = '''
import os
import sys

import click
import numpy as np
import pandas as pd

import harness


def answer(kind, value):
    """Return what a part of a kind returns, or do what the environment says."""
    does = os.environ.get("EVERY", "right")
    only = os.environ.get("EVERY_KIND", kind)
    if does == "right" or only != kind:
        return value
    if does == "prints":
        print("printed by", kind)
        return value
    if does == "raises":
        raise ValueError(f"{kind} does not work")
    if does == "ends":
        sys.exit(3)
    if does == "none":
        return None
    if does == "masked":
        if isinstance(value, np.ndarray):
            return np.ma.masked_array(value, np.arange(value.size).reshape(value.shape) == 0)
        return np.ma.masked
    return value * 1j if isinstance(value, np.ndarray) else 1j


class EveryMean:
    """The mean of all ratings."""

    space = {"shift": {"low": 0.0, "high": 1.0}}

    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, train):
        self.mean = train.ratings.mean() + self.shift
        answer("fit", None)

    def estimate(self, users, items):
        return answer("algorithms", self.mean + items / 1000)


@harness.metric("share of high ratings in the first k")
def every_share(lists, k):
    return answer("metrics", np.nan_to_num(lists.relevance(k) >= 4).mean(axis=1))


@harness.metric("share of small items in the first k", needs="items")
def every_item(lists, k):
    return answer("metrics", (lists.items(k) % 2).mean(axis=1).astype(float))


class EverySplit(harness.Split):
    """Every fifth rating is tested."""

    first: int = 0

    def divide(self, ratings, rng):
        test = np.arange(len(ratings)) % 5 == self.first
        rows = answer("splits", test)
        return None if rows is None else [(~test, rows)]


class Holdout(harness.Filter):
    """All but the first rating; its name is that of a class of the package."""

    least: int = 1

    def select(self, ratings, rng):
        return answer("filters", np.arange(len(ratings)) >= self.least)


def every_data():
    """Return 12 users and 10 items."""
    users, items = np.divmod(np.arange(120), 10)
    ratings = 1 + (users * 7 + items * 3) % 5
    frame = {"user": users, "item": items, "rating": ratings, "timestamp": np.arange(120) + 10**9}
    return answer("datasets", pd.DataFrame(frame))


class EveryReader:
    endings = (".every",)
    example = b"a,b,3"

    def recognises(self, head):
        return bool(answer("recognises", False))

    def read(self, path, options):
        lines = [line.split(",") for line in path.read_text().split()]
        columns = dict(zip(("user", "item", "rating"), zip(*lines)))
        columns["rating"] = answer("readers", np.array(columns["rating"], float))
        return columns if os.environ.get("EVERY") != "none" else answer("readers", columns)


class EveryLook(harness.Analysis):
    """How many cells there are."""

    n = 0

    def add(self, cell, scores):
        self.n += 1
        answer("add", None)

    def result(self):
        numbers = answer("analyses", np.array([float(self.n)]))
        return None if numbers is None else pd.DataFrame({"cells": numbers})


class EveryLog(harness.Tracker):
    """It logs nothing."""

    def start(self, name, config):
        answer("trackers", config["seed"])

    def row(self, row):
        answer("trackers", row.title)

    def end(self, run):
        answer("trackers", run.name)


@click.command()
def every_count():
    """Do nothing."""
    answer("commands", None)
'''
POINTS = {
    "algorithms": {"EveryMean": "every_kind:EveryMean"},
    "metrics": {"every_share": "every_kind:every_share", "every_item": "every_kind:every_item"},
    "splits": {"every-split": "every_kind:EverySplit", "every-filter": "every_kind:Holdout"},
    "datasets": {"every-data": "every_kind:every_data"},
    "readers": {"every-file": "every_kind:EveryReader"},
    "analyses": {"every-look": "every_kind:EveryLook"},
    "trackers": {"every-log": "every_kind:EveryLog"},
    "commands": {"every-count": "every_kind:every_count"},
}
CONFIG = """
dataset: {dataset}
filters: [{{kind: every-filter}}]
split: {{kind: every-split}}
algorithms: [EveryMean, {{name: EveryMean, label: tuned, search: recommended}}, ItemMean]
tuning: {{trials: 2, metric: every_item@3}}
metrics: [ndcg@3, every_share@3, every_item@3]
analyses: [every-look]
trackers: [every-log]
baselines: false
"""
NEW = ("--algorithms", "EveryMean", "--metrics", "every_share@3")
USUAL = [
    ("run", "--fresh", "a.yaml"),
    ("run", "--fresh", "file.yaml"),
    ("check", "a.yaml"),
    ("describe", "file.yaml"),
    ("describe", "a.every"),
    ("run", "--dataset", "a.every", *NEW),
    ("new", "b.yaml", "--dataset", "a.every", *NEW, "--force"),
    ("schema",),
    ("verify", "a", "--trust"),
    ("every-count",),
]
OTHERS = [
    ("list", "plugins"),
    ("list", "metrics"),
    ("list", "algorithms"),
    ("list", "datasets"),
    ("table", "a"),
    ("notes", "a"),
    ("report", "a"),
    ("plot", "a"),
    ("compare", "a", "a"),
    ("history", "a"),
    ("methods", "a"),
    ("best", "a"),
    ("recommend", "a", "--row", "EveryMean"),
    ("similar", "a", "0"),
    ("save", "a", "model.zip", "--force"),
    ("gate", "a", "a"),
    ("power", "--users", "100"),
    ("evaluate", "a"),
    ("audit", "a"),
    ("split", "a.yaml"),
    ("run", "--dataset", "u.data", *NEW),
    ("cache", "list"),
    ("conventions",),
    ("completion", "bash"),
    ("verify", "a"),
]
DOES = ("right", "prints", "raises", "ends", "none", "masked", "complex")
CODES = {0, 1, 2, 3}
"""Of the documented table, those of a command that nobody stops."""


@pytest.fixture
def every(site, tmp_path, monkeypatch, cli):
    """Install the package, and make a run with all of its parts."""
    install(site, "every-kind", "1.0", POINTS, every_kind=MODULE)
    plugins.refresh()
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setenv("EVERY", "right")
    monkeypatch.chdir(tmp_path)
    lines = [f"u{i // 6},i{i % 6},{1 + i % 5}" for i in range(60)]
    (tmp_path / "a.every").write_text("\n".join(lines))
    (tmp_path / "u.data").write_text("\n".join(line.replace(",", "\t") for line in lines))
    (tmp_path / "a.yaml").write_text(CONFIG.format(dataset="every-data"))
    (tmp_path / "file.yaml").write_text(CONFIG.format(dataset="a.every"))
    cli.done("run", "--quiet", "a.yaml")
    return cli


def is_ours(command):
    return command[0] in plugins.builtin_names("commands")


def assert_in_order(cli, command, right=False):
    """Call a command with and without --json: no traceback, a documented code, one document."""
    for option in ("--json",) * is_ours(command) or ("",):
        code, out, err = cli(*command, *filter(None, [option]))
        assert code in ({0} if right else CODES), (command, err)
        assert "Traceback" not in out + err, (command, err)
        assert "printed by" not in out or not is_ours(command), command
        if option:
            document = json.loads(out)
            assert document["exit"] == code, command
            assert (document["error"] is None) or code, command


@pytest.mark.sample(3)
@pytest.mark.parametrize("does", DOES)
def test_all_kinds_at_once_leave_every_command_in_order(every, monkeypatch, does):
    monkeypatch.setenv("EVERY", does)
    for command in USUAL:
        assert_in_order(every, command, right=does in ("right", "prints"))


@pytest.mark.long
@pytest.mark.parametrize("does", DOES)
def test_all_kinds_at_once_leave_the_other_commands_in_order(every, monkeypatch, does):
    monkeypatch.setenv("EVERY", does)
    for command in OTHERS:
        assert_in_order(every, command)


KINDS = ("algorithms", "fit", "metrics", "splits", "filters", "datasets", "readers", "recognises")
KINDS += ("analyses", "add", "trackers", "commands")


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("does", DOES[1:])
@pytest.mark.usefixtures("forked_workers")
def test_one_kind_leaves_every_command_in_order(every, monkeypatch, does, kind):
    monkeypatch.setenv("EVERY", does)
    monkeypatch.setenv("EVERY_KIND", kind)
    for command in [*USUAL, *OTHERS]:
        assert_in_order(every, command)


def test_the_schema_has_the_kinds_of_packages_beside_those_of_this_one(every):
    schema = json.loads(every.done("schema"))
    kinds = {
        section["properties"]["kind"]["const"]
        for section in schema["$defs"].values()
        if "kind" in section.get("properties", {})
    }
    assert {"every-split", "every-filter", "holdout", "k-core"} <= kinds
    text = json.dumps(schema["properties"]["filters"])
    assert text.count("Holdout") == 1  # the filter, not the split of this package with its name
    assert "test_size" in schema["$defs"]["Holdout"]["properties"]


def test_a_run_with_plugins_of_packages_is_computed_again_only_if_they_are_trusted(every):
    refused = every.refused("verify", "a")
    assert "it names code, EveryMean of every-kind 1.0" in refused
    for name in ("every_share", "every-split", "every-filter", "every-data", "every-look"):
        assert f"{name} of every-kind 1.0" in refused
    assert "`--trust` then imports and runs it" in refused
    assert "equal to the last digit" in every.done("verify", "a", "--trust")


def test_a_reader_that_raises_is_one_line_in_every_command(every, monkeypatch):
    monkeypatch.setenv("EVERY", "raises")
    monkeypatch.setenv("EVERY_KIND", "readers")
    for call in (
        ("run", "file.yaml"),
        ("describe", "file.yaml"),
        ("describe", "a.every"),
        ("run", "--dataset", "a.every", *NEW),
        ("new", "c.yaml", "--dataset", "a.every", *NEW),
    ):
        refused = every.refused(*call)
        said = "a.every: readers: 'every-file' of every-kind 1.0: ValueError: readers does not work"
        assert said in refused
        assert "its author has to mend it" in refused


@pytest.mark.long
def test_checks_pass_each_right_plugin(every):
    out = every.done("list", "plugins", "--check", "every-log", "every-filter", "every-split")
    assert out.count("passes") == 3


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("does", "kind", "said"),
    [
        ("masked", "algorithms", "EveryMean.estimate returned a masked array"),
        ("complex", "algorithms", "EveryMean.estimate returned complex numbers"),
        ("masked", "metrics", "every_share returned a masked array"),
        ("complex", "metrics", "every_share returned complex numbers"),
        ("masked", "splits", "fold 1: a masked array; give a plain one"),
        ("complex", "splits", "fold 1: found complex128"),
        ("none", "splits", "`divide` returned NoneType (every_kind.py:"),
        ("masked", "filters", "filters: every-filter: a masked array"),
        ("none", "filters", "filters: every-filter: found object ()"),
    ],
)
def test_what_would_lose_its_mask_or_its_imaginary_part_is_refused(
    every, monkeypatch, does, kind, said
):
    monkeypatch.setenv("EVERY", does)
    monkeypatch.setenv("EVERY_KIND", kind)
    code, out, err = every("run", "--fresh", "a.yaml")
    assert code
    assert said in out + err
