"""What the report knows of algorithms: `algorithms.json`, written from their registry.

A report is made from results alone, so it reads this file in place of the registry, which would
import Surprise; ``tools/build_reference.py`` writes it.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from pydantic import BaseModel, TypeAdapter

from harness.config.algorithm import folded
from harness.config.spaces import SearchSpace

__all__ = ["KnownAlgorithm", "known_algorithm", "known_packages"]

FILE = Path(__file__).with_name("assets") / "algorithms.json"


class KnownAlgorithm(BaseModel):
    """The entry of one algorithm, as `harness.algorithms.algorithm.Algorithm` describes it."""

    kind: str
    citation: str
    package: str
    style: tuple[str, str, str, bool] | None
    space: SearchSpace


@cache
def _known() -> dict[str, KnownAlgorithm]:
    entries = TypeAdapter(dict[str, KnownAlgorithm]).validate_json(FILE.read_bytes())
    return {folded(name): entry for name, entry in entries.items()}


def known_algorithm(name: str) -> KnownAlgorithm | None:
    """Return the entry of a name, however it is spelled; None for any other text."""
    return _known().get(folded(name))


def known_packages() -> list[str]:
    """Return the packages, beside Surprise, that fit algorithms."""
    return [entry.package for entry in _known().values() if entry.package]
