"""The parts of a config that a call can name: options, and what their texts stand for."""

from __future__ import annotations

import io
import itertools
import json
import os
import re
import shlex
import textwrap
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap

from harness._util.files import file_name, write_output
from harness.algorithms import registry
from harness.config.document import Document
from harness.config.experiment import Experiment
from harness.config.load import load, set_key
from harness.config.yaml import bundled, escaped, read
from harness.console import options as words
from harness.console.options import Choice
from harness.console.screen import plain, printable, say, show_table
from harness.datasets.inspection import ROLES, detect, inspect
from harness.datasets.loading import section_of
from harness.datasets.places import is_ratings_file
from harness.datasets.remedies import typed
from harness.errors import (
    AlgorithmError,
    ColumnsError,
    ConfigError,
    DataError,
    HarnessError,
    MetricError,
    is_url,
    listed,
    masked_value,
)
from harness.metrics import parse_many
from harness.metrics.labels import separated
from harness.notes.note import plain as plain_data
from harness.plugins import registry as plugins
from harness.splits import TEST_SHARE

if TYPE_CHECKING:
    from harness.datasets.inspection import Detected


DATASET = "bundled"
ALGORITHMS = "SVD, KNNBaseline, BaselineOnly, ItemMean"
METRICS = "ndcg@5,10,rmse"
"""What a call leaves out."""
SPLITS = {
    "holdout": {"kind": "holdout", "test_size": TEST_SHARE},
    "kfold": {"kind": "kfold", "n_splits": 5},
    "leave-one-out": {"kind": "leave-n-out", "n": 1, "too_few": "train"},
    "user-fraction": {"kind": "user-fraction", "fraction": 0.2, "too_few": "train"},
    "global-time": {"kind": "global-time", "quantile": 0.8},
}
KEYS = ("dataset", "split", "candidates", "algorithms", "metrics", "seed")
"""The parameters that `options` adds."""
OF_A_CONFIG = {
    "dataset": "dataset=ratings.csv",
    "split": "split.kind=kfold",
    "candidates": "candidates=catalogue",
    "algorithms": "algorithms=[SVD]",
    "metrics": "metrics=[rmse]",
    "seed": "seed=1",
    "data_columns": "dataset.columns.user=NAME",
}
"""For a config that exists, an example of each of them, and of `columns`, after ``--set``."""


def _complete_by_name() -> tuple[str, ...]:
    """Return this package's own kinds of candidates that need no key beside their name."""
    names = plugins.builtin_names("candidates")
    kinds: dict[str, Any] = {name: plugins.find("candidates", name).load() for name in names}
    return tuple(name for name, kind in kinds.items() if not kind.example)


split = Choice(tuple(SPLITS))
candidates = Choice(_complete_by_name())
seed = click.IntRange(0, 2**32 - 1)


