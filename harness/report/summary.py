"""A run as the report shows it: its tables with their rankings and comparisons, and its words."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from os.path import commonprefix
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness import metrics, statistics
from harness._util.libraries import pd
from harness.config.experiment import Inference
from harness.errors import ResultsError, counted, joined, suggestion
from harness.report.styles import AlgorithmStyle, algorithm_styles
from harness.results.cells import CellResult, FailedCell
from harness.results.headline import chosen_metric
from harness.results.record import RunInfo
from harness.results.runs import Run
from harness.results.scores import plain_rows
from harness.results.statistics import MetricComparison, PairDifference
from harness.results.table import (
    DEFAULT_DECIMALS,
    best_rows,
    column_decimals,
    marked_rows,
    printable,
    rounded,
)

if TYPE_CHECKING:
    from jinja2 import Environment


ASSETS = Path(__file__).with_name("assets")

BASELINES = ("BaselineOnly", "ItemMean", "Popularity", "Random")
"""Default baselines, used if neither config nor reader names one."""


@dataclass(frozen=True, eq=False)
class ResultTable:
    """One table of a run: a data set, a split and a kind of candidates."""

    run: Run
    number: int
    """From 1, in the order of the config."""
    key: str
    """Its identity."""
    names: tuple[str, str, str]
    """Data set, split, candidates."""
    title: str
    """What distinguishes it from the other tables of the run."""
    decimals: dict[str, int]
    """By metric, how many decimals its numbers get."""

    @cached_property
    def rows(self) -> pd.DataFrame:
        """Its algorithms, in the form of `Run.table`."""
        return self._part(self.run.table).reset_index(drop=True)

    @cached_property
    def records(self) -> dict[str, dict[Hashable, Any]]:
        """Its rows as dictionaries, by algorithm."""
        return {str(row["algorithm"]): row for row in self.rows.to_dict(orient="records")}

    @cached_property
    def bounds(self) -> pd.DataFrame:
        """The scores of the best and of a random order, in the same columns; may be empty."""
        return self._part(self.run.bounds)

    @cached_property
    def users(self) -> pd.DataFrame:
        """Its rows of `Run.users`."""
        return self._part(self.run.users)

    @cached_property
    def cells(self) -> list[CellResult]:
        """Its computed cells."""
        return [cell for cell in self.run.info.finished if cell.table == self.key]

    @cached_property
    def comparisons(self) -> dict[str, MetricComparison]:
        """By metric, the comparison of its algorithms user by user, where there is one."""
        return {each.metric: each for each in self.run.info.statistics if each.table == self.key}

    @property
    def level(self) -> float:
        """The level that an adjusted p-value is compared with."""
        return 1 - self._settings.confidence

    def text(self, label: str, value: float | None) -> str:
        """Return a value of a metric with the decimals of this table."""
        return rounded(value, self.decimals[label])

    def interval(self, label: str, algorithm: str) -> tuple[float, float]:
        """Return the ends of the interval of an algorithm's mean over users, NaN for none."""
        row, none = self.records[algorithm], float("nan")
        return row.get(f"{label}_low", none), row.get(f"{label}_high", none)

    def interval_text(self, label: str, algorithm: str) -> tuple[str, str]:
        """Return both ends with the decimals of this table, empty for none."""
        low, high = self.interval(label, algorithm)
        return self.text(label, low), self.text(label, high)

    def letters(self, label: str, algorithm: str) -> str:
        """Return the letters of an algorithm; algorithms that share one do not differ."""
        return str(self.records[algorithm].get(f"{label}_letters", ""))

    def best(self, label: str) -> list[str]:
        """Return the algorithms that lead by a metric: one, or several of the same value."""
        leads = best_rows(self.rows, label, self.comparisons.get(label))
        return [str(name) for name in self.rows.loc[leads, "algorithm"]]

    def marked(self, label: str) -> list[str]:
        """Return the algorithms whose value of a metric is bold; none where all are equal."""
        marked = marked_rows(self.rows, label, self.comparisons.get(label))
        return [str(name) for name in self.rows.loc[marked, "algorithm"]]

    def ranked(self, label: str) -> list[str]:
        """Return the algorithms that have a value of a metric, best first.

        Algorithms with a failed cell are excluded: their values are of other folds.
        """
        ascending = not metrics.parse(label).higher_is_better
        rows = self.rows[self.rows["n_failed"] == 0].dropna(subset=[label])
        rows = rows.sort_values(label, ascending=ascending, kind="stable")
        return [str(name) for name in rows["algorithm"]]

    def differences(
        self, label: str, baseline: str, *, corrected_alone: bool = False
    ) -> list[PairDifference]:
        """Return every other algorithm less the baseline.

        P-values are corrected among all pairs of the table, or only among these pairs.
        """
        compared = self.comparisons.get(label)
        if compared is None or not compared.pairs:
            return []
        kinds = {name: float for name, own in PairDifference.model_fields.items()
                 if own.annotation not in (str, bool, int, bool | None)
                 and name != "n_differing"}  # fmt: skip
        rows = (dict(pair) | {"opposite": compared.lacks_side(pair)} for pair in compared.pairs)
        pairs = pd.DataFrame(rows).astype(kinds)
        correction = self._settings.correction if corrected_alone else None
        level, margin = self.level + 1e-12, compared.margin
        found = statistics.against(pairs, baseline, correction, level, margin)
        return [PairDifference.model_validate(row) for row in plain_rows(found)]

    @property
    def _settings(self) -> Inference:
        return self.run.info.experiment.statistics or Inference()

    def _part(self, frame: pd.DataFrame) -> pd.DataFrame:
        return frame[frame["table"] == self.key]


