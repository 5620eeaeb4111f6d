"""Write the tables of `results/` and `dev/benchmarks/figures/` into the pages that show them.

python dev/tools/readme_tables.py          rewrite them, and the pictures of their pages
python dev/tools/readme_tables.py --check  exit 1 if a page is not what it would write
"""

from __future__ import annotations

import json
import math
import re
import sys
import textwrap
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from itertools import product
from pathlib import Path
from typing import Any

from matplotlib import pyplot

from harness.extras.curves.learning import gains_of, required_curves
from harness.report.styles import plot_style
from harness.results import read_run
from harness.results.runs import to_markdown
from harness.results.table import display_table
from harness.results.verdict import verdict_lines

Row = dict[str, Any]
TOP = Path(__file__).parents[2]
FIGURES = TOP / "dev" / "benchmarks" / "figures"
IMAGES = TOP / "docs" / "images"
PAGES = (
    TOP / "README.md",
    FIGURES / "README.md",
    TOP / "results" / "benchmark" / "README.md",
    TOP / "docs" / "explanation" / "speed.md",
    TOP / "docs" / "explanation" / "like-for-like.md",
    TOP / "docs" / "how-to" / "faster-surprise.md",
    TOP / "docs" / "how-to" / "implicit.md",
    TOP / "docs" / "how-to" / "other-programs.md",
)
MEASURED = ("fit s", "score s", "metric s", "peak MB")
MARKER = re.compile(
    r"(?P<marker><!-- "
    r"(?P<kind>table|verdict|beside|grid|pairs|answers|counts|shares|gains|speed|steps): "
    r"(?P<name>\S+)"
    r"(?P<words>(?: \S+)*?) -->)\n"
    r"(?:\n(?:\|(?:.*\n)+?(?=\n|\Z)|```text\n(?:.*\n)*?```\n))?"
)


def table(run: str, *rows: str) -> str:
    """Return the table of a run without its heading and notes, or some rows in that order."""
    lines = to_markdown(read_run(TOP / run).info).splitlines()
    lines = [line for line in lines if line.startswith("|")]
    named = {line.split("|")[1].strip(): line for line in lines[2:]}
    return "\n".join([*lines[:2], *(map(named.__getitem__, rows) if rows else lines[2:])])


def beside(run: str, another: str, label: str, *rows: str) -> str:
    """Return one metric of rows of two runs that differ in their candidates, and a random order."""
    cells = {}
    for found in (read_run(TOP / run), read_run(TOP / another)):
        frame = display_table(found.info).frame.set_index("algorithm")
        ((*_, candidates),) = found.info.tables.values()
        column = f"{label}, `{candidates}`"
        for row in (*rows, "random order, expected"):
            cells[row, column] = frame.loc[row, label].split()[0]
    return crossed("algorithm", cells)


def verdict(run: str) -> str:
    """Return the verdict of a run, as a terminal of 80 columns shows it."""
    lines = verdict_lines(read_run(TOP / run).info)
    return "\n".join(["```text", *(textwrap.fill(line, 80) for line in lines), "```"])


def grid(run: str, label: str, *only: str) -> str:
    """Return one metric of a run: a row for each algorithm, a column for each table.

    Words choose among data sets, splits and candidates; `known` or `unknown` users alone;
    `algorithms` without the bounds.
    """
    found = read_run(TOP / run)
    group = next((word for word in only if word in ("known", "unknown")), "")
    if group:
        frame = found.groups.query("by == 'known' and group == @group and metric == @label")
        shown = frame["value"].map("{:.4f}".format) + " " + frame["letters"].fillna("")
        frame = frame.assign(**{label: shown})
    else:
        frame = display_table(found.info).frame
    places = [name for name in ("dataset", "split", "candidates") if name in frame]
    for name in places:
        chosen = frame[name].isin(only)
        frame = frame[chosen] if chosen.any() else frame
    if "algorithms" in only:
        frame = frame[frame["algorithm"].isin({row.algorithm for row in found.info.rows})]
    varying = [name for name in places if frame[name].nunique() > 1]
    return crossed(
        "algorithm",
        {
            (row["algorithm"], ", ".join(row[varying]) or label): " ".join(row[label].split())
            for _, row in frame.iterrows()
        },
    )


