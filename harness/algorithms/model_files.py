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
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from harness import __version__
from harness.algorithms import base, models, parameters, registry, surprise
from harness.algorithms.compiled.matrix import LazyMatrix
from harness.algorithms.trainset import ColumnTrainset, Lists, RawIds
from harness.arguments import checked
from harness.errors import AlgorithmError, reason_of
from harness.files import write_output

FORMAT = "harness-model-1"
HEADER = "model.json"
MOST_HEADER = 1 << 30
DATE = (1980, 1, 1, 0, 0, 0)
"""Of every member: the same model has the same bytes."""
SIDES = ("by_user", "by_item")
UNSEEDED = (type(None), np.random.RandomState)
"""What a model may have in place of a number for a seed."""
OF_A_SEED = {"random_state", "generator"}
"""Attributes of a NormalPredictor that has a seed; in Surprise it takes none."""
COMPUTED = {"computed": "from the training set"}
"""Stands for a matrix that a model computes row by row, or from counts, without learning."""
Array = NDArray[Any]


@checked(AlgorithmError)
def save_model(model: surprise.AlgoBase, path: str | Path) -> None:
    """Write a fitted model to a file that `load_model` reads, on this machine or another.

    Parameters
    ----------
    model : surprise.AlgoBase
        Of an algorithm with a name in the harness, fitted by `harness.fit` or by its own ``fit``.
    path : path
        Replaced if it exists.

    Raises
    ------
    AlgorithmError
        If the model is not fitted, is of a class of your own or of another library, or has a
        parameter that `load_model` refuses, as more than 1,000,000 epochs or `k` below 0.
    ResultsError
        If the file cannot be written.

    Notes
    -----
    The file holds the parameters, what was learned, and the training set with its raw ids, which
    must be text or numbers: keep it as you keep the data. The same model gives the same bytes.

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
    entry = _entry(type(model))
    if getattr(model, "trainset", None) is None:
        raise AlgorithmError(f"{entry.name}: the model is not fitted; call harness.fit")
    if name := _odd(model, entry):
        raise AlgorithmError(
            f"{entry.name}: {name} is {getattr(model, name)!r:.60}, of a type or size that "
            "load_model refuses; fit it with another"
        )
    trainset = ColumnTrainset.from_surprise(model.trainset)
    arrays: dict[str, Array] = {}
    plain = {
        name: _packed(value, f"model.{name}", arrays, model)
        for name, value in vars(model).items()
        if name not in ("trainset", "xr", "yr")
    }
    for name in SIDES:
        arrays |= {f"{name}.{key}": each for key, each in getattr(trainset, name)._asdict().items()}
    arrays |= {"user_codes": trainset.user_codes, "item_codes": trainset.item_codes}
    parts = {name: _bytes_of(array) for name, array in sorted(arrays.items())}
    header: dict[str, Any] = {
        "format": FORMAT,
        "versions": {"harness": __version__, "scikit-surprise": version("scikit-surprise")},
        "algorithm": entry.name,
        "attributes": plain,
        "scale": [float(each) for each in trainset.rating_scale],
        "user_ids": _ids(trainset.user_ids),
        "item_ids": _ids(trainset.item_ids),
        "sha256": {name: hashlib.sha256(data).hexdigest() for name, data in parts.items()},
    }
    if _beyond(trainset, *trainset.rating_scale):
        header["beyond_scale"] = True
    content = json.dumps(header, sort_keys=True).encode()
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.comment = hashlib.sha256(content).hexdigest().encode()
        archive.writestr(zipfile.ZipInfo(HEADER, DATE), content)
        for name, data in parts.items():
            archive.writestr(zipfile.ZipInfo(f"{name}.npy", DATE), data)
    write_output(Path(path), file.getvalue())


@checked(AlgorithmError)
def load_model(path: str | Path) -> surprise.AlgoBase:
    """Read a model that `save_model` wrote.

    Parameters
    ----------
    path : path

    Returns
    -------
    surprise.AlgoBase
        A model of the same class with the same estimates, to the last bit.

    Raises
    ------
    AlgorithmError
        If the file is missing, damaged, no saved model, or made with another version of Surprise
        or of the format.

    Notes
    -----
    Nothing in the file is executed. An example is in `save_model`.
    """
    path = Path(path)
    try:
        with zipfile.ZipFile(path) as archive:
            return _read(archive)
    except _FileError as wrong:
        raise AlgorithmError(f"{path.name}: {wrong}") from None
    except OSError as error:
        raise AlgorithmError(f"{path}: cannot be read ({reason_of(error)})") from None
    except (zipfile.BadZipFile, ValueError, LookupError, TypeError, AttributeError, EOFError):
        raise AlgorithmError(
            f"{path.name}: not a saved model, or damaged; save the model again"
        ) from None


class _Header(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    format: str
    versions: dict[str, str]
    algorithm: str
    attributes: dict[str, Any]
    scale: tuple[float, float]
    user_ids: list[str | int | float]
    item_ids: list[str | int | float]
    sha256: dict[str, str]
    beyond_scale: bool = False  # as where a data set keeps ratings outside its scale


class _FileError(Exception):
    """What is wrong with a file, in words."""


def _read(archive: zipfile.ZipFile) -> surprise.AlgoBase:
    members = {member.filename: member for member in archive.infolist()}
    if any(member.compress_type != zipfile.ZIP_STORED for member in members.values()):
        raise _FileError("not a saved model: it is compressed")
    if members[HEADER].file_size > MOST_HEADER:
        raise _FileError("not a saved model: its header is too large")
    content = archive.read(HEADER)
    if hashlib.sha256(content).hexdigest().encode() != archive.comment:
        raise _FileError("damaged: the header does not match its checksum; save the model again")
    header = _Header.model_validate_json(content)
    if header.format != FORMAT:
        raise _FileError(
            f"saved in the format {header.format!r}, this version reads {FORMAT}; save "
            "the model again"
        )
    theirs, ours = header.versions["scikit-surprise"], version("scikit-surprise")
    if theirs != ours:
        raise _FileError(
            f"saved with scikit-surprise {theirs}, here is {ours}, whose estimates may differ; "
            f"install scikit-surprise {theirs}, or fit and save the model again"
        )
    if {*members} != {HEADER, *(f"{name}.npy" for name in header.sha256)}:
        raise _FileError("damaged: parts are missing or too many; save the model again")
    arrays = {}
    for name, digest in header.sha256.items():
        data = archive.read(f"{name}.npy")
        if hashlib.sha256(data).hexdigest() != digest:
            raise _FileError(f"damaged: {name} does not match its checksum; save the model again")
        arrays[name] = np.load(io.BytesIO(data), allow_pickle=False)
    entry = registry.algorithms().get(header.algorithm)
    if entry is None or entry.kind == "library":
        raise _FileError(f"a model of {header.algorithm!r}, which has no name here")
    trainset = _trainset(header, arrays)
    model: surprise.AlgoBase = object.__new__(entry.model_class)
    attributes = header.attributes
    vars(model).update({name: _unpacked(each, arrays) for name, each in attributes.items()})
    model.trainset = trainset
    if hasattr(model, "sim"):
        model.xr, model.yr = model.switch(trainset.ur, trainset.ir)
    _compare(model, entry)
    if COMPUTED in attributes.values():
        entry.fit(model, trainset, base.FitOptions(lambda done, total: None))
    return model


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
    known = ids.tolist() if isinstance(ids, np.ndarray) else list(ids)
    known = [each.item() if isinstance(each, np.generic) else each for each in known]
    for each in known:
        if not isinstance(each, str | int | float):
            raise AlgorithmError(f"id {each!r}: only ids that are text or numbers can be saved")
    return known


def _packed(value: Any, name: str, arrays: dict[str, Array], model: surprise.AlgoBase) -> Any:
    """Return a value as JSON; what is an array or made of NumPy's types is put among `arrays`."""
    if isinstance(value, dict):
        own = {key: _packed(each, f"{name}.{key}", arrays, model) for key, each in value.items()}
        return {"dict": own}
    if isinstance(value, np.random.RandomState):
        kind, keys, *rest = value.get_state(legacy=True)
        arrays[name] = np.asarray(keys)
        return {"generator": name, "state": [kind, *rest]}
    if isinstance(value, list) and value and isinstance(value[0], np.generic):
        arrays[name] = np.array(value)
        return {"list": name}
    if isinstance(value, np.ndarray | np.generic):
        arrays[name] = np.asarray(value)
        return {"array": name}
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, LazyMatrix) or hasattr(value, "indptr"):  # a sparse matrix
        return COMPUTED
    raise AlgorithmError(
        f"{type(model).__name__}: {name.removeprefix('model.')} is a {type(value).__name__}, which "
        "cannot be saved"
    )


