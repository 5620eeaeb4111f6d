"""The readers of folders that are one table: Hive's partitions, Delta, Hugging Face's data sets."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple
from urllib.parse import unquote

from harness._util.libraries import pa, pq
from harness.datasets.columns import RATINGS, Roles, find_columns
from harness.datasets.conversion import Table, convert, joined
from harness.datasets.evidence import LINES
from harness.datasets.readers import (
    check_keys,
    column_names,
    kind_of_file,
    read_as,
    recognised,
    sample_of,
)
from harness.datasets.readers.base import (
    NO_ROWS,
    OF_TEXT,
    Reader,
    ReadOptions,
    Sample,
    example_ratings,
    unread,
)
from harness.datasets.readers.packed import BROKEN, is_of_system, unpacked
from harness.errors import DataError, reason_of, suggestion
from harness.notes.note import Note

if TYPE_CHECKING:
    from collections.abc import Sequence


class Part(NamedTuple):
    """A file of a folder, and what the folder says of all its rows: values by column."""

    path: Path
    values: Mapping[str, str | None]


class Folder(Reader):
    """A folder that is one table, some columns of which its files may not hold."""

    endings: ClassVar[tuple[str, ...]] = ()

    def parts(self, folder: Path, options: ReadOptions) -> tuple[list[Part], list[Note]]:
        """Return the files that make up the table, and notes about them."""
        raise NotImplementedError

    def names(self, path: Path, where: str) -> list[str]:
        """Return the names of the columns, those that the folder says last."""
        parts, _ = self.parts(path, ReadOptions(where=where))
        return _names(parts[0], where)

    def sample(self, path: Path, options: ReadOptions) -> Sample:
        """Return the names and the first rows of the files, with what the folder says of them."""
        parts, _ = self.parts(path, options)
        names, rows = _names(parts[0], options.where), list[tuple[str, ...]]()
        for part in parts[:LINES]:
            with unpacked(part.path, options.where, options.limits) as (file, where):
                found = sample_of(file, kind_of_file(file) or "csv", ReadOptions(where=where))
            said = {name: value for name, value in part.values.items() if name not in found.names}
            values = tuple(value or "" for value in said.values())
            if [*found.names, *said] == names:
                rows += [(*row, *values) for row in found.rows]
            if len(rows) >= LINES:
                break
        return Sample(names, rows[:LINES])

    def read(self, path: Path, options: ReadOptions) -> Table:
        """Read the columns that are needed of each file."""
        where = options.where
        if not path.is_dir():
            raise DataError(f"{where}: a file, but {self.label} is a folder; give the folder")
        parts, notes = self.parts(path, options)
        if not parts:
            raise DataError(f"{where}: {NO_ROWS}")
        said = _said_roles(parts, options)
        asked = replace(options, kind=None, member=None)
        tables = [
            _read_part(part, str(Path(where) / part.path.relative_to(path)), said, asked)
            for part in parts
        ]
        table = joined(tables, where) if len(tables) > 1 else tables[0]
        if said and options.roles is RATINGS:  # the files alone do not show what is not read
            names = _names(parts[0], where)
            positions = find_columns(names, options.columns, where)
            notes += unread(names, lambda: self.sample(path, options).rows, options, positions)
        return replace(table, notes=tuple(dict.fromkeys([*notes, *table.notes])))


def _names(part: Part, where: str) -> list[str]:
    with unpacked(part.path, where) as (path, inner):
        names = column_names(path, kind_of_file(path) or "csv", inner)
    return [*names, *(name for name in part.values if name not in names)]


def _said_roles(parts: Sequence[Part], options: ReadOptions) -> dict[str, str]:
    """Return the columns by role that are in the names of folders, not in the files."""
    roles, values = options.roles, parts[0].values
    if not values:
        return {}
    in_files = [name for name in _names(parts[0], options.where) if name not in values]
    said = {}
    for role in roles.kinds:
        column = options.columns.get(role)
        if role in options.columns:
            if isinstance(column, str) and column in values:
                said[role] = column
        elif not roles.positions(in_files, role) and (found := roles.positions([*values], role)):
            said[role] = [*values][found[0]]
    return said


def _read_part(part: Part, where: str, said: Mapping[str, str], options: ReadOptions) -> Table:
    if not said:
        return _read_file(part.path, options, where)
    all_roles = options.roles
    rest = {role: kind for role, kind in all_roles.kinds.items() if role not in said}
    roles = Roles(rest, all_roles.usual, all_roles.optional & {*rest}, all_roles.strict)
    columns = {role: column for role, column in options.columns.items() if role not in said}
    any_role = next(iter(rest))
    table = _read_file(part.path, replace(options, roles=roles, columns=columns), where)
    column = (table.ids | table.numbers | table.times)[any_role]
    n_rows = len(getattr(column, "codes", column))
    constant = convert(
        {role: pa.array([part.values[name]] * n_rows, pa.string()) for role, name in said.items()},
        {role: all_roles.kinds[role] for role in said},
        where,
        table.at,
        values=options,
    )
    return replace(
        table,
        ids={**table.ids, **constant.ids},
        numbers={**table.numbers, **constant.numbers},
        times={**table.times, **constant.times},
        notes=(*table.notes, *constant.notes),
        flaws=(*table.flaws, *constant.flaws),
    )


def _read_file(path: Path, options: ReadOptions, where: str) -> Table:
    """Read a file of the folder, for which the keys that are given have to mean something."""
    with unpacked(path, where, options.limits) as (path, where):
        kind = recognised(path, where)
        check_keys(kind, options, where)
        return read_as(kind, path, replace(options, where=where))


_PARTITION = re.compile(r"([^=/]+)=([^/]*)")
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""What Hive calls a folder whose rows have no value."""