@dataclass(frozen=True, eq=False)
class Summary:
    """A run, prepared for display."""

    run: Run
    tables: list[ResultTable]
    baseline: str
    """What the other algorithms are compared with."""

    @property
    def info(self) -> RunInfo:
        """What ``run.json`` holds."""
        return self.run.info

    @cached_property
    def primary(self) -> str:
        """The headline metric of the run, of its plots too."""
        return self.info.primary

    @cached_property
    def styles(self) -> dict[str, AlgorithmStyle]:
        """How each algorithm is drawn."""
        return algorithm_styles(self.info.algorithms)

    def metric(self, label: str | None) -> str:
        """Return a label of this run, the primary one for None."""
        return chosen_metric(
            label, self.info.metrics, f"{self.run.name}: no metric", self.info.headline
        )

    def table(self, number: int) -> ResultTable:
        """Return a table by its number, from 1."""
        if not 1 <= number <= len(self.tables):
            known = "; ".join(f"{i}: {each.title}" for i, each in enumerate(self.tables, 1))
            raise ResultsError(f"{self.run.name}: no table {number}; use one of {known}")
        return self.tables[number - 1]


def summarise(run: Run | Summary, *, baseline: str | None = None) -> Summary:
    """Prepare a run for display; a summary is given back as it is.

    Without a baseline the others are compared with the config's baseline, else with the first of
    `BASELINES` that the run has, else with its first algorithm.
    """
    if isinstance(run, Summary):
        return run
    info = run.info
    if not info.cells or not info.metrics:
        raise ResultsError(f"{run.name}: holds no cells; run the config again")
    known = info.algorithms
    if baseline is not None and baseline not in known:
        raise ResultsError(f"{run.name}: no baseline {baseline!r}; {suggestion(baseline, known)}")
    settings = info.experiment.statistics
    wanted = (settings.baseline if settings else None, *BASELINES)
    default = next((str(each) for each in wanted if each in known), known[0])
    digits = column_decimals(info)
    all_names = info.tables.values()
    varying = [part for part in range(3) if len({names[part] for names in all_names}) > 1]
    tables = []
    for number, (key, names) in enumerate(info.tables.items(), 1):
        title = " · ".join(names[part] for part in varying or range(3))
        own = {label: digits.get((key, label), DEFAULT_DECIMALS) for label in info.metrics}
        tables.append(ResultTable(run, number, key, names, title, own))
    return Summary(run, tables, baseline or default)


def failures_text(failed: Sequence[FailedCell]) -> str:
    """Return how many cells failed, and of which rows."""
    return sentences("failures", failed=failed)


def code(formula: str) -> str:
    """Return a formula as code between backticks, with powers as people write them.

    >>> code("sqrt(mean((estimate - rating)**2))")
    '`sqrt(mean((estimate - rating)²))`'
    """
    return f"`{formula.replace('**2', '²').replace('**', '^')}`"


@cache
def templates() -> Environment:
    """Return the templates of text and pages; values in HTML are escaped."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

    made = Environment(
        loader=FileSystemLoader(ASSETS),
        autoescape=select_autoescape(),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "code": code,
        "counted": counted,
        "each": lambda rows, form: [form.format(*row) for row in rows],
        "grouped": "{:,}".format,
        "joined": joined,
        "plain": printable,
        "seconds": seconds_text,
    }
    return made


def sentences(about: str, **values: object) -> str:
    """Return a text of `assets/sentences.txt`."""
    macro = getattr(templates().get_template("sentences.txt").module, about)
    return " ".join(macro(**values).split())


def shortened(name: str, width: int = 22) -> str:
    """Return a name that fits beside a plot, its middle cut if it is too long."""
    text = printable(name)
    end = (width - 1) // 2
    return text if len(text) <= width else f"{text[: width - 1 - end]}…{text[-end:]}"


def short_names(names: Iterable[str], width: int = 22) -> dict[str, str]:
    """Return names shortened; those that would then look alike, without what they begin with."""
    short = {name: shortened(name, width) for name in names}
    for text in set(short.values()):
        alike = [name for name, shown in short.items() if shown == text]
        if len(alike) > 1:
            common = commonprefix(alike)  # noqa: RUF071 - of texts, as paths have it too
            for start in (common.rfind(" ") + 1, len(common)):  # a whole word, if that is enough
                short |= {name: shortened(f"…{name[start:]}", width) for name in alike}
                if len({short[name] for name in alike}) == len(alike):
                    break
    return short


def seconds_text(value: float) -> str:
    """Return a duration in a short form."""
    if value < 0.95:
        return f"{max(value * 1000, 1):.0f} ms"
    if value < 9.95:
        return f"{value:.1f} s"
    return f"{value:.0f} s" if value < 600 else f"{value / 60:.0f} min"
