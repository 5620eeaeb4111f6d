"""Which way a model goes, and that every way leads to Surprise's numbers."""

import numpy as np
import pytest

from harness._util import kernels
from harness.algorithms import baselines, parameters, registry, surprise
from harness.algorithms.compiled import matrix as matrix
from harness.algorithms.compiled import similarities
from harness.algorithms.compiled.matrix import LazyMatrix
from harness.errors import AlgorithmError
from harness.models import estimates as models

# Surprise's dump and load leave their files to the garbage collector.
DUMPING = pytest.mark.filterwarnings(
    "ignore:unclosed file:ResourceWarning",
    "ignore:Exception ignored in:pytest.PytestUnraisableExceptionWarning",
)

ROWS = [
    (user, item, float((3 * user + 5 * item + user * item) % 9 + 1) / 2)
    for user in range(12)
    for item in range(9)
    if (user * 7 + item * 3) % 4
]
NEIGHBORS = [
    getattr(surprise, f"KNN{name}") for name in ("Basic", "WithMeans", "WithZScore", "Baseline")
]
FACTORS = [surprise.SVD, surprise.SVDpp, surprise.NMF]
EVERY = [*FACTORS, surprise.SlopeOne, surprise.CoClustering, surprise.BaselineOnly, *NEIGHBORS]
by_name = pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.__name__)


def create(kind, **options):
    return registry.create(kind.__name__, options, seed=1)


def fit_both(both, kind, **options):
    """Return a model that Surprise fitted, and one of the harness."""
    theirs = create(kind, **options).fit(both.plain())
    ours = create(kind, **options)
    models.fit(ours, both.columns(), as_surprise=True)
    return theirs, ours


@by_name
def test_without_acceleration_everything_goes_through_surprise(twins, kind):
    both = twins(ROWS)
    theirs, ours = create(kind).fit(both.plain()), create(kind)
    assert models.fit(ours, both.columns(), accelerate=False) == "surprise"
    both.check(theirs, ours, rtol=0, accelerate=False)


@DUMPING
@pytest.mark.parametrize("form", ["columns", "plain"])
@by_name
def test_a_fitted_model_is_surprise_s_own_and_can_be_dumped_loaded_and_asked(
    twins, kind, form, tmp_path
):
    both = twins(ROWS)
    theirs, ours = create(kind).fit(both.plain()), create(kind)
    assert models.fit(ours, getattr(both, form)(), as_surprise=True) == "accelerated"
    assert type(ours) is kind
    surprise.dump.dump(tmp_path / "model", algo=ours)
    _, loaded = surprise.dump.load(tmp_path / "model")
    expected = [each.est for each in both.predictions(theirs)]
    for model in (ours, loaded):
        found = [each.est for each in both.predictions(model)]
        np.testing.assert_allclose(found, expected, rtol=1e-9)
    if form == "columns":  # codes of the other are its inner ids
        both.check(theirs, loaded)


@pytest.mark.parametrize(
    "model",
    [
        surprise.SVD(biased=np.False_, verbose=np.False_, n_epochs=np.int64(2)),
        surprise.KNNBasic(sim_options={"name": "MSD", "user_based": np.False_}),
    ],
    ids=lambda model: type(model).__name__,
)
def test_numbers_and_truth_values_of_numpy_are_accelerated_too(twins, model):
    assert models.fit(model, twins(ROWS).columns()) == "accelerated"


@pytest.mark.parametrize("name", ["reg_all", "lr_all"])
def test_a_rate_that_is_null_is_refused_as_by_surprise(twins, name):
    for accelerate in (True, False):
        with pytest.raises(TypeError, match="must be real number, not NoneType"):
            models.fit(surprise.SVD(**{name: None}), twins(ROWS).columns(), accelerate=accelerate)


class OwnEstimate(surprise.SVD):
    def estimate(self, u, i):
        return 2.0 if isinstance(u, str) else 3.0 + u / 100


class OwnDefault(surprise.KNNBasic):
    def default_prediction(self):
        return 4.25


class OwnFit(surprise.SVD):
    def fit(self, trainset):
        super().fit(trainset)
        self.bi += 0.25
        return self


class OwnSimilarities(surprise.KNNBasic):
    def compute_similarities(self):
        return np.ones((self.n_x, self.n_x))


class OwnBaselines(surprise.BaselineOnly):
    def compute_baselines(self):
        return np.zeros(self.trainset.n_users), np.ones(self.trainset.n_items)


class OwnDraws(baselines.Random):
    def draws(self, users, items):
        return np.full(np.broadcast(users, items).shape, 4.0)


class Constant(surprise.AlgoBase):
    def estimate(self, u, i):
        if isinstance(i, str):
            raise surprise.PredictionImpossible("unknown item")
        return 3.0, {"note": "constant"}


