"""All metrics that can be used, for lists and documentation."""

from __future__ import annotations

from collections.abc import Iterable

from harness import plugins
from harness.metrics.definition import Definition
from harness.metrics.labels import definition

NEEDS = ("rankings", "pairs", "items", "genres")


def describe() -> list[Definition]:
    """Return every metric that can be used, ranking metrics first."""
    usable = (plugin for plugin, reason in plugins.declared("metrics") if not reason)
    names = [plugin.name for plugin in usable if plugin.is_builtin or not plugins.problem(plugin)]
    return in_order(definition(name) for name in names)


def in_order(definitions: Iterable[Definition]) -> list[Definition]:
    """Return metrics in the order of lists and documentation: ranking metrics first."""
    return sorted(definitions, key=lambda definition: NEEDS.index(definition.needs))
