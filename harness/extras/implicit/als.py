"""``implicit-als``: alternating least squares of the library implicit, for counts."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from harness._util.kernels import n_threads
from harness._util.libraries import scipy
from harness.algorithms.base import Size
from harness.algorithms.least_squares import AlternatingLeastSquares, LeastSquares, Vectors
from harness.algorithms.parameters import Params
from harness.algorithms.trainset import Codes, ColumnTrainset, Floats
from harness.errors import AlgorithmError

COUNTS_ROW = 40  # a sparse matrix of users and one of items, and the columns they are made from


@dataclass(eq=False, repr=False)
class ImplicitALS(AlternatingLeastSquares):
    """Alternating least squares of the library implicit, for counts.

    It minimises ``sum c_ui (p_ui - x_u · y_i)² + reg (sum |x_u|² + sum |y_i|²)`` over all pairs,
    with the preference p 1 where there is a rating, else 0, and the confidence
    ``c_ui = 1 + alpha r_ui`` (Hu, Koren and Volinsky 2008, doi:10.1109/ICDM.2008.22), by conjugate
    gradients (Takács, Pilászy and Tikk 2011, doi:10.1145/2043932.2043987). MLlib's penalty is
    larger by the number of ratings, so that the same ``reg`` means something else there. The
    library's own alpha leaves out the 1.

    The same seed and data give the same factors on the same machine, whatever the number of
    threads.
    """

    label: ClassVar[str] = "implicit-als"
    n_factors: int = 100
    n_epochs: int = 15
    reg: float = 0.01
    alpha: float = 1.0
    min_rating: float | None = None
    k_core: int = 1
    random_state: int | None = None

    def factorise(
        self, trainset: ColumnTrainset, users: Codes, items: Codes, ratings: Floats
    ) -> tuple[Vectors, Vectors]:
        """Fit implicit's ``AlternatingLeastSquares`` on the processor."""
        try:
            from implicit.cpu.als import AlternatingLeastSquares as Library
            from threadpoolctl import threadpool_limits  # which implicit needs itself
        except ImportError as error:
            why = "" if isinstance(error, ModuleNotFoundError) else f" ({error})"
            raise AlgorithmError(
                f"{self.label}: needs the library implicit; "
                f"pip install 'surprise-harness[implicit]'{why}"
            ) from None
        confidence = (1.0 + self.alpha * ratings).astype(np.float32)
        shape = (trainset.n_users, trainset.n_items)
        # Its own threads share the users; those of the linear algebra would get in their way.
        quiet = warnings.catch_warnings(action="ignore", category=RuntimeWarning)
        with threadpool_limits(1, "blas"), quiet:
            library = Library(
                factors=self.n_factors,
                regularization=self.reg,
                iterations=self.n_epochs,
                num_threads=n_threads(),
                random_state=self.random_state,
            )
            library.fit(
                scipy.sparse.csr_matrix((confidence, (users, items)), shape=shape),
                show_progress=False,
            )
        return library.user_factors, library.item_factors


class ImplicitALSEntry(LeastSquares):
    """Factors from the library implicit."""

    model_class = ImplicitALS
    name = ImplicitALS.label
    summary = "alternating least squares of the library implicit, for counts"
    citation = "takacs2011applications"
    package = extra = "implicit"

    @classmethod
    def memory(cls, params: Params, size: Size) -> int:
        return super().memory(params, size) + COUNTS_ROW * size.n_ratings
