"""Random scripts of Surprise, run as they are and under the patch: every outcome has to be equal.

    python dev/proofs/scripts.py [--count 400] [--seed 0]

A script loads data, fits, tests, predicts, splits and scores. Between these steps it does what it
should not: it replaces methods of Surprise's classes and functions of its modules, edits what
training sets and models hold, uses subclasses, ids and ratings of odd types. Half of the
replacements come before the patch. Each outcome is a value, of which types and bits are compared,
or an exception, of which type and text are. What is printed is an outcome too, and so is what
Surprise holds after the patch has ended. The accelerated code is loaded at the beginning of a third
of the scripts, at some call of a third, and never in a third, as all are small. The seed of a
script that differs is printed.
"""

from __future__ import annotations

import contextlib
import copy
import io
import os
import pickle
import re
import sys
import tempfile
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import surprise
from common import Proof
from surprise import accuracy, model_selection, similarities
from surprise.model_selection import KFold, LeaveOneOut, RepeatedKFold, ShuffleSplit
from surprise.prediction_algorithms import algo_base, co_clustering, knns, matrix_factorization

import harness
from harness.extras.accelerate import worth
from harness.extras.accelerate.attempts import ComparisonError
from harness.extras.accelerate.comparison import require_same
from harness.extras.accelerate.predictions import LazyList

ALGORITHMS = (
    *("SVD", "SVDpp", "NMF", "SlopeOne", "CoClustering", "BaselineOnly", "NormalPredictor"),
    *("KNNBasic", "KNNWithMeans", "KNNWithZScore", "KNNBaseline"),
)
NOTHING = object()
Outcomes = list[tuple[str, Any]]


class Words(str):
    """A text of a class of its own."""

    __slots__ = ()


class OwnTrainset(surprise.Trainset):
    """A training set as a script writes it to cut ratings."""

    def all_ratings(self) -> Iterator[Any]:
        return ((u, i, min(r, 4.0)) for u, i, r in super().all_ratings())


class BareTrainset(surprise.Trainset):
    """A subclass that changes nothing."""


class KnowingTrainset(surprise.Trainset):
    """A training set that forgets some users."""

    def knows_user(self, uid: Any) -> bool:
        return super().knows_user(uid) and uid != 1


class OwnReader(surprise.Reader):
    """A reader of a class of its own."""

    def parse_line(self, line: str) -> Any:
        user, item, rating, time = super().parse_line(line)
        return user, item, rating / 2 + 1, time


class OwnDataset(surprise.dataset.DatasetAutoFolds):
    """A data set that adds a rating to each training set."""

    def construct_trainset(self, raw_trainset: Any) -> Any:
        return super().construct_trainset([*raw_trainset, ("extra", "extra", 3.0, None)])


def replaced_fit(plain: Any) -> Any:
    def fit(self: Any, *arguments: Any) -> Any:
        plain(self, *arguments)
        for name in ("bu", "bi"):
            if vars(self).get(name) is not None:
                setattr(self, name, vars(self)[name] * 0.5)
        return self

    return fit


def replaced_ratings(plain: Any) -> Any:
    return lambda self: ((u, i, min(r, 3.0)) for u, i, r in plain(self))


def replaced_number(plain: Any) -> Any:
    return lambda self, *arguments, **options: 1.5


def replaced_result(plain: Any) -> Any:
    def call(self: Any, *arguments: Any, **options: Any) -> Any:
        result = plain(self, *arguments, **options)
        is_list = isinstance(result, list | LazyList)  # which stands for a list
        return result[:-1] if is_list and len(result) > 1 else result

    return call


def replaced_matrix(plain: Any) -> Any:
    return lambda n_x, *arguments: np.asarray(plain(n_x, *arguments)) * 0.5


def replaced_biases(plain: Any) -> Any:
    return lambda self: tuple(side + 0.25 for side in plain(self))


def replaced_known(plain: Any) -> Any:
    return lambda self, inner: plain(self, inner) and inner != 0


def replaced_inner(plain: Any) -> Any:
    def call(self: Any, raw: Any) -> Any:
        try:
            return plain(self, raw)
        except ValueError:
            return 0

    return call


def replaced_range(plain: Any) -> Any:
    return lambda self: range(len(plain(self)) - 1)


def replaced_predict(plain: Any) -> Any:
    def predict(self: Any, uid: Any, iid: Any, r_ui: Any = None, *rest: Any, **options: Any) -> Any:
        return surprise.Prediction(uid, iid, r_ui, 1.25, {"own": True})

    return predict


