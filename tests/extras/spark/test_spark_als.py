"""MLlib's least squares behind the harness: its factors, its metrics, the published protocol."""

import io
import tarfile
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import harness
from harness.algorithms import registry
from harness.algorithms.trainset import ColumnTrainset
from harness.datasets.catalogue import CATALOGUE
from harness.errors import AlgorithmError
from harness.extras.reproduce import published, trained_runs
from harness.extras.spark.als import SparkALS, number_by_name
from harness.models import estimates as models

pytestmark = [
    pytest.mark.spark,
    pytest.mark.usefixtures("spark"),  # which the harness finds
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore:.*deprecated.*:FutureWarning"),
]

MEMBER = "lastfm-dataset-360K/usersha1-artmbid-artname-plays.tsv"


def test_a_library_counts_among_the_versions_of_its_algorithm_alone():
    assert list(registry.library_versions(["SVD", "spark-als"])) == ["pyspark"]


def draw_plays(n_users=60, n_artists=90, seed=0):
    """Return plays with a long tail, users sorted by name as in the published file."""
    rng = np.random.default_rng(seed)
    weights = 1.0 / np.arange(1, n_artists + 1)
    rows = []
    for user in range(n_users):
        n = int(rng.integers(1, 25))
        chosen = rng.choice(n_artists, n, replace=False, p=weights / weights.sum())
        rows += [(f"{user:040x}", f"artist {item}", int(rng.geometric(0.02))) for item in chosen]
    return pd.DataFrame(rows, columns=["user", "artist", "plays"])


def trainset_of(plays):
    users, items = pd.factorize(plays["user"]), pd.factorize(plays["artist"])
    return ColumnTrainset.from_columns(
        users[0],
        items[0],
        plays["plays"].to_numpy(float),
        user_ids=np.asarray(users[1], dtype=object),
        item_ids=np.asarray(items[1], dtype=object),
        scale=(1.0, float(plays["plays"].max())),
    )


class TestFactors:
    @pytest.mark.parametrize("implicit", [False, True])
    def test_solve_the_least_squares_that_are_documented(self, implicit):
        options = {"implicit": implicit, "alpha": 0.1, "random_state": 5}
        model = SparkALS(n_factors=4, n_epochs=3, reg=0.2, **options)
        models.fit(model, trainset_of(draw_plays()))
        lists = model.trainset.by_user
        for user in range(model.trainset.n_users):
            rows = slice(lists.offsets[user], lists.offsets[user + 1])
            rated, plays = lists.ids[rows], lists.ratings[rows]
            if implicit:
                confidence = np.ones(model.trainset.n_items)
                confidence[rated] += 0.1 * plays
                liked = np.zeros(model.trainset.n_items)
                liked[rated] = 1.0
                vectors = model.qi
            else:
                confidence, liked, vectors = np.ones(len(rated)), plays, model.qi[rated]
            weighted = vectors * confidence[:, None]
            ridge = 0.2 * len(rated) * np.eye(4)
            best = np.linalg.solve(weighted.T @ vectors + ridge, weighted.T @ liked)
            np.testing.assert_allclose(model.pu[user], best, rtol=2e-3, atol=2e-3)

    def test_the_same_seed_gives_the_same_bytes_and_another_does_not(self):
        trainset, found = trainset_of(draw_plays()), []
        for seed in (1, 1, 2):
            model = SparkALS(n_epochs=3, random_state=seed)
            models.fit(model, trainset)
            found.append(model.pu.tobytes() + model.qi.tobytes())
        assert found[0] == found[1] != found[2]

    def test_a_user_with_one_artist_has_some_too(self):
        lonely = pd.DataFrame({"user": ["f" * 40], "artist": ["artist 0"], "plays": [7]})
        model = SparkALS(n_factors=2, n_epochs=2, random_state=0)
        models.fit(model, trainset_of(pd.concat([draw_plays(), lonely])))
        assert model.known_users.all()
        assert not model.predict("f" * 40, "artist 1").details["was_impossible"]

    def test_what_spark_refuses_is_told_in_one_line(self):
        model = SparkALS(n_factors=2, n_epochs=2, reg=0.0, random_state=0)
        with pytest.raises(
            AlgorithmError, match=r"^spark-als: Spark failed \(.*raise reg"
        ) as raised:
            models.fit(model, trainset_of(draw_plays().head(3)))
        assert "\n" not in str(raised.value)


def test_names_are_numbered_as_categories_of_pandas_are():
    names = pd.Series(["b", "ä", "B", "a b", "1", "10", "2"])
    expected = names.astype("category").cat.codes.tolist()
    assert number_by_name(names.to_numpy(dtype=object)).tolist() == expected


