"""Ratings filtered, and split into training and test, seeded, hashed and named."""

import lazy_loader

TEST_SHARE = 0.2
"""The proportion of the ratings in the test set of a random split, unless a config says another."""

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
