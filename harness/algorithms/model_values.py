"""Values of a model as JSON and arrays, for files without pickle."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.algorithms.compiled.matrix import LazyMatrix
from harness.errors import AlgorithmError

Array = NDArray[Any]
COMPUTED = {"computed": "from the training set"}
"""Stands for a matrix that a model computes row by row, or from counts, without learning."""


def packed(value: Any, name: str, arrays: dict[str, Array], owner: str) -> Any:
    """Return a value as JSON; what is an array or made of NumPy's types is put among `arrays`.

    The name of an array is that of the value, `name`; messages say whose it is by `owner`.
    """
    if isinstance(value, dict):
        if odd := [key for key in value if not isinstance(key, str)]:
            raise AlgorithmError(f"{owner}: {_shown(name)} has the key {odd[0]!r}; use text")
        members = {key: packed(v, f"{name}.{key}", arrays, owner) for key, v in value.items()}
        # The header is sorted, and the order of a dict may matter to its owner.
        return {"dict": members} | ({"order": [*value]} if [*value] != sorted(value) else {})
    if isinstance(value, np.random.RandomState):
        kind, keys, *rest = value.get_state(legacy=True)
        name = _put(np.asarray(keys), name, arrays)
        return {"generator": name, "state": [kind, *rest]}
    if isinstance(value, list) and value and isinstance(value[0], np.generic):
        return {"list": _put(np.array(value), name, arrays)}
    if isinstance(value, np.ndarray | np.generic) and not np.asarray(value).dtype.hasobject:
        return {"array": _put(np.asarray(value), name, arrays)}
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, list | tuple):
        elements = [packed(v, f"{name}.{place}", arrays, owner) for place, v in enumerate(value)]
        return {"elements": elements, "is_tuple": isinstance(value, tuple)}
    kind = "ndarray of objects" if isinstance(value, np.ndarray) else type(value).__name__
    raise AlgorithmError(
        f"{owner}: {_shown(name)} is a {kind}, which cannot be saved; "
        "arrays of numbers or text, plain values, and lists and dicts of these can"
    )


def unpacked(value: Any, arrays: dict[str, Array]) -> Any:
    """Return the value that `packed` was given."""
    if not isinstance(value, dict):
        return value
    if "dict" in value:
        members = value["dict"]
        names = value.get("order") or members
        return {name: unpacked(members[name], arrays) for name in names}
    if value == COMPUTED:
        return value
    if "generator" in value:
        kind, *rest = value["state"]
        generator = np.random.RandomState()
        generator.set_state((kind, arrays[value["generator"]], *rest))
        return generator
    if "list" in value:
        return list(arrays[value["list"]])
    if "elements" in value:
        elements = [unpacked(element, arrays) for element in value["elements"]]
        return tuple(elements) if value["is_tuple"] else elements
    return arrays[value["array"]][()]


def is_computed(value: Any) -> bool:
    """Return whether a value is a matrix that is computed again: by rows, or a sparse one."""
    return isinstance(value, LazyMatrix) or hasattr(value, "indptr")


def _put(array: Array, name: str, arrays: dict[str, Array]) -> str:
    """Put an array among the others by a name that none has, and return the name."""
    while name in arrays:  # as of {"a.b": x, "a": {"b": y}}
        name += "'"
    arrays[name] = array
    return name


def _shown(name: str) -> str:
    return name.removeprefix("model.")
