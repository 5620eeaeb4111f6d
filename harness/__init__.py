"""A config-driven ranking benchmark for scikit-surprise."""

__version__ = "0.1.0"
