"""The gain of a relevance, and what users without relevant items, lists or enough items score."""

import math

import metric_oracles as oracle
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metric_oracles import cases, lists_of, value

from harness import metrics, rankings
from harness.errors import MetricError
from harness.metrics import gains as gain_rules

GRADES = [-2.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.7]
CUTS = (1, 2, 4, 9)


def gain_of(rel, gain, threshold, offset, negative, grades):
    """Return the gain of a relevance, one parameter after the other; None was judged by nobody."""
    if rel is None:
        return 0.0
    grade = math.trunc(rel) if grades == "whole" else rel
    if threshold != "none" and grade < threshold:
        return 0.0
    grade -= offset
    if negative == "zero":
        grade = max(grade, 0.0)
    return 2**grade - 1 if gain == "exp2" else grade


@st.composite
def gains(draw):
    """Draw a way to make gains, as keyword arguments of `gain_of`."""
    negative = draw(st.sampled_from(["zero", "keep"]))
    threshold = "none" if negative == "keep" else draw(st.sampled_from(["none", -1.0, 0.5, 2.0]))
    return {
        "gain": draw(st.sampled_from(["exp2", "linear"])),
        "threshold": threshold,
        "offset": draw(st.sampled_from([0.0, 1.0, -1.5])),
        "negative": negative,
        "grades": draw(st.sampled_from(["real", "whole"])),
    }


@pytest.mark.long
@settings(max_examples=1000, deadline=None)
@given(params=gains(), case=cases(most=6, grades=GRADES))
def test_gains_follow_threshold_offset_and_sign(params, case):
    estimates, relevance, missed = case
    lists = lists_of(*case)
    known = sorted([rel for rel in relevance if rel is not None] + missed, reverse=True)
    inside = ", ".join(f"{key}={each}" for key, each in params.items())
    best = [gain_of(rel, **params) for rel in known]
    ranked = [gain_of(rel, **params) for rel in relevance]
    for k in CUTS:
        ideal = oracle.dcg(best, k, oracle.linear)
        mean = oracle.averaged(lambda r, k=k: oracle.dcg(r, k, oracle.linear), estimates, ranked)
        ratio = mean / ideal if ideal else math.nan
        for name, expected in (("dcg", mean), ("idcg", ideal), ("ndcg", ratio)):
            found = value(f"{name}({inside})@{k}", lists)
            assert found == pytest.approx(expected, rel=1e-9, abs=1e-12, nan_ok=True), name


@pytest.mark.parametrize(
    ("label", "relevance", "message"),
    [
        ("ndcg@5", [3, -1], r"ndcg: a relevance of -1; add negative=zero, or move.*offset=-1"),
        ("dcg(gain=linear)", [-0.5], r"a relevance of -0.5; add negative=zero"),
        ("idcg@3", [-2], r"a relevance of -2"),
        ("err@3", [-2, 1], r"a relevance of -2"),
        ("ndcg(offset=3)@5", [5, 2], r"a relevance of -1 after the offset of 3.*offset=2"),
        ("ndcg(gain=table(0, 1))@5", [2], r"no gain for a relevance of 2; the table has.*0 to 1"),
        ("ndcg(gain=table(0, 1, 2))@5", [0.5], r"no gain for a relevance of 0.5.*lengthen it"),
        ("ndcg@5", [1001], r"2\*\*1001 is beyond what a float holds; use gain=linear"),
        ("err(max=4)@5", [5], r"a relevance of 5 is above max=4; set max to the top"),
    ],
)
def test_a_relevance_without_a_gain_is_refused(label, relevance, message):
    lists = rankings.from_pairs([0] * len(relevance), np.arange(len(relevance)), relevance)
    with pytest.raises(MetricError, match=message):
        metrics.score([metrics.parse(label)], lists)


def test_a_binary_gain_takes_any_relevance():
    lists = rankings.from_pairs([0, 0, 0], [3, 2, 1], [-1, 0.5, 2000])
    assert value("dcg(gain=binary)", lists) == pytest.approx(1 / math.log2(3) + 1 / 2)
    assert value("dcg(gain=binary(-1))@1", lists) == 1.0


