"""What a split says of itself: fingerprints and notes."""

import numpy as np
import pytest

from harness.datasets import Ratings
from harness.errors import SplitError
from harness.splits import Holdout, KFold, LeaveNOut, Predefined, make

LATER = "the training ratings are later than the median test rating; `kind: global-time` does not"


def ratings_of(n, times=None, shift=0):
    rows = np.arange(n)
    return Ratings.from_columns(
        rows % 10, rows, (rows + shift) % 5 + 1.0, times, scale=(1, 5), name="made"
    )


def test_a_random_split_of_ratings_with_timestamps_says_that_it_leaks_the_future():
    (split,) = make(Holdout(), ratings_of(2000, np.arange(2000)), seed=0)
    (note,) = [note for note in split.notes if note.startswith("leaks the future: ")]
    share = float(note.split(": ")[1].split("%")[0])
    assert 46 < share < 54
    assert "`kind: global-time` does not" in note
    (split,) = make(Holdout(), ratings_of(2000), seed=0)
    assert not any("leaks" in note for note in split.notes)


def test_leaving_out_the_latest_of_each_user_leaks_too_and_says_so():
    times = np.tile(np.arange(10), 10) * 1000 + np.repeat(np.arange(10), 10)
    (split,) = make(LeaveNOut(choose="latest"), ratings_of(100, times), seed=0)
    assert any(note.startswith("leaks the future") for note in split.notes)


@pytest.mark.parametrize(
    ("train", "time", "share"),
    [
        ([*range(9_000), 9_500], 9_500, "less than 0.1%"),
        (range(9_000), 9_500, None),
        # After the first test rating no longer, nor after the median.
        ([*range(9_000), 9_500], 9_100, None),
    ],
)
def test_a_leak_of_one_rating_in_many_is_not_rounded_away(train, time, share, tmp_path):
    times = np.arange(10_000)
    times[9_500] = time
    whole = ratings_of(10_000, times)
    for name, rows in (("train", train), ("test", range(9_100, 9_500))):
        part = whole.take(np.array(rows))
        part.to_frame().to_csv(tmp_path / f"a.{name}", index=False)
    section = Predefined(train="a.train", test="a.test")
    (split,) = make(section, whole, seed=0, base=tmp_path)
    leaks = [note for note in split.notes if note.startswith("leaks the future")]
    assert leaks == ([] if share is None else [f"leaks the future: {share} of {LATER}"])


def test_fingerprints_tell_rows_their_order_and_the_data_apart():
    first = make(Holdout(random_state=1), ratings_of(50), seed=0)[0].fingerprint
    assert make(Holdout(random_state=1), ratings_of(50), seed=9)[0].fingerprint == first
    assert make(Holdout(random_state=2), ratings_of(50), seed=0)[0].fingerprint != first
    assert make(Holdout(random_state=1), ratings_of(50, shift=1), seed=0)[0].fingerprint != first
    folds = make(KFold(), ratings_of(50), seed=0)
    assert len({fold.fingerprint for fold in folds}) == 5


def test_the_fingerprint_is_the_hash_that_the_documentation_describes():
    import hashlib

    (split,) = make(Holdout(random_state=1), ratings_of(50), seed=0)
    digest = hashlib.sha256(f"{split.ratings.fingerprint} 40 10\n".encode())
    digest.update(split.train.astype("<i8").tobytes() + split.test.astype("<i8").tobytes())
    assert split.fingerprint == digest.hexdigest()


def test_a_split_without_test_ratings_is_refused_with_its_name_and_fold():
    with pytest.raises(SplitError, match="holdout 50%: no training rating is left of 1; change"):
        make(Holdout(test_size=0.5), ratings_of(1), seed=0)
