"""The command line: what it prints, where, and how it exits."""

import errno
import json
import os
import py_compile
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
RUN = ("run", "small.yaml", "-q")
ONE = ("run", "small.yaml", "--set", "algorithms=[BaselineOnly]")


@pytest.fixture
def call(call, tmp_path):
    (tmp_path / "small.yaml").write_text(CONFIG)
    return call


def program(*arguments, **options):
    """Run the program in a process of its own."""
    command = [sys.executable, "-m", "harness", *map(str, arguments)]
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": 120} | options
    return subprocess.run(command, text=True, check=False, **options)


@pytest.mark.parametrize(
    ("arguments", "code", "out", "err"),
    [
        (("list", "algorithms"), 0, "CoClustering", ""),
        (("list", "datasets"), 0, "ml-25m", ""),
        (("list", "datasets"), 0, "ml-latest-small-2016 or bundled", ""),
        (("list", "metrics"), 0, "ndcg", ""),
        (("list", "runs"), 0, "no runs here", ""),
        (("list", "configs"), 0, "quickstart", ""),
        (("list", "algorithmss"), 2, "", "'plugins'; did you mean 'algorithms'?\n"),
        (("list", "x"), 2, "", "is not one of 'algorithms', 'libraries', 'datasets', "),
        (
            ("list",),
            2,
            "",
            "Error: Missing argument "
            "'{algorithms|libraries|datasets|metrics|runs|configs|plugins}'. "
            "Choose from: algorithms, libraries, datasets, metrics, runs, configs, plugins; "
            "for example `harness list algorithms`\n",
        ),
        (("-h",), 0, "published tables contain.", ""),
        (("schema", "-h"), 0, "`# yaml-language-server: $schema=schema.json`", ""),
        (("rum",), 2, "", "No such command 'rum'; did you mean 'run'?"),
        (("run", "none.yaml"), 2, "", "none.yaml: no such file"),
        (("run", "quikstart"), 2, "", "did you mean 'quickstart'?"),
        (("run", "mine"), 2, "", "ml-100k"),
        (("run", "small"), 2, "", "; did you mean 'small.yaml'?\n"),
        (("check", "a" * 300), 2, "", "aaa"),
        (("run", "none.yaml", "--traceback"), 2, "", "Traceback"),
        (("--traceback", "run", "none.yaml"), 2, "", "Traceback"),
        (
            ("check", "small.yaml", "--set", "split=kfold", "--set", "seed=[0, 1]"),
            0,
            "30 cells",
            "",
        ),
        (("split", "small.yaml", "-o", "small.yaml/x"), 2, "", "written (not a directory)"),
        (
            ("run", "small.yaml", "--results", "small.yaml/x"),
            2,
            "",
            "/x/small: cannot be written",
        ),
    ],
    ids=str,
)
def test_what_a_command_answers(call, tmp_path, arguments, code, out, err):
    found = call(*arguments)
    assert found[0] == code
    assert out in found[1]
    assert err in found[2]
    assert (found[1] if code else found[2]) == ""
    assert ("Traceback" in found[2]) == ("--traceback" in arguments)
    assert [path.name for path in tmp_path.iterdir()] == ["small.yaml"]


def test_run_prints_the_table_and_writes_it(call, tmp_path):
    code, out, err = call("run", "small.yaml", "--set", "metrics=[NDCG@5, RMSE]")
    assert code == 0
    names = ["BaselineOnly", "knn <b>", "Random"]
    lines = [line.split("  ")[0] for line in out.splitlines()]
    first = lines.index("algorithm") + 1
    assert lines[first : first + 3] == names
    assert "ndcg@5 (" in " ".join(lines[:first])  # the verdict
    assert "[3/3] ✓ Random" in err
    folder = tmp_path / "runs" / "small"
    written = {"run.json", "bounds.csv", "table.csv", "table.md", "users.parquet"}
    assert {path.name for path in folder.iterdir()} == written
    assert "knn &lt;b&gt;" in (folder / "table.md").read_text()
    users = pd.read_parquet(folder / "users.parquet")
    assert {"algorithm", "user", "fold", "seed", "ndcg@5", "rmse"} <= set(users.columns)
    assert "ndcg@5, rmse" in call("list", "runs")[1]


