"""What a run can find, from its own scores; a pilot; the command."""

import json
import math

import numpy as np
import pytest

import harness
from harness.errors import ComparisonError
from harness.experiment.execute.progress import CellFinished, Stage
from harness.extras.power.analysis import NO_NUMBER, columns
from harness.statistics import components
from harness.statistics.sample_size import Spread, reached, users_needed

CONFIG = {
    "dataset": {"synthetic": {"n_users": 120, "n_items": 40, "n_ratings": 2400, "seed": 3}},
    "split": {"kind": "holdout", "test_size": 0.3},
    "algorithms": ["BaselineOnly", "ItemMean", "Random"],
    "metrics": ["ndcg@5", "rmse"],
    "baselines": False,
    "statistics": {"resamples": 200},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def one(folder):
    return harness.run(CONFIG | {"name": "one"}, results=folder)


@pytest.fixture(scope="module")
def several(folder):
    return harness.run(CONFIG | {"name": "several", "seeds": {"split": 5}}, results=folder)


def differences(run, pair):
    """Return the differences of a pair of rows by user and seed."""
    scores = run.users.pivot_table(index="user", columns=["algorithm", "seed"], values="ndcg@5")
    return (scores[pair.first] - scores[pair.second])[run.info.seeds].to_numpy()


def test_over_users_the_variance_is_that_of_the_differences(one):
    found = harness.power(one, difference=0.03)
    assert (found.metric, found.claim, found.level) == ("ndcg@5", "models", pytest.approx(0.05 / 3))
    for pair, compared in zip(found.pairs.itertuples(), one.info.statistics[0].pairs, strict=True):
        values = differences(one, pair)[:, 0]
        variances = Spread(float(np.nanvar(values, ddof=1)))
        n = np.count_nonzero(~np.isnan(values))
        assert (pair.n_users, pair.n_seeds) == (n, 0)
        assert pair.users_needed == users_needed(0.03, variances, None, 0.05 / 3, 0.8)
        assert pair.power == pytest.approx(reached(0.03, variances, n, None, 0.05 / 3))
        assert math.isnan(pair.seeds_needed)
        # Bloom's quantiles of the record are close to the noncentral t.
        assert pair.detectable == pytest.approx(compared.detectable, rel=0.01)
    assert any("seeds have no part" in note for note in found.notes)


def test_over_seeds_the_variances_are_the_components(several):
    found = harness.power(several, difference=0.05)
    assert found.claim == "algorithms"
    for pair in found.pairs.itertuples():
        parts = components(differences(several, pair), ["seed"])
        variances = Spread(parts["users"], parts["seed"], parts["rest"])
        assert pair.power == pytest.approx(
            reached(0.05, variances, pair.n_users, 5, found.level), abs=1e-9
        )
        assert pair.n_seeds == 5
    assert any("is of 5 seeds, so these numbers are rough" in note for note in found.notes)


def test_what_is_asked_decides_the_numbers(one):
    less, more = (harness.power(one, difference=size).pairs for size in (0.02, 0.05))
    assert (less["users_needed"] > more["users_needed"]).all()
    assert (less["power"] < more["power"]).all()
    surer = harness.power(one, power=0.95).pairs
    assert (surer["detectable"] > less["detectable"]).all()
    assert "users_needed" not in surer


def test_the_first_sentence_answers_what_is_asked(one, several):
    found = harness.power(one, difference=0.03)
    enough = int((found.pairs["detectable"] <= 0.03).sum())
    first, second = found.sentences()
    needs = found.pairs.loc[found.pairs["users_needed"].idxmax()]
    most = f"{needs['users_needed']:,.0f} users are enough ({needs['first']} and {needs['second']})"
    assert f"for {enough} of 3 pairs; for all of them {most}." in first
    hardest = found.pairs.loc[found.pairs["detectable"].idxmax()]
    pair = f"{hardest['first']} and {hardest['second']}"
    assert f"{hardest['detectable']:.4g} ({pair})" in second
    assert len(harness.power(one).sentences()) == 1
    tiny = harness.power(several, difference=1e-4)
    assert tiny.pairs["seeds_needed"].isna().all()
    titles, rows = columns(tiny)
    place = list(titles).index("seeds needed")
    assert {row[place] for row in rows} == {NO_NUMBER}
    assert "no number of seeds is enough" in tiny.sentences()[0]
    assert json.loads(json.dumps(tiny.to_dict()))["pairs"][0]["seeds_needed"] is None


def test_pairs_of_models_have_a_number_of_their_own_beside_those_with_a_baseline():
    algorithms = ["BaselineOnly", "SVD", "Random"]
    found = harness.power(
        harness.run(CONFIG | {"algorithms": algorithms}, results=None), difference=0.001
    )
    of_models = found.pairs[~found.pairs["with_baseline"]]
    assert [{row.first, row.second} for row in of_models.itertuples()] == [{"BaselineOnly", "SVD"}]
    [pair] = of_models.itertuples()
    every, models, _ = found.sentences()
    assert (
        f"Without baselines it is found for 0 of 1 pair; for it {pair.users_needed:,.0f} users"
        in (models)
    )
    assert "Random)" in every


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"difference": 0.0}, "difference 0.0; use one above 0"),
        ({"difference": math.nan}, "difference nan; use one above 0"),
        ({"power": 1.0}, "power: 1.0; use a chance above the level"),
        ({"power": 0.01}, "power: 0.01; use a chance above the level"),
        ({"metric": "rmse"}, "rmse is not a mean over users"),
        ({"pilot": 50}, "a run and a pilot; give a config"),
    ],
)
def test_what_cannot_be_answered_is_refused(one, changes, message):
    with pytest.raises(ComparisonError, match=message):
        harness.power(one, **changes)


