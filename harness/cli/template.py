"""``harness new --plugin``: a package with a plug-in of each kind, to start from."""

from __future__ import annotations

from pathlib import Path

from harness.errors import ResultsError

ENDINGS = (".md", ".py", ".slips", ".toml", ".yaml")
"""Of the files that make up the template; caches of tools are no part of it."""


def template() -> Path:
    """Return the folder of the template: in the installed package, or in a checkout."""
    top = Path(__file__).parents[1]
    installed = top / "plugin_template"
    return installed if installed.is_dir() else top.parent / "examples" / "plugin"


def write_template(folder: Path) -> list[Path]:
    """Copy the template to a folder, and return its files.

    Raises
    ------
    ResultsError
        If the folder has something in it, or cannot be written.
    """
    from harness.files import refuse_below_file, report_os_error
    from harness.named_outputs import write_output

    refuse_below_file(folder)
    with report_os_error(folder, "cannot be read", "choose another folder"):
        if folder.exists() and any(folder.iterdir()):
            raise ResultsError(f"{folder}: has something in it; name a new folder")
    source = template()
    files = []
    for path in sorted(source.rglob("*")):
        if path.suffix in ENDINGS and path.is_file():
            target = folder / path.relative_to(source)
            files.append(write_output(target, path.read_bytes()))
    return files