def pairs(run: str, label: str, candidates: str, *rows: str) -> str:
    """Return the difference of each pair `A>B`, its interval and d_z, on each data set.

    A star: significant after correction; `=`: equivalent within the margin of the run.
    """
    found = read_run(TOP / run).pairs.query("metric == @label and candidates == @candidates")
    cells = {}
    for pair in found.itertuples():
        marks = "*" * pair.significant + "=" * bool(pair.equivalent)
        for sign, one, other in ((1, pair.first, pair.second), (-1, pair.second, pair.first)):
            low, high = sorted((sign * pair.low, sign * pair.high))
            text = f"{sign * pair.difference:+.4f}{marks} ({low:+.4f} to {high:+.4f})"
            cells[f"{one} − {other}", pair.dataset] = f"{text}, {sign * pair.effect_size:+.2f}"
    lines = [" − ".join(row.rsplit(">", 1)) for row in rows]
    wanted = ((line, dataset) for line in lines for dataset in found["dataset"].unique())
    return crossed("difference", {key: cells[key] for key in wanted})


def answers(run: str, label: str, candidates: str, *rows: str) -> str:
    """Return whether each pair `A>B` differs, is equivalent, or is undecided, on each data set.

    Beside undecided stands the smallest difference that the run could have found.
    """
    frame = read_run(TOP / run).pairs.query("metric == @label and candidates == @candidates")
    of_pair = {
        (pair.dataset, frozenset((pair.first, pair.second))): pair for pair in frame.itertuples()
    }
    cells = {}
    for line, dataset in product(rows, frame["dataset"].unique()):
        one, other = line.rsplit(">", 1)
        pair = of_pair[dataset, frozenset((one, other))]
        text = str(pair.answer)
        if text == "undecided":
            text += f", finds {pair.detectable:.3f}"
        cells[f"{one}, {other}", dataset] = text
    return crossed("pair", cells)


def counts(run: str, label: str) -> str:
    """Return how many pairs of each table have each answer, and what half of them could find."""
    frame = read_run(TOP / run).pairs.query("metric == @label")
    cells: dict[tuple[str, str], Any] = {}
    for (candidates, dataset), pairs in frame.groupby(["candidates", "dataset"], sort=False):
        line = f"{candidates}, {dataset}"
        for answer in ("different", "equivalent", "undecided"):
            cells[line, answer] = str((pairs["answer"] == answer).sum())
        cells[line, "found with 80%: median"] = f"{pairs['detectable'].median():.4f}"
    return crossed("table", cells)


def shares(run: str, label: str, *rows: str) -> str:
    """Return the difference of each pair `A>B` at each share of the training ratings."""
    opened = read_run(TOP / run)
    cells = {}
    for curve in required_curves(opened.info):
        for (share, table), line in product(curve.tables.items(), rows):
            one, other = line.rsplit(">", 1)
            (compared,) = (
                each
                for each in opened.info.statistics
                if (each.table, each.metric) == (table, label)
            )
            (pair,) = (pair for pair in compared.pairs if {pair.first, pair.second} == {one, other})
            sign = 1 if pair.first == one else -1
            marks = "*" * pair.significant + "=" * bool(pair.equivalent)
            place = f"{one} − {other}, {share:.0%}", curve.dataset
            cells[place] = f"{sign * pair.difference:+.4f}{marks}"
    lines = [f"{line.replace('>', ' − ')}, {share:.0%}" for line in rows for share in curve.tables]
    names = dict.fromkeys(dataset for _, dataset in cells)
    return crossed("difference", {key: cells[key] for key in product(lines, names)})


def gains(run: str, label: str, *rows: str) -> str:
    """Return what the last step of each learning curve adds, and whether that is significant."""
    opened = read_run(TOP / run)
    frame = gains_of(opened.info, opened.users, label)
    cells = {
        (row.algorithm, row.dataset): f"{row.difference:+.4f} {row.answer}"
        for row in frame.itertuples()
    }
    return crossed("algorithm", {key: cells[key] for key in cells if key[0] in rows or not rows})


def steps(name: str) -> str:
    """Return the rows from one library's model to another's, and what each row changes."""
    titles = {"rated": "NDCG@10, rated", "catalogue": "NDCG@10, catalogue", "rmse": "RMSE"}
    cells, before = {}, None
    for row in figures("like_for_like")[name]:
        for key, title in titles.items():
            if row[key] is not None:
                change = round(row[key], 4) - round(before[key], 4) if before else 0.0
                note = "" if before is None else f" ({change:+.4f})" if round(change, 4) else " (=)"
                cells[row["row"], title] = f"{row[key]:.4f}{note}"
        before = row
    return crossed("from one library to the other", cells)


