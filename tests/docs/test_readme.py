"""What the README says is what happens."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import harness
from harness.config.load import load
from harness.config.yaml import parse
from harness.errors import AlgorithmError
from harness.extras.spark.session import find_java
from harness.plugins import registry as plugins
from harness.results import read_run
from harness.results.verdict import verdict_lines

TOP = Path(__file__).parents[2]
PAGES = [TOP / "README.md", *sorted((TOP / "docs").rglob("*.md"))]
FILE = re.compile(r"^<!-- file: ([\w-]+\.yaml) -->\n```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
"""A config that a page shows, and the name under which another one on the page extends it."""
OF_LIBRARIES = re.compile(r"^<!-- conformance: \w+ -->.*?^<!-- end -->$", re.MULTILINE | re.DOTALL)
"""What only other libraries run: `tests/extras/conformance` does, where it may install them."""
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHOWN = re.compile(r"\s*<!-- output -->")
"""After a block that `test_documentation.py` runs, to compare what it prints."""
SCRIPT = re.compile(r"^<!-- file: [\w-]+\.py -->\n```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
"""A file that commands of the page call, which are run with the page."""


def blocks(language):
    return [
        pytest.param(
            code,
            id=f"{page.relative_to(TOP)}-{number}",
            marks=[] if page.name == "README.md" else [pytest.mark.long],
        )
        for page in PAGES
        for text in [OF_LIBRARIES.sub("", page.read_text(encoding="utf-8"))]
        for number, block in enumerate(BLOCK.finditer(text))
        for kind, code in [block.groups()]
        if kind == language and code not in SCRIPT.findall(text)
        if not SHOWN.match(text, block.end())
    ]


@pytest.mark.parametrize("code", blocks("python"))
def test_a_python_block_runs(code, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for extra in ("pyspark", "distributed", "implicit", "mlflow", "wandb"):
        if extra in code:
            pytest.importorskip(extra)
    if "pyspark" in code:
        try:
            find_java()
        except AlgorithmError as error:
            pytest.skip(str(error))
        # Apart, since a process has one Spark, and that of other tests is set up otherwise.
        subprocess.run([sys.executable, "-c", code], check=True, timeout=240)
        return
    try:
        exec(compile(code, "block", "exec"), {"__name__": "block"})
    finally:
        if "patch_surprise" in code:
            harness.unpatch_surprise()
    assert "print" not in code or capsys.readouterr().out


@pytest.mark.parametrize("code", blocks("yaml"))
def test_a_yaml_block_is_a_config(code, tmp_path):
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for name, config in FILE.findall(text) if code in text else ():
            (tmp_path / name).write_text(config, encoding="utf-8")
    load(parse(code).data, folder=tmp_path)


def test_every_command_it_names_is_there_and_every_command_is_named():
    named = set(re.findall(r"`harness (\w+)", (TOP / "README.md").read_text(encoding="utf-8")))
    assert named <= set(plugins.builtin_names("commands"))
    assert {"run", "check", "compare", "list", "cache"} <= named


@pytest.mark.long
def test_its_tables_are_those_of_the_results():
    script = TOP / "dev" / "tools" / "readme_tables.py"
    done = subprocess.run(
        [sys.executable, script, "--check"], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout


def test_its_verdict_is_that_of_the_results():
    (verdict,) = verdict_lines(read_run(TOP / "results" / "quickstart").info)
    text = " ".join((TOP / "README.md").read_text(encoding="utf-8").split())
    assert verdict in text


def test_its_errors_with_half_stars_are_those_of_the_results():
    text = (TOP / "README.md").read_text(encoding="utf-8")
    for error in read_run(TOP / "results" / "half-stars").table["rmse"][:4]:
        assert f"{error:.4f}" in text


def test_every_local_link_leads_somewhere():
    for page in PAGES:
        text = BLOCK.sub("", page.read_text(encoding="utf-8"))  # a block can show another page
        for target in re.findall(r"\]\(([^)#\s]+)", text):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name}: {target}"
