"""What a run can show of itself in a Python session, each by the module that makes it."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, cast

from harness.errors import ResultsError, suggestion

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from harness.comparison.best import Best
    from harness.results.record import RunInfo
    from harness.results.runs import Run


class SessionViews:
    """What a run can show of itself; each method imports what it needs when it is called."""

    if TYPE_CHECKING:
        info: RunInfo
        folder: Path | None

    def __repr__(self) -> str:
        """Return the verdict and the table in lines of at most 80 columns."""
        return str(import_module("harness.results.notebook").text_of(self.info))

    def _repr_html_(self) -> str:
        return str(import_module("harness.results.notebook").html_of(self.info))

    def plot(self, kind: str = "tradeoff", *, metric: str | None = None, table: int = 1) -> Axes:
        """Draw a plot.

        Parameters
        ----------
        kind : str
            As ``harness plot --kind`` takes it: ``tradeoff``, ``ndcg-over-k``, ``distribution``,
            ``differences``, ``groups``, ``parameter`` or ``spread``.
        metric : str, optional
            A label of the run; its headline metric by default.
        table : int
            Which table of the run, from 1.

        Returns
        -------
        matplotlib.axes.Axes
            In a new figure, in the style of the page.

        Raises
        ------
        ResultsError
            For an unknown kind, metric or table, or if the run has nothing to show of this kind.
        """
        kinds = import_module("harness.report").plots.KINDS
        if kind not in kinds:
            raise ResultsError(f"{self.info.name}: no plot {kind!r}; {suggestion(kind, kinds)}")
        return cast("Axes", kinds[kind].show(self, metric, place=table))

    def latex(self, *, table: int | None = None) -> str:
        """Return the results as LaTeX: one table, counted from 1, or all of them."""
        return str(import_module("harness.report").latex(self, place=table))

    def report(self, path: str | Path | None = None, *, baseline: str | None = None) -> Path:
        """Write the page about the run.

        Parameters
        ----------
        path : str or Path, optional
            The file; by default ``report.html`` in the folder of the run.
        baseline : str, optional
            The row that the others are compared with.

        Returns
        -------
        Path
            The file that was written.

        Raises
        ------
        ResultsError
            Without a path if the run has no folder, or for an unknown baseline.
        """
        if path is None and self.folder is None:
            raise ResultsError(f"{self.info.name}: is in no folder; give the page a path")
        page = Path(path) if path is not None else cast("Path", self.folder) / "report.html"
        write_page = import_module("harness.report").write_page
        return cast("Path", write_page([self], page, baseline=baseline))

    def best(
        self,
        *,
        metric: str | None = None,
        algorithm: str | None = None,
        dataset: str | None = None,
        split: str | None = None,
        candidates: str | None = None,
    ) -> Best:
        """Return the best row, or the row of a name, as a config; see `harness.best`."""
        best = import_module("harness.comparison.best").best
        tables = {"dataset": dataset, "split": split, "candidates": candidates}
        return cast("Best", best(self, metric=metric, algorithm=algorithm, **tables))

    def compare(self, *runs: Run, anyway: bool = False) -> Run:
        """Return this run and others as one, whose rows are compared user by user.

        Parameters
        ----------
        *runs : Run
            At least one.
        anyway : bool
            Put runs together that cannot be compared, with a note that says why not.

        Returns
        -------
        Run
            Without a folder.

        Raises
        ------
        ComparisonError
            For a run that is passed twice, or runs that cannot be compared.
        """
        join = import_module("harness.comparison.runs").join
        return cast("Run", join([self, *runs], anyway=anyway))
