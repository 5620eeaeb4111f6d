"""The page of a history: values that cannot be compared are not joined by a line."""

import dataclasses

import pytest
from matplotlib.figure import Figure

from harness.extras.history.command import _show
from harness.extras.history.page import draw_history, marks_of, plot_history, write_history_page
from harness.extras.history.values import History, Point
from harness.extras.history.values import HistoryLine as Line


def point(day, value, breaks=(), changes=()):
    run, started = f"tiny@{day}", f"2026-11-{day:02}T02:41:07+00:00"
    return Point(run, started, value, value - 0.01, value + 0.01, 9, [*breaks], [*changes])


POINTS = [point(1, 0.5), point(2, 0.52, changes=["numpy 1 → 2"]), point(3, 0.7, ["data"])]
LINE = Line("<SVD>", "ratings", "holdout 25%", "rated", POINTS)
HISTORY = History("tiny", "ndcg@10", 3, [LINE], [])


def drawn(lines):
    axes = Figure().subplots()
    runs = [(point.started, point.run) for point in lines[0].points]
    draw_history(axes, "ndcg@10", lines, runs)
    return axes


def test_each_comparable_part_is_a_line_of_its_own():
    axes = drawn([LINE])
    series = [line.get_ydata().tolist() for line in axes.lines if line.get_marker() != "None"]
    assert series == [[0.5, 0.52], [0.7]]
    assert {text.get_text() for text in axes.texts} == {"1", "2"}
    assert marks_of([LINE]) == {"numpy 1 → 2": 1, "data": 2}


def test_a_row_of_several_parts_is_once_in_the_legend():
    other = dataclasses.replace(LINE, algorithm="NMF")
    legend = drawn([LINE, other]).get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["<SVD>", "NMF"]


def test_a_run_without_a_value_has_no_mark():
    empty = Point("tiny@4", "2026-11-04T02:41:07+00:00", None, None, None, None, [], [])
    axes = drawn([dataclasses.replace(LINE, points=[*POINTS, empty])])
    series = [line.get_ydata().tolist() for line in axes.lines if line.get_marker() != "None"]
    assert series == [[0.5, 0.52], [0.7]]


def test_the_page_holds_plot_and_values_with_what_changed(tmp_path):
    other = dataclasses.replace(LINE, dataset="other")
    path = tmp_path / "history.html"
    write_history_page(dataclasses.replace(HISTORY, lines=[LINE, other]), path)
    page = path.read_text(encoding="utf-8")
    assert page.count("<svg") == 2
    assert page.count("not comparable: data") == 2
    assert "<SVD>" not in page
    assert "&lt;SVD&gt;" in page
    assert "<script" not in page


@pytest.mark.parametrize(("form", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml")])
def test_the_plot_is_a_file_that_is_the_same_twice(form, start):
    first, second = (plot_history("ndcg@10", [LINE], form) for _ in range(2))
    assert first.startswith(start)
    assert form == "svg" or first == second


def test_runs_of_one_minute_are_told_apart(tmp_path):
    points = [
        dataclasses.replace(each, started=f"2026-11-01T02:41:{second:02}+00:00")
        for second, each in enumerate(POINTS)
    ]
    lines = [dataclasses.replace(LINE, points=points)]
    path = tmp_path / "history.html"
    write_history_page(dataclasses.replace(HISTORY, lines=lines), path)
    page = path.read_text(encoding="utf-8")
    for second in range(3):
        assert f"<td>2026-11-01 02:41:0{second}</td>" in page
        assert f">02:41:0{second}</text>" in page


def test_a_history_of_one_run_has_no_empty_column(capsys):
    _show(dataclasses.replace(LINE, points=POINTS[:1]), "")
    assert "changed since" not in capsys.readouterr().out
    _show(LINE, "")
    assert "changed since the run above" in capsys.readouterr().out
