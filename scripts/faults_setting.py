"""The benchmark that the proofs of `docs/guarantees.md` disturb, and how they start and read it."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

NOT_COMPARED = ("fit_seconds", "score_seconds", "metric_seconds", "peak_mb", "search_seconds")
"""Columns of ``table.csv`` that are measured, not computed."""

CONFIG = """\
name: disturbed
dataset: {synthetic: {n_users: 200, n_items: 120, n_ratings: 6000}}
split: {kind: kfold, n_splits: 5}
algorithms:
  - {name: "faults_algorithms:Noted", label: noted a, params: {tag: a}}
  - {name: "faults_algorithms:Noted", label: noted b, params: {tag: b}}
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


def bare_table(path: Path) -> bytes:
    """Return a ``table.csv`` without what is measured."""
    rows = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
    kept = [place for place, name in enumerate(rows[0]) if name not in NOT_COMPARED]
    return "\n".join(",".join(row[place] for place in kept) for row in rows).encode()


class Setting:
    """A folder of its own for config, cache, results and the notes of fits.

    Parameters
    ----------
    folder : Path
    config : str
        YAML.
    """

    def __init__(self, folder: Path, config: str = CONFIG) -> None:
        self.folder = folder
        self.cache = folder / "cache"
        self.results = folder / "results"
        self.notes = folder / "fits.txt"
        self.config = folder / "disturbed.yaml"
        folder.mkdir(parents=True, exist_ok=True)
        self.config.write_text(config)
        self.notes.touch()

    def environment(self, **more: str) -> dict[str, str]:
        """Return the variables that a run is started with."""
        here = Path(__file__).resolve().parent
        paths = [str(here), str(here.parent), os.environ.get("PYTHONPATH", "")]
        return {
            **os.environ,
            "HARNESS_CACHE": str(self.cache),
            "FAULTS_NOTES": str(self.notes),
            "PYTHONPATH": os.pathsep.join(path for path in paths if path),
            **more,
        }

    def start(self, *arguments: str, **more: str) -> subprocess.Popen[str]:
        """Start ``harness run`` in a process group of its own."""
        command = [sys.executable, "-m", "harness", "run", str(self.config)]
        return subprocess.Popen(
            [*command, "--results", str(self.results), *arguments],
            env=self.environment(**more),
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *arguments: str, **more: str) -> str:
        """Run to the end and return what was printed; anything but success is an error."""
        process = self.start(*arguments, **more)
        printed, _ = process.communicate(timeout=600)
        if process.returncode != 0:
            raise SystemExit(f"exit code {process.returncode}:\n{printed}")
        return printed

    def table(self) -> bytes:
        """Return ``table.csv`` without what is measured."""
        return bare_table(self.results / "disturbed" / "table.csv")

    def cells(self) -> list[dict[str, object]]:
        """Return the cells as ``run.json`` describes them."""
        path = self.results / "disturbed" / "run.json"
        return list(json.loads(path.read_text(encoding="utf-8"))["cells"])

    def stored(self) -> dict[str, tuple[int, int]]:
        """Return the finished cells on disk: by key, what changes when a file is written anew."""
        found = {}
        for path in self.cache.glob("cells/??/*.cell"):
            status = path.stat()
            found[path.stem] = (status.st_ino, status.st_mtime_ns)
        return found
