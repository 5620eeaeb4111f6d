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


@given(st.lists(errors, min_size=1))
def test_the_most_certain_number_decides_for_its_column(several):
    assert decimals(several) == max(decimals([each]) for each in several)


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


def test_a_column_without_intervals_keeps_the_default():
    row = {"algorithm": "SVD", "low": None, "high": None}
    info = {"metrics": ["a", "b"], "statistics": [{"metric": "a", "algorithms": [row]}]}
    assert column_decimals(info) == {"a": 4, "b": 4}


def test_an_interval_is_two_times_1_96_standard_errors_wide():
    row = {"algorithm": "SVD", "low": 0.5 - 1.96 * 0.012, "high": 0.5 + 1.96 * 0.012}
    info = {"metrics": ["a"], "statistics": [{"metric": "a", "algorithms": [row]}]}
    assert column_decimals(info) == {"a": 3}
