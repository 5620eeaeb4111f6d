"""Analyses of the scored cells of a run, each by itself and only if the config asks for it."""

from __future__ import annotations
