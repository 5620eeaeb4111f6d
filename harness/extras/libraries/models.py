"""Models of other libraries as rows: each library has its own environment and process.

A config's ``{library: cornac, model: MF}`` is the algorithm ``cornac/MF``. Its `fit` hands the
training set as a Parquet file to a runner in the library's interpreter, which trains the model and
hands back the scores of all users and items; from then on the row is like any other.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from harness._util import environments
from harness._util.files import cache_folder
from harness._util.kernels import n_threads
from harness._util.libraries import pa, pq
from harness.algorithms import surprise
from harness.algorithms.base import DOUBLE, ENTRIES, Algorithm, Estimates, Size
from harness.algorithms.parameters import Fault, Params
from harness.algorithms.sources import Source
from harness.algorithms.top_n import Preferring
from harness.algorithms.trainset import Codes, ColumnTrainset
from harness.errors import AlgorithmError, HarnessError, suggestion
from harness.notes.note import Note, as_note
from harness.plugins.registry import folded
from harness.schema.sections import Section

RUNNERS = Path(__file__).with_name("runners")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


class Declared(Section):
    """A model of a library: the parameters that may be set, and what its scores are."""

    params: list[str]
    ratings: bool = False


class Library(Section):
    """A library of ``libraries.toml``."""

    distribution: str
    requirements: list[str]
    pythons: list[str]
    title: str
    models: dict[str, Declared]


@cache
def libraries() -> dict[str, Library]:
    """Return the libraries whose models can be rows, by name."""
    text = Path(__file__).with_name("libraries.toml").read_text(encoding="utf-8")
    return {name: Library.model_validate(library) for name, library in tomllib.loads(text).items()}


def resolve(name: str) -> tuple[str, Library, str, Declared]:
    """Return library and model of a name as ``cornac/MF``, in any spelling.

    >>> library, declared, model, declared_model = resolve("Cornac/mf")
    >>> library, model, declared_model.ratings
    ('cornac', 'MF', True)
    """
    library, _, model = name.partition("/")
    names = {folded(name): name for name in libraries()}
    if folded(library) not in names:
        raise AlgorithmError(f"unknown library {library!r}; {suggestion(library, names.values())}")
    library = names[folded(library)]
    of_library = libraries()[library]
    models = {folded(model_name): model_name for model_name in of_library.models}
    if folded(model) not in models:
        hint = suggestion(model, models.values())
        raise AlgorithmError(f"{of_library.title} has no model {model!r} here; {hint}")
    spelled = models[folded(model)]
    return library, of_library, spelled, of_library.models[spelled]


def check(name: str, params: Params) -> Iterator[Fault]:
    """Yield what is wrong with the parameters of a library's model."""
    _, library, model, declared = resolve(name)
    allowed = [*declared.params, "python", "random_state"]
    for param in params:
        if param not in allowed:
            hint = suggestion(param, declared.params)
            fault = f"{library.title}'s {model} has no such parameter here; {hint}"
            yield ("params", param), fault
    python = params.get("python")
    interpreter = isinstance(python, str) and shutil.which(Path(python).expanduser())
    if python is not None and not interpreter:
        yield (
            ("params", "python"),
            f"found {python!r}; it must be an interpreter that has {library.distribution}",
        )


def identity(name: str) -> str:
    """Return what decides the numbers of a library's model: its versions and its runner."""
    library, declared, model, _ = resolve(name)
    digest = hashlib.sha256(json.dumps(declared.requirements).encode())
    for runner in ("runner.py", f"run_{library}.py"):
        digest.update(RUNNERS.joinpath(runner).read_bytes())
    return f"{library}/{model} {digest.hexdigest()}"


def prepare(name: str, params: Params) -> None:
    """Make the environment of a library before the clock starts, unless an interpreter is given."""
    if params.get("python") is None:
        environment(resolve(name)[0])


