"""The identity of code: what decides the numbers of a class or function that is not built in.

Its module is followed to all modules that it imports, directly or not, until Python's standard
library and installed packages, of which the version counts. Each module counts as it is loaded.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import json
import sys
import warnings
from functools import partial
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from harness.algorithms import distributions
from harness.algorithms.imports import Import, Imports
from harness.algorithms.loaded_code import described, edited
from harness.files import digest_of

HARNESS = __name__.partition(".")[0]
"""This package, whose version is in every key."""


class Identity(NamedTuple):
    """What a result of some code depends on, beside its arguments and data."""

    digest: str
    """Of all modules that were followed."""
    packages: dict[str, str]
    """Versions of the installed packages that these modules import, by normalized name."""
    unfollowed: tuple[str, ...]
    """Why other code may decide too, one sentence part each; empty where all is followed."""


def code_identity(code: object) -> Identity:
    """Return the identity of the module of a class, a function or an object.

    Parameters
    ----------
    code : object
        A class, a function, an instance or a module.

    Returns
    -------
    Identity
        The same in every process that has the same files and packages.

    Notes
    -----
    What a module imports is read from its text, also in functions. A module of one's own that is
    not loaded yet is imported, as its text says: what is loaded then is the same in every process.

    Examples
    --------
    >>> import fractions
    >>> code_identity(fractions.Fraction).packages
    {}
    """
    if isinstance(code, partial):
        code = code.func
    name = code.__name__ if isinstance(code, ModuleType) else getattr(code, "__module__", None)
    following = _Following()
    following.start(name or type(code).__module__, code)
    return following.identity()


class _Following:
    """The modules that were followed from one, and what was met on the way."""

    def __init__(self) -> None:
        self.modules: dict[str, object] = {}
        """What each is, by name; None for one that is not there."""
        self.packages: dict[str, str] = {}
        self.reasons: dict[str, None] = {}

    def identity(self) -> Identity:
        """Return what was found, in an order that does not depend on the imports."""
        text = json.dumps(self.modules, sort_keys=True)
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        return Identity(digest, dict(sorted(self.packages.items())), tuple(sorted(self.reasons)))

    def start(self, name: str, code: object) -> None:
        """Follow the first module, wherever it is, and those of the classes that `code` is of."""
        module = sys.modules.get(name)
        if module is None:  # made at run time, and in no module
            self.modules[name] = described({getattr(code, "__name__", ""): code}, name)
            self.reasons[f"{name} is no module that can be imported"] = None
            return
        self.reach(name)
        if name not in self.modules:  # installed, standard or of this package
            file = getattr(module, "__file__", None)
            for installed in distributions.owners(name, file) if file else ():
                self.packages |= distributions.required(installed)
            self.describe(name, module, getattr(module, "__spec__", None))
        for base in code.__mro__ if isinstance(code, type) else ():
            self.reach(base.__module__)

    def reach(self, name: str) -> bool:
        """Follow a module after the packages around it; return whether it is one to follow.

        What is in an installed package is not looked for: that would import the package.
        """
        for outer in _outer(name):
            self.follow(outer)
            if self.modules.get(outer) is None:
                return False
        return True

    def follow(self, name: str) -> None:
        """Follow a module, unless it is of the standard library, of this package or installed."""
        if name in self.modules or name.partition(".")[0] == HARNESS:
            return
        spec = _spec(name)
        file = _file(name, spec)
        if distributions.is_standard(name, file):
            return
        if file is not None and (installed := distributions.owners(name, file)):
            for package in installed:
                self.packages |= distributions.versions(package)
            return
        self.modules[name] = None
        module = _imported(name) if spec or name in sys.modules else None
        self.describe(name, module, _spec(name))

    def describe(self, name: str, module: ModuleType | None, spec: ModuleSpec | None) -> None:
        """Describe one module and follow its imports."""
        file = _file(name, spec)
        if file is not None and file.endswith(tuple(EXTENSION_SUFFIXES)):
            self.modules[name] = ["extension", digest_of(Path(file))]
            if not distributions.is_installed(Path(file)):
                self.reasons[f"{name} is a compiled extension"] = None
            return
        if module is None and spec is None:
            return  # not there, as an optional import
        text = _text(name, module, spec)
        if text is None and file is not None and Path(file).is_file():  # compiled, without source
            self.modules[name] = ["compiled", digest_of(Path(file))]
            self.reasons[f"{name} has no source"] = None
            return
        loaded = described(vars(module), name) if module else None
        self.modules[name] = [text, loaded, *([_texts[name].edited] if module else [])]
        if text is None:
            self.reasons[f"{name} has no source: it was typed in, or made at run time"] = None
            return
        read = Imports(text)
        for reason in read.reasons:
            self.reasons[f"{name} {reason}"] = None
        is_package = spec is not None and spec.submodule_search_locations is not None
        package = name if is_package else name.rpartition(".")[0]
        for statement in read.imports:
            self.import_(statement, package)

    def import_(self, statement: Import, package: str) -> None:
        """Follow what a statement of a module in `package` imports."""
        base, names = statement.module, statement.names
        if statement.level:
            parents = package.split(".")
            around = parents[: len(parents) - statement.level + 1]
            base = ".".join(part for part in (*around, base) if part)
        if not base or not self.reach(base):
            return
        members = vars(sys.modules[base]) if base in sys.modules else {}
        if "*" in names:
            names = (*names, *(n for n in members.get("__all__", ()) if isinstance(n, str)))
        for name in names:
            member = members.get(name)
            if isinstance(member, ModuleType):
                self.reach(member.__name__)
            elif member is None and name != "*" and _spec(f"{base}.{name}"):
                self.reach(f"{base}.{name}")


def _outer(name: str) -> list[str]:
    """Return a module's name and those of the packages around it, from the outermost.

    >>> _outer("a.b.c")
    ['a', 'a.b', 'a.b.c']
    """
    parts = name.split(".")
    return [".".join(parts[: n + 1]) for n in range(len(parts))]


def _imported(name: str) -> ModuleType | None:
    """Return a module, imported if it is not; None where that fails."""
    if name in sys.modules:
        return sys.modules[name]
    try:
        with warnings.catch_warnings():  # which are not those of the run
            warnings.simplefilter("ignore")
            return importlib.import_module(name)
    except KeyboardInterrupt:
        raise
    except BaseException:  # an optional import, or a script that calls sys.exit
        return None


def _spec(name: str) -> ModuleSpec | None:
    """Return how a module is found, loaded or not."""
    module = sys.modules.get(name)
    if module is not None:
        return getattr(module, "__spec__", None)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.util.find_spec(name)
    except KeyboardInterrupt:
        raise
    except BaseException:  # of a package around it that cannot be imported
        return None


def _file(name: str, spec: ModuleSpec | None) -> str | None:
    """Return the file of a module; None for one that is built in, a namespace or not there."""
    if spec is not None:
        return spec.origin if spec.has_location else None
    file = getattr(sys.modules.get(name), "__file__", None)
    return file if isinstance(file, str) else None


class _Text(NamedTuple):
    """The text of a module when it was first asked for."""

    spec: object
    """By which the module was loaded; a reload brings another."""
    text: str | None
    edited: dict[str, str]
    """Constants that were loaded from another text."""


_texts: dict[str, _Text] = {}


def _text(name: str, module: ModuleType | None, spec: ModuleSpec | None) -> str | None:
    """Return the text of a module, at the first call since it was loaded; None without one."""
    if module is not None and name in _texts and _texts[name].spec is (spec or module):
        return _texts[name].text
    try:
        source = getattr(spec.loader, "get_source", None) if spec else None
        text = source(name) if source else inspect.getsource(module or sys.modules[name])
    except (OSError, TypeError, ImportError, LookupError, SyntaxError, UnicodeDecodeError):
        text = None
    if module is not None:
        _texts[name] = _Text(spec or module, text, edited(text or "", vars(module)))
    return text
