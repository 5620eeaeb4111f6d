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
from collections.abc import Callable
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from harness import __version__
from harness._util.arguments import checked, is_whole
from harness._util.files import refuse_other_form, write_output
from harness.algorithms import base, parameters, registry, surprise
from harness.algorithms.compiled.matrix import LazyMatrix
from harness.algorithms.own import ArrayModel, as_model, takes_arrays
from harness.algorithms.trainset import ColumnTrainset, GroupedLists, RawIds
from harness.errors import AlgorithmError, HarnessError, PluginError, reason_of
from harness.models import estimates as models
from harness.plugins import registry as plugins

Array = NDArray[Any]
COMPUTED = {"computed": "from the training set"}
"""Stands for a matrix that a model computes row by row, or from counts, without learning."""


def packed(value: Any, name: str, arrays: dict[str, Array], owner: str) -> Any:
    """Return a value as JSON; an array, or a value of NumPy's types, is put among `arrays`.

    The name of an array is the name of the value, `name`; messages say whose it is by `owner`.
    """
    if isinstance(value, dict):
        if odd := [key for key in value if not isinstance(key, str)]:
            raise AlgorithmError(f"{owner}: {_shown(name)} has the key {odd[0]!r}; use text")
        members = {key: packed(v, f"{name}.{key}", arrays, owner) for key, v in value.items()}
        # The header is sorted, and the order of a dict may matter to its owner.
        return {"dict": members} | ({"order": [*value]} if [*value] != sorted(value) else {})
    if isinstance(value, np.random.RandomState):
        kind, keys, *rest = value.get_state(legacy=True)
        name = _put(np.asarray(keys), name, arrays)
        return {"generator": name, "state": [kind, *rest]}
    if isinstance(value, list) and value and isinstance(value[0], np.generic):
        return {"list": _put(np.array(value), name, arrays)}
    if isinstance(value, np.ndarray | np.generic) and not np.asarray(value).dtype.hasobject:
        return {"array": _put(np.asarray(value), name, arrays)}
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, list | tuple):
        elements = [packed(v, f"{name}.{place}", arrays, owner) for place, v in enumerate(value)]
        return {"elements": elements, "is_tuple": isinstance(value, tuple)}
    kind = "ndarray of objects" if isinstance(value, np.ndarray) else type(value).__name__
    raise AlgorithmError(
        f"{owner}: {_shown(name)} is a {kind}, which cannot be saved; "
        "arrays of numbers or text, plain values, and lists and dicts of these can"
    )


def unpacked(value: Any, arrays: dict[str, Array]) -> Any:
    """Return the value that `packed` was given."""
    if not isinstance(value, dict):
        return value
    if "dict" in value:
        members = value["dict"]
        names = value.get("order") or members
        return {name: unpacked(members[name], arrays) for name in names}
    if value == COMPUTED:
        return value
    if "generator" in value:
        kind, *rest = value["state"]
        generator = np.random.RandomState()
        generator.set_state((kind, arrays[value["generator"]], *rest))
        return generator
    if "list" in value:
        return list(arrays[value["list"]])
    if "elements" in value:
        elements = [unpacked(element, arrays) for element in value["elements"]]
        return tuple(elements) if value["is_tuple"] else elements
    return arrays[value["array"]][()]


def is_computed(value: Any) -> bool:
    """Return whether a value is a matrix that is computed again: by rows, or a sparse one."""
    return isinstance(value, LazyMatrix) or hasattr(value, "indptr")


def _put(array: Array, name: str, arrays: dict[str, Array]) -> str:
    """Put an array among the others by a name that none has, and return the name."""
    while name in arrays:  # as of {"a.b": x, "a": {"b": y}}
        name += "'"
    arrays[name] = array
    return name


def _shown(name: str) -> str:
    return name.removeprefix("model.")


SIDES = ("by_user", "by_item")
UNSEEDED = (type(None), np.random.RandomState)
"""What a model may have in place of a number for a seed."""
OF_A_SEED = {"random_state", "generator"}
"""Attributes of a NormalPredictor that has a seed; in Surprise it takes none."""


