"""Bounds and the best and worst order of ties, against every order written out."""

import itertools
import re

import numpy as np
import pytest

from harness import metrics
from harness.errors import MetricError
from harness.evaluation import bound_scores, random_order
from harness.metrics import Rankings

NUMBERS = {"threshold": "2", "offset": "-1", "base": "3", "beta": "2", "p": "0.3", "max": "4"}
WORDS = {"binary": ["binary", "binary(2)"], "table": ["table(0, 1, 1, 4, 9)"], "random": []}
# Two choices at a time where the one needs the other.
TOGETHER = [
    "gain=binary(2), ideal=retrieved",
    "gain=binary, ideal=full",
    "threshold=2, denominator=hits",
    "gain=linear, ideal=retrieved",
    "offset=1, negative=zero",
]


def values_of(parameter):
    words = [text for word in parameter.words for text in WORDS.get(word, [word])]
    return [*words, NUMBERS[parameter.name]] if parameter.limits else words


def labels(rules):
    """Yield each ranking metric with each value of each parameter, under each rule for ties."""
    for definition in metrics.describe():
        if definition.needs != "rankings":
            continue
        own = {each.name: each for each in definition.parameters}
        written = [""] + [
            f"{name}={value}"
            for name, parameter in own.items()
            if name not in ("ties", "undefined", "empty", "short")
            for value in values_of(parameter)
        ]
        written += TOGETHER
        for chosen, rule in itertools.product(written, rules if "ties" in own else [""]):
            inside = ", ".join(filter(None, [chosen, f"ties={rule}" if rule else ""]))
            label = f"{definition.name}({inside})" if inside else definition.name
            cut = "" if definition.cut == "none" else "@2"
            try:
                yield str(metrics.parse(label + cut))
            except MetricError:
                continue  # choices that exclude each other


def strict(orders, pools):
    """Return lists without ties: each a sequence of relevances, None where nobody judged."""
    entries = [[(g, i) for i, g in enumerate(order, 1) if g is not None] for order in orders]
    offsets = np.cumsum([0] + [len(each) for each in entries])
    rank = [i for each in entries for _, i in each]
    grades = [g for each in entries for g, _ in each]
    return Rankings(
        offsets, grades, rank, rank, rank, [len(order) for order in orders],
        np.cumsum([0] + [len(pool) for pool in pools]),
        [g for pool in pools for g in sorted(pool, reverse=True)],
    )  # fmt: skip


def cuts_of(label):
    """Return a metric at several ranks."""
    metric = metrics.parse(label)
    return [metric] if metric.k is None else [metric.at(k) for k in (1, 2, 3, 5)]


def scores_of(wanted, lists):
    return {m: scores.per_user for m, scores in metrics.score(wanted, lists).items()}


LISTS = [[3, None, 1, 0, 3], [4, 2, 1, 0], [2, 2], [None, 3], [1], [0, None], []]
"""Candidates of users; beside the first stands a judged item that was never ranked."""
POOLS = [[g for g in each if g is not None] for each in LISTS]
POOLS[0].append(2)
ORDERS = [list(itertools.permutations(each)) for each in LISTS]


@pytest.mark.parametrize("name", [d.name for d in metrics.describe() if d.needs == "rankings"])
def test_bounds_are_the_maximum_and_the_mean_over_all_orders(name):
    given = strict(LISTS, POOLS)
    every = strict(
        [order for orders in ORDERS for order in orders],
        [pool for pool, orders in zip(POOLS, ORDERS, strict=True) for _ in orders],
    )
    edges = np.cumsum([len(orders) for orders in ORDERS])[:-1]
    start = re.compile(rf"{name}[@(]|{name}$")
    own = [label for label in labels(["average", "first", "best"]) if start.match(label)]
    assert own
    for label in dict.fromkeys(own):
        wanted = cuts_of(label)
        limits = bound_scores(wanted, given)
        for metric, values in scores_of(wanted, every).items():
            of_lists = np.split(values, edges)
            defined = [each for each in of_lists if not np.isnan(each).any()]
            best = np.mean([each.max() for each in defined])
            mean = np.mean([each.mean() for each in defined])
            assert limits[str(metric)]["best"].mean == pytest.approx(best, abs=1e-12), metric
            if isinstance(random_order(metric), str):
                assert np.isnan(limits[str(metric)]["random"].mean)
            else:
                assert limits[str(metric)]["random"].mean == pytest.approx(mean, abs=1e-12), metric


