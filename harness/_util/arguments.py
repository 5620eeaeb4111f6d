"""Arguments of public functions: a value that its annotation excludes is refused before use.

`checked` decorates a public function; its annotations say what it takes. `as_array` reads columns
of numbers, which no annotation describes.
"""

from __future__ import annotations

import builtins
import inspect
import os
import sys
import types
import typing
import warnings
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache, wraps
from numbers import Integral, Real
from pathlib import Path
from types import FrameType
from typing import Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from harness._util import names
from harness.errors import HarnessError, joined, reason_of, suggestion

P = ParamSpec("P")
R = TypeVar("R")
Array = NDArray[Any]

TRUTH = (bool, np.bool_)
NUMBERS: dict[object, Any] = {bool: TRUTH, int: Integral, float: Real}
"""What values of a type are instances of; a truth value is not a number."""
NOT_NUMBERS = {"c": "complex numbers", "M": "dates", "m": "time differences", "V": "records"}
UNIONS = (Union, types.UnionType)
ALIASES = (kind,) if (kind := getattr(typing, "TypeAliasType", None)) else ()
"""What Python 3.12 and later make of ``type`` statements."""
MOST_RATING, MOST_SCORE = 1e30, 1e40
"""The greatest rating and score: sums of squares of ratings and of sixth powers of scores are far
from what a float holds. If all values are below the inverse, their powers are lost.
"""


def warn(text: str) -> None:
    """Warn at the first line outside this package, which is the user's."""
    depth, frame = 1, sys._getframe()
    inside = __name__.partition(".")[0]
    while frame.f_back is not None and _package(frame) in (inside, "functools"):
        frame, depth = frame.f_back, depth + 1
    warnings.warn(text, UserWarning, stacklevel=depth)


def is_called_from_outside() -> bool:
    """Return whether the public function that asks was called by code outside this package."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_globals.get("__name__") == __name__:
        frame = frame.f_back  # of what `checked` made
    return frame is None or _package(frame) != __name__.partition(".")[0]


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


def checked(
    error: type[HarnessError], *, leaving: Collection[str] = ()
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function: an argument that its annotation excludes raises `error`.

    Arguments that the function checks itself are named by `leaving`.

    What only type checkers know, and the shapes of arrays, are not looked at. An unknown keyword or
    a missing argument is Python's own TypeError.

    Examples
    --------
    >>> @checked(HarnessError)
    ... def half(number: float, name: str | None = None) -> float:
    ...     return number / 2
    >>> half("2")
    Traceback (most recent call last):
    harness.errors.HarnessError: half: number is '2' (str); give a number
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        declared = inspect.signature(function)
        named, _ = named_parameters(function)
        title = function.__qualname__.removesuffix(".__init__")

        @wraps(function)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                arguments = declared.bind(*args, **kwargs).arguments
            except TypeError as fault:  # Python's own message names the function
                _check_call(function, fault, kwargs)
                return function(*args, **kwargs)
            for name, value in arguments.items():
                if name in named and name not in leaving:
                    check_argument(function, title, name, value, error)
            return function(*args, **kwargs)

        return wrapper

    return decorate


def _check_call(function: Callable[..., Any], fault: TypeError, given: Iterable[str]) -> None:
    """Raise a TypeError that says which keyword a wrong one stands for, where that is known."""
    named, takes_more = named_parameters(function)
    for word in () if takes_more else given:
        if word not in named:
            hint = names.meant("arguments", f"{function.__name__}.{word}")
            hint = f"use {hint}" if hint else suggestion(word, named)
            message = f"{function.__name__}() has no argument {word!r}; {hint}"
            raise TypeError(message) from None
    if "too many positional" in str(fault):
        by_kind = parameters_by_kind(function)
        if hint := names.meant("arguments", function.__name__):
            raise TypeError(f"{function.__name__}() has too many arguments; use {hint}") from None
        if by_name := [*by_kind[inspect.Parameter.KEYWORD_ONLY]]:
            raise TypeError(
                f"{function.__name__}() has too many arguments without a name; give the others by "
                f"name: {joined(by_name, 'or')}"
            ) from None


signature = cache(inspect.signature)
_COLLECTIONS = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def parameters_by_kind(
    function: Callable[..., Any],
) -> dict[inspect._ParameterKind, dict[str, inspect.Parameter]]:
    """Return the parameters of a function or class by their kind and name."""
    by_kind = defaultdict[inspect._ParameterKind, dict[str, inspect.Parameter]](dict)
    for name, parameter in signature(function).parameters.items():
        by_kind[parameter.kind][name] = parameter
    return by_kind


def named_parameters(function: Callable[..., Any]) -> tuple[dict[str, inspect.Parameter], bool]:
    """Return the parameters of a function or class, without collections, and whether it takes more.

    >>> def greet(name, *, loudly=False, **others): ...
    >>> named, takes_more = named_parameters(greet)
    >>> [*named], takes_more
    (['name', 'loudly'], True)
    """
    declared = signature(function).parameters
    kinds = {name: parameter.kind for name, parameter in declared.items()}
    named = {name: declared[name] for name, kind in kinds.items() if kind not in _COLLECTIONS}
    return named, inspect.Parameter.VAR_KEYWORD in kinds.values()


def check_argument(
    function: Callable[..., Any],
    title: str,
    name: str,
    value: object,
    error: type[HarnessError],
) -> None:
    """Raise an error if a value is none of the annotation of a function's argument.

    >>> check_argument(check_path, "path", "where", 7, HarnessError)
    Traceback (most recent call last):
    harness.errors.HarnessError: path: where is 7 (int); give text
    """
    hint = _hints(function).get(name, Any)
    if not _fits(value, hint):
        raise error(refusal(title, name, value, hint, _choices(hint)))
    _check_text(f"{title}: {name}", value, hint, error)


class _Names(dict[str, Any]):
    """Names of a module; those that only type checkers import stand for anything."""

    def __missing__(self, name: str) -> Any:
        return getattr(builtins, name, _Unknown())


class _Unknown:
    """A module or a type that only type checkers import."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Any

    def __or__(self, other: object) -> Any:
        return Any

    __ror__ = __getitem__ = __or__

    def __call__(self) -> None:
        """Only what can be called passes for a type."""


