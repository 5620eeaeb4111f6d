"""The site builds without a warning, leads nowhere that is not there, and fetches nothing."""

import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml

pytest.importorskip("mkdocs", reason="the site is built with the extra `docs`")
pytest.importorskip("material", reason="the site is built with the extra `docs`")
pytest.importorskip("mkdocstrings", reason="the site is built with the extra `docs`")

TOP = Path(__file__).parents[2]


class Page(HTMLParser):
    """Targets of links, what the page loads by itself, and its anchors."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.anchors = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if found.get("id"):
            self.anchors.add(found["id"])
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        if tag in ("script", "img", "iframe") and found.get("src"):
            self.loads.append(found["src"])
        if tag == "link" and found.get("rel") != "canonical" and found.get("href"):
            self.loads.append(found["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
        cwd=TOP,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return {path: Page(path.read_text(encoding="utf-8")) for path in folder.rglob("*.html")}


@pytest.mark.long
def test_every_link_within_the_site_leads_somewhere(site):
    broken = []
    for path, page in site.items():
        if path.name == "404.html":  # its links are absolute: it is served for any address
            continue
        for target in page.links + page.loads:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            place = path if not parts.path else (path.parent / unquote(parts.path)).resolve()
            place = place / "index.html" if place.is_dir() else place
            anchor = unquote(parts.fragment)
            if not place.exists() or (
                anchor and place in site and anchor not in site[place].anchors
            ):
                broken.append(f"{path.name}: {target}")
    assert not broken


@pytest.mark.long
def test_no_page_loads_anything_from_elsewhere(site):
    assert not [
        (path.name, source)
        for path, page in site.items()
        for source in page.loads
        if urlsplit(source).netloc
    ]


@pytest.mark.long
def test_the_site_has_the_texts_for_language_models_and_every_old_address(site):
    folder = next(path.parent for path in site if path.name == "404.html")
    assert (folder / "llms.txt").is_file()
    assert (folder / "llms-full.txt").is_file()
    moved = yaml.safe_load((TOP / "mkdocs.yml").read_text(encoding="utf-8"))["extra"]["redirects"]
    assert {folder / old.replace(".md", ".html") for old in moved} <= {*site}


@pytest.mark.long
def test_the_python_reference_holds_the_docstrings(site):
    (reference,) = [page for path, page in site.items() if path.name == "python.html"]
    assert {"harness.experiment.run.run", "harness.metrics.labels.parse"} <= reference.anchors
