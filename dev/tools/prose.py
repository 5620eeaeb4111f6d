"""Check texts against the rules of style in `dev/prose`, which Vale reads too.

python dev/tools/prose.py                 exit 1 if a rule finds more than `known.json` allows
python dev/tools/prose.py FILE...         every finding in these files, with its line
python dev/tools/prose.py --write         lower what is allowed to what is found; it never rises
python dev/tools/prose.py --moved FILE... allow what is found in files that got texts of others

Texts are pages, the texts of notes, and docstrings and messages of the package. Code is left out.
"""

from __future__ import annotations

import argparse
import ast
import fnmatch
import json
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

TOP = Path(__file__).parents[2]
PROSE = TOP / "dev" / "prose"
KNOWN = PROSE / "known.json"
TEXTS = ("README.md", "CONTRIBUTING.md", "docs/**/*.md")
PROGRAM = ("harness/**/*.py", "harness/notes/notes.toml")
LEFT_OUT = ("docs/reference/config.md", "docs/reference/command-line.md")
"""Generated from texts that are checked at their source."""
FENCE = re.compile(r"^(```|~~~).*?^\1`*$\n?", re.MULTILINE | re.DOTALL)
HIDDEN = re.compile(r"\A---\n.*?^---$|<!--.*?-->|<[^>\n]+>", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"``.+?``|`[^`\n]*(?:\n[^`\n]+)?`")
LINK = re.compile(r"!?\[([^\]]*)\]\([^)\s]*\)|https?://\S+|doi:\S+")
BLOCK = re.compile(
    r"\n\s*\n|\n(?=\s*(?:[-*] |\d+\. |#))|^\s*(?:[-*]|\d+\.|#+) |\s\|\s|^\||\|$", re.M
)
SENTENCE = re.compile(r"(?<=[.!?])[)*_]*\s+(?=[A-Z0-9*\[(\"])")
WORDS = re.compile(r"[A-Za-z]{2,}(?:[ ,][^\s]+){2,}")


@dataclass(frozen=True)
class Rule:
    """A rule of a file of Vale's: what it finds in a text of its scope."""

    name: str
    pattern: re.Pattern[str]
    scope: str
    most: int
    message: str
    better: tuple[tuple[re.Pattern[str], str], ...]

    @classmethod
    def read(cls, path: Path) -> Rule:
        """Read one of the three kinds of rules that the style uses, or raise SystemExit."""
        rule: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
        flags = re.IGNORECASE if rule.get("ignorecase") else 0
        better: tuple[tuple[re.Pattern[str], str], ...] = ()
        match rule["extends"]:
            case "occurrence":
                pattern = rule["token"]
            case "existence":
                pattern = "|".join(rule["tokens"])
            case "substitution":
                pattern = "|".join(rule["swap"])
                better = tuple((re.compile(old, flags), new) for old, new in rule["swap"].items())
            case kind:
                raise SystemExit(f"{path}: {kind!r} is not a kind of rule that is read here")
        if rule["extends"] != "occurrence" and not rule.get("nonword"):
            pattern = rf"\b(?:{pattern})\b"
        most = int(rule.get("max", 0))
        scope = rule.get("scope", "text")
        return cls(path.stem, re.compile(pattern, flags), scope, most, rule["message"], better)

    def findings(self, text: Text) -> Iterator[tuple[int, str]]:
        """Yield the place of each finding in a text, and what to do."""
        for start, part in text.parts(self.scope):
            found = list(self.pattern.finditer(part))
            if self.most:
                if len(found) > self.most:
                    yield start, f"{self.message} It has {len(found)}: {part[:60]}…"
                continue
            for match in found:
                shown = [new for old, new in self.better if old.match(part, match.start())][:1]
                words = self.message.replace("%s", "{}").format(*shown, match[0].strip())
                yield start + match.start(), words


@dataclass(frozen=True)
class Text:
    """Prose with its place in a file; code, links and comments are blanks of the same length."""

    raw: str
    line: int = 1

    def parts(self, scope: str) -> Iterator[tuple[int, str]]:
        """Yield the places and texts to which a scope applies."""
        raw = HIDDEN.sub(_blank, FENCE.sub(_blank, self.raw))
        if scope == "raw":
            yield 0, raw
            return
        text = LINK.sub(_link, CODE.sub(_code, raw))
        start = 0
        for end in [*BLOCK.finditer(text), None]:
            block = text[start : end.start() if end else len(text)]
            place = start
            pieces = SENTENCE.split(block) if scope == "sentence" else [block]
            for piece in pieces:
                place = text.index(piece, place)
                flat = piece.replace("\n", " ").lstrip()
                if flat.strip():
                    yield place + len(piece) - len(piece.lstrip()), flat
                place += len(piece)
            start = end.end() if end else len(text)


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def _code(match: re.Match[str]) -> str:
    """Return a word in place of code, of the same length."""
    return re.sub(r"[^\n]", "X", match[0])