SAME = ":1: name: 'small' is also the name of small.yaml"


@pytest.mark.parametrize(
    ("name", "text", "faults"),
    [
        ("other/small.yaml", CONFIG, [SAME]),
        ("third.yaml", "name: small\n" + CONFIG, [SAME]),
        (
            "bad.yaml",
            CONFIG.replace("rmse", "rsme") + "sed: 1\n",
            [
                ":4: metrics[1]: rsme: unknown metric 'rsme'; did you mean 'rmse'?",
                ":6: sed: unknown key; did you mean 'seed'?",
            ],
        ),
        *(
            ("a.yaml", f"dataset: {value}\nalgorithms: [SVD]\nmetrics: [rmse]\n", [":1: dataset: "])
            for value in ("", "5", "[]")
        ),
    ],
)
def test_faults_of_any_config_are_found_before_a_fit(call, tmp_path, name, text, faults):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(text)
    code, out, err = call("run", "small.yaml", name)
    assert (code, out) == (2, "")
    for line, fault in zip(err.splitlines(), faults, strict=True):
        assert line.startswith(name + fault)
    assert "Section" not in err  # no class of the code
    assert not (tmp_path / "runs").exists()


def test_each_split_is_saved_in_its_file_and_gives_the_same_table(call, tmp_path):
    code, out, _ = call("split", "small.yaml", "--set", "split.random_state=7")
    path = Path(out.splitlines()[0])
    assert code == 0
    assert path.exists()
    assert "450 training and 150 test ratings" in out
    call("run", "small.yaml", "--set", "split.random_state=7", "--set", "name=drawn")
    text = CONFIG.replace("{kind: holdout, test_size: 0.25}", f"{{kind: file, path: '{path}'}}")
    (tmp_path / "again.yaml").write_text(text)
    call.done("run", "again.yaml")
    drawn, again = (
        pd.read_csv(tmp_path / "runs" / name / "table.csv")[["ndcg@5", "rmse"]]
        for name in ("drawn", "again")
    )
    pd.testing.assert_frame_equal(drawn, again, check_exact=True)
    # The same rows under each policy, as no user has too few: three splits, and a file of each.
    kinds = [f"{{kind: user-fraction, too_few: {each}}}" for each in ("error", "train", "drop")]
    again = ("split", "small.yaml", "--set", f"split=[{', '.join(kinds)}]")
    out = call.done(*again, "--output", "kept")
    assert out.count("fingerprint") == len(list((tmp_path / "kept").iterdir())) == 3
    Path(out.splitlines()[0]).unlink()
    assert "exists; choose another name, or replace it with --force" in call.refused(
        *again, "--output", "kept", "--export", "folds"
    )
    # Nothing is written where one of the files exists.
    assert len(list((tmp_path / "kept").iterdir())) == 2
    assert not (tmp_path / "folds").exists()
    every = (*again, "--export", "folds", "--output", "kept", "--force")
    assert call.done(*every).endswith(out)
    assert call.done(*again) == call.done(*again)  # the default folder is the command's own


def test_splits_of_two_files_of_one_name_say_whose_they_are(call, tmp_path):
    for folder, last in (("one", 1), ("two", 2)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "r.csv").write_text(f"1,1,5\n1,2,{last}\n2,1,3\n2,2,4\n")
    both = ("split", "small.yaml", "--set", "dataset=[one/r.csv, two/r.csv]")
    call.done(*both, "--output", "kept")
    names = sorted(path.name for path in (tmp_path / "kept").iterdir())
    assert [name.partition("-r.csv-")[0] for name in names] == ["one", "two"]
    lines = call.done(*both, "--export", "out").splitlines()
    assert lines[0].startswith("out/fold-1: one/r.csv, holdout 25%, seed ")
    for name in ("a b.csv", "a+b.csv", "a@b.csv"):  # one name of a file without such characters
        (tmp_path / name).write_bytes((tmp_path / "one/r.csv").read_bytes())
    call.done("split", "small.yaml", "--set", "dataset=[a b.csv, a+b.csv, a@b.csv]")
    ends = sorted(path.stem.partition("seed-0")[2] for path in (tmp_path / "splits").iterdir())
    assert ends == ["", "-2", "-3"]


