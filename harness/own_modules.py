"""Modules of one's own: found beside a config, and imported with words for what goes wrong."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable
from pathlib import Path

from harness.errors import PluginError, reason_of

LONGEST_PATH = 200
"""Characters of a path that a message shows."""


def search_in(folders: Iterable[Path]) -> None:
    """Let modules of one's own in folders be found by name, after installed ones."""
    places = dict.fromkeys(str(folder.resolve()) for folder in folders)
    sys.path += [place for place in places if place not in sys.path]


def add_files(paths: Iterable[Path]) -> None:
    """Import files of one's own as modules by their names, in place of installed ones.

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


def import_module(name: str) -> object:
    """Import a module of somebody else's, and turn whatever goes wrong into a `PluginError`."""
    try:
        return importlib.import_module(name)
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
