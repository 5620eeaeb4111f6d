"""Trackers: they receive a run's start, its rows and its end, and log them somewhere.

::

    class Lines(harness.Tracker):
        '''A line in a file for each row.'''

        def __init__(self, path: str = "lines.txt"):
            self.path = path

        def row(self, row):
            with open(self.path, "a") as file:
                print(row.run, row.title, row.metrics, file=file)
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import BeforeValidator

from harness._util.arguments import check_argument, named_parameters
from harness.config.document import Document, fault_at
from harness.errors import Fault, PluginError, suggestion
from harness.plugins import registry as plugins
from harness.schema.sections import KeyPath, brief

if TYPE_CHECKING:
    from harness.results.runs import Run


@dataclass(frozen=True)
class TrackedRow:
    """A row of a run's table, as a tracker receives it.

    Parameters
    ----------
    run : str
        Name of the run.
    title : str
        Name of the row, different in each: the algorithm's label, with data set, split and
        candidates in front where the run has several tables.
    algorithm, dataset, split, candidates : str
        As in the table.
    params : dict
        Arguments of the algorithm; where a search chose them, the arguments of the first fold.
    metrics : dict of str to float
        The value of each metric by its label; one that is undefined is left out.
    intervals : dict of str to (float, float)
        Low and high end of the interval over users, where users were compared.
    fit_seconds, score_seconds, metric_seconds : float or None
        Means of the row's cells; None where all failed.
    peak_mb : float or None
        The largest of its cells.
    n_users : int or None
        Users who are evaluated.
    error : str
        Why cells failed; empty where none did.
    """

    run: str
    title: str
    algorithm: str
    dataset: str
    split: str
    candidates: str
    params: dict[str, Any]
    metrics: dict[str, float]
    intervals: dict[str, tuple[float, float]]
    fit_seconds: float | None
    score_seconds: float | None
    metric_seconds: float | None
    peak_mb: float | None
    n_users: int | None
    error: str

    @property
    def values(self) -> dict[str, float]:
        """All numbers by name: metrics, ends of intervals as ``ndcg@10_low``, seconds, counts."""
        named: dict[str, float | None] = {}
        for label, value in self.metrics.items():
            named[label] = value
            if label in self.intervals:
                named[f"{label}_low"], named[f"{label}_high"] = self.intervals[label]
        for name in ("fit_seconds", "score_seconds", "metric_seconds", "peak_mb", "n_users"):
            named[name] = getattr(self, name)
        return {name: value for name, value in named.items() if value is not None}


UNTRACKED = "trackers={}"
"""The override of a run that is computed to check or to plan another one, and logged nowhere."""


class Tracker:
    """The base class of what logs a run somewhere.

    A subclass is a plug-in of the group ``harness.trackers``, or named as ``mine:Lines`` under
    `trackers` in a config. The arguments of its constructor are the parameters that a config may
    give it. It is made once for a run. If a method raises, nothing else of the tracker is called
    but `fail`, and the run goes on with a note.

    Examples
    --------
    >>> class Titles(Tracker):
    ...     '''The titles of all rows.'''
    ...     titles = []
    ...     def row(self, row):
    ...         self.titles.append(row.title)
    >>> import harness
    >>> tracker = Titles()
    >>> tracker.start("mine", {"seed": [0]}), tracker.fail("interrupted")
    (None, None)
    """

    api: ClassVar[int] = 1
    """The version of the interface that the class is written for."""

    example: ClassVar[Mapping[str, Any]] = {}
    """Parameters with which it is tried, so that it reaches no server."""

    def start(self, name: str, config: Mapping[str, Any]) -> None:
        """Begin, before the first model is fitted.

        Parameters
        ----------
        name : str
            Of the run.
        config : mapping
            With every key, in the form of ``run.json``.
        """

    def row(self, row: TrackedRow) -> None:
        """Take a row of the table, in its order, after the run is written; a row that failed too.

        Parameters
        ----------
        row : TrackedRow
        """

    def end(self, run: Run) -> None:
        """End, after all rows.

        Parameters
        ----------
        run : Run
            ``run.folder`` holds ``table.csv``, ``run.json`` and others; None where nothing is
            written.
        """

    def fail(self, reason: str) -> None:
        """End in place of `end`, where the run was interrupted or a method of this raised.

        Parameters
        ----------
        reason : str
        """

    @classmethod
    def missing(cls) -> str:
        """Return what this machine lacks, and how to install it; empty if nothing."""
        return ""


def tracker_class(name: str) -> type[Tracker]:
    """Return the class of a tracker by its name, or raise a PluginError.

    >>> tracker_class("csv").__name__
    'CSVFile'
    >>> tracker_class("cvs")
    Traceback (most recent call last):
    harness.errors.PluginError: 'cvs' is not among the trackers; did you mean 'csv'?
    """
    plugin = plugins.find("trackers", name)
    kind = plugin.load()
    if not (isinstance(kind, type) and issubclass(kind, Tracker)):
        raise PluginError(
            f"trackers: {name!r} of {plugin.origin}: not a subclass of harness.Tracker; make it one"
        )
    return kind


def parameter_faults(name: str, params: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the parameters of a tracker: the parameter, '' for all; and what."""
    kind = tracker_class(name)
    named, is_open = named_parameters(kind)
    for parameter, value in params.items():
        if parameter in named:
            try:
                check_argument(kind.__init__, name, parameter, value, PluginError)
            except PluginError as error:
                yield parameter, str(error)
        elif not is_open:
            yield parameter, f"{name} has no such parameter; {suggestion(parameter, named)}"
    for parameter, declared in named.items():
        if declared.default is declared.empty and parameter not in params:
            yield "", f"{name} needs the parameter {parameter!r}; add it"


