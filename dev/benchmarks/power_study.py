"""Whether runs reach the power that ``harness power`` promises, on resampled real ratings.

Run it with ``python dev/benchmarks/power_study.py``; it takes a few minutes, prints a table and
writes ``figures/power.json``. The scores are NDCG@10 of six algorithms over sixty splits of the
bundled ratings. For each size, a design and a pair of algorithms:

- the pair's differences less their mean are the population; its variances give the smallest
  difference that a design finds with a power of 80% (``promised by the population``);
- or the variances of one run of that design, resampled, give it, as the command does
  (``promised by a run``);
- users, and splits, are drawn anew, the promised difference is added, and the test of the design is
  made. The share of draws in which it rejects is the power reached.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import combinations

import numpy as np
from shared import HERE, command_line, keep
from statistics_study import scores_by_seed

from harness.statistics import randomisation
from harness.statistics.sample_size import Spread, detectable, spread
from harness.statistics.variance import over_users, two_way

POWER = 0.8
SIZES = ((100, 5), (400, 5), (1_600, 10))
"""Users and seeds."""
N_SPLITS = 60


def rejects_t(values: np.ndarray, level: float) -> bool:
    """Return whether the paired t-test over users rejects; values of shape (n_users, 1)."""
    return bool(over_users(values).p_values(values.mean(axis=0))[0] <= level)


def rejects_flips(values: np.ndarray, level: float) -> bool:
    """Return whether the randomisation test over users rejects."""
    return bool(randomisation(values, n_resamples=2_000, seed=0)[0] <= level)


def rejects_two_way(values: np.ndarray, level: float) -> bool:
    """Return whether the test over users and seeds rejects; values of shape (n_users, n_seeds)."""
    means = values.mean(axis=1)[:, None]
    return bool(two_way(means, values.T[:, :, None]).p_values(means.mean(axis=0))[0] <= level)


def drawn(table: np.ndarray, n_users: int, n_seeds: int, rng: np.random.Generator) -> np.ndarray:
    """Return differences of users and splits drawn with replacement."""
    users = rng.integers(len(table), size=(n_users, 1))
    return table[users, rng.integers(table.shape[1], size=n_seeds)]


def known_spread(table: np.ndarray) -> Spread:
    """Return the variances of a population of users and splits, which are all that there are."""
    users, splits = table.mean(axis=1), table.mean(axis=0)
    rest = table - users[:, None] - splits + table.mean()
    return Spread(float(users.var()), float(splits.var()), float((rest**2).mean()))


def power_reached(
    populations: list[np.ndarray],
    size: tuple[int, int],
    rejects: Callable[[np.ndarray, float], bool],
    level: float,
    n_draws: int,
    rng: np.random.Generator,
    *,
    by_run: bool,
) -> float:
    """Return the share of draws in which a test finds the difference that was promised."""
    n_users, n_seeds = size
    over_seeds = n_seeds if n_seeds > 1 else None
    spreads = [known_spread(table if over_seeds else table[:, :1]) for table in populations]
    promised = [detectable(entry, n_users, over_seeds, level, POWER) for entry in spreads]
    n_found = 0
    for draw in range(n_draws):
        number = draw % len(populations)
        table = populations[number] if over_seeds else populations[number][:, :1]
        difference = promised[number]
        if by_run:
            variances = spread(drawn(table, n_users, n_seeds, rng))
            difference = detectable(variances, n_users, over_seeds, level, POWER)
        n_found += rejects(drawn(table, n_users, n_seeds, rng) + difference, level)
    return n_found / n_draws


def centred(dataset: str) -> list[np.ndarray]:
    """Return the differences of each pair less their mean, shape (n_users, N_SPLITS)."""
    scores = {name: table[..., 0] for name, table in scores_by_seed(dataset, N_SPLITS, 1).items()}
    tables = [scores[one] - scores[other] for one, other in combinations(scores, 2)]
    return [table - table.mean() for table in tables]


def study(dataset: str, n_draws: int) -> dict[str, object]:
    """Return the power reached, by test, size, level and what promised it."""
    begun = time.perf_counter()
    populations = centred(dataset)
    first_split = [table - table[:, :1].mean() for table in populations]
    rng, rows = np.random.default_rng(7), []
    print("| test | users | seeds | level | promised by the population | promised by a run |")
    print("|---|---:|---:|---:|---:|---:|")
    tests = {"t": rejects_t, "randomisation": rejects_flips, "two-way": rejects_two_way}
    for test, rejects in tests.items():
        for n_users, several in SIZES:
            size = n_users, several if test == "two-way" else 1
            for level in (0.05,) if test == "randomisation" else (0.05, 0.005):
                tables = populations if test == "two-way" else first_split
                shares = [
                    power_reached(tables, size, rejects, level, n_draws, rng, by_run=by_run)
                    for by_run in (False, True)
                ]
                row = {"test": test, "users": size[0], "seeds": size[1], "level": level}
                row |= dict(zip(("population", "run"), shares, strict=True))
                rows.append(row)
                shown = " | ".join(f"{100 * share:.1f}%" for share in shares)
                print(f"| {test} | {size[0]} | {size[1]} | {level} | {shown} |", flush=True)
    seconds = round(time.perf_counter() - begun)
    return {"dataset": dataset, "draws": n_draws, "power": POWER, "seconds": seconds, "rows": rows}


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--draws", type=int, default=3_000, help="of each row")
    parser.add_argument("--dataset", default="bundled")
    parser.set_defaults(output=HERE / "figures/power.json")
    options = parser.parse_args()
    keep(options.output, study(options.dataset, options.draws))


if __name__ == "__main__":
    main()
