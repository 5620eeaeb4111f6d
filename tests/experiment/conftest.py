"""Modules with algorithms that a test writes."""

import sys

import pytest


@pytest.fixture
def write_module(tmp_path, monkeypatch):
    """Return a function that writes a module, importable by its name while the test runs."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    names = []

    def write(name, source):
        names.append(name)
        path = tmp_path / f"{name}.py"
        path.write_text(source)
        return path

    yield write
    for name in names:
        sys.modules.pop(name, None)
