"""What is wrong with a kind of split of one's own is said in a sentence."""

import pytest

from harness.extras.plugin_checks import checks as conformance
from harness.extras.plugin_checks.splits import check_splits
from harness.plugins import registry as plugins

MODULE = '''
import itertools
import os
import numpy as np
import harness

calls = itertools.count()

def halves(ratings):
    test = np.arange(len(ratings)) % 2 == 1
    return ~test, test

class Shared(harness.Split):
    """Both parts are everything."""
    def divide(self, ratings, rng):
        yield np.ones(len(ratings), bool), np.ones(len(ratings), bool)

class Empty(harness.Split):
    """No test set."""
    def divide(self, ratings, rng):
        yield np.ones(len(ratings), bool), np.zeros(len(ratings), bool)

class Undrawn(harness.Split):
    """Another row each time."""
    def divide(self, ratings, rng):
        test = np.arange(len(ratings)) == next(calls)
        yield ~test, test

class Overwriting(harness.Split):
    """Changes the ratings."""
    def divide(self, ratings, rng):
        ratings.users[0] = (ratings.users[0] + 1) % 3
        yield halves(ratings)

class Process(harness.Split):
    """Depends on the process."""
    def divide(self, ratings, rng):
        test = np.arange(len(ratings)) % 7 == hash("a") % 7
        yield ~test, test

class Right(harness.Split):
    """Every second rating."""
    step: int
    def divide(self, ratings, rng):
        yield halves(ratings)

class Nothing:
    pass
'''


@pytest.mark.parametrize(
    "name",
    sorted(
        {*plugins.builtin_names("splits")} - {"predefined", "file", "judgements", "time-window"}
    ),
)
def test_every_kind_here_is_right(name):
    findings = conformance.examine("harness.extras.plugin_checks.splits", name)
    assert findings.problems == []
    assert findings.digest


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Shared", "in both sets"),
        ("Empty", "no test rating is left"),
        ("Undrawn", "the same seed gives different rows"),
        ("Overwriting", "read-only"),
        ("Nothing", "it is not a kind of split or filter"),
    ],
)
def test_what_is_wrong_is_said(module, name, said):
    problems = conformance.examine(
        "harness.extras.plugin_checks.splits", f"{module}:{name}"
    ).problems
    assert any(said in problem for problem in problems)


def test_other_rows_in_another_process_are_found(module):
    names = [f"{module}:Process", f"{module}:Right"]
    problems = check_splits(names)
    assert "its numbers differ in another process" in problems[names[0]][0]
    assert problems[names[1]] == []