@cache
def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    # What another decorator has made has the names of that decorator's module.
    return get_type_hints(function, localns=_Names(inspect.unwrap(function).__globals__))


def _check_text(where: str, value: object, hint: Any, error: type[HarnessError]) -> None:
    """Refuse a path that no file can have and text that cannot be written, also in a list."""
    choices = _choices(hint)
    if isinstance(value, str | Path) and Path in choices:
        check_path(where, value, error)
    elif isinstance(value, str) and str in choices and not is_unicode(value):
        raise error(f"{where} is {quoted(value)}, which is not valid Unicode; give other text")
    elif isinstance(value, list | tuple):
        insides = [get_args(choice)[0] for choice in choices if get_origin(choice) is Sequence]
        for part in value if insides else ():
            _check_text(where, part, insides[0], error)


def check_path(where: str, path: str | Path, error: type[HarnessError]) -> None:
    """Refuse a path that no file can have: with a NUL, too long, or of broken Unicode."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        pass
    except (OSError, ValueError) as fault:
        found = reason_of(fault)
        raise error(f"{where}: {quoted(path)} is not a path ({found}); give another") from None


def is_unicode(text: str) -> bool:
    """Return whether a text can be written: one from bytes of another encoding may have no form."""
    return text.encode(errors="ignore").decode() == text


def _resolved(hint: Any) -> Any:
    """Return what an alias stands for: on Python 3.12 NumPy's aliases have a separate type."""
    origin = get_origin(hint) or hint
    if not isinstance(origin, ALIASES):
        return hint
    arguments = get_args(hint)
    return _resolved(origin.__value__[arguments] if arguments else origin.__value__)


@cache  # resolving the parts of NumPy's unions again costs more than the check itself
def _choices(hint: Any) -> tuple[Any, ...]:
    """Return the parts of a union, including the parts of unions within it."""
    hint = _resolved(hint)
    if get_origin(hint) not in UNIONS:
        return (hint,)
    return tuple(choice for part in get_args(hint) for choice in _choices(part))


def _fits(value: object, hint: Any) -> bool:
    """Return whether a value is one of an annotation, as far as that can be said cheaply."""
    choices = _choices(hint)
    if type(value) in choices or Any in choices:
        return True
    if _is_array_like(hint):  # whose parts no instance check tells apart
        return value is not None or type(None) in choices
    return any(_fits_one(value, choice) for choice in choices)


