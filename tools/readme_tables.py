"""Write the tables of `results/` and `benchmarks/figures/` into the pages that show them.

python tools/readme_tables.py          rewrite them between their markers, and the picture of growth
python tools/readme_tables.py --check  exit 1 if a page is not what it would write
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from matplotlib import pyplot

from harness.report.styles import plot_style
from harness.results import read_run
from harness.results.display import display_table, to_markdown

TOP = Path(__file__).parents[1]
FIGURES = TOP / "benchmarks" / "figures"
PAGES = (
    TOP / "README.md",
    TOP / "docs" / "explanation" / "benchmark.md",
    TOP / "docs" / "explanation" / "speed.md",
    TOP / "docs" / "explanation" / "like-for-like.md",
    TOP / "docs" / "how-to" / "implicit.md",
)
MEASURED = ("fit s", "score s", "metric s", "peak MB")
MARKER = re.compile(
    r"(?P<marker><!-- (?P<kind>table|grid|pairs|speed|steps): (?P<name>\S+)"
    r"(?P<words>(?: \S+)*?) -->)\n"
    r"(?:\n\|(?:.*\n)+?(?=\n))?"
)


def table(run: str) -> str:
    """Return the table of a run alone, without its heading and notes."""
    lines = to_markdown(read_run(TOP / run).info).splitlines()
    return "\n".join(line for line in lines if line.startswith("|"))


def grid(run: str, label: str, *only: str) -> str:
    """Return one metric of a run: a row for each algorithm, a column for each table.

    Words choose among data sets, splits and candidates; `known` or `unknown` users alone.
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
    varying = [name for name in places if frame[name].nunique() > 1]
    keys = list(frame[varying].itertuples(index=False, name=None))
    values = dict(zip(zip(frame["algorithm"], keys, strict=True), frame[label], strict=True))
    titles = dict.fromkeys(keys)
    rows = (
        [algorithm, *(" ".join(values.get((algorithm, key), "").split()) for key in titles)]
        for algorithm in dict.fromkeys(frame["algorithm"])
    )
    return markdown(["algorithm", *(", ".join(key) or label for key in titles)], rows)


def pairs(run: str, label: str, candidates: str, *rows: str) -> str:
    """Return the difference of each pair `A>B`, its interval and d_z, on each data set.

    A star: significant after correction; `=`: equivalent within the margin of the run.
    """
    found = read_run(TOP / run).pairs.query("metric == @label and candidates == @candidates")

    def cell(dataset: str, first: str, second: str) -> str:
        for sign, one, other in ((1, first, second), (-1, second, first)):
            is_pair = (found["first"] == one) & (found["second"] == other)
            for pair in found[is_pair & (found["dataset"] == dataset)].itertuples():
                low, high = sorted((sign * pair.low, sign * pair.high))
                marks = "*" * pair.significant + "=" * pair.equivalent
                text = f"{sign * pair.difference:+.4f}{marks} ({low:+.4f} to {high:+.4f})"
                return f"{text}, {sign * pair.effect_size:+.2f}"
        raise KeyError(f"{run}: no pair {first} and {second}")

    datasets = list(dict.fromkeys(found["dataset"]))
    body = (
        [f"{first} − {second}", *(cell(dataset, first, second) for dataset in datasets)]
        for first, second in (row.rsplit(">", 1) for row in rows)
    )
    return markdown(["difference", *datasets], body)


