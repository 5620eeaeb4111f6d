"""Numbers get as many decimals as their uncertainty allows, by one rule."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.results.record import AlgorithmMean, MetricComparison, RunInfo
from harness.results.values import column_decimals, decimals, rounded

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


@pytest.mark.parametrize(
    ("bounds", "digits"),
    [
        ([(None, None)], [4]),
        ([], []),
        ([(0.5 - 1.96 * 0.012, 0.5 + 1.96 * 0.012)], [3]),  # 2 * 1.96 standard errors wide
        ([(0.1, 0.9), (0.101, 0.109)], [2, 4]),
    ],
)
def test_each_table_has_decimals_of_its_own(bounds, digits):
    statistics = [
        MetricComparison.model_construct(
            table=str(number),
            metric="a",
            algorithms=[AlgorithmMean.model_construct(low=low, high=high)],
        )
        for number, (low, high) in enumerate(bounds)
    ]
    found = column_decimals(RunInfo.model_construct(statistics=statistics))
    assert found == {(str(number), "a"): each for number, each in enumerate(digits)}
