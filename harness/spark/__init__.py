"""Rankings larger than memory: the harness's metrics over Spark data frames.

Needs the extra ``spark`` (``pip install 'surprise-harness[spark]'``) and a Java runtime, on the
driver and on every executor. Importing this package imports neither.
"""

from __future__ import annotations

from harness.spark.evaluation import Mean, evaluate, mean

__all__ = ["Mean", "evaluate", "mean"]
