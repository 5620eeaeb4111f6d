"""``harness new``: a commented config to start from."""

from __future__ import annotations

import io
import itertools
import json
import os
import re
import shlex
import sys
import textwrap
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli import words
from harness.cli.command import command
from harness.cli.options import Choice, file, folder, force, in_the_call, unused
from harness.cli.schema import make_schema, to_text
from harness.cli.screen import printable, say, show_table
from harness.errors import DataError, HarnessError, MetricError

if TYPE_CHECKING:
    from harness.datasets.detection import Detected

SCHEMA_FILE = "schema.json"
FIRST_LINE = f"# yaml-language-server: $schema={SCHEMA_FILE}"
ALGORITHMS = ("SVD", "KNNBaseline", "BaselineOnly", "ItemMean")
SPLITS = {
    "holdout": {"kind": "holdout", "test_size": 0.25},
    "kfold": {"kind": "kfold", "n_splits": 5},
    "leave-one-out": {"kind": "leave-n-out", "n": 1, "too_few": "train"},
    "user-fraction": {"kind": "user-fraction", "fraction": 0.2, "too_few": "train"},
    "global-time": {"kind": "global-time", "quantile": 0.8},
}
COMMENTED = ("tuning", "baselines", "statistics", "clip", "accelerate", "execution")
"""Keys that are shown with their defaults, as comments."""
MOST_VALUES = 100
"""Different ratings up to which a lone one at an end is noted; counts have more, and long tails."""

_split = Choice(tuple(SPLITS))
_candidates = Choice(("rated", "catalogue", "sampled"))
_seed = click.IntRange(0, 2**32 - 1)


@command(
    "new my.yaml --dataset ratings.csv",
    "new my.yaml --dataset ml-100k --algorithms SVD,KNNBasic -y",
)
@click.argument("path", type=file, metavar="FILE", required=False)
@click.option(
    "--plugin",
    type=folder,
    metavar="DIR",
    help="Write to this folder a package with a plug-in of each kind, in place of a config.",
)
@click.option(
    "--dataset",
    shell_complete=words.of_kind("datasets"),
    help="A name from `harness list datasets`, or a file of ratings.",
)
@click.option(
    "--columns",
    metavar="ROLE=NAME,...",
    help="Columns of a file with unusual names, for example user=who,item=what,rating=stars; "
    "positions count from 1.",
)
@click.option("--split", type=_split, help="How ratings are split.")
@click.option("--candidates", type=_candidates, help="Which items are ranked.")
@click.option(
    "--algorithms",
    shell_complete=words.of_kind("algorithms"),
    metavar="NAME,...",
    help="Names with commas, or `all`.",
)
@click.option(
    "--metrics",
    shell_complete=words.of_kind("metrics"),
    metavar="LABEL,...",
    help="For example ndcg@5,10,rmse.",
)
@click.option("--seed", type=_seed, help="The seed of all random numbers.")
@click.option("--description", default=None, help="A sentence for the report.")
@click.option("--yes", "-y", is_flag=True, help="Ask no questions and use defaults.")
@force
def new(
    path: Path | None,
    plugin: Path | None,
    columns: str | None,
    yes: bool,
    **stated: str | int | None,
) -> int:
    """Write a commented config to start from.

    A file of ratings is read: the config gets its columns and its scale. On a terminal, the command
    asks for what is not given as an option, and checks each answer.

    With --plugin, a package that adds an algorithm, a metric, a split and others, with its tests.
    """
    if plugin is not None:
        if path is not None or in_the_call("columns", "yes", *stated):
            raise click.UsageError("--plugin: writes a package alone; leave out FILE and the rest")
        return _write_plugin(plugin)
    if path is None:
        raise click.UsageError("name the FILE to write, as my.yaml; or --plugin DIR")
    from harness.config.files import refuse_ratings

    if not path.name:  # an empty text is the current folder
        raise click.UsageError("FILE: the name is empty; give one, as my.yaml")
    refuse_ratings(path)  # first: --force would replace the data
    unused(path)
    asks = not yes and sys.stdin.isatty()
    data = _Data(path, columns, asks)
    answers: dict[str, object] = {}
    questions: tuple[tuple[str, str, object, Callable[..., object]], ...] = (
        ("description", "Description for the report (Enter for none)", "", str),
        ("dataset", "Data set, or a file of ratings", "bundled", data.section),
        ("split", "Split", "holdout", _split),
        ("candidates", "Candidates", "rated", _candidates),
        ("algorithms", "Algorithms, with commas, or all", ", ".join(ALGORITHMS), _names),
        ("metrics", "Metrics", "ndcg@5,10,rmse", _labels),
        ("seed", "Seed", 0, _seed),
    )
    for key, question, default, convert in questions:
        if stated[key] is None and asks:
            answers[key] = _ask(key, question, default, convert)
        else:
            answers[key] = convert(default if stated[key] is None else stated[key])
    answers["split"] = SPLITS[str(answers["split"])]
    for written in _write(path, answers, data.note):
        say(f"written to {written}")
    if data.faults:
        say(f"\nBefore a run, these rows need a decision:\n{data.faults}")
    say(f"next: harness {'check' if data.faults else 'run'} {shlex.quote(str(path))}")
    return 0


