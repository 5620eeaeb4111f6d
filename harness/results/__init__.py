"""What runs leave on disk: finished cells in the cache, runs in the results folder."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