def _unpacked(value: Any, arrays: dict[str, Array]) -> Any:
    if not isinstance(value, dict):
        return value
    if "dict" in value:
        return {key: _unpacked(each, arrays) for key, each in value["dict"].items()}
    if value == COMPUTED:
        return value
    if "generator" in value:
        kind, *rest = value["state"]
        generator = np.random.RandomState()
        generator.set_state((kind, arrays[value["generator"]], *rest))
        return generator
    if "list" in value:
        return list(arrays[value["list"]])
    return arrays[value["array"]][()]


def _trainset(header: _Header, arrays: dict[str, Array]) -> ColumnTrainset:
    """Return the training set if it is one: both groupings hold the same ratings."""
    ids = header.user_ids, header.item_ids
    codes = tuple(arrays[f"{side}_codes"] for side in ("user", "item"))
    for each, names in zip(codes, ids, strict=True):
        if len({*names}) < len(names):
            raise _FileError("not a saved model: an id of a user or an item occurs twice")
        if each.dtype != np.int32 or each.ndim != 1 or not 0 < len(each) <= len(names):
            raise _FileError("not a saved model: its users or items have no numbers")
        if len(np.unique(each)) < len(each) or each.min() < 0 or each.max() >= len(names):
            raise _FileError("not a saved model: its users or items are not distinct")
    low, high = header.scale
    rows = []
    for name, n_owners, n_others in zip(
        SIDES, map(len, codes), (len(codes[1]), len(codes[0])), strict=True
    ):
        offsets, others, ratings = (arrays[f"{name}.{key}"] for key in Lists._fields)
        kinds = [(each.dtype.str, each.ndim) for each in (offsets, others, ratings)]
        if kinds != [("<i8", 1), ("<i4", 1), ("<f8", 1)] or len(others) != len(ratings):
            raise _FileError("not a saved model: its ratings have other types")
        whole = len(offsets) == n_owners + 1 and offsets[0] == 0 and offsets[-1] == len(others)
        if not whole or (np.diff(offsets) < 1).any() or not np.isfinite(ratings).all():
            raise _FileError("not a saved model: its ratings are not grouped")
        if others.min() < 0 or others.max() >= n_others or not low <= high:
            raise _FileError("not a saved model: a rating of an unknown user or item")
        owners = np.repeat(np.arange(n_owners), np.diff(offsets))
        pair = (owners, others) if name == "by_user" else (others, owners)
        order = np.lexsort((ratings, pair[1], pair[0]))
        rows.append([column[order] for column in (*pair, ratings)])
    if not all(np.array_equal(a, b) for a, b in zip(*rows, strict=True)):
        raise _FileError("not a saved model: users and items have different ratings")
    lists = [Lists(*(arrays[f"{name}.{key}"] for key in Lists._fields)) for name in SIDES]
    trainset = ColumnTrainset(lists[0], lists[1], codes, ids, (low, high))  # type: ignore[arg-type]
    if _beyond(trainset, low, high) and not header.beyond_scale:
        raise _FileError(f"not a saved model: a rating outside the scale {low:g} to {high:g}")
    return trainset


