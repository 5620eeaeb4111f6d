"""Notes: facts that change how numbers are read."""

from harness.notes.note import Note

__all__ = ["Note"]
