"""What the functions and classes of a module do as they are loaded, equal in every process."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from types import CodeType, FunctionType, MethodType, ModuleType

CONSTANT = bool | int | float | complex | str | bytes | tuple | frozenset | None | type(Ellipsis)
CODE = (
    *("co_code", "co_exceptiontable", "co_consts", "co_names", "co_varnames", "co_freevars"),
    *("co_cellvars", "co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_flags"),
)
"""What a compiled function does, without its file and its lines."""


def described(
    names: Mapping[str, object], home: str, around: tuple[type, ...] = ()
) -> dict[str, object]:
    """Return the functions and classes of the module `home` among the names of it or of a class.

    A class of the classes `around`, which refers to itself, is left out.
    """
    members = {
        name: _loaded(value, home, around)
        for name, value in sorted(names.items())
        if not isinstance(value, CONSTANT)
    }
    return {name: code for name, code in members.items() if code is not None}


def _loaded(value: object, home: str, around: tuple[type, ...]) -> object:
    """Return code as data that are the same in every process; None for what is not of `home`."""
    if isinstance(value, ModuleType):
        return None
    if isinstance(value, staticmethod | classmethod | MethodType):
        value = value.__func__
    elif not isinstance(value, type | FunctionType | CodeType | CONSTANT):
        for name in ("py_func", "__wrapped__"):  # of a compiled loop; of a cached function
            value = inspect.getattr_static(value, name, value)
    if isinstance(value, CodeType):
        return [_loaded(getattr(value, name), home, around) for name in CODE]
    if isinstance(value, FunctionType):
        parts = (value.__code__, value.__defaults__) if value.__module__ == home else ()
        wrapped = getattr(value, "__wrapped__", None)
        return [_loaded(part, home, around) for part in (*parts, wrapped)]
    if isinstance(value, property):
        return [_loaded(method, home, around) for method in (value.fget, value.fset, value.fdel)]
    if isinstance(value, type) and value.__module__ == home:
        if value in around:
            return None
        bases = [f"{base.__module__}.{base.__qualname__}" for base in value.__bases__]
        return [bases, described(vars(value), home, (*around, value))]
    if isinstance(value, tuple):
        return [_loaded(item, home, around) for item in value]
    if isinstance(value, frozenset):  # whose order differs between processes
        return sorted(str(_loaded(item, home, around)) for item in value)
    return repr(value) if isinstance(value, CONSTANT) else None


def edited(text: str, names: Mapping[str, object]) -> dict[str, str]:
    """Return the constants of a module and its classes that are not loaded as its text says.

    In a live process the file may have been changed after the import. Constants that the code sets
    anew when it runs are left out: they differ between processes.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return {}
    anew: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            anew |= {*node.names}
        elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            anew |= {node.attr} - ({node.attr} if ast.unparse(node.value) == "self" else set())
    constants = dict(_constants(tree.body, names))
    return {
        name: repr(loaded)
        for name, (said, loaded) in constants.items()
        if name.rpartition(".")[2] not in anew and repr(said) != repr(loaded)
    }


def _constants(
    body: Sequence[ast.stmt], names: Mapping[str, object], start: str = ""
) -> Iterator[tuple[str, tuple[object, object]]]:
    """Yield each constant with the value in the text and the loaded one."""
    for statement in body:
        if isinstance(statement, ast.ClassDef) and isinstance(names.get(statement.name), type):
            members = vars(names[statement.name])
            yield from _constants(statement.body, members, f"{start}{statement.name}.")
        elif isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            for target in targets:
                with suppress(ValueError):
                    said = ast.literal_eval(statement.value)
                    loaded = names.get(target.id) if isinstance(target, ast.Name) else said
                    if isinstance(said, CONSTANT) and isinstance(loaded, CONSTANT):
                        yield f"{start}{ast.unparse(target)}", (said, loaded)
