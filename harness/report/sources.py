"""The literature that a report cites, from `sources.bib`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["SOURCES", "Source", "all_sources", "cited_in", "source"]

SOURCES = Path(__file__).with_name("assets") / "sources.bib"

_ACCENTS = {r"\"": "\u0308", r"\'": "\u0301", r"\v": "\u030c", r"\`": "\u0300"}


@dataclass(frozen=True)
class Source:
    """One entry of `sources.bib`.

    Parameters
    ----------
    key : str
    bibtex : str
        As it stands in the file.
    authors : tuple of str
    year, title, venue : str
    link : str
        Of the DOI, or where there is none any other; may be empty.
    """

    key: str
    bibtex: str
    authors: tuple[str, ...]
    year: str
    title: str
    venue: str
    link: str

    @property
    def cite(self) -> str:
        """Authors and year, as a text cites them.

        Examples
        --------
        >>> source("harper2015movielens").cite, source("burges2005learning").cite
        ('Harper and Konstan 2015', 'Burges et al. 2005')
        """
        surnames = [_surname(author) for author in self.authors]
        shown = " and ".join(surnames) if len(surnames) < 3 else f"{surnames[0]} et al."
        return f"{shown} {self.year}"

    @property
    def reference(self) -> str:
        """The entry as a line of a list of references.

        Examples
        --------
        >>> source("hug2020surprise").reference
        'Nicolas Hug. 2020. Surprise: A Python library for recommender systems. Journal of ...'
        """
        authors = ", ".join(self.authors[:-1]) + (" and " if self.authors[1:] else "")
        title = self.title if self.title.endswith("?") else f"{self.title}."
        return f"{authors}{self.authors[-1]}. {self.year}. {title} {self.venue}."


@cache
def all_sources() -> dict[str, Source]:
    """Return every entry by its key."""
    text = SOURCES.read_text(encoding="utf-8")
    entries = [_read("@" + entry.strip()) for entry in text.split("\n@")]
    return {entry.key: entry for entry in entries}


def source(key: str) -> Source:
    """Return the entry of a key."""
    return all_sources()[key]


def cited_in(texts: Iterable[str]) -> list[Source]:
    """Return the entries that texts cite, by DOI or by the first surname and the year.

    Examples
    --------
    >>> [each.key for each in cited_in(["Voorhees 1999, TREC-8", "doi:10.1145/2827872"])]
    ['voorhees1999trec', 'harper2015movielens']
    """
    found: dict[str, Source] = {}
    for text in texts:
        places = []
        for entry in all_sources().values():
            doi = entry.link.partition("doi.org/")[2]
            named = rf"\b{re.escape(_surname(entry.authors[0]))}\b[^;.]{{0,40}}?\b{entry.year}\b"
            match = (re.search(re.escape(doi) + r"(?![\w/])", text) if doi else None) or re.search(
                named, text
            )
            if match:
                places.append((match.start(), entry))
        found |= {entry.key: entry for _, entry in sorted(places, key=lambda each: each[0])}
    return list(found.values())


def _read(entry: str) -> Source:
    key = entry[entry.index("{") + 1 : entry.index(",")]
    fields = dict(re.findall(r"^  (\w+) = \{(.*)\},?$", entry, re.MULTILINE))
    volume = fields.get("volume", "")
    number = f"({fields['number']})" if "number" in fields else ""
    where = fields.get("journal") or fields.get("booktitle") or fields.get("publisher", "")
    pages = fields.get("pages", "").replace("--", "–")
    venue = " ".join(part for part in (where, volume + number) if part)
    link = f"https://doi.org/{fields['doi']}" if "doi" in fields else fields.get("url", "")
    return Source(
        key,
        entry.strip(),
        tuple(_plain(author) for author in fields["author"].split(" and ")),
        fields["year"],
        _plain(fields["title"]),
        _plain(f"{venue}, {pages}" if pages else venue),
        link,
    )


def _surname(author: str) -> str:
    words = author.split()
    start = next((i for i, word in enumerate(words) if word[0].islower()), len(words) - 1)
    start = min(start, words.index("Ó") if "Ó" in words else start)
    return " ".join(words[start:])


def _plain(text: str) -> str:
    """Return TeX as text: accents composed, braces gone."""
    import unicodedata

    def accented(found: re.Match[str]) -> str:
        return unicodedata.normalize("NFC", found[2] + _ACCENTS[found[1]])

    text = re.sub(r"\{(\\[\"'`v])\{?(\w)\}?\}", accented, text)
    return text.replace("{", "").replace("}", "")
