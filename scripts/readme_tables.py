"""Write the tables of `results/` into the README, between its markers.

python scripts/readme_tables.py          rewrite README.md
python scripts/readme_tables.py --check  exit 1 if README.md is not what it would write
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from harness.results import read_run
from harness.results.table import to_frame_for_people, to_markdown

TOP = Path(__file__).parents[1]
README = TOP / "README.md"
MARKER = re.compile(
    r"(?P<marker><!-- (?P<kind>table|grid): (?P<run>\S+)(?: (?P<label>\S+))? -->)\n"
    r"(?:\n\|(?:.*\n)+?(?=\n))?"
)


def table(run: str) -> str:
    """Return the table of a run alone, without its heading and notes."""
    lines = to_markdown(read_run(TOP / run).info).splitlines()
    return "\n".join(line for line in lines if line.startswith("|"))


def grid(run: str, label: str) -> str:
    """Return one metric of a run: a row for each algorithm, a column for each table."""
    frame = to_frame_for_people(read_run(TOP / run).info)
    places = list(dict.fromkeys(zip(frame["split"], frame["candidates"], strict=True)))
    values = frame.set_index(["algorithm", "split", "candidates"])[label]
    lines = [
        "| algorithm | " + " | ".join(", ".join(place) for place in places) + " |",
        "| --- |" + " ---: |" * len(places),
    ]
    for algorithm in dict.fromkeys(frame["algorithm"]):
        row = [" ".join(values[(algorithm, *place)].split()) for place in places]
        lines.append(f"| {algorithm} | " + " | ".join(row) + " |")
    return "\n".join(lines)


def written(text: str) -> str:
    """Return the README with every marked table as `results/` has it."""

    def fill(match: re.Match[str]) -> str:
        made = (
            table(match["run"]) if match["kind"] == "table" else grid(match["run"], match["label"])
        )
        return f"{match['marker']}\n\n{made}\n"

    return MARKER.sub(fill, text)


def main() -> int:
    """Rewrite the README, or say whether it is current."""
    before = README.read_text(encoding="utf-8")
    after = written(before)
    if "--check" in sys.argv:
        if before != after:
            print("README.md: its tables are not those of results/; run this script")
        return int(before != after)
    README.write_text(after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