def test_runs_are_compared_repeated_and_refused(call, tmp_path):
    assert call(*RUN)[::2] == (0, "")
    first = pd.read_csv(tmp_path / "runs" / "small" / "table.csv")
    call(*RUN, "--set", "name=other", "--set", "algorithms=[SVD, Random]")
    out = call.done("compare", "small", "other")
    assert "SVD" in out
    assert "other: the same cells as in another run, counted once: Random" in out
    call(*RUN, "--set", "name=half", "--set", "split.test_size=0.5", "--results", "elsewhere")
    info = json.loads((tmp_path / "elsewhere" / "half" / "run.json").read_text())
    assert info["splits"][0]["n_test"] == 300
    assert info["config"]["split"][0]["test_size"] == 0.5
    assert "another split" in call.refused("compare", "small", "elsewhere/half")
    out = call.done("compare", "small", "elsewhere/half", "--anyway")
    assert "note: not comparable: half: another split" in out
    for record in ("runs/small", "runs/small/run.json"):
        call.done("run", record, "--results", "repeated")
        second = pd.read_csv(tmp_path / "repeated" / "small" / "table.csv")
        pd.testing.assert_frame_equal(first[["ndcg@5", "rmse"]], second[["ndcg@5", "rmse"]])


def test_a_run_of_ratings_from_python_is_repeated_from_python(call, tmp_path):
    rows = [(u, i, (u + i) % 5 + 1) for u in range(12) for i in range(10)]
    frame = pd.DataFrame(rows, columns=["user", "item", "rating"])
    config = {"name": "given", "algorithms": ["BaselineOnly"], "metrics": ["rmse"]}
    first = harness.run(config, ratings=frame)
    err = call.refused("run", "runs/given")
    assert "were given from Python" in err
    assert err.count("\n") == 1
    second = harness.run("runs/given", ratings=frame, results=None)
    assert second.info["cells"][0]["scores"] == first.info["cells"][0]["scores"]


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"config": 1}', "[" * 100_000])
def test_what_is_no_record_of_a_run_says_so(call, tmp_path, content):
    (tmp_path / "run.json").write_text(content)
    assert call.refused("run", "run.json") == "run.json: not the record of a run; give a config\n"


def test_the_cache_is_listed_verified_and_pruned(call, tmp_path):
    call.done(*RUN)
    assert "3 cells" in call("cache", "size")[1]
    assert len(call("cache", "list")[1].splitlines()) == 4
    assert call("cache", "verify")[:2] == (0, "every cell is complete\n")
    cell = next((tmp_path / "cache" / "cells").glob("*/*.cell"))
    cell.write_bytes(cell.read_bytes()[:-1])
    code, out, _ = call("cache", "verify")
    assert code == 1
    assert "do not match their checksum" in out
    assert "1 broken file removed" in out
    (cell.parent / ".x.part").symlink_to("gone")  # as what its writer has removed since
    assert call("cache", "prune", "--older-than", "0")[1] == "2 cells removed\n"


@pytest.mark.sample(3)
@pytest.mark.parametrize("command", [("list", "metrics"), ("schema",), ("--help",)])
def test_output_that_cannot_be_written_is_said_without_a_traceback(command):
    if not Path("/dev/full").exists():
        pytest.skip("no device that is always full")
    with Path("/dev/full").open("w") as full:
        done = program(*command, stdout=full)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "standard output cannot be written" in done.stderr


