"""The literature that a report cites, from `sources.bib` and the catalogue of data sets."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from harness.datasets.catalogue import CATALOGUE

__all__ = ["SOURCES", "Source", "all_sources", "cited_in"]

SOURCES = Path(__file__).with_name("assets") / "sources.bib"

_ACCENTS = {'"': "\u0308", "'": "\u0301", "v": "\u030c", "`": "\u0300"}


@dataclass(frozen=True)
class Source:
    """One entry: its BibTeX as it stands in the file, and its fields as text without TeX."""

    key: str
    bibtex: str
    fields: dict[str, str]

    @property
    def authors(self) -> list[str]:
        """The authors, given name first."""
        return self.fields["author"].split(" and ")

    @property
    def surnames(self) -> list[str]:
        """The authors' surnames, with what belongs to them, as ``van``."""
        return [re.sub(r"^.*?(?=(\b[a-z]\S* )|\S+$)", "", author) for author in self.authors]

    @property
    def link(self) -> str:
        """Address of the DOI, or where there is none any other; may be empty."""
        doi = self.fields.get("doi")
        return f"https://doi.org/{doi}" if doi else self.fields.get("url", "")

    @property
    def venue(self) -> str:
        """Journal, proceedings or publisher, with volume and pages."""
        known = (self.fields.get(name) for name in ("journal", "booktitle", "publisher"))
        number = f"({self.fields['number']})" if "number" in self.fields else ""
        volume = self.fields.get("volume", "") + number
        where = " ".join(part for part in (next(filter(None, known)), volume) if part)
        pages = self.fields.get("pages", "").replace("--", "–")
        return f"{where}, {pages}" if pages else where

    @property
    def cite(self) -> str:
        """Authors and year, as a text cites them: `Burges et al. 2005`."""
        first, *others = self.surnames
        shown = f"{first} et al." if len(others) > 1 else " and ".join([first, *others])
        return f"{shown} {self.fields['year']}"

    @property
    def reference(self) -> str:
        """The entry as a line of a list of references."""
        *others, last = self.authors
        authors = f"{', '.join(others)} and {last}" if others else last
        title = self.fields["title"]
        stop = "" if title.endswith("?") else "."
        return f"{authors}. {self.fields['year']}. {title}{stop} {self.venue}."


@cache
def all_sources() -> dict[str, Source]:
    """Return every entry by its key."""
    found = {}
    of_data = [each.bibtex for each in CATALOGUE.values() if each.bibtex]
    every = "\n\n".join([SOURCES.read_text(encoding="utf-8"), *of_data])
    for text in re.findall(r"^@.*?^\}", every, re.M | re.S):
        key = text[text.index("{") + 1 : text.index(",")]
        fields = re.findall(r"^  (\w+) = \{(.*)\},?$", text, re.M)
        found[key] = Source(key, text, {name: _plain(value) for name, value in fields})
    return found


def cited_in(texts: Iterable[str]) -> list[Source]:
    """Return the entries that texts cite, by DOI or by the first surname and the year."""
    found: dict[str, Source] = {}
    for text in texts:
        places = []
        for entry in all_sources().values():
            named = rf"\b{re.escape(entry.surnames[0])}\b[^;.]{{0,40}}?\b{entry.fields['year']}\b"
            doi = re.escape(entry.fields.get("doi", "doi:")) + r"(?![\w/])"
            if match := re.search(doi, text) or re.search(named, text):
                places.append((match.start(), entry))
        found |= {entry.key: entry for _, entry in sorted(places, key=lambda each: each[0])}
    return list(found.values())


def _plain(text: str) -> str:
    """Return TeX as text: accents composed, braces gone."""
    accented = re.sub(r"\{\\([\"'`v])\{?(\w)\}?\}", lambda m: m[2] + _ACCENTS[m[1]], text)
    return unicodedata.normalize("NFC", accented).replace("{", "").replace("}", "")
