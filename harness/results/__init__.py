"""What runs leave on disk: finished cells in the cache, runs in the results folder."""

from harness.results.run import Run, find_runs, read_run

__all__ = ["Run", "find_runs", "read_run"]
