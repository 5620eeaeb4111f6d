"""Run the quick benchmark a hundred times in one process; its memory has to stay flat.

    python dev/proofs/soak.py

Every run computes all cells again and writes its results, every tenth its page. The memory is that
which the process has to itself (USS); the mean of the last tenth of the runs may not be more than
5% above that of the second tenth: the first is what imports and compiled loops take.
"""

from __future__ import annotations

import gc
import os
import sys
import tempfile
from pathlib import Path
from statistics import mean

import psutil
from common import Proof

TOP = Path(__file__).resolve().parents[2]


def main() -> int:
    """Run the proof and print its figures."""
    proof = Proof(__doc__, full=100, quick=3)
    memory: list[float] = []
    open_files: list[int] = []
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HARNESS_CACHE"] = folder
        import harness
        from harness.report import write_page

        config, results = TOP / "configs" / "quickstart.yaml", Path(folder, "results")
        while proof.goes_on:
            done = harness.run(config, results=results, fresh=True)
            if proof["done"] % 10 == 0:
                write_page([done], Path(folder, "page.html"))
            if done.failed:
                proof.fault(f"run {proof['done']}: {done.failed}")
            del done
            gc.collect()
            memory.append(psutil.Process().memory_full_info().uss / 1e6)
            open_files.append(psutil.Process().num_fds())
            proof.add("done")
    tenth = max(1, len(memory) // 10)
    early, late = mean(memory[tenth : 2 * tenth]), mean(memory[-tenth:])
    if late > 1.05 * early and not proof.quick:
        proof.fault(f"memory grew by {late / early - 1:.1%}")
    if open_files[-1] > open_files[tenth]:
        proof.fault(f"open files grew from {open_files[tenth]} to {open_files[-1]}")
    return proof.close(
        f"{proof['done']} runs in one process: {memory[0]:.0f} MB after the first, {early:.0f} MB "
        f"in the second tenth, {late:.0f} MB in the last ({late / early - 1:+.1%}); "
        f"{open_files[0]} files open after the first run, {open_files[-1]} after the last",
    )


if __name__ == "__main__":
    sys.exit(main())
