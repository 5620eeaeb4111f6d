"""Alternating least squares by other libraries, for ratings and for counts.

``spark-als`` is MLlib's and ``implicit-als`` that of the library implicit. Both are ordinary
`surprise.AlgoBase` classes: the library factorises, and an estimate is the product of a user's and
an item's factors. Neither library is imported before a model is fitted.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np

from harness.algorithms.compiled.accelerator import Accelerator, Bools, Codes, Floats, Progress
from harness.algorithms.compiled.svd import FactorScorer
from harness.algorithms.surprise_import import surprise
from harness.algorithms.trainset import ColumnTrainset
from harness.errors import AlgorithmError
from harness.splits.filters import k_core

__all__ = ["ACCELERATORS", "Factors", "ImplicitALS", "Observed", "SparkALS"]


class Observed(NamedTuple):
    """The training ratings of a factorisation.

    Parameters
    ----------
    users, items : ndarray of int32, shape (n,)
        Inner ids.
    ratings : ndarray of float64, shape (n,)
    """

    users: Codes
    items: Codes
    ratings: Floats


class Factors(NamedTuple):
    """What was learnt of users, or of items.

    Parameters
    ----------
    ids : ndarray of int32, shape (n,)
        Inner ids.
    vectors : ndarray of float, shape (n, n_factors)
    """

    ids: Codes
    vectors: Any


class AlternatingLeastSquares(surprise.AlgoBase):  # type: ignore[misc]
    """Common base of both.

    Without ratings, of a user or an item, least squares give a vector of zeros. So the estimate of
    a pair of which training knows one side only is 0, and counts as impossible.

    Parameters
    ----------
    n_factors, n_epochs : int
    reg, alpha : float
    min_rating : float or None
        Ratings below it are left out of training as noise: plays, by a threshold.
    k_core : int
        Users and items with fewer ratings of each other are left out of training, repeatedly until
        none is left; 1 leaves out no one.
    random_state : int or None
        The seed.
    """

    label: ClassVar[str]
    """Its name in a config."""

    def __init__(
        self,
        n_factors: int,
        n_epochs: int,
        reg: float,
        alpha: float,
        min_rating: float | None,
        k_core: int,
        random_state: int | None,
    ) -> None:
        super().__init__()
        self.n_factors, self.n_epochs = n_factors, n_epochs
        self.reg, self.alpha = reg, alpha
        self.min_rating, self.k_core = min_rating, k_core
        self.random_state = random_state
        self.fit_notes: list[str] = []

    @property
    @abstractmethod
    def is_preference(self) -> bool:
        """Whether estimates are preferences instead of ratings."""

    @abstractmethod
    def factorise(self, trainset: ColumnTrainset, observed: Observed) -> tuple[Factors, Factors]:
        """Return what is learnt of users and of items."""

    def fit(self, trainset: Any) -> AlternatingLeastSquares:
        """Factorise the training ratings, less what counts as noise.

        Raises
        ------
        AlgorithmError
            If the library is missing or fails, or cannot use the ratings.
        """
        super().fit(trainset)
        columns = ColumnTrainset.from_surprise(trainset)
        observed = self._observed(columns)
        users, items = self.factorise(columns, observed)
        self.known_users, self.pu = _placed(users, columns.n_users, self.n_factors)
        self.known_items, self.qi = _placed(items, columns.n_items, self.n_factors)
        return self

    def estimate(self, u: Any, i: Any) -> float:
        """Return the product of the factors; impossible where one side is unknown."""
        known = self.trainset.knows_user(u) and self.trainset.knows_item(i)
        if not (known and self.known_users[u] and self.known_items[i]):
            raise surprise.PredictionImpossible("User and/or item is unknown.")
        return float(np.einsum("f,f->", self.pu[u], self.qi[i]))

    def default_prediction(self) -> float:
        """Return 0, the product with a vector of zeros."""
        return 0.0

    def predict(self, *args: Any, clip: bool = True, **named: Any) -> Any:
        """Return Surprise's prediction; a preference is not clipped to the scale of the ratings."""
        return super().predict(*args, clip=clip and not self.is_preference, **named)

    def _observed(self, columns: ColumnTrainset) -> Observed:
        """Return the ratings that are not noise; say how many are."""
        users = np.repeat(np.arange(columns.n_users, dtype=np.int32), np.diff(columns.user_offsets))
        whole = Observed(users, columns.user_items, columns.user_ratings)
        if self.is_preference:
            _refuse_what_is_no_count(self, columns, whole)
        keep = np.ones(len(users), bool)
        if self.min_rating is not None:
            keep = whole.ratings >= self.min_rating
        rows = np.flatnonzero(keep)
        rows = rows[k_core(users[rows], whole.items[rows], self.k_core)]
        if not len(rows):
            raise AlgorithmError(
                f"{self.label}: min_rating {self.min_rating} and k_core {self.k_core} leave none "
                f"of {len(users):,} training ratings; lower them"
            )
        self.fit_notes = _told(columns, whole, rows) if len(rows) < len(users) else []
        return Observed(whole.users[rows], whole.items[rows], whole.ratings[rows])


