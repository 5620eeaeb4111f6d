"""The patch against Surprise, to the last bit: random cases, and real ratings."""

from __future__ import annotations

import pytest

LATER = [pytest.param(seed, marks=pytest.mark.long) for seed in range(11, 33)]


@pytest.mark.parametrize("seed", [*range(11), *LATER])
def test_random_cases_are_equal_to_the_last_bit(seed, check_case):
    check_case(seed)


@pytest.mark.long
@pytest.mark.parametrize("block", range(10))
def test_five_hundred_random_cases_are_equal_to_the_last_bit(block, check_case):
    for seed in range(100 + 50 * block, 150 + 50 * block):
        check_case(seed)
