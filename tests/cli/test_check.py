"""``harness check``: what can be found without fitting is found."""

import json
import re

import pytest

GOOD = "user,item,rating\n" + "".join(
    f"{u},{i},{(u * i) % 5 + 1}\n" for u in range(20) for i in range(12)
)


@pytest.fixture
def check(call, tmp_path, monkeypatch):
    monkeypatch.setenv("SURPRISE_DATA_FOLDER", str(tmp_path / "none"))
    (tmp_path / "good.csv").write_text(GOOD)

    def run(*options, **keys):
        config = {
            "dataset": "good.csv",
            "algorithms": "[KNNBasic]",
            "metrics": "[ndcg@3]",
            "baselines": "false",
        }
        lines = [f"{key}: {value}\n" for key, value in (config | keys).items()]
        (tmp_path / "c.yaml").write_text("".join(lines))
        ended = call("check", "c.yaml", *options)
        assert not (tmp_path / "runs").exists()
        assert not (tmp_path / "cache" / "cells").exists()
        return ended

    return run


OWN = "good: 240 ratings of 12 items by 20 users, 1 to 5"
FOLDS = "4-fold: 4 folds, 180 training and 60 test ratings in the first"
PERCENT = "note: test_size: 25 means 25 ratings, not a percentage; for 25% write 0.25"
TUNED = {"algorithms": "[KNNBasic, {name: SVD, search: recommended}]", "tuning": "{trials: 7}"}


@pytest.mark.parametrize(
    ("keys", "shown", "absent"),
    [
        (
            {"split": "{kind: kfold, n_splits: 4}"},
            f"c data {OWN} split {FOLDS} candidates rated work 4 cells algorithm",
            "unknown",
        ),
        (  # files of one name are shown with their folders
            {"dataset": "[a/good.csv, b/good.csv]"},
            f"data a/{OWN.replace(':', '.csv:')} data b/{OWN.replace(':', '.csv:')} "
            "split holdout 20% of a/good.csv: 192 training and 48 test ratings "
            "split holdout 20% of b/good.csv: 192 training and 48 test ratings … "
            "note: a/good.csv: scale 1 to 5, the lowest … note: b/good.csv: scale 1 to 5, the",
            f"data {OWN}",
        ),
        (
            TUNED | {"seed": "[0, 1]"},
            "work 4 cells and up to 16 trials algorithm cells trials … KNNBasic 2 0 … SVD 2 16",
            "unknown",
        ),
        (
            {"filters": "[{kind: first-users, n: 5}]"},
            "data good: 60 ratings of 12 items by 5 users, 1 to 5",
            "unknown",
        ),
        ({"split": "{kind: holdout, test_size: 25}"}, f"holdout 25 ratings: … {PERCENT}", "%:"),
        ({"split": "{kind: holdout, test_size: 0.25}"}, "split holdout 25%: ", PERCENT),
        ({"split": "{kind: holdout, test_size: 120}"}, "holdout 120 ratings: ", "percentage"),
        (  # splits of one name are shown with what differs
            {
                "split": "[{kind: holdout, random_state: 1}, {kind: holdout, random_state: 2}]",
                "algorithms": "[{name: SlopeOne, search: recommended}]",
                "candidates": "[rated, {kind: sampled, n: 3}]",
            },
            "holdout 20% (random_state 1): … holdout 20% (random_state 2): … rated; sampled 3 "
            "work 4 cells and up to 4 trials",
            "unknown",
        ),
        ({"algorithms": "[{name: SlopeOne, search: recommended}]"}, "up to 1 trial a", "trials a"),
        ({"metrics": "[precision@3]"}, "precision@3 cannot distinguish algorithms", "unknown"),
        (
            {"dataset": "ml-100k"},
            "data ml-100k: 100,000 ratings of 1,682 items by 943 users … "
            "note: ml-100k: not on this machine; a run downloads it",
            "unknown",
        ),
        (
            {"dataset": "ml-100k", "split": "[movielens-folds, {kind: rolling, origins: 3}]"},
            "work 8 cells",
            "unknown",
        ),
    ],
    ids=str,
)
def test_what_a_run_would_do_is_shown(check, tmp_path, keys, shown, absent):
    for folder, content in (("a", GOOD), ("b", GOOD.replace("0,0,1", "0,0,5"))):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "good.csv").write_text(content)
    code, out, err = check("--no-probe", **keys)
    assert (code, err) == (0, "")
    text = " ".join(out.split())
    assert all(part in text for part in shown.split(" … "))
    assert absent not in text
    assert max(map(len, out.split("note:")[0].splitlines())) <= 80


