"""What other libraries do in the benchmarks, called in environments that have them.

`models` fits, ranks and evaluates, `factors` fits matrix factorisation, and `evaluation` computes
NDCG from columns, or item neighbours. They return seconds by the rule of `timing.py` and the values
to compare. Everything is done once before, so that neither loading nor compiling is within the
time.
"""

from __future__ import annotations

import logging
import os
import warnings
from collections import defaultdict, deque
from collections.abc import Callable
from functools import partial
from math import log2
from typing import Any

import numpy as np
import pandas as pd
from timing import measure

K = 40
THREADS = int(os.environ.get("OMP_NUM_THREADS", "1"))
warnings.simplefilter("ignore")
logging.disable()


def models(library: str, *paths: str) -> dict[str, dict[str, float]]:
    """Measure the models of a library on a training and a test set, with their mean NDCG@10."""
    ids = {"user": str, "item": str}
    work = {"Cornac": cornac_work, "LensKit": lenskit_work}[library]
    found = {}
    for name, evaluate in work(*(pd.read_csv(path, dtype=ids) for path in paths)).items():
        mean = evaluate()
        found[name] = measure(evaluate) | {"mean": mean}
    return found


def cornac_work(train: pd.DataFrame, test: pd.DataFrame) -> dict[str, Callable[[], float]]:
    from cornac.eval_methods import BaseMethod
    from cornac.eval_methods.base_method import ranking_eval
    from cornac.metrics import NDCG
    from cornac.models import MF, NMF, BaselineOnly, ItemKNN, UserKNN

    rows = [list(frame.itertuples(index=False, name=None)) for frame in (train, test)]
    method = BaseMethod.from_splits(*rows, exclude_unknowns=True, seed=0)
    seed = 0 if THREADS == 1 else None  # with a seed it has one thread
    limit: Any = {"num_threads": THREADS, "seed": seed}
    neighbors = {"k": K, "similarity": "cosine", "mean_centered": True, "verbose": False} | limit
    models = {
        "BaselineOnly": lambda: BaselineOnly(max_iter=20, verbose=False, **limit),
        "SVD": lambda: MF(k=100, max_iter=20, learning_rate=0.005, lambda_reg=0.02, **limit),
        "NMF": lambda: NMF(k=15, max_iter=50, verbose=False, **limit),
        "user neighbours": lambda: UserKNN(**neighbors),
        "item neighbours": lambda: ItemKNN(**neighbors),
    }

    def evaluate(create: Callable[[], Any]) -> float:
        model = create().fit(method.train_set)
        found, _ = ranking_eval(model, [NDCG(k=10)], method.train_set, method.test_set)
        return float(found[0])

    return {name: lambda c=create: evaluate(c) for name, create in models.items()}


def lenskit_work(train: pd.DataFrame, test: pd.DataFrame) -> dict[str, Callable[[], float]]:
    from lenskit.als import BiasedMFScorer
    from lenskit.basic import BiasScorer
    from lenskit.batch import recommend
    from lenskit.data import ItemListCollection, UserIDKey, from_interactions_df
    from lenskit.knn import ItemKNNScorer, UserKNNScorer
    from lenskit.metrics import NDCG, RunAnalysis
    from lenskit.pipeline import topn_pipeline

    names = ["user_id", "item_id", "rating"]
    data = from_interactions_df(train.set_axis(names, axis=1))
    truth = ItemListCollection.from_df(test.set_axis(names, axis=1), UserIDKey)
    models = {
        "BaselineOnly": lambda: BiasScorer(damping=10),
        "SVD": lambda: BiasedMFScorer(features=100, epochs=20),
        "user neighbours": lambda: UserKNNScorer(k=K),
        "item neighbours": lambda: ItemKNNScorer(k=K),
    }

    def evaluate(create: Callable[[], Any]) -> float:
        pipeline = topn_pipeline(create(), n=10)
        pipeline.train(data)
        lists = recommend(pipeline, truth.keys(), n_jobs=1)
        analysis = RunAnalysis()
        analysis.add_metric(NDCG(10))
        return float(analysis.measure(lists, truth).list_metrics().mean().iloc[0])

    return {name: lambda c=create: evaluate(c) for name, create in models.items()}


CUTS = (1, 3, 5, 10, 20, 50)
Values = Callable[[], dict[int, Any]]
"""From what a library reads, made of columns, to the values of the users at each cut."""


