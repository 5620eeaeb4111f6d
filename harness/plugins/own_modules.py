"""Your own modules: found beside a config, and imported with clear error messages."""

from __future__ import annotations

import builtins
import importlib
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from threading import RLock
from types import ModuleType
from typing import Any

from harness.errors import PluginError, reason_of

LONGEST_PATH = 200
"""Characters of a path that a message shows."""


def search_in(folders: Iterable[Path]) -> None:
    """Let your own modules in folders be found by name, after installed ones."""
    places = dict.fromkeys(str(folder.resolve()) for folder in folders)
    sys.path += [place for place in places if place not in sys.path]


def add_files(paths: Iterable[Path]) -> None:
    """Import your own files as modules by their names, in place of installed ones.

    Raises
    ------
    PluginError
        If a file is not there or cannot be imported, or another module has its name.
    """
    for path in paths:
        folder, stem = str(path.parent.absolute()), path.stem
        try:
            is_there = path.is_file()
        except (OSError, ValueError):  # a name too long, or one that no file can have
            is_there = False
        if not is_there:
            shown = str(path) if len(str(path)) <= LONGEST_PATH else f"{str(path)[:LONGEST_PATH]}…"
            raise PluginError(f"{shown}: no such file; correct its path under `plugins`")
        if path.suffix != ".py" or not stem.isidentifier():
            raise PluginError(f"{path}: not a module; name it as mine.py, without other signs")
        if folder not in sys.path:
            sys.path.append(folder)
        module = import_module(stem)
        imported = getattr(module, "__file__", None)
        if imported is None or Path(imported).resolve() != path.resolve():
            raise PluginError(
                f"{path}: another module has the name {stem!r}, {imported or 'a built-in one'}; "
                "rename the file"
            )


BROUGHT: dict[str, ModuleType] = {}
"""Modules that were loaded because a config named one of them."""
_asked: dict[str, set[str]] = {}
"""By the name in a config, the loaded modules for which its import asked."""


_importing = RLock()
"""Held while the function that imports is another one."""


def imported(name: str) -> ModuleType:
    """Import a module that a config names, and remember what was loaded for it."""
    if name in sys.modules:
        return sys.modules[name]
    with _importing:
        return _imported(name)


def _imported(name: str) -> ModuleType:
    parts = name.split(".")
    before, asked = {*sys.modules}, {".".join(parts[:n]) for n in range(1, len(parts))}
    original = builtins.__import__

    def ask(
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        module = original(name, globals, locals, fromlist or (), level)
        base = name
        if level and globals:
            parents = str(globals.get("__package__") or "").split(".")
            around = parents[: len(parents) - level + 1]
            base = ".".join(filter(None, (*around, name)))
        asked.update((base, base.partition(".")[0], *(f"{base}.{part}" for part in fromlist or ())))
        return module

    builtins.__import__ = ask
    try:
        return importlib.import_module(name)
    finally:
        builtins.__import__ = original
        new = {*sys.modules} - before
        BROUGHT.update((each, sys.modules[each]) for each in new)
        _asked[name] = asked & before


def loaded_by_others(name: str) -> list[str]:
    """Return which of a module and those that it imports were loaded by other code than a config.

    They may have been changed since, in this process.
    """
    if name not in sys.modules:
        return []
    return [each for each in (name, *_asked.get(name, ())) if not _is_brought(each)]


def forget(is_own: Callable[[str], bool]) -> bool:
    """Unload your own modules that configs named, so that the next config reads their files again.

    Return whether there were any.
    """
    names = [name for name in BROUGHT if _is_brought(name) and is_own(name)]
    for name in names:
        del sys.modules[name], BROUGHT[name]
    return bool(names)


def _is_brought(name: str) -> bool:
    return name in BROUGHT and sys.modules.get(name) is BROUGHT[name]


def import_module(name: str) -> object:
    """Import a module of somebody else's, and turn whatever goes wrong into a `PluginError`."""
    try:
        return imported(name)
    except KeyboardInterrupt:
        raise
    except ModuleNotFoundError as error:
        if error.name == name.partition(".")[0]:
            raise PluginError(
                f"there is no module {name!r}; put {name.partition('.')[0]}.py beside the config, "
                "or install the package that has it"
            ) from None
        raise PluginError(
            f"{name!r} cannot be imported ({error}); install what it needs"
        ) from error
    except BaseException as error:  # a script that is imported can call sys.exit
        said = f"{type(error).__name__}: {reason_of(error)}"
        raise PluginError(f"importing {name!r} failed ({said}); fix the module") from error
