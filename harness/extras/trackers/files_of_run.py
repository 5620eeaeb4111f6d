"""What trackers keep of a run beside its numbers: config, table, page and record as files."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from harness.config.yaml import as_yaml
from harness.report import write_page

if TYPE_CHECKING:
    from harness.results.runs import Run


COPIED = ("table.csv", "run.json")
"""Files of a run's folder."""


@contextmanager
def files_of(run: Run) -> Iterator[list[Path]]:
    """Yield ``config.yaml``, ``table.csv``, ``run.json`` and ``report.html`` in a passing folder.

    Parameters
    ----------
    run : Run
    """
    with tempfile.TemporaryDirectory(prefix="harness-") as scratch:
        folder = Path(scratch)
        source = run.folder or run.write(folder / "runs").folder
        assert source is not None
        for name in COPIED:
            shutil.copyfile(source / name, folder / name)
        (folder / "config.yaml").write_text(as_yaml(run.info.config), encoding="utf-8")
        write_page([run], folder / "report.html")
        yield [folder / name for name in ("config.yaml", *COPIED, "report.html")]
