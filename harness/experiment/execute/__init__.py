"""Cells computed in this process, in child processes that may die without harm, or on a cluster."""

from __future__ import annotations
