"""Evidence that code of somebody else's reads and cannot change."""

from __future__ import annotations

from copy import copy
from typing import Any, TypeVar, cast

import numpy as np

Evidence = TypeVar("Evidence")


def locked(evidence: Evidence) -> Evidence:
    """Return an array, or an object of arrays, as views that code of somebody else's cannot change.

    >>> from harness.metrics import Rankings
    >>> lists = locked(Rankings([0, 1], [3.0], [1], [1], [1], [5]))
    >>> lists.n_ranked[0] = 9
    Traceback (most recent call last):
    ValueError: assignment destination is read-only
    """
    if isinstance(evidence, np.ndarray):
        view = evidence.view()
        view.flags.writeable = False
        return cast("Evidence", view)
    if isinstance(evidence, tuple):
        return cast("Evidence", tuple(map(locked, evidence)))
    if type(evidence).__module__.partition(".")[0] != __name__.partition(".")[0]:
        return evidence
    views: Any = copy(evidence)
    for name, value in vars(evidence).items():
        object.__setattr__(views, name, locked(value))
    return cast("Evidence", views)
