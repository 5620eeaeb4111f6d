"""Plots are compared by what they draw: points, lines and bars against the run's own numbers."""

import io
import json
import re
from functools import cache
from itertools import combinations, pairwise

import matplotlib as mpl
import matplotlib.image
import matplotlib.pyplot as plt
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from harness.algorithms import registry
from harness.errors import ResultsError
from harness.report import plots
from harness.report.drawing import scale_without, spread_positions
from harness.report.styles import plot_style
from harness.report.summary import short_names, summarise
from harness.results.record import RunInfo
from harness.results.runs import Run

from .conftest import build

OF_EVERY_RUN = [kind for kind in plots.kinds() if kind != "learning"]
LABELS = ["ndcg@5", "ndcg@10", "ndcg@20"]
LONG = {"ml-100k": "a-data-set-with-a-long-name-" * 3, "ndcg@": "ndcg(gain=linear, undefined=0)@"}


def drawn(kind, run):
    """Return the Axes of a plot on a figure of its own, styled."""
    plot = plots.kinds()[kind](run)
    with plot_style():
        axes = Figure(figsize=plot.size).subplots()
        plot.draw(axes)
        axes.figure.draw_without_rendering()
    return axes


def data_behind(run, kind, label=None, place=1):
    return plots.kinds()[kind](run, label, place).data


def markers(axes, marker=None):
    """Return (x, y) of every point that is drawn, sorted."""
    points = [
        (float(x), float(y))
        for line in axes.lines
        if line.get_transform() == axes.transData and line.get_linestyle() == "None"
        if line.get_marker() == (marker or line.get_marker())
        for x, y in zip(*line.get_data(), strict=True)
    ]
    return sorted(points)


def close(points):
    return [pytest.approx(point) for point in sorted(points)]


@pytest.fixture
def table(nasty):
    return summarise(nasty).tables[0]


@pytest.fixture
def users(table):
    """A row for each user and a column for each algorithm, best first."""
    values = table.users.pivot_table(index="user", columns="algorithm", values="ndcg@10")
    return values[table.ranked("ndcg@10")]


def test_tradeoff_has_a_point_for_each_algorithm_and_steps_join_what_nothing_beats(nasty, table):
    rows = table.rows.dropna(subset=["ndcg@10"])
    seconds = rows["fit_seconds"] + rows["score_seconds"]
    axes = drawn("tradeoff", nasty)
    assert markers(axes) == close(zip(seconds, rows["ndcg@10"], strict=True))
    boxes = [text.get_window_extent() for text in axes.texts]
    assert len(boxes) == 5
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    data = data_behind(nasty, "tradeoff")
    for row in data.itertuples():
        beaten = data[(data["seconds"] <= row.seconds) & (data["value"] >= row.value)]
        assert row.front == (len(beaten) == 1)
    assert data["front"].sum() >= 1
    error = data_behind(nasty, "tradeoff", "rmse").sort_values(["seconds", "value"])
    assert (error["front"].iloc[0], error["front"].iloc[-1]) == (True, False)


def test_lines_over_k_and_their_bands_hold_values_and_intervals_of_the_table(nasty, table):
    ranked = table.ranked("ndcg@10")
    axes = drawn("ndcg-over-k", nasty)
    lines = [tuple(line.get_ydata()) for line in axes.lines if line.get_xdata()[0] == 5]
    expected = [tuple(table.records[name][label] for label in LABELS) for name in ranked]
    assert sorted(lines) == close(expected)
    bands = [collection.get_paths()[0].vertices[:, 1] for collection in axes.collections]
    ends = [[table.interval(label, name) for label in LABELS] for name in ranked]
    expected = [(min(low for low, _ in each), max(high for _, high in each)) for each in ends]
    assert sorted((band.min(), band.max()) for band in bands) == close(expected)


def test_distribution_shows_mean_and_quarters_of_the_users_of_its_table(nasty, users):
    axes = drawn("distribution", nasty)
    assert markers(axes, "D") == close((mean, float(y)) for y, mean in enumerate(users.mean()))
    boxes = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in axes.patches]
    assert boxes == [pytest.approx(tuple(q)) for q in users.quantile([0.25, 0.75]).T.to_numpy()]
    both = (data_behind(nasty, "distribution", None, place)["mean"] for place in (1, 2))
    first, second = (means.tolist() for means in both)
    assert first != pytest.approx(second)


