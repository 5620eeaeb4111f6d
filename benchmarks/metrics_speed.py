"""NDCG at six ranks per user, from columns in no order: against five peers, and at 25M rows.

Both sides start from columns of users, items, estimates and ratings and end with one value for each
user and rank. The peers run in a virtual environment of their own, which is made unless ``--venv``
names one.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import numpy as np
from speed_sides import Row, Table, arguments, seconds

from harness import metrics, rankings

PEERS = ("numpy<2", "ranx==0.3.21", "rectools==0.19.0", "pytrec-eval-terrier==0.5.11")
PEERS = (*PEERS, "scikit-learn==1.9.1")
CUTS = "1,3,5,10,20,50"
SECONDS_AT_25_MILLION = 6.0
GIGABYTES_AT_25_MILLION = 4.0
ROWS = (250_000, 2_500_000, 25_000_000)
STEEPEST = 1.1
"""The exponent with which seconds may grow with rows: 1 is linear."""
SAME = {
    "plain Python loop": "ndcg(ties=first)@10",
    "scikit-learn": "ndcg(gain=linear)@10",
    "rectools": "ndcg(gain=binary(4), ideal=full, ties=first)@10",
    "pytrec-eval": "ndcg(gain=linear, ties=first)@10",
    "ranx": "ndcg(ties=first)@10",
}
"""What each peer computes, to compare the numbers before the times."""
TIES_ELSEHOW = ("pytrec-eval", "ranx")  # by document id; by an unstable sort from 16 items on
LARGE = """
import resource, sys, time
sys.path.insert(0, sys.argv[1])
import metrics_speed as bench
import numpy as np
users, _, estimates, ratings = bench.make_columns(int(sys.argv[2]), rows_per_user=154)
bench.score(users[:10**5], estimates[:10**5], ratings[:10**5])
times = []
for _ in range(5):
    start = time.perf_counter()
    bench.score(users, estimates, ratings)
    times.append(time.perf_counter() - start)
print(min(times), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6)
"""


def make_columns(n_rows: int, rows_per_user: int = 40) -> tuple[np.ndarray, ...]:
    """Draw users, items, estimates with many ties, and ratings, in no order; no pair twice."""
    rng = np.random.default_rng(0)
    users = rng.integers(0, max(1, n_rows // rows_per_user), n_rows)
    items = np.empty(n_rows, dtype=np.int64)
    items[np.argsort(users, kind="stable")] = np.arange(n_rows) % 60_000
    estimates = np.clip(np.round(rng.normal(3.5, 0.8, n_rows), 2), 1, 5)
    return users, items, estimates, rng.integers(1, 6, n_rows).astype(np.float64)


def score(
    users: np.ndarray, estimates: np.ndarray, ratings: np.ndarray, ties: str = "average"
) -> np.ndarray:
    """Go from columns to one value per user and rank."""
    lists = rankings.from_pairs(users, estimates, ratings)
    found = metrics.score(metrics.parse_many(f"ndcg(ties={ties})@{CUTS}"), lists)
    return np.column_stack([scores.per_user for scores in found.values()])


def environment(folder: Path) -> Path:
    """Make a virtual environment with the peers, and return its Python."""
    python = folder / "bin" / "python"
    if not python.exists():
        print("installing the peers ...", flush=True)
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *PEERS], check=True)
    return python


def large(n_rows: int) -> tuple[float, float]:
    """Score many rows in a process of its own; return seconds and peak gigabytes, data included."""
    command = [sys.executable, "-c", LARGE, str(Path(__file__).parent), str(n_rows)]
    answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    time, memory = answer.stdout.split()
    return float(time), float(memory)


def main() -> int:
    told = arguments((__doc__ or "").splitlines()[0], repeats=15, venv="", rows=240_000)
    table = Table((__doc__ or "").splitlines()[0], against="peer")
    users, items, estimates, ratings = make_columns(told.rows)
    score(users[:1000], estimates[:1000], ratings[:1000])
    ours = seconds(lambda: score(users, estimates, ratings), told.repeats)
    with tempfile.TemporaryDirectory() as scratch:
        python = environment(Path(told.venv or Path(scratch, "venv")))
        path = Path(scratch, "columns.npz")
        np.savez(path, users=users, items=items, estimates=estimates, ratings=ratings)
        work = Path(__file__).with_name("metrics_speed_peers.py")
        answer = subprocess.run([python, work, path, "3"], check=True, stdout=subprocess.PIPE)
    for name, (theirs, mean) in sorted(json.loads(answer.stdout).items(), key=lambda x: -x[1][0]):
        same = metrics.parse(SAME[name])
        here = metrics.score([same], rankings.from_pairs(users, estimates, ratings))[same].mean
        if name not in TIES_ELSEHOW and abs(here - mean) > 1e-9:
            sys.exit(f"{name}: {mean} for {same}, which is {here} here")
        note = f"NDCG@10 {mean:.4f} and {here:.4f}"
        table.add(Row(f"{name}, {told.rows:,} rows", theirs, ours, 5, note))

    first = seconds(lambda: score(users, estimates, ratings, "first"), told.repeats)
    table.add(Row("ties=average", 1.5 * first, ours, 1, "beside 1.5 times ties=first"))
    grown = [large(n_rows) for n_rows in ROWS]
    time, memory = grown[-1]
    steepness = math.log(time / grown[0][0], ROWS[-1] / ROWS[0])
    note = ", ".join(f"{n:,} rows {each:.3f} s" for n, (each, _) in zip(ROWS, grown, strict=True))
    table.add(Row("exponent of the growth", STEEPEST, steepness, 1, note))
    table.add(Row("seconds, 25,000,000 rows", SECONDS_AT_25_MILLION, time, 1))
    table.add(Row("gigabytes, 25,000,000 rows", GIGABYTES_AT_25_MILLION, memory, 1))
    return table.finish(told.output)


if __name__ == "__main__":
    sys.exit(main())