def test_a_config_without_a_pilot_is_refused():
    with pytest.raises(ComparisonError, match="a dict and no pilot; give a run"):
        harness.power(CONFIG)


def test_a_run_without_comparisons_is_refused():
    run = harness.run(CONFIG | {"statistics": None}, results=None)
    with pytest.raises(ComparisonError, match="no rows are compared by ndcg@5; run two"):
        harness.power(run)


def test_a_test_over_folds_is_refused():
    changes = {"split": {"kind": "kfold", "n_splits": 3}}
    changes |= {"statistics": {"test": "nadeau-bengio", "resamples": 200}}
    with pytest.raises(ComparisonError, match="is over folds, not over users; use `test: two-way`"):
        harness.power(harness.run(CONFIG | changes, results=None))


@pytest.mark.parametrize(
    ("n", "changes", "message"),
    [
        (10, {}, "a pilot of 10 users; use 25 or more"),
        (500, {}, "a pilot of 500 users of 120; use fewer"),
        (50, {"dataset": [CONFIG["dataset"], "bundled"]}, "a pilot of several data sets"),
    ],
)
def test_a_pilot_that_cannot_be_made_is_refused(n, changes, message):
    with pytest.raises(ComparisonError, match=message):
        harness.power(CONFIG | changes, pilot=n)


def test_a_pilot_says_what_the_whole_would_find(one):
    found = harness.power(CONFIG, pilot=60, difference=0.03)
    sampled = harness.run(CONFIG | {"filters": [{"kind": "sample-users", "n": 60}]}, results=None)
    for pair in found.pairs.itertuples():
        values = differences(sampled, pair)[:, 0]
        assert pair.n_users == 2 * np.count_nonzero(~np.isnan(values))
        variances = Spread(float(np.nanvar(values, ddof=1)))
        assert pair.users_needed == users_needed(0.03, variances, None, 0.05 / 3, 0.8)
    assert found.pilot == 60
    assert "the whole run (" in found.sentences()[1]
    assert any("models of 60 users" in note for note in found.notes)
    assert abs(found.pairs["n_users"].max() - harness.power(one).pairs["n_users"].max()) <= 8


def test_the_command_prints_the_answer_and_json(folder, one, cli, tmp_path):
    where = ["--results", str(folder)]
    code, out, _ = cli("power", "one", "--difference", "0.03", *where)
    assert code == 0
    assert out.startswith("A difference of 0.03 in ndcg@5 is found with a power of 80% for ")
    assert "users needed" in out
    code, out, _ = cli("power", "one", "--power", "0.9", "--json", *where)
    expected = harness.power(one, power=0.9)
    assert json.loads(out)["result"] == expected.to_dict()
    code, _, err = cli("power", "one", "--set", "seed=1", *where)
    assert code == 2
    assert "need --pilot; add it" in err
    path = tmp_path / "pilot.json"
    path.write_text(json.dumps(CONFIG), encoding="utf-8")
    code, out, _ = cli("power", str(path), "--pilot", "60", "--set", "metrics=[hit@3]")
    assert code == 0
    assert out.startswith("The smallest difference in hit@3 that the whole run (")


def test_who_watches_is_told_how_far_it_is(one):
    events = []
    found = harness.power(one, watch=events.append)
    n_pairs = len(found.pairs)
    assert events == [Stage("", "power", done, n_pairs) for done in range(1, n_pairs + 1)]
    events.clear()
    harness.power(CONFIG, pilot=60, watch=events.append)
    assert sum(isinstance(event, CellFinished) for event in events) == 3
    assert events[-1] == Stage("", "power", n_pairs, n_pairs)
