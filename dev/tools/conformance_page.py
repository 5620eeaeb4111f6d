"""Write what libraries compute for NDCG, from results/conformance/libraries.json, into its page.

python dev/tools/conformance_page.py           write the tables and the reproductions
python dev/tools/conformance_page.py --check   exit 1 if the page is not what would be written
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from harness.extras.conformance.asking import libraries
from harness.extras.conformance.profile import questions

TOP = Path(__file__).parents[2]
PAGE = TOP / "docs" / "reference" / "ndcg-by-library.md"
KEPT = TOP / "results" / "conformance" / "libraries.json"
COLUMNS = {
    "gain": "gain",
    "discount": "discount",
    "ideal": "ideal",
    "ties": "equal scores",
    "duplicates": "repeated item",
    "unjudged": "not judged",
    "negative": "negative",
    "grades": "fractions",
    "short": "list below k",
    "nothing": "nothing relevant",
    "empty": "empty list",
    "mean": "mean",
    "scores": "scores",
}
"""The questions that are columns, with their headings."""
PART = re.compile(r"(<!-- conformance: (\w+) -->\n)(?:(?!<!-- end).*\n)*(<!-- end -->\n)")


def cell(question: str, kept: Mapping[str, Any], takes: str) -> str:
    """Return an answer in a word or two."""
    if takes == "ranking" and question in ("ties", "scores"):
        return "caller"
    if question in kept["unasked"]:
        why = kept["unasked"][question]
        return {"refused": "refused", "not asked": "–"}.get(
            why.partition(":")[0], "**unexplained**"
        )
    words = kept["answers"][question]
    if question == "ideal" and words == ["judged", "listed"]:
        words = ["judged"]  # it is given the judged items of the list alone
    if question == "negative" and kept["answers"]["gain"] == ["binary"]:
        words = ["zero"]  # which is the same there
    if len(words) > 2:
        return "not told apart"
    deviations = questions()[question].deviations
    return " or ".join(f"**{word}**" if word in deviations else word for word in words)


def table(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of the table: a row a library, a column a question."""
    yield "| " + " | ".join(["library", "version", *COLUMNS.values()]) + " |"
    yield "| --- " * (len(COLUMNS) + 2) + "|"
    for name, kept in found.items():
        cells = (cell(question, kept, libraries()[name].takes) for question in COLUMNS)
        yield "| " + " | ".join([name, kept["version"], *cells]) + " |"


def legend() -> Iterator[str]:
    """Yield what the words of the table mean, a line for each question."""
    yield "| question | words |"
    yield "| --- | --- |"
    for name, question in questions().items():
        answers = [f"*{word}*: {text}" for word, text in question.answers.items()]
        answers += [f"**{word}**: {text}" for word, text in question.deviations.items()]
        words = "; ".join(each.replace("2**grade", "2^grade") for each in answers)
        yield f"| {question.title} (`{name}`) | {words} |"


def calls(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield how each library was called, what it refused, and which conventions it equals."""
    yield "| library | what is called | takes | equals | refused | note |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for name, kept in found.items():
        library = libraries()[name]
        equal = ", ".join(f"`{each}`" for each in kept["conventions"]) or "–"
        refused = str(len(kept["refused"]))
        if kept["refused"]:
            first, error = next(iter(kept["refused"].items()))
            text = " ".join(error.split())[:120].replace("|", "/")
            refused += f", first `{first}`: {text}"
        cells = [name, f"`{library.call}`", library.takes, equal, refused, library.note]
        yield f"| {' | '.join(cells)} |"


def reproductions(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield each deviation with the library alone: the finding, at most five lines, the output."""
    for name, kept in found.items():
        library = libraries()[name]
        for each in library.reproductions:
            finding = next((f for f in kept["findings"] if f["question"] == each.question), None)
            known = questions().get(each.question)
            title = known.title if known else "rank of a row"
            yield f"### {name} {kept['version']}: {title}"
            yield ""
            yield f"{each.text[0].upper()}{each.text[1:]}."
            if finding is not None:
                yield (
                    f"In the suite the first case is `{finding['case']}`: it returns "
                    f"{finding['returned']:.6g}, and the nearest convention is "
                    f"{finding['expected']:.6g} ({finding['arithmetic']})."
                )
            yield ""
            yield "```python"
            yield each.code.strip()
            yield "```"
            yield ""
            yield "```text"
            yield each.prints
            yield "```"
            yield ""


def written(text: str) -> str:
    """Return the page with its generated parts."""
    found = json.loads(KEPT.read_text(encoding="utf-8"))
    parts = {
        "table": lambda: table(found),
        "legend": legend,
        "calls": lambda: calls(found),
        "reproductions": lambda: reproductions(found),
    }

    def part(match: re.Match[str]) -> str:
        lines = "\n".join(parts[match[2]]()).rstrip()
        return f"{match[1]}\n{lines}\n\n{match[3]}"

    return PART.sub(part, text)


def main() -> int:
    """Write the page, or compare it."""
    before = PAGE.read_text(encoding="utf-8")
    after = written(before)
    if "--check" in sys.argv:
        if before != after:
            print(f"{PAGE.relative_to(TOP)}: is not what libraries.json gives; run this script")
        return int(before != after)
    PAGE.write_text(after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
