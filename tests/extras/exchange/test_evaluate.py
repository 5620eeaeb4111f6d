"""``harness evaluate``: another program's output, scored like a model's."""

import json

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

HEAD = "user,item,estimate,rating\n"
ESTIMATES = [2.5, 4.5, 4.5, 1.5, 1.5, 3.5, 3.5, 5.5, 4.5, 4.5]
RATINGS = [3, 4, 5, 1, 2, 3, 4, 5, 5, 4]


def test_predictions_give_the_worked_example(call, tmp_path):
    rows = [f"1,{i},{e},{r}\n" for i, (e, r) in enumerate(zip(ESTIMATES, RATINGS, strict=True))]
    (tmp_path / "p.csv").write_text(HEAD + "".join(rows))
    out = call.done("evaluate", "p.csv", "--metrics", "ndcg(ties=first)@10,5,mae")
    assert out.splitlines()[1].split()[:4] == ["p.csv", "0.961845", "0.959091", "0.500000"]
    (tmp_path / "a").mkdir()
    for name in ("p.csv", "q.csv"):
        (tmp_path / "a" / name).write_text(HEAD + "".join(rows))
    out = call.done("evaluate", "p.csv", "a/p.csv", "a/q.csv", "--metrics", "mae")
    assert [line.split()[0] for line in out.splitlines()[1:]] == ["p.csv", "a/p.csv", "q.csv"]
    err = call.refused("evaluate", "p.csv", "--metrics", "mae", "--name", "x")
    assert "--name, --output, --costs, --format: need --against RUN; add it" in err


def test_a_trec_run_is_judged_by_its_qrels(call, tmp_path):
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 3.0 x\nq1 Q0 d2 2 2.0 x\nq2 Q0 d9 1 1.0 x\n")
    (tmp_path / "t.qrels").write_text("q1 0 d2 1\nq2 0 d9 1\n")
    arguments = "evaluate a.run --truth t.qrels --metrics rr,hit@1 --per-user u.csv"
    out = call.done(*arguments.split())
    assert out.splitlines()[1].split()[:3] == ["a.run", "0.750000", "0.500000"]
    assert pd.read_csv(tmp_path / "u.csv")["rr"].tolist() == [0.5, 1.0]


LISTS = {
    "1": [("i1", 3.0, 4.0), ("i2", 2.0, 5.0), ("i3", 1.0, 3.0)],
    "2": [("i3", 0.5, 2.0), ("i1", 0.25, 4.0)],
    "3": [],
}


def nested(path, fields, **keys):
    """Write lists as LensKit's ``ItemListCollection.save_parquet`` does: one row for each."""
    rows = [
        {"user_id": user, **keys, "items": [dict(zip(("item_id", *fields), it)) for it in items]}  # noqa: B905
        for user, items in LISTS.items()
    ]
    pq.write_table(pa.Table.from_pylist(rows), path)


def test_lists_nested_in_parquet_are_those_of_a_flat_table(call, tmp_path):
    nested(tmp_path / "lists.parquet", ["score"])
    flat = [(u, i, s, r) for u, items in LISTS.items() for i, s, r in items]
    frame = pd.DataFrame(flat, columns=["user", "item", "score", "rating"])
    frame[["user", "item", "score"]].to_csv(tmp_path / "lists.csv", index=False)
    truth = pd.DataFrame([("1", "i2", 5), ("1", "i9", 3), ("2", "i1", 4)])
    truth.columns = ["user", "item", "rating"]
    truth.to_csv(tmp_path / "t.csv", index=False)
    asked = ("--truth", "t.csv", "--metrics", "ndcg@3,rr,recall@2")
    from_nested = call.done("evaluate", "lists.parquet", *asked)
    from_flat = call.done("evaluate", "lists.csv", *asked)
    assert from_nested.splitlines()[1].split()[1:4] == from_flat.splitlines()[1].split()[1:4]


