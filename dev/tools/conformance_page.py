"""Write what libraries compute for NDCG, from results/conformance/libraries.json, into its page.

python dev/tools/conformance_page.py           write the answers in that file, and the page
python dev/tools/conformance_page.py --check   exit 1 if either is not what would be written

The values in the file are what libraries returned, from `harness conformance scikit-learn ranx -o`.
The answers follow from the values.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from harness.extras.conformance.asking import TestedLibrary, libraries
from harness.extras.conformance.command import record
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


def cell(question: str, kept: Mapping[str, Any], library: TestedLibrary) -> str:
    """Return an answer in a word or two."""
    if question in library.of_caller:
        return "caller"
    if question in kept["unasked"]:
        why = kept["unasked"][question]
        return {"refused": "refused", "not asked": "–"}.get(
            why.partition(":")[0], "**unexplained**"
        )
    words = kept["answers"][question]
    if question == "ideal" and words == ["judged", "listed"]:
        words = ["judged"]  # it is given the judged items of the list alone
    if len(words) > 2:
        return "not told apart"
    deviations = questions()[question].deviations
    return " or ".join(f"**{word}**" if word in deviations else word for word in words)


def table(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of the table: a row a library, a column a question."""
    yield "| " + " | ".join(["library", "version", *COLUMNS.values()]) + " |"
    yield "| --- " * (len(COLUMNS) + 2) + "|"
    for name, kept in found.items():
        cells = (cell(question, kept, libraries()[name]) for question in COLUMNS)
        yield "| " + " | ".join([name, kept["version"], *cells]) + " |"


def legend() -> Iterator[str]:
    """Yield what the words of the table mean, a line for each; the first names the question."""
    yield "| question | word | meaning |"
    yield "| --- | --- | --- |"
    for name, question in questions().items():
        answers = {f"*{word}*": text for word, text in question.answers.items()}
        answers |= {f"**{word}**": text for word, text in question.deviations.items()}
        title = f"{question.title} (`{name}`)"
        for word, text in answers.items():
            yield f"| {title} | {word} | {text.replace('2**', '2^')} |"
            title = ""


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


def documentation(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield where each library documents its conventions, and which it does not document.

    Only questions on which libraries differ are listed.
    """
    none = ("–", "caller")
    shown = {
        (name, question): cell(question, kept, libraries()[name])
        for name, kept in found.items()
        for question in COLUMNS
    }
    differing = [
        question
        for question in COLUMNS
        if len({shown[name, question] for name in found} - {*none, "refused"}) > 1
    ]
    yield "| library | places that were read | documented | documented otherwise | not documented |"
    yield "| --- | --- | --- | --- | --- |"
    for name, kept in found.items():
        library = libraries()[name]
        asked = [question for question in differing if shown[name, question] not in none]
        places, states, otherwise = [], set[str](), {}
        for each in library.documentation:
            installed = f"https://pypi.org/project/{library.distribution}/{kept['version']}/"
            address, version = each.get("address", installed), each.get("version", kept["version"])
            places.append(f"[{each['place']}]({address}) ({version})")
            states |= {*each["states"]}
            where = f" in {each['place']}" if len(library.documentation) > 1 else ""
            otherwise |= {
                question: f"{COLUMNS[question]}{where} ({text})"
                for question, text in each.get("otherwise", {}).items()
            }
        cells = [
            name,
            "; ".join(places),
            ", ".join(COLUMNS[each] for each in asked if each in states) or "–",
            "; ".join(otherwise.values()) or "–",
            ", ".join(COLUMNS[each] for each in asked if each not in {*states, *otherwise}) or "–",
        ]
        yield f"| {' | '.join(cells)} |"


def reproductions(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield each deviation with only the library: at most five lines, the output, the sums."""
    for name, kept in found.items():
        library = libraries()[name]
        for each in library.reproductions:
            finding = next((f for f in kept["findings"] if f["question"] == each["question"]), None)
            known = questions().get(each["question"])
            title = known.title if known else "rank of a row"
            yield f"### {name} {kept['version']}: {title}"
            yield ""
            yield f"{each['text'][0].upper()}{each['text'][1:]}."
            yield ""
            yield "```python"
            yield each["code"].strip()
            yield "```"
            yield ""
            yield "```text"
            yield each["prints"]
            yield "```"
            yield ""
            if finding is not None:
                yield f"The first case of the suite that shows it is `{finding['case']}`:"
                yield ""
                yield "```text"
                yield f"returned:            {finding['deviating']}"
                yield f"nearest convention:  {finding['arithmetic']}"
                yield "```"
                yield ""


def answered(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the kept values of each library with the answers that follow from them."""
    out = {}
    for name, library in libraries().items():
        about = {key: found[name][key] for key in ("distribution", "version")}
        out[name] = about | record(found[name]["returned"], library)
    return out


def written(text: str, found: Mapping[str, Any]) -> str:
    """Return the page with its generated parts."""
    parts = {
        "table": lambda: table(found),
        "legend": legend,
        "calls": lambda: calls(found),
        "documentation": lambda: documentation(found),
        "reproductions": lambda: reproductions(found),
    }

    def part(match: re.Match[str]) -> str:
        lines = "\n".join(parts[match[2]]()).rstrip()
        return f"{match[1]}\n{lines}\n\n{match[3]}"

    return PART.sub(part, text)


def main() -> int:
    """Write the file and the page, or compare them."""
    kept = KEPT.read_text(encoding="utf-8")
    found = answered(json.loads(kept))
    text = json.dumps(found, indent=1, ensure_ascii=False) + "\n"
    page = PAGE.read_text(encoding="utf-8")
    odd = 0
    for path, before, after in ((KEPT, kept, text), (PAGE, page, written(page, json.loads(text)))):
        if "--check" not in sys.argv:
            path.write_text(after, encoding="utf-8")
        elif before != after:
            print(f"{path.relative_to(TOP)}: is not what the kept values give; run this script")
            odd = 1
    return odd


if __name__ == "__main__":
    sys.exit(main())
