"""Models by the names of algorithms, from any data, and from the files that they were saved in."""

import numpy as np
import pandas as pd
import pytest
import surprise

import harness
from harness.errors import AlgorithmError, DataError


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    pairs = rng.permutation(30 * 20)[:300]
    users, items = pairs // 20, pairs % 20
    columns = {"user": users.astype(str), "item": items.astype(str)}
    return pd.DataFrame(columns | {"rating": rng.integers(1, 6, 300).astype(float)})


def estimates(model):
    return harness.recommend(model, n=3)["estimate"].tolist()


def test_a_name_is_a_model_with_the_seed_0(frame):
    data = harness.load(frame)
    expected = estimates(harness.fit(surprise.SVD(random_state=0), data.to_surprise()))
    assert estimates(harness.fit("SVD", frame)) == expected
    assert estimates(harness.fit("svd", data)) == expected
    assert type(harness.fit("BaselineOnly", data)) is surprise.BaselineOnly


def test_data_are_what_load_takes(frame, tmp_path):
    frame.to_csv(path := tmp_path / "ratings.csv", index=False)
    expected = estimates(harness.fit("BaselineOnly", frame))
    for data in (path, str(path), {"path": str(path)}, harness.load(frame)):
        assert estimates(harness.fit("BaselineOnly", data)) == expected
    model = surprise.BaselineOnly(verbose=False)
    assert harness.fit(model, frame) is model


def test_an_unknown_name_or_no_ratings_is_refused(frame):
    with pytest.raises(AlgorithmError, match="unknown algorithm 'SDV'; did you mean 'SVD'"):
        harness.fit("SDV", frame)
    with pytest.raises(DataError, match="3 is not ratings; give"):
        harness.fit("SVD", 3)


def test_a_saved_model_recommends(frame, tmp_path):
    model = harness.fit("SVD", frame)
    harness.save_model(model, path := tmp_path / "model.zip")
    expected = harness.recommend(model, n=2)
    for file in (path, str(path)):
        pd.testing.assert_frame_equal(harness.recommend(file, n=2), expected)
    blocks = harness.recommend_in_blocks(path, n=2)
    pd.testing.assert_frame_equal(pd.concat(blocks, ignore_index=True), expected)
    with pytest.raises(AlgorithmError, match="cannot be read"):
        harness.recommend(tmp_path / "none.zip")


@pytest.mark.parametrize("source", ["quickstart", "my.yaml"])
def test_a_run_or_a_config_is_sent_to_what_fits_it(source):
    with pytest.raises(AlgorithmError, match=f"harness.fit_row.'{source}'. fits a row first"):
        harness.recommend(source)


def test_a_saved_model_recommends_in_a_shell(call, frame, tmp_path):
    model = harness.fit("SVD", frame)
    harness.save_model(model, path := tmp_path / "model.zip")
    printed = call.done("recommend", path, "--top", 2).splitlines()
    assert printed == harness.recommend(model, n=2).to_csv(index=False).splitlines()
    said = call.refused("recommend", path, "--metric", "rmse")
    assert "--metric: " in said
    assert "is a saved model; leave the option out" in said


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("1", r"ratings is '1' \(str\); give users=\['1'\] for a user of the training set"),
        (5, r"ratings is 5 \(int\); give n=5 for so many items a user"),
        ([1], r"give a mapping of items to ratings of a new user"),
    ],
)
def test_what_stands_in_place_of_ratings_is_told_where_it_belongs(frame, given, said):
    with pytest.raises(AlgorithmError, match=said):
        harness.recommend(harness.fit("BaselineOnly", frame), given)
