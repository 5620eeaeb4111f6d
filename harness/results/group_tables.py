"""The tables of groups of users and items, as text."""

from __future__ import annotations

from harness import metrics
from harness.results.chosen_metric import chosen_metric
from harness.results.display import BOUNDS, TextTable, interval_decimals, rounded
from harness.results.record import RunInfo
from harness.results.statistics import FEWEST_USERS, GroupScores
from harness.statistics.corrections import is_first


def group_tables(
    info: RunInfo, label: str | None = None, *, asked: bool = False
) -> list[TextTable]:
    """Return a table of one metric for each division into groups.

    By default the metric is the headline, else the first ranking metric with groups. With `asked`,
    what the config does not ask for is left out. A ResultsError says so if no group has the metric.
    """
    by_metric = dict.fromkeys(entry.metric for entry in info.groups)
    if not by_metric:
        return []
    label = chosen_metric(label, by_metric, f"{info.name}: no groups with", info.headline)
    titles = {entry.title for entry in info.experiment.groups}
    entries = [entry for entry in info.groups if entry.metric == label]
    return [_group_table(info, entry) for entry in entries if entry.title in titles or not asked]


def _group_table(info: RunInfo, entry: GroupScores) -> TextTable:
    """Return the algorithms of a table in each group, a random order, and the sizes of groups."""
    groups, of_items = entry.groups, entry.side == "items"
    order = [row for row in info.rows if row.table == entry.table]
    places = interval_decimals(mean for group in groups for mean in group.algorithms)
    choose = max if metrics.parse(entry.metric).higher_is_better else min
    sizes = {"users": [group.n_users for group in groups]}
    if any(group.n_left_out for group in groups):
        sizes["without a score"] = [group.n_left_out for group in groups]
    if of_items:
        sizes["test items"] = [group.n_members for group in groups]
    columns = [("algorithm", [*(row.algorithm for row in order), BOUNDS["random"], *sizes])]
    best, caption = [], []
    for j, group in enumerate(groups):
        means = {mean.row: (mean.mean, mean.letters) for mean in group.algorithms}
        members = [means.get(row.row, (None, "")) for row in order]
        values = {value for value, _ in members if value is not None}
        if len(values) > 1 and not group.is_small:
            best += [
                (i, j + 1)
                for i, (value, letters) in enumerate(members)
                if value == choose(values) and is_first(letters)
            ]
        texts = [(rounded(value, places), letters) for value, letters in members]
        texts += [(rounded(group.random, places), "")]
        texts += [(f"{size[j]:,}", "") for size in sizes.values()]
        width = max((len(letters) + 1 for _, letters in members if letters), default=0)
        shown = [f"{text}{f' {letters}' if letters else '':<{width}}" for text, letters in texts]
        columns.append((group.group + " *" * group.is_small, shown))
    if any(mean.letters for group in groups for mean in group.algorithms):
        caption.append(
            "Algorithms that share a letter in a group are not significantly different there."
        )
    if entry.gaps:
        gaps, digits = {gap.row: gap for gap in entry.gaps}, interval_decimals(entry.gaps)
        shown = [""] * (len(order) + 1 + len(sizes))
        for i, gap in enumerate(gaps.get(row.row) for row in order):
            if gap is not None:
                shown[i], *ends = (rounded(x, digits) for x in (gap.difference, gap.low, gap.high))
                shown[i] += f" ({' to '.join(ends)})" if ends[0] else ""
        columns.append(("gap", shown))
        pairs = ", over users with a score in both" * of_items
        caption.append(
            f"gap: an algorithm's greatest group less its least{pairs}, with the interval."
        )
    if any(group.is_small for group in groups):
        few = f"*: fewer than {FEWEST_USERS} users, so without letters and not in the gap."
        caption.append(few)
    if of_items:
        caption.append(
            "Ranks are those of the whole lists; items of the group alone are relevant and in the "
            "ideal. Users without a relevant item of the group have no score."
        )
    where = f", {', '.join(entry.names)}" if len(info.tables) > 1 else ""
    return TextTable(
        f"{entry.metric} by {entry.title}{where}",
        " ".join(caption),
        [*info.tables].index(entry.table) + 1,
        [title for title, _ in columns],
        list(zip(*(members for _, members in columns), strict=True)),
        best,
        below=[len(order)],
    )
