"""What a source says of a fitted model is what plain Surprise gives for the same ratings."""

import math

import numpy as np
import pandas as pd
import pytest
import surprise
from surprise.model_selection import train_test_split

from harness import datasets
from harness.errors import DownloadError
from harness.extras.reproduce import Quantity, compare, published, reproduce, sources, trained_runs
from harness.extras.reproduce.models import of_models

RATINGS = [
    (f"{user}", f"{item}", float(1 + (user * item + user // 3 + item // 2) % 5))
    for user in range(1, 31)
    for item in range(100, 125)
    if (user * 7 + item * 3) % 4
]


@pytest.fixture(scope="module")
def ratings():
    columns = zip(*RATINGS, strict=True)
    return datasets.Ratings.from_columns(*map(list, columns), scale=(1, 5))


@pytest.fixture(scope="module")
def data():
    return surprise.Dataset.load_from_df(pd.DataFrame(RATINGS), surprise.Reader())


def model_of(data, algorithm):
    return algorithm.fit(data.build_full_trainset())


def quantity(**keys):
    return Quantity(source="s", what="x", **keys)


def test_an_estimate_of_a_pair_and_how_many_neighbours_gave_it(ratings, data):
    model = model_of(data, surprise.KNNBasic(verbose=False))
    for pair in (["3", "101"], ["3", "124"], ["nobody", "101"]):
        asked = quantity(
            config="surprise-start", algorithm="KNNBasic", pair=pair, expected={"est": 0.0}
        )
        here = of_models(ratings)(asked)
        plain = model.predict(*pair)
        assert here["est"] == pytest.approx(plain.est, abs=1e-12)
        assert here.get("actual_k") == plain.details.get("actual_k")
        alone = of_models(ratings)(asked.model_copy(update={"expected": 0.0}))
        assert alone == here["est"]


def test_the_best_unrated_items_are_in_the_order_of_the_data_where_estimates_are_equal(
    ratings, data
):
    model = model_of(data, surprise.KNNBasic(k=50, sim_options={"name": "cosine"}, verbose=False))
    rated = {item for user, item, _ in RATINGS if user == "3"}
    order = dict.fromkeys(item for _, item, _ in RATINGS)
    unrated = [item for item in order if item not in rated]
    best = sorted(unrated, key=lambda item: model.predict("3", item).est, reverse=True)
    asked = quantity(config="segura", algorithm="KNNBasic", best_of="3", expected=[0] * 5)
    assert of_models(ratings)(asked) == [int(item) for item in best[:5]]


def test_neighbours_are_of_an_id_or_of_an_inner_id(ratings, data):
    model = model_of(data, surprise.KNNBasic(verbose=False))
    asked = quantity(
        config="surprise-start", algorithm="KNNBasic", neighbours_of="7", expected=[0] * 4
    )
    trainset = model.trainset
    near = model.get_neighbors(trainset.to_inner_uid("7"), 4)
    ids = [int(trainset.to_raw_uid(user)) for user in near]
    assert of_models(ratings)(asked) == ids
    inner = asked.model_copy(update={"inner_ids": True})
    assert of_models(ratings)(inner) == model.get_neighbors(7, 4) != ids


def test_similarities_are_those_of_the_training_part(ratings, data):
    train, _ = train_test_split(data, test_size=0.2, random_state=10)
    options = {"name": "pearson_baseline", "min_support": 20, "shrinkage": 100}
    model = surprise.KNNBasic(k=30, sim_options=options, verbose=False).fit(train)
    asked = quantity(config="caiwanxian", algorithm="KNNBasic", similarities=3, expected=[0.0] * 3)
    expected = [model.sim[0, 1], model.sim[0, 2], model.sim[1, 2]]
    assert of_models(ratings)(asked) == pytest.approx(expected, abs=1e-12)


def test_the_rmse_of_an_anti_test_set_is_that_of_surprise(ratings, data):
    model = model_of(data, surprise.KNNBasic(k=50, sim_options={"name": "cosine"}, verbose=False))
    predictions = model.test(model.trainset.build_anti_testset())
    expected = surprise.accuracy.rmse(predictions, verbose=False)
    asked = quantity(config="segura", algorithm="KNNBasic", anti_test=True, expected=0.0)
    assert of_models(ratings)(asked) == pytest.approx(expected, abs=1e-12)


def test_data_that_cannot_be_had_are_a_reason_and_no_value(monkeypatch):
    def fail(*arguments, **options):
        raise DownloadError("ml-100k: could not be fetched\n  every source failed")

    monkeypatch.setattr("harness.experiment.plan.Plan.from_config", fail)
    findings = reproduce("segura", trained_runs())
    assert {finding.verdict for finding in findings} == {"not run"}
    assert {finding.note for finding in findings} == {"ml-100k: could not be fetched"}


def test_errors_of_numbers_are_those_of_their_formulas():
    found = {finding.quantity: finding for finding in reproduce("recommenders-tests")}
    estimates = np.array([14, 12, 7, 8, 13, 6, 11, 5.0])
    truth = np.array([3, 3, 5, 5, 3, 3, 2, 1.0])
    errors = truth - estimates
    assert found["rmse"].here == pytest.approx(math.sqrt((errors**2).mean()), abs=1e-12)
    assert found["mae"].here == pytest.approx(abs(errors).mean(), abs=1e-12)
    assert found["rsquared"].here == pytest.approx(1 - (errors**2).mean() / truth.var(), abs=1e-12)
    assert found["exp_var"].here == pytest.approx(1 - errors.var() / truth.var(), abs=1e-12)
    cut = [name for name, finding in found.items() if finding.verdict == "truncated"]
    assert cut == ["NDCG@10", "MAP@10", "precision@10", "recall@10"]


def test_every_erratum_of_an_estimate_has_another_right_value():
    for each in published():
        for name, (wrong, why) in each.errata.items():
            right = each.expected if name == "" else None
            assert why
            if isinstance(right, float) and not math.isnan(right):
                (finding,) = compare(each, right)
                assert (finding.verdict, finding.published) == ("erratum", wrong)
                (finding,) = compare(each, wrong)
                assert finding.verdict == "differs"


def test_there_are_more_than_twenty_sources_each_with_values():
    assert len(sources()) > 20
    assert {quantity.source for quantity in published()} == {*sources()}


@pytest.mark.long
def test_a_course_on_the_bundled_ratings_is_equal_to_the_last_digit():
    runs = trained_runs()
    findings = reproduce("great-learning", runs)
    assert len(findings) == 31
    assert {finding.verdict for finding in findings} == {"equal"}
    of_inner_id = next(each for each in published("great-learning") if each.inner_ids)
    of_user = of_inner_id.model_copy(update={"inner_ids": False})
    expected = [343, 465, 11, 186, 46]  # as the page of errata has them
    assert runs[of_inner_id.source, of_inner_id.what](of_user) == expected
