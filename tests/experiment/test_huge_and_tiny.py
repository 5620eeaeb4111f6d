"""Huge and tiny numbers: a value, or an error that says what to do before anything is fitted."""

import re

import numpy as np
import pytest

import harness
from harness import metrics, rankings
from harness.errors import ConfigError, DataError, MetricError
from harness.experiment.dry_run import dry_run
from harness.rankings.evaluation import cannot_distinguish, tied_shares

CONFIG = {
    "split": {"kind": "holdout", "test_size": 0.25},
    "algorithms": ["ItemMean", "SlopeOne"],
    "metrics": ["rmse", "mae", "mse", "r2", "fcp", "dcg(gain=linear)@3", "ndcg(gain=linear)@3"],
    "baselines": False,
}
SAYS = "too (large|small) to be squared; use a unit that gives"
BEYOND = [1e300, -1e300, 1e155, 1e31, 1e-31, -1e-31, 1e-160, 1e-300, 1e-310]


def columns(size=1.0):
    rng = np.random.default_rng(0)
    pairs = [(f"u{u}", f"i{i}") for u in range(20) for i in range(10) if rng.random() < 0.8]
    users, items = zip(*pairs, strict=True)
    return users, items, rng.integers(1, 6, len(pairs)) * size


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(size):
        rows = zip(*columns(size), strict=True)
        lines = [f"{user},{item},{rating:.17g}" for user, item, rating in rows]
        (tmp_path / "r.csv").write_text("\n".join(["user,item,rating", *lines]) + "\n")
        return "r.csv"

    return write


@pytest.mark.parametrize("size", BEYOND)
def test_ratings_whose_squares_are_no_floats_are_refused_before_anything_is_fitted(file, size):
    path, ratings = file(size), columns(size)
    for call in (
        lambda: harness.load(path),
        lambda: harness.Ratings.from_columns(*ratings),
        lambda: harness.run({**CONFIG, "dataset": path}, results=None),
    ):
        with pytest.raises(DataError, match=SAYS):
            call()
    assert re.search(SAYS, str(dry_run({**CONFIG, "dataset": path}).faults))


def test_the_rows_of_ratings_that_are_too_large_are_named_and_can_be_dropped():
    users, items, ratings = columns()
    ratings[[3, 8]] = 1e40, -1e40
    with pytest.raises(DataError, match=r"row 3 .*: the rating 1e\+40 is too large"):
        harness.Ratings.from_columns(users, items, ratings)
    rest = harness.Ratings.from_columns(users, items, ratings, unreadable="drop")
    assert len(rest) == len(ratings) - 2
    ratings[[3, 8]] = 1e-40, 0.0  # beside others, small ones are as good as 0
    assert len(harness.Ratings.from_columns(users, items, ratings)) == len(ratings)


@pytest.mark.parametrize("scale", [[-1e300, 1e300], [0, 1e31], [0, 1e-31]])
def test_a_scale_whose_squares_are_no_floats_is_refused(scale):
    with pytest.raises(ConfigError, match=SAYS):
        harness.run({**CONFIG, "dataset": {"name": "bundled", "scale": scale}}, results=None)


@pytest.mark.parametrize("size", [2.0**97, 2.0**-97])  # so that no digit is rounded
def test_ratings_of_another_unit_differ_in_nothing_but_the_unit(size):
    one, other = (
        harness.run(CONFIG, ratings=harness.Ratings.from_columns(*columns(unit)), results=None)
        for unit in (1.0, size)
    )
    for label, power in (("rmse", 1), ("mae", 1), ("mse", 2), ("dcg(gain=linear)@3", 1)):
        np.testing.assert_allclose(other.table[label], one.table[label] * size**power, rtol=1e-9)
    for label in ("r2", "fcp", "ndcg(gain=linear)@3"):
        np.testing.assert_allclose(other.table[label], one.table[label], rtol=1e-9)
    codes = [{note.code for note in run.info.notes} for run in (one, other)]
    assert codes[0] - {"ratings-not-cut"} == codes[1] - {"ratings-not-cut"}


@pytest.mark.parametrize("size", [1e-12, 1e-25])
def test_small_scores_differ_as_large_ones_do(size):
    lists = rankings.from_pairs([1, 1, 1], [2.0, 2.0, 1.0], np.array([1.0, 3.0, 2.0]) * size)
    (dcg,) = wanted = metrics.parse_many("dcg(gain=linear)@1")
    assert cannot_distinguish(dcg, lists) is None
    assert tied_shares(wanted, lists) == {str(dcg): 1.0}


@pytest.mark.parametrize("name", ["rmse", "mae", "mse", "r2", "explained_variance"])
@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_errors_of_huge_and_tiny_estimates_are_refused(name, size):
    pairs = metrics.Pairs([0, 3], np.array([1.0, 2.0, 4.0]) * size, np.arange(3.0) * size)
    with pytest.raises(MetricError, match=f"estimates and ratings: .*{SAYS}"):
        metrics.score([metrics.parse(name)], pairs=pairs)
    assert metrics.score([fcp := metrics.parse("fcp")], pairs=pairs)[fcp].mean == 1.0


@pytest.mark.parametrize("label", ["ndcg", "dcg", "idcg"])
@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_linear_gains_of_huge_and_tiny_relevances_are_refused(label, size):
    lists = rankings.from_pairs([1, 1], [2.0, 1.0], np.array([1.0, 3.0]) * size)
    with pytest.raises(MetricError, match=SAYS):
        metrics.score([metrics.parse(f"{label}(gain=linear)@2")], lists)
    with pytest.raises(MetricError, match=SAYS):
        metrics.parse(f"{label}(gain=table(0, {size}))@2")


def test_estimates_that_are_too_large_fail_their_row_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "huge.py").write_text(
        "import numpy as np\n\n"
        "class Huge:\n"
        "    def fit(self, train):\n"
        "        self.train = train\n\n"
        "    def estimate(self, users, items):\n"
        "        return 1e200 * (1.0 + items)\n"
    )
    config = {**CONFIG, "algorithms": ["ItemMean", "huge:Huge"], "clip": False}
    run = harness.run(config, ratings=harness.Ratings.from_columns(*columns()), results=None)
    (failed,) = (cell for cell in run.info.cells if cell.error)
    assert "estimates are beyond 1e+30" in failed.error
    assert run.table["rmse"].notna().tolist() == [True, False]


@pytest.mark.parametrize("size", [1e300, 1e41, 1e-41, 1e-310])
def test_scores_of_an_own_metric_that_are_too_large_or_small_are_refused(size):
    lists = rankings.from_pairs([1, 1, 2], [2.0, 1.0, 1.0], [1.0, 3.0, 1.0])

    @harness.metric("the same for each user", range=(0, np.inf))
    def constant(lists, k):
        return np.full(lists.n_users, size)

    with pytest.raises(MetricError, match=f"constant: .*{SAYS}"):
        constant(lists, 2)
