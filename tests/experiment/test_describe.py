"""What data and splits are like, against plain pandas, and warnings where they cannot answer."""

import json
import re

import numpy as np
import pandas as pd
import pytest

import harness
from harness.errors import ConfigError, DataError, SplitError
from harness.report.page import build_page, linked

CONFIG = {
    "dataset": {"synthetic": {"n_users": 60, "n_items": 80, "n_ratings": 900}},
    "split": ["kfold", {"kind": "kfold", "random_state": 1}, "global-time", "leave-n-out"],
    "candidates": ["rated", "catalogue"],
    "algorithms": ["SVD"],
    "metrics": ["ndcg@5,10"],
}


def gini(counts):
    """Twice the area between the Lorenz curve and the diagonal."""
    shares = np.concatenate([[0], np.cumsum(np.sort(counts))]) / counts.sum()
    return 1 - (shares[1:] + shares[:-1]).sum() / len(counts)


def test_counts_are_those_of_pandas():
    ratings = harness.load("bundled")
    frame = ratings.to_frame()
    (found,) = harness.describe(ratings)
    of_user, of_item = (frame.groupby(key).size() for key in ("user", "item"))
    sizes = (len(frame), len(of_user), len(of_item))
    assert (found.n_ratings, found.n_users, found.n_items) == sizes
    assert found.density == pytest.approx(len(frame) / (len(of_user) * len(of_item)))
    expected = frame["rating"].value_counts().to_dict()
    assert {float(k): n for k, n in found.histogram.items()} == expected
    assert list(found.per_user.values()) == pytest.approx(
        of_user.quantile([0, 0.1, 0.25, 0.5, 0.75, 0.9, 1]).tolist()
    )
    assert found.gini_users == pytest.approx(gini(of_user.to_numpy()))
    assert found.gini_items == pytest.approx(gini(of_item.to_numpy()))
    assert found.singles_items == (of_item == 1).sum()
    by_user = frame.groupby("user")["rating"]
    assert found.distinct_per_user == by_user.nunique().median()
    assert found.constant_users == pytest.approx((by_user.nunique() == 1)[of_user > 1].mean())
    days = pd.to_datetime(frame["timestamp"], unit="s").dt.date.astype(str)
    assert found.span == [days.min(), days.max()]
    assert (found.mean, found.median) == (frame["rating"].mean(), frame["rating"].median())


@pytest.mark.long
def test_splits_are_those_of_the_run():
    (found,) = harness.describe(CONFIG)
    run = harness.run(CONFIG, results=None)
    made = {split.split: split for split in run.info.splits if split.fold == 0}
    assert [split.name for split in found.splits] == list(made)
    for split in found.splits:
        assert (split.n_train, split.n_test) == (made[split.name].n_train, made[split.name].n_test)
        assert split.notes == made[split.name].notes
    last = found.splits[-1]
    assert last.per_user == dict.fromkeys(last.per_user, 1.0)
    assert (last.short, last.equal) == ({"5": 1.0, "10": 1.0}, 1.0)
    text = str(found)
    assert f"{last.name}: 100% (k = 5), 100% (k = 10) of the test users have at most k" in text
    assert "100% of the test users have equal test ratings" in text
    narrow, *_ = found.text(40).partition(f"\n{found.splits[0].name}\n")
    assert max(map(len, narrow.splitlines())) <= 40
    for name, n in found.per_user.items():
        assert re.search(rf"^{name} +{n:,.0f} +{found.per_item[name]:,.0f}$", narrow, re.M)
    assert found.text(0) == found.text(1)


@pytest.mark.long
def test_a_run_keeps_what_its_data_are_like_and_the_page_shows_it(tmp_path):
    small = CONFIG | {"name": "small", "metrics": ["ndcg@10"]}
    harness.run(small, results=tmp_path)
    run = harness.read_run(tmp_path / "small")
    (kept,), (found,) = run.info.descriptions, harness.describe(small)
    for each in (found, *found.splits):  # notes are those of the run
        each.notes = []
    assert kept == found
    page = " ".join(build_page([run]).split())
    assert f"<dd>{found.facts()['ratings']}</dd>" in page
    shares = [f">{100 * n / 900:.0f}%</text>" for n in found.histogram.values()]
    assert all(share in page for share in shares)
    assert all(f"<li>{linked(warning)}</li>" in page for warning in found.warnings)


