"""What an audit finds: codes with sizes, and their text from ``checks.toml``."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Literal

from harness.errors import counted
from harness.results.fields import Number, Params, Record, Text, Word


class Finding(Record):
    """One finding of an audit.

    Attributes
    ----------
    id, level : str
        As ``unknown-ids`` or ``ties``. A ``fault`` makes numbers wrong; under a ``caution`` they
        depend on a choice, or say less than they seem to.
    code : str
        The kind of the finding, such as ``unknown-ids.constant``.
    values : dict
        Its numbers and names: a share is ``n`` of ``n_all``.
    what, where : str
        What was found, with its numbers; and the rows, users or algorithms.
    effect : dict of str to dict of str to float
        By metric, its values with and without the problem, or under each choice; None if unknown.
    case : str
        A published case.
    """

    id: Word
    level: Literal["fault", "caution"]
    code: Word
    values: Params
    what: Text
    where: Text
    effect: dict[Word, dict[Word, Number | None]]
    case: Text

    @property
    def is_usual(self) -> bool:
        """Whether nearly every table has it, so that the text says it in one line."""
        return bool(checks()[self.id].get("usual"))


class Audit(Record):
    """What `audit` finds; ``print`` shows it.

    Attributes
    ----------
    input, summary : str
        What was read.
    findings : list of Finding
        The most severe first.
    checked : list of str
        Ids of the checks that were made.
    not_checked : dict of str to str
        Ids of the others, with the reason and what to give.
    """

    input: Word
    summary: Text
    findings: list[Finding]
    checked: list[Word]
    not_checked: dict[Word, Text]

    def to_json(self) -> str:
        """Return everything as JSON."""
        return json.dumps(self.model_dump(), indent=1, ensure_ascii=False)

    def __str__(self) -> str:
        return "\n".join(_text(self))


def _text(audit: Audit) -> Iterator[str]:
    """Yield paragraphs; the published case of a check follows its last finding."""
    shown = [finding for finding in audit.findings if not finding.is_usual]
    levels = [finding.level for finding in shown]
    counts = {word: levels.count(word) for word in ("fault", "caution")}
    numbers = [counted(n, word) if n else f"no {word} found" for word, n in counts.items()]
    yield f"{audit.input}: {audit.summary}\n{', '.join(numbers)}"
    heading = ""
    for n, finding in enumerate(shown, 1):
        if heading != (heading := f"\n{finding.level} {finding.id}: {finding.what}"):
            yield heading
        if finding.where:
            yield f"  where: {finding.where}"
        for label, values in finding.effect.items():
            yield f"  {label}: {', '.join(f'{name} {_number(v)}' for name, v in values.items())}"
        if n == len(shown) or shown[n].id != finding.id:
            yield f"  known case: {finding.case}"
    ids = {finding.id for finding in audit.findings}
    clean = [check for check in audit.checked if check not in ids]
    yield f"\nchecked, nothing found: {', '.join(clean) or 'none'}"
    for why in dict.fromkeys(audit.not_checked.values()):
        unchecked = [check for check, reason in audit.not_checked.items() if reason == why]
        yield f"not checked: {', '.join(unchecked)}, because {why}"
    if usual := list(dict.fromkeys(map(_in_short, filter(_is_usual, audit.findings)))):
        yield f"usual, in nearly every table: {'; '.join(usual)}"


def _is_usual(finding: Finding) -> bool:
    return finding.is_usual


def _in_short(finding: Finding) -> str:
    """Return a finding in a few words: its check, and the values under each choice."""
    effects = [
        f"{label} {', '.join(f'{name} {_number(value)}' for name, value in values.items())}"
        for label, values in finding.effect.items()
    ]
    return f"{finding.id} ({'; '.join(effects)})"


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.4f}"


@cache
def checks() -> dict[str, dict[str, Any]]:
    """Return the checks by id, the most severe first: level, title, published case, sentences."""
    text = Path(__file__).with_name("checks.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
