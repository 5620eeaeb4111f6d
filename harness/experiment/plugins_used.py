"""The plug-ins that take part in an experiment, as its record keeps them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness import plugins
from harness.algorithms import registry
from harness.config.experiment import Experiment
from harness.datasets.section import DatasetSection
from harness.metrics import parse_many
from harness.results.record import PluginUsed


def plugins_used(experiment: Experiment) -> Iterator[PluginUsed]:
    """Yield each plug-in that is not this package's own, with what readers of the run need."""
    for section in experiment.dataset:
        if section.name is not None and section.data_set is None:
            yield from plugin_used("datasets", section.name, {})
        if (reader := _reader(section)) is not None:
            yield from plugin_used("readers", reader, {})
    for row in {row.name: row for row in experiment.algorithms}.values():
        if "/" not in row.name:
            yield from plugin_used("algorithms", registry.canonical(row.name), {})
    for metric in {metric.name: metric for metric in parse_many(experiment.metrics)}.values():
        if not plugins.find("metrics", metric.name).is_builtin:
            from harness.metrics.recorded import facts_of

            yield from plugin_used("metrics", metric.name, facts_of(metric.definition))
    for name in experiment.analyses:
        yield from plugin_used("analyses", name, {})
    for name in experiment.trackers:
        yield from plugin_used("trackers", name, {})
    for split in experiment.split:
        facts = {"name": split.describe(), "sentence": split.sentence()}
        yield from plugin_used("splits", split.kind, facts)
    for filtered in experiment.filters:
        yield from plugin_used("splits", filtered.kind, {"name": filtered.describe()})


def _reader(section: DatasetSection) -> str | None:
    """Return the name of the reader of a file of one's own."""
    if section.format is not None or section.path is None:
        return section.format
    from harness.datasets.readers import kind_of

    return kind_of(section.paths[0])


def plugin_used(kind: str, name: str, facts: dict[str, Any]) -> Iterator[PluginUsed]:
    """Yield a plug-in unless it is this package's own."""
    plugin = plugins.find(kind, name)
    if not plugin.is_builtin:
        yield PluginUsed(
            kind=kind, name=name, package=plugin.package, version=plugin.version, facts=facts
        )
