"""The ``fit`` of Surprise's algorithms, with the same attributes to the last bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from harness.algorithms import base, parameters, registry, surprise
from harness.algorithms.compiled import baseline_only, slope_one
from harness.algorithms.compiled import similarities as knn
from harness.algorithms.compiled.matrix import ROWS_BETWEEN_REPORTS as AT_ONCE
from harness.algorithms.compiled.matrix import LazyMatrix
from harness.algorithms.trainset import ColumnTrainset
from harness.extras.accelerate import altered, descent, traps, worth
from harness.extras.accelerate.calls import NotAccelerated, state
from harness.extras.accelerate.columns import is_unread
from harness.extras.accelerate.pending import NAMES, forget, set_pending, view_of

Attributes = dict[str, Any]
Learnt = tuple[Attributes, Attributes]  # what is set, and what is made when somebody reads it
SMALL = 2048
"""Most users or items whose similarities are made at once; of more, when somebody reads them."""
_PREPARED: WeakKeyDictionary[surprise.AlgoBase, Learnt] = WeakKeyDictionary()
FEW_STEPS = round(worth.LOADING / worth.IMPLICIT_STEP)
"""Steps of SVD++ in Surprise's order that a core does in less than half a second.

No fit of more steps is left to Surprise, so that its factors do not depend on what was loaded.
"""


def begin_epoch(text: str, model: surprise.AlgoBase) -> Callable[[int], None]:
    """Return what is called before each epoch: it prints what Surprise prints."""
    return lambda epoch: say(model, f"{text} {epoch}")


def say(model: surprise.AlgoBase, text: str) -> None:
    """Print as Surprise does if the model is verbose."""
    if getattr(model, "verbose", False):
        print(text)  # noqa: T201 - Surprise's own output


def fit(
    owner: type, model: surprise.AlgoBase, trainset: surprise.Trainset, columns: ColumnTrainset
) -> None:
    """Do in place what the ``fit`` of `owner` does, or refuse before the model is changed."""
    entry = require_ordinary(owner, model)
    traps.warn_of_truncation(owner, columns.by_user.ratings)
    view = view_of(model, columns)
    for name in NAMES:
        vars(view).pop(name, None)
    view.bu = view.bi = None
    prepared = _PREPARED.pop(model, None)
    attributes, pending = prepared or FITS[owner](view, entry, columns)
    attributes, pending = dict(attributes), dict(pending)
    if FITS[owner] is _fit_neighbours:
        _add_dictionaries(model, trainset, attributes, pending)
    forget(model)
    surprise.AlgoBase.fit(model, trainset)
    vars(model).update(attributes)
    if pending:
        set_pending(model, pending)


def require_ordinary(owner: type, model: surprise.AlgoBase) -> Any:
    """Return the entry of a class; refuse a model whose ``fit`` is not the method of the class."""
    entry = registry.entry_of(owner)
    if entry is None or entry.model_class is not owner or owner not in FITS:
        raise NotAccelerated("a class that Surprise does not have")
    altered.require_own_fit(owner)
    altered.require_plain_access(type(model))
    # The call has come to the ``fit`` of this class, whatever a subclass does around it.
    if not entry._unchanged(model, [name for name in entry.fit_methods if name != "fit"]):
        raise NotAccelerated("a subclass that overrides what `fit` calls")
    names, _ = parameters.accepted(owner)
    settings = [(name, value) for name, value in vars(model).items() if name in names]
    if not all(parameters.is_ordinary(name, value) for name, value in settings):
        raise NotAccelerated("parameters of unusual types")
    return entry


def prepare(model: surprise.AlgoBase, attributes: Attributes) -> None:
    """Let the next fit of a model set what it learnt already, beside others."""
    _PREPARED[model] = attributes, {}


def forget_prepared(model: surprise.AlgoBase) -> None:
    """Drop what no fit has asked for."""
    _PREPARED.pop(model, None)


def _fit_svd(model: Any, entry: Any, columns: ColumnTrainset) -> Learnt:
    return descent.fit_svd(model, columns, begin_epoch("Processing epoch", model)), {}


def _fit_svdpp(model: Any, entry: Any, columns: ColumnTrainset) -> Learnt:
    exact = state.options.exact or state.options.compare
    begin = begin_epoch(" processing epoch", model)
    if exact or columns.has_repeats or descent.n_implicit_steps(model, columns) <= FEW_STEPS:
        return descent.fit_svdpp(model, columns, begin), {}
    return _fit_by_entry(model, entry, columns, begin, ("bu", "bi", "pu", "qi", "yj"))


def _fit_nmf(model: Any, entry: Any, columns: ColumnTrainset) -> Learnt:
    learnt = _fit_by_entry(model, entry, columns, lambda epoch: None, ("bu", "bi", "pu", "qi"))
    if not all(np.isfinite(value).all() for value in learnt[0].values()):
        raise NotAccelerated("a division by zero")
    for epoch in range(model.n_epochs):  # not before: Surprise's own code would print them again
        say(model, f"Processing epoch {epoch}")
    return learnt


def _fit_clusters(model: Any, entry: Any, columns: ColumnTrainset) -> Learnt:
    _require_finite(columns)
    averages = "avg_cltr_u", "avg_cltr_i", "avg_cocltr"
    names = ("cltr_u", "cltr_i", "user_mean", "item_mean", *averages)
    return _fit_by_entry(model, entry, columns, begin_epoch("Processing epoch", model), names)


def _fit_normal(model: Any, entry: Any, columns: ColumnTrainset) -> Learnt:
    # Python's power, of which C has another last bit than the product; there are few ratings.
    distinct, places = np.unique(columns.by_user.ratings, return_inverse=True)
    squares = np.array([(rating - columns.global_mean) ** 2 for rating in distinct.tolist()])
    total = np.add.accumulate(squares[places])[-1]
    return {"sigma": np.sqrt(total / columns.n_ratings)}, {}


def _fit_by_entry(
    model: Any,
    entry: Any,
    columns: ColumnTrainset,
    begin: Callable[[int], None],
    names: tuple[str, ...],
) -> Learnt:
    """Fit with the loops of the harness; the names are what Surprise sets."""
    if model.n_epochs > 0:
        begin(0)

    def progress(done: int, total: int) -> None:
        if done < total:
            begin(done)

    entry.fit(model, columns, base.FitOptions(progress, as_surprise=True))
    return {name: getattr(model, name) for name in names}, {}


def _fit_baselines(model: Any, entry: Any, columns: ColumnTrainset) -> Learnt:
    bu, bi = baselines(model, columns)
    say_baselines(model)
    return {"bu": bu, "bi": bi}, {}


def baselines(model: Any, columns: ColumnTrainset) -> tuple[Any, Any]:
    """Return what ``compute_baselines`` does for a model without biases."""
    options = model.bsl_options
    altered.require_own_functions("compute_baselines")
    if not parameters.is_ordinary("bsl_options", options):
        raise NotAccelerated("parameters of unusual types")
    return baseline_only.fit_baselines(options, columns)


def say_baselines(model: Any) -> None:
    """Print what Surprise prints before it computes baselines."""
    say(model, f"Estimating biases using {model.bsl_options.get('method', 'als')}...")


def say_similarities(model: Any, name: str) -> None:
    """Print what Surprise prints around the computation of similarities."""
    say(model, f"Computing the {name} similarity matrix...")
    say(model, "Done computing similarity matrix.")


def _require_finite(columns: ColumnTrainset) -> None:
    if not np.isfinite(columns.by_user.ratings).all():  # of which Surprise makes whole numbers
        raise NotAccelerated("a rating that is not a number")


def _fit_slope_one(model: Any, entry: Any, columns: ColumnTrainset) -> Learnt:
    _require_finite(columns)
    slope_one.SlopeOne.fit(model, columns, base.FitOptions(lambda *_: None, as_surprise=True))
    matrices = {"freq": model.freq, "dev": model.dev}
    means = {"user_mean": model.user_mean}
    if isinstance(model.dev, LazyMatrix):
        return means, matrices
    return means | matrices, {}


def _fit_neighbours(model: Any, entry: Any, columns: ColumnTrainset) -> Learnt:
    if columns.has_repeats:
        raise NotAccelerated("a user rated an item twice")
    sizes = columns.n_users, columns.n_items
    model.n_x, model.n_y = model.switch(*sizes)
    names = {"n_x", "n_y"}
    name = model.sim_options.get("name", "msd").lower()
    if entry.model_class is surprise.KNNBaseline or name == "pearson_baseline":
        model.bu, model.bi = baselines(model, columns)
        names |= {"bu", "bi"}
    if entry.model_class is surprise.KNNBaseline:
        model.bx, model.by = model.switch(model.bu, model.bi)
        names |= {"bx", "by"}
    else:
        entry.describe(model, columns, model.switch(columns.by_user, columns.by_item)[0])
        names |= {"means", "sigmas", "overall_sigma"}
    similarities = similarities_of(model, columns)
    if "bu" in names:
        say_baselines(model)
    say_similarities(model, name)
    pending = {"sim": similarities}
    learnt = {name: value for name, value in vars(model).items() if name in names}
    if isinstance(similarities, np.ndarray):
        learnt["sim"] = pending.pop("sim")
    return learnt, pending


def _add_dictionaries(
    model: Any, trainset: surprise.Trainset, attributes: Attributes, pending: Attributes
) -> None:
    """Let a neighbour method have its dictionaries: at once if somebody has read them already."""
    names = ("ur", "ir") if model.sim_options["user_based"] else ("ir", "ur")
    for own, name in zip(("xr", "yr"), names, strict=True):
        if is_unread(trainset):
            pending[own] = trainset, name
        else:
            attributes[own] = getattr(trainset, name)


def needs_mean(owner: type, model: Any) -> bool:
    """Return whether the ``fit`` of a class asks for the mean of all ratings."""
    if owner in (surprise.KNNBasic, surprise.KNNWithMeans, surprise.KNNWithZScore):
        return measure_of(model) == "pearson_baseline"
    return owner is not surprise.SlopeOne


def measure_of(model: Any) -> str:
    """Return the similarity measure of a model; empty if it is not a name."""
    name = getattr(model, "sim_options", {}).get("name", "msd")
    return name.lower() if isinstance(name, str) else ""


def similarities_of(model: Any, columns: ColumnTrainset) -> Any:
    """Return the similarities of a model that has its biases: whole if small, else row by row."""
    similarities = knn.similarities_of(model, columns)
    if len(similarities) <= SMALL:
        return similarities.matrix()
    name = model.sim_options.get("name", "msd").lower()
    if name in ("cosine", "pearson_baseline") and may_divide_by_zero(similarities):
        n = len(similarities)
        for first in range(0, n, AT_ONCE):  # Surprise would stop
            similarities.block(np.arange(first, min(first + AT_ONCE, n)))
    return similarities


def compute_similarities(model: Any, columns: ColumnTrainset) -> Any:
    """Return what ``compute_similarities`` does, as an array."""
    altered.require_own_functions("compute_similarities")
    if columns.has_repeats:
        raise NotAccelerated("a user rated an item twice")
    if not parameters.is_ordinary("sim_options", model.sim_options):
        raise NotAccelerated("parameters of unusual types")
    name = model.sim_options.get("name", "msd").lower()
    if name == "pearson_baseline":
        own = surprise.AlgoBase.compute_baselines
        if type(model).compute_baselines is not own or "compute_baselines" in vars(model):
            raise NotAccelerated("baselines of a class's own")
        model.compute_baselines()
    view = view_of(model, columns)
    view.switch = surprise.KNNBasic.switch.__get__(view)  # of a class of one's own
    similarities = similarities_of(view, columns)
    say_similarities(model, name)
    return similarities if isinstance(similarities, np.ndarray) else similarities.matrix()


def may_divide_by_zero(similarities: LazyMatrix) -> bool:
    """Return whether some ratings are so near to 0 that sums of their squares may be 0."""
    x_lists: Any = similarities._arguments[0]
    return bool((np.abs(x_lists.ratings) < 1e-150).any())


FITS: dict[type, Callable[[Any, Any, ColumnTrainset], Learnt]] = {
    surprise.SVD: _fit_svd,
    surprise.SVDpp: _fit_svdpp,
    surprise.NMF: _fit_nmf,
    surprise.SlopeOne: _fit_slope_one,
    surprise.CoClustering: _fit_clusters,
    surprise.BaselineOnly: _fit_baselines,
    surprise.NormalPredictor: _fit_normal,
    surprise.KNNBasic: _fit_neighbours,
    surprise.KNNWithMeans: _fit_neighbours,
    surprise.KNNWithZScore: _fit_neighbours,
    surprise.KNNBaseline: _fit_neighbours,
}
"""What each algorithm learns: attributes, and those that are made when somebody reads them."""
