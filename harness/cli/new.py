"""``harness new``: a commented config to start from."""

from __future__ import annotations

import io
import json
import sys
import textwrap
from pathlib import Path
from typing import Any

import click

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
COMMENTED = ("tuning", "baselines", "statistics", "clip", "accelerate", "execution")
"""Keys that are shown with their defaults, as comments."""


@click.command("new")
@click.argument("path", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE")
@click.option("--dataset", help="A name from `harness list datasets`, or a file of ratings.")
@click.option("--split", type=click.Choice(tuple(SPLITS)), help="How ratings are divided.")
@click.option(
    "--candidates",
    type=click.Choice(["rated", "catalogue", "sampled"]),
    help="Which items each test user is asked about.",
)
@click.option("--algorithms", metavar="NAME,...", help="Names with commas, or `all`.")
@click.option("--metrics", metavar="LABEL,...", help="As ndcg@5,10,rmse.")
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), help="One number decides every draw.")
@click.option("--description", default=None, help="A sentence for the report.")
@click.option("--yes", "-y", is_flag=True, help="Ask nothing: defaults for what is not given.")
@click.option("--force", is_flag=True, help="Replace a file that is there.")
def new_command(
    path: Path,
    dataset: str | None,
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

    On a terminal, what is not given as an option is asked for.
    """
    from harness.cli.screen import say
    from harness.errors import ConfigError, Fault

    if path.exists() and not force:
        fault = Fault(0, "", "is there already; choose another name, or --force to replace it")
        raise ConfigError(str(path), [fault])
    asks = not yes and sys.stdin.isatty()
    answers = {
        "description": _answer(asks, description, "What does the experiment ask?", ""),
        "dataset": _answer(asks, dataset, "Data set, or a file of ratings", "bundled"),
        "split": SPLITS[_choice(asks, split, "Split", tuple(SPLITS))],
        "candidates": _choice(asks, candidates, "Candidates", ("rated", "catalogue", "sampled")),
        "algorithms": _named(
            _answer(asks, algorithms, "Algorithms, with commas, or all", ", ".join(ALGORITHMS))
        ),
        "metrics": _labels(_answer(asks, metrics, "Metrics", "ndcg@5,10,rmse")),
        "seed": seed
        if seed is not None
        else (click.prompt("Seed", default=0, type=int) if asks else 0),
    }
    for written in write_config(path, answers):
        say(f"written to {written}")
    say(f"next: harness run {path}")
    return 0


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
    from harness.algorithms import registry
    from harness.cli.schema import make_schema
    from harness.config.load import load
    from harness.errors import ResultsError
    from harness.files import write_whole

    given = {key: value for key, value in answers.items() if value != ""}
    load({"name": "new", **given}, check_algorithm=registry.check)
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
        "told by\n# `harness schema --format markdown`.\n"
    ]
    for key, value in answers.items():
        blocks.append(_prose(fields[key].description) + _yaml(key, value))
    blocks.append("# What follows is optional: take the `#` off a key to change its default.\n")
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

    if isinstance(value, dict | list) and len(json.dumps(value)) < 80:
        value = CommentedMap(value) if isinstance(value, dict) else CommentedSeq(value)
        value.fa.set_flow_style()
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
    if not path.exists():
        return True
    try:
        return bool(json.loads(path.read_text(encoding="utf-8"))["title"] == title)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _answer(asks: bool, given: str | None, question: str, default: str) -> str:
    if given is not None or not asks:
        return default if given is None else given
    return str(click.prompt(question, default=default))


def _choice(asks: bool, given: str | None, question: str, choices: tuple[str, ...]) -> str:
    if given is not None or not asks:
        return choices[0] if given is None else given
    return str(click.prompt(question, default=choices[0], type=click.Choice(choices)))


def _named(answer: str) -> list[str]:
    from harness.algorithms.registry import SURPRISE

    if answer.strip().casefold() == "all":
        return [*SURPRISE, "ItemMean"]
    return [name.strip() for name in answer.split(",") if name.strip()]


def _labels(answer: str) -> list[str]:
    """Return labels as a config writes them; what is wrong is found with all other faults."""
    from harness.errors import MetricError
    from harness.metrics import parse_many

    try:
        return [str(metric) for metric in parse_many(answer)]
    except MetricError:
        return [answer]
