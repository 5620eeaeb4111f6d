"""Run a script of Surprise faster: ``python -m harness.accelerate script.py arguments``."""

from __future__ import annotations

import argparse
import runpy
import sys
from pathlib import Path


def main(arguments: list[str] | None = None) -> None:
    """Patch Surprise and run a script, or with ``-m`` a module, as ``python`` would."""
    parser = argparse.ArgumentParser(
        prog="python -m harness.accelerate",
        description="Run a script of Surprise, many times faster and with the same results.",
    )
    parser.add_argument("--strict", action="store_true", help="stop at a call as slow as before")
    parser.add_argument("--compare", action="store_true", help="stop where a result differs")
    parser.add_argument("--verbose", action="store_true", help="tell which way a call takes")
    parser.add_argument("--exact", action="store_true", help="SVD++ to the last bit, slower")
    parser.add_argument("--report", action="store_true", help="print all calls at the end")
    parser.add_argument("-m", action="store_true", dest="module", help="run a module, as python -m")
    parser.add_argument("name", help="the script or module")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="its arguments")
    given = parser.parse_args(arguments)

    from harness.extras.accelerate import patch_report, patch_surprise

    if not given.module and not Path(given.name).exists():
        parser.error(f"{given.name}: no such file; give a script, or -m and a module")
    patch_surprise(
        strict=given.strict, compare=given.compare, verbose=given.verbose, exact=given.exact
    )
    sys.argv = [given.name, *given.arguments]
    if not given.module:
        sys.path[0] = str(Path(given.name).resolve().parent)
    try:
        run = runpy.run_module if given.module else runpy.run_path
        run(given.name, run_name="__main__")
    finally:
        if given.report:
            sys.stderr.write(f"{patch_report()!r}\n")


if __name__ == "__main__":
    main()
