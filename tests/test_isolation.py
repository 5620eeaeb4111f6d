"""Tests read and write nothing of the person who runs them."""

import os
import subprocess
import sys
from pathlib import Path

import matplotlib as mpl
import platformdirs
from hypothesis import settings

HOMES = "import pathlib, platformdirs; print(pathlib.Path.home(), platformdirs.user_cache_dir())"


def test_a_test_and_what_it_starts_have_a_home_of_their_own():
    users = Path(os.environ["HARNESS_TESTS_USERS_HOME"])
    assert Path.home() != users
    places = [platformdirs.user_cache_dir(), mpl.get_cachedir(), mpl.get_configdir()]
    for place in [*places, os.environ["HYPOTHESIS_STORAGE_DIRECTORY"]]:
        assert Path(place).is_relative_to(Path.home()), place
    done = subprocess.run([sys.executable, "-c", HOMES], capture_output=True, text=True, check=True)
    assert all(Path(each).is_relative_to(Path.home()) for each in done.stdout.split())


def test_cases_are_kept_nowhere():
    assert settings().database is None
