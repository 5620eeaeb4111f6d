"""Weights of exposure in a run: as the functions on its estimates, tuned by, noted and recorded."""

import json
import math

import numpy as np
import pandas as pd
import pytest

import harness
from harness import errors, metrics
from harness.experiment.plan import Plan
from harness.metrics.weights import by_popularity, naive_bayes, weighted_error, weighted_ndcg
from harness.rankings.evaluation import exposure_for
from harness.report.methods import methods
from harness.results.reading import read_run

NDCG, RMSE = "ndcg(ties=first, weights=popularity)@10", "rmse(weights=popularity)"
CONFIG = {
    "dataset": {"synthetic": {"n_users": 60, "n_items": 40, "n_ratings": 900}},
    "candidates": "catalogue",
    "algorithms": ["BaselineOnly", "ItemMean"],
    "metrics": ["ndcg@10", NDCG, "rmse", RMSE],
    "outputs": {"estimates": True},
    "statistics": None,
}


def run(**changes):
    return harness.run(CONFIG | changes, results=None)


def noted(run, code):
    return [note for note in run.info.notes if note.code == code]


def assert_as_the_functions_say(run, ratings):
    """Compare each row with the functions, from the estimates that the run keeps."""
    values = {row.algorithm: row.scores for row in run.info.rows}
    for algorithm, rows in run.estimates.groupby("algorithm"):
        pairs = rows["user"] + "\t" + rows["item"]
        training = ratings[~(ratings["user"] + "\t" + ratings["item"]).isin(pairs)]
        counts = training.groupby("item").size().reindex(ratings["item"].unique(), fill_value=0)
        chances = by_popularity(counts, counts.index.get_indexer(rows["item"]))
        error = weighted_error(rows["estimate"], rows["rating"], chances)
        last = rows["rank"].where(rows["rank"] > 0, 10**6)  # held out, and not in the list
        ranked = weighted_ndcg(rows["user"], rows["rating"], last, chances, 10)
        assert values[algorithm][RMSE] == pytest.approx(error.value, rel=1e-12)
        assert values[algorithm][NDCG] == pytest.approx(ranked.value, rel=1e-12)
        assert not math.isclose(values[algorithm]["rmse"], error.value, rel_tol=1e-3)
        by_user = run.users[run.users["algorithm"] == algorithm].set_index("user")[NDCG]
        np.testing.assert_allclose(by_user.sort_index(), ranked.per_user, rtol=1e-9)
        (cell,) = [cell for cell in run.info.finished if cell.algorithm == algorithm]
        for label, of in ((RMSE, error), (NDCG, ranked)):
            worth = tuple(vars(cell.scores[label].worth).values())
            assert worth == pytest.approx((of.n, of.effective, of.greatest, of.clipped))
        assert cell.scores["rmse"].worth is None


def test_a_run_has_the_values_of_the_functions():
    plan = Plan.from_config(CONFIG)
    assert_as_the_functions_say(run(), plan.ratings(0)[0].to_frame())


@pytest.mark.long
def test_a_run_on_the_bundled_ratings_has_the_values_of_the_functions():
    assert_as_the_functions_say(run(dataset="bundled"), harness.load("bundled").to_frame())


def test_what_the_weights_are_worth_stands_in_the_notes_and_in_the_record(tmp_path):
    made = harness.run(CONFIG | {"name": "weighted"}, results=tmp_path)
    (note,) = noted(made, "weights-worth")
    worth = made.info.finished[0].scores[RMSE].worth
    assert note.values["metrics"] == [NDCG, RMSE]
    assert (note.values["n"], note.values["effective"]) == (180, round(worth.effective))
    size = f"{worth.effective:,.0f}"
    said = f"180 held-out ratings, weighted by exposure, have an effective sample size of {size}"
    assert said in str(note)
    assert read_run(tmp_path / "weighted").info.finished[0].scores[RMSE].worth == worth
    assert not noted(made, "propensities-raised")


def test_the_methods_say_what_the_weights_are():
    said = dict(methods(run(outputs={}).info).paragraphs)["Metrics"]
    assert said.count("a test rating counts w times") == 1
    assert "(Schnabel et al. 2016; Yang et al. 2018)" in said
    plain = dict(methods(run(outputs={}, metrics=["ndcg@10", "rmse"]).info).paragraphs)
    assert "w times" not in plain["Metrics"]


