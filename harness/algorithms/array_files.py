"""Models of algorithms without Surprise in a file: parameters, and the state that a class gives.

Nothing is pickled. The class is named as in a config, and found again through its plug-in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness import plugins
from harness.algorithms.arrays import ArrayModel, as_model, takes_arrays
from harness.algorithms.model_checks import FileError
from harness.algorithms.model_values import Array, packed, unpacked
from harness.algorithms.trainset import ColumnTrainset
from harness.errors import AlgorithmError, HarnessError, PluginError, reason_of


def name_of(model: ArrayModel) -> str:
    """Return the name by which the class of a model is found again, or say why it is not."""
    algorithm = model.algorithm
    target = f"{algorithm.__module__}:{algorithm.__qualname__}"
    if not all(callable(getattr(algorithm, name, None)) for name in ("state", "restore")):
        raise AlgorithmError(
            f"{target}: it has no `state()` and `restore(state)`, and nothing is pickled; let "
            "`state` return what was learned in a dict of arrays and plain values, and `restore` "
            "take it, or keep the config and fit it again"
        )
    if algorithm.__module__ == "__main__" or "<locals>" in algorithm.__qualname__:
        raise AlgorithmError(
            f"{target}: a class of a script, a notebook or a function cannot be found again; "
            "move it to a module of its own"
        )
    for plugin, reason in plugins.declared("algorithms"):
        if plugin.target == target and not reason:
            return plugin.name
    return target


def state_of(model: ArrayModel, arrays: dict[str, Array]) -> dict[str, Any]:
    """Return parameters and state as JSON; arrays are put among `arrays`."""
    name = f"{model.algorithm.__module__}:{model.algorithm.__qualname__}"
    state = _called(f"{name}.state", model.inner.state)
    if not isinstance(state, dict):
        raise AlgorithmError(
            f"{name}.state returned an object of type {type(state).__name__}; return a dict"
        )
    return {
        part: packed(values, part, arrays, name)
        for part, values in {"params": model.params, "state": state}.items()
    }


def restored(
    name: str,
    content: dict[str, Any],
    arrays: dict[str, Array],
    trainset: ColumnTrainset,
    trust: bool,
) -> ArrayModel:
    """Return the model of a file; code of others is imported only with `trust`."""
    try:
        plugin = plugins.find("algorithms", name)
        if not plugin.is_builtin and not trust:
            raise FileError(
                f"a model of {name!r}, code of {plugin.origin} and not of this package; read that "
                "code first: load_model(path, trust=True) imports and runs it"
            )
        algorithm = plugin.load()
    except PluginError as error:
        raise FileError(str(error)) from error.__cause__
    if not isinstance(algorithm, type) or not takes_arrays(algorithm):
        raise FileError(f"a model of {name!r}, which has no `fit` and `estimate` of arrays")
    if not callable(getattr(algorithm, "restore", None)):
        raise FileError(f"a model of {name!r}, which has no `restore(state)` any more")
    params, state = (unpacked(content[part], arrays) for part in ("params", "state"))
    model: ArrayModel = _called(name, lambda: as_model(algorithm)(**params))
    model.adopt(trainset)
    _called(f"{name}.restore", lambda: model.inner.restore(state))
    return model


def _called(code: str, call: Callable[[], Any]) -> Any:
    """Return what somebody else's code returns; an error of it names the code."""
    try:
        return call()
    except HarnessError:
        raise
    except Exception as error:
        raise AlgorithmError(
            f"{code} failed ({type(error).__name__}: {reason_of(error)}); correct its code"
        ) from error
