"""What the metadata promise is what is tested, and what the licence says is in the package."""

import re
import tomllib
from pathlib import Path

import yaml

TOP = Path(__file__).parents[2]
PROJECT = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PYTHONS = re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["classifiers"]))
WORKFLOW = yaml.safe_load((TOP / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))


def test_every_python_of_the_metadata_is_tested():
    assert WORKFLOW["jobs"]["all"]["strategy"]["matrix"]["python"] == PYTHONS
    (named,) = re.findall(r"for version in ([\d. ]+); do", (TOP / ".ci" / "run").read_text())
    assert named.split() == PYTHONS[::-1]
    badge = (TOP / "docs" / "images" / "badge-python.svg").read_text(encoding="utf-8")
    assert badge.count(" | ".join(PYTHONS)) == 3
    assert PROJECT["requires-python"] == f">={PYTHONS[0]}"


def test_other_systems_are_tested_on_the_first_and_the_last_python():
    assert "Operating System :: OS Independent" in PROJECT["classifiers"]
    matrix = WORKFLOW["jobs"]["tests"]["strategy"]["matrix"]
    assert matrix["system"] == ["windows-latest", "macos-latest"]
    assert matrix["python"] == [PYTHONS[0], PYTHONS[-1]]


def test_the_licence_names_the_code_and_the_ratings_and_their_texts_exist():
    assert PROJECT["license"] == "MIT AND LicenseRef-MovieLens"
    texts = [path for each in PROJECT["license-files"] for path in TOP.glob(each)]
    assert [path.name for path in texts] == ["LICENSE", "LICENSE-movielens.txt"]
    assert texts[0].read_text(encoding="utf-8").startswith("MIT License")
    assert "MovieLens" in texts[1].read_text(encoding="utf-8")
