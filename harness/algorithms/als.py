"""Alternating least squares by other libraries, for ratings and for counts.

``spark-als`` is MLlib's and ``implicit-als`` that of the library implicit. Both are ordinary
`surprise.AlgoBase` classes: the library factorises, and an estimate is the product of a user's and
an item's factors. Neither library is imported before a model is fitted.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from harness.algorithms import surprise
from harness.algorithms.base import DOUBLE, Estimates, Size
from harness.algorithms.compiled.svd import FactorModel
from harness.algorithms.parameters import Params
from harness.algorithms.spark_session import find_java, local_session
from harness.algorithms.top_n import Preferring
from harness.algorithms.trainset import Codes, ColumnTrainset, Floats, RawIds
from harness.errors import AlgorithmError
from harness.kernels import n_threads
from harness.lazy import pa, pd, scipy
from harness.notes import Note
from harness.quantities import Range, log_range
from harness.splits.filters import k_core

COUNTS_ROW = 40  # a sparse matrix of users and one of items, and the columns they are made from
SPARK_ROW = 96  # the frame, and MLlib's blocks of ratings by user and by item
SPARK_ITSELF = 512 << 20

Vectors = npt.NDArray[np.floating]


class AlternatingLeastSquares(Preferring):
    """Common base of both.

    An estimate is 0 and counts as impossible where training knows one side only. Ratings below
    `min_rating` are noise, and then users and items with fewer than `k_core` ratings of each other.
    """

    label: ClassVar[str]
    """Its name in a config."""

    min_rating: float | None
    k_core: int

    def __post_init__(self) -> None:
        surprise.AlgoBase.__init__(self)
        self.fit_notes: list[Note] = []

    @abstractmethod
    def factorise(
        self, trainset: ColumnTrainset, users: Codes, items: Codes, ratings: Floats
    ) -> tuple[Vectors, Vectors]:
        """Return the vectors of all inner users and items; anything for those without a rating."""

    def fit(self, trainset: surprise.Trainset) -> AlternatingLeastSquares:
        """Factorise the training ratings, less what counts as noise."""
        super().fit(trainset)
        columns = ColumnTrainset.from_surprise(trainset)
        users, items, ratings = self._observed(columns)
        self.known_users = np.bincount(users, minlength=columns.n_users) > 0
        self.known_items = np.bincount(items, minlength=columns.n_items) > 0
        vectors = self.factorise(columns, users, items, ratings)
        self.pu, self.qi = (
            np.where(is_known[:, None], of_side, 0.0).astype(np.float64)
            for is_known, of_side in zip((self.known_users, self.known_items), vectors, strict=True)
        )
        return self

    def estimate(self, u: int | str, i: int | str) -> float:
        """Return the product of the factors; impossible where one side is unknown."""
        if (
            isinstance(u, str)
            or isinstance(i, str)
            or not (self.known_users[u] and self.known_items[i])
        ):
            raise surprise.PredictionImpossible("User and/or item is unknown.")
        return float(np.einsum("f,f->", self.pu[u], self.qi[i]))

    def _observed(self, columns: ColumnTrainset) -> tuple[Codes, Codes, Floats]:
        """Return inner users, inner items and ratings that are not noise; note how many are."""
        offsets, items, ratings = columns.by_user
        users = np.repeat(np.arange(columns.n_users, dtype=np.int32), np.diff(offsets))
        bad = np.flatnonzero(ratings <= 0)
        if self.is_preference and len(bad):
            (user,) = columns.raw_users(columns.user_codes[users[bad[:1]]])
            (item,) = columns.raw_items(columns.item_codes[items[bad[:1]]])
            raise AlgorithmError(
                f"{self.label}: {len(bad):,} of {len(ratings):,} ratings are not above 0 "
                f"(as {ratings[bad[0]]:.16g} by user {str(user)!r} for item {str(item)!r}), but a "
                "count says how often; take them out with the filter "
                "{kind: min-rating, at_least: 1}, or use spark-als without implicit"
            )
        rows = np.arange(len(users))
        if self.min_rating is not None:
            rows = np.flatnonzero(ratings >= self.min_rating)
        rows = rows[k_core(users[rows], items[rows], self.k_core)]
        if not len(rows):
            raise AlgorithmError(
                f"{self.label}: min_rating {self.min_rating} and k_core {self.k_core} leave none "
                f"of {len(users):,} training ratings; lower them"
            )
        self.fit_notes = []
        if len(rows) < len(users):
            of_users = 1 - len(np.unique(users[rows])) / columns.n_users
            of_items = 1 - len(np.unique(items[rows])) / columns.n_items
            shares = {"ratings": 1 - len(rows) / len(users), "users": of_users, "items": of_items}
            self.fit_notes = [Note("noise-left-out", shares)]
        return users[rows], items[rows], ratings[rows]


class LeastSquares(FactorModel):
    """Products of factors for whole blocks; the library fits them."""

    kind = "library"
    unknown_user = "0 for every item"
    space = {
        "n_factors": log_range(8, 128),
        "n_epochs": Range(low=5, high=30),
        "reg": log_range(0.001, 10.0),
        "alpha": log_range(0.001, 10.0),
    }

    @classmethod
    def gives_preferences(cls, params: Params) -> bool:
        return bool(cls.model_class(**params).is_preference)

    @classmethod
    def memory(cls, params: Params, size: Size) -> int:
        n_factors = cls.count(params, "n_factors")
        return (DOUBLE + 4) * n_factors * 2 * (size.n_users + size.n_items)

    def pairs(self, users: Codes, items: Codes) -> Estimates:
        model = self.model
        both_known = (
            (users >= 0) & (items >= 0) & model.known_users[users] & model.known_items[items]
        )
        return super().pairs(np.where(both_known, users, -1), np.where(both_known, items, -1))


@dataclass(eq=False, repr=False)
class SparkALS(AlternatingLeastSquares):
    """Alternating least squares of Spark's MLlib; `random_state` is its ``seed``.

    For ratings, it minimises ``sum (r_ui - x_u · y_i)² + reg (sum n_u |x_u|² + sum n_i |y_i|²)``
    over the ratings there are, with n the number of a user's or an item's ratings (Zhou et al.
    2008, doi:10.1007/978-3-540-68880-8_32). With ``implicit``, over all pairs, it minimises
    ``sum c_ui (p_ui - x_u · y_i)²`` and the same penalty, with the preference p 1 where there is a
    rating, else 0, and the confidence ``c_ui = 1 + alpha r_ui`` (Hu, Koren and Volinsky 2008,
    doi:10.1109/ICDM.2008.22).

    The same seed and data give the same factors on the same machine, whatever the number of
    threads. Factors are of single precision, and a processor with other vector instructions may
    round them otherwise.
    """

    label: ClassVar[str] = "spark-als"
    n_factors: int = 10
    n_epochs: int = 10
    reg: float = 0.1
    implicit: bool = False
    alpha: float = 1.0
    min_rating: float | None = None
    k_core: int = 1
    random_state: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self.is_preference = self.implicit

    def factorise(
        self, trainset: ColumnTrainset, users: Codes, items: Codes, ratings: Floats
    ) -> tuple[Vectors, Vectors]:
        """Fit MLlib's ``ALS``; a user's number, by name, decides its first random vector."""
        user_numbers = number_by_name(trainset.user_ids)[trainset.user_codes]
        item_numbers = number_by_name(trainset.item_ids)[trainset.item_codes]
        columns = user_numbers[users], item_numbers[items], ratings.astype(np.float32)
        table = pa.table(columns, names=["user", "item", "rating"])
        session = local_session(self.label)
        # It warns of every version of pandas that is newer than itself.
        with warnings.catch_warnings(action="ignore", category=FutureWarning):
            from pyspark.ml.recommendation import ALS

            als = ALS(
                rank=self.n_factors,
                maxIter=self.n_epochs,
                regParam=float(self.reg),
                implicitPrefs=self.implicit,
                alpha=float(self.alpha),
                seed=self.random_state,
                userCol="user",
                itemCol="item",
                ratingCol="rating",
            )
            try:
                # In one partition, rows keep their order, and so do the sums of the factors.
                fitted = als.fit(session.createDataFrame(table).coalesce(1))
                learnt = fitted.userFactors.toArrow(), fitted.itemFactors.toArrow()
            except Exception as error:
                reason = (str(error).splitlines() or [""])[0][:300]
                raise AlgorithmError(
                    f"{self.label}: Spark failed ({type(error).__name__}: {reason}); with a "
                    "singular matrix raise reg, without memory lower n_factors or take fewer "
                    "ratings"
                ) from error
        return _from_spark(learnt[0], user_numbers), _from_spark(learnt[1], item_numbers)


def number_by_name(names: RawIds) -> Codes:
    """Return the place of each name among all names in order, shape (n,)."""
    return pd.factorize(np.asarray(names), sort=True)[0].astype(np.int32)


def _from_spark(table: pa.Table, numbers: Codes) -> Vectors:
    """Return Spark's factors by inner id; `numbers` holds what Spark calls each inner id."""
    learnt = table.column("features").combine_chunks().flatten().to_numpy()
    vectors = np.zeros((len(numbers), len(learnt) // len(table)), learnt.dtype)
    places = pd.Index(numbers).get_indexer(table.column("id").to_numpy())
    vectors[places] = learnt.reshape(len(table), -1)
    return vectors


class SparkALSEntry(LeastSquares):
    """Factors from Spark."""

    model_class = SparkALS
    name = SparkALS.label
    summary = "alternating least squares of Spark's MLlib, for ratings or counts"
    citation = "zhou2008large"
    package, extra = "pyspark", "spark"
    note = "memory-of-python"

    @classmethod
    def missing(cls) -> str:
        if lacking := super().missing():
            return lacking
        try:
            find_java(cls.name)
        except AlgorithmError as error:
            return str(error)
        return ""

    @classmethod
    def memory(cls, params: Params, size: Size) -> int:
        return super().memory(params, size) + SPARK_ROW * size.n_ratings + SPARK_ITSELF


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
