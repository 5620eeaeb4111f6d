"""What runs leave on disk: finished cells in the cache, runs in the results folder."""

from typing import TYPE_CHECKING

from harness import lazy

if TYPE_CHECKING:
    from harness.results.reading import find_runs, open_run, read_run
    from harness.results.runs import Run

__all__ = ["Run", "find_runs", "open_run", "read_run"]

__getattr__ = lazy.members(
    __name__,
    {"reading": ("find_runs", "open_run", "read_run"), "runs": ("Run",)},
)
