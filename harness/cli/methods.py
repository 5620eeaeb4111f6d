"""``harness methods``: the methods of a run for a paper."""

from __future__ import annotations

from pathlib import Path

import click

from harness._util.files import refuse_other_form, write_output
from harness.console import options
from harness.console import options as words
from harness.console.command import command
from harness.console.screen import say, say_written
from harness.errors import HarnessError
from harness.report import methods as accounts


@command(
    "methods quickstart --format latex",
    "methods quickstart --checklist -o checklist.md",
    group="Look at results",
)
@click.argument("run", metavar="RUN", shell_complete=words.run_names)
@options.results
@options.formats("markdown", "latex")
@click.option(
    "--checklist", is_flag=True, help="The questions of reviewers, with the answers of the run."
)
@click.option(
    "-o",
    "--output",
    type=options.printed,
    help="A file, LaTeX if it ends with .tex; by default, or with -, it is printed.",
)
@options.force
def methods(run: str, results: Path, form: str, checklist: bool, output: Path | None) -> int:
    """Print the methods of a run for a paper, or a checklist for its reviewers.

    The methods include references; in Markdown, also BibTeX. The checklist is Markdown, and ticks
    only the questions that the run answers.
    """
    (opened,) = options.opened((run,), results)
    if checklist and form == "latex":
        raise HarnessError("--format latex: the checklist is Markdown; leave one of them out")
    if output is not None:
        ending = output.suffix.lower()
        if ending == ".tex" and not checklist and not options.in_the_call("form"):
            form = "latex"
        refuse_other_form(output, *(("LaTeX", ".tex") if form == "latex" else ("Markdown", ".md")))
    write = accounts.to_latex if form == "latex" else accounts.to_markdown
    text = (accounts.checklist if checklist else write)(opened.info)
    if output is None:
        say(text.removesuffix("\n"), is_data=True)
    else:
        say_written(write_output(output, text))
    return 0
