"""Names that people guess are answered, in one line, with what there is."""

import ast
import importlib
import inspect
import re
import shlex
import subprocess
import sys
from functools import partial
from importlib.machinery import PathFinder
from pathlib import Path
from typing import get_args

import click
import lazy_loader
import pandas as pd
import pytest
import surprise
from surprise import accuracy, model_selection  # noqa: F401

import harness
from harness._util import names
from harness.comparison.across import AcrossDataSets
from harness.config.experiment import AlgorithmConfig, Experiment
from harness.config.load import load
from harness.config.yaml import parse
from harness.console.commands import _harness, main
from harness.console.options import TABLES
from harness.datasets.catalogue import dataset_names
from harness.datasets.section import DatasetSection
from harness.errors import ConfigError, DataError, ResultsError
from harness.plugins import registry as plugins
from harness.plugins.moved import MOVED
from harness.results.pairs import RowComparison

KINDS = get_args(names.Kind)
CODE = re.compile(r"`([^`]+)`")
CONFIG = {"dataset": "bundled", "algorithms": ["SVD"], "metrics": ["rmse"]}
ROOTS = {
    "harness": harness,
    "surprise": surprise,
    "run": harness.Run,
    "ratings": harness.Ratings,
    "pair": RowComparison,
}
HELP = {"help_option_names": ["-h", "--help"]}
"""As of the program: a command keeps the first that it was asked with."""
WORDS = {"fit", "estimate"}
"""Of a class of one's own."""
CLASSES = {"keys": Experiment, "row": AlgorithmConfig, "dataset": DatasetSection}
"""Whose keys the words of a kind are; those of an experiment stand elsewhere too."""


@pytest.fixture(scope="module")
def run():
    data = {"synthetic": {"n_users": 40, "n_items": 30, "n_ratings": 500, "seed": 1}}
    config = {
        "dataset": data,
        "algorithms": ["BaselineOnly", "ItemMean"],
        "metrics": ["ndcg@10", "rmse"],
    }
    return harness.run(config, results=None)


def command_of(words):
    """Return a command and the rest of its words."""
    command, context = _harness, click.Context(_harness, **HELP)
    while words and isinstance(command, click.Group) and not words[0].startswith("-"):
        command = command.get_command(context, words.pop(0))
        context = click.Context(command, **HELP)
    return command, words


def check_command(line):
    command, words = command_of(shlex.split(line)[1:])
    if {"--help", "--version"} & {*words}:
        return
    command.make_parser(click.Context(command, **HELP)).parse_args(words)


def check_python(code):
    """Resolve each name of an expression, and bind each call whose function has a signature."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Attribute) and (found := resolved(node)) is None:
            raise AssertionError(ast.unparse(node))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            found = resolved(node.func)
            if inspect.isfunction(found):
                is_method = ast.unparse(node.func).startswith(("run.", "ratings."))
                given = [None] * (len(node.args) + is_method)
                keywords = {each.arg: None for each in node.keywords}
                inspect.signature(found).bind(*given, **keywords)


def resolved(node):
    """Return what a chain of attributes names; True where that cannot be said without a value."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not (isinstance(node, ast.Name) and node.id in ROOTS):
        return True
    found = ROOTS[node.id]
    if node.id == "run" and parts[-1] in ("name", "info", "folder"):
        return True
    if node.id in ("pair", "ratings") and parts[-1] in found.__annotations__:
        return True
    for part in reversed(parts):
        if isinstance(found, property) or type(found).__name__ == "cached_property":
            return True  # of a value
        found = getattr(found, part)
    return found


