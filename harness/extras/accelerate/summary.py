"""What the patch has done so far, in one line."""

from __future__ import annotations

from harness.errors import listed
from harness.extras.accelerate.calls import ACCELERATED, SURPRISE, state

NAMED = 4
"""Kinds of calls that the summary names."""
REASONS_NAMED = 2
"""Reasons that a sentence on a script without an accelerated call names."""


def summary() -> str:
    """Return in one line which calls were accelerated since Surprise was patched, and which not.

    >>> state.counts.clear()
    >>> summary()
    'no call of Surprise was accelerated'
    """
    ways: dict[str, dict[str, tuple[int, float]]] = {ACCELERATED: {}, SURPRISE: {}}
    for (call, way, _), counted in state.counts.items():
        calls, seconds = ways[way].get(call, (0, 0.0))
        ways[way][call] = calls + counted.calls, seconds + counted.seconds
    fast, slow = (_listed(ways[way]) for way in (ACCELERATED, SURPRISE))
    fast = f"accelerated {fast}" if fast else "no call of Surprise was accelerated"
    return f"{fast}; Surprise's own code answered {slow}" if slow else fast


def nothing_accelerated() -> str:
    """Return why no call was accelerated since Surprise was patched; empty if one was.

    Calls in processes of joblib are not known here: where some ran, the answer is empty.

    >>> state.begin_to_count()
    >>> nothing_accelerated()
    'no call of Surprise was accelerated: Surprise is not patched'
    """
    ways = {way for _, way, _ in state.counts}
    if ACCELERATED in ways or state.runs_elsewhere:
        return ""
    if not state.counts:
        reason = "the script calls nothing that the patch replaces"
        if not state.is_patched:
            reason = "Surprise is not patched"
        return f"no call of Surprise was accelerated: {reason}"
    seconds: dict[str, float] = {}
    for (_, _, reason), counted in state.counts.items():
        seconds[reason] = seconds.get(reason, 0.0) + counted.seconds
    reasons = sorted(filter(None, seconds), key=lambda reason: -seconds[reason])
    return f"{summary()}: {listed(reasons, REASONS_NAMED)}"


def _listed(calls: dict[str, tuple[int, float]]) -> str:
    """Return how many calls there were, and the names of those that took the most seconds."""
    names = sorted(calls, key=lambda call: -calls[call][1])
    total = sum(n for n, _ in calls.values())
    if not total:
        return ""
    shown = ", ".join(names[:NAMED]) + (" and others" if len(names) > NAMED else "")
    return f"{total:,} call{'s' if total > 1 else ''} ({shown})"
