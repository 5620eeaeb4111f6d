"""What is shown while a run runs, where standard error is no terminal."""

from __future__ import annotations

import pytest

from harness.cli.progress import Lines
from harness.experiment.events import CellFinished, Note, RunPlanned


def test_each_cell_has_a_line_with_its_number(capsys: pytest.CaptureFixture[str]) -> None:
    with Lines() as lines:
        lines(RunPlanned(3, 1))
        lines(CellFinished("SVD", 1.25, found=False))
        lines(CellFinished("NMF", 0.0, found=False, error="no memory"))
    assert capsys.readouterr().err.splitlines() == [
        "3 cells, 1 finished",
        "[2/3] ✓ SVD: 1.25 s",
        "[3/3] ✗ NMF: no memory",
    ]


def test_what_every_round_has_to_say_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    with Lines() as lines:
        for message in ("2 workers", "2 workers", "no worker is left", "2 workers"):
            lines(Note(message))
    assert capsys.readouterr().err.splitlines() == ["2 workers", "no worker is left", "2 workers"]
