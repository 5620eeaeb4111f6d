"""Whether a kind of plot keeps what is expected of one, tried with small runs."""

from __future__ import annotations

from collections.abc import Iterator

from harness.errors import ResultsError
from harness.experiment.run import run
from harness.extras.plugin_checks.small_runs import CONFIG
from harness.plugins import registry as plugins
from harness.report.drawing import Plot

TEXTS = ("name", "title", "caption")
SHOWN = {
    "groups": [{"users": "training_ratings"}],
    "metrics": ["ndcg@5", "ndcg@10", "rmse"],
    "algorithms": ["ItemMean", {"name": "ItemMean", "label": "damped", "params": {"damping": 9.0}}],
}
"""Keys of a config under which most plots have something to show."""


def steps(name: str) -> Iterator[str | bytes]:
    """Yield what is wrong with a plot in this process, and the data that it shows.

    A plot that has nothing to show of the small run raises a `ResultsError`.
    """
    kind = plugins.find("plots", name).load()
    if not (isinstance(kind, type) and issubclass(kind, Plot)):
        yield "it is not a kind of plot; make it a subclass of `harness.report.drawing.Plot`"
        return
    for text in TEXTS:
        if not str(getattr(kind, text, "")).strip():
            yield f"`{text}` is missing; write it on the class"
            return
    done = run(CONFIG | SHOWN, results=None)
    before = done.table.copy()
    try:
        plots = kind.each(done)
    except ResultsError:
        return
    for plot in plots:
        if not plot.describe().strip():
            yield "`describe` returns no text; say what the plot shows"
        if b"<svg" not in plot.render("svg"):
            yield "`render` gives no SVG; let it draw"
        yield plot.csv.encode()
    if not done.table.equals(before):
        yield "it changes the run; work on a copy"
