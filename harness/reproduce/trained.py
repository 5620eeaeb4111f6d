"""Published values that need training: each source's config is run, once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import harness
from harness.datasets.catalogue import CATALOGUE
from harness.errors import DataError
from harness.experiment import run
from harness.experiment.events import Watch, ignore
from harness.reproduce.findings import Band, NotRun
from harness.reproduce.findings import Run as Reproduction
from harness.reproduce.published import Quantity, published
from harness.results.record import CellResult, FailedCell

__all__ = ["config_path", "trained_runs"]

FULL_CATALOGUE = "ndcg(gain=linear, undefined=0)@10"
MICROSOFT = {
    "rmse": "rmse",
    "mae": "mae",
    "r2": "r2",
    "map_at_10": "ap(denominator=achievable, ties=first)@10",
    "ndcg_at_10": "ndcg(gain=binary, ties=first)@10",
    "precision_at_10": "precision(ties=first)@10",
    "recall_at_10": "recall(ties=first)@10",
}
MLLIB = "ndcg(gain=binary, undefined=0)@10"
LASTFM = {
    "implicit table: NDCG@10, all products": "lastfm-implicit",
    "implicit table: NDCG@10, top played products only": "lastfm-implicit-top-played",
}

Cells = Sequence[CellResult | FailedCell]


def config_path(name: str) -> Path:
    """Return a config that ships with the project, installed or in a clone.

    Examples
    --------
    >>> config_path("microsoft-svd").name
    'microsoft-svd.yaml'
    """
    package = Path(harness.__file__).parent
    installed = package / "configs" / f"{name}.yaml"
    return installed if installed.exists() else package.parent / "configs" / f"{name}.yaml"


def trained_runs(watch: Watch = ignore, **options: Any) -> dict[tuple[str, str], Reproduction]:
    """Return how each published value that needs training is computed.

    Parameters
    ----------
    watch : callable
        Called with every event of a run.
    **options
        Passed to `harness.run`, for example `ratings` or `overrides`.

    Returns
    -------
    dict of (str, str) to callable
        By source and quantity, as `reproduce` takes them. A run without its data gives a `NotRun`
        with the reason.
    """

    @cache
    def cells(config: str) -> Cells | NotRun:
        try:
            done = run(
                config_path(config),
                results=None,
                watch=watch,
                **{"overrides": ["statistics=null", "baselines=false"], **options},
            )
        except DataError as error:
            return NotRun(str(error).splitlines()[0])
        return done.info.cells

    def through(config: str, read: Callable[[Quantity, Cells], Any]) -> Reproduction:
        def reproduce(quantity: Quantity) -> Any:
            found = cells(config)
            return found if isinstance(found, NotRun) else read(quantity, found)

        return reproduce

    runs: dict[tuple[str, str], Reproduction] = {}
    for quantity in published():
        place = (quantity.source, quantity.what)
        if quantity.source == "surprise":
            runs[place] = through("surprise-readme", _errors)
        elif quantity.source == "microsoft":
            runs[place] = through("microsoft-svd", _notebook)
        elif quantity.what.startswith("explicit table"):
            runs[place] = through("singh-2025", _catalogue)
        elif quantity.what.startswith("implicit table"):
            runs[place] = _if_there(through(LASTFM[quantity.what], _of_mllib))
    return runs


def _if_there(reproduce: Reproduction) -> Reproduction:
    """Return the function for a value of Last.fm 360K, if its archive is already here."""

    def reproduce_if_there(quantity: Quantity) -> Any:
        if CATALOGUE["lastfm-360k"].is_here():
            return reproduce(quantity)
        return NotRun(
            "needs Last.fm 360K (569 MB) and trains in Spark; download it first, for example with "
            f"`harness run configs/{LASTFM[quantity.what]}.yaml`"
        )

    return reproduce_if_there


def _of(quantity: Quantity, cells: Cells) -> Cells:
    """Return the cells of the algorithm that a quantity is about."""
    name = quantity.what.rpartition(": ")[2].replace("SVDpp", "SVD++")
    return [cell for cell in cells if cell.algorithm == name]


def _scores(cells: Cells, label: str) -> list[float]:
    found = [cell.scores[label].mean for cell in cells if isinstance(cell, CellResult)]
    return [math.nan if mean is None else mean for mean in found]


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _errors(quantity: Quantity, cells: Cells) -> dict[str, float]:
    return {label: _mean(_scores(_of(quantity, cells), label)) for label in ("rmse", "mae")}


def _notebook(quantity: Quantity, cells: Cells) -> dict[str, float]:
    return {name: _scores(cells, label)[0] for name, label in MICROSOFT.items()}


def _of_mllib(quantity: Quantity, cells: Cells) -> float | NotRun:
    [cell] = [each for each in cells if each.algorithm == "spark-als"]
    return NotRun(cell.error) if cell.error else _scores([cell], MLLIB)[0]


def _catalogue(quantity: Quantity, cells: Cells) -> dict[str, Any]:
    own = _of(quantity, cells)
    scores = _scores(own, FULL_CATALOGUE)
    finished = [cell for cell in own if isinstance(cell, CellResult)]
    seconds = _mean([cell.fit_seconds + cell.score_seconds for cell in finished])
    same = min(scores) == max(scores)
    return {"ndcg": scores[0] if same else Band.of_one_more(scores), "runtime_s": seconds}
