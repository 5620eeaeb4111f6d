"""The ``dataset`` part of a config."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from os.path import normpath
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from harness._util import names
from harness._util.arguments import MOST_RATING, unit_fault
from harness._util.files import are_there, as_list, file_name, placed
from harness.datasets.catalogue import ALIASES, checked_name, find, names_of
from harness.datasets.numerals import checked_texts, checked_values
from harness.datasets.places import is_ratings_file
from harness.datasets.policies import DuplicatePolicy, Policies
from harness.datasets.readers import is_text, kind_of, label_of, unused
from harness.datasets.readers.encodings import checked_encoding
from harness.errors import counted, is_url
from harness.plugins import registry as plugins
from harness.schema.sections import MOST_SECONDS, Section

if TYPE_CHECKING:
    from harness.datasets.catalogue import DataSet


def checked_scale(scale: tuple[float, float]) -> tuple[float, float]:
    """Return a scale of some width, or raise `ValueError`."""
    if not (all(map(math.isfinite, scale)) and scale[0] < scale[1]):
        raise ValueError(
            f"[{scale[0]:.16g}, {scale[1]:.16g}] is not a scale; "
            "give the lowest and the highest rating, such as [0.5, 5]"
        )
    if fault := unit_fault(MOST_RATING, np.array(scale)):
        raise ValueError(f"[{scale[0]:.16g}, {scale[1]:.16g}] has {fault}")
    return scale


Scale = Annotated[tuple[float, float], Field(strict=False), AfterValidator(checked_scale)]


class SyntheticSection(Section):
    """Ratings drawn from biases, factors and noise, with a long tail of items."""

    n_users: int = Field(default=1_000, ge=1, le=2**31 - 1)
    """How many users; each has at least one rating."""

    n_items: int = Field(default=2_000, ge=1, le=2**31 - 1)
    """How many items; each is rated at least once."""

    n_ratings: int = Field(default=100_000, ge=1, le=2**31 - 1)
    """How many ratings, no pair of user and item twice."""

    exponent: float = Field(default=1.0, ge=0.0, le=4.0, allow_inf_nan=False)
    """How steep popularity is: the item of rank r is drawn in proportion to r to the minus this; 0
    makes all items equally popular."""

    scale: Scale = (0.5, 5.0)
    """The lowest and the highest rating."""

    step: float | None = Field(default=0.5, gt=0.0, allow_inf_nan=False)
    """Distance between neighbouring ratings, such as 0.5 for half stars; `null` for no rounding."""

    seed: int = Field(default=0, ge=0, lt=2**63)
    """The seed of the ratings."""

    @field_validator("n_ratings")
    @classmethod
    def _check_room(cls, n_ratings: int, info: ValidationInfo) -> int:
        users, items = info.data.get("n_users"), info.data.get("n_items")
        if users is None or items is None:
            return n_ratings
        if n_ratings < max(users, items):
            raise ValueError(
                f"{counted(n_ratings, 'rating')} cannot reach each of {users} users and "
                f"{items} items; use {max(users, items)} or more"
            )
        most = max(users * items // 2, users, items)
        if n_ratings > most:
            raise ValueError(
                f"{n_ratings} ratings fill more than half of {users} users times {items} items; "
                f"use {most} or fewer"
            )
        return n_ratings

    @field_validator("step")
    @classmethod
    def _check_step(cls, step: float | None, info: ValidationInfo) -> float | None:
        scale = info.data.get("scale")
        if step is None or scale is None:
            return step
        n_steps = (scale[1] - scale[0]) / step
        if n_steps < 1 or abs(n_steps - round(n_steps)) > 1e-9 * n_steps:
            raise ValueError(
                f"steps of {step:.16g} do not lead from {scale[0]:.16g} to {scale[1]:.16g}; "
                "use a step that divides the scale evenly"
            )
        return step


@dataclass(frozen=True)
class _PluginName:
    """Lets text be the name of a plug-in, which is not imported, or ``module:object``."""

    kind: str

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._checked, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        names = {"enum": names_of(self.kind), "type": "string"}
        return {"anyOf": [names, {"pattern": ":", "type": "string"}]}

    def _checked(self, name: str) -> str:
        if name in plugins.builtin_names(self.kind):
            return name

        return checked_name(self.kind, name)


DatasetName = Annotated[str, _PluginName("datasets")]
Number = Annotated[float, Field(allow_inf_nan=False, ge=-MOST_RATING, le=MOST_RATING)]
FormatName = Annotated[str, _PluginName("readers")]
Column = str | Annotated[int, Field(ge=1)]


Encoding = Annotated[str, Field(max_length=40), AfterValidator(checked_encoding)]


def _quotes(value: object) -> object:
    """Return the marks that are meant by true and false."""
    return {True: "double", False: "none"}[value] if isinstance(value, bool) else value


class ColumnsSection(Section):
    """Columns by role: a name from the header, or a position from 1."""

    user: Column | None = None
    """The user's id; by default found by its usual names (user, user_id, userId, uid …)."""

    item: Column | None = None
    """The item's id; by default found by its usual names (item, item_id, movieId, iid …)."""

    rating: Column | None = None
    """The rating; by default found by its usual names (rating, score, stars …)."""

    timestamp: Column | None = None
    """When it was rated: a number of seconds since 1970 (milliseconds and smaller units are
    detected by their size), or an ISO date; by default found by its usual names, not read when
    `null`."""


