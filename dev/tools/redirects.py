"""Write a page for each old address of the site, which leads to where its text is now.

MkDocs calls `on_post_build`; `extra.redirects` in `mkdocs.yml` maps old pages to new ones.
"""

from __future__ import annotations

import posixpath
from pathlib import Path
from typing import Any

PAGE = """<!doctype html>
<meta charset="utf-8">
<title>Moved</title>
<meta http-equiv="refresh" content="0; url={target}">
<link rel="canonical" href="{target}">
<script>location.replace(location.hash ? "{page}" + location.hash : "{target}")</script>
<a href="{target}">This page has moved.</a>
"""


def on_post_build(config: Any) -> None:
    """Write the pages; an anchor of an old address is kept."""
    for old, new in config["extra"]["redirects"].items():
        page, _, anchor = new.replace(".md", ".html").partition("#")
        page = posixpath.relpath(page, posixpath.dirname(old) or ".")
        place = Path(config["site_dir"], old).with_suffix(".html")
        place.parent.mkdir(parents=True, exist_ok=True)
        target = f"{page}#{anchor}" if anchor else page
        place.write_text(PAGE.format(target=target, page=page), encoding="utf-8")
