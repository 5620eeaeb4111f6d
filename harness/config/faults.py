"""Everything that is wrong in a config, each fault at its key; imported where something is."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic_core import ErrorDetails

from harness.config.document import Document
from harness.config.experiment import Experiment
from harness.config.files import RENAMED
from harness.config.places import fault_at, key_at, line_of
from harness.errors import Fault
from harness.section_faults import explained
from harness.sections import KeyPath


def at_keys(document: Document, findings: Iterable[tuple[KeyPath, str]]) -> list[Fault]:
    """Return what is wrong at keys, as faults."""
    return [fault_at(document, path, message) for path, message in findings]


def without_data(name: str) -> Fault:
    """Return the fault of the record of a run whose data were given from Python."""
    source = f"the ratings ({name}) were given from Python"
    advice = "give them again there as ratings=..., or name a file in their place"
    return Fault(0, "dataset", f"{source}; {advice}")


def repeated(document: Document, key: str, first: int, second: int, how: str) -> Fault:
    """Return the fault that two entries of a list give the same cells, with both places."""
    line = line_of(document, (key, first))
    where = f"{key}[{first}]" + (f" (line {line})" if line else "")
    return fault_at(document, (key, second), f"{how} {where}; remove one of them")


def explained_at_key(error: ErrorDetails, document: Document) -> Fault:
    """Turn one entry of ``ValidationError.errors()`` into a fault at its key."""
    path = key_at(document, error["loc"])
    if error["type"] == "missing":
        path = (*path, error["loc"][-1])
    elif error["type"] == "union_tag_invalid":  # a plain string has no key `kind`
        path = key_at(document, (*error["loc"], "kind"))
    renamed = RENAMED.get(str(path[-1])) if error["type"] == "extra_forbidden" else None
    message = f"this key is now called `{renamed}`; rename it" if renamed else ""
    if error["type"] == "extra_forbidden" and str(path[-1]).startswith("+"):
        message = "`+` adds to a list of another config; name that config in `extends`"
    return fault_at(document, path, message or explained(error, Experiment, document.data))