def ranx(users: Any, items: Any, estimates: Any, ratings: Any) -> Values:
    from ranx import Qrels, Run, evaluate

    names = [f"ndcg_burges@{k}" for k in CUTS]
    ids = {"user": users.astype(str), "item": items.astype(str)}
    frame = pd.DataFrame(ids | {"estimate": estimates, "rating": ratings.astype(int)})
    truth = Qrels.from_df(frame, q_id_col="user", doc_id_col="item", score_col="rating")
    run = Run.from_df(frame, q_id_col="user", doc_id_col="item", score_col="estimate")
    how = {"return_mean": False, "make_comparable": True}
    return lambda: dict(zip(CUTS, evaluate(truth, run, names, **how).values(), strict=True))


def pytrec_eval(users: Any, items: Any, estimates: Any, ratings: Any) -> Values:
    import pytrec_eval as peer

    truth: dict[str, dict[str, int]] = defaultdict(dict)
    run: dict[str, dict[str, float]] = defaultdict(dict)
    columns = (users.astype(str), items.astype(str), estimates, ratings.astype(int))
    for user, item, estimate, rating in zip(*(c.tolist() for c in columns), strict=True):
        truth[user][item] = rating
        run[user][item] = estimate

    def compute() -> dict[int, Any]:
        evaluator = peer.RelevanceEvaluator(truth, {"ndcg_cut." + ",".join(map(str, CUTS))})
        found = evaluator.evaluate(run).values()
        return {k: [user[f"ndcg_cut_{k}"] for user in found] for k in CUTS}

    return compute


def in_order(users: Any, items: Any, estimates: Any) -> pd.DataFrame:
    frame = pd.DataFrame({"user_id": users, "item_id": items, "estimate": estimates})
    return frame.sort_values(["user_id", "estimate"], ascending=[True, False], kind="stable")


def rectools(users: Any, items: Any, estimates: Any, ratings: Any) -> Values:
    from rectools.metrics import NDCG
    from rectools.metrics.base import merge_reco

    reco = in_order(users, items, estimates)
    reco["rank"] = reco.groupby("user_id").cumcount() + 1
    liked = ratings >= LIKED
    truth = pd.DataFrame({"user_id": users[liked], "item_id": items[liked]})

    def compute() -> dict[int, Any]:
        merged = merge_reco(reco, truth)
        return {k: NDCG(k=k).calc_per_user_from_merged(merged) for k in CUTS}

    return compute


def rs_metrics(users: Any, items: Any, estimates: Any, ratings: Any) -> Values:
    from rs_metrics import ndcg

    liked = ratings >= LIKED
    truth = pd.DataFrame({"user_id": users[liked], "item_id": items[liked]})
    frames = truth, in_order(users, items, estimates)
    lists = [frame.groupby("user_id")["item_id"].agg(list).to_dict() for frame in frames]
    how = {"num_workers": THREADS, "apply_mean": False}
    return lambda: {k: ndcg(*lists, k=k, **how) for k in CUTS}


def replay(users: Any, items: Any, estimates: Any, ratings: Any) -> Values:
    import polars
    from replay.metrics import NDCG, PerUser

    metric, liked = NDCG([*CUTS], mode=PerUser()), ratings >= LIKED
    recommended = polars.DataFrame({"query_id": users, "item_id": items, "rating": estimates})
    truth = polars.DataFrame({"query_id": users[liked], "item_id": items[liked]})

    def compute() -> dict[int, Any]:
        found = metric(recommended, truth)
        return {k: [*found[f"NDCG-PerUser@{k}"].values()] for k in CUTS}

    return compute


def scikit_learn(users: Any, items: Any, estimates: Any, ratings: Any) -> Values:
    from sklearn.metrics._ranking import _ndcg_sample_scores  # the mean is all it offers openly

    codes, ids = pd.factorize(users)
    place = pd.Series(codes).groupby(codes).cumcount().to_numpy()
    shape = (len(ids), place.max() + 1)
    scores, truth = np.full(shape, estimates.min() - 1.0), np.zeros(shape)
    scores[codes, place], truth[codes, place] = estimates, ratings
    return lambda: {k: _ndcg_sample_scores(truth, scores, k=k) for k in CUTS}


def recometrics(users: Any, items: Any, factors: Any, ratings: Any) -> Values:
    from recometrics import calc_reco_metrics
    from scipy.sparse import csr_matrix

    test = csr_matrix((ratings, (users, items)))  # the last user and the last item are there
    data = csr_matrix(test.shape), test, *np.split(factors, [test.shape[0]])
    chosen = {"precision": False, "average_precision": False, "cumulative": True}

    def compute() -> dict[int, Any]:
        found = calc_reco_metrics(*data, k=max(CUTS), **chosen, nthreads=THREADS)
        return {k: found[f"NDCG@{k}"].dropna().to_numpy() for k in CUTS}

    return compute


