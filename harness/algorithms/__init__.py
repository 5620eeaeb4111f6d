"""Surprise's algorithms by name, and fast: the only part that knows Surprise.

Importing `surprise` makes ``~/.surprise_data`` whether or not anything is downloaded, and computes
the paths of its built-in data sets once. Everything imports it from here: the import sees a folder
that exists, and the paths are then set as by a plain import, so that ``Dataset.load_builtin``
works as without this package. An existing folder, or ``SURPRISE_DATA_FOLDER``, stays as it is.
"""

import os
import sys
from pathlib import Path

_VARIABLE = "SURPRISE_DATA_FOLDER"
_FOLDER = f"{Path.home()}/.surprise_data/"  # spelled as Surprise does

if "surprise" in sys.modules or _VARIABLE in os.environ or Path(_FOLDER).is_dir():
    import surprise
else:
    _existing = str(Path(__file__).parent)
    os.environ[_VARIABLE] = _existing
    try:
        import surprise
    finally:
        del os.environ[_VARIABLE]
    _builtin = surprise.builtin_datasets.BUILTIN_DATASETS
    for _name, _dataset in _builtin.items():
        _path = _FOLDER + os.path.relpath(_dataset.path, _existing)
        _builtin[_name] = _dataset._replace(path=_path)

__all__ = ["surprise"]
