"""Splits that are read from files: folds that were drawn elsewhere, and saved splits."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PureWindowsPath
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from harness._util.arguments import checked
from harness._util.files import placed, report_os_error, write_output
from harness._util.libraries import pa, pd, pq
from harness.datasets import Ratings
from harness.datasets.cleaning import refuse_faults
from harness.datasets.columns import RATINGS, Kind, Roles
from harness.datasets.places import find_file
from harness.datasets.readers import read_file
from harness.datasets.readers.base import ReadOptions
from harness.errors import SplitError, reason_of
from harness.notes.note import Note, as_note
from harness.schema.sections import OneOrMore
from harness.splits.base import (
    DrawnSplit,
    Fold,
    Mask,
    Notes,
    Parts,
    Rows,
    SplitSection,
    assemble,
    natural,
)

if TYPE_CHECKING:
    from harness.datasets.conversion import Table


VERSION = 1
_KEY = b"harness.split"


class Predefined(SplitSection):
    """Folds that were drawn elsewhere."""

    example: ClassVar[Mapping[str, object]] = {"test": "test.csv"}

    from_files = True
    kind: Literal["predefined"] = "predefined"
    """Folds come from files: a pair for each fold, or one file with a column of folds."""
    test: str | None = None
    """Path of a fold's test ratings; `{fold}` stands for the fold, as in `ml-100k/u{fold}.test`.
    The columns have their usual names or the order user, item, rating, and ratings have a decimal
    point, whatever `columns` and `decimal` say about the data."""
    train: str | None = None
    """Path of a fold's training ratings; null: all ratings that are not in its test file. The
    ratings of a `validation` file are added: they are set apart while settings are compared."""
    folds: Annotated[list[int | str], Field(min_length=1)] | None = None
    """What `{fold}` stands for in turn, such as `[1, 2, 3, 4, 5]`."""
    file: str | None = None
    """Path of a file with columns for user, item and fold."""
    in_training: Literal["error", "drop"] = "error"
    """Policy for a pair of a user and an item in the test file that is in the training file too: an
    error, or left out of the test set and counted in a note. The data then need `duplicates`, with
    the training file first: `dataset: {path: [train.csv, test.csv], duplicates: first}`."""
    column: str = "fold"
    """Column of `file` that holds each rating's fold (tested in turn), or `train`, `test` and
    perhaps `validation`."""

    @model_validator(mode="before")
    @classmethod
    def _folds_are_names(cls, data: object) -> object:
        folds = data.get("folds") if isinstance(data, dict) else None
        if isinstance(folds, list) and any(isinstance(fold, dict) for fold in folds):
            raise ValueError(
                "`folds` are names, not files; write train: u{fold}.base, test: u{fold}.test, "
                "folds: [1, 2, 3, 4, 5]"
            )
        return data

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.test is None) == (self.file is None):
            raise ValueError("needs either `test` (a file for each fold) or `file` (with a column)")
        if self.file is not None and (self.train is not None or self.folds is not None):
            raise ValueError("`file` names the folds in a column; remove `train` and `folds`")
        paths = [path for path in (self.test, self.train) if path is not None]
        if self.in_training == "drop" and self.train is None:
            raise ValueError("`in_training: drop` is for a `train` file; name it, or remove it")
        if self.folds is not None and not all("{fold}" in path for path in paths):
            raise ValueError("`folds` without `{fold}` in the paths; write it as u{fold}.test")
        if self.folds is None and any("{fold}" in path for path in paths):
            raise ValueError("`{fold}` in a path without `folds`; add folds: [1, 2, 3, 4, 5]")
        if self.folds is not None and len(set(map(str, self.folds))) < len(self.folds):
            raise ValueError("a fold is named twice; remove one")
        return self

    def splits(
        self, ratings: Ratings, rows: Rows | None, seed: int, base: Path | None
    ) -> list[Fold]:
        within = np.arange(len(ratings)) if rows is None else rows
        notes: Notes = ()
        if self.file is not None:
            folds = self._from_column(self.file, ratings, within, base)
        else:
            names = self.folds or [""]
            parts = [self._from_files(str(name), ratings, within, base) for name in names]
            folds = [(train, test) for train, test, _ in parts]
            if n_left := sum(n for *_, n in parts):
                n_all = n_left + sum(len(test) for _, test, _ in parts)
                values = {"n": n_left, "n_all": n_all, "share": n_left / n_all}
                notes = (Note("in-training", values),)
        return assemble(self.describe(), ratings, folds, rows, notes)

    def _from_files(
        self, fold: str, ratings: Ratings, within: Rows, base: Path | None
    ) -> tuple[Rows, Rows, int]:
        """Return rows in the order of the files, as Surprise's ``PredefinedKFold`` does.

        The number is of the test ratings that were left out, whose pairs are in training.
        """
        test_path = str(self.test).replace("{fold}", fold)
        if self.train is None:
            test = _rows_of_file(test_path, ratings, within, base)
            return within[~np.isin(within, test)], test, 0
        path = self.train.replace("{fold}", fold)
        advice = (
            f"; if pairs are in {test_path} too, write `duplicates: first` under `dataset` with "
            "the training file first, and `in_training: drop` under `split`"
        )
        train = _rows_of_file(path, ratings, within, base, advice=advice)
        table, test = _read(test_path, ratings, within, base, "rating")
        is_known = np.isin(test, train)
        if self.in_training == "drop":
            _check_ratings(test_path, table, test, ratings, ~is_known)
            test = test[~is_known]
        elif n_both := int(is_known.sum()):
            raise SplitError(
                f"{test_path}: {n_both:,} of its pairs {'are' if n_both > 1 else 'is'} also in "
                f"{path} (the first: {_pair(table, int(np.argmax(is_known)))}); a pair is for "
                "training or for test: set `in_training: drop` to leave such pairs out of the test"
            )
        else:
            _check_ratings(test_path, table, test, ratings, ~is_known)
        if added := self._validation_file:
            validation = _rows_of_file(added, ratings, within, base)
            if n_both := np.isin(validation, test).sum():
                raise SplitError(
                    f"{added}: {n_both:,} of its ratings {'are' if n_both > 1 else 'is'} also in "
                    f"{test_path}; a rating is for validation or for test"
                )
            train = np.concatenate([train, validation[~np.isin(validation, train)]])
        return train, test, int(is_known.sum())

    @property
    def test_file(self) -> str | None:
        return self.test if self.folds is None else None

    @property
    def _validation_file(self) -> str | None:
        """The file of the ratings on which settings are compared, of a single fold."""
        return self.validation.test_file if self.validation and self.folds is None else None

    def _from_column(
        self, path: str, ratings: Ratings, within: Rows, base: Path | None
    ) -> list[Parts]:
        """Return a fold for each label, or a single one where the labels are train and test."""
        table, rows = _read(
            path, ratings, np.arange(len(ratings)), base, "fold",
            header=True, columns={"fold": self.column},
        )  # fmt: skip
        codes, labels = table.ids["fold"]
        lower = np.array([label.casefold() for label in labels], object)
        if are_words := {*lower} <= {"train", "validation", "test"}:
            labels = lower  # Train and Test are not two folds
        inside = np.isin(rows, within)
        rows, labels = rows[inside], labels[codes[inside]]
        present = set(labels)
        if are_words:
            # Of three words, the outer split tests on one and the inner one on another.
            tested = [word for word in ("test", "validation") if word in present][:1]
        else:
            tested = sorted(present, key=natural)
        folds = [(rows[labels != word], rows[labels == word]) for word in tested]
        return folds or [(rows, rows[:0])]

    def describe(self) -> str:
        if self.file is not None:
            return f"predefined by column {self.column}"
        return "predefined" if self.folds is None else f"predefined {len(self.folds)}-fold"

    def sentence(self, part: str = "test set") -> str:
        start = f"Training and {part} were split in advance"
        if self.file is not None:
            return f"{start} and are read from the column {self.column} of {_name(self.file)}."
        rest = "all other ratings are training"
        if self.train is not None:
            added = self._validation_file
            rest = f"training is read from {_name(self.train)}"
            rest += f" and {_name(added)}" if added else ""
        if self.in_training == "drop":
            rest += ", test ratings of a pair in training are left out"
        folds = f", for the folds {', '.join(map(str, self.folds))}" if self.folds else ""
        return f"{start}: the {part} is read from {_name(self.test or '')}, {rest}{folds}."


class SavedSplit(SplitSection):
    """A saved split, checked against the data."""

    example: ClassVar[Mapping[str, object]] = {"path": "folds.parquet"}

    from_files = True
    kind: Literal["file"] = "file"
    """Rows are read from a file that `harness split` wrote."""
    path: Annotated[str, Field(min_length=1)]
    """The folder in which the split was saved."""

    def splits(
        self, ratings: Ratings, rows: Rows | None, seed: int, base: Path | None
    ) -> list[Fold]:
        splits = read(placed(self.path, base), ratings)
        if rows is None:
            return splits
        name = f"{self.describe()} of the training set"
        for split in splits:
            n_outside = len(np.setdiff1d(np.concatenate([split.train, split.test]), rows))
            if n_outside:
                raise SplitError(
                    f"{name}: {n_outside:,} of its ratings are not in the training set; "
                    "save a split of that part"
                )
        return [replace(split, name=name) for split in splits]

    def describe(self) -> str:
        return f"file {_name(self.path)}"

    def sentence(self, part: str = "test set") -> str:
        return f"Training and {part} were split in advance and are read from {_name(self.path)}."


def _name(path: str) -> str:
    return PureWindowsPath(path).name  # of a path of any system


def _rows_of_file(
    path: str, ratings: Ratings, within: Rows, base: Path | None, *, advice: str = ""
) -> Rows:
    """Return the rows of the ratings that a file holds, in its order."""
    table, rows = _read(path, ratings, within, base, "rating")
    _check_ratings(path, table, rows, ratings, np.ones(len(rows), bool), advice)
    return rows


def _check_ratings(
    path: str, table: Table, rows: Rows, ratings: Ratings, counts: Mask, advice: str = ""
) -> None:
    """Refuse a rating of a file, among those that count, that the data do not have."""
    numbers, expected = table.numbers["rating"], ratings.ratings[rows]
    for row in np.flatnonzero((numbers != expected) & counts)[:1]:
        raise SplitError(
            f"{path}: {_pair(table, row)} is rated {numbers[row]:.16g}, in {ratings.name} "
            f"{expected[row]:.16g}; give the folds of exactly these data{advice}"
        )


def _read(
    path: str, ratings: Ratings, within: Rows, base: Path | None, role: str, **layout: Any
) -> tuple[Table, Rows]:
    """Read pairs with a rating or a fold, and find the row of each among some of the ratings."""
    kind: Kind = "number" if role == "rating" else "id"
    roles = Roles({"user": "id", "item": "id", role: kind}, RATINGS.usual | {"fold": ()})
    options = ReadOptions(decimal=".", in_config=False, roles=roles, **layout)
    table = read_file(find_file(path, base), options, path)
    refuse_faults(table)
    users, items = table.ids["user"], table.ids["item"]
    user = pd.Index(ratings.user_ids).get_indexer(pd.Index(users.ids))[users.codes]
    item = pd.Index(ratings.item_ids).get_indexer(pd.Index(items.ids))[items.codes]
    pairs = pd.Index(ratings.users.astype(np.int64) * ratings.n_items + ratings.items)
    rows: Rows = pairs.get_indexer(user * ratings.n_items + item)
    absent = (user < 0) | (item < 0) | (rows < 0)
    for row in np.flatnonzero(absent)[:1]:
        raise SplitError(
            f"{path}: {absent.sum():,} of {len(absent):,} ratings are not in {ratings.name} as "
            f"it is split (the first: {_pair(table, row)}); "
            "give the folds of exactly these data, without filters; if `dataset` is only the "
            "training file, give it all files: `dataset: {path: [train.csv, test.csv]}`"
        )
    outside = ~np.isin(rows, within)
    for row in np.flatnonzero(outside)[:1]:
        raise SplitError(
            f"{path}: {outside.sum():,} of {len(outside):,} ratings are not in the training set "
            f"that is split again (the first: {_pair(table, row)}); give ratings of it: leave "
            "out `train` of the split, and all ratings outside its test file are its training set"
        )
    return table, rows


def _pair(table: Table, row: int) -> str:
    user, item = (table.ids[role].ids[table.ids[role].codes[row]] for role in ("user", "item"))
    return f"user {user!r}, item {item!r}"


@checked(SplitError)
def save(splits: Fold | Sequence[Fold], path: Path | str) -> None:
    """Write one split, or the folds of one, into a Parquet file.

    The file has a row for each rating of each part: `fold` (int32, from 0), `part` (``train`` or
    ``test``) and `row` (int64, from 0, in the data as loaded and filtered), in the order of the
    split. Its metadata holds name, notes and fingerprints. It is written completely or not at all.

    Parameters
    ----------
    splits : Split or sequence of Split
        Folds of the same data; they are numbered again.
    path : Path or str
        Replaced if it exists. Its folder must exist.

    Raises
    ------
    SplitError
        If there is nothing to write, the folds are of different data, or the file cannot be
        written.
    """
    folds = [splits] if isinstance(splits, Fold) else list(splits)
    path = Path(path)
    if not folds:
        raise SplitError(f"{path}: no split to save; make one first")
    if any(note.code == "judgements" for fold in folds for note in fold.notes):
        raise SplitError(
            f"{path}: judgements are not rows of the data; name their file in each config, for "
            "example split: {kind: judgements, path: qrels.txt}"
        )
    if len({fold.ratings.fingerprint for fold in folds}) > 1:
        raise SplitError(f"{path}: splits of different data; save them in separate files")
    about: dict[str, object] = {
        "version": VERSION,
        "name": folds[0].name,
        "data": folds[0].ratings.fingerprint,
        "fingerprints": [fold.fingerprint for fold in folds],
        "notes": [[note.to_dict() for note in fold.notes] for fold in folds],
    }
    about["seal"] = _seal(about)
    parts = [rows for fold in folds for rows in (fold.train, fold.test)]
    part = np.repeat(np.arange(len(parts)), [len(rows) for rows in parts])
    columns = {
        "fold": (part // 2).astype(np.int32),
        "part": pa.DictionaryArray.from_arrays((part % 2).astype(np.int8), ["train", "test"]),
        "row": np.concatenate(parts).astype(np.int64),
    }
    table = pa.table(columns).replace_schema_metadata({_KEY: json.dumps(about).encode()})
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd")
    with report_os_error(path, kind=SplitError):
        path.parent.stat()  # a folder is not made: its name may be a mistake
    write_output(path, buffer.getvalue(), kind=SplitError)


@checked(SplitError)
def read(path: Path | str, ratings: Ratings) -> list[Fold]:
    """Read the folds that `save` wrote.

    Parameters
    ----------
    path : Path or str
        The file.
    ratings : Ratings
        The data that were divided, with the same filters applied.

    Returns
    -------
    list of Split
        With the names, notes and fingerprints that were saved.

    Raises
    ------
    SplitError
        If the file is missing or broken, or was drawn from other data.
    """
    path = Path(path)
    try:
        with pq.ParquetFile(path) as file:
            about = json.loads((file.schema_arrow.metadata or {})[_KEY])
            if about["version"] != VERSION:
                raise SplitError(
                    f"{path}: written in version {about['version']}, this one reads {VERSION}; "
                    "make the split again"
                )
            if about.pop("seal") != _seal(about):
                raise SplitError(f"{path}: changed since it was saved; make it again")
            if about["data"] != ratings.fingerprint:
                raise SplitError(
                    f"{path}: drawn from other data than {ratings.name} (fingerprint "
                    f"{about['data'][:12]} there, {ratings.fingerprint[:12]} here); use the same "
                    "data and filters, or make the split again"
                )
            table = file.read().to_pandas()
        rows = table["row"].to_numpy()
        if len(rows) and not (rows.min() >= 0 and rows.max() < len(ratings)):
            raise SplitError(f"{path}: rows outside of the data; make it again")
        part = 2 * table["fold"] + (table["part"] == "test")
        parts = [rows[part == number] for number in range(2 * len(about["fingerprints"]))]
        folds = list(zip(parts[::2], parts[1::2], strict=True))
        try:
            splits = assemble(about["name"], ratings, folds)
        except SplitError as error:
            raise SplitError(f"{path}: {error}") from None
        if [split.fingerprint for split in splits] != about["fingerprints"]:
            raise SplitError(f"{path}: its rows are not those that were saved; make it again")
        return [
            split.with_notes(tuple(map(_read_note, notes)))
            for split, notes in zip(splits, about["notes"], strict=True)
        ]
    except FileNotFoundError:
        raise SplitError(f"{path}: no such file; save a split there or fix the path") from None
    except (pa.ArrowException, OSError, KeyError, TypeError, ValueError) as error:
        raise SplitError(f"{path}: not a saved split ({reason_of(error)}); make it again") from None


def _read_note(written: str | dict[str, Any]) -> Note:
    """Return a note; of a file of before notes had codes, a sentence."""
    return as_note(written) if isinstance(written, str) else Note(**written)


def _seal(about: Mapping[str, object]) -> str:
    """Return the hash of the folds' description; their rows have fingerprints."""
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()