def by_the_script(spark, text, n_users, n_artists):
    """Return the published script's number: its steps, on a file of its format."""
    from pyspark.ml.recommendation import ALS
    from pyspark.mllib.evaluation import RankingMetrics

    frame = pd.read_table(io.BytesIO(text))
    frame = frame.drop(frame.columns[1], axis=1)
    frame.columns = pd.Index(["name", "artist", "rating"])
    frame = frame.dropna()
    frame["user"] = frame["name"].astype("category").cat.codes.astype("int32")
    frame["item"] = frame["artist"].astype("category").cat.codes.astype("int32")
    part = frame[frame["user"].isin(frame["user"].unique()[:n_users])]
    if n_artists is not None:
        totals = frame.groupby("item")["rating"].sum().sort_values(ascending=False)
        part = part[part["item"].isin(totals.index[:n_artists])]
    columns = part[["user", "item", "rating"]].astype({"rating": "float32"})
    model = ALS(
        rank=10, seed=123, maxIter=5, regParam=0.1, userCol="user", itemCol="item",
        ratingCol="rating", coldStartStrategy="drop",
    ).fit(spark.createDataFrame(columns).coalesce(1))  # fmt: skip
    lists = {
        row["user"]: [each["item"] for each in row["recommendations"]]
        for row in model.recommendForAllUsers(10).collect()
    }
    labels = columns.groupby("user")["item"].apply(list)
    pairs = [(lists[user], labels[user]) for user in labels.index]
    return float(RankingMetrics(spark.sparkContext.parallelize(pairs)).ndcgAt(10))


class TestPublishedProtocol:
    @pytest.fixture
    def text(self):
        lines = draw_plays(80)
        odd = {7: '"quoted" name', 9: '"unclosed', 40: 'closed" again', 60: "NA"}
        artists = [odd.get(row, artist) for row, artist in enumerate(lines["artist"])]
        columns = zip(lines["user"], artists, lines["plays"], strict=True)
        return "".join(f"{u}\tmbid\t{a}\t{n}\n" for u, a, n in columns).encode()

    @pytest.fixture
    def archive(self, text, tmp_path, monkeypatch):
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w:gz") as packed:
            info = tarfile.TarInfo(MEMBER)
            info.size = len(text)
            packed.addfile(info, io.BytesIO(text))
        path = tmp_path / "data" / "lastfm-dataset-360K.tar.gz"
        path.parent.mkdir()
        path.write_bytes(buffer.getvalue())
        monkeypatch.setenv("HARNESS_DATA", str(path.parent))
        what = replace(CATALOGUE["lastfm-360k"], md5=None, member_md5=None)
        monkeypatch.setitem(CATALOGUE, "lastfm-360k", what)
        return path

    @pytest.mark.usefixtures("archive")
    @pytest.mark.parametrize(("n_users", "n_artists"), [(30, None), (30, 25), (10_000, 5_000)])
    def test_gives_what_the_script_gives(self, spark, text, n_users, n_artists: int | None):
        filters = [{"kind": "first-users", "n": n_users}]
        if n_artists is not None:
            filters.insert(0, {"kind": "top-items", "n": n_artists, "by": "sum"})
        label = "ndcg(gain=binary, undefined=0)@10"
        params = {"n_factors": 10, "n_epochs": 5, "reg": 0.1, "random_state": 123}
        done = harness.run(
            {
                "dataset": {"name": "lastfm-360k", "like": "pandas"},
                "filters": filters,
                "split": "own-training",
                "candidates": {"kind": "catalogue", "training_items": "keep"},
                "algorithms": [{"name": "spark-als", "params": params}],
                "metrics": [label],
                "clip": False,
                "baselines": False,
                "statistics": None,
            },
            results=None,
        )
        expected = by_the_script(spark, text, n_users, n_artists)
        assert expected > 0
        assert done.info["cells"][0]["scores"][label]["mean"] == pytest.approx(expected, abs=1e-12)
        assert "own-training" in {note.code for note in done.info["notes"]}
        assert set(done.table["split"]) == {"own training data"}

    @pytest.mark.usefixtures("archive")
    def test_is_computed_for_the_published_values_where_the_file_is(self, spark, text: bytes):
        tables = [
            each for each in published("singh-2025") if each.what.startswith("implicit table")
        ]
        runs = trained_runs()
        here = [runs[each.source, each.what](each) for each in tables]
        expected = [by_the_script(spark, text, 10_000, n) for n in (None, 5_000)]
        assert here == pytest.approx(expected, abs=1e-12)
