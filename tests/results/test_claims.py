"""Every claim that is printed on two rows is one of their pair: `PairDifference`.

Tables are drawn; what verdict, `best`, letters, bold values, plots, notes and `gate` say of them is
parsed, to the last word, and compared with the pairs, which are compared with NumPy and SciPy.
"""

import re
import warnings
from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import harness
from harness.comparison.inference import infer, notes_on_tests
from harness.config.experiment import Inference
from harness.report import evidence, latex
from harness.report.plots import DifferencePlot
from harness.report.summary import summarise
from harness.results.cells import CellName, FailedCell
from harness.results.runs import Run
from harness.results.statistics import MetricComparison
from harness.results.table import comparison_of, display_table, result_rows
from harness.results.verdict import verdicts
from harness.statistics.corrections import letters, ranked_letters
from tests.results import test_verdict as verdict_cases

ROWS = ["BaselineOnly", "ItemMean", "Popularity", "Random"]
SIMPLE = {"ItemMean", "Popularity", "Random"}
LABELS = {"ndcg@5": 1.0, "unjudged@5": -1.0}
"""A metric of each direction, and its sign."""
MARGIN = 0.06


class Templates(dict):
    """Runs by their number of seeds; short where Hypothesis prints a case."""

    def __repr__(self):
        return "<templates>"


@pytest.fixture(scope="module")
def templates():
    """Runs of one seed and of three, whose scores are replaced."""
    config = {
        "dataset": {"synthetic": {"n_users": 50, "n_items": 40, "n_ratings": 800}},
        "algorithms": ROWS,
        "metrics": [*LABELS],
        "baselines": False,
        "statistics": {"resamples": 100},
    }
    return Templates({n: harness.run(config | {"seed": [*range(n)]}, results=None) for n in (1, 3)})


def mean_of_seeds(scores):
    """Return each user's average over seeds; NaN for a user without a score."""
    return pd.DataFrame(scores).mean().to_numpy()


def run_of(template, label, scores, inference, failed=None):
    """Return a run with these scores, by row an array of shape (n_seeds, n_users)."""
    info = template.info.model_copy(deep=True)
    table = next(iter(info.tables))
    rows = [row for row in info.rows if row.algorithm in scores]
    cells = [cell for cell in info.cells if cell.algorithm in scores]
    for row in rows:
        of_users = mean_of_seeds(scores[row.algorithm])
        known = of_users[~np.isnan(of_users)]
        is_complete = row.algorithm != failed and len(known)
        row.scores = {label: float(known.mean()) if is_complete else None}
        row.n_undefined = {}
    seeds = list(dict.fromkeys(cell.seed for cell in cells))
    frames = []
    for i, cell in enumerate(cells):
        names = {key: cell[key] for key in CellName.model_fields}
        own = scores[cell.algorithm][seeds.index(cell.seed)]
        frame = pd.DataFrame({"user": [f"u{n:03}" for n in range(len(own))], label: own})
        frames.append(frame.assign(**names))
        if cell.algorithm == failed and cell.seed == seeds[0]:
            cells[i] = FailedCell(**names, error="boom")
            frames.pop()
    users = pd.concat(frames, ignore_index=True)
    compared, notes = infer(users, [label], cells, inference, 0, info.experiment.draws, info.splits)
    config = info.config | {"statistics": inference.model_dump(mode="json"), "metrics": [label]}
    changes = {"metrics": [label], "headline": label, "rows": rows, "cells": cells, "bounds": []}
    changes |= {"statistics": compared, "config": config | {"headline": None}, "groups": []}
    changes |= {"notes": [*notes, *notes_on_tests(compared, info.tables)]}
    changed = info.model_copy(update=changes)
    changed.__dict__.pop("experiment", None)
    assert changed.experiment.statistics == inference
    return Run(changed, users), table


