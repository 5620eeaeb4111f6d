"""LaTeX of tables and methods in a paper: it compiles, and its text has no raw marks."""

import re
import shutil
import subprocess

import pytest

import harness
from harness.report import latex
from harness.report.methods import checklist, methods, to_latex, to_markdown
from harness.report.page import build_page
from harness.report.papers import latex_of_sets

ENGINE = next(filter(None, map(shutil.which, ("pdflatex", "tectonic"))), None)
PAPER = r"""\documentclass{article}
\usepackage[utf8]{inputenc}
\usepackage[T1]{fontenc}
\usepackage{booktabs}
\begin{document}
%s
\end{document}
"""


@pytest.mark.long
@pytest.mark.skipif(ENGINE is None, reason="needs pdflatex or tectonic on the path")
@pytest.mark.timeout(300)
def test_tables_and_methods_compile(nasty, tmp_path):
    parts = [latex(nasty), latex_of_sets([nasty]), to_latex(nasty.info)]
    (tmp_path / "paper.tex").write_text(PAPER % "\n".join(parts), encoding="utf-8")
    stops = [] if "tectonic" in str(ENGINE) else ["-interaction=nonstopmode", "-halt-on-error"]
    found = subprocess.run([str(ENGINE), *stops, "paper.tex"], cwd=tmp_path, capture_output=True)
    assert found.returncode == 0, found.stdout.decode("utf-8", "replace")[-3000:]
    assert (tmp_path / "paper.pdf").is_file()


@pytest.mark.long
@pytest.mark.skipif(ENGINE is None, reason="needs pdflatex or tectonic on the path")
@pytest.mark.timeout(300)
def test_tables_with_three_metrics_fit_the_columns_of_papers(tmp_path):
    def data(seed):
        return {"synthetic": {"n_users": 20, "n_items": 15, "n_ratings": 140, "seed": seed}}

    config = {
        "dataset": data(0),
        "algorithms": ["ItemMean", "BaselineOnly"],
        "metrics": ["ndcg@10", "rmse", "ap(threshold=4)@10"],
    }
    first = harness.run(config, results=None)
    both = harness.run(config | {"dataset": [data(0), data(1)]}, results=None)
    page = PAPER.replace("[T1]", "[OT1]").replace("{article}", "[twocolumn]{article}")
    page = page.replace(r"\begin{doc", r"\textwidth=492pt\columnsep=10pt" + "\n" + r"\begin{doc")
    papers = {"one": PAPER % latex_of_sets([both]), "two": page % latex(first)}
    for name, text in papers.items():
        (tmp_path / f"{name}.tex").write_text(text, encoding="utf-8")
        stops = [] if "tectonic" in str(ENGINE) else ["-interaction=nonstopmode"]
        command = [str(ENGINE), *stops, f"{name}.tex"]
        found = subprocess.run(command, cwd=tmp_path, capture_output=True)
        shown = found.stdout.decode("utf-8", "replace")
        assert found.returncode == 0, shown[-3000:]
        assert r"Overfull \hbox" not in shown + found.stderr.decode("utf-8", "replace")


def test_braces_environments_and_citations_are_complete(nasty):
    for text in (latex(nasty), latex_of_sets([nasty]), to_latex(nasty.info)):
        bare = re.sub(r"\\[{}\\]", "", text)
        assert bare.count("{") == bare.count("}")
        begun, ended = (re.findall(rf"\\{word}\{{(\w+)\}}", text) for word in ("begin", "end"))
        assert sorted(begun) == sorted(ended)
        assert len(re.findall(r"(?<!\\)\$", text)) % 2 == 0
    text = to_latex(nasty.info)
    cited = {key for keys in re.findall(r"\\cite\{([^}]+)\}", text) for key in keys.split(",")}
    items = re.findall(r"\\bibitem\{([^}]+)\}", text)
    assert cited <= set(items)
    assert len(items) == len(set(items)) == len(methods(nasty.info).sources)


def test_methods_have_no_marks_that_a_reader_takes_out(plain_run):
    info = plain_run.info
    tex, text, page = to_latex(info), to_markdown(info), build_page([plain_run])
    assert "`" not in re.sub(r"``|`(?=\w)", "", tex)
    assert "**" not in tex
    for shown in (text, checklist(info)):
        assert r"\*\*" not in shown
        assert r"\|" not in shown
    account = page.partition('<section id="methods">')[2].partition("</section>")[0]
    assert "<code>" in account
    assert "`" not in account.partition("<details")[0]
    assert "search" not in account.partition("<details")[0]


def test_the_checklist_is_markdown_alone(call, plain_run, tmp_path):
    plain_run.write(tmp_path / "runs")
    assert r"\paragraph{Data.}" in call.done("methods", plain_run.name, "--format", "latex")
    err = call.refused("methods", plain_run.name, "--format", "latex", "--checklist")
    assert "--format latex: the checklist is Markdown" in err
