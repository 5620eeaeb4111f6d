"""Metrics beyond accuracy against plain loops over sets and dictionaries."""

import itertools
import math
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import pytest
import surprise
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import metrics
from harness.errors import MetricError
from harness.metrics import Exposure, Rankings

N_ITEMS = 8
CUTS = (1, 2, 4)


@st.composite
def cases(draw):
    """Draw training pairs, lists of different items, relevant items and the lists' users."""
    cells = [(user, item) for user in range(5) for item in range(N_ITEMS)]
    seen = draw(st.lists(st.sampled_from(cells), min_size=1, max_size=25, unique=True))
    lists = draw(
        st.lists(
            st.lists(st.integers(0, N_ITEMS - 1), max_size=5, unique=True), min_size=1, max_size=5
        )
    )
    relevant = draw(st.lists(st.integers(0, N_ITEMS - 1), max_size=4, unique=True))
    users = draw(st.lists(st.integers(-1, 5), min_size=len(lists), max_size=len(lists)))
    genres = draw(st.lists(st.sets(st.sampled_from("abc")), min_size=N_ITEMS, max_size=N_ITEMS))
    return seen, lists, set(relevant), users, genres


def rating(user, item):
    return 0.5 + (3 * user + 5 * item) % 10 / 2


def arrays_of(seen, lists, relevant, users, genres):
    entries = [[rank for rank, item in enumerate(each, 1) if item in relevant] for each in lists]
    ranks = [rank for each in entries for rank in each]
    top = np.full((len(lists), 5), -1)
    for row, each in enumerate(lists):
        top[row, : len(each)] = each
    rankings = Rankings(
        np.cumsum([0, *map(len, entries)]),
        np.ones(len(ranks)),
        ranks,
        ranks,
        ranks,
        [len(each) for each in lists],
        top_items=top,
    )
    return rankings, Exposure(
        *zip(*seen, strict=True),
        users,
        n_items=N_ITEMS,
        ratings=[rating(*pair) for pair in seen],
        genres=[[each in own for each in "abc"] for own in genres],
    )


def mean(values):
    values = list(values)
    return math.fsum(values) / len(values) if values else math.nan


def cosine(seen, i, j):
    raters = [{user for user, item in seen if item == each} for each in (i, j)]
    if not all(raters):
        return 0.0
    return len(raters[0] & raters[1]) / math.sqrt(len(raters[0]) * len(raters[1]))


def shares_of(items, genres):
    """Return p(g) of Steck 2018: each item shares 1 among its genres; None without any."""
    counts = Counter()
    for item in items:
        for genre in genres[item]:
            counts[genre] += 1 / len(genres[item])
    total = sum(counts.values())
    return {genre: counts[genre] / total for genre in "abc"} if total else None


def divergence(profile, shown):
    if profile is None or shown is None:
        return math.nan
    mixed = {genre: 0.99 * shown[genre] + 0.01 * profile[genre] for genre in "abc"}
    return sum(p * math.log(p / mixed[genre]) for genre, p in profile.items() if p)


def head_of(name, seen):
    """Return the short head: by a share of the items, or as Elliot finds that of 80% of ratings."""
    popularity = Counter(item for _, item in seen)
    falling = sorted(popularity, key=lambda item: (-popularity[item], item))
    if "ratings" not in name:
        share = Fraction(name.partition("=")[2].strip(")") or "0.2")
        return falling[: math.ceil(share * len(falling))]
    head, limit = [], len(seen) * Fraction(8, 10)
    for item in falling:
        head.append(item)
        limit -= popularity[item]
        if limit <= 0:
            break
    return head


