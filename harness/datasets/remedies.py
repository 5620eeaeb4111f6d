"""Keys of a config with which ratings can be read, and how they are written.

A text holds a remedy as keys of the ``dataset`` part of a config, in backticks: ``decimal: ','`` or
``columns: {user: 2, item: 1}``. On the command line, the same text has them as they are typed.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

_WORD = re.compile(r"[A-Za-z_\u00c0-\uffff][\w.()/-]*( [\w.()/-]+)*")
_RESERVED = ("null", "true", "false", "yes", "no", "on", "off", "y", "n")


def written(value: object) -> str:
    """Return a value as YAML holds it on a line.

    Examples
    --------
    >>> written({"user": "who", "item": 2, "timestamp": None}), written([0.0, -1.5]), written(",")
    ('{user: who, item: 2, timestamp: null}', '[0, -1.5]', "','")
    """
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{written(key)}: {written(of)}" for key, of in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(written, value)) + "]"
    if isinstance(value, int | float):
        return f"{value:.16g}"
    text = str(value)
    if _WORD.fullmatch(text) and text.casefold() not in _RESERVED:
        return text
    if not text.isprintable():
        return json.dumps(text)
    return "'" + text.replace("'", "''") + "'"


@dataclass(frozen=True)
class Remedy:
    r"""Keys of the ``dataset`` part of a config that make data readable, with their values.

    Examples
    --------
    >>> str(Remedy({"decimal": ","}))
    "`decimal: ','`"
    >>> Remedy({"decimal": ","}).typed()
    '--set "dataset.decimal=\',\'"'
    >>> Remedy({"columns": {"user": "who", "item": 2}}).typed()
    '--data-columns user=who,item=2'
    >>> Remedy({"columns": {"timestamp": None}}).typed()
    '--set dataset.columns.timestamp=null'
    """

    keys: Mapping[str, Any]

    def __str__(self) -> str:
        return "`" + ", ".join(f"{key}: {written(value)}" for key, value in self.keys.items()) + "`"

    def typed(self, option: str = "--data-columns") -> str:
        """Return the remedy as options of the command line; `option` is the one that names columns.

        Columns whose names the option cannot hold, as those with a comma, are set as a key.
        """
        words = []
        for key, value in self.keys.items():
            if key == "columns" and all(_is_plain(name) for name in value.values()):
                names = ",".join(f"{role}={name}" for role, name in value.items())
                words.append(f"{option} {shlex.quote(names)}")
            elif key == "columns":
                words += [
                    "--set " + _quoted(f"dataset.{key}.{name}={written(of)}")
                    for name, of in value.items()
                ]
            else:
                words.append("--set " + _quoted(f"dataset.{key}={written(value)}"))
        return " ".join(words)


def _is_plain(name: object) -> bool:
    is_number = isinstance(name, str) and name.isdigit()
    return name is not None and not is_number and not re.search(r"[,=`]", str(name))


def _quoted(text: str) -> str:
    """Return a text as one word of a shell; YAML's own quotes are single ones."""
    if re.fullmatch(r"[\w.=:/@%+-]+", text):
        return text
    return '"' + re.sub(r'([\\"$`!])', r"\\\1", text) + '"'


_KEYS = re.compile(r"`([a-z_]+: [^`\n]+)`")


def remedies_of(text: str) -> list[Remedy]:
    """Return the remedies that a message or a note names, in its order.

    Examples
    --------
    >>> remedies_of("a.csv:2: no rating; fix the data, or `missing: drop` drops it")
    [Remedy(keys={'missing': 'drop'})]
    """
    return [remedy for found in _KEYS.finditer(text) if (remedy := _parsed(found[1])) is not None]


def typed(text: str, option: str = "--data-columns") -> str:
    """Return a message or a note with its remedies as they are typed on the command line.

    Examples
    --------
    >>> typed("a.csv:2: no rating; fix the data, or `missing: drop` drops it")
    'a.csv:2: no rating; fix the data, or `--set dataset.missing=drop` drops it'
    """

    def replaced(found: re.Match[str]) -> str:
        remedy = _parsed(found[1])
        return found[0] if remedy is None else f"`{remedy.typed(option)}`"

    return _KEYS.sub(replaced, text)


def _parsed(text: str) -> Remedy | None:
    try:
        keys = YAML(typ="safe", pure=True).load("{" + text + "}")
    except YAMLError:
        return None
    return Remedy(keys) if isinstance(keys, dict) and all(map(str.isidentifier, keys)) else None
