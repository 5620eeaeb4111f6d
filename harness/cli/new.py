"""``harness new``: a commented config to start from."""

from __future__ import annotations

import io
import json
import os
import sys
import textwrap
from pathlib import Path
from typing import Any

import click

from harness.cli.screen import printable

__all__ = ["new_command", "write_config"]

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
CANDIDATES = ("rated", "catalogue", "sampled")
COMMENTED = ("tuning", "baselines", "statistics", "clip", "accelerate", "execution")
"""Keys that are shown with their defaults, as comments."""


@click.command("new")
@click.argument("path", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE")
@click.option("--dataset", help="A name from `harness list datasets`, or a file of ratings.")
@click.option(
    "--columns",
    metavar="ROLE=NAME,...",
    help="Columns of a file with unusual names, for example user=who,item=what,rating=stars; "
    "positions count from 1.",
)
@click.option("--split", type=click.Choice(tuple(SPLITS)), help="How ratings are split.")
@click.option("--candidates", type=click.Choice(CANDIDATES), help="Which items are ranked.")
@click.option("--algorithms", metavar="NAME,...", help="Names with commas, or `all`.")
@click.option("--metrics", metavar="LABEL,...", help="For example ndcg@5,10,rmse.")
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), help="The seed of all random numbers.")
@click.option("--description", default=None, help="A sentence for the report.")
@click.option("--yes", "-y", is_flag=True, help="Ask no questions and use defaults.")
@click.option("--force", is_flag=True, help="Replace an existing file.")
def new_command(
    path: Path,
    dataset: str | None,
    columns: str | None,
    split: str | None,
    candidates: str | None,
    algorithms: str | None,
    metrics: str | None,
    seed: int | None,
    description: str | None,
    yes: bool,
    force: bool,
) -> int:
    """Write a commented config to start from.

    A file of ratings is read: the config gets its columns and its scale. On a terminal, the command
    asks for what is not given as an option, and checks each answer.
    """
    from harness.cli.screen import say
    from harness.errors import ConfigError, Fault
    from harness.metrics import parse_many

    if path.exists() and not force:
        fault = Fault(0, "", "exists; choose another name, or use --force to replace it")
        raise ConfigError(str(path), [fault])
    ask = _Questions(not yes and sys.stdin.isatty())
    text = ask("Description for the report (Enter for none)", description, "")
    data = _Data(path, columns, ask.asks)
    section = ask("Data set, or a file of ratings", dataset, "bundled", data.section)
    answers = {
        "description": text,
        "dataset": section,
        "split": SPLITS[ask("Split", split, "holdout", click.Choice(tuple(SPLITS)))],
        "candidates": ask("Candidates", candidates, "rated", click.Choice(CANDIDATES)),
        "algorithms": ask(
            "Algorithms, with commas, or all",
            algorithms,
            ", ".join(ALGORITHMS),
            _named,
            _check_named,
        ),
        "metrics": ask("Metrics", metrics, "ndcg@5,10,rmse", _labels, parse_many),
        "seed": ask("Seed", seed, 0, click.IntRange(0, 2**32 - 1)),
    }
    for written in write_config(path, answers):
        say(f"written to {written}")
    if data.faults:
        say(f"\nBefore a run, these rows need a decision:\n{data.faults}")
    say(f"next: harness {'check' if data.faults else 'run'} {path}")
    return 0


class _Questions:
    """Asks for missing answers until they are valid.

    Options and defaults are checked in the
    same way, but a fault ends the command.
    """

    def __init__(self, asks: bool) -> None:
        self.asks = asks

    def __call__(
        self, question: str, given: Any, default: Any, convert: Any = str, check: Any = None
    ) -> Any:
        """Return an answer in the form of a config; `check` raises for an invalid one."""
        from harness.errors import HarnessError

        typed = isinstance(convert, click.ParamType)
        if given is not None or not self.asks:
            value = default if given is None else given
            return value if typed else convert(value)

        def answered(text: str) -> Any:
            try:
                value = convert(text)
                if check:
                    check(value)
            except HarnessError as error:
                raise click.BadParameter(printable(str(error))) from None
            return value

        kind = {"type": convert} if typed else {"value_proc": answered}
        return click.prompt(question, default=default, show_default=default != "", **kind)