def oracle(name, seen, lists, relevant, users, genres, k):
    """Return the values per list, or one value for what has none per list."""
    cut = [each[:k] for each in lists]
    catalogue = {item for _, item in seen}
    popularity = Counter(item for _, item in seen)
    shown = Counter(item for each in cut for item in each)
    total = sum(shown.values())
    n_users = len({user for user, _ in seen})
    if name == "item_coverage":
        return len(catalogue & {*shown}) / len(catalogue)
    if name == "distinct_items":
        return len(shown)
    if name == "gini":
        counts = [shown[item] for item in catalogue | {*shown}]
        pairs = sum(abs(a - b) for a in counts for b in counts)
        return pairs / (2 * len(counts) * total) if total else math.nan
    if name == "entropy":
        return -sum(n / total * math.log2(n / total) for n in shown.values()) if total else math.nan
    if name == "popularity":
        return [mean(popularity[item] for item in each) for each in cut]
    if name.startswith("novelty"):
        n = len(seen) if "ratings" in name else n_users
        return [mean(-math.log2(max(popularity[item], 1) / n) for item in each) for each in cut]
    if name == "popularity_rank":
        falling = sorted(range(N_ITEMS), key=lambda item: (-popularity[item], item))
        return [mean(1 + falling.index(item) for item in each) for each in cut]
    if name == "unjudged" or name.startswith("aplt"):
        head = relevant if name == "unjudged" else head_of(name, seen)
        return [mean(item not in head for item in each) for each in cut]
    if name == "genre_diversity":
        known = [[genres[item] for item in each if genres[item]] for each in cut]
        return [
            mean(
                1 - len(a & b) / math.sqrt(len(a) * len(b))
                for a, b in itertools.combinations(each, 2)
            )
            for each in known
        ]
    if "cosine" in name:
        rows = defaultdict(list)
        for user, item in seen:
            rows[user].append((item, rating(user, item)))
        alike = surprise.similarities.cosine(N_ITEMS, rows, 1)
        pairs = [itertools.combinations(each, 2) for each in cut]
        return [1 - mean(alike[i, j] for i, j in each) for each in pairs]
    if name == "diversity":
        pairs = [itertools.combinations(each, 2) for each in cut]
        return [1 - mean(cosine(seen, i, j) for i, j in each) for each in pairs]
    histories = [[item for owner, item in seen if owner == user] for user in users]
    if name == "poplift":
        both = [each for each in zip(cut, histories, strict=True) if all(each)]
        gaps = [
            mean(mean(popularity[item] for item in each[part]) for each in both) for part in (0, 1)
        ]
        return gaps[0] / gaps[1] - 1
    if name == "calibration":
        return [
            divergence(shares_of(history, genres), shares_of(each, genres))
            for each, history in zip(cut, histories, strict=True)
        ]
    return [
        mean(
            (1 - mean(cosine(seen, item, old) for old in history)) if item in relevant else 0.0
            for item in each
        )
        if history
        else math.nan
        for each, history in zip(cut, histories, strict=True)
    ]


