"""Notes on weights of exposure: what they are worth, and which candidates do not suit them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from harness.experiment.plan import Plan
from harness.metrics.exposure_weights import Worth
from harness.notes import Note
from harness.results.cells import CellResult, WorthOfWeights


def notes_on_weights(plan: Plan, cells: Sequence[CellResult]) -> Iterator[Note]:
    """Note what weights of exposure are worth, in each table that of the fold with least."""
    ranked = [str(metric) for metric in plan.metrics if metric.is_weighted and metric.is_ranking]
    for name, section in zip(plan.names["candidates"], plan.experiment.candidates, strict=True):
        if ranked and (section.only_rated or section.kind == "sampled"):
            yield Note("weights-of-few-candidates", {"candidates": name, "metrics": ranked})
    worth: dict[tuple[str, str], WorthOfWeights] = {}
    for cell in cells:
        for label, score in cell.scores.items():
            before = worth.get((cell.table, label))
            if score.worth and (before is None or score.worth.effective < before.effective):
                worth[cell.table, label] = score.worth
    if not worth:
        return
    alike: dict[tuple[str, Worth], list[str]] = defaultdict(list)
    for (table, label), of in worth.items():
        # Sums in another order differ in their last digits.
        rounded = round(of.effective), float(f"{of.greatest:.3g}")
        alike[table, Worth(of.n, *rounded, of.clipped)].append(label)
    tables = {cell.table for cell in cells}
    places = {cell.table: cell.place(tables) for cell in cells}
    for (table, least), labels in alike.items():
        code = "weights-few" if least.is_small else "weights-worth"
        yield Note(code, {"metrics": labels, **vars(least)}, places[table], table)
        if least.clipped:
            values = {"metrics": labels, "share": least.clipped}
            yield Note("propensities-raised", values, places[table], table)
