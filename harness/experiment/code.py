"""Your own code in an experiment: where it computes, and what of it is in the keys of cells."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from harness import metrics, own_modules, plugins
from harness.algorithms import depends, distributions, registry
from harness.config.experiment import Experiment
from harness.errors import AlgorithmError
from harness.execution.attempt import Place
from harness.named_paths import placed
from harness.results.environment import code_of_package, files_of_package
from harness.results.reads import content_digest

PACKAGE = __name__.partition(".")[0]


class Code:
    """The code of an experiment that is not built in.

    In another process (`files_planned`) it is the code and the files there: a key that was made of
    others differs. Files that are not on that machine count as the run was planned.
    """

    def __init__(
        self,
        experiment: Experiment,
        folder: str | None,
        files_planned: dict[int, dict[str, str]] | None = None,
        package_planned: str = "",
    ) -> None:
        self.experiment, self.folder, self.files_planned = experiment, folder, files_planned
        self.package_planned = package_planned
        self._of_session: dict[str, bool] = {}
        self._imported = False

    def for_another_process(self) -> Code:
        """Return the same code for another process."""
        files = {n: self.files(n) for n in range(len(self.experiment.algorithms))}
        folder = str(Path(self.folder or "").resolve())
        return Code(self.experiment, folder, files, self.of_package)

    @cached_property
    def of_package(self) -> str:
        """What tells versions of this package apart: a hash of its files."""
        same = self.package_planned.startswith(files_of_package())
        return self.package_planned if same else code_of_package()

    def import_files(self) -> None:
        """Import the files under `plugins`, once; loading a config has done so where it was."""
        if not self._imported and self.files_planned is not None:
            base = None if self.folder is None else Path(self.folder)
            files = [placed(file, base) for file in self.experiment.plugins or ()]
            own_modules.add_files(file for file in files if file.is_file())  # not on every machine
        self._imported = True

    def place(self, algorithm: int, *, is_trial: bool) -> Place:
        """Return where a cell of the algorithm of this number is computed."""
        modules = [*self._modules(algorithm, is_trial=is_trial)]
        if any(map(self.is_of_session, modules)):
            return Place.SESSION
        is_usual = not modules and not self.experiment.plugins  # a file can change anything
        return Place.USUAL if is_usual else Place.RECORDED

    def names(self, algorithm: int, *, is_trial: bool) -> Iterator[str]:
        """Yield the names of your own code that a cell uses."""
        name = self.experiment.algorithms[algorithm].name
        if self._module("algorithms", name):
            yield name
        if is_trial and self._module("metrics", self._metric):
            yield self.experiment.tuning.metric

    def _modules(self, algorithm: int, *, is_trial: bool) -> Iterator[str]:
        chosen = self._module("algorithms", self.experiment.algorithms[algorithm].name)
        deciding = self._module("metrics", self._metric) if is_trial else ""
        yield from filter(None, (chosen, deciding))

    @cached_property
    def _metric(self) -> str:
        return metrics.parse(self.experiment.tuning.metric).name

    def _module(self, kind: str, name: str) -> str:
        """Return the module of your own that a name stands for; '' for a part of this package."""
        if "/" in name:  # the model of another library, in a process of its own
            return ""
        if kind == "algorithms":
            name = registry.canonical(name)
        plugin = plugins.find(kind, name)
        return "" if plugin.is_builtin else plugin.target.partition(":")[0]

    def is_of_session(self, module: str) -> bool:
        """Return whether a module of your own was loaded in this process before it was named.

        It may have been changed since, and have been loaded from another text than its file has.
        Another process loads a module only because its cells need it: with the classes of the
        plan, before its name is looked up.
        """
        if self.files_planned is not None:
            return False
        if module not in self._of_session:
            names = own_modules.loaded_by_others(module)
            self._of_session[module] = any(map(is_own, names))
        return self._of_session[module]

    def identity(self, kind: str, name: str) -> str:
        """Return a name, with a hash of the file of your own module that it stands for.

        It only tells rows of different runs apart: what else the module reads is recorded.
        """
        module = self._module(kind, name)
        if kind == "algorithms" and not module:
            return registry.canonical(name)
        if not module:
            return name
        if self.is_of_session(module):
            return f"{name} (of the session)"
        (registry.find if kind == "algorithms" else metrics.parse)(name)  # which imports it
        file = getattr(sys.modules.get(module), "__file__", None)
        return f"{name} {content_digest(str(file))}" if file else name

    def files(self, algorithm: int) -> dict[str, str]:
        """Return a hash for each entry of `depends` of the algorithm of this number."""
        folder = None if self.folder is None else Path(self.folder)
        digests: dict[str, str] = {}
        for pattern in self.experiment.algorithms[algorithm].depends:
            try:
                digests[pattern] = depends.digest(pattern, folder)
            except AlgorithmError:
                if self.files_planned is None:
                    raise
                digests[pattern] = self.files_planned[algorithm][pattern]
        return digests


def is_own(name: str) -> bool:
    """Return whether a loaded module is neither of this package, nor of Python, nor installed."""
    file = getattr(sys.modules.get(name), "__file__", None)
    if name.partition(".")[0] == PACKAGE:
        return False
    if file is None:  # typed in, built in, or a folder
        return name == "__main__" or name not in sys.stdlib_module_names
    return not distributions.is_standard(name, file) and not distributions.are_installed(file)


@contextmanager
def own_code_unloaded() -> Iterator[None]:
    """Unload your own modules that a run has loaded, so that the next one reads their files.

    The process that computes cells of your own code does too: the data, the splits and the metrics
    of both must be of one text.
    """
    try:
        yield
    finally:
        if own_modules.forget(is_own):
            registry.named.cache_clear()
            metrics.labels.declaration.cache_clear()
