"""``harness report``, ``plot`` and ``table``: files where they are looked for, one line each."""

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import harness
from harness.cli import views
from harness.errors import ResultsError
from harness.experiment import run
from harness.report.plots import KINDS

CONFIG = {
    "dataset": {"synthetic": {"n_users": 40, "n_items": 30, "n_ratings": 600}},
    "split": {"kind": "kfold", "n_splits": 2},
    "algorithms": ["BaselineOnly", {"name": "SVD", "label": "<svd> & _b_"}],
    "metrics": ["ndcg@5", "ndcg@10"],
    "statistics": {"resamples": 200},
    "baselines": False,
}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A folder with two runs on the same folds."""
    folder = tmp_path_factory.mktemp("made")
    before = os.environ.get("HARNESS_CACHE")
    os.environ["HARNESS_CACHE"] = str(folder / "cache")
    try:
        run(CONFIG | {"name": "one"}, results=folder / "runs")
        run(CONFIG | {"name": "two", "algorithms": ["KNNBasic"]}, results=folder / "runs")
    finally:
        os.environ.pop("HARNESS_CACHE")
        if before is not None:
            os.environ["HARNESS_CACHE"] = before
    return folder / "runs"


@pytest.fixture
def call(call, results, monkeypatch):
    monkeypatch.chdir(results.parent)
    return call


def test_report_writes_the_page_into_the_folder_of_the_run_and_the_list_beside_it(call, results):
    code, out, err = call("report", "one")
    assert (code, err) == (0, "")
    page = (results / "one" / "report.html").read_text(encoding="utf-8")
    assert "&lt;svd&gt; &amp; _b_" in page
    assert "runs/one/report.html" in out
    assert 'href="one/report.html"' in (results / "index.html").read_text(encoding="utf-8")


def test_report_of_several_runs_is_one_page(call, results):
    code, out, _ = call("report", "one", "two")
    assert code == 0
    page = (results / "comparison.html").read_text(encoding="utf-8")
    assert "KNNBasic" in page
    assert "BaselineOnly" in page
    assert "comparison.html" in out


def test_compare_prints_the_table_and_writes_the_page_across_runs(call, results, tmp_path):
    code, out, err = call("compare", "one", "two", "--output", tmp_path / "both.html")
    assert (code, err) == (0, "")
    assert "KNNBasic" in out
    assert out.splitlines()[-1] == f"written to {tmp_path / 'both.html'}"
    page = (tmp_path / "both.html").read_text(encoding="utf-8")
    assert "KNNBasic" in page
    assert "BaselineOnly" in page


def test_report_goes_where_it_is_told(call, tmp_path):
    code, out, _ = call("report", "one", "--output", tmp_path / "deep" / "page.html")
    assert code == 0
    assert (tmp_path / "deep" / "page.html").is_file()
    assert out.count("\n") == 1


def test_a_baseline_of_ones_own_heads_the_differences(call, tmp_path):
    call("report", "one", "--baseline", "<svd> & _b_", "--output", tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Differences to &lt;svd&gt; &amp; _b_" in text


def test_an_unknown_run_or_baseline_is_one_line_and_exit_2(call):
    code, _, err = call("report", "onne")
    assert (code, err.count("\n")) == (2, 1)
    assert "did you mean 'one'?" in err
    code, _, err = call("report", "one", "--baseline", "SVD")
    assert code == 2
    assert "no baseline 'SVD'" in err


@pytest.mark.parametrize("form", ["svg", "png"])
def test_plot_draws_every_kind(call, tmp_path, form):
    code, out, err = call("plot", "one", "--format", form, "--output", tmp_path)
    assert (code, err) == (0, "")
    assert {path.name for path in tmp_path.iterdir()} == {
        f"{kind}-ndcg@10.{form}" for kind in KINDS
    }
    assert out.count("written to") == len(KINDS)


def test_plot_draws_the_kind_and_metric_that_are_asked_for(call, tmp_path):
    call("plot", "one", "--kind", "differences", "--metric", "ndcg@5", "--output", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["differences-ndcg@5.svg"]


def test_plot_draws_every_table_into_files_named_by_the_table(call, results, tmp_path):
    run(CONFIG | {"name": "four", "candidates": ["rated", "catalogue"]}, results=results)
    code, out, err = call("plot", "four", "--kind", "tradeoff", "--output", tmp_path / "out")
    names = {"tradeoff-ndcg@10-1-rated.svg", "tradeoff-ndcg@10-2-catalogue.svg"}
    assert (code, err) == (0, "")
    assert {path.name for path in (tmp_path / "out").iterdir()} == names
    assert {line.rpartition("/")[2] for line in out.splitlines()} == names


def test_an_unknown_metric_is_one_error(call, tmp_path):
    code, out, err = call("plot", "one", "--metric", "ndcg@7", "--output", tmp_path)
    assert (code, out, err.count("no metric 'ndcg@7'")) == (2, "", 1)


def test_plot_of_several_runs_shows_them_together(call, tmp_path):
    call("plot", "one", "two", "--kind", "spread", "--output", tmp_path)
    assert (tmp_path / "spread-ndcg@10.svg").is_file()


def test_a_plot_that_cannot_be_is_an_error_where_it_was_asked_for(call, tmp_path):
    code, _, err = call("plot", "one", "--kind", "spread", "--table", "7", "--output", tmp_path)
    assert code == 2
    assert "no table 7; use one of 1:" in err


@pytest.mark.parametrize("metric", ["ndcg@7", "rmsse"])
def test_a_metric_that_the_run_does_not_have_is_one_error(call, tmp_path, metric):
    code, out, err = call("plot", "one", "--metric", metric, "--output", tmp_path / "plots")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "ndcg@" in err
    assert not (tmp_path / "plots").exists()


def test_a_plot_command_that_draws_nothing_is_an_error(call, tmp_path, monkeypatch):
    def nothing(*_):
        raise ResultsError("nothing to show")

    monkeypatch.setattr("harness.report.plots.Plot.write", nothing)
    code, out, err = call("plot", "one", "--output", tmp_path)
    assert (code, out, err.count("\n")) == (2, "", len(KINDS))


def test_list_runs_names_a_run_that_cannot_be_read_with_its_reason(call, results):
    folder = results / "broken"
    folder.mkdir()
    (folder / "run.json").write_text("{")
    try:
        code, out, err = call("list", "runs")
    finally:
        (folder / "run.json").unlink()
        folder.rmdir()
    assert (code, err) == (0, "")
    lines = {line.split()[0]: line for line in out.splitlines()}
    assert "ndcg@5" in lines["one"]
    assert "cannot be read" in lines["broken"]
    assert "broken/run.json: not a run's description" in lines["note:"]


STEERING = "Steering\x1b[2J\x07\x9b2J\u202e"


@pytest.fixture
def foreign(results, tmp_path):
    """A run whose record holds what steers a terminal, in every name and message."""
    folder = tmp_path / "runs" / "foreign"
    shutil.copytree(results / "one", folder)
    info = json.loads((folder / "run.json").read_text())
    del info["sha256"]

    def steering(part, key=""):
        if isinstance(part, dict):
            return {k: steering(v, k) for k, v in part.items()}
        if isinstance(part, list):
            return [steering(each, key) for each in part]
        shown = ("algorithm", "dataset", "split", "candidates", "notes", "description", "started")
        return f"{part}{STEERING}" if key in shown and isinstance(part, str) else part

    (folder / "run.json").write_text(json.dumps(steering(info)))
    return folder


@pytest.mark.parametrize(
    "command",
    [
        ("table", "foreign"),
        ("table", "foreign", "--format", "markdown"),
        ("table", "foreign", "--format", "csv"),
        ("table", "foreign", "--format", "latex"),
        ("conventions", "foreign"),
        ("compare", "foreign"),
        ("list", "runs"),
        ("plot", "foreign", "--kind", "spread"),
        ("plot", "foreign", "--metric", "x\x1b[2J"),
        ("run", "runs/foreign", "--set", "algorithms=[x\x1b[2J]"),
    ],
    ids=" ".join,
)
def test_what_steers_a_terminal_reaches_none(call, foreign, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    _, out, err = call(*command)
    assert out + err
    assert not {c for c in out + err if not c.isprintable()} - {"\n"}


def test_only_one_place_prints():
    for path in (Path(harness.__file__).parent / "cli").glob("*.py"):
        if path.name != "screen.py":
            assert "click.echo" not in path.read_text(), path
            assert " print(" not in path.read_text().replace("console.print(", ""), path


@pytest.mark.parametrize("target", ["link", "pipe"])
def test_a_page_is_written_into_links_and_pipes_which_stay(call, tmp_path, target):
    path = tmp_path / target
    if target == "link":
        path.symlink_to(tmp_path / "page.html")
        read = (tmp_path / "page.html").read_bytes
    else:
        os.mkfifo(path)
        pool = ThreadPoolExecutor(1)
        read = pool.submit(path.read_bytes).result
    code, _, err = call("report", "one", "--output", path)
    assert (code, err) == (0, "")
    assert read().startswith(b"<!")
    assert path.is_symlink() or path.is_fifo()


def test_table_as_csv_is_what_the_run_wrote(call, results):
    code, out, _ = call("table", "one", "--format", "csv")
    assert code == 0
    assert out == (results / "one" / "table.csv").read_text()


def test_table_as_latex_and_markdown_name_every_algorithm(call):
    assert r"\textless{}svd\textgreater{} \& \_b\_" in call("table", "one", "--format", "latex")[1]
    assert "&lt;svd&gt; &amp; \\_b\\_" in call("table", "one", "--format", "markdown")[1]


def test_table_as_text_is_what_run_prints(call):
    code, out, _ = call("table", "one")
    assert code == 0
    assert "<svd> & _b_" in out


def test_the_command_line_offers_every_kind_of_plot():
    assert set(views.PLOTS) == set(KINDS)


SCRIPT = """\
import json, sys
from pathlib import Path
from harness.report import write_page
from harness.results import read_run
write_page([read_run(Path(sys.argv[1]))], Path(sys.argv[2]))
foreign = ("surprise", "numba", "harness.algorithms", "harness.experiment")
print(json.dumps([name for name in sys.modules if name.startswith(foreign)]))
"""


def test_the_page_is_made_from_results_alone(results, tmp_path):
    arguments = [sys.executable, "-c", SCRIPT, str(results / "one"), str(tmp_path / "p.html")]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True, timeout=120)
    assert json.loads(done.stdout) == []


def test_a_run_is_not_compared_with_itself(call, results):
    code, out, err = call("compare", "one", "runs/one")
    assert (code, out) == (2, "")
    assert "runs/one: given twice; name each run once" in err


def test_a_run_of_an_earlier_version_is_refused_with_the_command_that_makes_it_again(call, results):
    folder = results / "earlier"
    folder.mkdir()
    info = json.loads((results / "one" / "run.json").read_text())
    info |= {"schema_version": 1, "config_file": "configs/one.yaml"}
    (folder / "run.json").write_text(json.dumps(info))
    code, out, err = call("table", "earlier")
    (folder / "run.json").unlink()
    folder.rmdir()
    assert (code, out) == (2, "")
    assert "written by another version of harness" in err
    assert "harness run configs/one.yaml --results runs" in err
