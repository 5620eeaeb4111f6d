"""Names that people guess, and names that are suggested instead: by meaning, else by spelling.

What people call things elsewhere is data, ``names.toml``. Each unknown name of the package, of a
run, of a command, an option, or a key of a config is answered by `advice`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

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