class Hive(Folder):
    """Folders such as ``rating=4``, whose names are the values of a column, as of Spark."""

    keys = OF_TEXT  # of which each file says whether it is one
    label = "a partitioned folder"

    def write_example(self, path: Path) -> None:
        """Write the example ratings, a folder for each rating."""
        for rating, rows in example_ratings().groupby("rating"):
            folder = path / f"rating={rating}"
            folder.mkdir(parents=True)
            rows[["user", "item"]].to_parquet(folder / "part-0.parquet")

    def recognise_folder(self, folder: Path) -> bool:
        """Return whether a folder holds folders that are called as a column and its value."""
        entries = [entry for entry in folder.iterdir() if not is_of_system(entry.name)]
        return bool(entries) and all(
            entry.is_dir() and _PARTITION.fullmatch(entry.name) for entry in entries
        )

    def parts(self, folder: Path, options: ReadOptions) -> tuple[list[Part], list[Note]]:
        """Return the files of all folders, with the values that are in the names of these."""
        return list(_hive_parts(folder, {}, options.where)), []


def _hive_parts(folder: Path, values: dict[str, str | None], where: str) -> Iterator[Part]:
    for entry in sorted(folder.iterdir()):
        if is_of_system(entry.name):
            continue
        if entry.is_dir():
            named = _PARTITION.fullmatch(entry.name)
            if named is None:
                raise DataError(
                    f"{where}: a folder {entry.name!r} among partitions such as rating=4; move it "
                    "away, or give a pattern of files"
                )
            value = None if named[2] == NO_VALUE else unquote(named[2])
            yield from _hive_parts(entry, values | {unquote(named[1]): value}, where)
        elif entry.stat().st_size:
            yield Part(entry, values)


_VERSION = re.compile(r"(\d{20})\.json")
_CHECKPOINT = re.compile(r"(\d{20})\.checkpoint(\.\d{10}\.(\d{10}))?\.parquet")
_PLAIN = {
    "columnMapping", "deletionVectors", "timestampNtz", "vacuumProtocolCheck", "v2Checkpoint",
    "domainMetadata", "typeWidening", "typeWidening-preview",
}  # fmt: skip
"""Features of a Delta table that are understood; whether they are used is looked at."""