PublishedFold = Literal["u1", "u2", "u3", "u4", "u5", "ua", "ub"]


class MovieLensFolds(DrawnSplit):
    """The folds that come with MovieLens 100K, made only from `u.data`."""

    kind: Literal["movielens-folds"] = "movielens-folds"
    """The published folds of MovieLens 100K, in the order of their files, row for row."""
    folds: OneOrMore[PublishedFold] = Field(default=["u1", "u2", "u3", "u4", "u5"])
    """`u1` to `u5`: each fifth of the rows, in the order of the data, is the test set of one;
    `ua` and `ub`: each user's first ten rows, and the ten after them."""

    @property
    def n_folds(self) -> int:
        return len(self.folds)

    def draw(self, ratings: Ratings, state: int) -> tuple[list[Parts], Notes]:
        ids = [*ratings.user_ids, *ratings.item_ids]
        if odd := next((label for label in ids if not str(label).isdecimal()), None):
            raise SplitError(
                f"{self.describe()}: the id {str(odd)!r} is not a whole number, so the rows do not "
                "have the order of the published files; use ml-100k"
            )
        users, items = (
            np.array([int(str(label)) for label in labels])[codes]
            for labels, codes in (
                (ratings.user_ids, ratings.users),
                (ratings.item_ids, ratings.items),
            )
        )
        rows = np.lexsort((items, users))
        fifth = np.arange(len(ratings)) * 5 // max(len(ratings), 1)
        place = pd.Series(users).groupby(users).cumcount().to_numpy()  # among the user's rows
        folds = []
        for name in self.folds:
            tested = (
                place // 10 == "ab".index(name[1]) if name[1] in "ab" else fifth == int(name[1]) - 1
            )
            folds.append((rows[~tested[rows]], rows[tested[rows]]))
        return folds, ()

    def describe(self) -> str:
        return f"MovieLens folds {', '.join(self.folds)}"

    def sentence(self, part: str = "test set") -> str:
        return (
            f"The {part} comes from the folds that are published with MovieLens 100K as "
            f"{', '.join(self.folds)}, made from its ratings in the order of the published files."
        )