@pytest.mark.parametrize(
    ("content", "keys", "message"),
    [
        (None, {}, "c.yaml:1: dataset: a.csv: no such file in "),
        (GOOD, {"dataset": "[a.csv, {path: b.csv}]"}, "c.yaml:1: dataset[1].path: b.csv: no such"),
        (
            GOOD,
            {"dataset": "{path: a.csv, items: none.csv}"},
            "c.yaml:1: dataset.items: none.csv: no such file in ",
        ),
        (
            GOOD + "1,1,2\n",
            {"dataset": "[good.csv, {path: a.csv, users: {path: none/u.csv, id: 2}}]"},
            "c.yaml:1: dataset[1].users.path: none/u.csv: no such file, as there is no folder",
        ),
        ("who,what,stars\n1,2,3\n", {}, "a.csv:1: a header, it seems"),
        (GOOD, {"split": "{kind: leave-n-out, n: 500}"}, "500"),
        (
            GOOD + "99,1,2\n",
            {"dataset": "[good.csv, a.csv]", "split": "{kind: leave-n-out, n: 12}"},
            "a.csv: leave-12-out random: ",
        ),
        (GOOD, {"split": "{kind: predefined, file: none.csv}"}, "none.csv"),
        (GOOD, {"split": "{kind: global-time}"}, "timestamps"),
        (GOOD.replace(",1\n", ",-1\n"), {}, "negative"),
        (
            None,
            {"dataset": "jester", "metrics": "[ndcg@3]"},
            "jester, rated from -10 to 10: ndcg: ",
        ),
        (GOOD, {"metrics": "[ndcg@3]", "dataset": "[a.csv, good.csv]"}, "same ratings as"),
    ],
)
def test_what_would_stop_a_run_is_a_fault(check, tmp_path, content, keys, message):
    if content is not None:
        (tmp_path / "a.csv").write_text(content)
    code, out, err = check(**{"dataset": "a.csv", **keys})
    assert code == 2
    assert message in err
    assert len(set(err.splitlines())) == len(err.splitlines())
    assert out.startswith("c\n")
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("missing", "keys", "message"),
    [
        (
            "optuna",
            {"tuning": "{method: tpe}", "algorithms": "[{name: SVD, search: recommended}]"},
            "tuning.method: tpe needs Optuna; pip install 'surprise-harness[tpe]'",
        ),
        (
            "distributed",
            {"execution": "{executor: dask, scheduler: 'tcp://localhost:1'}"},
            "execution.executor: dask needs distributed; pip install",
        ),
        ("pyspark", {"algorithms": "[spark-als]"}, "spark-als: needs pyspark; pip install"),
        ("implicit", {"algorithms": "[implicit-als]"}, "implicit-als: needs implicit; pip install"),
    ],
)
def test_a_missing_extra_is_a_fault(check, monkeypatch, missing, keys, message):
    import importlib.util

    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == missing else found(name)
    )
    code, _, err = check(**keys)
    assert (code, err.count("\n")) == (2, 1)
    assert err.startswith(message)


def test_several_faults_of_several_files_come_at_once(check, tmp_path):
    (tmp_path / "a.csv").write_text(GOOD + "1,1,2\n")
    code, _, err = check(dataset="[a.csv, b.csv, good.csv]", split="{kind: global-time}")
    assert code == 2
    starts = [line.split(":")[0] for line in err.splitlines()]
    assert starts[:2] == ["a.csv", "c.yaml"]
    assert "timestamps" in err.splitlines()[2]


LONG = "{k: 40, min_k: 2, sim_options: {name: cosine, user_based: false, min_support: 3}}"


@pytest.mark.parametrize(
    ("algorithms", "has_column"),
    [
        ("[KNNBasic]", True),
        ("[{name: SVD, search: recommended}, ItemMean]", True),
        (f"[ItemMean, {{name: KNNBasic, params: {LONG}}}]", False),
    ],
)
def test_the_time_of_a_run_is_shown_in_80_columns(check, algorithms, has_column):
    code, out, _ = check(algorithms=algorithms, tuning="{trials: 3}")
    assert code == 0
    (line,) = (line for line in out.splitlines() if line.startswith("time  "))
    assert re.fullmatch(
        r"time        about \S+ (s|min) on this machine, \d+% of it in [\w ]+", line
    )
    assert ("time of one" in out) is has_column
    lines = out.split("note:")[0].splitlines()
    assert max(map(len, lines)) <= 80 or not has_column


def test_machines_get_the_seconds_and_their_parts(check, call):
    check("--no-probe")
    (result,) = json.loads(call("check", "c.yaml", "--json")[1])["result"]
    assert result["seconds"] == pytest.approx(sum(result["time"]["parts"].values()))
    assert [cell["algorithm"] for cell in result["time"]["cells"]] == ["KNNBasic"]
    assert result["time"]["not_told"] == []


def test_without_a_probe_nothing_is_fitted(check, call, monkeypatch):
    def computed(*arguments):
        raise AssertionError("a cell was computed")

    check("--no-probe")
    monkeypatch.setattr("harness.experiment.duration.compute", computed)
    code, out, err = call("check", "c.yaml", "--no-probe")
    assert (code, err) == (0, "")
    assert "time" not in out
    (result,) = json.loads(call("check", "c.yaml", "--no-probe", "--json")[1])["result"]
    assert "seconds" not in result


def test_data_that_are_not_here_have_no_time(check):
    code, out, _ = check(dataset="ml-100k")
    assert code == 0
    assert "\ntime        cannot be told: not all data are read here\n" in out