def test_predictions_ranks_and_a_truth_may_be_nested(call, tmp_path):
    nested(tmp_path / "p.parquet", ["score", "rating"])
    flat = [(u, i, s, r) for u, items in LISTS.items() for i, s, r in items]
    frame = pd.DataFrame(flat, columns=["user", "item", "score", "rating"])
    frame.to_csv(tmp_path / "p.csv", index=False)
    out = [
        call.done("evaluate", name, "--metrics", "rmse,ndcg@3") for name in ("p.parquet", "p.csv")
    ]
    assert out[0].splitlines()[1].split()[1:3] == out[1].splitlines()[1].split()[1:3]
    asked = ("--truth", "p.parquet", "--metrics", "ndcg@3")
    ranked = [
        {"user_id": "1", "items": [{"item_id": "i2", "rank": 1}, {"item_id": "i1", "rank": 2}]}
    ]
    pq.write_table(pa.Table.from_pylist(ranked), tmp_path / "ranked.parquet")
    assert "1.0" not in call.done("evaluate", "ranked.parquet", *asked).splitlines()[1]
    best = call.done("evaluate", "ranked.parquet", "--truth", "p.parquet", "--metrics", "hit@1")
    assert best.splitlines()[1].split()[1] == "0.500000"  # of two users, whose lists are not empty


def test_nested_lists_without_a_score_or_with_damage_are_refused(call, tmp_path):
    nested(tmp_path / "lists.parquet", [])
    nested(tmp_path / "t.parquet", ["x", "rating"])
    said = call.refused("evaluate", "lists.parquet", "--truth", "t.parquet", "--metrics", "ndcg@3")
    assert "lists.parquet: no column of rank or estimate" in said
    whole = (tmp_path / "t.parquet").read_bytes()
    for place in range(4, len(whole), 7):
        damaged = whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :]
        (tmp_path / "d.parquet").write_bytes(damaged)
        code, _, err = call("evaluate", "d.parquet", "--metrics", "rmse")
        assert code in (0, 2)
        assert "Traceback" not in err


@pytest.mark.parametrize(
    ("text", "labels", "message"),
    [
        (None, "ndcg@5", "p.csv"),
        ("user,item\n1,2\n", "ndcg@5", "estimate"),
        (HEAD + "1,2,nan,3\n", "ndcg@5", "p.csv:2: no estimate"),
        (HEAD + "1,2,3,3\n", "ndgc@5", "did you mean 'ndcg'"),
        (HEAD + "1,2,3,3\n", "novelty@5", "none; give them or leave the metric out"),
        ("", "ndcg@5", "no rows of data"),
        (
            HEAD + "1,2,3,3\n1,2,4,3\n1,3,low,4\n,4,1,1\n",
            "rmse",
            "p.csv:3: user '1' has item '2' again (first at p.csv:2)\n"
            "p.csv:4: the estimate 'low' is not a number\n"
            "p.csv:5: no user\n"
            "p.csv: 3 problems (1 unreadable row, 1 incomplete row, 1 repeated pair); fix the "
            "data, or:\n  `missing: drop` drops 1 incomplete row\n",
        ),
    ],
)
def test_a_file_that_cannot_be_scored_says_why(call, tmp_path, text, labels, message):
    if text is not None:
        (tmp_path / "p.csv").write_text(text)
    code, out, err = call("evaluate", "p.csv", "--metrics", labels)
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err
    assert err.count("\n") == max(1, message.count("\n"))


def test_a_file_that_is_given_twice_is_refused(call, tmp_path):
    (tmp_path / "p.csv").write_text(HEAD + "1,2,3,3\n")
    (tmp_path / "q").mkdir()
    for other in ("p.csv", "q/../p.csv"):
        code, out, err = call("evaluate", "p.csv", other, "--metrics", "ndcg@5")
        assert (code, out) == (2, "")
        assert f"{other}: is the same as p.csv; remove one of them" in err


def test_users_01_and_1_are_two(call, tmp_path):
    tables = []
    for one, other in (("01", "1"), ("x", "y")):
        rows = [(u, n, sign * n, n) for u, sign in ((one, 1), (other, -1)) for n in (1, 2, 3, 5)]
        text = "".join(f"{u},{i},{e},{r}\n" for u, i, e, r in rows)
        (tmp_path / "p.csv").write_text(HEAD + text)
        arguments = ("--metrics", "ndcg@2,rmse", "--per-user", "u.csv", "--force")
        out = call.done("evaluate", "p.csv", *arguments)
        assert "id_spellings" not in out  # a key of configs
        assert ("they count as different" in out) == (one == "01")
        (row,) = (line for line in out.splitlines() if line.startswith("p.csv "))
        tables.append(row.split()[1:4])
        assert pd.read_csv(tmp_path / "u.csv", dtype=str)["user"].tolist() == [one, other]
    assert tables[0] == tables[1]
    assert tables[0][2] == "2"


