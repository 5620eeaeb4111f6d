"""The design of a table: which seeds its rows have in common, and how they are nested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from harness import statistics
from harness.config.experiment import Claim, Draw
from harness.results.record import AnyCell
from harness.statistics import PairedTest

if TYPE_CHECKING:
    import pandas as pd

LEVELS = ("split", "search", "model")


@dataclass(frozen=True)
class Design:
    """The seeds that every compared row of a table has.

    The seeds of the outermost level of which there are two are independent: they are the
    observations of a test over seeds, and what varies within them is averaged first.
    """

    draws: dict[int, Draw]
    level: str
    """The outermost level with two seeds."""
    varied: list[str]
    """What differs between seeds."""
    fingerprints: list[str]
    """Of the splits."""

    @classmethod
    def of(cls, cells: Sequence[AnyCell], draws: Mapping[int, Draw]) -> Design:
        """Return the design of the cells of a table; a seed without a draw is one for all."""
        by_row: dict[str, set[tuple[int, int]]] = {}
        for cell in cells:
            by_row.setdefault(cell.row, set()).add((cell.seed, cell.fold))
        common = set.intersection(*by_row.values())
        folds = [pair for cell in cells if (pair := (cell.seed, cell.fold)) in common]
        kept = {seed: draws.get(seed, Draw(seed, seed, seed)) for seed, _ in folds}
        several = [name for name in LEVELS if len({getattr(d, name) for d in kept.values()}) > 1]
        prints = list(dict.fromkeys(cell.split_fingerprint for cell in cells))
        same_split = len(prints) <= len({fold for _, fold in folds})
        tuned = any(cell.n_trials is not None for cell in cells)
        varied = {"split": not same_split, "search": tuned, "model": True}
        return cls(
            kept,
            next(iter(several), "model"),
            [name for name in several if varied[name]],
            prints,
        )

    @property
    def units(self) -> list[int]:
        """The independent seeds."""
        return list(dict.fromkeys(getattr(draw, self.level) for draw in self.draws.values()))

    def by_part(
        self, users: pd.DataFrame, label: str, scores: pd.DataFrame, test: PairedTest
    ) -> NDArray[np.float64]:
        """Return the scores of each observation of a test, of the users and rows of `scores`."""
        known = users[users["seed"].isin(self.draws)].dropna(subset=[label])
        seeds = [getattr(self.draws[seed], self.level) for seed in known["seed"]]
        keys = [known["seed"], known["fold"]] if test == "nadeau-bengio" else np.array(seeds)
        tables = [
            part.pivot_table(index="user", columns="row", values=label, aggfunc="mean", sort=False)
            for _, part in known.groupby(keys, sort=False)
        ]
        return np.stack([each.reindex_like(scores).to_numpy() for each in tables])

    def components(self, users: pd.DataFrame, label: str, row: str) -> dict[str, float]:
        """Return the variance components of a row: of users, seeds of each level, and the rest."""
        nodes = [len({getattr(draw, name) for draw in self.draws.values()}) for name in LEVELS]
        if nodes[2] < 2:
            return {}
        shape = [nodes[0], nodes[1] // nodes[0], nodes[2] // nodes[1]]
        if np.prod(shape) != nodes[2]:  # runs with other seeds, put into one
            return {}
        own = users[users["row"] == row].pivot_table(
            index="user", columns="seed", values=label, aggfunc="mean"
        )
        together = all(draw.split == draw.model for draw in self.draws.values())
        names = ["seed" if together else "split", "search", "model"]
        table = own.reindex(columns=list(self.draws)).to_numpy()
        return statistics.components(table.reshape(len(table), *shape), names)

    def about(self, claim: Claim, test: PairedTest) -> str:
        """Return what letters and tests are about."""
        if claim == "models":
            return "Tests are of these fitted models, for users like these; other seeds give others"
        if test == "nadeau-bengio":
            return "Tests are of the algorithms, for other random divisions of ratings like these"
        fixed = "" if "split" in self.varied else ", on these splits"
        what = " and ".join(self.varied) or "no random number"
        return f"Tests are of the algorithms, for users like these and other seeds ({what}){fixed}"
