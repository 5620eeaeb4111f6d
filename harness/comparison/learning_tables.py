"""The tables of learning curves, as text."""

from __future__ import annotations

from collections.abc import Iterator

from harness.comparison.learning import (
    Curve,
    crossings,
    curve_frame,
    decided_at,
    gains_of,
    required_curves,
)
from harness.errors import joined
from harness.lazy import pd
from harness.quantities import written
from harness.results.chosen_metric import chosen_metric
from harness.results.display import (
    TextTable,
    best_values,
    comparison_of,
    interval_decimals,
    rounded,
)
from harness.results.record import RunInfo
from harness.results.runs import Run

NAMES = ["dataset", "split", "candidates", "by"]


def curve_tables(run: Run, label: str | None = None) -> list[TextTable]:
    """Return a table of one metric for each curve: algorithms by share, and what the last adds."""
    info = run.info
    label = chosen_metric(label, info.metrics, f"{info.name}: no metric", info.headline)
    frame, gained = curve_frame(info, label), gains_of(info, run.users, label)
    crossed = crossings(frame)
    return [
        _curve_table(
            run, label, curve, _part(frame, curve), _part(gained, curve), _part(crossed, curve)
        )
        for curve in required_curves(info)
    ]


def _part(frame: pd.DataFrame, curve: Curve) -> pd.DataFrame:
    """Return the rows of a curve."""
    if not len(frame):
        return frame
    values = (curve.dataset, curve.split, curve.candidates, curve.by)
    return frame[(frame[NAMES] == pd.Series(values, index=NAMES)).all(axis=1)]


def _curve_table(
    run: Run,
    label: str,
    curve: Curve,
    frame: pd.DataFrame,
    gained: pd.DataFrame,
    crossed: pd.DataFrame,
) -> TextTable:
    """Return the table of one curve."""
    info = run.info
    largest = [*curve.tables.values()][-1]
    order = [row.algorithm for row in info.rows if row.table == largest]
    means = [
        mean
        for compared in info.statistics
        if compared.metric == label and compared.table in curve.tables.values()
        for mean in compared.algorithms
    ]
    places = interval_decimals(means)
    values: dict[tuple[str, float], float] = {
        (row["algorithm"], row["share"]): row["value"]
        for row in frame.dropna(subset="value").to_dict("records")
    }
    columns = ["algorithm", *(written(share) for share in curve.tables)]
    rows = [
        [name, *(rounded(values.get((name, share)), places) for share in curve.tables)]
        for name in order
    ]
    best = []
    for number, (share, table) in enumerate(curve.tables.items(), 1):
        of_share = {name: values[name, share] for name in order if (name, share) in values}
        marked = best_values(of_share, label, comparison_of(info, table, label))
        best += [(place, number) for place, name in enumerate(order) if name in marked]
    if len(gained):
        few, many = (written(float(gained[key].iloc[0])) for key in ("few", "many"))
        columns += [f"{few} to {many}", "more ratings"]
        by_name = {pair["algorithm"]: pair for pair in gained.to_dict("records")}
        for row in rows:
            if (pair := by_name.get(row[0])) is None:
                row += ["", ""]
                continue
            ends = (rounded(pair[key], places) for key in ("difference", "low", "high"))
            row += ["{} ({} to {})".format(*ends), str(pair["answer"])]
    return TextTable(
        f"{label} by share of the training {curve.of}"
        + (f", {curve.title}" if len({*info.tables.values()}) > len(curve.tables) else ""),
        " ".join([*_on_gains(gained), *_on_crossings(info, curve, crossed)]),
        [*info.tables].index(largest) + 1,
        columns,
        rows,
        best,
    )


def _on_gains(gained: pd.DataFrame) -> Iterator[str]:
    """Yield what the column of the last step says, where there is one."""
    if len(gained):
        yield (
            "more ratings: gain or loss where the last step changes the value significantly, "
            "paired by user and corrected for the number of algorithms; else undecided."
        )


def _on_crossings(info: RunInfo, curve: Curve, crossed: pd.DataFrame) -> Iterator[str]:
    """Yield where lines cross, and whether the rows differ significantly on both sides."""
    for row in crossed.to_dict("records"):
        shares = written(row["few"]), written(row["many"])
        where = f"between {shares[0]} and {shares[1]}, at about {100 * row['at']:.0f}%"
        found = decided_at(info, curve, row)
        if all(found):
            yield f"{row['second']} passes {row['first']} {where}."
            continue
        undecided = [share for share, side in zip(shares, found, strict=True) if not side]
        why = "not tested" if None in found else f"undecided at {joined(undecided)}"
        yield f"The values of {row['first']} and {row['second']} cross {where}; {why}."
