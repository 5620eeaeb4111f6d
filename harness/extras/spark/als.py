"""``spark-als``: alternating least squares of Spark's MLlib, for ratings and for counts."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from harness._util.libraries import pa, pd
from harness.algorithms.base import Size
from harness.algorithms.least_squares import AlternatingLeastSquares, LeastSquares, Vectors
from harness.algorithms.parameters import Params
from harness.algorithms.trainset import Codes, ColumnTrainset, Floats, RawIds
from harness.errors import AlgorithmError
from harness.extras.spark.session import find_java, local_session

SPARK_ROW = 96  # the frame, and MLlib's blocks of ratings by user and by item
SPARK_ITSELF = 512 << 20


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
