"""One order of each list where estimates are equal: in metrics, analyses, files and print."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import harness
from harness.algorithms import registry
from harness.errors import MetricError
from harness.experiment.plan import Plan
from harness.metrics import Exposure, Rankings
from harness.metrics.labels import definition
from harness.metrics.own import metric
from harness.metrics.ties import as_shown
from harness.models import estimates as models
from harness.plugins import registry as plugins

N_ITEMS, DEPTH = 9, 6
TIES = ["random", "random(3)", "first", "last", "best", "worst"]


@metric("mean of grade times item over rank", needs="items", range=(0, 1e6))
def graded(lists, k):
    grades = np.nan_to_num(lists.relevance(k), nan=0.5)
    return (grades * (lists.items(k) + 2) / np.arange(1, k + 1)).sum(axis=1)


@metric("mean of grade times number of genres", needs="genres", range=(0, 1e6))
def of_genres(lists, k):
    grades = np.nan_to_num(lists.relevance(k), nan=0.5)
    genres = np.append(lists.training.genres.sum(axis=1), 0)
    return (grades * genres[lists.items(k)] / np.arange(1, k + 1)).sum(axis=1)


NAMES = [name for name in plugins.builtin_names("metrics") if definition(name).needs_items]
SEEN = [*map(definition, NAMES), graded, of_genres]


@st.composite
def lists_with_ties(draw):
    """Return lists as a run has them, estimates of few values, and the same ones without ties."""
    tied, apart = [], []
    for _ in range(draw(st.integers(1, 3))):
        items = draw(st.permutations(range(N_ITEMS)))[: draw(st.integers(0, N_ITEMS))]
        estimates = draw(st.lists(st.integers(1, 3), min_size=len(items), max_size=len(items)))
        grades = {item: float(item % 5 + 1) for item in items if draw(st.booleans())}
        in_order = sorted(zip(items, estimates, strict=True), key=lambda pair: -pair[1])
        shown = sorted(in_order, key=lambda pair: (-pair[1], pair[0] * 7 % N_ITEMS))
        for lists, ranked, is_tied in ((tied, in_order, True), (apart, shown, False)):
            rank = {item: n for n, (item, _) in enumerate(ranked, 1)}
            values = dict(ranked)
            ends = {
                item: [n for n, (_, other) in enumerate(ranked, 1) if other == values[item]]
                for item in rank
            }
            judged = [item for item, _ in ranked if item in grades]
            top = [item for item, _ in shown][:DEPTH]
            lists.append(
                Rankings(
                    [0, len(judged)],
                    [grades[item] for item in judged],
                    [rank[item] for item in judged],
                    [ends[item][0] if is_tied else rank[item] for item in judged],
                    [ends[item][-1] if is_tied else rank[item] for item in judged],
                    [len(items)],
                    top_items=[top + [-1] * (DEPTH - len(top))],
                    items=judged,
                )
            )
    return Rankings.concatenate(tied), Rankings.concatenate(apart)


@pytest.mark.parametrize("seen", SEEN, ids=lambda each: each.name)
@settings(max_examples=max(15, settings().max_examples // 10))  # of one code, for each metric
@given(both=lists_with_ties(), k=st.integers(1, DEPTH), rule=st.sampled_from(TIES))
def test_a_metric_that_sees_items_has_lists_in_the_order_that_is_shown(seen, both, k, rule):
    rng = np.random.default_rng(0)
    exposure = Exposure(
        rng.integers(0, 5, 40), rng.integers(0, N_ITEMS, 40), np.arange(both[0].n_users), N_ITEMS,
        ratings=rng.integers(1, 6, 40), genres=rng.random((N_ITEMS, 3)) < 0.5,
    )  # fmt: skip
    chosen = {"ties": rule} if "ties" in seen.values(()) else {}
    of_tied, of_apart = (seen(lists, k, exposure=exposure, **chosen) for lists in both)
    np.testing.assert_array_equal(of_tied.per_user, of_apart.per_user)
    assert of_tied.mean == of_apart.mean or np.isnan(of_tied.mean + of_apart.mean)


@given(both=lists_with_ties())
def test_grades_and_ranks_follow_the_items_that_are_shown(both):
    shown, apart = as_shown(both[0]), both[1]
    is_named = apart.rank <= DEPTH
    assert (shown.rank <= DEPTH).tolist() == is_named.tolist()
    for name in ("relevance", "rank", "items"):
        np.testing.assert_array_equal(
            getattr(shown, name)[is_named], getattr(apart, name)[is_named]
        )
    assert Counter(shown.relevance) == Counter(apart.relevance)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({}, "not known by name; give the lists `items`"),
        ({"items": [7, 8, 9]}, "item 9 has a rank from 1 to 3, where top_items show others"),
    ],
)
def test_lists_that_do_not_say_their_order_are_refused(more, message):
    lists = Rankings(
        [0, 3], [1, 2, 3], [1, 2, 3], [1, 1, 1], [3, 3, 3], [3], top_items=[[8, 7, 6]], **more
    )
    with pytest.raises(MetricError, match=message):
        graded(lists, 3, exposure=Exposure([0], [0], [0], 10))


def test_a_metric_without_items_sees_none_whose_order_is_another():
    @metric("the first item")
    def first(lists, k):
        return lists.items(k)[:, 0] * 0.0

    lists = Rankings([0, 0], [], [], [], [], [1], top_items=[[3]])
    with pytest.raises(MetricError, match="declare the metric with needs='items'"):
        first(lists, 1)


CODE = """
import numpy as np
import harness
from harness import Analysis
import pandas as pd