class _File(Section):
    """A section that a plain string can stand for."""

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        made = super().__get_pydantic_json_schema__(schema, handler)
        mapping = handler.resolve_ref_schema(made)
        return {"anyOf": [{"type": "string", "description": cls.__doc__}, mapping]}


class FeaturesSection(_File):
    """A file of users or items, with a row for each and any columns; a plain string is its path."""

    short = "path"

    path: str = Field(min_length=1)
    """The file, relative to the config: text with a header, or Parquet."""

    id: Column | None = None
    """The column of ids, which are the ids of the ratings: a name or a position from 1; by default
    the first."""

    columns: list[str] | None = Field(default=None, min_length=2)
    """Names of all columns, for a file without a header."""

    separator: str | None = Field(default=None, min_length=1, max_length=10)
    """The text between two fields; by default detected in the first line."""

    encoding: Encoding | None = None
    """Encoding of the text; UTF-8 unless a byte order mark shows another."""

    @property
    def paths(self) -> list[str]:
        """The path, as of a data set that may have several."""
        return [self.path]

    @model_validator(mode="after")
    def _fits_the_file(self, info: ValidationInfo) -> Self:
        if fault := unneeded(self, kind_of_absent(self.paths, info.context)):
            raise ValueError(fault)
        return self


class ItemsSection(FeaturesSection):
    """A file of items, with a row for each and any columns; a plain string is its path."""

    genres: str | None = None
    """The column of genres, several separated by `|`; by default `genres` or `genre`. An empty
    field, `unknown` and `(no genres listed)` mean none."""


OF_VALUES = ("columns", "decimal", "thousands", "values", "time_format", "id_spellings", "no_id")
"""Keys of a `DatasetSection` that say where values are and how they are written."""
OF_LOADED = (
    *OF_VALUES,
    "scale",
    "duplicates",
    "missing",
    "unreadable",
    "out_of_scale",
    "not_rated",
    "users",
    "items",
    "at_random",
)
"""Keys of a `DatasetSection` that hold for loaded data too; others say where ratings are, or how a
file is written."""