def _write_plugin(folder: Path) -> int:
    from harness.cli.template import write_template

    for path in write_template(folder):
        say(f"written to {path}")
    name = shlex.quote(str(folder))
    say(f"next: pip install -e {name}, harness list plugins, harness run {name}/config.yaml")
    return 0


def _ask(key: str, question: str, default: object, convert: Callable[..., object]) -> object:
    """Ask until an answer is valid; options and defaults are checked later, all at once."""
    from harness.config.load import load

    kind = convert if isinstance(convert, click.ParamType) else None

    def checked(text: str) -> object:
        try:
            value = convert(text)
            if kind is None:
                load({"dataset": "bundled", "algorithms": ["SVD"], "metrics": ["mae"], key: value})
        except HarnessError as error:
            raise click.BadParameter(printable(str(error).removeprefix("config: "))) from None
        return value

    answer: object = click.prompt(
        question, default, type=kind, value_proc=checked, show_default=default != ""
    )
    return answer


def _names(answer: str) -> list[str]:
    from harness.algorithms import registry

    if answer.strip().casefold() == "all":
        return [*registry.names("surprise"), "ItemMean"]
    return [name.strip() for name in answer.split(",") if name.strip()]


def _labels(answer: str) -> list[str]:
    """Return labels in the form of a config; errors are found with all other faults."""
    from harness.metrics import parse_many

    try:
        return [str(metric) for metric in parse_many(answer)]
    except MetricError:
        return [answer]


class _Data:
    """Turns the name or the path of data into the ``dataset`` part of a config."""

    def __init__(self, config: Path, columns: str | None, asks: bool) -> None:
        self.config, self.asks = config, asks
        self.columns = dict(map(_column, columns.split(","))) if columns else {}
        self.faults = self.note = ""

    def section(self, answer: str) -> object:
        """Return the data section of the config; a file is read, and its first rows are shown."""
        from harness import datasets

        path = Path(answer).expanduser()
        if not path.is_file():
            if not any(answer in (source.name, source.alias) for source in datasets.available()):
                datasets.load(answer)  # says what was probably meant
            if self.columns:
                raise HarnessError("--columns: needs a file of ratings; give one with --dataset")
            return answer
        detected = self._detect(path)
        self.faults, self.note = detected.faults, _on_scale(detected)
        _show_rows(detected)
        if self.note:
            say(f"note: {self.note}\n")
        written = path.resolve()
        with suppress(ValueError):  # on another drive
            written = Path(os.path.relpath(written, self.config.parent.resolve()))
        return detected.section | {"path": written.as_posix()}

    def _detect(self, path: Path) -> Detected:
        """Read a file; where its columns cannot be found, ask for them or name the option."""
        from harness.datasets.columns import is_number
        from harness.datasets.detection import ROLES, detect, first_lines

        try:
            return detect(path, self.columns)
        except DataError as error:
            if not self.asks and "under columns" in str(error):
                head, _, advice = str(error).rpartition("; ")
                roles = advice.partition("{")[2].rstrip("}").replace(": …", "=NAME")
                option = roles.replace(" ", "") or "user=who,item=2"
                raise DataError(f"{head}; name them, as --columns {option}") from None
            if self.columns or not self.asks or "no column of ratings" in str(error):
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


