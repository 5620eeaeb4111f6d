"""Data sets by name: of the catalogue, of other packages, of a function of one's own."""

import sys

import pandas as pd
import pytest
from click.testing import CliRunner

import harness
from harness.console.commands import _harness
from harness.datasets.catalogue import CATALOGUE
from harness.datasets.section import DatasetSection
from harness.errors import DataError
from harness.plugins import registry as plugins
from tests.plugins.test_plugins import install

FRAME = "pandas.DataFrame({'user': [1, 1, 2], 'item': [7, 8, 7], 'rating': [2.0, 5.0, 3.0]})"
EXPECTED = pd.DataFrame({"user": [1, 1, 2], "item": [7, 8, 7], "rating": [2.0, 5.0, 3.0]})
pytestmark = pytest.mark.usefixtures("site")


def package(site, result, package="shop-data", version="0.4"):
    code = f"import harness, pandas\n\n\ndef visits():\n    return {result}\n"
    install(site, package, version, {"datasets": {"shops": "shop_data:visits"}}, shop_data=code)
    plugins.refresh()


def test_the_names_are_those_of_the_catalogue():
    assert plugins.builtin_names("datasets") == [*CATALOGUE]
    for name, entry in CATALOGUE.items():
        assert plugins.find("datasets", name).load() is entry


@pytest.mark.parametrize("result", [FRAME, f"harness.Ratings.from_frame({FRAME})"])
@pytest.mark.parametrize("name", ["shops", "shop_data:visits"])
def test_ratings_are_those_of_the_function_under_the_name(site, result, name):
    package(site, result)
    ratings = harness.load(name)
    assert ratings.name == name
    assert ratings.fingerprint == harness.Ratings.from_frame(EXPECTED).fingerprint


def test_options_hold_as_for_files(site):
    package(site, FRAME)
    chosen = {"name": "shops", "scale": [0, 4], "out_of_scale": "drop"}
    ratings = harness.load(chosen)
    assert (ratings.scale, ratings.ratings.tolist()) == ((0.0, 4.0), [2.0, 3.0])
    with pytest.raises(DataError, match="the rating 5 is outside the scale 0 to 4"):
        harness.load({"name": "shops", "scale": [0, 4]})


def test_a_name_is_validated_without_importing(site):
    package(site, FRAME)
    assert DatasetSection.model_validate("shops").data_set is None
    assert "shop_data" not in sys.modules
    with pytest.raises(DataError, match=r"did you mean 'shops'\?"):
        harness.load("shop")


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ("1 / 0", r"it failed \(ZeroDivisionError: division by zero\)"),
        ("{1}", "it returned a set; return harness.Ratings or a table of pandas, Polars"),
        ("pandas.DataFrame({'user': [1]})", "no column for the item and the rating"),
        ("harness.load('nothing')", "no data set is called 'nothing'"),
    ],
)
def test_what_goes_wrong_names_the_plugin_and_its_package(site, result, said):
    package(site, result)
    with pytest.raises(DataError, match=f"datasets: 'shops' of shop-data 0.4: .*{said}"):
        harness.load("shops")


def test_two_packages_with_one_name_are_refused_with_both(site):
    package(site, FRAME)
    package(site, FRAME, "other-data", "1")
    with pytest.raises(DataError, match=r"other-data 1 and shop-data 0.4 all have 'shops'"):
        harness.load("shops")


def test_a_path_beside_it_is_refused(site):
    package(site, FRAME)
    with pytest.raises(DataError, match="shops is not read from a path; leave out name or path"):
        harness.load({"name": "shops", "path": "a.csv"})


def test_the_list_and_the_record_of_a_run_name_its_package(site, tmp_path):
    package(site, FRAME)
    outcome = CliRunner().invoke(_harness, ["list", "datasets"], catch_exceptions=False)
    (line,) = [line for line in outcome.output.splitlines() if line.startswith("shops")]
    assert "of shop-data 0.4" in line
    config = {
        "dataset": "shops", "split": "holdout", "algorithms": ["ItemMean"], "metrics": ["rmse"],
    }  # fmt: skip
    run = harness.run(config, results=tmp_path)
    (used,) = run.info.plugins
    assert (used.kind, used.name, used.package, used.version) == (
        "datasets", "shops", "shop-data", "0.4",
    )  # fmt: skip
