"""Write the tables of `results/` and `benchmarks/figures/` into the pages that show them.

python tools/readme_tables.py          rewrite them between their markers, and the picture of growth
python tools/readme_tables.py --check  exit 1 if a page is not what it would write
"""

from __future__ import annotations

import json
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
PAGES = (
    TOP / "README.md",
    TOP / "docs" / "explanation" / "speed.md",
    TOP / "docs" / "explanation" / "like-for-like.md",
    TOP / "docs" / "how-to" / "implicit.md",
)
MEASURED = ("fit s", "score s", "metric s", "peak MB")
MARKER = re.compile(
    r"(?P<marker><!-- (?P<kind>table|grid|speed|steps): (?P<name>\S+)"
    r"(?: (?P<label>\S+))?(?: (?P<split>\S+))? -->)\n"
    r"(?:\n\|(?:.*\n)+?(?=\n))?"
)


def table(run: str) -> str:
    """Return the table of a run alone, without its heading and notes."""
    lines = to_markdown(read_run(TOP / run).info).splitlines()
    return "\n".join(line for line in lines if line.startswith("|"))


def grid(run: str, label: str, split: str = "") -> str:
    """Return one metric of a run: a row for each algorithm, a column for each table of a split."""
    frame = display_table(read_run(TOP / run).info).frame
    if "split" not in frame:  # the only one of the run
        frame = frame.assign(split=split)
    frame = frame[frame["split"] == split] if split else frame
    places = list(dict.fromkeys(zip(frame["split"], frame["candidates"], strict=True)))
    values = frame.set_index(["algorithm", "split", "candidates"])[label]
    titles = [candidates if split else f"{name}, {candidates}" for name, candidates in places]
    lines = [
        "| algorithm | " + " | ".join(titles) + " |",
        "| --- |" + " ---: |" * len(places),
    ]
    for algorithm in dict.fromkeys(frame["algorithm"]):
        row = [" ".join(values[(algorithm, *place)].split()) for place in places]
        lines.append(f"| {algorithm} | " + " | ".join(row) + " |")
    return "\n".join(lines)


def speed(name: str) -> str:
    """Return the figures of one benchmark, or the summary of all."""
    if name == "summary":
        return summary()
    found = figures(name)
    if name == "growth":
        return growth(found)
    if name == "large":
        sizes = found["sizes"]
        rows = (
            [key, *(each[key] for each in sizes.values())] for key in next(iter(sizes.values()))
        )
        return markdown(["", *sizes], rows)
    if name == "lists":
        return markdown([*found["rows"][0]], ([*row.values()] for row in found["rows"]))
    if name == "libraries":
        return quality_beside_time(found["rows"])
    rows = (
        [
            *(row["work"], row["theirs"], row["ours"], f"{row['ratio']:.1f}"),
            *("" if row["bar"] is None else f"{row['bar']:g}", row["note"]),
        ]
        for row in found["rows"]
    )
    return markdown(["work", f"{found['against']}, s", "harness, s", "ratio", "at least", ""], rows)


def quality_beside_time(rows: list[dict[str, Any]]) -> str:
    """Return NDCG@10 and seconds of each model, with each number of threads in a column."""
    of = {(row["work"], row["threads"]): row for row in rows}
    every = sorted({row["threads"] for row in rows})
    kinds = [(kind, n) for kind in ("fit", "score") for n in every]
    titles = [f"{kind}, s, {n} thread{'s' * (n > 1)}" for kind, n in kinds]
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
    path = TOP / "benchmarks" / "figures" / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8"))


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
    ("script", "nine algorithms, whole catalogue: one run", ".*warm", "1", "2"),
    ("cross_validation", "ten algorithms, 5 folds, RMSE and MAE", ".*", "1", "2"),
    ("fits", "fit: SVD, NMF", "SVD|NMF", "1", "1"),
    ("fits", "fit: SVD++", r"SVD\+\+", "1", "1"),
    ("fits", "fit: SlopeOne, CoClustering", "SlopeOne|CoClustering", "1", "1"),
    ("catalogue", "score the catalogue: the four KNNs", "KNN.*", "1", "2"),
    ("catalogue", "score the catalogue: the other six", "(?!KNN).*", "1", "2"),
    ("metrics", "NDCG at six ranks of 240,000 rows", ".*, 240,000 rows", "as set", "2"),
)
"""File, what the row of the summary says, a pattern of the rows that it is made of, and the
threads that the other side and the harness may use."""


def summary() -> str:
    """Return one line for each group of rows, with the least and the greatest of each column."""
    lines = []
    for name, title, pattern, *threads in SUMMARY:
        rows = [row for row in figures(name)["rows"] if re.fullmatch(pattern, row["work"])]
        line = [title]
        for key, digits in (("theirs", 2), ("ours", 3), ("ratio", 3)):
            values = [row[key] for row in rows]
            ends = dict.fromkeys(shown(each, digits) for each in (min(values), max(values)))
            line.append(" to ".join(ends))
        lines.append([*line, ", ".join(threads)])
    titles = ["work", "other side, s", "harness, s", "times faster", "threads: other, harness"]
    return markdown(titles, lines).replace("---: |\n", "--- |\n", 1)


def growth(found: Any) -> str:
    """Return the seconds of each fit for each number of ratings, and the exponent."""
    sizes = sorted({size for sides in found["seconds"].values() for size, _ in sides["harness"]})
    rows = [
        [
            f"{name}, {side}",
            *(dict(map(tuple, points)).get(size, "") for size in sizes),
            f"{found['exponents'][name]:.2f}" if side == "harness" else "",
        ]
        for name, sides in found["seconds"].items()
        for side, points in sides.items()
    ]
    return markdown(["fit", *(f"{size:g} M" for size in sizes), "exponent from 1 M"], rows)


def plot_growth() -> None:
    """Draw the seconds of each fit against the number of ratings: a panel for each algorithm."""
    seconds = figures("growth")["seconds"]
    with plot_style():
        picture, panels = pyplot.subplots(1, len(seconds), figsize=(9, 3), sharey=True, sharex=True)
        for axes, (name, sides) in zip(panels, seconds.items(), strict=True):
            for side, style in (("harness", "o-"), ("surprise", "s--")):
                axes.loglog(*zip(*sides[side], strict=True), style, label=side.capitalize())
            axes.set(title=name, xlabel="million ratings", xticks=[0.25, 1, 4, 16])
            for axis in (axes.xaxis, axes.yaxis):
                axis.set_major_formatter(lambda value, _: f"{value:g}")
                axis.set_minor_formatter(lambda value, _: "")
        panels[0].set_ylabel("seconds to fit")
        panels[0].legend(loc="lower right")
        picture.savefig(TOP / "docs" / "images" / "growth.png", dpi=160)


def written(text: str) -> str:
    """Return a page with every marked table as the files have it."""
    kinds = {"table": table, "grid": grid, "speed": speed, "steps": steps}

    def fill(match: re.Match[str]) -> str:
        asked = [word for word in (match["name"], match["label"], match["split"]) if word]
        return f"{match['marker']}\n\n{kinds[match['kind']](*asked)}\n"

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