def test_raised_propensities_and_weights_that_few_ratings_decide_get_a_note():
    labels = ["rmse(weights=popularity, least=0.3)", "mae(weights=popularity, power=30)"]
    made = run(metrics=labels)
    (raised,) = noted(made, "propensities-raised")
    assert raised.values["share"] == made.info.finished[0].scores[labels[0]].worth.clipped > 0
    (few,) = noted(made, "weights-few")
    assert (few.weight, few.values["metrics"]) == (3, labels[1:])


@pytest.mark.parametrize(
    ("candidates", "n_notes"), [("rated", 1), ("sampled", 1), ("catalogue", 0)]
)
def test_ranks_among_a_few_candidates_get_a_note(candidates, n_notes):
    notes = noted(run(candidates=candidates, outputs={}), "weights-of-few-candidates")
    assert len(notes) == n_notes
    for note in notes:
        assert note.values["metrics"] == [NDCG]  # errors need no candidates


def test_a_search_can_be_decided_by_a_weighted_metric():
    rows = [{"name": "KNNBasic", "search": {"k": [2, 10]}}]
    values = {}
    for label in ("ndcg(ties=first)@10", NDCG, "rmse", RMSE):
        made = run(algorithms=rows, tuning={"method": "grid", "metric": label}, outputs={})
        values[label] = made.trials["value"].to_numpy()
        assert np.isfinite(values[label]).all()
    assert not np.allclose(values["ndcg(ties=first)@10"], values[NDCG])
    assert not np.allclose(values["rmse"], values[RMSE])


def test_training_and_test_ratings_are_those_of_each_fold():
    plan = Plan.from_config(CONFIG | {"split": {"kind": "kfold", "n_splits": 2}})
    split = plan.splits(0, 0, 0)[1]
    users = np.unique(split.ratings.users[split.test]).astype(np.int32)
    assert exposure_for(metrics.parse_many("ndcg@5"), split, users) is None
    exposure = exposure_for(metrics.parse_many("rmse(weights=popularity)"), split, users)
    expected = np.bincount(split.ratings.items[split.train], minlength=split.ratings.n_items)
    np.testing.assert_array_equal(exposure.popularity, expected)
    assert len(exposure.judged[0]) == len(split.test)


def test_users_and_items_that_training_lacks_can_be_left_out():
    drop = {"kind": "catalogue", "unknown_items": "drop", "unknown_users": "drop"}
    data = {"synthetic": {"n_users": 80, "n_items": 200, "n_ratings": 800}}
    made = run(dataset=data, candidates=drop, split={"kind": "kfold", "n_splits": 2})
    for cell in made.info.finished:
        assert not cell.metric_errors
        assert cell.scores[NDCG].worth.n < cell.scores[RMSE].worth.n


def test_groups_and_training_values_go_with_weights():
    groups = [{"users": "training_ratings"}, {"items": "popularity"}]
    made = run(groups=groups, outputs={"training": True})
    assert set(made.info.finished[0].training) == {"ndcg@10", "rmse"}
    by_side = {entry.side: entry.metric for entry in made.info.groups if "weights" in entry.metric}
    assert by_side == {"users": NDCG}


def test_a_run_without_its_training_ratings_leaves_them_out(tmp_path, cli):
    harness.run(CONFIG | {"name": "again"}, results=tmp_path)
    said = cli.done("evaluate", tmp_path / "again", "--results", tmp_path)
    assert "ndcg@10" in said
    refused = cli.refused("evaluate", tmp_path / "again", "--metrics", RMSE, "--results", tmp_path)
    assert f"{RMSE}: it depends on items and their training ratings" in refused


@pytest.mark.parametrize("alone", [True, False])
def test_files_with_training_ratings_score_as_the_run(alone, tmp_path, cli):
    made = run(algorithms=["BaselineOnly"], candidates="rated")
    rows = made.estimates[made.estimates["algorithm"] == "BaselineOnly"]
    rows = rows.sample(frac=1, random_state=1)  # the order of the rows does not matter
    paths = {name: tmp_path / f"{name}.csv" for name in ("pairs", "estimates", "truth", "training")}
    for name, columns in (("pairs", 4), ("estimates", 3)):
        rows[["user", "item", "estimate", "rating"][:columns]].to_csv(paths[name], index=False)
    rows[["user", "item", "rating"]].to_csv(paths["truth"], index=False)
    ratings = Plan.from_config(CONFIG).ratings(0)[0].to_frame()
    held_out = (ratings["user"] + "\t" + ratings["item"]).isin(rows["user"] + "\t" + rows["item"])
    ratings[~held_out].to_csv(paths["training"], index=False)
    files = [paths["pairs"]] if alone else [paths["estimates"], "--truth", paths["truth"]]
    metrics = f"{NDCG}, {RMSE}"
    if alone:
        refused = cli.refused("evaluate", *files, "--metrics", metrics)
        assert f"{NDCG}: it needs training ratings (exposure, --training)" in refused
    said = cli.done("evaluate", *files, "--training", paths["training"], "--metrics", metrics)
    values = next(row.scores for row in made.info.rows if row.algorithm == "BaselineOnly")
    assert "180 ratings, worth" in said
    shown = said.splitlines()[1].split()[1:3]
    assert shown == [f"{values[label]:.6f}" for label in (NDCG, RMSE)]


