"""The tables of papers, notebooks and the page; screen and Markdown are in `harness.results`."""

from __future__ import annotations

import csv
import io
import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import TYPE_CHECKING

from harness import metrics
from harness.errors import HarnessError
from harness.report.summary import ResultTable, Summary, p_text, plain, sentences, summarise
from harness.results.group_tables import group_tables
from harness.results.record import ConventionRow, measured
from harness.results.runs import Run, as_text, rounded, row_name

if TYPE_CHECKING:
    from pandas.io.formats.style import Styler

_LATEX = (
    {c: f"\\{c}" for c in "{}$&#_%"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}"}
    | {"±": r"$\pm$", "×": r"$\times$", "−": "$-$", "≤": r"$\le$", "≥": r"$\ge$", "·": r"$\cdot$"}
    | {"…": r"\dots{}", "–": "--", "—": "---", "‘": "`", "’": "'", "“": "``", "”": "''"}
)
"""How LaTeX writes what is special in it, or not in its usual fonts."""
SECONDS = {"fit_seconds": "fit s", "score_seconds": "score s"}
LEAST_GAP = 5e-5
"""Smallest difference between best and worst algorithm for a definition to be shown."""

Scores = Sequence[float | None]


def latex(run: Run | Summary, *, place: int | None = None) -> str:
    """Return the results table as LaTeX, that of one `place` or all of them below each other.

    It needs the packages ``booktabs`` and, for letters beyond ASCII, ``fontenc`` with ``T1``. Best
    values are bold; algorithms that share a raised letter are not significantly different.
    """
    summary = summarise(run)
    tables = summary.tables if place is None else [summary.table(place)]
    return "\n".join(_latex_table(summary, each, number) for number, each in enumerate(tables, 1))


def _latex_table(summary: Summary, table: ResultTable, number: int) -> str:
    columns = {"algorithm": [escape_latex(row_name(row)) for row in table.records.values()]}
    for label in summary.info.metrics:
        if table.rows[label].notna().any():
            columns[escape_latex(label)] = [_latex_number(table, label, n) for n in table.records]
    for name, title in SECONDS.items():
        columns[title] = [rounded(value, 2) or "--" for value in table.rows[name]]
    caption = "{}, {}, candidates: {}; ".format(*table.names)
    caption += "folds and seeds averaged" if summary.several else "one split"
    if table.comparisons:
        about = {"models": "these fitted models", "algorithms": "the algorithms, over seeds"}
        claims = dict.fromkeys(about[each.claim] for each in table.comparisons.values())
        caption += f"; tests of {' and '.join(claims)}"
        caption += "; algorithms that share a letter are not significantly different"
    conditions = measured(summary.info.cells)
    mixed = f" Seconds were measured {'; '.join(conditions)}." if len(conditions) > 1 else ""
    rows = list(zip(*columns.values(), strict=True))
    label = f"tab:{_identifier(summary.run.name)}-{number}"
    return _to_latex(list(columns), rows, 1, f"{caption}.{mixed}", label)


def _latex_number(table: ResultTable, label: str, name: str) -> str:
    text = table.text(label, table.records[name][label])
    if not text:
        return "--"
    text = rf"\textbf{{{text}}}" if name in table.best(label) else text
    letters = table.letters(label, name)
    return f"{text}$^{{\\mathrm{{{letters}}}}}$" if letters else text


def escape_latex(text: object) -> str:
    """Return text escaped for LaTeX; characters without a usual font become code points."""
    return "".join(
        _LATEX.get(c, c if c.isascii() or "À" <= c <= "ž" else f"[U+{ord(c):04X}]")
        for c in unicodedata.normalize("NFC", plain(text))
    )


def _identifier(name: str) -> str:
    return "".join(c if c.isascii() and c.isalnum() else "-" for c in name)


