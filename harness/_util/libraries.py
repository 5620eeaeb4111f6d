"""Imports at the first use of a name: large libraries, and modules of a package."""

import sys
from collections.abc import Callable
from importlib import import_module

from harness.errors import HarnessError

TYPE_CHECKING = False  # as type checkers know it; to import `typing` takes longer than all this

__all__ = ["arrow_csv", "pa", "pc", "pd", "pq", "psutil", "scipy"]

if TYPE_CHECKING:
    import pandas as pd
    import psutil
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq
    import scipy
    from pyarrow import csv as arrow_csv
else:

    class _Library:
        def __init__(self, name: str) -> None:
            self.name = name

        def __getattr__(self, attribute: str) -> object:
            try:
                module = import_module(self.name)
            except ImportError as error:  # as pyarrow 26 beside NumPy 1
                raise HarnessError(
                    f"{self.name}: it cannot be imported ({error}); run `pip install --upgrade "
                    f"numpy {self.name}`, or `harness doctor` to see what is installed"
                ) from error
            return getattr(module, attribute)

    pa, pd, pq = map(_Library, ("pyarrow", "pandas", "pyarrow.parquet"))
    pc, arrow_csv = map(_Library, ("pyarrow.compute", "pyarrow.csv"))
    psutil, scipy = map(_Library, ("psutil", "scipy"))


def members(package: str, homes: dict[str, tuple[str, ...]]) -> Callable[[str], object]:
    """Return the ``__getattr__`` of a package whose names are imported where they are first used.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    homes : dict of str to tuple of str
        By module of the package, the names that the package hands on from there.

    Examples
    --------
    >>> members("xml", {"sax": ("SAXException",)})("SAXException")
    <class 'xml.sax._exceptions.SAXException'>
    """

    def get(name: str) -> object:
        for home, names in homes.items():
            if name in names:
                value = getattr(import_module(f"{package}.{home}"), name)
                setattr(sys.modules[package], name, value)
                return value
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return get