class Header(BaseModel):
    """``model.json`` of a file."""

    model_config = ConfigDict(extra="forbid", strict=True, defer_build=True)

    format: str
    versions: dict[str, str]
    algorithm: str
    attributes: dict[str, Any]
    scale: tuple[float, float]
    user_ids: list[str | int | float]
    item_ids: list[str | int | float]
    sha256: dict[str, str]
    beyond_scale: bool = False  # as where a data set keeps ratings outside its scale
    state: dict[str, Any] | None = None  # of an algorithm without Surprise


class FileError(Exception):
    """A problem of a file, in words."""


def trainset_of(header: Header, arrays: dict[str, Array]) -> ColumnTrainset:
    """Return the training set if it is one: both groupings hold the same ratings."""
    ids = header.user_ids, header.item_ids
    codes = tuple(arrays[f"{side}_codes"] for side in ("user", "item"))
    for of_side, names in zip(codes, ids, strict=True):
        if len({*names}) < len(names):
            raise FileError("not a saved model: an id of a user or an item occurs twice")
        if of_side.dtype != np.int32 or of_side.ndim != 1 or not 0 < len(of_side) <= len(names):
            raise FileError("not a saved model: its users or items have no numbers")
        if len(np.unique(of_side)) < len(of_side) or not 0 <= of_side.min() <= of_side.max() < len(
            names
        ):
            raise FileError("not a saved model: its users or items are not distinct")
    low, high = header.scale
    rows = []
    for name, n_owners, n_partners in zip(
        SIDES, map(len, codes), (len(codes[1]), len(codes[0])), strict=True
    ):
        offsets, partners, ratings = (arrays[f"{name}.{key}"] for key in GroupedLists._fields)
        kinds = [(column.dtype.str, column.ndim) for column in (offsets, partners, ratings)]
        if kinds != [("<i8", 1), ("<i4", 1), ("<f8", 1)] or len(partners) != len(ratings):
            raise FileError("not a saved model: its ratings have other types")
        covers = len(offsets) == n_owners + 1 and offsets[0] == 0 and offsets[-1] == len(partners)
        if not covers or (np.diff(offsets) < 1).any() or not np.isfinite(ratings).all():
            raise FileError("not a saved model: its ratings are not grouped")
        if partners.min() < 0 or partners.max() >= n_partners or not low <= high:
            raise FileError("not a saved model: a rating of an unknown user or item")
        owners = np.repeat(np.arange(n_owners), np.diff(offsets))
        pair = (owners, partners) if name == "by_user" else (partners, owners)
        order = np.lexsort((ratings, pair[1], pair[0]))
        rows.append([column[order] for column in (*pair, ratings)])
    if not all(np.array_equal(a, b) for a, b in zip(*rows, strict=True)):
        raise FileError("not a saved model: users and items have different ratings")
    lists = [
        GroupedLists(*(arrays[f"{name}.{key}"] for key in GroupedLists._fields)) for name in SIDES
    ]
    trainset = ColumnTrainset(lists[0], lists[1], codes, ids, (low, high))  # type: ignore[arg-type]
    if is_beyond(trainset, low, high) and not header.beyond_scale:
        raise FileError(f"not a saved model: a rating outside the scale {low:g} to {high:g}")
    return trainset


def is_beyond(trainset: ColumnTrainset, low: float, high: float) -> bool:
    """Return whether a rating is outside the scale."""
    ratings = trainset.by_user.ratings
    return bool(((ratings < low) | (ratings > high)).any())


def odd_parameter(model: surprise.AlgoBase, entry: type[base.Algorithm]) -> str:
    """Return a parameter that Surprise would not take, which takes more than a config, or ''."""
    allowed, _ = parameters.accepted(entry.model_class)
    for name in allowed:
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


