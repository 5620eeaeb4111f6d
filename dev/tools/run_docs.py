"""Run what the documentation shows, and write what came out into the pages.

python dev/tools/run_docs.py [PAGE...]          rewrite the outputs in docs/
python dev/tools/run_docs.py --check [PAGE...]  exit 1 if a page shows what no longer comes out

Three things in a page are live; every page has a temporary folder of its own to run in:

- a ``console`` block: each line that starts with ``$ `` is run, and what it prints, messages
  included, stands below it;
- a ``text`` block after ``<!-- output -->``: what the Python block before it prints;
- a block after ``<!-- file: NAME -->`` is written to that file first.

Seconds and megabytes differ from day to day and from machine to machine; they are not compared, nor
is the note that names day and machine, nor what only a slow machine prints: how far a stage is.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).parents[2]
DOCS = TOP / "docs"
BLOCK = re.compile(
    r"(?P<mark><!-- (?:file: (?P<file>\S+)|output) -->\n\n?)?"
    r"(?P<open>^```(?P<kind>\w+)[^\n]*\n)(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
VARYING = (
    (re.compile(r"(?:\d+\.\d\d\s+){3}\d+(?= )"), "<seconds and megabytes> "),
    (re.compile(r"\d+\.\d\s+(?=<seconds and)"), ""),
    (re.compile(r"(?:\| \d+\.\d\d ){3}\| \d+ "), "| <seconds and megabytes> "),
    (re.compile(r"\d+\.\d\d(?: s\b|$)", re.MULTILINE), "<seconds>"),
    (re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d[:-]\d\d(?:-\d\d)?"), "<moment>"),
    (re.compile(r"(?<= measured on )\d{4}-\d\d-\d\d, .* cores?(?=, )"), "<day and machine>"),
    (re.compile(r"(?<= at a time with )\d+ threads?"), "<threads>"),
    (re.compile(r"[ \t]+"), " "),
    (re.compile(r"[-─]+"), "-"),  # whose length is that of the widest seconds
)
TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d ", re.MULTILINE)
"""Before lines of progress that do not go to a terminal; a page shows what a terminal does."""
ON_A_SLOW_MACHINE = re.compile(
    r"first run on this machine: .*"
    r"|(?:[a-z]+, )(?:\d+%|(?:epoch|user) [\d,]+ of [\d,]+)(?: of .*)?"
)
"""Lines that only a first run prints, or a stage that takes seconds."""


def comparable(output: str) -> str:
    """Return output without what differs from machine to machine."""
    for pattern, word in VARYING:
        output = pattern.sub(word, output)
    lines = (line.strip() for line in output.splitlines())
    return "\n".join(line for line in lines if not ON_A_SLOW_MACHINE.fullmatch(line)).strip()


def run_page(page: Path) -> str:
    """Return a page with every output as it comes out now."""
    text = page.read_text(encoding="utf-8")
    if "```console" not in text and "<!-- output -->" not in text:
        return text
    with tempfile.TemporaryDirectory() as name:
        session = _Session(Path(name))
        return BLOCK.sub(session.block, text)


class _Session:
    """The folder in which the commands of one page run, one after the other."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "work"
        self.folder.mkdir()
        (self.folder / "configs").symlink_to(TOP / "configs")
        self.environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("HARNESS_", "COLUMNS"))},
            "HARNESS_CACHE": str(folder / "cache"),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        self.python = ""

    def block(self, match: re.Match[str]) -> str:
        """Return a block as it should be; run it where it is live."""
        body = match["body"]
        if match["file"]:
            place = self.folder / match["file"]
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(body, encoding="utf-8")
        elif match["mark"]:
            now = self.run([sys.executable, "-c", self.python])
            body = _kept(body, now)
        elif match["kind"] == "console":
            body = self.console(body)
        if match["kind"] == "python":
            self.python = body
        return f"{match['mark'] or ''}{match['open']}{body}```"

    def console(self, body: str) -> str:
        """Return a session with every output as it comes out now."""
        parts = []
        for entry in re.split(r"^(?=\$ )", body, flags=re.MULTILINE):
            if entry:
                command, _, shown = entry.partition("\n")
                parts.append(f"{command}\n{_kept(shown, self.run(command.removeprefix('$ ')))}")
        return "".join(parts)

    def run(self, command: str | list[str]) -> str:
        """Return what a command prints, standard error included."""
        done = subprocess.run(
            command,
            shell=isinstance(command, str),
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
        )
        output = TIME.sub("", done.stdout.strip("\n"))
        return f"{output}\n" if output else ""


def _kept(shown: str, now: str) -> str:
    """Return the output that is shown if the new one says the same."""
    return shown if comparable(shown) == comparable(now) else now


def main(arguments: list[str]) -> int:
    """Rewrite the pages, or say which are not current."""
    pages = [Path(each) for each in arguments if each != "--check"] or sorted(DOCS.rglob("*.md"))
    stale = 0
    for page in pages:
        before = page.read_text(encoding="utf-8")
        after = run_page(page)
        if before == after:
            continue
        if "--check" in arguments:
            stale += 1
            print(f"{page}: shows what no longer comes out; run dev/tools/run_docs.py {page}")
        else:
            page.write_text(after, encoding="utf-8")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
