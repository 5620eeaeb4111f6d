"""The report page: one file, no network, made from results alone."""

from __future__ import annotations

import base64
import hashlib
import math
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness import metrics
from harness.errors import ResultsError
from harness.files import write_output
from harness.report.digest import Digest, Place, digest
from harness.report.figures import Figure, draw
from harness.report.methods import methods
from harness.report.plots import KINDS
from harness.report.provenance import command, describe_cells, describe_run, to_yaml
from harness.report.redefined import redefined_tables
from harness.report.sentences import headline
from harness.report.styles import COLOURS, plain, symbol
from harness.report.tables import latex
from harness.results.compare import join
from harness.results.environment import took
from harness.results.run import Run
from harness.results.table import TIMES, row_name, to_csv, to_markdown
from harness.results.values import rounded

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

__all__ = ["build_page", "environment", "style_sheet", "write_page"]

ASSETS = Path(__file__).with_name("assets")
MOST_FIGURES = 60
"""Most plots on a page; ``harness plot`` draws the others, so the page stays small."""


def write_page(
    runs: Sequence[Run],
    path: Path,
    *,
    baseline: str | None = None,
    anyway: bool = False,
    joined: Run | None = None,
) -> Path:
    """Write the page of one run, or of several.

    Parameters
    ----------
    runs : sequence of Run
    path : Path
        The file; its folder is made when it is missing.
    baseline : str, optional
        The algorithm that the others are compared with.
    anyway : bool
        Join even runs that cannot be compared; a warning then says why not.
    joined : Run, optional
        The runs as one, where `join` has made it already.

    Raises
    ------
    ResultsError
        If there is nothing to show, or the file cannot be written.
    """
    page = build_page(runs, baseline=baseline, anyway=anyway, joined=joined)
    try:
        write_output(path, page.encode())
    except OSError as error:
        raise ResultsError(
            f"{path}: cannot be written ({error.strerror}); use --output FILE"
        ) from None
    return path


def build_page(
    runs: Sequence[Run],
    *,
    baseline: str | None = None,
    anyway: bool = False,
    joined: Run | None = None,
) -> str:
    """Return the page as HTML; see `write_page`."""
    told = digest(joined or join(runs, anyway=anyway), baseline=baseline)
    figures, left_out = _figures(told)
    template = environment().get_template("page.html")
    return template.render(
        name=plain(told.run.name),
        description=plain(told.info.description),
        headlines=headline(told),
        told=told,
        facts=_facts(told, runs),
        tables=[_table(told, place, number) for number, place in enumerate(told.places, 1)],
        ks=sorted({int(k) for label in told.labels if (k := _rank(label))}),
        figures=figures,
        kinds=KINDS,
        titles={kind: each.title for kind, each in KINDS.items()}
        | {"differences": f"Differences to {plain(told.baseline)}"},
        left_out=left_out,
        columns=_columns(told),
        csv=to_csv(told.info),
        markdown=to_markdown(told.info),
        higher={label: metrics.parse(label).higher_is_better for label in told.labels},
        how=next((e.method for place in told.places for e in place.evidence.values()), ""),
        more_tables=redefined_tables(told),
        notes=[plain(note) for note in told.info.notes],
        failures=_failures(told),
        accounts=[(plain(run.name), methods(run.info)) for run in runs],
        origins=[
            {
                "name": plain(run.name),
                "about": describe_run(run.info),
                "cells": describe_cells(run.info),
                "yaml": to_yaml(run.info),
                "command": command(run.info),
            }
            for run in runs
        ],
        style=style_sheet(),
        script=_script()[0],
        script_hash=_script()[1],
    )


