"""Look up what is pinned in the advisories that pip-audit reads.

python tools/audit.py [REQUIREMENTS]

Exits 1 if a pinned version has a known fault. Where no advisories can be had (no network, or an
index that carries packages alone), says so and exits 0. A source is used only if it reports the
published fault of a version that is looked up first.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

TOP = Path(__file__).parents[1]
KNOWN_FAULT = "jinja2==3.1.2"
"""CVE-2024-22195."""
SOURCES = ("pypi", "osv")
ACCEPTED: dict[str, str] = {}
"""Identifiers of advisories that do not concern this project, each with the reason."""


def look_up(requirements: Path, source: str) -> list[dict[str, Any]] | str:
    """Return what a source reports for each package, or why it reports nothing."""
    command = [sys.executable, "-m", "pip_audit", "--requirement", str(requirements)]
    command += ["--disable-pip", "--no-deps", "--vulnerability-service", source]
    command += ["--format", "json", "--progress-spinner", "off", "--timeout", "10"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        return list(json.loads(done.stdout)["dependencies"])
    except (ValueError, LookupError):
        return (done.stderr.strip().splitlines() or ["no answer"])[-1]


def reachable_source() -> str | None:
    """Return a source that knows a fault which is there; None where there is none."""
    with tempfile.TemporaryDirectory() as folder:
        requirements = Path(folder) / "known.txt"
        requirements.write_text(f"{KNOWN_FAULT}\n", encoding="utf-8")
        for source in SOURCES:
            found = look_up(requirements, source)
            if isinstance(found, list) and any(each.get("vulns") for each in found):
                return source
    return None


def main() -> int:
    """Audit, and return the exit code."""
    requirements = Path(sys.argv[1]) if len(sys.argv) > 1 else TOP / "requirements" / "ci.txt"
    source = reachable_source()
    if source is None:
        print(
            f"audit skipped: no source of advisories ({', '.join(SOURCES)}) can be reached, or "
            f"none knows that {KNOWN_FAULT} has a fault"
        )
        return 0
    found = look_up(requirements, source)
    if isinstance(found, str):
        print(f"audit failed: {source}: {found}")
        return 1
    unknown = [each["name"] for each in found if "skip_reason" in each]
    faults = [
        f"{each['name']} {each['version']}: {fault['id']}, fixed in "
        f"{', '.join(fault['fix_versions']) or 'no version yet'}"
        for each in found
        for fault in each.get("vulns", [])
        if not ACCEPTED.keys() & {fault["id"], *fault.get("aliases", [])}
    ]
    print(
        f"audit: {len(found) - len(unknown)} pinned versions looked up at {source}, "
        f"{len(faults)} known faults"
        + (f"; not known there: {', '.join(unknown)}" if unknown else "")
    )
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
