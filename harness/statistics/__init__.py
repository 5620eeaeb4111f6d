"""Significance of differences: paired tests, corrections, intervals and letters."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
