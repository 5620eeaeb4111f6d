"""The names of the package, declared once; each is imported when it is first used."""

import pathlib

from .catalogue import available
from .loading import load, load_under
from .ratings import Ratings

def cache_folder() -> pathlib.Path: ...

__all__ = ["Ratings", "available", "cache_folder", "load", "load_under"]