def columns(*names: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Return the option that names the columns of a file of ratings."""
    return click.option(
        *names,
        "data_columns",
        metavar="ROLE=NAME,...",
        help="Columns of a file with unusual names, for example "
        "user=who,item=what,rating=stars; positions count from 1.",
    )


def options(function: Callable[..., int]) -> Callable[..., int]:
    """Add the options that name the parts of a config."""
    for option in reversed(
        (
            click.option(
                "--dataset",
                metavar="NAME",
                shell_complete=words.datasets,
                help="A name from `harness list datasets`, a file of ratings, or `synthetic`.",
            ),
            click.option("--split", type=split, help="How ratings are split."),
            click.option("--candidates", type=candidates, help="Which items are ranked."),
            click.option(
                "--algorithms",
                shell_complete=words.of_kind("algorithms"),
                metavar="NAME,...",
                help="Names with commas, or `all`.",
            ),
            click.option(
                "--metrics",
                shell_complete=words.of_kind("metrics"),
                metavar="LABEL,...",
                help="For example ndcg@5,10,rmse.",
            ),
            click.option("--seed", type=seed, help="The seed of all random numbers."),
        )
    ):
        function = option(function)
    return function


def answered_names(answer: str) -> list[str]:
    """Return names of algorithms in the form of a config."""
    if answer.strip().casefold() == "all":
        return [*registry.names("surprise"), "ItemMean"]
    return [name.strip() for name in answer.split(",") if name.strip()]


def labels(answer: str) -> list[str]:
    """Return labels in the form of a config; errors are found with all other problems."""
    try:
        return [str(metric) for metric in parse_many(answer)]
    except MetricError:  # such as of a module that is found where configs are
        return [*separated(answer)]


def is_label(answer: str) -> bool:
    """Return whether a text names metrics."""
    try:
        return bool(parse_many(answer))
    except MetricError:
        return False


def as_set(key: str, answer: str) -> str:
    """Return what ``--set`` takes in place of an option of a run without a config.

    >>> as_set("algorithms", "SVD,NMF"), as_set("metrics", "ndcg@5,10"), as_set("seed", "3")
    ("--set 'algorithms=[SVD, NMF]'", "--set 'metrics=[ndcg@5, ndcg@10]'", '--set seed=3')
    """
    match key:
        case "algorithms":
            value = f"algorithms=[{', '.join(answered_names(answer))}]"
        case "metrics":
            value = f"metrics=[{', '.join(labels(answer))}]"
        case "split":
            value = "split=" + json.dumps(SPLITS[answer])
        case "data_columns":
            value = OF_A_CONFIG[key]
        case _:
            value = f"{key}={answer}"
    return f"--set {shlex.quote(value)}"


def canonical(name: str) -> str:
    """Return the usual spelling of the name of an algorithm; an unknown name as it is."""
    with suppress(AlgorithmError):
        return registry.canonical(name)
    return name


MOST_VALUES = 100
"""Different ratings up to which a lone one at an end is noted; counts have more, and long tails."""


class DatasetAnswer:
    """Turns the name or the path of data into the ``dataset`` part of a config.

    Parameters
    ----------
    folder : Path
        Where the config is; paths are relative to it.
    columns : str, optional
        Columns of a file, such as ``user=who,item=2``.
    asks : bool
        Whether columns that cannot be found are asked for.
    keys : mapping, optional
        Further keys of the ``dataset`` part, which count before the data are looked at.
    shows_rows : bool
        Whether the first rows of a file are printed.
    spells_out : bool
        Whether the config has all that was found, rather than what no note says.
    option : str
        The option that names columns, for messages.

    Attributes
    ----------
    note : str
        A remark on the scale for readers.
    faults : str
        The rows of a file that need a decision.
    """

    def __init__(
        self,
        folder: Path,
        columns: str | None,
        asks: bool,
        *,
        keys: Mapping[str, Any] = MappingProxyType({}),
        shows_rows: bool = True,
        spells_out: bool = True,
        option: str = "--columns",
    ) -> None:
        self.option, self.spells_out = option, spells_out
        self.folder, self.asks, self.shows_rows = folder, asks, shows_rows
        self.columns = named_columns(columns, ROLES, option)
        self.keys = dict(keys)
        self.faults = self.note = ""

    def section(self, answer: str) -> object:
        """Return the data section of the config; a file is read, and its first rows are shown."""
        if section_of(str(Path(answer).expanduser()), None).path is None:
            if self.columns:
                raise HarnessError(
                    f"{self.option}: needs a file of ratings; give one with --dataset"
                )
            return answer
        if is_url(answer):
            return self._keys(answer) if self.columns or self.keys else {"path": answer}
        detected = self._detect(str(Path(answer).expanduser()))
        self.faults, self.note = detected.faults, _on_scale(detected)
        if self.shows_rows:
            _show_rows(detected)
            notes = [self.note] * bool(self.note)
            if self.spells_out:  # a run of the config has no note on what the config says
                notes += _assumed(detected)
            if notes:
                say("".join(f"note: {note}\n" for note in dict.fromkeys(notes)))
        keys = detected.section if self.spells_out else detected.named
        return keys | {"path": self._written(str(keys["path"]))}

    def _written(self, path: str) -> str:
        """Return a path as the config has it, relative to its folder."""
        written = Path(path).resolve()
        with suppress(ValueError):  # on another drive
            written = Path(os.path.relpath(written, self.folder.resolve()))
        return written.as_posix()

    def _keys(self, path: str) -> dict[str, Any]:
        """Return what was named: the path, columns and further keys."""
        columns = {"columns": dict(self.columns)} if self.columns else {}
        keys: dict[str, Any] = {**columns, **self.keys}
        if columns and isinstance(named := self.keys.get("columns"), Mapping):
            keys["columns"] = columns["columns"] | dict(named)
        return {"path": path, **keys}

    def _found(self, path: str) -> Detected:
        return detect(section_of(self._keys(path), None))

    def _detect(self, path: str) -> Detected:
        """Read a file; where its columns cannot be found, ask for them."""
        try:
            return self._found(path)
        except DataError as error:
            is_about_columns = isinstance(error, ColumnsError) and error.roles
            if self.columns or not self.asks or (is_about_columns is False):
                raise as_typed(error, self.option) from None
        positions = {"user": 1, "item": 2, "rating": 3, "timestamp": None}
        with inspect(section_of({"path": path, "columns": positions}, None)) as found:
            first, has_names = found.members[0].names(), found.members[0].has_names
        columns: dict[str, str | int] = {name: name for name in first}
        shown = first
        if not has_names:  # a row, not a header: positions from 1
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
        return self._found(path)


def as_typed(error: DataError, option: str) -> DataError:
    """Return an error whose remedies are written as they are typed on the command line."""
    return DataError(typed(str(error), option))


def keys_set(overrides: Sequence[str], *, of_config: bool = True) -> dict[str, Any]:
    """Return the keys of the ``dataset`` part of a config that ``dataset.key=value`` sets.

    Other keys are refused, unless the config is made and has them.
    """
    document = Document("config", {"dataset": {}})
    for override in overrides:
        if override.startswith("dataset."):
            set_key(document, override)
        elif not of_config:
            raise HarnessError(
                f"--set {override}: not a key of the data; write it as dataset.KEY=VALUE"
            )
    keys = document.data["dataset"]
    return keys if isinstance(keys, dict) else {}


def named_columns(text: str | None, roles: Sequence[str], option: str) -> dict[str, str | int]:
    """Return ``user=who,item=2`` as names and positions by role."""
    columns = dict[str, str | int]()
    for part in text.split(",") if text else ():
        role, _, name = (word.strip() for word in part.partition("="))
        if role not in roles or not name:
            raise click.UsageError(
                f"{option} {part}: write role=name, such as user=who; the roles are "
                f"{', '.join(roles)}"
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
    named = detected.section.get("columns", {})
    heads = {role: f"{role} ({name})" for role, name in named.items() if name is not None}
    columns = [printable(heads.get(role, role)) for role in frame.columns]
    rows = [
        [printable(text if len(text) <= 24 else f"{text[:23]}…") for text in row]
        for row in frame.assign(rating=frame["rating"].map("{:g}".format)).astype(str).to_numpy()
    ]
    show_table(columns, rows, columns[:2])
    say()


def _assumed(detected: Detected) -> list[str]:
    """Return what a file was assumed to mean, but not its scale, which the config explains."""
    on_scale = ("scale-of-one-rating", "maybe-not-rated")
    notes = [note for note in detected.ratings.notes if note.code not in on_scale]
    return [str(note) for note in notes if note.weight > 1]


def _on_scale(detected: Detected) -> str:
    """Return what a reader should know of a scale: few ratings lie outside, or determine an end."""
    for note in detected.ratings.notes:
        if note.code == "maybe-not-rated":
            return str(note)
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


COMMENTED = ("tuning", "baselines", "statistics", "clip", "accelerate", "execution")
"""Keys that are shown with their defaults, as comments."""


def config_text(data: Mapping[str, object], beginning: str, note: str = "") -> str:
    """Return a config file: each key under its meaning, other keys as comments.

    Parameters
    ----------
    data : mapping
        The keys of the config.
    beginning : str
        Comments at the top of the file.
    note : str
        What a reader should know of the scale of the ratings.
    """
    fields, meanings = Experiment.model_fields, Experiment.meanings()
    blocks = [beginning]
    for key, value in data.items():
        text = meanings[key]
        if isinstance(value, dict) and "scale" in value:
            text += " The scale is the range of the file; widen it if other ratings are possible."
            text += f" Note: {note}" if note else ""
        blocks.append(_prose(text) + _yaml(key, escaped(value)))
    blocks.append("# The keys below are optional: remove the `#` to change a default.\n")
    for key in (key for key in COMMENTED if key not in data):
        default = fields[key].get_default(call_default_factory=True)
        if hasattr(default, "model_dump"):
            default = default.model_dump(mode="json", exclude={"validation"})
        commented = textwrap.indent(_yaml(key, default), "#")
        blocks.append(_prose(meanings[key]) + commented)
    return "\n".join(blocks)


def _prose(text: str) -> str:
    return "".join(f"# {line}\n" for line in textwrap.wrap(text, 96))


def _yaml(key: str, value: object) -> str:
    """Return a key with its value; a mapping too long for a line has a line for each key."""
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


FIRST_CONFIGS = ("quickstart", "ml-100k", "top-n-ml-100k")
"""The configs of the package that one tries first."""


def write_config(
    stated: Mapping[str, str | int | None],
    overrides: Sequence[str],
    results: Path,
    *,
    shows_rows: bool = True,
) -> Path:
    """Write the config that some options mean into a folder of results, and return its path.

    It is named after the data. An address in it is masked. A file or a run of this name that is
    there stays, unless it is the same config; then the next free name of ``ratings-2``,
    ``ratings-3`` is taken.

    Parameters
    ----------
    stated : mapping
        The values of `answers.options` and of ``data_columns``, None where the call has none.
    overrides : sequence of str
        ``key.path=value`` each; they are written into the config.
    results : Path
    shows_rows : bool
        Whether the first rows of a file are printed.

    Raises
    ------
    ConfigError
        With every problem of the config; nothing is written.
    DataError
        If the file cannot be read, or some of its rows need a decision.
    """
    texts = {key: stated[key] for key in KEYS}
    columns = None if stated["data_columns"] is None else str(stated["data_columns"])
    data = DatasetAnswer(
        results,
        columns,
        asks=False,
        keys=keys_set(overrides),
        shows_rows=shows_rows,
        spells_out=False,
        option="--data-columns",
    )
    dataset = str(texts.pop("dataset") or DATASET)
    split = {**SPLITS[str(texts["split"] or "holdout")]}  # `--set` may change it
    config: dict[str, object] = {"dataset": data.section(dataset), "split": split}
    if data.faults:
        raise DataError(typed(data.faults))
    names = answered_names(str(texts["algorithms"] or ALGORITHMS))
    config |= {
        "candidates": texts["candidates"] or "rated",
        "algorithms": [*map(canonical, names)],
        "metrics": labels(str(texts["metrics"] or METRICS)),
        "seed": texts["seed"] or 0,
    }
    name = re.sub(r"(?a)[^\w.-]", "-", Path(file_name(dataset)).stem).lstrip("._-")[:70] or "run"
    try:
        experiment, document = load({"name": name, **config}, overrides=overrides, folder=results)
    except ConfigError as error:
        raise ConfigError("harness run", error.faults) from None
    content = {key: value for key, value in document.data.items() if key != "name"}
    content = plain_data(content, masked_value)
    path = _free_place(results, experiment.name, content)
    beginning = (
        f"# Written by `harness run`. Edit it, and run it again:\n#\n"
        f"#   harness run {shlex.quote(path.as_posix())}\n#\n"
        "# All keys are described by `harness schema --format markdown`.\n"
    )
    return write_output(path, config_text(content, beginning, data.note))


def _free_place(results: Path, name: str, content: Mapping[str, object]) -> Path:
    """Return where a config goes: to the place of the same one, else to a free one."""

    def is_same(path: Path) -> bool:
        try:
            written: Document = read(path)
        except ConfigError:
            return False
        return {key: value for key, value in written.data.items() if key != "name"} == content

    for number in itertools.count(1):
        path = results / (f"{name}.yaml" if number == 1 else f"{name}-{number}.yaml")
        if path.exists():
            if is_same(path):
                return path
        elif not path.with_suffix("").exists():
            return path
    raise AssertionError  # count has no end


def show_choices() -> None:
    """Say what can be run: the configs here and in the package, and data without a config."""
    names = sorted(path.name for path in Path().iterdir() if path.is_file())
    configs = [name for name in names if name.endswith((".yaml", ".yml"))]
    data = [name for name in names if is_ratings_file(name) and name not in configs]
    first = shlex.quote(data[0] if data else "ratings.csv")
    say("harness run: name a config, or data and algorithms:\n", err=True)
    for example in (
        *(shlex.join(["harness", "run", name]) for name in (*configs[:1], "quickstart")),
        f"harness run --dataset {first} --algorithms SVD,KNNBasic --metrics ndcg@10,rmse",
    ):
        say(f"  {plain(example)}", err=True, is_data=True)
    for title, files in (("Configs here", configs), ("Files here that may be ratings", data)):
        if files:
            say(f"\n{title}: {plain(listed(files, 10))}", err=True)
    available = bundled()
    say("\nConfigs that come with the package:\n", err=True)
    for name in FIRST_CONFIGS:
        if name in available:
            answer = " ".join(str(read(available[name]).data.get("description", "")).split())
            say(f"  {name}: {answer}", err=True)
    more = len(available.keys() - {*FIRST_CONFIGS})
    say(f"  and {more} more: harness list configs", err=True)
    say("\n`harness run --help` shows all options.", err=True)
