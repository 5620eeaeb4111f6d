"""The plug-ins that installed packages declare, as their metadata say."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from importlib.metadata import (
    Distribution,
    EntryPoint,
    EntryPoints,
    PackageNotFoundError,
    distribution,
    distributions,
)

from harness.errors import PluginError


def of_package(package: str) -> dict[str, dict[str, str]]:
    """Return the entry points of one package by group and name."""
    by_group = defaultdict[str, dict[str, str]](dict)
    try:
        entry_points: Iterable[EntryPoint] = distribution(package).entry_points
    except PackageNotFoundError:
        raise PluginError(
            f"{package} is not installed, so that its parts cannot be found; install it with pip"
        ) from None
    for entry_point in entry_points:
        by_group[entry_point.group][entry_point.name] = entry_point.value
    return by_group


@cache
def of_other_packages(groups: str, package: str) -> tuple[tuple[str, str, EntryPoints], ...]:
    """Return name, version and entry points of packages but one that declare some of these groups.

    If there are two copies of a package, it is the first on the path.

    Parameters
    ----------
    groups : str
        What the names of the groups begin with.
    package : str
        Which is left out.
    """
    packages: dict[str, tuple[str, str, EntryPoints]] = {}
    for installed in distributions():
        if f"[{groups}" in (installed.read_text("entry_points.txt") or ""):
            name = _name(installed)
            if name and name != package:
                packages.setdefault(name, (name, installed.version, installed.entry_points))
    return tuple(packages.values())


def _name(package: Distribution) -> str:
    """Return the name of a distribution as the package index compares them; '' for a broken one."""
    try:
        return str(package.metadata["Name"] or "").lower().replace("_", "-")
    except Exception:  # of what pip left half removed
        return ""