def environment(library: str) -> Path:
    """Return the interpreter of a library's environment, made in the cache at the first use."""
    declared = libraries()[library]
    version, base = _base(library, declared)
    digest = hashlib.sha256(json.dumps([declared.requirements, version]).encode()).hexdigest()
    folder = cache_folder() / "libraries" / f"{library}-{digest[:12]}"
    if reason := _FAILED.get(str(folder)):
        raise AlgorithmError(reason)
    advice = "install it yourself and name its interpreter with `python`, or leave the row out"
    try:
        return environments.environment(folder, declared.requirements, advice, base)
    except HarnessError as error:
        _FAILED[str(folder)] = f"{declared.title} {error}"
        raise AlgorithmError(_FAILED[str(folder)]) from None


_FAILED: dict[str, str] = {}
"""Environments that this process could not make, and why: not tried again for each fold."""


def _base(library: str, declared: Library) -> tuple[str, str]:
    """Return the version and the path of a Python that the library supports."""
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    if here in declared.pythons:
        return here, sys.executable
    for version in reversed(declared.pythons):
        if python := shutil.which(f"python{version}"):
            return version, python
    raise AlgorithmError(
        f"{declared.title} needs Python {' or '.join(declared.pythons)}, and this is {here}; "
        "install one of them, or name an interpreter that has the library with `python`"
    )


