"""Is a candidate worse than what is in use: verdicts, refusals and the command."""

import json
import math
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

import harness
from harness.errors import ComparisonError, ResultsError
from harness.extras.gate.decision import EQUAL, decide, gate, gate_scores
from harness.statistics.arrays import randomisation, sign_flips

TOP = Path(__file__).parents[3]

CONFIG = {
    "dataset": {"synthetic": {"n_users": 120, "n_items": 40, "n_ratings": 2400, "seed": 3}},
    "split": {"kind": "holdout", "test_size": 0.3},
    "algorithms": ["BaselineOnly", "ItemMean"],
    "metrics": ["ndcg@10", "rmse", "hit@3"],
    "headline": "ndcg@10",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def old(folder):
    return harness.run(CONFIG | {"name": "old"}, results=folder)


@pytest.fixture(scope="module")
def new(folder):
    algorithms = [{"name": "BaselineOnly", "params": {"bsl_options": {"reg_u": 60}}}, "ItemMean"]
    return harness.run(CONFIG | {"name": "new", "algorithms": algorithms}, results=folder)


def scores_of(run, algorithm, label="ndcg@10"):
    users = run.users
    return users[users["algorithm"] == algorithm].groupby("user")[label].mean()


def test_the_difference_is_that_of_the_users_scores(old):
    answer = gate(old, old, row="Random", old_row="BaselineOnly")
    difference = (scores_of(old, "Random") - scores_of(old, "BaselineOnly")).dropna()
    assert answer.verdict == "worse"
    assert answer.n_users == len(difference)
    assert answer.difference == pytest.approx(difference.mean(), abs=1e-14)
    assert answer.new.mean == pytest.approx(scores_of(old, "Random")[difference.index].mean())
    # BCa and Student's interval of a mean of 120 values are close to each other.
    ends = scipy.stats.t.interval(
        0.95, len(difference) - 1, difference.mean(), scipy.stats.sem(difference)
    )
    width = ends[1] - ends[0]
    assert abs(answer.low - ends[0]) < 0.1 * width > abs(answer.high - ends[1])


@pytest.mark.parametrize(
    ("shift", "tolerance", "verdict"),
    [
        (0.1, 0, "not worse"),
        (-0.1, 0, "worse"),
        (-0.1, "30%", "not worse"),
        (-0.1, 0.05, "worse"),
        (0.0, 0, "undecided"),
        (0.0, 0.5, "not worse"),
    ],
)
def test_the_interval_and_the_tolerance_decide(shift, tolerance, verdict):
    rng = np.random.default_rng(5)
    one = pd.Series(rng.random(300))
    noise = rng.normal(0, 0.1, 300)
    answer = gate_scores(
        one + noise - noise.mean() + shift, one, metric="ndcg@10", tolerance=tolerance
    )
    assert answer.verdict == verdict
    assert answer.sentences()[0].startswith(f"{verdict}: new ")


@pytest.mark.parametrize(("label", "sign"), [("ndcg@5", 1), ("popularity@5", -1)])
def test_the_difference_is_how_much_better_the_candidate_is(label, sign):
    one = pd.Series(np.random.default_rng(1).random(100))
    assert gate_scores(one + 0.1, one, metric=label).difference == pytest.approx(sign * 0.1)


def test_a_row_is_that_of_its_name_in_both_runs(old, new):
    answer = gate(new, old, row="BaselineOnly", tolerance="50%")
    assert (answer.new.row, answer.old.row) == ("BaselineOnly", "BaselineOnly")
    assert answer.sentences()[0].startswith(
        "not worse: BaselineOnly of new is not worse than BaselineOnly of old by more than"
    )


def test_best_rows_of_two_algorithms_are_named(old):
    best = harness.best(old).row.algorithm
    config = CONFIG | {"name": "other", "algorithms": ["UserMean"], "baselines": False}
    other = harness.run(config, results=None)
    (note,) = gate(other, old).notes
    assert note == (
        f"two algorithms are compared: UserMean, the best row of other, and {best}, the best row "
        "of old; --row and --old-row choose others"
    )
    assert not gate(other, old, old_row=best).notes
    assert "two algorithms" not in " ".join(gate(old, old, row=best, old_row="Random").notes)


def test_the_same_model_scored_twice_is_equal_and_said(old, new):
    answer = gate(new, old, row="ItemMean")
    assert (answer.verdict, answer.low, answer.high) == ("not worse", 0.0, 0.0)
    assert answer.notes == ["both sides are the same model on the same data"]


def test_the_same_model_with_other_scores_is_refused(old, new):
    users = new.users.copy()
    users.loc[users["algorithm"] == "ItemMean", "ndcg@10"] += 1e-9
    changed = harness.Run(new.info, users)
    with pytest.raises(ComparisonError, match=r"same model on the same data.*scores differ"):
        gate(changed, old, row="ItemMean")


def test_two_models_with_equal_scores_are_suspicious(old):
    users = old.users.copy()
    of_row = {name: users["algorithm"] == name for name in ("ItemMean", "BaselineOnly")}
    users.loc[of_row["ItemMean"], "ndcg@10"] = users.loc[of_row["BaselineOnly"], "ndcg@10"].values
    same = harness.Run(old.info, users)
    answer = gate(same, same, row="ItemMean", old_row="BaselineOnly")
    assert answer.notes == [EQUAL]
    assert answer.verdict == "not worse"
    assert answer.p == 1.0


@pytest.mark.parametrize(("n_users", "enough"), [(3, "too few"), (40, "enough")])
@pytest.mark.parametrize("tolerance", [0.0, 0.25])
def test_no_test_is_claimed_where_every_user_drops_by_the_tolerance(n_users, enough, tolerance):
    old = pd.Series(np.linspace(0.5, 1.0, n_users))
    answer = gate_scores(old - tolerance, old, metric="ndcg@10", tolerance=tolerance)
    assert answer.verdict == ("undecided" if n_users == 3 else "not worse")
    said = answer.sentences()[2]
    assert "randomisation" not in said
    assert " p " not in said
    assert said.endswith(f"there is nothing to test, and {n_users} such users are {enough}")


def test_changed_data_compares_the_users_of_both_and_says_so(old, tmp_path):
    size = {"n_users": 110, "n_items": 40, "n_ratings": 2200, "seed": 3}
    config = CONFIG | {"dataset": {"path": str(tmp_path / "day.csv")}, "baselines": False}
    runs = []
    for name, sizes in (("b", CONFIG["dataset"]["synthetic"]), ("changed", size)):
        harness.load({"synthetic": sizes}).to_frame().to_csv(tmp_path / "day.csv", index=False)
        runs.append(harness.run(config | {"name": name}, results=None))
    answer = gate(runs[1], runs[0], row="ItemMean")
    assert answer.n_users <= 110
    assert any("the data changed between b and changed" in note for note in answer.notes)
    assert any("left out: no score of ndcg@10 on one side" in note for note in answer.notes)
    # Runs of one name are told apart by their times.
    info = runs[1].info.model_copy(update={"name": "b", "started": "2020-01-02T03:04:05+00:00"})
    answer = gate(harness.Run(info, runs[1].users), runs[0], row="ItemMean")
    assert any("and b of 2020-01-02 03:04:05: compared" in note for note in answer.notes)
    assert "ItemMean of 2020-01-02 03:04:05 " in answer.sentences()[0]
    assert (answer.new.run, answer.new.started) == ("b", info.started)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"split": {"kind": "kfold", "n_splits": 2}}, "cannot be compared: split .* in "),
        ({"seed": 9}, "divides .* in another way"),
        ({"candidates": "catalogue"}, "cannot be compared: candidates"),
        ({"metrics": ["ndcg@5"], "headline": "ndcg@5"}, "was not scored by ndcg@10"),
    ],
)
def test_what_cannot_be_compared_is_refused(old, change, message):
    other = harness.run(CONFIG | {"name": "other", "baselines": False} | change, results=None)
    with pytest.raises(ComparisonError, match=message):
        gate(old, other)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"metric": "rmse"}, "not a mean over users"),
        ({"confidence": 1.5}, "confidence"),
        ({"tolerance": "abc"}, "give a number from 0"),
        ({"tolerance": -1}, "give a number from 0"),
        ({"row": "SDV"}, "no row 'SDV'"),
        ({"metric": "ndcg@11"}, "no metric 'ndcg@11'"),
        ({"row": "ItemMean", "old_row": "ItemMean"}, None),
    ],
)
def test_bad_settings_say_what_to_do(new, old, settings, message):
    if message is None:
        with pytest.raises(ComparisonError, match="compared with itself"):
            gate(old, old, **settings)
        return
    with pytest.raises((ComparisonError, ResultsError), match=message):
        gate(new, old, **settings)