def replaced_measure(plain: Any) -> Any:
    return lambda predictions, verbose=True: float(len(predictions))


def replaced_scores(plain: Any) -> Any:
    def fit_and_score(algo: Any, trainset: Any, testset: Any, measures: Any, *rest: Any) -> Any:
        scores = plain(algo, trainset, testset, measures, *rest)
        return {name: value + 1 for name, value in scores[0].items()}, *scores[1:]

    return fit_and_score


def replaced_split(plain: Any) -> Any:
    return lambda self, data: ((train, test[:-1]) for train, test in plain(self, data))


def replaced_construct(plain: Any) -> Any:
    return lambda self, rows: plain(self, rows[: max(1, len(rows) - 2)])


def replaced_generator(plain: Any) -> Any:
    return lambda seed: np.random.RandomState(77)


def replaced_text(plain: Any) -> Any:
    return lambda self: "a prediction"


def replaced_print(plain: Any) -> Any:
    return lambda *arguments, **options: None


def replaced_mean(plain: Any) -> Any:
    return property(lambda self: np.float64(2.75))


@cache
def replaced_class(plain: Any) -> Any:
    return type(plain.__name__, (plain,), {})


def replaced_cutting_class(plain: Any) -> Any:
    return OwnTrainset


REPLACED: list[tuple[Any, str, Callable[[Any], Any]]] = [
    (surprise.Trainset, "all_ratings", replaced_ratings),
    (surprise.Trainset, "knows_user", replaced_known),
    (surprise.Trainset, "knows_item", replaced_known),
    (surprise.Trainset, "to_inner_uid", replaced_inner),
    (surprise.Trainset, "to_inner_iid", replaced_inner),
    (surprise.Trainset, "all_users", replaced_range),
    (surprise.Trainset, "all_items", replaced_range),
    (surprise.Trainset, "build_testset", replaced_result),
    (surprise.Trainset, "build_anti_testset", replaced_result),
    (surprise.Trainset, "global_mean", replaced_mean),
    (surprise.Trainset, "note", replaced_number),
    (surprise.AlgoBase, "fit", replaced_fit),
    (surprise.AlgoBase, "predict", replaced_predict),
    (surprise.AlgoBase, "test", replaced_result),
    (surprise.AlgoBase, "default_prediction", replaced_number),
    (surprise.AlgoBase, "compute_baselines", replaced_biases),
    (surprise.AlgoBase, "get_neighbors", replaced_result),
    (surprise.AlgoBase, "summary", replaced_number),
    (knns.SymmetricAlgo, "fit", replaced_fit),
    (surprise.SVD, "fit", replaced_fit),
    (surprise.SVD, "sgd", replaced_fit),
    (surprise.SVD, "estimate", replaced_number),
    (surprise.SVD, "predict", replaced_predict),
    (surprise.SVDpp, "fit", replaced_fit),
    (surprise.NMF, "sgd", replaced_fit),
    (surprise.KNNBasic, "fit", replaced_fit),
    (surprise.KNNBasic, "estimate", replaced_number),
    (surprise.KNNWithMeans, "estimate", replaced_number),
    (surprise.KNNBaseline, "fit", replaced_fit),
    (surprise.SlopeOne, "estimate", replaced_number),
    (surprise.BaselineOnly, "estimate", replaced_number),
    (surprise.NormalPredictor, "fit", replaced_fit),
    (similarities, "msd", replaced_matrix),
    (similarities, "cosine", replaced_matrix),
    (similarities, "pearson_baseline", replaced_matrix),
    (algo_base, "baseline_als", replaced_biases),
    (algo_base, "baseline_sgd", replaced_biases),
    (algo_base, "print", replaced_print),
    (knns, "len", replaced_number),
    (algo_base, "max", lambda plain: lambda *values: values[-1]),
    (algo_base, "Prediction", replaced_class),
    (algo_base, "PredictionImpossible", replaced_class),
    (knns, "PredictionImpossible", replaced_class),
    (matrix_factorization, "get_rng", replaced_generator),
    (co_clustering, "get_rng", replaced_generator),
    (surprise.utils, "get_rng", replaced_generator),
    (model_selection.split, "get_rng", replaced_generator),
    (accuracy, "rmse", replaced_measure),
    (accuracy, "mae", replaced_measure),
    (accuracy, "own", replaced_measure),
    (model_selection.validation, "fit_and_score", replaced_scores),
    (model_selection.search, "fit_and_score", replaced_scores),
    (KFold, "split", replaced_split),
    (KFold, "get_n_folds", replaced_number),
    (LeaveOneOut, "split", replaced_split),
    (surprise.Dataset, "construct_trainset", replaced_construct),
    (surprise.Dataset, "construct_testset", replaced_construct),
    (surprise.dataset, "Trainset", replaced_cutting_class),
    (surprise.dataset.DatasetAutoFolds, "build_full_trainset", replaced_result),
    (surprise.Prediction, "__str__", replaced_text),
]


