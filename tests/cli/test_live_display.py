"""What is shown while a run runs, on a terminal: counted, timed, and never wider than it is."""

import io
from datetime import datetime

import pytest
from rich.cells import cell_len
from rich.console import Console

from harness.console.progress import Lines, Live, display, silent
from harness.experiment.execute.progress import CellFinished, CellStarted, RunPlanned, Stage
from harness.experiment.execute.progress import Noted as Note


def shown(live):
    """Return the lines of the display as they are now."""
    lines = live.console.render_lines(live.screen.get_renderable(), pad=False)
    return ["".join(segment.text for segment in line).rstrip() for line in lines]


def without_times(text):
    """Return the lines of a log without the times with which they begin."""
    parts = [line.split(" ", 1) for line in text.splitlines()]
    assert all(datetime.fromisoformat(time).tzinfo is not None for time, _ in parts)
    return [line for _, line in parts]


def live_at(width, *events, pause=0.0):
    """Return a display after events, with a pause of some seconds before each."""
    console = Console(
        file=io.StringIO(), width=width, height=30, force_terminal=True, color_system=None
    )
    now = 100.0
    live = Live(console, lambda: now)
    for event in events:
        now += pause
        live(event)
    return live


@pytest.mark.parametrize(
    ("n_cells", "n_found", "n_ended", "count", "left"),
    [
        (4, 0, 1, "1 of 4 cells", ""),
        (106, 100, 3, "103 of 106 cells", "about 0:15 left"),  # by the cells of this run
        (3, 0, 3, "", ""),
    ],
)
def test_the_time_left_is_estimated_from_the_second_cell_to_the_last(
    n_cells, n_found, n_ended, count, left
):
    ended = (CellFinished(name, 4.0) for name in "abc"[:n_ended])
    head = shown(live_at(80, RunPlanned(n_cells, n_found), *ended, pause=5.0))[0]
    assert count in head
    assert left in head
    assert ("left" in head) == bool(left)


EVENTS = (
    RunPlanned(16, 3, 2),
    CellFinished("BaselineOnly · fold 1/5", 1.0),
    CellFinished("SlopeOne · fold 1/5", 3.0),
    CellStarted("SVD · fold 1/5"),
    Stage("SVD · fold 1/5", "fitting by epoch", 7, 20),
    CellStarted("KNNBasic · fold 1/5"),
    Stage("KNNBasic · fold 1/5", "scoring", 400, 943),
)


def test_each_cell_under_way_has_a_line_with_its_stage_and_times():
    head, svd, knn = shown(live_at(100, *EVENTS, pause=21.0))
    assert "5 of 16 cells" in head
    assert "2:27" in head
    assert " ".join(svd.split()) == "SVD · fold 1/5 fitting, epoch 7 of 20 1:03"
    assert " ".join(knn.split()) == "KNNBasic · fold 1/5 scoring, user 400 of 943 0:21"


@pytest.mark.parametrize("width", [8, 20, 40, 63, 64, 80, 120])
def test_no_line_is_wider_than_the_terminal(width):
    wide = "推薦アルゴリズム with a very long label of a user's own · fold 1/5"
    events = (*EVENTS, CellStarted(wide), Stage(wide, "fitting by epoch", 19, 20))
    lines = shown(live_at(width, *events))
    assert len(lines) == 4
    assert max(cell_len(line) for line in lines) <= width


def test_a_narrow_terminal_shows_the_count_the_name_and_the_stage():
    head, svd, _ = shown(live_at(44, *EVENTS))
    assert "5 of 16" in head
    assert svd == "  SVD · fold 1/5    fitting, epoch 7 of 20"


def test_many_cells_at_once_do_not_fill_the_screen():
    started = (CellStarted(f"cell {i}") for i in range(30))
    lines = shown(live_at(80, RunPlanned(40, 0), *started))
    assert len(lines) == 10
    assert lines[-1].strip() == "and 22 more"


