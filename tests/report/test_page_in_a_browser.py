"""The page in headless Chromium: it can be used, loads nothing, fits every width, is accessible.

Accessibility is looked at where axe-core is: `npm install axe-core`, or its folder in AXE_CORE.
"""

import itertools
import os
import shutil
from pathlib import Path

import pytest

from harness.report import build_page

from .conftest import changed

TOP = Path(__file__).parents[2]
AXE = Path(os.environ.get("AXE_CORE", TOP / "node_modules" / "axe-core")) / "axe.min.js"
WIDTHS = (360, 768, 1280)
WIDE_WHEN_OPEN = """() => {
  const page = document.documentElement, wide = [];
  for (const part of document.querySelectorAll("details:not([open])")) {
    part.open = true;
    if (page.scrollWidth > page.clientWidth) wide.push(part.firstElementChild.textContent);
    part.open = false;
  }
  return wide;
}"""
"""The titles of the parts that make the page too wide once they are opened, one at a time."""

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="needs Playwright")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("needs chromium on the path")
    with playwright.sync_playwright() as driver:
        flags = ["--headless", "--no-sandbox", "--disable-gpu"]
        opened = driver.chromium.launch(executable_path=chromium, args=flags)
        yield opened
        opened.close()


@pytest.fixture(params=["nasty", "plain_run"])
def path(request, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(build_page([request.getfixturevalue(request.param)]), encoding="utf-8")
    return path


def test_a_reader_runs_into_nothing(path, browser):
    assert list(faults(browser, path)) == []


@pytest.mark.parametrize("path", ["plain_run"], indirect=True)
def test_a_fault_would_be_found(path, browser):
    wide = '<main><div style="width: 2000px">wide</div><img src="http://127.0.0.1:9/x.png">'
    path.write_text(path.read_text(encoding="utf-8").replace("<main>", wide), encoding="utf-8")
    found = "\n".join(faults(browser, path))
    assert "px wider than the window" in found
    assert "console error" in found


def test_a_section_without_content_has_no_heading_and_no_link(nasty, tmp_path, browser):
    second = [*nasty.info.tables][1]
    groups = [entry for entry in nasty.info.groups if entry.table == second]
    assert groups
    path = tmp_path / "report.html"
    path.write_text(build_page([changed(nasty, groups=groups)]), encoding="utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    parts = ["nav a[href='#by-group']", "#by-group h2"]
    assert not any(page.is_visible(part) for part in parts)
    page.select_option("#pick-place", index=1)
    assert all(page.is_visible(part) for part in parts)
    page.close()


def faults(browser, path):
    """Yield what is wrong with a page, at every width and in both colour schemes."""
    from playwright.sync_api import Error

    for scheme, width in itertools.product(("light", "dark"), WIDTHS):
        size = {"width": width, "height": 900}
        context = browser.new_context(viewport=size, color_scheme=scheme)
        page = context.new_page()
        page.set_default_timeout(5_000)
        said, asked = [], []
        page.on("console", lambda m, said=said: said.append(f"console {m.type}: {m.text}"))
        page.on("pageerror", lambda error, said=said: said.append(f"error: {error}"))
        page.on("request", lambda request, asked=asked: asked.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_timeout(150)
        over = page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        if over > 0:
            said.append(f"{over} px wider than the window")
        elif parts := page.evaluate(WIDE_WHEN_OPEN):
            said.append(f"wider than the window when open: {', '.join(parts)}")
        cut = page.evaluate(
            "[...document.querySelectorAll('.scroll')]"
            ".filter((box) => box.clientWidth && box.scrollWidth > box.clientWidth + 1"
            " && !box.previousElementSibling?.classList.contains('sideways')).length"
        )
        if cut and page.query_selector("script"):
            said.append(f"{cut} tables are cut without a hint")
        if width == max(WIDTHS) and page.query_selector(".results"):
            try:
                said += use(page)
            except Error as error:
                said.append(f"cannot be used: {str(error).splitlines()[0]}")
        outside = (url for url in asked if not url.startswith(("file:", "data:", "blob:")))
        said += [f"request to {url}" for url in outside]
        if AXE.is_file():
            said += ask_axe(page)
        yield from (f"{width} px, {scheme}: {each}" for each in said)
        context.close()


def use(page):
    """Sort, filter, hide rows, pick a metric and open data; yield what does not work."""
    rows = "document.querySelector('#table .place:not([hidden]) .results')"
    for column in page.query_selector_all("#table .place:not([hidden]) thead th[data-sort=number]"):
        if not column.is_visible():
            continue
        column.query_selector("button").click()
        way = column.get_attribute("aria-sort")
        values = page.evaluate(
            f"""(th) => [...{rows}.tBodies[0].rows]
                .map((row) => row.children[[...th.parentElement.children].indexOf(th)])
                .map((cell) => cell.dataset.value).filter((v) => v !== "").map(Number)""",
            column,
        )
        if values != sorted(values, reverse=way == "descending"):
            yield f"sorting by {column.inner_text()!r} {way} gives {values}"
    box = page.query_selector("input[data-row]")
    count = f"[...{rows}.tBodies[0].rows].filter((row) => !row.hidden).length"
    before = page.evaluate(count)
    page.query_selector(".rows summary").click()
    box.click()
    if page.evaluate(count) != before - 1:
        yield "a row that is unticked stays"
    page.query_selector("#all-rows").click()
    if page.evaluate(count) != before:
        yield "Show all does not show all"
    page.query_selector(".rows summary").click()
    ranks = page.query_selector_all("#pick-k option")
    if ranks:
        rank = ranks[-1].inner_text()
        page.select_option("#pick-k", label=rank)
        shown = page.evaluate(
            f"[...{rows}.tHead.rows[0].cells].filter((c) => !c.hidden && c.dataset.k)"
            ".map((c) => c.dataset.k)"
        )
        if set(shown) != {rank}:
            yield f"k = {rank} shows {shown}"
        page.select_option("#pick-k", value="")
    places = page.query_selector_all("#pick-place option")
    if places:
        page.select_option("#pick-place", index=len(places) - 1)
        if sum(each.is_visible() for each in page.query_selector_all("#table .place")) != 1:
            yield "picking a table does not show it alone"
        page.select_option("#pick-place", index=0)
    details = page.query_selector("figure:not([hidden]) details")
    details.query_selector("summary").click()
    if "," not in details.query_selector("pre").inner_text():
        yield "no data behind the first plot"
    with page.expect_download() as download:
        details.query_selector("[data-save]").click()
    if not download.value.path().stat().st_size:
        yield "the saved data are empty"


def ask_axe(page):
    """Yield the serious and critical faults that axe-core finds."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    for fault in found["violations"]:
        if fault["impact"] in ("serious", "critical"):
            nodes = ", ".join(" ".join(node["target"]) for node in fault["nodes"][:3])
            yield f"axe {fault['id']} ({fault['impact']}): {fault['help']}: {nodes}"