NAMES = ["ndcg", "precision", "recall", "fbeta", "ap", "rr", "hit", "hitrate_ndcg", "err", "rbp"]
FULL, SHORT, NO_LIST, NOTHING_RELEVANT, NEITHER = range(5)
PEOPLE = ([["a", "b", "c"], ["a"], [], ["a", "b", "c"], []], [["b"], ["a"], ["a"], [], []])
NUMBERS = {"nan": math.nan, "0": 0.0, "1": 1.0}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("undefined", NUMBERS)
@pytest.mark.parametrize("empty", NUMBERS)
@pytest.mark.parametrize("short", ["kept", "skipped"])
def test_what_a_user_without_something_scores(name, undefined, empty, short):
    lists = rankings.from_lists(*PEOPLE)
    plain = metrics.parse(f"{name}@3")
    metric = metrics.parse(f"{name}(undefined={undefined}, empty={empty}, short={short})@3")
    scores = metrics.score([plain, metric], lists)
    expected = scores[plain].per_user.copy()
    assert expected[[FULL, SHORT]].min() > 0
    expected[NOTHING_RELEVANT] = NUMBERS[undefined]
    expected[NO_LIST] = NUMBERS[empty]
    expected[NEITHER] = math.nan if empty == "nan" else NUMBERS[undefined]
    if short == "skipped":
        expected[[SHORT, NO_LIST, NEITHER]] = math.nan
    np.testing.assert_array_equal(scores[metric].per_user, expected)
    assert scores[metric].n_undefined == np.isnan(expected).sum()
    assert scores[metric].mean == pytest.approx(np.nanmean(expected), rel=1e-15)


def test_a_sum_is_defined_for_everybody():
    lists = rankings.from_lists(*PEOPLE)
    (scores,) = metrics.score([metrics.parse("dcg@3")], lists).values()
    assert scores.n_undefined == 0
    assert scores.per_user[[NO_LIST, NEITHER]].tolist() == [0, 0]


def test_only_users_of_the_truth_can_be_covered():
    scores = metrics.parse("user_coverage@3").definition(rankings.from_lists(*PEOPLE), 3)
    assert scores.per_user.tolist()[:3] == [1, 0, 0]
    assert np.isnan(scores.per_user[[NOTHING_RELEVANT, NEITHER]]).all()
    lists = rankings.from_lists(PEOPLE[0], [[] for _ in PEOPLE[0]])  # nobody's truth is known
    assert metrics.parse("user_coverage@3").definition(lists, 3).per_user.tolist() == [
        1,
        0,
        0,
        1,
        0,
    ]


def test_a_mean_over_nobody_is_undefined():
    lists = rankings.from_lists([["a"], []], [[], []])
    (scores,) = metrics.score([metrics.parse("ndcg@3")], lists).values()
    assert math.isnan(scores.mean)
    assert scores.n_undefined == 2


@pytest.mark.parametrize("gain", ["exp2", "linear", "binary(2)", "table(0, 0, 5, 7)"])
@pytest.mark.parametrize("empty", ["nan", "0", "1"])
def test_an_empty_list_scores_what_empty_says_where_there_was_something_to_find(gain, empty):
    # Users: 0 has a list; 1 and 2 have none, and 2 nothing with a gain; 3 has no gain, but a list.
    lists = metrics.Rankings(
        [0, 1, 1, 1, 2], [3.0, 0.0], [1, 1], [1, 1], [1, 1], [1, 0, 0, 1], [0, 1, 2, 3, 4],
        [3.0, 3.0, 0.0, 0.0],
    )  # fmt: skip
    metric = metrics.parse(f"dcg(gain={gain}, empty={empty})@2")
    scores = metrics.score([metric], lists)[metric].per_user
    without_items = float("nan") if empty == "nan" else 0.0
    np.testing.assert_array_equal(scores[1:], [float(empty), without_items, 0.0])


@pytest.mark.parametrize("name", ["dcg", "idcg", "ndcg"])
@pytest.mark.parametrize(("gain", "offset", "meant"), [("", 1, "1"), ("(2)", 2, "4")])
def test_a_binary_gain_takes_no_offset(name, gain, offset, meant):
    label = f"{name}(gain=binary{gain}, offset={offset})@3"
    with pytest.raises(MetricError, match=rf"no offset; .* such as gain=binary\({meant}\)"):
        metrics.parse(label)


def test_a_metric_without_a_gain_gets_none():
    params = metrics.parse("precision@3").params
    with pytest.raises(KeyError):
        gain_rules.gains(params, np.ones(2))
    with pytest.raises(KeyError):
        gain_rules.without_gain(params, np.ones(2))
