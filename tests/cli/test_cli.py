"""The command line: what it prints, where, and how it exits."""

import errno
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import harness

TOP = Path(__file__).parents[2]
CONFIG = """\
dataset: {synthetic: {n_users: 40, n_items: 30, n_ratings: 600}}
split: {kind: holdout, test_size: 0.25}
algorithms: [BaselineOnly, {name: KNNBasic, label: "knn <b>"}, Random]
metrics: [ndcg@5, rmse]
baselines: false
"""


@pytest.fixture
def call(call, tmp_path):
    (tmp_path / "small.yaml").write_text(CONFIG)
    return call


def test_run_prints_the_table_and_writes_it(call, tmp_path):
    code, out, err = call("run", "small.yaml")
    assert code == 0
    assert [line.split("  ")[0] for line in out.splitlines()[4:7]] == [
        "BaselineOnly",
        "knn <b>",
        "Random",
    ]
    assert "[3/3] ✓ Random" in err
    folder = tmp_path / "runs" / "small"
    assert {path.name for path in folder.iterdir()} == {
        "run.json",
        "bounds.csv",
        "table.csv",
        "table.md",
        "users.parquet",
    }
    assert "knn &lt;b&gt;" in (folder / "table.md").read_text()


def test_configs_of_one_name_are_refused_before_a_fit(call, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "small.yaml").write_text(CONFIG)
    code, out, err = call("run", "small.yaml", "other/small.yaml")
    assert (code, out) == (2, "")
    assert "other/small.yaml:1: name: 'small' is also the name of small.yaml" in err
    (tmp_path / "third.yaml").write_text("name: small\n" + CONFIG)
    code, out, err = call("run", "small.yaml", "third.yaml")
    assert (code, out) == (2, "")
    assert "third.yaml:1: name: 'small' is also the name of small.yaml" in err
    assert not (tmp_path / "runs").exists()


def test_quiet_prints_the_table_alone(call):
    code, out, err = call("run", "small.yaml", "-q")
    assert (code, err) == (0, "")
    assert "BaselineOnly" in out