def plain_loop(users: Any, items: Any, estimates: Any, ratings: Any) -> Values:
    lists: dict[int, list[tuple[float, float]]] = defaultdict(list)
    columns = (column.tolist() for column in (users, estimates, ratings))
    for user, estimate, rating in zip(*columns, strict=True):
        lists[user].append((estimate, rating))

    def dcg(ordered: list[float], k: int) -> float:
        return sum((2**rating - 1) / log2(i + 2) for i, rating in enumerate(ordered[:k]))

    def compute() -> dict[int, Any]:
        values: dict[int, Any] = {k: [] for k in CUTS}
        for pairs in lists.values():
            pairs = sorted(pairs, key=lambda pair: -pair[0])
            ordered = [rating for _, rating in pairs]
            best = sorted(ordered, reverse=True)
            for k in CUTS:
                values[k].append(dcg(ordered, k) / dcg(best, k))
        return values

    return compute


LIKED = 4
LIBRARIES: dict[str, Callable[..., Values]] = {
    "loop in Python": plain_loop,
    "scikit-learn": scikit_learn,
    "pytrec-eval": pytrec_eval,
    "ranx": ranx,
    "RecTools": rectools,
    "rs-metrics": rs_metrics,
    "RePlay": replay,
    "recometrics": recometrics,
}


def similaripy(matrix: Any, k: int) -> Any:
    from similaripy import cosine

    how = {"binary": True, "verbose": False, "format_output": "csr"}
    return cosine(matrix.T.tocsr(), k=k, num_threads=THREADS, **how)


def sparse_dot_topn(matrix: Any, k: int) -> Any:
    from scipy.sparse import csr_matrix, diags
    from sparse_dot_topn import sp_matmul_topn

    unit = csr_matrix(diags(1 / np.sqrt(matrix.sum(axis=0).A1)) @ matrix.T)
    return sp_matmul_topn(unit, csr_matrix(unit.T), top_n=k, n_threads=THREADS)


def implicit(matrix: Any, k: int) -> Any:
    from implicit.nearest_neighbours import CosineRecommender

    model = CosineRecommender(K=k, num_threads=THREADS)
    model.fit(matrix, show_progress=False)
    return model.similarity


PRODUCTS: dict[str, Callable[..., Any]] = {
    "similaripy": similaripy,
    "sparse-dot-topn": sparse_dot_topn,
    "implicit": implicit,
}


def evaluation(name: str, path: str, limit: float) -> dict[str, Any]:
    """Measure one library on columns or on who rated what: once with a limit of 0 seconds."""
    with np.load(path) as file:
        data = dict(file)
    if name in PRODUCTS:
        from scipy.sparse import csr_matrix

        matrix = csr_matrix((np.ones(len(data["users"])), (data["users"], data["items"])))
        task = partial(PRODUCTS[name], matrix, int(data["k"]) + 1)
        kept = task().tocsr()  # each item is its own neighbour
        total = float(kept.sum() - kept.diagonal().sum())
        return measure(task, limit, least=3) | {"values": {"total": total}}
    convert = LIBRARIES[name]
    columns = [data[key] for key in ("users", "items", "estimates", "ratings")]
    convert(*columns if columns[2].ndim > 1 else (each[:1000] for each in columns))()
    made: deque[Values] = deque(maxlen=1)  # only the last one is kept
    conversion = measure(lambda: made.append(convert(*columns)), limit)
    alone = measure(made[-1], limit)
    found: dict[str, Any] = {key: alone[key] + conversion[key] for key in ("wall", "cpu")}
    width = sum(each["spread"] * each["wall"] for each in (alone, conversion))
    found |= {"spread": width / found["wall"], "runs": alone["runs"], "alone": alone, "values": {}}
    for kind in data.keys() & {"estimates", "untied"} if limit else ():
        columns[2] = data[kind]
        values = convert(*columns)().values()
        found["values"][kind] = [float(np.mean(each)) for each in values]
    return found


Fit = Callable[[], Any]
"""Fits some factors for some epochs with a library's usual settings.

It returns a function that estimates pairs, or None where the model has no estimates of ratings.
"""


