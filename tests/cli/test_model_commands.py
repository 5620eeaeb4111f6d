"""``harness best``, ``recommend`` and ``save``: from a run to lists and a model, on own data."""

import io
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import harness
from harness import metrics, rankings
from harness.comparison.best import Best
from harness.errors import ResultsError

CONFIG = """
name: first
dataset: ratings.csv
filters: [{kind: min-ratings-per-user, n: 2}]
split: {kind: kfold, n_splits: 2}
algorithms:
  - {name: SVD, params: {n_epochs: 5}, search: {n_factors: [2, 4]}}
  - {name: ItemMean, as_surprise: true}
  - {name: SVD, label: broken, params: {lr_all: 1.0e+6}}
metrics: [rmse, ndcg@5]
tuning: {method: grid, trials: 2, metric: rmse}
statistics: {resamples: 200}
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with ratings of one's own, a config, and its run."""
    path = tmp_path_factory.mktemp("own")
    rng = np.random.default_rng(0)
    pairs = rng.permutation(60 * 30)[:900]
    likes = rng.normal(0, 0.7, 30)
    ratings = np.clip(np.round(3.2 + likes[pairs % 30] + rng.normal(0, 0.5, 900)), 1, 5)
    frame = pd.DataFrame({"user": pairs // 30, "item": pairs % 30, "rating": ratings})
    frame = frame.assign(user="u" + frame["user"].astype(str), item="i" + frame["item"].astype(str))
    frame.to_csv(path / "ratings.csv", index=False)
    (path / "first.yaml").write_text(CONFIG)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_CACHE", str(path / "cache"))
        patch.chdir(path)
        harness.run("first.yaml")
    return path


@pytest.fixture
def call(call, made, tmp_path):
    """Call the command line in a copy of that folder."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return call


@pytest.fixture
def run(call):
    return harness.read_run("runs/first")


def test_the_best_row_has_the_best_value_and_no_failed_cell(run):
    found = harness.best(run)
    table = run.table.set_index("algorithm")["rmse"].dropna()
    assert found.row.algorithm == table.idxmin()
    assert harness.best(run, metric="ndcg@5").row.algorithm == (
        run.table.set_index("algorithm")["ndcg@5"].dropna().idxmax()
    )


def test_the_parameters_are_those_furthest_above_the_config_in_validation(run):
    trials = run.trials
    values = {}
    for _, rows in trials.groupby("fold"):
        first = rows.loc[rows["trial"] == 0, "value"].item()
        for params, value in zip(rows["params"], rows["value"], strict=True):
            n_factors = json.loads(params).get("n_factors")
            values.setdefault(n_factors, []).append(first - value)
    expected = max(values, key=lambda key: np.mean(values[key]))
    params = harness.best(run, algorithm="SVD").params
    assert params.get("n_factors") == expected
    assert "random_state" not in params


def test_a_row_that_is_not_searched_has_no_seeds_of_searches(run):
    config = run.info.config | {"seeds": {"split": 2, "search": 2}}
    info = run.info.model_copy(update={"config": config})
    found = harness.best(harness.Run(info, run.users, trials=run.trials))
    assert found.config["seeds"] == {"split": 2}


def test_a_name_of_two_lines_stays_in_its_comment():
    config = {"dataset": "bundled", "split": "holdout"}
    found = Best(None, {}, config, ["SVD\nexecution: {workers: 256}"], Path())
    assert found.to_yaml().splitlines()[0] == "# SVD execution: {workers: 256}"


def test_a_path_on_another_drive_stays_absolute(monkeypatch):
    def refuse(*_):
        raise ValueError("path is on mount 'D:', start on mount 'C:'")

    monkeypatch.setattr("os.path.relpath", refuse)
    found = Best(None, {}, {"dataset": {"path": "a.csv"}, "split": "holdout"}, [], Path("/data"))
    assert found.config_in("/configs")["dataset"] == {"path": "/data/a.csv"}


def test_a_path_in_the_home_folder_stays_there():
    found = Best(None, {}, {"dataset": {"path": "~/a.csv"}, "split": "holdout"}, [], Path("/data"))
    assert found.config_in(Path.home())["dataset"] == {"path": "a.csv"}


def test_best_writes_a_config_that_runs_to_the_same_value(call, run):
    out = call.done(
        "best", "first", "--metric", "ndcg@5", "--algorithm", "ItemMean", "-o", "a b/best.yaml"
    )
    text = Path("a b/best.yaml").read_text()
    assert "path: ../ratings.csv" in text
    assert "as_surprise: true" in text
    assert re.search(r"^# ItemMean: ndcg@5 0\.\d{4} \(95% interval 0\.", text, re.M)
    assert "The value is of how it orders rated items; recommendations come from the whole" in out
    assert "where other rows can be better" in out
    assert "`harness run 'a b/best.yaml'` or `harness recommend 'a b/best.yaml'`" in out
    out = call.done("run", "a b/best.yaml", "--quiet")
    again = harness.read_run("runs/first-ItemMean")
    values = [each.table.set_index("algorithm")["rmse"]["ItemMean"] for each in (run, again)]
    assert values[0] == values[1]
    out = call("best", "first")[1]
    assert out.startswith("# From the run first: ratings, 2-fold, rated.")
    assert "# Chosen by how it orders rated items; recommendations come from the whole" in out


def test_lists_are_those_of_the_python_interface_in_every_format(call, run):
    model = harness.fit_row(run, "ItemMean")
    expected = harness.recommend(model, n=3)
    common = ("recommend", "first", "--algorithm", "ItemMean", "--top", 3)
    code, out, err = call(*common)
    assert code == 0
    assert err.endswith("180 recommendations for 60 users\n")
    csv, csv_text = pd.read_csv(io.StringIO(out)), out
    pd.testing.assert_frame_equal(csv, expected, check_dtype=False)
    out = call(*common, "--format", "jsonl")[1]
    pd.testing.assert_frame_equal(pd.read_json(io.StringIO(out), lines=True), csv)
    call.done(*common, "-o", "lists.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet("lists.parquet"), csv, check_dtype=False)
    call.done(*common, "--format", "csv", "-o", "named.parquet")  # what is asked for
    assert Path("named.parquet").read_text() == csv_text
    rows = [line.split() for line in call(*common, "--format", "trec")[1].splitlines()]
    assert [(row[0], row[2], int(row[3]), float(row[4])) for row in rows] == [
        (row.user, row.item, row.rank, row.estimate) for row in csv.itertuples()
    ]


def test_lists_of_some_items_and_of_unknown_users(call, run):
    model = harness.fit_row(run, "ItemMean")
    user = model.trainset.to_raw_uid(0)
    items = [model.trainset.to_raw_iid(inner) for inner in range(4)]
    Path("items.txt").write_text("\n".join([*items, "no such item"]))
    Path("without.txt").write_text(items[0])
    Path("two.txt").write_text(f"{user}\nnobody\n")
    common = ("recommend", "first", "--algorithm", "ItemMean", "--users", "two.txt")
    code, out, err = call(
        *common, "--items", "items.txt", "--without", "without.txt", "--unknown-users", "popular"
    )
    assert code == 0
    options = {"items": items, "without": items[:1], "unknown_users": "popular"}
    expected = harness.recommend(model, users=[user, "nobody"], **options)
    found = pd.read_csv(io.StringIO(out), dtype={"user": str, "item": str})
    pd.testing.assert_frame_equal(found, expected, check_dtype=False)
    assert "note: 1 item of items.txt has no ratings, so no list shows them: 'no such" in err


@pytest.mark.parametrize(
    "words",
    [("recommend", "{}"), ("similar", "{}", "--item", "i2"), ("save", "{}", "model.harness")],
    ids=lambda words: words[0],
)
def test_a_command_with_a_model_takes_changes_of_a_config_but_not_of_a_run(call, words):
    text = "dataset: ratings.csv\nalgorithms: [{name: SVD, params: {n_factors: 5}}]\n"
    Path("one.yaml").write_text(f"{text}metrics: [rmse]\n")
    Path("two.yaml").write_text(f"{text.replace('5', '3')}metrics: [rmse]\n")
    change = ("--set", "algorithms[0].params.n_factors=3")

    def answer(source, *options):
        out = call.done(*(word.format(source) for word in words), *options)
        if words[0] != "save":
            return out
        return harness.load_model(Path("model.harness").rename(f"{len(options)}.harness")).qi

    plain, changed, expected = answer("one.yaml"), answer("one.yaml", *change), answer("two.yaml")
    assert np.shape(plain) != np.shape(expected) or np.any(plain != expected)
    assert np.array_equal(changed, expected)
    code, _, err = call(
        *(word.format("first") for word in words if word != "model.harness"),
        *(["other.harness"] if words[0] == "save" else []),
        *change,
    )
    assert code == 2
    assert "a run was measured with its own config" in err


@pytest.mark.parametrize("clip", [True, False])
def test_lists_are_clipped_as_the_config_says(call, clip):
    row = "{name: BaselineOnly, params: {bsl_options: {reg_i: 0, reg_u: 0}}}"
    config = f"{{dataset: ratings.csv, algorithms: [{row}], metrics: [rmse], clip: {clip}}}"
    Path("own.yaml").write_text(config)
    out = call.done("recommend", "own.yaml")
    assert (pd.read_csv(io.StringIO(out))["estimate"].max() > 5) != clip


@pytest.mark.parametrize("form", ["csv", "parquet", "trec"])
def test_lists_are_read_back_by_evaluate(call, run, form):
    lists = f"back.{form}"
    arguments = ("--seen", "keep", "--top", 30, "--format", form, "-o", lists)
    call.done("recommend", "first", "--algorithm", "ItemMean", *arguments)
    out = call.done(
        *("evaluate", lists, "--truth", "ratings.csv", "--training", "ratings.csv"),
        *("--metrics", "ndcg(ties=first)@5,item_coverage@30"),
    )
    values = out.splitlines()[-1].split()
    assert values[0] == lists
    assert float(values[2]) == 1.0  # every item is in a list of thirty
    rated = pd.read_csv("ratings.csv").pivot_table(index="user", columns="item", values="rating")
    model = harness.fit_row(run, "ItemMean")
    estimates = [[model.predict(user, item).est for item in rated] for user in rated.index]
    lists = rankings.from_matrix(rated.fillna(0), estimates)
    expected = metrics.score([metrics.parse("ndcg@5")], lists)
    assert float(values[1]) == pytest.approx(next(iter(expected.values())).mean, abs=1e-6)


def test_users_and_estimates_can_be_limited(call):
    Path("users.txt").write_text("u7\n\nu3\nu7\n")
    common = ("recommend", "first", "--algorithm", "ItemMean")
    _, out, err = call(*common, "--users", "users.txt", "--least", 3.5)
    found = pd.read_csv(io.StringIO(out))
    assert list(dict.fromkeys(found["user"])) == ["u7", "u3"]
    assert found["estimate"].min() >= 3.5
    assert err.endswith("for 2 users\n")


@pytest.mark.parametrize(
    ("users", "named"), [(2, "'u0', 'u1'"), (7, "'u0', 'u1', 'u2', 'u3', 'u4' and 2 more")]
)
def test_users_without_a_list_are_named(call, users, named):
    Path("few.txt").write_text("".join(f"u{number}\n" for number in range(users)))
    common = ("recommend", "first", "--algorithm", "ItemMean", "--users", "few.txt", "--least", 5)
    said = f"0 recommendations for 0 users\nnote: no item is left for {users} users: {named}\n"
    assert call(*common)[2].endswith(said)


def test_a_model_is_saved_and_read_back(call, run):
    out = call.done("save", "first", "model.zip", "--algorithm", "SVD")
    assert 'harness.load_model("model.zip")' in out
    model = harness.load_model("model.zip")
    assert model.predict("u1", "i1").est == harness.fit_row(run, "SVD").predict("u1", "i1").est
    params = harness.best(run, algorithm="SVD").params
    assert model.n_epochs == 5
    assert model.n_factors == params.get("n_factors", 100)


@pytest.mark.parametrize(
    ("name", "more", "meaning"),
    [
        ("ItemMean", "", ""),
        ("Popularity", "baselines: false", "how often the item was rated, scaled"),
        ("Random", "statistics: {baseline: Popularity}", "a random number"),
    ],
)
def test_a_config_of_one_algorithm_needs_no_run_and_a_note_says_what_is_no_rating(
    call, name, more, meaning
):
    text = f"dataset: ratings.csv\nalgorithms: [{name}]\nmetrics: [mae]\n{more}\n"
    Path("one.json").write_text(text)  # of any ending
    _, out, err = call("recommend", "one.json", "--top", 1)
    assert out.count("\n") == 61
    note = f"note: {name}: an estimate is not a rating, but {meaning}"
    assert (note in err) == bool(meaning)


BAD = [
    (("best", "nothing"), "no run of this name"),
    (("best", "first", "--algorithm", "SDV"), "no row 'SDV'; did you mean 'SVD'?"),
    (("best", "first", "--algorithm", "broken"), "first: broken failed ("),
    (("best", "first", "--metric", "rmze"), "rmze"),
    (("best", "first", "--metric", "mae"), "no metric 'mae'; use one of"),
    (
        ("best", "first", "--split", "3-fold"),
        "--split: first: no table fits split '3-fold'; ",
    ),
    (("best", "first", "-o", "first.yaml/x.yaml"), "cannot be written (not a directory)"),
    (("recommend", "first.yaml"), "the config has SVD, ItemMean, broken; choose one"),
    (("recommend", "first.yaml", "--algorithm", "SVD"), "its parameters are searched; run"),
    (("recommend", "first.yaml", "--split", "2-fold"), "choose a table of a run"),
    (("recommend", "first", "--format", "parquet"), "cannot be printed; give a file"),
    (("recommend", "first", "--users", "none.txt"), "none.txt: cannot be read"),
    (("recommend", "first", "--users", "empty.txt"), "empty.txt: no users"),
    (
        ("recommend", "first", "--users", "other.txt"),
        "other.txt: 1 of 2 users has no ratings ('nobody')",
    ),
    (("recommend", "first", "--items", "other.txt"), "other.txt: no item has a rating ("),
    (("recommend", "first", "--without", "empty.txt"), "empty.txt: no items"),
    (("similar", "first", "--algorithm", "ItemMean"), "give one of --item and --user"),
    (("similar", "first", "--algorithm", "SVD", "--item", "1"), "item '1' is not in the tr"),
    (("recommend", "first", "--top", "0"), "--top"),
    (("recommend", "first", "--least", "nan"), "least: nan, which no estimate reaches; give"),
    (("recommend", "first.yml"), "did you mean 'first.yaml'?"),
    (
        ("describe", "ratings.yaml"),
        "'ratings.csv', or `harness new ratings.yaml --dataset ratings.c",
    ),
    (("table", "first.yaml"), "first.yaml: a config; give the name or the folder of its run"),
    (("save", "first", "first.yaml/model.zip"), "cannot be written"),
    (
        ("evaluate", "a.run", "--metrics", "ndcg@10,rmse"),
        "a TREC run has no ratings; give the relevant items",
    ),
]


@pytest.mark.parametrize(("arguments", "message"), BAD, ids=lambda value: str(value)[:60])
def test_bad_input_is_named(call, arguments, message):
    Path("empty.txt").write_text("\n")
    Path("other.txt").write_text("u1\nnobody\n")
    Path("a.run").write_text("u1 Q0 i1 1 5.0 x\n")
    err = call.refused(*arguments)
    assert message in " ".join(err.split())
    assert "fitting" not in err or "--least" in arguments  # which may take hours


def test_a_run_that_takes_the_place_of_another_says_so(call):
    Path("twice.yaml").write_text(
        "dataset: ratings.csv\nalgorithms: [ItemMean]\nmetrics: [mae]\nstatistics: null\n"
    )
    assert "kept" not in call("run", "-q", "twice.yaml")[2]
    assert "kept" not in call("run", "-q", "twice.yaml")[2]
    err = call("run", "-q", "twice.yaml", "--set", "seed=3")[2]
    assert "twice held another run (another config); it is kept as runs/twice@20" in err


def test_data_that_changed_since_the_run_are_refused(call):
    with Path("ratings.csv").open("a") as file:
        file.write("u1,new,3\n")
    err = call.refused("recommend", "first", "--algorithm", "ItemMean")
    assert "not the ratings of the run" in err


OWN = """
import surprise
class Mine(surprise.AlgoBase):
    def estimate(self, u, i):
        return 3.0
"""


def test_a_run_is_used_from_another_folder(call, tmp_path, monkeypatch):
    here, there = tmp_path / "here", tmp_path / "there"
    for each in (here / "data", here / "configs", there):
        each.mkdir(parents=True)
    ratings = pd.read_csv("ratings.csv")
    for name, rows in (("r", ratings), ("a", ratings[::2]), ("b", ratings[1::2])):
        rows.to_csv(here / "data" / f"{name}.csv", index=False)
    (here / "configs" / "elsewhere_own.py").write_text(OWN)
    (here / "configs" / "mine.yaml").write_text(
        "dataset: ../data/r.csv\nalgorithms: ['elsewhere_own:Mine']\nmetrics: [rmse]\n"
        "baselines: false\nsplit: {kind: predefined, test: '../data/{fold}.csv', folds: [a, b]}\n"
    )
    monkeypatch.chdir(here)
    assert call("run", "-q", "configs/mine.yaml")[0] == 0
    at_home = call("recommend", "mine")[1]
    monkeypatch.chdir(there)
    assert call("recommend", "../here/runs/mine")[1] == at_home
    out = call.done("best", "../here/runs/mine", "-o", "best.yaml")
    assert "Its class is imported: the module elsewhere_own has to be where it is used" in out
    assert call("recommend", "best.yaml")[1] == at_home
    assert call("run", "-q", "best.yaml")[0] == 0
    for run in ("../here/runs/mine", "runs/mine", "runs/mine"):  # a run repeats itself
        assert call("run", "-q", "--trust", run)[0] == 0
        assert call("recommend", run)[1] == at_home
    shutil.move(here / "runs" / "mine", tmp_path / "moved")
    err = call.refused("recommend", tmp_path / "moved")
    assert "mine: its data, ../data/r.csv, are not found from here; change to the folder" in err


def test_data_from_python_are_given_again(call):
    ratings = harness.load("ratings.csv")
    config = {"algorithms": ["ItemMean"], "metrics": ["rmse"], "dataset": "bundled"}
    run = harness.run(config, ratings=ratings, results=None)
    assert len(harness.recommend(harness.fit_row(run, ratings=ratings), n=2)) == 120
    with pytest.raises(harness.errors.HarnessError, match=r"\(ratings\) were given from Python"):
        harness.fit_row(run)


def test_evidence_says_which_rows_are_better(call):
    config = {
        "dataset": "ratings.csv",
        "algorithms": ["ItemMean", "Random"],
        "metrics": ["ndcg@5"],
        "baselines": False,
    }
    run = harness.run(config, results=None)
    assert "Significantly better than every other row." in harness.best(run).evidence
    worse = harness.best(run, algorithm="Random")
    assert "Significantly better: ItemMean." in worse.evidence
    for row, letters in zip(run.info.statistics[0].algorithms, ("aa.ab", "a"), strict=True):
        row.letters = letters  # as of more than 26 groups, where "aa" and "a" are two
    assert "Significantly better than every other row." in harness.best(run).evidence
    assert worse.config["name"] == "run-Random"
    assert any("not personalised" in each for each in worse.evidence)
    run = harness.run(config | {"algorithms": ["ItemMean", "Random", "UserMean"]}, results=None)
    found = run.info.statistics[0]  # as of a row whose cells failed in part
    found.pairs = [pair for pair in found.pairs if "UserMean" not in (pair.first, pair.second)]
    said = "Significantly better than every other row that was compared. Not compared: UserMean."
    assert said in harness.best(run).evidence


def test_one_of_several_tables_is_chosen(call):
    config = {
        "dataset": "ratings.csv",
        "candidates": ["rated", "catalogue"],
        "algorithms": ["ItemMean", "SlopeOne"],
        "metrics": ["ndcg@5"],
        "statistics": None,
    }
    run = harness.run(config, results=None)
    with pytest.raises(ResultsError, match=r"several tables fit; .*rated; ratings"):
        harness.best(run)
    found = harness.best(run, candidates="catalogue")
    assert found.config["candidates"] == {"kind": "catalogue"}
    assert "Rows were not compared by ndcg@5." in found.evidence
