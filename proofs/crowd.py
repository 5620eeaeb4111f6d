"""Start two runs, then eight runs, at once into one folder.

    python proofs/crowd.py

All have to end well, no cell may be fitted twice, nothing on disk may be broken, and the table has
to be that of a run alone.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path

from common import N_CELLS, Proof, Setting

from harness.results import read_run
from harness.results.store import CellStore

SIZES = (2, 8, 2, 8, 2, 8)


def main() -> int:
    """Run the proof and print its figures."""
    proof = Proof(__doc__, full=len(SIZES), quick=1)
    with tempfile.TemporaryDirectory() as folder:
        alone = Setting(Path(folder) / "alone")
        alone.run()
        while proof.goes_on:
            n_runs = SIZES[proof["done"]]
            crowd = Setting(Path(folder) / f"crowd-{proof['done']}")
            runs = [crowd.start("--workers", str(1 + number % 2)) for number in range(n_runs)]
            for run in runs:
                printed, _ = run.communicate(timeout=900)
                if run.returncode != 0:
                    proof.fault(f"{n_runs} runs: exit code {run.returncode}:\n{printed}")
            fits = Counter(crowd.notes.read_text().splitlines())
            if twice := [note for note, times in fits.items() if times > 1]:
                proof.fault(f"{n_runs} runs: fitted more than once: {twice}")
            store, stored = CellStore(crowd.cache / "cells"), crowd.stored()
            if len(stored) != N_CELLS or not all(map(store.is_whole, stored)):
                proof.fault(f"{n_runs} runs: cells are missing or broken")
            if crowd.table() != alone.table() or read_run(crowd.results / "disturbed").failed:
                proof.fault(f"{n_runs} runs: another table")
            proof.figures.update(runs=n_runs, fits=fits.total(), cells=len(stored), done=1)
    return proof.close(
        f"{proof['runs']} runs, {' and '.join(map(str, SIZES[: proof['done']]))} at once: all "
        "ended with the table of a run alone",
        f"{proof['cells']} cells on disk, all whole; {proof['fits']} fits counted, none twice",
    )


if __name__ == "__main__":
    sys.exit(main())
