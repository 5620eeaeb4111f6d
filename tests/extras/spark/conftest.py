"""One small Spark for the tests of this folder, skipped with a reason where it cannot start."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from harness.errors import AlgorithmError
from harness.extras.spark.session import find_java, local_session


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """Return a session with two threads, small Arrow batches and few partitions."""
    pytest.importorskip("pyspark", reason="the extra `spark` is not installed: pip install pyspark")
    try:
        find_java("the tests of Spark")
    except AlgorithmError as error:
        pytest.skip(str(error))
    settings = {
        "spark.master": "local[2]",
        "spark.driver.memory": "1g",
        "spark.sql.shuffle.partitions": "3",
        "spark.default.parallelism": "3",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "1000",
    }
    with warnings.catch_warnings():
        # Spark's Python side opens sockets that it leaves to the collector.
        warnings.simplefilter("ignore", ResourceWarning)
        session = local_session("the tests of Spark", settings)
        yield session
        session.stop()
