"""Run a config and write down each compilation: the function, and its own CPU seconds.

    python dev/benchmarks/compilations.py CONFIG FOLDER

`FOLDER/compiled.json` gets them and the CPU seconds of the process. It starts the command line of
the harness that Python finds, which can be another commit's, and imports no other part of it.
"""

from __future__ import annotations

import json
import runpy
import sys
import time
from pathlib import Path
from typing import Any

from numba.core import event


class Listener(event.Listener):  # type: ignore[misc]
    """Collects compilations; Numba's lock holds them in order, so one inside is for the outer."""

    def __init__(self) -> None:
        self.compiled: list[tuple[str, float]] = []
        self.under_way: list[list[float]] = []  # start, and what others took inside

    def on_start(self, event: Any) -> None:
        """Begin a compilation."""
        self.under_way.append([time.thread_time(), 0.0])

    def on_end(self, event: Any) -> None:
        """End the compilation that began last."""
        start, inside = self.under_way.pop()
        took = time.thread_time() - start
        if self.under_way:
            self.under_way[-1][1] += took
        function = event.data["dispatcher"].py_func
        self.compiled.append((f"{function.__module__}.{function.__name__}", took - inside))


def main(config: str, folder: str) -> int:
    """Run the config; return the exit code of the command."""
    listener, status = Listener(), 0
    event.register("numba:compile", listener)
    sys.argv = ["harness", "run", config, "--fresh", "--quiet", "--results", f"{folder}/results"]
    try:
        runpy.run_module("harness", run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        status = int(ended.code or 0)
    found = {"seconds": time.process_time(), "compiled": listener.compiled}
    Path(folder, "compiled.json").write_text(json.dumps(found), "utf-8")
    return status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
