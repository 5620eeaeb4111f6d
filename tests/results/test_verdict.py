"""The verdict on a results table, in words and as a value, and the places that show it."""

import math

import pytest

import harness
from harness.errors import ResultsError, counted
from harness.notes.note import Note
from harness.report import build_page
from harness.results.cells import CellName, FailedCell
from harness.results.runs import Run, to_markdown
from harness.results.table import display_table
from harness.results.verdict import (
    LONGEST_SENTENCE,
    notes_beside,
    smallest_found,
    verdict_lines,
    verdicts,
)

DATA = {"synthetic": {"n_users": 60, "n_items": 40, "n_ratings": 1100}}


def run_of(**changes):
    config = {
        "dataset": DATA,
        "algorithms": ["BaselineOnly", "ItemMean", "Random"],
        "metrics": ["rmse", "ndcg@5"],
        "baselines": False,
        "statistics": {"resamples": 500},
    }
    return harness.run(config | changes, results=None)


@pytest.fixture(scope="module")
def usual():
    return run_of()


@pytest.fixture(scope="module")
def two_tables():
    return run_of(candidates=["rated", "catalogue"], metrics=["ndcg@5"])


def copied(run, **changes):
    """Return a run whose record can be changed."""
    return Run(run.info.model_copy(deep=True, update=changes), run.users)


def with_values(run, *values):
    """Return a run whose rows have these values of ndcg@5, and differences that belong to them."""
    changed = copied(run)
    of_row = {}
    for row, value in zip(changed.info.rows, values, strict=True):
        row.scores["ndcg@5"] = of_row[row.algorithm] = value
    [comparison] = [each for each in changed.info.statistics if each.metric == "ndcg@5"]
    for pair in comparison.pairs:
        pair.difference = of_row[pair.first] - of_row[pair.second]
        pair.significant = bool(pair.difference)
    return changed


def without_comparison(run, algorithm):
    """Return a run in which a cell of an algorithm failed, as the harness records it."""
    changed = copied(run)
    cells = changed.info.cells
    for i, cell in enumerate(cells):
        if cell.algorithm == algorithm:
            named = {key: cell[key] for key in CellName.model_fields}
            cells[i] = FailedCell(**named, error="boom")
    for comparison in changed.info.statistics:
        comparison.pairs[:] = [
            pair for pair in comparison.pairs if algorithm not in (pair.first, pair.second)
        ]
        comparison.algorithms[:] = [
            mean for mean in comparison.algorithms if mean.algorithm != algorithm
        ]
    return changed


def test_the_verdict_names_the_best_row_its_equals_and_the_best_baseline(usual):
    [verdict] = verdicts(usual.info)
    values, table = verdict.values, usual.table.set_index("algorithm")["ndcg@5"]
    assert verdict.code == "leads"
    assert verdict.is_decided
    assert verdict.metric == "ndcg@5"
    assert values["leaders"] == [table.idxmax()]
    pairs = usual.pairs.query("metric == 'ndcg@5'")
    for name in table.index.drop(table.idxmax()):
        two = {name, table.idxmax()}
        [pair] = [pair for pair in pairs.itertuples() if {pair.first, pair.second} == two]
        assert (name in values["worse"]) == pair.significant
        assert (name in values["equal"]) != pair.significant
    baseline = table[["ItemMean", "Random"]].idxmax()
    assert values["baseline"] == baseline
    if baseline != table.idxmax():
        assert math.isclose(values["gap"], table.max() - table[baseline])
    assert values["claim"] == "models"


def test_where_lower_is_better_the_least_value_leads():
    run = run_of(metrics=["precision@5", "mae"], headline="mae")
    [verdict] = verdicts(run.info)
    table = run.table.set_index("algorithm")["mae"]
    assert verdict.values["leaders"] == [table.idxmin()]
    gap = table[["ItemMean", "Random"]].min() - table.min()
    if gap:
        assert math.isclose(verdict.values["gap"], gap)


def test_over_seeds_the_verdict_speaks_of_algorithms():
    run = run_of(seed=[0, 1, 2])
    [verdict] = verdicts(run.info)
    assert verdict.values["claim"] == "algorithms"


def test_a_smallest_difference_beyond_the_range_of_the_metric_is_none():
    said = smallest_found("ndcg@10", 10.02, "10.020", " from SVD", "this run")
    assert said == (
        "This run can miss any difference from SVD: it detects 10.020 or more with a power of "
        "80%, and ndcg@10 lies between 0 and 1."
    )
    assert "smaller than 10.020 (power" in smallest_found("rmse", 10.02, "10.020", "", "a run")
    assert "smaller than 1 (power" in smallest_found("ndcg@10", 1.0, "1", "", "a run")


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"statistics": None}, "not-compared"),
        ({"headline": "rmse"}, "not-compared"),
        ({"algorithms": ["BaselineOnly"]}, "one-row"),
    ],
)
def test_without_a_verdict_there_is_a_code(changes, code):
    [verdict] = verdicts(run_of(**changes).info)
    assert verdict.code == code
    assert not verdict.is_decided


def test_rows_that_are_all_equal_have_no_leader(usual):
    run = with_values(usual, 0.5, 0.5, 0.5)
    [verdict] = verdicts(run.info)
    assert verdict.code == "all-equal"


def test_equal_best_rows_lead_together(usual):
    run = with_values(usual, 0.5, 0.5, 0.25)
    [verdict] = verdicts(run.info)
    assert verdict.values["leaders"] == ["BaselineOnly", "ItemMean"]
    assert not {"BaselineOnly", "ItemMean"} & {*verdict.values["equal"], *verdict.values["worse"]}


