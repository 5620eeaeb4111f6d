"""Why a metric could not be computed, in words."""

from __future__ import annotations

from harness import plugins
from harness.errors import MetricError, PluginError, reason_of
from harness.metrics.labels import Metric


def reason(metric: Metric, error: BaseException) -> str:
    """Return why a metric failed, with the package that it is of."""
    if isinstance(error, MemoryError):
        said = "out of memory; use a smaller data set or fewer users"
    elif isinstance(error, MetricError):
        said = error.reason
    else:
        said = f"{type(error).__name__}: {reason_of(error)}"
    try:
        plugin = plugins.find("metrics", metric.name)
    except PluginError:
        return said
    return said if plugin.is_builtin or not plugin.version else f"{said} ({plugin.origin})"
