"""The order of equal estimates, resolved within each tied group."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from harness._util.kernels import each_block, kernel
from harness.errors import MetricError
from harness.metrics.arrays import Floats, Ints, Rankings, Ranks
from harness.metrics.gains import least_gain
from harness.metrics.parameters import least_relevant

if TYPE_CHECKING:
    from harness.metrics.parameters import Params, Value


AVERAGE, BEST, WORST, TOGETHER = 0, 1, -1, 2
SMALLEST_BLOCK = 2048


def neutral(params: Params) -> float:
    """Return the relevance with the gain of an unjudged item; better items rank above."""
    if "gain" in params and params["gain"].word == "binary":
        return least_gain(params)
    if "offset" in params:
        return float(params["offset"])
    return least_relevant(params) if "threshold" in params else 0.0


def cut_rule(params: Params) -> int:
    """Return `BEST` or `WORST` if the best order depends on where a list is cut, else `AVERAGE`."""
    retrieved = params.get("ideal") == "retrieved" and params["gain"].word == "binary"
    if retrieved or params.get("denominator") == "hits":
        return {"best": BEST, "worst": WORST}.get(params["ties"], AVERAGE)
    return AVERAGE


def resolve_ties(rankings: Rankings, rule: Value, neutral: float = 0.0) -> Rankings:
    """Order the items of each group of equal estimates.

    The rules ``average`` and ``together`` keep them. For ``best`` and ``worst``, `neutral` is the
    relevance that counts as much as an unjudged item.

    >>> from harness.metrics import Value
    >>> lists = Rankings([0, 2], [1.0, 3.0], [1, 2], [1, 1], [3, 3], [3])
    >>> worst = resolve_ties(lists, Value("worst"))   # the unjudged item comes first
    >>> worst.relevance.tolist(), worst.rank.tolist(), worst.tie_high.tolist()
    ([1.0, 3.0], [2, 3], [2, 3])
    """
    r = rankings
    if rule in ("average", "together"):
        return r
    if rule == "first":
        return replace(r, tie_low=r.rank, tie_high=r.rank)
    if rule.word == "random":
        relevance, rank = np.empty_like(r.relevance), np.empty_like(r.rank)
        lists = (r.offsets, r.relevance, r.tie_low, r.tie_high)
        seed = np.uint64(rule.numbers[0] if rule.numbers else 0)
        each_block(
            lambda a, b: draw(*lists, seed, a, b, relevance, rank), r.n_users, SMALLEST_BLOCK
        )
        return replace(r, relevance=relevance, rank=rank, tie_low=rank, tie_high=rank)
    # Only what is tied with something is put in order: most lists have few ties.
    tied = np.flatnonzero(r.tie_low != r.tie_high)
    low, high, values = r.tie_low[tied], r.tie_high[tied], r.relevance[tied]
    # Groups: entries of one user that share their ranks, and stand next to each other.
    owners = np.repeat(np.arange(r.n_users, dtype=np.int32), np.diff(r.offsets))[tied]
    starts = np.flatnonzero((np.diff(owners, prepend=-1) != 0) | (np.diff(low, prepend=0) != 0))
    sizes = np.diff(starts, append=len(tied))
    start, size = np.repeat(starts, sizes), np.repeat(sizes, sizes)
    place = np.arange(len(tied)) - start
    mirrored = start + size - 1 - place
    if rule == "last":
        order, ranks = mirrored, low + high - r.rank[tied][mirrored]
    else:
        # What counts less than an unjudged item goes to one end of its group, the rest to the
        # other.
        order = np.lexsort((values, start))
        negative = np.concatenate(([0], np.cumsum(values < neutral)))
        head = negative[start + size] - negative[start]
        if rule == "best":
            order, head = order[mirrored], size - head
        ranks = np.where(place < head, low + place, high - size + 1 + place)
    relevance, rank = r.relevance.copy(), r.tie_low.copy()
    relevance[tied], rank[tied] = values[order], ranks
    return replace(r, relevance=relevance, rank=rank, tie_low=rank, tie_high=rank)


def as_shown(rankings: Rankings) -> Rankings:
    """Order the judged items of each group of equal estimates as ``top_items`` shows them.

    An item that is tied with shown ones and is not shown comes after them, in input order. So
    ``relevance`` and ``rank`` say of the first ranks what ``top_items`` says.

    Raises
    ------
    MetricError
        If estimates are equal and the items are not known by name, or ``top_items`` are not those
        of the ranks.

    Examples
    --------
    Items 7 and 8 are tied, and the list shows 8 first:

    >>> lists = Rankings(
    ...     [0, 2], [1.0, 3.0], [1, 2], [1, 1], [2, 2], [2], top_items=[[8, 7]], items=[7, 8]
    ... )
    >>> shown = as_shown(lists)
    >>> shown.relevance.tolist(), shown.items.tolist(), shown.tie_high.tolist()
    ([3.0, 1.0], [8, 7], [1, 2])
    """
    r, top = rankings, rankings.top_items
    depth = 0 if top is None else top.shape[1]
    tied = np.flatnonzero((r.tie_low != r.tie_high) & (r.tie_low <= depth))
    if top is None or not len(tied):
        return replace(r, tie_low=r.rank, tie_high=r.rank)
    if r.items is None:
        raise MetricError(
            "estimates are equal, and the judged items are not known by name; give the lists "
            "`items`"
        )
    owners = np.repeat(np.arange(r.n_users), np.diff(r.offsets))
    n_items = 1 + max(int(top.max(initial=0)), int(r.items.max(initial=0)))
    rows, places = np.nonzero(top >= 0)
    cells = rows * n_items + top[rows, places]
    order = np.argsort(cells)
    asked = owners[tied] * n_items + r.items[tied]
    found = order[np.minimum(np.searchsorted(cells[order], asked), len(cells) - 1)]
    is_shown = cells[found] == asked
    low, high = r.tie_low[tied], r.tie_high[tied]
    # The place among the entries of its group that are not shown.
    begins = np.append(True, (np.diff(low) != 0) | (np.diff(owners[tied]) != 0))
    hidden = np.cumsum(~is_shown)
    before = np.maximum.accumulate(np.where(begins, hidden - ~is_shown, 0))
    ranks = np.where(is_shown, places[found] + 1, depth + hidden - before)
    if (wrong := (ranks < low) | (ranks > high)).any():
        entry = tied[np.argmax(wrong)]
        raise MetricError(
            f"list {owners[entry]}: item {r.items[entry]} has a rank from {r.tie_low[entry]} to "
            f"{r.tie_high[entry]}, where top_items show others; give both of the same list"
        )
    rank = r.rank.copy()
    rank[tied] = ranks
    order = np.lexsort((rank, owners))
    rank = rank[order]
    return replace(
        r,
        relevance=r.relevance[order],
        rank=rank,
        tie_low=rank,
        tie_high=rank,
        items=r.items[order],
        weights=None if r.weights is None else r.weights[order],
    )


@kernel
def hypergeometric(n: int, r: int, t: int, place: int, p: Floats) -> tuple[int, int]:
    """Write the probabilities that t items drawn from n, of which r are relevant, hold 0, 1, ...

    They are in `p` from `own` on. Each follows from its neighbour, from the most probable
    outwards: no digits are lost. Returns the least and the greatest possible number.
    """
    most = r if r < t else t
    least = t - (n - r) if t > n - r else 0
    mode = (t + 1) * (r + 1) // (n + 2)
    mode = least if mode < least else most if mode > most else mode
    p[place + mode] = 1.0
    for x in range(mode, most):
        p[place + x + 1] = p[place + x] * (r - x) * (t - x) / ((x + 1.0) * (n - r - t + x + 1))
    for x in range(mode, least, -1):
        p[place + x - 1] = p[place + x] * x * (n - r - t + x) / ((r - x + 1.0) * (t - x + 1))
    total = 0.0
    for x in range(place + least, place + most + 1):
        total += p[x]
    for x in range(place + least, place + most + 1):
        p[x] /= total
    return least, most


@kernel
def draw(
    offsets: Ints,
    relevance: Floats,
    low: Ranks,
    high: Ranks,
    seed: np.uint64,
    start: int,
    stop: int,
    out: Floats,
    out_rank: Ranks,
) -> None:
    """Give each group ranks drawn without replacement, and its items an order among them.

    Each user has a separate stream of random numbers. Items are shuffled (Fisher and Yates); a
    rank is taken with the probability that leaves as many of the others as items remain.
    """
    for user in range(start, stop):
        state = _scramble(seed ^ _scramble(np.uint64(user + 1)))
        a = offsets[user]
        while a < offsets[user + 1]:
            b = a
            while b < offsets[user + 1] and low[b] == low[a]:
                out[b] = relevance[b]
                b += 1
            for i in range(b - a - 1, 0, -1):
                state = _scramble(state)
                j = int(state % np.uint64(i + 1))
                out[a + i], out[a + j] = out[a + j], out[a + i]
            n_drawn = 0
            for position in range(high[a] - low[a] + 1):
                if n_drawn == b - a:
                    break
                state = _scramble(state)
                free = np.uint64(high[a] - low[a] + 1 - position)
                if state % free < np.uint64(b - a - n_drawn):
                    out_rank[a + n_drawn] = low[a] + position
                    n_drawn += 1
            a = b


@kernel
def _scramble(state: np.uint64) -> np.uint64:
    """One step of SplitMix64 (Steele, Lea and Flood 2014, doi:10.1145/2660193.2660195)."""
    state = state + np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))
