"""``harness gate``: whether a candidate is worse than what is in use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import click
import numpy as np

import harness
from harness import rankings
from harness._util.files import write_output
from harness._util.libraries import pd
from harness.config.trackers import UNTRACKED
from harness.console import options, screen
from harness.console import options as words
from harness.console.command import command
from harness.console.screen import plain, say
from harness.errors import ComparisonError, counted
from harness.extras.gate.decision import compared_rows, gate_scores
from harness.extras.gate.decision import gate as decide
from harness.plugins import registry as plugins
from harness.results.reading import is_run

if TYPE_CHECKING:
    from harness.extras.gate.decision import Gate


CODES = {"not worse": 0, "worse": 1, "undecided": 0}
UNDECIDED = 3
"""The exit code of an undecided gate with --strict."""
COLOURS = {"not worse": "green", "worse": "red", "undecided": "yellow"}


@command(
    "gate new-run --against last-run",
    "gate new.csv --against old.csv --truth test.csv",
    group="Check others' numbers",
)
@click.argument("new", metavar="NEW", shell_complete=words.run_names)
@click.option(
    "--against",
    "old",
    metavar="OLD",
    required=True,
    shell_complete=words.run_names,
    help="The version in use: a run, or a file of another program.",
)
@click.option(
    "--metric",
    metavar="LABEL",
    shell_complete=words.of_kind("metrics"),
    help="A mean over users; by default the headline metric of NEW, of files ndcg@10.",
)
@click.option("--row", metavar="NAME", help="The candidate's row; by default the best of NEW.")
@click.option(
    "--old-row",
    metavar="NAME",
    help="The row in use; by default the row of --row, or the best row of OLD.",
)
@click.option(
    "--tolerance",
    metavar="NUMBER|PERCENT",
    default="0",
    show_default=True,
    help="How much worse counts as no worse: 0.005 in the unit of the metric, 1% of the old mean.",
)
@click.option(
    "--confidence",
    type=float,
    default=0.95,
    show_default=True,
    help="The confidence of the interval of the difference.",
)
@click.option("--strict", is_flag=True, help="Exit with 3 where the verdict is undecided.")
@click.option(
    "--refit",
    is_flag=True,
    help="Run the config of OLD again on the data of today, where the data changed.",
)
@click.option("--dataset", metavar="NAME", help="Choose the table of this data set.")
@click.option("--split", metavar="NAME", help="Choose the table with this split.")
@click.option("--candidates", metavar="NAME", help="Choose the table with these candidates.")
@options.truth
@click.option("--junit", type=options.output, help="Write the verdict as JUnit XML to this file.")
@options.force
@options.results
def gate(
    new: str,
    old: str,
    metric: str | None,
    row: str | None,
    old_row: str | None,
    tolerance: str,
    confidence: float,
    strict: bool,
    refit: bool,
    dataset: str | None,
    split: str | None,
    candidates: str | None,
    truth: Path | None,
    junit: Path | None,
    results: Path,
) -> int:
    """Say whether a candidate is worse than what is in use.

    NEW and OLD are runs, or files that `harness evaluate` reads: two files are scored against
    --truth, and one file against a run is scored as that run was. The scores of the same users are
    compared.

    The exit code is 0 if the candidate is not worse, 1 if it is (the whole interval of the
    difference is below the tolerance, and a randomisation test rejects), 2 if the two cannot be
    compared, and 3, with --strict, if neither could be decided.
    """
    files = [_is_file(name, results) for name in (new, old)]
    if all(files):
        label = str(harness.metrics.parse(metric or "ndcg@10"))
        (new_scores, of_new), (old_scores, of_old) = (
            _of_file(name, truth, label) for name in (new, old)
        )
        answer = gate_scores(
            *(new_scores, old_scores),
            metric=label,
            names=(Path(new).name, Path(old).name),
            tolerance=tolerance,
            confidence=confidence,
        )
        answer = replace(answer, notes=[*of_new, *of_old, *answer.notes])
    else:
        if truth is not None:
            raise click.UsageError("--truth: needs two files; a run has its own, leave it out")
        candidate, in_use = _sides((new, old), files, results)
        settings: dict[str, Any] = {
            "metric": metric,
            "row": row,
            "old_row": old_row,
            "tolerance": tolerance,
            "confidence": confidence,
            "dataset": dataset,
            "split": split,
            "candidates": candidates,
        }
        if refit:
            if in_use.folder is None:
                raise click.UsageError("--refit: OLD is a file; give a run")
            compared_rows(candidate, in_use, **settings)
            in_use = harness.run(in_use.folder, results=None, overrides=[UNTRACKED])
        answer = decide(candidate, in_use, **settings)
    code = UNDECIDED if strict and answer.verdict == "undecided" else CODES[answer.verdict]
    if junit is not None:
        _write_junit(answer, code, junit)
    if screen.documents:
        screen.give_result(answer.to_dict())
    first, *rest = answer.sentences()
    say(plain(first), colour=COLOURS[answer.verdict])
    for sentence in rest:
        say(plain(sentence))
    for note in answer.notes:
        say(f"note: {plain(note)}")
    return code


def _is_file(name: str, results: Path) -> bool:
    return Path(name).is_file() and not is_run(Path(name), results)


def _sides(
    names: tuple[str, str], files: Sequence[bool], results: Path
) -> tuple[harness.Run, harness.Run]:
    """Return two runs; a file of another program is scored as the other run was."""
    if names[0] == names[1]:
        (run,) = options.opened((names[0],), results)
        return run, run
    runs = [
        None if is_file else options.opened((name,), results)[0]
        for name, is_file in zip(names, files, strict=True)
    ]
    new, old = (
        run or plugins.hook("scored-files")(next(filter(None, runs)), [Path(name)], Path(name).stem)
        for run, name in zip(runs, names, strict=True)
    )
    return new, old


def _of_file(name: str, truth: Path | None, label: str) -> tuple[pd.Series, list[str]]:
    """Return the score of each user of a file, and notes on its users."""
    metric = harness.metrics.parse(label)
    evidence = rankings.read(Path(name), truth)
    lists = evidence.rankings
    if not len(lists.relevance):
        raise ComparisonError(
            f"gate: {name}: no listed item is among the ratings of its user; give ids of the same "
            "data set, and of one type"
        )
    (scores,) = harness.metrics.score([metric], *evidence).values()
    if not metric.per_user:
        raise ComparisonError(f"gate: {label} has no score of a user; choose one such as ndcg@10")
    notes = [f"{name}: {plain(note)}" for note in evidence.notes]
    is_judged = np.diff(lists.pool_offsets) > 0
    if n_empty := int((is_judged & (lists.n_ranked == 0)).sum()):
        have = "has" if n_empty == 1 else "have"
        notes.append(
            f"{name}: {n_empty:,} of {counted(int(is_judged.sum()), 'user')} {have} no list, which "
            "counts as an empty one"
        )
    return pd.Series(scores.per_user, lists.users), notes


def _write_junit(answer: Gate, code: int, path: Path) -> None:
    """Write a verdict as a test suite with one case, as servers of continuous integration read."""
    suite = ElementTree.Element(
        "testsuite", name="harness gate", tests="1", failures=str(int(code == 1)),
        errors="0", skipped=str(int(code == UNDECIDED)),
    )  # fmt: skip
    case = ElementTree.SubElement(
        suite, "testcase", classname="harness.gate", name=f"{answer.new.row} {answer.metric}"
    )
    first, *rest = answer.sentences()
    if code:
        kind = "failure" if code == 1 else "skipped"
        ElementTree.SubElement(case, kind, message=first)
    ElementTree.SubElement(case, "system-out").text = "\n".join([first, *rest, *answer.notes])
    ElementTree.indent(suite)
    write_output(path, ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n")
