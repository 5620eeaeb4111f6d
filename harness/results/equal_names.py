"""Names that are equal, told apart by the settings of what they stand for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

LONGEST_VALUE = 40
"""Characters of a setting that distinguishes two names."""


def told_apart(names: Sequence[str], settings: Sequence[Mapping[str, object]]) -> list[str]:
    """Return names marked as `distinct_names` says."""
    shown = list(names)
    for group in _equal(shown):
        paths = [str(settings[i].get("path", "")).replace("\\", "/").split("/") for i in group]
        n_paths = len({*map(tuple, paths)})
        if n_paths > 1:
            lengths = range(1, max(map(len, paths)) + 1)
            ends = ([path[-n:] for path in paths] for n in lengths)
            distinct = next(end for end in ends if len({*map(tuple, end)}) == n_paths)
            for i, end in zip(group, distinct, strict=True):
                shown[i] = "/".join(end) or shown[i]
    for group in _equal(shown):
        flat = {i: {k: value[:LONGEST_VALUE] for k, value in flattened(settings[i])} for i in group}
        keys = dict.fromkeys(key for values in flat.values() for key in values if key != "path")
        differing = [key for key in keys if len({values.get(key) for values in flat.values()}) > 1]
        for i, values in flat.items():
            marks = [f"{k.rpartition('.')[2]} {values[k]}" for k in differing if k in values]
            shown[i] += f" ({', '.join(marks)})" if marks else ""
    unique: list[str] = []
    for name in shown:
        number, free = 1, name
        while free in unique or (number > 1 and free in shown):
            number += 1
            free = f"{name} ({number})"
        unique.append(free)
    return unique


def _equal(names: Sequence[str]) -> list[list[int]]:
    """Return the positions of names that occur several times, by name."""
    positions: dict[str, list[int]] = {}
    for position, name in enumerate(names):
        positions.setdefault(name, []).append(position)
    return [group for group in positions.values() if len(group) > 1]


def flattened(settings: Mapping[str, object], start: str = "") -> Iterator[tuple[str, str]]:
    """Yield the dotted names of nested settings, and their values as text."""
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from flattened(value, f"{start}{key}.")
        elif value is not None:
            yield f"{start}{key}", str(value).lower() if isinstance(value, bool) else str(value)
