"""The scores of a run in groups of users and items, as numbers and as tables for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness import metrics
from harness.errors import ResultsError, suggestion
from harness.results.record import FEWEST_USERS, GroupGap, GroupScores, RunInfo
from harness.results.runs import (
    BOUNDS,
    ERRORS_IN_INTERVAL,
    GROUP,
    decimals,
    escape_markdown,
    markdown_table,
    rounded,
)
from harness.results.scores import primary_metric

if TYPE_CHECKING:
    import pandas as pd

SMALL = " *"
"""Marks a group of few users."""


def groups_frame(info: RunInfo) -> pd.DataFrame:
    """Return a row for each algorithm in each group, as `Run.groups` describes it."""
    import pandas as pd

    return pd.DataFrame(
        {key: entry[key] for key in (*GROUP, "side", "by", "metric")}
        | {"group": group.group, "algorithm": mean.algorithm, "value": mean.mean}
        | {key: mean[key] for key in ("low", "high", "letters", "rest", "rest_low", "rest_high")}
        | {"random": group.random, "n_users": mean.n_users, "n_left_out": group.n_left_out}
        | {"n_members": group.n_members, "table": entry.table, "row": mean.row}
        for entry in info.groups
        for group in entry.groups
        for mean in group.algorithms
    )


def gaps_frame(info: RunInfo) -> pd.DataFrame:
    """Return a row for each algorithm and division into groups, as `Run.gaps` describes it."""
    import pandas as pd

    return pd.DataFrame(
        {key: entry[key] for key in (*GROUP, "side", "by", "metric")}
        | {key: gap[key] for key in ("algorithm", "greatest", "least", "difference", "low", "high")}
        | {"table": entry.table, "row": gap.row}
        for entry in info.groups
        for gap in entry.gaps
    )


@dataclass(frozen=True)
class GroupTable:
    """The algorithms of a table in each group of its users or items, as text."""

    scores: GroupScores
    title: str
    columns: list[str]
    """``algorithm``, the groups, and the gap between them where there is one."""
    rows: list[list[str]]
    """The algorithms, then a random order and the sizes of the groups."""
    n_algorithms: int
    best: list[tuple[int, int]]
    """Row and column of the best values of each group."""
    caption: str

    @property
    def frame(self) -> pd.DataFrame:
        """The texts as a frame."""
        import pandas as pd

        return pd.DataFrame(self.rows, columns=self.columns)


def group_tables(
    info: RunInfo, label: str | None = None, *, asked: bool = False
) -> list[GroupTable]:
    """Return a table of one metric for each division into groups.

    By default the metric is nDCG at 10, or the nearest that has groups. With `asked`, what the
    config does not ask for is left out. A ResultsError says so if no group has the metric.
    """
    known = list(dict.fromkeys(entry.metric for entry in info.groups))
    if label is not None and label not in known:
        hint = suggestion(label, known) if known else "add `groups` to its config and run it again"
        raise ResultsError(f"{info.name}: no groups with {label}; {hint}")
    if not known:
        return []
    label = label or primary_metric(known)
    titles = {each.title for each in info.experiment.groups}
    entries = [each for each in info.groups if each.metric == label]
    return [_table(info, each) for each in entries if each.title in titles or not asked]


def _table(info: RunInfo, entry: GroupScores) -> GroupTable:
    groups = entry.groups
    order = [row for row in info.rows if row.table == entry.table]
    every = [mean for group in groups for mean in group.algorithms]
    places = _decimals([(mean.low, mean.high) for mean in every])
    choose = max if metrics.parse(entry.metric).higher_is_better else min
    sizes = {"users": [each.n_users for each in groups]}
    if any(each.n_left_out for each in groups):
        sizes["without a score"] = [each.n_left_out for each in groups]
    if entry.side == "items":
        sizes["test items"] = [each.n_members for each in groups]
    names = [*(row.algorithm for row in order), BOUNDS["random"], *sizes]
    columns, best = [["algorithm", *names]], []
    for j, group in enumerate(groups):
        means = {mean.row: mean for mean in group.algorithms}
        own = [(mean.mean, mean.letters) if (mean := means.get(row.row)) else (None, "")
               for row in order]  # fmt: skip
        values = [value for value, _ in own if value is not None]
        if len(values) > 1 and not group.is_small:
            best += [(i, j + 1) for i, (value, _) in enumerate(own) if value == choose(values)]
        width = max((len(letters) + 1 for _, letters in own if letters), default=0)
        shown = [f"{rounded(value, places)}{f' {letters}' if letters else '':<{width}}"
                 for value, letters in [*own, (group.random, "")]]  # fmt: skip
        counts = [f"{size[j]:,}{'':<{width}}" for size in sizes.values()]
        columns.append([group.group + SMALL * group.is_small, *shown, *counts])
    gaps = {gap.row: gap for gap in entry.gaps}
    if gaps:
        digits = _decimals([(gap.low, gap.high) for gap in gaps.values()])
        shown = [_gap(gaps.get(row.row), digits) for row in order]
        columns.append(["gap", *shown, *[""] * (1 + len(sizes))])
    header, *rows = (list(row) for row in zip(*columns, strict=True))
    where = f", {', '.join(entry.names)}" if len(info.tables) > 1 else ""
    title = f"{entry.metric} by {entry.title}{where}"
    return GroupTable(entry, title, header, rows, len(order), best, " ".join(_caption(entry)))


def _decimals(ends: Sequence[tuple[float | None, float | None]]) -> int:
    known = (high - low for low, high in ends if low is not None and high is not None)
    return decimals(width / ERRORS_IN_INTERVAL for width in known)


def _gap(gap: GroupGap | None, places: int) -> str:
    if gap is None:
        return ""
    low, high = rounded(gap.low, places), rounded(gap.high, places)
    return rounded(gap.difference, places) + (f" ({low} to {high})" if low else "")


def _caption(entry: GroupScores) -> Iterator[str]:
    if any(mean.letters for group in entry.groups for mean in group.algorithms):
        yield "Algorithms that share a letter in a group are not significantly different there."
    if entry.gaps:
        pairs = ", over users with a score in both" if entry.side == "items" else ""
        yield f"gap: an algorithm's greatest group less its least{pairs}, with the interval."
    if any(group.is_small for group in entry.groups):
        yield f"*: fewer than {FEWEST_USERS} users, so without letters and not in the gap."
    if entry.side == "items":
        yield (
            "Ranks are those of the whole lists; items of the group alone are relevant and in the "
            "ideal. Users without a relevant item of the group have no score."
        )


def to_markdown(tables: Sequence[GroupTable]) -> str:
    """Return tables as Markdown, each with its title and caption."""
    lines: list[str] = []
    for each in tables:
        lines += [f"## {escape_markdown(each.title)}", ""]
        lines += [*markdown_table(each.frame, {"algorithm", "gap"}), ""]
        lines += [escape_markdown(each.caption), ""] if each.caption else []
    return "\n".join(lines)
