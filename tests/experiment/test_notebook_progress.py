"""What a notebook shows while a run runs: how far it is, what it does, and what failed."""

import sys
import threading
from types import SimpleNamespace

import nbformat
import pytest
from nbclient import NotebookClient

import harness
from harness.errors import ConfigError
from harness.experiment.execute import notebook
from harness.experiment.execute.notebook import NotebookProgress
from harness.experiment.execute.progress import CellFinished, CellStarted, RunPlanned, Stage
from harness.experiment.execute.progress import Noted as Note

CONFIG = {
    "dataset": {"synthetic": {"n_users": 50, "n_items": 40, "n_ratings": 800}},
    "algorithms": ["BaselineOnly", "Random"],
    "baselines": False,
    "metrics": ["ndcg@10"],
}


class Clock:
    """Seconds that pass when a test says so."""

    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def cell(monkeypatch):
    """The displays in a notebook's cell, as IPython gets them, without widgets."""
    shown = []
    handle = SimpleNamespace(update=lambda data, raw: shown.append(data))
    parts = {"display": lambda data, raw, display_id: handle}
    session = {"get_ipython": lambda: SimpleNamespace(kernel=object())}
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(**session))
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(**parts))
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    return shown


def test_the_display_counts_times_and_names_what_is_under_way():
    clock = Clock()
    progress = NotebookProgress(lambda texts: None, clock)
    assert progress.lines() == ["preparing, 0:00"]
    progress(Stage("", "loading", 1, 4))
    assert progress.lines() == ["loading, 25%, 0:00"]
    progress(RunPlanned(16, 3, 2))
    clock.now += 20
    progress(CellFinished("SlopeOne", 20.0))
    progress(CellStarted("SVD"))
    progress(Stage("SVD", "fitting by epoch", 7, 20))
    clock.now += 1
    assert progress.lines() == [
        "4 of 16 cells, 0:21, about 4:00 left",
        "SVD: fitting, epoch 7 of 20, 0:01",
    ]
    progress(CellFinished("SVD", 1.0, error="no memory"))
    progress(Note("dask: a worker ended"))
    progress(Note("dask: a worker ended"))
    head, *messages = progress.lines()
    assert head.startswith("5 of 16 cells, 1 failed, 0:21")
    assert messages == ["✗ SVD: no memory", "dask: a worker ended"]


def test_after_the_last_cell_the_display_says_what_the_run_does():
    progress = NotebookProgress(lambda texts: None, Clock())
    progress(RunPlanned(2, 2))
    progress(Stage("", "comparing"))
    assert progress.lines() == ["2 of 2 cells, 0:00, comparing"]


def test_many_cells_under_way_and_failures_are_counted():
    progress = NotebookProgress(lambda texts: None, Clock())
    progress(RunPlanned(100, 0, 30))
    for i in range(30):
        progress(CellFinished(f"failed {i}", 1.0, error="no memory"))
        progress(CellStarted(f"cell {i}"))
    lines = progress.lines()
    assert len(lines) == 1 + 2 * (notebook.MOST_LINES + 1)
    assert lines.count("22 lines more") == 2


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "a & b", "one\ntwo"])
def test_names_are_shown_as_text(name):
    shown = []
    with NotebookProgress(shown.append, Clock()) as progress:
        progress(RunPlanned(1, 0))
        progress(CellFinished(name, 1.0, error="no memory"))
    assert "<script>" not in shown[-1]["text/html"]
    assert shown[-1]["text/html"].count("<br>") == 1
    assert len(shown[-1]["text/plain"].splitlines()) == 2


def test_the_display_follows_while_a_cell_reports_nothing(monkeypatch):
    monkeypatch.setattr(notebook, "PAUSE", 0.001)
    shown, clock, several = [], Clock(), threading.Event()

    def show(texts):
        shown.append(texts["text/plain"])
        clock.now += 1
        if sum("SVD: loading, 0:" in text for text in shown) == 3:
            several.set()

    with NotebookProgress(show, clock) as progress:
        progress(RunPlanned(1, 0))
        progress(CellStarted("SVD"))
        assert several.wait(60)
    loading = [text for text in shown if "SVD: loading, 0:" in text]
    assert all(text.startswith("0 of 1 cell, 0:") for text in loading)
    assert len(set(shown)) == len(shown)


def test_a_run_in_a_notebook_shows_its_progress_and_leaves_one_line(cell):
    harness.run(CONFIG, results=None)
    assert "<progress" in cell[0]["text/html"]
    assert "<progress" not in cell[-1]["text/html"]
    assert cell[-1]["text/plain"].startswith("2 of 2 cells, 0:")


def test_a_run_that_stops_says_where(cell):
    with pytest.raises(ConfigError):
        harness.run(CONFIG | {"algorithms": ["SDV"]}, results=None)
    assert cell[-1]["text/plain"].startswith("stopped: preparing, 0:")
    assert "<progress" not in cell[-1]["text/html"]


@pytest.mark.parametrize("watched", [True, False])
def test_no_progress_is_shown_outside_notebooks_or_to_who_watches(cell, watched, monkeypatch):
    if not watched:
        terminal = SimpleNamespace(get_ipython=SimpleNamespace)
        monkeypatch.setitem(sys.modules, "IPython", terminal)
    events = []
    harness.run(CONFIG, results=None, **({"watch": events.append} if watched else {}))
    assert not cell
    assert bool(events) == watched


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::RuntimeWarning")
def test_a_kernel_shows_progress_without_widgets(tmp_path, monkeypatch):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    code = "import sys\nsys.modules['ipywidgets'] = None\nimport harness\n"
    run = f"harness.run({CONFIG!r}, results=None).table['algorithm'].tolist()"
    document = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code + run)])
    NotebookClient(document, timeout=300).execute()
    outputs = document.cells[0].outputs
    kinds = [output.output_type for output in outputs]
    assert kinds == ["display_data", "execute_result"]
    assert outputs[0].data["text/plain"].startswith("2 of 2 cells, 0:")
    assert outputs[0].data["text/html"].startswith("<div>2 of 2 cells")
    assert outputs[1].data["text/plain"].startswith("['BaselineOnly', 'Random'")
