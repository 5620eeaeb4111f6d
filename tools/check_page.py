"""Open report pages in headless Chromium and check what a reader would run into.

    python tools/check_page.py results/quickstart/report.html --shots shots/

Needs Playwright (`pip install playwright`), a Chromium (Debian: `apt-get install chromium`) and
axe-core (`npm install axe-core`, or its folder in AXE_CORE).
Exits with 1 and a line for each fault. The screenshots are to be looked at.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

WIDTHS = (360, 768, 1280)
SCHEMES = ("light", "dark")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu")


def main() -> int:
    """Check the pages named on the command line."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="+", type=Path)
    parser.add_argument("--shots", type=Path, help="folder for screenshots")
    given = parser.parse_args()
    axe, n_faults = Path(os.environ.get("AXE_CORE", "node_modules/axe-core"), "axe.min.js"), 0
    with sync_playwright() as playwright:
        chromium = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        for path in given.pages:
            for fault in check(browser, path.resolve(), axe, given.shots):
                print(f"{path}: {fault}", flush=True)
                n_faults += 1
        browser.close()
    return 1 if n_faults else 0


def check(browser: Any, path: Path, axe: Path | None, shots: Path | None) -> Iterator[str]:
    """Yield what is wrong with one page, at every width and in both colour schemes.

    Without `axe`, its accessibility is not looked at.
    """
    from playwright.sync_api import Error

    if path.stat().st_size > 2_000_000:
        yield f"{path.stat().st_size:,} bytes; 2,000,000 are allowed"
    for scheme in SCHEMES:
        for width in WIDTHS:
            context = browser.new_context(
                viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=False
            )
            page = context.new_page()
            page.set_default_timeout(5_000)
            said: list[str] = []
            page.on("console", lambda m, said=said: said.append(f"console {m.type}: {m.text}"))
            page.on("pageerror", lambda error, said=said: said.append(f"error: {error}"))
            asked: list[str] = []
            page.on("request", lambda request, asked=asked: asked.append(request.url))
            page.goto(path.as_uri())
            page.wait_for_timeout(150)
            where = f"{width} px, {scheme}"
            if shots:
                shots.mkdir(parents=True, exist_ok=True)
                name = f"{path.parent.name}-{path.stem}-{width}-{scheme}.png"
                page.screenshot(path=shots / name, full_page=True, timeout=60_000)
            over = page.evaluate(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            )
            if over > 0:
                yield f"{where}: {over} px wider than the window"
            cut = page.evaluate(
                "[...document.querySelectorAll('.scroll')]"
                ".filter((box) => box.clientWidth && box.scrollWidth > box.clientWidth + 1"
                " && !box.previousElementSibling?.classList.contains('sideways')).length"
            )
            if cut and page.query_selector("script"):
                yield f"{where}: {cut} tables are cut without a hint"
            if width == max(WIDTHS) and page.query_selector(".results"):
                try:
                    yield from (f"{where}: {fault}" for fault in use(page))
                except Error as error:
                    yield f"{where}: cannot be used: {str(error).splitlines()[0]}"
            yield from (f"{where}: {each}" for each in said)
            outside = (url for url in asked if not url.startswith(("file:", "data:", "blob:")))
            yield from (f"{where}: request to {url}" for url in outside)
            if axe:
                yield from (f"{where}: {each}" for each in ask_axe(page, axe))
            context.close()


def use(page: Any) -> Iterator[str]:
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


def ask_axe(page: Any, axe: Path) -> Iterator[str]:
    """Yield the serious and critical faults that axe-core finds."""
    page.evaluate(axe.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    for fault in found["violations"]:
        if fault["impact"] in ("serious", "critical"):
            nodes = ", ".join(" ".join(node["target"]) for node in fault["nodes"][:3])
            yield f"axe {fault['id']} ({fault['impact']}): {fault['help']}: {nodes}"


if __name__ == "__main__":
    sys.exit(main())
