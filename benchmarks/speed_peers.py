"""Train, rank the catalogue and compute NDCG@10: against Cornac 3.0 and LensKit 2025.8.

All have the same split of MovieLens 100K, models as like as the libraries have them, and two
cores; training items are left out of the lists. The peers run in a virtual environment of their
own, which is made (some gigabytes) unless ``--venv`` names one.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import numpy as np
import pandas as pd
from speed_sides import Row, Table, arguments, columns, movielens, seconds

from harness import metrics, splits
from harness.algorithms import models, surprise
from harness.candidates import Candidates, Catalogue
from harness.experiment.cell import Scorer
from harness.splits import Holdout

PEERS = {"Cornac": "cornac==3.0.*", "LensKit": "lenskit==2025.8.*"}
QUIET = {"verbose": False}
MODELS = {
    "BaselineOnly": lambda: surprise.BaselineOnly(**QUIET),
    "SVD": lambda: surprise.SVD(n_factors=100, n_epochs=20, random_state=0),
    "NMF": lambda: surprise.NMF(n_factors=15, n_epochs=50, random_state=0),
    "user neighbours": lambda: surprise.KNNWithMeans(sim_options={"name": "cosine"}, **QUIET),
    "item neighbours": lambda: surprise.KNNWithMeans(
        sim_options={"name": "cosine", "user_based": False}, **QUIET
    ),
}


def evaluate(name: str, split: splits.Split, asked: Candidates) -> float:
    """Do with this package what the peers do: training set, fit, lists, metric."""
    model = MODELS[name]()
    models.fit(model, columns(split.ratings, split.train))
    pairs = metrics.Pairs(asked.offsets, np.zeros(len(asked.items)), asked.ratings)
    ranked = Scorer(model, asked, clip=False).rank(Catalogue(unknown_items="drop"), pairs)
    metric = metrics.parse("ndcg(gain=binary)@10")
    found = metrics.score([metric], ranked)
    return float(found[metric].mean)


def environment(folder: Path) -> Path:
    """Make a virtual environment with both peers, and return its Python."""
    python = folder / "bin" / "python"
    if not python.exists():
        print("installing Cornac and LensKit ...", flush=True)
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *PEERS.values()], check=True)
    return python


def main() -> int:
    told = arguments((__doc__ or "").splitlines()[0], repeats=5, venv="")
    ratings = movielens(told.copy)
    (split,) = splits.make(Holdout(test_size=0.25, random_state=42), ratings, seed=0)
    asked = Catalogue(unknown_items="drop").select(split, seed=0)
    table = Table((__doc__ or "").splitlines()[0], against="peer")
    with tempfile.TemporaryDirectory() as scratch:
        python = environment(Path(told.venv or Path(scratch, "venv")))
        for name, rows in (("train", split.train), ("test", split.test)):
            frame = pd.DataFrame(
                {
                    "user": ratings.user_ids[ratings.users[rows]],
                    "item": ratings.item_ids[ratings.items[rows]],
                    "rating": ratings.ratings[rows],
                }
            )
            frame.to_csv(Path(scratch, f"{name}.csv"), index=False)
        for peer in PEERS:
            work = Path(__file__).with_name("speed_peer_work.py")
            files = [Path(scratch, f"{name}.csv") for name in ("train", "test")]
            answer = subprocess.run(
                [python, work, peer.lower(), *files, "3"], check=True, stdout=subprocess.PIPE
            )
            for name, theirs in json.loads(answer.stdout).items():
                score = evaluate(name, split, asked)
                ours = seconds(lambda n=name: evaluate(n, split, asked), told.repeats)
                note = f"NDCG@10 {theirs['ndcg']:.4f} and {score:.4f}"
                table.add(Row(f"{peer}, {name}", theirs["seconds"], ours, 1, note))
    return table.finish(told.output)


if __name__ == "__main__":
    sys.exit(main())