def _column(part: str) -> tuple[str, str | int]:
    """Return ``item=2`` as a role and a name or a position."""
    from harness.datasets.detection import ROLES

    role, _, name = (text.strip() for text in part.partition("="))
    if role not in ROLES or not name:
        raise click.UsageError(
            f"--columns {part}: write role=name, as user=who; the roles are {', '.join(ROLES)}"
        )
    return role, int(name) if name.isascii() and name.isdigit() and int(name) else name


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


def _write(path: Path, answers: dict[str, object], note: str) -> list[Path]:
    """Write a config with its comments, and the schema that it names beside it; return the files.

    Its folder is made when it is missing. Nothing is written where an answer is not valid. Another
    program's schema is kept; an older one of this package is replaced.
    """
    from harness.config.load import load
    from harness.files import write_output

    answered = {key: value for key, value in answers.items() if value != ""}
    load({"name": "new", **answered})
    files = {path: _text(answered, note)}
    schema = make_schema()
    beside = path.with_name(SCHEMA_FILE)
    if _is_ours(beside, schema["title"]):
        files[beside] = to_text(schema) + "\n"
    return [write_output(file, text) for file, text in files.items()]


def _is_ours(path: Path, title: str) -> bool:
    """Return whether a schema may be written: nothing there, or an older one of this package."""
    from harness.files import read_regular

    if not path.exists():
        return True
    try:
        return bool(json.loads(read_regular(path))["title"] == title)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _text(answers: dict[str, object], note: str) -> str:
    """Return the file: each key under its meaning, the other keys as comments."""
    from harness.config.experiment import Experiment

    fields = Experiment.model_fields
    blocks = [
        f"{FIRST_LINE}\n# The line above lets editors complete and check this file; all keys are "
        "described by\n# `harness schema --format markdown`.\n"
    ]
    for key, value in answers.items():
        text = str(fields[key].description)
        if isinstance(value, dict) and "scale" in value:
            text += " The scale is the range of the file; widen it if other ratings are possible."
            text += f" Note: {note}" if note else ""
        blocks.append(_prose(text) + _yaml(key, value))
    blocks.append("# The keys below are optional: remove the `#` to change a default.\n")
    for key in COMMENTED:
        default = fields[key].get_default(call_default_factory=True)
        if hasattr(default, "model_dump"):
            default = default.model_dump(mode="json", exclude={"validation"})
        commented = textwrap.indent(_yaml(key, default), "#")
        blocks.append(_prose(str(fields[key].description)) + commented)
    return "\n".join(blocks)


def _prose(text: str) -> str:
    return "".join(f"# {line}\n" for line in textwrap.wrap(text, 96))


def _yaml(key: str, value: object) -> str:
    """Return a key with its value; a mapping too long for a line has a line for each key."""
    from ruamel.yaml import YAML
    from ruamel.yaml.comments import CommentedMap

    if value is None:
        return f"{key}: null\n"
    entry = CommentedMap({key: value})
    entry.fa.set_block_style()
    yaml, text = YAML(), io.StringIO()
    yaml.default_flow_style = None  # collections without others inside them on one line
    yaml.width = 98
    yaml.dump(entry, text)
    if isinstance(value, dict) and re.search(r"\{[^}]*\n", text.getvalue()):
        return f"{key}:\n" + textwrap.indent("".join(itertools.starmap(_yaml, value.items())), "  ")
    return text.getvalue()
