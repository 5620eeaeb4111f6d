"""Real Surprise models, fitted and scored in compiled loops, with the same numbers.

Two functions dispatch on the type of a Surprise model. `fit` sets on a model the attributes that
``model.fit`` sets, so that it can be dumped, loaded and used like any other; `estimate` and
`catalogue` give for whole blocks of users and items what ``model.predict`` gives for each pair.
Where a model is not one of Surprise's own, or does something of its own, both call it.

`memory` estimates what a fit needs. Numba is imported with the first of the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.algorithms.acceleration.capacity import memory

if TYPE_CHECKING:
    from harness.algorithms.acceleration.dispatch import (
        Path,
        catalogue,
        estimate,
        fit,
        is_preference,
        scoring_path,
    )

__all__ = ["Path", "catalogue", "estimate", "fit", "is_preference", "memory", "scoring_path"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from harness.algorithms.acceleration import dispatch

        return getattr(dispatch, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
