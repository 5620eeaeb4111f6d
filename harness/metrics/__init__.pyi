"""The names of the package, declared once; each is imported when it is first used."""

from .arrays import Pairs, Rankings, Scores
from .conventions import Convention, conventions
from .definition import Definition
from .exposure import Exposure
from .labels import Metric, describe, parse, parse_many
from .parameters import Value, number
from .scoring import check_relevance, score

__all__ = [
    "Convention",
    "Definition",
    "Exposure",
    "Metric",
    "Pairs",
    "Rankings",
    "Scores",
    "Value",
    "check_relevance",
    "conventions",
    "describe",
    "number",
    "parse",
    "parse_many",
    "score",
]