class SparkALS(AlternatingLeastSquares):
    """Alternating least squares of Spark's MLlib.

    For ratings, it minimises ``sum (r_ui - x_u · y_i)² + reg (sum n_u |x_u|² + sum n_i |y_i|²)``
    over the ratings there are, with n the number of a user's or an item's ratings (Zhou et al.
    2008, doi:10.1007/978-3-540-68880-8_32). With ``implicit``, over all pairs, it minimises
    ``sum c_ui (p_ui - x_u · y_i)²`` and the same penalty, with the preference p 1 where there is a
    rating, else 0, and the confidence ``c_ui = 1 + alpha r_ui`` (Hu, Koren and Volinsky 2008,
    doi:10.1109/ICDM.2008.22).

    The same seed and data give the same factors on the same machine, whatever the number of
    threads. Factors are of single precision, and a processor with other vector instructions may
    round them otherwise.

    Parameters
    ----------
    n_factors : int
        MLlib's ``rank``.
    n_epochs : int
        MLlib's ``maxIter``.
    reg : float
        MLlib's ``regParam``.
    implicit : bool
        MLlib's ``implicitPrefs``: ratings are counts that give the confidence of a preference.
    alpha : float
        How much a count adds to the confidence; used with `implicit` only.
    min_rating : float or None
        Ratings below it are left out of training as noise: plays, by a threshold.
    k_core : int
        Users and items with fewer ratings of each other are left out of training, repeatedly until
        none is left; 1 leaves out no one.
    random_state : int or None
        MLlib's ``seed``.
    """

    label = "spark-als"

    def __init__(
        self,
        n_factors: int = 10,
        n_epochs: int = 10,
        reg: float = 0.1,
        implicit: bool = False,
        alpha: float = 1.0,
        min_rating: float | None = None,
        k_core: int = 1,
        random_state: int | None = None,
    ) -> None:
        super().__init__(n_factors, n_epochs, reg, alpha, min_rating, k_core, random_state)
        self.implicit = implicit

    @property
    def is_preference(self) -> bool:
        """Whether estimates are preferences instead of ratings."""
        return self.implicit

    def factorise(self, trainset: ColumnTrainset, observed: Observed) -> tuple[Factors, Factors]:
        """Fit in Spark and return the factors."""
        from harness.algorithms.als_spark import factorise_on_spark

        return factorise_on_spark(self, trainset, observed)


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

    Parameters
    ----------
    n_factors, n_epochs : int
        The library's ``factors`` and ``iterations``.
    reg : float
        The library's ``regularization``.
    alpha : float
        How much a count adds to the confidence.
    min_rating, k_core, random_state
        As for `SparkALS`.
    """

    label = "implicit-als"

    def __init__(
        self,
        n_factors: int = 100,
        n_epochs: int = 15,
        reg: float = 0.01,
        alpha: float = 1.0,
        min_rating: float | None = None,
        k_core: int = 1,
        random_state: int | None = None,
    ) -> None:
        super().__init__(n_factors, n_epochs, reg, alpha, min_rating, k_core, random_state)

    @property
    def is_preference(self) -> bool:
        """Whether estimates are preferences instead of ratings: always."""
        return True

    def factorise(self, trainset: ColumnTrainset, observed: Observed) -> tuple[Factors, Factors]:
        """Fit with the library and return the factors."""
        from harness.algorithms.als_implicit import factorise_counts

        return factorise_counts(self, trainset, observed)


ALGORITHMS: dict[str, type[AlternatingLeastSquares]] = {
    kind.label: kind for kind in (SparkALS, ImplicitALS)
}
"""The classes by their names in a config."""


class ProductScorer(FactorScorer):
    """Products of factors in whole blocks."""

    def is_biased(self) -> bool:
        return False

    def pairs(self, users: Codes, items: Codes) -> tuple[Floats, Bools]:
        model = self.model
        known = (users >= 0) & (items >= 0) & model.known_users[users] & model.known_items[items]
        return super().pairs(np.where(known, users, -1), np.where(known, items, -1))


class LeastSquares(Accelerator):
    """Scores a class of this module in whole blocks; the library fits it."""

    scorer = ProductScorer

    def __init__(self, kind: type[AlternatingLeastSquares]) -> None:
        self.surprise_class = kind  # type: ignore[misc]

    def fit(
        self, model: Any, trainset: ColumnTrainset, *, as_surprise: bool, progress: Progress
    ) -> None:
        model.fit(trainset)


ACCELERATORS: tuple[Accelerator, ...] = tuple(LeastSquares(kind) for kind in ALGORITHMS.values())


def _placed(factors: Factors, n: int, n_factors: int) -> tuple[Bools, Floats]:
    """Return which of n are known, and a vector for each, of zeros for the unknown."""
    known, vectors = np.zeros(n, bool), np.zeros((n, n_factors))
    known[factors.ids] = True
    vectors[factors.ids] = factors.vectors
    return known, vectors


def _told(columns: ColumnTrainset, whole: Observed, rows: Any) -> list[str]:
    """Return a note on the training ratings, users and items that noise filtering removes."""
    left = (
        len(rows) / len(whole.ratings),
        len(np.unique(whole.users[rows])) / columns.n_users,
        len(np.unique(whole.items[rows])) / columns.n_items,
    )
    ratings, users, items = (f"{1 - share:.0%}" for share in left)
    return [
        f"trained without noise: {ratings} of the ratings, with all of {users} of the users and "
        f"{items} of the items, left out of training, but not of the test"
    ]


def _refuse_what_is_no_count(
    model: AlternatingLeastSquares, columns: ColumnTrainset, whole: Observed
) -> None:
    bad = np.flatnonzero(whole.ratings <= 0)
    if len(bad):
        row = bad[0]
        user = columns.raw_users(columns.user_codes[whole.users[row : row + 1]])[0]
        item = columns.raw_items(columns.item_codes[whole.items[row : row + 1]])[0]
        raise AlgorithmError(
            f"{model.label}: {len(bad):,} of {len(whole.ratings):,} ratings are not above 0 "
            f"(as {whole.ratings[row]:g} by user {str(user)!r} for item {str(item)!r}), but a "
            "count says how often; take them out with the filter "
            "{kind: min-rating, at_least: 1}, or use spark-als without implicit"
        )