def speed(name: str, *parts: str) -> str:
    """Return the figures of one benchmark, or of parts of it, or what is made of several."""
    if name in TABLES:
        return TABLES[name](*parts)
    rows = rows_of(name, *parts)
    if "sides" in rows[0]:
        return sides(rows)
    return million_rows(rows) if parts else columns(rows)


def sides(rows: list[Row]) -> str:
    """Return a line for each work, with seconds of each side and their ratios to the harness.

    Seconds are wall and CPU, and the spread; a blank stands where a side uses no more threads.
    """
    of = [{(each["side"], each["threads"]): each for each in row["sides"]} for row in rows]
    kinds = dict.fromkeys(kind for each in of for kind in each)
    names = [*dict.fromkeys(side for side, _ in kinds if side != "harness"), "harness"]
    columns = sorted(kinds, key=lambda kind: (names.index(kind[0]), kind[1]))
    ratios = [kind for kind in columns if kind[0] != "harness" and ("harness", kind[1]) in kinds]
    lines = []
    for row, each in zip(rows, of, strict=True):
        line = [row["work"], *(seconds(each.get(kind)) for kind in columns)]
        for side, n in ratios:
            ours, theirs = each.get(("harness", n)), each.get((side, n))
            line.append(theirs["wall"] / ours["wall"] if ours and theirs else None)
        lines.append([*line, row["bar"], row["note"]])
    titles = [f"{side}, {threads(n)}" for side, n in columns]
    times = [f"{side} ÷ harness, {threads(n)}" for side, n in ratios]
    return markdown(["work", *titles, *times, "at least", ""], lines)


def million_rows(rows: list[Row]) -> str:
    """Return a line for each side: seconds per million rows and gigabytes at each size."""
    cells = {}
    for row in rows:
        times = (shown(row[key] / row["millions"]) for key in ("wall", "cpu") if key in row)
        text = row.get("error") or f"{' / '.join(times)}, {row['peak GB']:.1f} GB"
        cells[row["side"], f"{row['millions']} million rows"] = text
    return crossed("side", cells)


def first_process() -> str:
    """Return the seconds of each process, and what it compiles."""
    titles = ["compiling", "functions", "signatures", "at most"]
    rows = figures("first_process")["rows"]
    lines = ([row["work"], seconds(row), *map(row.get, titles)] for row in rows)
    return markdown(["process", "seconds", *titles], lines)


def compiled() -> str:
    """Return the seconds of each function that a first run of quickstart compiles."""
    rows = figures("first_process")["compiled"]
    lines = []
    for row in rows:
        name = row["function"].removeprefix("harness.")
        lines.append([f"`{name}`", row["signatures"], f"{row['seconds']:.2f}"])
    total = [f"all {len(rows)}", sum(row["signatures"] for row in rows)]
    lines.append([*total, f"{sum(row['seconds'] for row in rows):.2f}"])
    return markdown(["function", "signatures", "CPU s"], lines)


def libraries() -> str:
    """Return NDCG@10 and seconds of each model, with each number of threads in a column."""
    rows = sorted(figures("libraries")["rows"], key=lambda row: int(row["threads"]))
    values: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    for kind, row in product(("rated", "catalogue"), rows):
        values[row["work"], f"NDCG@10, {kind}"][f"{row[kind]:.4f}"] = None
    cells: dict[tuple[str, str], Any] = {place: " / ".join(of) for place, of in values.items()}
    for kind, row in product(("fit", "score"), rows):
        cells[row["work"], f"{kind}, s, {threads(row['threads'])}"] = row[kind]
    return crossed("model", cells)


def growth() -> str:
    """Return the seconds of each fit for each number of ratings, and the exponent."""
    found = figures("growth")
    cells = {
        (f"{row['fit']}, {row['side']}", f"{row['millions']:g} M"): seconds(row)
        for row in found["rows"]
    }
    for fit, exponent in found["exponents"].items():
        cells[f"{fit}, harness", "exponent from 1 M"] = f"{exponent:.2f}"
    return crossed("fit", cells)


