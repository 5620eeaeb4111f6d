"""Whether a source of models keeps what is expected of one; no model is fitted."""

from __future__ import annotations

from collections.abc import Iterator

from harness.algorithms.base import Algorithm
from harness.algorithms.sources import Source
from harness.errors import AlgorithmError
from harness.plugins import registry as plugins

KEYS = {"library", "model", "scores", "parameters"}
UNKNOWN = "no such parameter anywhere"


def steps(name: str) -> Iterator[str | bytes]:
    """Yield what is wrong with a source in this process, and the identities of its models.

    A model can need its own environment to be fitted, which is left to a run.
    """
    kind = plugins.find("sources", name).load()
    if not (isinstance(kind, type) and issubclass(kind, Source)):
        yield "it is not a source; make it a subclass of `harness.algorithms.sources.Source`"
        return
    source = kind()
    prefixes = source.prefixes()
    if not prefixes or any("/" in prefix or not prefix.strip() for prefix in prefixes):
        yield f"its prefixes are {prefixes!r}; give names without a slash"
        return
    for model in source.models():
        if lacking := KEYS - model.keys():
            yield f"a model lacks {', '.join(sorted(lacking))}; `models` yields {sorted(KEYS)}"
            return
        yield from _model(source, f"{model['library']}/{model['model']}")
    try:
        source.canonical(f"{prefixes[0]}/no such model anywhere")
    except AlgorithmError:
        return
    yield "it takes a model that it does not have; raise an `AlgorithmError`"


def _model(source: Source, name: str) -> Iterator[str | bytes]:
    spelled = source.canonical(name)
    if source.canonical(spelled) != spelled:
        yield f"{name}: its spelling has another spelling; return the spelling that tables show"
    entry: object = source.entry(name)
    if not (isinstance(entry, type) and issubclass(entry, Algorithm)):
        yield f"{name}: `entry` returns {entry!r}; return a subclass of `Algorithm`"
    if [*source.check(name, {})]:
        yield f"{name}: it cannot be made without parameters; give defaults"
    if not [*source.check(name, {UNKNOWN: 1})]:
        yield f"{name}: `check` takes a parameter that does not exist; yield what is wrong"
    yield source.identity(name).encode()
