"""Algorithms of somebody else: the class at an import path, or that a plug-in names."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable
from importlib.machinery import PathFinder
from pathlib import Path

from harness import own_modules
from harness.algorithms import surprise
from harness.algorithms.arrays import as_model, takes_arrays
from harness.algorithms.base import ENTRIES, Algorithm
from harness.errors import AlgorithmError, suggestion


def load(name: str) -> type:
    """Return the class at ``package.module:Class``, which must be able to estimate."""
    module_name, _, class_name = name.partition(":")
    try:
        module = own_modules.imported(module_name)
    except ImportError as error:
        missing = getattr(error, "name", None) == module_name.partition(".")[0]
        folders = ", ".join(_own_folders())
        looked = f"; looked in {folders} and among the installed packages" if missing else ""
        raise AlgorithmError(
            f"cannot import {module_name!r} ({error}){looked}; "
            "put the module beside the config, or install it"
        ) from None
    except BaseException as error:  # a script that is imported can call sys.exit
        if isinstance(error, KeyboardInterrupt):
            raise
        raise AlgorithmError(
            f"importing {module_name!r} failed ({type(error).__name__}: {error}); fix the module"
        ) from error
    algorithm = getattr(module, class_name, None)
    where = getattr(module, "__file__", module_name)
    if takes_arrays(algorithm):
        return as_model(algorithm)
    if not (isinstance(algorithm, type) and issubclass(algorithm, surprise.AlgoBase)):
        classes = [
            member
            for member, value in vars(module).items()
            if takes_arrays(value)
            or (isinstance(value, type) and issubclass(value, surprise.AlgoBase))
        ]
        hint = suggestion(class_name, classes) if classes else "give it `fit` and `estimate`"
        raise AlgorithmError(
            f"{name!r} is neither a subclass of surprise.AlgoBase nor a class with `fit(train)` "
            f"and `estimate(users, items)` in {where}; {hint}"
        )
    inherited = (
        getattr(algorithm, method) is getattr(surprise.AlgoBase, method) for method in ESTIMATING
    )
    if not hasattr(algorithm, "estimate") and all(inherited):
        raise AlgorithmError(
            f"{name!r} in {where} has no method that estimates a rating; define "
            "`estimate(self, u, i)` for inner ids, as Surprise's own classes do"
        )
    return algorithm


def entry_of_class(name: str, declared: object) -> type[Algorithm]:
    """Return what is known of a class of somebody else's, which a plug-in names."""
    model_class = as_model(declared) if takes_arrays(declared) else declared
    if not (isinstance(model_class, type) and issubclass(model_class, surprise.AlgoBase)):
        raise AlgorithmError(
            f"{name!r} is no algorithm; its author has to name a class with `fit` and `estimate`"
        )
    entry = ENTRIES.get(model_class)
    if entry is not None and entry.takes_arrays:
        entry.name = name
        return entry
    summary = " ".join((model_class.__doc__ or "").partition("\n\n")[0].split())
    members = {"name": name, "kind": "plugin", "summary": summary}
    entry = type(name, (Algorithm,), members)
    entry.model_class = model_class  # after the class is made: Surprise's own `fit` is called
    return entry


def hidden(name: str, folders: Iterable[Path]) -> str:
    """Return what is wrong if ``module:Class`` is not of the first folder that has the module."""
    module_name = name.partition(":")[0]
    imported = getattr(sys.modules.get(module_name), "__file__", None)
    search, origin = [*map(str, folders)], None
    importlib.invalidate_caches()  # of folders that were looked up before they existed
    for part in module_name.split("."):
        spec = PathFinder.find_spec(part, search) if search else None
        search = (spec.submodule_search_locations if spec else None) or []
        origin = spec.origin if spec else None
    if not imported or origin is None or Path(origin).resolve() == Path(imported).resolve():
        return ""
    return (
        f"{module_name!r} is already {imported} in this process, and not {origin}; rename or "
        "remove one of them, or run each config by a command of its own"
    )


ESTIMATING = ("predict", "test")
"""Methods of ``AlgoBase`` that call ``estimate``: a class that has its own may do without."""


def _own_folders() -> list[str]:
    """Return the folders from which modules can be imported that do not belong to Python."""
    python = [Path(prefix).resolve() for prefix in {sys.prefix, sys.base_prefix, sys.exec_prefix}]
    folders = dict.fromkeys(Path(entry).resolve() for entry in reversed(sys.path))
    return [str(p) for p in folders if p.is_dir() and not any(map(p.is_relative_to, python))]