def check_config(kind, text):
    if ":" not in text:
        sections = {CLASSES.get(kind, Experiment), AlgorithmConfig, Experiment}
        keys = {key for section in sections for key in section.model_fields}
        assert text in keys | WORDS, text
        return
    written = parse(text, "names.toml").data
    if kind == "row":
        of_neighbours = {"k", "min_k", "sim_options", "bsl_options"} & {*written.get("params", {})}
        name = "KNNBaseline" if of_neighbours else "SVD"
        written = {"algorithms": [{"name": name, **written}]}
    if kind == "dataset":
        written = {"dataset": {"path": "ratings.csv", **written}}
    if "search" in written:
        written = {"algorithms": [{"name": "SVD", **written}]}
    if "tuning" in written:
        written["algorithms"] = [{"name": "SVD", "search": {"n_factors": [2, 3]}}]
    load(CONFIG | written)


def check_option(code):
    option, *_ = shlex.split(code)
    names_of = ([], *([name] for name in plugins.builtin_names("commands")))
    commands = map(command_of, names_of)
    assert any(option in each.opts for one, _ in commands for each in one.params), option


def check_code(kind, code):
    """Raise an error for code that is none."""
    if code.startswith("harness "):
        check_command(code)
    elif code.startswith(
        (
            "harness.",
            "surprise.",
            "run.",
            "ratings.",
            "pair.",
            "print(",
            "len(",
            "help(",
            "1 - ratings.",
        )
    ):
        check_python(code)
    elif code.startswith("-"):
        check_option(code)
    elif kind == "data-sets":
        assert code in dataset_names()
    elif kind == "forms":
        assert code in (*TABLES, "svg", "png")
    elif kind == "arguments" and code.isidentifier():
        functions = (harness.run, harness.recommend, harness.estimate, harness.fit, harness.ndcg)
        assert any(code in inspect.signature(each).parameters for each in functions), code
    elif not code.startswith(("pip ", "rm ", "python -m harness.accelerate", "> ")):
        check_config(kind, code)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_said_exists(kind):
    for word, uses in names.uses(kind).items():
        for said in uses:
            assert "\n" not in said
            for code in CODE.findall(said):
                try:
                    check_code(kind, code)
                except (Exception, SystemExit) as error:
                    pytest.fail(f"{kind}: {word}: {code}: {type(error).__name__} {error}")


def test_the_table_has_words_of_each_kind_of_reader():
    assert sum(len(names.uses(kind)) for kind in KINDS) > 400
    words = "ndcgscore rmse precisionatk compare crossvalidate accuracy traintestsplit evaluateall"
    words += " leaderboard benchmark score predict topk"
    assert {*words.split()} <= {*names.uses("python")}
    assert {"toxlsx", "summary"} <= {*names.uses("run")}
    assert {"update", "export", "checklist"} <= {*names.uses("commands")}


def answered(error, do):
    """Return the message of an error, which is one line that says what to use."""
    with pytest.raises(error, match="use ") as caught:
        do()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_guessed_names_of_the_package_are_answered():
    for word in names.uses("python"):
        if word in MOVED or PathFinder.find_spec(word, harness.__path__):  # modules
            continue
        said = answered(AttributeError, lambda word=word: getattr(harness, word))
        imported = answered(ImportError, lambda word=word: exec(f"from harness import {word}"))
        assert imported == said


def test_guessed_attributes_of_objects_are_answered(run):
    ratings = harness.Ratings.from_columns(["a"], ["x"], [1], scale=(1, 5))
    pair = run.compare("BaselineOnly", "ItemMean")
    for kind, of in (("run", run), ("ratings", ratings), ("pair", pair)):
        for word in names.uses(kind):
            answered(AttributeError, lambda of=of, word=word: getattr(of, word))


def said_by(words, capsys):
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    return capsys.readouterr().err.splitlines()[-1]


def test_guessed_commands_are_answered(capsys):
    for word in names.uses("commands"):
        assert "; use " in said_by([word], capsys)
    for word in names.uses("commands-of-cache"):
        assert "; use `harness cache" in said_by(["cache", word], capsys)
    for word in names.uses("things"):
        assert "; use `harness list" in said_by(["list", word], capsys)


