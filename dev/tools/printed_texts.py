"""Write every text that the program can print into `dev/prose/printed.txt`.

python dev/tools/printed_texts.py                rewrite the list
python dev/tools/printed_texts.py --check        exit 1 if it is not what the code has
python dev/tools/printed_texts.py --against REV  a table: where, the text in a commit, the text now

The list is read from the source, so it has texts that are seldom printed. A line has the kind of
the text, as far as its place in the code shows it, and the text, with `{expression}` where the
program fills something in. Docstrings are in it if a command or the page prints them.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from itertools import pairwise
from pathlib import Path

TOP = Path(__file__).parents[2]
LIST = TOP / "dev" / "prose" / "printed.txt"
SENTENCE = re.compile(r"[A-Za-z]{2,}(?:[ ,][^\s]+){2,}")
"""Three words: fewer are seldom a sentence, and often a name."""
LONGEST_EXPRESSION = 30
KINDS = {
    r"\w*(Error|Fault|fail|Exit|BadParameter)|refuse\w*": "error",
    r"[Nn]otes?": "note",
    r"warn\w*|\w*Warning": "warning",
    r"option|argument|command|group|Choice": "help",
    r"say\w*|echo|print": "screen",
}
"""The kind of a text by the function or class that gets it."""
SHORT = {"help": "help", "metavar": "help", "title": "label", "caption": "label", "label": "label"}
"""Arguments whose text counts although it is short, and its kind."""
METRIC = re.compile(r"metric|_error|_estimated|_explained|_of_\w+")
"""Decorators of metrics, whose first paragraph is printed."""
COMMENT, INLINE = re.compile(r"\{#.*?#\}", re.DOTALL), re.compile(r"</?(?:a|b|em|i|span)\b[^>]*>")
TAG = re.compile(r"\{%.*?%\}|</?(?!code\b)[a-z!][^>]*>|¶", re.DOTALL)
CODE, FILLED = re.compile(r"\{[{%].*?[%}]\}", re.DOTALL), re.compile(r"\{\{.*?\}\}")
QUOTED = re.compile(r"\"([^\"\n]*)\"|'([^'\n]*)'|`([^`]*)`")

Text = tuple[str, str]
"""The kind of a text, and the text on one line."""


def flat(text: str) -> str:
    """Return a text on one line."""
    return " ".join(text.split())


def of_python(node: ast.AST, sections: set[str], kind: str = "text") -> Iterator[Text]:
    """Yield the texts of a module, or of a part of it; `sections` are the classes of a config."""
    match node:
        case ast.JoinedStr() | ast.Constant(str()):
            if SENTENCE.search(text := shown(node)):
                yield kind, text
            for part in getattr(node, "values", ()):
                if isinstance(part, ast.FormattedValue):
                    yield from of_python(part.value, sections, kind)
            return
        case ast.Call():
            name = ast.unparse(node.func).split(".")[-1]
            kind = next((each for rule, each in KINDS.items() if re.fullmatch(rule, name)), kind)
        case ast.keyword(str(name), ast.Constant(str(text))) if name in SHORT:
            yield SHORT[name], flat(text)
            return
        case ast.ClassDef() | ast.FunctionDef():
            yield from of_docstrings(node, sections)
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)):
            yield from of_python(child, sections, kind)


def of_docstrings(node: ast.ClassDef | ast.FunctionDef, sections: set[str]) -> Iterator[Text]:
    """Yield what the program prints of the docstrings of a class and its fields, or a function."""
    paragraphs = [flat(each) for each in (ast.get_docstring(node) or "").split("\n\n")]
    marks = [ast.unparse(each).partition("(")[0] for each in node.decorator_list]
    if isinstance(node, ast.FunctionDef):
        if "command" in marks:
            yield from (("help", each) for each in paragraphs)
        elif any(map(METRIC.fullmatch, marks)):
            yield "label", paragraphs[0]
        return
    if paragraphs[0] and any("Analysis" in ast.unparse(base) for base in node.bases):
        yield "label", paragraphs[0]
    for line, below in pairwise(node.body if node.name in sections else ()):
        match line, below:
            case ast.AnnAssign(ast.Name(name)), ast.Expr(ast.Constant(str(meaning))):
                yield "key", f"{name}: {flat(meaning)}"


def sections_of(trees: Iterable[ast.Module]) -> set[str]:
    """Return the names of all classes of a config, whose fields the schema explains."""
    classes = defaultdict[str, set[str]](set)
    for node in (each for tree in trees for each in tree.body if isinstance(each, ast.ClassDef)):
        bases = (ast.unparse(base).partition("[")[0] for base in node.bases)
        classes[node.name] |= {base.split(".")[-1] for base in bases}
    found, more = set[str](), {"Section", "Tracker"}
    while more - found:
        found |= more
        more = {name for name, bases in classes.items() if bases & found}
    return found


def shown(node: ast.expr) -> str:
    """Return a string with the expressions that it fills in; long ones as a mark."""
    parts = []
    for part in getattr(node, "values", [node]):
        if isinstance(part, ast.FormattedValue):
            code = ast.unparse(part.value)
            parts.append(f"{{{code if len(code) <= LONGEST_EXPRESSION else '…'}}}")
        else:
            parts.append(part.value)
    return flat("".join(parts))


def of_table(value: object, kind: str) -> Iterator[Text]:
    """Yield the texts of a file of TOML."""
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from of_table(each, kind)
    elif isinstance(value, str) and SENTENCE.search(value):
        yield kind, flat(value)


def of_template(source: str) -> Iterator[Text]:
    """Yield the texts of a template, and the strings in its code."""
    source = COMMENT.sub("", source)
    for piece in map(flat, TAG.split(INLINE.sub("", source))):
        if re.search(r"[A-Za-z]{3}", FILLED.sub("", piece)):
            yield "label", piece
    yield from of_script("\n".join(CODE.findall(source)))


def of_script(source: str) -> Iterator[Text]:
    """Yield the strings of code that is not Python."""
    for match in QUOTED.finditer(source):
        if SENTENCE.search(text := flat(match[match.lastindex or 0])):
            yield "label", text


def texts(top: Path) -> dict[str, list[Text]]:
    """Return the texts of the package in a folder, by file."""
    found = {}
    paths = sorted(top.glob("harness/**/*.*"))
    trees = {each: ast.parse(each.read_bytes()) for each in paths if each.suffix == ".py"}
    sections = sections_of(trees.values())
    for path in paths:
        listed: Iterator[Text] = iter(())
        match path.suffix:
            case ".py":
                listed = of_python(trees[path], sections)
            case ".toml":
                table = tomllib.loads(path.read_text(encoding="utf-8"))
                listed = of_table(table, "note" if path.stem == "notes" else "table")
            case ".txt" | ".html" | ".js" | ".md" if path.parent.name == "assets":
                read = of_script if path.suffix == ".js" else of_template
                listed = read(path.read_text(encoding="utf-8"))
        if each := [*dict.fromkeys(listed)]:
            found[path.relative_to(top).as_posix()] = each
    return found


def written(found: dict[str, list[Text]]) -> str:
    """Return the list: rooms, files and texts."""
    lines = ["Every text that the program can print, written by dev/tools/printed_texts.py"]
    room = ""
    for name, listed in found.items():
        parts = name.split("/")[:-1]
        if room != (room := "/".join(parts[: 3 if "extras" in parts else 2])):
            lines += ["", f"# {room}"]
        lines += ["", f"## {name}", *(f"{kind:8}{text}" for kind, text in listed)]
    return "\n".join(lines) + "\n"


def beside(before: list[Text], now: list[Text]) -> Iterator[tuple[str, str, str]]:
    """Yield the file, the text before and the text now of all that differ, the likest in pairs."""
    kept = Counter(text for _, text in before) & Counter(text for _, text in now)
    old, new = ([each for each in side if not kept[each[1]]] for side in (before, now))
    having = defaultdict[str, set[int]](set)
    for i, (_, text) in enumerate(old):
        for word in re.findall(r"\w{3,}", text.lower()):
            having[word].add(i)
    pairs = list[tuple[float, int, int]]()
    for j, (name, text) in enumerate(new):
        shared: dict[int, float] = defaultdict(float)
        for word in {*re.findall(r"\w{3,}", text.lower())} & having.keys():
            for i in having[word]:
                shared[i] += 1 / len(having[word])
        for i in sorted(shared, key=lambda each: -shared[each])[:8]:
            alike = SequenceMatcher(None, old[i][1].split(), text.split()).ratio()
            pairs.append((alike + 0.1 * (old[i][0].split("/")[-1] == name.split("/")[-1]), i, j))
    came = dict[int, int]()
    for alike, i, j in sorted(pairs, reverse=True):
        if alike >= 0.4 and j not in came and i not in came.values():
            came[j] = i
    yield from ((name, old[came[j]][1] if j in came else "", t) for j, (name, t) in enumerate(new))
    yield from ((name, t, "") for i, (name, t) in enumerate(old) if i not in came.values())


def main() -> int:
    """Write the list, compare it, or show it beside the texts of a commit."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; 1 if it differs")
    parser.add_argument("--against", metavar="REV", help="a table of what changed since a commit")
    given = parser.parse_args()
    found = texts(TOP)
    if given.against:
        call = ["git", "-C", str(TOP), "archive", given.against, "harness"]
        packed = io.BytesIO(subprocess.run(call, check=True, capture_output=True).stdout)
        with tempfile.TemporaryDirectory() as folder, tarfile.open(fileobj=packed) as archive:
            archive.extractall(folder, filter="data")
            sides = [[(n, t) for n in s for _, t in s[n]] for s in (texts(Path(folder)), found)]
        for row in [("where", "before", "now"), *beside(*sides)]:
            print("\t".join(row))
        return 0
    differs = not LIST.exists() or LIST.read_text(encoding="utf-8") != written(found)
    if given.check and differs:
        print(f"{LIST.name} is not what the code has; run this script, and read the difference")
    elif differs:
        LIST.write_text(written(found), encoding="utf-8")
    return int(given.check and differs)


if __name__ == "__main__":
    sys.exit(main())