class _Data:
    """Turns the name or the path of data into the ``dataset`` part of a config."""

    def __init__(self, config: Path, columns: str | None, asks: bool) -> None:
        self.config, self.asks = config, asks
        self.columns = _columns(columns)
        self.faults = ""

    def section(self, answer: str) -> str | dict[str, Any]:
        """Return the data section of the config; a file is read, and its first rows are shown."""
        from pydantic import ValidationError

        from harness import datasets
        from harness.datasets.loading import detect
        from harness.datasets.section import DatasetSection
        from harness.errors import DataError

        path = Path(answer).expanduser()
        if not path.is_file():
            try:
                is_name = DatasetSection.model_validate(answer).path is None
            except ValidationError:
                is_name = False
            if not is_name:
                datasets.load(answer)  # says what was probably meant
            return answer
        try:
            found = detect(path, self.columns)
        except DataError as error:
            if not self.asks and "under columns" in str(error):
                head, _, advice = str(error).rpartition("; ")
                roles = advice.partition("{")[2].rstrip("}").replace(": …", "=NAME")
                option = roles.replace(" ", "") or "user=who,item=2"
                raise DataError(f"{head}; name them, as --columns {option}") from None
            if self.columns or not self.asks:
                raise
            self.columns = self._asked_columns(path)
            found = detect(path, self.columns)
        _show_rows(found)
        self.faults = found.faults
        folder = self.config.parent.resolve()
        try:
            written = os.path.relpath(path.resolve(), folder)
        except ValueError:  # on another drive
            written = str(path.resolve())
        section = found.section | {"path": written.replace(os.sep, "/")}
        return section

    def _asked_columns(self, path: Path) -> dict[str, str | int]:
        from harness.cli.screen import say
        from harness.datasets.loading import ROLES, first_lines

        names, _ = first_lines(path)
        say("columns: " + ", ".join(names)[:1_000])
        asked: dict[str, str | int] = {
            role: click.prompt(f"Column of the {role}", type=click.Choice(names))
            for role in ROLES[:3]
        }
        left = [name for name in names if name not in asked.values()]
        time = click.prompt(
            "Column of the time", default="none", type=click.Choice(["none", *left])
        )
        return asked | ({} if time == "none" else {"timestamp": time})


def _columns(text: str | None) -> dict[str, str | int]:
    """Return ``user=who,item=2`` as a mapping."""
    from harness.datasets.loading import ROLES

    columns: dict[str, str | int] = {}
    for part in (text or "").split(",") if text else []:
        role, separator, name = (each.strip() for each in part.partition("="))
        if role not in ROLES or not separator or not name:
            raise click.UsageError(
                f"--columns {part}: write role=name, as user=who; the roles are {', '.join(ROLES)}"
            )
        columns[role] = int(name) if name.isascii() and name.isdigit() and int(name) else name
    return columns


def _show_rows(found: Any) -> None:
    """Show what was found in a file, and five of its rows."""
    from harness.cli.screen import say, show_table

    ratings = found.ratings
    say(repr(ratings).removeprefix("<Ratings ").removesuffix(">") + "\n")
    frame = ratings.to_frame().head(5)
    if "timestamp" in frame:
        moments = frame["timestamp"].to_numpy().astype("datetime64[s]")
        frame["timestamp"] = [str(moment).replace("T", " ") for moment in moments]
    heads = {role: f"{role} ({name})" for role, name in found.section["columns"].items()}
    columns = [heads.get(role, role) for role in frame.columns]
    rows = [[_cell(value) for value in row] for row in frame.itertuples(index=False)]
    show_table([printable(column) for column in columns], rows, columns[:2])
    say()


def _cell(value: Any) -> str:
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return printable(text if len(text) <= 24 else f"{text[:23]}…")


