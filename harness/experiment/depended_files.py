"""The files that code of one's own reads, as `depends` of an algorithm names them."""

from __future__ import annotations

from pathlib import Path

from harness.algorithms import depends
from harness.errors import AlgorithmError
from harness.experiment.code import Code


def files_of(code: Code, algorithm: int) -> dict[str, str]:
    """Return a hash for each entry of `depends` of the config's algorithm of this number."""
    folder = None if code.folder is None else Path(code.folder)
    digests: dict[str, str] = {}
    for pattern in code.experiment.algorithms[algorithm].depends:
        try:
            digests[pattern] = depends.digest(pattern, folder)
        except AlgorithmError:
            if code.files_planned is None:
                raise
            digests[pattern] = code.files_planned[algorithm][pattern]
    return digests