def test_only_a_graded_gain_against_what_was_retrieved_has_no_random_order():
    without = {
        label for label in labels(["first"]) if isinstance(random_order(metrics.parse(label)), str)
    }
    assert without == {
        f"{name}({chosen}ideal=retrieved, ties=first)@2"
        for name in ("ndcg", "idcg")
        for chosen in ("", "gain=linear, ")
    }


NEGATIVE = """dcg(negative=keep)@2; dcg(gain=linear, offset=1, negative=keep)@3
precision(threshold=-1)@2; ap(threshold=-1)@3; rr(threshold=-2); ndcg(gain=binary(-1))@2
err(negative=zero)@3"""


@pytest.mark.parametrize("label", NEGATIVE.replace("\n", "; ").split("; "))
def test_the_best_order_puts_a_negative_relevance_where_its_gain_belongs(label):
    grades = [-2, -1, None, 3]
    pool = [g for g in grades if g is not None]
    orders = list(itertools.permutations(grades))
    (values,) = scores_of([metrics.parse(label)], strict(orders, [pool] * len(orders))).values()
    limits = bound_scores([metrics.parse(label)], strict([grades], [pool]))[label]
    assert limits["best"].mean == pytest.approx(values.max(), abs=1e-12)
    assert limits["random"].mean == pytest.approx(values.mean(), abs=1e-12)


def tied_lists(n_lists=40):
    """Return small lists with ties, and for each every order that its ties allow."""
    rng = np.random.default_rng(0)
    groups, orders, pools = [], [], []
    for _ in range(n_lists):
        sizes = rng.integers(0, 4, size=3)
        drawn = [[[None, 0, 1, 2, 3, 4][g] for g in rng.integers(0, 6, n)] for n in sizes]
        choices = itertools.product(*(set(itertools.permutations(each)) for each in drawn))
        orders.append([[g for group in choice for g in group] for choice in choices])
        groups.append(drawn)
        pools.append([g for each in drawn for g in each if g is not None])
    return groups, orders, pools


def as_tied(groups, pools):
    entries, n_ranked = [], []
    for of_user in groups:
        low, mine = 1, []
        for group in of_user:
            high = low + len(group) - 1
            judged = [g for g in group if g is not None]
            mine += [(g, low + i, low, high) for i, g in enumerate(judged)]
            low = high + 1
        entries.append(mine)
        n_ranked.append(low - 1)
    columns = zip(*(entry for mine in entries for entry in mine), strict=True)
    offsets = np.cumsum([0] + [len(mine) for mine in entries])
    falling = [g for pool in pools for g in sorted(pool, reverse=True)]
    return Rankings(offsets, *columns, n_ranked, offsets, falling)


@pytest.mark.parametrize("rule", ["best", "worst"])
def test_the_best_and_the_worst_order_of_ties_are_the_extremes_of_all(rule):
    groups, orders, pools = tied_lists()
    given = as_tied(groups, pools)
    every = strict(
        [order for each in orders for order in each],
        [pool for pool, each in zip(pools, orders, strict=True) for _ in each],
    )
    edges = np.cumsum([len(each) for each in orders])[:-1]
    extreme = np.max if rule == "best" else np.min
    for label in labels([rule]):
        wanted = cuts_of(label)
        found = scores_of(wanted, given)
        for metric, values in scores_of(wanted, every).items():
            expected = [extreme(each) for each in np.split(values, edges)]
            np.testing.assert_allclose(found[metric], expected, atol=1e-12, err_msg=str(metric))
