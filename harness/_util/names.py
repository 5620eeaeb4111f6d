"""Names that people guess, and names that are suggested instead: by meaning, else by spelling.

What people call things elsewhere is data, ``names.toml``. Each unknown name of the package, of a
run, of a command, an option, or a key of a config is answered by `advice`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Literal, NoReturn

import lazy_loader

from harness.errors import nearest, suggestion

Kind = Literal[
    "python", "run", "best", "ratings", "pair", "commands",
    "commands-of-cache", "things", "options", "keys", "row", "dataset", "data-sets", "arguments",
    "calls", "forms", "options-of-commands", "packages",
]  # fmt: skip
"""Places where a name was guessed: the sections of ``names.toml``."""
OPTION = r"`(--?[a-z][a-z-]*)"
"""An option that an advice begins with."""
FORM = r"`([a-z]+)`"
"""A form of output that an advice begins with."""
FEWEST = 5
"""Letters of a word from which its spelling has to be closer."""
CLOSE = 0.7
"""How close, measured by `difflib`."""
MOST = 12
"""Names that a message lists where none is near."""


def folded(word: str) -> str:
    """Return a word without case, dashes and underscores, as names are compared.

    >>> folded("--NDCG_at-k")
    'ndcgatk'
    """
    return re.sub(r"[-_ ]", "", word).casefold()


@cache
def uses(kind: Kind) -> dict[str, list[str]]:
    """Return what to use for each word of a kind: one advice, or several in their order."""
    import tomllib  # a third of the time of `import harness`

    text = Path(__file__).with_name("names.toml").read_text(encoding="utf-8")
    section = tomllib.loads(text)[kind]
    return {
        folded(word): [said] if isinstance(said, str) else said for word, said in section.items()
    }


def meant(kind: Kind, word: str, choices: Iterable[str] = ()) -> str:
    """Return what to use for a word that people know from elsewhere; empty for no such word.

    An option that an advice begins with has to be one of `choices`, and a form of output too.

    >>> meant("options", "--algos", ["--algorithms"]), meant("options", "--algos", ["--set"])
    ('`--algorithms`', '')
    """
    known = {*choices}
    for said in uses(kind).get(folded(word), ()):
        option = re.match(FORM if kind == "forms" else OPTION, said)
        if option is None or option[1] in known:
            return said
    return ""


def near(kind: Kind | None, word: object, choices: Iterable[str]) -> str:
    """Return the end of a message: what a word means here, or the choice of nearly its spelling.

    Empty where there is neither.

    >>> near("commands", "leaderboard", ["run", "table"]), near("commands", "tabel", ["table"])
    ('use `harness table quickstart`', "did you mean 'table'?")
    """
    known = [*choices]
    if kind is not None and (said := meant(kind, str(word), known)):
        return f"use {said}"
    least = CLOSE if len(folded(str(word))) >= FEWEST else None
    choice = nearest(word, known, least)
    return "" if choice is None else f"did you mean {choice!r}?"


def advice(kind: Kind | None, word: object, choices: Iterable[str], most: int | None = MOST) -> str:
    """Return the end of a message about an unknown name: what to use instead.

    Parameters
    ----------
    kind : str or None
        Where the name was guessed; None where no words are known.
    word : object
        What was found.
    choices : iterable of str
        The valid names there.
    most : int, optional
        How many of them are listed where none is near.

    Examples
    --------
    >>> advice("commands", "zzz", ["run", "table"])
    'use one of run, table'
    """
    known = sorted(choices)
    return near(kind, word, known) or suggestion("", known, most)


def no_name(kind: Kind | None, owner: str, word: str, choices: Iterable[str]) -> str:
    """Return the message of an AttributeError, on one line.

    >>> no_name("run", "run", "to_xlsx", ["table"])
    "run has no 'to_xlsx'; use `run.to_excel('table.xlsx')`"
    """
    return f"{owner} has no {word!r}; {advice(kind, word, choices)}"


def members(
    package: str, file: str, kind: Kind
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package that has a stub file.

    Its names are imported when they are first used, and an unknown one is answered by `advice`.
    """
    imported, listed, public = lazy_loader.attach(package, *stub_names(file))

    def get(name: str) -> object:
        if name.startswith("__") or name in public:
            return imported(name)
        try:
            return imported(name)
        except AttributeError:
            raise AttributeError(no_name(kind, package, name, public), name=name) from None

    return get, listed, public


def stub_names(file: str) -> tuple[list[str], dict[str, list[str]]]:
    """Return the modules that the stub of a file names, and the names that it takes from each.

    `lazy_loader.attach_stub` reads the same from a syntax tree, in a quarter of the time that
    `import harness` takes: a script of little work would notice.
    """
    stub = Path(file).with_suffix(".pyi").read_text(encoding="utf-8")
    names = {}
    for statement in stub.split("\nfrom .")[1:]:
        module, _, listed = statement.partition(" import ")
        listed = listed[1:].partition(")")[0] if listed[0] == "(" else listed.partition("\n")[0]
        names[module] = [each for each in map(str.strip, listed.split(",")) if each]
    return names.pop("", []), names


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
        package = self.__name__.rpartition(".")[2]
        hint = meant("packages", f"{package}.{name}")
        names = getattr(self, "__all__", dir(self))
        public = sorted(each for each in names if not each.startswith("_"))
        said = f"use {hint}" if hint else advice(None, name, public)
        raise AttributeError(f"{self.__name__} has no {name!r}; {said}", name=name, obj=self)

    def __call__(self, *_: object, **__: object) -> NoReturn:
        word = self.__name__.rpartition(".")[2]
        hint = meant("calls", word)
        said = f"use {hint}" if hint else f"its names: dir({self.__name__})"
        raise TypeError(f"{self.__name__} is a package, not a function; {said}")


class _Package(ModuleType):
    """A package whose own packages answer a call of them, such as ``harness.datasets()``."""

    def __setattr__(self, name: str, value: object) -> None:
        # The import system sets each package here after its import. It may be of a class already.
        if isinstance(value, ModuleType) and not isinstance(value, _Called):
            value.__class__ = type("Package", (_Called, type(value)), {})
        super().__setattr__(name, value)


def answer_calls(package: ModuleType) -> None:
    """Let the packages in a package, those imported later too, answer a call of them."""
    package.__class__ = _Package
    for name, value in [*vars(package).items()]:
        if isinstance(value, ModuleType) and value.__name__ == f"{package.__name__}.{name}":
            setattr(package, name, value)


def refuse_guessed(name: str) -> None:
    """Raise an ImportError for a module whose name is a word of ``names.toml``.

    Python would not show the AttributeError of `from harness import WORD`.
    """
    package, _, word = name.partition(".")
    if package == __name__.partition(".")[0] and (said := meant("python", word)):
        raise ImportError(f"{package} has no {word!r}; use {said}", name=name)


class Named:
    """An object whose public names are all that completion shows, and which says where others are.

    Subclasses set `_guessed`: their section of ``names.toml``, None without one, and their name.
    """

    _guessed: tuple[Kind | None, str]

    def __dir__(self) -> list[str]:
        own = {*super().__dir__()}
        return sorted(name for name in own if not name.startswith("_") or name.startswith("__"))

    if not TYPE_CHECKING:  # or a type checker would take any name for one

        def __getattr__(self, name: str) -> object:
            if name.startswith("_") or hasattr(type(self), name):
                return object.__getattribute__(self, name)  # raises what was raised before
            kind, called = self._guessed
            public = [each for each in dir(self) if not each.startswith("_")]
            raise AttributeError(no_name(kind, called, name, public), name=name, obj=self)