def test_scores_that_cannot_be_written_and_a_metric_that_distinguishes_no_list(call, tmp_path):
    rows = "1,1,3,5\n1,2,2,1\n2,1,1,4\n2,2,2,2\n3,1,1,5\n"
    (tmp_path / "p.csv").write_text(HEAD + rows)
    arguments = ("evaluate", "p.csv", "--metrics", "hit@1,hit(threshold=4)@1")
    out = call.done(*arguments)
    assert out.count("note:") == 1
    assert (
        "note: p.csv: hit@1 cannot distinguish algorithms: every test item is relevant; set a "
        "threshold, for example hit(threshold=4)@1" in out
    )
    err = call.refused(*arguments, "--per-user", "p.csv/u.csv")
    assert err == "p.csv/u.csv: cannot be written (not a directory); choose another place\n"


def test_a_perfect_list_and_a_metric_without_relevance_get_no_advice_on_relevance(call, tmp_path):
    (tmp_path / "l.csv").write_text("user,item,rank\na,x,1\na,y,2\nb,x,1\nb,y,2\n")
    (tmp_path / "t.csv").write_text("user,item,rating\na,x,5\nb,x,4\n")
    (tmp_path / "tr.csv").write_text("user,item,rating\nc,x,5\nc,y,4\nd,x,3\n")
    labels = ("--metrics", "ndcg@2,hit@1,novelty@2,item_coverage@2")
    out = call.done("evaluate", "l.csv", "--truth", "t.csv", "--training", "tr.csv", *labels)
    assert out.splitlines()[1].split()[1:3] == ["1.000000", "1.000000"]
    assert "note:" not in out
    # Every order of these two equally good items scores the same; other programs list others.
    (tmp_path / "t.csv").write_text("user,item,rating\na,x,5\na,y,5\nb,x,4\nb,y,4\n")
    out = call.done("evaluate", "l.csv", "--truth", "t.csv", "--metrics", "ndcg@2")
    assert "note:" not in out


@pytest.mark.parametrize("labels", ["recall@2,hit@2", "recall@1,ndcg@1", "user_coverage@1", "ap"])
@pytest.mark.parametrize("column", ["rank", "estimate"])
def test_lists_of_other_programs_may_be_of_any_items(call, tmp_path, labels, column):
    (tmp_path / "a.csv").write_text(f"user,item,{column}\na,x,1\nb,x,1\n")
    (tmp_path / "b.csv").write_text(f"user,item,{column}\na,y,1\nb,z,1\n")
    (tmp_path / "t.csv").write_text("user,item,rating\na,x,5\na,y,2\nb,x,4\n")
    out = call.done("evaluate", "a.csv", "b.csv", "--truth", "t.csv", "--metrics", labels)
    assert "cannot distinguish" not in out


def test_a_metric_that_tells_two_files_apart_distinguishes(call, tmp_path):
    (tmp_path / "a.csv").write_text(HEAD + "1,1,3,5\n1,2,2,4\n")
    (tmp_path / "b.csv").write_text(HEAD + "1,1,3,5\n1,2,2,1\n1,3,1,2\n")
    labels = ("--metrics", "recall(threshold=4)@2")
    assert "cannot distinguish" in call.done("evaluate", "a.csv", *labels)
    out = call.done("evaluate", "a.csv", "b.csv", *labels)
    assert ("cannot distinguish" in out) == (out.count("1.000000") == 2)
    # What it advises can be given to this command.
    assert "candidates:" not in call.done("evaluate", "a.csv", "--metrics", "recall@2,precision@1")


