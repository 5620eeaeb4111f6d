"""Fitted models in one file without pickle: arrays, JSON and checksums.

A file is a ZIP archive, stored without compression: ``model.json`` and an ``.npy`` member for each
array. Whoever reads one trusts nothing in it: every part has a checksum, and every attribute the
type and the shape that a fit of the same class with the same parameters gives.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from harness import __version__
from harness.algorithms import array_files, base, registry, surprise
from harness.algorithms.arrays import ArrayModel
from harness.algorithms.model_checks import (
    SIDES,
    FileError,
    Header,
    compare,
    is_beyond,
    odd_parameter,
    trainset_of,
)
from harness.algorithms.model_values import COMPUTED, Array, is_computed, packed, unpacked
from harness.algorithms.trainset import ColumnTrainset, RawIds
from harness.arguments import checked
from harness.errors import AlgorithmError, reason_of
from harness.named_outputs import write_output

FORMAT = "harness-model-1"
HEADER = "model.json"
MOST_HEADER = 1 << 30
DATE = (1980, 1, 1, 0, 0, 0)
"""Of every member: the same model has the same bytes."""


@checked(AlgorithmError)
def save_model(model: surprise.AlgoBase, path: str | Path) -> None:
    """Write a fitted model to a file that `load_model` reads, on this machine or another.

    Parameters
    ----------
    model : surprise.AlgoBase
        Of an algorithm with a name in the harness, fitted by `harness.fit` or by its own ``fit``;
        or of a class that takes arrays and has ``state()``, which returns a dict of arrays and
        plain values, and ``restore(state)``.
    path : path
        Replaced if it exists.

    Raises
    ------
    AlgorithmError
        If the model is not fitted; is of another library, a class of your own that derives from
        ``AlgoBase``, or one without `state` and `restore`; or has a parameter that `load_model`
        refuses, as more than 1,000,000 epochs or `k` below 0.
    ResultsError
        If the file cannot be written.

    Notes
    -----
    The file holds the parameters, what was learned, and the training set with its raw ids, which
    must be text or numbers: keep it as you keep the data. The same model gives the same bytes.
    Nothing is pickled. A class of your own is named, as ``mine:MyALS`` or by its plug-in, and its
    code is not in the file.

    Examples
    --------
    >>> import harness, surprise, tempfile
    >>> model = harness.fit(surprise.SVD(random_state=0), harness.load("bundled").to_surprise())
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     harness.save_model(model, f"{folder}/model.zip")
    ...     again = harness.load_model(f"{folder}/model.zip")
    >>> bool(again.predict("1", "31").est == model.predict("1", "31").est)
    True
    """
    if getattr(model, "trainset", None) is None:
        raise AlgorithmError(f"{type(model).__name__}: the model is not fitted; call harness.fit")
    arrays: dict[str, Array] = {}
    content = _content(model, arrays)
    trainset = ColumnTrainset.from_surprise(model.trainset)
    for side in SIDES:
        lists = getattr(trainset, side)._asdict()
        arrays |= {f"{side}.{name}": column for name, column in lists.items()}
    arrays |= {"user_codes": trainset.user_codes, "item_codes": trainset.item_codes}
    parts = {name: _bytes_of(array) for name, array in sorted(arrays.items())}
    header: dict[str, Any] = {
        "format": FORMAT,
        "versions": {"harness": __version__, "scikit-surprise": version("scikit-surprise")},
        **content,
        "scale": [*map(float, trainset.rating_scale)],
        "user_ids": _ids(trainset.user_ids),
        "item_ids": _ids(trainset.item_ids),
        "sha256": {name: hashlib.sha256(data).hexdigest() for name, data in parts.items()},
    }
    if is_beyond(trainset, *trainset.rating_scale):
        header["beyond_scale"] = True
    text = json.dumps(header, sort_keys=True).encode()
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.comment = hashlib.sha256(text).hexdigest().encode()
        archive.writestr(zipfile.ZipInfo(HEADER, DATE), text)
        for name, data in parts.items():
            archive.writestr(zipfile.ZipInfo(f"{name}.npy", DATE), data)
    write_output(Path(path), file.getvalue())


@checked(AlgorithmError)
def load_model(path: str | Path, *, trust: bool = False) -> surprise.AlgoBase:
    """Read a model that `save_model` wrote.

    Parameters
    ----------
    path : path
    trust : bool
        True imports and runs code that is not of this package: the class of a model whose
        algorithm is a plug-in or your own, which the file names. Read that code before.

    Returns
    -------
    surprise.AlgoBase
        A model of the same class with the same estimates, to the last bit.

    Raises
    ------
    AlgorithmError
        If the file is missing, damaged, no saved model, or made with another version of Surprise
        or of the format; or if it names code from outside this package without `trust`.

    Notes
    -----
    Nothing in the file is executed, and nothing is unpickled. A class that the file names is
    imported as ``mine:MyALS`` in a config is: from an installed package or the import path. An
    example is in `save_model`.
    """
    path = Path(path)
    try:
        with zipfile.ZipFile(path) as archive:
            return _read(archive, trust)
    except FileError as wrong:
        raise AlgorithmError(f"{path.name}: {wrong}") from None
    except OSError as error:
        raise AlgorithmError(
            f"{path}: cannot be read ({reason_of(error)}); check the path"
        ) from None
    except (zipfile.BadZipFile, ValueError, LookupError, TypeError, AttributeError, EOFError):
        raise AlgorithmError(
            f"{path.name}: not a saved model, or damaged; save the model again"
        ) from None


def _read(archive: zipfile.ZipFile, trust: bool) -> surprise.AlgoBase:
    members = {member.filename: member for member in archive.infolist()}
    if any(member.compress_type != zipfile.ZIP_STORED for member in members.values()):
        raise FileError("not a saved model: it is compressed")
    if members[HEADER].file_size > MOST_HEADER:
        raise FileError("not a saved model: its header is too large")
    content = archive.read(HEADER)
    if hashlib.sha256(content).hexdigest().encode() != archive.comment:
        raise FileError("damaged: the header does not match its checksum; save the model again")
    header = Header.model_validate_json(content)
    if header.format != FORMAT:
        raise FileError(
            f"saved in the format {header.format!r}, this version reads {FORMAT}; save "
            "the model again"
        )
    theirs, ours = header.versions["scikit-surprise"], version("scikit-surprise")
    if theirs != ours:
        raise FileError(
            f"saved with scikit-surprise {theirs}, here is {ours}, whose estimates may differ; "
            f"install scikit-surprise {theirs}, or fit and save the model again"
        )
    if {*members} != {HEADER, *(f"{name}.npy" for name in header.sha256)}:
        raise FileError("damaged: parts are missing or too many; save the model again")
    arrays = {}
    for name, digest in header.sha256.items():
        data = archive.read(f"{name}.npy")
        if hashlib.sha256(data).hexdigest() != digest:
            raise FileError(f"damaged: {name} does not match its checksum; save the model again")
        arrays[name] = np.load(io.BytesIO(data), allow_pickle=False)
    trainset = trainset_of(header, arrays)
    if header.state is not None:
        return array_files.restored(header.algorithm, header.state, arrays, trainset, trust)
    entry = registry.algorithms().get(header.algorithm)
    if entry is None or entry.kind == "library":
        raise FileError(f"a model of {header.algorithm!r}, which has no name here")
    model: surprise.AlgoBase = object.__new__(entry.model_class)
    attributes = header.attributes
    vars(model).update({name: unpacked(value, arrays) for name, value in attributes.items()})
    model.trainset = trainset
    if hasattr(model, "sim"):
        model.xr, model.yr = model.switch(trainset.ur, trainset.ir)
    compare(model, entry)
    if COMPUTED in attributes.values():
        entry.fit(model, trainset, base.FitOptions(lambda step, n_steps: None))
    return model


def _content(model: surprise.AlgoBase, arrays: dict[str, Array]) -> dict[str, Any]:
    """Return the algorithm, and what it has learned as JSON; arrays are put among `arrays`."""
    if isinstance(model, ArrayModel):
        name = array_files.name_of(model)
        return {"algorithm": name, "attributes": {}, "state": array_files.state_of(model, arrays)}
    entry = _entry(type(model))
    if name := odd_parameter(model, entry):
        raise AlgorithmError(
            f"{entry.name}: {name} is {getattr(model, name)!r:.60}, of a type or size that "
            "load_model refuses; fit it with another"
        )
    attributes = {
        name: COMPUTED
        if is_computed(value)
        else packed(value, f"model.{name}", arrays, type(model).__name__)
        for name, value in vars(model).items()
        if name not in ("trainset", "xr", "yr")
    }
    return {"algorithm": entry.name, "attributes": attributes}


def _entry(kind: type) -> type[base.Algorithm]:
    entry = registry.entry_of(kind)
    if entry is None or entry.model_class is not kind or entry.kind == "library":
        raise AlgorithmError(
            f"{kind.__name__}: a model of your own class or of another library cannot be saved; "
            "keep its config, and fit it again"
        )
    return entry


def _bytes_of(array: Array) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    return file.getvalue()


def _ids(ids: RawIds) -> list[Any]:
    raw = ids.tolist() if isinstance(ids, np.ndarray) else list(ids)
    raw = [raw_id.item() if isinstance(raw_id, np.generic) else raw_id for raw_id in raw]
    for raw_id in raw:
        if not isinstance(raw_id, str | int | float):
            raise AlgorithmError(f"id {raw_id!r}: only ids that are text or numbers can be saved")
    return raw