@st.composite
def tables(draw):
    """Draw scores by row, of one seed or three, and how they are compared."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows, n_seeds = draw(st.integers(2, 4)), draw(st.sampled_from([1, 1, 1, 3]))
    n_users = draw(st.sampled_from([2, 3, 5, 8, 25, 60]))
    taste, noise = rng.random(n_users), draw(st.sampled_from([0.0, 0.03, 0.3]))
    base = rng.permutation(ROWS)[:n_rows].tolist()
    scores = {}
    for number, name in enumerate(base):
        shape = draw(st.sampled_from(["shifted", "copy", "coarse", "skewed", "few", "constant"]))
        own = np.tile(taste, (n_seeds, 1)) + rng.normal(0, noise, (n_seeds, n_users))
        if shape == "shifted":
            own += draw(st.sampled_from([-0.3, -0.05, 0.05, 0.3]))
        elif shape == "copy" and number:
            own = scores[base[0]].copy()
        elif shape == "coarse":
            own = np.round(own * 2) / 2
        elif shape == "skewed":  # most users gain a little, some lose much more
            own = np.tile(taste, (n_seeds, 1)) + 0.02 - 3.0 * (rng.random(n_users) < 0.06)
        elif shape == "few" and number:
            own = scores[base[0]].copy()
            own[:, : draw(st.integers(1, 6))] += draw(st.sampled_from([-1.0, 1.0]))
        elif shape == "constant":
            own = np.full((n_seeds, n_users), 0.5)
        missing = draw(st.sampled_from(["none", "none", "random", "low", "high", "half"]))
        lacks = {
            "none": np.zeros(n_users, bool),
            "random": rng.random(n_users) < 0.3,
            "low": taste < np.quantile(taste, 0.5),
            "high": taste > np.quantile(taste, 0.5),
            "half": np.arange(n_users) % 2 == number % 2,
        }[missing]
        own[:, lacks] = np.nan
        scores[name] = own
    # Rows of the run keep the order of the template.
    scores = {name: scores[name] for name in ROWS if name in scores}
    test = draw(st.sampled_from(["randomisation", "t", "wilcoxon", "wilcoxon"]))
    inference = Inference(
        test=test if n_seeds == 1 else None,
        correction=draw(st.sampled_from(["holm", "benjamini-hochberg", "none"])),
        margin=draw(st.sampled_from([None, None, MARGIN])),
        resamples=100 if draw(st.booleans()) else None,
        baseline=draw(st.sampled_from([None, base[0]])),
    )
    failed = draw(st.sampled_from([None, None, None, base[-1]])) if n_rows > 2 else None
    return draw(st.sampled_from([*LABELS])), scores, inference, failed


class Facts:
    """What is true of a table, from the scores and the p-values alone."""

    def __init__(self, run, table, label, scores):
        self.label, self.sign, self.scores = label, LABELS[label], scores
        self.comparison = comparison_of(run.info, table, label)
        level = 0.05 + 1e-12
        self.values = {
            row.algorithm: row.scores[label]
            for row in run.info.rows
            if row.scores[label] is not None
        }
        self.pairs, self.contradicted = {}, set()
        for pair in self.comparison.pairs if self.comparison else ():
            one, other = (mean_of_seeds(scores[name]) for name in (pair.first, pair.second))
            difference = (one - other)[~np.isnan(one - other)]
            mean = float(difference.mean())
            assert pair.n_users == len(difference)
            assert pair.n_differing == np.count_nonzero(difference)
            assert pair.difference == pytest.approx(mean, abs=1e-12)
            side = np.sign(pair.difference)
            if "Wilcoxon" in self.comparison.method:
                moved = difference[difference != 0]
                side = np.sign((np.sign(moved) * stats.rankdata(abs(moved))).sum())
            rejects = pair.p_adjusted <= level
            is_opposite = side != np.sign(pair.difference)
            assert pair.opposite == is_opposite
            assert pair.significant == (rejects and not is_opposite)
            assert not pair.significant or pair.can_decide
            self.contradicted |= (
                {frozenset((pair.first, pair.second))} if (rejects and is_opposite) else set()
            )
            for first, second, sign in (
                (pair.first, pair.second, self.sign),
                (pair.second, pair.first, -self.sign),
            ):
                self.pairs[first, second] = sign * pair.difference, pair

    def better(self, one, other):
        """Return whether the tests found a row better than another one."""
        difference, pair = self.pairs.get((one, other), (0.0, None))
        return pair is not None and pair.significant and difference > 0

    def undecided(self, one, other):
        return (
            (one, other) in self.pairs
            and not self.better(one, other)
            and not self.better(other, one)
        )

    def answer(self, one, other):
        return self.pairs[one, other][1].answer

    def common(self, one, other):
        """Return how many users two rows share, None where they have the same."""
        known = [~np.isnan(self.scores[name]).all(axis=0) for name in (one, other)]
        both = int((known[0] & known[1]).sum())
        return None if both == known[0].sum() == known[1].sum() else both

    def users(self, one, other):
        known = [~np.isnan(self.scores[name]).all(axis=0) for name in (one, other)]
        return int((known[0] & known[1]).sum())

    def compared_with(self, name):
        return [other for other in self.values if (name, other) in self.pairs]


NAME = "|".join(ROWS)
NAMES = rf"(?:(?:{NAME})(?:, (?:{NAME}))*(?: and (?:{NAME}))?(?: and \d more)?|\d rows?)"
NUMBER = r"-?\d+(?:\.\d+)?(?:e-?\d+)?"


def named(text, most=4):
    """Return the rows of a list; its length where it counts some."""
    names = re.findall(NAME, text)
    more = re.search(r"and (\d) more|^(\d) rows?$", text)
    return names, len(names) + int(more[1] or more[2]) if more else len(names)


class Text:
    """A verdict that is read from its beginning to its end."""

    def __init__(self, verdict):
        self.rest, self.values = " ".join(verdict.sentences), verdict.values
        self.code, self.leaders = verdict.code, verdict.values["leaders"]

    def take(self, pattern):
        """Return what stands next, where it has this form."""
        if found := re.match(pattern, self.rest):
            self.rest = self.rest[found.end() :]
        return found

    def expect(self, pattern):
        found = self.take(pattern)
        assert found, self.rest
        return found


def check_names(text, rows):
    """Check that a list of rows names these, or counts them."""
    names, n = named(text)
    assert {*names} <= {*rows}
    assert n == len(rows)


def check_verdict(verdict, facts):
    """Parse every sentence of a verdict, and check each claim of it."""
    text = Text(verdict)
    if text.take(rf"No verdict by {facts.label}: "):
        check_no_verdict(text, facts)
    else:
        check_leading(text, facts)
    check_left_out(text)
    text.expect(r"\.$")


def check_no_verdict(text, facts):
    leaders = text.leaders
    if text.code == "cannot-decide":
        assert not any(pair.significant for _, pair in facts.pairs.values())
        text.expect(r"the test cannot decide; [^.]*\. ")
    elif text.code == "no-leader":
        for name in {*facts.compared_with(leaders[0]), *leaders}:
            assert any(facts.better(other, name) for other in facts.values)
        text.expect(r"the rows have different users, and each row is significantly worse than ")
        text.expect(r"another one for the users that the two share\. ")
    elif text.code == "not-compared":
        assert not facts.compared_with(leaders[0])
        text.expect(r"its rows were not compared; the notes say why\. ")
    elif text.code == "all-equal":
        assert len({*facts.values.values()}) == 1 < len(facts.values)
        assert not any(facts.better(*two) for two in permutations(facts.values, 2))
        text.expect(rf"all \d rows have the same value, {NUMBER}")
    elif text.code == "one-row":
        text.expect(rf"({NAME}) \({NUMBER}\) is the only row( with a value)?")
        assert len(facts.values) == 1
    else:
        assert text.code == "no-row"
        assert not facts.values
        text.expect(r"no row has a value( on every fold)?")
    if found := text.take(rf"The best value is {NUMBER}, of ({NAMES})"):
        check_names(found[1], leaders)
        best = max(facts.values.values(), key=lambda value: facts.sign * value)
        assert {facts.values[name] for name in leaders} == {best}
        if found := text.take(rf", within {MARGIN} equivalent to ({NAMES})"):
            for name in named(found[1])[0]:
                assert {facts.answer(leader, name) for leader in leaders} == {"equivalent"}
        check_baseline(text, facts)


def check_leading(text, facts):
    leaders = text.leaders
    found = text.expect(rf"({NAMES}) leads? by {re.escape(facts.label)} \({NUMBER}\)")
    check_names(found[1], leaders)
    assert len({facts.values[name] for name in leaders}) == 1
    for leader in leaders:  # no row leads that the tests found worse than any other
        assert not any(facts.better(other, leader) for other in facts.values)
    others = [name for name in facts.values if name not in leaders]
    rivals = [name for name in others if all((leader, name) in facts.pairs for leader in leaders)]
    check_answers(text, facts, rivals)
    check_against(text, facts, rivals, others)
    check_baseline(text, facts)
    text.expect(r"\. ")
    check_users(text, facts, rivals)
    if found := text.take(
        rf"This run can miss differences from ({NAME}) that are smaller than {NUMBER} "
        r"\(power 80%\)\. "
    ):
        assert found[1] == leaders[0]
        pairs = [facts.pairs[found[1], name][1] for name in rivals]
        assert any(pair.can_decide and pair.answer == "undecided" for pair in pairs)
        sizes = [pair.detectable for pair in pairs if pair.answer == "undecided"]
        assert max(filter(None, sizes)) <= np.ptp(harness.metrics.parse(facts.label).range)
    elif found := text.take(
        rf"This run can miss any difference from ({NAME}): it detects {NUMBER} or more with a "
        rf"power of 80%, and {re.escape(facts.label)} lies between {NUMBER} and {NUMBER}\. "
    ):
        assert found[1] == leaders[0]
        sizes = [facts.pairs[found[1], name][1].detectable for name in rivals]
        assert max(filter(None, sizes)) > np.ptp(harness.metrics.parse(facts.label).range)
    text.expect(r"The tests compare [^.;]*(; other seeds can give other results)?")


def check_answers(text, facts, rivals):
    """Check the answers within a margin."""
    answers = {name: {facts.answer(leader, name) for leader in text.leaders} for name in rivals}
    for words, answer in (
        (f"within {MARGIN} equivalent to", {"equivalent"}),
        ("undecided against", {"undecided"}),
        ("different from", {"different"}),
    ):
        if found := text.take(rf"[:;] {words} ({NAMES})"):
            rows = [name for name in rivals if answers[name] == answer]
            check_names(found[1], rows)
            if answer == {"different"}:
                assert all(facts.better(leader, name) for leader in text.leaders for name in rows)
    if found := text.take(rf"[:;] not the same answer against each of them: ({NAMES})"):
        check_names(found[1], [name for name in rivals if len(answers[name]) > 1])


def check_against(text, facts, rivals, others):
    """Check which rows the leaders are better than, without a margin."""
    leaders = text.leaders
    opposite = [n for n in rivals if any(frozenset((x, n)) in facts.contradicted for x in leaders)]
    if found := text.take(rf", not significantly different from ({NAMES})"):
        equal = [n for n in rivals if all(facts.undecided(x, n) for x in leaders)]
        check_names(found[1], [name for name in equal if name not in opposite])
    if found := text.take(rf", not all of them significantly better than ({NAMES})"):
        partly = [n for n in rivals if len({facts.better(x, n) for x in leaders}) == 2]
        check_names(found[1], partly)
    if found := text.take(
        rf", undecided against ({NAMES}) \(test and mean point in opposite directions\)"
    ):
        check_names(found[1], opposite)
    if found := text.take(
        r", significantly better than (?:the other row|the other (\d) rows|(\d) rows? that w\w+ "
        r"compared)"
    ):
        assert all(facts.better(leader, name) for leader in leaders for name in rivals)
        assert int(found[1] or found[2] or 1) == len(rivals)
        assert (rivals != others) == bool(found[2])


def check_users(text, facts, rivals):
    """Check what is said of rows with different users."""
    value = text.values["value"]
    if found := text.take(
        rf"({NAME}) has the value {NUMBER}(, over other users)?: for the (\d+) users? of both, "
        rf"({NAME}) is significantly better\. "
    ):
        assert facts.sign * (facts.values[found[1]] - value) > 0
        assert facts.better(found[4], found[1])
        assert facts.users(found[4], found[1]) == int(found[3])
        assert bool(found[2]) == (facts.common(found[4], found[1]) is not None)
        return
    assert all(facts.sign * (other - value) <= 0 for other in facts.values.values())
    shared = [facts.common(leader, name) for leader in text.leaders for name in rivals]
    shared = [n for n in shared if n is not None]
    found = text.take(
        r"The rows have different users: the tests compare the (\d+)(?: to (\d+))? that two rows "
        r"share\. "
    )
    assert bool(found) == bool(shared)
    if found:
        assert (int(found[1]), int(found[2] or found[1])) == (min(shared), max(shared))


def check_baseline(text, facts):
    """Check what a sentence says of the best baseline."""
    leaders = text.leaders
    if found := text.take(rf"; no row is (significantly )?better than the baseline ({NAME})"):
        name = found[2]
        assert name in leaders
        assert name in SIMPLE
        assert not any(facts.better(other, name) for other in facts.values)
        if not found[1]:
            for other, value in facts.values.items():
                assert facts.sign * (value - facts.values[name]) <= 0
                if (name, other) in facts.pairs:
                    assert facts.pairs[name, other][0] >= -1e-12
                    assert frozenset((name, other)) not in facts.contradicted or (other in leaders)
    elif found := text.take(
        rf"; ({NUMBER}) (above|below) ({NAME}) \(the (?:best )?baseline"
        r"(?:, for the (\d+) users? of both)?(, not significant)?\)"
    ):
        name, first = found[3], leaders[0]
        gap = facts.sign * (text.values["value"] - facts.values[name])
        assert name in SIMPLE
        if found[4]:
            assert len(leaders) == 1
            assert facts.common(first, name) == int(found[4])
            gap = facts.pairs[first, name][0]
        elif (first, name) in facts.pairs:
            assert facts.common(first, name) is None
            assert gap == pytest.approx(facts.pairs[first, name][0], abs=1e-12)
        if float(found[1]):
            assert (found[2] == "above") == (gap * facts.sign > 0)
        assert float(found[1]) == pytest.approx(abs(gap), abs=0.51)
        if (first, name) in facts.pairs:
            sure = all(facts.better(leader, name) for leader in leaders)
            assert bool(found[5]) == (not sure)


def check_left_out(text):
    if found := text.take(rf"; ({NAMES}) failed"):
        assert named(found[1])[1] == len(text.values["failed"])
    if found := text.take(rf"; ({NAMES}) w\w+ not compared"):
        assert named(found[1])[1] == len(text.values["left_out"])


WITH_USERS = rf"(?:{NAME})(?: \(\d+ common users?\))?"
LISTED = rf"({WITH_USERS}(?:, {WITH_USERS})*)"


def check_best(run, facts, leaders):
    """Check the row that `best` gives, and what it says of every row."""
    for algorithm in (None, *facts.values):
        found = harness.best(run, algorithm=algorithm)
        name, text = found.row.algorithm, found.evidence[2]
        if algorithm is None:
            assert name in leaders
            if facts.compared_with(name) and any(
                facts.better(other, name) for other in facts.values
            ):  # only where every row is worse than another one
                for row in facts.compared_with(name):
                    assert any(facts.better(other, row) for other in facts.values)
        others = facts.compared_with(name)
        if not others:
            assert text.startswith("Rows were not compared")
            continue
        said = {}
        for began in (
            "Not significantly different",
            "Undecided, test and mean point in opposite directions",
            "Significantly better",
        ):
            match = re.search(rf"(?:^|\. ){began}: {LISTED}\.", text)
            said[began] = dict(
                re.findall(rf"({NAME})(?: \((\d+) common users?\))?", match[1]) if match else ()
            )
        equal, opposite, better = said.values()
        assert {*better} == {other for other in others if facts.better(other, name)}
        assert {*equal} | {*opposite} == {o for o in others if facts.undecided(name, o)}
        assert {*opposite} == {
            other for other in others if frozenset((name, other)) in facts.contradicted
        }
        for other, n in (equal | opposite | better).items():
            assert facts.common(name, other) == (int(n) if n else None)
        if "Significantly better than every other row" in text:
            assert all(facts.better(name, other) for other in others)
            assert ("that was compared" in text) == (len(others) < len(run.info.rows) - 1)
        for answer, began in (
            ("equivalent", f"Within {MARGIN} of {facts.label} equivalent to"),
            ("undecided", "Undecided against"),
            ("different", "Different from"),
        ):
            if match := re.search(rf"{began}: {LISTED}\.", text):
                expected = {other for other in others if facts.answer(name, other) == answer}
                assert {*re.findall(NAME, match[1])} == expected


def check_marks(run, facts, leaders):
    """Check letters, bold values, the plot of differences and the table of evidence."""
    summary = summarise(run)
    [table] = summary.tables
    rows = {row["algorithm"]: row for row in result_rows(run.info)}
    marks = {name: rows[name].get(f"{facts.label}_letters", "") for name in facts.values}
    for one, other in combinations(facts.values, 2):
        if (one, other) in facts.pairs:
            shares = bool({*marks[one]} & {*marks[other]})
            assert shares == facts.undecided(one, other)
    unbeaten = {
        name for name in facts.values if not any(facts.better(x, name) for x in facts.values)
    }
    if set(leaders) <= unbeaten and facts.compared_with(leaders[0]):
        assert "a" in "".join(marks[name] for name in leaders)
    values = {name: facts.sign * value for name, value in facts.values.items()}
    bold = set()
    if len({*values.values()}) > 1:
        bold = {name for name in leaders if values[name] == max(values.values())}
    if facts.pairs:  # bold is what the tests tell apart from some row
        bold = {name for name in bold if any(facts.better(name, x) for x in facts.values)}
    assert set(table.marked(facts.label)) == bold
    assert set(table.best(facts.label)) == set(leaders)
    lines = latex(run).splitlines()
    assert {
        name for name in facts.values for line in lines
        if line.startswith(f"{name} ") and r"\textbf" in line.split("&")[1]
    } == bold  # fmt: skip
    shown = display_table(run.info)
    assert {shown.rows[row][0] for row, _ in shown.best} == bold
    if f"{facts.label}_answer" in rows[leaders[0]] and facts.compared_with(leaders[0]):
        answers = {name: rows[name][f"{facts.label}_answer"] for name in facts.values}
        assert answers[leaders[0]] == "best"
        for name in facts.compared_with(leaders[0]):
            assert answers[name] == facts.answer(leaders[0], name)
    [text] = evidence(run)
    if facts.compared_with(summary.baseline):
        plot = DifferencePlot(run)
        against = {pair.first: pair for pair in table.differences(
            facts.label, summary.baseline, corrected_alone=True)}  # fmt: skip
        counts = {"better": 0, "worse": 0}
        for row in plot.data.itertuples():
            pair, name = against[row.algorithm], row.algorithm
            difference = facts.pairs[name, summary.baseline][0]
            assert row.difference == pytest.approx(facts.sign * difference, abs=1e-12)
            assert not row.significant or (not pair.opposite and difference)
            if row.significant:
                counts["better" if difference > 0 else "worse"] += 1
            [line] = [line for line in text.rows if line[0] == name]
            assert ("opposite" in line[text.columns.index("p")]) == bool(pair.opposite)
        said = plot.describe()
        for word, n in counts.items():
            assert f"{n} significantly {word}" in said


def check_notes(run, facts):
    notes = [note for note in run.info.notes if note.code == "different-users"]
    shared = [facts.common(*two) for two in combinations(facts.values, 2) if two in facts.pairs]
    shared = [n for n in shared if n is not None]
    assert bool(notes) == bool(shared)
    for note in notes:
        assert (note.values["low"], note.values["high"]) == (min(shared), max(shared))
        assert [*map(int, note.values["shared"].split(" to "))] == sorted(
            {min(shared), max(shared)}
        )
        assert f"share ({note.values['shared']})" in str(note)


def check_gate(run, facts, leaders):
    """Check that a gate never says the opposite of the pairs, in any order of the two."""
    for new, old in permutations(facts.values, 2):
        if not {new, old} & {*leaders} or facts.users(new, old) < 2:
            continue
        answer = harness.gate(run, run, row=new, old_row=old)
        if (new, old) not in facts.pairs:
            continue
        difference = facts.pairs[new, old][0]
        assert answer.n_users == facts.users(new, old)
        assert answer.difference == pytest.approx(difference, abs=1e-12)
        if answer.verdict == "worse":
            assert difference < 0
            assert not facts.better(new, old)
        if facts.better(old, new):
            assert answer.difference < 0


@pytest.mark.long
@settings(max_examples=60)
@given(drawn=tables())
def test_every_claim_is_one_of_the_pairs(templates, drawn):
    label, scores, inference, failed = drawn
    n_seeds = len(next(iter(scores.values())))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sample size too small", UserWarning)
        run, table = run_of(templates[n_seeds], label, scores, inference, failed)
        facts = Facts(run, table, label, scores)
    [verdict] = verdicts(run.info)
    check_verdict(verdict, facts)
    check_notes(run, facts)
    leaders = verdict.values["leaders"]
    if leaders:
        check_best(run, facts, leaders)
        check_marks(run, facts, leaders)
        check_gate(run, facts, leaders)


def fixed(templates, scores, label="ndcg@5", **inference):
    """Return the facts, the verdict and the run of a table of one seed, all claims checked."""
    scores = {name: np.array([scores[name]], float) for name in ROWS if name in scores}
    settings = Inference(**inference)
    run, table = run_of(templates[1], label, scores, settings)
    facts = Facts(run, table, label, scores)
    [verdict] = verdicts(run.info)
    check_verdict(verdict, facts)
    check_notes(run, facts)
    check_best(run, facts, verdict.values["leaders"])
    check_marks(run, facts, verdict.values["leaders"])
    check_gate(run, facts, verdict.values["leaders"])
    return facts, verdict, run


def part(n, first, second):
    """Return n scores of which the first half and the second differ; NaN for none."""
    return np.r_[np.full(n // 2, first), np.full(n - n // 2, second)]


@pytest.mark.parametrize("label", LABELS)
def test_a_better_value_over_other_users_does_not_lead(templates, label):
    sign = LABELS[label]
    scores = {"BaselineOnly": part(40, 0.3, np.nan), "Random": part(40, 0.2, 0.9)}
    scores = {name: sign * values for name, values in scores.items()}
    _, verdict, run = fixed(templates, scores, label)
    assert verdict.values["leaders"] == ["BaselineOnly"]
    assert verdict.values["overtaken"] == ["Random"]
    assert "for the 20 users of both, BaselineOnly is significantly better" in str(verdict)
    assert "significantly better than the other row" in str(verdict)
    assert run.table.set_index("algorithm")[f"{label}_letters"].to_dict() == {
        "BaselineOnly": "a",
        "Random": "b",
    }
    assert r"\textbf{" not in latex(run).replace(r"\textbf{0.00}", "")
    assert harness.best(run).row.algorithm == "BaselineOnly"
    assert harness.gate(run, run, row="Random", old_row="BaselineOnly").verdict == "worse"
    assert run.pairs["favours"].tolist() == ["BaselineOnly"]


def test_a_pair_whose_ranks_and_means_disagree_has_no_better_side(templates):
    usual, rare = np.full(60, 0.5), np.r_[np.full(54, 0.48), np.full(6, 0.95)]
    _, verdict, run = fixed(templates, {"Random": rare, "BaselineOnly": usual}, test="wilcoxon")
    [pair] = run.info.statistics[0].pairs
    assert pair.p_adjusted < 1e-5
    assert not pair.significant
    assert pair.opposite
    assert verdict.values["contradicted"] == ["BaselineOnly"]
    assert "undecided against BaselineOnly (test and mean point in opposite" in str(verdict)
    assert run.table[f"{verdict.metric}_letters"].tolist() == ["a", "a"]
    assert run.pairs["favours"].isna().all()


def test_too_few_differing_users_have_no_verdict(templates):
    one = np.linspace(0.2, 0.8, 30)
    other = one - np.r_[0.2, 0.2, 0.2, np.zeros(27)]
    for test in ("randomisation", "wilcoxon"):
        _, verdict, run = fixed(templates, {"BaselineOnly": one, "Random": other}, test=test)
        assert verdict.code == "cannot-decide"
        assert "no two algorithms differ for more than 3 users" in str(verdict)
        assert "cannot decide" in " ".join(harness.best(run).evidence)


def test_rows_that_beat_each_other_in_a_circle_have_no_leader(templates):
    n = 20
    none, low, high = (np.full(n, x) for x in (np.nan, 0.2, 0.8))
    scores = {
        "BaselineOnly": np.r_[high, none, low],
        "ItemMean": np.r_[low, high, none],
        "Random": np.r_[none, low, high],
    }
    _, verdict, _ = fixed(templates, {name: x + 0.0 for name, x in scores.items()})
    assert verdict.code == "no-leader"


def test_leaders_of_one_value_are_each_compared_with_every_row(templates):
    rng = np.random.default_rng(0)
    calm = np.full(60, 0.5)
    wild = np.clip(np.round(rng.permutation(np.r_[np.zeros(30), np.ones(30)]), 2), 0, 1)
    third = calm - 0.1
    _, verdict, _ = fixed(
        templates, {"BaselineOnly": calm, "ItemMean": wild, "Random": third}, test="t"
    )
    assert verdict.values["leaders"] == ["BaselineOnly", "ItemMean"]
    assert verdict.values["partly"] == ["Random"]
    assert "not all of them significantly better than Random" in str(verdict)


def test_values_that_are_all_equal_are_not_bold(templates):
    same = np.linspace(0, 1, 30)
    _, verdict, run = fixed(templates, dict.fromkeys(ROWS, same))
    assert verdict.code == "all-equal"
    assert "textbf" not in latex(run)
    assert not [*display_table(run.info).best]


def test_pairs_of_older_runs_claim_no_side_of_ranks_that_the_interval_does_not_have(templates):
    usual, rare = np.full(60, 0.5), np.r_[np.full(54, 0.48), np.full(6, 0.95)]
    for other, is_found in ((rare, False), (usual + 0.1, True)):
        _, _, run = fixed(templates, {"Random": other, "BaselineOnly": usual}, test="wilcoxon")
        [new] = run.info.statistics
        written = new.model_dump()
        for pair in written["pairs"]:
            del pair["opposite"], pair["n_differing"], pair["can_decide"]
            pair["significant"] = True
        older = MetricComparison.model_validate(written)
        assert older.pairs[0].significant == is_found
        assert older.favoured(older.pairs[0]) == ("Random" if is_found else None)


def test_letters_follow_the_pairs_where_means_do_not():
    keys, differs = np.array([1.0, 2.0, 3.0]), np.array([True, False, True])
    worse = np.array([1.0, 1.0, -1.0])  # the second is the best, and the third not the worst
    assert ranked_letters(keys, differs, worse) == ["b", "a", "b"]
    assert ranked_letters(keys, differs) == letters(
        np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], bool)
    )


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"statistics": None}, "the config turns statistics off; delete `statistics: null`."),
        ({"headline": "rmse"}, "its values are not means over users, which the tests need."),
    ],
)
def test_why_rows_were_not_compared_is_said(changes, reason):
    [verdict] = verdicts(verdict_cases.run_of(**changes).info)
    assert verdict.sentences[0] == f"No verdict by {verdict.metric}: {reason}"