class Constant:
    def fit(self, train):
        self.mean = train.ratings.mean()

    def estimate(self, users, items):
        return np.full(len(users), self.mean)


@harness.metric("share of ranks where the grade is that of the item shown there", needs="items")
def agree(lists, k):
    stars = np.full(len(lists.popularity) + 1, np.nan)
    stars[lists.training.items] = lists.training.ratings
    rel, shown = lists.relevance(k), stars[lists.items(k)]
    return lists.mean((rel == shown) | np.isnan(rel) | (rel == 0), k)  # 0: not rated, in a sample


class Agree(Analysis):
    needs_items = 3

    def __init__(self):
        self.rows = []

    def add(self, cell, scores):
        stars = np.full(cell.split.ratings.n_items + 1, np.nan)
        stars[cell.split.ratings.items] = cell.split.ratings.ratings
        rel, shown = cell.lists.relevance(3), stars[cell.lists.items(3)]
        agrees = (rel == shown) | np.isnan(rel) | (rel == 0)
        self.rows.append([cell.algorithm, bool(agrees.all())])

    def result(self):
        return pd.DataFrame(self.rows, columns=["algorithm", "agrees"])
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("own")
    (place / "one_order.py").write_text(CODE)
    return place


@pytest.mark.sample(3)
@pytest.mark.parametrize("candidates", ["rated", "catalogue", {"kind": "sampled", "n": 3}])
def test_a_run_has_one_order_of_each_list_everywhere(candidates, folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    stars = [(u, i, i) for u in range(20) for i in range(1, 8) if (u + i) % 6]
    frame = pd.DataFrame(stars, columns=["user", "item", "rating"])
    ties = ["", "(ties=first)", "(ties=last)", "(ties=best)", "(ties=worst)", "(ties=random(4))"]
    config = {
        "split": {"kind": "holdout", "test_size": 0.4},
        "candidates": candidates,
        "algorithms": ["one_order:Constant", "ItemMean"],
        "baselines": False,
        "metrics": [f"one_order:agree{rule}@3" for rule in ties],
        "analyses": ["one_order:Agree"],
        "outputs": {"lists": 3},
    }
    run = harness.run(config, ratings=frame, results=None)
    values = run.table.set_index("algorithm")[config["metrics"]]
    assert (values == 1.0).all(axis=None)
    assert run.analyses["one_order:Agree"]["agrees"].all()
    assert any("`ties` changes nothing" in str(note) for note in run.info.notes)


def test_printed_and_stored_lists_have_one_order(tmp_path):
    frame = pd.DataFrame(
        [(u, i, 3 + (u + i) % 2) for u in range(12) for i in range(15) if (u * 3 + i) % 4],
        columns=["user", "item", "rating"],
    ).astype({"user": str, "item": str})
    config = {
        "algorithms": ["UserMean"],  # all items of a user are tied
        "baselines": False,
        "candidates": "catalogue",
        "metrics": ["item_coverage@4"],
        "outputs": {"lists": 4},
    }
    run = harness.run(config, ratings=frame, results=tmp_path / "runs")
    stored = pd.read_parquet(run.path("lists.parquet"))
    plan = Plan.from_config(config, ratings=frame)
    model = registry.create("UserMean", {}, 0)
    models.fit(model, plan.trainset(plan.splits(0, 0, 0)[0]))
    printed = harness.recommend(model, n=4, users=list(dict.fromkeys(stored["user"])))
    assert len(printed) > len({*printed["estimate"]})
    for name in ("user", "item", "rank", "estimate"):
        assert printed[name].tolist() == stored[name].tolist()
