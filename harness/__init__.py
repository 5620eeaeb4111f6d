"""A config-driven ranking benchmark for scikit-surprise.

>>> import harness
>>> harness.ndcg([(4.5, 5), (3.5, 1), (2.5, 4)], k=2)
0.7817...
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib import import_module
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import NoReturn

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
        from harness._util.names import refuse_guessed
        from harness.plugins.moved import MovedNames

        spec = MovedNames.find_spec(name)
        if spec is None:
            refuse_guessed(name)
        return spec


class _Called(ModuleType):
    """A package that says what to use for a call of it, and for a name that it does not have."""

    def __getattr__(self, name: str) -> object:
        # Python asks the package's own `__getattr__` first, which imports what it declares.
        # A class of the package has its own too: an alias of a package that has moved.
        own = getattr(super(), "__getattr__", None)
        if own is not None:
            with suppress(AttributeError):
                return own(name)
        if name.startswith("_"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}", name=name)
        from harness._util.names import advice, meant

        package = self.__name__.rpartition(".")[2]
        hint = meant("packages", f"{package}.{name}")
        names = getattr(self, "__all__", dir(self))
        public = sorted(each for each in names if not each.startswith("_"))
        said = f"use {hint}" if hint else advice(None, name, public)
        raise AttributeError(f"{self.__name__} has no {name!r}; {said}", name=name, obj=self)

    def __call__(self, *_: object, **__: object) -> NoReturn:
        from harness._util.names import meant

        word = self.__name__.rpartition(".")[2]
        hint = meant("calls", word)
        said = f"use {hint}" if hint else f"its names: dir({self.__name__})"
        raise TypeError(f"{self.__name__} is a package, not a function; {said}")


class _Package(ModuleType):
    """A package whose own packages answer a call of them, such as ``harness.datasets()``."""

    def __setattr__(self, name: str, value: object) -> None:
        # The import system sets each package here after its import. It may be of a class already.
        if isinstance(value, ModuleType) and not isinstance(value, _Called):
            is_plain = type(value) is ModuleType
            value.__class__ = _Called if is_plain else type("Package", (_Called, type(value)), {})
        super().__setattr__(name, value)


def _declared() -> dict[str, str]:
    """Return the module of each public name, and of a module itself: what the stub file declares.

    `lazy_loader` does this for the packages within. Its import and its reading of the syntax tree
    take as long as all of `import harness`, which a script of little work would notice.
    """
    stub = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    modules = {}
    for statement in stub.split("\nfrom .")[1:]:
        module, _, names = statement.partition(" import ")
        names = names[1:].partition(")")[0] if names[0] == "(" else names.partition("\n")[0]
        for name in filter(None, map(str.strip, names.split(","))):
            modules[name] = f"{__name__}.{module or name}"
    return modules


if not any(getattr(each, "__module__", "") == __name__ for each in sys.meta_path):
    sys.meta_path.append(_OtherNames)

sys.modules[__name__].__class__ = _Package

_modules = _declared()
__all__ = sorted(_modules)


def __dir__() -> list[str]:
    return __all__.copy()


def __getattr__(name: str) -> object:
    """Import a public name of ``__init__.pyi`` on first use, so that ``import harness`` is fast.

    A package, such as ``harness.statistics``, and ``harness.errors`` are imported too.
    """
    if name not in _modules:
        if name == "errors" or Path(__file__).with_name(name).joinpath("__init__.py").is_file():
            return import_module(f"{__name__}.{name}")
        if name.startswith("__"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
        from harness._util.names import no_name

        raise AttributeError(no_name("python", __name__, name, __all__), name=name)
    try:
        module = import_module(_modules[name])
    except ModuleNotFoundError as error:
        _, parts, part = (error.name or "").partition("harness.extras.")
        if not parts:
            raise
        from harness.errors import PluginError

        raise PluginError(
            f"harness.{name} needs the part {part.partition('.')[0]!r}, which was taken out of "
            "this installation; reinstall surprise-harness"
        ) from error
    value = module if _modules[name] == f"{__name__}.{name}" else getattr(module, name)
    globals()[name] = value
    return value


def load_ipython_extension(_: object) -> None:
    """Patch Surprise: what ``%load_ext harness`` does in a notebook."""
    __getattr__("patch_surprise")()


def unload_ipython_extension(_: object) -> None:
    """Put Surprise's own methods back: what ``%unload_ext harness`` does."""
    __getattr__("unpatch_surprise")()