def test_differences_are_those_of_the_users_and_filled_where_significant(nasty, table, users):
    axes = drawn("differences", nasty)
    means = users.drop(columns="BaselineOnly").sub(users["BaselineOnly"], axis=0).mean()
    assert markers(axes, "o") == close((mean, float(y)) for y, mean in enumerate(means))
    pairs = table.differences("ndcg@10", "BaselineOnly", corrected_alone=True)
    found = {pair.first: pair for pair in pairs}
    for line in (line for line in axes.lines if line.get_marker() == "o"):
        pair = found[means.index[int(line.get_ydata()[0])]]
        filled = line.get_markerfacecolor() != "white"
        assert filled == pair.significant == (pair.p_adjusted <= 0.05)
    data = data_behind(summarise(nasty, baseline="Random"), "differences")
    assert "Random" not in set(data["algorithm"])
    assert (data["difference"] > 0).all()


def test_the_mark_of_a_mean_at_the_end_of_the_scale_is_whole(nasty):
    plot = plots.kinds()["distribution"](nasty)
    plot.data.loc[0, ["q05", "q25", "median", "q75", "q95", "mean"]] = 1.0
    with plot_style():
        axes = Figure(figsize=plot.size).subplots()
        plot.draw(axes)
    assert axes.get_xlim()[1] > 1.0
    [means] = [line for line in axes.lines if line.get_marker() == "D"]
    assert not means.get_clip_on()


def test_differences_keep_the_tick_at_zero_where_ticks_are_dropped(nasty):
    plot = plots.kinds()["differences"](nasty)
    with plot_style():
        axes = Figure(figsize=plot.size).subplots()
        # As Matplotlib numbers them: too many for the width, and zero the second of them.
        axes.xaxis.set_major_locator(mpl.ticker.MultipleLocator(0.01, offset=0))
        plot._limit_rows = lambda axes, *_: axes.set_xlim(-0.015, 0.3)
        plot.draw(axes)
    ticks = axes.get_xticks().tolist()
    assert 0.0 in ticks
    assert 1 < len(ticks) < 20


def test_a_file_says_below_the_plot_what_its_marks_mean(nasty, tmp_path):
    plot = plots.kinds()["differences"](nasty)
    shown = plot._rendered("svg", plot.legend, svg_fonttype="none").decode()
    text = " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", shown))
    assert "Paired by user. Line: interval of the difference. Filled: significant" in text
    assert "With a margin" not in text
    assert plot.write("png", tmp_path).read_bytes() != plot.render("png")


def test_a_legend_names_only_what_the_plot_shows(nasty, plain_run):
    for run in (nasty, plain_run):
        for kind in OF_EVERY_RUN:
            try:
                plot = plots.kinds()[kind](run)
            except ResultsError:
                continue
            with plot_style():
                axes = Figure(figsize=plot.size).subplots()
                plot.draw(axes)
            texts = [text.get_text() for text in axes.findobj(Text)]
            has_arrow = any(arrow in text for text in texts for arrow in "↑↓←→")
            assert ("Arrow:" in plot.legend) == has_arrow, kind
            assert ("≈" in plot.legend) == any("≈" in text for text in texts), kind
    alone = plots.kinds()["tradeoff"](changed_seconds(plain_run, [1.0, 1.0, 1.0]))
    assert alone.legend == "Bars: confidence intervals."


def changed_seconds(run, seconds):
    """Return the run, its rows with these seconds to fit and none to score."""
    info = run.info.model_copy(deep=True)
    for cell, value in zip(info.cells, seconds, strict=True):
        cell.fit_seconds, cell.score_seconds = value, 0.0
    return Run(info, run.users)


def test_rows_of_the_same_seconds_are_drawn_side_by_side(plain_run):
    def places(seconds):
        axes = drawn("tradeoff", changed_seconds(plain_run, seconds))
        marks = [line for line in axes.lines if line.get_linestyle() == "None"][:3]
        return [
            float(line.get_transform().transform(list(zip(*line.get_data(), strict=True)))[0][0])
            for line in marks
        ], axes.figure.dpi / 72

    together, point = places([1.0, 1.0, 1.01])
    assert all(abs(b - a) >= 2.9 * point for a, b in combinations(together, 2))
    apart, _ = places([0.01, 1.0, 100.0])
    assert min(b - a for a, b in pairwise(sorted(apart))) > 20 * point


