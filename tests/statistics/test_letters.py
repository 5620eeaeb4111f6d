"""Letters say of every two algorithms whether they are told apart."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.statistics import letters


def matrix(n, pairs):
    different = np.zeros((n, n), bool)
    for one, other in pairs:
        different[one, other] = different[other, one] = True
    return different


@st.composite
def matrices(draw):
    n = draw(st.integers(1, 9))
    pairs = [(one, other) for one in range(n) for other in range(one)]
    return matrix(n, draw(st.lists(st.sampled_from(pairs))) if pairs else [])


@settings(deadline=None, max_examples=300)
@given(matrices())
def test_two_share_a_letter_just_if_they_are_not_told_apart(different):
    marks = letters(different)
    for one in range(len(different)):
        assert marks[one]
        for other in range(one):
            assert bool(set(marks[one]) & set(marks[other])) != different[one, other]


@settings(deadline=None, max_examples=200)
@given(matrices())
def test_no_letter_can_be_spared_and_they_come_in_order(different):
    marks = letters(different)
    used = sorted(set("".join(marks)))
    assert used == list("abcdefghijklmnopqrstuvwxyz"[: len(used)])
    firsts = [next(place for place, mark in enumerate(marks) if letter in mark) for letter in used]
    assert firsts == sorted(firsts)
    for letter in used:
        without = [set(mark) - {letter} for mark in marks]
        shares = all(
            different[one, other] or without[one] & without[other]
            for one in range(len(marks))
            for other in range(one + 1)
        )
        assert not shares


@pytest.mark.parametrize(
    ("n", "pairs", "expected"),
    [
        (1, [], ["a"]),
        (3, [], ["a", "a", "a"]),
        (3, [(0, 1), (0, 2), (1, 2)], ["a", "b", "c"]),
        (3, [(0, 2)], ["a", "ab", "b"]),
        (4, [(0, 2), (0, 3), (1, 3)], ["a", "ab", "bc", "c"]),
        # Not a chain: the best and the worst are alike, the two between them differ from both.
        (4, [(0, 1), (0, 2), (1, 3), (2, 3)], ["a", "b", "b", "a"]),
    ],
)
def test_examples_worked_by_hand(n, pairs, expected):
    assert letters(matrix(n, pairs)) == expected


def test_after_z_letters_are_doubled_and_kept_apart():
    marks = letters(~np.eye(30, dtype=bool))
    assert marks[:2] == ["a", "b"]
    assert marks[25:28] == ["z", "aa", "ab"]
    chain = np.abs(np.subtract.outer(np.arange(30), np.arange(30))) > 1
    assert letters(chain)[27] == "aa.ab"
