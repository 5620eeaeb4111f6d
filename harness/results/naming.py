"""Display names that are unique: equal names are marked by the settings in which they differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

__all__ = ["distinct_names"]

LONGEST_VALUE = 40


def distinct_names(names: Sequence[str], settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return names of which no two are equal.

    Parameters
    ----------
    names : sequence of str
    settings : sequence of mapping
        For each name what it stands for, without defaults; mappings may be nested. A ``path``
        replaces the name by the shortest end of the path that distinguishes it from the others.

    Examples
    --------
    >>> distinct_names(["ratings", "ratings"], [{"path": "a/r.csv"}, {"path": "b/r.csv"}])
    ['a/r.csv', 'b/r.csv']
    >>> distinct_names(["holdout 25%"] * 2, [{}, {"random_state": 1}])
    ['holdout 25%', 'holdout 25% (random_state 1)']
    >>> distinct_names(["x", "x", "y"], [{}, {}, {}])
    ['x', 'x (2)', 'y']
    """
    shown = list(names)
    for group in _equal(shown):
        paths = {i: _parts(settings[i]) for i in group}
        if len(set(paths.values())) > 1:
            for i, parts in paths.items():
                shown[i] = _end(parts, set(paths.values())) or shown[i]
    for group in _equal(shown):
        flat = {i: dict(_flattened(settings[i])) for i in group}
        keys = dict.fromkeys(key for each in flat.values() for key in each if key != "path")
        differing = [key for key in keys if len({each.get(key) for each in flat.values()}) > 1]
        for i, values in flat.items():
            marks = [f"{_last(key)} {values[key]}" for key in differing if key in values]
            shown[i] += f" ({', '.join(marks)})" if marks else ""
    return _numbered(shown)


def _equal(names: Sequence[str]) -> list[list[int]]:
    """Return the positions of names that occur several times, by name."""
    places: dict[str, list[int]] = {}
    for i, name in enumerate(names):
        places.setdefault(name, []).append(i)
    return [group for group in places.values() if len(group) > 1]


def _last(key: str) -> str:
    return key.rpartition(".")[2]


def _parts(settings: Mapping[str, Any]) -> tuple[str, ...]:
    path = settings.get("path")
    return tuple(str(path).replace("\\", "/").split("/")) if path else ()


def _end(path: tuple[str, ...], paths: set[tuple[str, ...]]) -> str:
    """Return the shortest end of a path that no other path has."""
    for n in range(1, len(path)):
        if all(other == path or other[-n:] != path[-n:] for other in paths):
            return "/".join(path[-n:])
    return "/".join(path)


def _flattened(settings: Mapping[str, Any], start: str = "") -> Iterator[tuple[str, str]]:
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flattened(value, f"{start}{key}.")
        elif value is not None:
            text = str(value).lower() if isinstance(value, bool) else str(value)
            yield f"{start}{key}", text[:LONGEST_VALUE]


def _numbered(names: Sequence[str]) -> list[str]:
    """Return names with a number after each that occurred before."""
    found: list[str] = []
    for name in names:
        number, unique = 1, name
        while unique in found or (number > 1 and unique in names):
            number += 1
            unique = f"{name} ({number})"
        found.append(unique)
    return found