Parameters = dict[str, Any]


def _by_name(value: object) -> object:
    """Return the parameters of each tracker by its name, however they are written."""
    if value == {}:
        return value

    return {name: {} if params is None else params for _, name, params in entries_of(value)}


Entry = str | dict[str, Parameters | None]
TrackersSection = Annotated[
    dict[str, Parameters], BeforeValidator(_by_name, json_schema_input_type=Entry | list[Entry])
]
"""A name, a list of names, or parameters by name."""


def entries_of(value: object, path: KeyPath = ()) -> Iterator[tuple[KeyPath, str, object]]:
    """Yield where each tracker is named, its name, and its parameters."""
    if isinstance(value, str):
        yield path, value, None
    elif isinstance(value, dict):
        for name, params in value.items():
            if not isinstance(name, str):
                raise ValueError(f"found {brief(name)} as a name; write text")
            yield (*path, name), name, params
    elif isinstance(value, list):
        for position, entry in enumerate(value):
            if isinstance(entry, list):
                raise ValueError(f"found a list in a list at [{position}]; write names")
            yield from entries_of(entry, (*path, position))
    elif value is not None:
        raise ValueError(
            f"found {brief(value)}; name trackers, such as [csv], or csv: {{path: a.csv}}"
        )


def tracker_faults(document: Document) -> Iterator[Fault]:
    """Yield what is wrong with the names of trackers and with their parameters, each at its key."""
    try:
        entries = [*entries_of(document.data.get("trackers"), ("trackers",))]
    except ValueError:  # a fault of the config's form
        return
    if entries:
        yield from _faults_of(document, entries)


def _faults_of(
    document: Document, entries: Iterable[tuple[KeyPath, str, object]]
) -> Iterator[Fault]:
    names: list[str] = []
    for path, name, params in entries:
        if name in names:
            yield fault_at(document, path, f"{name!r} is there twice; remove one of them")
        names.append(name)
        try:
            faults = [*parameter_faults(name, params if isinstance(params, dict) else {})]
        except PluginError as error:
            yield fault_at(document, path, str(error))
            continue
        for parameter, message in faults:
            yield fault_at(document, (*path, parameter) if parameter else path, message)


def with_names(trackers: dict[str, Parameters], names: Iterable[str]) -> dict[str, Parameters]:
    """Return the trackers of a config and those that a call names, or raise a PluginError.

    >>> with_names({"csv": {"path": "a.csv"}}, ["csv"])
    {'csv': {'path': 'a.csv'}}
    """
    is_listed = isinstance(names, list | tuple)
    if not is_listed or not all(isinstance(name, str) for name in names):
        raise PluginError(f"track: found {brief(names)}; give names of trackers, such as ['csv']")
    called: dict[str, Parameters] = {name: {} for name in names}
    for name in called:
        if name in trackers:
            continue
        for _, message in parameter_faults(name, {}):
            raise PluginError(f"{message} under `trackers` in the config")
    return called | trackers


def refuse_missing(trackers: Mapping[str, Parameters], stated: Collection[str]) -> None:
    """Raise a PluginError for the first tracker that lacks something on this machine.

    Parameters
    ----------
    trackers : mapping
        All trackers of a run.
    stated : collection of str
        Those that the config names; the call names the others.
    """
    for name in trackers:
        if lacking := tracker_class(name).missing():
            key = "trackers" if name in stated else "track"
            raise PluginError(f"{key}: {name!r} cannot log: {lacking}, or leave the tracker out")
