"""Which installed packages own the folder ``surprise``, a name that more than one package has."""

from __future__ import annotations

import csv
import hashlib
import re
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions, version
from pathlib import Path

from harness.errors import counted, joined

SURPRISE = "scikit-surprise"
FOLDER = "surprise"


def owners_of_surprise() -> dict[str, str]:
    """Return the version of each installed package that owns a folder ``surprise``, by its name."""
    names = {*packages_distributions().get(FOLDER, ())}
    return {re.sub(r"[-_.]+", "-", name).lower(): version(name) for name in sorted(names)}


def changed_files() -> list[str]:
    """Return files of scikit-surprise that are missing, or are not those that it installed."""
    try:
        package = distribution(SURPRISE)
    except PackageNotFoundError:
        return []
    changed = []
    # Its `files` leaves out those that are missing, from Python 3.12 on.
    for path, digest, *_ in csv.reader((package.read_text("RECORD") or "").splitlines()):
        mode, _, value = digest.partition("=")
        if path.partition("/")[0] != FOLDER or not value:
            continue
        try:
            content = Path(str(package.locate_file(path))).read_bytes()
        except OSError:
            changed.append(path)
            continue
        if urlsafe_b64encode(hashlib.new(mode, content).digest()).decode().rstrip("=") != value:
            changed.append(path)
    return changed


def problem_of_surprise(owners: Mapping[str, str]) -> tuple[str, str] | None:
    """Return what is wrong with how Surprise is installed, and what to do; None for nothing.

    Parameters
    ----------
    owners : mapping of str to str
        As of `owners_of_surprise`.

    Examples
    --------
    >>> problem_of_surprise({"scikit-surprise-2": "2.0.1"})[0]
    'scikit-surprise-2 2.0.1 is installed, a different package with the same import name'
    """
    others = [f"{name} {owners[name]}" for name in owners if name != SURPRISE]
    remove = f"pip uninstall -y {' '.join(owners)} && " if owners else ""
    remedy = f"run `{remove}pip install {SURPRISE}`"
    if not owners:
        return f"no installed package owns the folder {FOLDER!r}", remedy
    if SURPRISE in owners and others:
        names = joined([f"{SURPRISE} {owners[SURPRISE]}", *others])
        return (
            f"{names} are installed in the same folder {FOLDER!r}, where one has overwritten the "
            "other",
            remedy,
        )
    if others:
        return (
            f"{' and '.join(others)} is installed, a different package with the same import name",
            remedy,
        )
    if changed := changed_files():
        return (
            f"{counted(len(changed), 'file')} of {SURPRISE} {owners[SURPRISE]} "
            f"{'is' if len(changed) == 1 else 'are'} missing or changed, such as {changed[0]}",
            f"run `pip install --force-reinstall --no-deps {SURPRISE}=={owners[SURPRISE]}`",
        )
    return None
