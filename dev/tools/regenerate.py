"""Write every generated file, and what the pages show of commands and Python.

python dev/tools/regenerate.py           rewrite what changed, and name it
python dev/tools/regenerate.py --check   exit 1 if a file is not what would be written
python dev/tools/regenerate.py --fast    leave out the output in the pages, which is run for minutes

Order matters: the schema and the reference say what the code has, the tables what `results/` holds,
the pages show all of them, and the index and `llms.txt` follow from the pages.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).parents[2]
TOOLS = Path(__file__).parent
HARNESS = (sys.executable, "-m", "harness")
PRINTED = {
    TOP / "configs" / "schema.json": ("schema",),
    TOP / "docs" / "reference" / "config.md": ("schema", "--format", "markdown"),
}
"""Files that a command prints."""
FAST = (
    "build_reference.py",
    "readme_tables.py",
    "build_pictures.py",
    "conformance_cases.py",
    "conformance_page.py",
    "printed_texts.py",
)
SLOW = ("run_docs.py",)
LAST = ("build_pages.py",)
"""Tools that write their own files, and know `--check`."""
WRITTEN = (
    *("README.md", "configs", "docs", "harness", "dev/benchmarks/figures"),
    *("results/benchmark", "results/conformance", "dev/prose"),
)
"""Where the tools write."""


def contents() -> dict[str, bytes]:
    """Return the contents of every file that may be generated, by name."""
    places = [TOP / place for place in WRITTEN]
    files = [
        file for place in places for file in ([place] if place.is_file() else place.rglob("*"))
    ]
    return {
        file.relative_to(TOP).as_posix(): file.read_bytes()
        for file in files
        if file.is_file() and file.suffix not in {".py", ".pyc", ".nbi", ".nbc"}
    }


def main() -> int:
    """Write, or compare; name each file or tool that differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--check", action="store_true", help="write nothing; 1 if something differs"
    )
    parser.add_argument("--fast", action="store_true", help="without the output in the pages")
    given = parser.parse_args()
    differing = []
    before = {} if given.check else contents()
    for path, command in PRINTED.items():
        text = subprocess.run(
            [*HARNESS, *command], check=True, capture_output=True, text=True
        ).stdout
        if path.read_text(encoding="utf-8") != text:
            if given.check:
                differing.append(path.relative_to(TOP).as_posix())
            else:
                path.write_text(text, encoding="utf-8")
    for tool in (*FAST, *LAST) if given.fast else (*FAST, *SLOW, *LAST):
        command = [sys.executable, str(TOOLS / tool), *["--check"] * given.check]
        done = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)
        if done.returncode:
            differing.append(f"{tool}: {done.stdout.strip()}")
    if not given.check:
        after = contents()
        differing += [name for name, text in after.items() if before.get(name) != text]
    print("\n".join(differing) or "nothing differs")
    return int(given.check and bool(differing))


if __name__ == "__main__":
    sys.exit(main())
