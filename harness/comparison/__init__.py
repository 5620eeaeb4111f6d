"""Rows compared: differences and letters, several runs, several data sets, the best row."""

from __future__ import annotations
