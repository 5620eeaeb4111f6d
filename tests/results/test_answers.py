"""The three answers of a comparison, and that every place says the same of each row."""

import itertools
from typing import get_args

import pytest

import harness
from harness.report import evidence, latex, plots
from harness.results.runs import to_markdown
from harness.results.statistics import BEST, Answer
from harness.results.table import AGAINST_BEST, display_table, to_csv
from harness.results.verdict import verdicts

DATA = {"synthetic": {"n_users": 60, "n_items": 40, "n_ratings": 1100}}
ROWS = ["BaselineOnly", "ItemMean", "Popularity", "Random"]
LABEL = "ndcg@5"


def run_of(margin, seeds, algorithms=ROWS):
    config = {
        "dataset": DATA,
        "algorithms": algorithms,
        "metrics": [LABEL, "rmse"],
        "baselines": False,
        "seeds": {"split": seeds},
        "statistics": {"resamples": 200, "margin": margin},
    }
    return harness.run(config, results=None)


@pytest.fixture(scope="module", params=[(0.06, 1), (0.06, 3)], ids=["users", "users and seeds"])
def run(request):
    return run_of(*request.param)


@pytest.fixture(scope="module")
def without_margin():
    return run_of(None, 1)


def expected(run):
    """Return the answer of each row against the best one, from the two tests alone."""
    best = run.table.set_index("algorithm")[LABEL].idxmax()
    answers = {best: BEST}
    for pair in run.pairs.itertuples():
        if best in (pair.first, pair.second):
            other = pair.second if pair.first == best else pair.first
            answer = "different" if pair.significant else "undecided"
            answers[other] = "equivalent" if pair.equivalent else answer
    return answers


def test_equivalence_comes_before_significance(run):
    [comparison] = run.info.statistics
    pair = comparison.pairs[0]
    answers = {
        (significant, equivalent): pair.model_copy(
            update={"significant": significant, "equivalent": equivalent}
        ).answer
        for significant, equivalent in itertools.product([True, False], [True, False, None])
    }
    assert answers == {
        (True, True): "equivalent",
        (False, True): "equivalent",
        (True, False): "different",
        (True, None): "different",
        (False, False): "undecided",
        (False, None): "undecided",
    }
    assert {*answers.values()} == {*get_args(Answer)}


def test_the_data_have_more_than_one_answer(run):
    assert len({*expected(run).values()}) > 2


def test_table_markdown_csv_and_latex_say_the_answers(run):
    answers = expected(run)
    assert dict(zip(run.table["algorithm"], run.table[f"{LABEL}_answer"], strict=True)) == answers
    shown = display_table(run.info)
    place = shown.columns.index(AGAINST_BEST)
    assert {row[0]: row[place] for row in shown.rows if row[0] in answers} == answers
    assert f"{LABEL}_answer" in to_csv(run.info).splitlines()[0]
    for name, answer in answers.items():
        [line] = [row for row in to_markdown(run.info).splitlines() if row.startswith(f"| {name} ")]
        assert f"| {answer} |" in line
        [line] = [row for row in latex(run).splitlines() if row.startswith(f"{name} ")]
        assert f"& {answer} &" in line


@pytest.mark.long
def test_the_page_says_the_answers(run, tmp_path):
    answers = expected(run)
    page = run.report(tmp_path / "page.html").read_text(encoding="utf-8")
    for answer in answers.values():
        assert page.count(f'<td class="answer">{answer}</td>') == [*answers.values()].count(answer)


def test_the_verdict_names_the_rows_of_each_answer(run):
    answers = expected(run)
    [verdict] = verdicts(run.info)
    assert verdict.values["answers"] == {name: x for name, x in answers.items() if x != BEST}
    assert verdict.values["margin"] == 0.06


def test_best_says_the_answers(run):
    text = " ".join(harness.best(run).evidence)
    for answer, phrase in (("equivalent", "equivalent to: "), ("different", "Different from: "),
                           ("undecided", "Undecided against: ")):  # fmt: skip
        names = {name for name, x in expected(run).items() if x == answer}
        said = text.partition(phrase)[2].partition(".")[0]
        assert {*filter(None, said.split(", "))} == names


def test_a_joined_run_has_the_column_too(run):
    joined = run.compare(run_of(0.06, len(run.info.seeds), ["SlopeOne"]))
    assert set(joined.table[f"{LABEL}_answer"]) <= {BEST, *get_args(Answer)}
    assert AGAINST_BEST in display_table(joined.info).columns


def test_the_plot_of_differences_has_a_mark_for_each_answer(run):
    plot = plots.kinds()["differences"](run, LABEL)
    axes = plots.differences(run, LABEL)
    pairs = {pair.first: pair for pair in plot.table.differences(LABEL, plot.summary.baseline,
                                                                 corrected_alone=True)}  # fmt: skip
    assert plot.data["answer"].tolist() == [pairs[name].answer for name in plot.data["algorithm"]]
    drawn = [line for line in axes.lines if line.get_marker() in ("o", "s")]
    squares = [line.get_marker() == "s" for line in drawn]
    assert squares == (plot.data["answer"] == "equivalent").tolist()
    [band] = [patch for patch in axes.patches if patch.get_width() == pytest.approx(0.12)]
    assert band.get_x() == pytest.approx(-0.06)
    for answer in get_args(Answer):
        count = (plot.data["answer"] == answer).sum()
        assert f"{count} {answer}" in plot.describe()
    axes.figure.clear()


def test_the_table_of_evidence_says_the_answers_to_the_baseline(run):
    [table] = evidence(run, metric=LABEL)
    place = list(table.columns).index("within ±0.06")
    assert {row[place] for row in table.rows} - {""} <= {*get_args(Answer)}


def test_without_a_margin_the_verdict_names_what_the_run_could_have_found(without_margin):
    run = without_margin
    [verdict] = verdicts(run.info)
    leader = verdict.values["leaders"][0]
    undecided = [
        pair
        for pair in run.info.statistics[0].pairs
        if leader in (pair.first, pair.second) and not pair.significant
    ]
    assert undecided
    largest = max(pair.detectable for pair in undecided)
    assert verdict.values["detectable"] == largest
    assert f"{largest:.2g} (power 80%)" in " ".join(harness.best(run).evidence)
    assert AGAINST_BEST not in display_table(run.info).columns
    assert not [column for column in run.table if column.endswith("_answer")]
    assert set(run.pairs["answer"]) <= {"different", "undecided"}


def test_where_lower_is_better_the_others_are_compared_with_the_least_mean(run):
    [comparison] = run.info.statistics
    comparison = comparison.model_copy(update={"metric": "mae"})
    answers = comparison.answers()
    means = {mean.algorithm: mean.mean for mean in comparison.algorithms}
    least = min(means, key=means.get)
    assert [name for name, answer in answers.items() if answer == BEST] == [least]
    assert {*answers} == {*means}