def test_closed_output_is_said_and_a_pipe_that_ends_is_not():
    command = f"{shlex.quote(sys.executable)} -m harness list algorithms"
    closed, headed = (
        subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=60)
        for line in (f"{command} >&-; echo $?", f"{command} | head -n 1")
    )
    assert (closed.stdout, closed.stderr.count("\n")) == ("2\n", 1)
    assert "standard output is closed" in closed.stderr
    assert (headed.stdout.count("\n"), headed.stderr) == (1, "")


def test_an_interrupt_of_its_imports_ends_the_program_without_a_traceback(tmp_path):
    (tmp_path / "click.py").write_text("raise KeyboardInterrupt\n")
    env = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = program("list", "metrics", env=env)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")
    closed = f"{shlex.quote(sys.executable)} -m harness list metrics 2>&-"
    assert subprocess.run(["sh", "-c", closed], env=env, timeout=60).returncode == 130


def test_a_file_in_place_of_the_folder_of_splits_is_said(call, tmp_path):
    (tmp_path / "splits").touch()
    err = call.refused("split", "small.yaml")
    assert err == "splits: cannot be made (file exists); choose another folder\n"


@pytest.mark.skipif(sys.platform == "win32", reason="a folder that is in use stays there")
def test_a_current_folder_that_was_removed_is_said(call, tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    code, out, err = call("list", "metrics")
    monkeypatch.chdir(tmp_path)
    assert (code, out) == (2, "")
    assert err.startswith("the current folder cannot be used (no such file or directory); change")


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (MemoryError(), 2, "the system has no more room (MemoryError); raise its limit"),
        (OSError(errno.EMFILE, "Too many open files"), 2, "no more room (too many open files)"),
        (ImportError("x.so: failed to map segment from shared object"), 2, "no more room (x.so"),
        (OSError(errno.ENOSPC, "No space left on device"), 2, "standard output cannot be written"),
        (KeyboardInterrupt(), 130, "interrupted; computed cells are cached"),
    ],
)
def test_a_limit_of_the_system_is_said_without_a_traceback(call, monkeypatch, error, code, said):
    def fail(*arguments, **options):
        raise error

    monkeypatch.setattr("harness.cli.run.load", fail)
    monkeypatch.setattr("harness.console.commands._drop_output", lambda: None)
    found, out, err = call("run", "small.yaml")
    assert (found, out) == (code, "")
    assert said in err
    assert "Traceback" not in err


@pytest.mark.parametrize("before", [True, False])
def test_the_first_run_says_how_long_it_compiles(call, monkeypatch, before):
    monkeypatch.setattr("harness._util.kernels.compiled_before", lambda: before)
    err = call(*ONE)[2]
    assert ("first run on this machine" in err) is not before
    assert "1 cell\n" in err
    assert call(*ONE)[2].endswith("1 of 1 cell found, nothing is fitted\n")
    assert call(*ONE, "-q")[2] == ""


def test_compiled_loops_are_found_where_numba_keeps_them(tmp_path):
    command = "import harness._util.kernels as k; print(k.compiled_before())"
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    for found in ("False", "True"):
        done = subprocess.run(
            [sys.executable, "-c", command], env=environment, capture_output=True, text=True
        )
        assert done.stdout.strip() == found
        (tmp_path / "rankings_0").mkdir(exist_ok=True)
        (tmp_path / "rankings_0" / "sorting.order.nbi").write_bytes(b"")


OWN = """\
import surprise
class Mine(surprise.AlgoBase):
    def estimate(self, user, item):
        return 3.0
"""
BAD = """\
import numpy as np
import surprise
class Bad(surprise.AlgoBase):
    def fit(self, trainset):
        np.linalg.solve(np.zeros((2, 2)), np.zeros(2))
    def estimate(self, u, i):
        return 3.0
"""


