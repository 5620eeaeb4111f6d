"""What is wrong with an analysis, a tracker, a data set, a reader or a command is said."""

import importlib.util
import re
import sys

import pytest

from harness.extras.plugin_checks import checks as conformance
from harness.plugins import registry as plugins

BAD = '''
import itertools
import os
from pathlib import Path

import click
import numpy as np
import pandas as pd

import harness
from dataclasses import replace
from harness.algorithms.base import Algorithm
from harness.algorithms.sources import Source
from harness.candidates import Rated
from harness.errors import AlgorithmError
from harness.report.plots import SpreadPlot

calls = itertools.count()
Nothing = 7


class Cells(harness.Analysis):
    """How many cells there are."""
    n = 0
    def add(self, cell, scores): self.n += 1
    def result(self): return pd.DataFrame({"cells": [self.n]})

class Raises(Cells):
    def add(self, cell, scores): raise ValueError("no cells, please")

class Overwrites(Cells):
    def add(self, cell, scores): cell.users.iloc[0, -1] = 7.0

class OverwritesScores(Cells):
    def add(self, cell, scores): scores["rmse"].per_user[0] = 7.0

class Undrawn(Cells):
    def result(self): return pd.DataFrame({"cells": [next(calls)]})

class Infinite(Cells):
    def result(self): return pd.DataFrame({"cells": [np.inf]})

class Repeats(Cells):
    def result(self): return pd.DataFrame([[1, 2]], columns=["a", "a"])

class OfProcess(Cells):
    def result(self): return pd.DataFrame({"cells": [hash("a") % 1000]})

class Ends(Cells):
    def add(self, cell, scores): os._exit(3)


class Lines(harness.Tracker):
    """A line for each row."""
    def row(self, row): Path("lines.txt").write_text(row.title)

class RowRaises(Lines):
    def row(self, row): raise ValueError("no rows, please")

class ChangesRow(Lines):
    def row(self, row): row.metrics.clear()

class ChangesFolder(Lines):
    def end(self, run): run.folder and (run.folder / "table.csv").write_text("mine")

class NeedsPlace(Lines):
    def __init__(self, place): self.place = place

class FailRaises(Lines):
    def fail(self, reason): raise KeyError("x")


def visits():
    return pd.DataFrame({"user": [1, 1, 2], "item": [1, 2, 1], "rating": [1, 2, 3]})

def other_visits():
    return visits().assign(rating=[1, 2, 3 + next(calls)])

def visits_of_process():
    return visits().assign(rating=[1, 2, 3 + hash("a") % 1000])

def raises():
    raise ValueError("no data, please")


class Bars:
    endings = (".bars",)
    example = b"%BARS ann!x!5 ann!y!3 bob!x!4"
    def recognises(self, head): return head.startswith(b"%BARS")
    def read(self, path, options):
        rows = [line.split("!") for line in path.read_text().split()[1:]]
        return dict(zip(("user", "item", "rating"), zip(*rows)))

class Greedy(Bars):
    def recognises(self, head): return True

class Ending(Bars):
    endings = ("BARS",)

class Unsure(Bars):
    def recognises(self, head): return None

class Undecided(Bars):
    def read(self, path, options):
        columns = super().read(path, options)
        return columns | {"rating": [1, 2, next(calls) + 3]}

class Writes(Bars):
    def read(self, path, options):
        columns = super().read(path, options)
        path.write_text(path.read_text() + " cy!x!1")
        return columns

class EndsOnNoise(Bars):
    def read(self, path, options):
        if path.stat().st_size == 0: os._exit(3)
        return super().read(path, options)

class Unread:
    def read(self, path, options): return {}


@click.command()
@click.option("--loud", is_flag=True, help="Shout.")
def say(loud):
    """Say something."""

@click.command()
@click.option("--loud", is_flag=True)
def mute(loud): pass

@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("rest", nargs=-1)
def takes_all(rest):
    """Take anything."""

@click.command(add_help_option=False)
def helpless():
    """No help."""


class Users(Rated):
    """As `rated`."""
    kind: str

class OtherUsers(Users):
    def select(self, split, seed):
        return super().select(replace(split, test=split.test[next(calls) % 2 :]), seed)

class UsersOfProcess(Users):
    def select(self, split, seed):
        return super().select(replace(split, test=split.test[hash("a") % 50 :]), seed)

class ShortUsers(Users):
    def select(self, split, seed):
        return replace(super().select(split, seed), judged=np.ones(1, bool))

class Silent(Users):
    def sentence(self): return ""


class Means(SpreadPlot):
    """As `spread`."""
    name = "means"
    def describe(self): return "Some means."

class Untitled(Means):
    title = ""

class Undescribed(Means):
    def describe(self): return ""

class DrawsNothing(Means):
    def _draw(self, axes): raise ValueError("no drawing, please")


class Models(Source):
    def prefixes(self): return ["models"]
    def models(self):
        yield {"library": "models", "model": "A", "scores": "ratings", "parameters": ""}
    def canonical(self, name):
        if name.casefold() != "models/a": raise AlgorithmError("no such model; use A")
        return "models/A"
    def entry(self, name): return Algorithm
    def check(self, name, params):
        for param in params: yield ("params", param), "no such parameter; leave it out"
    def identity(self, name): return "1"

class TakesAllModels(Models):
    def canonical(self, name): return name

class TakesAllParams(Models):
    def check(self, name, params): return iter(())

class NoEntry(Models):
    def entry(self, name): return None

class OtherIdentity(Models):
    def identity(self, name): return str(hash("a"))
'''
SAID = {
    "analyses": {
        "Cells": [],
        "Raises": ["failed .ValueError: no cells, please.; correct"],
        "Overwrites": ["it changes the cells that it is handed; work on a copy"],
        "OverwritesScores": ["it failed .ValueError: assignment destination is read-only"],
        "Undrawn": ["the same cells give a different result"],
        "Infinite": ["infinite numbers"],
        "Repeats": ["columns are not text or are repeated"],
        "OfProcess": ["its numbers differ in another process"],
        "Ends": ["its process ended with exit code 3"],
        "Nothing": ["it is not an analysis; make it a subclass of `harness.Analysis`"],
    },
    "trackers": {
        "Lines": [],
        "RowRaises": ["it failed .ValueError: no rows, please.; correct its code"],
        "ChangesRow": ["it changes what it is given; work on a copy"],
        "ChangesFolder": ["it changes files in the folder of the run; write elsewhere"],
        "NeedsPlace": ["needs the parameter 'place'.*give a default"],
        "FailRaises": ["`fail` failed .KeyError: 'x'.; let it end what `start` began"],
        "Nothing": ["not a subclass of harness.Tracker"],
    },
    "datasets": {
        "visits": [],
        "other_visits": ["different ratings when it is asked again"],
        "visits_of_process": ["its numbers differ in another process"],
        "raises": ["it failed .ValueError: no data, please.; mend the function"],
        "Nothing": ["is not a function; name one"],
    },
    "readers": {
        "Bars": [],
        "Greedy": ["`recognises` says yes to an empty file"],
        "Ending": ["the ending 'BARS' is none; write it as '.abc'"],
        "Unsure": ["`recognises` returns no bool"],
        "Undecided": ["it reads different ratings when it reads a file again"],
        "Writes": ["it changes the file; open it to read"],
        "EndsOnNoise": ["its process ended with exit code 3"],
        "Unread": ["neither `endings` nor `recognises`"],
        "Nothing": ["it has no method `read`"],
    },
    "commands": {
        "say": [],
        "mute": ["it has no help; write a docstring", "the option --loud has no help"],
        "takes_all": ["an unknown option is not refused with exit code 2"],
        "helpless": ["`--help` ends with exit code 2"],
        "Nothing": ["it is not a command"],
    },
    "candidates": {
        "Users": [],
        "OtherUsers": ["the same seed gives different candidates; draw only from `seed`"],
        "UsersOfProcess": ["its numbers differ in another process"],
        "ShortUsers": ["`judged` has 1 values; give "],
        "Silent": ["`sentence` returns ''; return text"],
        "Nothing": ["it is not a kind of candidates; make it a subclass"],
    },
    "plots": {
        "Means": [],
        "Untitled": ["`title` is missing; write it on the class"],
        "Undescribed": ["`describe` returns no text"],
        "DrawsNothing": ["failed .ValueError: no drawing, please.; correct"],
        "Nothing": ["it is not a kind of plot; make it a subclass"],
    },
    "sources": {
        "Models": [],
        "TakesAllModels": ["it takes a model that it does not have; raise an `AlgorithmError`"],
        "TakesAllParams": ["models/A: `check` takes a parameter that does not exist"],
        "NoEntry": ["models/A: `entry` returns None; return a subclass of `Algorithm`"],
        "OtherIdentity": ["its numbers differ in another process"],
        "Nothing": ["it is not a source; make it a subclass"],
    },
}


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    """Return a module of one's own that other processes can import too."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "own_parts.py").write_text(BAD)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        patch.chdir(folder)
        yield "own_parts"
    sys.modules.pop("own_parts", None)


def module_of(kind):
    """Return the module that tries the plug-ins of a kind."""
    return plugins.find("trials", kind).target.partition(":")[0]


@pytest.mark.long
@pytest.mark.parametrize("kind", SAID)
def test_what_is_wrong_is_said(kind, module):
    names = {f"{module}:{name}": said for name, said in SAID[kind].items()}
    problems = conformance.problems_of(module_of(kind), [*names])
    for name, said in names.items():
        assert bool(problems[name]) == bool(said), (name, problems[name])
        text = " ".join(problems[name])
        for pattern in said:
            assert re.search(pattern, text), (name, text)


@pytest.mark.long
@pytest.mark.parametrize("kind", SAID)
def test_every_builtin_passes(kind):
    names = plugins.builtin_names(kind)
    if kind == "trackers":
        from harness.config.trackers import tracker_class

        names = [name for name in names if not tracker_class(name).missing()]
    if kind == "candidates":  # others need a file or a function
        names = [name for name in names if name not in ("file", "function")]
    problems = conformance.problems_of(module_of(kind), names)
    libraries = {"duckdb": "duckdb", "excel": "python_calamine", "spss": "pyreadstat"}
    for name, library in libraries.items() if kind == "readers" else ():
        if importlib.util.find_spec(library) is None:
            missing = problems.pop(name)
            assert all(f"pip install 'surprise-harness[{name}]'" in said for said in missing)
    assert {name: said for name, said in problems.items() if said} == {}
