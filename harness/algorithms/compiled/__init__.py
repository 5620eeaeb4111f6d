"""Compiled implementations of Surprise's algorithms: the same attributes and estimates, faster."""

from __future__ import annotations
