"""The tables of papers, notebooks and the page; screen and Markdown are in `harness.results`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import partial
from html import escape
from typing import TYPE_CHECKING

from harness import metrics
from harness._util.arguments import checked
from harness._util.libraries import pd
from harness.errors import HarnessError, ResultsError, joined
from harness.report.summary import ResultTable, Summary, sentences, summarise
from harness.results.cells import failed_metrics, measured
from harness.results.pairs import p_text
from harness.results.record import RunInfo
from harness.results.runs import Run
from harness.results.table import (
    AGAINST_BEST,
    GROUP,
    IN_PAPERS,
    SECONDS,
    TIMES,
    TextTable,
    analysis_table,
    columns_of,
    escape_latex,
    identifier,
    latex_table,
    printable,
    rounded,
    row_name,
)

if TYPE_CHECKING:
    from pandas.io.formats.style import Styler


LEAST_GAP = 5e-5
"""Smallest difference between best and worst algorithm for a definition to be shown."""


@checked(ResultsError)
def latex(
    run: Run | Summary, *, place: int | None = None, columns: Sequence[str] | None = None
) -> str:
    """Return the results table of one `place` as LaTeX, or all of them below each other.

    It needs the packages ``booktabs`` and, for letters beyond ASCII, ``fontenc`` with ``T1``. Best
    values are bold if some row is significantly worse; algorithms that share a raised letter are
    not significantly different. With `columns`, those titles of metrics and numbers are shown, in
    their order; by default all metrics, and seconds to fit and to score.
    """
    summary, texts = summarise(run), []
    tables = summary.tables if place is None else [summary.table(place)]
    for number, table in enumerate(tables, 1):
        names = [escape_latex(row_name(row)) for row in table.records.values()]
        cells = {"algorithm": names} | _latex_columns(summary, table, columns)
        caption = "{}, {}, candidates: {}; ".format(*table.names)
        caption += "folds and seeds averaged" if summary.info.has_several_cells else "one split"
        if table.comparisons:
            about = {"models": "these fitted models", "algorithms": "the algorithms, over seeds"}
            claims = dict.fromkeys(
                about[comparison.claim] for comparison in table.comparisons.values()
            )
            caption += f"; tests of {' and '.join(claims)}"
            caption += "; algorithms that share a letter are not significantly different"
        if columns is None:
            caption += _left_out(summary, table.rows)
        conditions = measured(summary.info.cells)
        mixed = f" Seconds were measured {'; '.join(conditions)}." if len(conditions) > 1 else ""
        label = f"{identifier(summary.run.name)}-{number}"
        texts.append(latex_table(pd.DataFrame(cells), f"{caption}.{mixed}", label))
    return "\n".join(texts)


def _latex_columns(
    summary: Summary, table: ResultTable, columns: Sequence[str] | None
) -> dict[str, list[str]]:
    """Return columns of a results table by their escaped titles: `columns`, or the usual ones.

    A metric without a value in the table has none, unless it is named.
    """
    answers = f"{summary.primary}_answer"
    if columns is None:
        columns = []
        for label in _shown(summary, table.rows):
            against = label == summary.primary and answers in table.rows
            columns += [label, AGAINST_BEST] if against else [label]
        columns += [column.title for column in IN_PAPERS.values()]
    numbers = {column.title: column for column in columns_of(table.rows)}
    cells = {}
    for title in columns:
        if title in summary.info.metrics:
            texts = latex_numbers(table, title)
        elif title == AGAINST_BEST and answers in table.rows:
            texts = [row[answers] for row in table.records.values()]
        elif title == SECONDS.title:
            sums = table.rows[list(TIMES)].sum(axis=1, min_count=1)
            texts = [rounded(value, SECONDS.places) for value in sums]
        elif title in numbers:
            column = numbers[title]
            texts = [rounded(value, column.places) for value in table.rows[column.name]]
        else:  # a name that the caption has, or what failed
            continue
        cells[escape_latex(title)] = [text or ABSENT for text in texts]
    return cells


def latex_numbers(table: ResultTable, label: str) -> list[str]:
    """Return a column of values, the best bold, with raised letters."""
    best, shown = table.marked(label), []
    for name, row in table.records.items():
        text, letters = table.text(label, row[label]) or "--", table.letters(label, name)
        text = rf"\textbf{{{text}}}" if name in best else text
        shown.append(f"{text}$^{{\\mathrm{{{letters}}}}}$" if letters and text != "--" else text)
    return shown


@checked(ResultsError)
def style(run: Run | Summary, *, place: int = 1) -> Styler:
    """Return the results table at a `place` for a notebook, with numbers kept as numbers.

    Rounded by uncertainty, best values in bold, intervals and letters on hover, names escaped.
    """
    summary = summarise(run)
    table = summary.table(place)
    columns = ["algorithm", *summary.info.metrics, *IN_PAPERS]
    titles = {name: column.title for name, column in IN_PAPERS.items()}
    frame = table.rows[columns].rename(columns=titles).set_index("algorithm")
    digits = table.decimals | {column.title: column.places for column in IN_PAPERS.values()}
    hints = {}
    styler = frame.style.format_index(escape="html").format_index(escape="html", axis="columns")
    styler = styler.format({name: partial(rounded, places=digits[name]) for name in frame.columns})
    for label in summary.info.metrics:
        best = pd.IndexSlice[table.marked(label), [label]]
        styler = styler.set_properties(subset=best, **{"font-weight": "bold"})
        hints[label] = [
            f"{low} to {high}, {table.letters(label, name)}" if low else ""
            for name in table.records
            for low, high in [table.interval_text(label, name)]
        ]
    styler = styler.set_tooltips(pd.DataFrame(hints, frame.index), css_class="interval")
    styler = styler.set_uuid(f"{identifier(summary.run.name)}-{place}")
    return styler.set_caption(escape(printable(table.title)))


@checked(ResultsError)
def evidence(run: Run | Summary, *, metric: str | None = None) -> list[TextTable]:
    """Return, for each results table, how sure and how large its differences are.

    By one metric, the primary one by default, and less the baseline of the summary: the value and
    its normalised score between a random and the best order, the difference with its interval,
    Cohen's d_z, the adjusted p-value, the difference that the run could detect, whether the two are
    equivalent within the margin of the config, and standard deviations over users and seeds.
    """
    summary = summarise(run)
    label = summary.metric(metric)
    return [_evidence(summary, table, label) for table in summary.tables]


def _evidence(summary: Summary, table: ResultTable, label: str) -> TextTable:
    compared = table.comparisons.get(label)
    title = _titled(f"Differences in {label} to {printable(summary.baseline)}", summary, table)
    if compared is None:
        return TextTable(title, f"No comparison of {label} in this table.", table.number)
    room = summary.run.room.set_index("row")[label]
    pairs = table.differences(label, summary.baseline, corrected_alone=True)
    of_pairs = {pair.first: pair for pair in pairs}
    variances = {mean.algorithm: mean.components for mean in compared.algorithms}
    levels, places = list(compared.algorithms[0].components), table.decimals[label] + 1
    rows = []
    for name in table.ranked(label):
        record, components = table.records[name], variances.get(name, {})
        row = {"algorithm": name, label: table.text(label, record[label])}
        row["normalised"] = rounded(room[record["row"]], 3)
        if pair := of_pairs.get(name):
            row |= {key: rounded(pair[key], places) for key in ("difference", "low", "high")}
            row["d_z"] = rounded(pair.effect_size, 2)
            p = p_text(pair.p_adjusted, pair.p_is_bound)
            row["p"] = p.removeprefix("p ").removeprefix("= ") + " opposite" * bool(pair.opposite)
            row["detectable"] = rounded(pair.detectable, places)
            if compared.margin is not None:
                row[f"within ±{compared.margin:g}"] = pair.answer
        row |= {f"sd {x}": rounded(components.get(x, math.nan) ** 0.5, places) for x in levels}
        rows.append(row)
    columns = [
        "algorithm",
        label,
        "normalised",
        "difference",
        "low",
        "high",
        "d_z",
        "p",
        "detectable",
    ]
    columns += [] if compared.margin is None else [f"within ±{compared.margin:g}"]
    columns += [f"sd {level}" for level in levels]
    caption = sentences("evidence", compared=compared, levels=levels)
    shown = [[row.get(column, "") for column in columns] for row in rows]
    return TextTable(title, caption, table.number, columns, shown)


def sensitivity_tables(summary: Summary) -> list[TextTable]:
    """Return, for each results table, the tables of ties and of conventions."""
    makers = (_tie_table, _convention_table)
    return [make(summary, table) for table in summary.tables for make in makers]


def analysis_tables(info: RunInfo) -> list[TextTable]:
    """Return the table of each analysis that has one."""
    return [
        analysis_table(own.title or name, own.frame, own.caption)
        for name, own in info.analyses.items()
    ]


def parameter_tables(summary: Summary) -> list[TextTable]:
    """Return, for each results table with tuned rows, the proportion of each parameter."""
    if summary.run.trials is None:
        return []
    title, tables = "Importance of the tuned parameters", []
    try:
        shares = summary.run.importance()
    except HarnessError as error:
        return [TextTable(title, f"{error}.")]
    caption = sentences("importance", metric=summary.info.experiment.tuning.metric)
    columns = ("algorithm", "parameter", "share", "trials")
    for table in summary.tables:
        of_table = shares[shares["table"] == table.key].astype({"n_trials": str})
        of_table["importance"] = [rounded(share, 2) for share in of_table["importance"]]
        rows = of_table[["algorithm", "parameter", "importance", "n_trials"]].to_numpy().tolist()
        named = _titled(title, summary, table)
        tables += (
            [TextTable(named, caption, table.number, columns, rows, n_words=2)] if rows else []
        )
    return tables


def _tie_table(summary: Summary, table: ResultTable) -> TextTable:
    """Return the users whose score depends on ties, and the values under each rule for ties."""
    title = _titled("Ties", summary, table)
    of_cells = pd.DataFrame([{"": cell.algorithm} | cell.tied for cell in table.cells])
    shares = of_cells.groupby("").max().fillna(0.0) if len(of_cells) else of_cells
    labels = [entry for entry in summary.info.metrics if entry in shares]
    entry = next((entry for entry in summary.info.ties if entry.table == table.key), None)
    scores = {row.algorithm: row.scores for row in entry.rows} if entry else {}
    rules = list(next(iter(scores.values()), {}))
    names = [name for name in table.ranked(summary.primary) if name in shares.index]
    if not names or not (labels or rules):
        return TextTable(title, sentences("absent"), table.number)
    columns = ("algorithm", *(f"tied, {x}" for x in labels), *(f"ties={rule}" for rule in rules))
    rows = [
        (
            name,
            *(f"{100 * share:.1f}%" for share in list(shares.loc[name, labels])),
            *(table.text(summary.primary, scores.get(name, {}).get(rule)) for rule in rules),
        )
        for name in names
    ]
    ends = [(by_rule.get("best"), by_rule.get("worst"), name) for name, by_rule in scores.items()]
    gaps = [(up - low, name) for up, low, name in ends if up is not None and low is not None]
    largest, name = max(gaps, key=lambda entry: entry[0], default=(None, ""))
    gap = table.text(summary.primary, largest)
    caption = sentences("ties", metric=entry.metric if entry else "", name=name, gap=gap)
    return TextTable(title, caption, table.number, columns, rows)


def _convention_table(summary: Summary, table: ResultTable) -> TextTable:
    """Return the scores of the same lists by the definition of each library.

    Libraries with the same definition share a row.
    """
    entry = next((entry for entry in summary.info.conventions if entry.table == table.key), None)
    if entry is None:
        return TextTable(_titled("Conventions", summary, table), sentences("absent"), table.number)
    title = _titled(f"{entry.metric}@{entry.k} by library and document", summary, table)
    labels = dict.fromkeys(entry.label for entry in entry.rows)
    groups = {label: [entry for entry in entry.rows if entry.label == label] for label in labels}
    # A row for each definition, a column for each algorithm, best first.
    scores = pd.DataFrame(
        {label: members[0].scores for label, members in groups.items()}, dtype=float
    ).T
    names = {table.records[name]["row"]: name for name in table.ranked(summary.primary)}
    scores = scores[[key for key in names if key in scores]].rename(columns=names)
    spread = scores.max(axis=1) - scores.min(axis=1)
    tells = (spread > LEAST_GAP) & (scores.count(axis=1) > 1)
    top = scores.eq(scores.max(axis=1), axis=0) & tells.to_numpy()[:, None]
    best = [(int(i), int(j) + 2) for i, j in zip(*top.to_numpy().nonzero(), strict=True)]
    rows = []
    for label, members in groups.items():
        libraries, note = ", ".join(entry.convention for entry in members), members[0].note
        values = [table.text(summary.primary, value) for value in list(scores.loc[label])]
        rows.append((libraries, label + (f" ({note})" if note else ""), *values))
    first = scores.iloc[:, :1].dropna().to_numpy()
    winners = top[tells].idxmax(axis=1).tolist()
    blind = tells.index[~tells].tolist() if len(scores.columns) else []
    gains = [metrics.parse(label).params.get("gain") for label in blind]
    ends = (first.min(), first.max()) if first.size > 1 else ()
    caption = sentences(
        "conventions",
        first=next(iter(scores), ""),
        ends=[table.text(summary.primary, end) for end in ends],
        winners={printable(name): winners.count(name) for name in scores if name in winners},
        blind=len(blind),
        binary=all(gain is not None and gain.word == "binary" for gain in gains),
    )
    columns = ("library or document", "definition", *scores)
    return TextTable(title, caption, table.number, columns, rows, best, n_words=2)


def _titled(title: str, summary: Summary, table: ResultTable) -> str:
    return title + (f", {table.title}" if len(summary.tables) > 1 else "")


ABSENT = "--"


def latex_of_sets(runs: Sequence[Run], *, columns: Sequence[str] | None = None) -> str:
    r"""Return the results tables of runs, one or several, side by side in one table of LaTeX.

    It needs the packages ``booktabs`` and, for letters beyond ASCII, ``fontenc`` with ``T1``. Best
    values of each column are bold; within a column, algorithms that share a raised letter are not
    significantly different. Nothing is compared across data sets.

    Parameters
    ----------
    runs : sequence of Run
        Each results table becomes a group of columns, named by what differs: its data set, split
        or candidates, and by its run where that is not enough.
    columns : sequence of str, optional
        Titles of metrics and numbers in each group, in their order; by default all metrics.

    Raises
    ------
    ResultsError
        If there are fewer than two tables, or two of them have the same names.
    """
    tables = [(summary, table) for summary in map(summarise, runs) for table in summary.tables]
    names = [dict(zip(GROUP, table.names, strict=True)) for _, table in tables]
    if len(tables) < 2:
        raise ResultsError("--together: there is one results table; leave the option out")
    differing = [key for key in GROUP if len({name[key] for name in names}) > 1]
    titles = [", ".join(name[key] for key in differing) for name in names]
    if len({*titles}) < len(titles):  # as of two data sets of one name
        titles = [
            ", ".join(filter(None, [summary.run.name, title]))
            for (summary, _), title in zip(tables, titles, strict=True)
        ]
    if repeated := sorted({title for title in titles if titles.count(title) > 1}):
        raise ResultsError(
            f"--together: two results tables are called {joined(repeated)}; give each run once"
        )
    found: dict[tuple[str, str], dict[str, str]] = {}
    rows: dict[str, None] = {}
    for (summary, table), title in zip(tables, titles, strict=True):
        keys = [row_name(row) for row in table.records.values()]
        rows |= dict.fromkeys(keys)
        shown = _shown(summary, table.rows) if columns is None else columns
        for own, texts in _latex_columns(summary, table, shown).items():
            found[escape_latex(title), own] = dict(zip(keys, texts, strict=True))
    frame = pd.DataFrame(
        {
            ("", "algorithm"): [escape_latex(name) for name in rows],
            **{key: [values.get(name, ABSENT) for name in rows] for key, values in found.items()},
        }
    )
    common = [f"{key}: {names[0][key]}" for key in GROUP if key not in differing]
    about = "bold: the best of a column, if some row is significantly worse"
    if any(table.comparisons for _, table in tables):
        about += "; within a column, algorithms that share a letter are not significantly different"
    caption = "; ".join([*common, about])
    if columns is None:
        lacking = [_left_out(summary, table.rows) for summary, table in tables]
        caption += "".join(dict.fromkeys(lacking))
    caption += "."
    label = identifier("-".join(run.name for run in runs))
    text = latex_table(frame, caption[0].upper() + caption[1:], label, grouped=True)
    return _with_rules(text, [*Counter(title for title, _ in found).values()])


def _with_rules(text: str, widths: Sequence[int]) -> str:
    """Return a table of LaTeX with a rule below the heading of each group of columns."""
    rules, first = [], 2
    for width in widths:
        rules.append(rf"\cmidrule(lr){{{first}-{first + width - 1}}}")
        first += width
    head, toprule, body = text.partition("\\toprule\n")
    titles, end, rest = body.partition("\n")
    return head + toprule + titles + end + " ".join(rules) + "\n" + rest


def _left_out(summary: Summary, rows: pd.DataFrame) -> str:
    """Return the metrics that failed and have no column, as the end of a caption."""
    failed = {label for _, label in failed_metrics(summary.info.cells)}
    failed &= {label for label in summary.info.metrics if rows[label].isna().all()}
    names = [label for label in summary.info.metrics if label in failed]
    return f"; without {joined(names)}, which failed" if names else ""


def _shown(summary: Summary, rows: pd.DataFrame) -> list[str]:
    """Return the metrics of a table that have a value."""
    return [label for label in summary.info.metrics if rows[label].notna().any()]
