"""How much memory a cell needs, estimated before anything is fitted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["DENSE_LIMIT", "fits_densely", "memory"]

DENSE_LIMIT = 2 << 30
"""Largest similarity matrix that is kept whole, in bytes; beyond it rows are computed on demand."""

SLOPE_ONE_DENSE = 4096
"""Most items for which SlopeOne keeps its two matrices whole; with more, rows are computed."""

DOUBLE = 8
TRAINSET_ROW = 24  # both groupings: two ids of 4 bytes, two ratings of 8
ORDER_ROW = 12  # ids of 4 bytes and places of 8
ORDERING_ROW = 28  # the same while it is searched for repeated items
BLOCK = 64 << 20  # estimates under way
SPARK_ROW = 96  # the frame, and MLlib's blocks of ratings by user and by item
SPARK_ITSELF = 512 << 20
COUNTS_ROW = 40  # a sparse matrix of users and one of items, and the columns they are made from
SMALL = ("BaselineOnly", "CoClustering", "NormalPredictor", "Random", "Popularity", "ItemMean")


def fits_densely(n: int) -> bool:
    """Return whether an n × n similarity matrix is kept whole.

    Examples
    --------
    >>> fits_densely(6_040), fits_densely(162_541)
    (True, False)
    """
    return n * n * DOUBLE <= DENSE_LIMIT


def memory(
    algorithm: str | type, params: Mapping[str, Any], n_users: int, n_items: int, n_ratings: int
) -> int:
    """Estimate the bytes that fitting and scoring need at their peak.

    Parameters
    ----------
    algorithm : str or type
        Surprise's name for it, or a class that is or extends one of Surprise's.
    params : mapping
        Parameters that differ from Surprise's defaults.
    n_users, n_items, n_ratings : int
        Size of the training set.

    Returns
    -------
    int
        Bytes, the columns of the training set and what another library takes included. For a class
        that is none of Surprise's, the training set as Python lists.

    Examples
    --------
    >>> memory("SlopeOne", {}, 162_541, 59_047, 25_000_095) // 2**30
    26
    >>> memory("SVD", {"n_factors": 100}, 162_541, 59_047, 25_000_095) // 2**20
    974
    """
    columns = TRAINSET_ROW * n_ratings + BLOCK
    name = _surprise_name(algorithm)
    n_factors = int(params.get("n_factors", {"SVD": 100, "SVDpp": 20, "NMF": 15}.get(name, 0)))
    if name == "SVD":
        return columns + DOUBLE * n_factors * 2 * (n_users + n_items)
    if name == "SVDpp":
        return columns + DOUBLE * n_factors * 2 * (n_users + 2 * n_items) + ORDERING_ROW * n_ratings
    if name == "NMF":
        passes = ORDER_ROW + 3 * DOUBLE
        return columns + DOUBLE * (n_factors + 8) * 3 * (n_users + n_items) + passes * n_ratings
    if name.startswith("KNN"):
        n = n_users if params.get("sim_options", {}).get("user_based", True) else n_items
        rows = (n if fits_densely(n) else 256) * n * DOUBLE
        return columns + rows + (ORDER_ROW + 5 * DOUBLE) * n_ratings
    if name == "SlopeOne":
        matrices = 2 if n_items <= SLOPE_ONE_DENSE else 1  # to score catalogues
        return columns + matrices * DOUBLE * n_items**2 + ORDER_ROW * n_ratings
    if name in ("spark-als", "implicit-als"):
        n_factors = int(params.get("n_factors", 10 if name == "spark-als" else 100))
        factors = (DOUBLE + 4) * n_factors * 2 * (n_users + n_items)
        if name == "spark-als":
            return columns + factors + SPARK_ROW * n_ratings + SPARK_ITSELF
        return columns + factors + COUNTS_ROW * n_ratings
    if name in SMALL:
        return columns + DOUBLE * (n_ratings + 8 * (n_users + n_items))
    as_lists = 250  # bytes a rating in the lists of tuples that Surprise's own code walks
    return columns + as_lists * n_ratings


def _surprise_name(algorithm: str | type) -> str:
    if isinstance(algorithm, str):
        return algorithm
    ours = (
        c.__name__
        for c in algorithm.__mro__
        if c.__module__.startswith(("surprise.", "harness.algorithms.baselines"))
    )
    return next(ours, algorithm.__name__)
