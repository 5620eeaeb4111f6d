"""Every public name of version 0.3 can still be imported."""

from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from harness.plugins.moved import MOVED, PACKAGE

NAMES = (Path(__file__).parents[1] / "data" / "public_names_0_3.txt").read_text().split()


def resolved(path):
    """Import the longest part of a path that is a module, and take the attributes behind it."""
    parts = path.split(".")
    for n in range(len(parts), 0, -1):
        try:
            found = import_module(".".join(parts[:n]))
        except ModuleNotFoundError:
            continue
        for name in parts[n:]:
            found = getattr(found, name)
        return found
    raise AssertionError(path)


@pytest.mark.parametrize("path", NAMES)
def test_a_public_name_of_the_last_version_is_importable(path):
    assert resolved(path) is not None


@pytest.mark.parametrize("old", MOVED)
def test_an_alias_has_the_names_of_the_present_module(old):
    new = import_module(PACKAGE + MOVED[old])
    names = [
        name
        for name, value in vars(new).items()
        if not name.startswith("_") and not isinstance(value, ModuleType)
    ]
    alias = import_module(PACKAGE + old)
    assert all(getattr(alias, name) is getattr(new, name) for name in names)
