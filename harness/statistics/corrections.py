"""Corrections of p-values for multiple comparisons."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Correction", "adjust", "benjamini_hochberg", "holm"]

Correction = Literal["holm", "benjamini-hochberg", "none"]


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    r"""Adjust p-values so that the chance of even one false difference stays at the level.

    Holds whatever the dependence between the comparisons.

    Parameters
    ----------
    p_values : array_like of float, shape (m,)
        In [0, 1].

    Returns
    -------
    ndarray of float64, shape (m,)
        With p sorted ascending, :math:`\tilde p_i = \max_{j \le i} \min(1, (m - j + 1) p_j)`.

    References
    ----------
    .. [1] S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal
       of Statistics 6(2), 1979, https://www.jstor.org/stable/4615733.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, np.float64)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    steps = np.arange(len(p), 0, -1) * p[order]
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return adjusted


def benjamini_hochberg(p_values: ArrayLike) -> NDArray[np.float64]:
    r"""Adjust p-values so that the expected share of false differences stays at the level.

    Parameters
    ----------
    p_values : array_like of float, shape (m,)
        In [0, 1].

    Returns
    -------
    ndarray of float64, shape (m,)
        With p sorted ascending, :math:`\tilde p_i = \min_{j \ge i} \min(1, m p_j / j)`.

    References
    ----------
    .. [1] Y. Benjamini, Y. Hochberg, "Controlling the false discovery rate", Journal of the Royal
       Statistical Society B 57(1), 1995, doi:10.1111/j.2517-6161.1995.tb02031.x.

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.04, 0.03]).round(10).tolist()
    [0.03, 0.04, 0.04]
    """
    from scipy import stats

    p = np.asarray(p_values, np.float64)
    if len(p) == 0:
        return p.copy()
    adjusted: NDArray[np.float64] = stats.false_discovery_control(p, method="bh")
    return adjusted


def adjust(p_values: ArrayLike, correction: Correction) -> NDArray[np.float64]:
    """Adjust p-values by name.

    Examples
    --------
    >>> adjust([0.01, 0.2], "none").tolist()
    [0.01, 0.2]
    """
    if correction == "holm":
        return holm(p_values)
    if correction == "benjamini-hochberg":
        return benjamini_hochberg(p_values)
    return np.array(p_values, np.float64)
