"""What libraries returned: the answers follow from the values, and the libraries return them."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from harness.extras.conformance.asking import ADAPTERS, ask, interpreter, libraries, version
from harness.extras.conformance.profile import profile, questions, suite

KEPT = json.loads(
    (Path(__file__).parents[3] / "results" / "conformance" / "libraries.json").read_text("utf-8")
)
FETCHES = pytest.mark.skipif(
    not os.environ.get("HARNESS_PEERS"), reason="HARNESS_PEERS is not set; fetches gigabytes"
)


def test_at_least_twelve_libraries_are_kept_each_with_version_and_adapter():
    assert set(KEPT) == set(libraries())
    assert len({library.distribution for library in libraries().values()}) >= 12
    for name, kept in KEPT.items():
        assert kept["version"]
        assert kept["adapter"] == libraries()[name].source
        assert set(kept["returned"]) == {case["name"] for case in suite()["cases"]}


@pytest.mark.parametrize("name", KEPT)
def test_the_kept_answers_follow_from_the_kept_values(name):
    found = profile(KEPT[name]["returned"]).to_dict()
    kept = {key: KEPT[name][key] for key in found}
    # Versions of Python add floats in other orders.
    key = "largest_difference"
    assert found.pop(key) == pytest.approx(kept.pop(key), abs=1e-14)
    assert json.loads(json.dumps(found)) == kept


@pytest.mark.parametrize("name", KEPT)
def test_every_deviation_is_reproduced_with_the_library_alone(name):
    odd = {finding["question"] for finding in KEPT[name]["findings"]}
    shown = {each.question for each in libraries()[name].reproductions}
    assert odd == shown - {"label"}
    assert shown <= {*questions(), "label"}


@pytest.mark.parametrize("name", KEPT)
def test_every_library_names_the_places_that_document_it(name):
    library, kept = libraries()[name], KEPT[name]
    assert library.documentation
    for each in library.documentation:
        assert each.place
        assert bool(each.address) == bool(each.version)
        assert {*each.states, *each.otherwise} <= {*questions()} - {*library.of_caller}
        assert all({**kept["answers"], **kept["unasked"]}[question] for question in each.states)


@pytest.mark.parametrize("name", KEPT)
def test_a_deviation_is_not_documented(name):
    stated = {question for each in libraries()[name].documentation for question in each.states}
    assert not stated & {finding["question"] for finding in KEPT[name]["findings"]}


@FETCHES
@pytest.mark.long
@pytest.mark.parametrize("name", KEPT)
def test_the_library_returns_what_is_kept(name):
    python = interpreter(name)
    if version(libraries()[name], python) == KEPT[name]["version"]:
        got = ask(libraries()[name].adapter, python, ADAPTERS)
        for case, kept in KEPT[name]["returned"].items():
            expected = pytest.approx(kept, abs=1e-6) if isinstance(kept, float) else kept
            assert got[case] == expected, case


@FETCHES
@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in KEPT if libraries()[name].reproductions])
def test_a_reproduction_prints_what_the_page_shows(name):
    for each in libraries()[name].reproductions:
        done = subprocess.run(
            [interpreter(name), "-W", "ignore", "-c", each.code],
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip().splitlines()[-1] == each.prints
