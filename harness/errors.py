"""All errors, as one tree.

::

    HarnessError                  caught once, by the command line: one line, exit code 2
    ├── ConfigError               a config file; carries every problem of the file at once
    ├── DataError                 ratings that cannot be used
    │   ├── ColumnsError          columns that cannot be told apart, or are not there
    │   └── DownloadError         a data set that could not be fetched
    ├── SplitError                a split that leaves a part empty
    ├── AlgorithmError            an algorithm that does not exist or cannot be built
    │   └── CapacityError         a cell that would not fit in memory
    ├── MetricError               a label that cannot be read, input a metric cannot score
    ├── ResultsError              a results folder or cache that is missing, foreign or broken
    │   └── ComparisonError       runs that cannot be compared
    ├── ClusterError              a cluster that cannot be reached or used
    └── PluginError               a plug-in that is not there or cannot be used

Every message follows one grammar, *where: what was found; what to do*, so that the reader never
needs a traceback. An address in a message can hold a secret: a password before ``@``, or a token in
its query. Everything that is written or shown holds the masked address.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, Self
from urllib.parse import unquote

MASK = "***"
"""What stands for the secrets of an address."""
# Path turns the slashes after a scheme into one. Secrets may hold quotation marks.
_ADDRESS = r"([A-Za-z][A-Za-z0-9+.-]+:/+)(\S*)"
_PUNCTUATION = ")]},;.:'\"`>"
MOST_SHOWN = 50
LONGEST = 1_000
"""Characters of a key or a message that are shown: a hostile config can make them very long."""
LONGEST_END = 300
"""The characters at the end among these, where a message says what to do."""
LONGEST_QUOTE = 300
"""Characters of an error of other code that a message quotes."""


class HarnessError(Exception):
    """An error that a user can fix: the message says where, what was found and what to do.

    Addresses in the message are masked, because libraries quote them with their secrets.
    """

    def __init__(self, *parts: object) -> None:
        super().__init__(*(masked_text(part) if isinstance(part, str) else part for part in parts))


class Terminated(KeyboardInterrupt):
    """SIGTERM was received: the program ends in order, as after Ctrl-C."""

    code = 143
    """Exit code of the program: 128 and the number of the signal."""
    said = "ended by SIGTERM"


class _Fault(NamedTuple):
    line: int
    key: str
    message: str
    source: str = ""


class Fault(_Fault):
    """One thing wrong in a config file.

    Parameters
    ----------
    line : int
        Line in the file, from 1; 0 when the value did not come from a file.
    key : str
        Path of the key, such as ``algorithms[1].name``; empty for the file as a whole.
    message : str
        What was found and what to do.
    source : str
        The file, where it is not the config itself, as a base that the config extends.

    Examples
    --------
    >>> Fault(14, "algorithms[1].name", "unknown algorithm 'SDV'; did you mean 'SVD'?").at("a.yaml")
    "a.yaml:14: algorithms[1].name: unknown algorithm 'SDV'; did you mean 'SVD'?"
    """

    __slots__ = ()

    def __new__(cls, line: int, key: str, message: str, source: str = "") -> Self:  # noqa: D102
        return super().__new__(cls, line, key, masked_text(message), source)

    def at(self, source: str) -> str:
        """Return the problem as one line that starts with where it is."""
        source = self.source or source
        where = f"{source}:{self.line}" if self.line else source
        said = (part for part in (self.key, self.message) if part)
        return ": ".join([where, *map(_in_short, said)])


def _in_short(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    return f"{text[: LONGEST - LONGEST_END]} … {text[-LONGEST_END:]}"


class ConfigError(HarnessError):
    """A config that cannot be run, with all its problems.

    Parameters
    ----------
    source : str
        The file, or ``config`` when it came from Python.
    faults : iterable of Fault
        All problems; the first ones are shown, in the order of the file.
    """

    def __init__(self, source: str, faults: Iterable[Fault]) -> None:
        self.source = source
        self.faults = tuple(sorted(faults))
        lines = [fault.at(source) for fault in self.faults[:MOST_SHOWN]]
        if len(self.faults) > MOST_SHOWN:
            more = counted(len(self.faults) - MOST_SHOWN, "problem")
            lines.append(f"{source}: {more} more; fix these first")
        super().__init__("\n".join(lines))


class DataError(HarnessError):
    """Ratings that cannot be used."""


class ColumnsError(DataError):
    """Columns that cannot be told by their names: the finding, and the roles to be named."""

    def __init__(self, finding: str, advice: str, roles: Sequence[str] = ()) -> None:
        super().__init__(f"{finding}; {advice}")
        self.finding, self.roles = finding, tuple(roles)


class DownloadError(DataError):
    """A data set that could not be fetched from any of its sources."""


class SplitError(HarnessError):
    """A split that cannot be made, or that leaves a part empty."""


class AlgorithmError(HarnessError):
    """An algorithm that does not exist or cannot be built with these parameters."""


class CapacityError(AlgorithmError):
    """A cell that would need more memory than there is."""


class MetricError(HarnessError):
    """A metric label that cannot be read, or input that a metric cannot score.

    Parameters
    ----------
    message : str
    reason : str, optional
        The message without the label that it begins with, where it does.
    """

    def __init__(self, message: str, reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason or message


class ResultsError(HarnessError):
    """A results folder or cache that is missing, foreign or broken."""


class ComparisonError(ResultsError):
    """Runs whose numbers cannot be compared."""


class ClusterError(HarnessError):
    """A cluster that cannot be reached, or whose workers cannot be used."""


class PluginError(HarnessError):
    """A plug-in that is not there, cannot be imported, or does what it must not."""


def suggestion(word: object, choices: Iterable[str], most: int | None = None) -> str:
    """Return the end of a message: the choice that was probably meant, or all of them.

    Parameters
    ----------
    word : object
        What was found; compared without regard to case.
    choices : iterable of str
        The valid choices.
    most : int, optional
        How many of them are shown; the others are counted.

    Examples
    --------
    >>> suggestion("rmes", ["rmse", "mae"])
    "did you mean 'rmse'?"
    >>> suggestion("x", ["rmse", "mae"])
    'use one of mae, rmse'
    >>> suggestion("x", ["rmse", "mae", "fcp"], most=2)
    'use one of fcp, mae and 1 more'
    """
    ordered = sorted(choices)
    if (meant := nearest(word, ordered)) is not None:
        return f"did you mean {meant!r}?"
    return f"use one of {listed(ordered, most)}" if ordered else "nothing fits here; remove it"


def nearest(word: object, choices: Iterable[str], least: float | None = None) -> str | None:
    """Return the choice that was probably meant, without regard to case; None if none is near.

    `least` is how near it has to be, from 0 to 1, measured by `difflib`.

    >>> nearest("RMES", ["rmse", "mae"]), nearest("x", ["rmse"])
    ('rmse', None)
    """
    from difflib import get_close_matches

    by_folded = {choice.casefold(): choice for choice in choices}
    close = get_close_matches(str(word).casefold(), by_folded, n=1, cutoff=least or 0.6)
    return by_folded[close[0]] if close else None


def listed(words: Sequence[str], most: int | None = None) -> str:
    """Return words with commas: the first ones, and how many more there are.

    >>> listed(["a", "b"], 2), listed(["a", "b", "c"], 2)
    ('a, b', 'a, b and 1 more')
    """
    more = f" and {len(words) - most:,} more" if most and most < len(words) else ""
    return ", ".join(words[:most]) + more


def joined(words: Iterable[object], last: str = "and") -> str:
    """Return words as English lists them.

    >>> joined(["a", "b", "c"]), joined(["a", "b"], "or"), joined(["a"]), joined([])
    ('a, b and c', 'a or b', 'a', '')
    """
    *first, end = [*map(str, words)] or [""]
    return f"{', '.join(first)} {last} {end}" if first else end


def counted(n: int, noun: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted(1, "cell"), counted(1200, "cell")
    ('1 cell', '1,200 cells')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def reason_of(error: BaseException) -> str:
    r"""Return on one line why something failed: in the system's words, or what the error says.

    >>> reason_of(OSError(28, "No space left on device")), reason_of(ValueError("a\nb"))
    ('no space left on device', 'a')
    >>> reason_of(MemoryError())
    'MemoryError'
    """
    if said := getattr(error, "strerror", None):
        return f"{said[0].lower()}{said[1:]}"
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:LONGEST_QUOTE]


def raised_where(error: BaseException) -> str:
    """Return what code of somebody else's raised, and the file and line, for messages.

    >>> try:
    ...     int("a")
    ... except ValueError as error:
    ...     raised_where(error).partition(", <")[0]
    "ValueError: invalid literal for int() with base 10: 'a'"
    """
    import traceback  # half the time of this module

    frames = traceback.extract_tb(error.__traceback__)
    place = f", {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}: {reason_of(error)}{place}"


def is_url(path: str) -> bool:
    """Return whether a path names a file that is not on this machine.

    Examples
    --------
    >>> is_url("https://example.org/a.csv"), is_url("C:/a.csv"), is_url("a/b.csv")
    (True, False, False)
    """
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", path) is not None


def masked(address: str) -> str:
    """Return an address without user, password and query, any of which can be a secret.

    All of the query is left out, because no rule tells a token from another value. A path on this
    machine is returned as it is. Parts that are left out cannot be found again: see `is_masked`.

    Examples
    --------
    >>> masked("https://ann:secret@example.org/a.csv?signature=secret")
    'https://***@example.org/a.csv?***'
    >>> masked("https://example.org/a.csv"), masked("a/b?.csv")
    ('https://example.org/a.csv', 'a/b?.csv')
    """
    if not is_url(address):
        return address
    scheme, rest = re.split(r"(?<=:)(?=/)", address, maxsplit=1)
    slashes = rest[: len(rest) - len(rest.lstrip("/"))]
    return scheme + slashes + _without_secrets(rest.lstrip("/"))


def masked_text(text: str) -> str:
    """Return a text in which every address is masked.

    Examples
    --------
    >>> masked_text("no answer (http://ann:secret@127.0.0.1:80/a.csv?key=secret); try again")
    'no answer (http://***@127.0.0.1:80/a.csv?***); try again'
    """
    if ":/" not in text:
        return text

    def replaced(match: re.Match[str]) -> str:
        rest = match[2].rstrip(_PUNCTUATION)
        return match[1] + _without_secrets(rest) + match[2][len(rest) :]

    return re.sub(_ADDRESS, replaced, text)


def masked_value(text: str) -> str:
    """Return a text of plain data with every address masked; one that is an address, as a whole."""
    return masked(text) if is_url(text) else masked_text(text)


def without_secrets(text: str, address: str) -> str:
    """Return a text about an address without the parts of it that `masked` leaves out.

    Examples
    --------
    >>> address = "s3://ann:secret@example.org/a.csv?signature=abcd"
    >>> without_secrets(f"cannot open {address}: 'secret' or abcd is wrong", address)
    "cannot open s3://***@example.org/a.csv?***: '***' or *** is wrong"
    """
    text = masked_text(text.replace(address, masked(address)))
    rest = address.partition("://")[2]
    user, _, place = rest.rpartition("@")
    values = [pair.partition("=")[2] for pair in place.partition("?")[2].split("&")]
    secrets = {user.partition(":")[2], *values}
    for secret in sorted({*secrets, *map(unquote, secrets)}, key=len, reverse=True):
        if len(secret) > 2:  # a shorter one would be found in any word
            text = text.replace(secret, MASK)
    return text


def is_masked(address: str) -> bool:
    """Return whether secrets of an address were left out, so that it cannot be read.

    Examples
    --------
    >>> is_masked("https://***@example.org/a.csv"), is_masked("https://example.org/a.csv")
    (True, False)
    """
    return is_url(address) and (f"//{MASK}@" in address or address.endswith(MASK))


def _without_secrets(rest: str) -> str:
    """Return what follows the scheme of an address, without its secrets."""
    place = rest.partition("?")[0]
    authority = place.partition("/")[0]
    # A password may hold / or ?, which should be written as %2F and %3F.
    if "@" in authority or (":" in authority and "@" in place):
        rest = f"{MASK}@{rest[place.rindex('@') + 1 :]}"
    elif "@" in rest and re.search(r":(?!\d*$)", authority):
        return MASK
    place, mark, _ = rest.partition("?")
    return place + (mark and "?" + MASK)
