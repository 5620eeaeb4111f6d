"""A config from the options of a call, written beside the results, and what can be run at all."""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.cli import answers
from harness.cli.config_text import config_text
from harness.cli.ratings_file import DatasetAnswer
from harness.cli.screen import plain, say
from harness.errors import ConfigError, DataError, listed, masked_values
from harness.named_paths import file_name

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

    Its name is that of the data. An address in it is masked. A file or a run of this name that is
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
        With every fault of the config; nothing is written.
    DataError
        If the file cannot be read, or some of its rows need a decision.
    """
    from harness.config.load import load
    from harness.named_outputs import write_output

    texts = {key: stated[key] for key in answers.KEYS}
    columns = None if stated["data_columns"] is None else str(stated["data_columns"])
    data = DatasetAnswer(
        results, columns, asks=False, shows_rows=shows_rows, option="--data-columns"
    )
    dataset = str(texts.pop("dataset") or answers.DATASET)
    split = answers.SPLITS[str(texts["split"] or "holdout")]
    config: dict[str, object] = {"dataset": data.section(dataset), "split": split}
    if data.faults and not any(override.startswith("dataset") for override in overrides):
        raise DataError(
            f"{data.faults}\n{dataset}: decide about these rows, for example with `--set "
            "dataset.duplicates=first`, `--set dataset.missing=drop`"
        )
    names = answers.names(str(texts["algorithms"] or answers.ALGORITHMS))
    config |= {
        "candidates": texts["candidates"] or "rated",
        "algorithms": [*map(answers.canonical, names)],
        "metrics": answers.labels(str(texts["metrics"] or answers.METRICS)),
        "seed": texts["seed"] or 0,
    }
    name = re.sub(r"(?a)[^\w.-]", "-", Path(file_name(dataset)).stem).lstrip("._-")[:70] or "run"
    try:
        experiment, document = load({"name": name, **config}, overrides=overrides, folder=results)
    except ConfigError as error:
        raise ConfigError("harness run", error.faults) from None
    content = {key: value for key, value in document.data.items() if key != "name"}
    content = masked_values(content)
    path = _free_place(results, experiment.name, content)
    beginning = (
        f"# Written by `harness run`. Edit it, and run it again:\n#\n"
        f"#   harness run {shlex.quote(path.as_posix())}\n#\n"
        "# All keys are described by `harness schema --format markdown`.\n"
    )
    return write_output(path, config_text(content, beginning, data.note))


def _free_place(results: Path, name: str, content: Mapping[str, object]) -> Path:
    """Return where a config goes: to the place of the same one, else to a free one."""
    from harness.config.document import Document
    from harness.config.files import read

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
    from harness.config.files import bundled, read
    from harness.datasets.own_files import is_ratings_file

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
