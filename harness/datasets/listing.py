"""The data sets and their sizes, without loading them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.config.data import DatasetSection, SyntheticSection
from harness.datasets.cache import cache_folder
from harness.datasets.catalogue import ALIASES, CATALOGUE
from harness.datasets.sources import local_places

__all__ = ["Listing", "available", "expected_size", "is_here"]


@dataclass(frozen=True)
class Listing:
    """A line of ``harness list datasets``.

    Attributes
    ----------
    name, title : str
        As written in a config, and in full.
    n_ratings, n_users, n_items : int
        As published; for synthetic ratings, the defaults of the config.
    scale : (float, float)
        The lowest and the highest rating.
    licence, citation : str
        What the source asks of those who use it.
    source : str
        Address of the archive, or in a few words where it comes from.
    present : str or None
        Where a copy is on this machine; None when it would be fetched.
    """

    name: str
    title: str
    n_ratings: int
    n_users: int
    n_items: int
    scale: tuple[float, float]
    licence: str
    citation: str
    source: str
    present: str | None


def available(*, cache: Path | None = None, base: Path | None = None) -> list[Listing]:
    """Return every data set that has a name, smallest download first.

    Parameters
    ----------
    cache : Path, optional
        Where downloads are kept; `cache_folder()` when left out.
    base : Path, optional
        Folder of the config, beside which ``data`` is looked for.

    Examples
    --------
    >>> [each.name for each in available()][:2]
    ['ml-latest-small-2016', 'ml-100k']
    """
    downloads = (cache or cache_folder()) / "datasets"
    listings = []
    for what in CATALOGUE.values():
        if what.kind == "archive":
            copies = (place for place in local_places(what, downloads, base) if place.is_file())
            copy = next(copies, None)
            source, present = str(what.url), None if copy is None else str(copy)
        else:
            source = present = "in the package" if what.kind == "bundled" else "synthetic"
        listings.append(
            Listing(
                what.name,
                what.title,
                what.n_ratings,
                what.n_users,
                what.n_items,
                what.scale,
                what.licence,
                what.citation,
                source,
                present,
            )
        )
    return listings


def is_here(section: DatasetSection, base: Path | None = None) -> bool:
    """Return whether a data set of the catalogue is available without the network.

    Examples
    --------
    >>> is_here(DatasetSection(name="bundled"))
    True
    """
    if section.name in (None, "synthetic"):
        return True
    what = CATALOGUE[ALIASES.get(section.name, section.name)]
    places = local_places(what, cache_folder() / "datasets", base)
    return what.kind != "archive" or any(place.is_file() for place in places)


def expected_size(section: DatasetSection | str) -> tuple[int, int, int] | None:
    """Return how many users, items and ratings a data set has, without loading it.

    Parameters
    ----------
    section : DatasetSection or str
        The ``dataset`` part of a config, or a name.

    Returns
    -------
    (int, int, int) or None
        Users, items and ratings; None for a file of one's own.

    Examples
    --------
    >>> expected_size("ml-100k")
    (943, 1682, 100000)
    """
    if isinstance(section, str):
        section = DatasetSection.model_validate(section)
    if section.name == "synthetic" or section.synthetic is not None:
        made = section.synthetic or SyntheticSection()
        return made.n_users, made.n_items, made.n_ratings
    if section.name is None:
        return None
    what = CATALOGUE[ALIASES.get(section.name, section.name)]
    return what.n_users, what.n_items, what.n_ratings
