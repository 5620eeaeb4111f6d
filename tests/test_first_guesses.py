"""What people try first, guessed before they read the documentation, gives what they are promised.

Each line of ``data/first_guesses.txt`` is a guess with its kind of answer:

- ``=`` it works, and what it returns or prints has the text after the arrow;
- ``!`` it is refused with a way on, and the message has the text after the arrow;
- ``?`` it is refused by Python, without a way on;
- ``s`` it is asked of an object of Surprise, which this package leaves as it is.

A guess that is answered wrongly fails here, whatever its kind.
"""

import contextlib
import io
import random
import shlex
import shutil
import warnings
from itertools import groupby
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import surprise

import harness
from harness.console.commands import main
from harness.errors import HarnessError

FILE = Path(__file__).with_name("data") / "first_guesses.txt"
CONFIG = """name: mine
dataset: ratings.csv
algorithms: [SVD, BaselineOnly, Random]
metrics: ["ndcg@5", "ndcg@10", rmse]
"""


class Own:
    def fit(self, train):
        self.estimates = np.zeros(train.n_items) + 3

    def estimate(self, user, item):
        return self.estimates[item]


class OwnOfSurprise(surprise.AlgoBase):
    def estimate(self, user, item):
        return 3.0


def own_metric(lists, k):
    return lists.relevance(k).mean(axis=1)


def guesses():
    """Return lists of (kind, guess, answer) by their section of the file."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    sections, title = {}, ""
    for line in lines:
        if line.startswith("["):
            title = line.strip("[]")
        elif line and not line.startswith("#"):
            kind, _, rest = line.partition(" ")
            guess, _, answer = rest.partition(" -> ")
            sections.setdefault(title, []).append((kind, guess, answer))
    return sections


GUESSES = guesses()


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with ratings, predictions, recommendations, a config, a model and a run."""
    folder = tmp_path_factory.mktemp("guesses")
    rng = random.Random(3)
    pairs = [(f"u{u}", f"i{i}") for u in range(30) for i in range(20)]
    pairs = [("u1", "i1"), *rng.sample(pairs, 300)]
    rows = [(*pair, rng.randint(1, 5)) for pair in dict.fromkeys(pairs)]
    ratings = pd.DataFrame(rows, columns=["user", "item", "rating"])
    with contextlib.chdir(folder):
        ratings.to_csv("ratings.csv", index=False)
        estimates = [round(1 + 4 * rng.random(), 2) for _ in range(100)]
        ratings[:100].assign(estimate=estimates).to_csv("predictions.csv", index=False)
        lists = [(f"u{u}", f"i{i}", i + 1) for u in range(5) for i in range(5)]
        pd.DataFrame(lists, columns=["user", "item", "rank"]).to_csv("lists.csv", index=False)
        Path("config.yaml").write_text(CONFIG)
        Path("script.py").write_text("print('script')\n")
        config = {"name": "run", "dataset": "ratings.csv"}
        config |= {"algorithms": ["SVD", "BaselineOnly", "Random"], "metrics": ["ndcg@10", "rmse"]}
        for results in ("runs", "kept"):
            harness.run(config, results=results)
        harness.save_model(harness.fit("SVD", harness.load("ratings.csv")), "model.zip")
    return folder


@pytest.fixture
def folder(made, tmp_path, monkeypatch):
    """The current folder, as nothing was tried in it."""
    monkeypatch.chdir(shutil.copytree(made, tmp_path / "tried"))


@pytest.fixture
def known(folder):
    """What a guess in Python finds."""
    frame = pd.read_csv("ratings.csv")
    estimated = [("x", 5, 4.5), ("y", 3, 2.0), ("z", 4, 4.8)]
    return {
        "harness": harness,
        "np": np,
        "pd": pd,
        "surprise": surprise,
        "Own": Own,
        "OwnOfSurprise": OwnOfSurprise,
        "own_metric": own_metric,
        "frame": frame,
        "renamed": pd.DataFrame({"customer_id": ["u3"], "sku": ["i1"], "stars": [4]}),
        "numbered": pd.DataFrame({"user": [3], "item": [1], "rating": [4]}),
        "data": harness.load("ratings.csv"),
        "run": harness.read_run("kept/run"),
        "model": harness.load_model("model.zip"),
        "predictions": [surprise.Prediction("a", *each, {}) for each in estimated],
        "config": {"dataset": "ratings.csv", "algorithms": ["SVD"], "metrics": ["ndcg@5"]},
    }


def of_python(guess, known):
    """Return the kind of answer of an expression, and what it returns or says."""
    try:
        return "=", str(eval(guess, dict(known)))
    except (HarnessError, AttributeError, TypeError, ImportError, ValueError) as error:
        return "!", str(error)


def of_shell(guess):
    """Return the kind of answer of a command, and what it prints or says."""
    said, printed = io.StringIO(), io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(said):
        with pytest.raises(SystemExit) as ended:
            main(shlex.split(guess)[1:])
        printed.flush()
    if ended.value.code:
        return "!", said.getvalue()
    return "=", printed.buffer.getvalue().decode()


@pytest.mark.parametrize("section", GUESSES)
def test_first_guesses_are_answered(section, known, capsys):
    is_command = section.startswith("commands")
    wrong = []
    for kind, guess, answer in GUESSES[section]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a warning is an answer too
            found, said = of_shell(guess) if is_command else of_python(guess, known)
        said = " ".join(said.split())
        if found != {"=": "="}.get(kind, "!") or answer not in said:
            wrong.append(f"{kind} {guess} -> {found} {said[:300]}")
    assert not wrong, "\n".join(wrong)


def test_few_guesses_are_refused_without_a_way_on():
    kinds = [kind for section in GUESSES.values() for kind, _, _ in section]
    assert len(kinds) > 600
    assert kinds.count("?") <= 10


def test_a_guess_is_there_once():
    every = sorted(guess for section in GUESSES.values() for _, guess, _ in section)
    assert not [guess for guess, same in groupby(every) if len([*same]) > 1]
