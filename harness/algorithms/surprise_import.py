"""Surprise, imported without leaving a folder in the home directory.

Importing `surprise` makes ``~/.surprise_data`` whether or not anything is downloaded, and computes
the paths of its built-in data sets once. Everything in this package imports it from here: the
import sees a folder that exists, and the paths are then set to those that a plain import gives, so
that ``Dataset.load_builtin`` works as without this package. An existing folder, or one from
``SURPRISE_DATA_FOLDER``, stays as it is.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

_VARIABLE = "SURPRISE_DATA_FOLDER"
_FOLDER = f"{Path.home()}/.surprise_data/"  # spelled as Surprise does

if "surprise" in sys.modules or _VARIABLE in os.environ or Path(_FOLDER).is_dir():
    import surprise
else:
    existing = str(Path(__file__).parent)
    os.environ[_VARIABLE] = existing
    try:
        import surprise
    finally:
        del os.environ[_VARIABLE]
    builtin = surprise.builtin_datasets.BUILTIN_DATASETS
    for name, dataset in builtin.items():
        builtin[name] = dataset._replace(path=_FOLDER + os.path.relpath(dataset.path, existing))

__all__ = ["surprise"]
