"""What decides the numbers of cells beside data and settings: code, packages and files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from harness import metrics
from harness.algorithms import registry
from harness.config.experiment import Experiment
from harness.notes import Note

if TYPE_CHECKING:
    from harness.algorithms.identity import Identity

BUILT_IN = ("harness", "surprise")
"""Packages whose versions are in every key."""


class Code:
    """The code of an experiment that is not built in; looked at once, when it is first asked for.

    In another process (`files_planned`) it is the code and the files there: a key that was made of
    others differs. Files that are not on that machine count as the run was planned.
    """

    def __init__(
        self,
        experiment: Experiment,
        folder: str | None,
        files_planned: dict[int, dict[str, str]] | None = None,
    ) -> None:
        self.experiment, self.folder, self.files_planned = experiment, folder, files_planned
        self._identities: dict[str, Identity | None] = {}

    def algorithm(self, name: str) -> Identity | None:
        """Return the identity of an algorithm's code; None of a built-in one or a library's."""
        if "/" in name:
            return None
        return self._identity(f"algorithm {name}", lambda: registry.find(name), ":" in name)

    @cached_property
    def deciding(self) -> Identity | None:
        """The identity of the code of the metric that selects settings; None of a built-in one."""
        label = self.experiment.tuning.metric
        return self._identity("metric", lambda: metrics.parse(label).definition.compute)

    def _identity(
        self, name: str, find: Callable[[], object], by_path: bool = False
    ) -> Identity | None:
        if name not in self._identities:
            code = find()
            if not by_path and code.__module__.partition(".")[0] in BUILT_IN:
                self._identities[name] = None
            else:
                from harness.algorithms.identity import code_identity

                self._identities[name] = code_identity(code)
        return self._identities[name]

    def parts(self, algorithm: int, *, is_trial: bool) -> Iterator[Identity]:
        """Yield the identities that are in the key of a cell of the algorithm of this number."""
        decisive = [self.algorithm(self.experiment.algorithms[algorithm].name)]
        yield from filter(None, [*decisive, *([self.deciding] if is_trial else [])])

    def is_followed(self, algorithm: int, *, is_trial: bool) -> bool:
        """Return whether the key of a cell covers all code that decides its numbers."""
        return not any(part.unfollowed for part in self.parts(algorithm, is_trial=is_trial))

    def notes(self) -> Iterator[Note]:
        """Yield a note for each name whose code cannot be followed in full."""
        rows = self.experiment.algorithms
        identities = {row.name: self.algorithm(row.name) for row in rows}
        if any(row.search is not None for row in rows):
            identities[self.experiment.tuning.metric] = self.deciding
        for name, identity in identities.items():
            if identity is not None and identity.unfollowed:
                reasons = "; ".join(identity.unfollowed)
                yield Note("code-not-followed", {"name": name, "reasons": reasons})