def test_a_failing_cell_makes_the_exit_code_1(call, tmp_path, monkeypatch):
    (tmp_path / "failing_algorithm_for_cli.py").write_text(
        "import surprise\n"
        "class Fails(surprise.AlgoBase):\n"
        "    def fit(self, trainset):\n"
        "        raise RuntimeError('no fit')\n"
        "    def estimate(self, u, i):\n"
        "        return 3.0\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    rows = "algorithms=[BaselineOnly, {name: 'failing_algorithm_for_cli:Fails', label: own}]"
    code, out, err = call("run", "small.yaml", "--set", rows)
    assert code == 1
    assert "RuntimeError: no fit (failing_algorithm_for_cli.py:4)" in out
    assert "✗ own: RuntimeError: no fit" in err


def test_a_bad_config_is_named_line_by_line_with_exit_code_2(call, tmp_path):
    (tmp_path / "bad.yaml").write_text(CONFIG.replace("rmse", "rsme") + "sed: 1\n")
    code, out, err = call("run", "small.yaml", "bad.yaml")
    assert (code, out) == (2, "")
    assert err.splitlines() == [
        "bad.yaml:4: metrics[1]: rsme: unknown metric 'rsme'; did you mean 'rmse'?",
        "bad.yaml:6: sed: unknown key; did you mean 'seed'?",
    ]


def test_check_plans_without_fitting(call, tmp_path):
    code, out, _ = call("check", "small.yaml", "--set", "split=kfold", "--set", "seed=[0, 1]")
    assert code == 0
    assert "30 cells" in out
    assert not (tmp_path / "runs").exists()
    assert not (tmp_path / "cache").exists()


def test_splits_are_saved_and_a_run_of_a_saved_one_gives_the_same_table(call, tmp_path):
    code, out, _ = call("split", "small.yaml", "--set", "split.random_state=7")
    path = Path(out.splitlines()[0])
    assert code == 0
    assert path.exists()
    assert "450 training and 150 test ratings" in out
    call("run", "small.yaml", "--set", "split.random_state=7", "--set", "name=drawn")
    text = CONFIG.replace("{kind: holdout, test_size: 0.25}", f"{{kind: file, path: '{path}'}}")
    (tmp_path / "again.yaml").write_text(text)
    code, _, _ = call("run", "again.yaml")
    assert code == 0
    drawn, again = (
        pd.read_csv(tmp_path / "runs" / name / "table.csv")[["ndcg@5", "rmse"]]
        for name in ("drawn", "again")
    )
    pd.testing.assert_frame_equal(drawn, again, check_exact=True)


def test_two_splits_of_one_name_are_saved_in_two_files(call, tmp_path):
    both = "split: [{kind: holdout, random_state: 1}, {kind: holdout, random_state: 2}]"
    (tmp_path / "two.yaml").write_text(
        CONFIG.replace("split: {kind: holdout, test_size: 0.25}", both)
    )
    code, out, _ = call("split", "two.yaml", "--output", "kept")
    assert code == 0
    assert out.count("fingerprint") == len(list((tmp_path / "kept").iterdir())) == 2


def test_a_folder_for_splits_that_cannot_be_made_is_named(call, tmp_path):
    (tmp_path / "taken").write_text("a file")
    code, _, err = call("split", "small.yaml", "--output", "taken/below")
    assert code == 2
    assert "taken/below: cannot be made" in err


def test_an_override_reaches_the_run(call, tmp_path):
    call("run", "small.yaml", "-q", "--set", "split.test_size=0.5", "--results", "elsewhere")
    info = json.loads((tmp_path / "elsewhere" / "small" / "run.json").read_text())
    assert info["splits"][0]["n_test"] == 300
    assert info["config"]["split"][0]["test_size"] == 0.5


def test_compare_puts_runs_of_one_split_into_one_table(call):
    call("run", "small.yaml", "-q")
    call("run", "small.yaml", "-q", "--set", "name=other", "--set", "algorithms=[SVD, Random]")
    code, out, _ = call("compare", "small", "other")
    assert code == 0
    assert "SVD" in out
    assert "other: the same cells as in another run, counted once: Random" in out


def test_compare_refuses_another_split_unless_told(call):
    call("run", "small.yaml", "-q")
    call("run", "small.yaml", "-q", "--set", "name=other", "--set", "split.test_size=0.5")
    code, _, err = call("compare", "small", "other")
    assert code == 2
    assert "another split" in err
    code, out, _ = call("compare", "small", "other", "--anyway")
    assert code == 0
    assert "note: not comparable: other: another split" in out


def test_compare_names_a_run_that_is_not_there(call):
    call("run", "small.yaml", "-q")
    code, _, err = call("compare", "smal")
    assert code == 2
    assert err.endswith("; did you mean 'small'?\n")


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        ("algorithms", "CoClustering"),
        ("datasets", "ml-25m"),
        ("datasets", "ml-latest-small-2016 or bundled"),
        ("metrics", "ndcg"),
        ("runs", "no runs here"),
        ("configs", "quickstart"),
    ],
)
def test_list_shows_what_there_is(call, what, expected):
    code, out, _ = call("list", what)
    assert code == 0
    assert expected in out


def test_list_runs_shows_finished_runs(call):
    call("run", "small.yaml", "-q")
    _, out, _ = call("list", "runs")
    assert "small" in out
    assert "ndcg@5, rmse" in out


def test_a_changed_result_file_is_found(call, tmp_path):
    call("run", "small.yaml", "-q")
    table = tmp_path / "runs" / "small" / "table.csv"
    table.write_text(table.read_text().replace("0", "1"))
    code, _, err = call("compare", "small")
    assert code == 2
    assert "table.csv: changed since it was written; run the config again" in err


def test_the_cache_is_listed_verified_and_pruned(call, tmp_path):
    call("run", "small.yaml", "-q")
    assert "3 cells" in call("cache", "size")[1]
    assert len(call("cache", "list")[1].splitlines()) == 4
    assert call("cache", "verify")[:2] == (0, "every cell is complete\n")
    cell = next((tmp_path / "cache" / "cells").glob("*/*.cell"))
    cell.write_bytes(cell.read_bytes()[:-1])
    code, out, _ = call("cache", "verify")
    assert code == 1
    assert "1 broken cell removed" in out
    assert call("cache", "prune", "--older-than", "0")[1] == "2 cells removed\n"


def test_a_broken_cell_is_computed_again_and_said_to_be(call, tmp_path):
    _, first, _ = call("run", "small.yaml", "-q")
    cell = next((tmp_path / "cache" / "cells").glob("*/*.cell"))
    cell.write_bytes(b"harness-cell-2\n" + b"\0" * 500)
    code, second, err = call("run", "small.yaml")
    assert code == 0
    assert "do not match their checksum; it is computed again" in err
    numbers = [[line.split()[:4] for line in out.splitlines()[4:7]] for out in (first, second)]
    assert numbers[0] == numbers[1]


