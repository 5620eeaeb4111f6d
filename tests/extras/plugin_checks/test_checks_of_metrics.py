"""What is wrong with a metric of one's own is said in a sentence; every metric here is right."""

import pytest

from harness.extras.plugin_checks import checks as conformance
from harness.extras.plugin_checks.metrics import check_metrics
from harness.plugins import registry as plugins

MODULE = """
import itertools
import os
import numpy as np
import harness
from harness.metrics.definition import Definition

calls = itertools.count()

@harness.metric("too large", range=(0, 1))
def large(lists, k):
    return np.full(lists.n_users, 1.5)

@harness.metric("one value")
def short(lists, k):
    return np.ones(3)

@harness.metric("never defined")
def undefined(lists, k):
    return np.full(lists.n_users, np.nan)

@harness.metric("another value each time", range=(0, 1000))
def counting(lists, k):
    return np.full(lists.n_users, float(next(calls)))

@harness.metric("raises")
def raising(lists, k):
    raise KeyError("relevance")

@harness.metric("another value in each process", range=(0, 1e12))
def process(lists, k):
    return np.full(lists.n_users, float(os.getpid()))

@harness.metric("ends its process")
def leaving(lists, k):
    os._exit(3)

def overwriting(rankings, cuts, params):
    rankings.relevance[:] = 0
    return np.zeros((rankings.n_users, len(cuts)))

overwriting = Definition(overwriting, "0", "nowhere")
"""


@pytest.mark.parametrize("name", plugins.builtin_names("metrics"))
def test_every_metric_here_is_right(name):
    findings = conformance.examine("harness.extras.plugin_checks.metrics", name)
    assert findings.problems == []
    assert findings == conformance.examine("harness.extras.plugin_checks.metrics", name)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("large", "1.5"),
        ("short", "(3,)"),
        ("undefined", "NaN for every user"),
        ("counting", "the same input gives different scores"),
        ("raising", "relevance"),
        ("overwriting", "it changes its input; work on a copy"),
        ("absent", "has no 'absent'"),
    ],
)
def test_what_is_wrong_is_said(module, name, said):
    (problem, *_) = conformance.examine(
        "harness.extras.plugin_checks.metrics", f"{module}:{name}"
    ).problems
    assert said in problem


@pytest.mark.long
def test_other_numbers_in_another_process_and_an_end_of_the_process_are_found(module):
    names = [f"{module}:process", f"{module}:leaving", "ndcg"]
    problems = check_metrics(names)
    assert "its numbers differ in another process" in problems[names[0]][0]
    assert problems[names[1]][0].startswith("its process ended with exit code 3")
    assert problems["ndcg"] == []
