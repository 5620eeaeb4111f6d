"""Write what the code says of itself into the reference pages, between their markers.

python dev/tools/build_reference.py          rewrite the pages, and what the package has of itself
python dev/tools/build_reference.py --check  exit 1 if a file is not what it would write

A page marks a place with ``<!-- begin: NAME -->`` and ``<!-- end -->``; NAME is one of `PARTS`,
functions that yield paragraphs and tables.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from harness import datasets, metrics
from harness.algorithms import registry
from harness.console.command import GROUPS, Command
from harness.console.commands import SUMMARIES_FILE, _harness
from harness.errors import joined
from harness.plugins import registry as plugins
from harness.report import styles
from harness.schema.sections import Range

PAGES = Path(__file__).parents[2] / "docs" / "reference"
REPRODUCED = PAGES.parents[1] / "results" / "reproduced.json"
BADGE = PAGES.parent / "images" / "badge-reproduced.svg"
MARKED = re.compile(r"(?<=<!-- begin: )([a-z-]+)( -->\n)(.*?)(?=<!-- end -->)", re.DOTALL)
DOI = re.compile(r"doi:(10\.\S+?)(?=[;,.]?(?:\s|$))")


def metric_table() -> Iterator[str]:
    """Yield an overview of the metrics."""
    yield _table(
        ["label", "what it measures", "range", "better", "table value"],
        (
            [
                f"[`{each.name}{'' if each.cut == 'none' else '@k'}`](#{each.name})",
                _text(each.summary),
                _range(each.range),
                "higher" if each.higher_is_better else "lower",
                "over everything" if each.pooled else "mean over users",
            ]
            for each in metrics.describe()
        ),
    )


def metric_details() -> Iterator[str]:
    """Yield a section for each metric: meaning, formula, source, parameters."""
    for each in metrics.describe():
        yield from (f"### {each.name}", _text(each.summary), f"```text\n{each.formula}\n```")
        yield f"Source: {_linked(each.source)}"
        if each.parameters:
            yield _table(
                ["parameter", "default", "values", "what it decides"],
                (
                    [f"`{p.name}`", f"`{p.default}`", f"{_text(p.choices)}", _text(p.summary)]
                    for p in each.parameters
                ),
            )


def conventions() -> Iterator[str]:
    """Yield a section for each named set of choices: labels and notes."""
    for name, each in metrics.conventions().items():
        yield from (f"### {name}", f"{_text(each.source)}.")
        labels = ([role, f"`{label}`"] for role, label in each.metrics(k=10).items())
        yield _table(["there", "label here"], labels)
        yield _list(map(_text, each.notes))


def commands() -> Iterator[str]:
    """Yield a section for each command: usage, what it does, arguments and options."""
    yield from _command(_harness, ("harness",))


def algorithm_table() -> Iterator[str]:
    """Yield an overview of the algorithms."""
    for kind, title in (
        ("surprise", "Surprise's"),
        ("top-n", "For top-N lists"),
        ("library", "Other libraries'"),
        ("baseline", "Baselines"),
    ):
        yield f"### {title}"
        yield _table(
            ["name", "what it does", "parameters and their defaults"],
            (
                [f"`{each.name}`", _text(each.summary), _defaults(each.parameters())]
                for each in registry.algorithms().values()
                if each.kind == kind
            ),
        )


def unknown_users() -> Iterator[str]:
    """Yield what each algorithm answers for a user without training ratings."""
    answers: dict[str, list[str]] = {}
    for each in registry.algorithms().values():
        answers.setdefault(each.unknown_user, []).append(f"`{each.name}`")
    rows = ([", ".join(names), answer] for answer, names in answers.items())
    yield _table(["algorithm", "estimate for a user without training ratings"], rows)


def spaces() -> Iterator[str]:
    """Yield what `search: recommended` stands for."""
    rows = (
        [
            f"`{each.name}`",
            "<br>".join(f"`{name}`: {_values(values)}" for name, values in each.space.items())
            or "nothing to tune",
        ]
        for each in registry.algorithms().values()
    )
    yield _table(["algorithm", "space"], rows)


def dataset_table() -> Iterator[str]:
    """Yield an overview of the data sets."""
    yield _table(
        ["name", "title", "ratings", "users", "items", "scale", "licence"],
        (
            [
                f"`{each.name}`",
                _text(each.title),
                f"{each.n_ratings:,}",
                f"{each.n_users:,}",
                f"{each.n_items:,}",
                "{:g} to {:g}".format(*each.scale),
                each.licence,
            ]
            for each in datasets.available()
        ),
        right=("ratings", "users", "items"),
    )


def citations() -> Iterator[str]:
    """Yield what each source asks to be cited as, once."""
    named: dict[str, list[str]] = {}
    for each in datasets.available():
        if each.citation:
            named.setdefault(each.citation, []).append(f"`{each.name}`")
    yield _list(f"{', '.join(names)}: {_linked(cited)}" for cited, names in named.items())


def reproduction() -> dict[str, Any]:
    """Return what `harness reproduce --json` wrote; before version 0.3, its result alone."""
    document = json.loads(REPRODUCED.read_text(encoding="utf-8"))
    return dict(document.get("result", document))


def reproduced() -> Iterator[str]:
    """Yield the values of `results/reproduced.json`."""
    record = reproduction()
    agree, printed = record["digits"]
    counts = ", ".join(f"{count} {verdict}" for verdict, count in record["counts"].items())
    yield f"{agree:,} of {printed:,} printed digits agree. Values: {counts}."
    for source in record["sources"]:
        yield f"### {source['source']}"
        yield f"{_text(source['title'])}. Computed in {source['seconds']:.1f} s."
        findings = source["findings"]
        yield _table(
            ["quantity", "published", "here", "verdict"],
            (
                [
                    _text(each["quantity"]),
                    *(_shown(each[key]) for key in ("published", "here")),
                    each["verdict"],
                ]
                for each in findings
            ),
            right=("published", "here"),
        )
        of_note: dict[str, list[str]] = {}
        for each in findings:
            if each["note"] and not each["verdict"].startswith(("equal", "another")):
                of_note.setdefault(each["note"], []).append(each["quantity"])
        yield _list(_text(f"{joined(of)}: {note}") for note, of in of_note.items())


def _shown(value: object) -> str:
    if isinstance(value, dict):  # a band
        return f"{value['low']:.4g} to {value['high']:.4g}"
    text = f"{value:.10g}" if isinstance(value, float) else str(value)
    return "" if value is None else _text(text)


def badge() -> str:
    """Return the badge of the digits that agree, as an image."""
    agree, printed = reproduction()["digits"]
    text = BADGE.read_text(encoding="utf-8")
    return re.sub(r"[\d,]+ of [\d,]+ digits", f"{agree:,} of {printed:,} digits", text)


PARTS: dict[str, Callable[[], Iterator[str]]] = {
    "metric-table": metric_table,
    "metric-details": metric_details,
    "conventions": conventions,
    "commands": commands,
    "algorithm-table": algorithm_table,
    "spaces": spaces,
    "unknown-users": unknown_users,
    "dataset-table": dataset_table,
    "citations": citations,
    "reproduced": reproduced,
}


def written(text: str) -> str:
    """Return a page with every marked part as the code has it."""

    def part(match: re.Match[str]) -> str:
        shown = "\n\n".join(filter(None, PARTS[match[1]]()))
        return f"{match[1]}{match[2]}\n{shown}\n\n"

    return MARKED.sub(part, text)


def algorithms_of_the_report() -> str:
    """Return what the report, which must not import the registry, knows of algorithms."""
    fields = styles.KnownAlgorithm.model_fields.keys() - {"defaults"}
    lines = []
    for name, each in registry.algorithms().items():
        defaults = {key: value for key, value in each.parameters().items()
                    if isinstance(value, int | float | str)}  # fmt: skip
        entry = styles.KnownAlgorithm(
            **{key: getattr(each, key) for key in fields}, defaults=defaults
        )
        shown = entry.model_dump_json(exclude_defaults=True)
        lines.append(f" {json.dumps(name)}: {shown}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def summaries_of_commands() -> str:
    """Return what the list of commands, which must not import them, says of each."""
    context = click.Context(_harness)
    summaries: dict[str, dict[str, str]] = {title: {} for title in GROUPS}
    for name in plugins.builtin_names("commands"):
        command = _harness.get_command(context, name)
        assert isinstance(command, Command)
        summaries[command.help_group][name] = command.get_short_help_str()
    return json.dumps(summaries, indent=1, ensure_ascii=False) + "\n"


def _command(command: click.Command, names: tuple[str, ...]) -> Iterator[str]:
    context = click.Context(command, info_name=" ".join(names))
    level = "##" if len(names) <= 2 else "###"
    if len(names) > 1:
        yield f"{level} {' '.join(names)}"
    yield _paragraphs(command.help or "")
    usage = " ".join([*names, *command.collect_usage_pieces(context)])
    yield f"```text\n{usage}\n```"
    records = [
        record
        for parameter in command.get_params(context)
        if isinstance(parameter, click.Option) and (record := parameter.get_help_record(context))
    ]
    rows = ([f"`{_escaped(names)}`", _text(meaning)] for names, meaning in records)
    yield _table(["option", "what it does"], rows)
    if examples := getattr(command, "examples", ()):
        yield "```sh\n" + "\n".join(examples) + "\n```"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None and not inner.hidden:
                yield from _command(inner, (*names, name))


def _paragraphs(text: str) -> str:
    """Return help as click wraps it: a paragraph a line, no marks for form feeds."""
    kept = text.split("\f")[0].replace("\b", "")
    return "\n\n".join(" ".join(each.split()) for each in kept.strip().split("\n\n"))


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[str] = ()) -> str:
    marks = ["---:" if each in right else "---" for each in columns]
    return "\n".join(f"| {' | '.join(row)} |" for row in [columns, marks, *rows])


def _list(entries: Iterable[str]) -> str:
    return "\n".join(f"- {each}" for each in entries)


def _text(text: str) -> str:
    """Return prose that Markdown shows as it is; backticks keep their meaning."""
    parts = text.split("`")
    for position in range(0, len(parts), 2):
        for character in "\\*_|<>[]":
            parts[position] = parts[position].replace(character, f"\\{character}")
    return "`".join(parts)


def _escaped(code: str) -> str:
    """Return code that stands between backticks in a cell of a table."""
    return code.replace(" RANGE", "").replace("|", "\\|")


def _linked(text: str) -> str:
    """Return prose with its DOIs as links."""
    words, *rest = DOI.split(text)
    parts = [_text(words)]
    for doi, words in zip(rest[::2], rest[1::2], strict=True):
        parts += [f"[doi:{doi}](https://doi.org/{doi})", _text(words)]
    return "".join(parts)


def _range(limits: tuple[float, float]) -> str:
    return "{:g} to {:g}".format(*limits).replace("-inf", "−∞").replace("inf", "∞")


def _defaults(params: dict[str, Any]) -> str:
    return ", ".join(f"`{name}={value!r}`" for name, value in params.items()) or "none"


def _values(values: Any) -> str:
    if isinstance(values, Range):
        return f"{values.low:g} to {values.high:g}" + (", by logarithm" if values.log else "")
    return ", ".join(
        str(value).lower() if isinstance(value, bool) else str(value) for value in values
    )


def main() -> int:
    """Rewrite the pages, or say whether they are current."""
    stale = []
    others = {
        styles.ALGORITHMS_FILE: algorithms_of_the_report,
        SUMMARIES_FILE: summaries_of_commands,
        BADGE: badge,
    }
    for page in [*others, *sorted(PAGES.glob("*.md"))]:  # pages list what the others hold
        before = page.read_text(encoding="utf-8") if page.exists() else ""
        after = others[page]() if page in others else written(before)
        if before != after:
            stale.append(page.name)
            if "--check" not in sys.argv:
                page.write_text(after, encoding="utf-8")
    if "--check" in sys.argv and stale:
        print(f"{', '.join(stale)}: not what the code says; run dev/tools/build_reference.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
