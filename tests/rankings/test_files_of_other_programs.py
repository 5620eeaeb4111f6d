"""Lists and truths as other programs write them: without header, TREC under any name, ranx."""

import gzip
import json

import numpy as np
import pandas as pd
import pytest

from harness import metrics, rankings
from harness.errors import HarnessError

RNG = np.random.default_rng(5)
PAIRS = [divmod(int(cell), 40) for cell in RNG.permutation(12 * 40)[:200]]
LISTS = pd.DataFrame(PAIRS, columns=["user", "item"])
LISTS["score"] = RNG.permutation(200) / 8
TRUTH = LISTS[["user", "item"]].assign(rating=RNG.integers(1, 6, 200)).sample(150, random_state=1)
LABELS = metrics.parse_many("ndcg@10,rmse,recall@3")


def values(*arguments, **options):
    scored = metrics.score(LABELS, *rankings.read(*arguments, **options))
    return [round(score.mean, 12) for score in scored.values()]


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    LISTS.to_csv(folder / "lists.csv", index=False)
    TRUTH.to_csv(folder / "truth.csv", index=False)
    return folder / "lists.csv", folder / "truth.csv"


def nested(frame, value):
    return {
        str(user): dict(zip(rows["item"].astype(str), rows[value], strict=True))
        for user, rows in frame.groupby("user", sort=False)
    }


def written(kind, folder):
    """Return lists and truth as files of one kind; the names say nothing."""
    lists, truth = folder / "one", folder / "other"
    if kind == "trec":
        lists.write_text("".join(f"{u} Q0 {i} 0 {s} me\n" for u, i, s in LISTS.to_numpy(object)))
        truth.write_text("".join(f"{u} 0 {i} {r}\n" for u, i, r in TRUTH.to_numpy(object)))
    elif kind == "ranx":
        lists.write_text(json.dumps(nested(LISTS, "score")))
        truth.write_text(json.dumps(nested(TRUTH, "rating"), indent=1))
    elif kind == "json lines":
        lists, truth = folder / "one.jsonl", folder / "other.jsonl"
        LISTS.to_json(lists, orient="records", lines=True)
        TRUTH.to_json(truth, orient="records", lines=True)
    else:
        for path, frame in ((lists, LISTS), (truth, TRUTH)):
            frame.to_csv(path, index=False, header=False, sep=kind)
    return lists, truth


@pytest.mark.parametrize("kind", ["\t", " ", ";", "|", "trec", "ranx", "json lines"])
def test_every_form_of_lists_scores_as_tables_do(tmp_path, tables, kind):
    expected = values(*tables)
    lists, truth = written(kind, tmp_path)
    assert values(lists, truth) == expected
    packed = tmp_path / f"{lists.name}.gz"
    packed.write_bytes(gzip.compress(lists.read_bytes()))
    assert values(packed, tables[1]) == expected


def test_what_was_assumed_is_said(tmp_path, tables):
    lists, truth = written("\t", tmp_path)
    notes = [str(note) for note in rankings.read(lists, truth).notes]
    assert notes[0].startswith(f"{lists}: no header: columns read as user, item, estimate")
    assert rankings.read(*tables).notes == ()


def test_ranks_without_a_header_are_not_taken_for_estimates(tmp_path, tables):
    ranked = LISTS.assign(rank=LISTS.groupby("user").cumcount() + 1)
    path = tmp_path / "lists"
    ranked[["user", "item", "rank"]].to_csv(path, index=False, header=False)
    with pytest.raises(HarnessError, match=r"lists:1: the third column counts .* rank=3 or estim"):
        rankings.read(path, tables[1])
    lists = rankings.read(path, tables[1], columns={"rank": 3}).rankings
    ranked.drop(columns="score").to_csv(tmp_path / "r.csv", index=False)
    assert (lists.rank == rankings.read(tmp_path / "r.csv", tables[1]).rankings.rank).all()
    assert rankings.read(path, tables[1], columns={"estimate": 3}).pairs is not None


def test_a_table_of_ratings_is_no_qrels(tmp_path):
    rows = [(user, 0, 1 + user % 5, 10**9 + user) for user in range(9)]  # all of item 0
    (tmp_path / "truth").write_text("".join("\t".join(map(str, row)) + "\n" for row in rows))
    lists = "".join(f"{user},0,0.5\n" for user in range(9))
    (tmp_path / "lists.csv").write_text("user,item,score\n" + lists)
    found = rankings.read(tmp_path / "lists.csv", tmp_path / "truth")
    assert found.rankings.relevance.tolist() == [1 + user % 5 for user in range(9)]


def test_pairs_of_text_need_a_header_or_names(tmp_path, tables):
    path = tmp_path / "truth.csv"
    path.write_text("u1,i1\nu2,i2\n")
    lists = tmp_path / "lists.csv"
    lists.write_text("user,item,score\nu1,i1,2\nu2,i1,3\n")
    with pytest.raises(HarnessError, match="name columns, such as user=1,item=2"):
        rankings.read(lists, path)


def test_rows_without_estimates_are_dropped_where_that_is_said(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("user,item,estimate,rating\na,x,4.5,5\na,y,nan,3\nb,x,,2\nb,y,3,4\n")
    with pytest.raises(HarnessError, match="`missing: drop` drops 2 incomplete rows"):
        rankings.read(path)
    evidence = rankings.read(path, missing="drop")
    rmse = metrics.score(metrics.parse_many("rmse"), *evidence)
    assert [round(score.mean, 4) for score in rmse.values()] == [0.7906]
    assert [str(note) for note in evidence.notes] == [f"{path}: 2 rows without a value dropped"]
    path.write_text("user,item,estimate,rating\na,x,,5\na,y,low,3\n")
    with pytest.raises(HarnessError, match=r"p.csv:3: the estimate 'low' is not a number"):
        rankings.read(path, missing="drop")
    path.write_text("user,item,estimate,rating\na,x,,5\n")
    with pytest.raises(HarnessError, match=r"p.csv: every row lacks a value"):
        rankings.read(path, missing="drop")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"u": {"i": 0.5', "not JSON"),
        ('{"u": {"i": 0.5}, "v": [1]}', "'v': not an object of numbers by item"),
        ('{"u": {"i": 0.5, "j": "high"}}', "user 'u', item 'j': the estimate 'high' is not a num"),
        ('{"u": {}}', "no numbers; give a file that has some"),
    ],
)
def test_numbers_by_item_that_cannot_be_used_say_where(tmp_path, tables, text, message):
    path = tmp_path / "run.json"
    path.write_text(text)
    with pytest.raises(HarnessError, match=message):
        rankings.read(path, tables[1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": {"users": 1}}, "did you mean 'user'"),
        ({"columns": {"user": 0}}, "columns: user: 0; give a name"),
        ({"decimal": ";"}, "unknown decimal ';'; use"),
        ({"missing": "clip"}, "unknown missing 'clip'; use"),
        ({"columns": {"user": 9}}, "user is given as column 9 of 3"),
    ],
)
def test_options_that_do_not_exist_are_refused(tables, options, message):
    with pytest.raises(HarnessError, match=message):
        rankings.read(*tables, **options)
