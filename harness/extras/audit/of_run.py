"""A run is searched by its record and by the files of its estimates."""

from __future__ import annotations

from typing import Any

from harness import metrics
from harness._util.libraries import pd
from harness.algorithms import registry
from harness.candidates.base import Catalogue
from harness.errors import ResultsError, counted
from harness.extras.audit.findings import Audit
from harness.extras.audit.search import RMSE, AuditSearch, Values
from harness.extras.audit.searches import (
    bad_estimates,
    chosen_on_test,
    clipped,
    dropped_users,
    future,
    ideal,
    indistinct,
    marked_estimates,
    ties,
    training_pairs,
    unequal_candidates,
    unknown_ids,
)
from harness.notes.note import PLAIN
from harness.results.folder import ESTIMATES_FILE
from harness.results.headline import chosen_metric
from harness.results.outputs import LEFT_OUT, cells_of
from harness.results.record import RunInfo
from harness.results.runs import Run
from harness.results.table import GROUP


def of_run(run: Run, label: str | None) -> Audit:
    """Search a run; what its own rules exclude counts as checked."""
    info = run.info
    with_cut = [name for name in info.metrics if metrics.parse(name).k]
    if not with_cut:
        ways = "add ndcg@10 to its config, and run it"
        raise ResultsError(f"{run.name}: has no metric with a cut; {ways}")
    search = AuditSearch(chosen_metric(label, with_cut, f"{run.name}: has no", info.headline))
    _skip(search, info)
    training_pairs.of_run(search, info)
    clipped.of_run(search, info)
    indistinct.of_run(search, info)
    evaluated = _check_outputs(search, run)
    for key, rows in run.table.groupby("table", sort=False):
        scored = rows.dropna(subset=[search.label])
        if len(scored):
            ordered = scored.sort_values(search.label, ascending=search.metric.higher_is_better)
            _check_table(search, run, str(key), ordered, evaluated)
    size = f"run of {counted(len(info.rows), 'row')} in {counted(len(info.tables), 'table')}"
    return search.results(run.name, f"{size}, by {search.label}")


def _skip(search: AuditSearch, info: RunInfo) -> None:
    """Say what the record cannot answer."""
    if not any(data.span for data in info.descriptions):
        search.skip("the run knows no timestamps", "future")
    for check in ["ties"] * (not info.ties) + ["ideal"] * (not info.conventions):
        search.skip("the run keeps no scores by other definitions", check)
    notes = [*info.notes, *(note for data in info.datasets for note in data.notes)]
    notes += [note for split in info.splits for note in split.notes]
    if any(note.code == PLAIN for note in notes):
        reason = "the run's notes are of before they had codes; run it again"
        search.skip(reason, "clipped future indistinct")


def _place(info: RunInfo, table: object) -> str:
    """Return how a place in one of several tables begins; '' where there is one table."""
    return f"{', '.join(info.tables[str(table)])}: " if len(info.tables) > 1 else ""