class LibraryModel(Preferring):
    """A model of another library; its estimates are the scores that came back.

    An item without a score comes last in a user's catalogue; a single estimate is impossible, the
    default the mean of the training ratings, or the lowest score where scores are not ratings.
    """

    def __init__(
        self,
        name: str,
        *,
        python: str | None = None,
        random_state: int | None = None,
        **params: Any,
    ) -> None:
        super().__init__()
        self.library, self._known, self.model, declared = resolve(name)
        self.name, self.python, self.random_state = name, python, random_state
        self.params = params
        self.is_preference = not declared.ratings
        self.fit_notes: list[Note] = []

    def fit(self, trainset: surprise.Trainset) -> LibraryModel:
        """Train in the library's own process, whose seconds are `seconds_elsewhere`."""
        super().fit(trainset)
        columns = ColumnTrainset.from_surprise(trainset)
        with tempfile.TemporaryDirectory(prefix="harness-") as name:
            result, self.scores = self._run(Path(name), columns)
        self.seconds_elsewhere = result["fit_seconds"], result["score_seconds"]
        missing = np.isnan(self.scores)
        self.lowest = float(np.nanmin(self.scores)) if not missing.all() else 0.0
        about = {"library": self._known.title, "version": result["version"]}
        self.fit_notes = [Note("library", about)]
        if missing.any():
            self.fit_notes.append(Note("library-unscored", {"share": missing.mean()}))
        self.fit_notes += map(as_note, result["notes"])
        return self

    def _run(self, folder: Path, columns: ColumnTrainset) -> tuple[dict[str, Any], Any]:
        offsets, items, ratings = columns.by_user
        users = np.repeat(np.arange(columns.n_users, dtype=np.int32), np.diff(offsets))
        table = pa.table({"user": users, "item": items, "rating": ratings})
        pq.write_table(table, folder / "train.parquet")
        sent = hashlib.sha256((folder / "train.parquet").read_bytes()).hexdigest()
        request = {
            "library": self.library,
            "distribution": self._known.distribution,
            "model": self.model,
            "params": self.params,
            "seed": self.random_state,
            "threads": n_threads(),
            "n_users": columns.n_users,
            "n_items": columns.n_items,
            "sha256": sent,
        }
        (folder / "request.json").write_text(json.dumps(request), encoding="utf-8")
        python = Path(self.python).expanduser() if self.python else environment(self.library)
        threads = dict.fromkeys(THREADS, str(n_threads()))
        inherited = {
            name: value for name, value in os.environ.items() if not name.startswith("PYTHON")
        }
        with (folder / "errors.txt").open("w+", encoding="utf-8", errors="replace") as errors:
            # The runner ends when its standard input does: at the latest when this process ends.
            with subprocess.Popen(  # noqa: S603 - ours, or the user's own
                [str(python), str(RUNNERS.joinpath("runner.py")), str(folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                env=inherited | threads,
            ) as process:
                try:
                    code = process.wait()
                finally:
                    process.kill()
            errors.seek(0)
            said = [line.strip() for line in errors.read().splitlines() if line.strip()]
        settings = "`params` and `python`" if self.python else "`params`"
        todo = f"check {settings}, or leave the row out"
        if code:
            reason = (said or ["no message"])[-1][:300]
            raise AlgorithmError(f"{self.name}: {self._known.title} failed ({reason}); {todo}")
        result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
        scores = np.load(folder / "scores.npy", allow_pickle=False)
        shape = (columns.n_users, columns.n_items)
        if result["sha256"] != sent or scores.shape != shape or np.isinf(scores).any():
            raise AlgorithmError(
                f"{self.name}: what came back is not of this training set, or not finite; "
                "check the runner of the library"
            )
        if np.isnan(scores).all():
            raise AlgorithmError(
                f"{self.name}: {self._known.title} gave no score at all (NaN); {todo}"
            )
        return result, scores

    def estimate(self, u: int | str, i: int | str) -> float:
        """Return the score of an inner user and item; impossible where there is none."""
        if isinstance(u, str) or isinstance(i, str) or np.isnan(self.scores[u, i]):
            raise surprise.PredictionImpossible("The library gave no score.")
        return float(self.scores[u, i])

    def default_prediction(self) -> float:
        """Return what stands for a score that the library did not give."""
        return self.lowest if self.is_preference else float(self.trainset.global_mean)


class LibraryEntry(Algorithm):
    """The entry of all models of other libraries; `entry` makes the entry of one of them."""

    kind: ClassVar = "library"
    is_probed: ClassVar = False
    compiles: ClassVar[bool] = False
    can_be_saved: ClassVar[bool] = False
    summary = "a model of another library, in its own environment"
    gives_ratings: ClassVar[bool] = True

    @classmethod
    def gives_preferences(cls, params: Params) -> bool:
        return not cls.gives_ratings

    @classmethod
    def memory(cls, params: Params, size: Size) -> int:
        return 2 * DOUBLE * size.n_users * size.n_items

    @classmethod
    def may_fit(cls, model: surprise.AlgoBase, trainset: ColumnTrainset) -> bool:
        return False

    def pairs(self, users: Codes, items: Codes) -> Estimates:
        both_known = (users >= 0) & (items >= 0)
        scores = np.where(both_known, self.model.scores[users, items], np.nan)
        impossible = np.isnan(scores)
        return np.where(impossible, self.model.default_prediction(), scores), impossible

    def rows(self, users: Codes) -> Estimates:
        scores = np.where((users >= 0)[:, None], self.model.scores[users], np.nan)
        # Last, and not in the middle as a mean would be: the library would not list the item.
        scores[np.isnan(scores)] = self.model.lowest - 1.0
        return scores, False


LibraryEntry.model_class = LibraryModel  # after the class is made: it has no name
ENTRIES[LibraryModel] = LibraryEntry


def entry(name: str) -> type[LibraryEntry]:
    """Return what is known of one model."""
    library, _, model, declared = resolve(name)
    fields = {"name": f"{library}/{model}", "gives_ratings": declared.ratings}
    return type("LibraryEntry", (LibraryEntry,), fields)


class Libraries(Source):
    """The libraries of ``libraries.toml`` as a source of models."""

    def prefixes(self) -> list[str]:
        return [*libraries()]

    def models(self) -> Iterator[Mapping[str, str]]:
        for name, library in libraries().items():
            for model, declared in library.models.items():
                yield {
                    "library": name,
                    "model": model,
                    "scores": "ratings" if declared.ratings else "preferences",
                    "parameters": ", ".join(declared.params),
                }

    def canonical(self, name: str) -> str:
        library, _, model, _ = resolve(name)
        return f"{library}/{model}"

    def entry(self, name: str) -> type[Algorithm]:
        return entry(name)

    def check(self, name: str, params: Params) -> Iterator[Fault]:
        return check(name, params)

    def identity(self, name: str) -> str:
        return identity(name)

    def prepare(self, name: str, params: Params) -> None:
        prepare(name, params)
