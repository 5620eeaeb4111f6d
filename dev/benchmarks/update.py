"""What `harness.update` loses and saves against a fit on all ratings, by epochs.

    python dev/benchmarks/update.py [--output figures/update.json]

Of the bundled ratings a tenth is test; a model is fitted to eight tenths and updated with the last
tenth, or fitted to both. RMSE of the test ratings and CPU seconds with one thread, means of several
random divisions.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pandas as pd
import surprise
from shared import command_line, keep
from timing import threads

import harness

ALGORITHMS = (surprise.SVD, surprise.SVDpp, surprise.NMF)
EPOCHS = (1, 2, 5, 6, 10, 20)
N_DRAWS = 5
COLUMNS = ["user", "item", "rating"]


def main() -> None:
    given = command_line(__doc__).parse_args()
    with threads(1):
        rows = [row_of(kind) for kind in ALGORITHMS]
    keep(given.output, {"threads": 1, "draws": N_DRAWS, "rows": rows})


def row_of(kind: type[surprise.AlgoBase]) -> dict[str, Any]:
    """Return the means of one algorithm, and print them."""
    data = harness.load("bundled")
    frame = data.to_frame()[COLUMNS]
    reader = surprise.Reader(rating_scale=data.scale)
    measured: dict[str, list[float]] = {}

    def fitted(rows: pd.DataFrame) -> surprise.AlgoBase:
        trainset = surprise.Dataset.load_from_df(rows, reader).build_full_trainset()
        return harness.fit(kind(random_state=0), trainset)

    def note(name: str, make: Any, test: pd.DataFrame) -> Any:
        begun = time.process_time()
        model = make()
        measured.setdefault(f"{name} CPU", []).append(time.process_time() - begun)
        errors = harness.estimate(model, test) - test["rating"].to_numpy()
        measured.setdefault(f"{name} rmse", []).append(float(np.sqrt(np.mean(errors**2))))
        return model

    for draw in range(N_DRAWS + 1):
        if draw == 1:  # the first compiled the loops
            measured.clear()
        order = np.random.default_rng(draw).permutation(len(frame))
        tenth = len(frame) // 10
        test, new, old = (frame.iloc[rows] for rows in np.split(order, [tenth, 2 * tenth]))
        before = note("before", lambda old=old: fitted(old), test)
        note("all", lambda old=old, new=new: fitted(pd.concat([old, new])), test)
        for epochs in EPOCHS:
            note(
                f"{epochs} epochs",
                lambda before=before, new=new, n=epochs: harness.update(before, new, epochs=n),
                test,
            )
    means = {name: float(np.mean(values)) for name, values in measured.items()}
    print(kind.__name__, {name: round(value, 4) for name, value in means.items()}, flush=True)
    return {"algorithm": kind.__name__, "n_epochs": kind().n_epochs} | means


if __name__ == "__main__":
    main()
