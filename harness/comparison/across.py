"""One verdict over several data sets: the rows that all of them have, compared by their ranks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from harness import metrics
from harness._util.arguments import checked
from harness._util.libraries import pd
from harness._util.names import Named
from harness.comparison.runs import common_metrics, run_names
from harness.config.experiment import headline_of
from harness.datasets.catalogue import CATALOGUE
from harness.errors import ComparisonError, ResultsError, counted, suggestion
from harness.notes.note import Note
from harness.results.cells import LONGEST_VALUE, distinct_names, flattened
from harness.results.headline import chosen_metric
from harness.results.reading import read_run
from harness.results.record import DataInfo
from harness.results.runs import Run
from harness.results.table import comparison_of
from harness.schema.sections import Section
from harness.statistics import PostHoc, RankComparison, compare_ranks

OF_ONE_DATA_SET = {"random_state", "date", "path", "train", "test", "label", "validation"}
"""Keys that may differ between data sets, or that are compared by themselves."""
COLUMNS = {"algorithm", "mean_rank", "mean rank", "letters", "wins"}
"""Columns of the table beside the columns of the data sets."""


@dataclass(frozen=True, eq=False)
class AcrossDataSets(Named):
    """A comparison of algorithms over several data sets.

    Parameters
    ----------
    table : DataFrame
        A row for each algorithm, best mean rank first: ``algorithm``, ``mean_rank``, ``letters``,
        ``wins``, and the value of the metric on each data set, under its name.
    comparison : RankComparison
        Ranks (in the order of `datasets` and of ``comparison.algorithms``), tests of all pairs,
        Friedman's test and the critical difference.
    metric : str
    datasets : list of str
    split, candidates : str
        Names of the question that was asked of all data sets.
    notes : list of Note
        What was left out, and what the comparison cannot answer.
    """

    table: pd.DataFrame
    comparison: RankComparison
    metric: str
    datasets: list[str]
    split: str
    candidates: str
    notes: list[Note]

    _guessed = (None, "the comparison")


@dataclass(frozen=True, eq=False)
class _Table:
    """A table of a run: one data set, one split, one kind of candidates."""

    run: Run
    run_name: str
    names: tuple[str, str, str]
    data: DataInfo
    rows: pd.DataFrame
    """Rows of the run's table, by algorithm."""

    def question(self, common: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
        """Yield by name what must be the same in all tables."""
        config = self.run.info.experiment
        split = self.run.info.section("split", self.names[1])
        yield "split", _settings(split)
        yield "candidates", _settings(self.run.info.section("candidates", self.names[2]))
        yield "clip", {"clip": str(config.clip).lower()}
        entries = [entry for entry in config.algorithms if entry.title in common]
        if any(entry.search for entry in entries):
            yield "tuning", _settings(config.tuning)
            yield "validation set", _settings(config.tuning.validation_of(split))
        spaces = self.run.info.model_dump(include={"spaces"}).get("spaces", {})
        for entry in entries:
            space = {"space": spaces.get(entry.title, {})}
            yield f"settings of {entry.title}", _settings(entry) | dict(flattened(space))


def _settings(section: Section) -> dict[str, str]:
    """Return the keys of a section that are not defaults and hold for more than one data set."""
    return dict(flattened(section.stated(OF_ONE_DATA_SET)))


@checked(ComparisonError)
def across(
    runs: Sequence[Run | Path | str],
    *,
    metric: str | None = None,
    split: str | None = None,
    candidates: str | None = None,
    post_hoc: PostHoc = "nemenyi",
    rope: float = 0.01,
    level: float = 0.05,
    seed: int = 0,
    anyway: bool = False,
) -> AcrossDataSets:
    """Compare the rows that all runs have over their data sets.

    Parameters
    ----------
    runs : sequence of Run, Path or str
        Runs, or their folders; each of one data set or of several.
    metric : str, optional
        A label that all runs have; by default the headline metric of
        the first run, where all have it, else the first ranking metric that all have.
    split, candidates : str, optional
        Display names that select one table of several for each data set.
    post_hoc : {"nemenyi", "holm"}
        How pairs are compared; see `harness.statistics.compare_ranks`.
    rope : float
        Region of practical equivalence, in units of the metric.
    level : float
        In (0, 1), of the tests.
    seed : int
        Seed of the Bayesian test.
    anyway : bool
        Compare runs that ask different questions too, with notes about the differences.

    Returns
    -------
    AcrossDataSets

    Raises
    ------
    ComparisonError
        If runs ask different questions (split, candidates, clipping, tuning, settings of an
        algorithm), have a data set twice, or there are fewer than two data sets or common rows.
    ResultsError
        If a run cannot be read, or has no such metric, split or candidates.

    Examples
    --------
    >>> import harness
    >>> config = {"algorithms": ["BaselineOnly"], "metrics": ["ndcg@10"]}
    >>> sizes = {"n_users": 50, "n_items": 40, "n_ratings": 800}
    >>> config["dataset"] = [{"synthetic": {**sizes, "seed": seed}} for seed in range(3)]
    >>> found = harness.across([harness.run(config, results=None)])
    >>> found.table["algorithm"].tolist()
    ['BaselineOnly', 'Random', 'Popularity']
    """
    opened = [run if isinstance(run, Run) else read_run(run) for run in runs]
    names = run_names(opened)
    for run, name in zip(opened, names, strict=True) if metric is not None else ():
        metric = chosen_metric(metric, run.info.metrics, f"{name}: no metric")
    filters = {"split": split, "candidates": candidates}
    tables = [
        table
        for run, name in zip(opened, names, strict=True)
        for table in _tables(run, name, filters)
    ]
    _check_datasets(tables)
    infos = [run.info for run in opened]
    label = metric or headline_of(common_metrics(names, infos), infos[0].headline)
    of_data = [table.data.name + " (data)" * (table.data.name in COLUMNS) for table in tables]
    titles = distinct_names(of_data, [{"from": table.run_name} for table in tables])
    listed = pd.concat([table.rows for table in tables]).groupby(level=0, sort=False).size()
    shared, unshared = listed.index[listed == len(tables)], listed.index[listed < len(tables)]
    notes = []
    if len(unshared):
        notes.append(Note("rows-of-some-data", {"algorithms": unshared}))
    # By row and data set; NaN where a cell failed.
    columns = [table.rows[label].where(table.rows["n_failed"] == 0)[shared] for table in tables]
    values = pd.DataFrame(dict(zip(titles, columns, strict=True)))
    for row, lacks in values.isna().iterrows():
        if lacks.any():
            lacking = {"algorithm": row, "metric": label, "datasets": lacks.index[lacks]}
            notes.append(Note("row-without-value", lacking))
    common = values.dropna().index.tolist()
    if len(common) < 2:
        raise ComparisonError(
            f"{', '.join(names)}: {counted(len(common), 'row')} with a value on every data set; "
            "run the same two algorithms or more on each, under the same labels"
        )
    differences = list(_differences(tables, titles, common))
    if differences and not anyway:
        raise ComparisonError(
            f"{'; '.join(differences)}: these are different questions; run them with the same "
            "config but for `dataset`; --anyway (anyway=True) compares them with this warning"
        )
    notes += [Note("not-comparable", {"difference": difference}) for difference in differences]
    for table, title in zip(tables, titles, strict=True):
        if _has_other_users(table, label, common):
            notes.append(Note("ranks-of-other-users", {"metric": label, "dataset": title}))
    for source in dict.fromkeys(table.data.source for table in tables):
        named = [title for title, table in zip(titles, tables, strict=True)
                 if table.data.source == source]  # fmt: skip
        if len(named) > 1 and source in {*CATALOGUE} - {"synthetic"}:
            notes.append(Note("same-source", {"datasets": named, "source": source}))
    scores = np.array(values.dropna().T, np.float64, order="C")
    comparison = compare_ranks(
        scores,
        common,
        higher_is_better=metrics.parse(label).higher_is_better,
        post_hoc=post_hoc,
        rope=rope,
        level=level,
        seed=seed,
    )
    if comparison.note:
        notes.append(Note("ranks-undecided", {"reason": comparison.note}))
    frame = comparison.algorithms.assign(**dict(zip(titles, scores, strict=True)))
    frame = frame.sort_values("mean_rank", kind="stable", ignore_index=True)
    return AcrossDataSets(frame, comparison, label, titles, *tables[0].names[1:], notes)


def _has_other_users(table: _Table, label: str, rows: Sequence[str]) -> bool:
    """Return whether the values of some rows of a table are of different users."""
    comparison = comparison_of(table.run.info, table.rows["table"].iloc[0], label)
    return comparison is not None and any(
        comparison.has_other_users(pair)
        for pair in comparison.pairs
        if {pair.first, pair.second} <= {*rows}
    )


def _tables(run: Run, name: str, filters: Mapping[str, str | None]) -> list[_Table]:
    """Return the tables of a run under a split and with candidates, one for each data set."""
    info, tables = run.info, dict(run.info.tables)
    for place, (key, value) in enumerate(filters.items(), 1):
        choices = list(dict.fromkeys(names[place] for names in tables.values()))
        if value is not None and value not in choices:
            raise ResultsError(f"{name}: no {key} {value!r}; {suggestion(value, choices)}")
        if value is None and len(choices) > 1:
            raise ComparisonError(
                f"{name}: several questions of each data set, {key} {', '.join(choices)}; choose "
                f"one with --{key}"
            )
        tables = {k: names for k, names in tables.items() if value in (None, names[place])}
    datasets = {data.name: data for data in info.datasets}
    rows = dict(iter(run.table.set_index("algorithm").groupby("table")))
    return [_Table(run, name, names, datasets[names[0]], rows[k]) for k, names in tables.items()]


def _check_datasets(tables: Sequence[_Table]) -> None:
    """Refuse a single data set, and one that is there twice."""
    seen: dict[str, _Table] = {}
    for table in tables:
        first = seen.setdefault(table.data.fingerprint, table)
        if first is not table:
            raise ComparisonError(
                f"{table.run_name}: {table.data.name} again, the data of {first.run_name}; seeds "
                "and splits are not further data sets: leave one out, or put them into one run "
                "with `seed: [0, 1]`, which averages them"
            )
    if not tables:
        raise ComparisonError("across: no run; give runs of two data sets or more")
    if len(tables) < 2:
        raise ComparisonError(
            f"{tables[0].run_name}: one data set, {tables[0].data.name}; add runs of others, or "
            "compare rows on one with `harness table` or `harness compare`, without --across"
        )


def _differences(
    tables: Sequence[_Table], titles: Sequence[str], common: Sequence[str]
) -> Iterator[str]:
    """Say in which table which part of the question differs from the first table."""
    first = dict(tables[0].question(common))
    for table, title in zip(tables[1:], titles[1:], strict=True):
        question = dict(table.question(common))
        for name in dict.fromkeys([*first, *question]):
            one, other = first.get(name, {}), question.get(name, {})
            keys = [k for k in dict.fromkeys([*one, *other]) if one.get(k) != other.get(k)]
            if keys or (name in first) != (name in question):
                values = [[part.get(key, "by default")[:LONGEST_VALUE] for part in (other, one)]
                         for key in keys]  # fmt: skip
                shown = ", ".join(
                    f"{k} {x} instead of {y}" for k, (x, y) in zip(keys, values, strict=True)
                )
                yield f"{title}: other {name} than {titles[0]} ({shown or 'in one of them only'})"