def test_spread_shows_every_cell(nasty, table):
    order = table.ranked("ndcg@10").index
    points = [(cell.scores["ndcg@10"].mean, float(order(cell.algorithm))) for cell in table.cells]
    assert markers(drawn("spread", nasty)) == close(points)


def to_failed(run):
    return plots.differences(summarise(run, baseline="NMF"))


def over_k(run):
    return plots.ndcg_over_k(run, "rmse")


@pytest.mark.parametrize(
    ("run", "show", "message"),
    [
        ("nasty", lambda run: summarise(run, baseline="Randon"), "no baseline 'Randon'; did you"),
        ("nasty", lambda run: plots.differences(run, "rmse"), "rmse was not compared user by user"),
        ("nasty", to_failed, "ndcg@10 was not compared user by user"),
        ("nasty", over_k, "rmse has no cut-off rank; choose ndcg"),
        ("alone", plots.differences, "ndcg@10 of one algorithm only; add another to the config"),
        ("plain_run", plots.spread, "one fold and one seed"),
        ("plain_run", plots.ndcg_over_k, "at one rank only; add another to the config"),
    ],
)
def test_what_is_not_there_is_named(request, run, show, message):
    with pytest.raises(ResultsError, match=message):
        show(request.getfixturevalue(run))


@pytest.fixture
def alone():
    return run_of(1, False)


@cache
def run_of(n_rows, long):
    """Return a run of some rows, its words all short or all long."""
    names = [f"algorithm {'with a label ' * 5}{number}" for number in range(n_rows - 2)]
    names = names if long else [*registry.names("surprise"), "ItemMean"][: n_rows - 2]
    # With what a scale may leave out, at the end and far below the others.
    names = [*names, *(["SVD", "Random"][-n_rows:] if long else ["Popularity", "Random"])]
    run = build("rows", ["rated"], algorithms=names[-n_rows:], fails=None)
    if not long:
        return run
    text, users = run.info.model_dump_json(), run.users
    for short, other in LONG.items():
        text = text.replace(short, other)
        users = users.rename(columns=lambda n, short=short, other=other: n.replace(short, other))
    info = RunInfo(**json.loads(text) | {"config": run.info.config})
    return Run(info, users.assign(dataset=info.cells[0].dataset))


@pytest.mark.sample(8)
@pytest.mark.parametrize(
    ("kind", "n_rows", "long"),
    [
        (kind, n_rows, long)
        for kind in OF_EVERY_RUN
        for n_rows, long in [(1, True), (2, False), (2, True), (14, False), (14, True)]
        if n_rows > 1 or kind not in ("differences", "parameter")  # one row alone has none
    ],
)
def test_all_text_is_inside_the_figure(kind, n_rows, long):
    where = summarise(run_of(n_rows, long)).table(1)
    axes = drawn(kind, run_of(n_rows, long))
    figure = axes.figure
    texts = [t for t in figure.findobj(Text) if t.get_visible() and t.get_text().strip()]
    shown = " ".join("".join(text.get_text().split()) for text in texts)
    assert "".join(" · ".join(where.names).split()) in shown
    for text in texts:
        assert text.get_fontname() == "DejaVu Sans"
        box = text.get_window_extent()
        assert min(box.x0, box.y0) >= -1, text
        assert (box.max <= figure.bbox.max + 1).all(), text
    assert axes.get_window_extent().width > figure.bbox.width / 4
    assert axes.get_window_extent().height > figure.bbox.height / 4