def test_an_error_names_the_place_in_ones_own_file_and_shows_the_rest_on_request(call, tmp_path):
    name = "bad_algorithm_of_cli"
    (tmp_path / f"{name}.py").write_text(BAD)
    arguments = ("run", "small.yaml", "--set", f"algorithms=[Random, {{name: '{name}:Bad'}}]")
    code, out, err = call(*arguments)
    assert code == 1
    assert f"LinAlgError: Singular matrix ({name}.py:5)" in out
    assert f"✗ {name}:Bad: LinAlgError: Singular matrix" in err
    assert call(*arguments, "-q")[2] == ""
    code, out, err = call(*arguments, "-q", "--traceback")
    assert code == 1
    assert "Traceback (most recent call last)" in err
    assert "_linalg.py" in err
    assert err.rstrip().endswith("LinAlgError: Singular matrix")


@pytest.mark.parametrize(("module", "config"), [("deep", "deep"), (".", "deep"), (".", ".")])
def test_an_own_algorithm_is_found_in_the_current_folder_and_beside_the_config(
    call, tmp_path, module, config
):
    name = f"own_{len(str(tmp_path))}_{module == config}_{config == '.'}"
    (tmp_path / "deep").mkdir()
    (tmp_path / module / f"{name}.py").write_text(OWN)
    (tmp_path / config / "own.yaml").write_text(CONFIG.replace("Random", f"'{name}:Mine'"))
    assert f"{name}:Mine" in call.done("check", Path(config) / "own.yaml")
    err = call.refused("check", "small.yaml", "--set", "algorithms=['no_such_module:Mine']")
    assert "cannot import 'no_such_module'" in err
    assert str(tmp_path) in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("module", "own"),
    [
        ("own_of_two_folders", "own_of_two_folders.py"),
        ("own_package", "own_package/__init__.py"),
        ("own_folder.inner", "own_folder/inner.py"),
        ("own_compiled", "own_compiled.pyc"),
    ],
)
def test_two_own_modules_of_one_name_are_not_confused(call, tmp_path, module, own):
    for folder in (tmp_path / "one", tmp_path / "two"):
        (folder / own).parent.mkdir(parents=True)
        (folder / own).with_suffix(".py").write_text(OWN)
        if own.endswith("pyc"):
            py_compile.compile(folder / "own_compiled.py", folder / own)
            (folder / "own_compiled.py").unlink()
        (folder / "c.yaml").write_text(CONFIG.replace("Random", f"'{module}:Mine'"))
    assert module in call.done("check", "one/c.yaml")
    err = call.refused("check", "two/c.yaml")
    assert f"is already {tmp_path}/one/{own} in this process, and not {tmp_path}/two/{own}" in err


@pytest.mark.long
def test_the_program_itself_finds_an_own_algorithm_in_worker_processes(tmp_path):
    (tmp_path / "own_of_a_program.py").write_text(OWN)
    (tmp_path / "bad_of_a_program.py").write_text(BAD)
    both = "'own_of_a_program:Mine', 'bad_of_a_program:Bad'"
    (tmp_path / "own.yaml").write_text(CONFIG.replace("Random", both))
    script = Path(sys.executable).with_name("harness")
    if not script.exists():
        pytest.skip("the console script is not installed beside the interpreter")
    done = subprocess.run(
        [script, "run", "own.yaml", "-q", "--workers", "2"],
        cwd=tmp_path,
        env=os.environ | {"HARNESS_CACHE": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (1, "")
    assert "own_of_a_program:Mine" in done.stdout
    assert "LinAlgError: Singular matrix (bad_of_a_program.py:5)" in done.stdout


def test_a_file_of_ones_own_goes_before_a_config_of_the_package(call, tmp_path):
    (tmp_path / "quickstart").mkdir()  # a folder that is no run is not in the way
    assert "ml-latest-small-2016" in call("check", "quickstart")[1]
    (tmp_path / "quickstart").rmdir()
    (tmp_path / "quickstart").write_text(CONFIG)
    assert "synthetic" in call("check", "quickstart")[1]


def test_what_the_commands_write_is_ignored_in_a_clone():
    if not (TOP / ".git").exists():
        pytest.skip("not a clone")
    written = ["runs/x/run.json", "runs/index.html", "splits/a.npz", "my.yaml", "schema.json"]
    written += ["my.csv", "results/x/report.html", "results/x/plots/a.svg", "results/index.html"]
    command = ["git", "check-ignore", "--no-index", *written, "results/x/run.json"]
    done = subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=False)
    assert done.stdout.split() == written


def modules_of(*arguments, code=0, **options):
    """Return the modules that the program loads in a process of its own."""
    done = program(*arguments, env=os.environ | {"PYTHONPROFILEIMPORTTIME": "1"}, **options)
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "click" in loaded
    return loaded


OF_COMMANDS = {"numpy", "pydantic", "ruamel.yaml", "psutil", "surprise", "joblib", "rich"}
"""What modules of commands import at their top."""


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("arguments", "code", "light"),
    [
        (("--help",), 0, OF_COMMANDS),
        (("run", "--help"), 0, set()),
        (("report", "--help"), 0, {"surprise", "joblib", "psutil", "rich"}),
        (("--version",), 0, OF_COMMANDS),
        (("check", "bad.yaml"), 2, set()),
    ],
    ids=lambda value: None if isinstance(value, set) else str(value),  # sets have no order
)
def test_help_and_refusals_load_little(tmp_path, arguments, code, light):
    (tmp_path / "bad.yaml").write_text("algorithms: [SDV]\n")
    loaded = modules_of(*arguments, code=code, cwd=tmp_path)
    heavy = {"numba", "pandas", "pyarrow", "matplotlib", "scipy", "jinja2", "requests", "pooch"}
    assert not loaded & (light | heavy)


