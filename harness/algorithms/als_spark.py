"""Factors from Spark's MLlib."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.algorithms.spark_session import local_session
from harness.errors import AlgorithmError

if TYPE_CHECKING:
    from harness.algorithms.als import Factors, Observed, SparkALS
    from harness.algorithms.columns import Codes
    from harness.algorithms.trainset import ColumnTrainset

__all__ = ["factorise_on_spark", "places_by_name"]


def factorise_on_spark(
    model: SparkALS, trainset: ColumnTrainset, observed: Observed
) -> tuple[Factors, Factors]:
    """Fit MLlib's ``ALS`` in the Spark session of this process.

    Users and items are numbered by the order of their names in the whole data set, as categories
    of a pandas column are: the number of a user decides which random vector it starts from.

    Raises
    ------
    AlgorithmError
        If PySpark or Java is missing, or Spark fails.
    """
    import pyarrow as pa

    users = places_by_name(trainset.user_ids)[trainset.user_codes]
    items = places_by_name(trainset.item_ids)[trainset.item_codes]
    table = pa.table(
        {
            "user": users[observed.users],
            "item": items[observed.items],
            "rating": observed.ratings.astype(np.float32),
        }
    )
    session = local_session("spark-als")
    with warnings.catch_warnings():
        # It warns of every version of pandas that is newer than itself.
        warnings.simplefilter("ignore", FutureWarning)
        from pyspark.ml.recommendation import ALS

        als = ALS(
            rank=model.n_factors,
            maxIter=model.n_epochs,
            regParam=float(model.reg),
            implicitPrefs=model.implicit,
            alpha=float(model.alpha),
            seed=model.random_state,
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
                f"spark-als: Spark failed ({type(error).__name__}: {reason}); with a singular "
                "matrix raise reg, without memory lower n_factors or take fewer ratings"
            ) from error
    return _factors(learnt[0], users), _factors(learnt[1], items)


def places_by_name(ids: Any) -> Codes:
    """Return the place of each id among all ids in order, shape (n,).

    Examples
    --------
    >>> places_by_name(np.array(["c", "a", "b"], dtype=object)).tolist()
    [2, 0, 1]
    """
    names = np.asarray(ids)
    order = np.argsort(names, kind="stable")
    places = np.empty(len(names), np.int32)
    places[order] = np.arange(len(names), dtype=np.int32)
    return places


def _factors(table: Any, numbers: Codes) -> Factors:
    """Return Spark's factors by inner id; `numbers` holds what Spark calls each inner id."""
    from harness.algorithms.als import Factors

    inner = np.full(int(numbers.max()) + 1, -1, np.int32)
    inner[numbers] = np.arange(len(numbers), dtype=np.int32)
    vectors = table.column("features").combine_chunks().flatten().to_numpy()
    return Factors(inner[table.column("id").to_numpy()], vectors.reshape(len(table), -1))