def cornac(train: Any, k: int, epochs: int) -> Fit:
    from cornac.data import Dataset
    from cornac.models import MF

    columns = zip(*(column.tolist() for column in train.T), strict=True)
    data = Dataset.build([(int(u), int(i), r) for u, i, r in columns])
    users, items = (
        np.array([known.get(each, -1) for each in range(max(known) + 1)])
        for known in (data.uid_map, data.iid_map)
    )
    steps = {"learning_rate": 0.005, "lambda_reg": 0.02, "seed": 0}

    def fit() -> Any:
        model = MF(k=k, max_iter=epochs, num_threads=THREADS, **steps).fit(data)

        def estimate(u: Any, i: Any) -> Any:
            u, i = users[u], items[i]
            biases = model.u_biases[u] + model.i_biases[i] + model.global_mean
            return biases + (model.u_factors[u] * model.i_factors[i]).sum(axis=1)

        return estimate

    return fit


def libmf(train: Any, k: int, epochs: int) -> Fit:
    from libmf import mf

    def fit() -> Any:
        options = {"nr_threads": THREADS, "nr_iters": epochs, "quiet": True}
        model = mf.MF(k=k, lambda_p2=0.02, lambda_q2=0.02, eta=0.05, **options)
        model.fit(train)
        p, q = model.p_factors(), model.q_factors()  # its predict mixes up the pairs
        return lambda u, i: (p[u] * q[i]).sum(axis=1)

    return fit


def cmfrec(train: Any, k: int, epochs: int) -> Fit:
    from cmfrec import CMF

    frame = pd.DataFrame(train, columns=["UserId", "ItemId", "Rating"])
    frame = frame.astype({"UserId": int, "ItemId": int})
    options = {"nthreads": THREADS, "precompute_for_predictions": False, "verbose": False}
    return lambda: CMF(k=k, niter=epochs, lambda_=10.0, **options).fit(frame).predict


def implicit_als(train: Any, k: int, epochs: int) -> Fit:
    from implicit.cpu.als import AlternatingLeastSquares
    from scipy.sparse import csr_matrix

    counts = csr_matrix((1 + train[:, 2], train[:, :2].T.astype(int)), dtype=np.float32)
    options = {"num_threads": THREADS, "random_state": 0, "regularization": 0.01}

    def fit() -> None:
        model = AlternatingLeastSquares(factors=k, iterations=epochs, **options)
        model.fit(counts, show_progress=False)

    return fit


def lenskit(train: Any, k: int, epochs: int, *, als: bool) -> Fit:
    from lenskit.als import BiasedMFScorer
    from lenskit.data import ItemList, from_interactions_df
    from lenskit.funksvd import FunkSVDScorer

    frame = pd.DataFrame(train, columns=["user_id", "item_id", "rating"])
    data = from_interactions_df(frame.astype({"user_id": int, "item_id": int}))

    def fit() -> Any:
        model = (BiasedMFScorer if als else FunkSVDScorer)(embedding_size=k, epochs=epochs)
        model.train(data)

        def estimate(users: Any, items: Any) -> Any:
            found = np.empty(len(users))
            for user in np.unique(users):
                rows = np.flatnonzero(users == user)
                found[rows] = model(int(user), ItemList(item_ids=items[rows])).scores()
            return found

        return estimate

    return fit


FACTORS: dict[str, Callable[[Any, int, int], Fit]] = {
    "Cornac": cornac,
    "LIBMF": libmf,
    "LensKit FunkSVD": partial(lenskit, als=False),
    "cmfrec": cmfrec,
    "LensKit ALS": partial(lenskit, als=True),
    "implicit": implicit_als,
}


def factors(library: str, file: str, k: int, every: list[int], limit: float) -> Any:
    """Return the measured fits of each number of epochs, and RMSE on the held-out part."""
    with np.load(file) as parts:
        train, test = parts["train"], parts["test"]
    prepare, found = FACTORS[library], {}
    prepare(train[:1000], 4, 1)()
    for epochs in every:
        fit, fitted = prepare(train, k, epochs), [None]
        measured = measure(partial(lambda f, kept: kept.append(f()), fit, fitted), limit)
        rmse = None
        if estimate := fitted[-1]:
            estimates = np.clip(
                estimate(*test[:, :2].astype(int).T), test[:, 2].min(), test[:, 2].max()
            )
            rmse = float(np.sqrt(np.mean((estimates - test[:, 2]) ** 2)))
        found[str(epochs)] = measured | {"rmse": rmse}
    return found
