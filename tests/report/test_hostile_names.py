"""A name, a note or an error with markup in it shows as text, wherever it shows."""

import csv
import io
import json
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.report import build_page, latex, style, write_index
from harness.report.page import linked
from harness.report.plots import kinds
from harness.report.summary import short_names, shortened
from harness.results.record import RunInfo
from harness.results.runs import Run, to_markdown
from harness.results.table import escape_latex, to_csv
from harness.results.table import printable as plain

from .conftest import HOSTILE

FOREIGN = {"img", "i", "b", "u", "why"}
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


@pytest.mark.long
def test_the_page_shows_every_name_as_text_and_loads_nothing(nasty_page):
    page = Elements(nasty_page)
    assert page.names.count("script") == 1
    assert not FOREIGN & set(page.names)
    assert page.handlers == []
    assert all(shown in " ".join(page.text.split()) for shown in ON_THE_PAGE)
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', nasty_page)[1]
    assert "default-src 'none'" in policy
    assert re.search(r"script-src 'sha256-[A-Za-z0-9+/=]{44}'", policy)
    loaded = re.findall(r'(?:src|href|action|srcset)="([^"]*)"', nasty_page)
    known = ("#", "https://doi.org/10.", "https://www.jstor.org/", "https://jmlr.org/")
    assert all(each.startswith(known) for each in loaded)
    assert "@import" not in nasty_page
    assert not re.search(r"url\((?!#)", nasty_page)
    assert len(nasty_page.encode()) < 1_000_000


def test_tables_escape_names_each_in_its_way(nasty):
    rows = list(csv.DictReader(io.StringIO(to_csv(nasty.info))))
    assert HOSTILE in [row["algorithm"] for row in rows]
    text = to_markdown(nasty.info)
    assert "<" not in text
    assert not re.search(r"(?<!\\)[$]", text)  # GitHub reads $x$ as a formula
    lengths = {len(re.findall(r"(?<!\\)\|", line)) for line in text.splitlines() if "|" in line}
    assert len(lengths) == 1
    name = next(line for line in latex(nasty).splitlines() if "script" in line).split(" & 0.")[0]
    assert name.strip() == (
        r"\textless{}script\textgreater{}alert('x')\textless{}/script\textgreater{} \& "
        r"a\_b \$x\textasciicircum{}2\$ \{100\%\} new {[}U+1F642{]}"
    )
    html = style(nasty).to_html()
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    elements = Elements(nasty._repr_html_())
    assert not (FOREIGN | {"script"}) & set(elements.names)
    assert "<script>alert('x')</script>" in elements.text


@pytest.mark.parametrize("character", [*"\\{}$&#_%~^<>|\"`'", "\n", "\t", "\x00", "é", "💥"])
def test_each_character_becomes_latex_that_is_balanced(character):
    shown = escape_latex(f"a{character}b")
    bare = re.sub(r"\\char34\{\}|\\[a-z]+\{\}|\\[{}$&#_%]|\{[][*]\}|U\+\w+", "", shown)
    assert not set(bare) & set('\\{}$&#_%~^"')
    assert (shown[0], shown[-1]) == ("a", "b")


@pytest.mark.parametrize("label", ["[ours] mean", "*starred", 'the "best"', "a--b", "``a''", "?`"])
def test_a_label_of_latex_begins_no_argument_and_joins_no_characters(label):
    shown = escape_latex(label)
    assert shown[0] not in "[*"
    assert not re.search(r"--|``|''|[?!]`|,,", shown)
    assert "textquotedbl" not in shown  # which LaTeX's default encoding lacks
    letters = re.sub(r"\{([][*]?)\}", r"\1", shown.replace(r"\char34", '"'))
    assert letters == label


@pytest.mark.sample(2)
@pytest.mark.parametrize("character", ["\u202e", "\u2066", "\x1b", "\x9b"])
def test_a_character_that_hides_or_turns_text_is_visible_on_the_page(plain_run, character):
    text = plain_run.info.model_dump_json().replace("Random", f"a\\u{ord(character):04x}b")
    run = Run(RunInfo(**json.loads(text)), plain_run.users.replace("Random", f"a{character}b"))
    page = build_page([run])
    assert character not in page


@pytest.mark.parametrize(
    "kind", [kind for kind in kinds() if kind not in ("parameter", "learning")]
)
def test_a_plot_writes_names_and_never_formulas(nasty, kind):
    drawn = kinds()[kind](nasty).render("svg", svg_fonttype="none").decode()
    names = re.findall(r"<text[^>]*>([^<]*)</text>", drawn)
    assert any("&lt;script&gt;" in name for name in names)
    assert "<script" not in drawn


def test_a_plot_survives_dollars_and_a_glyph_that_no_font_has(nasty, plain_run):
    assert kinds()["differences"](nasty).render("png").startswith(b"\x89PNG")
    text = plain_run.info.model_dump_json().replace("Random", "$x_1$ costs $5")
    run = Run(RunInfo(**json.loads(text)), plain_run.users.replace("Random", "$x_1$ costs $5"))
    drawn = kinds()["differences"](run).render("svg", svg_fonttype="none").decode()
    assert ">$x_1$ costs $5<" in drawn


@given(st.text(), st.integers(5, 40))
def test_plain_text_is_one_printable_line_and_shortened_text_is_short(text, width):
    assert plain(text).isprintable()
    assert plain(plain(text)) == plain(text)
    assert len(shortened(text, width)) <= width


def test_long_names_keep_both_ends():
    name = "an algorithm with parameters that nobody can read at a glance, tuned"
    assert len(shortened(name)) == 22
    assert (shortened(name)[:5], shortened(name)[-5:]) == ("an al", "tuned")
    alike = {name.replace("parameters", each): each for each in ("20 factors", "5 factors")}
    for long, short in short_names(["SVD", *alike]).items():
        assert short[:11].strip("…") in (alike.get(long, "SVD"), "5 factors ")
    alike = [f"mymodule:VeryLongClassNameNumber{each}ForTesting" for each in ("One", "Two")]
    assert [*short_names(alike).values()] == ["…OneForTesting", "…TwoForTesting"]


def test_the_list_of_runs_escapes_what_it_shows(plain_run, tmp_path):
    folder = plain_run.write(tmp_path).folder.rename(tmp_path / "a<i>&🙂")
    (folder / "report.html").write_text("here")
    page = write_index(tmp_path).read_text(encoding="utf-8")
    elements = Elements(page)
    assert not FOREIGN & set(elements.names)
    assert "a<i>&🙂" in elements.text
    assert 'href="a%3Ci%3E%26%F0%9F%99%82/report.html"' in page


def test_only_dois_become_links():
    text = 'javascript:alert(1) https://evil.example (doi:10.1145/2827872) "doi:10.1/x"'
    shown = str(linked(text))
    assert shown.count("<a ") == 1
    assert 'href="https://doi.org/10.1145/2827872"' in shown
    assert "<b>" not in str(linked("doi:10.1145/<b>x</b>"))