def test_a_row_of_another_program_has_weights_too(tmp_path, cli):
    made = harness.run(CONFIG | {"name": "base", "candidates": "rated"}, results=tmp_path)
    rows = made.estimates[made.estimates["algorithm"] == "BaselineOnly"]
    path = tmp_path / "other.csv"
    rows[["user", "item", "estimate"]].to_csv(path, index=False)
    said = cli.done("evaluate", path, "--against", "base", "--results", tmp_path)
    one, other = (
        next(line.split()[1:5] for line in said.splitlines() if line.startswith(name))
        for name in ("BaselineOnly", "other")
    )
    assert one == other


def test_a_label_that_means_nothing_is_refused_before_the_run():
    with pytest.raises(errors.ConfigError, match="add weights=popularity"):
        run(metrics=["rmse(power=2)"])


COLUMN = ["ndcg(ties=first, weights=column)@10", "rmse(weights=column)"]


def with_items(propensity):
    """Return ratings with a propensity of each item, by a function of its place in the data."""
    ratings = Plan.from_config(CONFIG).ratings(0)[0]
    chances = [propensity(place) for place in range(ratings.n_items)]
    return harness.load(
        ratings, items=pd.DataFrame({"item": ratings.item_ids, "propensity": chances})
    )


def run_on(ratings, **changes):
    config = {key: value for key, value in CONFIG.items() if key != "dataset"}
    return harness.run(config | changes, ratings=ratings, results=None)


def test_propensities_of_items_can_be_a_column():
    ratings = with_items(lambda place: (place % 7 + 1) / 8)
    chance_of = {item: (place % 7 + 1) / 8 for place, item in enumerate(ratings.item_ids)}
    made = run_on(ratings, metrics=[*COLUMN, "rmse(weights=column, least=0.5)"])
    values = {row.algorithm: row.scores for row in made.info.rows}
    for algorithm, rows in made.estimates.groupby("algorithm"):
        chances = rows["item"].map(chance_of)
        last = rows["rank"].where(rows["rank"] > 0, 10**6)
        ranked = weighted_ndcg(rows["user"], rows["rating"], last, chances, 10)
        error = weighted_error(rows["estimate"], rows["rating"], chances)
        assert values[algorithm][COLUMN[0]] == pytest.approx(ranked.value, rel=1e-12)
        assert values[algorithm][COLUMN[1]] == pytest.approx(error.value, rel=1e-12)
    assert noted(made, "propensities-raised")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.0, "propensities: 0, the first of "),
        (1.5, "propensities: 1.5, the first of "),
        (None, "propensities: nan, the first of "),
    ],
)
def test_propensities_that_are_none_blank_the_metric_with_a_reason(value, said):
    ratings = with_items(lambda place: value if place % 2 else 0.5)
    made = run_on(ratings, metrics=["rmse", COLUMN[1]], outputs={})
    for cell in made.info.finished:
        assert said in cell.metric_errors[COLUMN[1]]
        assert cell.scores["rmse"].mean > 0


def test_a_column_that_is_missing_or_of_words_stops_the_run_before_it_begins():
    with pytest.raises(
        errors.MetricError, match=r"no column 'propensity' of items .nothing is kno"
    ):
        run(metrics=[COLUMN[1]])
    with pytest.raises(errors.MetricError, match=r"propensity of item .* is 'often'; write a numb"):
        run_on(with_items(lambda place: "often" if place else "1"), metrics=[COLUMN[1]])
    with pytest.raises(errors.ConfigError, match="a search has no column of items"):
        run(metrics=["rmse"], tuning={"metric": COLUMN[1]})
    rows = [{"name": "KNNBasic", "search": {"k": [2, 10]}}]
    plan = Plan.from_config(CONFIG | {"algorithms": rows, "metrics": COLUMN})
    assert plan.experiment.tuning.metric == "ndcg@10"