@cache
def environment() -> Environment:
    """Return the templates, every value in them escaped."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(ASSETS),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"plain": plain, "linked": linked, "rank": _rank, "symbol": symbol}
    return made


def linked(text: str) -> Markup:
    """Return text as HTML, escaped, with DOIs as links and text in backticks as code.

    Examples
    --------
    >>> print(linked("<b> `k: 1` (doi:10.1145/2827872)"))
    &lt;b&gt; <code>k: 1</code> (<a href="https://doi.org/10.1145/2827872">doi:10.1145/2827872</a>)
    """
    from markupsafe import Markup, escape

    shown = Markup("")
    for part in re.split(r"(doi:10\.\d{4,9}/[^\s;,)]*[^\s;,).]|`[^`]+`)", text):
        if part.startswith("doi:10."):
            shown += Markup('<a href="https://doi.org/{}">{}</a>').format(part[4:], part)
        elif part.startswith("`") and part.endswith("`") and len(part) > 2:
            shown += Markup("<code>{}</code>").format(part[1:-1])
        else:
            shown += escape(part)
    return shown


def _figures(told: Digest) -> tuple[dict[str, list[Figure]], bool]:
    """Return, by kind, every plot that has something to show, and whether some are left out."""
    wanted = [
        (kind, label, number)
        for number in range(1, len(told.places) + 1)
        for label in [told.primary, *(each for each in told.labels if each != told.primary)]
        for kind in KINDS
    ]
    if len(wanted) > MOST_FIGURES:
        wanted = [each for each in wanted if each[1] == told.primary]
    drawn: dict[str, list[Figure]] = {kind: [] for kind in KINDS}
    families: set[tuple[str, int]] = set()
    for kind, label, number in wanted[:MOST_FIGURES]:
        if kind == "ndcg-over-k":
            family = (label.partition("@")[0], number)
            if family in families or "@" not in label:
                continue
            families.add(family)
        try:
            n_drawn = sum(map(len, drawn.values()))
            drawn[kind].append(draw(told, kind, label, number, n_drawn + 1))
        except ResultsError:
            continue  # nothing of this kind to show, as the spread of a single fold
    n_all = len(told.places) * len(told.labels) * len(KINDS)
    shown = {kind: figures for kind, figures in drawn.items() if figures}
    return shown, len(wanted[:MOST_FIGURES]) < n_all


def _table(told: Digest, place: Place, number: int) -> dict[str, Any]:
    """Return what the template shows of one table."""
    rows: list[dict[str, Any]] = []
    best = {label: set(place.best(label)) for label in told.labels}
    ranked = place.ranked(told.primary)
    records = {str(row["algorithm"]): row for row in place.rows.to_dict(orient="records")}
    for name in [*ranked, *(name for name in records if name not in ranked)]:
        row = records[name]
        rows.append(
            {
                "name": name,
                "shown": row_name(row),
                "style": told.styles[name],
                "scores": [
                    _score(told, place, label, name, row, name in best[label])
                    for label in told.labels
                ],
                "others": _others(told, row),
                "error": plain(row["error"]),
            }
        )
    bounds = [
        {
            "name": row["bound"],
            "scores": [rounded(row[label], place.decimals[label]) for label in told.labels],
        }
        for row in place.bounds.to_dict(orient="records")
    ]
    widest = max((len(each["letters"]) for row in rows for each in row["scores"]), default=0)
    return {
        "number": number,
        "place": place,
        "rows": rows,
        "bounds": bounds,
        "widest": widest,
        "latex": latex(told, place=number),
    }


def _score(
    told: Digest, place: Place, label: str, name: str, row: dict[Any, Any], best: bool
) -> dict[str, Any]:
    digits = place.decimals[label]
    evidence = place.evidence.get(label)
    standing = evidence.standing(name) if evidence else None
    spread = row.get(f"{label}_sd", math.nan)
    return {
        "text": rounded(row[label], digits),
        "value": "" if math.isnan(row[label]) else f"{row[label]:.10g}",
        "best": best,
        "letters": standing.letters if standing else "",
        "low": rounded(standing.low, digits) if standing else "",
        "high": rounded(standing.high, digits) if standing else "",
        "spread": rounded(spread, digits),
    }


def _columns(told: Digest) -> list[tuple[str, str, str, str]]:
    """Return what stands beside the metrics: column, title, decimals and better direction."""
    searched = "n_trials" in told.run.table
    return [
        *([("n_trials", "trials", ".0f", "descending")] if searched else []),
        *([("search_seconds", "search s", ".1f", "ascending")] if searched else []),
        (TIMES[0], "fit s", ".2f", "ascending"),
        (TIMES[1], "score s", ".2f", "ascending"),
        ("peak_mb", "peak MB", ".0f", "ascending"),
        ("n_users", "users", ".0f", "descending"),
    ]


def _others(told: Digest, row: dict[Any, Any]) -> list[tuple[str, str]]:
    """Return search, time, memory and users of a row: as text, and as a value to sort by."""
    columns = _columns(told)
    if not row["n_cells"]:
        return [("", "")] * len(columns)
    return [
        ("", "")
        if math.isnan(row[name]) or (not row[name] and name in ("n_trials", "search_seconds"))
        else (f"{row[name]:{form}}", f"{row[name]:.10g}")
        for name, _, form, _ in columns
    ]


def _failures(told: Digest) -> list[tuple[str, str, str]]:
    """Return algorithm, reason and places of what failed, the same reason once."""
    titles = {place.key: place.title for place in told.places}
    found: dict[tuple[str, str], list[str]] = {}
    for cell in told.info.failed:
        where = f"{titles[cell.table]}, seed {cell.seed}"
        where += f", fold {cell.fold + 1}" if cell.n_folds > 1 else ""
        found.setdefault((cell.algorithm, cell.error), []).append(where)
    return [
        (plain(algorithm), plain(error), plain("; ".join(places)))
        for (algorithm, error), places in found.items()
    ]


def _facts(told: Digest, runs: Sequence[Run]) -> list[tuple[str, str]]:
    """Return the few facts under the title."""
    keys = [place.names for place in told.places]
    data, split, candidates = (
        ", ".join(dict.fromkeys(plain(key[part]) for key in keys)) for part in range(3)
    )
    seeds = ", ".join(str(seed) for seed in told.info.seeds)
    made = ", ".join(dict.fromkeys(run.info.started[:10] for run in runs))
    return [
        ("Data", data),
        ("Split", split),
        ("Candidates", candidates),
        ("Seed" if len(told.info.seeds) == 1 else "Seeds", seeds),
        ("Made", f"{made}, in {took(run.info for run in runs)}"),
    ]


@cache
def style_sheet() -> Markup:
    """Return the style sheet of all pages, with the colours of the plots in it."""
    from markupsafe import Markup

    style = (ASSETS / "page.css").read_text(encoding="utf-8")
    light = "".join(f"--{hue}: {both[0]}; " for hue, both in COLOURS.items())
    dark = "".join(f"--{hue}: {both[1]}; " for hue, both in COLOURS.items())
    style = style.replace("/* light hues */", light).replace("/* dark hues */", dark)
    return Markup(style)  # noqa: S704 - a file of this package


@cache
def _script() -> tuple[Markup, str]:
    """Return the script, and the hash by which the page allows it and no other."""
    from markupsafe import Markup

    script = (ASSETS / "page.js").read_text(encoding="utf-8")
    digest_of = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return Markup(script), digest_of  # noqa: S704 - a file of this package


def _rank(label: str) -> str:
    """Return the rank of a label as text, nothing where it has none."""
    return label.rpartition("@")[2] if "@" in label else ""
