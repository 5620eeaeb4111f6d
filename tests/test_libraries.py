"""A library that cannot be imported is named with what to do, without a traceback."""

import sys

import pytest

from harness._util import libraries
from harness.errors import HarnessError


def test_a_library_that_refuses_another_says_what_to_do(tmp_path, monkeypatch):
    (tmp_path / "refusing.py").write_text("raise ImportError('needs NumPy 2, found 1.26')")
    monkeypatch.syspath_prepend(tmp_path)
    library = libraries._Library("refusing")
    said = r"refusing: it cannot be imported \(needs NumPy 2, found 1\.26\); run `pip install --up"
    with pytest.raises(HarnessError, match=said):
        _ = library.anything
    assert "refusing" not in sys.modules
