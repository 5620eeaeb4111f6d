"""Bounds and the best and worst order of ties, against every order written out."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import Note, metrics
from harness.errors import MetricError
from harness.metrics import Rankings, Value, dcg
from harness.metrics.ties import resolve_ties
from harness.rankings.evaluation import bound_scores, random_order

NUMBERS = {"threshold": "2", "offset": "-1", "base": "3", "beta": "2", "p": "0.3", "max": "4"}
WORDS = {"binary": ["binary", "binary(2)"], "table": ["table(0, 1, 1, 4, 9)"], "random": []}
OTHERWISE = ("ties", "undefined", "empty", "short", "weights", "power", "least")
"""Parameters that are combined with the others, or tried in another file."""
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


def every_metric(rules):
    """Yield each ranking metric with each value of each parameter, under each rule for ties."""
    for definition in metrics.describe():
        if definition.needs != "rankings":
            continue
        own = {each.name: each for each in definition.parameters}
        written = [""] + [
            f"{name}={value}"
            for name, parameter in own.items()
            if name not in OTHERWISE
            for value in values_of(parameter)
        ]
        written += TOGETHER
        for chosen, rule in itertools.product(written, rules if "ties" in own else [""]):
            inside = ", ".join(filter(None, [chosen, f"ties={rule}" if rule else ""]))
            label = f"{definition.name}({inside})" if inside else definition.name
            cut = "" if definition.cut == "none" else "@2"
            try:
                yield metrics.parse(label + cut)
            except MetricError:
                continue  # choices that exclude each other


def tied(groups, pools):
    """Return lists of groups of equal estimates: relevances, None where nobody judged."""
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
    offsets, pool_offsets = (np.cumsum([0, *map(len, each)]) for each in (entries, pools))
    falling = [g for pool in pools for g in sorted(pool, reverse=True)]
    return Rankings(offsets, *columns, n_ranked, pool_offsets, falling)


def strict(orders, pools):
    """Return lists without ties."""
    return tied([[[g] for g in order] for order in orders], pools)


def at_cuts(found):
    """Yield metrics at several ranks."""
    for metric in found:
        yield from [metric] if metric.k is None else [metric.at(k) for k in (1, 2, 3, 5)]


def by_order(wanted, orders, pools):
    """Yield each metric with its scores of every order of each list."""
    every = [order for each in orders for order in each]
    repeated = [pool for pool, each in zip(pools, orders, strict=True) for _ in each]
    edges = np.cumsum([len(each) for each in orders])[:-1]
    for metric, scores in metrics.score(wanted, strict(every, repeated)).items():
        yield metric, np.split(scores.per_user, edges)


LISTS = [[3, None, 1, 0, 3], [4, 2, 1, 0], [2, 2], [None, 3], [1], [0, None], []]
"""Candidates of users; beside the first stands a judged item that was never ranked."""
POOLS = [[g for g in each if g is not None] for each in LISTS]
POOLS[0].append(2)
ORDERS = [list(itertools.permutations(each)) for each in LISTS]


@pytest.mark.parametrize("name", [d.name for d in metrics.describe() if d.needs == "rankings"])
def test_bounds_are_the_maximum_and_the_mean_over_all_orders(name):
    rules = ["average", "first", "best"]
    wanted = dict.fromkeys(at_cuts(each for each in every_metric(rules) if each.name == name))
    assert wanted
    limits = bound_scores(wanted, strict(LISTS, POOLS))
    for metric, of_lists in by_order(wanted, ORDERS, POOLS):
        defined = [each for each in of_lists if not np.isnan(each).any()]
        best = np.mean([each.max() for each in defined])
        mean = np.mean([each.mean() for each in defined])
        assert limits[str(metric)]["best"].mean == pytest.approx(best, abs=1e-12), metric
        if isinstance(random_order(metric), Note):
            assert np.isnan(limits[str(metric)]["random"].mean)
        else:
            assert limits[str(metric)]["random"].mean == pytest.approx(mean, abs=1e-12), metric


def test_only_a_graded_gain_against_what_was_retrieved_has_no_random_order():
    without = {str(m) for m in every_metric(["first"]) if isinstance(random_order(m), Note)}
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
    grades = [-2, -1, 0.5, None, 3]
    pool = [g for g in grades if g is not None]
    orders = list(itertools.permutations(grades))
    ((metric, (values,)),) = by_order([metrics.parse(label)], [orders], [pool])
    limits = bound_scores([metric], strict([grades], [pool]))[label]
    assert limits["best"].mean == pytest.approx(values.max(), abs=1e-12)
    assert limits["random"].mean == pytest.approx(values.mean(), abs=1e-12)


@pytest.mark.parametrize("rule", ["best", "worst"])
def test_the_best_and_the_worst_order_of_ties_are_the_extremes_of_all(rule):
    rng = np.random.default_rng(0)
    groups, orders, pools = [], [], []
    for _ in range(40):
        sizes = rng.integers(0, 4, size=3)
        drawn = [[[None, 0, 1, 2, 3, 4][g] for g in rng.integers(0, 6, n)] for n in sizes]
        choices = itertools.product(*(set(itertools.permutations(each)) for each in drawn))
        orders.append([[g for group in choice for g in group] for choice in choices])
        groups.append(drawn)
        pools.append([g for each in drawn for g in each if g is not None])
    extreme = np.max if rule == "best" else np.min
    wanted = dict.fromkeys(at_cuts(every_metric([rule])))
    found = metrics.score(wanted, tied(groups, pools))
    for metric, of_lists in by_order(wanted, orders, pools):
        values, expected = found[metric].per_user, [extreme(each) for each in of_lists]
        np.testing.assert_allclose(values, expected, atol=1e-12, err_msg=str(metric))


def _list_by_list(estimates, judged, rule, neutral):
    """Return what the judged items of one list have after its ties are ordered: by rank."""
    order = sorted(range(len(estimates)), key=lambda place: -estimates[place])
    entries = []
    for estimate in dict.fromkeys(estimates[place] for place in order):
        group = [place for place in order if estimates[place] == estimate]
        low = 1 + sum(other > estimate for other in estimates)
        high = low + len(group) - 1
        values = [judged[place] for place in group if judged[place] is not None]
        if rule == "last":
            own = [order.index(place) + 1 for place in group if judged[place] is not None]
            mirrored = [low + high - rank for rank in reversed(own)]
            entries += zip(reversed(values), mirrored, strict=True)
            continue
        above = sorted((v for v in values if (v >= neutral) == (rule == "best")), reverse=True)
        below = sorted((v for v in values if (v >= neutral) != (rule == "best")), reverse=True)
        if rule == "worst":
            above, below = above[::-1], below[::-1]
        entries += zip(above, range(low, low + len(above)), strict=True)
        entries += zip(below, range(high - len(below) + 1, high + 1), strict=True)
    return entries


@pytest.mark.parametrize("rule", ["best", "worst", "last"])
@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 4), st.sampled_from([None, 0.0, 1.0, 2.0])), max_size=7),
        max_size=5,
    ),
    st.sampled_from([0.0, 1.0, 2.5]),
)
def test_ties_are_ordered_list_by_list(rule, lists, neutral):
    offsets, columns = [0], []
    for one in lists:
        order = sorted(range(len(one)), key=lambda place: -one[place][0])
        for rank, place in enumerate(order, 1):
            estimate, value = one[place]
            low = 1 + sum(other > estimate for other, _ in one)
            high = sum(other >= estimate for other, _ in one)
            columns += [] if value is None else [(value, rank, low, high)]
        offsets.append(len(columns))
    values, ranks, low, high = zip(*columns, strict=True) if columns else ([], [], [], [])
    rankings = Rankings(offsets, values, ranks, low, high, [len(one) for one in lists])
    ordered = resolve_ties(rankings, Value(rule), neutral)
    for user, one in enumerate(lists):
        part = slice(offsets[user], offsets[user + 1])
        found = zip(ordered.relevance[part].tolist(), ordered.rank[part].tolist(), strict=True)
        estimates, judged = [e for e, _ in one], [v for _, v in one]
        assert [*found] == _list_by_list(estimates, judged, rule, neutral)
    assert ordered.tie_low.tolist() == ordered.tie_high.tolist() == ordered.rank.tolist()
    assert ordered.tie_low.dtype == np.int32


@pytest.mark.parametrize("ties", ["average", "best", "worst"])
@pytest.mark.parametrize("metric", ["ndcg", "idcg"])
def test_lists_have_the_same_values_in_blocks_of_any_size(monkeypatch, metric, ties):
    columns, offsets, lengths = [], [0], []
    rng = np.random.default_rng(3)
    for _ in range(40):
        estimates = np.sort(rng.integers(0, 3, rng.integers(0, 30)))[::-1]
        low = np.searchsorted(-estimates, -estimates) + 1
        high = np.searchsorted(-estimates, -estimates, side="right")
        grades = rng.integers(1, 6, len(estimates))
        columns += zip(grades, range(1, len(grades) + 1), low, high, strict=True)
        offsets.append(len(columns))
        lengths.append(len(grades))
    lists = Rankings(offsets, *zip(*columns, strict=True), lengths)
    wanted = [metrics.parse(f"{metric}(gain=binary, ideal=retrieved, ties={ties})@7")]
    (whole,) = metrics.score(wanted, lists).values()
    monkeypatch.setattr(dcg, "SMALLEST_BLOCK", 9)
    monkeypatch.setattr(dcg, "MOST_CHANCES", 20)
    (in_blocks,) = metrics.score(wanted, lists).values()
    np.testing.assert_array_equal(in_blocks.per_user, whole.per_user)
