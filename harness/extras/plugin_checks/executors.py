"""Whether an executor keeps what is expected of one, tried with a small run."""

from __future__ import annotations

from collections.abc import Iterator

from harness.experiment.execute.pool import Executor
from harness.experiment.run import run
from harness.extras.plugin_checks.small_runs import CONFIG
from harness.plugins import registry as plugins


def steps(name: str) -> Iterator[str | bytes]:
    """Yield what is wrong with an executor in this process, and the numbers of its run."""
    kind = plugins.find("executors", name).load()
    if not (isinstance(kind, type) and issubclass(kind, Executor)):
        yield (
            "it is not an executor; make it a subclass of "
            "`harness.experiment.execute.pool.Executor`"
        )
        return
    there = run(CONFIG | {"execution": {"executor": name}}, results=None, fresh=True)
    here = run(CONFIG, results=None, fresh=True)
    for cell in there.failed:
        yield f"a cell failed there ({cell.error}); return how each cell ended"
        return
    if not there.users.equals(here.users):
        yield "its run has other numbers than one here; compute each cell as it is handed over"
    yield there.users.to_csv().encode()
