"""A metric against a parameter: which rows stand on one line, and what is drawn of them."""

import re
from pathlib import Path

import pytest
from matplotlib.figure import Figure

import harness
from harness.config.experiment import AlgorithmConfig
from harness.errors import ResultsError
from harness.report import build_page, plots
from harness.report.plots import lines_of
from harness.report.styles import plot_style
from harness.report.summary import summarise

DATA = {"synthetic": {"n_users": 40, "n_items": 30, "n_ratings": 600}}


def row(name, label=None, **params):
    return {"name": name, "label": label or name, "params": params}


ROWS = [
    *[row("ItemMean", f"damping {n}", damping=n) for n in (1, 5, 100)],
    row("ItemMean"),  # the default
    *[row("KNNBasic", f"k {k} min {m}", k=k, min_k=m) for k in (3, 9) for m in (1, 2)],
    *[row("KNNBaseline", name, sim_options={"name": name}) for name in ("msd", "cosine")],
    row("BaselineOnly"),
]


def run_of(rows, **keys):
    config = {"name": "rows", "dataset": DATA, "algorithms": rows, "metrics": ["ndcg@5", "rmse"]}
    return harness.run(config | keys | {"statistics": {"resamples": 100}}, results=None)


@pytest.fixture(scope="module")
def run():
    return run_of(ROWS)


def lines(rows):
    found = lines_of(AlgorithmConfig.model_validate(row) for row in rows)
    return [(line.parameter, list(line.values.values())) for line in found]


def test_lines_join_rows_that_differ_in_one_parameter_alone():
    assert lines(ROWS) == [
        ("damping", [1, 5, 100, 0.0]),
        ("k", [3, 9]),
        ("k", [3, 9]),
        ("min_k", [1, 2]),
        ("min_k", [1, 2]),
        ("sim_options.name", ["msd", "cosine"]),
    ]


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [row("SVD")],
        [row("SVD"), row("NMF", n_factors=3)],
        [row("SVD", "a", n_factors=5, n_epochs=3), row("SVD", "b", n_factors=6, n_epochs=4)],
        [row("SVD", "a", n_factors=5), row("SVD", "b", n_factors=5)],
        [{"name": "SVD", "label": "a", "search": {"n_factors": [5, 6]}}, row("SVD", n_factors=5)],
    ],
    ids=str,
)
def test_other_rows_make_no_line(rows):
    assert lines(rows) == []


def test_a_row_without_the_parameter_has_its_default_and_of_an_unknown_one_none():
    assert lines([row("SVD"), row("svd", "small", n_factors=20)]) == [("n_factors", [100, 20])]
    assert lines([row("mine:Model"), row("mine:Model", "b", depth=2)]) == []
    with_both = [row("mine:Model", "a", depth=1), row("mine:Model", "b", depth=2)]
    assert lines(with_both) == [("depth", [1, 2])]


def test_each_parameter_has_a_plot_with_the_values_of_the_table(run):
    drawn = plots.kinds()["parameter"].each(run, "rmse")
    assert [plot.parameter for plot in drawn] == ["damping", "k", "min_k", "sim_options.name"]
    records = summarise(run).tables[0].records
    for plot in drawn:
        for entry in plot.data.to_dict("records"):
            assert entry["value"] == records[entry["algorithm"]]["rmse"]
        with plot_style():
            axes = Figure(figsize=plot.size).subplots()
            plot.draw(axes)
        points = [line for line in axes.lines if line.get_linestyle() == "None"]
        assert len(points) == len(plot.data)
        looks = {(line.get_marker(), line.get_color()) for line in points}
        assert len(looks) == len(points)
        joined = [line for line in axes.lines if line.get_linestyle() == "-"]
        n_lines = plot.data["line"].nunique()
        assert len(joined) == (n_lines if plot.parameter != "sim_options.name" else 0)
        for line in joined:
            assert list(line.get_xdata()) == sorted(line.get_xdata())
        assert len(axes.texts) == (n_lines if n_lines > 1 else 0)
    first = drawn[0]
    assert "has the best value, " in first.describe()
    names = [plot.path("svg", Path("figures")).name for plot in drawn]
    assert len(set(names)) == len(names)


@pytest.mark.long
def test_the_page_and_python_show_the_plot(run):
    page = build_page([run])
    assert 'id="parameter"' in page
    assert "ndcg@5 by damping" in page
    axes = run.plot("parameter")
    assert axes.get_xlabel() == "damping"
    assert 'id="parameter"' not in build_page([run_of(["ItemMean", "BaselineOnly"])])


def test_without_such_rows_it_says_what_to_add():
    with pytest.raises(ResultsError, match="no two rows differ in only one parameter; add some"):
        run_of(["ItemMean", "BaselineOnly"]).plot("parameter")


@pytest.mark.long
def test_what_captions_and_notes_name_as_code_is_shown_as_code(run):
    page = re.sub(r"(?s)<(script|style|pre|svg|textarea)\b.*?</\1>", "", build_page([run]))
    assert "<code>search:</code>" in page
    assert re.findall(r".{40}`.{40}", re.sub(r"(?s)<(table)\b.*?</\1>", "", page)) == []
