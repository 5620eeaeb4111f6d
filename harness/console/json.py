"""The option ``--json``: what a command has to say, as one JSON document."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import harness
from harness.errors import ConfigError
from harness.notes.note import plain

if TYPE_CHECKING:
    from harness.results.runs import Run


SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "What a command of harness prints with --json",
    "type": "object",
    "required": ["command", "version", "exit", "result", "tables", "lines", "files", "error"],
    "additionalProperties": False,
    "properties": {
        "command": {"type": "string", "description": "The name, for example `cache list`."},
        "version": {"type": "string", "description": "The version of harness."},
        "exit": {"type": "integer", "description": "The exit code of the process."},
        "result": {
            "description": "What the command computed, unrounded; null where it has no more than "
            "the other keys say, and after an error, except of kind `check`."
        },
        "tables": {
            "type": "array",
            "description": "The tables that the screen shows, as they are shown.",
            "items": {
                "type": "object",
                "required": ["columns", "rows"],
                "additionalProperties": False,
                "properties": {
                    "columns": {"type": "array", "items": {"type": "string"}},
                    "rows": {"type": "array", "items": {"type": "array"}},
                },
            },
        },
        "lines": {
            "type": "array",
            "items": {"type": "string"},
            "description": "The sentences that the screen shows, notes among them.",
        },
        "files": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Paths of what was written.",
        },
        "error": {
            "description": "What stopped the command, or would stop the run that `harness check` "
            "was asked about; null if nothing did.",
            "anyOf": [
                {"type": "null"},
                {
                    "type": "object",
                    "required": ["kind", "message", "faults"],
                    "additionalProperties": False,
                    "properties": {
                        "kind": {
                            "type": "string",
                            "description": "The class of the error, `usage`, `interrupted` or "
                            "`check`.",
                        },
                        "message": {"type": "string"},
                        "faults": {
                            "type": "array",
                            "description": "The problems in a config or its data, with their "
                            "places.",
                            "items": {
                                "type": "object",
                                "required": ["source", "line", "key", "message"],
                                "additionalProperties": False,
                                "properties": {
                                    "source": {"type": "string"},
                                    "line": {
                                        "type": "integer",
                                        "description": "From 1; 0 where there is none.",
                                    },
                                    "key": {"type": "string"},
                                    "message": {"type": "string"},
                                },
                            },
                        },
                    },
                },
            ],
        },
    },
}
"""JSON Schema of the document; `harness schema --format output` prints it."""


class JsonDocument:
    """What a command has to say, gathered until it ends.

    Parameters
    ----------
    command : str
        The name of the command.
    """

    def __init__(self, command: str) -> None:
        self.command = command
        self.result: Any = None
        self.tables: list[dict[str, object]] = []
        self.lines: list[str] = []
        self.files: list[str] = []
        self.error: dict[str, object] | None = None

    def add_text(self, text: str, *, is_data: bool) -> None:
        """Add sentences, each on a line; a lone text in a file format is the result."""
        if is_data:
            earlier = self.result["text"] + "\n" if self._is_text() else ""
            if earlier or self.result is None:
                self.result = {"text": earlier + text}
            return
        self.lines += [line.strip() for line in text.split("\n") if line.strip()]

    def _is_text(self) -> bool:
        return isinstance(self.result, dict) and [*self.result] == ["text"]

    def add_table(self, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Add a table as it is shown."""
        self.tables.append({"columns": [*map(str, columns)], "rows": [[*row] for row in rows]})

    def add_run(self, run: Run) -> None:
        """Add a run to the result of a command that shows runs."""
        runs = self.result["runs"] if isinstance(self.result, dict) else []
        self.result = {"runs": [*runs, run_result(run)]}

    def fail(self, kind: str, message: str, error: BaseException | None = None) -> None:
        """Say what stopped the command."""
        faults: list[dict[str, object]] = []
        if isinstance(error, ConfigError):
            faults = [
                {
                    "source": fault.source or error.source,
                    "line": fault.line,
                    "key": fault.key,
                    "message": fault.message,
                }
                for fault in error.faults
            ]
        self.error = {"kind": kind, "message": message, "faults": faults}
        self.result = None

    def to_json(self, status: int) -> str:
        """Return the document, in ASCII, which every encoding has."""
        document = {
            "command": self.command,
            "version": harness.__version__,
            "exit": status,
            "result": self.result,
            "tables": self.tables,
            "lines": self.lines,
            "files": self.files,
            "error": self.error,
        }
        return json.dumps(as_data(document), indent=1, allow_nan=False)


def as_data(value: object) -> object:
    """Return a value as JSON has it: null for a number that is not finite, rows of a data frame.

    >>> as_data({"a": (1.0, float("nan")), "b": None})
    {'a': [1.0, None], 'b': None}
    """
    if hasattr(value, "to_dict") and hasattr(value, "columns"):
        value = value.to_dict("records")
    if isinstance(value, Mapping):
        return {str(key): as_data(inner) for key, inner in value.items()}
    if isinstance(value, PurePath):
        return value.as_posix()
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list | tuple | set | frozenset):
        return [as_data(inner) for inner in value]
    converted = plain(value)
    same = converted is value or type(converted) is type(value)
    return str(value) if same else as_data(converted)


def run_result(run: Run) -> dict[str, Any]:
    """Return a run: its table with unrounded values, verdicts, notes and failed cells."""
    from harness.results.verdict import verdicts  # help needs none of it

    return {
        "name": run.name,
        "folder": None if run.folder is None else str(run.folder),
        "headline": run.info.primary,
        "metrics": list(run.info.metrics),
        "verdicts": [verdict.to_dict() for verdict in verdicts(run.info)],
        "rows": run.table,
        "notes": [note.to_dict() for note in run.info.notes],
        "failed": [{"algorithm": cell.algorithm, "error": cell.error} for cell in run.info.failed],
    }