def test_a_best_row_that_failed_does_not_lead_and_is_named(usual):
    leader = verdicts(usual.info)[0].values["leaders"][0]
    [verdict] = verdicts(without_comparison(usual, leader).info)
    assert leader not in verdict.values["leaders"]
    assert verdict.values["failed"] == [leader]


def test_a_run_in_which_all_rows_failed_says_so(usual):
    run = copied(usual, statistics=[])
    for row in run.info.rows:
        row.scores["ndcg@5"] = None
    [verdict] = verdicts(run.info)
    assert verdict.code == "no-row"


def test_each_table_has_its_verdict_and_what_all_say_is_said_once(two_tables):
    found = verdicts(two_tables.info)
    assert [verdict.table for verdict in found] == [*two_tables.info.tables]
    assert [verdict.where.rsplit(", ", 1)[1] for verdict in found] == ["rated", "catalogue"]
    lines = verdict_lines(two_tables.info)
    assert len(lines) == 3
    assert lines[-1] == found[0].sentences[-1] == found[1].sentences[-1]


@pytest.mark.parametrize("length", [1, 60, 300])
@pytest.mark.parametrize("n", [2, 30])
def test_sentences_stay_short_whatever_the_names(usual, n, length):
    run = copied(usual)
    [row, *_] = run.info.rows
    names = [f"{i:02}{'x' * length}" for i in range(n)]
    run.info.rows[:] = [
        row.model_copy(
            update={"algorithm": name, "row": f"{i:064x}", "scores": {"rmse": 1.0, "ndcg@5": 1 / i}}
        )
        for i, name in enumerate(names, 1)
    ]
    run.info.cells[:] = [
        usual.info.cells[0].model_copy(update={"algorithm": own.algorithm, "row": own.row})
        for own in run.info.rows
    ]
    comparison = next(each for each in run.info.statistics if each.metric == "ndcg@5")
    pair = comparison.pairs[0]
    comparison.pairs[:] = [
        pair.model_copy(update={"first": names[0], "second": name, "significant": False})
        for name in names[1:]
    ]
    [verdict] = verdicts(run.info)
    assert verdict.code == "leads"
    assert max(map(len, verdict.sentences)) <= LONGEST_SENTENCE
    assert len(verdict.values["equal"]) == n - 1


def test_every_place_shows_the_same_words(usual, two_tables):
    for run in (usual, two_tables):
        page = build_page([run])
        for line in verdict_lines(run.info):
            assert line in " ".join(repr(run).split())
            assert line in run._repr_html_()
            assert line in page
            assert line.replace("_", "\\_") in to_markdown(run.info)
        written = to_markdown(run.info)
        assert written.index(verdicts(run.info)[0].sentences[-1]) < written.index("| alg")


def test_the_text_of_a_run_fits_80_columns_and_has_each_row(usual, two_tables):
    for run in (usual, two_tables, copied(usual, notes=[])):
        lines = repr(run).splitlines()
        assert max(map(len, lines)) <= 80
        assert all(any(line.startswith(name) for line in lines) for name in run.info.algorithms)
    assert repr(usual).isascii()


def test_the_html_of_a_run_marks_the_best_value_and_has_the_letters_and_notes(usual):
    html = usual._repr_html_()
    table = display_table(usual.info)
    for row, column in table.best:
        assert f"<strong>{' '.join(table.rows[row][column].split())}</strong>" in html
    assert html.count("<li>") == len(notes_beside(usual.info)) > 0


@pytest.mark.parametrize("n", [0, 1, 5, 6, 12])
def test_the_weightiest_notes_stand_below_the_table_and_the_others_are_counted(usual, n):
    light = [Note("scale-of-one-rating", {"low": 1, "high": 5, "rating": i}) for i in range(n)]
    heavy = Note("all-equal", {"metric": "ndcg@10"})
    [claim] = [note for note in usual.info.notes if note.code == "claim"]
    run = copied(usual, notes=[claim, *light, heavy] if n else [claim])
    text, html = repr(run), run._repr_html_()
    shown = text.count("note: ")
    assert shown == min(n + (n > 0), 5)
    more = n + (n > 0) - shown
    assert (f"{counted(more, 'note')} more: run.notes" in text) == (more > 0)
    assert (f"{counted(more, 'note')} more</summary>" in html) == (more > 0)
    if n:
        assert text.index(str(heavy)) < text.index("note: scale")


def test_a_verdict_as_json_has_its_code_and_numbers(usual):
    [verdict] = verdicts(usual.info)
    described = verdict.to_dict()
    assert described["code"] == "leads"
    assert described["values"]["leaders"] == verdict.values["leaders"]
    assert described["text"] == " ".join(verdict.sentences)


def test_a_run_has_methods_for_what_commands_do(usual, tmp_path):
    from harness import report

    assert usual.latex() == report.latex(usual)
    assert usual.best().row.algorithm == verdicts(usual.info)[0].values["leaders"][0]
    assert usual.best(algorithm="Random").row.algorithm == "Random"
    page = usual.report(tmp_path / "page.html")
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert usual.plot("distribution").axes
    other = run_of(algorithms=["SVD"])
    joined = usual.compare(other)
    assert joined.info.algorithms == [*usual.info.algorithms, "SVD"]


def test_a_method_of_a_run_says_what_to_write(usual):
    with pytest.raises(ResultsError, match="no plot 'distributions'; did you mean 'distribution'"):
        usual.plot("distributions")
    with pytest.raises(ResultsError, match="is in no folder; give the page a path"):
        usual.report()