@pytest.fixture
def sampled(tmp_path):
    """A config in a folder of its own, with a file of ratings at random."""
    ratings = harness.load(CONFIG["dataset"]).to_frame()
    ratings.to_csv(tmp_path / "ratings.csv", index=False)
    grades = np.repeat(np.unique(ratings["rating"]), np.arange(1, ratings["rating"].nunique() + 1))
    columns = {"user": np.arange(len(grades)), "item": 1, "rating": grades}
    pd.DataFrame(columns).to_csv(tmp_path / "random.csv", index=False)
    path = tmp_path / "sampled.json"
    dataset = {"path": "ratings.csv", "at_random": "random.csv"}
    labels = [label.replace("popularity", "naive-bayes") for label in (NDCG, RMSE)]
    path.write_text(json.dumps(CONFIG | {"dataset": dataset, "metrics": labels}), encoding="utf-8")
    return path, labels, ratings, grades


def test_a_sample_at_random_gives_the_values_of_the_functions(sampled):
    path, (ndcg, rmse), ratings, grades = sampled
    made = harness.run(path, results=None)
    values = {row.algorithm: row.scores for row in made.info.rows}
    for algorithm, rows in made.estimates.groupby("algorithm"):
        chances = naive_bayes(rows["rating"], grades, rows["user"].nunique() * 40)
        shares = rows["rating"].value_counts(normalize=True)
        at_random = pd.Series(grades).value_counts(normalize=True)
        ratio = (at_random / shares)[rows["rating"]].to_numpy()
        errors = (rows["estimate"] - rows["rating"]) ** 2
        by_hand = math.sqrt((ratio * errors).sum() / ratio.sum())
        error = weighted_error(rows["estimate"], rows["rating"], chances)
        assert error.value == pytest.approx(by_hand, rel=1e-12)
        assert values[algorithm][rmse] == pytest.approx(by_hand, rel=1e-12)
        last = rows["rank"].where(rows["rank"] > 0, 10**6)
        ranked = weighted_ndcg(rows["user"], rows["rating"], last, chances, 10)
        assert values[algorithm][ndcg] == pytest.approx(ranked.value, rel=1e-12)
    assert ratings["item"].nunique() == 40
    said = dict(methods(made.info).paragraphs)["Metrics"]
    assert "with weights=naive-bayes the proportion of the rating's value in the test set" in said
    assert "weights=popularity" not in said


def test_loaded_data_can_have_a_sample_at_random(sampled):
    path, labels, ratings, grades = sampled
    data = harness.load(ratings, at_random=grades)
    config = CONFIG | {"metrics": labels, "dataset": "bundled"}
    loaded = harness.run(config, ratings=data, results=None)
    of_file = harness.run(path, results=None)
    for one, other in zip(loaded.info.rows, of_file.info.rows, strict=True):
        assert one.scores == other.scores
    assert data.fingerprint == harness.load(ratings).fingerprint
    assert harness.load(data, at_random=path.parent / "random.csv").at_random.tolist() == [*grades]
    assert data.bare().at_random is None


def test_a_sample_at_random_that_is_of_no_use_is_refused(sampled):
    path, (_, rmse), ratings, grades = sampled
    config = json.loads(path.read_text())
    with pytest.raises(errors.MetricError, match=r"no ratings at random; give a file of them"):
        run(metrics=[rmse])
    for values, message in (
        ([], "give one rating at least"),
        ([1.0, math.inf], "not a finite number; leave it out"),
        ("nothing.csv", "nothing.csv: no such file"),
    ):
        with pytest.raises(errors.DataError, match=message):
            harness.load(ratings, at_random=values)
    path.write_text(json.dumps(config | {"tuning": {"metric": rmse}}), encoding="utf-8")
    with pytest.raises(errors.ConfigError, match="a search has no ratings at random"):
        harness.run(path, results=None)
    absent = {"path": "ratings.csv", "at_random": "absent.csv"}
    path.write_text(json.dumps(config | {"dataset": absent}, indent=1), encoding="utf-8")
    with pytest.raises(errors.ConfigError, match=r"sampled\.json:\d+: .*absent\.csv"):
        harness.run(path, results=None)
    few = harness.load(ratings, at_random=[grades[0]])
    made = run_on(few, metrics=["rmse", rmse])
    for cell in made.info.finished:
        assert "in the sample at random; give a larger sample" in cell.metric_errors[rmse]
