"""Surprise, imported without leaving a folder in the home directory.

Importing `surprise` makes ``~/.surprise_data`` whether or not anything is downloaded. Everything
in this package imports it from here, where the folder is pointed at one that exists already; a
folder that the user has, or has chosen with ``SURPRISE_DATA_FOLDER``, is left as it is.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

_FOLDER = "SURPRISE_DATA_FOLDER"

if _FOLDER in os.environ or (Path.home() / ".surprise_data").is_dir():
    import surprise
else:
    os.environ[_FOLDER] = tempfile.gettempdir()
    try:
        import surprise
    finally:
        del os.environ[_FOLDER]

__all__ = ["surprise"]
