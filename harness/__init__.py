"""A config-driven ranking benchmark for scikit-surprise.

>>> import harness
>>> harness.ndcg([(4.5, 5), (3.5, 1), (2.5, 4)], k=2)
0.7817...
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from pathlib import Path

from harness._util import names as _names
from harness.errors import PluginError

__version__ = "0.3.0"

# OpenBLAS's threads spin after a product, on cores that loops need: for half a millisecond (2^20
# cycles) instead of 30. OpenBLAS reads this when NumPy is imported.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "20")


class _OtherNames:
    """Finds modules by earlier names, and answers those that people guess.

    It is the last finder of modules, so that it is asked only for what does not exist.
    """

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if not name.startswith(f"{__name__}."):
            return None
        from harness.plugins.moved import MovedNames

        spec = MovedNames.find_spec(name)
        if spec is None:
            _names.refuse_guessed(name)
        return spec


if not any(getattr(each, "__module__", "") == __name__ for each in sys.meta_path):
    sys.meta_path.append(_OtherNames)

_names.answer_calls(sys.modules[__name__])

_public, __dir__, __all__ = _names.members(__name__, __file__, "python")


def __getattr__(name: str) -> object:
    """Import a public name of ``__init__.pyi`` on first use, so that ``import harness`` is fast.

    A package, such as ``harness.statistics``, is imported too.
    """
    if name not in __all__ and Path(__file__).with_name(name).joinpath("__init__.py").is_file():
        return import_module(f"{__name__}.{name}")
    try:
        value = _public(name)
    except ModuleNotFoundError as error:
        _, parts, module = (error.name or "").partition("harness.extras.")
        if not parts:
            raise
        raise PluginError(
            f"harness.{name} needs the part {module.partition('.')[0]!r}, which was taken out of "
            "this installation; reinstall surprise-harness"
        ) from error
    globals()[name] = value
    return value


def load_ipython_extension(_: object) -> None:
    """Patch Surprise: what ``%load_ext harness`` does in a notebook."""
    __getattr__("patch_surprise")()


def unload_ipython_extension(_: object) -> None:
    """Put Surprise's own methods back: what ``%unload_ext harness`` does."""
    __getattr__("unpatch_surprise")()
