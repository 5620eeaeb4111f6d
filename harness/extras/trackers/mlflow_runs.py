"""A run is a run of MLflow, and each row of its table a run within it."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from harness.config.trackers import TrackedRow, Tracker
from harness.extras.trackers.files_of_run import files_of

if TYPE_CHECKING:
    from harness.results.runs import Run


LONGEST = 200
"""Characters of a name; MLflow takes 250."""
SIGNS = {"@": "_at_", "(": ":", ")": "", "=": "-", ",": ":", "[": ".", "]": ""}
"""What stands for a sign of a label that MLflow refuses; any other becomes an underscore."""
REFUSED = re.compile(r"[^A-Za-z0-9_\-. :/]")


def mlflow_name(label: str) -> str:
    """Return a label in the characters that MLflow takes: letters, digits and ``_-. :/``.

    It takes a slash only as part of a path, so that this becomes an underscore too.

    Examples
    --------
    >>> mlflow_name("ndcg@10"), mlflow_name("ndcg(gain=linear,ties=first)@10")
    ('ndcg_at_10', 'ndcg:gain-linear:ties-first_at_10')
    >>> mlflow_name("algorithms[0].params.k"), mlflow_name("café/1")
    ('algorithms.0.params.k', 'caf__1')
    """
    name = "".join(SIGNS.get(sign, sign) for sign in label)
    return REFUSED.sub("_", name).replace("/", "_").strip(". ")[:LONGEST] or "_"


def mlflow_names(labels: Iterable[str]) -> dict[str, str]:
    """Return names for labels, each another one: those that would be equal get a number.

    >>> mlflow_names(["a!", "a?", "a_"])
    {'a!': 'a_', 'a?': 'a__2', 'a_': 'a__3'}
    """
    names: dict[str, str] = {}
    for label in labels:
        first = name = mlflow_name(label)
        number = 1
        while name in names.values():
            number += 1
            name = f"{first}_{number}"
        names[label] = name
    return names


def flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the values of nested data with their paths, such as ``split.0.test_size``.

    >>> dict(flat({"seed": [0], "split": [{"kind": "kfold"}], "groups": []}))
    {'seed.0': 0, 'split.0.kind': 'kfold', 'groups': []}
    """
    inside = value if isinstance(value, Mapping) else {}
    if isinstance(value, list | tuple):
        inside = dict(enumerate(value))
    if path and not inside:
        yield path, value
    for key, inner in inside.items():
        yield from flat(inner, f"{path}.{key}" if path else str(key))


LONGEST_VALUE = 500
"""Characters of a parameter's value that every version of MLflow takes."""
LONGEST_TAG = 5000
MOST_PARAMETERS = 100
"""The most parameters of one request to a server."""


SECONDS = {"MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2", "MLFLOW_HTTP_REQUEST_TIMEOUT": "10"}
"""What the client of MLflow reads before each request: its own values wait 275 seconds for a server
that is away, and longer for one that is silent."""


@contextmanager
def _within_seconds() -> Iterator[None]:
    """Let requests to a server fail within seconds, unless MLflow's variables say otherwise."""
    added = {name: value for name, value in SECONDS.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


class MLflow(Tracker):
    """A run of MLflow for the whole, with config, table, page and record; within it one a row.

    A row has the parameters of its algorithm, the names of its table as tags, and its metrics by
    names that MLflow takes: ``ndcg@10`` is ``ndcg_at_10``, the ends of its interval
    ``ndcg_at_10_low`` and ``ndcg_at_10_high``; the tag ``labels`` holds the labels by these names.

    Parameters
    ----------
    uri : str, optional
        Of the server or the database, such as ``sqlite:///mlflow.db``; by default as MLflow is set
        up, with ``MLFLOW_TRACKING_URI``.
    experiment : str, optional
        Name of MLflow's experiment; by default the run's name.
    """

    example: ClassVar[Mapping[str, Any]] = {"uri": "sqlite:///mlflow.db"}

    def __init__(self, uri: str | None = None, experiment: str | None = None) -> None:
        self.uri, self.experiment = uri, experiment
        self.client: Any = None
        self.experiment_id = self.run_id = ""

    @classmethod
    def missing(cls) -> str:
        """Return what is missing where MLflow is not installed."""
        if importlib.util.find_spec("mlflow"):
            return ""
        return "mlflow is not installed; pip install 'surprise-harness[mlflow]'"

    @_within_seconds()
    def start(self, name: str, config: Mapping[str, Any]) -> None:
        """Begin a run of MLflow, with the config as its parameters."""
        library = importlib.import_module("mlflow")
        self.client = library.MlflowClient(self.uri)
        self.experiment_id = self._experiment(library, self.experiment or name)
        run = self.client.create_run(self.experiment_id, run_name=name)
        self.run_id = run.info.run_id
        self._log(self.run_id, dict(flat(config)), {})

    def _experiment(self, library: Any, name: str) -> str:
        """Return the id of an experiment, which is made where it is missing."""
        found = self.client.get_experiment_by_name(name)
        if found is None:
            try:
                return str(self.client.create_experiment(name))
            except library.exceptions.MlflowException:  # another run made it meanwhile
                found = self.client.get_experiment_by_name(name)
                if found is None:
                    raise
        return str(found.experiment_id)

    @_within_seconds()
    def row(self, row: TrackedRow) -> None:
        """Log a row as a run within the run."""
        tags = {key: getattr(row, key) for key in ("algorithm", "dataset", "split", "candidates")}
        tags["mlflow.parentRunId"] = self.run_id
        run = self.client.create_run(self.experiment_id, run_name=row.title, tags=tags)
        self._log(run.info.run_id, dict(flat(row.params)), row.values)
        if row.error:
            self.client.set_tag(run.info.run_id, "error", row.error[:LONGEST_TAG])
        self.client.set_terminated(run.info.run_id, "FAILED" if row.error else "FINISHED")

    def _log(self, run_id: str, params: Mapping[str, Any], values: Mapping[str, float]) -> None:
        entities = importlib.import_module("mlflow.entities")
        now = int(time.time() * 1000)
        param_names, value_names = mlflow_names(params), mlflow_names(values)
        written = [
            entities.Param(param_names[key], str(value)[:LONGEST_VALUE])
            for key, value in params.items()
        ]
        numbers = [entities.Metric(value_names[key], values[key], now, 0) for key in values]
        labels = "\n".join(f"{name}: {label}" for label, name in value_names.items())
        tags = [entities.RunTag("labels", labels[:LONGEST_TAG])] if labels else []
        for first in range(0, max(len(written), 1), MOST_PARAMETERS):
            part = written[first : first + MOST_PARAMETERS]
            rest = ((), ()) if first else (numbers, tags)
            self.client.log_batch(run_id, params=part, metrics=rest[0], tags=rest[1])

    @_within_seconds()
    def end(self, run: Run) -> None:
        """Log config, table, record and page as artifacts, and end the run of MLflow."""
        with files_of(run) as files:
            for file in files:
                self.client.log_artifact(self.run_id, str(Path(file)))
        self.client.set_terminated(self.run_id, "FINISHED")

    @_within_seconds()
    def fail(self, reason: str) -> None:
        """End the run of MLflow as one that failed or was stopped."""
        if self.run_id:
            self.client.set_tag(self.run_id, "error", reason[:LONGEST_TAG])
            self.client.set_terminated(
                self.run_id, "KILLED" if reason == "interrupted" else "FAILED"
            )
