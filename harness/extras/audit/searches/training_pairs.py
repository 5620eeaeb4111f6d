"""Test pairs that are in training."""

from __future__ import annotations

from harness._util.libraries import pd
from harness.extras.audit.search import PAIR, AuditSearch, pairs_of, share
from harness.results.record import RunInfo


def of_file(
    search: AuditSearch, rows: pd.DataFrame, truth: pd.DataFrame | None, train: pd.DataFrame
) -> None:
    """Compare the judged pairs with the training pairs."""
    judged = rows if truth is None else truth
    if "item" not in judged:
        return
    training = pairs_of(train)
    seen = pairs_of(judged).isin(training)
    if seen.any():
        listed = pairs_of(rows).isin(training)
        unseen = rows[~listed], None if truth is None else truth[~seen]
        said = {"seen": share(seen), **judged.loc[seen, PAIR].iloc[0]}
        search.found("test-in-training.pairs", search.effect((rows, truth), unseen), **said)


def of_run(search: AuditSearch, info: RunInfo) -> None:
    """Report splits whose parts have more ratings together than their data: they overlap."""
    sizes = {data.name: data.n_ratings for data in info.datasets}
    reported = set()
    for split in info.splits:
        if any(note.code == "judgements" for note in split.notes):
            continue  # whose rows are not of the data, and not of rated pairs
        n_both = (
            split.n_train + split.n_test - sizes.get(split.dataset, split.n_train + split.n_test)
        )
        if n_both > 0 and (split.dataset, split.split) not in reported:
            reported.add((split.dataset, split.split))
            seen = share(min(n_both, split.n_test), split.n_test)
            search.found("test-in-training.run", seen=seen, data=split.dataset, split=split.split)
