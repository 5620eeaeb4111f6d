"""Present names of the modules of version 0.3: the old names stay importable."""

from __future__ import annotations

from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType

MOVED = {
    "algorithms.arrays": "algorithms.own",
    "algorithms.catalogues": "models.estimates",
    "algorithms.model_files": "models.files",
    "algorithms.models": "models.estimates",
    "analyses": "experiment.analyses",
    "analyses.base": "experiment.analyses.base",
    "comparison.gate": "extras.gate.decision",
    "comparison.learning": "extras.curves.learning",
    "comparison.power_analysis": "extras.power.analysis",
    "config.check": "config.load",
    "config.files": "config.yaml",
    "config.settings": "config.experiment",
    "datasets.arrow_columns": "datasets.columns",
    "datasets.file_keys": "datasets.section",
    "datasets.not_rated": "datasets.cleaning",
    "experiment.absent": "experiment.data",
    "experiment.power_analysis": "extras.power.pilot",
    "explanations": "extras.explain.explanations",
    "fitting": "models.fitting",
    "metrics.convention": "metrics.conventions",
    "metrics.exposure_weights": "metrics.weights",
    "metrics.functions": "metrics.own",
    "metrics.listing": "metrics.labels",
    "new_users": "models.new_users",
    "recommendations": "models.recommendations",
    "report.tables": "report.papers",
    "reproduce": "extras.reproduce",
    "results.markdown": "results.runs",
    "results.names": "results.cells",
    "seeds": "_util.seeds",
    "similarities": "extras.explain.similarities",
    "spark": "extras.spark.frames",
    "splits.in_time": "splits.by_time",
    "splits.plugin": "splits.own",
    "statistics.bootstrap": "statistics.arrays",
    "statistics.paired_tests": "statistics.arrays",
    "trackers": "config.trackers",
    "updates": "extras.explain.updates",
}
"""The present home of each module that was public, both without the name of the package."""

PACKAGE = "harness."


class _Alias(ModuleType):
    """A module of an earlier name, with the names of the present one."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):  # what the import system looks for in a module itself
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return getattr(
            import_module(f"{PACKAGE}{MOVED[self.__name__.removeprefix(PACKAGE)]}"), name
        )


class MovedNames:
    """Finds modules by the names that they had."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Return how a moved module is imported; None for any other."""
        own = name.removeprefix(PACKAGE)
        if not name.startswith(PACKAGE) or own not in MOVED:
            return None
        has_parts = any(each.startswith(f"{own}.") for each in MOVED)
        return ModuleSpec(name, MovedNames, is_package=has_parts)  # type: ignore[arg-type]

    @staticmethod
    def create_module(spec: ModuleSpec) -> ModuleType:
        """Return an alias of the present module."""
        return _Alias(spec.name)

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        """Do nothing: the present module has the names."""
