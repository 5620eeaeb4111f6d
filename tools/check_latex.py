"""Compile the LaTeX table of runs with the packages that it says it needs.

    python tools/check_latex.py results/quickstart results/ml-100k

Needs pdflatex with booktabs (Debian: `apt-get install texlive-latex-recommended`). The first table
that does not compile ends it, with LaTeX's log.
"""

import os
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

for run in sys.argv[1:]:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "table.tex").write_text(DOCUMENT % latex(read_run(Path(run))), "utf-8")
        subprocess.run(
            ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "table.tex"],
            cwd=folder,
            env=os.environ | {"TEXMFVAR": folder, "HOME": folder},
            check=True,
            timeout=300,
        )
    print(f"{run}: compiles", flush=True)
