"""Seven scripts of Surprise, each whole: what `accelerate.py scripts` measures.

    surprise_scripts.py SCRIPT FILE [patched]

FILE has a line of user, item and rating for each rating. Each script prints numbers that have to be
equal on both sides.
"""

import random
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import numpy as np
import surprise
from surprise import accuracy
from surprise.model_selection import GridSearchCV, KFold, cross_validate


def top_n(data):
    """Print the ten best items of each user, as Surprise's FAQ finds them."""
    trainset = data.build_full_trainset()
    algo = surprise.SVD()
    algo.fit(trainset)
    predictions = algo.test(trainset.build_anti_testset())
    best = defaultdict(list)
    for uid, iid, _, est, _ in predictions:
        best[uid].append((iid, est))
    for uid, ratings in best.items():
        ratings.sort(key=lambda x: x[1], reverse=True)
        best[uid] = ratings[:10]
    for uid, ratings in best.items():
        print(uid, ratings)


def precision_and_recall(data):
    """Print precision and recall at 10, as Surprise's FAQ computes them."""
    for trainset, testset in KFold(n_splits=5).split(data):
        algo = surprise.SVD()
        algo.fit(trainset)
        by_user = defaultdict(list)
        for uid, _, true_r, est, _ in algo.test(testset):
            by_user[uid].append((est, true_r))
        precisions, recalls = {}, {}
        for uid, ratings in by_user.items():
            ratings.sort(key=lambda x: x[0], reverse=True)
            n_relevant = sum(true_r >= 4 for _, true_r in ratings)
            n_chosen = sum(est >= 4 for est, _ in ratings[:10])
            n_both = sum(true_r >= 4 and est >= 4 for est, true_r in ratings[:10])
            precisions[uid] = n_both / n_chosen if n_chosen else 0
            recalls[uid] = n_both / n_relevant if n_relevant else 0
        print(sum(precisions.values()) / len(precisions), sum(recalls.values()) / len(recalls))


def grid_search(data):
    """Print the best of eight settings of SVD in three folds, as the guide of Surprise does."""
    grid = {"n_epochs": [5, 10], "lr_all": [0.002, 0.005], "reg_all": [0.4, 0.6]}
    search = GridSearchCV(surprise.SVD, grid, measures=["rmse", "mae"], cv=3)
    search.fit(data)
    print(search.best_score, search.best_params)


def neighbours_of_an_item(data):
    """Print the ten nearest neighbours of an item, as Surprise's FAQ finds them."""
    trainset = data.build_full_trainset()
    algo = surprise.KNNBaseline(sim_options={"name": "pearson_baseline", "user_based": False})
    algo.fit(trainset)
    inner_id = trainset.to_inner_iid(trainset.to_raw_iid(0))
    print([trainset.to_raw_iid(inner) for inner in algo.get_neighbors(inner_id, k=10)])


def dump_and_load(data):
    """Fit SVD++, keep it in a file with its predictions, and predict with what is read again."""
    trainset = data.build_full_trainset()
    algo = surprise.SVDpp()
    algo.fit(trainset)
    predictions = algo.test(trainset.build_testset())
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder, "dump"))
        surprise.dump.dump(file, predictions=predictions, algo=algo)
        predictions, loaded = surprise.dump.load(file)
    rmse = accuracy.rmse(loaded.test(trainset.build_testset()), verbose=False)
    print(len(predictions), round(rmse, 6))  # SVD++ differs by 1e-13 on more than small data
    print(round(loaded.predict(trainset.to_raw_uid(0), trainset.to_raw_iid(0)).est, 6))


def own_class(data):
    """Print scores of an algorithm of one's own, as the guide of Surprise defines one."""

    class MeanOfMeans(surprise.AlgoBase):
        def fit(self, trainset):
            surprise.AlgoBase.fit(self, trainset)
            self.the_mean = np.mean([r for (_, _, r) in self.trainset.all_ratings()])
            return self

        def estimate(self, u, i):
            sum_means, div = self.trainset.global_mean, 1
            if self.trainset.knows_user(u):
                sum_means += np.mean([r for (_, r) in self.trainset.ur[u]])
                div += 1
            if self.trainset.knows_item(i):
                sum_means += np.mean([r for (_, r) in self.trainset.ir[i]])
                div += 1
            return sum_means / div

    table = cross_validate(MeanOfMeans(), data, measures=["RMSE", "MAE"], cv=5)
    print(table["test_rmse"].tolist(), table["test_mae"].tolist())


def folds(data):
    """Print the RMSE of SVD in each fold, as the guide of Surprise does."""
    algo = surprise.SVD()
    for trainset, testset in KFold(n_splits=3).split(data):
        algo.fit(trainset)
        print(accuracy.rmse(algo.test(testset), verbose=False))


SCRIPTS = {
    each.__name__: each
    for each in (
        *(top_n, precision_and_recall, grid_search, neighbours_of_an_item),
        *(dump_and_load, own_class, folds),
    )
}

if __name__ == "__main__":
    name, path, *more = sys.argv[1:]
    if more:
        import harness

        harness.patch_surprise()
    random.seed(0)
    np.random.seed(0)
    reader = surprise.Reader(line_format="user item rating", sep="\t", rating_scale=(0.5, 5))
    SCRIPTS[name](surprise.Dataset.load_from_file(path, reader=reader))
