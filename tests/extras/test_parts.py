"""Each part of `harness.extras` can be taken away: all else works, and what needs it says so.

A part is hidden in a process of its own, as if its folder had been deleted. What belongs to a part
is under its name: entry points, a page, tests.
"""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import harness
from harness.plugins import registry as plugins

TOP = Path(__file__).parents[2]
TESTS = Path(__file__).parent
EXTRAS = Path(harness.__file__).parent / "extras"
PARTS = sorted(path.parent.name for path in EXTRAS.glob("*/__init__.py"))
PUBLIC = {
    "accelerate": ["patch_surprise", "unpatch_surprise", "patched_surprise", "patch_report"],
    "audit": ["audit"],
    "explain": ["explain", "similar", "update"],
    "gate": ["gate"],
    "power": ["power"],
}
"""Public names of a part."""
IN_SPINE_TESTS = {
    "algorithms/test_least_squares.py": {"implicit", "spark"},  # their common base is tested there
    "cli/test_options_before_a_fit.py": {"explain"},  # its commands fit a row too
    "datasets/test_secrets.py": {"trackers"},  # what a tracker is given has no secret
    "docs/test_documentation.py": {"audit"},  # the pages that the checks of this part name
    "docs/test_readme.py": {"spark"},  # whether the README's blocks on Spark can run
    "extras/reproduce/test_errata.py": {"audit"},  # errata name the check that finds them
    "extras/spark/test_spark_conformance.py": {"conformance"},  # its suite, run on this form
    "extras/spark/test_spark_als.py": {"reproduce"},  # the published values of this algorithm
    "peers/test_conventions.py": {"reproduce"},  # documents as peers
    "rankings/test_forms_refuse_alike.py": {"spark"},  # one of the forms
}
"""Tests that import a part which is not theirs, and why."""
HIDDEN = """
import contextlib, importlib, io, json, pathlib, sys

part, named = sys.argv[1], json.loads(sys.argv[2])
hidden = "harness.extras." + part


class Hides:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == hidden or name.startswith(hidden + "."):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Hides)
import harness
from harness.console.commands import main
from harness.errors import HarnessError

top = pathlib.Path(harness.__file__).parents[1]
for path in sorted((top / "harness").rglob("*.py")):
    relative = path.relative_to(top)
    if relative.parts[1] != "extras" and path.stem not in ("__main__", "accelerate"):
        importlib.import_module(".".join(relative.with_suffix("").parts).removesuffix(".__init__"))


def call(*arguments):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(list(arguments))
        except SystemExit as stop:
            return int(stop.code or 0), out.getvalue(), err.getvalue()
    return 0, out.getvalue(), err.getvalue()


pathlib.Path("small.yaml").write_text(
    "dataset: {synthetic: {n_users: 30, n_items: 20, n_ratings: 300}}\\n"
    "algorithms: [ItemMean]\\nmetrics: [ndcg@5, rmse]\\n"
)
works = {
    "--help": call("--help"),
    "list": call("list", "algorithms"),
    "describe": call("describe", "small.yaml"),
    "schema": call("schema"),
    "check": call("check", "small.yaml"),
    "run": call("run", "-q", "small.yaml"),
    "table": call("table", "small"),
    "report": call("report", "small"),
}
refused = {}
for kind, name in named["plugins"]:
    from harness.plugins import registry

    try:
        registry.find(kind, name).load()
    except HarnessError as error:
        refused[f"{kind} {name}"] = str(error)
for name in named["public"]:
    try:
        getattr(harness, name)
    except HarnessError as error:
        refused[name] = str(error)
for name in named["commands"]:
    code, out, err = call(name, "--help")
    refused[f"harness {name}"] = err if code == 2 else ""
print(json.dumps([works, refused]))
"""


def of_part(part):
    """Return the plug-ins, public names and commands of a part."""
    declared = [
        (kind, plugin.name)
        for kind in (*plugins.KINDS, "hooks", "trials")
        for plugin, _ in plugins.declared(kind)
        if plugin.is_builtin and plugin.target.startswith(f"harness.extras.{part}.")
    ]
    commands = [name for kind, name in declared if kind == "commands"]
    return {"plugins": declared, "public": PUBLIC.get(part, []), "commands": commands}


def names_of(part):
    """Return what a user writes to reach a part: names of plug-ins, commands and functions."""
    named = of_part(part)
    shown = [name for kind, name in named["plugins"] if kind != "hooks"]
    return sorted({*shown, *named["public"]})


def own_words(path):
    """Return the docstring of a module and the names of its functions."""
    tree = ast.parse(path.read_text())
    return ast.get_docstring(tree) or "", [
        node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)
    ]


def test_every_folder_is_a_part_and_every_folder_of_tests_too():
    folders = {path.name for path in EXTRAS.iterdir() if path.is_dir()} - {"__pycache__"}
    assert folders == set(PARTS)
    tests = {path.name for path in TESTS.iterdir() if path.is_dir()} - {"__pycache__"}
    assert tests == set(PARTS)


@pytest.mark.parametrize("part", PARTS)
def test_a_part_says_what_it_is_and_has_entry_points_a_page_and_tests(part):
    docstring, _ = own_words(EXTRAS / part / "__init__.py")
    first, _, _ = docstring.partition("\n")
    assert len(first) > 20
    assert first.endswith(".")

    named = of_part(part)
    assert named["plugins"] or ("No entry points: " in docstring and named["public"])

    page = re.search(r"^Page: (docs/\S+\.md)$", docstring, re.MULTILINE)[1]
    assert page.removeprefix("docs/") in (TOP / "mkdocs.yml").read_text()
    text = (TOP / page).read_text()
    missing = [name for name in names_of(part) if not re.search(rf"\b{re.escape(name)}\b", text)]
    assert not missing, f"{page} does not name {missing}"

    tests = sorted((TESTS / part).glob("test_*.py"))
    assert any(name.startswith("test_") for path in tests for name in own_words(path)[1])


def test_tests_of_the_rest_import_no_part():
    found = {
        path.relative_to(TOP / "tests").as_posix(): parts
        for path in sorted((TOP / "tests").rglob("*.py"))
        if (parts := _imported(path))
    }
    assert found == IN_SPINE_TESTS


def _imported(path):
    """Return the parts that a test imports, without the part that it tests."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    parts = {name.split(".")[2] for name in names if name.startswith("harness.extras.")}
    return parts - {path.parent.name}


@pytest.mark.long
@pytest.mark.parametrize("part", PARTS)
def test_a_part_can_be_taken_away(part, tmp_path):
    named = of_part(part)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", HIDDEN, part, json.dumps(named)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    works, refused = json.loads(done.stdout.splitlines()[-1])
    for call, (code, out, err) in works.items():
        assert code == 0, (call, out, err)
        assert "Traceback" not in err, (call, err)
    expected = len(named["plugins"]) + len(named["public"]) + len(named["commands"])
    assert len(refused) == expected
    for what, message in refused.items():
        assert f"needs the part {part!r}" in " ".join(message.split()), (what, message)
