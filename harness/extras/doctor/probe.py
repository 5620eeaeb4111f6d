"""Trials of `harness doctor` in a separate process: imports, the compiler, and one fit.

A broken library can end or hang a process, so `examination` starts this one and waits some seconds.
It prints a JSON object when a stage begins and when it ends.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from typing import Any

N_RATINGS = 10_000
"""Ratings of the fit: plain Surprise takes some tenths of a second for it."""
N_EPOCHS = 10
_fitted: dict[str, Any] = {}
"""The training set and the plain model, of one stage for the next."""


def main() -> None:
    """Go through all stages; an error ends the process."""
    warnings.simplefilter("ignore")
    for stage in (
        libraries_imported,
        surprise_imported,
        numba_compiles,
        loops_kept,
        plain_fit,
        accelerated_fit,
    ):
        print(json.dumps({"stage": stage.__name__, "state": "begun"}), flush=True)
        try:
            found = stage()
        except Exception as error:
            reason = f"{type(error).__name__}: {error}".splitlines()[0]
            print(json.dumps({"stage": stage.__name__, "state": "failed", "reason": reason}))
            sys.exit(1)
        print(json.dumps({"stage": stage.__name__, "state": "done", **found}), flush=True)


def libraries_imported() -> dict[str, Any]:
    """Import the libraries with compiled parts: one may refuse the version of another."""
    import numpy as np
    import pandas as pd
    import pyarrow as pa
    import scipy

    return {each.__name__: each.__version__ for each in (np, scipy, pd, pa)}


def surprise_imported() -> dict[str, Any]:
    """Import Surprise as this package does."""
    from harness.algorithms import surprise

    return {"version": surprise.__version__, "path": str(surprise.__path__[0])}


def numba_compiles() -> dict[str, Any]:
    """Compile a function and call it."""
    begun = time.perf_counter()
    import numba

    @numba.njit
    def total(values):  # type: ignore[no-untyped-def]
        result = 0.0
        for value in values:
            result += value
        return result

    import numpy as np

    found = total(np.arange(10.0))
    if found != 45.0:
        raise ValueError(f"a compiled sum of 0 to 9 is {found}")
    is_compiled = bool(getattr(total, "signatures", ()))
    return {"is_compiled": is_compiled, "seconds": time.perf_counter() - begun}


def loops_kept() -> dict[str, Any]:
    """Find where compiled loops are kept."""
    from harness._util import kernels

    folder = kernels.folder_of_compiled()
    return {
        "folder": None if folder is None else str(folder),
        "files": 0 if folder is None else sum(1 for _ in folder.rglob("*.nbi")),
    }


def plain_fit() -> dict[str, Any]:
    """Fit SVD to made-up ratings, in plain Surprise."""
    import numpy as np
    import pandas as pd

    from harness.algorithms import surprise

    # Without loops of this package, which would be compiled first.
    rng = np.random.default_rng(0)
    pairs = rng.choice(300 * 400, N_RATINGS, replace=False)
    ratings = rng.integers(1, 6, N_RATINGS)
    frame = pd.DataFrame({"user": pairs // 400, "item": pairs % 400, "rating": ratings})
    data = surprise.Dataset.load_from_df(frame, surprise.Reader(rating_scale=(1, 5)))
    _fitted["trainset"] = data.build_full_trainset()
    seconds, _fitted["plain"] = _fit()
    return {"ratings": N_RATINGS, "epochs": N_EPOCHS, "seconds": seconds}


def accelerated_fit() -> dict[str, Any]:
    """Fit it again, accelerated: once with what has to be loaded or compiled, and once without."""
    import harness

    with harness.patched_surprise(strict=True):
        first, _ = _fit()
        seconds, model = _fit()
        plain = _fitted["plain"]
        is_equal = bool((plain.pu == model.pu).all() and (plain.qi == model.qi).all())
    return {"seconds": seconds, "first_seconds": first, "is_equal": is_equal}


def _fit() -> tuple[float, Any]:
    from harness.algorithms import surprise

    model = surprise.SVD(n_epochs=N_EPOCHS, random_state=0)
    begun = time.perf_counter()
    model.fit(_fitted["trainset"])
    return time.perf_counter() - begun, model


if __name__ == "__main__":
    main()
