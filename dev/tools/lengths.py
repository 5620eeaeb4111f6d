"""Say which modules are too long: more than 400 lines, unless a reason stands here.

python dev/tools/lengths.py   exit 1 if a module is too long, or a reason is out of date
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "harness"
MOST_LINES = 400
MOST_REASONS = 3
REASONS: dict[str, str] = {}
"""Why a module is longer, by its path in the package: what its one subject is."""


def faults(package: Path, reasons: Mapping[str, str]) -> list[str]:
    """Return a line for each module that is too long, and for each reason that is not needed."""
    lengths = {
        path.relative_to(package).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
        for path in sorted(package.rglob("*.py"))
    }
    long = {name: length for name, length in lengths.items() if length > MOST_LINES}
    lines = [
        f"{name}: {length} lines; divide it by subject"
        for name, length in long.items()
        if name not in reasons
    ]
    lines += [f"{name}: not that long; remove its reason" for name in reasons if name not in long]
    if len(reasons) > MOST_REASONS:
        lines.append(f"{len(reasons)} reasons; at most {MOST_REASONS} modules may be longer")
    return lines


def main() -> int:
    """Print what is too long."""
    lines = faults(PACKAGE, REASONS)
    print("\n".join(lines or [f"no module has more than {MOST_LINES} lines without a reason"]))
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
