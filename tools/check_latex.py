"""Compile the LaTeX table of runs with the packages that it says it needs.

    python tools/check_latex.py results/quickstart results/ml-100k

Needs pdflatex with booktabs (Debian: `apt-get install texlive-latex-recommended`). Exits with 1
and the end of LaTeX's log for each table that does not compile.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from harness.report import latex
from harness.results import read_run

DOCUMENT = r"""\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage{booktabs}
\begin{document}
%s
\end{document}
"""


def main(folders: list[str]) -> int:
    """Compile the tables of the runs in the folders."""
    if not folders:
        sys.exit(__doc__)
    if shutil.which("pdflatex") is None:
        sys.exit("pdflatex: not found; install texlive-latex-recommended")
    failed = 0
    for folder in folders:
        fault = compile_table(latex(read_run(Path(folder))))
        print(f"{folder}: {fault or 'compiles'}", flush=True)
        failed += bool(fault)
    return 1 if failed else 0


def compile_table(table: str) -> str:
    """Return the end of the log of a table that does not compile, nothing where it does."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "table.tex"
        source.write_text(DOCUMENT % table, encoding="utf-8")
        done = subprocess.run(
            ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", source.name],
            cwd=folder,
            env=os.environ | {"TEXMFVAR": folder, "HOME": folder},
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=300,
        )
        made = source.with_suffix(".pdf").is_file()
    return "" if done.returncode == 0 and made else "\n" + done.stdout[-1500:]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
