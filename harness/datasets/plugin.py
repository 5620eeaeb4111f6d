"""Data sets of other packages, and of a module of one's own: functions that return ratings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from harness import plugins
from harness.datasets.loaded import SOURCES, is_loaded, of_loaded
from harness.datasets.ratings import Ratings
from harness.datasets.value_format import ValueFormat
from harness.errors import DataError, HarnessError, PluginError, reason_of
from harness.own_modules import search_in


def load_plugin(name: str, base: Path | None = None) -> Ratings:
    """Return the ratings of a function, called without arguments, under the name of the plug-in.

    A function returns `harness.Ratings`, or loaded data as `harness.load` takes them. What is kept
    of it in results is the fingerprint of the ratings, as for files.

    Parameters
    ----------
    name : str
        A name that a package declares in the group ``harness.datasets``, or ``module:function``.
    base : Path, optional
        Where a module of one's own may be, beside the working directory.

    Raises
    ------
    DataError
        If there is no such function, if it fails, or if it returns something else; the message
        names the plug-in and its package.

    Examples
    --------
    >>> import sys, types, pandas as pd
    >>> sys.modules["shops"] = shops = types.ModuleType("shops")
    >>> shops.visits = lambda: pd.DataFrame({"user": [1, 1], "item": [7, 8], "rating": [2, 5]})
    >>> load_plugin("shops:visits")
    <Ratings shops:visits: 2 ratings of 2 items by 1 user, 2 to 5>
    >>> del sys.modules["shops"]
    """
    if ":" in name:
        search_in((base or Path(), Path()))
    try:
        plugin = plugins.find("datasets", name)
        function = plugin.load()
    except PluginError as error:
        raise DataError(str(error)) from error.__cause__
    where = f"datasets: {name!r}" + (f" of {plugin.origin}" if plugin.version else "")
    if not callable(function):
        raise DataError(f"{where}: {type(function).__name__} is no function; name one")
    try:
        data = function()
    except HarnessError as error:
        raise DataError(f"{where}: {error}") from error
    except (Exception, SystemExit) as error:
        fault = f"{type(error).__name__}: {reason_of(error)}"
        raise DataError(f"{where}: it failed ({fault}); mend the function") from error
    if isinstance(data, Ratings):
        return replace(data, name=name)
    if is_loaded(data):
        try:
            return of_loaded(data, {}, name, ValueFormat(""), {})
        except DataError as error:
            raise DataError(f"{where}: {error}") from error
    raise DataError(
        f"{where}: it returned a {type(data).__name__}; return harness.Ratings or {SOURCES}"
    )
