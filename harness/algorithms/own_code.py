"""The identity of the code of your own algorithm: a hash of the loaded code."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Iterator, Mapping
from functools import cache
from types import CodeType, FunctionType
from typing import Any

__all__ = ["code_digest"]

PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))


@cache
def code_digest(algorithm: type) -> str:
    """Return a hash of the module that a class was loaded from, at the first call.

    It covers the text of the module's file, and its functions and classes as they are loaded: in
    a live process the file can have changed since the module was imported. What the module imports
    is not covered. Compiled code differs between minor versions of Python.

    Parameters
    ----------
    algorithm : type

    Returns
    -------
    str
        64 hexadecimal digits.
    """
    module = inspect.getmodule(algorithm)
    try:
        text = inspect.getsource(module or algorithm)
    except (OSError, TypeError):  # typed into an interpreter
        text = ""
    members = vars(module) if module else {algorithm.__name__: algorithm}
    described = json.dumps([text, *_members(members, algorithm.__module__)])
    return hashlib.sha256(described.encode("utf-8", "surrogatepass")).hexdigest()


def _members(names: Mapping[str, Any], home: str) -> Iterator[Any]:
    """Yield the functions and classes among the names of a module or a class."""
    for name, value in sorted(names.items()):
        yield from ((name, each) for each in _described(value, home))


def _described(value: Any, home: str) -> Iterator[Any]:
    value = getattr(value, "__func__", value)  # of a static or class method
    value = getattr(value, "py_func", value)  # of a compiled loop
    if isinstance(value, property):
        for each in (value.fget, value.fset, value.fdel):
            yield from _described(each, home)
    elif isinstance(value, FunctionType):
        if value.__module__ == home:
            yield [_code(value.__code__), *map(_constant, value.__defaults__ or ())]
        if hasattr(value, "__wrapped__"):  # a decorated function
            yield from _described(value.__wrapped__, home)
    elif isinstance(value, type) and value.__module__ == home:
        yield [f"{base.__module__}.{base.__qualname__}" for base in value.__bases__]
        yield list(_members(vars(value), home))


def _code(code: CodeType) -> list[Any]:
    """Return what a compiled function does, without its file and its lines."""
    constants = [
        _code(each) if isinstance(each, CodeType) else _constant(each) for each in code.co_consts
    ]
    names = [code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars]
    counts = [code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags]
    return [code.co_code.hex(), code.co_exceptiontable.hex(), constants, names, counts]


def _constant(value: Any) -> Any:
    """Return a constant as data that are the same in every process; None for what can change."""
    if isinstance(value, PLAIN):
        return repr(value)
    if isinstance(value, tuple):
        return [_constant(each) for each in value]
    if isinstance(value, frozenset):  # whose order differs between processes
        return sorted(str(_constant(each)) for each in value)
    return None