@pytest.mark.parametrize("command", [("list", "metrics"), ("schema",), ("--help",)])
def test_output_that_cannot_be_written_is_said_without_a_traceback(command):
    if not Path("/dev/full").exists():
        pytest.skip("no device that is always full")
    arguments = [sys.executable, "-m", "harness", *command]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(arguments, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "standard output cannot be written" in done.stderr


def test_closed_output_is_said_and_a_pipe_that_ends_is_not():
    program = f"{shlex.quote(sys.executable)} -m harness list algorithms"
    closed = f"{program} >&-; echo $?"
    done = subprocess.run(["sh", "-c", closed], capture_output=True, text=True, timeout=60)
    assert done.stdout == "2\n"
    assert "standard output is closed" in done.stderr
    assert done.stderr.count("\n") == 1
    headed = f"{program} | head -n 1"
    done = subprocess.run(["sh", "-c", headed], capture_output=True, text=True, timeout=60)
    assert (done.stdout.count("\n"), done.stderr) == (1, "")


@pytest.mark.skipif(sys.platform == "win32", reason="a folder that is in use stays there")
def test_a_current_folder_that_was_removed_is_said(call, tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    code, out, err = call("list", "metrics")
    monkeypatch.chdir(tmp_path)
    assert (code, out) == (2, "")
    assert err.startswith("the current folder cannot be used (No such file or directory); change")


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (MemoryError(), 2, "the system has no more room (MemoryError); raise its limit"),
        (OSError(errno.EMFILE, "Too many open files"), 2, "no more room (Too many open files)"),
        (ImportError("x.so: failed to map segment from shared object"), 2, "no more room (x.so"),
        (OSError(errno.ENOSPC, "No space left on device"), 2, "standard output cannot be written"),
        (KeyboardInterrupt(), 130, "interrupted; finished cells are kept"),
    ],
)
def test_a_limit_of_the_system_is_said_without_a_traceback(call, monkeypatch, error, code, said):
    def fail(*arguments, **options):
        raise error

    monkeypatch.setattr("harness.config.load.load", fail)
    monkeypatch.setattr("harness.cli._drop_output", lambda: None)
    found, out, err = call("run", "small.yaml")
    assert (found, out) == (code, "")
    assert said in err
    assert "Traceback" not in err


BAD = """\
import numpy as np
import surprise
class Bad(surprise.AlgoBase):
    def fit(self, trainset):
        np.linalg.solve(np.zeros((2, 2)), np.zeros(2))
    def estimate(self, u, i):
        return 3.0
"""


def test_an_error_names_the_place_in_ones_own_file_and_shows_the_rest_on_request(
    call, tmp_path, monkeypatch
):
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("HARNESS_TRACEBACK", "0")
    name = "bad_algorithm_of_cli"
    (tmp_path / f"{name}.py").write_text(BAD)
    arguments = ("run", "small.yaml", "-q", "--set", f"algorithms=['{name}:Bad']")
    code, out, err = call(*arguments)
    assert (code, err) == (1, "")
    assert f"LinAlgError: Singular matrix ({name}.py:5)" in out
    code, out, err = call(*arguments, "--traceback")
    assert code == 1
    assert "Traceback (most recent call last)" in err
    assert "_linalg.py" in err
    assert err.rstrip().endswith("LinAlgError: Singular matrix")


@pytest.mark.parametrize("where", ["before", "after"])
def test_a_mistake_in_a_config_shows_its_traceback_on_request(call, monkeypatch, where):
    monkeypatch.setenv("HARNESS_TRACEBACK", "0")
    command = ("run", "none.yaml")
    assert "Traceback" not in call(*command)[2]
    order = ("--traceback", *command) if where == "before" else (*command, "--traceback")
    code, _, err = call(*order)
    assert code == 2
    assert "Traceback" in err


def test_a_run_that_is_found_says_that_nothing_is_fitted(call):
    one = ("run", "small.yaml", "--set", "algorithms=[BaselineOnly]")
    assert "1 cell\n" in call(*one)[2]
    assert call(*one)[2] == "1 of 1 cell found, nothing is fitted\n"


@pytest.mark.parametrize("before", [True, False])
def test_the_first_run_says_how_long_it_compiles(call, monkeypatch, before):
    monkeypatch.setattr("harness.kernels.compiled_before", lambda: before)
    err = call("run", "small.yaml", "--set", "algorithms=[BaselineOnly]")[2]
    assert ("first run on this machine" in err) is not before
    assert call("run", "small.yaml", "-q")[2] == ""