class DatasetSection(_File):
    """The source of the ratings; a plain string is a name or, with an ending, a path."""

    short = "name"
    guessed: ClassVar[names.Kind | None] = "dataset"

    name: DatasetName | None = None
    """A data set; `harness list datasets` shows them. Or `module:function`, for the ratings that
    your own function returns."""

    path: (
        Annotated[str, Field(min_length=1)]
        | Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=1)]
        | None
    ) = None
    """A file of ratings, relative to the config; or several of the same columns, as a list, a
    pattern as `ratings-*.csv`, a folder or an archive. Beside `name`, a copy of that data set
    (its archive, its ratings file or the folder that holds either) to use in place of a
    download."""

    sha256: Annotated[str, Field(pattern="^[0-9A-Fa-f]{64}$")] | None = None
    """The SHA-256 of a file that is fetched from a URL; another file is refused."""

    most_megabytes: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """The largest size of a file from a URL, and of what a packed file, a columnar file or a query
    unpacks to. By default 10,000 from a URL, and 32 or 250 times the size of the file, whichever is
    larger."""

    most_seconds: Annotated[float, Field(gt=0, le=MOST_SECONDS)] | None = None
    """The longest time until a file from a URL has come, and for a query or a view of a database.
    By default 3,600 for a URL; for a database 10, and one more for each megabyte of the file."""

    format: FormatName | None = None
    """Kind of file, the name of a reader; by default found by the first bytes of the file, else by
    the ending of its name."""

    columns: ColumnsSection | None = None
    """Columns by role."""

    member: str | None = Field(default=None, min_length=1)
    """The file of an archive or a folder that is read, or a pattern of several, such as
    `*/train-*.csv`; by default the one that holds ratings, or all parts of one table."""

    table: str | None = Field(default=None, min_length=1)
    """The table of a database or an SQL dump, or the sheet of a workbook; by default the only one
    that can hold ratings."""

    query: str | None = Field(default=None, min_length=1)
    """A query that selects the ratings in a database, in place of `table`; it may only read."""

    separator: str | None = Field(default=None, min_length=1, max_length=10)
    """The text between two fields, or `whitespace` for any run of blanks; by default detected
    in the first line."""

    header: bool | None = None
    """Whether the first line names the columns; by default detected."""

    skip: int = Field(default=0, ge=0)
    """Lines before the header or the first row that are not read."""

    comment: str | None = Field(default=None, min_length=1, max_length=10)
    """The beginning of lines that are not read, such as `#`; by default those with `#` before the
    first other line."""

    encoding: Encoding | None = None
    """Encoding of the text, such as `latin-1` or `gbk`; by default UTF-8, unless a byte order mark
    or the text itself shows another."""

    quotes: Annotated[Literal["double", "single", "none"], BeforeValidator(_quotes)] | None = None
    """The quotation marks that may enclose fields of text: `double`, `single` as in exports of
    MySQL, or `none` where marks are parts of the text, as in the files of IMDb. By default
    double, unless the first lines show others."""

    decimal: Literal[".", ","] | None = None
    """The decimal mark of numbers in text: `,` for a rating written as 4,5. By default a point, or
    a comma if all numbers with a mark can only have that one."""

    thousands: Literal[",", ".", " ", "'"] | None = None
    """The mark between groups of three digits in text: `,` for 1234 written as 1,234. By default
    none, unless numbers can only be read with one. With `.`, decimals have a comma."""

    values: Annotated[dict[str, Number], BeforeValidator(checked_values)] | None = None
    """The numbers of words that stand for ratings, such as `{like: 1, dislike: 0}`, without regard
    to capital letters. The lowest and the highest are the scale unless `scale` says another. A text
    that is not named makes its row unreadable; numbers stay as they are, unless the mapping names
    one."""

    time_format: str | None = Field(default=None, min_length=1, max_length=60)
    """How timestamps are written: a pattern of `strptime`, such as `%d/%m/%Y`, or a unit, one of
    `seconds`, `milliseconds`, `microseconds`, `nanoseconds`, `minutes`, `hours` and `days` since
    1970, and `excel` for days as Excel counts them; by default found."""

    id_spellings: Literal["keep", "join"] = "keep"
    """Ids that look like one: that only Unicode or blanks tell apart, as an é of one or of two
    characters or a no-break space, UUIDs and e-mail addresses in capital and small letters, and
    numbers with and without zeros before them. `join` makes them one; `keep` counts them in a
    note."""

    no_id: Annotated[list[str], BeforeValidator(checked_texts)] | None = None
    """Texts that stand for no user or item, such as `[nan, Total]`: their rows are dropped and
    counted. By default a text such as `nan`, `NA` or `None` among ids that are all numbers lacks a
    value (see `missing`), a note names one among other ids, and a last row of totals is left out;
    `[]` makes all texts ids."""

    like: Literal["pandas"] | None = None
    """How to read a file with invalid lines. For lastfm-360k, `pandas` reads it as
    `pandas.read_table` does by default: without the first line, and with names that contain other
    lines."""

    scale: Scale | None = None
    """The lowest and the highest rating that can be given; by default the published one of a named
    data set, and the lowest and highest found in a file, with 0 if all are the same."""

    duplicates: DuplicatePolicy = "error"
    """Policy for a pair that is rated more than once: the `first` or `last` row, the `latest` by
    its timestamp, or in place of the first, with the latest timestamp, the `mean` or `sum` of the
    ratings or the `count` of the rows. The scale is the range of the sums or counts."""

    missing: Literal["error", "drop"] = "error"
    """Policy for a row without user, item, rating or, where times are read, timestamp."""

    unreadable: Literal["error", "drop"] = "error"
    """Policy for a row whose rating is not a number, whose timestamp is not a time, or with another
    number of fields than the first."""

    out_of_scale: Literal["error", "clip", "drop", "keep"] = "error"
    """Policy for a rating outside the scale; `keep` leaves it unchanged."""

    not_rated: list[Annotated[float, Field(allow_inf_nan=False)]] | None = None
    """Numbers that stand for "not rated", such as `[0]` or `[-1]`: their rows are dropped and
    counted. Without it a note names a number that looks like one; `[]` says that there is none."""

    not_items: list[Column] | None = None
    """For a matrix, the columns that are not items, by name or by position from 1, such as
    `[age, mean]`; by default times, texts, columns with such names and numbers of another range.
    `[]` keeps all. `columns` names the column of ids, for example `columns: {user: name}`, or
    `columns: {item: title}` if each row is an item."""

    synthetic: SyntheticSection | None = None
    """Parameters of synthetic ratings; implies the name `synthetic`."""

    users: FeaturesSection | None = None
    """A file of user metadata. A data set of the catalogue has its own, if it was published
    with one."""

    items: ItemsSection | None = None
    """A file of item metadata, such as genres."""

    at_random: str | None = Field(default=None, min_length=1)
    """A file of ratings of items that were sampled at random for their users, in the usual columns:
    what `weights=naive-bayes` compares the test ratings with."""

    @classmethod
    def spelled_out(cls, value: object) -> object:
        """Return a plain string as a name or, if it looks like one, as a path."""
        if not isinstance(value, str):
            return value

        is_path = "/" in value or "\\" in value or is_ratings_file(value)
        return {"path" if is_path else "name": value}

    @field_validator(
        "sha256", "most_megabytes", "most_seconds", "format", "columns", "separator", "header",
        "skip", "comment", "encoding", "quotes", "decimal", "thousands", "values", "time_format",
        "id_spellings", "no_id", "member", "table", "query", "not_items",
    )  # fmt: skip
    @classmethod
    def _describes_a_file(cls, value: object, info: ValidationInfo) -> object:
        if value in (None, ".", "keep") or (value == 0 and value is not False):
            return value

        check_key_of_file(str(info.field_name), value, info.data, info.context)
        return value

    @field_validator("like", "synthetic")
    @classmethod
    def _fits_the_name(cls, value: object, info: ValidationInfo) -> object:
        name = info.data.get("name")
        if value is None:
            return value
        if info.field_name == "like" and name != "lastfm-360k":
            raise ValueError("only lastfm-360k is read in more than one way; leave this out")
        if info.field_name == "synthetic" and info.data.get("path") is not None:
            raise ValueError("ratings are synthetic or read from a path, not both; leave one out")
        if info.field_name == "synthetic" and name not in (None, "synthetic"):
            raise ValueError(f"{name} is not synthetic; leave this or name out")
        return value

    @model_validator(mode="after")
    def _names_a_source(self) -> DatasetSection:
        if self.scale is not None and (self.synthetic is not None or self.name == "synthetic"):
            raise ValueError("the scale of synthetic ratings is a key of `synthetic`; put it there")
        if self.name is None and self.path is None and self.synthetic is None:
            raise ValueError("no data is named; give name (such as ml-100k), path or synthetic")
        if self.decimal is not None and self.decimal == self.thousands:
            raise ValueError(
                f"thousands: {self.thousands!r} is the decimal mark too; give two different ones"
            )
        if self.sha256 is not None and (len(self.paths) != 1 or "://" not in self.paths[0]):
            raise ValueError("sha256 is for one file from a URL; leave it out")
        if self.path is not None and self.name is not None:
            check_copy(self)
        return self

    @property
    def data_set(self) -> DataSet | None:
        """The data set of the catalogue; None for a file and for your own function."""
        return find("synthetic" if self.synthetic is not None else self.name or "")

    @property
    def policies(self) -> Policies:
        """What to do with rows that cannot be used unchanged."""
        return {key: getattr(self, key) for key in Policies.__annotations__}  # type: ignore[return-value]

    @property
    def paths(self) -> list[str]:
        """The paths as written, of which there are several where they are a list."""
        return [self.path] if isinstance(self.path, str) else list(self.path or ())

    def expected_size(self) -> tuple[int, int, int] | None:
        """Return how many users, items and ratings there are; None for your own file."""
        size = self.synthetic or self.data_set
        return None if size is None else (size.n_users, size.n_items, size.n_ratings)

    def describe(self) -> str:
        """Return the short name that plans use, such as ``ratings.csv`` of ``mine/ratings.csv``."""
        if self.path is not None and self.name is None:
            last = [file_name(path) for path in self.paths]
            return ", ".join(last[:3]) + ", …" * (len(last) > 3)
        return self.name or "synthetic"


