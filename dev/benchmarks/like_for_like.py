"""What the choices are worth that two libraries make differently in the same model.

    python dev/benchmarks/like_for_like.py [MODEL ...] [--copy ml-100k] [--output figures.json]

The first row of a table is a model as Surprise, implicit or this package has it, the last row that
of another library. Each row between makes one choice more as the other library does, in NumPy or
by Surprise's own fit; so the last two rows should be equal. The other libraries run as rows of a
config do; what the output file holds of other models is kept.
"""

from __future__ import annotations

import copy
import json
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import yaml
from shared import HERE, command_line
from speed import ml_100k

import harness
from harness.algorithms import surprise
from harness.algorithms.top_n import EASE
from harness.algorithms.trainset import ColumnTrainset
from harness.algorithms.trainset import GroupedLists as Lists
from harness.errors import AlgorithmError, HarnessError
from harness.extras.libraries.models import LibraryModel
from harness.models import estimates as models

Matrix = Any  # NumPy's or SciPy's; scores are of all inner users and items, NaN where none is


def all_scores(model: surprise.AlgoBase, trainset: ColumnTrainset) -> Matrix:
    """Fit one of Surprise's models, unless it is, and return its estimates, not clipped."""
    if not hasattr(model, "trainset"):
        models.fit(model, trainset)
    blocks = models.catalogue(model, trainset.user_codes, clip=False)
    return np.concatenate([block for _, _, block in blocks])


def neighbours(
    trainset: ColumnTrainset, seed: int, *, user_based: bool, full: bool = False, few: bool = True
) -> Matrix:
    """Return estimates of KNNWithMeans with the cosine of deviations from means.

    With `full`, the norms are those of all ratings of an item (a user), else of the common ones.
    Without `few`, there is no estimate where no neighbour is similar.
    """
    sim_options = {"name": "cosine", "user_based": user_based}
    model = surprise.KNNWithMeans(k=20, sim_options=sim_options, verbose=False)
    models.fit(model, trainset)
    ratings = trainset.matrix.toarray() if user_based else trainset.matrix.toarray().T
    rated = (ratings > 0).astype(float)
    values = (ratings - model.means[:, None]) * rated
    squares = values**2
    common = squares @ (np.ones_like(rated) if full else rated).T
    norms, products = np.sqrt(common * common.T), values @ values.T
    model.sim = np.divide(products, norms, out=np.zeros_like(norms), where=norms > 0)
    model.sim[model.sim < 1e-6] = 0.0  # LensKit's `min_sim`; Surprise leaves out what is below 0
    scores = all_scores(model, trainset)
    if not few:
        n_similar = (model.sim > 0) @ rated
        scores[(n_similar if user_based else n_similar.T) == 0] = np.nan
    return scores


class Given(np.random.RandomState):
    """A generator that draws given values, from which a fit of Surprise then starts."""

    def __init__(self, *values: Matrix) -> None:
        super().__init__(0)
        self.values = list(values)

    def normal(self, *ignored: object, **named: object) -> Matrix:
        """Return the next values."""
        return self.values.pop(0)

    uniform = normal


def drawn(trainset: ColumnTrainset, n_factors: int, draw: Any) -> list[Matrix]:
    """Return initial values of users and of items."""
    return [draw(size=(n, n_factors)) for n in (trainset.n_users, trainset.n_items)]


def as_cornac(trainset: ColumnTrainset, n_factors: int, draw: Any) -> Given:
    """Return initial values of Cornac, which numbers items by the first user who rated them."""
    _, first = np.unique(trainset.by_user.ids, return_index=True)
    users, items = (each.astype(np.float32) for each in drawn(trainset, n_factors, draw))
    return Given(users.astype(float), items[np.argsort(np.argsort(first))].astype(float))


def svd(trainset: ColumnTrainset, seed: int, spread: float = 0.1, cornac: bool = False) -> Matrix:
    """Return estimates of Surprise's SVD from other initial values."""
    draw = partial(np.random.RandomState(seed).normal, 0.0, spread)
    state = as_cornac(trainset, 50, draw) if cornac else seed
    return all_scores(surprise.SVD(50, init_std_dev=spread, random_state=state), trainset)