def test_compiled_loops_are_found_where_numba_keeps_them(tmp_path):
    program = "import harness.kernels as k; print(k.compiled_before())"
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", program]
    answers = []
    for _ in range(2):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        answers.append(done.stdout.strip())
        (tmp_path / "rankings_0").mkdir(exist_ok=True)
        (tmp_path / "rankings_0" / "sorting.order.nbi").write_bytes(b"")
    assert answers == ["False", "True"]


@pytest.mark.parametrize("value", ["", "5", "[]"])
def test_a_wrong_dataset_is_explained_without_a_class_of_the_code(call, tmp_path, value):
    (tmp_path / "a.yaml").write_text(f"dataset: {value}\nalgorithms: [SVD]\nmetrics: [rmse]\n")
    code, _, err = call("check", "a.yaml")
    assert code == 2
    assert err.startswith("a.yaml:1: dataset: ")
    assert "Section" not in err


OWN = """\
import surprise
class Mine(surprise.AlgoBase):
    def estimate(self, user, item):
        return 3.0
"""


@pytest.mark.parametrize(("module", "config"), [("deep", "deep"), (".", "deep"), (".", ".")])
def test_an_own_algorithm_is_found_in_the_current_folder_and_beside_the_config(
    call, tmp_path, monkeypatch, module, config
):
    monkeypatch.setattr(sys, "path", list(sys.path))
    name = f"own_{len(str(tmp_path))}_{module == config}_{config == '.'}"
    (tmp_path / "deep").mkdir()
    (tmp_path / module / f"{name}.py").write_text(OWN)
    (tmp_path / config / "own.yaml").write_text(CONFIG.replace("Random", f"'{name}:Mine'"))
    code, out, err = call("check", Path(config) / "own.yaml")
    assert code == 0, err
    assert f"{name}:Mine" in out


def test_a_module_that_is_nowhere_is_named_with_the_folders_that_were_searched(call, tmp_path):
    (tmp_path / "own.yaml").write_text(CONFIG.replace("Random", "no_such_module:Mine"))
    code, _, err = call("check", "own.yaml")
    assert code == 2
    assert "cannot import 'no_such_module'" in err
    assert str(tmp_path) in err
    assert "Traceback" not in err