def large() -> str:
    """Return the seconds of each stage, at each size and number of threads."""
    rows = {f"{row['data']}, {threads(row['threads'])}": row for row in figures("large")["rows"]}
    kinds = [kind for kind in next(iter(rows.values())) if kind not in ("data", "threads")]
    return crossed("", {(kind, of): rows[of].get(kind) for kind in kinds for of in rows})


def factors(part: str = "") -> str:
    """Return nanoseconds of each library and number of threads, and what its epochs reach.

    The part `limits` has what the machine allows.
    """
    found = figures("factors")
    if part == "limits":
        return columns(found["limits"])
    lines = []
    for row in found["rows"]:
        reached = ", ".join(
            f"{rmse:.3f} after {shown(wall, 2)}" for _, wall, rmse in row["epochs, s, rmse"] if rmse
        )
        spread = "one run" if row["spread"] is None else f"{row['spread']:.0%}"
        figure = [row["cpu ns"], row["wall ns"], spread, reached]
        lines.append([row["work"], row["kind"], str(row["threads"]), *figure])
    titles = ["CPU, ns", "wall, ns", "spread", "RMSE after so many s"]
    return markdown(["library", "model", "threads", *titles], lines)


def many_cells() -> str:
    """Return each figure with its ends and its limit."""
    rows = rows_of("many_cells")
    titles = ["median", "least", "greatest", "at most"]
    lines = ([f"{row['work']}: {row['measure']}", *map(row.get, titles)] for row in rows)
    return markdown(["work", *titles], lines)


def accelerate() -> str:
    """Return scripts of Surprise without and with the patch, and memory of both."""
    found = figures("accelerate")
    titles = ["data", "work", "Surprise, s", "patched, s", "times faster", "of processor seconds"]
    lines = [
        [
            *(row["data"], row["work"], row["surprise"], row["harness"], row["times"]),
            *(row["processor times"], f"{row['equal']} of {row['numbers']}"),
        ]
        for part in ("folds", "search", "top_n")
        for row in found.get(part, {"rows": []})["rows"]
    ]
    return markdown([*titles, "numbers equal to the last bit"], lines)


def scripts() -> str:
    """Return whole scripts of Surprise without and with the patch, at three sizes."""
    times = ["Surprise, s", "patched, s", "of Surprise", "instructions"]
    sides = "surprise", "harness"
    found = figures("accelerate")
    counts = {(row["data"], row["work"]): row for row in found["instructions"]["rows"]}
    lines = []
    for row in found["scripts"]["rows"]:
        counted = counts.get((row["data"], row["work"]))
        line = [row["data"].split()[0], row["work"]]
        line += ["{:.2f} / {:.2f}".format(row[f"processor {side}"], row[side]) for side in sides]
        line += [f"{row['of surprise']:.3f} ± {row['of surprise'] * row['spread']:.3f}"]
        line += [f"{counted['of surprise']:.3f}" if counted else "–"]
        lines.append([*line, "{:.2f} / {:.2f}".format(row["processor first"], row["first"])])
    return markdown(["ratings", "script", *times, "first run, s"], lines)


def sizes() -> str:
    """Return the stages of each algorithm at each size, beside Surprise where it was measured."""
    rows = {(row["algorithm"], row["data"], row["side"]): row for row in figures("sizes")["rows"]}
    keys = ("fit", "rated", "catalogue", "catalogue_users", "peak", "estimated")
    lines = []
    for name, size in dict.fromkeys((name, size) for name, size, _ in rows):
        row, plain = (rows.get((name, size, side), {}) for side in ("harness", "Surprise"))
        line = [*map(row.get, keys), plain.get("error"), None]
        if "rated" not in row:
            line[1] = row.get("error")
        if "rated" in plain:
            theirs, ours = (each["fit"] + each["rated"] for each in (plain, row))
            line[-2:] = theirs, f"{theirs / ours:.1f}"
        lines.append([name, size, *line])
    stages = ("fit, s", "rated, s", "catalogue, s", "its users", "peak GB", "estimated GB")
    return markdown(["algorithm", "data", *stages, "Surprise, s", "ratio"], lines)


