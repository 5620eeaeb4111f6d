"""Everything that is accelerated, against Surprise itself, over options and small training sets."""

import pickle
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness._util.kernels import CACHED
from harness.algorithms import surprise
from harness.algorithms.compiled.matrix import LazyMatrix
from harness.models import estimates as models

PARITY = settings(max_examples=max(30, settings().max_examples))  # or as many as a search draws
pytestmark = pytest.mark.filterwarnings(
    "ignore:invalid value encountered:RuntimeWarning", "ignore:divide by zero:RuntimeWarning"
)

WHOLE = st.integers(1, 5).map(float)
HALF = st.integers(1, 10).map(lambda twice: twice / 2)
ANY = st.integers(0, 1000).map(lambda hundredths: hundredths / 100)


@st.composite
def rows(draw, stars=None):
    """Ratings with single, constant and repeating users, and items of one rater."""
    ratings = draw(st.sampled_from([WHOLE, HALF, ANY])) if stars is None else stars
    n_users, n_items = draw(st.integers(1, 6)), draw(st.integers(1, 7))
    row = st.tuples(st.integers(0, n_users), st.integers(0, n_items), ratings)
    unique = draw(st.sampled_from([True, True, False]))
    return draw(
        st.lists(row, min_size=1, max_size=40, unique_by=(lambda r: r[:2]) if unique else None)
    )


RATES = st.floats(0.001, 0.05)
PENALTIES = st.floats(0.0, 0.1)


def seeded(**options):
    return st.fixed_dictionaries({"random_state": st.integers(0, 99), **options})


FACTORS = {"n_factors": st.integers(1, 20), "n_epochs": st.integers(0, 6)}
STEPS = {"lr_all": RATES, "reg_all": PENALTIES}
BIASED = {"biased": st.booleans()}
NO_FACTORS = {"n_factors": st.integers(0, 20)}
SVD = seeded(**FACTORS | NO_FACTORS | STEPS | BIASED, init_mean=st.sampled_from([0, 0.1]))
SVDPP = seeded(
    **FACTORS | STEPS,
    lr_yj=st.sampled_from([None, 0.0, 0.02]),
    reg_yj=st.sampled_from([None, 0.5]),
    cache_ratings=st.booleans(),
)
NMF = seeded(
    **FACTORS | BIASED, reg_pu=st.sampled_from([0.0, 0.06]), init_low=st.sampled_from([0, 0.1])
)
ALS = st.fixed_dictionaries(
    {"method": st.just("als")},
    optional={
        "n_epochs": st.integers(0, 5),
        "reg_u": st.sampled_from([0, 3.5]),
        "reg_i": st.sampled_from([0, 7]),
    },
)
SGD = st.fixed_dictionaries(
    {"method": st.just("sgd")},
    optional={"n_epochs": st.integers(0, 5), "reg": PENALTIES, "learning_rate": RATES},
)
BASELINES = st.one_of(st.just({}), ALS, SGD)
SIMILARITIES = st.fixed_dictionaries(
    {"name": st.sampled_from(["msd", "cosine", "pearson", "pearson_baseline", "MSD"])},
    optional={
        "user_based": st.booleans(),
        "min_support": st.integers(0, 4),
        "shrinkage": st.sampled_from([0, 2.5, 100]),
    },
)
NEIGHBOUR_OPTIONS = st.fixed_dictionaries(
    {"sim_options": SIMILARITIES, "bsl_options": BASELINES, "verbose": st.just(False)},
    optional={"k": st.integers(0, 6), "min_k": st.integers(0, 3)},
)
CO_CLUSTERING = seeded(
    n_cltr_u=st.integers(1, 4), n_cltr_i=st.integers(1, 4), n_epochs=st.integers(0, 6)
)
FITTED = (
    *("bu", "bi", "pu", "qi", "yj", "sim", "means", "sigmas", "overall_sigma", "n_x", "n_y"),
    *("bx", "by", "dev", "freq", "user_mean", "item_mean", "cltr_u", "cltr_i", "avg_cltr_u"),
    *("avg_cltr_i", "avg_cocltr", "sigma"),
)