def test_the_program_itself_finds_an_own_algorithm_in_worker_processes(tmp_path):
    (tmp_path / "own_of_a_program.py").write_text(OWN)
    (tmp_path / "bad_of_a_program.py").write_text(BAD)
    both = "'own_of_a_program:Mine', 'bad_of_a_program:Bad'"
    (tmp_path / "own.yaml").write_text(CONFIG.replace("Random", both))
    program = Path(sys.executable).with_name("harness")
    if not program.exists():
        pytest.skip("the console script is not installed beside the interpreter")
    environment = os.environ | {"HARNESS_CACHE": str(tmp_path / "cache")}
    done = subprocess.run(
        [program, "run", "own.yaml", "-q", "--workers", "2"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (1, "")
    assert "own_of_a_program:Mine" in done.stdout
    assert "LinAlgError: Singular matrix (bad_of_a_program.py:5)" in done.stdout


def test_a_config_that_comes_with_the_package_is_known_by_its_name(call, tmp_path):
    code, out, _ = call("check", "quickstart")
    assert code == 0
    assert "ml-latest-small-2016" in out
    (tmp_path / "quickstart").mkdir()  # a folder that is no run is not in the way
    assert call("check", "quickstart")[0] == 0
    (tmp_path / "quickstart").rmdir()
    (tmp_path / "quickstart").write_text(CONFIG)  # a file of one's own goes first
    assert "synthetic" in call("check", "quickstart")[1]


def test_an_unknown_config_is_told_from_those_that_there_are(call):
    assert "did you mean 'quickstart'?" in call("run", "quikstart")[2]
    err = call("run", "mine")[2]
    assert "quickstart" in err
    assert "ml-100k" in err
    assert call("run", "small")[2].endswith("; did you mean 'small.yaml'?\n")
    assert call("check", "a" * 300)[0] == 2


@pytest.mark.parametrize("again", ["runs/small", "runs/small/run.json"])
def test_a_run_is_repeated_from_its_record(call, tmp_path, again):
    call("run", "small.yaml", "-q")
    first = pd.read_csv(tmp_path / "runs" / "small" / "table.csv")
    code, _, err = call("run", again, "--results", "repeated")
    assert code == 0, err
    second = pd.read_csv(tmp_path / "repeated" / "small" / "table.csv")
    pd.testing.assert_frame_equal(first[["ndcg@5", "rmse"]], second[["ndcg@5", "rmse"]])


def test_a_run_of_ratings_from_python_is_repeated_from_python(call, tmp_path):
    rows = [(u, i, (u + i) % 5 + 1) for u in range(12) for i in range(10)]
    frame = pd.DataFrame(rows, columns=["user", "item", "rating"])
    config = {"name": "given", "algorithms": ["BaselineOnly"], "metrics": ["rmse"]}
    first = harness.run(config, ratings=frame)
    code, _, err = call("run", "runs/given")
    assert code == 2
    assert "were given from Python" in err
    assert len(err.splitlines()) == 1
    second = harness.run("runs/given", ratings=frame, results=None)
    assert second.info["cells"][0]["scores"] == first.info["cells"][0]["scores"]


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"config": 1}', "[" * 100_000])
def test_what_is_no_record_of_a_run_says_so(call, tmp_path, content):
    (tmp_path / "run.json").write_text(content)
    code, _, err = call("run", "run.json")
    assert (code, err) == (2, "run.json: not the record of a run; give a config\n")


def test_a_metric_is_understood_in_capitals(call):
    code, out, err = call("run", "small.yaml", "-q", "--set", "metrics=[NDCG@5, RMSE]")
    assert code == 0, err
    assert "ndcg@5" in out


def test_what_the_commands_write_is_ignored_in_a_clone():
    if not (TOP / ".git").exists():
        pytest.skip("not a clone")
    written = [
        "runs/x/run.json",
        "runs/index.html",
        "splits/a.npz",
        "my.yaml",
        "schema.json",
        "my.csv",
    ]
    written += ["results/x/report.html", "results/x/plots/a.svg", "results/index.html"]
    command = ["git", "check-ignore", "--no-index", *written, "results/x/run.json"]
    done = subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=False)
    assert done.stdout.split() == written


def imports(*arguments):
    """Run a command; return its exit code, the modules that it imports, and its errors."""
    command = [sys.executable, "-X", "importtime", "-m", "harness", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    return done.returncode, loaded, done.stderr


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["--version"]])
def test_help_comes_at_once(arguments):
    code, loaded, _ = imports(*arguments)
    assert code == 0
    heavy = {"numba", "numpy", "pandas", "pyarrow", "surprise", "pydantic", "matplotlib"}
    assert not loaded & heavy


def test_an_unknown_command_says_so(call):
    code, _, err = call("rum")
    assert code == 2
    assert "No such command 'rum'; did you mean 'run'?" in err


def test_the_program_alone_shows_its_help_once(call):
    code, out, err = call()
    assert (code, out) == (2, "")
    assert err.startswith("Usage: harness")
    assert err.count("Usage:") == 1
    assert "Error" not in err


def test_a_missing_choice_is_named_on_one_line(call):
    code, _, err = call("list")
    assert code == 2
    assert err.splitlines()[1:] == [
        "Error: Missing argument '{algorithms|datasets|metrics|runs|configs}'. "
        "Choose from: algorithms, datasets, metrics, runs, configs"
    ]


def test_a_missing_config_says_so(call):
    code, _, err = call("run", "none.yaml")
    assert code == 2
    assert "none.yaml: no such file" in err


def test_the_committed_configs_plan(call):
    for path in sorted((TOP / "configs").glob("*.yaml")):
        _, out, err = call("check", path)
        assert all("pip install" in line or "Java" in line for line in err.splitlines()), err
        assert " cells" in out


def test_a_bad_config_is_refused_before_anything_is_loaded_that_reads_or_draws(tmp_path):
    path = tmp_path / "bad.yaml"
    path.write_text("algorithms: [SDV]\n")
    code, loaded, err = imports("check", path)
    assert code == 2
    assert "Traceback" not in err
    assert not loaded & {"pandas", "pyarrow", "matplotlib", "requests"}


def test_the_users_file_has_a_column_for_each_metric(call, tmp_path):
    call("run", "small.yaml", "-q")
    users = pd.read_parquet(tmp_path / "runs" / "small" / "users.parquet")
    assert {"algorithm", "user", "fold", "seed", "ndcg@5", "rmse"} <= set(users.columns)