class Plain(surprise.SVD):
    """Changes nothing that matters."""


@pytest.mark.parametrize(
    ("kind", "fit_path", "scoring_path"),
    [
        (OwnEstimate, "accelerated", "surprise"),
        (OwnDefault, "accelerated", "surprise"),
        (OwnFit, "surprise", "accelerated"),
        (OwnSimilarities, "surprise", "accelerated"),
        (OwnBaselines, "surprise", "accelerated"),
        (OwnDraws, "accelerated", "surprise"),
        (Constant, "surprise", "surprise"),
        (Plain, "accelerated", "accelerated"),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_what_a_subclass_does_itself_is_left_to_it(twins, kind, fit_path, scoring_path):
    both = twins(ROWS)
    options = {"random_state": 1} if issubclass(kind, surprise.SVD) else {}
    if hasattr(kind(), "verbose"):
        options["verbose"] = False
    theirs, ours = kind(**options).fit(both.plain()), kind(**options)
    assert models.fit(ours, both.columns()) == fit_path
    assert models.scoring_path(ours) == scoring_path
    both.check(theirs, ours)


def test_a_method_set_on_the_model_itself_is_called(twins):
    both = twins(ROWS)
    model = create(surprise.SVD)
    models.fit(model, both.columns())
    model.estimate = lambda u, i: 1.25
    assert models.scoring_path(model) == "surprise"
    assert models.estimate(model, [0], [0])[0].tolist() == [1.25]


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (surprise.SVD, {"n_factors": 3.0}),
        (surprise.SVD, {"lr_all": "fast"}),
        (surprise.SVDpp, {"n_epochs": 2.0}),
        (surprise.NMF, {"reg_pu": None}),
        (surprise.CoClustering, {"n_cltr_u": 0}),
        (surprise.KNNBasic, {"sim_options": {"name": "jaccard"}}),
        (surprise.KNNBasic, {"sim_options": {"min_support": "1"}}),
        (surprise.KNNBaseline, {"bsl_options": {"method": "lbfgs"}}),
        (surprise.BaselineOnly, {"bsl_options": {"n_epochs": 1.5}}),
        (surprise.BaselineOnly, {"bsl_options": {"reg_u": "15"}}),
        (surprise.SVD, {"random_state": "seed"}),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_unusual_parameters_end_as_they_do_in_surprise(twins, kind, options):
    both = twins(ROWS)
    try:
        theirs = create(kind, **options).fit(both.plain())
    except Exception as error:
        with pytest.raises(type(error)):
            models.fit(create(kind, **options), both.columns())
    else:
        ours = create(kind, **options)
        assert models.fit(ours, both.columns()) == "surprise"
        both.check(theirs, ours)


@DUMPING
@pytest.mark.parametrize("kind", NEIGHBORS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("user_based", [True, False])
@pytest.mark.parametrize("name", parameters.SIMILARITIES)
def test_similarities_that_are_computed_on_demand_are_those_of_the_matrix(
    twins, kind, user_based, name, monkeypatch, tmp_path
):
    both = twins(ROWS)
    options = {"name": name, "user_based": user_based, "shrinkage": 3}
    theirs = create(kind, sim_options=dict(options)).fit(both.plain())
    monkeypatch.setattr(matrix, "DENSE_LIMIT", 0)
    monkeypatch.setattr(similarities, "X_A_PART", 2)
    ours = create(kind, sim_options=dict(options))
    models.fit(ours, both.columns())
    assert isinstance(ours.sim, LazyMatrix)
    assert (ours.sim.shape, len(ours.sim)) == (theirs.sim.shape, len(theirs.sim))
    for key in (2, (2, 5), np.s_[:, 3], np.s_[1:3]):
        assert ours.sim[key].tolist() == theirs.sim[key].tolist()
    assert ours.get_neighbors(0, 4) == theirs.get_neighbors(0, 4)
    surprise.dump.dump(tmp_path / "model", algo=ours)
    _, loaded = surprise.dump.load(tmp_path / "model")
    found, expected = ([each.est for each in both.predictions(model)] for model in (ours, theirs))
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    for model in (ours, loaded):
        both.check(theirs, model)


@pytest.mark.parametrize("kind", NEIGHBORS, ids=lambda kind: kind.__name__)
def test_similarities_without_an_order_are_left_to_surprise(twins, kind):
    both = twins(ROWS)
    theirs, ours = fit_both(both, kind)
    for model in (theirs, ours):
        model.sim[0, 3] = model.sim[3, 0] = np.nan
    both.check(theirs, ours)


@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
def test_standard_scores_of_equal_ratings_are_left_to_surprise(twins):
    both = twins([(user, item, 3.0) for user in range(3) for item in range(3)])
    both.check(*fit_both(both, surprise.KNNWithZScore), rtol=0)


@by_name
def test_progress_rises_to_its_end_and_nothing_asked_is_nothing_answered(twins, kind):
    calls, model = [], create(kind)
    models.fit(model, twins(ROWS).columns(), progress=lambda *call: calls.append(call))
    estimates, impossible = models.estimate(model, [], [])
    assert estimates.tolist() == impossible.tolist() == []
    assert calls
    assert calls == sorted(calls)
    assert calls[-1][0] == calls[-1][1]


def test_a_random_generator_is_used_up_as_surprise_uses_it(twins):
    both = twins(ROWS)
    ends = []
    for fit in (
        lambda model: model.fit(both.plain()),
        lambda model: models.fit(model, both.columns()),
    ):
        rng = np.random.RandomState(5)
        for kind in (*FACTORS, surprise.CoClustering):
            fit(kind(random_state=rng, n_epochs=2))
        ends.append(rng.random_sample())
    assert ends[0] == ends[1]


def test_blocks_cover_the_users_that_are_asked_for_in_order(twins):
    both = twins(ROWS)
    model = create(surprise.SVD)
    models.fit(model, both.columns())
    users = [5, 1, 1, 13, 0]
    blocks = list(models.catalogue(model, users, block=2))
    assert [(start, stop) for start, stop, _ in blocks] == [(0, 2), (2, 4), (4, 5)]
    whole = next(models.catalogue(model, users))[2]
    np.testing.assert_array_equal(np.concatenate([rows for _, _, rows in blocks]), whole)
    np.testing.assert_array_equal(whole[1], whole[2])
    assert list(models.catalogue(model, [])) == []


def test_what_cannot_be_estimated_is_refused_with_what_to_do(twins):
    both = twins(ROWS)
    theirs, ours = fit_both(both, surprise.SVD)
    with pytest.raises(AlgorithmError, match="-1 is not a code; give codes from 0"):
        models.estimate(ours, [0, -1], [0, 0])
    with pytest.raises(AlgorithmError, match=r"SVD: the model was not fitted .*estimates\.fit"):
        models.estimate(theirs, [0], [0])
    _, learnt = fit_both(both, surprise.BaselineOnly, bsl_options={"method": "sgd"})
    with pytest.raises(AlgorithmError, match=r"BaselineOnly: 1 of 1 .* lower the learning rate"):
        models.check_and_clip(learnt, np.array([np.nan]), clip=True)


@pytest.mark.parametrize(
    ("name", "params", "least", "most"),
    [
        ("SVD", {}, 0.8e9, 1.5e9),
        ("SVD", {"n_factors": 200}, 1.2e9, 2e9),
        ("SlopeOne", {}, 1.5e9, 3e9),
        ("KNNBasic", {}, 1e9, 4e9),
        ("KNNBasic", {"sim_options": {"user_based": False}}, 3e9, 5e9),
        ("Popularity", {}, 0.5e9, 1.5e9),
        (f"{__name__}:OwnFit", {}, 0.8e9, 1.5e9),
        (f"{__name__}:Constant", {}, 5e9, 9e9),
    ],
    ids=str,
)
def test_memory_is_of_the_size_of_what_is_kept(name, params, least, most):
    assert least < registry.memory(name, params, 162_541, 59_047, 25_000_095) < most
    kept = name == "KNNBasic" and not params  # a matrix of users; docs/explanation/speed.md
    assert not kept or 0.474e9 < registry.memory(name, params, 6040, 3705, 800_167) < 0.6e9


def test_results_do_not_depend_on_threads_or_on_the_size_of_a_cache(twins, monkeypatch):
    rng = np.random.default_rng(0)
    cells = np.unique(rng.integers(0, 200 * 150, 6000)).tolist()
    columns = twins([(c // 150, c % 150, int(rng.integers(1, 11)) / 2) for c in cells]).columns()
    found = []
    kinds = [surprise.NMF, surprise.CoClustering, surprise.KNNWithMeans, surprise.SlopeOne]
    kinds += [surprise.SVD, surprise.BaselineOnly]
    for n_threads, cached in (("1", kernels.CACHED), ("3", 1 << 16)):
        monkeypatch.setenv("HARNESS_THREADS", n_threads)
        monkeypatch.setattr(kernels, "CACHED", cached)
        for kind in kinds:
            model = create(kind)
            models.fit(model, columns)
            pairs = models.estimate(model, *np.divmod(cells, 150))[0]
            rows = [block for _, _, block in models.catalogue(model, range(200))]
            found.append(pairs.tobytes() + np.concatenate(rows).tobytes())
    assert found[: len(kinds)] == found[len(kinds) :]
