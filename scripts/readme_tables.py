"""Write the tables of `results/` into the README, between its markers.

python scripts/readme_tables.py          rewrite README.md
python scripts/readme_tables.py --check  exit 1 if README.md is not what it would write
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from harness.results import read_run
from harness.results.table import to_markdown

TOP = Path(__file__).parents[1]
README = TOP / "README.md"
MARKER = re.compile(r"<!-- table: (?P<run>\S+) -->\n(?:\n\|(?:.*\n)+?(?=\n))?")


def table(run: str) -> str:
    """Return the table of a run alone, without its heading and notes."""
    lines = to_markdown(read_run(TOP / run).info).splitlines()
    return "\n".join(line for line in lines if line.startswith("|"))


def written(text: str) -> str:
    """Return the README with every marked table as `results/` has it."""
    return MARKER.sub(lambda m: f"<!-- table: {m['run']} -->\n\n{table(m['run'])}\n", text)


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
