"""Numbers get as many decimals as their uncertainty allows, by one rule."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.results.rounding import column_decimals, decimals, rounded

errors = st.floats(1e-6, 90.0)


@given(errors)
def test_the_standard_error_shows_two_digits(error):
    places = decimals([error])
    digits = f"{error:.{places}f}".replace(".", "").lstrip("0")
    assert len(digits) == 2 or (error > 9.9 and places == 0)


@given(st.lists(errors, min_size=1).filter(lambda several: len(several) % 2))
def test_the_middle_number_decides_for_its_column(several):
    assert decimals(several) == decimals([sorted(several)[len(several) // 2]])


def test_nothing_known_gives_four_decimals():
    assert decimals([]) == decimals([0.0, math.nan, math.inf]) == 4


def test_an_error_that_rounds_up_to_the_next_power_has_no_third_digit():
    assert decimals([0.0996]) == 2


def test_a_tiny_error_does_not_give_endless_decimals():
    assert decimals([1e-15]) == 7


@pytest.mark.parametrize(
    ("value", "places", "text"),
    [(0.12345, 3, "0.123"), (2.0, 0, "2"), (-0.0004, 3, "0.000"), (-0.5, 1, "-0.5")],
)
def test_numbers_are_written_with_their_decimals(value, places, text):
    assert rounded(value, places) == text


def test_no_value_is_no_text():
    assert rounded(None, 3) == rounded(math.nan, 3) == ""


def table(metric, *bounds):
    rows = [{"row": "x", "low": low, "high": high} for low, high in bounds]
    return {"table": "one", "metric": metric, "algorithms": rows}


def test_a_column_whose_intervals_are_undefined_keeps_the_default():
    assert column_decimals({"statistics": [table("a", (None, None))]}) == {("one", "a"): 4}


def test_a_run_without_intervals_says_nothing():
    assert column_decimals({}) == {}


def test_an_interval_is_two_times_1_96_standard_errors_wide():
    entry = table("a", (0.5 - 1.96 * 0.012, 0.5 + 1.96 * 0.012))
    assert column_decimals({"statistics": [entry]}) == {("one", "a"): 3}


def test_each_table_has_decimals_of_its_own():
    entries = [table("a", (0.1, 0.9)), table("a", (0.101, 0.109)) | {"table": "other"}]
    assert column_decimals({"statistics": entries}) == {
        ("one", "a"): 2,
        ("other", "a"): 4,
    }
