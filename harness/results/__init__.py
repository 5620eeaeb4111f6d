"""What runs leave on disk: finished cells in the cache, runs in the results folder."""

from harness.results.runs import Run, find_runs, open_run, read_run

__all__ = ["Run", "find_runs", "open_run", "read_run"]
