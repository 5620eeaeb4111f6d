"""What the proofs share: arguments, figures, the command line, and a run that they disturb."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pandas as pd

MEASURED = ("fit_seconds", "score_seconds", "metric_seconds", "peak_mb", "search_seconds")
"""Columns of ``table.csv`` that differ from run to run."""

CONFIG = """\
name: disturbed
dataset: {synthetic: {n_users: 200, n_items: 120, n_ratings: 6000}}
split: {kind: kfold, n_splits: 5}
algorithms:
  - {name: "noted:Noted", label: noted a, params: {tag: a}}
  - {name: "noted:Noted", label: noted b, params: {tag: b}}
  - SVD
  - KNNBaseline
  - BaselineOnly
  - SlopeOne
  - ItemMean
  - Random
metrics: [ndcg@5, rmse]
baselines: false
statistics: {resamples: 200}
"""
N_CELLS = 40


class Proof:
    """Something that is done `full` times, or `quick` times with ``--quick``, and its figures.

    With `parts`, which says what they are, ``--only`` names those that are done.
    """

    def __init__(
        self, about: str, full: int, quick: int, *, is_random: bool = False, parts: str = ""
    ) -> None:
        parser = argparse.ArgumentParser(description=about.splitlines()[0])
        parser.add_argument("--count", type=int, default=full, help="how often (%(default)s)")
        parser.add_argument("--quick", action="store_true", help=f"no more than {quick} times")
        parser.add_argument("--minutes", type=float, default=1e9, help="stop after so long")
        if is_random:
            parser.add_argument("--seed", type=int, default=0, help="of the moments (%(default)s)")
        if parts:
            parser.add_argument("--only", action="append", default=[], help=parts)
        options = parser.parse_args()
        self.quick: bool = options.quick
        self.count: int = min(options.count, quick) if options.quick else options.count
        self.seed: int = options.seed if is_random else 0
        self.only: list[str] = options.only if parts else []
        self.figures: Counter[str] = Counter()
        self.start = time.monotonic()
        self.end = self.start + 60 * options.minutes

    def __getitem__(self, name: str) -> int:
        return self.figures[name]

    @property
    def goes_on(self) -> bool:
        """Whether there is more to do, and time for it."""
        return self["done"] < self.count and time.monotonic() < self.end

    def add(self, name: str, amount: int = 1) -> None:
        """Add to a figure."""
        self.figures[name] += amount

    def fault(self, message: str) -> None:
        """Report something that must not be."""
        self.add("faults")
        print(f"FAULT: {message}", file=sys.stderr, flush=True)

    def close(self, *lines: str) -> int:
        """Print the figures and return the exit code."""
        print(*lines, sep="\n")
        print(f"{self['faults']} faults; {time.monotonic() - self.start:.0f} s")
        if self["done"] < self.count:
            print(f"{self['done']} of {self.count} done in the given minutes")
        return 1 if self["faults"] else 0


class Setting:
    """A folder with its own config, cache, results and notes of the fits."""

    def __init__(self, folder: Path, config: str = CONFIG) -> None:
        self.folder = folder
        self.cache, self.results = folder / "cache", folder / "results"
        self.notes, self.config = folder / "fits.txt", folder / "disturbed.yaml"
        folder.mkdir(parents=True, exist_ok=True)
        self.config.write_text(config)
        self.notes.touch()

    def start(self, *arguments: str, **variables: str) -> subprocess.Popen[str]:
        """Start ``harness run`` in a process group of its own."""
        here = Path(__file__).resolve().parent
        paths = [str(here), str(here.parent), os.environ.get("PYTHONPATH", "")]
        own = {
            "HARNESS_CACHE": str(self.cache),
            "FIT_NOTES": str(self.notes),
            "PYTHONPATH": os.pathsep.join(path for path in paths if path),
        }
        command = [sys.executable, "-m", "harness", "run", str(self.config)]
        return subprocess.Popen(
            [*command, "--results", str(self.results), *arguments],
            env=os.environ | own | variables,
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *arguments: str, **variables: str) -> None:
        """Run to the end; anything but success is an error."""
        process = self.start(*arguments, **variables)
        printed, _ = process.communicate(timeout=600)
        if process.returncode != 0:
            raise SystemExit(f"exit code {process.returncode}:\n{printed}")

    def table(self) -> str:
        """Return ``table.csv`` without the columns that are measured."""
        path = self.results / "disturbed" / "table.csv"
        rows = pd.read_csv(path, dtype=str, keep_default_na=False)
        return rows.drop(columns=list(MEASURED), errors="ignore").to_csv(index=False)

    def stored(self) -> dict[str, tuple[int, int]]:
        """Return the finished cells on disk: by key, what changes when a file is written again."""
        status = {path.stem: path.stat() for path in self.cache.glob("cells/??/*.cell")}
        return {key: (file.st_ino, file.st_mtime_ns) for key, file in status.items()}
