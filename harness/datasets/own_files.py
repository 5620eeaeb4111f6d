"""Files of one's own: by which endings they are recognised, and where they are."""

from __future__ import annotations

from pathlib import Path

from harness.arguments import check_path
from harness.errors import DataError, suggestion
from harness.named_paths import placed

_TEXTS = (".data", ".txt")
_ARCHIVES = (".tar", ".tgz", ".7z", ".rar", ".tar.gz", ".tar.bz2", ".tar.xz", ".tar.zst")


def is_ratings_file(name: str) -> bool:
    """Return whether a name ends as those of files of ratings do."""
    from harness.datasets.readers import kind_of

    return name.casefold().endswith(_TEXTS) or kind_of(name) is not None


def find_file(path: str | Path, base: Path | None) -> Path:
    """Return where a file of one's own is, or raise a DataError that says what is there."""
    place = placed(path, base)
    check_path(f"{path!s:.60}", place, DataError)
    folder, is_packed = place.parent, place.name.casefold().endswith(_ARCHIVES)
    if place.is_file() and not is_packed:
        return place
    if place.is_file():
        finding = "packed; unpack it and give the file in it"
    elif place.is_dir():
        finding = "a folder; give a file in it"
    elif place.exists():
        finding = "not a regular file; give another"
    elif not folder.is_dir():
        finding = f"no such file, as there is no folder {folder}; check the path"
    else:
        names = (entry.name for entry in folder.iterdir() if entry.is_file())
        beside = [name for name in names if is_ratings_file(name)]
        advice = suggestion(place.name, beside, most=10) if beside else "check the path"
        finding = f"no such file in {folder.resolve()}; {advice}"
    raise DataError(f"{path}: {finding}")