def _check_table(
    search: AuditSearch,
    run: Run,
    key: str,
    rows: pd.DataFrame,
    evaluated: dict[tuple[str, str], int],
) -> None:
    """Search one table of a run, whose rows are in the order of the metric, the best one last."""
    info, label, best = run.info, search.label, rows.iloc[-1]
    where: dict[str, Any] = {"table": _place(info, key), "best": best["algorithm"]}

    def beside(column: str, name: str) -> Values:
        """Return the value of the best row, and its algorithm's value in another table."""
        same = [name for name in (*GROUP, "algorithm") if name != column]
        rivals = run.table[(run.table[same] == best[same]).all(axis=1)].set_index(column)[label]
        there = {str(title): float(v) for title, v in rivals.items() if str(title).startswith(name)}
        return {label: {best[column]: float(best[label]), **(there or {name: None})}}

    of_data = [split for split in info.splits if split.dataset == best["dataset"]]
    future.of_table(search, of_data, best, beside, where)
    chosen_on_test.of_table(search, info, rows, where)
    asked = info.section("candidates", best["candidates"])
    if asked.is_sample:
        effect = beside("candidates", Catalogue.name)
        search.found("sampled.run", effect, candidates=best["candidates"], **where)
    if asked.keeps_training_items:
        search.found("training-items.run", beside("candidates", Catalogue.name), **where)
    cells = [cell for cell in info.finished if cell.row == best["row"]]
    drops = asked.unknown_users == "drop"
    if drops:
        dropped_users.of_table(search, cells, of_data, where)
    for entry in info.ties:
        if entry.table == key:
            ties.of_table(search, entry, where, several=info.has_several_cells)
    for shown in info.conventions:
        if shown.table == key:
            ideal.of_table(search, shown, best["row"], where)
    ends = (best, rows.iloc[0])
    indistinct.of_table(search, info, key, ends, where, rated=asked.only_rated)
    sizes = {split.fingerprint: split.n_test for split in of_data if split.unknown}
    counts = {}
    for row, name in zip(rows["row"], rows["algorithm"], strict=True):
        cells = [cell for cell in info.finished if cell.row == row]
        n_test, n_impossible = (
            sum(cell[key] for cell in cells) for key in ("n_test", "n_impossible")
        )
        # In older runs, they are of users who are left out too.
        if drops and n_test == sum(sizes.get(cell.split_fingerprint, -1) for cell in cells):
            n_left_out = n_test - evaluated.get((key, row), 0)
            n_test, n_impossible = n_test - n_left_out, max(0, n_impossible - n_left_out)
        counts[name] = n_impossible, n_test
    bad_estimates.impossible(search, counts, where)


def _check_outputs(search: AuditSearch, run: Run) -> dict[tuple[str, str], int]:
    """Search the estimates of evaluated users; the first fold of a row with a problem counts.

    Return by table and row how many test pairs are of evaluated users; nothing without the file.
    """
    try:
        path = run.path(ESTIMATES_FILE)
    except ResultsError as error:
        search.skip(
            str(error), "unknown-ids bad-estimates marked-estimates clipped unequal-candidates"
        )
        return {}
    algorithms = run.info.experiment.algorithms
    preferring = [e.title for e in algorithms if registry.entry(e.name).gives_preferences(e.params)]
    reported: set[tuple[object, str]] = set()
    evaluated: dict[tuple[str, str], int] = {}
    sizes: dict[tuple[object, ...], tuple[str, pd.Series]] = {}
    for (*names, name, table, row, seed, fold), cell in cells_of(path):
        place = f"{_place(run.info, table)}{name}, fold {int(str(fold)) + 1}"
        cell = cell[cell["n_ranked"] != LEFT_OUT]
        at = str(table), str(row)
        evaluated[at] = evaluated.get(at, 0) + len(cell)
        asked = run.info.section("candidates", str(names[2]))
        if asked is not None and asked.least_estimate is None:
            ranked = cell.groupby("user")["n_ranked"].first()
            first = sizes.setdefault((table, seed, fold), (str(name), ranked))
            if (table, "unequal-candidates.rows") not in reported:
                where = {"table": _place(run.info, table), "fold": int(str(fold)) + 1}
                before = len(search.findings)
                unequal_candidates.of_cells(search, first, (str(name), ranked), where)
                if len(search.findings) > before:
                    reported.add((table, "unequal-candidates.rows"))
        if name in preferring or not len(cell):
            continue
        of_row = AuditSearch(search.label)
        rows = cell.assign(key=cell["estimate"])
        useless = unknown_ids.constant(of_row, rows)
        bad_estimates.far(of_row, rows)
        if not useless:
            clipped.of_estimates(of_row, rows)
            marked_estimates.of_estimates(of_row, rows)
        for finding in of_row.findings:
            if (row, finding.id) not in reported:
                reported.add((row, finding.id))
                effect = dict(finding.effect)
                if not asked.only_rated:  # lists of test ratings are not those of the table
                    effect = {label: v for label, v in effect.items() if label == str(RMSE)}
                update = {"where": f"{place}; {finding.where}", "effect": effect}
                search.findings.append(finding.model_copy(update=update))
    return evaluated
