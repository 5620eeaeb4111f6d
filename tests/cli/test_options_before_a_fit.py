"""A command that refuses the value of an option, or a model, does so before anything is fitted."""

import shutil
from pathlib import Path

import click
import pandas as pd
import pytest

import harness
from harness.algorithms import registry
from harness.errors import AlgorithmError
from harness.extras.explain.explanations import check_terms
from harness.extras.explain.similarities import check_similarities
from harness.models import estimates
from harness.models.files import check_savable
from harness.plugins import registry as plugins

CALLS = {
    "run": ["run one.json", "run --dataset ratings.csv --algorithms ItemMean --metrics ndcg@5"],
    "check": ["check one.json"],
    "gate": ["gate one --against two --row BaselineOnly --old-row KNNBasic --refit"],
    "power": ["power one.json --pilot 30"],
    "verify": ["verify two"],
    "recommend": ["recommend one.json --algorithm BaselineOnly", "recommend one"],
    "similar": ["similar one.json --algorithm <svd>&_b_ --item 1"],
    "explain": ["explain one.json --algorithm BaselineOnly --user 1 --item 1"],
    "save": ["save one.json new.zip --algorithm BaselineOnly"],
}
"""Calls of every command that fits."""
OTHERS = {
    "new": "new x.yaml",
    "describe": "describe ratings.csv",
    "list": "list metrics",
    "table": "table one",
    "notes": "notes one",
    "report": "report one",
    "plot": "plot one --kind tradeoff",
    "compare": "compare one two --anyway",
    "history": "history one",
    "evaluate": "evaluate predictions.csv --metrics ndcg@5",
    "methods": "methods one",
    "best": "best one",
    "audit": "audit one",
    "conventions": "conventions one",
    "split": "split one.json -o folds",
    "schema": "schema",
    "completion": "completion bash",
}
"""A call of every other command; it fits nothing, whatever its options are."""
ELSEWHERE = {"conformance", "reproduce", "cache", "doctor"}
"""Commands without a row to fit: of implementations, published sources, files and the machine."""
OWN = """import surprise
class Own(surprise.AlgoBase):
    def estimate(self, u, i):
        return 3.0
"""
WRONG = ("nosuch", "-1", "nan")


@pytest.fixture
def fits(monkeypatch):
    """Return a list that grows with every fit, whose results are those of any other time."""
    done, fit = [], estimates.fit

    def counted(model, *arguments, **options):
        done.append(type(model).__name__)
        return fit(model, *arguments, **options)

    monkeypatch.setattr(estimates, "fit", counted)
    return done


@pytest.fixture
def here(made, tmp_path, monkeypatch, call):
    """A function that makes the current folder as nothing was tried in it, without a cache."""
    rows = [(user, item, (user + 2 * item) % 5 + 1) for user in range(8) for item in range(9)]
    frame = pd.DataFrame(rows, columns=["user", "item", "rating"])

    def make(n):
        folder = tmp_path / f"{n}"
        shutil.copytree(made, folder, ignore=shutil.ignore_patterns("cache"))
        monkeypatch.chdir(folder)
        monkeypatch.setenv("HARNESS_CACHE", str(folder / "cache"))
        frame.to_csv("ratings.csv", index=False)
        frame.assign(estimate=3.5).to_csv("predictions.csv", index=False)

    return make


def test_every_command_is_asked():
    assert {*CALLS} | {*OTHERS} | ELSEWHERE == {*plugins.builtin_names("commands")}


@pytest.mark.sample(3)
@pytest.mark.parametrize("words", [words for calls in CALLS.values() for words in calls])
def test_no_value_is_refused_after_a_fit(words, call, here, fits):
    words = words.replace("<svd>&", "<svd> &").split(" --")
    words = [words[0], *(f"--{word}" for word in words[1:])]
    name, *arguments = [part for word in words for part in word.split(" ", 1)]
    arguments = [*arguments[0].split(" "), *arguments[1:]] if arguments else []
    options = [
        max(each.opts, key=len)
        for each in plugins.find("commands", name).load().params
        if isinstance(each, click.Option) and not each.is_flag
    ]
    assert options
    n_refused = 0
    for number, (option, value) in enumerate((o, v) for o in options for v in WRONG):
        here(number)
        fits.clear()
        code, _, said = call(name, *arguments, f"{option}={value}")
        assert not (code == 2 and fits), (option, value, said)
        n_refused += code == 2
    assert n_refused


@pytest.mark.sample(3)
@pytest.mark.parametrize("words", OTHERS.values())
def test_the_other_commands_fit_nothing(words, call, here, fits):
    here(0)
    code, _, said = call(*words.split())
    assert code == 0 or words.startswith("conventions"), said  # which reads the cache
    assert not fits


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("similar one.json --algorithm BaselineOnly --item 1", "BaselineOnly has no similarities"),
        ("similar knn.json --item 1", "similar: this KNNBasic has similarities of users"),
        ("explain one.json --algorithm Random --user 1 --item 1", "explain: Random has no terms"),
        (
            "explain one.json --algorithm BaselineOnly --user 1 --item 1 --factors",
            "--factors: BaselineOnly has no factors to show; leave it out, or use one of SVD",
        ),
        ("recommend knn.json --least 6", "--least: 6, which no estimate reaches; give 5 or less"),
        ("recommend spaces.json --format trec", "--format trec: the id 'a b' has a blank"),
        ("save own.json own.zip", "own class, or from another library, cannot be saved"),
        ("power knn.json --pilot 30 --power 2", "--power: 2.0; use a chance above the level"),
        ("power knn.json --pilot 30 --metric rmse", "rmse is not a mean over users"),
        ("gate one --against two --refit --metric rmse", "rmse is not a mean over users"),
    ],
)
def test_what_a_model_cannot_do_is_said_before_its_fit(words, said, call, here, fits):
    here(0)
    config = '{"name": "%s", "dataset": "%s", "algorithms": ["%s"], "metrics": ["ndcg@5", "rmse"]}'
    files = {"knn": "KNNBasic", "own": "mine:Own", "spaces": "KNNBasic"}
    for name, algorithm in files.items():
        data = "spaces.csv" if name == "spaces" else "ratings.csv"
        Path(f"{name}.json").write_text(config % (name, data, algorithm), encoding="utf-8")
    frame = pd.read_csv("ratings.csv")
    frame.assign(user=frame["user"].replace(0, "a b")).to_csv("spaces.csv", index=False)
    Path("mine.py").write_text(OWN, encoding="utf-8")
    code, _, text = call(*words.split())
    text = " ".join(text.split())
    assert code == 2, text
    assert said in text
    assert not fits


@pytest.mark.parametrize("name", sorted(plugins.builtin_names("algorithms")))
def test_a_model_is_asked_before_its_fit_as_it_is_after_it(name, here):
    here(0)
    entry = registry.entry(name)
    if entry.missing():
        pytest.skip(entry.missing())
    model = registry.create(name, {}, 0)
    questions = {
        "items": lambda: check_similarities(model, "item"),
        "users": lambda: check_similarities(model, "user"),
        "terms": lambda: check_terms(model),
        "file": lambda: check_savable(model),
    }

    def answers():
        refused = {}
        for key, question in questions.items():
            try:
                question()
            except AlgorithmError as error:
                refused[key] = str(error)
        return refused

    before = answers()
    harness.fit(model, "ratings.csv")
    assert answers() == before
