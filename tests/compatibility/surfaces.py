"""What users of a version write and see, as sorted lines: commands, keys, labels, columns, names.

It mostly asks public functions and commands, so that it can ask another version too:
``python tests/compatibility/surfaces.py FOLDER`` with the Python of that version writes a file for
each list, as ``FOLDER/commands.txt``.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import click
import pandas as pd

import harness
from harness.metrics.labels import definition

DATA = {"synthetic": {"n_users": 40, "n_items": 30, "n_ratings": 600}}
SPLITS = (
    *("holdout", "kfold", "repeated-kfold", "leave-n-out", "user-fraction", "user-holdout"),
    *("item-fraction", "item-holdout", "global-time", "rolling", "own-training"),
)
ALGORITHMS = (
    *("SVD", "SVDpp", "NMF", "SlopeOne", "CoClustering", "BaselineOnly", "NormalPredictor"),
    *("KNNBasic", "KNNWithMeans", "KNNWithZScore", "KNNBaseline", "EASE", "PureSVD"),
    *("BinaryItemKNN", "BinaryUserKNN", "Random", "Popularity", "ItemMean", "UserMean"),
)


def command_line() -> click.Group:
    """Return the group of all commands."""
    try:
        from harness.console.commands import _harness
    except ImportError:
        from harness.cli import _harness
    return _harness


def listed(*words: str) -> list[list[str]]:
    """Return the rows of the table that a command shows."""
    rows: list[list[str]] = json.loads(printed("list", *words, "--json"))["tables"][0]["rows"]
    return rows


def printed(*words: str) -> str:
    """Return what a command prints."""
    try:
        from harness.console.commands import main
    except ImportError:
        from harness.cli import main

    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
        main([*words])
    return out.getvalue()


def commands() -> list[str]:
    """Return each command with each argument, option and choice."""

    def of(command: click.Command, words: str) -> Any:
        yield words
        for parameter in command.params:
            if isinstance(parameter, click.Argument):
                yield f"{words} {parameter.human_readable_name}"
                continue
            for name in (*parameter.opts, *parameter.secondary_opts):
                yield f"{words} {name}"
                for choice in getattr(parameter.type, "choices", ()):
                    yield f"{words} {name} {choice}"
        if isinstance(command, click.Group):
            context = click.Context(command)
            for name in command.list_commands(context):
                inner = command.get_command(context, name)
                assert inner is not None
                yield from of(inner, f"{words} {name}")

    return sorted(set(of(command_line(), "harness")))


def config_keys() -> list[str]:
    """Return each key of a config with the words that it may have, from the JSON schema."""
    schema = json.loads(printed("schema"))

    def of(part: Any, path: str) -> Any:
        if not isinstance(part, dict):
            return
        if "$ref" in part:
            part = schema["$defs"][part["$ref"].rpartition("/")[2]]
        for word in (*part.get("enum", ()), *([part["const"]] if "const" in part else ())):
            yield f"{path} = {json.dumps(word)}"
        properties = part.get("properties", {})
        kind = properties.get("kind", {}).get("const")
        here = f"{path}[{kind}]" if kind else path
        if kind and "[" in path.removeprefix(".").replace("[]", ""):
            yield here  # a split of a split: its keys are those of the kind elsewhere
            return
        for key, value in properties.items():
            yield f"{here}.{key}"
            yield from of(value, f"{here}.{key}")
        for several in ("anyOf", "oneOf", "allOf"):
            for each in part.get(several, ()):
                yield from of(each, here)
        for item in ("items", "additionalProperties"):
            yield from of(part.get(item), f"{here}[]")

    return sorted(set(of(schema, "")))


def metric_labels() -> list[str]:
    """Return each metric with each parameter of its label, its words and its default."""
    lines = []
    for name, *_ in listed("metrics"):
        lines.append(name)
        for parameter in definition(name).parameters:
            lines.append(f"{name}({parameter.name}={parameter.default}) by default")
            lines += [f"{name}({parameter.name}={word})" for word in parameter.words]
    return sorted(set(lines))


def names() -> list[str]:
    """Return what a config can name of each kind."""
    return sorted({f"{kind}: {name}" for name, kind, *_ in listed("plugins", "--all")})


def table_texts() -> list[str]:
    """Return the columns of every table of a run, and the labels of built-in rows."""
    rows = [{"name": name} for name in ALGORITHMS]
    rows += [{"name": "SVD", "label": "searched", "search": {"n_factors": [2, 4]}}]
    common = {"dataset": DATA, "metrics": ["ndcg@5", "rmse"], "statistics": {"resamples": 100}}
    usual = harness.run(
        {
            **common,
            "algorithms": rows,
            "candidates": ["rated", "catalogue", {"kind": "sampled", "n": 5}],
            "tuning": {"method": "grid", "trials": 2, "metric": "rmse"},
            "groups": [{"users": "training_ratings", "quantiles": 2}],
        },
        results=None,
    )
    lines = []
    for attribute in sorted(name for name in dir(usual) if not name.startswith("_")):
        with contextlib.suppress(Exception):  # a view that this run does not have
            value = getattr(usual, attribute)
            if isinstance(value, pd.DataFrame):
                lines += [f"Run.{attribute}: {column}" for column in value.columns]
    splits = harness.run(
        {**common, "split": [*SPLITS], "algorithms": ["ItemMean"], "baselines": False}, results=None
    )
    for run in (usual, splits):
        for column in ("algorithm", "candidates", "split"):
            if column in run.table:
                lines += [f"{column}: {label}" for label in run.table[column]]
    return sorted(set(lines))


SURFACES = {
    "commands": commands,
    "config_keys": config_keys,
    "metrics": metric_labels,
    "names": names,
    "tables": table_texts,
}
"""By the name of a list, what makes it."""


def main(folder: str) -> None:
    """Write every list of the version that runs this."""
    for name, made in SURFACES.items():
        with contextlib.redirect_stderr(io.StringIO()):
            lines = made()
        (Path(folder) / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch, contextlib.chdir(scratch):
        main(sys.argv[1])
