"""The data set that a call or an answer names, as the ``dataset`` part of a config."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.options import Choice
from harness.cli.screen import printable, say, show_table
from harness.errors import ColumnsError, DataError, HarnessError, is_url

if TYPE_CHECKING:
    from harness.datasets.detection import Detected

MOST_VALUES = 100
"""Different ratings up to which a lone one at an end is noted; counts have more, and long tails."""


class DatasetAnswer:
    """Turns the name or the path of data into the ``dataset`` part of a config.

    Parameters
    ----------
    folder : Path
        Where the config is; paths are relative to it.
    columns : str, optional
        Columns of a file, as ``user=who,item=2``.
    asks : bool
        Whether columns that cannot be found are asked for.
    shows_rows : bool
        Whether the first rows of a file are printed.
    option : str
        The option that names columns, for messages.

    Attributes
    ----------
    note : str
        What a reader should know of the scale.
    faults : str
        The rows of a file that need a decision.
    """

    def __init__(
        self,
        folder: Path,
        columns: str | None,
        asks: bool,
        *,
        shows_rows: bool = True,
        option: str = "--columns",
    ) -> None:
        from harness.datasets.detection import ROLES

        self.option = option
        self.folder, self.asks, self.shows_rows = folder, asks, shows_rows
        self.columns = named_columns(columns, ROLES, "--columns")
        self.faults = self.note = ""

    def section(self, answer: str) -> object:
        """Return the data section of the config; a file is read, and its first rows are shown."""
        from harness import datasets

        path = Path(answer).expanduser()
        if not path.is_file():
            if not any(answer in (source.name, source.alias) for source in datasets.available()):
                datasets.load(answer)  # says what was probably meant
            if self.columns:
                raise HarnessError(
                    f"{self.option}: needs a file of ratings; give one with --dataset"
                )
            return {"path": answer} if is_url(answer) else answer
        detected = self._detect(path)
        self.faults, self.note = detected.faults, _on_scale(detected)
        if self.shows_rows:
            _show_rows(detected)
            if self.note:
                say(f"note: {self.note}\n")
        written = path.resolve()
        with suppress(ValueError):  # on another drive
            written = Path(os.path.relpath(written, self.folder.resolve()))
        return detected.section | {"path": written.as_posix()}

    def _detect(self, path: Path) -> Detected:
        """Read a file; where its columns cannot be found, ask for them or name the option."""
        from harness.datasets.columns import is_number
        from harness.datasets.detection import ROLES, detect, first_lines

        try:
            return detect(path, self.columns)
        except ColumnsError as error:
            if error.roles and not self.asks:
                raise unnamed_columns(error, self.option) from None
            if self.columns or not self.asks or not error.roles:
                raise
        except DataError:
            if self.columns or not self.asks:
                raise
        first, rows = first_lines(path)
        columns: dict[str, str | int] = {name: name for name in first}
        shown = first
        if rows and any(map(is_number, first)):  # a row, not a header: positions from 1
            columns = {str(position): position for position in range(1, len(first) + 1)}
            shown = [f"{name} ({value})" for name, value in zip(columns, first, strict=True)]
        say("columns: " + ", ".join(shown)[:1_000])
        for role in ROLES:
            if role != "timestamp":
                name = click.prompt(f"Column of the {role}", type=Choice([*columns]))
            else:
                free = [name for name in columns if columns[name] not in self.columns.values()]
                kind = Choice(["none", *free])
                name = click.prompt("Column of the time", default="none", type=kind)
            if role != "timestamp" or name != "none":
                self.columns[role] = columns[name]
        return detect(path, self.columns)


def unnamed_columns(error: ColumnsError, option: str) -> DataError:
    """Return an error that says how an option names the columns that were not found."""
    example = ",".join(f"{role}=NAME" for role in error.roles)
    return DataError(f"{error.finding}; name them, as {option} {example}")


def named_columns(text: str | None, roles: Sequence[str], option: str) -> dict[str, str | int]:
    """Return ``user=who,item=2`` as names and positions by role."""
    columns = dict[str, str | int]()
    for part in text.split(",") if text else ():
        role, _, name = (word.strip() for word in part.partition("="))
        if role not in roles or not name:
            raise click.UsageError(
                f"{option} {part}: write role=name, as user=who; the roles are {', '.join(roles)}"
            )
        columns[role] = int(name) if name.isascii() and name.isdigit() and int(name) else name
    return columns


def _show_rows(detected: Detected) -> None:
    """Show what was found in a file, and five of its rows."""
    say(repr(detected.ratings).removeprefix("<Ratings ").removesuffix(">") + "\n")
    frame = detected.ratings.to_frame().head(5)
    if "timestamp" in frame:
        moments = frame["timestamp"].to_numpy().astype("datetime64[s]")
        frame["timestamp"] = [str(moment).replace("T", " ") for moment in moments]
    heads = {role: f"{role} ({name})" for role, name in detected.section["columns"].items()}
    columns = [printable(heads.get(role, role)) for role in frame.columns]
    rows = [
        [printable(text if len(text) <= 24 else f"{text[:23]}…") for text in row]
        for row in frame.assign(rating=frame["rating"].map("{:g}".format)).astype(str).to_numpy()
    ]
    show_table(columns, rows, columns[:2])
    say()


def _on_scale(detected: Detected) -> str:
    """Return what a reader should know of a scale: few ratings lie outside, or determine an end."""
    import numpy as np

    for note in detected.ratings.notes:
        if note.code == "maybe-not-rated":
            return f"{note}."
    ratings = detected.ratings.ratings
    low, high = detected.section.get("scale", detected.ratings.scale)
    if n_outside := int(np.count_nonzero((ratings < low) | (ratings > high))):
        lie = "rating lies" if n_outside == 1 else "ratings lie"
        return f"{n_outside:,} {lie} outside the scale {low:g} to {high:g}."
    values, counts = np.unique(ratings, return_counts=True)
    if not 2 < len(values) <= MOST_VALUES:
        return ""
    steps = np.diff(values)
    for end, step, inner in ((-1, steps[-1], values[:-1]), (0, steps[0], values[1:])):
        few = counts[end] <= max(1, len(ratings) // 1000)
        if few and step > np.diff(inner).max():
            are = "rating is" if counts[end] == 1 else "ratings are"
            return (
                f"{counts[end]:,} {are} {values[end]:g}, outside the {inner[0]:g} to "
                f"{inner[-1]:g} of all others, and the scale includes it; if it is a mistake, "
                f"write `scale: [{inner[0]:g}, {inner[-1]:g}]` with `out_of_scale: drop`."
            )
    return ""
