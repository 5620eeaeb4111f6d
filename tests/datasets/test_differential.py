"""The reader gives what pandas reads as text, over generated files, and what frames hold."""

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "tools" / "differential_reader.py"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("differential_reader", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_generated_files_are_read_as_by_pandas(script, tmp_path, first):
    for number in range(first, first + 50):
        assert script.difference(script.make(number), tmp_path) is None, number


def test_generated_frames_are_read_as_by_pandas(script):
    for number in range(300):
        assert script.frame_difference(number) is None, number


def test_a_difference_would_be_found(script, tmp_path, monkeypatch):
    cases = map(script.make, range(50))
    case = next(each for each in cases if each.times == "seconds" and each.damaged is None)
    wanted = script.expected(case)
    wanted.loc[0, "user"] += "x"
    monkeypatch.setattr(script, "expected", lambda case: wanted)
    assert "pandas" in script.difference(case, tmp_path)
