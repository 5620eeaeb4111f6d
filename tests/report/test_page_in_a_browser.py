"""The page in headless Chromium: it can be used, loads nothing, fits every width, is accessible."""

import importlib.util
import os
import shutil
from pathlib import Path

import pytest

from harness.report import build_page

TOP = Path(__file__).parents[2]
AXE = Path(os.environ.get("AXE_CORE", TOP / "node_modules" / "axe-core")) / "axe.min.js"

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("check_page", TOP / "tools" / "check_page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def browser(script):
    playwright = pytest.importorskip("playwright.sync_api", reason="needs Playwright")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("needs chromium on the path")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=chromium, args=list(script.FLAGS))
        yield opened
        opened.close()


@pytest.fixture(params=["nasty", "plain_run"])
def page(request, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(build_page([request.getfixturevalue(request.param)]), encoding="utf-8")
    return path


@pytest.mark.timeout(300)
def test_a_reader_runs_into_nothing(page, browser, script):
    assert list(script.check(browser, page, AXE if AXE.is_file() else None, None)) == []


@pytest.mark.timeout(300)
def test_a_fault_would_be_found(page, browser, script):
    text = page.read_text(encoding="utf-8")
    broken = text.replace(
        "<main>",
        '<main><div style="width: 2000px">wide</div><img src="http://127.0.0.1:9/x.png">',
    )
    page.write_text(broken, encoding="utf-8")
    found = "\n".join(script.check(browser, page, None, None))
    assert "px wider than the window" in found
    assert "console error" in found
