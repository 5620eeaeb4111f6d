"""``harness evaluate``: another program's output, scored like a model's."""

import pandas as pd
import pytest


def test_predictions_give_the_worked_example(call, tmp_path):
    rows = zip(
        range(10),
        [2.5, 4.5, 4.5, 1.5, 1.5, 3.5, 3.5, 5.5, 4.5, 4.5],
        [3, 4, 5, 1, 2, 3, 4, 5, 5, 4],
        strict=True,
    )
    text = "user,item,estimate,rating\n" + "".join(f"1,{i},{e},{r}\n" for i, e, r in rows)
    (tmp_path / "predictions.csv").write_text(text)
    code, out, _ = call("evaluate", "predictions.csv", "--metrics", "ndcg(ties=first)@10,5,mae")
    assert code == 0
    assert out.splitlines()[1].split()[:4] == [
        "predictions.csv",
        "0.961845",
        "0.959091",
        "0.500000",
    ]


def test_a_trec_run_is_judged_by_its_qrels(call, tmp_path):
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 3.0 x\nq1 Q0 d2 2 2.0 x\nq2 Q0 d9 1 1.0 x\n")
    (tmp_path / "truth.qrels").write_text("q1 0 d2 1\nq2 0 d9 1\n")
    code, out, err = call(
        "evaluate",
        "a.run",
        "--truth",
        "truth.qrels",
        "--metrics",
        "rr,hit@1",
        "--per-user",
        "u.csv",
    )
    assert code == 0, err
    assert out.splitlines()[1].split()[:3] == ["a.run", "0.750000", "0.500000"]
    assert pd.read_csv(tmp_path / "u.csv")["rr"].tolist() == [0.5, 1.0]


@pytest.mark.parametrize(
    ("text", "labels", "message"),
    [
        ("user,item\n1,2\n", "ndcg@5", "estimate"),
        ("user,item,estimate,rating\n1,2,nan,3\n", "ndcg@5", "p.csv:2: no estimate"),
        ("user,item,estimate,rating\n1,2,3,3\n", "ndgc@5", "did you mean 'ndcg'"),
        ("user,item,estimate,rating\n1,2,3,3\n", "novelty@5", "leave the metric out"),
        ("", "ndcg@5", "no rows of data"),
    ],
)
def test_a_file_that_cannot_be_scored_says_why(call, tmp_path, text, labels, message):
    (tmp_path / "p.csv").write_text(text)
    code, out, err = call("evaluate", "p.csv", "--metrics", labels)
    assert (code, out) == (2, "")
    assert any(part in err for part in message.split("|")), err
    assert "Traceback" not in err


def test_a_missing_file_says_so(call):
    code, _, err = call("evaluate", "none.csv", "--metrics", "ndcg@5")
    assert code == 2
    assert "none.csv" in err


def test_users_01_and_1_are_two(call, tmp_path):
    rows = [(u, i, e, r) for u, sign in (("01", 1), ("1", -1)) for i, (e, r) in
            enumerate([(sign * n, n) for n in (1, 2, 3, 5)])]  # fmt: skip
    tables = {}
    for name, users in (("a.csv", {}), ("b.csv", {"01": "x", "1": "y"})):
        lines = [f"{users.get(u, u)},{i},{e},{r}" for u, i, e, r in rows]
        (tmp_path / name).write_text("user,item,estimate,rating\n" + "\n".join(lines) + "\n")
        code, out, _ = call("evaluate", name, "--metrics", "ndcg@2,rmse", "--per-user", "u.csv")
        assert code == 0
        tables[name] = out.splitlines()[-1].split()[1:4]
    assert tables["a.csv"] == tables["b.csv"]
    assert tables["a.csv"][2] == "2"
    assert pd.read_csv(tmp_path / "u.csv", dtype=str)["user"].tolist() == ["x", "y"]


def test_a_repeated_pair_and_all_other_faults_come_at_once(call, tmp_path):
    (tmp_path / "p.csv").write_text(
        "user,item,estimate,rating\n1,2,3,3\n1,2,4,3\n1,3,low,4\n,4,1,1\n"
    )
    code, out, err = call("evaluate", "p.csv", "--metrics", "rmse")
    assert (code, out) == (2, "")
    assert err.splitlines() == [
        "p.csv:3: user '1' has item '2' again (first at p.csv:2)",
        "p.csv:4: the estimate 'low' is not a number",
        "p.csv:5: no user",
        "p.csv: 3 faults (1 unreadable row, 1 incomplete row, 1 repeated pair); fix the data",
    ]


def test_a_metric_that_is_the_same_for_every_user_gets_a_note(call, tmp_path):
    rows = "1,1,3,5\n1,2,2,1\n2,1,1,4\n2,2,2,2\n3,1,1,5\n"
    (tmp_path / "p.csv").write_text("user,item,estimate,rating\n" + rows)
    _, out, _ = call("evaluate", "p.csv", "--metrics", "hit@1,hit(threshold=4)@1")
    assert out.count("note:") == 1
    assert "note: p.csv: hit@1 is 1 for every user, so it cannot tell lists apart" in out
