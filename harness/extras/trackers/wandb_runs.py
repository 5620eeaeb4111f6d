"""A run is a run of Weights & Biases, with its table, and the numbers of each row by its title."""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from harness.config.trackers import TrackedRow, Tracker
from harness.errors import PluginError
from harness.extras.trackers.files_of_run import files_of

if TYPE_CHECKING:
    from harness.results.runs import Run


COLUMNS = ("algorithm", "dataset", "split", "candidates")


class WandB(Tracker):
    """A run of Weights & Biases: config, table, and config, table, page and record as an artifact.

    Its summary has the numbers of each row by title and label, such as ``SVD/ndcg@10`` and
    ``SVD/ndcg@10_low``: W&B takes these names as they are.

    Parameters
    ----------
    project : str
    entity : str, optional
        A user or a team; by default as W&B is set up.
    mode : 'online', 'offline' or 'disabled', optional
        Offline runs are sent later by ``wandb sync``. By default as W&B is set up, with
        ``WANDB_MODE``.
    folder : str, optional
        Where W&B keeps its files; by default ``wandb`` in the working directory.
    """

    example: ClassVar[Mapping[str, Any]] = {"mode": "offline"}

    def __init__(
        self,
        project: str = "harness",
        entity: str | None = None,
        mode: Literal["online", "offline", "disabled"] | None = None,
        folder: str | None = None,
    ) -> None:
        self.settings = {"project": project, "entity": entity, "mode": mode, "dir": folder}
        self.run: Any = None
        self.rows: list[TrackedRow] = []

    @classmethod
    def missing(cls) -> str:
        """Return what is missing where W&B is not installed."""
        if importlib.util.find_spec("wandb"):
            return ""
        return "wandb is not installed; pip install 'surprise-harness[wandb]'"

    def start(self, name: str, config: Mapping[str, Any]) -> None:
        """Begin a run of W&B; nobody is asked for a key."""
        library = importlib.import_module("wandb")
        mode = self.settings["mode"] or os.environ.get("WANDB_MODE", "online")
        if mode == "online" and not library.login(prompt=False):
            raise PluginError("not logged in; call `wandb login`, or set `mode: offline`")
        settings = library.Settings(silent=True, console="off")
        self.run = library.init(
            **self.settings,
            name=name,
            config=dict(config),
            job_type="benchmark",
            reinit="create_new",  # a run that the calling program has stays as it is
            settings=settings,
        )

    def row(self, row: TrackedRow) -> None:
        """Keep a row, and put its numbers into the summary."""
        self.rows.append(row)
        self.run.summary.update({f"{row.title}/{label}": row.values[label] for label in row.values})

    def end(self, run: Run) -> None:
        """Log the table and the files, and end the run of W&B."""
        library = importlib.import_module("wandb")
        labels = [*dict.fromkeys(label for row in self.rows for label in row.values)]
        lines = [
            [getattr(row, key) for key in COLUMNS] + [row.values.get(label) for label in labels]
            for row in self.rows
        ]
        self.run.log({"table": library.Table(columns=[*COLUMNS, *labels], data=lines)})
        artifact = library.Artifact(run.name, type="run")
        with files_of(run) as files:
            for file in files:
                artifact.add_file(str(file))
            self.run.log_artifact(artifact)
            self.run.finish()

    def fail(self, reason: str) -> None:
        """End the run of W&B as one that failed."""
        if self.run is not None:
            self.run.summary["error"] = reason
            self.run.finish(exit_code=1)
