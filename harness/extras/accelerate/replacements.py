"""What takes the place of each method of Surprise: a function of the method as it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from time import perf_counter
from typing import Any

from harness.algorithms import surprise
from harness.algorithms.trainset import ColumnTrainset
from harness.extras.accelerate import (
    altered,
    columns,
    comparison,
    fits,
    measures,
    one_by_one,
    pending,
    splits,
    testing,
    testsets,
    traps,
    worth,
)
from harness.extras.accelerate.attempts import AccelerationError, Streams, run
from harness.extras.accelerate.calls import (
    ACCELERATED,
    SURPRISE,
    Method,
    NotAccelerated,
    count,
    is_active,
    state,
)
from harness.extras.accelerate.predictions import LazyList


def fit_of(owner: type) -> Callable[[Method], Method]:
    """Return what replaces the ``fit`` of a class."""

    def replace(original: Method) -> Method:
        @wraps(original)
        def fit(self: Any, trainset: Any) -> Any:
            if isinstance(trainset, ColumnTrainset):  # the harness's own
                return original(self, trainset)
            if not is_active():
                return original(self, trainset)
            twin = comparison.twin_of(self) if state.options.compare else None
            before = Streams()

            def attempt() -> Any:
                needs_mean = fits.needs_mean(owner, self)
                with columns.mean_unless_refused(trainset):
                    read = columns.columns_of(trainset, needs_mean=needs_mean)
                    fits.fit(owner, self, trainset, read)
                return self

            def by_itself() -> Any:
                try:
                    original(self, trainset)
                finally:
                    pending.forget_set(self)
                pending.forget(self)
                return self

            def check(_: Any) -> None:
                after = Streams()
                before.rewind()
                original(twin, trainset)
                comparison.require_same(Streams().states, after.states, "numpy.random after fit")
                comparison.require_same(self, twin, f"{type(self).__name__}.fit")

            name, generator = f"{type(self).__name__}.fit", getattr(self, "random_state", None)
            run(name, attempt, by_itself, generator=generator, draws=True, check=check)
            traps.warn_of_divergence(self, trainset)
            return self

        return fit

    return replace


def test(original: Method) -> Method:
    """Return what replaces ``AlgoBase.test``."""

    @wraps(original)
    def test(self: Any, testset: Any, verbose: bool = False) -> Any:
        if isinstance(getattr(self, "trainset", None), ColumnTrainset):
            return original(self, testset, verbose)
        rows = testset if isinstance(testset, list | tuple | LazyList) else list(testset)
        before = Streams()

        def attempt() -> Any:
            predictions = testing.test(self, rows)
            for line in [*map(str, predictions)] if verbose else ():  # all, before one is printed
                print(line)  # noqa: T201 - as Surprise does
            return predictions

        def check(predictions: Any) -> None:
            after = Streams()
            before.rewind()
            expected = original(self, rows)
            after.rewind()
            comparison.require_same(predictions, expected, f"{type(self).__name__}.test")

        name = f"{type(self).__name__}.test"
        return run(name, attempt, lambda: original(self, rows, verbose), draws=True, check=check)

    return test


def predict(_: Method | None) -> Method:
    """Return the ``predict`` of a class that inherits it from ``AlgoBase``."""

    @wraps(surprise.AlgoBase.predict)
    def predict(self: Any, *arguments: Any, **options: Any) -> Any:
        original = surprise.AlgoBase.predict  # by now perhaps a script's, or with its defaults
        estimate = one_by_one.ESTIMATES.get(type(self))
        if estimate is None or not is_active() or not one_by_one.may_predict(self):
            return original(self, *arguments, **options)

        def attempt() -> Any:
            uid, iid, r_ui, clip, verbose = _pair(*arguments, **options)
            prediction = one_by_one.predict(self, estimate, uid, iid, r_ui, clip)
            if verbose:
                print(prediction)  # noqa: T201 - as Surprise does
            return prediction

        def by_itself() -> Any:
            return original(self, *arguments, **options)

        def check(prediction: Any) -> None:
            expected = original(self, *arguments, **options)
            comparison.require_same(prediction, expected, f"{type(self).__name__}.predict")

        return run(f"{type(self).__name__}.predict", attempt, by_itself, check=check)

    return predict


def _pair(
    uid: Any, iid: Any, r_ui: Any = None, clip: bool = True, verbose: bool = False
) -> tuple[Any, ...]:
    """Return the arguments of ``AlgoBase.predict``."""
    return uid, iid, r_ui, clip, verbose


def compute_baselines(original: Method) -> Method:
    """Return what replaces ``AlgoBase.compute_baselines``."""

    @wraps(original)
    def compute_baselines(self: Any) -> Any:
        if not is_active() or self.bu is not None or isinstance(self.trainset, ColumnTrainset):
            return original(self)

        def attempt() -> Any:
            with columns.mean_unless_refused(self.trainset):
                bu, bi = fits.baselines(self, columns.columns_of(self.trainset))
            self.bu, self.bi = bu, bi
            fits.say_baselines(self)
            return self.bu, self.bi

        name = f"{type(self).__name__}.compute_baselines"
        check = _same_for_twin(self, original, name)
        return run(name, attempt, lambda: original(self), check=check)

    return compute_baselines


def compute_similarities(original: Method) -> Method:
    """Return what replaces ``AlgoBase.compute_similarities``."""

    @wraps(original)
    def compute_similarities(self: Any) -> Any:
        if isinstance(self.trainset, ColumnTrainset):
            return original(self)
        name = f"{type(self).__name__}.compute_similarities"

        def attempt() -> Any:
            needs_mean = fits.measure_of(self) == "pearson_baseline"
            with columns.mean_unless_refused(self.trainset):
                read = columns.columns_of(self.trainset, needs_mean=needs_mean)
                return fits.compute_similarities(self, read)

        check = _same_for_twin(self, original, name)
        return run(name, attempt, lambda: original(self), check=check)

    return compute_similarities


def _same_for_twin(model: Any, original: Method, name: str) -> Callable[[Any], None]:
    """Return what compares a value with the result of Surprise's method for a copy of a model."""
    twin = comparison.twin_of(model) if state.options.compare else None

    def check(value: Any) -> None:
        vars(twin)["trainset"] = model.trainset
        comparison.require_same(value, original(twin), name)

    return check


