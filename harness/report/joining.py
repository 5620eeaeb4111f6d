"""Several runs as one, so that one page and one plot can show them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.config.inference import Inference
from harness.results.compare import combine
from harness.results.inference import infer
from harness.results.run import Run
from harness.results.table import GROUP

__all__ = ["join"]


def join(runs: Sequence[Run], *, anyway: bool = False) -> Run:
    """Put runs into one, their users compared with each other.

    Parameters
    ----------
    runs : sequence of Run
        At least one; one alone comes back as it is.
    anyway : bool
        Join even what cannot be compared; a note then says why not.

    Returns
    -------
    Run
        Without a folder and a config of its own.

    Raises
    ------
    ComparisonError
        If the runs differ in data, split or candidates, or share no metric.
    """
    if len(runs) == 1:
        return runs[0]
    import pandas as pd

    info = combine(runs, anyway=anyway)
    labels = info["metrics"]
    renamed, names_of, start = [], [], 0
    for run in runs:
        cells = info["cells"][start : start + len(run.info["cells"])]
        start += len(cells)
        names = {
            old["algorithm"]: new["algorithm"]
            for old, new in zip(run.info["cells"], cells, strict=True)
        }
        keys = [column for column in run.users.columns if column not in run.info["metrics"]]
        users = run.users[[*keys, *labels]]
        renamed.append(users.assign(algorithm=users["algorithm"].map(names)))
        names_of.append(names)
    users = pd.concat(renamed, ignore_index=True)
    if repeated := _repeated(info["cells"]):
        info["cells"] = [cell for cell in info["cells"] if cell["algorithm"] not in repeated]
        users = users[~users["algorithm"].isin(repeated)].reset_index(drop=True)
        info["notes"].append(
            f"left out, because another run has the very same cells: {', '.join(repeated)}"
        )
    order = list(dict.fromkeys(cell["algorithm"] for cell in info["cells"]))
    settings = runs[0].info["config"].get("statistics")
    told: dict[str, Any] = {
        "description": "",
        "bounds": _unique(runs, "bounds"),
        "conventions": _conventions(runs, names_of),
        "ties": _ties(runs, names_of),
        "datasets": _unique(runs, "datasets"),
        "splits": _unique(runs, "splits"),
        "config": {"statistics": settings},
        "statistics": []
        if settings is None
        else infer(users, labels, order, Inference.model_validate(settings), info["seeds"][0]),
    }
    return Run(told | info, users)


def _conventions(runs: Sequence[Run], names_of: Sequence[dict[str, str]]) -> list[dict[str, Any]]:
    """Return each table of conventions with the algorithms of all runs that have it."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for run, names in zip(runs, names_of, strict=True):
        for entry in run.info.get("conventions", []):
            where = tuple(entry[key] for key in (*GROUP, "metric", "k"))
            rows = found.setdefault(where, {key: entry[key] for key in (*GROUP, "metric", "k")})
            by_name = rows.setdefault("rows", {})
            for row in entry["rows"]:
                own = by_name.setdefault(row["convention"], row | {"scores": {}})
                own["scores"] |= {names.get(n, n): value for n, value in row["scores"].items()}
    return [entry | {"rows": list(entry["rows"].values())} for entry in found.values()]


def _ties(runs: Sequence[Run], names_of: Sequence[dict[str, str]]) -> list[dict[str, Any]]:
    """Return each table of ties with the algorithms of all runs that have it."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for run, names in zip(runs, names_of, strict=True):
        for entry in run.info.get("ties", []):
            where = tuple(entry[key] for key in (*GROUP, "metric"))
            own = found.setdefault(where, entry | {"rows": []})
            own["rows"] += [
                row | {"algorithm": names.get(row["algorithm"], row["algorithm"])}
                for row in entry["rows"]
            ]
    return list(found.values())


def _repeated(cells: Sequence[dict[str, Any]]) -> list[str]:
    """Return the labels whose every cell is, by its key, that of an earlier label."""
    first: dict[str, str] = {}
    for cell in cells:
        first.setdefault(cell["key"], cell["algorithm"])
    own = {cell["algorithm"] for cell in cells if first[cell["key"]] == cell["algorithm"]}
    return list(dict.fromkeys(c["algorithm"] for c in cells if c["algorithm"] not in own))


def _unique(runs: Sequence[Run], key: str) -> list[Any]:
    """Return what the runs list under a key, each thing once."""
    found: list[Any] = []
    for run in runs:
        found += [each for each in run.info.get(key, []) if each not in found]
    return found