@pytest.mark.parametrize("labels", ["rmse", "mae", "ndcg@2", "precision@2", "fcp"])
@pytest.mark.parametrize("form", ["pairs", "truth"])
def test_ratings_of_an_anti_test_set_get_a_note(call, tmp_path, labels, form):
    rows = [(u, i, 3 + (u * i) % 5 / 4, 3.03) for u in range(3) for i in range(3)]
    write = lambda name, head, of: (tmp_path / name).write_text(  # noqa: E731
        head + "".join(",".join(map(str, of(row))) + "\n" for row in rows)
    )
    write("p.csv", HEAD, lambda row: row)
    write("e.csv", "user,item,estimate\n", lambda row: row[:3])
    write("t.csv", "user,item,rating\n", lambda row: (*row[:2], row[3]))
    files = ("p.csv",) if form == "pairs" else ("e.csv", "--truth", "t.csv")
    out = call.done("evaluate", *files, "--metrics", labels)
    assert out.count("all 9 ratings are 3.03, which nobody gives") == 1


def test_users_outside_the_truth_are_not_covered_and_are_named(call, tmp_path):
    (tmp_path / "l.csv").write_text("user,item,rank\nu1,x,1\nu2,y,1\nu9,x,1\n")
    (tmp_path / "t.csv").write_text("user,item,rating\nu1,x,5\nu2,x,4\nu3,x,3\n")
    out = call.done("evaluate", "l.csv", "--truth", "t.csv", "--metrics", "user_coverage@1")
    assert out.splitlines()[1].split()[1] == "0.666667"
    assert "note: l.csv: 1 user of the lists is not in the truth, such as 'u9'" in out


def test_shown_items_without_a_training_rating_are_counted_or_named(call, tmp_path):
    (tmp_path / "l.csv").write_text("user,item,rank\na,x,1\na,y,2\nb,w,1\nb,z,2\n")
    (tmp_path / "t.csv").write_text("user,item,rating\na,x,5\nb,x,4\n")
    (tmp_path / "tr.csv").write_text("user,item,rating\nc,x,5\nc,y,4\nd,w,3\n")
    files = ("evaluate", "l.csv", "--truth", "t.csv", "--metrics")
    out = call.done(*files, "distinct_items@2,item_coverage@2", "--training", "tr.csv")
    assert out.splitlines()[1].split()[1:3] == ["4.000000", "1.000000"]
    assert "item_coverage@2: 1 item of the lists has no training rating and is left out" in out
    assert call.done(*files, "distinct_items@2").splitlines()[1].split()[1] == "4.000000"


def test_a_long_scale_and_ties_of_items_get_a_note(call, tmp_path):
    (tmp_path / "p.csv").write_text(HEAD + "1,1,3,100\n1,2,2,40\n")
    out = call.done("evaluate", "p.csv", "--metrics", "ndcg@2,ndcg(gain=linear)@2")
    assert "ndcg@2: one point more of rating doubles the gain, and ratings reach 100" in out
    assert "ndcg(gain=linear)@2 has gains in proportion" in out
    (tmp_path / "p.csv").write_text(HEAD + "1,1,3,10\n1,2,2,4\n")
    assert "doubles" not in call.done("evaluate", "p.csv", "--metrics", "ndcg@2")


def test_lists_beside_judgements_have_the_share_that_nobody_judged(call, tmp_path):
    # Equal scores of a run of TREC stand in the descending order of their items.
    run = "1 Q0 a 1 3.0 x\n1 Q0 b 2 2.0 x\n1 Q0 c 3 2.0 x\n2 Q0 a 1 1.0 x\n2 Q0 d 2 0.5 x\n"
    (tmp_path / "run.txt").write_text(run)
    (tmp_path / "qrels.txt").write_text("1 0 a 2\n1 0 b 0\n2 0 e 1\n2 0 d 1\n")
    (tmp_path / "train.csv").write_text("user,item\n3,a\n3,b\n3,c\n3,d\n")
    arguments = ("evaluate", "run.txt", "--truth", "qrels.txt", "--metrics", "unjudged@1,2,3")
    for training in ((), ("--training", "train.csv")):
        values = call.done(*arguments, *training).splitlines()[1].split()[1:4]
        assert values == ["0.500000", "0.500000", "0.416667"]