def _beyond(trainset: ColumnTrainset, low: float, high: float) -> bool:
    """Return whether a rating is outside the scale."""
    ratings = trainset.by_user.ratings
    return bool(((ratings < low) | (ratings > high)).any())


def _odd(model: surprise.AlgoBase, entry: type[base.Algorithm]) -> str:
    """Return a parameter that Surprise would not take, which takes more than a config, or ''."""
    given, _ = parameters.accepted(entry.model_class)
    for name in given:
        value = vars(model).get(name)
        if isinstance(value, UNSEEDED):
            continue
        if not parameters.is_ordinary(name, value) or _has_negative_count(name, value):
            return name
    return ""


def _has_negative_count(name: str, value: object) -> bool:
    """Return whether a number of neighbours, factors, epochs and the like is below 0."""
    if isinstance(value, dict):
        return any(_has_negative_count(*option) for option in value.items())
    is_count = isinstance(parameters.LEAST.get(name), int)
    return is_count and isinstance(value, int | np.integer) and bool(value < 0)


def _compare(model: surprise.AlgoBase, entry: type[base.Algorithm]) -> None:
    """Refuse a model whose attributes are not those of a fit of its class, by type and shape."""
    if name := _odd(model, entry):
        raise _FileError(f"not a saved model: {name} has another type or shape")
    given, _ = parameters.accepted(entry.model_class)
    params = {name: value for name, value in vars(model).items() if name in given}
    params = {name: value for name, value in params.items() if not isinstance(value, UNSEEDED)}
    quick = {"verbose": False, "n_epochs": 1}
    small = params | {name: value for name, value in quick.items() if name in given}
    if "bsl_options" in params:
        small["bsl_options"] = {**params["bsl_options"], "n_epochs": 1}
    toy = registry.create(entry.name, small, 0)
    learned = {size for value in vars(model).values() for size in np.shape(value)}
    for name in params:  # before as much memory is taken
        if name.startswith("n_") and name != "n_epochs" and params[name] not in learned:
            raise _FileError(f"not a saved model: {name} is not the size of what was learned")
    used = {value for value in vars(model).values() if isinstance(value, int)}
    free = (n for n in count(23) if n not in used)  # a number of factors has another shape
    n_users, n_items = next(free), next(free)
    users, items = np.divmod(np.arange(n_users * n_items), n_items)
    columns, ids = (users, items, 1.0 + (users * items) % 5), (range(n_users), range(n_items))
    toy_set = ColumnTrainset.from_columns(*columns, user_ids=ids[0], item_ids=ids[1], scale=(1, 5))
    models.fit(toy, toy_set)
    sizes = {n_users: model.trainset.n_users, n_items: model.trainset.n_items}
    expected, found = vars(toy), vars(model)
    for name in expected.keys() & OF_A_SEED - found.keys():
        del expected[name]
    if expected.keys() != found.keys():
        raise _FileError(f"not a saved model: attributes {sorted(expected.keys() ^ found.keys())}")
    for name, like in expected.items():
        value = found[name]
        if name in params:  # looked at above
            continue
        if isinstance(value, dict) and value == COMPUTED:
            right = name in ("sim", "dev", "freq", "weights")
        elif isinstance(like, np.ndarray):
            right = isinstance(value, np.ndarray) and value.dtype == like.dtype
            shapes = zip(like.shape, np.shape(value), strict=False)
            right = right and np.ndim(value) == like.ndim
            right = right and all(b in (a, sizes.get(a)) for a, b in shapes)
            if right and like.dtype.kind == "i" and like.ndim == 1:  # numbers of clusters
                right = value.min() >= 0 and value.max() < getattr(model, f"n_{name}", 0)
        elif name == "random_state" and isinstance(value, UNSEEDED):
            right = True
        elif isinstance(like, list):
            right = isinstance(value, list) and len(value) == sizes.get(len(like), len(like))
            right = right and all(type(each) is type(like[0]) for each in value)
        else:
            right = isinstance(value, (type(like), int, float))
        if not right:
            raise _FileError(f"not a saved model: {name} has another type or shape")
