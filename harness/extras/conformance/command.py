"""``harness conformance``: which convention of NDCG an implementation computes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import click

from harness._util.files import write_output
from harness.console import options
from harness.console.command import command
from harness.console.screen import documents, give_result, plain, say, say_written, show_table
from harness.errors import HarnessError, counted, joined, suggestion
from harness.extras.conformance.asking import TestedLibrary, ask, libraries
from harness.extras.conformance.profile import Got, profile, questions, suite

HIDDEN = ("", "the first k of the list", "highest score first", "none")
"""Answers that are not worth a line."""
ON_BADGE = ("gain", "discount", "ideal", "ties")
LETTER = 6.6
"""Average width of a letter, in pixels."""


@command(
    "conformance mine.py:ndcg",
    "conformance scikit-learn ranx -o libraries.json",
    group="Check others' numbers",
)
@click.argument("names", nargs=-1, required=True, metavar="FILE.py:NAME|LIBRARY...")
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

    FILE.py:NAME is your own function `ndcg(relevance, scores, k)`, or a class that makes one; of a
    module that is installed or in the current folder it is MODULE:NAME. A LIBRARY is installed into
    a separate environment if this one does not have it. Each is asked for the values of small
    cases. The answers show gain, discount, ideal ranking, ties, repeated items, undefined values
    and the mean over users.

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
    for name in names:
        _refuse_unknown(name)
    found: dict[str, dict[str, Any]] = {}
    status = 0
    for name in names:
        try:
            found[name] = _examined(name)
        except HarnessError as error:
            raise HarnessError(f"{name}: {error}") from None
        _show(name, found[name])
        is_expected = expect is None or expect in found[name]["conventions"]
        if expect is not None:
            say(f"{name}: {'is' if is_expected else 'is not'} {expect}")
        status |= not (found[name]["is_explained"] and is_expected)
    if documents:
        give_result(found)
    if picture is not None:
        say_written(write_output(picture, badge(found[names[0]])))
    if output is not None:
        text = json.dumps(found, indent=1, ensure_ascii=False, allow_nan=False)
        say_written(write_output(output, text + "\n"))
    return status


def badge(found: dict[str, Any]) -> str:
    """Return the picture: gain, discount, ideal and ties, or that a value is not explained."""
    words = [found["answers"][each][0] for each in ON_BADGE if found["answers"].get(each)]
    right = ", ".join(words) if found["is_explained"] else "not explained"
    widths = [round(LETTER * len(text)) + 12 for text in ("NDCG", right)]
    colour = "#2e7d32" if found["is_explained"] else "#b71c1c"
    total = sum(widths)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{total}" height="20" role="img" '
        f'aria-label="NDCG: {escape(right)}"><rect width="{total}" height="20" fill="#444"/>'
        f'<rect x="{widths[0]}" width="{widths[1]}" height="20" fill="{colour}"/>'
        '<g fill="#fff" font-family="Verdana,sans-serif" font-size="11">'
        '<text x="6" y="14">NDCG</text>'
        f'<text x="{widths[0] + 6}" y="14">{escape(right)}</text></g></svg>\n'
    )


def record(returned: dict[str, Got], library: TestedLibrary | None = None) -> dict[str, Any]:
    """Return what is kept of an implementation: its values, and what they say."""
    found = profile(returned)
    sentences = {each: found.sentence(each) for each in questions()}
    about = {}
    if library is not None:
        sentences |= dict.fromkeys(library.of_caller, "the caller decides")
        about = {"call": library.call, "adapter": library.file.read_text(encoding="utf-8")}
    return about | {"returned": returned, "sentences": sentences} | found.to_dict()


def _refuse_unknown(name: str) -> None:
    """Raise an error for what is neither a function of the user nor a library."""
    if name not in libraries() and not all(name.rpartition(":")):
        hint = f"name its function, for example {name.rstrip(':')}:ndcg"
        is_of_user = name.endswith((".py", ":"))
        raise click.UsageError(
            f"{name}: is not a library of this suite, nor FILE.py:NAME; "
            f"{hint if is_of_user else suggestion(name, libraries())}"
        )


def _examined(name: str) -> dict[str, Any]:
    """Ask an implementation of the user, or a library."""
    library = libraries().get(name)
    if library is None:
        return record(ask(name))
    python = library.interpreter()
    about = {"distribution": library.distribution, "version": library.version(python)}
    return about | record(ask(library.target, python), library)


def _show(name: str, found: dict[str, Any]) -> None:
    """Print the answers, the named conventions, and what nothing explains."""
    say(f"{name} {found.get('version', '')}".strip())
    sentences = found["sentences"].items()
    rows = [[questions()[each].title, text] for each, text in sentences if text not in HIDDEN]
    show_table(["question", "answer"], rows, ["question", "answer"])
    if found["refused"]:
        first, error = next(iter(found["refused"].items()))
        say(f"{counted(len(found['refused']), 'case')} refused, first {first}: {plain(error)}")
    if found["conventions"]:
        say(f"named conventions that give all values: {joined(found['conventions'])}")
    for each in found["findings"]:
        what = "deviation" if each["answer"] else "not explained"
        say(f"{what}: {each['sentence']}", colour="red")
        say(f"  {each['case']} ({each['tells']}): returned {each['returned']}")
        say(f"  nearest convention: {each['arithmetic']}")
        if each["deviating"]:
            say(f"  deviation: {each['deviating']}")
    if found["is_explained"]:
        say("documented conventions explain all values", colour="green")
