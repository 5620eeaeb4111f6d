"""Columns of users, items and numbers from files: CSV, TSV, Parquet, TREC run and qrels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.errors import MetricError

__all__ = ["Columns", "read_columns", "read_qrels", "read_run"]

NAMES = {
    "user": ("user", "user_id", "userid", "uid", "qid", "query_id"),
    "item": ("item", "item_id", "itemid", "iid", "docid", "doc_id", "movie_id", "movieid"),
    "estimate": ("estimate", "est", "prediction", "score"),
    "rating": ("rating", "r_ui", "label", "relevance", "weight"),
    "rank": ("rank",),
}
"""How the columns of a table may be called; case does not matter."""

TABLES = {".csv": ",", ".tsv": "\t", ".parquet": "", ".pq": ""}
TREC = (".run", ".trec", ".qrels", ".qrel", ".res", ".txt")


class Columns(dict[str, NDArray[Any]]):
    """The columns of a file, by our names for them; numbers as floats, ids as they are.

    Parameters
    ----------
    path : Path
        For messages.
    columns : dict of str to ndarray
    """

    def __init__(self, path: Path, columns: dict[str, NDArray[Any]]) -> None:
        super().__init__(columns)
        self.path = path

    def __missing__(self, name: str) -> NDArray[Any]:
        raise MetricError(
            f"{self.path}: no column of {name}, only {', '.join(self)}; add it, or call it "
            f"{' or '.join(NAMES[name])} in the header"
        )


def read_columns(path: Path, *, judged: bool = False) -> Columns:
    r"""Read a table, or a TREC file by its ending.

    Parameters
    ----------
    path : Path
    judged : bool
        Whether a TREC file holds judgements (qrels) instead of a run.

    Raises
    ------
    MetricError
        If the file cannot be read, its ending is unknown, it names no users, or a number is none.

    Examples
    --------
    >>> path = getfixture("tmp_path") / "a.csv"
    >>> _ = path.write_text("userId,movieId,rating\n7,10,4.5\n")
    >>> list(read_columns(path))
    ['user', 'item', 'rating']
    """
    ending = path.suffix.casefold()
    if not path.is_file():
        raise MetricError(f"{path}: there is no such file; check the path")
    if ending in TREC:
        return read_qrels(path) if judged else read_run(path)
    if ending not in TABLES:
        raise MetricError(
            f"{path}: unknown kind of file {ending!r}; use .csv, .tsv or .parquet with a header, "
            "or .run and .qrels for TREC files"
        )
    return _read_table(path, TABLES[ending])


def read_run(path: Path) -> Columns:
    r"""Read a TREC run: ``query Q0 document rank score tag`` in each line.

    As in trec_eval the ranks are not read; rows come by falling document id, so that equal scores
    stand in that order under ``ties=first``.

    Raises
    ------
    MetricError
        If a line has another number of fields, or a score is no number.

    Examples
    --------
    >>> path = getfixture("tmp_path") / "a.run"
    >>> _ = path.write_text("q1 Q0 a 1 0.5 me\nq1 Q0 b 2 0.5 me\n")
    >>> read_run(path)["item"].tolist()
    ['b', 'a']
    """
    fields = _read_fields(path, 6, "query Q0 document rank score tag")
    order = np.argsort(fields[2], kind="stable")[::-1]
    columns = {"user": fields[0], "item": fields[2], "estimate": _numbers(path, fields[4])}
    return Columns(path, {name: column[order] for name, column in columns.items()})


def read_qrels(path: Path) -> Columns:
    r"""Read TREC judgements: ``query 0 document relevance`` in each line.

    Raises
    ------
    MetricError
        If a line has another number of fields, or a relevance is no number.

    Examples
    --------
    >>> path = getfixture("tmp_path") / "a.qrels"
    >>> _ = path.write_text("q1 0 a 2\n")
    >>> read_qrels(path)["rating"].tolist()
    [2.0]
    """
    fields = _read_fields(path, 4, "query 0 document relevance")
    columns = {"user": fields[0], "item": fields[2], "rating": _numbers(path, fields[3])}
    return Columns(path, columns)


def _read_fields(path: Path, n_fields: int, form: str) -> list[NDArray[Any]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise MetricError(f"{path}: not a text file; a TREC file has lines of {form}") from None
    rows = []
    for number, line in enumerate(lines, start=1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != n_fields:
            raise MetricError(
                f"{path}:{number}: {len(fields)} fields; a line must be {form}, "
                "with white space between"
            )
        rows.append(fields)
    if not rows:
        raise MetricError(f"{path}: there is no row; its lines must be {form}")
    return [np.array(column, dtype=object) for column in zip(*rows, strict=True)]


def _read_table(path: Path, delimiter: str) -> Columns:
    import pyarrow as pa
    from pyarrow import csv, parquet

    try:
        table = (
            csv.read_csv(path, parse_options=csv.ParseOptions(delimiter=delimiter))
            if delimiter
            else parquet.read_table(path)
        )
        names = table.column_names  # which need not be UTF-8
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = str(error).splitlines()[0]
        raise MetricError(f"{path}: it cannot be read ({reason}); check its format") from None
    found = {}
    for name, spellings in NAMES.items():
        meant = [each for each in names if each.strip().casefold() in spellings]
        if len(meant) > 1:
            raise MetricError(
                f"{path}: both {meant[0]!r} and {meant[1]!r} may be the {name}; rename one"
            )
        if meant:
            found[name] = table.column(meant[0])
    if not table.num_rows:
        raise MetricError(f"{path}: there is no row; give at least one")
    columns = {name: column.to_numpy(zero_copy_only=False) for name, column in found.items()}
    for name in ("estimate", "rating", "rank"):
        if name in columns:
            columns[name] = _numbers(path, columns[name])
    return Columns(path, columns)


def _numbers(path: Path, values: NDArray[Any]) -> NDArray[np.float64]:
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise MetricError(f"{path}: {error}; give numbers only") from None
