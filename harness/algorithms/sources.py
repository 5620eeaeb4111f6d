"""What gives models of other libraries: the rows of a config that have a slash in their name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import ClassVar

from harness.algorithms.base import Algorithm
from harness.algorithms.parameters import Fault, Params
from harness.errors import AlgorithmError, PluginError, suggestion
from harness.plugins import registry as plugins
from harness.plugins.registry import folded


class Source(ABC):
    """Models of other libraries as rows: a plug-in of the group ``harness.sources``.

    A row ``{library: cornac, model: MF}`` is the algorithm ``cornac/MF``; what stands before the
    slash is a prefix of one source. A source is made once in a process, without arguments.
    """

    api: ClassVar[int] = 1
    """The version of the interface that the class is written for."""

    @abstractmethod
    def prefixes(self) -> list[str]:
        """Return what may stand before the slash, as it is spelled in tables."""

    @abstractmethod
    def models(self) -> Iterator[Mapping[str, str]]:
        """Yield ``library``, ``model``, ``scores`` and ``parameters`` of each model, for lists."""

    @abstractmethod
    def canonical(self, name: str) -> str:
        """Return the spelling of a name that tables use.

        Raises
        ------
        AlgorithmError
            If the library has no such model.
        """

    @abstractmethod
    def entry(self, name: str) -> type[Algorithm]:
        """Return what is known of a model."""

    @abstractmethod
    def check(self, name: str, params: Params) -> Iterator[Fault]:
        """Yield what is wrong with parameters, without making the model."""

    @abstractmethod
    def identity(self, name: str) -> str:
        """Return what decides the numbers of a model beside its parameters: its versions."""

    def prepare(self, name: str, params: Params) -> None:  # noqa: B027 - most need nothing
        """Make ready what a fit needs, before the clock starts."""


def _by_plugin() -> Iterator[tuple[str, Source]]:
    """Yield the sources that can be used, with the names of their plug-ins."""
    for plugin, reason in plugins.declared("sources"):
        if reason or plugins.problem(plugin):
            continue
        made = plugin.load()
        if not (isinstance(made, type) and issubclass(made, Source)):
            raise PluginError(
                f"sources: {plugin.name!r} of {plugin.origin}: it is not a subclass of "
                "harness.algorithms.sources.Source; correct the entry point"
            )
        yield plugin.name, made()


def sources() -> dict[str, Source]:
    """Return the sources by the prefixes that they have."""
    return {prefix: source for _, source in _by_plugin() for prefix in source.prefixes()}


def source_name(name: str) -> str:
    """Return the plug-in that the model of a name with a slash is from."""
    prefix = folded(name.partition("/")[0])
    known = {folded(each): plugin for plugin, made in _by_plugin() for each in made.prefixes()}
    return known[prefix]


def source_of(name: str) -> Source:
    """Return the source of a name with a slash.

    Raises
    ------
    AlgorithmError
        If no source has the prefix.
    """
    prefix = name.partition("/")[0]
    by_spelling = {folded(each): source for each, source in sources().items()}
    if folded(prefix) not in by_spelling:
        known = [*sources()]
        todo = suggestion(prefix, known) if known else plugins.absent("sources", prefix)
        raise AlgorithmError(f"unknown library {prefix!r}; {todo}")
    return by_spelling[folded(prefix)]
