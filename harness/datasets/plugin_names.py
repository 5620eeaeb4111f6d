"""Names of data sets and of readers: which there are, and what an unknown one may mean."""

from __future__ import annotations

from pathlib import PurePath

from harness import plugins
from harness.datasets.catalogue import ALIASES
from harness.errors import is_url, masked, nearest


def dataset_names() -> list[str]:
    """Return every name of a data set, those of this package first."""
    builtin = sorted({*plugins.builtin_names("datasets"), *ALIASES})
    return [*builtin, *(name for name in plugins.names("datasets") if name not in builtin)]


def names_of(kind: str) -> list[str]:
    """Return every name of a kind, ``datasets`` or ``readers``."""
    return dataset_names() if kind == "datasets" else plugins.names(kind)


def checked_name(kind: str, name: str) -> str:
    """Return a name that something has, or ``module:object``; else raise `ValueError`."""
    if is_url(name):
        raise ValueError(f"found the address {masked(name)!r}, not a name; write it as `path: …`")
    if name in ALIASES or plugins.recorded(kind, name) is not None or ":" in name:
        return name
    names = names_of(kind)
    if name in names:
        return name
    ending = PurePath(name).suffix
    if kind == "datasets" and ending and nearest(name, names) is None:
        raise ValueError(
            f"found {name!r}, and no reader of {ending!r} files is installed; install the "
            f"package that has one, or write `path: {name}` where it is text"
        )
    raise ValueError(f"found {name!r}; {plugins.absent(kind, name, names)}")
