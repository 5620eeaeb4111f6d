"""One law holds every member of every kind complete.

A kind is one class in one module, and a member of it is found by its entry point (a correction, a
column and a note by the table of its module). Each member is taken through every surface below. A
part that a new member lacks, as its sentence, its short name, its flag, its example, its entry
point or its documentation, fails here: `dev/proofs/omissions.py` leaves out each in turn.

========== =====================================================================================
surface    what holds there
========== =====================================================================================
class      texts and flags are there, differ from those of other members, and are true
config     a config with the member is read, and read again from what it states
schema     ``configs/schema.json`` knows its name, and each of its keys with a meaning
check      ``harness check`` says its short name and finds nothing that would stop a run
run        no cell fails, and no note says that a part failed
table      its short name or its numbers are in the table and in ``table.csv``
methods    its sentence is in the methods text, and what it cites is in the bibliography
report     the page shows it
json       ``harness table --json`` has it
docs       a generated page of ``docs/reference`` names it, or a page written by hand
========== =====================================================================================
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import pkgutil
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from markupsafe import escape

import harness
from harness import metrics, statistics
from harness.candidates.base import CandidatesSection
from harness.config.experiment import Experiment, Inference
from harness.config.load import load as load_config
from harness.config.trackers import Tracker, tracker_class
from harness.console.plugin_list import USES
from harness.datasets import Ratings, load
from harness.datasets.readers import HEAD, kind_of, kind_of_content, reader_named
from harness.datasets.readers.base import Reader, example_ratings
from harness.experiment.analyses.base import Analysis, BuiltinAnalysis
from harness.experiment.dry_run import dry_run
from harness.experiment.plan import Plan
from harness.metrics.definition import Definition
from harness.notes.note import codes, sentence
from harness.plugins import registry as plugins
from harness.report import page
from harness.report.drawing import Plot
from harness.report.methods import all_sources, cited_in, methods
from harness.report.plots import kinds as plot_kinds
from harness.results.record import RunInfo
from harness.results.runs import Run
from harness.results.table import COLUMNS
from harness.schema.sections import Kind
from harness.splits.base import FilterSection, SplitSection, make
from harness.splits.random import Holdout
from harness.splits.saved import save
from harness.statistics.corrections import CORRECTIONS

TOP = Path(__file__).parents[1]

# A surface that does not hold for a kind, and why not. All others hold.
NOT: dict[str, dict[str, str]] = {
    "candidates": {},
    "splits": {},
    "filters": {"table": "a filter changes the data, which the table names, and no row"},
    "corrections": {
        "check": "a correction is about finished rows",
        "table": "the table has its letters, which the sentence below it explains",
    },
    "readers": {
        "table": "rows are of ratings, whatever their file was",
        "methods": "methods are about ratings, whatever their file was",
        "report": "the page is about ratings, whatever their file was",
        "json": "`harness describe FILE --json` has what was read, and not how",
    },
    "plots": {
        "config": "a plot is drawn of a finished run",
        "schema": "a config does not name plots",
        "check": "a plot is drawn of a finished run",
        "table": "a plot shows what the table has",
        "methods": "a plot shows what was computed, in a way of its own",
        "json": "`harness plot --json` has the files that were written",
    },
    "analyses": {
        "schema": "`analyses` takes any name, also of your own code",
        "check": "an analysis is about finished cells",
        "methods": "an analysis says in its caption what it computed",
    },
    "columns": {
        "config": "every run has the columns that it has values for",
        "schema": "a config does not name columns",
        "check": "a column is of finished rows",
        "methods": "columns are counts and costs",
    },
    "metrics": {"schema": "`metrics` takes any label, also of your own code"},
    "notes": dict.fromkeys(
        ("config", "schema", "check", "run", "table", "methods", "report", "json", "docs"),
        "a note is of what it is about; the tests of its subject make it",
    ),
    "trackers": dict.fromkeys(
        ("check", "table", "methods", "report", "json"),
        "a tracker is told of a run, and tells none",
    )
    | {"schema": "`trackers` takes any name, also of your own code"},
}
ELSEWHERE = {
    "algorithms": "tests/algorithms/test_registry.py",
    "datasets": "tests/datasets/test_catalogue.py",
    "commands": "tests/cli/test_help.py",
    "sources": "tests/extras/libraries",
    "executors": "tests/extras/dask",
    "openers": "tests/datasets/test_openers.py",
}
"""Kinds of plug-ins that have a law of their own, and where it is."""

CONFIG: dict[str, Any] = {
    "name": "law",
    "dataset": "ratings.csv",
    "split": {"kind": "kfold", "n_splits": 2},
    "algorithms": ["ItemMean", "UserMean"],
    "metrics": ["ndcg@5"],
    "analyses": ["bounds"],
    "baselines": False,
    "statistics": None,
}
SHORTER = {
    "kfold": {"n_splits": 2},
    "repeated-kfold": {"n_splits": 2, "n_repeats": 2},
    "sampled": {"n": 5},
}
"""Keys with which a kind with defaults fits small data."""
FUNCTION = """
def listed(train, users):
    items = sorted(train["item"].unique())[:20]
    return {user: items for user in users}
