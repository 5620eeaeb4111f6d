import json

import pytest

from harness.experiment.run import run

CONFIG = {
    "dataset": {"synthetic": {"n_users": 40, "n_items": 30, "n_ratings": 600}},
    "split": {"kind": "kfold", "n_splits": 2},
    "algorithms": [
        "BaselineOnly",
        {"name": "SVD", "label": "<svd> & _b_"},
        {
            "name": "KNNWithMeans",
            "label": "KNNWithMeans of users, 40 neighbours at least 3 of them",
        },
        "Random",
        "Popularity",
    ],
    "metrics": ["ndcg@5", "ndcg@10", "ndcg(gain=linear, ties=first)@10", "rmse", "mae"],
    "headline": "ndcg@10",
    "statistics": {"resamples": 200},
}


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """A folder with the runs one, two and data, the config of one, and the cache they filled.

    All tests share it: a command that writes is called on a copy.
    """
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_CACHE", str(folder / "cache"))
        patch.chdir(folder)
        (folder / "one.json").write_text(json.dumps(CONFIG | {"name": "one"}))
        run("one.json", results=folder / "runs")
        run(CONFIG | {"name": "two", "algorithms": ["KNNBasic"]}, results=folder / "runs")
        several = [{"synthetic": CONFIG["dataset"]["synthetic"] | {"seed": i}} for i in range(3)]
        data = {"name": "data", "dataset": several, "algorithms": ["ItemMean"]}
        run(CONFIG | data | {"metrics": ["ndcg@10"]}, results=folder / "runs")
    return folder
