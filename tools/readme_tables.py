"""Write the tables of `results/` and `benchmarks/figures/` into the pages that show them.

python tools/readme_tables.py          rewrite them between their markers
python tools/readme_tables.py --check  exit 1 if a page is not what it would write
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import speed_tables

from harness.results import read_run
from harness.results.table import display_table, to_markdown

TOP = Path(__file__).parents[1]
PAGES = (
    TOP / "README.md",
    TOP / "docs" / "explanation" / "speed.md",
    TOP / "docs" / "how-to" / "implicit.md",
)
MEASURED = ("fit s", "score s", "metric s", "peak MB")
MARKER = re.compile(
    r"(?P<marker><!-- (?P<kind>table|grid|speed): (?P<name>\S+)"
    r"(?: (?P<label>\S+))?(?: (?P<split>\S+))? -->)\n"
    r"(?:\n\|(?:.*\n)+?(?=\n))?"
)


def table(run: str) -> str:
    """Return the table of a run alone, without its heading and notes."""
    lines = to_markdown(read_run(TOP / run).info).splitlines()
    return "\n".join(line for line in lines if line.startswith("|"))


def grid(run: str, label: str, split: str = "") -> str:
    """Return one metric of a run: a row for each algorithm, a column for each table of a split."""
    frame = display_table(read_run(TOP / run).info).frame
    frame = frame[frame["split"] == split] if split else frame
    places = list(dict.fromkeys(zip(frame["split"], frame["candidates"], strict=True)))
    values = frame.set_index(["algorithm", "split", "candidates"])[label]
    titles = [candidates if split else f"{name}, {candidates}" for name, candidates in places]
    lines = [
        "| algorithm | " + " | ".join(titles) + " |",
        "| --- |" + " ---: |" * len(places),
    ]
    for algorithm in dict.fromkeys(frame["algorithm"]):
        row = [" ".join(values[(algorithm, *place)].split()) for place in places]
        lines.append(f"| {algorithm} | " + " | ".join(row) + " |")
    return "\n".join(lines)


def speed(name: str) -> str:
    """Return the figures of one benchmark, or the summary of all."""
    special = {
        "summary": speed_tables.summary,
        "growth": speed_tables.growth,
        "large": speed_tables.large,
    }
    return special[name]() if name in special else speed_tables.full(name)


def written(text: str) -> str:
    """Return a page with every marked table as the files have it."""
    kinds = {"table": table, "grid": grid, "speed": speed}

    def fill(match: re.Match[str]) -> str:
        asked = [word for word in (match["name"], match["label"], match["split"]) if word]
        return f"{match['marker']}\n\n{kinds[match['kind']](*asked)}\n"

    return MARKER.sub(fill, text)


def timeless(text: str) -> list[list[str]]:
    """Return the cells of each line, less those that another run of the same config changes."""
    kept, left_out = [], set[int]()
    for line in text.splitlines():
        cells = line.split(" | ")
        if not line.startswith("|"):
            left_out = set()
        elif not left_out:
            left_out = {place for place, cell in enumerate(cells) if cell.strip(" |") in MEASURED}
        kept.append([cell for place, cell in enumerate(cells) if place not in left_out])
    return kept


def main() -> int:
    """Rewrite the pages, or say whether they are current."""
    stale = 0
    for page in PAGES:
        before = page.read_text(encoding="utf-8")
        after = written(before)
        if "--check" not in sys.argv:
            page.write_text(after, encoding="utf-8")
        elif timeless(before) != timeless(after):
            stale = 1
            print(
                f"{page.relative_to(TOP)}: its tables are not those of the files; run this script"
            )
    return stale


if __name__ == "__main__":
    sys.exit(main())