def style(run: Run | Summary, *, place: int = 1) -> Styler:
    """Return the results table at a `place` for a notebook, with numbers kept as numbers.

    Rounded by uncertainty, best values in bold, intervals and letters on hover, names escaped.
    """
    import pandas as pd

    summary = summarise(run)
    table = summary.table(place)
    columns = ["algorithm", *summary.info.metrics, *SECONDS]
    frame = table.rows[columns].rename(columns=SECONDS).set_index("algorithm")
    digits = table.decimals | dict.fromkeys(SECONDS.values(), 2)
    hints = {}
    styler = frame.style.format_index(escape="html").format_index(escape="html", axis="columns")
    styler = styler.format({name: partial(rounded, places=digits[name]) for name in frame.columns})
    for label in summary.info.metrics:
        best = pd.IndexSlice[table.best(label), [label]]
        styler = styler.set_properties(subset=best, **{"font-weight": "bold"})
        hints[label] = [
            f"{low} to {high}, {table.letters(label, name)}" if low else ""
            for name in table.records
            for low, high in [table.interval_text(label, name)]
        ]
    styler = styler.set_tooltips(pd.DataFrame(hints, frame.index), css_class="interval")
    styler = styler.set_uuid(f"{_identifier(summary.run.name)}-{place}")
    return styler.set_caption(escape(plain(table.title)))


@dataclass(frozen=True)
class SideTable:
    """A table of the page beside the results."""

    title: str
    caption: str
    number: int
    """Of the results table that it belongs to, from 1."""
    columns: Sequence[str] = ()
    """Empty where there is nothing to show; the caption says why."""
    rows: Sequence[Sequence[str]] = ()
    best: Sequence[tuple[int, int]] = ()
    """Row and column of highlighted values."""
    n_words: int = 1
    """How many columns, from the left, hold words."""

    @property
    def csv(self) -> str:
        """The table as a file."""
        text = io.StringIO()
        rows = ([as_text(value) for value in row] for row in (self.columns, *self.rows))
        csv.writer(text, lineterminator="\n").writerows(rows)
        return text.getvalue()

    @property
    def latex(self) -> str:
        """The table for a paper; it needs the package ``booktabs``."""
        columns = [escape_latex(name) for name in self.columns]
        rows = [[escape_latex(value) for value in row] for row in self.rows]
        label = f"tab:{_identifier(self.title)}"
        return _to_latex(columns, rows, self.n_words, f"{self.title}. {self.caption}", label)


def _to_latex(
    columns: Sequence[str], rows: Sequence[Sequence[str]], n_words: int, caption: str, label: str
) -> str:
    """Return a table of LaTeX from escaped cells, the first columns to the left."""
    import pandas as pd

    text: str = (
        pd.DataFrame(rows, columns=pd.Index(columns))
        .style.hide(axis="index")
        .to_latex(
            caption=escape_latex(caption),
            label=label,
            column_format="l" * n_words + "r" * (len(columns) - n_words),
            position_float="centering",
            hrules=True,
        )
    )
    return text


def evidence(run: Run | Summary, *, metric: str | None = None) -> list[SideTable]:
    """Return, for each results table, how sure and how large its differences are.

    By one metric, the primary one by default, and less the baseline of the summary: the value and
    its share of the room between a random and the best order, the difference with its interval,
    Cohen's d_z, the adjusted p-value, the difference that the run could detect, whether the two are
    equivalent within the margin of the config, and standard deviations over users and seeds.
    """
    summary = summarise(run)
    label = summary.metric(metric)
    return [_evidence(summary, table, label) for table in summary.tables]


