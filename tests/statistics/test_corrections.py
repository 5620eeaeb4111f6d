"""Corrections and letters, against their definitions and against chance."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.statistics import adjust, letters, randomisation

p_lists = st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.01, 0.05, 1.0])), max_size=30)


def reject_one_by_one(p_values, level):
    """Holm's procedure as he wrote it: the smallest p first, stop at the first that fails."""
    rejected = [False] * len(p_values)
    left = sorted(range(len(p_values)), key=lambda place: p_values[place])
    while left and p_values[left[0]] * len(left) <= level:
        rejected[left.pop(0)] = True
    return rejected


@given(p_lists, st.sampled_from([0.01, 0.05, 0.2]))
def test_holms_adjusted_values_reject_what_his_procedure_rejects(p_values, level):
    assert (adjust(p_values, "holm") <= level).tolist() == reject_one_by_one(p_values, level)


@given(p_lists)
def test_holms_adjusted_values_are_no_smaller_and_keep_the_order(p_values):
    p, adjusted = np.array(p_values), adjust(p_values, "holm")
    assert (adjusted >= p - 1e-15).all()
    assert (adjusted <= 1).all()
    assert (np.diff(adjusted[np.argsort(p, kind="stable")]) >= 0).all()


@pytest.mark.parametrize(
    ("correction", "expected"),
    [
        ("holm", [0.03, 0.04, 0.5]),
        ("benjamini-hochberg", [0.03, 0.03, 0.5]),
        ("none", [0.01, 0.02, 0.5]),
    ],
)
def test_a_correction_is_chosen_by_name(correction, expected):
    np.testing.assert_allclose(adjust([0.01, 0.02, 0.5], correction), expected, rtol=1e-12)
    assert adjust([], correction).tolist() == []


@pytest.mark.long
def test_among_ten_equal_algorithms_holm_finds_a_difference_in_at_most_five_of_a_hundred_draws():
    rng = np.random.default_rng(11)
    n_draws, n_users, n_algorithms = 1000, 60, 10
    first, second = np.triu_indices(n_algorithms, 1)
    scores = rng.beta(1, 3, (n_users, n_draws, 1)) * rng.random((n_users, n_draws, n_algorithms))
    differences = scores[:, :, first] - scores[:, :, second]
    p_values = randomisation(differences.reshape(n_users, -1), 4999, seed=0)
    families = p_values.reshape(n_draws, len(first))
    falsely = np.array([(adjust(family, "holm") <= 0.05).any() for family in families])
    assert falsely.mean() <= 0.05 + 0.015
    # Without a correction some difference is found nearly every second time.
    assert (families <= 0.05).any(axis=1).mean() > 0.4
    assert pytest.approx(0.05, abs=0.015) == (families <= 0.05).mean()


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
def test_two_share_a_letter_only_if_they_do_not_differ_and_no_letter_can_be_spared(different):
    marks = letters(different)
    for one in range(len(different)):
        assert marks[one]
        for other in range(one):
            assert bool(set(marks[one]) & set(marks[other])) != different[one, other]
    used = sorted(set("".join(marks)))
    assert used == list("abcdefghijklmnopqrstuvwxyz"[: len(used)])
    firsts = [next(place for place, mark in enumerate(marks) if letter in mark) for letter in used]
    assert firsts == sorted(firsts)
    for letter in used:
        without = [set(mark) - {letter} for mark in marks]
        assert not all(
            different[one, other] or without[one] & without[other]
            for one in range(len(marks))
            for other in range(one + 1)
        )


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
