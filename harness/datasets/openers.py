"""What reads a file by its address: one class a kind of scheme, each a plug-in.

An opener gives bytes, and nothing else. Limits, hashes, and what a message may show of an address
are the same around every opener: `harness.datasets.places`.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import Any, ClassVar

from harness.datasets.limits import PATIENCE
from harness.errors import DataError, PluginError, masked, reason_of
from harness.plugins import registry as plugins

BLOCK = 1 << 20
"""Bytes that are asked for at once where a store sends parts of a file."""


class Opener(ABC):
    r"""What reads files by address: a plug-in of the group ``harness.openers``.

    Its name there is the scheme of its addresses: what the entry point ``shelf`` names opens
    ``shelf://desk/ratings.csv``, wherever a config or a call names a file of ratings. It is made
    once for each file, without arguments, and called in its own thread, which is abandoned
    after ``dataset.most_seconds``.

    Examples
    --------
    >>> import io
    >>> class Shelf(Opener):
    ...     def open(self, address):
    ...         return io.BytesIO(b"user,item,rating\nann,book,4\n")
    >>> with Shelf().open("shelf://desk/ratings.csv") as stream:
    ...     stream.readline()
    b'user,item,rating\n'
    """

    api: ClassVar[int] = 1
    """The version of the interface that the class is written for."""
    example: ClassVar[str] = ""
    """The address of a small file, which ``harness list plugins --check`` reads; '' for none."""

    @abstractmethod
    def open(self, address: str) -> Any:
        """Return a stream of the bytes of a file.

        Parameters
        ----------
        address : str
            All of it, with the password and query that a config gave.

        Returns
        -------
        stream
            With ``read(n)``, which returns at most `n` bytes and b"" at the end, to be used in a
            ``with`` statement.

        Raises
        ------
        DataError
            For what a user can do something about, such as a package to install. An exception of
            any other class becomes one that names the opener and its package.
        """

    def size(self, stream: Any) -> int:
        """Return how many bytes `stream` has if its source says it before; 0 for unknown."""
        return 0

    def is_packed(self, stream: Any) -> bool:
        """Return whether the source packed the bytes, so that `stream` unpacks them."""
        return False


class Store(Opener):
    """Files of any scheme that fsspec knows, such as s3:// and gs://."""

    def open(self, address: str) -> Any:
        """Return a stream that asks for blocks of a file."""
        files, path = _fsspec(address).url_to_fs(address)
        return files.open(path, "rb", block_size=BLOCK)

    def size(self, stream: Any) -> int:
        """Return the size that the store says."""
        return int(getattr(stream, "size", None) or 0)


class Web(Opener):
    """Files of http:// and https://: one answer, of which each byte is seen as it comes."""

    def open(self, address: str) -> Any:
        """Return the answer to one question."""
        core = _fsspec(address)
        from aiohttp import ClientTimeout

        patience = ClientTimeout(total=None, sock_connect=PATIENCE, sock_read=PATIENCE)
        headers = {"Accept-Encoding": "identity"}
        files, path = core.url_to_fs(
            address,
            client_kwargs={"timeout": patience, "headers": headers},
            skip_instance_cache=True,
        )
        # With a size fsspec does not ask for one first, which some servers do not answer.
        return files.open(path, "rb", block_size=0, size=1)

    def size(self, stream: Any) -> int:
        """Return the length that the server announces."""
        announced = str(_headers(stream).get("Content-Length", ""))
        return int(announced) if announced.isdecimal() else 0

    def is_packed(self, stream: Any) -> bool:
        """Return whether the server packed what it sends."""
        return bool(_headers(stream).get("Content-Encoding", "identity") != "identity")


def _headers(stream: Any) -> Any:
    return getattr(getattr(stream, "r", None), "headers", {})


def _fsspec(address: str) -> Any:
    """Return what finds the file system of an address, or say that it has to be installed."""
    try:
        from fsspec import core
    except ImportError:
        raise DataError(
            f"{masked(address)}: needs fsspec; pip install 'surprise-harness[remote]', or fetch "
            "the file and give its path"
        ) from None
    return core


def opener_of(address: str) -> Opener:
    """Return what opens an address, by its scheme.

    Raises
    ------
    DataError
        If two packages have the scheme, or the one that has it cannot be used.

    Examples
    --------
    >>> type(opener_of("https://example.org/ratings.csv")).__name__
    'Web'
    """
    scheme = scheme_of(address)
    if scheme not in plugins.names("openers"):
        return Store()  # fsspec has many more, and says which it does not know
    try:
        declared: Any = plugins.find("openers", scheme).load()
    except PluginError as error:
        raise DataError(str(error)) from error.__cause__
    try:
        opener = declared() if isinstance(declared, type) else declared
    except (Exception, SystemExit) as error:
        raise DataError(
            f"opener {named(scheme)}: its class cannot be called ({type(error).__name__}: "
            f"{reason_of(error)}); correct it"
        ) from error
    if not isinstance(opener, Opener):
        raise DataError(f"opener {named(scheme)}: not a subclass of Opener; correct its class")
    return opener


def scheme_of(address: str) -> str:
    """Return the scheme of an address in small letters.

    >>> scheme_of("HTTPS://example.org/ratings.csv")
    'https'
    """
    return re.split("://", address, maxsplit=1)[0].casefold()


def named(scheme: str) -> str:
    """Return the name of an opener with the package that it is of, unless that is this one."""
    origin = plugins.foreign_origin("openers", scheme)
    return f"{scheme!r} of {origin}" if origin else repr(scheme)