def test_guessed_options_are_answered_where_a_command_lacks_them(capsys):
    for word in names.uses("options"):
        option = f"-{word}" if len(word) == 1 else f"--{word}"
        commands = ("run", "table", "recommend", "report", "evaluate", "describe", "power")
        answers = [said_by([command, option], capsys) for command in commands]
        assert any("; use " in answer for answer in answers), (option, answers)


def test_options_of_one_command_are_answered(capsys):
    for word in names.uses("options-of-commands"):
        command, _, option = word.partition(".")
        dashes = "-" if len(option) == 1 else "--"
        (said,) = names.uses("options-of-commands")[word]
        assert f"; use {said}" in said_by([command, f"{dashes}{option}"], capsys), word


def test_forms_are_those_of_the_command(capsys):
    folder = "table"
    for word in names.uses("forms"):
        for command in ("table", "plot", "methods", "compare"):
            param = {each.name: each for each in command_of([command])[0].params}["form"]
            if word in param.type.choices:
                continue
            said = said_by([command, folder, "--format", word], capsys)
            for form in re.findall(names.FORM, said):
                assert form in param.type.choices, (command, word, said)
    assert "print the page" in said_by(["table", "a", "--format", "pdf"], capsys)
    assert "; use `svg`" in said_by(["plot", "a", "--format", "pdf"], capsys)


def test_a_page_is_not_sent_to_json(capsys):
    for words in (["--format", "pdf"], ["--pdf"]):
        said = said_by(["report", "a", *words], capsys)
        assert "--json" not in said
        assert "browser" in said


def test_guessed_names_of_packages_are_answered():
    for word in names.uses("packages"):
        package, _, name = word.partition(".")
        owner = importlib.import_module(f"harness.{package}")
        assert PathFinder.find_spec(f"harness.{word}", owner.__path__) is None, word
        answered(AttributeError, lambda owner=owner, name=name: getattr(owner, name))
    with pytest.raises(AttributeError, match=r"no 'availabel'; did you mean 'available'\?"):
        harness.datasets.availabel  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'zzz'"):
        exec("from harness.datasets import zzz")


