"""What pages say of each other and of the program does not contradict itself."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from harness.config.load import load
from harness.console.answers import SPLITS
from harness.plugins import registry as plugins
from harness.results import read_run

TOP = Path(__file__).parents[2]
DOCS = TOP / "docs"
README = (TOP / "README.md").read_text(encoding="utf-8")
PAGES = sorted(DOCS.rglob("*.md"))
CONFIG = {"dataset": "bundled", "algorithms": ["SVD"], "metrics": ["ndcg@10"]}


def test_the_readme_is_short():
    assert len(README.splitlines()) <= 150


def test_the_first_screen_has_both_questions():
    first = README[: README.index("## Run it")]
    assert len(first.splitlines()) <= 30
    assert {"**`rated`**", "**`catalogue`**"} <= set(re.findall(r"\*\*`\w+`\*\*", first))


def test_the_verdict_of_the_readme_names_only_rows_that_it_shows():
    verdict = re.search(r"<!-- verdict: .*?^```$", README, re.DOTALL | re.MULTILINE).group()
    rest = README[README.index("<!-- table:") :]
    shown = set(re.findall(r"^\| (\w+) \| 0\.", rest[: rest.index("\n\n", 200)], re.MULTILINE))
    rows = {row.algorithm for row in read_run(TOP / "results" / "quickstart").info.rows}
    assert set(re.findall(r"\w+", verdict)) & rows <= shown <= rows
    assert shown


def test_there_is_one_default_split():
    left_out, named, asked = (
        load(CONFIG | split)[0].split[0].model_dump()
        for split in ({}, {"split": "holdout"}, {"split": SPLITS["holdout"]})
    )
    assert left_out == named == asked
    shown = re.search(r"^split: \{kind: holdout, test_size: ([\d.]+)\}", README, re.MULTILINE)
    assert float(shown.group(1)) == asked["test_size"]
    assert f"without `split` on {asked['test_size']:.0%}" in README


@pytest.mark.parametrize("name", plugins.builtin_names("candidates"))
def test_every_kind_of_candidates_is_in_the_table_of_its_page(name):
    page = (DOCS / "explanation" / "candidates.md").read_text(encoding="utf-8")
    table = page[page.index("| `candidates` |") :].split("\n\n")[0]
    assert re.search(rf"^\| `(\{{kind: )?{name}\b", table, re.MULTILINE)


def test_no_page_shows_a_p_value_of_nothing():
    for page in PAGES:
        assert not re.search(r"\bp[ =]+0\.0+\b(?!\d)", page.read_text(encoding="utf-8")), page.name


DESCRIPTION = re.compile(r"\A---\ndescription: (.+)\n---\n")


def named(page):
    return page.relative_to(DOCS).as_posix()


def test_every_page_has_one_line_that_describes_it():
    lines = {}
    for page in PAGES:
        found = DESCRIPTION.match(page.read_text(encoding="utf-8"))
        assert found, f"begin {named(page)} with ---, description: ..., ---"
        lines[named(page)] = found[1]
    assert not {page: line for page, line in lines.items() if len(line) > 110}
    assert len({*lines.values()}) == len(lines)


@pytest.mark.parametrize("name", ["index.md", "llms.txt"])
def test_every_page_is_listed(name):
    text = (DOCS / name).read_text(encoding="utf-8")
    listed = re.findall(r"^- \[.+\]\((.+\.md)\): ", text, re.MULTILINE)
    assert sorted(listed) == sorted(named(page) for page in PAGES if named(page) != "index.md")


def test_the_full_text_fits_a_language_model(monkeypatch):
    monkeypatch.syspath_prepend(TOP / "dev" / "tools")
    import build_pages

    text = build_pages.full()
    assert 100_000 < len(text.encode()) < 150_000
    for page in build_pages.FULL:
        assert build_pages.title(page) in text


def test_what_is_written_by_hand_is_short(monkeypatch):
    monkeypatch.syspath_prepend(TOP / "dev" / "tools")
    import build_pages

    sizes = build_pages.sizes()
    assert sum(sizes.values()) <= 300_000, "cut; `dev/tools/build_pages.py --sizes` lists the pages"
    assert max(sizes.values()) < 25_000
    assert len(sizes) <= 45


def test_generated_parts_are_not_counted_as_written_by_hand(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(TOP / "dev" / "tools")
    import build_pages

    monkeypatch.setattr(build_pages, "DOCS", tmp_path)
    hand = "# A\n\n<!-- file: a.yaml -->\n```yaml\nseed: 1\n```\n\n| a |\n\n"
    made = [
        ("<!-- begin: x -->\n", "\n## B\n\n| c |\n\n", "<!-- end -->\n\n"),
        ("<!-- speed: x y -->\n", "\n| c |\n| d |\n", "\nText.\n\n"),
        ("<!-- output -->\n", "```text\n1\n```", "\n\n"),
        ("```console\n$ a\n", "1\n2\n", "$ b\n"),
        ("", "3\n", "```\n"),
    ]
    (tmp_path / "a.md").write_text(hand + "".join(map("".join, made)))
    assert build_pages.by_hand("a.md") == len(hand + "".join(a + c for a, _, c in made))


def test_the_index_and_the_list_for_language_models_follow_from_the_pages():
    script = TOP / "dev" / "tools" / "build_pages.py"
    done = subprocess.run(
        [sys.executable, script, "--check"], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr


FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s#]*\.md)(?:#([\w-]+))?\)")


def anchors(page):
    """Return the anchors of a page: of headings, as MkDocs makes them, and those that it sets."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    slugs = (re.sub(r"[^\w\s-]", "", heading).strip().lower() for heading in headings)
    return {re.sub(r"[\s-]+", "-", slug) for slug in slugs} | set(
        re.findall(r'<a id="([\w-]+)"', text)
    )


