"""Rankings from recommendation frames, lists and files, with users on one side only."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import metrics, rankings
from harness.errors import HarnessError, MetricError

ids = st.sampled_from(["a", "b", "c", "d", "e"])


def scores(labels, lists):
    found = metrics.score(metrics.parse_many(labels), lists)
    return {str(metric): each.per_user.tolist() for metric, each in found.items()}


@settings(max_examples=min(200, 4 * settings().max_examples), deadline=None)  # all in a search
@given(
    predicted=st.lists(st.lists(ids, unique=True, max_size=5), min_size=1, max_size=4),
    data=st.data(),
)
def test_lists_and_frames_say_the_same(predicted, data):
    n = len(predicted)
    grades = st.dictionaries(ids, st.sampled_from([0.0, 1.0, 3.0]), max_size=5)
    labels = data.draw(st.lists(grades, min_size=n, max_size=n))
    lists = rankings.from_lists(predicted, labels)
    rows = [(u, i, r) for u, each in enumerate(predicted) for r, i in enumerate(each, start=1)]
    known = [(u, i, g) for u, each in enumerate(labels) for i, g in each.items()]
    if rows and known:
        rows = data.draw(st.permutations(rows))
        reco = pd.DataFrame(rows, columns=["user_id", "item_id", "rank"])
        truth = pd.DataFrame(known, columns=["user_id", "item_id", "weight"])
        frames = rankings.from_recommendations(reco, truth)
        kept = np.isin(np.arange(n), frames.users)
        wanted = ["ndcg(gain=linear)@3", "ap@3", "precision@3"]
        for left, right in zip(
            scores(wanted, lists).values(), scores(wanted, frames).values(), strict=True
        ):
            assert np.array(left)[kept].tolist() == pytest.approx(right, nan_ok=True)
    for user, (items, relevance) in enumerate(zip(predicted, labels, strict=True)):
        span = slice(lists.offsets[user], lists.offsets[user + 1])
        expected = [(r, relevance[i]) for r, i in enumerate(items, start=1) if i in relevance]
        assert list(zip(lists.rank[span], lists.relevance[span], strict=True)) == expected
        assert lists.n_ranked[user] == len(items)


def test_a_user_on_one_side_only_follows_the_stated_rule():
    lists = rankings.from_recommendations(
        {"user_id": [1, 2], "item_id": ["x", "x"], "score": [0.5, 0.5]},
        {"user_id": [1, 3], "item_id": ["x", "x"]},
    )
    assert lists.users.tolist() == [1, 2, 3]
    found = scores("ndcg@5,ndcg(undefined=1, empty=nan)@5", lists)
    assert found["ndcg@5"] == pytest.approx([1.0, math.nan, 0.0], nan_ok=True)
    assert found["ndcg(undefined=1, empty=nan)@5"] == pytest.approx([1, 1, math.nan], nan_ok=True)


@settings(max_examples=min(150, 4 * settings().max_examples), deadline=None)  # all in a search
@given(
    scored=st.dictionaries(st.tuples(st.integers(0, 2), ids), st.integers(0, 2), min_size=1),
    judged=st.dictionaries(st.tuples(st.integers(0, 2), ids), st.integers(0, 4), min_size=1),
    names=st.permutations(["v", "w", "x", "y", "z"]),
    random=st.randoms(use_true_random=False),
)
def test_renaming_items_and_the_order_of_rows_change_no_score(scored, judged, names, random):
    def lists_of(rename, shuffled):
        frames = []
        for cells, column in ((scored, "score"), (judged, "weight")):
            rows = [(user, rename[item], each) for (user, item), each in cells.items()]
            if shuffled:
                random.shuffle(rows)
            frames.append(pd.DataFrame(rows, columns=["user_id", "item_id", column]))
        return rankings.from_recommendations(*frames)

    wanted = "ndcg@3,ap@3,rr,err(max=4)@3,recall@2,auc,user_coverage@2"
    old = scores(wanted, lists_of({name: name for name in "abcde"}, shuffled=False))
    new = scores(wanted, lists_of(dict(zip("abcde", names, strict=True)), shuffled=True))
    for label, values in old.items():
        assert new[label] == pytest.approx(values, rel=1e-12, nan_ok=True), label


RECO = {"user_id": [1, 1], "item_id": [7, 8], "rank": [1, 2]}
TRUTH = {"user_id": [1], "item_id": [8]}


def test_what_recommend_returns_is_taken_as_it_is():
    reco = {"user": ["a", "a", "b"], "item": ["x", "y", "x"], "rank": [1, 2, 1]}
    ratings = {"user": ["a", "b"], "item": ["y", "z"], "rating": [4.0, 5.0]}
    usual = dict(zip(("user_id", "item_id", "rank"), reco.values(), strict=True))
    truth = dict(zip(("user_id", "item_id", "weight"), ratings.values(), strict=True))
    expected = rankings.from_recommendations(usual, truth)
    for frame in (reco | {"estimate": [4.0, 4.0, 4.0]}, pd.DataFrame(reco)):
        found = rankings.from_recommendations(frame, ratings)
        for name, value in vars(expected).items():
            np.testing.assert_array_equal(getattr(found, name), value)
    by_estimate = {"user": ["a", "a"], "item": ["y", "x"], "estimate": [1.0, 2.0]}
    lists = rankings.from_recommendations(by_estimate, ratings)
    assert (lists.rank.tolist(), lists.relevance.tolist()) == ([2], [4.0])


@pytest.mark.parametrize(
    ("reco", "truth", "message"),
    [
        (RECO | {"rank": [1, 3]}, TRUTH, "the ranks of user 1 are not 1, 2, 3.*number them again"),
        (RECO | {"rank": [1, 1]}, TRUTH, "the ranks of user 1 are not"),
        (RECO | {"item_id": [7, 7]}, TRUTH, "recommendations: item 7 comes twice for user 1"),
        (RECO, {"user_id": [1, 1], "item_id": [8, 8]}, "truth: item 8 comes twice for user 1"),
        ({"user_id": [1], "item_id": [7]}, TRUTH, "neither a column 'rank' nor 'score'; add one"),
        (
            {"person": [1], "item_id": [7], "rank": [1]},
            TRUTH,
            "recommendations: no column 'user_id' among person, it",
        ),
        (RECO, {"user_id": [None], "item_id": [8]}, "truth: row 1: an id is missing; drop or name"),
        (RECO, TRUTH | {"weight": [math.nan]}, "truth: user 1, item 8: nan is not finite"),
        (RECO | {"rank": [1, "x"]}, TRUTH, "rank: could not convert"),
        (
            RECO,
            {"user_id": ["1"], "item_id": [8]},
            "ids are text on one side, such as '1', and numbers",
        ),
        (RECO | {"rank": [1]}, TRUTH, "recommendations: columns of 2, 2, 1 rows"),
        (RECO | {"item_id": {1, 2}}, TRUTH, "column 'item_id': a set; give a list or an array"),
        (RECO | {"item_id": [[1], [1, 2]]}, TRUTH, "'item_id': several values in a row; give a"),
        (RECO | {"rank": [[1, 2]]}, TRUTH, "'rank': several values in a row; give a list"),
        (None, TRUTH, "recommendations is None; give a pandas.DataFrame or a mapping"),
        (RECO, None, "interactions is None; give a pandas.DataFrame or a mapping"),
        ({"user_id": [], "item_id": [], "rank": []}, {"user_id": [], "item_id": []}, "no row"),
    ],
)
def test_frames_that_do_not_fit_are_refused(reco, truth, message):
    with pytest.raises(MetricError, match=message):
        rankings.from_recommendations(reco, truth)


def test_lists_of_unequal_number_are_refused():
    with pytest.raises(MetricError, match="2 lists of predictions and 1 of labels; give one"):
        rankings.from_lists([[1], [2]], [[1]])
    with pytest.raises(MetricError, match="there is no user; give at least one"):
        rankings.from_lists([], [])
    with pytest.raises(
        MetricError, match=r"from_lists: predictions is \[1, 2\] \(list\); give a list"
    ):
        rankings.from_lists([1, 2], [1, 2])
    with pytest.raises(MetricError, match="from_lists: labels is None; give a list"):
        rankings.from_lists([[1]], None)


def test_a_ragged_matrix_is_refused():
    with pytest.raises(MetricError, match="scores: rows of different lengths; give rows of one"):
        rankings.from_matrix([[1, 2]], [[1, 2], [1]])


def test_ids_of_more_than_64_bits_are_ids():
    assert rankings.from_lists([[2**64, 3]], [{2**64: 2.0}]).relevance.tolist() == [2.0]


def write(path, text):
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_a_table_of_pairs_gives_rankings_and_pairs(tmp_path):
    frame = pd.DataFrame({"UserID": [2, 1, 2], "est": [1.0, 2.0, 3.0], "Rating": [4, 5, 3]})
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_csv(tmp_path / "a.tsv", index=False, sep="\t")
    frame.to_parquet(tmp_path / "a.parquet")
    for name in ("a.csv", "a.tsv", "a.parquet"):
        evidence = rankings.read(tmp_path / name)
        assert evidence.rankings.users.tolist() == ["1", "2"]
        assert evidence.rankings.relevance.tolist() == [5.0, 3.0, 4.0]
        assert evidence.pairs.estimates.tolist() == [2.0, 1.0, 3.0]
        assert evidence.exposure is None


def test_training_ratings_make_items_known(tmp_path):
    path = write(
        tmp_path / "a.csv", "user,item,estimate,rating\nu,x,3,4\nu,y,2,5\nv,x,3,3\nv,z,9,1\n"
    )
    training = write(tmp_path / "t.csv", "user,item\nu,z\nv,y\nw,x\nw,q\n")
    evidence = rankings.read(path, training=training)
    found = metrics.score(metrics.parse_many("item_coverage@1,popularity@2,ndcg@2,rmse"), *evidence)
    coverage, popularity, *_ = found.values()
    assert coverage.mean == 2 / 4
    assert popularity.per_user.tolist() == [1.0, 1.0]
    assert evidence.exposure.list_users.tolist() == [0, 1]


def test_a_run_is_ordered_as_trec_eval_orders_it(tmp_path):
    run = write(tmp_path / "a.run", "q1 Q0 a 1 0.5 me\nq1 Q0 b 2 0.5 me\n\nq2 Q0 a 1 7 me\n")
    truth = write(tmp_path / "a.qrels", "q1 0 b 2\nq3 0 a 1\n")
    lists = rankings.read(run, truth).rankings
    assert lists.users.tolist() == ["q1", "q2", "q3"]
    assert (lists.rank.tolist(), lists.tie_low.tolist(), lists.tie_high.tolist()) == ([1], [1], [2])
    assert lists.top_items.tolist() == [[1, 0], [0, -1], [-1, -1]]
    assert scores("rr(ties=first, undefined=0)", lists)["rr(ties=first, undefined=0)"] == [1, 0, 0]


def test_recommendations_with_ranks_and_a_truth_without_ratings(tmp_path):
    path = write(tmp_path / "a.csv", "user,item,rank\n1,7,2\n1,07,3\n1,8,1\n01,7,1\n")
    truth = write(tmp_path / "t.csv", "user,item\n1,7\n")
    lists = rankings.read(path, truth).rankings
    assert lists.users.tolist() == ["01", "1"]
    assert (lists.rank.tolist(), lists.relevance.tolist()) == ([2], [1.0])


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "user,est\n1,2\n", "a.csv:1: no column for the rating among user, est; call the"),
        ("a.csv", "est,rating\n1,2\n", "a.csv:1: no column for the user among est, rating"),
        ("a.csv", "user,uid,est,rating\n1,1,1,2\n", "both 'user' and 'uid' may be the user"),
        (
            "a.csv",
            "user,est,rating\n1,,2\n,1,nan\n",
            r"a.csv:2: no est.*\n.*:3: no user and no rat",
        ),
        (
            "a.xls",
            b"\xd0\xcf\x11\xe0",
            "a.xls: (a workbook needs python-calamine|not a workbook that can be read)",
        ),
        ("a.run", "q1 Q0 a 1 0.5\n", "a.run:1: 5 fields; a line must be query Q0 document rank"),
        ("a.run", b"\xff\xfe\x00", "a.run: not utf-16"),
        ("", "", "none.csv: no such file in .*; check the path"),
    ],
)
def test_a_file_that_cannot_be_used_says_where(tmp_path, name, text, message):
    path = write(tmp_path / name, text) if name else tmp_path / "none.csv"
    with pytest.raises(HarnessError, match=message):
        rankings.read(path)


def test_a_path_may_begin_at_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    write(tmp_path / "a.csv", "user,est,rating\n1,2,3\n")
    assert rankings.read(Path("~/a.csv")).pairs.n_users == 1


def test_a_truth_without_items_says_so(tmp_path):
    path = write(tmp_path / "a.csv", "user,item,rank\n1,7,1\n")
    truth = write(tmp_path / "t.csv", "user,rating\n1,7\n")
    with pytest.raises(HarnessError, match=r"t.csv:1: no column for the item among user, rating"):
        rankings.read(path, truth)


def test_columns_have_the_names_that_ratings_may_have(tmp_path):
    truth = write(tmp_path / "truth.csv", "customer_id,product,stars\n1,a,5\n1,b,2\n")
    lists = write(tmp_path / "lists.csv", "customer,sku,score\n1,b,0.5\n1,a,0.1\n")
    found = rankings.read(lists, truth)
    assert found.rankings.relevance.tolist() == [2.0, 5.0]
