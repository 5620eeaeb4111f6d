"""Every notebook runs from top to bottom and says what its committed outputs say."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))


def texts(notebook):
    """What each cell prints, however many pieces it came in, and what it shows."""
    return [
        "".join(
            output.get("text") or output.get("data", {}).get("text/plain", "")
            for output in cell.outputs
            if output.output_type in ("stream", "execute_result")
        )
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


@pytest.mark.long
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::RuntimeWarning")
def test_a_notebook_runs_and_its_committed_outputs_are_true(path, tmp_path, monkeypatch):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    committed = nbformat.read(path, as_version=4)
    fresh = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(path.parent)}}
    NotebookClient(fresh, timeout=300, resources=resources).execute()
    assert texts(fresh) == texts(committed)


def test_every_plot_is_committed_with_its_picture():
    assert NOTEBOOKS
    for path in NOTEBOOKS:
        for cell in nbformat.read(path, as_version=4).cells:
            shown = [output.get("data", {}) for output in cell.get("outputs", [])]
            assert ("plt.show()" in cell.source) == any("image/png" in data for data in shown)