def nmf(trainset: ColumnTrainset, seed: int) -> Matrix:
    """Return estimates of Surprise's NMF from Cornac's initial values."""
    state = as_cornac(trainset, 15, np.random.RandomState(seed).uniform)
    return all_scores(surprise.NMF(random_state=state), trainset)


def svd_in_two(
    trainset: ColumnTrainset,
    seed: int,
    means: bool = False,
    reg: float = 0.0,
    unit: bool = False,
    again: bool = False,
) -> Matrix:
    """Return damped means plus factors of what they leave, by descent or, with `reg`, by ALS."""
    if not means:
        return svd(trainset, seed)
    biases, (offsets, items, ratings) = damped_means(trainset), trainset.by_user
    left = ratings - biases[np.repeat(np.arange(trainset.n_users), np.diff(offsets)), items]
    if not reg:
        rest = copy.copy(trainset)
        rest.by_user = Lists(offsets, items, left)
        return biases + all_scores(surprise.SVD(50, biased=False, random_state=seed), rest)
    matrix = type(trainset.matrix)((left, items, offsets), shape=trainset.matrix.shape)
    if unit:
        items = np.random.default_rng(seed).standard_normal((trainset.n_items, 50), np.float32)
        items /= np.linalg.norm(items, axis=1)[:, None]
    else:
        _, items = drawn(trainset, 50, partial(np.random.RandomState(seed).normal, 0.0, 0.1))
    return biases + alternate(matrix, items, reg, again, everywhere=False)


def damped_means(trainset: ColumnTrainset, damping: float = 5.0) -> Matrix:
    """Return the mean plus damped means: deviations of items from it, then those of users."""
    ratings = trainset.matrix.toarray()
    rated, found = ratings > 0, np.full(ratings.shape, trainset.global_mean)
    for axis in (0, 1):
        sums = ((ratings - found) * rated).sum(axis, keepdims=True)
        found += sums / (rated.sum(axis, keepdims=True) + damping)
    return found


def alternate(matrix: Matrix, items: Matrix, reg: float, again: bool, everywhere: bool) -> Matrix:
    """Return products of factors after ten epochs of alternating least squares, users first.

    With `again`, users are solved for once more, as LensKit does before it scores.
    """
    for _ in range(10):
        users = solved(matrix, items, reg, everywhere)
        items = solved(matrix.T.tocsr(), users, reg, everywhere)
    return (solved(matrix, items, reg, everywhere) if again else users) @ items.T


def solved(matrix: Matrix, others: Matrix, reg: float, everywhere: bool) -> Matrix:
    """Solve least squares for each row over its ratings, with a penalty for each of them.

    With `everywhere` over all pairs, the matrix holds confidences (Hu et al. 2008).
    """
    penalty = reg * np.eye(others.shape[1], dtype=matrix.dtype)
    every = others.T @ others + penalty if everywhere else 0.0
    found = np.zeros((matrix.shape[0], others.shape[1]), matrix.dtype)
    for row, (start, stop) in enumerate(pairwise(matrix.indptr)):
        seen, values = others[matrix.indices[start:stop]], matrix.data[start:stop]
        gram = (seen.T * (values - 1)) @ seen if everywhere else seen.T @ seen
        gram += every if everywhere else (stop - start) * penalty
        found[row] = np.linalg.solve(gram, seen.T @ values)
    return found


def counts(
    trainset: ColumnTrainset,
    seed: int,
    plus: int = 0,
    binary: bool = False,
    squared: bool = False,
    again: bool = False,
    kind: str = "float64",
) -> Matrix:
    """Return products of factors for counts; the confidence is `plus` and 40 times the rating."""
    matrix, rng = trainset.matrix.astype(kind), np.random.default_rng(seed)
    matrix.data = plus + 40 * (np.ones_like(matrix.data) if binary else matrix.data)
    if squared:
        items = (rng.standard_normal((trainset.n_items, 50), np.float32) * np.float32(0.01)) ** 2
    else:
        items = drawn(trainset, 50, partial(rng.random, dtype=np.float32))[1] * 0.01
    return alternate(matrix, items.astype(kind), 0.1, again, everywhere=True)


