"""Inside a child process: a request becomes a finished cell."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness import splits
from harness.config.experiment import Experiment
from harness.datasets import Ratings
from harness.errors import HarnessError
from harness.experiment.cell import Stopwatch, compute, failure
from harness.experiment.cluster.parcels import unpack_ratings
from harness.experiment.interrupts import interrupts_kept
from harness.experiment.plan import Cell
from harness.experiment.workspace import Workspace
from harness.kernels import n_threads
from harness.splits import Split

__all__ = ["Delivered", "Office"]


class BrokenParcelError(HarnessError):
    """A data file that cannot be read.

    Parameters
    ----------
    path : Path
        Its file.
    """

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path


@contextmanager
def _whole(path: Path) -> Iterator[None]:
    """Name the data file that could not be read."""
    try:
        yield
    except (HarnessError, OSError) as error:
        raise BrokenParcelError(path, str(error)) from None


class Delivered(Workspace):
    """A workspace whose data were sent as files.

    Parameters
    ----------
    experiment : Experiment
    data : list of Path
        The file of each data set of the config, after its filters.
    folds : dict of str to Path
        Files of saved splits, which a worker does not have: by data set,
        split and seed, and for trials the fold behind them, joined by commas.
    """

    def __init__(self, experiment: Experiment, data: list[Path], folds: dict[str, Path]) -> None:
        super().__init__(experiment)
        self.data = data
        self.folds = folds

    def ratings(self, dataset: int) -> tuple[Ratings, list[str]]:
        """Return the driver's ratings; equal data sets are read once."""
        if dataset not in self._ratings:
            alike = self.data.index(self.data[dataset])
            if alike not in self._ratings:
                with _whole(self.data[alike]):
                    self._ratings[alike] = (unpack_ratings(self.data[alike].read_bytes()), [])
            self._ratings[dataset] = self._ratings[alike]
        return self._ratings[dataset]

    def splits(self, dataset: int, split: int, seed: int) -> list[Split]:
        """Return the folds of a split: read where they were sent, else made."""
        parcel = self.folds.get(f"{dataset},{split},{seed}")
        if parcel is None:
            return super().splits(dataset, split, seed)
        place = (dataset, split, seed)
        if place not in self._splits:
            self._splits[place] = self._read_splits(parcel, dataset)
        return self._splits[place]

    def split(self, cell: Cell) -> Split:
        """Return what a cell is fitted and scored on."""
        place = f"{cell.dataset},{cell.split},{cell.seed},{cell.fold}"
        if not cell.inner or place not in self.folds:
            return super().split(cell)
        return self._read_splits(self.folds[place], cell.dataset)[0]

    def _read_splits(self, parcel: Path, dataset: int) -> list[Split]:
        ratings, _ = self.ratings(dataset)
        with _whole(parcel):
            return splits.read(parcel, ratings)


class Office:
    """Answers requests; keeps the data of the last job."""

    def __init__(self) -> None:
        from threadpoolctl import threadpool_limits

        threadpool_limits(n_threads())
        self.job = ""
        self.workspace: Workspace | None = None

    def answer(self, request: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        """Compute a cell.

        Parameters
        ----------
        request : dict
            ``job``, its name; ``experiment``, as JSON; ``data`` and ``folds``, paths of files;
            ``cell``, its fields; ``workers``, how many cells are computed at the same time.

        Returns
        -------
        header : dict
            An outcome, see `harness.experiment.cell`; with ``broken``, the path of a file
            that could not be read.
        body : bytes
            The finished cell; empty when it failed.
        """
        watch = Stopwatch(lambda stage, done, total: None)
        body = b""
        header: dict[str, Any] = {"status": "computed"}
        algorithm = ""
        with interrupts_kept() as check:
            try:
                workspace = self._workspace(request)
                cell = Cell(**request["cell"])
                algorithm = workspace.experiment.algorithms[cell.algorithm].name
                body = compute(cell, workspace, watch, request["workers"]).to_bytes(cell.key)
            except BrokenParcelError as error:
                header = failure(error) | {"broken": str(error.path)}
            except BaseException as error:  # own code can raise anything
                check(error)
                header = failure(error, algorithm)
        return header | {"seconds": watch.seconds}, body

    def _workspace(self, request: dict[str, Any]) -> Workspace:
        if self.workspace is None or self.job != request["job"]:
            self.workspace = Delivered(
                Experiment.model_validate_json(request["experiment"]),
                [Path(path) for path in request["data"]],
                {place: Path(path) for place, path in request["folds"].items()},
            )
            self.job = request["job"]
        return self.workspace
