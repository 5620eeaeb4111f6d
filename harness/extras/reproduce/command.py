"""``harness reproduce``: published numbers, computed again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from harness.console.command import Command, command
from harness.console.progress import display
from harness.console.screen import documents, give_result, number, say, show_table
from harness.extras import reproduce as published
from harness.extras.reproduce import sources

if TYPE_CHECKING:
    from harness.extras.reproduce import ReproducedValue


LONG = 24
"""Longer values are shown as text."""


class _Sources(Command):
    """A command whose help names the published sources."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the keys of the sources below the options."""
        formatter.write_paragraph()
        with formatter.section("Sources"):
            formatter.write_dl(list(sources().items()))
        super().format_epilog(ctx, formatter)


@command("reproduce", "reproduce --no-runs", group="Check others' numbers", cls=_Sources)
@click.argument("sources", metavar="[SOURCE]...", nargs=-1)
@click.option("--quiet", "-q", is_flag=True, help="Print only the table.")
@click.option(
    "--no-runs", is_flag=True, help="Compute only numbers that need no data and no training."
)
def reproduce(sources: tuple[str, ...], quiet: bool, no_runs: bool) -> int:
    """Compute published numbers again and compare them.

    All sources without SOURCE. The exit code is 1 if a number differs.
    """
    with display(quiet) as watch:
        runs = {} if no_runs else published.trained_runs(watch)
        reproduction = published.Reproduction.of(*sources, runs=runs)
    counts = reproduction.counts
    if documents:
        give_result(json.loads(reproduction.to_json()))
        return 1 if counts["differs"] else 0
    for key, findings in reproduction.findings.items():
        seconds = "" if no_runs else f", {reproduction.seconds[key]:.1f} s"
        say(f"\n{published.sources()[key]} [{key}]{seconds}\n")
        _show_findings(findings)
    if any(
        isinstance(finding.here, published.Band)
        for findings in reproduction.findings.values()
        for finding in findings
    ):
        say(
            "\nBand: the source set no seed. Its value is compared with the 99% prediction "
            "interval of one more seed."
        )
    agree, printed = reproduction.digits
    say(
        f"\n{', '.join(f'{count} {verdict}' for verdict, count in counts.items())}; "
        f"{agree:,} of {printed:,} printed digits agree"
    )
    return 1 if counts["differs"] else 0


def _show_findings(findings: list[ReproducedValue]) -> None:
    """Print the values of one source, and the notes on those that are not equal."""
    columns = ["quantity", "published", "here", "difference", "verdict"]
    rows = [
        [
            finding.quantity,
            number(finding.published, ".10g"),
            number(finding.here, ".10g"),
            number(finding.difference, ".1e"),
            finding.verdict,
        ]
        for finding in findings
    ]
    long = any(len(value) > LONG for row in rows for value in row[1:3])
    show_table(columns, rows, columns if long else ["quantity", "verdict"])
    notes: dict[str, list[str]] = {}
    for finding in findings:
        if finding.note and finding.verdict not in ("equal", "equal as printed"):
            notes.setdefault(finding.note, []).append(finding.quantity)
    for note, quantities in notes.items():
        few = ", ".join(quantities) if len(quantities) < 4 else f"{len(quantities)} values"
        say(f"note: {few}: {note}")
