"""``harness report``, ``plot`` and ``table``: files where they are looked for, one line each."""

import io
import json
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd
import pytest

import harness
from harness.errors import ResultsError
from harness.report.plots import kinds
from harness.results import read_run
from harness.results.table import group_tables

DRAWN = {f"{kind}-ndcg@10" for kind in kinds() if kind not in ("groups", "parameter", "learning")}
DRAWN |= {"groups-ndcg@10-users-known"}  # a test user of run one is unknown to the model
TABLES = ("1-synthetic", "2-synthetic-seed-1", "3-synthetic-seed-2")
LABEL = "&lt;svd&gt; &amp; _b_"
RUNS = Path("runs")


@pytest.fixture
def call(call, made, tmp_path):
    """Call the command line in a folder with copies of the runs and of their cells."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return call


@pytest.mark.long
def test_report_writes_the_page_into_the_folder_of_the_run_and_the_list_beside_it(call):
    code, out, err = call("report", "one")
    assert (code, err) == (0, "")
    assert LABEL in (RUNS / "one" / "report.html").read_text(encoding="utf-8")
    assert "runs/one/report.html" in out
    assert 'href="one/report.html"' in (RUNS / "index.html").read_text(encoding="utf-8")


@pytest.mark.long
@pytest.mark.parametrize("command", ["report", "compare"])
def test_several_runs_are_one_page(call, tmp_path, command):
    out = call.done(command, "one", "two")
    assert ("KNNBasic" in out) == (command == "compare")
    assert "written to runs/comparison.html\n" in out
    page = (RUNS / "comparison.html").read_text(encoding="utf-8")
    assert "KNNBasic" in page
    assert "BaselineOnly" in page
    path = tmp_path / "deep" / "both.html"
    code, out, err = call(command, "one", "two", "--output", path)
    assert (code, err) == (0, "")
    assert out.splitlines()[-1] == f"written to {path}"
    assert path.read_text(encoding="utf-8") == page


@pytest.mark.long
def test_a_baseline_of_ones_own_heads_the_differences(call, tmp_path):
    page = tmp_path / "page.html"
    assert call("report", "one", "--baseline", "<svd> & _b_", "--output", page)[0] == 0
    assert f"Differences to {LABEL}" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("report onne", "did you mean 'one'?"),
        ("report one --baseline SVD", "no baseline 'SVD'"),
        ("plot one --metric ndcg@7", "no metric 'ndcg@7'"),
        ("plot one --metric rmsse", "no metric 'rmsse'; did you mean 'rmse'?"),
        ("plot one --kind spread --table 7", "no table 7; use one of 1:"),
        ("compare one runs/one", "runs/one: given twice; name each run once"),
        ("table one --groups --metric rmse", "one: no groups with 'rmse'; use one of ndcg"),
        ("table one two --groups", "--groups: shows one run at a time; name one run"),
        ("table one two --folds", "--folds: shows one run at a time; name one run"),
        ("table one --folds --groups", "--groups: is not for --folds; leave one of them out"),
        ("table one --folds --columns all", "--columns: is not for --folds; leave one"),
        ("table one --folds --metric ndcg@5", "--metric: needs --groups or --shares; add one"),
        ("table one --metric ndcg@5", "--metric: needs --groups or --shares; add one"),
        ("table one --training", "one: no values of the training set; add `outputs: {training"),
        ("table one --analysis overlap", "one: no table of an analysis 'overlap'; it has none"),
        ("plot one --kind groups --metric rmse", "rmse has no groups; add `groups` to the config"),
        ("compare one --rope 0.1", "--rope: needs --across; add it"),
        ("compare one --across", "one: one data set, synthetic; add runs of others"),
        ("compare --across data -o x.doc", "x.doc: a file of an unknown kind; use one of .md"),
    ],
)
def test_what_is_not_there_is_one_line_and_exit_2(call, arguments, message):
    before = sorted(RUNS.rglob("*"))
    code, out, err = call(*arguments.split())
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err
    assert sorted(RUNS.rglob("*")) == before


def test_folds_are_shown_in_every_form_and_their_mean_is_the_value_of_the_table(call):
    run = read_run(RUNS / "one")
    shown = {form: call("table", "one", "--folds", "--format", form)[1]
             for form in ("text", "markdown", "csv", "latex")}  # fmt: skip
    frame = pd.read_csv(io.StringIO(shown["csv"]))
    assert len(frame) == len(run.info.cells)
    assert frame["fold"].tolist() == [cell.fold + 1 for cell in run.info.cells]
    means = frame.groupby("algorithm")["rmse"].mean()
    table = run.table.set_index("algorithm")["rmse"]
    assert means.to_dict() == pytest.approx(table.to_dict(), abs=1e-8)
    for value in frame["rmse"].dropna():
        assert all(f"{value:.4f}" in text for form, text in shown.items() if form != "csv")


@pytest.mark.sample(6)
@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (("one", "--kind", "differences", "--metric", "ndcg@5"), {"differences-ndcg@5.svg"}),
        (("one", "--format", "svg"), {f"{name}.svg" for name in DRAWN}),
        (("one", "--format", "png"), {f"{name}.png" for name in DRAWN}),
        (("one", "two", "--kind", "spread"), {"spread-ndcg@10.svg"}),
        (("data", "--kind", "tradeoff"), {f"tradeoff-ndcg@10-{table}.svg" for table in TABLES}),
    ],
    ids=lambda value: None if isinstance(value, set) else str(value),  # sets have no order
)
def test_plot_draws_what_is_asked_for(call, tmp_path, arguments, names):
    code, out, err = call("plot", *arguments, "--output", tmp_path / "out")
    assert (code, err) == (0, "")
    assert {path.name for path in (tmp_path / "out").iterdir()} == names
    assert {line.rpartition("/")[2] for line in out.splitlines()} == names


@pytest.mark.long
def test_groups_are_shown_in_every_form_with_the_same_numbers(call, tmp_path):
    config = json.loads(Path("one.json").read_text()) | {"name": "who"}
    groups = [{"users": "training_ratings", "quantiles": 2}, {"items": "popularity"}]
    run = harness.run(config | {"groups": groups}, results="runs")
    written = [run.folder / name for name in ("groups.csv", "gaps.csv")]
    assert [pd.read_csv(path).shape for path in written] == [run.groups.shape, run.gaps.shape]
    shown = {form: call("table", "who", "--groups", "--format", form, "--metric", "NDCG@10")[1]
             for form in ("text", "markdown", "csv", "latex")}  # fmt: skip
    table = group_tables(run.info)[0]
    scores = next(each for each in run.info.groups if each.metric == "ndcg@10")
    for j, group in enumerate(scores.groups, 1):
        assert group.group in shown["csv"]
        for i, mean in enumerate(group.algorithms):
            if mean.mean is not None:
                text = table.rows[i][j].split()[0]
                assert float(text) == pytest.approx(mean.mean, abs=0.51 * 0.1 ** len(text[2:]))
                assert f"{mean.mean:.8f}" in shown["csv"]
                assert all(text in shown[form] for form in ("text", "markdown", "latex"))
    printed = call("run", "one.json", "--set", "name=who2", "--set", f"groups={json.dumps(groups)}")
    assert "ndcg@10 by items: popularity" in printed[1]
    page = Path(call("report", "who", "--output", tmp_path / "who.html")[1].split()[-1])
    text = page.read_text(encoding="utf-8")
    assert "ndcg@10 by users: training_ratings" in text
    assert text.count('data-kind="groups"') == len(run.info.groups)
    (tmp_path / "who.html").unlink()
    assert call("plot", "who", "--kind", "groups", "--output", tmp_path)[0] == 0
    assert {path.name for path in tmp_path.glob("*.svg")} == {
        "groups-ndcg@10-users-training_ratings.svg",
        "groups-ndcg@10-items-popularity.svg",
        "groups-ndcg@10-users-known.svg",
    }


def test_a_plot_command_that_draws_nothing_is_an_error(call, tmp_path, monkeypatch):
    def nothing(*_):
        raise ResultsError("nothing to show")

    monkeypatch.setattr("harness.report.drawing.Plot.__init__", nothing)
    code, out, err = call("plot", "one", "--output", tmp_path)
    assert (code, out, err.count("\n")) == (2, "", len(kinds()))


@pytest.mark.long
@pytest.mark.parametrize("target", ["link", pytest.param("pipe", marks=pytest.mark.long)])
@pytest.mark.parametrize(
    ("command", "begins"),
    [
        (("report", "one", "-o"), b"<!"),
        (("save", "one", "--algorithm", "BaselineOnly"), b"PK"),
        (("new",), b"# yaml-language-server"),
    ],
)
def test_files_are_written_into_links_and_pipes_which_stay(call, tmp_path, target, command, begins):
    path = tmp_path / target
    if target == "link":
        path.symlink_to(tmp_path / "file")
        read = (tmp_path / "file").read_bytes
    else:
        os.mkfifo(path)
        pool = ThreadPoolExecutor(1)
        read = pool.submit(path.read_bytes).result
    call.done(*command, path)
    assert path.is_symlink() or path.is_fifo()
    assert read().startswith(begins)


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    "command",
    [
        pytest.param("report one -o mine.html", marks=pytest.mark.long),
        pytest.param("compare one two -o mine.html", marks=pytest.mark.long),
        "compare --across data -o mine.csv",
        "methods one -o mine.md",
        "evaluate scored.csv --metrics rmse --per-user mine.csv",
        "best one -o mine.yaml",
        "recommend one --algorithm Popularity -o mine.csv",
        "save one --algorithm Popularity mine.zip",
        "new mine.yaml",
    ],
)
def test_a_file_that_exists_is_replaced_with_force_alone(call, command):
    Path("scored.csv").write_text("user,item,estimate,rating\n1,1,3,5\n")
    arguments = command.split()
    path = Path(arguments[-1])
    path.write_text("mine")
    advice = "exists; choose another name, or replace it with --force"
    assert call.refused(*arguments) == f"{path}: {advice}\n"
    assert path.read_text() == "mine"
    call.done(*arguments, "--force")
    assert path.read_bytes() not in (b"", b"mine")


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("report one -o a.md", "the page is HTML; call it a.html"),
        ("compare one two -o a.txt", "the page is HTML; call it a.html"),
        (
            "plot one -o a.png",
            "plots are files in a folder; name a folder, and use --format svg or png",
        ),
    ],
)
def test_pages_and_plots_are_not_written_into_a_file_of_another_format(call, command, message):
    assert call.refused(*command.split()) == f"{command.split()[-1]}: {message}\n"


@pytest.mark.long
def test_plots_in_a_folder_that_is_named_are_replaced_with_force_alone(call, tmp_path):
    command = ("plot", "one", "--kind", "tradeoff", "--kind", "spread")
    path = tmp_path / "spread-ndcg@10.svg"
    path.write_text("mine")
    assert call.refused(*command, "-o", tmp_path).startswith(f"{path}: exists; choose another")
    assert path.read_text() == "mine"
    assert len(list(tmp_path.glob("*.svg"))) == 1
    call.done(*command, "-o", tmp_path, "--force")
    assert "<svg" in path.read_text()
    for _ in range(2):  # those in the run's folder are the command's own
        call.done(*command)


def test_tables_in_every_format_name_every_algorithm(call):
    assert "written" not in call("table", "one")[1]
    assert call("table", "one", "--format", "csv")[1] == (RUNS / "one/table.csv").read_text()
    for form, label in (
        ("latex", r"\textless{}svd\textgreater{} \& \_b\_"),
        ("markdown", "&lt;svd&gt; &amp; \\_b\\_"),
        ("text", "<svd> & _b_"),
    ):
        assert label in call.done("table", "one", "--format", form)


def test_a_comparison_over_data_sets_is_printed_and_written_in_every_format(call, tmp_path):
    code, out, err = call("compare", "--across", "data", "--rope", "0.02")
    assert (code, err) == (0, "")
    for text in ("mean rank", "Friedman's test", "critical difference", "(within 0.02 of ndcg@10)"):
        assert text in out
    for form, ending in (("csv", "csv"), ("latex", "tex"), ("markdown", "md"), ("json", "json")):
        printed = call("compare", "--across", "data", "--format", form)[1]
        path = tmp_path / f"ranks.{ending}"
        assert call("compare", "--across", "data", "-o", path)[1] == f"written to {path}\n"
        assert path.read_text(encoding="utf-8") == printed
    assert call("compare", "--across", "data", "-o", tmp_path / "ranks.svg")[0] == 0
    assert "<svg" in (tmp_path / "ranks.svg").read_text(encoding="utf-8")


def test_conventions_has_a_row_for_each_library_in_every_table(call):
    out = call.done("conventions", "data", "-k", "5")
    assert "data · ndcg@5 · synthetic (seed 1), 2-fold, rated" in out
    assert out.count("\nsklearn ") == 3
    assert "ItemMean" in out


def test_methods_and_checklist_are_printed_or_written(call, tmp_path):
    for options in ((), ("--checklist",)):
        code, printed, err = call("methods", "one", *options)
        assert (code, err, printed[:2]) == (0, "", "# ")
        path = tmp_path / "text.md"
        out = call("methods", "one", *options, "-o", path, "--force")[1]
        assert out == f"written to {path}\n"
        assert path.read_text(encoding="utf-8") == printed


def rewrite(name, change):
    """Change the record of a run."""
    record = RUNS / name / "run.json"
    record.write_text(json.dumps(change(json.loads(record.read_text()))))


def test_list_runs_names_a_run_that_cannot_be_read_with_its_reason(call):
    rewrite("two", lambda info: {})
    code, out, err = call("list", "runs")
    assert (code, err) == (0, "")
    lines = {line.split()[0]: line for line in out.splitlines()}
    assert "ndcg@5" in lines["one"]
    assert "cannot be read" in lines["two"]
    assert "two/run.json: not a run's description" in lines["note:"]


def test_a_run_of_an_earlier_version_is_refused_with_the_command_that_makes_it_again(call):
    old = {"schema_version": 1, "config_file": "configs/one.yaml"}
    rewrite("one", lambda info: info | old)
    err = call.refused("table", "one")
    assert "written by another version of harness" in err
    assert "harness run configs/one.yaml --results runs" in err


def test_only_one_place_prints():
    for path in (Path(harness.__file__).parent / "cli").glob("*.py"):
        if path.name != "screen.py":
            assert "click.echo" not in path.read_text(), path


@pytest.mark.long
@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("report one", "one/report.html"),
        ("report one", "index.html"),
        ("compare one two", "comparison.html"),
        ("plot one --kind ndcg-over-k", "one/plots/ndcg-over-k-ndcg@10.svg"),
    ],
)
def test_no_file_is_written_through_a_link_that_may_come_with_a_run(call, tmp_path, command, name):
    path, target = RUNS / name, tmp_path / "mine"
    path.parent.mkdir(exist_ok=True)
    target.write_text("mine")
    path.symlink_to(target)
    assert f"{name}: a link to another file; remove the link\n" in call.refused(*command.split())
    assert target.read_text() == "mine"


@pytest.mark.long
def test_a_repeated_run_says_that_it_removed_the_page(call, tmp_path):
    (tmp_path / "c.yaml").write_text(
        "dataset: {synthetic: {n_users: 20, n_items: 20, n_ratings: 200}}\n"
        "algorithms: [ItemMean]\nmetrics: [fcp, rmse]\nbaselines: false\n"
        "split: {kind: leave-n-out}\n"
    )
    _, out, err = call("run", "c.yaml")
    assert "removed" not in err
    assert "fcp: no value, since it needs two different test ratings of a user" in out
    call.done("report", "c")
    _, _, err = call("run", "c.yaml", "-q")
    assert "note: report.html of the earlier run of this name removed; write it again" in err
    call.done("report", "c")


def test_a_dash_is_standard_output_or_refused(call, tmp_path):
    (tmp_path / "c.yaml").write_text(
        "dataset: {synthetic: {n_users: 20, n_items: 20, n_ratings: 200}}\n"
        "algorithms: [ItemMean]\nmetrics: [rmse]\nbaselines: false\n"
    )
    call.done("run", "c.yaml", "-q")
    for command in (("best", "c"), ("methods", "c"), ("recommend", "c")):
        assert call.done(*command, "-o", "-") == call.done(*command)
    for command in (
        ("report", "c", "-o", "-"),
        ("save", "c", "-"),
        ("history", "c", "--page", "-"),
    ):
        assert "'-': the output needs a file; name one" in call.refused(*command)
    assert not (tmp_path / "-").exists()