def _evidence(summary: Summary, table: ResultTable, label: str) -> SideTable:
    compared = table.comparisons.get(label)
    title = _titled(f"Differences in {label} to {plain(summary.baseline)}", summary, table)
    if compared is None:
        return SideTable(title, f"No comparison of {label} in this table.", table.number)
    room = summary.run.room.set_index("row")[label]
    pairs = table.differences(label, summary.baseline, corrected_alone=True)
    of_pairs = {pair.first: pair for pair in pairs}
    of_rows = {each.algorithm: each for each in compared.algorithms}
    levels = list(next(iter(of_rows.values())).components)
    text, places = partial(table.text, label), table.decimals[label] + 1
    rows = []
    for name in table.ranked(label):
        pair, own = of_pairs.get(name), of_rows.get(name)
        share = room[table.records[name]["row"]]
        cells = [name, text(table.records[name][label])]
        cells.append(rounded(share, 3))
        if pair is None:
            cells += [""] * (6 + (compared.margin is not None))
        else:
            cells += [rounded(each, places) for each in (pair.difference, pair.low, pair.high)]
            p = p_text(pair.p_adjusted, pair.p_is_bound).removeprefix("p ").removeprefix("= ")
            cells += [rounded(pair.effect_size, 2), p]
            cells.append(rounded(pair.detectable, places))
            if compared.margin is not None:
                cells.append("yes" if pair.equivalent else "no")
        variances = own.components if own else {}
        cells += [rounded(variances.get(level, math.nan) ** 0.5, places) for level in levels]
        rows.append(cells)
    columns = ["algorithm", label, "of room", "difference", "low", "high", "d_z", "p", "detectable"]
    columns += [] if compared.margin is None else [f"within ±{compared.margin:g}"]
    columns += [f"sd {level}" for level in levels]
    caption = sentences("evidence", compared=compared, levels=levels)
    return SideTable(title, caption, table.number, columns, rows)


def sensitivity_tables(summary: Summary) -> list[SideTable]:
    """Return, for each results table, that of ties and that of conventions."""
    return [
        make(summary, table) for table in summary.tables for make in (_tie_table, _convention_table)
    ]


def parameter_tables(summary: Summary) -> list[SideTable]:
    """Return, for each results table with tuned rows, the share of each parameter."""
    if summary.run.trials is None:
        return []
    title, made = "Importance of the tuned parameters", []
    try:
        found = summary.run.importance()
    except HarnessError as error:
        return [SideTable(title, f"{error}.", 1)]
    columns = ("algorithm", "parameter", "share", "trials")
    caption = sentences("importance", metric=summary.info.experiment.tuning.metric)
    for table in summary.tables:
        own = found[found["table"] == table.key].astype({"n_trials": str})
        own["importance"] = [rounded(share, 2) for share in own["importance"]]
        rows = own[["algorithm", "parameter", "importance", "n_trials"]].to_numpy().tolist()
        named = _titled(title, summary, table)
        made += [SideTable(named, caption, table.number, columns, rows, n_words=2)] if rows else []
    return made


def by_group(run: Run | Summary, *, metric: str | None = None) -> list[SideTable]:
    """Return the tables of groups of users and items, by one metric, nDCG at 10 by default."""
    summary = summarise(run)
    numbers = {table.key: table.number for table in summary.tables}
    return [
        SideTable(
            each.title,
            each.caption,
            numbers[each.scores.table],
            each.columns,
            [[text.strip() for text in row] for row in each.rows],
            each.best,
        )
        for each in group_tables(summary.info, metric)
    ]


