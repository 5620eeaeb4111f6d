"""Experiments as files: every key is declared once, all faults are reported at once."""

from __future__ import annotations
