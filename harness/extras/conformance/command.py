"""``harness conformance``: which convention of NDCG an implementation computes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from harness._util.files import write_output
from harness.console import options
from harness.console.command import command
from harness.console.screen import documents, give_result, plain, say, say_written, show_table
from harness.errors import counted, joined, suggestion
from harness.extras.conformance.asking import (
    ADAPTERS,
    answer,
    ask,
    interpreter,
    libraries,
    version,
)
from harness.extras.conformance.badge import badge
from harness.extras.conformance.profile import Profile, profile, questions, suite

HIDDEN = {"order": "highest score first", "factor": "none"}
"""Answers that are not worth a line."""


@command(
    "conformance mine:ndcg",
    "conformance scikit-learn ranx -o libraries.json",
    group="Check others' numbers",
)
@click.argument("names", nargs=-1, required=True, metavar="MODULE:NAME|LIBRARY...")
@click.option(
    "--expect",
    metavar="CONVENTION",
    help="Exit with 1 unless this named convention gives all values, for example sklearn.",
)
@click.option("--badge", "picture", type=options.output, help="Write a badge to this SVG file.")
@click.option(
    "-o", "--output", type=options.output, help="Write all values and answers to this JSON file."
)
@options.force
def conformance(
    names: tuple[str, ...], expect: str | None, picture: Path | None, output: Path | None
) -> int:
    """Find which convention of NDCG an implementation computes.

    MODULE:NAME is your own function `ndcg(relevance, scores, k)`, or a class that makes one. A
    LIBRARY is installed into a separate environment if this one does not have it. Each is asked
    for the values of small cases; the answers say gain, discount, ideal ranking, ties, repeated
    items, undefined values and the mean over users.

    The exit code is 0 if documented conventions explain all values, 1 if a value is not explained
    or --expect does not hold, and 2 if an implementation cannot be asked.
    """
    known = suite()["conventions"]
    if expect is not None and expect not in known:
        raise click.UsageError(
            f"--expect: unknown convention {expect!r}; {suggestion(expect, known)}"
        )
    if picture is not None and len(names) > 1:
        raise click.UsageError("--badge: is of one implementation; name one")
    found: dict[str, dict[str, Any]] = {}
    code = 0
    for name in names:
        details, profiled = _examined(name)
        met = profiled.is_explained and (expect is None or expect in profiled.conventions)
        code = code if met else 1
        found[name] = details | profiled.to_dict()
        _show(name, details, profiled)
        if expect is not None:
            say(f"{name}: {'is' if expect in profiled.conventions else 'is not'} {expect}")
        if picture is not None:
            write_output(picture, badge(profiled))
            say_written(picture)
    if documents:
        give_result(found)
    if output is not None:
        write_output(output, json.dumps(found, indent=1, ensure_ascii=False) + "\n")
        say_written(output)
    return code


def _examined(name: str) -> tuple[dict[str, Any], Profile]:
    """Return what an implementation is and returned, and its profile."""
    if ":" in name:
        returned = ask(name)
        found = profile(returned)
        answers = {each: found.sentence(each) for each in questions()}
        return {"returned": returned, "sentences": answers}, found
    if name not in libraries():
        hint = suggestion(name, libraries())
        raise click.UsageError(f"{name}: not a library of this suite, nor MODULE:NAME; {hint}")
    library, python = libraries()[name], interpreter(name)
    returned = ask(library.adapter, python, ADAPTERS)
    found = profile(returned)
    details = {
        "distribution": library.distribution,
        "version": version(library, python),
        "call": library.call,
        "adapter": library.source,
        "returned": returned,
        "sentences": {each: answer(each, found.sentence(each), library) for each in questions()},
    }
    return details, found


def _show(name: str, details: dict[str, Any], found: Profile) -> None:
    """Print the answers, the named conventions, and what nothing explains."""
    say(f"{name} {details.get('version', '')}".strip())
    sentences = details["sentences"]
    rows = [
        [questions()[each].title, text]
        for each, text in sentences.items()
        if text and HIDDEN.get(each) != text
    ]
    show_table(["question", "answer"], rows, ["question", "answer"])
    if found.refused:
        first = next(iter(found.refused))
        n_refused = counted(len(found.refused), "case")
        say(f"{n_refused} refused, first {first}: {plain(found.refused[first])}")
    if found.conventions:
        say(f"named conventions that give all values: {joined(found.conventions)}")
    for finding in found.findings:
        what = "deviation" if finding.answer else "not explained"
        say(f"{what}: {finding.sentence}", colour="red")
        say(
            f"  {finding.case} ({finding.tells}): returned {finding.returned}, nearest convention "
            f"{finding.expected:.12g}"
        )
        say(f"  {finding.arithmetic}")
    if found.is_explained:
        say("documented conventions explain all values", colour="green")