def test_false_alarms_are_at_most_half_the_level_however_many_users_differ():
    for n_differing in range(1, 61):
        alarms, fewest = 0.0, None
        for n_lost in range(n_differing // 2 + 1, n_differing + 1):
            differences = np.repeat([-1.0, 1.0], [n_lost, n_differing - n_lost])
            if sign_flips(differences) <= 0.05:  # without which no verdict is "worse"
                alarms += math.comb(n_differing, n_lost) / 2**n_differing
                fewest = fewest or n_lost
        assert alarms <= 0.025, n_differing
        assert (fewest is None) == (n_differing < 6)
        # One lost user less than the test needs, and no interval decides.
        n_lost = n_differing if fewest is None else fewest - 1
        new = np.repeat([0.0, 1.0, 1.0], [n_lost, n_differing - n_lost, 20])
        old = np.repeat([1.0, 0.0, 1.0], [n_lost, n_differing - n_lost, 20])
        assert decide(new, old).verdict == "undecided"


@pytest.mark.parametrize("n_differing", [1, 5, 13, 14, 32, 33, 200])
def test_the_test_is_exact_where_it_can_be(n_differing):
    rng = np.random.default_rng(n_differing)
    differences = np.append(rng.normal(0.1, 0.3, n_differing), np.zeros(9))
    drawn = float(randomisation(differences[:, None])[0])
    error = math.sqrt(drawn * (1 - drawn) / 10_000) if 13 < n_differing < 33 else 1e-12
    assert sign_flips(differences) == pytest.approx(drawn, abs=5 * error)


@pytest.mark.parametrize(("n_lost", "n_won"), [(3, 0), (40, 20), (900, 800), (5300, 5100)])
def test_users_who_differ_by_the_same_are_a_binomial_test(n_lost, n_won):
    expected = scipy.stats.binomtest(n_lost, n_lost + n_won).pvalue
    # A mean of folds is the same number but for rounding.
    differences = np.repeat([-0.1 - 0.2, 0.3, 0.0], [n_lost, n_won, 7])
    assert sign_flips(differences) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("n_all", [3, 25, 600])
@pytest.mark.parametrize("n_lost", [1, 3, 5])
@pytest.mark.parametrize("sign", [-1, 1])
def test_few_users_who_differ_decide_nothing_and_say_so(n_all, n_lost, sign):
    old = pd.Series(np.full(n_all, 0.5))
    new = old.copy()
    new[:n_lost] += sign * 0.4
    answer = gate_scores(new, old, metric="hit@10")
    assert (answer.verdict, answer.detectable) == ("undecided", None)
    assert answer.p > 0.05
    n_differing = min(n_all, n_lost)
    assert any(note.startswith("cannot decide: ") for note in answer.notes)
    few = f"with {n_all} users" if n_all < 25 else "the scores differ for only "
    assert any(note.startswith(few) for note in answer.notes)
    text = "no drop is found" if n_all < 6 else f"is unknown: the scores differ for {n_differing} "
    assert text in answer.sentences()[-1]


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_a_verdict_never_stands_beside_a_note_that_nothing_can_be_decided(data):
    n_users = data.draw(st.integers(2, 40))
    values = st.sampled_from([0.0, 0.5, 0.63, 1.0])
    new, old = (
        pd.Series(data.draw(st.lists(values, min_size=n_users, max_size=n_users))) for _ in range(2)
    )
    answer = gate_scores(
        new, old, metric="ndcg@10", tolerance=data.draw(st.sampled_from([0, 0.1, "5%", 1]))
    )
    if answer.verdict == "undecided":
        return
    assert answer.p_tolerance <= 0.05
    assert not any("cannot decide" in note for note in answer.notes)
    if answer.verdict == "worse":
        assert answer.high < -answer.tolerance
    else:
        assert answer.low >= -answer.tolerance - 1e-12


@pytest.mark.parametrize("tolerance", [0.1, 0.3, 1e-3, 0.07, "10%", "1%"])
@pytest.mark.parametrize("n_users", [3, 50])
@pytest.mark.parametrize("is_up", [False, True])
def test_a_drop_of_exactly_the_tolerance_is_allowed(tolerance, n_users, is_up):
    rng = np.random.default_rng(3)
    if isinstance(tolerance, str):
        old = np.full(n_users, 0.7)
        new = old * (1 - float(tolerance[:-1]) / 100)
    else:
        old = rng.random(n_users)
        new = old - tolerance
    if is_up:  # off by the rounding of one operation in the other direction
        new = np.nextafter(new, 1)
    answer = gate_scores(pd.Series(new), pd.Series(old), metric="ndcg@10", tolerance=tolerance)
    assert answer.verdict == ("undecided" if n_users == 3 else "not worse")
    worse = gate_scores(
        pd.Series(new - 1e-9), pd.Series(old), metric="ndcg@10", tolerance=tolerance
    )
    assert worse.verdict == ("undecided" if n_users == 3 else "worse")


def test_the_sentences_name_the_p_value_that_decides():
    old = pd.Series(np.random.default_rng(0).random(50))
    answer = gate_scores(old - 0.1 * (old > 0.8), old, metric="ndcg@10", tolerance=0.01)
    assert f"a drop of exactly 0.01: p = {answer.p_tolerance:.2g}; " in answer.sentences()[2]


def test_the_documented_study_is_the_kept_one():
    figures = json.loads((TOP / "dev/benchmarks/figures/gate.json").read_text("utf-8"))["study"]
    page = (TOP / "docs/how-to/gate.md").read_text("utf-8")
    assert f"{figures['draws']} samples" in page
    error = math.sqrt(0.05 * 0.95 / figures["draws"])
    for row in figures["rows"]:
        assert row["false_alarms"] <= 0.05 + 3 * error
        cells = f"{row['scores']} | {row['users']} | {row['false_alarms']:.1%} | "
        assert f"{cells}{row['drop']:.4f} | {row['power']:.0%} |" in page


def test_users_of_two_programs_need_each_other():
    one, other = pd.Series([0.1, 0.2], ["a", "b"]), pd.Series([0.1, 0.2], ["c", "d"])
    with pytest.raises(ComparisonError, match="0 users with a score of ndcg@10 in both"):
        gate_scores(one, other, metric="ndcg@10")
    with pytest.raises(ComparisonError, match="a user is there twice"):
        gate_scores(pd.Series([0.1, 0.2], ["a", "a"]), one, metric="ndcg@10")


def test_the_command_says_the_verdict_first_and_exits_by_it(folder, old, new, cli):
    where = ["--results", str(folder)]
    code, out, _ = cli("gate", "old", "--against", "old", "--row", "Random", "--old-row",
                           "BaselineOnly", *where)  # fmt: skip
    assert code == 1
    assert out.startswith("worse: Random is worse than BaselineOnly by ndcg@10")
    code, out, _ = cli("gate", "new", "--against", "old", "--row", "ItemMean", *where)
    assert (code, out.split(":")[0]) == (0, "not worse")
    code, _, err = cli("gate", "new", "--against", "nothing", *where)
    assert code == 2
    assert "nothing: no run of this name" in err


def test_an_undecided_gate_is_a_code_of_its_own_where_strict(folder, old, new, cli, tmp_path):
    call = ["gate", "new", "--against", "old", "--row", "BaselineOnly", "--results", str(folder)]
    assert gate(new, old, row="BaselineOnly").verdict == "undecided"
    assert cli(*call)[0] == 0
    path = tmp_path / "gate.xml"
    assert cli(*call, "--strict", "--junit", str(path))[0] == 3
    (case,) = ElementTree.parse(path).getroot()
    assert case.find("skipped").get("message").startswith("undecided: ")


def test_json_has_every_number(folder, old, new, cli):
    call = ["gate", "new", "--against", "old", "--row", "BaselineOnly", "--results", str(folder)]
    code, out, _ = cli(*call, "--json")
    document = json.loads(out)
    assert document["exit"] == code == 0
    assert document["result"] == gate(new, old, row="BaselineOnly").to_dict()


def test_files_of_two_programs_are_scored_against_the_truth(cli, tmp_path):
    rng = np.random.default_rng(2)
    pairs = pd.MultiIndex.from_product([range(40), range(12)], names=["user", "item"])
    truth = pairs.to_frame(index=False).assign(rating=rng.integers(1, 6, len(pairs)))
    truth.to_csv(tmp_path / "truth.csv", index=False)
    for name, noise in (("good.csv", 0.5), ("bad.csv", 50.0)):
        frame = truth.assign(estimate=truth["rating"] + rng.normal(0, noise, len(truth)))
        frame.drop(columns="rating").to_csv(tmp_path / name, index=False)
    files = [str(tmp_path / name) for name in ("bad.csv", "good.csv", "truth.csv")]
    code, out, _ = cli("gate", files[0], "--against", files[1], "--truth", files[2])
    assert code == 1
    assert out.startswith("worse: bad.csv is worse than good.csv by ndcg@10")
    assert cli("gate", files[1], "--against", files[0], "--truth", files[2])[0] == 0
    lists = pd.read_csv(files[1])
    lists[lists["user"] < 30].to_csv(tmp_path / "some.csv", index=False)
    out = cli("gate", str(tmp_path / "some.csv"), "--against", files[1], "--truth", files[2])[1]
    assert "some.csv: 10 of 40 users have no list, which counts as an empty one" in out
    lists.assign(item=lists["item"] + 100).to_csv(tmp_path / "others.csv", index=False)
    code, _, err = cli(
        "gate", str(tmp_path / "others.csv"), "--against", files[1], "--truth", files[2]
    )
    assert (code, "others.csv: no listed item is among the ratings" in err) == (2, True)
    out = cli("gate", files[1], "--against", files[1], "--truth", files[2])[1]
    assert "every user has the same score on both sides; are they two models?" in out