def compare(model: surprise.AlgoBase, entry: type[base.Algorithm]) -> None:
    """Refuse a model whose attributes differ from a fit of its class, by type and shape."""
    if name := odd_parameter(model, entry):
        raise FileError(f"not a saved model: {name} has another type or shape")
    allowed, _ = parameters.accepted(entry.model_class)
    params = {name: value for name, value in vars(model).items() if name in allowed}
    params = {name: value for name, value in params.items() if not isinstance(value, UNSEEDED)}
    quick = {"verbose": False, "n_epochs": 1}
    small = params | {name: value for name, value in quick.items() if name in allowed}
    if "bsl_options" in params:
        small["bsl_options"] = {**params["bsl_options"], "n_epochs": 1}
    toy = registry.create(entry.name, small, 0)
    learned = {size for value in vars(model).values() for size in np.shape(value)}
    for name in params:  # before as much memory is taken
        if name.startswith("n_") and name != "n_epochs" and params[name] not in learned:
            raise FileError(f"not a saved model: {name} is not the size of what was learned")
    used = {value for value in vars(model).values() if isinstance(value, int)}
    free = (n for n in count(23) if n not in used)  # a number of factors has another shape
    n_users, n_items = next(free), next(free)
    users, items = np.divmod(np.arange(n_users * n_items), n_items)
    columns, ids = (users, items, 1.0 + (users * items) % 5), (range(n_users), range(n_items))
    toy_set = ColumnTrainset.from_columns(*columns, user_ids=ids[0], item_ids=ids[1], scale=(1, 5))
    models.fit(toy, toy_set)
    sizes = {n_users: model.trainset.n_users, n_items: model.trainset.n_items}
    expected, attributes = vars(toy), vars(model)
    for name in expected.keys() & OF_A_SEED - attributes.keys():
        del expected[name]
    if expected.keys() != attributes.keys():
        names = sorted(expected.keys() ^ attributes.keys())
        raise FileError(f"not a saved model: attributes {names}")
    for name, like in expected.items():
        if name not in params and not _is_like(model, name, like, sizes):  # those are looked at
            raise FileError(f"not a saved model: {name} has another type or shape")


def _is_like(model: surprise.AlgoBase, name: str, like: object, sizes: dict[int, int]) -> bool:
    """Return whether an attribute has the type and shape of a toy's; `sizes` of both."""
    value = vars(model)[name]
    if isinstance(value, dict) and value == COMPUTED:
        return name in ("sim", "dev", "freq", "weights")
    if isinstance(like, np.ndarray):
        if not isinstance(value, np.ndarray) or value.dtype != like.dtype:
            return False
        shapes = zip(like.shape, value.shape, strict=False)
        if value.ndim != like.ndim or any(b not in (a, sizes.get(a)) for a, b in shapes):
            return False
        if is_whole(like) and like.ndim == 1:  # numbers of clusters
            return bool(value.min() >= 0 and value.max() < getattr(model, f"n_{name}", 0))
        return True
    if name == "random_state" and isinstance(value, UNSEEDED):
        return True
    if isinstance(like, list):
        is_long = isinstance(value, list) and len(value) == sizes.get(len(like), len(like))
        return is_long and all(type(member) is type(like[0]) for member in value)
    return isinstance(value, (type(like), int, float))


def name_of(model: ArrayModel) -> str:
    """Return the name by which the class of a model is found again, or say why it is not."""
    algorithm = model.algorithm
    target = f"{algorithm.__module__}:{algorithm.__qualname__}"
    if not all(callable(getattr(algorithm, name, None)) for name in ("state", "restore")):
        raise AlgorithmError(
            f"{target}: it has no `state()` and `restore(state)`, and nothing is pickled; let "
            "`state` return what was learned in a dict of arrays and plain values, and `restore` "
            "take it, or keep the config and fit it again"
        )
    if algorithm.__module__ == "__main__" or "<locals>" in algorithm.__qualname__:
        raise AlgorithmError(
            f"{target}: a class of a script, a notebook or a function cannot be found again; "
            "move it to its own module"
        )
    for plugin, reason in plugins.declared("algorithms"):
        if plugin.target == target and not reason:
            return plugin.name
    return target


def state_of(model: ArrayModel, arrays: dict[str, Array]) -> dict[str, Any]:
    """Return parameters and state as JSON; arrays are put among `arrays`."""
    name = f"{model.algorithm.__module__}:{model.algorithm.__qualname__}"
    state = _called(f"{name}.state", model.inner.state)
    if not isinstance(state, dict):
        raise AlgorithmError(
            f"{name}.state returned an object of type {type(state).__name__}; return a dict"
        )
    return {
        part: packed(values, part, arrays, name)
        for part, values in {"params": model.params, "state": state}.items()
    }


