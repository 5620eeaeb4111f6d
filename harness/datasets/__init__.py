"""Data sets: turn a name, a file or an object into `Ratings` in columns."""

import lazy_loader

from harness._util.files import cache_folder

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__all__ += [cache_folder.__name__]
