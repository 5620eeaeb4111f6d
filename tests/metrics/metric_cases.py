"""Lists of one user, made by hypothesis, and rankings made of them."""

import numpy as np
from hypothesis import strategies as st

from harness import metrics, rankings

LEVELS = [1.0, 2.0, 3.0]
GRADES = [0.0, 1.0, 2.0, 3.0, 4.0]


@st.composite
def cases(draw, most=7, judged_only=False):
    """Draw estimates, relevances (None where nobody judged) and grades of items never ranked."""
    n = draw(st.integers(0, most))
    estimates = draw(st.lists(st.sampled_from(LEVELS), min_size=n, max_size=n))
    grade = st.sampled_from(GRADES)
    if not judged_only:
        grade = st.one_of(st.none(), grade)
    relevance = draw(st.lists(grade, min_size=n, max_size=n))
    missed = draw(st.lists(st.sampled_from(GRADES), max_size=3))
    return estimates, relevance, [] if judged_only else missed


def lists_of(estimates, relevance, missed=()):
    """Return the rankings of one user."""
    judged = [i for i, grade in enumerate(relevance) if grade is not None]
    return rankings.rank_block(
        np.array([estimates], dtype=float).reshape(1, -1),
        [0, len(judged) + len(missed)],
        judged + [-1] * len(missed),
        [relevance[i] for i in judged] + list(missed),
    )


def value(label, lists):
    """Return the first user's score."""
    (scores,) = metrics.score([metrics.parse(label)], lists).values()
    return scores.per_user[0]