SHOWN = ["item_coverage", "distinct_items", "gini", "entropy", "poplift"]
OF_USERS = [
    *("popularity", "popularity_rank", "novelty", "novelty(of=ratings)", "aplt", "aplt(head=0.7)"),
    *("aplt(head=ratings)", "diversity", "diversity(similarity=cosine)", "serendipity"),
    *("calibration", "genre_diversity", "unjudged"),
]


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", SHOWN + OF_USERS)
@settings(max_examples=max(40, settings().max_examples // 10), deadline=None)
@given(case=cases())
def test_what_is_shown_follows_its_formula(name, case):
    rankings, exposure = arrays_of(*case)
    found = metrics.score([metrics.parse(f"{name}@{k}") for k in CUTS], rankings, None, exposure)
    for k, (metric, scores) in zip(CUTS, found.items(), strict=True):
        low, high = metric.range
        for each in (scores.mean, *scores.per_user):
            assert math.isnan(each) or low - 1e-12 <= each <= high * (1 + 1e-12)
        expected = oracle(name, *case, k)
        if name in SHOWN:
            assert scores.mean == pytest.approx(expected, rel=1e-12, abs=1e-15, nan_ok=True)
            assert np.isnan(scores.per_user).all()
            assert scores.n_undefined == 0
            continue
        defined = [each for each in expected if not math.isnan(each)]
        close = {"rel": 1e-12, "abs": 1e-12, "nan_ok": True}
        assert scores.per_user.tolist() == pytest.approx(expected, **close)
        assert scores.mean == pytest.approx(mean(defined), **close)
        assert scores.n_undefined == len(expected) - len(defined)


@pytest.mark.parametrize("name", ["popularity", "popularity_rank", "novelty"])
@settings(max_examples=50, deadline=None)
@given(case=cases())
def test_pooled_lists_average_as_one_list_of_all_their_items(name, case):
    (seen, lists, *others), (rankings, exposure) = case, arrays_of(*case)
    for k in CUTS:
        metric = metrics.parse(f"{name}(average=pooled)@{k}")
        together = [[item for each in lists for item in each[:k]]]
        (expected,) = oracle(name, seen, together, *others, k=99)
        found = metrics.score([metric], rankings, None, exposure)[metric].mean
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-12, nan_ok=True)


def test_a_user_is_covered_by_a_list_that_is_long_enough():
    lists = Rankings([0, 0, 0, 0], [], [], [], [], [3, 1, 0])
    found = metrics.score(metrics.parse_many("user_coverage@1,3"), lists)
    assert [scores.mean for scores in found.values()] == pytest.approx([2 / 3, 1 / 3])


@pytest.mark.parametrize("known_by", ["rank", "item", "exposure"])
def test_what_is_judged_as_not_relevant_is_judged(known_by):
    # Items 5 and 7 are tied, and shown in another order than that of the ranks.
    entries = [[0.0, 2.0], [1, 3], [1, 3], [2, 3]]
    items = {"items": [5, 9]} if known_by == "item" else {}
    lists = Rankings([0, 2, 2], *entries, [3, 0], top_items=[[7, 5, 9], [-1, -1, -1]], **items)
    judged = [0, 0, 1], [5, 9, 7], [0.0, 2.0, 1.0]
    exposure = Exposure([0], [0], [0, 1], n_items=10, judged=judged)
    exposure = exposure if known_by == "exposure" else None
    found = metrics.score(metrics.parse_many("unjudged@1,2,3"), lists, None, exposure)
    first = 0.0 if known_by == "rank" else 1.0  # without names, ranks say which items were judged
    values = [scores.per_user.tolist() for scores in found.values()]
    for value, expected in zip(values, [first, 0.5, 1 / 3], strict=True):
        assert value == pytest.approx([expected, math.nan], nan_ok=True)


NAMED = Rankings([0, 0], [], [], [], [], [9], top_items=[[0, 1, 2]])
BARE = Rankings([0, 0], [], [], [], [], [9])
NINE = Exposure([0], [0], [0], n_items=9)


@pytest.mark.parametrize(
    ("lists", "exposure", "label", "message"),
    [
        (NAMED, None, "gini@3", "gini@3: it needs training ratings .exposure, --training., but"),
        (NAMED, NINE, "novelty@10", "novelty@10: of each list only the first 3.*depth of 10"),
        (NAMED, Exposure([0], [0], [0]), "gini@3", "item 2 is rec.*codes below 1; set its n_items"),
        (
            NAMED,
            Exposure([0], [0], [0, 1], n_items=9),
            "popularity@3",
            "1 list, but the exposure names 2 users",
        ),
        (BARE, NINE, "gini@3", "only the first 0 items are known by name"),
        (
            NAMED,
            NINE,
            "calibration@3",
            "calibration@3: it needs genres of items, but there are none",
        ),
        (NAMED, NINE, "diversity(similarity=cosine)@3", "cosine needs training ratings; leave it"),
    ],
)
def test_what_is_missing_is_named(lists, exposure, label, message):
    with pytest.raises(MetricError, match=message):
        metrics.score([metrics.parse(label)], lists, exposure=exposure)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1], [0], [0]), "2 users and 1 item; give one of each"),
        (([], [], [0]), "0 users and 0 items"),
        (([-1], [0], [0]), "a user code of -1; use codes from 0 on"),
        (([0], [5], [0], 3), "item codes from 5 to 5; use codes from 0 to 2"),
        (([0], [0], [0], 1, None, [1, 2]), "ratings have 2 rows; give 1"),
        (([0], [0], [0], 3, None, [1], [[1], [0]]), "genres have 2 rows; give 3"),
    ],
)
def test_training_ratings_have_to_be_codes(arguments, message):
    with pytest.raises(MetricError, match=message):
        Exposure(*arguments)


def test_what_is_known_of_the_items_shown_decides_their_relevance_among_ties():
    """Both items are tied; the second in rank is shown first, and only it is relevant."""
    lists = Rankings([0, 2], [5, 1], [1, 2], [1, 1], [2, 2], [2], top_items=[[7, 3]])
    metric = metrics.parse("serendipity(threshold=4)@1")
    for items, expected in (([3, 7], 1.0), ([7, 3], 0.0)):
        exposure = Exposure([0, 1], [0, 0], [0], 8, judged=([0, 0], items, [1, 5]))
        scores = metrics.score([metric], lists, exposure=exposure)[metric]
        assert scores.per_user.tolist() == [expected]


def test_what_lists_show_counts_with_and_without_training_ratings():
    lists = Rankings([0, 0, 0], [], [], [], [], [2, 2], top_items=[[0, 1], [2, 3]])
    trained = Exposure([0, 0, 1], [0, 1, 4], [0, 1], n_items=5)  # not items 2 and 3
    values = {
        name: metrics.parse(f"{name}@2").definition(lists, 2, exposure=trained).mean
        for name in ("distinct_items", "entropy", "gini", "item_coverage")
    }
    assert values == pytest.approx(
        {"distinct_items": 4, "entropy": 2, "gini": 0.2, "item_coverage": 2 / 3}
    )
    for name in ("distinct_items", "entropy"):  # whose formulas have no training rating
        assert metrics.parse(f"{name}@2").definition(lists, 2).mean == values[name]
