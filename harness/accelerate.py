"""Run a script of Surprise faster: ``python -m harness.accelerate script.py arguments``."""

from __future__ import annotations

import argparse
import io
import runpy
import sys
from pathlib import Path
from types import ModuleType
from zipfile import is_zipfile

import harness
from harness.extras.accelerate import patch_surprise
from harness.extras.accelerate.summary import nothing_accelerated, summary


def main(arguments: list[str] | None = None) -> None:
    """Patch Surprise and run a script, or with ``-m`` a module, in the way of ``python``."""
    parser = argparse.ArgumentParser(
        prog="python -m harness.accelerate",
        description="Run a script of Surprise, accelerated and with the same results.",
    )
    parser.add_argument(
        "--strict",
        action="store_true",
        help="stop at a call as slow as before; exit with 1 if no call was accelerated",
    )
    parser.add_argument("--compare", action="store_true", help="stop where a result differs")
    parser.add_argument("--verbose", action="store_true", help="tell which way a call takes")
    parser.add_argument("--exact", action="store_true", help="SVD++ to the last bit, slower")
    parser.add_argument("--report", action="store_true", help="print all calls at the end")
    parser.add_argument(
        "--quiet", action="store_true", help="do not end with a line on what was accelerated"
    )
    parser.add_argument("-m", action="store_true", dest="module", help="run a module, as python -m")
    parser.add_argument("name", help="the script or module")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="its arguments")
    given = parser.parse_args(arguments)

    if not given.module and not Path(given.name).exists():
        parser.error(f"{given.name}: no such file; give a script, or -m and a module")
    patch_surprise(
        strict=given.strict, compare=given.compare, verbose=given.verbose, exact=given.exact
    )
    sys.argv = [given.name, *given.arguments]
    is_well = False
    try:
        if given.module:
            runpy.run_module(given.name, run_name="__main__")
        else:
            run_script(Path(given.name))
        is_well = True
    except SystemExit as end:
        is_well = not end.code
        raise
    finally:
        lacking = nothing_accelerated() if is_well else ""  # else the script's error is what counts
        if given.report:
            sys.stderr.write(f"{harness.patch_report()!r}\n")
        if lacking and (given.strict or not given.quiet):
            advice = "; --strict makes the exit code 1" if given.strict else ""
            sys.stderr.write(f"harness: {lacking}{advice}\n")
        elif not (given.report or given.quiet) and sys.stderr.isatty():
            sys.stderr.write(f"harness: {summary()}\n")  # a file or a pipe gets the script's own
        if lacking and given.strict:
            sys.exit(1)


def run_script(path: Path) -> None:
    """Run a script, or a folder or archive with a ``__main__.py``, like ``python path``.

    ``__file__`` is absolute, ``sys.argv`` as it was typed, and the module stays ``__main__`` until
    the process ends, which `runpy.run_path` has otherwise.
    """
    if path.is_dir() or is_zipfile(path):
        runpy.run_path(str(path.absolute()), run_name="__main__")
        return
    sys.path[0] = str(path.resolve().parent)
    script = ModuleType("__main__")
    vars(script).update(__file__=str(path.absolute()), __builtins__=__builtins__)
    sys.modules["__main__"] = script
    with io.open_code(str(path.absolute())) as file:
        code = compile(file.read(), str(path.absolute()), "exec", dont_inherit=True)
    exec(code, vars(script))  # noqa: S102 - the script that was asked for


def show_error(error: Exception) -> None:
    """Show an error of a script as ``python`` does: without what ran the script."""
    runners = __file__, runpy.run_path.__code__.co_filename
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename in runners:
        trace = trace.tb_next
    sys.excepthook(type(error), error.with_traceback(trace), trace)


if __name__ == "__main__":
    try:
        main()
    except Exception as error:
        show_error(error)
        sys.exit(1)