@pytest.mark.long
def test_the_page_is_made_from_results_alone(made, tmp_path):
    loaded = modules_of("report", made / "runs" / "one", "--output", tmp_path / "p.html")
    foreign = ("surprise", "numba", "harness.algorithms", "harness.models")
    foreign += ("harness.experiment", "harness.config.load")
    shapes = {"harness.experiment.analyses.base"}  # of which plots of a part are made
    assert not [name for name in loaded - shapes if name.startswith(foreign)]


def test_the_program_alone_shows_its_help_once(call):
    code, out, err = call()
    assert (code, out) == (2, "")
    assert err.startswith("Usage: harness")
    assert err.count("Usage:") == 1
    assert "Error" not in err


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", sorted(path.name for path in (TOP / "configs").glob("*.yaml")))
def test_a_committed_config_plans(call, name):
    _, out, err = call("check", TOP / "configs" / name)
    assert all("pip install" in line or "Java" in line for line in err.splitlines()), err
    assert " cells" in out


@pytest.mark.parametrize(
    "command",
    [
        "table", "best", "compare", "evaluate --metrics ndcg@5", "audit", "describe", "report",
        "methods", "recommend", "conventions", "list runs --results", "run", "check", "new",
    ],
)  # fmt: skip
def test_a_name_that_no_file_can_have_is_refused_shortly(call, command):
    code, out, err = call(*command.split(), "x" * 3000)
    assert (code, out) == (2, "")
    assert "Traceback" not in err
    assert "; " in err
    assert len(err) < 400


def test_a_new_config_needs_a_name(call, tmp_path):
    code, _, err = call("new", "")
    assert code == 2
    assert "the name is empty; give one, such as my.yaml" in err
    assert not [*tmp_path.glob("*.json")]


@pytest.mark.long
def test_every_command_works_without_docstrings_and_assertions(tmp_path, monkeypatch):
    (tmp_path / "small.yaml").write_text(CONFIG)
    monkeypatch.chdir(tmp_path)
    environment = {**os.environ, "PYTHONOPTIMIZE": "2"}
    # Its bytecode is another one, which the first process keeps for those after it.
    environment |= {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(tmp_path / "code")}
    for line in (
        "--help", "run --help", "list metrics", "list algorithms", "list plugins", "schema",
        "check small.yaml", "run small.yaml -q", "table small", "notes small", "best small",
        "methods small", "conventions small", "report small", "plot small --kind distribution",
        "plot small --kind differences", "describe bundled", "completion bash",
    ):  # fmt: skip
        done = program(*line.split(), env=environment)
        assert done.returncode == 0, f"{line}: {done.stderr}"
