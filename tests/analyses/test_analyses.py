"""A run hands its cells to the analyses that its config asks for, and to no other."""

import json
import subprocess
import sys

import pandas as pd
import pytest

import harness
from harness.errors import ConfigError

MODULE = '''
import harness
import pandas as pd

class Lengths(harness.Analysis):
    """How long the lists are."""

    def __init__(self):
        self.rows = []

    def add(self, cell, scores):
        self.rows.append([cell.algorithm, float(cell.lists.lengths.mean()), scores["ndcg@5"].mean])

    def result(self):
        return pd.DataFrame(self.rows, columns=["algorithm", "mean length", "ndcg@5"])

    def notes(self):
        return [harness.Note("own:lengths", {"n": len(self.rows)}, text="lists were measured")]

class Fails(Lengths):
    def add(self, cell, scores):
        raise ValueError("cannot add")

class Odd(Lengths):
    def result(self):
        return [1, 2]

class NoAnalysis:
    pass
'''
CONFIG = {
    "dataset": {"synthetic": {"n_users": 30, "n_items": 20, "n_ratings": 300}},
    "split": {"kind": "kfold", "n_splits": 2},
    "candidates": {"kind": "rated", "unknown_users": "drop"},  # else these are a group
    "algorithms": ["BaselineOnly"],
    "metrics": ["ndcg@5"],
}


def test_an_analysis_of_ones_own_has_its_table_and_its_notes(module, tmp_path):
    name = f"{module}:Lengths"
    run = harness.run(CONFIG | {"analyses": ["default", name]}, results=tmp_path)
    table = run.analyses[name]
    assert table["algorithm"].tolist() == [
        row for row in ("BaselineOnly", "Random", "Popularity") for _ in "ab"
    ]
    of_cells = [cell.scores["ndcg@5"].mean for cell in run.info.finished]
    assert sorted(table["ndcg@5"]) == pytest.approx(sorted(of_cells))
    assert "lists were measured" in [str(note) for note in run.info.notes]
    assert run.info.bounds
    assert run.info.conventions
    again = harness.read_run(run.folder)
    pd.testing.assert_frame_equal(again.analyses[name], table)
    assert ("analyses", name) in [(plugin.kind, plugin.name) for plugin in again.info.plugins]


def test_its_table_is_on_the_page_with_its_title_and_caption(module, tmp_path, cli):
    name = f"{module}:Lengths"
    run = harness.run(CONFIG | {"analyses": [name]}, results=tmp_path)
    own = harness.read_run(run.folder).info.analyses[name]
    assert (own.title, own.caption) == (name, "How long the lists are.")
    page = run.report().read_text(encoding="utf-8")
    section = page.partition('<section id="analyses">')[2].partition("</section>")[0]
    assert f">{name}</h3>" in section
    assert '<p class="caption">How long the lists are.</p>' in section
    assert "mean length" in section
    assert "How long the lists are." in cli.done("table", run.folder, "--analysis", name)


@pytest.mark.parametrize(
    ("name", "said"),
    [("Fails", "ValueError: cannot add"), ("Odd", "`result` returned list, no DataFrame")],
)
def test_one_that_fails_is_a_note_and_nothing_else_is_lost(module, name, said):
    plain = harness.run(CONFIG, results=None)
    run = harness.run(CONFIG | {"analyses": ["default", f"{module}:{name}"]}, results=None)
    (note,) = [note for note in run.info.notes if note.code == "analysis-failed"]
    assert said in str(note)
    assert f"{module}:{name}" in str(note)
    assert run.analyses == {}
    assert run.table["ndcg@5"].tolist() == plain.table["ndcg@5"].tolist()
    assert run.info.bounds == plain.info.bounds


def test_an_unknown_one_is_a_fault_with_a_suggestion(module):
    with pytest.raises(ConfigError, match=r"analyses.*did you mean 'bounds'"):
        harness.run(CONFIG | {"analyses": ["bound"]}, results=None)
    with pytest.raises(ConfigError, match=f"'{module}' has no 'Length'; did you mean 'Lengths'"):
        harness.run(CONFIG | {"analyses": [f"{module}:Length"]}, results=None)


def test_what_is_not_asked_for_is_not_there():
    run = harness.run(CONFIG | {"analyses": ["ties"]}, results=None)
    assert (run.info.bounds, run.info.conventions, run.info.groups) == ([], [], [])
    assert run.info.ties


@pytest.mark.long
def test_an_analysis_that_nobody_asked_for_is_not_imported():
    code = f"""
import json, sys, harness
config = json.loads({json.dumps(json.dumps(CONFIG | {"analyses": ["bounds"]}))})
harness.run(config, results=None)
print(json.dumps([name for name in sys.modules if name.startswith("harness.experiment.analyses.")]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = {name.rpartition(".")[2] for name in json.loads(done.stdout)}
    assert imported == {"base", "bounds", "groups"}  # by the groups of users a plan is checked