def write_config(path: Path, answers: dict[str, Any]) -> list[Path]:
    """Write a config with its comments, and the schema that it names beside it.

    Parameters
    ----------
    path : Path
        Its folder is made when it is missing.
    answers : dict
        By key of a config, in the order in which they are written.

    Returns
    -------
    list of Path
        What was written: the config, and the schema where it was not there or was an older one.

    Raises
    ------
    ConfigError
        With every fault of the answers; nothing is written then.
    ResultsError
        If the folder cannot be written.
    """
    from harness.cli.schema import make_schema
    from harness.config.load import load
    from harness.errors import ResultsError
    from harness.files import write_whole

    given = {key: value for key, value in answers.items() if value != ""}
    load({"name": "new", **given})
    schema = make_schema()
    beside = path.with_name(SCHEMA_FILE)
    files = {path: _text(given)}
    if _is_ours(beside, schema["title"]):
        files[beside] = json.dumps(schema, indent=1, ensure_ascii=False) + "\n"
    try:
        for each, text in files.items():
            write_whole(each, text.encode())
    except OSError as error:
        raise ResultsError(f"{path.parent}: cannot be written ({error.strerror})") from None
    return list(files)


def _text(answers: dict[str, Any]) -> str:
    """Return the file: each key under its meaning, the other keys as comments."""
    from harness.config.experiment import Experiment

    fields = Experiment.model_fields
    blocks = [
        f"{FIRST_LINE}\n# The line above lets editors complete and check this file; all keys are "
        "described by\n# `harness schema --format markdown`.\n"
    ]
    for key, value in answers.items():
        found = isinstance(value, dict) and "scale" in value
        scale = (
            " The scale is the range of the file; widen it if other ratings are possible." * found
        )
        blocks.append(_prose(f"{fields[key].description}{scale}") + _yaml(key, value))
    blocks.append("# The keys below are optional: remove the `#` to change a default.\n")
    for key in COMMENTED:
        default = fields[key].get_default(call_default_factory=True)
        if hasattr(default, "model_dump"):
            default = default.model_dump(mode="json", exclude={"validation"})
        commented = "".join(f"#{line}\n" for line in _yaml(key, default).splitlines())
        blocks.append(_prose(fields[key].description) + commented)
    return "\n".join(blocks)


def _prose(text: str | None) -> str:
    return "".join(f"# {line}\n" for line in textwrap.wrap(text or "", 96))


def _yaml(key: str, value: Any) -> str:
    """Return a key with its value, short lists and mappings on the key's own line."""
    from ruamel.yaml import YAML
    from ruamel.yaml.comments import CommentedMap, CommentedSeq

    def flowing(value: Any) -> Any:
        if not isinstance(value, dict | list) or len(json.dumps(value)) >= 80:
            return value
        value = CommentedMap(value) if isinstance(value, dict) else CommentedSeq(value)
        value.fa.set_flow_style()
        return value

    if isinstance(value, dict) and len(json.dumps(value)) >= 80:
        value = {each: flowing(inner) for each, inner in value.items()}
    value = flowing(value)
    text = io.StringIO()
    yaml = YAML()
    yaml.width = 200
    yaml.representer.add_representer(type(None), _write_null)
    yaml.dump(CommentedMap({key: value}), text)
    return text.getvalue()


def _write_null(representer: Any, _: None) -> Any:
    return representer.represent_scalar("tag:yaml.org,2002:null", "null")


def _is_ours(path: Path, title: str) -> bool:
    """Return whether a schema may be written: nothing there, or an older one of this package."""
    from harness.files import read_regular

    if not path.exists():
        return True
    try:
        return bool(json.loads(read_regular(path))["title"] == title)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _named(answer: str) -> list[str]:
    from harness.algorithms import registry

    if answer.strip().casefold() == "all":
        return [*registry.names("surprise"), "ItemMean"]
    return [name.strip() for name in answer.split(",") if name.strip()]


def _check_named(names: list[str]) -> None:
    from harness.algorithms import registry

    for name in names:
        registry.find(name)


def _labels(answer: str) -> list[str]:
    """Return labels in the form of a config; errors are found with all other faults."""
    from harness.errors import MetricError
    from harness.metrics import parse_many

    try:
        return [str(metric) for metric in parse_many(answer)]
    except MetricError:
        return [answer]
