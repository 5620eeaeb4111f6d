"""The list of all runs in a results folder, as a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.errors import ResultsError
from harness.files import write_output
from harness.report.digest import digest
from harness.report.page import environment, style_sheet
from harness.report.styles import plain
from harness.results.run import find_runs, read_run
from harness.results.values import rounded

__all__ = ["build_index", "write_index"]


def write_index(results: Path) -> Path:
    """Write ``index.html`` into a results folder.

    Raises
    ------
    ResultsError
        If the folder cannot be written.
    """
    path = results / "index.html"
    try:
        write_output(path, build_index(results).encode())
    except OSError as error:
        raise ResultsError(f"{path}: cannot be written ({error.strerror})") from None
    return path


def build_index(results: Path) -> str:
    """Return the page that lists the runs of a folder, the latest first.

    A run that cannot be read is listed with the reason.

    Parameters
    ----------
    results : Path
        Folder whose folders are runs.
    """
    rows = [_row(folder) for folder in find_runs(results)]
    rows.sort(key=lambda row: row["started"], reverse=True)
    return environment().get_template("index.html").render(rows=rows, style=style_sheet())


def _row(folder: Path) -> dict[str, Any]:
    """Return what the list says of one run."""
    page = folder / "report.html"
    row: dict[str, Any] = {
        "name": plain(folder.name),
        "link": f"{folder.name}/report.html" if page.is_file() else "",
        "path": plain(folder.as_posix()),
        "started": "",
        "error": "",
    }
    try:
        told = digest(read_run(folder))
    except ResultsError as error:
        return row | {"error": plain(error)}
    info, place = told.info, told.places[0]
    best = place.best(told.primary)
    value = ""
    if best:
        of_best = place.rows[place.rows["algorithm"] == best[0]].iloc[0]
        value = rounded(float(of_best[told.primary]), place.decimals[told.primary])
    return row | {
        "started": info.started.replace("T", " ")[:16],
        "description": plain(info.description),
        "data": plain(", ".join(each.name for each in info.datasets)),
        "split": plain(", ".join(dict.fromkeys(each.names[1] for each in told.places))),
        "n_algorithms": len(told.algorithms),
        "n_failed": len(told.run.failed),
        "best": plain(" and ".join(best)),
        "label": told.primary,
        "value": value,
    }
