"""The names of the package, declared once; each is imported when it is first used."""

from .reading import find_runs, open_run, read_run
from .runs import Run

__all__ = ["Run", "find_runs", "open_run", "read_run"]