@pytest.mark.parametrize(
    ("rows", "split", "message"),
    [
        (["a,x,4"], "holdout", "no training rating is left of 1; change the sizes"),
        (["a,x,4", "a,y,2", "b,x,1"], {"kind": "leave-n-out", "n": 1}, "1 user has fewer than 2"),
    ],
)
def test_data_that_a_split_cannot_divide_are_named(tmp_path, rows, split, message):
    (tmp_path / "r.csv").write_text("\n".join(["user,item,rating", *rows]))
    assert str(harness.describe(tmp_path / "r.csv")[0])
    with pytest.raises(SplitError, match=message):
        harness.describe(CONFIG | {"dataset": str(tmp_path / "r.csv"), "split": split})
    with pytest.raises(ConfigError, match="config: algorithms: missing; add it"):
        harness.describe({"dataset": str(tmp_path / "r.csv")})


def test_one_of_everything_is_counted_in_words():
    frame = pd.DataFrame({"user": ["u", "u"], "item": ["x", "y"], "rating": [4, 5]})
    config = CONFIG | {"dataset": "bundled", "split": {"kind": "holdout", "test_size": 1}}
    text = str(harness.describe(config, ratings=frame)[0])
    assert "1 training and 1 test rating\n  1 test user, 0.0% of them" in text


def test_unknown_users_and_items_are_counted_and_warned_of(tmp_path):
    rows = [(f"u{u}", f"i{i}", (u + i) % 5 + 1, 1000 * u + i) for u in range(20) for i in range(8)]
    frame = pd.DataFrame(rows, columns=["user", "item", "rating", "timestamp"])
    config = CONFIG | {"dataset": "bundled", "split": {"kind": "global-time", "quantile": 0.5}}
    (found,) = harness.describe(config, ratings=frame)
    (split,) = found.splits
    assert split.unknown_users == 1.0
    assert split.unknown_items == 0.0
    assert any("100% of the test users have no training rating" in each for each in found.warnings)


@pytest.mark.parametrize(
    ("rows", "warning"),
    [
        ([("a", i, 4) for i in range(5)], "all ratings are 4: no order of items is better"),
        ([("a", 1, 4), ("a", 2, 4), ("b", 1, 3), ("b", 2, 5)], "50% of the users with several"),
        ([("a", 1, 4), ("a", 2, 5), ("b", 1, 3)], "1 of 2 users (50%) has a single rating"),
        ([("a", 1, 4), ("b", 1, 5), ("b", 2, 3)], "1 of 2 items (50%) has a single rating"),
    ],
)
def test_data_that_cannot_answer_are_warned_of(rows, warning):
    ratings = harness.load(pd.DataFrame(rows, columns=["user", "item", "rating"]))
    (found,) = harness.describe(ratings)
    assert any(each.startswith(warning) for each in found.warnings), found.warnings
    assert found.span == []


def test_a_time_before_the_first_year_has_a_date(tmp_path):
    (tmp_path / "a.csv").write_text("user,item,rating,time\n1,1,2,-62167219200\n1,2,3,1580515200\n")
    (found,) = harness.describe(tmp_path / "a.csv")
    assert found.span == ["0000-01-01", "2020-02-01"]