def _tie_table(summary: Summary, table: ResultTable) -> SideTable:
    """Return the users with ties at the cut, and the values under each rule for ties."""
    title = _titled("Ties at the cut", summary, table)
    shares: dict[str, dict[str, float]] = {}
    for cell in table.cells:
        own = shares.setdefault(cell.algorithm, {})
        for label, share in cell.tied_at_cut.items():
            own[label] = max(own.get(label, 0.0), share)
    labels = [each for each in summary.info.metrics if any(each in own for own in shares.values())]
    entry = next((each for each in summary.info.ties if each.table == table.key), None)
    metric, by_rule = (entry.metric, entry.rows) if entry and entry.rows else ("", [])
    scores = {row.algorithm: row.scores for row in by_rule}
    rules = list(next(iter(scores.values()), {}))
    names = [name for name in table.ranked(summary.primary) if name in shares]
    if not names or not (labels or rules):
        caption = f"No metric with a cut-off rank. {sentences('absent')}"
        return SideTable(title, caption, table.number)
    rows = [
        (
            name,
            *(f"{100 * shares[name].get(each, 0.0):.1f}%" for each in labels),
            *(table.text(summary.primary, scores.get(name, {}).get(rule)) for rule in rules),
        )
        for name in names
    ]
    tied, values = (f"tied, {each}" for each in labels), (f"ties={rule}" for rule in rules)
    ends = [(row.scores.get("best"), row.scores.get("worst"), row.algorithm) for row in by_rule]
    gaps = [(up - low, name) for up, low, name in ends if up is not None and low is not None]
    largest, name = max(gaps, key=lambda each: each[0], default=(None, ""))
    gap = table.text(summary.primary, largest)
    caption = sentences("ties", metric=metric, name=name, gap=gap)
    return SideTable(title, caption, table.number, ("algorithm", *tied, *values), rows)


def _convention_table(summary: Summary, table: ResultTable) -> SideTable:
    """Return the scores of the same lists by the definition of each library.

    Libraries with the same definition share a row.
    """
    entry = next((each for each in summary.info.conventions if each.table == table.key), None)
    if entry is None:
        return SideTable(_titled("Conventions", summary, table), sentences("absent"), table.number)
    title = _titled(f"{entry.metric}@{entry.k} by library and document", summary, table)
    by_label: dict[str, list[ConventionRow]] = {}
    for each in entry.rows:
        by_label.setdefault(each.label, []).append(each)
    known = {key for each in entry.rows for key in each.scores}
    keys = {name: table.records[name]["row"] for name in table.ranked(summary.primary)}
    keys = {name: key for name, key in keys.items() if key in known}
    rows: list[tuple[str, ...]] = []
    best: list[tuple[int, int]] = []
    values_of: dict[str, Scores] = {}
    for label, group in by_label.items():
        values = values_of[label] = [group[0].scores.get(key) for key in keys.values()]
        if _distinguishes(values):
            best += [(len(rows), i + 2) for i in _best_of(values)]
        libraries = ", ".join(each.convention for each in group)
        definition = label + (f" ({group[0].note})" if group[0].note else "")
        shown = [table.text(summary.primary, value) for value in values]
        rows.append((libraries, definition, *shown))
    columns = ("library or document", "definition", *keys)
    caption = _convention_caption(summary, table, list(keys), values_of)
    return SideTable(title, caption, table.number, columns, rows, best, n_words=2)


def _convention_caption(
    summary: Summary, table: ResultTable, names: Sequence[str], values_of: dict[str, Scores]
) -> str:
    of_first = [values[0] for values in values_of.values() if names and values[0] is not None]
    ends = [table.text(summary.primary, end(of_first)) for end in (min, max) if len(of_first) > 1]
    best = [names[_best_of(each)[0]] for each in values_of.values() if _distinguishes(each)]
    blind = [label for label, each in values_of.items() if names and not _distinguishes(each)]
    gains = [str(metrics.parse(label).params.get("gain")) for label in blind]
    return sentences(
        "conventions",
        first=next(iter(names), ""),
        ends=ends,
        winners={plain(name): best.count(name) for name in names if name in best},
        blind=len(blind),
        binary=all(gain.startswith("binary") for gain in gains),
    )


def _titled(title: str, summary: Summary, table: ResultTable) -> str:
    return title + (f", {table.title}" if len(summary.tables) > 1 else "")


def _best_of(values: Scores) -> list[int]:
    top = max(value for value in values if value is not None)
    return [i for i, value in enumerate(values) if value == top]


def _distinguishes(values: Scores) -> bool:
    known = [value for value in values if value is not None]
    return len(known) > 1 and max(known) - min(known) > LEAST_GAP
