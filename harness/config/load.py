"""Turn a config file, a mapping or overrides into an `Experiment`, or report all faults at once."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from harness import plugins
from harness.config.check import all_code_named, checked
from harness.config.document import Document
from harness.config.experiment import Experiment
from harness.config.from_python import with_variables
from harness.errors import ConfigError, joined
from harness.sections import plain_data


def load(
    config: str | Path | Mapping[str, object] | Experiment,
    *,
    overrides: Iterable[str] = (),
    folder: Path | None = None,
    with_ratings: bool = False,
    trust: bool = True,
) -> tuple[Experiment, Document]:
    """Read and validate a config, and return where it came from too; raise all its faults at once.

    It is a YAML file, the name of a config that comes with the package, a run's folder or
    ``run.json``, or Python data, whose paths are relative to `folder`. An override is
    ``key.path=value``, with the value as in YAML: ``split.test_size=0.1``,
    ``algorithms[0].params.k=20``.
    """
    name = "run"
    try:
        if isinstance(config, Experiment):
            document = Document("config", config.model_dump(mode="json", exclude_unset=True))
        elif isinstance(config, Mapping):
            if any(map(_is_of_surprise, (config.get("algorithms"), config.get("split")))):
                from harness.config.from_surprise import as_sections

                config = as_sections(config)
            data = {key: plain_data(value) for key, value in config.items()}
            document = _extended(with_variables(Document("config", data, folder=folder)))
        elif not isinstance(config, str | os.PathLike):
            raise _no_config(config)
        else:
            document = read_config(config)
            name = re.sub(r"(?a)[^\w.-]", "-", Path(config).stem).lstrip("._-")[:80] or name
        document.data.setdefault("name", name)
        if not isinstance(overrides, list | tuple) or overrides:
            from harness.config.overrides import listed, set_key

            for override in listed(overrides):
                set_key(document, override)
        if document.recorded and not trust and (code := all_code_named(document.data)):
            from harness.config.places import refusal

            advice = "read that code first; `--trust` then imports and runs it"
            raise refusal(document.source, f"it names code, {joined(code)}; {advice}")
        plugins.forget_records()
        if with_ratings:
            from harness.config.stand_in import stand_in

            stand_in(document)
        return checked(document, with_ratings=with_ratings), document
    except RecursionError:
        from harness.config.places import refusal

        source = str(config) if isinstance(config, str | Path) else "config"
        raise refusal(source, "nested too deeply; flatten it") from None


def _no_config(config: object) -> ConfigError:
    from harness.config.places import refusal
    from harness.key_paths import brief

    return refusal("config", f"found {brief(config)}; give a path, a mapping or an Experiment")


def read_config(config: str | Path) -> Document:
    """Read a config with what it extends; nothing in it is validated, and no code imported."""
    from harness.config.files import read

    return _extended(read(Path(config)))


def _extended(document: Document) -> Document:
    if document.recorded or document.data.get("extends") is None:
        return document
    from harness.config.bases import extended

    return extended(document)


def _is_of_surprise(value: object) -> bool:
    """Return whether a value is a class or an object of Surprise, or a list with one."""
    if isinstance(value, list | tuple):
        return any(map(_is_of_surprise, value))
    kind = value if isinstance(value, type) else type(value)
    return kind.__module__.partition(".")[0] == "surprise"