def speed(name: str, *parts: str) -> str:
    """Return the figures of one benchmark, or of parts of it, or the summary of all."""
    if name == "summary":
        return summary()
    if name == "machines":
        return machines()
    if name.startswith("sizes"):
        return exponents() if name == "sizes_growth" else every_size()
    found = figures(name)
    if name == "factors":
        limits = found["limits"]
        table = markdown([*limits[0]], ([*row.values()] for row in limits))
        return table if "limits" in parts else factors(found["rows"])
    if parts:
        found["rows"] = [row for row in found["rows"] if row["part"] in parts]
    if "sizes" in parts:
        return million_rows(found["rows"])
    if name == "growth":
        return growth(found)
    if name == "large":
        rows = found["rows"]
        titles = (f"{row['data']}, {threads(row['threads'])}" for row in rows)
        keys = [key for key in rows[0] if key not in ("data", "threads")]
        lines = ([key, *(row.get(key, "") for row in rows)] for key in keys)
        return markdown(["", *titles], lines)
    if name == "lists":
        return markdown([*found["rows"][0]], ([*row.values()] for row in found["rows"]))
    if name == "many_cells":
        rows = [row for subject in found["subjects"].values() for row in subject["rows"]]
        titles = ["median", "least", "greatest", "at most"]
        lines = (
            [
                f"{row['work']}: {row['measure']}",
                *("" if row[title] is None else row[title] for title in titles),
            ]
            for row in rows
        )
        return markdown(["work", *titles], lines)
    if name == "first_process":
        titles = ["compiling", "functions", "signatures", "at most"]
        lines = ([row["work"], seconds(row), *map(row.get, titles)] for row in found["rows"])
        return markdown(["process", "seconds", *titles], lines)
    if name == "libraries":
        return quality_beside_time(found["rows"])
    if "sides" in found["rows"][0]:
        return sides(found["rows"])
    rows = (
        [
            *(row["work"], row["theirs"], row["ours"], f"{row['ratio']:.1f}"),
            *("" if row["bar"] is None else f"{row['bar']:g}", row["note"]),
        ]
        for row in found["rows"]
    )
    return markdown(["work", f"{found['against']}, s", "harness, s", "ratio", "at least", ""], rows)


def million_rows(rows: list[dict[str, Any]]) -> str:
    """Return a line for each side: seconds per million rows and gigabytes at each size."""
    of = {(row["side"], row["millions"]): row for row in rows}
    every = sorted({n for _, n in of})

    def cell(side: str, n: int) -> str:
        row = of.get((side, n), {"error": ""})
        times = (shown(row[key] / n) for key in ("wall", "cpu") if key in row)
        return row["error"] if "error" in row else f"{' / '.join(times)}, {row['peak GB']:.1f} GB"

    lines = [[side, *(cell(side, n) for n in every)] for side in dict.fromkeys(s for s, _ in of)]
    return markdown(["side", *(f"{n} million rows" for n in every)], lines)


def factors(rows: list[dict[str, Any]]) -> str:
    """Return nanoseconds of each library and number of threads, and what its epochs reach."""
    titles = ["CPU, ns", "wall, ns", "spread", "RMSE after so many s"]
    lines = []
    for row in rows:
        reached = ", ".join(
            f"{rmse:.3f} after {shown(wall, 2)}" for _, wall, rmse in row["epochs, s, rmse"] if rmse
        )
        spread = "one run" if row["spread"] is None else f"{row['spread']:.0%}"
        figure = [row["cpu ns"], row["wall ns"], spread, reached]
        lines.append([row["work"], row["kind"], str(row["threads"]), *figure])
    return markdown(["library", "model", "threads", *titles], lines)


def threads(n: int) -> str:
    """Return a number of threads in words."""
    return f"{n} thread{'s' * (n > 1)}"


def sides(rows: list[dict[str, Any]]) -> str:
    """Return a line for each work, with seconds of each side and their ratios to the harness.

    Seconds are wall and CPU, and the spread; a blank stands where a side uses no more threads.
    """
    of = [{(each["side"], each["threads"]): each for each in row["sides"]} for row in rows]
    kinds = sorted(dict.fromkeys(kind for each in of for kind in each), key=lambda kind: kind[1])
    names = sorted(dict.fromkeys(side for each in of for side, _ in each), key="harness".__eq__)
    columns = [(side, n) for side in names for other, n in kinds if other == side]
    ratios = [kind for kind in columns if kind[0] != "harness" and ("harness", kind[1]) in columns]
    lines = []
    for row, each in zip(rows, of, strict=True):
        line = [row["work"], *(seconds(each[kind]) if kind in each else "" for kind in columns)]
        for side, n in ratios:
            ours, theirs = each.get(("harness", n)), each.get((side, n))
            both = ours is not None and theirs is not None
            line.append(shown(theirs["wall"] / ours["wall"]) if both else "")
        lines.append([*line, "" if row["bar"] is None else f"{row['bar']:g}", row["note"]])
    titles = [f"{side}, {threads(n)}" for side, n in columns]
    times = [f"{side} ÷ harness, {threads(n)}" for side, n in ratios]
    return markdown(["work", *titles, *times, "at least", ""], lines)