def test_of_a_plain_file_decimal_mark_and_encoding_are_found(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("user;item;rating\nJosé;2;4,5\n1;3;5\n".encode("latin-1"))
    (found,) = harness.describe(path)
    assert found.scale == [4.5, 5.0]
    assert {"encoding-found", "marks-found"} <= {note.code for note in found.notes}
    for text, message in (
        ("user;item;rating\n1;2;4,5\n1;3;x\n", r"3: the rating 'x' is not a number; fix"),
        ("user;what;rating\n1;2;4,5\n", "1: .*no column for the item among user, what, rating"),
    ):
        path.write_text(text)
        with pytest.raises(DataError, match=rf"a\.csv:{message}"):
            harness.describe(str(path))


def test_training_after_test_is_warned_of(tmp_path):
    rows = [(u, i, (u * i) % 5 + 1, 10 * i) for u in range(4) for i in range(6)]
    frame = pd.DataFrame(rows, columns=["user", "item", "rating", "timestamp"])
    late, paths = frame["item"] >= 3, {}
    for name, part in (("all", frame), ("train", frame[late]), ("test", frame[~late])):
        paths[name] = str(tmp_path / f"{name}.csv")
        part.to_csv(paths[name], index=False)
    dataset, split = paths.pop("all"), {"kind": "predefined", **paths}
    (found,) = harness.describe(CONFIG | {"dataset": dataset, "split": split})
    assert found.splits[0].backwards
    assert any("every training rating is later" in each for each in found.warnings)


@pytest.mark.parametrize(("ratings", "n"), [("random", 10), ("counts", 10), (50, 10), (20, 20)])
def test_many_different_ratings_get_intervals_and_those_of_many_digits_all_of_them(ratings, n):
    rng = np.random.default_rng(0)
    rows = {"user": rng.permutation(400) // 20, "item": range(400), "rating": rng.random(400)}
    if ratings == "counts":
        rows["rating"] = 100 * np.arange(1, 401)
    elif ratings != "random":
        rows["rating"] = 1_000_001 + np.arange(400) % ratings
    (found,) = harness.describe(harness.load(pd.DataFrame(rows)))
    assert len(found.histogram) == n
    assert sum(found.histogram.values()) == 400
    assert "e+" not in " ".join(found.histogram)
    assert isinstance(ratings, str) or "1000001 to 10000" in found.facts()["scale"]


def test_the_command_prints_text_and_json(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.yaml").write_text(json.dumps(CONFIG | {"dataset": ["bundled", "synthetic"]}))
    code, out, _ = cli("describe", "c.yaml")
    assert code == 0
    assert out.count("5-fold\n") == 2
    assert "\nper user " in out
    texts = [line for line in out.splitlines() if not line.startswith(("warning", "note"))]
    assert max(map(len, texts)) <= 80
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "r.csv").write_text("user,item,rating\na,x,1\na,y,2\na,z,3\n")
    (tmp_path / "two.yaml").write_text(
        json.dumps(CONFIG | {"dataset": ["a/r.csv", "b/r.csv"], "split": "holdout"})
    )
    found = json.loads(cli("describe", "two.yaml", "--json")[1])["result"]
    assert [each["name"] for each in found] == ["a/r.csv", "b/r.csv"]
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text(json.dumps({"config": CONFIG | {"name": "run"}}))
    assert cli("describe", "quickstart")[0] == cli("describe", "run")[0] == 0


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("bundlde", "did you mean 'bundled'?"),
        ("none.csv", "none.csv: no such file"),
        ("none.yaml", "none.yaml: no such file"),
        ("bad.csv", "bad.csv:3: "),
        (".", "bad.csv:3: "),
    ],
)
def test_bad_input_is_named(cli, tmp_path, monkeypatch, source, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.csv").write_text("user,item,rating\na,b,3\na,c,four\n")
    code, _, err = cli("describe", source)
    assert code == 2
    assert message in err


def test_the_command_takes_the_columns_of_a_file_as_an_option(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "odd.csv").write_text("who;what;score;when\na;x;4;1\na;y;3;2\nb;x;5;3\n")
    (tmp_path / "c.yaml").write_text(json.dumps(CONFIG))
    code, _, err = cli("describe", "odd.csv")
    assert code == 2
    assert "name them, such as `--columns user=who,item=what`" in err
    named = ["--columns", "user=who,item=2,rating=score"]
    code, out, _ = cli("describe", "odd.csv", *named)
    assert code == 0
    assert "3 by 2 users of 2 items" in out
    for source in ("c.yaml", "bundled"):
        code, _, err = cli("describe", source, *named)
        assert code == 2
        assert f"--columns: {source} is not a file of ratings; leave the option out" in err
    code, _, err = cli("describe", "odd.csv", "--columns", "user=who,item=that")
    assert code == 2
    assert "no column 'that' for the item; did you mean 'what'?" in err
