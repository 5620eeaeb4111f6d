"""Run notebooks from top to bottom and keep what came out.

    python dev/tools/run_notebooks.py                  every notebook in notebooks/
    python dev/tools/run_notebooks.py notebooks/x.ipynb

What differs from run to run although nothing changed, as times of execution, is left out, so that
a notebook that says the same has the same bytes.
"""

from __future__ import annotations

import argparse
import os
import re
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


def main() -> None:
    """Run the notebooks named, or all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("notebooks", nargs="*", type=Path, help="by default all in notebooks/")
    for path in parser.parse_args().notebooks or sorted(NOTEBOOKS.glob("*.ipynb")):
        with tempfile.TemporaryDirectory() as folder:
            os.environ |= {"HARNESS_CACHE": f"{folder}/cache", "IPYTHONDIR": f"{folder}/ipython"}
            run(path)
        print(path)


def run(path: Path) -> None:
    """Run one notebook in its folder and write it back."""
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(path.resolve().parent)}}
    NotebookClient(notebook, timeout=600, resources=resources).execute()
    notebook.metadata.pop("widgets", None)
    notebook.metadata.get("language_info", {}).pop("version", None)
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number:02}"
        cell.metadata.pop("execution", None)
        if "outputs" in cell:
            cell.outputs = [output for output in cell.outputs if not shows_progress(output)]
        for output in cell.get("outputs", []):
            shown = output.get("data", {})
            if "text/plain" in shown:
                shown["text/plain"] = re.sub(r" at 0x[0-9a-f]+", "", shown["text/plain"])
    nbformat.write(notebook, path)


def shows_progress(output: nbformat.NotebookNode) -> bool:
    """Return whether an output is the last line of progress, which a slow machine alone shows."""
    shown = output.get("data", {}).get("text/plain", "")
    return bool(re.match(r"\d+ of \d+ (cells|trials)", shown))


if __name__ == "__main__":
    main()
