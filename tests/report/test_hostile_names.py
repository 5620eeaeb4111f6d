"""A name, a note or an error with markup in it shows as text, wherever it shows."""

import csv
import io
import json
import re
from html.parser import HTMLParser

import pytest

from harness.report import latex, style, write_index
from harness.report.page import linked
from harness.report.plots import KINDS
from harness.report.summary import plain, shortened
from harness.report.tables import escape_latex
from harness.results.record import RunInfo
from harness.results.runs import Run, to_csv, to_markdown

FOREIGN = {"img", "i", "b", "u", "why"}
HOSTILE = "<script>alert('x')</script> & a_b $x^2$ {100%}\nnew 🙂"
ON_THE_PAGE = (
    plain(HOSTILE),
    "nasty_<i>run</i>&🙂",
    "What & <why>?",
    '<img src=x onerror=alert(1)> & "quoted"',
    "<b>note</b> &",
    "<cpu>",
)


class Elements(HTMLParser):
    def __init__(self, html):
        super().__init__()
        self.names, self.handlers, self.text = [], [], ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        self.handlers += [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data):
        self.text += data


def test_every_name_can_be_read_on_the_page_and_none_becomes_an_element(nasty_page):
    page = Elements(nasty_page)
    assert page.names.count("script") == 1
    assert not FOREIGN & set(page.names)
    assert page.handlers == []
    assert all(shown in " ".join(page.text.split()) for shown in ON_THE_PAGE)


def test_the_page_may_load_nothing_and_run_its_own_script_alone(nasty_page):
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', nasty_page)[1]
    assert "default-src 'none'" in policy
    assert re.search(r"script-src 'sha256-[A-Za-z0-9+/=]{44}'", policy)
    loaded = re.findall(r'(?:src|href|action|srcset)="([^"]*)"', nasty_page)
    assert all(
        each.startswith(("#", "https://doi.org/10.", "https://www.jstor.org/", "https://jmlr.org/"))
        for each in loaded
    )
    assert "@import" not in nasty_page
    assert not re.search(r"url\((?!#)", nasty_page)
    assert len(nasty_page.encode()) < 1_000_000


def test_csv_keeps_the_name_as_it_is(nasty):
    rows = list(csv.DictReader(io.StringIO(to_csv(nasty.info))))
    assert HOSTILE in [row["algorithm"] for row in rows]


def test_markdown_has_no_element_and_no_broken_row(nasty):
    text = to_markdown(nasty.info)
    assert "<" not in text
    lengths = {len(re.findall(r"(?<!\\)\|", line)) for line in text.splitlines() if "|" in line}
    assert len(lengths) == 1


def test_latex_has_no_bare_special_character(nasty):
    name = next(line for line in latex(nasty).splitlines() if "script" in line).split(" & 0.")[0]
    assert name.strip() == (
        r"\textless{}script\textgreater{}alert('x')\textless{}/script\textgreater{} \& "
        r"a\_b \$x\textasciicircum{}2\$ \{100\%\} new [U+1F642]"
    )


@pytest.mark.parametrize("character", [*"\\{}$&#_%~^<>|\"`'", "\n", "\t", "\x00", "é", "💥"])
def test_each_character_becomes_latex_that_is_balanced(character):
    shown = escape_latex(f"a{character}b")
    bare = re.sub(r"\\textquotedbl\{\}|\\[a-z]+\{\}|\\[{}$&#_%]|\[U\+\w+\]", "", shown)
    assert not set(bare) & set('\\{}$&#_%~^"')
    assert shown.startswith("a")
    assert shown.endswith("b")


def test_notebook_table_escapes_names_and_labels(nasty):
    html = style(nasty).to_html()
    assert "<script" not in html
    assert "&lt;script&gt;" in html


@pytest.mark.parametrize("kind", list(KINDS))
def test_a_plot_writes_names_and_never_formulas(nasty, kind):
    drawn = KINDS[kind](nasty).render("svg", svg_fonttype="none").decode()
    names = re.findall(r"<text[^>]*>([^<]*)</text>", drawn)
    assert any("&lt;script&gt;" in name for name in names)
    assert "<script" not in drawn


def test_a_plot_as_png_survives_a_glyph_that_no_font_has(nasty):
    assert KINDS["differences"](nasty).render("png").startswith(b"\x89PNG")


def test_dollars_in_a_name_stay_dollars_in_a_plot(plain_run):
    text = plain_run.info.model_dump_json().replace("Random", "$x_1$ costs $5")
    run = Run(RunInfo(**json.loads(text)), plain_run.users.replace("Random", "$x_1$ costs $5"))
    drawn = KINDS["differences"](run).render("svg", svg_fonttype="none").decode()
    assert ">$x_1$ costs $5<" in drawn


def test_long_names_keep_both_ends():
    name = "an algorithm with parameters that nobody can read at a glance, tuned"
    assert len(shortened(name)) == 22
    assert (shortened(name)[:5], shortened(name)[-5:]) == ("an al", "tuned")


def test_the_list_of_runs_escapes_what_it_shows(plain_run, tmp_path):
    folder = plain_run.write(tmp_path).folder.rename(tmp_path / "a<i>&🙂")
    (folder / "report.html").write_text("here")
    page = write_index(tmp_path).read_text(encoding="utf-8")
    elements = Elements(page)
    assert not FOREIGN & set(elements.names)
    assert "a<i>&🙂" in elements.text
    assert 'href="a%3Ci%3E%26%F0%9F%99%82/report.html"' in page


def test_links_in_notes_are_made_of_dois_alone():
    text = str(
        linked('javascript:alert(1) https://evil.example (doi:10.1145/2827872) "doi:10.1/x"')
    )
    assert text.count("<a ") == 1
    assert 'href="https://doi.org/10.1145/2827872"' in text


def test_a_doi_with_markup_in_it_stays_text():
    assert "<b>" not in str(linked("doi:10.1145/<b>x</b>"))


def test_a_run_shown_in_a_notebook_is_text_alone(nasty):
    elements = Elements(nasty._repr_html_())
    assert not (FOREIGN | {"script"}) & set(elements.names)
    assert "<script>alert('x')</script>" in elements.text
