"""A function of one's own is a metric like any other: label, parameters, ties, range, errors."""

from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import harness
from harness import metrics, rankings
from harness.errors import MetricError
from harness.metrics.own import Lists, metric

COLUMNS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(1, 6), st.integers(1, 5)), min_size=1, max_size=25
)


@metric("nDCG in NumPy")
def plain_ndcg(lists, k, *, gain: Literal["exp2", "linear"] = "exp2"):
    gained = (lambda grades: 2.0**grades - 1) if gain == "exp2" else (lambda grades: grades)
    discounts = 1 / np.log2(np.arange(2, k + 2))
    best = (gained(np.nan_to_num(lists.ideal(k))) * discounts).sum(axis=1)
    return (gained(np.nan_to_num(lists.relevance(k))) * discounts).sum(axis=1) / best


@metric("mean absolute error", needs="pairs", higher_is_better=False, range=(0, np.inf))
def plain_mae(pairs, *, cube=False):
    errors = np.abs(pairs.estimates - pairs.ratings) ** (3 if cube else 1)
    return np.add.reduceat(errors, pairs.offsets[:-1]) / np.diff(pairs.offsets)


@settings(max_examples=100, deadline=None)
@given(COLUMNS, st.integers(1, 30), st.sampled_from(["first", "last", "random", "random(7)"]))
def test_a_function_gives_what_the_compiled_metric_gives(columns, k, ties):
    users, estimates, ratings = np.array(columns, float).T
    lists = rankings.from_pairs(users, estimates, ratings)
    for gain in ("exp2", "linear"):
        ours = plain_ndcg(lists, k, gain=gain, ties=ties)
        theirs = metrics.parse(f"ndcg(gain={gain}, ties={ties})@{k}")
        expected = metrics.score([theirs], lists)[theirs]
        np.testing.assert_allclose(ours.per_user, expected.per_user, rtol=1e-12)
        assert ours.mean == pytest.approx(expected.mean, rel=1e-12)
    pairs, _ = rankings.group_pairs(users, estimates, ratings)
    mae = metrics.parse("mae")
    expected = metrics.score([mae], pairs=pairs)[mae].per_user
    np.testing.assert_allclose(plain_mae(pairs).per_user, expected, rtol=1e-12)


MODULE = '''
import harness

@harness.metric("share of rare items", needs="items")
def rare(lists, k, *, threshold=0.5):
    """Say nothing more."""
    few = lists.popularity <= threshold * lists.popularity.max()
    return lists.mean(few[lists.items(k)], k)

number = 3
'''


def test_its_label_is_its_identity(module):
    label = f"{module}:rare(threshold=0.25, ties=first)@5"
    parsed = metrics.parse(f"{module}:rare(ties=first,threshold=.25)@5")
    assert str(parsed) == label
    assert metrics.parse(str(parsed)) == parsed
    assert parsed.needs_items
    assert parsed.definition.summary == "share of rare items"
    with pytest.raises(MetricError, match="has no parameter 'treshold'; did you mean 'threshold'"):
        metrics.parse(f"{module}:rare(treshold=1)@5")
    with pytest.raises(MetricError, match="needs a rank; write"):
        metrics.parse(f"{module}:rare")
    with pytest.raises(MetricError, match="has no 'rear'; did you mean 'rare'"):
        metrics.parse(f"{module}:rear@5")
    with pytest.raises(MetricError, match="is not a metric; decorate its function"):
        metrics.parse(f"{module}:number@5")
    with pytest.raises(MetricError, match="there is no module 'nowhere'"):
        metrics.parse("nowhere:rare@5")


@pytest.mark.parametrize(
    ("how", "said"),
    [
        (2, "returned text; return an array of numbers"),
        (3, "returned 2 for a user, outside of its range from 0 to 1; correct the function"),
    ],
)
def test_a_wrong_value_is_refused_with_the_functions_name(how, said):
    answers = {2: lambda lists: "text", 3: lambda lists: np.full(lists.n_users, 2.0)}

    @metric("wrong")
    def wrong(lists, k):
        return answers[how](lists)

    lists = rankings.from_pairs([1, 1, 2], [1, 2, 3], [1, 2, 3])
    with pytest.raises(MetricError, match=f"wrong {said}"):
        wrong(lists, 2)


def test_a_wrong_length_or_a_failure_is_refused_with_the_functions_name():
    lists = rankings.from_pairs([1, 1, 2], [1, 2, 3], [1, 2, 3])

    @metric("short")
    def short(lists, k):
        return np.ones(3)

    @metric("failing")
    def failing(lists, k):
        return 1 / 0

    with pytest.raises(MetricError, match=r"short returned shape \(3,\) for 2 users; return one"):
        short(lists, 2)
    with pytest.raises(
        MetricError, match=r"failing failed \(ZeroDivisionError: division by zero, "
    ):
        failing(lists, 2)


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda lists: 1, "write it as"),
        (lambda lists, k, *, other=None: 1, "the default of 'other' is None; give a number"),
        (lambda lists, k, **more: 1, "write it as"),
    ],
)
def test_a_function_that_no_label_can_state_is_refused(function, said):
    with pytest.raises(MetricError, match=said):
        metric("odd")(function)


def test_a_run_has_it_as_a_column_beside_the_compiled_one(module, tmp_path):
    config = {
        "dataset": {"synthetic": {"n_users": 30, "n_items": 40, "n_ratings": 500}},
        "algorithms": ["BaselineOnly"],
        "candidates": "catalogue",
        "metrics": [f"{module}:rare@5", "ndcg@5"],
    }
    run = harness.run(config, results=None)
    values = run.table.set_index("algorithm")[f"{module}:rare@5"]
    assert values["Popularity"] < values["Random"]
    assert run.info.metrics[0] == f"{module}:rare@5"


def test_lists_pad_what_is_shorter():
    lists = Lists(
        metrics.Rankings([0, 1, 1], [4.0], [2], [2], [2], [2, 0], top_items=[[7, 8], [-1, -1]])
    )
    assert lists.items(3).tolist() == [[7, 8, -1], [-1, -1, -1]]
    assert lists.mean(np.ones((2, 3)), 3).tolist()[0] == 1.0
    assert np.isnan(lists.mean(np.ones((2, 3)), 3)[1])
    assert np.isnan(lists.relevance(1)).all()
