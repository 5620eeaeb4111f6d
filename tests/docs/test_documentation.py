"""The documentation shows what comes out, and names what is there."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
import yaml

from harness.config.load import load
from harness.console.commands import _harness
from harness.extras.audit import checks

TOP = Path(__file__).parents[2]
DOCS = TOP / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
LIVE = [
    page
    for page in PAGES
    if "```console" in page.read_text(encoding="utf-8")
    or "<!-- output -->" in page.read_text(encoding="utf-8")
]
FILE = re.compile(r"[\w/-]+\.(csv|txt|yaml|parquet)")
SHELL = re.compile(r"^```(sh|bash|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def named(page):
    return page.relative_to(DOCS).as_posix()


def script(name, *arguments):
    return subprocess.run(
        [sys.executable, TOP / "dev" / "tools" / name, *arguments],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def harness_commands():
    for page in (TOP / "README.md", TOP / "CONTRIBUTING.md", *PAGES):
        for kind, block in SHELL.findall(page.read_text(encoding="utf-8")):
            lines = block.replace("\\\n", " ").splitlines()
            if kind == "console":
                lines = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
            for line in lines:
                for part in re.split(r"&&|[|>]", line.partition(" #")[0]):
                    part = part.strip().removeprefix("python -m ")
                    if part.startswith("harness "):
                        yield pytest.param(part, id=f"{page.name}: {part}")


@pytest.mark.parametrize("line", list(dict.fromkeys(harness_commands())))
def test_a_command_that_is_shown_is_one_that_can_be_given(line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = shlex.split(line)[1:]
    for name in filter(FILE.fullmatch, words):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    command = _harness
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        command = command.get_command(click.Context(command), words.pop(0))
        assert command is not None, f"no such command: {line}"
    if any("--force" in each.opts for each in command.params):
        words.append("--force")  # what the line writes is there
    if words != ["--version"]:
        command.make_context("harness", words, **_harness.context_settings)  # runs nothing


@pytest.mark.long
@pytest.mark.parametrize("page", LIVE, ids=named)
def test_a_page_shows_what_comes_out(page):
    done = script("run_docs.py", "--check", page)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_reference_is_what_the_code_says():
    done = script("build_reference.py", "--check")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_changed_output_would_be_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\nprint(1 + 1)\n```\n\n<!-- output -->\n```text\n3\n```\n")
    assert script("run_docs.py", "--check", page).returncode == 1
    assert script("run_docs.py", page).returncode == 0
    assert "```text\n2\n```" in page.read_text()


def test_seconds_and_megabytes_are_not_compared_but_scores_are(monkeypatch):
    monkeypatch.syspath_prepend(TOP / "dev" / "tools")
    from run_docs import comparable

    row = "SVD      0.7851 b  0.8996   0.35     0.31      0.07      352    670"
    assert comparable(row) == comparable(row.replace("0.31", "12.99").replace("352", "1,352"[2:]))
    assert comparable(row) != comparable(row.replace("0.7851", "0.7852"))
    assert comparable(row) != comparable(row.replace("670", "671"))
    assert comparable("[1/7] ✓ SVD: 1.39 s") == comparable("[1/7] ✓ SVD: 0.11 s")
    note = "note: measured on 2026-11-21, Intel CPU, 2 cores, 1 cell at a time with 1 thread"
    another = note.replace("2026-11-21, Intel CPU, 2 cores", "2027-01-02, AMD CPU, 64 cores")
    another = another.replace("1 thread", "64 threads")
    assert comparable(note) == comparable(another)
    assert comparable(note) != comparable(another.replace("1 cell", "2 cells"))


def test_what_only_a_slow_machine_prints_is_not_compared(monkeypatch):
    monkeypatch.syspath_prepend(TOP / "dev" / "tools")
    from run_docs import comparable

    from harness.experiment.execute.progress import Stage, in_words

    shown = "14 cells\n[1/14] ✓ SVD: 0.12 s\n\nquickstart\n\n────\n"
    slow = [
        "first run on this machine: compiling the loops takes about five seconds",
        f"{in_words(Stage('', 'loading', 1, 3))}",
        f"{in_words(Stage('KNN, own', 'scoring', 12_345, 67_890))} of KNN, own",
        f"{in_words(Stage('SVD', 'fitting by epoch', 7, 20))} of SVD",
        f"{in_words(Stage('SVD', 'scoring', 7, 20))} of SVD",
    ]
    for line in slow:
        later = shown.replace("14 cells\n", f"14 cells\n{line}\n").replace("────", "──────")
        assert comparable(later) == comparable(shown), line
    for line in ("SVD, 3 of 14 users", "no cell, 10% better", "loading failed"):
        assert comparable(f"{shown}{line}\n") != comparable(shown), line


def test_what_grew_is_named_with_both_numbers(monkeypatch):
    monkeypatch.syspath_prepend(TOP / "dev" / "tools")
    from counts import growth

    before = {"fits": 1000, "bytes of cells": 1000, "modules": {"a": 1, "b": 2}}
    assert growth(before, before) == growth(before, before | {"fits": 9, "modules": {}}) == []
    assert growth(before, before | {"fits": 1001}) == ["fits: 1,000 before, 1,001 now"]
    assert growth(before, before | {"bytes of cells": 1019}) == []  # seconds have other digits
    after = {"bytes of cells": 1021, "modules": {"a": 1, "b": 3, "c": 1}}
    assert growth(before, after) == [
        "bytes of cells: 1,000 before, 1,021 now",
        "modules: 3 before, 5 now; more of b, c",
    ]


def test_every_page_is_in_the_navigation():
    navigation = yaml.safe_load((TOP / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]

    def pages(entry):
        if isinstance(entry, str):
            return [entry]
        inner = entry.values() if isinstance(entry, dict) else entry
        return [page for each in inner for page in pages(each)]

    assert sorted(pages(navigation)) == sorted(named(page) for page in PAGES)


def test_the_guide_of_audit_lists_every_check_in_its_order():
    guide = (DOCS / "how-to" / "audit.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z-]+)` \| (\w+) \|", guide, re.MULTILINE)
    assert rows == [(check, each["level"]) for check, each in checks().items()]


SECTIONS = ("tuning", "search", "split", "filters", "candidates", "dataset", "metrics")


def wishes():
    text = (DOCS / "how-to" / "from-surprise.md").read_text(encoding="utf-8")
    text = text[text.index("## Frequently requested features") :]
    for code in re.findall(r"`([^`]+)`", text):
        key, colon, _ = code.partition(": ")
        if colon and key in SECTIONS:
            yield pytest.param(code, id=code)


@pytest.mark.parametrize("code", [*wishes()])
def test_a_config_that_answers_a_wish_is_one(code, tmp_path):
    part = yaml.safe_load(code)
    name = "KNNBasic" if "sim_options" in code else "SVD"
    algorithm = {"name": name} | ({"search": part.pop("search")} if "search" in part else {})
    base = {"dataset": "bundled", "algorithms": [algorithm], "metrics": ["ndcg@10"]}
    experiment, _ = load(base | part, folder=tmp_path)
    assert experiment.algorithms[0].name == name