def ease(
    trainset: ColumnTrainset, seed: int, transposed: bool = False, positive: bool = False
) -> Matrix:
    """Return scores of EASE of ratings, with its weights changed."""
    weights = EASE(binary=False).fit(trainset).weights
    weights = weights.T if transposed else weights
    return trainset.matrix @ (np.maximum(weights, 0.0) if positive else weights)


class Step(LibraryModel):
    """A row between two libraries, as an algorithm of a config: a function here and its choices."""

    def __init__(self, step: str, random_state: int = 0, **choices: Any) -> None:
        surprise.AlgoBase.__init__(self)
        self.is_preference = step in ("counts", "ease")
        self.compute = partial(globals()[step], seed=random_state, **choices)

    def fit(self, trainset: surprise.Trainset) -> Step:
        """Compute all scores."""
        surprise.AlgoBase.fit(self, trainset)
        self.scores = self.compute(trainset)
        self.lowest = float(np.nanmin(self.scores))
        return self


def rows(chain: dict[str, Any], dataset: Any) -> list[dict[str, Any]]:
    """Return label, RMSE and NDCG@10 of each row of a chain, on one fold."""
    steps, params = [], {**chain["params"], "random_state": 0}
    for label, choices in chain["steps"].items():
        params = {**params, **choices}
        steps.append({"name": "like_for_like:Step", "label": label, "params": params})
    last = [chain["to"]]
    if chain["ratings"]:  # which Surprise alone clips
        last.insert(0, {**steps[-1], "label": "estimates not clipped to the scale of ratings"})
    found = []
    for clip, algorithms in ((True, [chain["from"], *steps]), (False, last)):
        config = {
            **{"dataset": dataset, "split": {"kind": "holdout", "test_size": 0.2}, "seed": 0},
            **{"candidates": ["rated", "catalogue"], "metrics": ["rmse", "ndcg@10"]},
            **{"algorithms": algorithms, "clip": clip, "baselines": False},
        }
        table = harness.run(config, results=None, workers=1).table
        for _, row in table[table["n_failed"] > 0].iterrows():
            raise AlgorithmError(f"{row['algorithm']}: {row['error']}")
        values = table.set_index(["algorithm", "candidates"]).round(6)
        for label in dict.fromkeys(table["algorithm"]):
            rmse = values.loc[label, "rated"]["rmse"] if chain["ratings"] else None
            ndcg = values.loc[label]["ndcg@10"].to_dict()  # of rated and of catalogue
            found.append({"row": label, "rmse": rmse, **ndcg})
            print("  ".join(str(value) for value in found[-1].values()), flush=True)
    return found


def main() -> None:
    """Compute the models that are named, or all, and keep their figures."""
    chains = yaml.safe_load((HERE / "like_for_like.yaml").read_text("utf-8"))
    parser = command_line(__doc__)
    parser.add_argument("models", nargs="*", metavar="MODEL", help=", ".join(chains))
    parser.add_argument("--copy", default="", help="a folder with MovieLens 100K")
    parser.set_defaults(output=HERE / "figures/like_for_like.json")
    given = parser.parse_args()
    if unknown := [each for each in given.models if each not in chains]:
        parser.error(f"MODEL: found {unknown[0]!r}; use {', '.join(chains)}")
    for name in given.models or chains:
        try:
            found = rows(chains[name], ml_100k(given.copy))
        except HarnessError as error:
            parser.error(str(error))
        known = json.loads(given.output.read_text("utf-8")) if given.output.is_file() else {}
        known = {each: {**known, name: found}[each] for each in chains if each in {*known, name}}
        given.output.write_text(json.dumps(known, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
