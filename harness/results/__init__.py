"""Files of runs on disk: cached cells, and runs in the results folder."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