def _fits_one(value: object, hint: Any) -> bool:
    """Return whether a value is one of an annotation that is none of several."""
    origin = get_origin(hint) or hint
    if origin is np.ndarray:
        return _is_array(value, hint)
    if origin is Literal:
        return any(value is choice or (type(value) is type(choice) and value == choice)
                   for choice in get_args(hint))  # fmt: skip
    if hint in NUMBERS:
        return isinstance(value, NUMBERS[hint]) and isinstance(value, TRUTH) == (hint is bool)
    if origin is Sequence:
        return _is_sequence(value, get_args(hint))
    if origin is Iterable and isinstance(value, str | bytes):
        return False
    with suppress(TypeError):  # a protocol, a type variable, or what only type checkers know
        return isinstance(value, origin)
    return True


@cache
def _is_array_like(hint: Any) -> bool:
    return {*_choices(ArrayLike)} <= {*_choices(hint)}


def _is_array(value: object, hint: Any) -> bool:
    """Return whether a value is an array, of numbers where the annotation names a type of them."""
    dtype = get_args(get_args(hint)[1])[0]
    kinds = "biufOUSmM" if dtype in (Any, np.generic, np.object_) else "biuf"
    if inspect.isclass(dtype) and issubclass(dtype, np.integer):
        kinds = "iu"
    is_whole_array = isinstance(value, np.ndarray) and not np.ma.is_masked(value)
    return is_whole_array and value.dtype.kind in kinds  # type: ignore[attr-defined]


def _is_sequence(value: object, inside: tuple[Any, ...]) -> bool:
    # An array, a Series and an index are sequences without saying so.
    right = hasattr(value, "__len__") and hasattr(value, "__getitem__")
    right = right and not isinstance(value, str | bytes | Mapping)
    right = right and not hasattr(value, "columns")
    return right and all(_fits(part, inside[0]) for part in value if inside)  # type: ignore[attr-defined]


def unmasked(name: str, values: ArrayLike, error: type[HarnessError] = HarnessError) -> ArrayLike:
    """Return what was given, or refuse a masked value: an array would have what is below it."""
    if np.ma.is_masked(values):
        raise error(f"{name}: some values are masked; drop these rows or give them a value")
    return values


def as_array(
    name: str,
    values: ArrayLike,
    kind: DTypeLike = np.float64,
    error: type[HarnessError] = HarnessError,
) -> Array:
    """Return numbers as a contiguous array of a type, or refuse what they cannot become.

    >>> as_array("ratings", [1, 2.5]).tolist()
    [1.0, 2.5]
    >>> as_array("ratings", [1 + 2j])
    Traceback (most recent call last):
    harness.errors.HarnessError: ratings: complex numbers; give numbers only
    """
    try:
        array = np.asarray(unmasked(name, values, error))
        if values is None or array.dtype.kind in NOT_NUMBERS:
            raise TypeError(NOT_NUMBERS.get(array.dtype.kind, "None"))
        if array.dtype.kind in "fO" and np.issubdtype(kind, np.integer):
            _check_whole(array, kind)
        return np.ascontiguousarray(array, dtype=kind)
    except (TypeError, ValueError, OverflowError) as fault:
        ragged = "inhomogeneous" in str(fault)
        found = "rows of different lengths; give rows of one length"
        raise error(
            f"{name}: {found if ragged else f'{reason_of(fault)}; give numbers only'}"
        ) from None


