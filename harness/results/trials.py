"""The record of a trial: what it scored is among its facts, in place of every user's lists."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from harness.metrics import Pairs, Rankings


@cache
def no_lists() -> dict[str, Any]:
    """Return the parts of a record without users."""
    lists = Rankings([0], [], [], [], [], [])
    return {"users": np.empty(0, np.int32), "rankings": lists, "pairs": Pairs([0], [], [])}