def test_before_the_first_cell_and_after_the_last_it_says_what_it_does():
    live = live_at(80, Stage("", "loading", 50, 100))
    assert "loading, 50%" in shown(live)[0]
    for event in (RunPlanned(1, 0), CellStarted("SVD"), CellFinished("SVD", 1.0)):
        live(event)
    live(Stage("SVD", "metrics"))
    assert "metrics of SVD" in shown(live)[0]
    live(Stage("", "comparing"))
    assert "comparing" in shown(live)[0]


def test_what_ended_stays_above_the_display_failures_with_their_reason():
    live = live_at(
        80,
        RunPlanned(3, 0),
        CellFinished("SVD", 0.256),
        CellFinished("NMF", 0.1, error="out of memory; use fewer workers"),
        CellFinished("KNNBasic", 0.0, found=True),
        Note("2 workers"),
        Note("2 workers"),
    )
    assert live.console.file.getvalue().splitlines() == [
        "✓ SVD: 0.26 s",
        "✗ NMF: out of memory; use fewer workers",
        "2 workers",
    ]


def test_a_name_cannot_steer_the_terminal_or_mark_itself_up():
    name = "[red]x[/] \x1b[31mred\nnext 🙂"
    live = live_at(80, RunPlanned(2, 0), CellStarted(name), CellFinished("b", 1.0))
    live(CellFinished(name, 1.0, error="\x1b]0;title\x07 [bold]no[/bold]"))
    text = live.console.file.getvalue() + "\n".join(shown(live))
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "[red]x[/]" in text
    assert "[bold]no[/bold]" in text


def test_without_a_terminal_lines_are_plain_and_quiet_shows_nothing(capsys):
    notes = [Note(text) for text in ("2 workers", "2 workers", "no worker is left", "2 workers")]
    events = (*EVENTS, *notes, CellFinished("SVD · fold 1/5", 1.0, error="no memory"))
    for quiet, kind in ((True, type(silent)), (False, Lines)):
        with display(quiet) as watch:
            for event in events:
                watch(event)
        assert type(watch) is kind
        lines = without_times(capsys.readouterr().err)
        assert bool(lines) is not quiet
    assert lines == [
        "16 cells: 3 found, 13 to compute",
        "[4/16] ✓ BaselineOnly · fold 1/5: 1.00 s",
        "[5/16] ✓ SlopeOne · fold 1/5: 3.00 s",
        "2 workers",
        "no worker is left",
        "2 workers",
        "[6/16] ✗ SVD · fold 1/5: no memory",
    ]


def test_trials_and_cells_are_counted_apart_on_a_second_run(capsys):
    watch = Lines()
    watch(RunPlanned(2, 0, 1, 5))
    for name, found in (("a", True), ("b", True), ("c", False)):  # the search ended early
        watch(CellFinished(name, 1.0, found=found))
    watch(RunPlanned(2, 1, 1, 3))
    watch(CellFinished("SVD", 1.0))
    assert without_times(capsys.readouterr().err) == [
        "up to 5 trials, then 2 cells",
        "[3/7] ✓ c: 1.00 s",
        "3 trials: 2 found, 1 computed; 2 cells: 1 found, 1 to compute",
        "[5/5] ✓ SVD: 1.00 s",
    ]


def test_the_display_goes_when_the_run_ends():
    live = live_at(80)
    with live:
        live(RunPlanned(1, 0))
        assert live.screen.is_started
    assert not live.screen.is_started


def test_lines_say_how_far_a_long_stage_is_and_nothing_of_a_short_one(capsys):
    now = 0.0
    watch = Lines(lambda: now)
    for step in range(100):
        now += 1.0
        watch(Stage("", "comparing", step, 100))
        watch(Stage("SVD", "metrics"))  # which does not say how far it is
        watch(Stage("SVD", f"stage {step}", 1, 2))
    assert without_times(capsys.readouterr().err) == [
        "comparing, 5%", "comparing, 15%", "comparing, 35%", "comparing, 75%"
    ]  # fmt: skip