def _link(match: re.Match[str]) -> str:
    """Return the words of a link, and blanks for its address."""
    words = match[1] or ""
    return f" {words}{' ' * (len(match[0]) - len(words) - 1)}" if words else _blank(match)


def texts(path: Path) -> Iterator[Text]:
    """Yield the prose of a file: a page, the texts of notes, or docstrings and messages."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        yield Text(source)
    elif path.suffix == ".toml":
        for note in tomllib.loads(source).values():
            for text in note.values() if isinstance(note, dict) else ():
                if isinstance(text, str) and WORDS.search(text):
                    yield Text(text, source[: source.find(text[:30])].count("\n") + 1)
    else:
        inner = set[int]()
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.JoinedStr):
                inner |= {id(part) for part in node.values}
                text = "".join(
                    str(part.value) if isinstance(part, ast.Constant) else "`x`"
                    for part in node.values
                )
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                text = "" if id(node) in inner else node.value
            else:
                continue
            if WORDS.search(text):
                yield Text(text, node.lineno)


@cache
def rules() -> dict[str, Rule]:
    """Return the rules of the style."""
    return {path.stem: Rule.read(path) for path in sorted(PROSE.glob("styles/Harness/*.yml"))}


@cache
def applied(ending: str) -> list[Rule]:
    """Return the rules that `.vale.ini` applies to files with an ending."""
    off = set[str]()
    section = ""
    for line in (PROSE / ".vale.ini").read_text(encoding="utf-8").splitlines():
        if found := re.fullmatch(r"\[(.+)\]", line):
            section = found[1]
        ends = re.sub(r"[*.{}]", "", section).split(",")
        if (found := re.fullmatch(r"Harness\.(\w+) = NO", line)) and ending in ends:
            off.add(found[1])
    return [rule for name, rule in rules().items() if name not in off]


def findings(path: Path) -> Iterator[tuple[int, str, str]]:
    """Yield the line, the rule and the message of each finding in a file."""
    chosen = applied(path.suffix[1:])
    for text in texts(path):
        for rule in chosen:
            for place, message in rule.findings(text):
                yield text.line + text.raw[:place].count("\n"), rule.name, message


def files() -> list[str]:
    """Return the names of all files with texts."""
    found = {each for pattern in (*TEXTS, *PROGRAM) for each in TOP.glob(pattern)}
    names = sorted(each.relative_to(TOP).as_posix() for each in found)
    return [name for name in names if not any(fnmatch.fnmatch(name, out) for out in LEFT_OUT)]


def counts(names: list[str]) -> dict[str, dict[str, int]]:
    """Return how often each rule finds something, by file."""
    counted = {name: Counter(rule for _, rule, _ in findings(TOP / name)) for name in names}
    return {name: dict(sorted(each.items())) for name, each in counted.items() if each}


def grown(known: dict[str, dict[str, int]], now: dict[str, dict[str, int]]) -> list[str]:
    """Return what is found more often than before."""
    return [
        f"{name}: {rule}: {n} found, {known.get(name, {}).get(rule, 0)} allowed"
        for name, each in now.items()
        for rule, n in each.items()
        if n > known.get(name, {}).get(rule, 0)
    ]


def lowered(
    known: dict[str, dict[str, int]], now: dict[str, dict[str, int]]
) -> dict[str, dict[str, int]]:
    """Return what is allowed: the smaller of both."""
    least = {
        name: {rule: min(n, now[name].get(rule, 0)) for rule, n in each.items()}
        for name, each in known.items()
        if name in now
    }
    return {
        name: kept for name, each in least.items() if (kept := {r: n for r, n in each.items() if n})
    }


def written(known: dict[str, dict[str, int]]) -> str:
    """Return what is allowed as JSON with a line for each file."""
    lines = (f"{json.dumps(name)}: {json.dumps(each)}" for name, each in sorted(known.items()))
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main() -> int:
    """Compare with what is known, write it, or list all findings of some files."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="*", help="list every finding in these files")
    parser.add_argument("--write", action="store_true", help="lower what is allowed")
    parser.add_argument("--moved", action="store_true", help="allow what the files have now")
    given = parser.parse_args()
    known = json.loads(KNOWN.read_text(encoding="utf-8")) if KNOWN.exists() else {}
    names = [Path(each).resolve().relative_to(TOP).as_posix() for each in given.files]
    if names and not given.moved:
        found = [(name, *each) for name in names for each in findings(TOP / name)]
        print("\n".join(f"{name}:{line}: {rule}: {text}" for name, line, rule, text in found))
        return int(bool(found))
    now = counts(files())
    if given.moved:
        known |= {name: now.get(name, {}) for name in names}
    if given.write or given.moved:
        known = lowered(known, now)
        KNOWN.write_text(written(known), encoding="utf-8")
    more = grown(known, now)
    print("\n".join(more) or "nothing is found more often than before")
    if more:
        print("`python dev/tools/prose.py FILE` lists the findings of a file, with their lines")
    return int(bool(more))


if __name__ == "__main__":
    sys.exit(main())