def returned_numbers(name: str, returned: object, error: type[HarnessError]) -> NDArray[np.float64]:
    """Return a copy, as floats, of the array that somebody else's function returned.

    Masked and complex arrays, text and what is not an array raise `error`: a conversion would drop
    the mask or the imaginary part silently.

    >>> returned_numbers("mine.f", [1, 2.5], HarnessError).tolist()
    [1.0, 2.5]
    >>> returned_numbers("mine.f", np.array([1 + 2j]), HarnessError)
    Traceback (most recent call last):
    harness.errors.HarnessError: mine.f returned complex numbers; return an array of numbers
    """
    if np.ma.is_masked(returned):
        raise error(f"{name} returned a masked array; return a plain one, as by `filled(np.nan)`")
    try:
        array = np.asarray(returned)
        found = NOT_NUMBERS.get(
            array.dtype.kind, "text" if np.issubdtype(array.dtype, np.character) else ""
        )
        if not found and returned is not None:
            return np.array(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        found = ""
    found = found or f"an object of type {type(returned).__name__}"
    raise error(f"{name} returned {found}; return an array of numbers")


def unit_fault(most: float, *columns: Array) -> str:
    """Return why numbers cannot be squared and added; empty for nothing.

    The greatest value of all columns together, whatever its sign, has to be 0 or between
    1 / `most` and `most`. NaN does not count.

    >>> unit_fault(1e30, np.array([1.0, -1e31]))
    'a value of -1e+31, too large to be squared; use a unit that gives at most 1e+30'
    >>> unit_fault(1e30, np.array([0.0, 1e-31])), unit_fault(1e30, np.array([1e-31, 1.0]))
    ('no value beyond 1e-31, too small to be squared; use a unit that gives 1e-30 or more', '')
    """
    lows = [float(np.fmin.reduce(column, axis=None, initial=0.0)) for column in columns]
    highs = [float(np.fmax.reduce(column, axis=None, initial=0.0)) for column in columns]
    greatest = max([*lows, *highs], key=abs)
    if abs(greatest) > most:
        return (
            f"a value of {greatest:.3g}, too large to be squared; use a unit that gives at most "
            f"{most:g}"
        )
    if 0 < abs(greatest) < 1 / most:
        return (
            f"no value beyond {abs(greatest):.3g}, too small to be squared; use a unit that gives "
            f"{1 / most:g} or more"
        )
    return ""


def is_floating(array: Array) -> bool:
    """Return whether an array holds floating-point numbers."""
    return np.issubdtype(array.dtype, np.floating)


def is_whole(array: Array) -> bool:
    """Return whether an array holds whole numbers, with a sign or without."""
    return np.issubdtype(array.dtype, np.integer)


def is_number(array: Array) -> bool:
    """Return whether an array holds numbers or truth values, and no complex numbers."""
    return is_floating(array) or is_whole(array) or array.dtype == np.bool_


def is_text(array: Array) -> bool:
    """Return whether an array holds text, not as objects."""
    return np.issubdtype(array.dtype, np.str_)


def _check_whole(array: Array, kind: DTypeLike) -> None:
    """Refuse numbers that a conversion to integers would cut."""
    numbers, limits = array.astype(np.float64), np.iinfo(np.dtype(kind))
    wrong = ~((numbers == np.floor(numbers)) & (numbers >= limits.min) & (numbers <= limits.max))
    if wrong.any():
        raise ValueError(f"{numbers[wrong].flat[0]:.16g} is not a whole number of {np.dtype(kind)}")


WORDS: dict[Any, str] = {
    bool: "True or False", int: "a whole number", float: "a number", str: "text",
    Path: "a path", type(None): "None", Mapping: "a mapping", Callable: "a function",
    np.ndarray: "an array of numbers", Any: "anything",
}  # fmt: skip
SHOWN = 60
"""Characters of a value that a message quotes."""


def refusal(function: str, name: str, value: object, hint: Any, choices: Iterable[Any]) -> str:
    """Return why a value is none of an annotation, whose parts are `choices`, and what to give.

    >>> refusal("half", "number", "2", float, [float])
    "half: number is '2' (str); give a number"
    """
    if isinstance(value, type):  # in place of its object, a usual slip
        return f"{function}: {name} is the class {value.__name__}; give an object of it"
    if get_origin(hint) is Literal and isinstance(value, str):
        names = map(str, get_args(hint))
        return f"unknown {name} {_shown(repr(value))}; {suggestion(value, names)}"
    words = dict.fromkeys(_word(choice) for choice in choices)
    return f"{function}: {name} is {quoted(value)}; give {joined(words, 'or')}"


def quoted(value: object) -> str:
    """Return a value on one line, as a message shows it, with its type."""
    try:
        text = " ".join(f"{value!r:.1000}".split())
    except Exception:  # an object whose own text cannot be made
        text = "an object"
    return _shown(text) + ("" if value is None else f" ({type(value).__name__})")


def _shown(text: str) -> str:
    return f"{text[:SHOWN]} …" if len(text) > SHOWN else text


def _word(hint: Any) -> str:
    origin = get_origin(hint) or hint
    if origin is Literal:
        return joined(map(repr, get_args(hint)), "or")
    if origin in WORDS:
        return WORDS[origin]
    if get_origin(hint) and issubclass(origin, Iterable):
        return "a list"
    package = origin.__module__.partition(".")[0]
    name = (
        origin.__name__ if package in ("builtins", __package__) else f"{package}.{origin.__name__}"
    )
    return f"{'an' if name[0] in 'AEIOUaeiou' else 'a'} {name}"