def check_key_of_file(key: str, value: object, others: Mapping[str, Any], base: object) -> None:
    """Raise `ValueError` where a key does not fit the keys before it.

    A file that is there shows by itself which keys it can have. For one that is not there yet
    its ending is all that there is; `base` is the folder in which relative paths start, and no file
    is looked for without it.
    """
    name, kind = others.get("name"), others.get("format")
    if name is not None:
        raise ValueError(
            f"what {name} looks like is known; leave this out, "
            "or leave out name to read your own file"
        )
    kind = kind or kind_of_absent(as_list(others.get("path") or []), base)
    if kind not in (None, "matrix") and (why := unused(key, kind)):  # which may be in any file
        raise ValueError(why)
    if key == "query" and others.get("table") is not None:
        raise ValueError("a query names its tables; leave out table or query")
    if key == "separator" and any(mark in str(value) for mark in '"\r\n'):
        raise ValueError(f"{value!r} cannot separate fields; use one such as ',' or '::'")


def check_copy(section: DatasetSection) -> None:
    """Raise `ValueError` where a path is not a copy of the data set of a name."""
    if isinstance(section.path, list):
        raise ValueError(f"a copy of {section.name} is one path; give one, or leave out name")
    if section.data_set is None or not section.data_set.is_published:  # of which there are copies
        raise ValueError(f"{section.name} is not read from a path; leave out name or path")