# Users who rated an item twice (the harness lets none through) are left to Surprise by these.
NEIGHBOURS = tuple(
    getattr(surprise, f"KNN{name}") for name in ("Basic", "WithMeans", "WithZScore", "Baseline")
)
FITTED_BY_SURPRISE_FOR_REPEATS = (surprise.SVDpp, *NEIGHBOURS)


def check(kind, options, twins, exact=False):
    theirs, ours = (kind(**deepcopy(options)) for _ in range(2))  # Surprise writes into them
    refused = None
    try:
        theirs.fit(twins.plain())
    except Exception as error:
        refused = type(error)
    if refused is not None:
        with pytest.raises(refused) as raised:
            models.fit(ours, twins.columns(), as_surprise=True)
        assert raised.type is refused
        return
    path = models.fit(ours, twins.columns(), as_surprise=True)
    repeats = len({row[:2] for row in twins.rows}) < len(twins.rows)
    left = repeats and kind in FITTED_BY_SURPRISE_FOR_REPEATS
    assert path == ("surprise" if left else "accelerated")
    assert set(vars(theirs)) == set(vars(ours))
    for name in FITTED:
        expected = getattr(theirs, name, None)
        if expected is not None:
            found = getattr(ours, name)
            assert type(found) is type(expected)
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12, err_msg=name)
    twins.check(theirs, ours, **({"rtol": 0} if exact else {"atol": 1e-12}))


LEARNT = {
    surprise.SVD: SVD,
    surprise.SVDpp: SVDPP,
    surprise.NMF: NMF,
    surprise.BaselineOnly: st.fixed_dictionaries(
        {"bsl_options": BASELINES, "verbose": st.just(False)}
    ),
    **dict.fromkeys(NEIGHBOURS, NEIGHBOUR_OPTIONS),
    surprise.SlopeOne: st.just({}),
    surprise.CoClustering: CO_CLUSTERING,
}
TO_THE_LAST_BIT = (surprise.BaselineOnly, *NEIGHBOURS)


@pytest.mark.parametrize("kind", LEARNT, ids=lambda kind: kind.__name__)
@PARITY
@given(rows=rows(), data=st.data())
def test_attributes_and_estimates_are_those_of_surprise(twins, kind, rows, data):
    check(kind, data.draw(LEARNT[kind]), twins(rows), exact=kind in TO_THE_LAST_BIT)


