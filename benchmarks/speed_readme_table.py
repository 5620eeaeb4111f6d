"""RMSE and MAE of ten algorithms by 5-fold cross-validation of MovieLens 100K.

Surprise's own ``cross_validate``, as for the table in its README, against one run of the harness.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import numpy as np
from speed_sides import Row, Table, arguments, movielens, plain_data, seconds, silence

from harness.algorithms import surprise

SEEDED = ("SVD", "SVDpp", "NMF", "CoClustering")
NEIGHBORS = ("KNNBasic", "KNNWithMeans", "KNNBaseline")
NAMES = (*SEEDED, *NEIGHBORS, "SlopeOne", "BaselineOnly", "NormalPredictor")


def params(name: str) -> dict[str, int]:
    return {"random_state": 0} if name in SEEDED else {}


def plain_script(copy: str | None) -> dict[str, tuple[float, float]]:
    data = plain_data(movielens(copy))
    folds = surprise.model_selection.KFold(n_splits=5, random_state=0)
    found = {}
    for name in NAMES:
        model = getattr(surprise, name)(**params(name))
        scores = surprise.model_selection.cross_validate(model, data, ["rmse", "mae"], folds)
        found[name] = (scores["test_rmse"].mean(), scores["test_mae"].mean())
    return found


def one_run(copy: str | None) -> dict[str, tuple[float, float]]:
    from harness.experiment import run

    done = run(
        {
            "dataset": {"name": "ml-100k", "path": copy} if copy else "ml-100k",
            "split": {"kind": "kfold", "n_splits": 5, "random_state": 0},
            "candidates": "rated",
            "algorithms": [{"name": name, "params": params(name)} for name in NAMES],
            "metrics": ["rmse", "mae"],
            "seed": 0,
        },
        results=None,
        fresh=True,
    )
    table = done.table.set_index("algorithm")
    return {name: (table.rmse[name], table.mae[name]) for name in NAMES}


def main() -> int:
    told = arguments((__doc__ or "").splitlines()[0], repeats=3)
    table = Table((__doc__ or "").splitlines()[0])
    copy = str(Path(told.copy).resolve()) if told.copy else None
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HARNESS_CACHE"] = folder
        found = one_run(copy)
        fast = seconds(lambda: one_run(copy), told.repeats)
        with silence():
            slow = seconds(lambda: found.update(expected=plain_script(copy)))
    expected = found.pop("expected")
    for name in set(NAMES) - {"NormalPredictor"}:  # which no seed reaches in Surprise
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-9, err_msg=name)
    table.add(Row("ten algorithms, five folds", slow, fast, 25, "RMSE and MAE equal to 1e-9"))
    return table.finish(told.output)


if __name__ == "__main__":
    sys.exit(main())