"""


REGENERATE = "run python dev/tools/regenerate.py"
GIVE_VALUES = (
    "give it a value in `result_rows` of harness/results/table.py, and if only some runs have one, "
    "let `config_of` in tests/test_every_kind.py make one of these"
)


LIBRARIES = {"duckdb": "duckdb", "excel": "python_calamine", "spss": "pyreadstat"}
"""What the readers of some formats need that an installation may lack."""


# What is registered

TAKEN = "which was taken out of this installation"
"""Of the message about a member of a part that is not there."""


def builtin(kind: str, base: type | None = None) -> dict[str, Any]:
    """Return this package's own members of a kind of plug-in by name."""
    declared = [plugins.find(kind, name) for name in plugins.builtin_names(kind)]
    there = [each for each in declared if each.is_spine or TAKEN not in plugins.problem(each)]
    loaded: dict[str, Any] = {each.name: each.load() for each in there}
    return {name: each for name, each in loaded.items() if base is None or issubclass(each, base)}


REGISTERED: dict[str, Mapping[str, Any]] = {
    "candidates": builtin("candidates"),
    "splits": builtin("splits", SplitSection),
    "filters": builtin("splits", FilterSection),
    "corrections": CORRECTIONS,
    "readers": builtin("readers"),
    "plots": builtin("plots"),
    "analyses": builtin("analyses"),
    "columns": {column.name: column for column in COLUMNS},
    "metrics": builtin("metrics"),
    "notes": codes(),
    "trackers": builtin("trackers"),
}
MEMBERS = [(kind, name) for kind, named in REGISTERED.items() for name in named]


def test_every_kind_of_plugin_has_a_law():
    groups = {*plugins.KINDS}
    assert groups == {*USES}
    assert groups == ({*REGISTERED} | {*ELSEWHERE}) & groups
    assert {*NOT} == {*REGISTERED}
    for path in ELSEWHERE.values():
        assert (TOP / path).exists(), path


def test_every_class_of_a_kind_has_an_entry_point():
    """A class that nobody declares is found beside those that are declared."""
    for kind in ("candidates", "splits", "plots", "analyses", "readers", "trackers", "metrics"):
        declared = [*builtin(kind).values()]
        for module in siblings(declared):
            for value in vars(module).values():
                if is_member(kind, value, declared) and home(value) == module.__name__:
                    assert value in declared, f"{value}: add its entry point to pyproject.toml"


def siblings(members: list[Any]) -> Iterator[ModuleType]:
    """Yield the modules of the packages that members are in."""
    packages = {home(member).rpartition(".")[0] for member in members}
    for package in sorted(packages):
        folder = importlib.import_module(package).__path__
        for found in pkgutil.iter_modules(folder, f"{package}."):
            if not found.ispkg:
                yield importlib.import_module(found.name)


def home(member: Any) -> str:
    """Return the module that a member is in."""
    return str(getattr(member, "compute", member).__module__)


def is_member(kind: str, value: object, declared: list[Any]) -> bool:
    """Return whether an object is what other members of a kind are, and no base of them."""
    if kind == "metrics":
        return isinstance(value, Definition)
    if not isinstance(value, type) or value.__name__.startswith("_") or inspect.isabstract(value):
        return False
    if issubclass(value, Kind):
        return kind in ("candidates", "splits") and named(value) is not None
    roots = {"plots": Plot, "analyses": Analysis, "readers": Reader, "trackers": Tracker}
    is_base = any(value in each.__mro__[1:] for each in declared)
    return kind in roots and issubclass(value, roots[kind]) and not is_base


def named(kind: type[Kind]) -> str | None:
    field = kind.model_fields.get("kind")
    return None if field is None or not isinstance(field.default, str) else field.default


# What is made once for all members of a kind


