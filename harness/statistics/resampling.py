"""Random signs and random users, and what the scores of users sum to under them.

Scores are summed as integers, so sums are exact in any order: the same seed always gives the same
bits, with any number of threads and any size of blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from harness._util import seeds
from harness._util.kernels import each_block, kernel

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Integers = NDArray[np.int64]
Bits = NDArray[np.uint8]
"""The bits of how often users count in resamples, shape (n_bits, n_users / 8, n_resamples)."""

MANY_USERS = 2_000
"""Users from which nothing is resampled unless a number of resamples is set."""
LEAST_P = 1e-12
"""The smallest p-value that is distinguished from smaller ones."""
SUM_BITS = 61  # of the largest sum of a column: twice a sum less another fits in 64 bits
BLOCK_BYTES = 1 << 21  # bytes that fit in a processor's cache
MOST_BYTES = 1 << 25  # of a block of resamples
MOST_RESAMPLES = 10**9  # more are a slip: one takes nanoseconds for each user
MOST_EXPECTED = 512  # columns that are summed together
MOST_SUMS = 1 << 25  # sums of expected columns that are in memory for all resamples
FEWEST, MOST = 64, 1000  # resamples in a block
FEWEST_BITS = 4  # of how often a user is drawn; 16 times is rare
COLUMNS_AT_ONCE = 64  # whose sums of 256 subsets of users fit in the cache
LEAST_WORK = 1_000_000  # users times columns times resamples that are too few for another thread


@dataclass(frozen=True, eq=False)
class PairColumns:
    """Differences of columns, of which sums and means are cheap.

    A sum over the difference of two columns is the difference of their sums, if the same users
    have values in both. So the columns are summed instead of the many more pairs of them; a pair
    with different users gets its own column.
    """

    columns: Floats
    first: Indices
    second: Indices

    @classmethod
    def of(cls, table: Floats, first: Indices, second: Indices) -> PairColumns:
        """Return the columns that the differences ``table[:, first] - table[:, second]`` need."""
        _, pattern = patterns(~np.isnan(table))
        other_users = np.flatnonzero(pattern[first] != pattern[second])
        differences = table[:, first[other_users]] - table[:, second[other_users]]
        columns = np.column_stack([table, differences, np.zeros(len(table))])
        first, second = first.copy(), second.copy()
        first[other_users] = table.shape[1] + np.arange(len(other_users))
        second[other_users] = columns.shape[1] - 1
        return cls(columns, first, second)

    def differences(self, values: Floats) -> Floats:
        """Return what belongs to the pairs, from what belongs to the columns (the last axis)."""
        differences: Floats = values[..., self.first] - values[..., self.second]
        return differences


def patterns(defined: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], Indices]:
    """Return the distinct columns, and for each column the number of its pattern.

    >>> distinct, numbers = patterns(np.array([[True, False, True], [True, True, True]]))
    >>> distinct.astype(int).tolist(), numbers.tolist()
    ([[1, 0], [1, 1]], [0, 1, 0])
    """
    numbers: dict[bytes, int] = {}
    of_column = [
        numbers.setdefault(np.packbits(column).tobytes(), len(numbers)) for column in defined.T
    ]
    firsts = [of_column.index(number) for number in range(len(numbers))]
    return defined[:, firsts], np.array(of_column, np.intp)


class Draws:
    """Random users and signs, the same ones for all tables of as many users.

    Tables that are expected, for example for several metrics, are summed together, in one pass
    over the draws. Results do not depend on what is expected. Threads may share an object.

    Parameters
    ----------
    seed : int
        Seed of the draws, and of what else is random where they are used.

    Examples
    --------
    >>> draws = Draws(seed=1)
    >>> draws.expect(np.eye(3))
    >>> bool((draws.means(np.eye(3), 5) == Draws(seed=1).means(np.eye(3), 5)).all())
    True
    """

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self._expected: list[Floats] = []
        self._sums: dict[tuple[str, int, int], list[Floats]] = {}
        self._lock = Lock()

    def expect(self, table: Floats) -> None:
        """Expect a comparison of a table's columns, unless there are so many that memory fills."""
        columns = PairColumns.of(table, *np.triu_indices(table.shape[1], 1)).columns
        if sum(other.shape[1] for other in self._expected) + columns.shape[1] <= MOST_EXPECTED:
            self._expected.append(columns)

    def means(self, columns: Floats, n_resamples: int) -> Floats:
        """Return `resampled_means` of columns."""

        def resampled(columns: Floats) -> Floats:
            rng = seeds.generator(self.seed, "bootstrap")
            return resampled_means(columns, drawn_users(len(columns), n_resamples, rng))

        shared = self._shared("means", columns, n_resamples, resampled)
        return resampled(columns) if shared is None else shared

    def sign_sums(self, columns: Floats, n_resamples: int) -> Iterator[Floats]:
        """Return blocks of `sign_sums` of columns, whose NaN are zeros."""

        def signed(columns: Floats) -> Iterator[Floats]:
            rng = seeds.generator(self.seed, "randomisation")
            return sign_sums(np.nan_to_num(columns), n_resamples, rng)

        shared = self._shared(
            "signs", columns, n_resamples, lambda columns: np.concatenate([*signed(columns)])
        )
        if shared is None:
            return signed(columns)
        return (shared[start : start + MOST] for start in range(0, n_resamples, MOST))

    def more_sign_sums(self, columns: Floats, after: int, n_resamples: int) -> Iterator[Floats]:
        """Return blocks of `sign_sums` of columns that follow the first ones."""
        rng = seeds.generator(self.seed, "randomisation")
        for size in _blocks(after, len(columns)):
            rng.bytes(size * 8 * -(-len(columns) // 64))
        return sign_sums(np.nan_to_num(columns), n_resamples, rng)

    def _shared(
        self, use: str, columns: Floats, n_resamples: int, work: Callable[[Floats], Floats]
    ) -> Floats | None:
        """Return what work makes of columns that are expected, from all of them at once."""
        tables = [table for table in self._expected if len(table) == len(columns)]
        equal = (np.array_equal(table, columns, equal_nan=True) for table in tables)
        place = next((place for place, is_equal in enumerate(equal) if is_equal), None)
        n_columns = sum(table.shape[1] for table in tables)
        if place is None or n_columns * n_resamples > MOST_SUMS:
            return None
        with self._lock:
            key = (use, len(columns), n_resamples)
            if key not in self._sums:
                ends = np.cumsum([table.shape[1] for table in tables])
                self._sums[key] = np.split(work(np.hstack(tables)), ends[:-1], axis=1)
            return self._sums[key][place]


def drawn_users(n: int, n_resamples: int, rng: np.random.Generator) -> Iterator[Bits]:
    """Draw `n` of `n` users with replacement; yield how often each was drawn, as bits."""
    n_bytes = 8 * -(-n // 64)
    step = max(1, BLOCK_BYTES // (4 * max(n, 1)))
    counts = np.zeros((min(step, n_resamples), 8 * n_bytes), np.uint8)
    for size in _blocks(n_resamples, n):
        bits = np.zeros((FEWEST_BITS, n_bytes, size), np.uint8)
        for start in range(0, size, step):
            drawn = rng.integers(0, n, size=(min(step, size - start), n), dtype=np.uint32)
            counted = counts[: len(drawn)]
            counted[:] = 0
            _count_drawn(drawn, counted)
            while int(counted.max(initial=0)) >> len(bits):
                bits = np.concatenate([bits, np.zeros_like(bits)])
            for bit, of_bit in enumerate(bits):
                packed = np.packbits(counted & np.uint8(1 << bit), axis=1, bitorder="little")
                of_bit[:, start : start + len(drawn)] = packed.T
        yield bits


def sign_sums(values: Floats, n_resamples: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Yield blocks of sums of rows under random signs, the same signs for all columns.

    Each row of a block is a resample.
    """
    # The first user of a byte has its highest bit.
    integers, shifts = _fixed(values)
    turned = integers.reshape(-1, 8, values.shape[1])[:, ::-1].reshape(integers.shape)
    total = integers.sum(axis=0)
    n_words = len(integers) // 64  # whole words, so that blocks of any size draw the same bits
    for size in _blocks(n_resamples, len(values)):
        drawn = np.frombuffer(rng.bytes(size * 8 * n_words), np.uint8)
        plus = drawn.reshape(size, 8 * n_words).T.copy()[None]  # writable, as other bits are
        yield np.ldexp((2 * _sums(plus, turned) - total).astype(np.float64), -shifts)


def resampled_means(values: Floats, drawn: Iterable[Bits]) -> Floats:
    """Return means of rows sampled with replacement, the same rows for all columns.

    NaN is ignored; the mean is NaN where no row with a value was drawn.
    """
    n_columns, defined = values.shape[1], ~np.isnan(values)
    # Columns mostly share their users, so how many were drawn is counted once a pattern.
    distinct, of_column = patterns(defined)
    integers, shifts = _fixed(np.hstack([np.where(defined, values, 0.0), distinct]))
    means = []
    for bits in drawn:
        totals = np.ldexp(_sums(bits, integers).astype(np.float64), -shifts)
        sums, counts = np.hsplit(totals, [n_columns])
        with np.errstate(invalid="ignore"):
            means.append(sums / counts[:, of_column])
    return np.concatenate(means)


def _fixed(values: Floats) -> tuple[Integers, NDArray[np.int32]]:
    """Return columns as integers times a power of two each, filled up to 64 rows; and the powers.

    The powers are the largest that leave room for the sums of all resamples. So sums are exact,
    and values are rounded as little as the addition of as many numbers would round their sum.

    >>> integers, shifts = _fixed(np.array([[0.75], [-0.5]]))
    >>> np.ldexp(integers[:3, 0], -shifts).tolist()
    [0.75, -0.5, 0.0]
    """
    _, exponents = np.frexp(np.abs(values).max(axis=0, initial=0.0))
    shifts = np.asarray(SUM_BITS - len(values).bit_length() - exponents, np.int32)
    integers = np.zeros((64 * -(-len(values) // 64), values.shape[1]), np.int64)
    integers[: len(values)] = np.rint(np.ldexp(values, shifts))
    return integers, shifts


def _sums(bits: Bits, values: Integers) -> Integers:
    """Return the sums of the columns in each resample, which threads divide among them."""
    sums = np.zeros((bits.shape[2], values.shape[1]), np.int64)

    def add(start: int, stop: int) -> None:
        n_parts = max(1, -(-values.shape[1] // COLUMNS_AT_ONCE))
        for part in np.array_split(np.arange(values.shape[1]), n_parts):
            columns = np.ascontiguousarray(values[:, part])
            subsets = np.zeros((256, columns.shape[1]), np.int64)
            of_part = np.zeros((stop - start, columns.shape[1]), np.int64)
            _add_subsets(bits, start, columns, subsets, of_part)
            sums[start:stop, part] = of_part

    each_block(add, bits.shape[2], max(4 * FEWEST, 1 + LEAST_WORK // max(1, values.size)))
    return sums


# Eight users at a time: the sums of their 256 subsets are made once, and looked up by a byte for
# all resamples of a block, in the place of eight products for each resample.
@kernel
def _add_subsets(
    bits: Bits, start: int, values: Integers, subsets: Integers, sums: Integers
) -> None:
    """Add the values of the users whose bits are set, times the bits, to the sums of columns."""
    for byte in range(bits.shape[1]):
        user, size = 8 * byte, 1
        while size < len(subsets):  # a loop of a known length would be unrolled: slow to compile
            for rest in range(size):
                for column in range(values.shape[1]):
                    subsets[size + rest, column] = subsets[rest, column] + values[user, column]
            user, size = user + 1, 2 * size
        for resample in range(len(sums)):
            for bit in range(len(bits)):
                subset = bits[bit, byte, start + resample]
                if subset:
                    for column in range(values.shape[1]):
                        sums[resample, column] += subsets[subset, column] << bit


@kernel
def _count_drawn(drawn: NDArray[np.uint32], counts: NDArray[np.uint8]) -> None:
    """Count how often each user was drawn, a row for each resample."""
    for resample in range(len(drawn)):
        for place in range(drawn.shape[1]):
            counts[resample, drawn[resample, place]] += 1


def _blocks(n_resamples: int, n_users: int) -> Iterator[int]:
    """Divide the resamples so that the arrays of a block stay small; yield their sizes."""
    most = min(MOST, max(FEWEST, MOST_BYTES // max(n_users, 1)))
    for start in range(0, n_resamples, most):
        yield min(most, n_resamples - start)