def values_of(thing: Any) -> dict[str, Any]:
    """Return the parts of a function that a script can set; of others none."""
    return {name: getattr(thing, name) for name in ("__code__", "__defaults__")}


class Surprise:
    """All of Surprise as it is now, to put it back."""

    def __init__(self) -> None:
        owners = {owner for owner, _, _ in REPLACED} | {surprise.Reader, ShuffleSplit}
        owners |= {getattr(surprise, name) for name in ALGORITHMS}
        self.names = {owner: dict(vars(owner)) for owner in owners}
        self.codes = {
            function: values_of(function)
            for function in (*map(vars(accuracy).get, ("rmse", "mse", "mae", "fcp")),)
        }
        own = (surprise.AlgoBase.predict, surprise.AlgoBase.test)
        self.codes |= {function: values_of(function) for function in own}

    def put_back(self) -> None:
        """Put everything back."""
        for owner, names in self.names.items():
            for name in [*vars(owner)]:
                if name not in names and name != "__warningregistry__":
                    delattr(owner, name)
            for name, value in names.items():
                if vars(owner).get(name) is not value:
                    setattr(owner, name, value)
        for function, parts in self.codes.items():
            for name, value in parts.items():
                setattr(function, name, value)


class Script:
    """What one script does; a second one of the same seed does the same."""

    def __init__(self, seed: int, patch: Callable[[], None], unpatch: Callable[[], None]) -> None:
        self.seed, self.patch, self.unpatch = seed, patch, unpatch
        self.rng = np.random.default_rng(seed)
        self.outcomes: Outcomes = []
        self.put: list[tuple[Any, str, Any]] = []

    def pick(self, *values: Any) -> Any:
        return values[int(self.rng.integers(len(values)))]

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def see(self, title: str, call: Callable[[], Any]) -> Any:
        """Add what a call returns or raises, and what it prints."""
        printed = io.StringIO()
        value: Any = None
        with contextlib.redirect_stdout(printed):
            try:
                value = call()
                seen: Any = copy.copy(value) if isinstance(value, list) else value
            except Exception as error:
                seen = type(error).__name__, re.sub(r"0x[0-9a-f]+", "0x", str(error))
        self.outcomes.append((title, seen))
        if printed.getvalue():
            self.outcomes.append((f"{title}, printed", printed.getvalue()))
        return value

    def run(self) -> Outcomes:
        """Run the script to its end."""
        np.random.seed(self.seed)
        is_odd = self.chance(0.7)
        before = self.chance(0.5)
        replaces = is_odd and self.chance(0.6)
        if replaces and before:
            self.replace()
        self.patch()
        if replaces and not before:
            self.replace()
        self.data = self.load(self.rng.random() < 0.25)
        if is_odd and self.chance(0.15):
            self.edit_rows()
        trainset = self.make_trainset()
        if trainset is None:
            return self.end()
        self.trainset = trainset
        if self.chance(0.3):
            self.look()
        if is_odd and self.chance(0.15):
            trainset.__class__ = self.pick(OwnTrainset, BareTrainset, KnowingTrainset)
        if is_odd and self.chance(0.5):
            self.edit_trainset()
        self.model = self.make_model(is_odd)
        self.see("fit", lambda: self.model.fit(trainset) is self.model)
        if is_odd and self.chance(0.3):
            self.edit_trainset()
        if is_odd and self.chance(0.3):
            self.edit_model()
        steps = [self.test, self.predict, self.anti, self.neighbours, self.scores, self.folds]
        steps += [self.search, self.dump, self.attributes, self.own_class, self.few]
        for place in self.rng.permutation(len(steps))[: int(self.rng.integers(3, 7))]:
            steps[int(place)]()
            if is_odd and self.chance(0.1):
                self.edit_trainset()
        if self.chance(0.3):
            self.see("fit again", lambda: self.model.fit(trainset) is self.model)
            self.test()
        return self.end()

    def end(self) -> Outcomes:
        self.see("next random number", np.random.random)
        self.unpatch()
        self.see("still replaced", lambda: [vars(o).get(n) is f for o, n, f in self.put])
        data = self.load(False)
        self.see(
            "afterwards",
            lambda: (
                self.pick(surprise.SVD)(n_factors=2, n_epochs=1, random_state=0)
                .fit(data.build_full_trainset())
                .test(data.build_full_trainset().build_testset())
            ),
        )
        return self.outcomes

    def replace(self) -> None:
        for _ in range(self.pick(1, 1, 2)):
            owner, name, make = REPLACED[int(self.rng.integers(len(REPLACED)))]
            mine = make(getattr(owner, name, None))
            setattr(owner, name, mine)
            self.put.append((owner, name, mine))
        if self.chance(0.1):
            surprise.AlgoBase.predict.__defaults__ = (None, False, False)

    def load(self, is_file: bool) -> Any:
        n_users, n_items = (int(n) for n in self.rng.integers(2, 14, 2))
        n = int(self.rng.integers(2, n_users * n_items + 1))
        codes = self.rng.permutation(n_users * n_items)[:n]
        if self.chance(0.1):
            codes = self.rng.integers(0, n_users * n_items, n)
        kinds = [str, int, "u{}".format, lambda x: (x, 1), float, Words, Decimal, np.int64]
        kind = kinds[int(self.rng.integers(len(kinds)) if self.chance(0.4) else 2)]
        choices = self.pick(
            np.arange(1.0, 6.0),
            np.arange(1.0, 6.0),
            np.arange(0.5, 5.5, 0.5),
            np.arange(1, 6),
            np.array([3.0]),
            np.array([0.0, 1.0]),
            np.array([1, 3, 7], np.float32),
            np.array([True, False]),
            np.array([1.0, np.nan]),
            np.array([1.0, 4.0, np.inf]),
        )
        ratings = self.rng.choice(choices, n)
        scale = self.pick(
            (1, 5),
            (1, 5),
            (0.5, 5.0),
            (5, 1),
            [1, 5],
            (np.float32(1), 5),
            (1, 3),
            (Decimal(1), Decimal(5)),
            (True, 5),
            (1, np.nan),
        )
        reader_kind = self.pick(surprise.Reader, surprise.Reader, OwnReader)
        try:
            if is_file:
                return self.load_file(codes, n_items, ratings, scale, reader_kind)
            users = [kind(int(code // n_items)) for code in codes]
            items = [kind(int(code % n_items)) for code in codes]
            if self.chance(0.05):
                users[0] = self.pick(None, np.nan, True)
            frame = pd.DataFrame({"u": pd.Series(users, dtype=object), "i": items})
            frame["r"] = (
                [*map(self.pick(float, Decimal, str), ratings)] if self.chance(0.2) else ratings
            )
            reader = reader_kind(rating_scale=scale)
            if self.chance(0.1):
                return OwnDataset(reader=reader, df=frame)
            return surprise.Dataset.load_from_df(frame, reader)
        except Exception as error:
            self.outcomes.append(("load", (type(error).__name__, str(error))))
        frame = pd.DataFrame({"u": [1, 1, 2, 3], "i": [1, 2, 1, 2], "r": [1.0, 2.0, 3.0, 5.0]})
        return surprise.Dataset.load_from_df(frame, surprise.Reader())

    def load_file(self, codes: Any, n_items: int, ratings: Any, scale: Any, kind: Any) -> Any:
        lines = [
            f"u{c // n_items};i{c % n_items};{float(r)}\n"
            for c, r in zip(codes, ratings, strict=True)
        ]
        descriptor, name = tempfile.mkstemp(".csv")
        try:
            with os.fdopen(descriptor, "w") as file:
                file.writelines(lines)
            skip = self.pick(0, 0, 1)
            reader = kind(
                sep=";", line_format="user item rating", rating_scale=scale, skip_lines=skip
            )
            if self.chance(0.1):
                reader.parse_line = lambda line: ("a", "b", 2.0, None)
            return surprise.Dataset.load_from_file(name, reader)
        finally:
            Path(name).unlink()

    def edit_rows(self) -> None:
        rows = self.data.raw_ratings
        place = int(self.rng.integers(len(rows)))
        user, item, rating, time = rows[place]
        rows[place] = self.pick(
            (user, item, int(rating) if np.isfinite(rating) else 1, time),
            (user, item, np.float64(rating), time),
            (user, item, np.float32(rating), time),
            (user, item, Fraction(3, 2), time),
            (user, item, None, time),
            [user, item, rating, time],
            (user, item, rating),
            (7, item, 2.0, time),
        )

    def make_trainset(self) -> Any:
        data = self.data
        way = self.pick("full", "full", "split", "construct", "fold")
        if way == "full":
            return self.see("trainset", data.build_full_trainset) and self.again(
                data.build_full_trainset
            )
        if way == "construct":
            return self.again(lambda: data.construct_trainset(list(data.raw_ratings)))
        if way == "fold":
            return self.again(lambda: next(iter(KFold(2, random_state=1).split(data)))[0])
        make = lambda: model_selection.train_test_split(data, random_state=1)  # noqa: E731
        return self.again(lambda: make()[0])

    def again(self, make: Callable[[], Any]) -> Any:
        try:
            made = make()
        except Exception as error:
            self.outcomes.append(("trainset", (type(error).__name__, str(error))))
            return None
        return made if isinstance(made, surprise.Trainset) else None

    def look(self) -> None:
        trainset = self.trainset
        for look in (
            lambda: trainset.global_mean,
            lambda: trainset.build_testset(),
            lambda: list(trainset.all_ratings()),
            lambda: dict(trainset.ur),
            lambda: list(trainset.build_anti_testset()),
            lambda: list(trainset.build_anti_testset(fill=self.pick(2, None, "3", "x"))),
            lambda: (trainset.to_raw_uid(0), trainset.knows_user(0), trainset.knows_item("x")),
            lambda: pickle.loads(pickle.dumps(trainset)).n_ratings,
        ):
            if self.chance(0.3):
                self.see("look", look)

    def edit_trainset(self) -> None:
        names = [name for name in dir(self) if name.startswith("edit_ts_")]
        for _ in range(self.pick(1, 1, 2)):
            name = self.pick(*names)
            self.see(name, lambda name=name: getattr(self, name)(self.trainset))

    def edit_ts_sizes(self, trainset: Any) -> None:
        name = self.pick("n_users", "n_items", "n_ratings")
        setattr(
            trainset,
            name,
            self.pick(
                getattr(trainset, name) + 3,
                getattr(trainset, name) + 1,
                np.int64(getattr(trainset, name)),
                float(getattr(trainset, name)),
            ),
        )

    def edit_ts_scale(self, trainset: Any) -> None:
        trainset.rating_scale = self.pick(
            (1, 3),
            (5, 1),
            [2, 4],
            (np.float32(2), 4.5),
            (Fraction(3, 2), 4),
            (1, 2, 3),
            (1.0, np.inf),
        )

    def edit_ts_list(self, trainset: Any) -> None:
        side = self.pick(trainset.ur, trainset.ir)
        inner = int(self.rng.integers(len(side)))
        way = self.pick("empty", "pop", "append", "reverse", "delete", "tuple", "lists")
        if way == "empty":
            side[inner] = []
        elif way == "pop":
            side[inner].pop()
        elif way == "append":
            side[inner].append((0, 2.5))
        elif way == "reverse":
            side[inner].reverse()
        elif way == "delete":
            del side[inner]
        elif way == "tuple":
            side[inner] = tuple(side[inner])
        else:
            side[inner] = [list(pair) for pair in side[inner]]

    def edit_ts_both(self, trainset: Any) -> None:
        user = int(self.rng.integers(len(trainset.ur)))
        if trainset.ur[user]:
            item = trainset.ur[user][0][0]
            trainset.ur[user][0] = item, 4.0
            trainset.ir[item] = [(u, 4.0 if u == user else r) for u, r in trainset.ir[item]]

    def edit_ts_type(self, trainset: Any) -> None:
        kind = self.pick(
            int,
            np.float64,
            np.float32,
            Fraction,
            bool,
            str,
            lambda r: None,
            lambda r: float("nan"),
            lambda r: float("inf"),
            lambda r: 2**60,
        )
        for user in [*trainset.ur][: self.pick(1, 100)]:
            trainset.ur[user] = [(i, kind(r)) for i, r in trainset.ur[user]]
        if self.chance(0.5):
            for item in [*trainset.ir]:
                trainset.ir[item] = [(u, kind(r)) for u, r in trainset.ir[item]]

    def edit_ts_dictionary(self, trainset: Any) -> None:
        way = self.pick("dict", "default", "order", "set")
        if way == "dict":
            trainset.ur = dict(trainset.ur)
        elif way == "default":
            trainset.ir = defaultdict(list, trainset.ir)
        elif way == "order":
            trainset.ur = dict(reversed(trainset.ur.items()))
        else:
            trainset.ur = {user: [(0, 3.0)] for user in range(trainset.n_users)}

    def edit_ts_names(self, trainset: Any) -> None:
        names = self.pick(trainset._raw2inner_id_users, trainset._raw2inner_id_items)
        first = next(iter(names))
        way = self.pick("alias", "new", "remove", "wrong", "type")
        if way == "alias":
            names["alias"] = 0
        elif way == "new":
            names["alias"] = len(names) + 5
        elif way == "remove":
            del names[first]
        else:
            names[first] = self.pick(-1, 1) if way == "wrong" else self.pick(0.0, "0", np.int64(0))

    def edit_ts_mean(self, trainset: Any) -> None:
        trainset._global_mean = self.pick(None, 2, 2.5, np.float64(2.5), np.float32(2.5), np.nan)

    def edit_ts_own_method(self, trainset: Any) -> None:
        name = self.pick("all_ratings", "knows_user", "build_testset", "all_users", "offset")
        value: Any = {
            "all_ratings": lambda: iter([(0, 0, 2.0)]),
            "knows_user": lambda user: False,
            "build_testset": list,
            "all_users": lambda: range(1),
            "offset": 1,
        }[name]
        setattr(trainset, name, value)

    def parameters(self, name: str) -> dict[str, Any]:
        pick = self.pick
        options = {
            "name": pick("cosine", "msd", "pearson", "pearson_baseline", "MSD"),
            "user_based": pick(True, False),
            "min_support": pick(1, 2),
        }
        baselines = pick({}, {"method": "sgd", "n_epochs": 3}, {"method": "als", "reg_u": 1.5})
        descent = {
            "n_factors": pick(1, 3, 5),
            "n_epochs": pick(0, 1, 3),
            "random_state": pick(None, 3),
        }
        neighbours = {"k": pick(1, 2, 40), "min_k": pick(1, 2, 0), "sim_options": options}
        by_name: dict[str, dict[str, Any]] = {
            "SVD": descent | {"biased": pick(True, False), "lr_all": pick(0.005, 0.1)},
            "SVDpp": descent | {"cache_ratings": pick(True, False)},
            "NMF": descent | {"biased": pick(True, False)},
            "CoClustering": {"n_cltr_u": pick(1, 3), "n_epochs": pick(0, 2), "random_state": 1},
            "BaselineOnly": {"bsl_options": baselines},
            "KNNBaseline": neighbours | {"bsl_options": baselines},
        }
        given = by_name.get(name, neighbours if "KNN" in name else {})
        if name not in ("SlopeOne", "NormalPredictor"):
            given["verbose"] = pick(True, False, False)
        return given

    def make_model(self, is_odd: bool) -> Any:
        name = self.pick(*ALGORITHMS)
        kind = getattr(surprise, name)
        parameters = self.parameters(name)
        if is_odd and self.chance(0.25):
            kind = self.subclass(kind)
        model = kind(**parameters)
        if is_odd and self.chance(0.1):
            setattr(
                model,
                *self.pick(
                    ("estimate", lambda u, i: 2.0),
                    ("switch", lambda a, b: (b, a)),
                    ("default_prediction", lambda: 1.0),
                    ("note", 1),
                ),
            )
        return model

    def subclass(self, kind: Any) -> Any:
        def fit(self: Any, trainset: Any) -> Any:
            kind.fit(self, trainset)
            self.is_own = True
            return self

        def estimate(self: Any, u: Any, i: Any) -> Any:
            found = kind.estimate(self, u, i)
            return found[0] * 0.5 if isinstance(found, tuple) else found * 0.5

        def assign(self: Any, name: str, value: Any) -> None:
            vars(self)[name] = value * 0.5 if name == "bu" and value is not None else value

        body = self.pick(
            {},
            {"fit": fit},
            {"estimate": estimate},
            {"sim": None},
            {"__setattr__": assign},
            {"default_prediction": lambda self: 2.0},
            {"trainset": None},
            {"n_epochs": property(lambda self: 1, lambda self, value: None)},
            {"predict": lambda self, uid, iid, r_ui=None, clip=True, verbose=False: (uid, iid)},
        )
        return type(f"Own{kind.__name__}", (kind,), dict(body))

    def edit_model(self) -> None:
        model, attributes = self.model, self.model.__getstate__() or {}
        name = self.pick(*sorted(attributes), "sim", "bu", "means", "yr", "k")
        value = attributes.get(name)

        def edit() -> None:
            if isinstance(value, np.ndarray):
                way = self.pick("zero", "float32", "list", "none", "part", "nan")
                changed: Any = value.copy()
                if way == "zero":
                    changed *= 0
                elif way == "nan":
                    changed[: len(changed) // 2] = np.nan if value.dtype.kind == "f" else 0
                else:
                    changed = {
                        "float32": value.astype(np.float32),
                        "list": value.tolist(),
                        "none": None,
                        "part": value[:-1],
                    }[way]
                setattr(model, name, changed)
            elif isinstance(value, dict) and name in ("xr", "yr"):
                setattr(model, name, {key: rows[:1] for key, rows in value.items()})
            elif isinstance(value, dict):
                model.sim_options["user_based"] = not model.sim_options["user_based"]
            elif isinstance(value, list):
                setattr(model, name, [*map(float, value)])
            elif isinstance(value, np.floating):
                setattr(model, name, self.pick(float(value), np.float32(value)))
            elif name == "trainset":
                model.trainset = self.pick(None, self.trainset, self.data.build_full_trainset())
            elif isinstance(value, int | float):
                setattr(model, name, self.pick(2, np.int64(1), 1.0, 0))

        # Whoever reads the state draws nothing: the same edit on both sides.
        self.see(f"edit of {name}", edit)

    def pairs(self) -> list[Any]:
        raw = list(self.data.raw_ratings)[:40]
        rows: list[Any] = [(row[0], row[1], row[2]) for row in raw if len(row) > 2]
        user, item = rows[0][:2] if rows else ("a", "b")
        odd = [
            ("no one", item, 1.0),
            (user, "none", 2.5),
            ("no one", "none", None),
            (user, item, None),
            (user, item, np.float32(2.5)),
            (user, item, Decimal(2)),
            (user, item, 3),
            ("alias", item, 1.0),
            [user, item, 2.0],
            (user, item, "text"),
            (np.int64(1), item, 1.0),
            (user, item),
            ([1], item, 1.0),
            (np.nan, None, 1.0),
        ]
        n = int(self.rng.integers(0, 3))
        return (
            rows
            + [odd[int(place)] for place in self.rng.integers(0, len(odd) - 3, n)]
            + ([self.pick(*odd[-3:])] if self.chance(0.05) else [])
        )

    def test(self) -> None:
        rows = self.pairs()
        verbose = self.chance(0.1)
        given: Any = self.pick(rows, rows, tuple(rows), NOTHING)
        make = (lambda: iter(rows)) if given is NOTHING else (lambda: given)
        found = self.see("test", lambda: self.model.test(make(), verbose))
        if isinstance(found, list) and found:
            for name in ("rmse", "mse", "mae", "fcp"):
                if self.chance(0.4):
                    self.see(name, lambda name=name: getattr(accuracy, name)(found, verbose=True))

    def few(self) -> None:
        rows = self.pairs()[-3:]
        self.see("few", lambda: [self.model.test([row]) for row in rows])

    def predict(self) -> None:
        for row in self.pairs()[-5:]:
            options = {"clip": self.chance(0.8), "verbose": self.chance(0.2)}
            self.see(
                "predict", lambda row=row, options=options: self.model.predict(*row, **options)
            )

    def anti(self) -> None:
        trainset = self.trainset
        self.see("anti", lambda: list(self.model.test(trainset.build_anti_testset())))
        if self.chance(0.5):
            self.see("on training", lambda: self.model.test(trainset.build_testset()))

    def neighbours(self) -> None:
        inner = self.pick(0, 1, 50, -1, np.int64(0), 0.0, "x")
        self.see("neighbours", lambda: self.model.get_neighbors(inner, self.pick(1, 3)))

    def iterator(self) -> Any:
        seed = int(self.rng.integers(5))
        return self.pick(
            KFold(2, random_state=seed),
            KFold(3),
            RepeatedKFold(2, 2, random_state=seed),
            ShuffleSplit(2, test_size=self.pick(0.3, 2, 0.99), random_state=seed),
            LeaveOneOut(2, random_state=seed),
            KFold(self.pick(1, 1000)),
            KFold(2, shuffle=False),
        )

    def scores(self) -> None:
        iterator, model = self.iterator(), self.model
        measures = self.pick(["rmse", "mae"], ["RMSE"], ["fcp", "mse"], ["own"], [])
        train = self.chance(0.3)

        def scores() -> Any:
            table = model_selection.cross_validate(model, self.data, measures, iterator, train)
            return {key: value for key, value in table.items() if not key.endswith("time")}

        self.see("scores", scores)

    def folds(self) -> None:
        iterator = self.iterator()
        self.see(
            "folds",
            lambda: [
                (dict(sorted(trainset.__getstate__().items())), testset)
                for trainset, testset in iterator.split(self.data)
            ],
        )

    def search(self) -> None:
        if not self.chance(0.4):
            return
        grid = {"n_factors": [1, 3], "n_epochs": [1], "random_state": [self.pick(0, None)]}

        def search() -> Any:
            found = model_selection.GridSearchCV(
                surprise.SVD, grid, ["rmse"], KFold(2, random_state=0)
            )
            found.fit(self.data)
            return found.best_params, found.best_score

        self.see("search", search)

    def dump(self) -> None:
        def dump() -> Any:
            loaded = pickle.loads(pickle.dumps(self.model))
            return loaded.test(self.pairs()[:3])

        self.see("dump", dump)

    def attributes(self) -> None:
        later = ("trainset", "_global_mean", "_inner2raw_id_users", "_inner2raw_id_items")
        for thing in (self.model, self.trainset):
            state = thing.__getstate__()
            kept = {
                name: value.get_state() if isinstance(value, np.random.RandomState) else value
                for name, value in sorted(state.items())
                if name not in later and not callable(value)
            }
            self.see("attributes", lambda kept=kept: copy.copy(kept))
        self.see("mean", lambda: self.trainset.global_mean)

    def own_class(self) -> None:
        options = {
            "name": self.pick("msd", "pearson_baseline"),
            "user_based": self.pick(True, False),
        }

        class Own(surprise.AlgoBase):
            def __init__(self) -> None:
                super().__init__(sim_options=dict(options), bsl_options={})
                self.verbose = False

            def fit(self, trainset: Any) -> Any:
                super().fit(trainset)
                self.biases = self.compute_baselines()
                self.sim = self.compute_similarities()
                return self

            def estimate(self, u: Any, i: Any) -> Any:
                if not self.trainset.knows_user(u):
                    raise surprise.PredictionImpossible("unknown")
                return float(self.sim.sum()) + len(self.trainset.ur[u])

        rows = self.pairs()[:5]
        self.see("own class", lambda: Own().fit(self.trainset).test(rows))


class LoadedLater(worth.Known):
    """Lets Surprise answer as small calls some calls of a script, and accelerates all after them.

    One script in three is accelerated from the beginning, and one in three not at all.
    """

    def __init__(self, seed: int) -> None:
        later = int(np.random.default_rng(seed).integers(1, 60))
        self.left = (0, sys.maxsize, later)[seed % 3]

    @property
    def is_loaded(self) -> bool:  # type: ignore[override]
        self.left -= self.left > 0
        return self.left == 0

    @is_loaded.setter
    def is_loaded(self, value: bool) -> None:
        if value:
            self.left = 0


def compare(seed: int, was: Surprise) -> tuple[int, str]:
    """Run a script on both sides; return how many outcomes are equal, and what differs."""
    sides: list[Outcomes] = []
    for patch, unpatch in (
        (lambda: None, lambda: None),
        (harness.patch_surprise, harness.unpatch_surprise),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            script = Script(seed, patch, unpatch)
            worth.known = LoadedLater(seed)
            try:
                sides.append(script.run())
            finally:
                worth.known.is_loaded = True
                harness.unpatch_surprise()
                was.put_back()
    theirs, ours = sides
    for place, (expected, found) in enumerate(zip(theirs, ours, strict=False)):
        try:
            require_same(found, expected, f"seed {seed}, outcome {place}, {expected[0]}")
        except ComparisonError as error:
            return place, str(error)
    if len(theirs) != len(ours):
        return 0, f"seed {seed}: {len(theirs)} outcomes of Surprise, {len(ours)} under the patch"
    return len(ours), ""


def main() -> int:
    """Run the proof and print its figures."""
    proof = Proof(__doc__ or "", full=400, quick=20, is_random=True)
    print(f"seed {proof.seed}", flush=True)
    was = Surprise()
    while proof.goes_on:
        equal, difference = compare(proof.seed + proof["done"], was)
        proof.add("equal", equal)
        if difference:
            proof.fault(difference)
        proof.add("done")
    return proof.close(f"{proof['done']} scripts: {proof['equal']:,} outcomes equal")


if __name__ == "__main__":
    sys.exit(main())