def seconds(measured: dict[str, float]) -> str:
    """Return wall and CPU seconds, and the spread of the wall seconds where they were repeated."""
    spread = f" ± {measured['spread']:.0%}" if measured["runs"] > 1 else ""
    both = " / ".join(shown(measured[key]) for key in ("wall", "cpu") if key in measured)
    return both + spread


def every_size() -> str:
    """Return the stages of each algorithm at each size, beside Surprise where it was measured."""
    rows = {(row["algorithm"], row["data"], row["side"]): row for row in figures("sizes")["rows"]}
    keys = ("fit", "rated", "catalogue", "catalogue_users", "peak", "estimated")
    lines = []
    for name, size in dict.fromkeys((name, size) for name, size, _ in rows):
        row, plain = (rows.get((name, size, side), {}) for side in ("harness", "Surprise"))
        line = [*(row.get(key, "") for key in keys), plain.get("error", ""), ""]
        if "rated" not in row:
            line[1] = row.get("error", "")
        if "rated" in plain:
            seconds = [each["fit"] + each["rated"] for each in (plain, row)]
            line[-2:] = seconds[0], f"{seconds[0] / seconds[1]:.1f}"
        lines.append([name, size, *line])
    stages = ("fit, s", "rated, s", "catalogue, s", "its users", "peak GB", "estimated GB")
    return markdown(["algorithm", "data", *stages, "Surprise, s", "ratio"], lines)


def exponents() -> str:
    """Return how seconds grow from the smallest size to the largest, and what limits a fit."""
    rows = [row for row in figures("sizes")["rows"] if row["side"] == "harness" and "rated" in row]
    lines = []
    for name in dict.fromkeys(row["algorithm"] for row in rows):
        few, *_, many = [row for row in rows if row["algorithm"] == name] * 2
        if few["data"] == many["data"]:
            continue
        more = math.log(float(many["data"][:-1]) / float(few["data"][:-1]))
        seconds, steps = (
            [each["fit"] + each["rated"] for each in (few, many)],
            [each["steps"] for each in (few, many)],
        )
        nanoseconds = [1e9 * s / n for s, n in zip(seconds, steps, strict=True)]
        limit = "memory" if nanoseconds[1] > 1.5 * nanoseconds[0] else "arithmetic"
        if many["cores"] < 0.9:  # seconds of this row are not its own
            limit = "other work of the machine"
        powers = (f"{math.log(b / a) / more:.2f}" for a, b in (seconds, steps))
        sides = f"{few['data']} to {many['data']}"
        lines.append([name, sides, *powers, *nanoseconds, many["cores"], limit])
    titles = ("exponent of seconds", "of steps", "ns a step, first", "last", "cores used")
    return markdown(["algorithm", "sizes", *titles, "limited by"], lines)


def quality_beside_time(rows: list[dict[str, Any]]) -> str:
    """Return NDCG@10 and seconds of each model, with each number of threads in a column."""
    of = {(row["work"], row["threads"]): row for row in rows}
    every = sorted({row["threads"] for row in rows})
    kinds = [(kind, n) for kind in ("fit", "score") for n in every]
    titles = [f"{kind}, s, {threads(n)}" for kind, n in kinds]
    lines = []
    for name in dict.fromkeys(row["work"] for row in rows):
        quality = [
            " / ".join(dict.fromkeys(f"{of[name, n][kind]:.4f}" for n in every))
            for kind in ("rated", "catalogue")
        ]
        lines.append([name, *quality, *(of[name, n][kind] for kind, n in kinds)])
    return markdown(["model", "NDCG@10, rated", "NDCG@10, catalogue", *titles], lines)


def steps(name: str) -> str:
    """Return the rows from one library's model to another's, and what each row changes."""
    titles = {"rated": "NDCG@10, rated", "catalogue": "NDCG@10, catalogue", "rmse": "RMSE"}
    rows = figures("like_for_like")[name]
    titles = {key: title for key, title in titles.items() if rows[0][key] is not None}
    lines = []
    for before, row in zip([None, *rows], rows, strict=False):
        line = [row["row"]]
        for key in titles:
            change = round(row[key], 4) - round(before[key], 4) if before else 0.0
            note = "" if before is None else f" ({change:+.4f})" if round(change, 4) else " (=)"
            line.append(f"{row[key]:.4f}{note}")
        lines.append(line)
    return markdown(["from one library to the other", *titles.values()], lines)


