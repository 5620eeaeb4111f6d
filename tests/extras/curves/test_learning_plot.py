"""The plot of learning curves: all text inside the figure, names as text."""

import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

import harness
from harness.report import plots
from harness.report.styles import plot_style

LONG = "<script> $x$ a label that is far too long for a plot "


@pytest.fixture(scope="module")
def run():
    rows = [{"name": "ItemMean", "label": LONG + str(number)} for number in range(6)]
    return harness.run(
        {
            "dataset": {"synthetic": {"n_users": 40, "n_items": 30, "n_ratings": 500}},
            "training_shares": {"shares": [0.02, 0.3, 1], "by": "user"},
            "algorithms": rows,
            "metrics": ["ndcg@5"],
        },
        results=None,
    )


def test_all_text_is_inside_the_figure_and_no_name_is_a_formula(run):
    plot = plots.kinds()["learning"](run, place=3)
    with plot_style():
        axes = Figure(figsize=plot.size).subplots()
        plot.draw(axes)
        axes.figure.draw_without_rendering()
    texts = [text for text in axes.figure.findobj(Text) if text.get_text().strip()]
    for text in texts:
        box = text.get_window_extent()
        assert min(box.x0, box.y0) >= -1, text
        assert (box.max <= axes.figure.bbox.max + 1).all(), text
    assert axes.get_xlabel() == "proportion of the training users"
    assert axes.get_xscale() == "log"
    drawn = plot.render("svg", svg_fonttype="none").decode()
    assert "&lt;script&gt;" in drawn
    assert "<script" not in drawn


def test_marks_and_intervals_of_a_row_stand_beside_those_of_the_others(run):
    plot = plots.kinds()["learning"](run, place=3)
    with plot_style():
        axes = Figure(figsize=plot.size).subplots()
        plot.draw(axes)
    lines = [line for line in axes.lines if len(line.get_xdata()) == 3 and line.get_ls() == "-"]
    lines = [line for line in lines if line.get_xdata()[0] == 0.02]
    n = plot.data["algorithm"].nunique()
    assert len(lines) == n > 6
    firsts = [line.get_transform().transform((0.02, 0.5))[0] for line in lines]
    assert len({round(first, 3) for first in firsts}) == n
    assert min(firsts) > axes.bbox.x0


@pytest.mark.long
def test_the_page_has_the_plot_once(run):
    page = harness.report.page.build_page([run])
    assert page.count("Learning curves") >= 1
    assert page.count("ndcg@5 with 2%, 30% and 100% of the training users") == 1