def test_every_old_address_leads_to_a_place_that_is_there():
    text = (TOP / "mkdocs.yml").read_text(encoding="utf-8")
    pages = {named(page) for page in PAGES}
    for old, new in yaml.safe_load(text)["extra"]["redirects"].items():
        page, _, anchor = new.partition("#")
        assert old not in pages
        assert page in pages
        assert not anchor or anchor in anchors(DOCS / page), new


def outside():
    """Yield files outside the site with links to pages, and where their links start."""
    for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        yield TOP / name, TOP
    for path in sorted((TOP / "dev" / "changes").glob("*.md")):
        yield path, TOP  # where a release puts it
    for folder in ("dev/benchmarks", "dev/proofs", "results"):
        for path in sorted((TOP / folder).rglob("*.md")):
            yield path, path.parent


def test_what_other_files_link_to_is_there():
    broken = []
    for path, start in outside():
        for target, anchor in LINK.findall(FENCE.sub("", path.read_text(encoding="utf-8"))):
            page = start / target
            if "://" in target:
                continue
            if not page.is_file() or (anchor and anchor not in anchors(page)):
                broken.append(f"{path.relative_to(TOP)}: {target}#{anchor}")
    assert not broken


def test_pages_that_the_program_names_are_there():
    named_there = {
        (path.relative_to(TOP).as_posix(), page, anchor)
        for path in sorted((TOP / "harness").rglob("*.py"))
        for page, anchor in re.findall(
            r"(?<![\w/])docs/([\w/-]+\.md)(?:#([\w-]+))?", path.read_text(encoding="utf-8")
        )
    }
    assert len(named_there) > 10
    for path, page, anchor in named_there:
        assert (DOCS / page).is_file(), f"{path}: docs/{page}"
        assert not anchor or anchor in anchors(DOCS / page), f"{path}: docs/{page}#{anchor}"


def test_a_term_is_in_the_glossary_once_and_has_an_anchor():
    text = (DOCS / "concepts.md").read_text(encoding="utf-8")
    glossary = text[text.index("## Glossary") :]
    rows = [row for row in re.findall(r"^\| (.+?) \| ", glossary, re.MULTILINE) if row != "term"]
    terms = [re.fullmatch(r'<a id="[a-z-]+"></a>(.+)', row)[1] for row in rows if row != "---"]
    anchors = re.findall(r'<a id="([a-z-]+)">', text)
    assert len({*terms}) == len(terms) == len({*anchors}) == len(anchors) > 40
