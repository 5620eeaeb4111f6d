"""Large libraries, imported where a name of them is first used: most commands do without."""

from importlib import import_module
from typing import TYPE_CHECKING

__all__ = ["pa", "pd", "pq", "psutil", "scipy"]

if TYPE_CHECKING:
    import pandas as pd
    import psutil
    import pyarrow as pa
    import pyarrow.parquet as pq
    import scipy
else:

    class _Library:
        def __init__(self, name: str) -> None:
            self.name = name

        def __getattr__(self, attribute: str) -> object:
            return getattr(import_module(self.name), attribute)

    pa, pd, pq = map(_Library, ("pyarrow", "pandas", "pyarrow.parquet"))
    psutil, scipy = map(_Library, ("psutil", "scipy"))
