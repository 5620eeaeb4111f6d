"""The ``dataset`` part of a config: a name, your own file, or synthetic ratings."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from pydantic import (
    AfterValidator,
    Field,
    GetJsonSchemaHandler,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import CoreSchema

from harness.datasets.catalogue import ALIASES, CATALOGUE, DataSet
from harness.sections import Section

__all__ = [
    "ColumnsSection",
    "DatasetName",
    "DatasetSection",
    "DuplicatePolicy",
    "SyntheticSection",
]

if TYPE_CHECKING:
    DatasetName = str
else:
    DatasetName = Literal[tuple(sorted({*CATALOGUE, *ALIASES}))]

DuplicatePolicy = Literal["error", "first", "last", "mean"]
"""Policy for a pair of user and item that is rated more than once."""

Column = str | Annotated[int, Field(ge=1)]

_ENDINGS = (".csv", ".tsv", ".dat", ".data", ".txt", ".inter", ".parquet")


def _checked_scale(scale: tuple[float, float]) -> tuple[float, float]:
    if not (all(map(math.isfinite, scale)) and scale[0] < scale[1]):
        raise ValueError(
            f"[{scale[0]:g}, {scale[1]:g}] is not a scale; "
            "give the lowest and the highest rating, as [0.5, 5]"
        )
    return scale


Scale = Annotated[tuple[float, float], Field(strict=False), AfterValidator(_checked_scale)]


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
    """Distance between neighbouring ratings, as 0.5 for half stars; `null` for no rounding."""

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
                f"{n_ratings} ratings cannot reach each of {users} users and {items} items; "
                f"use {max(users, items)} or more"
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
                f"steps of {step:g} do not lead from {scale[0]:g} to {scale[1]:g}; "
                "use a step that divides the scale evenly"
            )
        return step


class DatasetSection(Section):
    """Where the ratings come from; a plain string is a name or, with an ending, a path."""

    name: DatasetName | None = None
    """A data set of the catalogue; `harness list datasets` shows them."""

    path: str | None = Field(default=None, min_length=1)
    """A file of ratings, relative to the config; beside `name`, a copy of that data set (its
    archive, its ratings file or the folder that holds either) to use in place of a download."""

    format: Literal["csv", "tsv", "dat", "parquet"] | None = None
    """Kind of file; by default from the ending of the path."""

    columns: ColumnsSection | None = None
    """Columns by role."""

    separator: str | None = Field(default=None, min_length=1, max_length=10)
    """The text between two fields, or `whitespace` for any run of blanks; by default detected
    in the first line."""

    header: bool | None = None
    """Whether the first line names the columns; by default detected."""

    encoding: Literal["utf-8", "utf-16", "utf-16-le", "utf-16-be", "latin-1", "cp1252"] | None = (
        None
    )
    """Encoding of the text; UTF-8 unless a byte order mark shows another."""

    decimal: Literal[".", ","] = "."
    """The decimal mark of numbers in text: `,` for a rating written as 4,5."""

    like: Literal["pandas"] | None = None
    """How to read a file with invalid lines. For lastfm-360k, `pandas` reads it as
    `pandas.read_table` does by default: without the first line, and with names that contain other
    lines."""

    scale: Scale | None = None
    """The lowest and the highest rating that can be given; by default the lowest and highest in the
    data."""

    duplicates: DuplicatePolicy = "error"
    """Policy for a pair that is rated more than once: `mean` takes the place of the first, with the
    latest timestamp."""

    missing: Literal["error", "drop"] = "error"
    """Policy for a row without user, item, rating or, where times are read, timestamp."""

    unreadable: Literal["error", "drop"] = "error"
    """Policy for a row whose rating is not a number, whose timestamp is not a time, or with another
    number of fields than the first."""

    out_of_scale: Literal["error", "clip", "drop", "keep"] = "error"
    """Policy for a rating outside the scale; `keep` leaves it unchanged."""

    synthetic: SyntheticSection | None = None
    """Parameters of synthetic ratings; implies the name `synthetic`."""

    @model_validator(mode="before")
    @classmethod
    def _read_string(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        is_path = value not in get_args(DatasetName) and (
            "/" in value or "\\" in value or value.casefold().endswith(_ENDINGS)
        )
        return {"path" if is_path else "name": value}

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        mapping = handler.resolve_ref_schema(handler(schema))
        return {"anyOf": [{"type": "string", "description": cls.__doc__}, mapping]}

    @field_validator("format", "columns", "separator", "header", "encoding", "decimal", "scale")
    @classmethod
    def _describes_a_file(cls, value: Any, info: ValidationInfo) -> Any:
        name = info.data.get("name")
        if value not in (None, ".") and name is not None:
            raise ValueError(
                f"what {name} looks like is known; leave this out, "
                "or leave out name to read a file of your own"
            )
        return value

    @field_validator("like")
    @classmethod
    def _is_read_in_two_ways(cls, value: Any, info: ValidationInfo) -> Any:
        if value is not None and info.data.get("name") != "lastfm-360k":
            raise ValueError("only lastfm-360k is read in more than one way; leave this out")
        return value

    @field_validator("separator", "header", "encoding", "decimal")
    @classmethod
    def _describes_text(cls, value: Any, info: ValidationInfo) -> Any:
        kind = info.data.get("format")
        path = info.data.get("path")
        parquet = kind == "parquet" or (kind is None and (path or "").endswith(".parquet"))
        if value not in (None, ".") and parquet:
            raise ValueError("a Parquet file has none; leave this out")
        return value

    @field_validator("separator")
    @classmethod
    def _check_separator(cls, value: str | None) -> str | None:
        if value is not None and any(mark in value for mark in '"\r\n'):
            raise ValueError(f"{value!r} cannot separate fields; use one such as ',' or '::'")
        return value

    @field_validator("synthetic")
    @classmethod
    def _stands_alone(
        cls, value: SyntheticSection | None, info: ValidationInfo
    ) -> SyntheticSection | None:
        if value is not None and info.data.get("path") is not None:
            raise ValueError("ratings are synthetic or read from a path, not both; leave one out")
        if value is not None and info.data.get("name") not in (None, "synthetic"):
            raise ValueError(f"{info.data['name']} is not synthetic; leave this or name out")
        return value

    @model_validator(mode="after")
    def _names_a_source(self) -> DatasetSection:
        if self.name is None and self.path is None and self.synthetic is None:
            raise ValueError("no data is named; give name (as ml-100k), path or synthetic")
        if self.path is not None and self.name in ("synthetic", "bundled", "ml-latest-small-2016"):
            raise ValueError(f"{self.name} is not read from a path; leave out name or path")
        return self

    @property
    def data_set(self) -> DataSet | None:
        """The data set of the catalogue; None for a file of one's own."""
        if self.synthetic is not None:
            return CATALOGUE["synthetic"]
        return None if self.name is None else CATALOGUE[ALIASES.get(self.name, self.name)]

    def expected_size(self) -> tuple[int, int, int] | None:
        """Return how many users, items and ratings there are, without loading them.

        Returns
        -------
        (int, int, int) or None
            Users, items and ratings; None for a file of one's own.

        Examples
        --------
        >>> DatasetSection(name="ml-100k").expected_size()
        (943, 1682, 100000)
        """
        size = self.synthetic or self.data_set
        return None if size is None else (size.n_users, size.n_items, size.n_ratings)

    def describe(self) -> str:
        """Return the short name that plans use.

        Examples
        --------
        >>> DatasetSection(path="mine/ratings.csv").describe()
        'ratings.csv'
        """
        if self.path is not None and self.name is None:
            return self.path.replace("\\", "/").rsplit("/", 1)[-1]
        return self.name or "synthetic"
