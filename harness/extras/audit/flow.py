"""One input becomes an audit: predictions, lists with their truth, or a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from harness._util.arguments import checked
from harness._util.files import RUN_FILE
from harness._util.libraries import pd
from harness.datasets.readers.trec import QRELS
from harness.errors import MetricError, ResultsError, counted
from harness.extras.audit import tables
from harness.extras.audit.findings import Audit
from harness.extras.audit.of_run import of_run
from harness.extras.audit.search import PAIR, AuditSearch, lists_of
from harness.extras.audit.searches import (
    bad_estimates,
    clipped,
    cut_digits,
    dropped_users,
    duplicates,
    filled_ratings,
    future,
    ideal,
    indistinct,
    inner_ids,
    marked_estimates,
    one_list,
    sampled,
    ties,
    training_items,
    training_pairs,
    unequal_candidates,
    unknown_ids,
)
from harness.results.outputs import evaluates
from harness.results.reading import is_run, open_run
from harness.results.runs import Run

Place = str | Path | None
PREDICTIONS = ("user", "estimate", "rating"), ("item", "timestamp")


@checked(ResultsError)
def audit(
    source: str | Path | Run,
    *,
    truth: str | Path | None = None,
    train: str | Path | None = None,
    metric: str | None = None,
    beside: Sequence[str | Path] = (),
    results: str | Path = "runs",
) -> Audit:
    r"""Search a run, or a file of predictions or lists, for errors of published tables.

    Parameters
    ----------
    source : str, path or Run
        A run, its folder or its name; or a table of user, item, estimate and rating; or, with
        `truth`, of user, item and rank or estimate, or a TREC run.
    truth : path, optional
        User, item and, unless all are 1, rating; or TREC qrels.
    train : path, optional
        The training pairs: user, item and, if known, timestamp.
    metric : str, optional
        A label with a cut-off rank; by default ``ndcg@10``, of a run its nDCG nearest to it.
    beside : sequence of path
        Other predictions that are in one table with these.
    results : path
        Folder in which a run is looked for by its name.

    Raises
    ------
    DataError, MetricError, ResultsError
        If the input or the label cannot be read.

    Examples
    --------
    >>> path = getfixture("tmp_path") / "predictions.csv"
    >>> rows = [f"{user},{item},3.5,{2 + item % 3}" for user in "ab" for item in range(12)]
    >>> _ = path.write_text("\n".join(["user,item,estimate,rating", *rows]))
    >>> (found,) = audit(path).findings
    >>> found.id, found.effect["rmse"]["as it is"]
    ('unknown-ids', 0.957...)
    """
    if not isinstance(source, Run):
        path = Path(source)
        if path.is_file() and path.name != RUN_FILE and evaluates(path):
            path = path.parent
        if not is_run(path, Path(results)):
            siblings = [other for other in map(Path, beside) if other != path]
            siblings = [
                sibling
                for sibling in siblings
                if sibling.name != RUN_FILE and not evaluates(sibling)
            ]
            return _of_file(path, truth, train, metric or "ndcg@10", siblings)
        source = open_run(str(path), Path(results))
    if truth is not None or train is not None:
        raise ResultsError(f"{source.name}: a run has its own truth and training; leave them out")
    return of_run(source, metric)


def _of_file(
    path: Path, truth_path: Place, train_path: Place, label: str, beside: Sequence[Path]
) -> Audit:
    """Search predictions, or lists and their truth, as any program wrote them."""
    search, truth = AuditSearch(label), None
    if truth_path is None:
        rows = tables.read(path, *PREDICTIONS)
        if "rating" not in rows:
            raise MetricError(f"{path}: a TREC run has no ratings; give their file with --truth")
        search.skip("predictions name no other users; give --truth", "dropped-users")
    else:
        rows = tables.read(path, ("user", "item"), ("estimate", "rank", "timestamp"))
        if "key" not in rows:
            raise MetricError(f"{path}: no column of rank or estimate; add one")
        truth = tables.read(Path(truth_path), ("user", "item"), ("rating", "timestamp"), QRELS)
        truth = truth.assign(rating=truth.get("rating", 1.0))
        no_errors = "clipped marked-estimates filled-ratings cut-estimates"
        search.skip("a list has no estimates of ratings", no_errors)
        search.skip("the lists of several users have no common order", "one-list")
    search.skip("a file does not say which settings were tried", "chosen-on-test")
    train = None
    if train_path is not None:
        train = tables.read(Path(train_path), ("user", "item"), ("timestamp",))
    rows, truth = tables.usable(search, rows, truth)
    _check_training(search, rows, truth, train)
    if truth is None:
        useless = _check_predictions(search, rows, train, beside)
    else:
        useless = unknown_ids.of_lists(search, rows, truth)
    lists = lists_of(rows, truth)
    if useless:
        rest = "indistinct dropped-users sampled unequal-candidates ties ideal one-list"
        reason = "the ids or the estimates are of no use"
        search.skip(reason, f"clipped marked-estimates cut-estimates {rest}")
    else:
        ties.of_lists(search, lists)
        ideal.of_lists(search, lists)
        sampled.of_lists(search, lists)
        if truth is None:
            indistinct.of_lists(search, lists)
            cut_digits.of_estimates(search, rows, lists)
            one_list.of_predictions(search, rows)
            unequal_candidates.of_predictions(search, rows)
        else:
            search.skip("the items left out of the lists are not known", "indistinct")
            dropped_users.of_lists(search, rows, truth, lists)
            unequal_candidates.of_lists(search, rows, truth)
    shown = (f"{name} {value:.4f}" for name, value in search.scores(rows, truth).items())
    size = f"{counted(len(rows), 'row')}, {counted(lists.n_users, 'user')}"
    return search.results(str(path), f"{size}; {', '.join(shown)}")


def _check_training(
    search: AuditSearch, rows: pd.DataFrame, truth: pd.DataFrame | None, train: pd.DataFrame | None
) -> None:
    """Compare the test and the lists with the training pairs."""
    of_train = "test-in-training training-items future"
    cut_digits.of_ids(search, rows, truth, train)
    if train is None:
        reason = "there are no training pairs; give --train"
        search.skip(reason, f"inner-ids cut-ids {of_train}")
        return
    duplicates.of_training(search, train)
    if inner_ids.of_file(search, rows, truth, train):
        search.skip("the ids are positions in the training set", of_train)
        return
    training_pairs.of_file(search, rows, truth, train)
    training_items.of_file(search, rows, truth, train)
    future.of_file(search, rows if truth is None else truth, train)


def _check_predictions(
    search: AuditSearch, rows: pd.DataFrame, train: pd.DataFrame | None, beside: Sequence[Path]
) -> bool:
    """Search estimates, and the pairs of other files; return whether they are of no use."""
    is_known = None
    if train is not None:
        sides = [rows[role].isin(train[role]) for role in PAIR if role in rows]
        is_known = float(np.logical_or.reduce(sides).mean())
    useless = unknown_ids.constant(search, rows, is_known)
    bad_estimates.far(search, rows)
    filled_ratings.of_predictions(search, rows)
    clipped.of_estimates(search, rows)  # of no use may be what a wrong scale left
    if not useless:
        marked_estimates.of_estimates(search, rows)
    if "item" in rows:
        frames = {other: tables.read(other, *PREDICTIONS) for other in beside}
        with_items = {other: table for other, table in frames.items() if "item" in table}
        unequal_candidates.of_files(search, rows, with_items)
    return useless
