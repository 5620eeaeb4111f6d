"""Recommended search spaces, the meaning of `search: recommended`."""

from __future__ import annotations

from harness.config.tuning import Range, SearchSpace

__all__ = ["RECOMMENDED"]

_FACTORS: SearchSpace = {
    "n_factors": Range(low=5, high=150, log=True),
    "n_epochs": Range(low=5, high=60, log=True),
}
_DESCENT: SearchSpace = _FACTORS | {
    "lr_all": Range(low=0.001, high=0.03, log=True),
    "reg_all": Range(low=0.005, high=0.3, log=True),
}
_NEIGHBOURS: SearchSpace = {
    "k": Range(low=5, high=200, log=True),
    "min_k": Range(low=1, high=10),
    "sim_options.name": ["msd", "cosine", "pearson", "pearson_baseline"],
    "sim_options.user_based": [True, False],
    "sim_options.min_support": Range(low=1, high=10),
    "sim_options.shrinkage": Range(low=1.0, high=500.0, log=True),
}
_BASELINE: SearchSpace = {
    "bsl_options.reg_u": Range(low=0.1, high=50.0, log=True),
    "bsl_options.reg_i": Range(low=0.1, high=50.0, log=True),
    "bsl_options.n_epochs": Range(low=5, high=30),
}

_LEAST_SQUARES: SearchSpace = {
    "n_factors": Range(low=8, high=128, log=True),
    "n_epochs": Range(low=5, high=30),
    "reg": Range(low=0.001, high=10.0, log=True),
    "alpha": Range(low=0.001, high=10.0, log=True),
}

RECOMMENDED: dict[str, SearchSpace] = {
    "NormalPredictor": {},
    "BaselineOnly": _BASELINE,
    "KNNBasic": _NEIGHBOURS,
    "KNNWithMeans": _NEIGHBOURS,
    "KNNWithZScore": _NEIGHBOURS,
    "KNNBaseline": _NEIGHBOURS | _BASELINE,
    "SVD": _DESCENT,
    "SVDpp": _DESCENT,
    "NMF": _FACTORS
    | {
        "biased": [False],
        "reg_pu": Range(low=0.005, high=0.5, log=True),
        "reg_qi": Range(low=0.005, high=0.5, log=True),
    },
    "SlopeOne": {},
    "CoClustering": {
        "n_cltr_u": Range(low=1, high=20, log=True),
        "n_cltr_i": Range(low=1, high=20, log=True),
        "n_epochs": Range(low=5, high=60, log=True),
    },
    "spark-als": _LEAST_SQUARES,
    "implicit-als": _LEAST_SQUARES,
    "ItemMean": {"damping": Range(low=0.5, high=100.0, log=True)},
}
"""By algorithm; wide enough for MovieLens from 100K to 25M. An empty space has one trial."""