def get_neighbors(original: Method) -> Method:
    """Return what replaces ``AlgoBase.get_neighbors``: one row of similarities is enough."""

    @wraps(original)
    def get_neighbors(self: Any, iid: int, k: int) -> Any:
        similarities = pending.lazy_rows(self, "sim")
        if similarities is None or not one_by_one.may_list_neighbours(self, iid):
            return original(self, iid, k)
        return one_by_one.neighbours(self, similarities[int(iid)], iid, k)

    return get_neighbors


def missing_attribute_of_model(_: Method | None) -> Method:
    """Return ``AlgoBase.__getattr__``."""

    def read(self: Any, name: str) -> Any:
        return pending.make(self, name)

    return read


def state_of_model(_: Method | None) -> Method:
    """Return ``AlgoBase.__getstate__``."""

    def state_of(self: Any) -> Any:
        pending.make_all(self)
        return vars(self)

    return state_of


def missing_attribute_of_trainset(_: Method | None) -> Method:
    """Return ``Trainset.__getattr__``."""

    def read(self: Any, name: str) -> Any:
        if name in ("ur", "ir"):
            columns.read(self)
            if name in vars(self):
                return vars(self)[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    return read


def state_of_trainset(_: Method | None) -> Method:
    """Return ``Trainset.__getstate__``."""

    def state_of(self: Any) -> Any:
        columns.read(self)
        return vars(self)

    return state_of


def from_columns(
    attempt: Method, name: str, *, to_compare: bool = True
) -> Callable[[Method], Method]:
    """Return what replaces a method by a function of the same arguments."""

    def replace(original: Method) -> Method:
        @wraps(original)
        def method(self: Any, *arguments: Any, **options: Any) -> Any:
            if isinstance(self, ColumnTrainset) or not is_active():
                return original(self, *arguments, **options)

            def check(value: Any) -> None:
                expected = original(self, *arguments, **options)
                comparison.require_same(value, expected, name)

            return run(
                name,
                lambda: attempt(self, *arguments, **options),
                lambda: original(self, *arguments, **options),
                check=check,
            )

        return method

    return replace


def split(
    owner: type, attempt: Method, check: Callable[[Any, splits.FoldRows], None] = lambda *_: None
) -> Callable[[Method], Method]:
    """Return what replaces the ``split`` of an iterator."""
    name = owner.__name__

    def replace(original: Method) -> Method:
        @wraps(original)
        def split(self: Any, data: Any) -> Iterator[splits.Fold]:
            if not is_active():
                yield from original(self, data)
                return
            try:
                altered.require_own_folds(owner)
                rows = splits.rows_of(data)
                check(self, rows)
            except NotAccelerated as refusal:
                reason = str(refusal)
            except Exception as error:
                reason = f"Surprise's own code answers a {type(error).__name__}: {error}"[:200]
            else:
                theirs = original(self, data) if state.options.compare else None
                yield from _folds(f"{name}.split", attempt(self, rows), theirs, self)
                return
            if state.options.strict:
                raise AccelerationError(f"{name}.split: cannot be accelerated ({reason})")
            count(f"{name}.split", SURPRISE, reason, 0.0)
            yield from original(self, data)

        return split

    return replace


def _folds(
    name: str, ours: Iterator[splits.Fold], theirs: Iterator[splits.Fold] | None, iterator: Any
) -> Iterator[splits.Fold]:
    """Yield folds; if there are Surprise's folds too, both from the same random numbers."""
    end = object()
    while True:
        before = Streams(getattr(iterator, "random_state", None))
        begin = perf_counter()
        fold: Any = next(ours, end)
        seconds = perf_counter() - begin
        if theirs is not None:
            before.rewind()
            expected: Any = next(theirs, end)
            if fold is not end or expected is not end:
                comparison.require_same(fold, expected, name)
        if fold is end:
            return
        count(name, ACCELERATED, "", seconds)
        yield fold


def load(original: Method) -> Method:
    """Return what replaces ``DatasetAutoFolds.__init__``."""

    @wraps(original)
    def begin(self: Any, ratings_file: Any = None, reader: Any = None, df: Any = None) -> None:
        def attempt() -> None:
            altered.require_own_data()
            rows = splits.rows_of_frame(df)
            surprise.Dataset.__init__(self, reader)
            self.has_been_split, self.df, self.raw_ratings = False, df, rows

        def check(_: None) -> None:
            twin = object.__new__(type(self))
            original(twin, None, reader, df)
            comparison.require_same(self.raw_ratings, twin.raw_ratings, "load_from_df")

        if ratings_file is None and df is not None:
            run("load_from_df", attempt, lambda: original(self, None, reader, df), check=check)
        else:
            original(self, ratings_file, reader, df)
        if is_active():
            traps.warn_of_raw_ratings(self.raw_ratings, reader)

    return begin


def measured(
    original: Callable[..., Any], name: str, title: str, predictions: Any, verbose: Any
) -> Any:
    """Return what a function of ``surprise.accuracy`` does, which is `original`."""

    def attempt() -> Any:
        altered.require_own_measures()
        value = measures.value(name, *measures.columns_of_predictions(predictions))
        if verbose:
            print(f"{title}{value:1.4f}")  # noqa: T201 - as Surprise does
        return value

    def check(value: Any) -> None:
        comparison.require_same(value, original(predictions, verbose=False), f"accuracy.{name}")

    return run(f"accuracy.{name}", attempt, lambda: original(predictions, verbose), check=check)


def _methods() -> dict[tuple[type, str], Callable[[Any], Method]]:
    """Return what replaces each method."""
    model, trainset, dataset = surprise.AlgoBase, surprise.Trainset, surprise.Dataset
    auto_folds, selection = surprise.dataset.DatasetAutoFolds, surprise.model_selection
    by_columns: dict[tuple[type, str], tuple[Method, str]] = {
        (trainset, "build_testset"): (testsets.build_testset, "build_testset"),
        (trainset, "build_anti_testset"): (testsets.build_anti_testset, "build_anti_testset"),
        (dataset, "read_ratings"): (splits.read_ratings, "load_from_file"),
        (dataset, "construct_trainset"): (splits.construct_trainset, "construct_trainset"),
        (auto_folds, "build_full_trainset"): (splits.build_full_trainset, "build_full_trainset"),
    }
    iterators: dict[type, tuple[Callable[..., Any], ...]] = {
        selection.KFold: (splits.k_fold, splits.check_k_fold),
        selection.ShuffleSplit: (splits.shuffle_split, splits.check_shuffle_split),
        selection.LeaveOneOut: (splits.leave_one_out,),
    }
    return {
        **{(kind, "fit"): fit_of(kind) for kind in worth.MODELS},
        (model, "test"): test,
        **{(kind, "predict"): predict for kind in one_by_one.ESTIMATES},
        (model, "compute_baselines"): compute_baselines,
        (model, "compute_similarities"): compute_similarities,
        (model, "get_neighbors"): get_neighbors,
        (model, "__getattr__"): missing_attribute_of_model,
        (model, "__getstate__"): state_of_model,
        (trainset, "__getattr__"): missing_attribute_of_trainset,
        (trainset, "__getstate__"): state_of_trainset,
        **{place: from_columns(*how) for place, how in by_columns.items()},
        (auto_folds, "__init__"): load,
        **{(kind, "split"): split(kind, *how) for kind, how in iterators.items()},
    }


METHODS = _methods()
"""By class and name, a function of Surprise's method that returns what replaces it."""
