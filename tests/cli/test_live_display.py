"""What is shown while a run runs, on a terminal: counted, timed, and never wider than it is."""

import io

import pytest
from rich.cells import cell_len
from rich.console import Console

from harness.cli.live import Live
from harness.cli.progress import Lines, Silence, display
from harness.cli.tally import Tally
from harness.experiment.events import (
    CellFinished,
    CellStarted,
    Note,
    RunPlanned,
    Stage,
)


class Clock:
    """A clock that is set by hand."""

    def __init__(self):
        self.seconds = 100.0

    def __call__(self):
        return self.seconds


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def tally(clock):
    return Tally(clock)


def terminal(width=80):
    return Console(
        file=io.StringIO(), width=width, height=30, force_terminal=True, color_system=None
    )


def shown(live):
    """Return the lines of the display as they are now."""
    lines = live.console.render_lines(live, live.console.options, pad=False)
    return ["".join(segment.text for segment in line) for line in lines]


def tell(watch, *events):
    for event in events:
        watch(event)


def live_at(width, clock, *events):
    live = Live(terminal(width))
    live.tally = Tally(clock)
    tell(live, *events)
    return live


def test_one_cell_says_nothing_of_the_others(tally):
    tell(tally.take, RunPlanned(4, 0), CellFinished("a", 4.0))
    assert tally.left() is None


def test_what_is_left_is_estimated_from_the_cells_of_this_run(tally):
    tell(tally.take, RunPlanned(6, 0), CellFinished("a", 4.0), CellFinished("b", 6.0))
    assert tally.left() == 4 * 5.0


def test_cells_found_or_failed_say_nothing_of_the_others(tally):
    tell(
        tally.take,
        RunPlanned(6, 1),
        CellFinished("b", 0.0, found=True),
        CellFinished("c", 9.0, error="no"),
        CellFinished("d", 1.0),
    )
    assert tally.left() is None


def test_several_workers_share_what_is_left_but_no_more_than_there_are_cells(tally):
    tell(tally.take, RunPlanned(6, 0, 2), CellFinished("a", 4.0), CellFinished("b", 6.0))
    assert tally.left() == 10.0
    tally.n_workers = 100
    assert tally.left() == 5.0


def test_a_cell_under_way_takes_its_time_off_but_never_more_than_the_mean(tally, clock):
    tell(tally.take, RunPlanned(4, 0), CellFinished("a", 4.0), CellFinished("b", 6.0))
    tally.take(CellStarted("c"))
    clock.seconds += 3
    assert tally.left() == 7.0
    clock.seconds += 30
    assert tally.left() == 5.0


def test_nothing_is_left_after_the_last_cell(tally):
    tell(tally.take, RunPlanned(2, 0), CellFinished("a", 4.0), CellFinished("b", 6.0))
    assert tally.left() is None
    assert (tally.n_done, tally.n_failed) == (2, 0)


def test_failures_are_counted_and_teach_nothing(tally):
    tell(tally.take, RunPlanned(2, 0), CellStarted("a"), CellFinished("a", 9.0, error="no"))
    assert (tally.n_failed, tally.took) == (1, [])


EVENTS = (
    RunPlanned(16, 3, 2),
    CellFinished("BaselineOnly · fold 1/5", 1.0),
    CellFinished("SlopeOne · fold 1/5", 3.0),
    CellStarted("SVD · fold 1/5"),
    Stage("SVD · fold 1/5", "fitting by epoch", 7, 20),
    CellStarted("KNNBasic · fold 1/5"),
    Stage("KNNBasic · fold 1/5", "scoring", 400, 943),
)


def test_each_cell_under_way_has_a_line_with_its_stage_and_times(clock):
    live = live_at(100, clock, *EVENTS)
    clock.seconds += 65
    head, svd, knn = shown(live)
    assert "5 of 16 cells" in head
    assert "1:05, about 0:09 left" in head
    assert svd.strip() == "SVD · fold 1/5  fitting, epoch 7 of 20  1:05"
    assert knn.strip() == "KNNBasic · fold 1/5  scoring, user 400 of 943  1:05"


@pytest.mark.parametrize("width", [8, 20, 40, 63, 64, 80, 120])
def test_no_line_is_wider_than_the_terminal(clock, width):
    wide = "推薦アルゴリズム with a very long label of somebody's own · fold 1/5"
    live = live_at(
        width, clock, *EVENTS, CellStarted(wide), Stage(wide, "fitting by epoch", 19, 20)
    )
    lines = shown(live)
    assert len(lines) == 4
    assert max(cell_len(line) for line in lines) <= width


def test_a_narrow_terminal_shows_the_count_the_name_and_the_stage(clock):
    head, svd, _ = shown(live_at(40, clock, *EVENTS))
    assert "5/16" in head
    assert "about" in head
    assert svd == "  SVD · fold 1/5  fitting, epoch 7 of 20"


def test_many_cells_at_once_do_not_fill_the_screen(clock):
    live = live_at(80, clock, RunPlanned(40, 0), *(CellStarted(f"cell {i}") for i in range(30)))
    lines = shown(live)
    assert len(lines) == 10
    assert lines[-1].strip() == "and 22 more"


def test_before_the_first_cell_and_after_the_last_it_says_what_it_does(clock):
    live = live_at(80, clock, Stage("", "loading", 50, 100))
    assert "loading, 50%" in shown(live)[0]
    tell(live, RunPlanned(1, 0), CellStarted("SVD"), CellFinished("SVD", 1.0))
    live(Stage("SVD", "metrics"))
    assert "metrics of SVD" in shown(live)[0]
    live(Stage("", "comparing"))
    assert "comparing" in shown(live)[0]


def test_what_ended_stays_above_the_display_failures_with_their_reason(clock):
    live = live_at(
        80,
        clock,
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


def test_a_name_cannot_steer_the_terminal_or_mark_itself_up(clock):
    name = "[red]x[/] \x1b[31mred\nnext 🙂"
    live = live_at(80, clock, RunPlanned(2, 0), CellStarted(name), CellFinished("b", 1.0))
    live(CellFinished(name, 1.0, error="\x1b]0;title\x07 [bold]no[/bold]"))
    text = live.console.file.getvalue() + "\n".join(shown(live))
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "[red]x[/]" in text
    assert "[bold]no[/bold]" in text


def test_quiet_shows_nothing_at_all(capsys):
    with display(quiet=True) as watch:
        tell(watch, *EVENTS, CellFinished("SVD", 1.0), Note("a note"))
    assert isinstance(watch, Silence)
    assert capsys.readouterr() == ("", "")


def test_where_standard_error_is_no_terminal_lines_are_plain(capsys):
    with display(quiet=False) as watch:
        tell(watch, *EVENTS, CellFinished("SVD · fold 1/5", 1.0))
    assert isinstance(watch, Lines)
    assert capsys.readouterr().err.splitlines() == [
        "16 cells, 3 finished",
        "[4/16] ✓ BaselineOnly · fold 1/5: 1.00 s",
        "[5/16] ✓ SlopeOne · fold 1/5: 3.00 s",
        "[6/16] ✓ SVD · fold 1/5: 1.00 s",
    ]


def test_the_display_goes_when_the_run_ends(clock):
    live = Live(terminal())
    with live:
        tell(live, RunPlanned(1, 0), CellStarted("SVD"))
    assert not live.screen.is_started