def test_baselines_that_squeeze_the_others_are_left_out_with_their_value():
    names = ["SVD", "SVD++", "NMF", "Random"]
    run = build("far", ["rated"], algorithms=names, fails=None)
    pairs = [pair for entry in run.info.statistics for pair in entry.pairs]
    pairs = [pair for pair in pairs if "Random" in (pair.first, pair.second)]
    for pair in pairs:
        pair.difference = pair.low = pair.high = 0.5 if pair.second == "Random" else -0.5
    axes = drawn("differences", summarise(run, baseline="SVD"))
    low, high = axes.get_xlim()
    assert -0.4 < low < 0 <= high
    (text,) = (text for text in axes.texts if text.get_text().startswith("← −0.500"))
    assert text.xy[0] == low  # nothing of the row is within the scale
    for pair in pairs:
        pair.low, pair.high = sorted((2 * pair.difference, 0.0))
    (text,) = drawn("differences", summarise(run, baseline="SVD")).texts
    assert (text.get_text()[:8], text.xy[0]) == ("← −0.500", 0)  # beside the end of its interval


def test_a_baseline_that_leads_is_never_left_out():
    spans = {"SVD": (0.1, 0.11), "NMF": (0.12, 0.13), "Popularity": (0.3, 0.31)}
    assert scale_without(spans, True) == (0.1, 0.31, [])
    assert scale_without(spans, False) == (0.1, 0.13, ["Popularity"])


def test_names_over_k_stand_in_the_order_of_their_lines_and_mark_those_that_coincide():
    axes = drawn("ndcg-over-k", run_of(14, False))
    names = [text for text in axes.texts if text.get_text().split()[-1][0].isdigit()]
    by_height = sorted(names, key=lambda text: -text.get_window_extent().y0)
    values = [float(text.get_text().split()[-1]) for text in by_height]
    assert values == sorted(values, reverse=True)
    assert len(values) == 14
    boxes = [text.get_window_extent() for text in by_height]
    assert all(one.y0 >= other.y1 - 2 for one, other in pairwise(boxes))
    run = build("same", ["rated"], algorithms=["SVD", "NMF", "Random"], fails=None)
    run.info.rows[1].scores = run.info.rows[0].scores
    texts = [text.get_text() for text in drawn("ndcg-over-k", run).texts]
    marked = [text.startswith("≈ ") for text in texts if "SVD" in text or "NMF" in text]
    assert marked == [False, True]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ([], []),
        ([3.0], [3.0]),
        ([5.0, 1.0], [5.0, 1.0]),
        ([0.0, 0.0, 0.0], [0.0, 1.0, 2.0]),
        ([10.0, 10.0], [9.0, 10.0]),
    ],
)
def test_names_on_a_line_move_only_as_far_as_they_must(wanted, expected):
    assert spread_positions(wanted, 1.0, 0.0, 10.0) == pytest.approx(expected)


@pytest.mark.sample(3)
@pytest.mark.parametrize("kind", OF_EVERY_RUN)
@pytest.mark.parametrize("dpi", [72, 144, 300])
def test_no_mark_touches_the_edge_of_the_file_at_any_resolution(nasty, kind, dpi):
    file = io.BytesIO(plots.kinds()[kind](nasty).render("png", savefig_dpi=dpi))
    pixels = mpl.image.imread(file)[:, :, :3].min(axis=2)
    for edge in (pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]):
        assert edge.min() > 0.95


@pytest.mark.parametrize("kind", ["differences", "distribution", "spread"])
def test_rows_are_named_in_the_order_of_their_marks(nasty, kind):
    names = data_behind(nasty, kind)["algorithm"].unique()
    if kind == "spread":
        means = data_behind(nasty, kind).groupby("algorithm")["value"].mean()
        names = means.sort_values(ascending=False).index
    labels = [text.get_text() for text in drawn(kind, nasty).get_yticklabels()]
    assert labels == [*short_names(names).values()]


def test_a_plot_in_a_notebook_gets_a_figure_of_its_own(nasty):
    before = dict(mpl.rcParams)
    axes = plots.differences(nasty)
    assert plt.fignum_exists(axes.figure.number)
    assert dict(mpl.rcParams) == before
    plt.close(axes.figure)


@pytest.mark.parametrize(("form", "start"), [("png", b"\x89PNG\r\n\x1a\n"), ("svg", b"<?xml")])
def test_the_same_run_gives_the_same_file(nasty, form, start):
    one, other = (plots.kinds()["differences"](nasty).render(form) for _ in range(2))
    assert one == other
    assert one.startswith(start)
