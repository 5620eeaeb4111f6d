"""The verdict before the table on a terminal, and notes by weight below it."""

import json
import os
import subprocess
import sys

from harness.notes.note import WEIGHTS, Note
from harness.results.reading import read_run
from harness.results.runs import Run
from harness.results.verdict import MOST_NOTES, verdict_lines


def with_notes(made, tmp_path, notes):
    """Write the run one of the shared folder with other notes, and return it."""
    run = read_run(made / "runs" / "one")
    info = run.info.model_copy(update={"notes": notes, "files": {}})
    return Run(info, run.users).write(tmp_path / "runs")


def test_the_verdict_stands_before_the_table_within_80_columns(call, made, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    folder = made / "runs" / "one"
    status, out, _ = call("table", str(folder))
    assert status == 0
    verdict, _, _ = out.partition("\nalgorithm ")
    [line] = verdict_lines(read_run(folder).info)
    assert line in " ".join(verdict.split())
    assert max(map(len, out.splitlines())) <= 80


def test_the_verdict_can_be_printed_in_ascii(made):
    folder = made / "runs" / "one"
    done = subprocess.run(
        [sys.executable, "-m", "harness", "table", folder],
        env=os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
        capture_output=True,
        timeout=120,
        check=True,
    )
    [line] = verdict_lines(read_run(folder).info)
    assert line in done.stdout.decode("ascii")


def test_five_notes_stand_below_the_table_and_the_others_are_counted(call, made, tmp_path):
    light = [Note("mine:light", {"n": i}, text=f"light {i}", weight=1) for i in range(6)]
    heavy = [Note("mine:heavy", {"n": i}, text=f"heavy {i}", weight=3) for i in range(2)]
    with_notes(made, tmp_path, [*light, *heavy])
    _, out, _ = call("table", "one")
    lines = [line.removeprefix("note: ") for line in out.splitlines() if line.startswith("note: ")]
    assert lines == ["heavy 0", "heavy 1", "light 0", "light 1", "light 2"]
    assert len(lines) == MOST_NOTES
    assert out.endswith("3 more: harness notes one\n")


def test_what_the_verdict_says_is_no_note(call, made):
    run = read_run(made / "runs" / "one")
    [claim] = [note for note in run.info.notes if note.code == "claim"]
    _, out, _ = call("table", str(made / "runs" / "one"))
    assert " ".join(out.split()).count(str(claim)) == 1


def test_notes_are_printed_in_groups_the_most_important_first(call, made, tmp_path):
    notes = [Note(f"mine:{weight}", text=f"of weight {weight}", weight=weight) for weight in (1, 3)]
    with_notes(made, tmp_path, notes)
    _, out, _ = call("notes", "one")
    assert out == f"{WEIGHTS[3]}:\n\n  of weight 3\n\n{WEIGHTS[1]}:\n\n  of weight 1\n"
    _, out, _ = call("notes", "one", "--json")
    assert [note["code"] for note in json.loads(out)["result"]] == ["mine:1", "mine:3"]


def test_a_run_without_notes_says_so(call, made, tmp_path):
    with_notes(made, tmp_path, [])
    assert call("notes", "one")[1] == "one: no notes\n"
