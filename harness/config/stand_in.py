"""Loaded ratings in the place of the data set that a config names."""

from __future__ import annotations

from harness.config.document import Document
from harness.config.from_python import GIVEN, name_of_given
from harness.config.places import fault_at
from harness.datasets.section import OF_LOADED, DatasetSection
from harness.errors import ConfigError, counted
from harness.key_paths import brief


def stand_in(document: Document) -> None:
    """Put loaded ratings in the place of the data set that a config names; its options hold.

    A mapping that says where ratings are, or how a file is written, is refused by its keys.
    """
    written = document.data.get("dataset")
    one = isinstance(written, list) and len(written) == 1
    entry = written[0] if one else written  # type: ignore[index]
    where = ("dataset", 0) if one else ("dataset",)
    if isinstance(entry, list):
        message = f"found {counted(len(entry), 'data set')}; `ratings` are one: leave this out"
        raise ConfigError(document.source, [fault_at(document, where, message)])
    options: dict[str, object] = {}
    if isinstance(entry, dict):
        options = {key: value for key, value in entry.items() if key != "path"}
        if name_of_given(entry) is None:
            options = dict(entry)
    faults = []
    for key, value in [*options.items()]:
        field = DatasetSection.model_fields.get(key)
        if key in OF_LOADED or field is None:
            continue
        del options[key]
        if value != field.default:
            message = f"found {brief(value)}; `ratings` from Python have none: leave one out"
            faults.append(fault_at(document, (*where, key), message))
    if faults:
        raise ConfigError(document.source, faults)
    section = {"path": f"{GIVEN}ratings", **options}
    document.data["dataset"] = [section] if one else section
