"""How libraries and documents compute their metrics, as labels, from ``conventions.toml``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from harness.metrics.labels import Metric, parse
from harness.metrics.parameters import number


@dataclass(frozen=True)
class Convention:
    """How one library or source computes its metrics.

    Parameters
    ----------
    name : str
    source : str
        The library with the version that was compared, or the source.
    labels : dict of str to str
        For each role, such as ``ndcg`` or ``ap``, the label without its rank. ``{t}`` stands for
        the threshold of relevance, ``{bt}`` for the same in brackets, ``{below}`` for one less.
    threshold : float or None
        The library's own threshold of relevance; None when anything above 0 is relevant.
    notes : tuple of str
        What labels cannot express.

    Examples
    --------
    >>> rectools = conventions()["rectools"]
    >>> str(rectools.metrics(k=10, threshold=4)["ndcg"])
    'ndcg(gain=binary(4), ideal=full, ties=first)@10'
    """

    name: str
    source: str
    labels: dict[str, str]
    threshold: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def roles(self) -> tuple[str, ...]:
        """The metrics that the convention defines."""
        return tuple(self.labels)

    def metrics(self, k: int = 10, threshold: float | None = None) -> dict[str, Metric]:
        """Return the convention's metrics at one rank, by role; see `metric`."""
        return {role: self.metric(role, k, threshold) for role in self.labels}

    def metric(self, role: str, k: int = 10, threshold: float | None = None) -> Metric:
        """Return the convention's metric of one role at one rank.

        Parameters
        ----------
        role : str
            As ``ndcg``, one of `roles`.
        k : int
            Cut-off rank; metrics that the library computes over whole lists ignore it.
        threshold : float, optional
            Least relevance of a relevant item for binary metrics; by default the library's own.

        Returns
        -------
        Metric
        """
        least = self.threshold if threshold is None else threshold
        fill = {"t": "positive", "bt": "", "below": "0"}
        if least is not None:
            fill = {"t": number(least), "bt": f"({number(least)})", "below": number(least - 1)}
        label = self.labels[role].format(**fill)
        return parse(label.removesuffix("@") if label.endswith("@") else f"{label}@{k}")


def conventions() -> dict[str, Convention]:
    """Return every convention by name.

    Examples
    --------
    >>> sorted(conventions())[:4]
    ['bellei-2017', 'cornac', 'elliot', 'implicit']
    """
    return dict(_read_conventions())


@cache
def _read_conventions() -> dict[str, Convention]:
    text = Path(__file__).with_name("conventions.toml").read_text(encoding="utf-8")
    return {
        name: Convention(name, **entry | {"notes": tuple(entry.get("notes", ()))})
        for name, entry in tomllib.loads(text).items()
    }
