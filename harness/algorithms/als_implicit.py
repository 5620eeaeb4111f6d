"""Factors from the library implicit."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from harness.errors import AlgorithmError
from harness.kernels import n_threads

if TYPE_CHECKING:
    from harness.algorithms.als import Factors, ImplicitALS, Observed
    from harness.algorithms.trainset import ColumnTrainset

__all__ = ["factorise_counts"]


def factorise_counts(
    model: ImplicitALS, trainset: ColumnTrainset, observed: Observed
) -> tuple[Factors, Factors]:
    """Fit implicit's ``AlternatingLeastSquares`` on the processor.

    Raises
    ------
    AlgorithmError
        If the library is missing.
    """
    from scipy.sparse import csr_matrix
    from threadpoolctl import threadpool_limits

    from harness.algorithms.als import Factors

    try:
        from implicit.cpu.als import AlternatingLeastSquares
    except ImportError as error:
        raise AlgorithmError(
            "implicit-als: needs the library implicit; pip install 'surprise-harness[implicit]'"
            + ("" if isinstance(error, ModuleNotFoundError) else f" ({error})")
        ) from None
    confidence = csr_matrix(
        (
            (1.0 + model.alpha * observed.ratings).astype(np.float32),
            (observed.users, observed.items),
        ),
        shape=(trainset.n_users, trainset.n_items),
    )
    # Its own threads share the users; those of the linear algebra would get in their way.
    with threadpool_limits(1, "blas"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        library = AlternatingLeastSquares(
            factors=model.n_factors,
            regularization=model.reg,
            iterations=model.n_epochs,
            num_threads=n_threads(),
            random_state=model.random_state,
        )
        library.fit(confidence, show_progress=False)
    users, items = np.unique(observed.users), np.unique(observed.items)
    return (
        Factors(users, library.user_factors[users]),
        Factors(items, library.item_factors[items]),
    )
