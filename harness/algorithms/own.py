"""Your own algorithm: the class at an import path, and the identity of its code."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import json
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path
from types import CodeType, FunctionType

from harness.algorithms import surprise
from harness.errors import AlgorithmError, suggestion

CONSTANT = bool | int | float | complex | str | bytes | tuple | frozenset | None | type(Ellipsis)
CODE = (
    *("co_code", "co_exceptiontable", "co_consts", "co_names", "co_varnames", "co_freevars"),
    *("co_cellvars", "co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_flags"),
)
"""What a compiled function does, without its file and its lines."""


def load(name: str) -> type:
    """Return the class at ``package.module:Class``, which must be able to estimate."""
    module_name, _, class_name = name.partition(":")
    try:
        module = importlib.import_module(module_name)
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
    found = getattr(module, class_name, None)
    where = getattr(module, "__file__", module_name)
    if not (isinstance(found, type) and issubclass(found, surprise.AlgoBase)):
        classes = [
            each
            for each, value in vars(module).items()
            if isinstance(value, type) and issubclass(value, surprise.AlgoBase)
        ]
        hint = suggestion(class_name, classes) if classes else "derive a class from it"
        raise AlgorithmError(f"{name!r} is not a subclass of surprise.AlgoBase in {where}; {hint}")
    inherited = (getattr(found, each) is getattr(surprise.AlgoBase, each) for each in ESTIMATING)
    if not hasattr(found, "estimate") and all(inherited):
        raise AlgorithmError(
            f"{name!r} in {where} has no method that estimates a rating; define "
            "`estimate(self, u, i)` for inner ids, as Surprise's own classes do"
        )
    return found


def hidden(name: str, folders: Iterable[Path]) -> str:
    """Return what is wrong if ``module:Class`` is not of the first folder that has the module."""
    module_name = name.partition(":")[0]
    imported = getattr(sys.modules.get(module_name), "__file__", None)
    search, wanted = [*map(str, folders)], None
    importlib.invalidate_caches()  # of folders that were looked up before they existed
    for part in module_name.split("."):
        found = PathFinder.find_spec(part, search) if search else None
        search = (found.submodule_search_locations if found else None) or []
        wanted = found.origin if found else None
    if not imported or wanted is None or Path(wanted).resolve() == Path(imported).resolve():
        return ""
    return (
        f"{module_name!r} is already {imported} in this process, and not {wanted}; rename or "
        "remove one of them, or run each config by a command of its own"
    )


ESTIMATING = ("predict", "test")
"""Methods of ``AlgoBase`` that call ``estimate``: a class that has its own may do without."""


def _own_folders() -> list[str]:
    """Return the folders from which modules can be imported that do not belong to Python."""
    python = [Path(each).resolve() for each in {sys.prefix, sys.base_prefix, sys.exec_prefix}]
    folders = dict.fromkeys(Path(each).resolve() for each in reversed(sys.path))
    return [str(p) for p in folders if p.is_dir() and not any(map(p.is_relative_to, python))]


@cache
def code_digest(algorithm: type) -> str:
    """Return a hash of the module that a class was loaded from, at the first call.

    It covers the module's text, and its functions and classes as they are loaded: in a live process
    the file can have changed since the import. What the module imports is not covered.
    """
    module = inspect.getmodule(algorithm)
    try:
        text = inspect.getsource(module or algorithm)
    except (OSError, TypeError):  # typed into an interpreter
        text = ""
    members = vars(module) if module else {algorithm.__name__: algorithm}
    described = json.dumps([text, _members(members, algorithm.__module__)])
    return hashlib.sha256(described.encode("utf-8", "surrogatepass")).hexdigest()


def _members(names: Mapping[str, object], home: str) -> dict[str, object]:
    """Return the functions and classes among the names of a module or a class."""
    code = {k: _loaded(v, home) for k, v in sorted(names.items()) if not isinstance(v, CONSTANT)}
    return {name: each for name, each in code.items() if each is not None}


def _loaded(value: object, home: str) -> object:
    """Return code as data that are the same in every process; None for what is not of `home`."""
    value = getattr(value, "__func__", value)  # of a static or class method
    value = getattr(value, "py_func", value)  # of a compiled loop
    if isinstance(value, CodeType):
        return [_loaded(getattr(value, name), home) for name in CODE]
    if isinstance(value, FunctionType):
        own = (value.__code__, value.__defaults__) if value.__module__ == home else ()
        return [_loaded(each, home) for each in (*own, getattr(value, "__wrapped__", None))]
    if isinstance(value, property):
        return [_loaded(each, home) for each in (value.fget, value.fset, value.fdel)]
    if isinstance(value, type) and value.__module__ == home:
        bases = [f"{base.__module__}.{base.__qualname__}" for base in value.__bases__]
        return [bases, _members(vars(value), home)]
    if isinstance(value, tuple):
        return [_loaded(each, home) for each in value]
    if isinstance(value, frozenset):  # whose order differs between processes
        return sorted(str(_loaded(each, home)) for each in value)
    return repr(value) if isinstance(value, CONSTANT) else None