@pytest.mark.long
@pytest.mark.parametrize("kind", [surprise.SVD, surprise.SVDpp, surprise.NMF])
def test_factors_larger_than_a_core_s_cache_are_those_of_surprise(twins, kind):
    rng = np.random.default_rng(0)
    cells = rng.permutation(12 * 30)[:150].tolist()
    options = {"n_factors": CACHED // 8 // 29, "n_epochs": 2, "random_state": 0}
    check(kind, options, twins([(c // 30, c % 30, float(rng.integers(1, 6))) for c in cells]))


OF_ITEMS = {"verbose": False, "sim_options": {"user_based": False}}
EXACT = {
    "SlopeOne": {},
    "CoClustering": {"random_state": 0},
    "KNNWithMeans of items": OF_ITEMS,
    "KNNWithZScore of items": OF_ITEMS,
    **{kind.__name__: {"verbose": False} for kind in TO_THE_LAST_BIT},
}


@pytest.mark.parametrize("parts", [2, 3, 10])
@pytest.mark.parametrize("name", EXACT)
def test_estimates_are_those_of_surprise_to_the_last_bit(twins, name, parts):
    # Thirds and tenths have no exact binary form, so another order of a sum gives other last bits;
    # a user with many ratings is needed to see the order in which NumPy adds up a mean.
    rng = np.random.default_rng(parts)
    cells = rng.permutation(15 * 40)[:350]
    rows = [
        (int(user), int(item), float(rating) / parts)
        for user, item, rating in zip(
            cells // 40, cells % 40, rng.integers(parts, 5 * parts + 1, len(cells)), strict=True
        )
    ]
    check(getattr(surprise, name.split()[0]), EXACT[name], twins(rows), exact=True)


@pytest.mark.parametrize("held", ["matrix", "rows", "columns"])
def test_slope_one_of_many_items_is_computed_on_demand(twins, monkeypatch, held):
    rng = np.random.default_rng(0)
    cells = rng.permutation(12 * 30)[:150].tolist()
    both = twins([(cell // 30, cell % 30, float(rng.integers(1, 51)) / 10) for cell in cells])
    whole, lazy = surprise.SlopeOne(), surprise.SlopeOne()
    models.fit(whole, both.columns())
    limits = {"slope_one.DENSE": 0, "slope_one.COLUMNS_AT_ONCE": 7}
    if held != "matrix":
        limits["matrix.DENSE_LIMIT"] = 0
    if held == "columns":
        limits["slope_one.CATALOGUE_BLOCK"] = 0
    for name, limit in limits.items():
        monkeypatch.setattr(f"harness.algorithms.compiled.{name}", limit)
    models.fit(lazy, both.columns())
    lazy = pickle.loads(pickle.dumps(lazy))
    assert isinstance(lazy.dev, LazyMatrix)
    for name in ("dev", "freq"):
        np.testing.assert_array_equal(getattr(lazy, name)[:], getattr(whole, name))
    assert lazy.predict("u3", "i4").est == whole.predict("u3", "i4").est
    both.check(whole, lazy, rtol=0)


@pytest.mark.parametrize(
    ("kind", "same", "halved"),
    [
        (surprise.SlopeOne, ["freq"], "dev"),
        (surprise.CoClustering, ["cltr_u", "cltr_i"], "avg_cocltr"),
    ],
    ids=["SlopeOne", "CoClustering"],
)
@PARITY
@given(rows=rows(stars=HALF), data=st.data())
def test_fits_of_half_stars_are_surprise_s_of_twice_the_stars(
    twins, kind, same, halved, rows, data
):
    both, options = twins(rows), data.draw(LEARNT[kind])
    doubled, ours = kind(**options).fit(both.plain(factor=2)), kind(**options)
    models.fit(ours, both.columns())
    for name in same:
        np.testing.assert_array_equal(getattr(ours, name), getattr(doubled, name))
    np.testing.assert_allclose(getattr(ours, halved) * 2, getattr(doubled, halved), rtol=1e-12)
    if kind is surprise.SlopeOne:
        estimates, _ = models.estimate(ours, [0] * both.n_items, range(both.n_items))
        expected = [doubled.predict("u0", f"i{item}").est / 2 for item in range(both.n_items)]
        np.testing.assert_allclose(estimates, expected, rtol=1e-12)


@PARITY
@given(rows(), st.integers(0, 99))
def test_a_seeded_normal_predictor_draws_as_numpy_seeded_globally(twins, rows, seed):
    both = twins(rows)
    theirs, ours = surprise.NormalPredictor().fit(both.plain()), surprise.NormalPredictor()
    ours.random_state = seed
    models.fit(ours, both.columns())
    np.random.seed(seed)
    expected = [theirs.predict("u0", f"i{item}").est for item in [0, 1, 1, 0, 2]]
    before = np.random.get_state()[1].tolist()
    first, _ = models.estimate(ours, [0, 0, 0], [0, 1, 1])
    second, _ = models.estimate(ours, [0, 0], [0, 2], accelerate=False)
    np.testing.assert_allclose([*first, *second], expected, rtol=1e-12)
    assert np.random.get_state()[1].tolist() == before


def test_rows_on_demand_have_the_ends_of_an_array():
    def fill(xs, rows):
        rows[:] = xs[:, None]

    matrix = LazyMatrix(3, fill)
    assert np.asarray(matrix).tolist() == [[0.0] * 3, [1.0] * 3, [2.0] * 3]
    assert matrix[-1].tolist() == [2.0] * 3
    assert matrix[-1, 1] == 2.0
    for place in (3, -4):
        with pytest.raises(IndexError, match="a matrix of 3 rows"):
            matrix[place]
