"""The names of the package, declared once; each is imported when it is first used."""

from .yaml import bundled, read

__all__ = ["bundled", "read"]
