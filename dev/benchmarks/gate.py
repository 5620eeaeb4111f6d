"""How often the gate calls equal models worse, what it finds, and what it costs.

Run it with ``python dev/benchmarks/gate.py PART``:

- ``study``: by simulation, how often `decide` calls an equally good candidate worse, and how often
  it calls one worse that is worse by the drop which a t-test with so many users finds with a power
  of 80%. Scores are NDCG@10: dense (every user has a score) and sparse (one item a user, hit by few
  users at a random rank). Two minutes of one processor;
- ``peer``: the interval and the seconds beside the gate of recsys-eval, on the same scores of
  20,000 users; ``pip install recsys-eval`` first.
"""

from __future__ import annotations

import time
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
from shared import command_line, keep
from timing import threads

from harness.extras.gate.decision import decide, gate_scores
from harness.statistics.resampling import Floats
from harness.statistics.standard_error import StandardError

METRIC = "ndcg@10"
SIZES = (3, 5, 10, 100, 600)
N_DRAWS = 300
GAINS = 1 / np.log2(np.arange(2, 12))
"""NDCG@10 of a user with one item, by its rank."""
HIT = 0.05
"""Share of users whose item a sparse model lists."""
N_USERS, RESAMPLES = 20_000, 2_000
"""Of the comparison with recsys-eval: its default number of resamples."""


def dense(n_users: int, drop: float, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return dense scores of a candidate, whose mean is lower by a drop, and of an old model."""
    users = rng.beta(6, 3, n_users)
    noise = rng.normal(0, 0.08, (2, n_users))
    return users + noise[0] - drop, users + noise[1]


def sparse(n_users: int, drop: float, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return sparse scores of a candidate, who hits fewer users if there is a drop, and another."""
    chances = np.array([[max(0.0, HIT - drop / GAINS.mean())], [HIT]])
    hits = rng.random((2, n_users)) < chances
    new, old = np.where(hits, GAINS[rng.integers(0, len(GAINS), (2, n_users))], 0.0)
    return new, old


def study() -> dict[str, Any]:
    """Return the shares of samples of users in which the candidate is called worse."""
    rng, rows = np.random.default_rng(7), []
    for scores in (dense, sparse):
        new, old = scores(1_000_000, 0.0, rng)
        deviation = float((new - old).std())
        for n_users in SIZES:
            error = np.array([deviation / n_users**0.5])
            drop = float(StandardError(error, np.array([n_users - 1.0])).detectable(0.05)[0])
            if scores is sparse:
                drop = min(drop, HIT * float(GAINS.mean()))
            shares = []
            for worse_by in (0.0, drop):
                verdicts = [decide(*scores(n_users, worse_by, rng)) for _ in range(N_DRAWS)]
                shares.append(sum(found.verdict == "worse" for found in verdicts) / N_DRAWS)
            row = {"scores": scores.__name__, "users": n_users, "false_alarms": shares[0]}
            rows.append(row | {"drop": drop, "power": shares[1]})
            print(
                f"{scores.__name__}, {n_users} users: an equally good model is called worse in "
                f"{shares[0]:.1%} of {N_DRAWS} samples, one worse by {drop:.4f} in {shares[1]:.1%}",
                flush=True,
            )
    return {"draws": N_DRAWS, "rows": rows}


def peer() -> dict[str, Any]:
    """Return intervals and seconds of both gates."""
    from recsys_eval.stats import paired_bootstrap

    rng = np.random.default_rng(1)
    old = pd.Series(np.where(rng.random(N_USERS) < 0.4, 0.0, rng.beta(1, 3, N_USERS)))
    new = (old + rng.normal(-0.001, 0.1, N_USERS)).clip(0, 1)
    gate_scores(new, old, metric=METRIC)  # nothing is loaded or compiled within the time
    seconds: dict[str, float] = {}  # of CPU, which other programs on the machine do not change
    begun = time.process_time()
    ours = gate_scores(new, old, metric=METRIC)
    seconds["harness"] = time.process_time() - begun
    begun = time.process_time()
    theirs = paired_bootstrap(new.tolist(), old.tolist(), samples=RESAMPLES)
    seconds["recsys-eval"] = time.process_time() - begun
    assert theirs is not None
    ends = np.array([[ours.low, ours.high], [theirs.low, theirs.high]])
    ends[1] *= theirs.incumbent
    # Standard error of a quantile of so many resamples of a normal mean, in both tails.
    spread = (ours.high - ours.low) / (2 * 1.96)
    noise = spread * (0.025 * 0.975 / RESAMPLES) ** 0.5 / 0.05845
    errors = (np.abs(ends[0] - ends[1]) / noise).tolist()
    ratio = seconds["recsys-eval"] / seconds["harness"]
    print(
        f"{N_USERS:,} users: {ends[0].round(6).tolist()} in {seconds['harness']:.3f} s; "
        f"recsys-eval {version('recsys-eval')} with {RESAMPLES:,} resamples "
        f"{ends[1].round(6).tolist()} in {seconds['recsys-eval']:.2f} s, {ratio:.0f} times; "
        f"ends differ by {errors[0]:.1f} and {errors[1]:.1f} standard errors of its resamples"
    )
    return {"users": N_USERS, "ends": ends.tolist(), "seconds": seconds, "errors": errors}


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("part", choices=("study", "peer"))
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    if options.part == "peer" and find_spec("recsys_eval") is None:
        parser.error("peer: recsys_eval is not installed; pip install recsys-eval")
    with threads(options.threads):
        figures = {"study": study, "peer": peer}[options.part]()
    keep(options.output, {"threads": options.threads} | figures, options.part)


if __name__ == "__main__":
    main()
