"""Where a config comes from: a file, a config of the package, or the record of a run."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from harness._util.arguments import check_path, is_unicode
from harness._util.files import RUN_FILE, read_regular
from harness._util.paths import are_there, as_list
from harness.config.document import Document, refusal
from harness.config.yaml import parse
from harness.datasets.places import is_ratings_file
from harness.errors import HarnessError, nearest, reason_of, suggestion
from harness.plugins import registry as plugins
from harness.schema.sections import PATHS

MAX_RECORD_BYTES = 64_000_000
MAX_BYTES = 100_000
CONFIGS = (".yaml", ".yml", ".txt", ".json")
"""Endings of files that may be configs."""
RENAMED = {"floors": "baselines"}
"""Keys of earlier versions, and their new names."""


def refuse_ratings(path: Path) -> None:
    """Refuse a file of ratings, by its name, where a config is meant."""
    if path.suffix in CONFIGS:
        return

    if is_ratings_file(path.name):
        run = f"harness run --dataset {path}"
        new = f"harness new {path.with_suffix('.yaml')} --dataset {path}"
        raise refusal(
            str(path),
            f"a file of ratings; run algorithms on it with `{run}`, or write a config "
            f"for it with `{new}`",
        )


def bundled() -> dict[str, Path]:
    """Return the configs that come with the package, by name."""
    top = Path(__file__).parents[1]
    folders = (top / "configs", top.parent / "configs")
    folder = next((folder for folder in folders if folder.is_dir()), top)
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def read(path: Path) -> Document:
    """Read a YAML file, a config of the package by its name, or the config in a ``run.json``."""
    check_path("config", path, HarnessError)
    with suppress(OSError):  # reading it says so
        if (path / RUN_FILE).is_file():
            path = path / RUN_FILE
        elif path.parent == Path() and (path.is_dir() or not path.exists()):
            path = bundled().get(path.name.removesuffix(".yaml"), path)
    source, recorded = str(path), path.name == RUN_FILE
    most = MAX_RECORD_BYTES if recorded else MAX_BYTES + 1
    # Standard input and `<(command)` are pipes with a writer; of others nothing may come.
    streamed = path.parts[:2] in (("/", "dev"), ("/", "proc"))
    try:
        if streamed:
            with path.open("rb") as file:  # which may be a device without end
                raw = file.read(most)
        else:
            raw = read_regular(path, most)
    except OSError as error:
        raise refusal(source, f"{reason_of(error)}; {_hint(path)}") from None
    if recorded:
        return _recorded(raw, path)
    if not is_unicode(path.name if path.is_absolute() else source):  # the record of a run has it
        raise refusal(source, "its name is not UTF-8 text; rename it")
    refuse_ratings(path)
    if len(raw) > MAX_BYTES:
        raise refusal(source, f"larger than {MAX_BYTES:,} bytes; a config is short")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise refusal(source, "not UTF-8 text; save the file as UTF-8", line) from None
    return parse(text, source, Path() if streamed else path.parent)


def _hint(path: Path) -> str:
    """Return what to do about a config that cannot be read."""
    if path.name == RUN_FILE:
        return "check the path"
    hint = suggestion(path.stem, bundled())
    with suppress(OSError):  # `harness report NAME` goes without the ending
        every = [*path.parent.iterdir()]
        beside = {str(file) for file in every if file.suffix in (".yaml", ".yml")}
        near = f"{path}.yaml" if f"{path}.yaml" in beside else str(path)
        data = [file for file in every if file.stem == path.stem and is_ratings_file(file.name)]
        if data and near not in beside:
            new = shlex.join(
                ["harness", "new", str(path.with_suffix(".yaml")), "--dataset", str(data[0])]
            )
            return f"did you mean {str(data[0])!r}, or `{new}`?"
        if (meant := nearest(near, beside)) is not None:
            hint = f"did you mean {meant!r}?"
    return hint if hint.endswith("?") else f"{hint}, or the path of a config"


def _recorded(raw: bytes, path: Path) -> Document:
    """Return the config of a run from its ``run.json``."""
    source = str(path)
    try:
        info = json.loads(raw)
        data, file = info["config"], info.get("config_file") or ""
        if not isinstance(data, dict) or not isinstance(file, str):
            raise TypeError
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise refusal(source, "not the record of a run; give a config") from None
    for used in info.get("plugins", []):
        with suppress(LookupError, TypeError):  # a damaged record; reading it as a run says so
            if used["version"]:
                package = str(used["package"]), str(used["version"])
                plugins.remember(str(used["kind"]), str(used["name"]), {}, package)
    data = {RENAMED.get(key, key): value for key, value in data.items()}
    folder = folder_of(data, file, path.parent)
    return Document(source, data, folder=folder, recorded=str(folder / Path(file).name))


def folder_of(config: Mapping[str, object], config_file: str, run: Path | None) -> Path:
    """Return what the paths in the config of a run are relative to: the folder of `config_file`."""
    # As seen from here or, where a file that the config names is not there, from above the runs.
    sections = [config.get("dataset"), config.get("split")]
    entries = [entry for part in sections for entry in (part if isinstance(part, list) else [part])]
    named = (
        entry[key] for entry in entries if isinstance(entry, dict) for key in PATHS & entry.keys()
    )
    paths = [path for value in named if value for path in as_list(value) if "{fold}" not in path]
    below = Path(config_file).parent
    places = [below] if run is None else [below, run.parent.parent / below]
    usable = (place for place in places if are_there(paths, place))
    return next(usable, below)
