"""What works beside the main path, each part imported by name alone."""

from __future__ import annotations
