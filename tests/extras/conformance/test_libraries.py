"""What libraries returned: the answers follow from the values, and the libraries return them.

Libraries of this environment are always asked. The others get environments in the folder that
``HARNESS_PEERS`` names, which are kept; without the variable their tests are skipped, each by name:

    HARNESS_PEERS=/tmp/peers pytest -m long tests/extras/conformance -k "rankkit or lightgbm"
"""

import json
import os
import subprocess
from importlib import metadata
from pathlib import Path

import pytest

from harness.errors import HarnessError
from harness.extras.conformance.asking import ask, libraries
from harness.extras.conformance.profile import profile, questions, suite

KEPT = json.loads(
    (Path(__file__).parents[3] / "results" / "conformance" / "libraries.json").read_text("utf-8")
)
PEERS = os.environ.get("HARNESS_PEERS")


def test_at_least_twelve_libraries_are_kept_each_with_version_and_adapter():
    assert set(KEPT) == set(libraries())
    assert len({library.distribution for library in libraries().values()}) >= 12
    for name, kept in KEPT.items():
        assert kept["version"]
        assert kept["adapter"] == libraries()[name].file.read_text(encoding="utf-8")
        assert set(kept["returned"]) == {case["name"] for case in suite()["cases"]}


@pytest.mark.parametrize("name", KEPT)
def test_the_kept_answers_follow_from_the_kept_values(name):
    found = profile(KEPT[name]["returned"]).to_dict()
    kept = {key: KEPT[name][key] for key in found}
    assert json.loads(json.dumps(found)) == kept


@pytest.mark.parametrize("name", KEPT)
def test_every_deviation_is_reproduced_with_the_library_alone(name):
    odd = {finding["question"] for finding in KEPT[name]["findings"]}
    shown = {each["question"] for each in libraries()[name].reproductions}
    assert odd == shown - {"label"}
    assert shown <= {*questions(), "label"}


@pytest.mark.parametrize("name", KEPT)
def test_every_library_names_the_places_that_document_it(name):
    library, kept = libraries()[name], KEPT[name]
    assert library.documentation
    for each in library.documentation:
        assert {*each} - {"address", "version", "otherwise"} == {"place", "states"}
        assert ("address" in each) == ("version" in each)
        named = {*each["states"], *each.get("otherwise", {})}
        assert named <= {*kept["answers"], *kept["unasked"]} - {*library.of_caller}


@pytest.mark.parametrize("name", KEPT)
def test_a_deviation_is_not_documented(name):
    stated = {question for each in libraries()[name].documentation for question in each["states"]}
    assert not stated & {finding["question"] for finding in KEPT[name]["findings"]}


@pytest.fixture
def python(request, monkeypatch):
    """Return an interpreter that has the kept version of a library; skip, and say why, without."""
    name = request.getfixturevalue("name")
    distribution, kept = libraries()[name].distribution, KEPT[name]["version"]
    if PEERS:
        monkeypatch.setenv("HARNESS_CACHE", PEERS)
    elif not any(metadata.distributions(name=distribution)):
        pytest.skip(f"{name}: is not installed here, and HARNESS_PEERS names no folder for it")
    try:
        found = libraries()[name].interpreter()
    except HarnessError as error:
        pytest.skip(f"{name}: {error}")
    if (here := libraries()[name].version(found)) != kept:
        pytest.skip(f"{name}: {here} is installed; the values that are kept are of {kept}")
    return found


@pytest.mark.long
@pytest.mark.timeout(3600)  # an environment may have to be made first
@pytest.mark.parametrize("name", KEPT)
def test_the_library_returns_what_is_kept(name, python):
    got = ask(libraries()[name].target, python)
    for case, kept in KEPT[name]["returned"].items():
        expected = pytest.approx(kept, abs=1e-6) if isinstance(kept, float) else kept
        assert got[case] == expected, case


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    ("name", "number"),
    [(name, n) for name in KEPT for n in range(len(libraries()[name].reproductions))],
)
def test_a_reproduction_prints_what_the_page_shows(name, number, python):
    shown = libraries()[name].reproductions[number]
    done = subprocess.run(
        [python, "-W", "ignore", "-c", shown["code"]], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip().splitlines()[-1] == shown["prints"]