class Delta(Folder):
    """A Delta table: the files that its log lists, as of its last version."""

    label = "a Delta table"

    def write_example(self, path: Path) -> None:
        """Write the example ratings, and beside them a file that the log has removed."""
        (path / "_delta_log").mkdir(parents=True)
        frame = example_ratings()
        frame.to_parquet(path / "part-0.parquet")
        frame.assign(rating=5).to_parquet(path / "part-1.parquet")
        added = [{"add": {"path": f"part-{number}.parquet"}} for number in (0, 1)]
        removed = {"remove": {"path": "part-1.parquet"}}
        for version, actions in enumerate([added, [removed]]):
            lines = "".join(json.dumps(action) + "\n" for action in actions)
            (path / f"_delta_log/{version:020}.json").write_text(lines, encoding="utf-8")

    def recognise_folder(self, folder: Path) -> bool:
        """Return whether a folder has a log of Delta."""
        return (folder / "_delta_log").is_dir()

    def parts(self, folder: Path, options: ReadOptions) -> tuple[list[Part], list[Note]]:
        """Return the files that the log has added and not removed."""
        where = options.where
        added: dict[str, dict[str, Any]] = {}
        for action in _actions(folder / "_delta_log", where):
            _check_protocol(action, where)
            if removed := action.get("remove"):
                added.pop(removed["path"], None)
            elif file := action.get("add"):
                added[file["path"]] = file
        parts = []
        for name, file in added.items():
            path = folder / unquote(name)
            if file.get("deletionVector"):
                raise _not_plain(where, "rows that are marked as deleted inside its files")
            if "://" in name or not path.resolve().is_relative_to(folder.resolve()):
                raise _not_plain(where, f"a file outside its folder ({name:.60})")
            if not path.is_file():
                raise DataError(
                    f"{where}: lacks {unquote(name)}, which its log lists; copy the whole folder"
                )
            parts.append(Part(path, dict(file.get("partitionValues") or {})))
        return parts, []


def _not_plain(where: str, what: str) -> DataError:
    return DataError(
        f"{where}: a Delta table with {what}, which is not read; write its rows as Parquet, as "
        f"spark.read.format('delta').load({where!r}).write.parquet('ratings') does, and give that "
        "folder"
    )


def _check_protocol(action: Mapping[str, Any], where: str) -> None:
    """Refuse a table whose files do not hold its rows as they are."""
    protocol, settings = action.get("protocol") or {}, action.get("metaData") or {}
    unknown = sorted({*(protocol.get("readerFeatures") or ())} - _PLAIN)
    if unknown:
        raise _not_plain(where, f"the feature {unknown[0]}")
    mode = dict(settings.get("configuration") or {}).get("delta.columnMapping.mode", "none")
    if mode != "none":
        raise _not_plain(where, "columns that have other names in its files")


def _actions(log: Path, where: str) -> Iterator[dict[str, Any]]:
    """Yield what was done to a table, in order: its last checkpoint, and the versions after it."""
    files = sorted(path.name for path in log.iterdir())
    versions = {int(found[1]): name for name in files if (found := _VERSION.fullmatch(name))}
    checkpoints: dict[int, list[str]] = {}
    n_parts: dict[int, int] = {}
    for name in files:
        if found := _CHECKPOINT.fullmatch(name):
            checkpoints.setdefault(int(found[1]), []).append(name)
            n_parts[int(found[1])] = int(found[3] or 1)
    whole = [version for version, names in checkpoints.items() if len(names) == n_parts[version]]
    start = max(whole, default=-1)
    last = max([start, *versions])
    lacking = [version for version in range(start + 1, last + 1) if version not in versions]
    if last < 0 or lacking:
        what = f"version {lacking[0]}" if lacking else "any version"
        if any(".checkpoint." in name for name in files) and not whole:
            raise _not_plain(where, "a checkpoint of a newer form")
        raise DataError(f"{where}: its _delta_log lacks {what}; copy the whole folder")
    try:
        for name in checkpoints.get(start, ()):
            table = pq.read_table(log / name)
            if "sidecar" in table.column_names and table["sidecar"].null_count < len(table):
                raise _not_plain(where, "a checkpoint of a newer form")
            for row in table.to_pylist():
                yield _checked(
                    {key: _as_mapping(value) for key, value in row.items() if value is not None}
                )
        for version in range(start + 1, last + 1):
            for line in (log / versions[version]).read_text(encoding="utf-8").splitlines():
                if line.strip():
                    yield _checked(json.loads(line))
    except (*BROKEN, pa.ArrowException, TypeError, KeyError, AttributeError) as error:
        reason = reason_of(error)
        raise DataError(
            f"{where}: its _delta_log cannot be read ({reason}); copy it again"
        ) from None


def _checked(action: Any) -> dict[str, Any]:
    """Return what was done to a table, or raise `ValueError` where it is not of the usual form."""
    if not isinstance(action, dict):
        raise ValueError(f"{action!r:.40} is not an object")
    for key in ("add", "remove"):
        if key in action and not isinstance((action[key] or {}).get("path"), str):
            raise ValueError(f"{key} without a path")
    return action


