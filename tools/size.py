"""Print how big the project is, beside the limits that it sets itself.

    python tools/size.py

Lines are those of `wc -l`. A module counts as passed if one of its functions runs; its import alone
does not count.
"""

from __future__ import annotations

import re
import sys
import tempfile
import threading
import tomllib
from collections.abc import Callable
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = ("tools", "proofs", "benchmarks")
CONFIG = {
    "dataset": {"synthetic": {"n_users": 30, "n_items": 20, "n_ratings": 300}},
    "algorithms": ["SVD"],
    "metrics": ["ndcg@10"],
}


def lines(*patterns: str) -> int:
    """Return the lines of all files that match."""
    files = {path for pattern in patterns for path in ROOT.glob(pattern)}
    return sum(path.read_text(encoding="utf-8").count("\n") for path in files)


def uses_of_any(source: str) -> int:
    """Count them, but for imports."""
    lines = (line for line in source.splitlines() if "import" not in line)
    return sum(len(re.findall(r"\bAny\b(?!\s*,?\s*$)", line)) for line in lines)


def passed(work: Callable[[], object]) -> set[str]:
    """Return the modules of the package whose functions run while something is done."""
    seen: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_name != "<module>":
            seen.add(frame.f_globals.get("__name__", ""))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return {name for name in seen if name.partition(".")[0] == "harness"}


def measured() -> list[tuple[str, int, int]]:
    """Return what is measured, its value and its limit."""
    import harness

    def table() -> None:
        with tempfile.TemporaryDirectory() as folder:
            harness.run(CONFIG, results=folder, fresh=True)  # found cells are not fitted

    harness.ndcg([(4.5, 5), (3.5, 1)], k=10)
    table()  # imports what is imported on first use, and compiles
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "harness").rglob("*.py")]
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return [
        ("lines in harness/", lines("harness/**/*.py"), 18_000),
        ("modules in harness/", len(sources), 120),
        ("lines in tests/", lines("tests/**/*.py"), 12_000),
        (
            "lines in tools/, proofs/ and benchmarks/",
            lines(*(f"{each}/**/*.{kind}" for each in SCRIPTS for kind in ("py", "sh"))),
            2_500,
        ),
        ("modules from a config to table.csv", len(passed(table)), 25),
        (
            "modules behind harness.ndcg(predictions, k=10)",
            len(passed(lambda: harness.ndcg([(4.5, 5), (3.5, 1)], k=10))),
            6,
        ),
        ("runtime dependencies", len(declared["project"]["dependencies"]), 14),
        ("uses of Any", sum(map(uses_of_any, sources)), 150),
    ]


if __name__ == "__main__":
    for name, value, limit in measured():
        print(
            f"{name:50}{value:>8,}  at most {limit:>7,}  {'met' if value <= limit else 'not met'}"
        )
