"""Large libraries, each imported when a name of it is first used."""

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
