"""What runs leave on disk: finished cells in the cache, runs in the results folder."""

from harness.results.reading import find_runs, open_run, read_run
from harness.results.runs import Run

__all__ = ["Run", "find_runs", "open_run", "read_run"]
