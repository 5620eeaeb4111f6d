"""Write what follows from the pages themselves: the index and `llms.txt`.

python dev/tools/build_pages.py          rewrite them
python dev/tools/build_pages.py --check  exit 1 if a file is not what would be written
python dev/tools/build_pages.py --sizes  bytes of each page that are written by hand

Each page has its description in its front matter; `nav` of `mkdocs.yml` has their order.
MkDocs calls `on_post_build`, which adds `llms-full.txt` to the site.
"""

from __future__ import annotations

import posixpath
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

TOP = Path(__file__).parents[2]
DOCS = TOP / "docs"
FULL = (
    *("how-to/install.md", "tutorial.md", "concepts.md", "how-to/own-data.md"),
    *("how-to/choose-a-split.md", "how-to/read-the-table.md", "how-to/tune.md"),
    *("how-to/compare.md", "how-to/coding-agents.md", "how-to/use-a-model.md"),
    *("how-to/from-surprise.md", "how-to/own-algorithm.md", "explanation/candidates.md"),
)
"""Pages of `llms-full.txt`, which stays below 150 KB; the others are listed there."""
MOST_LINES = 6
"""Lines of output that `llms-full.txt` keeps of a block."""
FRONT = re.compile(r"\A---\n(.*?)^---\n+", re.DOTALL | re.MULTILINE)
TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
OUTPUT = re.compile(r"^(```(?:console|text))\n(.*?)^```$", re.DOTALL | re.MULTILINE)
GENERATED = re.compile(
    r"(?<=-->\n)(?:"
    r"(?<=<!-- output -->\n)\n?```\w+\n.*?^```$"
    r"|(?:(?!<!-- end -->|<!-- \w+: ).)*(?=<!-- end -->)"
    r"|\n(?:\|[^\n]*\n)+)",
    re.DOTALL | re.MULTILINE,
)
"""What tools write after a marker: output, text up to an end, a table."""
CONSOLE = re.compile(r"(?<=^```console\n)(.*?)(?=^```$)", re.DOTALL | re.MULTILINE)
PRINTED = "reference/config.md"
"""A page that a command prints."""
LIST = re.compile(r"(?<=<!-- begin: pages -->\n).*?(?=<!-- end -->)", re.DOTALL)
SUMMARY = """# harness

> harness measures how well the algorithms of Surprise (scikit-surprise), the Python library, rank
> items for users: one command trains real Surprise models from a config, and reports NDCG@k beside
> runtime, with a test for each difference.

The package is `surprise-harness`, imported as `harness`. Two questions have different answers:
`candidates: rated` (the default) sorts what each user rated in the test set;
`candidates: catalogue` ranks every item.
"""
IN_FULL = """
The [main pages in one file](llms-full.txt) have less than 150 KB.
"""


def sections() -> Iterator[tuple[str, list[str]]]:
    """Yield the sections of the navigation, each with its pages."""
    text = (TOP / "mkdocs.yml").read_text(encoding="utf-8")
    for entry in yaml.safe_load(text)["nav"]:
        yield from entry.items()


def title(page: str) -> str:
    """Return the heading of a page."""
    found = TITLE.search((DOCS / page).read_text(encoding="utf-8"))
    return found[1] if found else page


def description(page: str) -> str:
    """Return the line that describes a page, or raise SystemExit."""
    found = FRONT.match((DOCS / page).read_text(encoding="utf-8"))
    text = str((yaml.safe_load(found[1]) if found else {}).get("description", ""))
    if not text:
        raise SystemExit(f"docs/{page}: no description; begin it with ---, description: ..., ---")
    return text


def listed(level: str, start: str = "") -> str:
    """Return all pages but the index: a heading for each section, a line for each page."""
    lines = []
    for name, pages in sections():
        lines += ["", f"{level} {name}", ""]
        lines += [
            f"- [{title(page)}]({start}{page}): {description(page)}"
            for page in pages
            if page != "index.md"
        ]
    return "\n".join([*lines, ""])


def full() -> str:
    """Return the texts of the main pages, with the beginning of each output."""
    parts = [SUMMARY, f"Pages that are not in this file:\n{listed('##')}"]
    for page in FULL:
        text = FRONT.sub("", (DOCS / page).read_text(encoding="utf-8"))
        text = re.sub(r"^<!-- output -->\n", "", text, flags=re.MULTILINE)
        folder = posixpath.dirname(page)
        text = re.sub(
            r"(\]\()((?!https?:|#)[^)\s]+)",
            lambda link, folder=folder: link[1] + posixpath.normpath(f"{folder}/{link[2]}"),
            text,
        )
        parts.append(f"<!-- {page} -->\n\n{OUTPUT.sub(_shortened, text)}")
    return "\n".join(parts)


def _shortened(block: re.Match[str]) -> str:
    lines = block[2].splitlines()
    if len(lines) <= MOST_LINES + 2:
        return block[0]
    return "\n".join([block[1], *lines[:MOST_LINES], "…", "```"])


def by_hand(page: str) -> int:
    """Return how many bytes of a page nobody but its author writes: no output, no made table."""
    if page == PRINTED:
        return 0
    text = GENERATED.sub("", (DOCS / page).read_text(encoding="utf-8"))
    text = CONSOLE.sub(
        lambda block: "".join(line for line in block[1].splitlines(True) if line.startswith("$ ")),
        text,
    )
    return len(text.encode())


def sizes() -> dict[str, int]:
    """Return the bytes that are written by hand of each page of the navigation."""
    return {page: by_hand(page) for _, pages in sections() for page in pages}


def files() -> dict[str, str]:
    """Return each file with what it should hold."""
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    return {
        "index.md": LIST.sub(lambda _: f"{listed('##')}\n", index),
        "llms.txt": f"{SUMMARY}{IN_FULL}{listed('##')}",
    }


def on_post_build(config: Any) -> None:
    """Add the text of the main pages to the site."""
    Path(config["site_dir"], "llms-full.txt").write_text(full(), encoding="utf-8")


def main() -> int:
    """Write the files, or say which are not current."""
    if "--sizes" in sys.argv:
        found = sizes()
        for page in sorted(found, key=found.__getitem__):
            print(f"{found[page]:8,} {page}")
        print(f"{sum(found.values()):8,} of {len(found)} pages")
        return 0
    stale = 0
    for name, text in files().items():
        path = DOCS / name
        if "--check" not in sys.argv:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            stale = 1
            print(f"docs/{name} is not what would be written; run dev/tools/build_pages.py")
    return stale


if __name__ == "__main__":
    sys.exit(main())