def kind_of_absent(paths: Sequence[str], base: object) -> str | None:
    """Return the format that the ending of the first path says if no file is there; else None."""
    if not paths or is_url(paths[0]) or not isinstance(base, Path):
        return None
    with suppress(OSError, ValueError):  # no name that a file can have
        place = str(placed(paths[0], base))
        places = (place, normpath(place))  # the folder in which it starts may be to come
        return None if any(are_there([each], None) for each in places) else kind_of(paths[0])
    return None


def unneeded(section: FeaturesSection, kind: str | None) -> str:
    """Return what is wrong with keys of a file of users or items of a format; empty if nothing."""
    is_written = section.separator or section.encoding
    if kind == "excel" and is_written:
        return f"{label_of(kind)} has no separator or encoding; leave them out"
    if kind in (None, "excel") or is_text(kind) or not (section.columns or is_written):
        return ""
    return f"{label_of(kind)} needs no columns, separator or encoding; leave them out"


def as_path(source: object, base: Path | None) -> object:
    """Return the text of a file, a folder or an address as a section with this path.

    A file needs no usual ending; one that is called as a data set is not looked for.
    """
    if not isinstance(source, str) or not source.strip():
        return source
    is_name = source in ALIASES or source in plugins.builtin_names("datasets")
    with suppress(OSError, ValueError):  # no name that a file can have
        if not is_name and (is_url(source) or placed(source, base).exists()):
            return {"path": source}
    return source


GIVEN = "given from Python: "
"""How the record of a run names ratings that were given from Python."""


def name_of_given(dataset: object) -> str | None:
    """Return the name of ratings from Python in the recorded ``dataset`` of a run; else None."""
    entry = dataset[0] if isinstance(dataset, list) and dataset else dataset
    text = entry.get("path") if isinstance(entry, dict) else entry
    is_given = isinstance(text, str) and text.startswith(GIVEN)
    return str(text).removeprefix(GIVEN) if is_given else None


def name_of(paths: Sequence[str]) -> str:
    """Return what data from some files are called.

    Examples
    --------
    >>> name_of(["a/train.csv", "a/test.csv"]), name_of(["a/ratings-*.csv"]), name_of(["a/parts/"])
    ('train + test', 'ratings', 'parts')
    >>> name_of(["ml.tar.gz"])
    'ml'
    """
    stems = [Path(file_name(path)).stem for path in paths]
    stems = [re.sub(r"[-_ .]*[*?\\[].*|\.tar$", "", stem) or "ratings" for stem in stems]
    more = f" + {counted(len(stems) - 3, 'file')}" if len(stems) > 3 else ""
    return " + ".join(stems[:3]) + more