def restored(
    name: str,
    content: dict[str, Any],
    arrays: dict[str, Array],
    trainset: ColumnTrainset,
    trust: bool,
) -> ArrayModel:
    """Return the model of a file; code of others is imported only with `trust`."""
    try:
        plugin = plugins.find("algorithms", name)
        if not plugin.is_builtin and not trust:
            raise FileError(
                f"a model of {name!r}, code of {plugin.origin} and not of this package; read that "
                "code first: load_model(path, trust=True) imports and runs it"
            )
        algorithm = plugin.load()
    except PluginError as error:
        raise FileError(str(error)) from error.__cause__
    if not isinstance(algorithm, type) or not takes_arrays(algorithm):
        raise FileError(f"a model of {name!r}, which has no `fit` and `estimate` of arrays")
    if not callable(getattr(algorithm, "restore", None)):
        raise FileError(f"a model of {name!r}, which has no `restore(state)` any more")
    params, state = (unpacked(content[part], arrays) for part in ("params", "state"))
    model: ArrayModel = _called(name, lambda: as_model(algorithm)(**params))
    model.adopt(trainset)
    _called(f"{name}.restore", lambda: model.inner.restore(state))
    return model


def _called(code: str, call: Callable[[], Any]) -> Any:
    """Return what somebody else's code returns; an error of it names the code."""
    try:
        return call()
    except HarnessError:
        raise
    except Exception as error:
        raise AlgorithmError(
            f"{code} failed ({type(error).__name__}: {reason_of(error)}); correct its code"
        ) from error


FORMAT = "harness-model-1"
HEADER = "model.json"
MOST_HEADER = 1 << 30
DATE = (1980, 1, 1, 0, 0, 0)
"""The date of every member: the same model has the same bytes."""


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
        If the model is not fitted; is of another library, your own class that derives from
        ``AlgoBase``, or one without `state` and `restore`; or has a parameter that `load_model`
        refuses, as more than 1,000,000 epochs or `k` below 0.
    ResultsError
        If the file cannot be written.

    Notes
    -----
    The file holds the parameters, what was learned, and the training set with its raw ids, which
    must be text or numbers: keep it as you keep the data. The same model gives the same bytes.
    Nothing is pickled. Your own class is named as ``mine:MyALS`` or by its plug-in, and its
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
    refuse_other_form(path, "a zip archive, not pickled", ".zip")
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
        return restored(header.algorithm, header.state, arrays, trainset, trust)
    entry = registry.algorithms().get(header.algorithm)
    if entry is None or not entry.can_be_saved:
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


def check_savable(model: surprise.AlgoBase) -> str:
    """Return the name of a model's algorithm in its file, or say why it has none; before a fit too.

    Raises
    ------
    AlgorithmError
    """
    if isinstance(model, ArrayModel):
        return name_of(model)
    entry = _entry(type(model))
    if name := odd_parameter(model, entry):
        raise AlgorithmError(
            f"{entry.name}: {name} is {getattr(model, name)!r:.60}, of a type or size that "
            "load_model refuses; fit it with another"
        )
    return entry.name


def _content(model: surprise.AlgoBase, arrays: dict[str, Array]) -> dict[str, Any]:
    """Return the algorithm, and what it has learned as JSON; arrays are put among `arrays`."""
    name = check_savable(model)
    if isinstance(model, ArrayModel):
        return {"algorithm": name, "attributes": {}, "state": state_of(model, arrays)}
    attributes = {
        attribute: COMPUTED
        if is_computed(value)
        else packed(value, f"model.{attribute}", arrays, type(model).__name__)
        for attribute, value in vars(model).items()
        if attribute not in ("trainset", "xr", "yr")
    }
    return {"algorithm": name, "attributes": attributes}


def _entry(kind: type) -> type[base.Algorithm]:
    entry = registry.entry_of(kind)
    if entry is None or entry.model_class is not kind or not entry.can_be_saved:
        raise AlgorithmError(
            f"{kind.__name__}: a model with your own class, or from another library, cannot be "
            "saved; keep the config, and fit again"
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