def sizes_growth() -> str:
    """Return how seconds grow from the smallest size to the largest, and what limits a fit."""
    rows = [row for row in figures("sizes")["rows"] if row["side"] == "harness" and "rated" in row]
    rows = [row for row in rows if row["data"] != "100M"]  # of another shape
    lines = []
    for name in dict.fromkeys(row["algorithm"] for row in rows):
        few, *_, many = [row for row in rows if row["algorithm"] == name] * 2
        if few["data"] == many["data"]:
            continue
        more = math.log(float(many["data"][:-1]) / float(few["data"][:-1]))
        times = [each["fit"] + each["rated"] for each in (few, many)]
        steps = [each["steps"] for each in (few, many)]
        nanoseconds = [1e9 * s / n for s, n in zip(times, steps, strict=True)]
        limit = "memory" if nanoseconds[1] > 1.5 * nanoseconds[0] else "arithmetic"
        if many["cores"] < 0.9:  # seconds of this row are not its own
            limit = "other work of the machine"
        powers = (f"{math.log(b / a) / more:.2f}" for a, b in (times, steps))
        ends = f"{few['data']} to {many['data']}"
        lines.append([name, ends, *powers, *nanoseconds, many["cores"], limit])
    titles = ("exponent of seconds", "of steps", "ns a step, first", "last", "cores used")
    return markdown(["algorithm", "sizes", *titles, "limited by"], lines)