def figures(name: str) -> Any:
    """Return what a benchmark wrote."""
    return json.loads((FIGURES / f"{name}.json").read_text(encoding="utf-8"))


def machines() -> str:
    """Return which figures each machine made."""
    made: dict[str, dict[str, None]] = {}
    for name in sorted(path.stem for path in FIGURES.glob("*.json")):
        found = figures(name)
        parts = [*found.get("subjects", {"": found}).items()]
        if isinstance(found.get("rows"), list):
            parts += ((row.get("algorithm", ""), row) for row in found["rows"])
        for part, measured in parts:
            if machine := measured.get("machine"):
                kind = (
                    f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gb']:g} GB"
                )
                made.setdefault(kind, {})[f"{name} {part}".strip()] = None
    return markdown(["machine", ""], ([kind, ", ".join(names)] for kind, names in made.items()))


def markdown(titles: list[str], rows: Iterable[list[Any]]) -> str:
    """Return a table; columns but the first are numbers, unless they have no title."""
    marks = ["---", *("---:" if title else "---" for title in titles[1:])]
    lines = [titles, marks, *([shown(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def shown(value: float | str, digits: int = 3) -> str:
    """Return a number with some significant digits, and never fewer than its whole ones."""
    if isinstance(value, str):
        return value
    if value >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    text = f"{value:.{digits}g}"
    return text if "e" not in text else f"{value:f}"


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


def summary() -> str:
    """Return a line for each group of rows: least and greatest seconds and ratios, one thread."""
    lines = []
    for name, title, pattern in SUMMARY:
        rows = [row for row in figures(name)["rows"] if re.fullmatch(pattern, row.get("work", ""))]
        walls: dict[str, list[float]] = {"other": [], "NumPy": [], "harness": []}
        ratios: dict[str, list[float]] = {"other": [], "NumPy": []}
        for row in rows:
            one = {"other": row.get("theirs"), "harness": row.get("ours")}
            for each in reversed(row.get("sides", ())):
                if each["threads"] == 1:
                    one |= {each["side"]: each["wall"], "other": each["wall"]}
            for side, each in walls.items():
                each += [one[side]] if side in one else []
            for side, each in ratios.items():
                each += [one[side] / one["harness"]] if side in one else []
        lines.append([title, *map(ends, walls.values()), *map(ends, ratios.values())])
    titles = ["other side, s", "NumPy, s", "harness, s", "times faster", "than NumPy"]
    return markdown(["work", *titles], lines)


def ends(values: list[float]) -> str:
    """Return the least and the greatest of some values, or nothing."""
    return " to ".join(dict.fromkeys(shown(f(values), 2) for f in (min, max) if values))


def growth(found: Any) -> str:
    """Return the seconds of each fit for each number of ratings, and the exponent."""
    sizes = sorted({row["millions"] for row in found["rows"]})
    cells = {(row["fit"], row["side"], row["millions"]): row for row in found["rows"]}
    lines = [
        [
            f"{fit}, {side}",
            *(seconds(cells[fit, side, n]) if (fit, side, n) in cells else "" for n in sizes),
            f"{found['exponents'][fit]:.2f}" if side == "harness" else "",
        ]
        for fit, side in dict.fromkeys((row["fit"], row["side"]) for row in found["rows"])
    ]
    return markdown(["fit", *(f"{size:g} M" for size in sizes), "exponent from 1 M"], lines)


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
                axis.set_major_formatter(lambda value, _: f"{value:g}")
                axis.set_minor_formatter(lambda value, _: "")
        panels[0].set_ylabel("seconds to fit")
        panels[0].legend(loc="lower right")
        picture.savefig(TOP / "docs" / "images" / "growth.png", dpi=160)


def written(text: str) -> str:
    """Return a page with every marked table as the files have it."""
    kinds = {"table": table, "grid": grid, "pairs": pairs, "speed": speed, "steps": steps}

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