@pytest.mark.parametrize(
    ("metric", "note"),
    [
        ("fcp", ""),
        ("r2", ""),
        ("recall(threshold=4)@1", "is undefined for 1 user; its mean is over the others"),
    ],
)
def test_no_user_is_left_out_of_a_value_over_all_ratings(call, tmp_path, metric, note):
    (tmp_path / "p.csv").write_text(HEAD + "1,1,3,5\n1,2,2,1\n2,1,1,3\n")
    out = call.done("evaluate", "p.csv", "--metrics", metric)
    assert out.partition("note: p.csv: ")[2].removesuffix("\n") == (note and f"{metric} {note}")


@pytest.mark.parametrize(
    ("truth", "code", "message"),
    [
        (
            "m1,7,1\n",
            2,
            "p.csv: none of its users, such as '1', is in t.csv, whose users look like 'm1'",
        ),
        ("1,m7,1\n2,m8,1\n", 0, "note: p.csv: no listed item is among the ratings of its user"),
    ],
)
def test_lists_of_other_ids_are_not_zeros_without_a_word(call, tmp_path, truth, code, message):
    (tmp_path / "p.csv").write_text("user,item,rank\n1,7,1\n2,8,1\n")
    (tmp_path / "t.csv").write_text("user,item,rating\n" + truth)
    found, out, err = call("evaluate", "p.csv", "--truth", "t.csv", "--metrics", "ndcg@5,hit@5")
    assert found == code
    assert message in out + err
    assert "threshold" not in out


PREDICTIONS = "a;1;2,5;3\na;2;2,1;4\n"


@pytest.mark.parametrize(
    ("head", "options"),
    [
        ("\ufeffuser;item;estimate;rating\n", ()),
        ("who;what;guess;stars\n", ("--columns", "user=who,item=what,estimate=guess,rating=4")),
        ("", ("--columns", "user=1,item=2,estimate=3,rating=4")),
    ],
)
def test_decimal_commas_and_columns_of_predictions_can_be_named(call, tmp_path, head, options):
    (tmp_path / "p.csv").write_text(head + PREDICTIONS, encoding="utf-8")
    out = call.done("evaluate", "p.csv", "--metrics", "ndcg@10,rmse", "--decimal", ",", *options)
    assert out.splitlines()[1].split()[1:3] == ["0.847935", "1.389244"]


def test_predictions_without_header_are_not_guessed(call, tmp_path):
    (tmp_path / "p.csv").write_text("a,1,2.5,3\na,2,2.1,4\n")
    err = call.refused("evaluate", "p.csv", "--metrics", "rmse")
    assert "or name columns, such as user=1,item=2,estimate=3,rating=4" in err
    err = call.refused("evaluate", "p.csv", "--metrics", "rmse", "--columns", "who=1")
    advice = "write role=name, such as user=who; the roles are user, item, est"
    assert f"--columns who=1: {advice}" in err


def test_a_table_of_estimates_and_one_of_ratings_give_errors(call, tmp_path):
    (tmp_path / "e.csv").write_text("user,item,estimate\na,x,4.5\na,y,2\nb,x,3\nb,z,1\n")
    (tmp_path / "t.csv").write_text("person,thing,points\na,x,5\na,y,4\nb,x,3\nc,x,1\n")
    truth = ["--truth", "t.csv", "--truth-columns", "user=person,item=thing,rating=points"]
    code, out, err = call("evaluate", "e.csv", *truth, "--metrics", "rmse,ndcg@2")
    assert code == 0
    assert out.splitlines()[1].split()[1] == f"{((0.25 + 4) / 3) ** 0.5:.6f}"
    assert "rmse: over 3 of 4 ratings of the truth, those with an estimate" in out + err


def test_a_file_of_another_program_may_have_the_name_of_a_record(call, tmp_path):
    (tmp_path / "qrels.json").write_text(json.dumps({"q": {"a": 1, "b": 1}}))
    (tmp_path / "run.json").write_text(json.dumps({"q": {"a": 2.0, "c": 1.0}}))
    out = call.done("evaluate", "run.json", "--truth", "qrels.json", "--metrics", "recall@2")
    assert out.split()[4:6] == ["run.json", "0.500000"]
    (tmp_path / "run.json").write_text("{")
    assert "run the config again" in call.refused("evaluate", "run.json", "--metrics", "rmse")