def test_data_sets_that_are_not_known_are_answered(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for word in names.uses("data-sets"):
        with pytest.raises(DataError, match="use "):
            harness.load(word)


def test_a_file_is_not_written_in_another_form_than_its_ending(run, tmp_path, capsys):
    for write, name, said in (
        (run.to_csv, "a.xlsx", "the file is CSV; call it a.csv"),
        (run.to_csv, "a.csv.gz", "the file is CSV; call it a.csv"),
        (run.to_excel, "a.csv", "the file is a workbook of Excel; call it a.xlsx"),
        (run.to_latex, "a.pdf", "the file is LaTeX; call it a.tex"),
        (run.to_markdown, "a.html", "the file is Markdown; call it a.md"),
        (run.to_html, "a.pdf", "the file is HTML; call it a.html"),
        (run.report, "a.pdf", "call it a.html, and print it from a browser"),
        (
            partial(harness.save_model, surprise.SVD()),
            "a.pkl",
            "a zip archive, not pickled; call it a.zip",
        ),
    ):
        with pytest.raises(ResultsError, match=said):
            write(tmp_path / name)
    run.to_csv(tmp_path / "a.txt")
    run.write(tmp_path / "runs")
    at = ["run", "--results", str(tmp_path / "runs"), "-o"]
    for command, name, said in (
        ("best", "a.json", "the file is YAML; call it a.yaml"),
        ("methods", "a.html", "the file is Markdown; call it a.md"),
        ("table", "a.pdf", "print the page of `harness report NAME` from a browser"),
        ("table", "a.zzz", "use one of .csv, .md, .html, .tex, .xlsx"),
        ("plot", "a.eps", "plots are files in a folder"),
    ):
        with pytest.raises(SystemExit):
            main([command, *at, str(tmp_path / name)])
        assert said in capsys.readouterr().err
    for path in (tmp_path / "a.tex", tmp_path / "a.md"):
        with pytest.raises(SystemExit):
            main(["methods", *at, str(path)])
    assert (tmp_path / "a.tex").read_text(encoding="utf-8").startswith("% Methods")
    assert (tmp_path / "a.md").read_text(encoding="utf-8").startswith("# ")
    assert {path.name for path in tmp_path.iterdir()} == {"a.txt", "a.tex", "a.md", "runs"}


def test_guessed_keys_of_a_config_are_answered():
    for word in names.uses("keys"):
        with pytest.raises(ConfigError, match="use "):
            load(CONFIG | {word: 1})


def test_guessed_arguments_are_answered():
    for word in names.uses("arguments"):
        function, _, argument = word.partition(".")
        called = getattr(harness, function)
        answered(TypeError, lambda argument=argument, called=called: called(None, **{argument: 1}))


def test_an_option_is_not_sent_to_one_that_the_command_lacks(capsys):
    assert "--algorithms" not in said_by(["methods", "--algos"], capsys)


def test_a_spelling_has_to_be_close(capsys):
    assert "did you mean 'table'?" in said_by(["tabel"], capsys)
    assert "did you mean" not in said_by(["fancy"], capsys)


def test_completion_has_all_public_names_and_nothing_else():
    assert dir(harness) == sorted(harness.__all__)
    code = "import harness; harness.statistics; print(*dir(harness))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == sorted(harness.__all__)


def test_completion_of_a_run_has_its_public_names(run):
    shown = [name for name in dir(run) if not name.startswith("__")]
    assert not [name for name in shown if name.startswith("_")]
    assert {"table", "users", "pairs", "info", "folder", "best", "compare", "plot"} <= {*shown}
    for name in shown:
        assert callable(getattr(type(run), name, None)) or name in vars(run) or name in dir(run)


def test_what_fails_in_a_property_is_not_called_unknown(run, monkeypatch):
    def fails(self):
        raise AttributeError("inside")

    monkeypatch.setattr(harness.Run, "lists", property(fails))
    with pytest.raises(AttributeError, match="inside"):
        run.lists  # noqa: B018


def test_a_package_is_there_when_it_is_named():
    code = "import harness; print(harness.statistics.compare.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "compare\n"


def test_other_objects_name_their_nearest_attribute():
    across = AcrossDataSets(pd.DataFrame(), None, "rmse", [], "holdout", "rated", [])
    with pytest.raises(AttributeError, match=r"no 'metrics'; did you mean 'metric'\?"):
        across.metrics  # noqa: B018
    with pytest.raises(AttributeError, match="use one of "):
        across.zzzzzz  # noqa: B018


def test_a_run_says_where_its_rows_are(run):
    with pytest.raises(TypeError, match=r"use the rows of `run.table`"):
        run["ItemMean"]
    assert bool(run)


def test_a_run_in_the_usual_folder_is_named(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    run.write(tmp_path / "runs")
    with pytest.raises(ResultsError, match=r"run: no run there; did you mean 'runs/run'\?"):
        harness.read_run("run")
    assert harness.read_run("runs/run").name == "run"


def test_public_names_are_those_that_the_syntax_tree_of_the_stub_has():
    stub = Path(harness.__file__).with_suffix(".pyi")
    assert lazy_loader.attach_stub("harness", str(stub))[2] == harness.__all__
    statements = ast.parse(stub.read_text("utf-8")).body
    for statement in (each for each in statements if isinstance(each, ast.ImportFrom)):
        for name in (each.name for each in statement.names):
            module = importlib.import_module(f"harness.{statement.module or name}")
            assert getattr(harness, name) is (getattr(module, name) if statement.module else module)


def test_errors_are_there_by_name_and_are_imported_by_no_patch():
    code = (
        "import sys, harness; harness.patch_surprise(); loaded = 'harness.errors' in sys.modules; "
        "print(loaded, harness.errors.HarnessError.__name__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "HarnessError"]
