"""'Cannot distinguish' is said only where every algorithm has lists of the same items."""

import pandas as pd
import pytest

import harness
from harness.experiment.dry_run import dry_run

ROWS = [(f"u{u}", f"i{i}", 1 + (u * i) % 5) for u in range(12) for i in range(9) if (u + i) % 5]
CONFIG = {
    "dataset": "ratings.csv",
    "split": {"kind": "leave-n-out", "n": 1},
    "algorithms": ["ItemMean", "Popularity"],
    "baselines": False,
}
OF_LISTS = {
    "rated": "use `candidates: catalogue` or `sampled`",
    "catalogue": "",
    "short catalogue": "use a smaller k, or data with more items",
    "file": "every test item is relevant",
    "least": "",
}
SECTIONS = {
    "rated": "rated",
    "catalogue": "catalogue",
    "short catalogue": "catalogue",
    "file": {"kind": "file", "path": "candidates.csv"},
    "least": {"kind": "rated", "least_estimate": 2.5},
}


@pytest.mark.parametrize("kind", SECTIONS)
def test_notes_say_what_is_proven_and_advise_what_is_possible(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(ROWS, columns=["user", "item", "rating"])
    frame.to_csv("ratings.csv", index=False)
    frame.assign(item=[f"i{n % 9}" for n in range(len(frame))]).drop_duplicates(
        ["user", "item"]
    ).to_csv("candidates.csv", index=False)
    labels = ["recall@1"] if kind == "catalogue" else ["recall@8"]
    config = CONFIG | {"candidates": SECTIONS[kind], "metrics": labels}
    before, run = dry_run(config), harness.run(config, results=None)
    for notes, advice in (
        (before.notes, "" if kind == "file" else OF_LISTS[kind]),  # which only a run ranks
        (run.info.notes, OF_LISTS[kind]),
    ):
        said = [str(note) for note in notes if note.code == "indistinct"]
        assert bool(said) == bool(advice)
        assert [text for text in said if advice not in text] == []
