"""Code of one's own that a config names: found beside it, and imported."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from harness.config.document import Document
from harness.config.places import fault_at
from harness.errors import Fault, PluginError
from harness.named_paths import placed
from harness.own_modules import add_files, search_in


def import_files(document: Document) -> Iterator[Fault]:
    """Import the files under `plugins`; let modules beside the config and here be found by name."""
    folder, files = document.folder or Path(), document.data.get("plugins")
    search_in((folder, Path()))
    if not isinstance(files, list):
        files = [files] if isinstance(files, str) else []
    for position, name in enumerate(files):
        if isinstance(name, str):
            try:
                add_files([placed(name, folder)])
            except PluginError as error:
                yield fault_at(document, ("plugins", position), str(error))
