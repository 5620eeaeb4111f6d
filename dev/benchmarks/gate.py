"""How often a gate calls equal models worse, what it finds, and what it costs.

Run it with ``python dev/benchmarks/gate.py PART``:

- ``study``: by simulation, how often a candidate is called worse that is as good as what is in use,
  or worse by exactly the tolerance; and how often it is called worse where it is worse by the drop
  that the gate says it finds with a power of 80%. Users, with the scores of two rows, are drawn
  from a run in ``results/``;
- ``peer``: the interval and the seconds beside the gate of recsys-eval, on the same scores of
  20,000 users; ``pip install recsys-eval`` first.
"""

from __future__ import annotations

import time
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd
from shared import HERE, command_line, keep
from timing import threads

from harness.comparison.gate import gate_scores
from harness.results import read_run

RUN, METRIC, ROWS = "seeds-ml-100k", "ndcg@10", ("SVD 50", "BaselineOnly")
SIZES = (100, 943)
N_DRAWS = 500
N_USERS, RESAMPLES = 20_000, 2_000
"""Of the comparison with recsys-eval: its default number of resamples."""


def scores() -> tuple[pd.Series, pd.Series]:
    """Return the scores of the users of a real run in two rows."""
    run = read_run(HERE.parents[1] / "results" / RUN)
    users = run.users.groupby(["algorithm", "user"])[METRIC].mean()
    return users[ROWS[0]], users[ROWS[1]]


def study() -> dict[str, Any]:
    """Return the shares of draws of users in which the candidate is called worse."""
    new, old = scores()
    both = pd.concat([new, old], axis=1, keys=["new", "old"]).dropna()
    differences = (both["new"] - both["old"]).to_numpy()
    centred = differences - differences.mean()
    rng, rows = np.random.default_rng(7), []
    for n_users in SIZES:
        drop = gate_scores(
            pd.Series(both["old"].to_numpy() + centred), both["old"].reset_index(drop=True),
            metric=METRIC,
        ).detectable * (len(both) / n_users) ** 0.5  # fmt: skip
        for tolerance, worse_by in ((0.0, 0.0), (0.01, 0.01), (0.0, drop), (0.01, 0.01 + drop)):
            n_worse = 0
            for _ in range(N_DRAWS):
                drawn = rng.integers(0, len(both), n_users)
                base = pd.Series(both["old"].to_numpy()[drawn])
                candidate = base + centred[drawn] - worse_by
                answer = gate_scores(candidate, base, metric=METRIC, tolerance=tolerance)
                n_worse += answer.verdict == "worse"
            row = {"users": n_users, "tolerance": tolerance, "worse_by": worse_by}
            rows.append(row | {"called_worse": n_worse / N_DRAWS})
            print(
                f"{n_users} users, tolerance {tolerance}, worse by {worse_by:.4f}: called worse in "
                f"{n_worse / N_DRAWS:.1%} of {N_DRAWS} draws"
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
    with threads(options.threads):
        figures = {"study": study, "peer": peer}[options.part]()
    keep(options.output, {"threads": options.threads} | figures, options.part)


if __name__ == "__main__":
    main()