def update() -> str:
    """Return RMSE after updates, beside a fit on all ratings, and their share of its seconds."""
    lines = []
    for row in figures("update")["rows"]:
        usual = 2 * -(-row["n_epochs"] // 20)
        for epochs in sorted(int(key.split()[0]) for key in row if key.endswith("epochs rmse")):
            share = row[f"{epochs} epochs CPU"] / row["all CPU"]
            values = row["before rmse"], row[f"{epochs} epochs rmse"], row["all rmse"]
            shown = f"{epochs}{', the default' if epochs == usual else ''}"
            lines.append([row["algorithm"], shown, *(f"{v:.4f}" for v in values), f"{share:.0%}"])
    titles = ["RMSE before", "after the update", "fit on all", "CPU of a fit on all"]
    return markdown(["algorithm", "epochs", *titles], lines)


def files() -> str:
    """Return CPU seconds and peaks of reading each format, by who reads it."""
    rows: dict[str, dict[str, dict[str, Any]]] = {}
    for row in figures("files")["rows"]:
        rows.setdefault(row["format"], {})[row["side"]] = row
    sides = ["harness", "pandas", "Polars", "other commit"]
    lines = [
        [kind]
        + [_figure(readers.get(side, {}), "CPU") for side in sides]
        + [_figure(readers.get(side, {}), "peak") for side in sides[:3]]
        for kind, readers in rows.items()
    ]
    titles = ["harness, s", "pandas, s", "Polars, s", "earlier, s"]
    return markdown(["format", *titles, *(f"{side}, GB" for side in sides[:3])], lines)


def _figure(row: dict[str, Any], key: str) -> str:
    """Return a figure of a side, or why it has none."""
    return f"{row[key]:.2f}" if key in row else str(row.get("failure", ""))


def machines() -> str:
    """Return which figures each machine made."""
    made: dict[str, dict[str, None]] = {}
    for name in sorted(path.stem for path in FIGURES.glob("*.json")):
        found = figures(name)
        rows = ((row.get("algorithm", ""), row) for row in found.get("rows", ()))
        for part, measured in (("", found), *found.items(), *rows):
            if machine := isinstance(measured, dict) and measured.get("machine"):
                kind = "{processor}, {cores} cores, {memory_gb:g} GB".format(**machine)
                made.setdefault(kind, {})[f"{name} {part}".strip()] = None
    return markdown(["machine", ""], ([kind, ", ".join(names)] for kind, names in made.items()))


SUMMARY = (
    ("script", "nine algorithms, whole catalogue: one run", ".*warm"),
    ("cross_validation", "ten algorithms, 5 folds, RMSE and MAE", ".*"),
    ("fits", "fit: SVD, NMF", "SVD|NMF"),
    ("fits", "fit: SVD++", r"SVD\+\+"),
    ("fits", "fit: SlopeOne, CoClustering", "SlopeOne|CoClustering"),
    ("catalogue", "score the catalogue: the four KNNs", "KNN.*"),
    ("catalogue", "score the catalogue: the other six", "(?!KNN).*"),
    ("evaluation", "NDCG at six ranks of 240,000 rows", ".*, 240,000 rows"),
    ("evaluation", "the 100 nearest of 3,706 items", ".*, 1M"),
)
"""File, what the row of the summary says, and a pattern of the rows that it is made of."""


def summarised() -> dict[str, tuple[dict[str, list[float]], dict[str, list[float]]]]:
    """Return seconds and ratios to the harness of each group of rows, by side, with one thread."""
    groups = {}
    for name, title, pattern in SUMMARY:
        walls, ratios = defaultdict[str, list[float]](list), defaultdict[str, list[float]](list)
        for row in rows_of(name):
            if re.fullmatch(pattern, row.get("work", "")):
                one = {side["side"]: side["wall"] for side in row["sides"] if side["threads"] == 1}
                for side, wall in {"other": next(iter(one.values())), **one}.items():
                    walls[side].append(wall)
                    ratios[side].append(wall / one["harness"])
        groups[title] = dict(walls), dict(ratios)
    return groups


def summary() -> str:
    """Return a line for each group of rows: least and greatest seconds and ratios, one thread."""
    lines = []
    for title, (walls, ratios) in summarised().items():
        both = [walls.get(side, []) for side in ("other", "NumPy", "harness")]
        both += [ratios.get(side, []) for side in ("other", "NumPy")]
        least_and_greatest = ([shown(end(each), 2) for end in (min, max) if each] for each in both)
        lines.append([title, *(" to ".join(dict.fromkeys(each)) for each in least_and_greatest)])
    titles = ["other side, s", "NumPy, s", "harness, s", "times faster", "than NumPy"]
    return markdown(["work", *titles], lines)


TABLES: dict[str, Callable[..., str]] = {
    each.__name__: each
    for each in (
        *(first_process, compiled, libraries, growth, large, factors, many_cells, accelerate),
        *(scripts, sizes, sizes_growth, update, files, machines, summary),
    )
}
"""Benchmarks with a table of their own; others show works and sides, or the rows of the file."""


def figures(name: str) -> Any:
    """Return what a benchmark wrote."""
    return json.loads((FIGURES / f"{name}.json").read_text(encoding="utf-8"))


def rows_of(name: str, *parts: str) -> list[Row]:
    """Return the rows of a benchmark, or of all or some of its parts."""
    found = figures(name)
    found = {"": found} if "rows" in found else found
    return [row for part in parts or found for row in found[part]["rows"]]


def threads(n: int) -> str:
    """Return a number of threads in words."""
    return f"{n} thread{'s' * (n > 1)}"


def seconds(measured: Row | None) -> str:
    """Return wall and CPU seconds, and the spread of the wall seconds where they were repeated."""
    if measured is None:
        return ""
    spread = f" ± {measured['spread']:.0%}" if measured["runs"] > 1 else ""
    both = " / ".join(shown(measured[key]) for key in ("wall", "cpu") if key in measured)
    return both + spread


def crossed(title: str, cells: Mapping[tuple[str, str], Any]) -> str:
    """Return a table of cells by line and column, both in the order of their first cells."""
    lines, columns = (dict.fromkeys(names) for names in zip(*cells, strict=True))
    rows = ([line, *(cells.get((line, column)) for column in columns)] for line in lines)
    return markdown([title, *columns], rows)


def columns(rows: list[Row]) -> str:
    """Return a table of rows with the same columns."""
    return markdown([*rows[0]], ([*row.values()] for row in rows))


def markdown(titles: list[str], rows: Iterable[list[Any]]) -> str:
    """Return a table; columns but the first are numbers, unless they have no title."""
    marks = ["---", *("---:" if title else "---" for title in titles[1:])]
    lines = [titles, marks, *([shown(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def shown(value: float | str | None, digits: int = 3) -> str:
    """Return a number with some significant digits, and never fewer than its whole ones."""
    if value is None or isinstance(value, str):
        return value or ""
    if value >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    text = f"{value:.{digits}g}"
    return text if "e" not in text else f"{value:f}"


def plot_growth() -> None:
    """Draw the seconds of each fit against the number of ratings: a panel for each algorithm."""
    rows = figures("growth")["rows"]
    names = dict.fromkeys(row["fit"] for row in rows)
    with plot_style():
        picture, panels = pyplot.subplots(1, len(names), figsize=(9, 3), sharey=True, sharex=True)
        for axes, name in zip(panels, names, strict=True):
            for side, style in (("harness", "o-"), ("Surprise", "s--")):
                points = [row for row in rows if (row["fit"], row["side"]) == (name, side)]
                places, heights = ([row[key] for row in points] for key in ("millions", "wall"))
                axes.loglog(places, heights, style, label=side.capitalize())
            axes.set(title=name, xlabel="million ratings", xticks=[0.25, 1, 4, 16])
            for axis in (axes.xaxis, axes.yaxis):
                axis.set(major_formatter="{x:g}", minor_formatter="")
        panels[0].set_ylabel("seconds to fit")
        panels[0].legend(loc="lower right")
        picture.savefig(IMAGES / "growth.png", dpi=160)


def plot_speed() -> None:
    """Draw how many times faster each kind of work is than the other side, and than NumPy."""
    groups = summarised()
    with plot_style():
        picture, axes = pyplot.subplots(figsize=(8, 3.6))
        for side, style, label in (("other", "o", "the other side"), ("NumPy", "s", "NumPy")):
            found = (
                (y, ratios[side]) for y, (_, ratios) in enumerate(groups.values()) if side in ratios
            )
            points = [(ratio, y) for y, each in found for ratio in each]
            axes.semilogx(*zip(*points, strict=True), style, alpha=0.7, label=f"than {label}")
        axes.axvline(1, color="grey", linewidth=1)
        axes.set(xlabel="times faster, one thread", yticks=range(len(groups)), yticklabels=groups)
        axes.invert_yaxis()
        axes.xaxis.set_major_formatter("{x:,g}")
        axes.legend(loc="lower right")
        picture.savefig(IMAGES / "speed.png", dpi=160)


def plot_benchmark() -> None:
    """Draw NDCG@10 of each algorithm: rated items and the catalogue, a mark for each data set."""
    run = read_run(TOP / "results" / "benchmark")
    table = run.table
    names = list(dict.fromkeys(table["algorithm"]))
    with plot_style():
        picture, panels = pyplot.subplots(1, 2, figsize=(9, 5), sharey=True)
        for axes, kind in zip(panels, ("rated", "catalogue"), strict=True):
            rows = table[table["candidates"] == kind]
            for (dataset, part), style in zip(
                rows.groupby("dataset", sort=False), "osD^", strict=True
            ):
                places = [names.index(name) for name in part["algorithm"]]
                axes.plot(part["ndcg@10"], places, style, alpha=0.7, label=dataset)
            axes.set(title=kind, xlabel="NDCG@10", yticks=range(len(names)), yticklabels=names)
            axes.grid(axis="y", linewidth=0.5)
        panels[0].invert_yaxis()
        marks, datasets = panels[0].get_legend_handles_labels()
        picture.legend(marks, datasets, loc="outside lower center", ncols=len(marks))
        picture.savefig(IMAGES / "benchmark.png", dpi=160)


def written(text: str) -> str:
    """Return a page with every marked table as the files have it."""
    kinds = {
        kind.__name__: kind
        for kind in (
            table,
            verdict,
            beside,
            grid,
            pairs,
            answers,
            counts,
            shares,
            gains,
            speed,
            steps,
        )
    }

    def fill(match: re.Match[str]) -> str:
        shown = kinds[match["kind"]](match["name"], *match["words"].split())
        return f"{match['marker']}\n\n{shown}\n"

    return MARKER.sub(fill, text)


def timeless(text: str) -> list[list[str]]:
    """Return the cells of each line, less those that another run of the same config changes."""
    kept, left_out = [], set[int]()
    for line in text.splitlines():
        cells = line.split(" | ")
        if not line.startswith("|"):
            left_out = set()
        elif not left_out:
            left_out = {place for place, cell in enumerate(cells) if cell.strip(" |") in MEASURED}
        kept.append([cell for place, cell in enumerate(cells) if place not in left_out])
    return kept


def main() -> int:
    """Rewrite the pages, or say whether they are current."""
    stale = 0
    if "--check" not in sys.argv:
        plot_growth()
        plot_speed()
        plot_benchmark()
    for page in PAGES:
        before = page.read_text(encoding="utf-8")
        after = written(before)
        if "--check" not in sys.argv:
            page.write_text(after, encoding="utf-8")
        elif timeless(before) != timeless(after):
            stale = 1
            print(
                f"{page.relative_to(TOP)}: its tables are not those of the files; run this script"
            )
    return stale


if __name__ == "__main__":
    sys.exit(main())