def _as_mapping(value: Any) -> Any:
    """Return a struct of a checkpoint with maps as dictionaries, which Arrow has as pairs."""
    if isinstance(value, dict):
        return {key: _as_mapping(each) for key, each in value.items()}
    is_map = isinstance(value, list) and all(isinstance(each, tuple) for each in value)
    return dict(value) if is_map else value


class HuggingFace(Folder):
    """What ``Dataset.save_to_disk`` of Hugging Face writes: one table, or one for each split."""

    label = "a data set of Hugging Face"

    def write_example(self, path: Path) -> None:
        """Write the example ratings as one table."""
        path.mkdir(parents=True)
        table = pa.Table.from_pandas(example_ratings(), preserve_index=False)
        with pa.ipc.new_stream(str(path / "data-00000-of-00001.arrow"), table.schema) as writer:
            writer.write_table(table)
        state = {"_data_files": [{"filename": "data-00000-of-00001.arrow"}]}
        (path / "state.json").write_text(json.dumps(state), encoding="utf-8")
        (path / "dataset_info.json").write_text("{}", encoding="utf-8")

    def recognise_folder(self, folder: Path) -> bool:
        """Return whether a folder has the files that describe such a data set."""
        is_table = (folder / "state.json").is_file() and (folder / "dataset_info.json").is_file()
        return is_table or (folder / "dataset_dict.json").is_file()

    def parts(self, folder: Path, options: ReadOptions) -> tuple[list[Part], list[Note]]:
        """Return the files of the splits that `member` names, by default of all."""
        where = options.where
        if not (folder / "dataset_dict.json").is_file():
            return _arrow_files(folder, where), []
        splits = [str(name) for name in _json_of(folder / "dataset_dict.json", where)["splits"]]
        asked = options.member or "*"
        chosen = [name for name in splits if fnmatchcase(name, asked)]
        if not chosen:
            advice = suggestion(asked, splits)
            raise DataError(f"{where}: no split {asked!r} for member; {advice}")
        values = {"n": len(chosen), "kind": "split", "members": chosen[:4], "key": "member"}
        notes = [Note("members-joined", values)] if len(chosen) > 1 else []
        return [part for name in chosen for part in _arrow_files(folder / name, where)], notes


def _arrow_files(folder: Path, where: str) -> list[Part]:
    state = _json_of(folder / "state.json", where)
    if state.get("_indices_files") or state.get("_indices_data_files"):
        raise DataError(
            f"{where}: selects rows of its files by number, which is not read; write it again with "
            "flatten_indices().save_to_disk(…)"
        )
    paths = [folder / str(file["filename"]) for file in state["_data_files"]]
    for path in paths:
        if path.parent != folder or not path.is_file():
            raise DataError(
                f"{where}: lacks {path.name}, which state.json lists; copy the whole folder"
            )
    return [Part(path, {}) for path in paths]


def _json_of(path: Path, where: str) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        {"state.json": lambda: found["_data_files"][0]["filename"],
         "dataset_dict.json": lambda: found["splits"][0]}[path.name]()  # fmt: skip
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        reason = f"{type(error).__name__}: {reason_of(error)}"
        raise DataError(
            f"{where}: its {path.name} cannot be read ({reason}); copy the whole folder"
        ) from None
    return dict(found)


def folder_not_read(folder: Path, where: str) -> str:
    """Return what a folder is and what to do, if it is of a kind that is not read; else empty."""
    metadata = sorted((folder / "metadata").glob("*.metadata.json"))
    if metadata:
        latest = max(metadata, key=lambda path: [int(n) for n in re.findall(r"\d+", path.name)][:1])
        shown = str(Path(where) / "metadata" / latest.name)
        return (
            "an Iceberg table, whose folder also holds files that are no longer of it, and which "
            "is not read; harness.load(pyiceberg.table.StaticTable.from_metadata("
            f"{shown!r}).scan().to_pandas()) reads it (pip install 'pyiceberg[pyarrow,pandas]')"
        )
    if (folder / ".hoodie").is_dir():
        return (
            "a Hudi table, whose folder also holds older versions of its rows, and which is not "
            f"read; spark.read.format('hudi').load({where!r}).write.parquet('ratings') writes a "
            "folder that is read"
        )
    names = {entry.name for entry in folder.iterdir()}
    if {".zgroup", ".zarray", "zarr.json"} & names:
        return "a Zarr array, which is not read; save its table as Parquet or CSV"
    return ""