@cache
def folder(base: Path) -> Path:
    """Return a folder with ratings, and with the files that examples name."""
    rng = np.random.default_rng(5)
    pairs = np.sort(rng.choice(40 * 24, 640, replace=False))
    rows = [
        (str(pair // 24 + 1), str(pair % 24 + 1), int(rng.integers(1, 6)), 10**9 + 86_400 * number)
        for number, pair in enumerate(rng.permutation(pairs).tolist())
    ]
    lines = ["user,item,rating,timestamp", *(",".join(map(str, row)) for row in rows)]
    (base / "ratings.csv").write_text("\n".join(lines) + "\n")
    few = rows[:200]
    head = "user,item,rating"
    text = "\n".join([head, *(f"{user},{item},{rating}" for user, item, rating, _ in few)])
    (base / "test.csv").write_text(text + "\n")
    judged = [f"{user},{item},{rating}" for user, item, rating, _ in few[:80]]
    seen = {tuple(row[:2]) for row in rows}
    unseen = [(str(user + 1), str(item + 1)) for user in range(40) for item in range(24)]
    unseen = [pair for pair in unseen if pair not in seen][:60]
    judged = [f"{user},{item},3" for user, item in unseen]
    (base / "judgements.csv").write_text("\n".join([head, *judged]) + "\n")
    wide = [f"{user + 1},{item + 1}" for user in range(40) for item in range(0, 24, 2)]
    (base / "candidates.csv").write_text("\n".join(["user,item", *wide]) + "\n")
    (base / "candidates_of.py").write_text(FUNCTION)
    genres = [f"{item + 1},{'a|b' if item % 2 else 'b|c'},{item % 7 + 1}" for item in range(24)]
    (base / "items.csv").write_text("\n".join(["item,genres,weight", *genres]) + "\n")
    ratings = load(base / "ratings.csv")
    save(make(Holdout(test_size=0.25), ratings, 0), base / "folds.parquet")
    return base


def section(kind: str, name: str) -> dict[str, Any]:
    """Return the keys of a section of a kind: its example, else its defaults."""
    declared = REGISTERED[kind][name]
    return {"kind": name, **declared.example, **SHORTER.get(name, {})}


def config_of(kind: str, names: list[str], base: Path) -> dict[str, Any]:
    """Return a config with these members of a kind."""
    config = dict(CONFIG)
    if kind == "candidates":
        config |= {"candidates": [section(kind, name) for name in names]}
        config |= {"split": {"kind": "holdout", "test_size": 0.25}}
    elif kind == "splits":
        config |= {"split": [section(kind, name) for name in names]}
    elif kind == "filters":
        config |= {"filters": [section(kind, name) for name in names]}
    elif kind == "corrections":
        config |= {"statistics": {"correction": names[0], "resamples": 100}}
    elif kind == "analyses":
        extra = {"groups": [{"users": "training_ratings"}], "outputs": {"lists": 3}}
        config |= {key: value for key, value in extra.items() if key in names}
        config["analyses"] = [name for name in names if name not in extra] or ["bounds"]
    elif kind == "columns":
        config |= {"algorithms": ["ItemMean", searched("law_searched")], "tuning": {"trials": 2}}
    elif kind == "metrics":
        config["dataset"] = {"path": "ratings.csv", "items": "items.csv"}
        config["metrics"] = [label_of(name) for name in names]
    elif kind == "trackers":
        config["trackers"] = {name: REGISTERED[kind][name].example for name in names}
    return config


DAMPED = {"name": "ItemMean", "label": "damped", "params": {"damping": 5.0}}


def searched(label: str) -> dict[str, Any]:
    return {"name": "ItemMean", "label": label, "search": {"damping": {"low": 0.0, "high": 50.0}}}


def label_of(name: str) -> str:
    """Return the shortest label of a metric."""
    for label in (f"{name}@5", name):
        try:
            return str(metrics.parse(label))
        except harness.errors.MetricError:
            continue
    raise AssertionError(f"{name}: no label with it is a metric")


class Law:
    """A member of a kind on every surface; what a surface needs is made once for its kind."""

    runs: ClassVar[dict[str, Run]] = {}
    pages: ClassVar[dict[str, str]] = {}

    def __init__(self, kind: str, name: str, base: Path, cli: Any, monkeypatch: Any) -> None:
        self.kind, self.name, self.base, self.cli = kind, name, base, cli
        self.monkeypatch = monkeypatch
        self.member = REGISTERED[kind][name]
        self.others = [each for other, each in REGISTERED[kind].items() if other != name]

    @property
    def config(self) -> dict[str, Any]:
        return config_of(self.kind, [self.name], self.base)

    @property
    def experiment(self) -> Experiment:
        return load_config(self.config, folder=self.base)[0]

    @property
    def section(self) -> Any:
        """The section of the member, of a config that was read."""
        key = {"splits": "split"}.get(self.kind, self.kind)
        return getattr(self.experiment, key)[0]

    @property
    def several(self) -> list[str]:
        """The members that share a run with this one."""
        return [self.name] if self.kind in ("corrections", "trackers") else [*REGISTERED[self.kind]]

    @property
    def run(self) -> Run:
        """The run of all members of the kind."""
        if self.kind == "plots":
            return self.run_with_everything
        key = f"{self.kind}-{self.name if len(self.several) == 1 else 'all'}"
        if key not in self.runs:
            config = config_of(self.kind, self.several, self.base) | {"name": key}
            self.runs[key] = harness.run(config, results=self.base / "runs")
        return self.runs[key]

    @property
    def run_with_everything(self) -> Run:
        """A run of which every plot has something to show."""
        if "plots" not in self.runs:
            config = CONFIG | {
                "name": "plots",
                "metrics": ["ndcg@5", "ndcg@10"],
                "algorithms": ["ItemMean", "UserMean", searched("law_searched"), DAMPED],
                "tuning": {"trials": 4},
                "training_shares": {"shares": [0.5, 1.0]},
                "groups": [{"users": "training_ratings"}],
                "statistics": {"resamples": 100},
            }
            self.runs["plots"] = harness.run(config, results=self.base / "runs")
        return self.runs["plots"]

    @property
    def page(self) -> str:
        """The page of the run; of other kinds than plots, without plots."""
        name = self.run.name
        if name not in self.pages:
            if self.kind != "plots":
                self.monkeypatch.setattr(page, "kinds", dict)
            self.pages[name] = page.build_page([self.run])
        return self.pages[name]

    # Surfaces

    def check_config(self) -> None:
        again, _ = load_config(self.config, folder=self.base)
        assert again == self.experiment
        stated = self.experiment.stated()
        assert load_config({"name": "law", **stated}, folder=self.base)[0].stated() == stated

    def check_schema(self) -> None:
        schema = (TOP / "configs/schema.json").read_text(encoding="utf-8")
        if self.kind in ("corrections", "readers"):
            assert_in(f'"{self.name}"', schema, REGENERATE)
            return
        found = [
            each
            for each in json.loads(schema)["$defs"].values()
            if each.get("properties", {}).get("kind", {}).get("const") == self.name
            and {*each["properties"]} >= {*self.member.model_fields}
            and each["properties"]["kind"].get("description", "").split()
            == self.member.meanings()["kind"].split()
        ]
        assert len(found) == 1, REGENERATE
        for key, value in found[0]["properties"].items():
            assert value.get("description"), f"{key}: write its meaning below it"

    def check_check(self) -> None:
        planned = dry_run(self.config | {"plugins": None})
        assert planned.faults == []
        shown = " ".join(text for _, text in planned.facts) + " ".join(map(str, planned.notes))
        if self.kind in ("candidates", "splits"):
            assert_in(self.section.describe(), shown, "`harness check` does not say its short name")
        elif self.kind == "filters":
            assert self.section.describe() in str(load_filtered(self.experiment, self.base))

    def check_run(self) -> None:
        info = self.run.info
        assert [cell.error for cell in info.failed] == []
        failures = {"analysis-failed", "metric-failed", "tracker-failed", "metric-failed-in-groups"}
        assert [str(note) for note in info.notes if note.code in failures] == []

    def check_table(self) -> None:
        check = getattr(self, f"table_of_{self.kind}")
        check((self.run.folder / "table.csv").read_text(encoding="utf-8"))

    def check_json(self) -> None:
        document = json.loads(self.cli.done("table", self.run.folder, "--json"))
        text = json.dumps(document)
        if self.kind not in ("filters", "corrections", "analyses"):
            advice = GIVE_VALUES if self.kind == "columns" else "`harness table --json` lacks it"
            assert_in(self.shown_name, text, advice)
        json.loads(self.cli.done("methods", self.run.folder, "--json"))

    def check_report(self) -> None:
        if self.kind == "plots":
            assert_in(f'<section class="plot" id="{self.name}"', self.page, "the page lacks it")
            assert_in(f">{self.member.heading(self.run_summary)}</h3>", self.page, "no heading")
        elif self.kind == "analyses":
            self.page_of_analyses()
        elif self.kind == "columns":
            assert_in(f">{self.member.title}<", self.page, GIVE_VALUES)
        elif self.kind == "corrections":
            assert_in(escaped(self.member.title), self.page, "the page lacks its title")
        else:
            assert_in(escaped(self.shown_name), self.page, "the page lacks its short name")

    def check_methods(self) -> None:
        written = methods(self.run.info)
        text = " ".join(text for _, text in written.paragraphs)
        keys = {source.key for source in written.sources}
        if self.kind in ("candidates", "splits"):
            said = self.section.sentence()
            assert_in(" ".join(said.split()), text, "the methods text lacks its sentence")
            assert re.fullmatch(r"[A-Z\d].*[.]", said, re.DOTALL), said
            assert {*cited_in(said)} <= keys
        elif self.kind == "filters":
            assert_in(self.section.describe(), text, "the methods text lacks its short name")
        elif self.kind == "corrections":
            assert_in(self.member.sentence, text, "the methods text lacks its sentence")
            assert not self.member.citation or self.member.citation in keys
        elif self.kind == "metrics":
            definition = self.member
            assert_in(definition.summary.rstrip("."), text, "the methods text lacks its summary")
            assert {*cited_in(definition.source)} <= keys

    def check_docs(self) -> None:
        pages = TOP / "docs" / "reference"
        reference = "\n".join(path.read_text(encoding="utf-8") for path in pages.glob("*.md"))
        how_to = (TOP / "docs" / "how-to").glob("*.md")
        by_hand = "\n".join(path.read_text(encoding="utf-8") for path in how_to)
        if self.kind == "columns":
            titles = [title for cell in first_cells("how-to/read-the-table.md") for title in cell]
            assert self.member.title in titles, "explain it in docs/how-to/read-the-table.md"
            names = re.findall(r"``(\w+)``", Run.table.__doc__ or "")
            assert self.name in names, "name it in the docstring of Run.table"
            return
        if self.kind == "plots":
            is_there = re.search(rf"--kind \[.*\b{self.name}\b", reference)
        elif self.kind in ("trackers", "analyses"):
            in_list = rf"\[(?:[^\]\n]*, )?{self.name}[,\]]"
            is_there = re.search(rf"`{self.name}`|{in_list}", by_hand)
            assert is_there, "name it in a page of docs/how-to"
        elif self.kind == "candidates" and not self.member.example:
            is_there = re.search(rf"--candidates \[.*\b{self.name}\b", reference)
        else:
            is_there = f"`{self.name}`" in reference or f"## {self.name}" in reference
        assert is_there, REGENERATE
        if self.kind == "candidates":
            configs = [", ".join(cell) for cell in first_cells("explanation/candidates.md")]
            own = rf"{self.name}|.*\bkind: {self.name}(?![\w-]).*"
            is_there = any(re.fullmatch(own, config) for config in configs)
            assert is_there, "add it to the table of docs/explanation/candidates.md"
        elif self.kind == "readers":
            reader = reader_named(self.name)
            files = (pages / "files.md").read_text(encoding="utf-8")
            ways = [rf"\w{re.escape(ending)}\b" for ending in reader.endings]
            ways += [rf"\bformat: {self.name}\b"]
            ways += [rf"^\| (?:.* )?{re.escape(reader.label)}\b.* \|"] if reader.label else []
            is_there = any(re.search(way, files, re.MULTILINE) for way in ways)
            assert is_there, "add a file of it to a table of docs/reference/files.md"
            own_data = (TOP / "docs/how-to/own-data.md").read_text(encoding="utf-8")
            names = [self.name, reader.label, *reader.endings]
            is_there = any(name.casefold() in own_data.casefold() for name in names if name)
            assert is_there, "name it in docs/how-to/own-data.md"

    # The class

    def check_class(self) -> None:
        getattr(self, f"class_of_{self.kind}")()
        if isinstance(self.member, type):
            own = vars(self.member).get("__doc__") or ""
            assert own.strip(), "write a docstring"

    def class_of_section(self) -> None:
        assert named(self.member) == self.name, "the name of the entry point is that of `kind`"
        missing = {*self.member.model_fields} - {*self.member.meanings()}
        described = {key for key, field in self.member.model_fields.items() if field.description}
        assert not missing - described - {"validation"}, "write the meaning below each key"
        own = inspect.getsource(self.member)
        assert re.search(r'kind: Literal\["[\w-]+"\] = "[\w-]+"\n    """', own), "say what it does"
        section = self.section
        names = [made(each).describe() for each in self.others]
        assert section.describe().strip()
        assert section.describe() not in names

    def class_of_splits(self) -> None:
        self.class_of_section()
        assert self.section.sentence() not in [made(each).sentence() for each in self.others]
        assert "validation set" in self.section.sentence("validation set")
        plan = Plan.from_config(self.config)
        folds, again = plan.splits(0, 0, 0), Plan.from_config(self.config).splits(0, 0, 0)
        assert [fold.fingerprint for fold in folds] == [fold.fingerprint for fold in again]
        assert {fold.name for fold in folds} == {self.shown_name}
        if not self.section.from_files:
            assert self.section.n_folds == len(folds)
        is_of_part = any(note.code == "training-share" for fold in folds for note in fold.notes)
        assert self.section.is_of_curve == is_of_part

    def class_of_filters(self) -> None:
        self.class_of_section()
        ratings = load(self.base / "ratings.csv")
        kept = self.section.keep(ratings, 7)
        assert kept.dtype == bool
        assert kept.shape == (len(ratings),)
        assert kept.sum() > 0

    def class_of_candidates(self) -> None:
        self.class_of_section()
        kind, section = self.member, self.section
        assert section.sentence() not in [made(each).sentence() for each in self.others]
        assert CandidatesSection.of_name(section.describe()) is kind
        section.prepare(self.base)
        plan = Plan.from_config(self.config)
        fold = plan.splits(0, 0, 0)[0]
        first, second = (section.select(fold, seed) for seed in (0, 1))
        moved = not np.array_equal(first.extra_items, second.extra_items)
        assert section.is_sample == (moved and not section.by_function), "`is_sample` is not true"
        has_unrated = bool(len(first.extra_items))
        assert has_unrated == section.judges_unrated, "`judges_unrated` is not true"
        tests_alone = not has_unrated and not section.is_whole_catalogue
        assert section.only_rated == tests_alone, "`only_rated` is not true"
        assert bool(section.caution) == bool(section.citation)
        assert not section.is_sample or section.caution, "say that samples are biased"
        assert not section.citation or section.citation in all_sources()
        for note in section.notes("them", [metrics.parse("ndcg(ties=first)@5")]):
            assert note.values["candidates"] == "them"
        assert not section.is_sample or [*section.notes("them", [])], "note that it is biased"
        cells = [cell for cell in self.run.info.cells if cell.candidates == section.describe()]
        assert cells
        n_ranked = section.n_ranked(fold, section.tested(fold))
        for key in re.findall(r"`(?:candidates: )?([^`]+)`", kind.longer):
            assert key in kind.model_fields or key in REGISTERED["candidates"], "`longer` is wrong"
        for key, value in section:
            if type(value) is int and n_ranked is not None:
                more = section.model_copy(update={key: 2 * value})
                is_longer = more.n_ranked(fold, more.tested(fold)).sum() > n_ranked.sum()
                assert f"`{key}`" in kind.longer or not is_longer, f"name `{key}` in `longer`"
        if n_ranked is None:
            listed = section.by_function or "path" in kind.model_fields
            assert listed, "say in `n_ranked` how long lists are"
            return
        counted = np.diff(first.extra_offsets) + np.add.reduceat(first.known, first.offsets[:-1])
        if section.is_whole_catalogue:
            assert n_ranked.max() <= int(fold.known_items.sum())
        else:
            assert n_ranked.tolist() == counted.tolist(), "`n_ranked` is not how long lists are"

    def class_of_corrections(self) -> None:
        correction = self.member
        assert correction.title != "" != correction.sentence
        assert correction.sentence not in [each.sentence for each in self.others]
        assert correction.title not in [each.title for each in self.others]
        assert not correction.citation or correction.citation in all_sources()
        assert correction.citation or self.name == "none", "cite its source"
        assert Inference(correction=self.name).correction == self.name
        p_values = np.random.default_rng(1).random(25) ** 4
        adjusted = statistics.adjust(p_values, self.name)
        assert (adjusted >= p_values).all()
        assert (adjusted <= 1).all()
        order = np.argsort(p_values)
        assert (np.diff(adjusted[order]) >= 0).all()
        assert statistics.adjust(p_values[order], self.name).tolist() == adjusted[order].tolist()
        assert statistics.adjust([], self.name).tolist() == []

    def class_of_readers(self) -> None:
        reader = reader_named(self.name)
        for ending in reader.endings:
            is_ending = re.fullmatch(r"\.[a-z0-9]+(-[a-z0-9]+)*", ending)
            assert is_ending, f"{ending}: write an ending as .abc or .abc-2, in small letters"
            assert kind_of(f"a{ending}") == self.name, "another reader has the ending"
        path, bare = self.example_file, self.base / f"{self.name}-bare"
        if path.is_dir():
            shutil.copytree(path, bare)
        else:
            bare.write_bytes(path.read_bytes())
        recognised = kind_of_content(bare)
        assert recognised in (None, self.name)
        is_text = "separator" in reader.keys
        assert recognised or is_text, "write `recognise`: a file without ending is not read"
        assert is_text or reader.label, "write `label`, for messages"
        others = [reader_named(name) for name in plugins.builtin_names("readers")]
        others = [other for other in others if type(other) is not type(reader)]
        if path.is_dir():
            assert not any(other.recognise_folder(path) for other in others)
        else:
            with path.open("rb") as file:
                head = file.read(HEAD)
            assert not any(other.recognise(head, bare.name) for other in others)
        read = load({"path": path.name, "format": self.name})
        written = example_ratings(spaces=reader.spaces_in_ids)
        is_equal = triples(read) == triples(written)
        assert is_equal, "the file of `write_example` is not read as `example_ratings` has it"

    @property
    def example_file(self) -> Path:
        reader = reader_named(self.name)
        path = self.base / f"{self.name}-example{next(iter(reader.endings), '')}"
        if not path.exists():
            if library := LIBRARIES.get(self.name):
                pytest.importorskip(library, reason=f"pip install {library}")
            reader.write_example(path)
        assert path.stat().st_size, "write `example` or `write_example`"
        return path

    def class_of_plots(self) -> None:
        kind = self.member
        assert kind.name == self.name
        assert kind.title not in [each.title for each in self.others]
        assert kind.caption not in [each.caption for each in self.others]
        (drawn, *_) = kind.each(self.run_with_everything, None, self.place)
        assert len(drawn.data)
        assert drawn.csv
        assert drawn.describe().rstrip().endswith(".")
        assert self.name in plot_kinds()

    @property
    def place(self) -> int:
        """The table of which the plot has something to show."""
        for place in range(1, len(self.run_with_everything.info.tables) + 1):
            try:
                self.member.each(self.run_with_everything, None, place)
            except harness.errors.ResultsError:
                continue
            return place
        raise AssertionError("no table of a run with everything has something for it")

    @property
    def run_summary(self) -> Any:
        return page.summarise(self.run_with_everything)

    def class_of_analyses(self) -> None:
        kind = self.member
        if not issubclass(kind, BuiltinAnalysis):
            return
        parts = {*kind.makes} - {"undistinguished"}
        assert parts <= {*RunInfo.model_fields}, "the record has no place for a part"

    def class_of_columns(self) -> None:
        titles = [column.title for column in self.others]
        assert self.member.title not in titles
        assert self.member.first in ("ascending", "descending")

    def class_of_metrics(self) -> None:
        definition = self.member
        for text in (definition.summary, definition.formula, definition.source):
            assert text.strip()
        label = label_of(self.name)
        assert str(metrics.parse(label)) == label

    def class_of_notes(self) -> None:
        assert {*self.member} <= {"weight", "text", "group"}
        assert self.member["weight"] in (1, 2, 3)
        assert self.member["text"].strip()
        fields = {name.partition(":")[0] for name in re.findall(r"\{(\w+)", self.member["text"])}
        values = dict.fromkeys(fields, Anything())
        assert sentence(self.member["text"], **values).strip()
        assert words_of_code().fullmatch(self.name), "nothing makes this note"

    def class_of_trackers(self) -> None:
        kind = tracker_class(self.name)
        if lacking := kind.missing():
            pytest.skip(lacking)

    def table_of_candidates(self, csv: str) -> None:
        assert_in(self.shown_name, csv, "table.csv lacks its short name")

    table_of_splits = table_of_candidates

    def table_of_metrics(self, csv: str) -> None:
        label = label_of(self.name)
        assert_in(label, csv.partition("\n")[0], "table.csv lacks it")
        values = self.run.table[label]
        undefined = [note for note in self.run.info.notes if label in str(note)]
        assert values.notna().any() or undefined
        assert not any(note.code == "without-value" and label in str(note) for note in undefined)

    def table_of_columns(self, csv: str) -> None:
        is_there = self.name in csv.partition("\n")[0].split(",")
        assert is_there, GIVE_VALUES
        shown = self.cli.done("table", self.run.folder, "--format", "markdown")
        assert_in(self.member.title, " ".join(shown.split()), GIVE_VALUES)
        latex = self.cli.done("table", self.run.folder, "--format", "latex")
        is_there = self.member.title in latex
        assert is_there >= self.member.in_papers, "it is `in_papers`, and LaTeX lacks it"

    def table_of_analyses(self, csv: str) -> None:
        if issubclass(self.member, BuiltinAnalysis):
            for part in self.parts:
                assert self.run.info[part], f"{part} is empty"
            return
        shown = self.cli.done("table", self.run.folder, "--analysis", self.name)
        own = self.run.info.analyses[self.name]
        assert own.title
        assert own.caption, "write a docstring, or `caption`"
        assert_in(" ".join(own.caption.split()), " ".join(shown.split()), "no caption below it")

    @property
    def parts(self) -> set[str]:
        return {*self.member.makes} - {"undistinguished"}

    def page_of_analyses(self) -> None:
        if issubclass(self.member, BuiltinAnalysis):
            return  # the sections of bounds, ties, conventions and groups are the page's own
        own = self.run.info.analyses[self.name]
        assert_in(f">{escaped(own.title)}</h3>", self.page, "the page lacks its title")
        assert_in(escaped(own.caption), self.page, "the page lacks its caption")

    @property
    def shown_name(self) -> str:
        """What tables and pages call the member."""
        if self.kind == "splits":  # a file has the name of the split that it holds
            return Plan.from_config(self.config).names["split"][0]
        if self.kind in ("candidates", "filters"):
            return self.section.describe()
        return {"metrics": label_of, "columns": str}.get(self.kind, str)(self.name)


class Anything:
    """What a field of a text may be, in all of its formats."""

    def __format__(self, spec: str) -> str:
        return "x"

    def __len__(self) -> int:
        return 2

    def __iter__(self) -> Iterator[str]:
        return iter(("x", "y"))

    def __int__(self) -> int:
        return 2

    def __mul__(self, other: object) -> float:
        return 2.0

    __rmul__ = __mul__

    def __ge__(self, other: object) -> bool:
        return True

    def __getitem__(self, key: str) -> int:
        return 2


@cache
def words_of_code() -> re.Pattern[str]:
    """Return what matches the text constants of the package's code, f-strings among them."""
    package = Path(harness.__file__).parent
    words: set[str] = set()
    for path in package.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                words.add(re.escape(node.value))
            elif isinstance(node, ast.JoinedStr) and len(node.values) == 2:
                texts = [getattr(part, "value", None) for part in node.values]
                fixed = "".join(text for text in texts if isinstance(text, str))
                if len(fixed) >= len("-dropped") and "-" in fixed:
                    is_text = [isinstance(text, str) for text in texts]
                    words.add("".join(re.escape(fixed) if text else "[a-z-]+" for text in is_text))
    return re.compile("|".join(sorted(word for word in words if "\n" not in word)))


def assert_in(part: str, text: str, advice: str) -> None:
    """Assert that a text has a part; a failure says what to do and does not show the text."""
    is_there = part in text
    assert is_there, f"{advice} ({part!r})"


def first_cells(page: str) -> list[list[str]]:
    """Return the first cell of each row of the tables of a page of the documentation, as a list."""
    text = (TOP / "docs" / page).read_text(encoding="utf-8").replace("`", "")
    cells = re.findall(r"^\| ([^|]+) \|", text, re.MULTILINE)
    return [[part.strip() for part in cell.split(",")] for cell in cells]


def triples(ratings: Ratings | pd.DataFrame) -> set[tuple[str, str, float]]:
    """Return user, item and rating of each row."""
    frame = ratings.to_frame() if isinstance(ratings, Ratings) else ratings
    rows = frame[["user", "item", "rating"]].itertuples(index=False)
    return {(str(user), str(item), float(rating)) for user, item, rating in rows}


def made(kind: type[Kind]) -> Any:
    """Return a section of a kind by its example."""
    return kind.model_validate({"kind": named(kind), **kind.example})


def load_filtered(experiment: Experiment, base: Path) -> Any:
    return [section.describe() for section in experiment.filters]


def escaped(text: str) -> str:
    """Return text as it is in a page."""
    return str(escape(text))


SURFACES: dict[str, Callable[[Law], None]] = {
    name.removeprefix("check_"): method
    for name, method in vars(Law).items()
    if name.startswith("check_")
}


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_CACHE", str(tmp_path_factory.mktemp("cache")))
        Law.runs.clear()
        Law.pages.clear()
        yield folder(tmp_path_factory.mktemp("law"))
        Law.runs.clear()
        Law.pages.clear()


@pytest.mark.filterwarnings("default:.*loader strategy is deprecated")  # of what MLflow calls
@pytest.mark.parametrize(("kind", "name"), MEMBERS, ids=[":".join(each) for each in MEMBERS])
def test_a_member_is_complete(kind, name, base, cli, monkeypatch):
    monkeypatch.chdir(base)
    monkeypatch.syspath_prepend(base)
    law = Law(kind, name, base, cli, monkeypatch)
    wrong = []
    for surface, check in SURFACES.items():
        if surface in NOT[kind]:
            continue
        try:
            check(law)
        except Exception as error:
            said = str(error).strip().partition("\n")[0] or type(error).__name__
            wrong.append(f"{surface}: {said}")
    assert not wrong, f"{kind} {name}: " + "; ".join(wrong)


def test_a_surface_is_left_out_for_a_reason_alone():
    for reasons in NOT.values():
        assert {*reasons} <= {*SURFACES}
        assert all(reasons.values())
