"""What a run notes about metrics and comparisons that cannot say anything."""

import pytest
from surprise import AlgoBase

from harness.experiment.run import run
from harness.report.methods import methods

DATA = {"synthetic": {"n_users": 40, "n_items": 60, "n_ratings": 1200}}


@pytest.fixture(scope="module")
def finished():
    return run(
        {
            "dataset": DATA,
            "algorithms": ["BaselineOnly", "ItemMean"],
            "metrics": [
                "ndcg@3",
                "precision@3",
                "ndcg(ideal=retrieved, ties=first)@3",
                "item_coverage@60",
            ],
            "statistics": {"resamples": 100},
        },
        results=None,
    ).info


def test_a_metric_that_no_order_changes_is_named_with_the_reason(finished):
    noted = [note for note in finished["notes"] if "cannot distinguish" in note]
    assert len(noted) == 1
    assert noted[0].startswith("precision@3 cannot distinguish algorithms: every test item is rel")
    assert not any(note.startswith("precision@3: ties") for note in finished["notes"])


def test_a_metric_under_which_all_score_the_same_is_named(finished):
    assert "item_coverage@60: all algorithms of this run score the same" in finished["notes"]


def test_a_metric_without_a_random_order_says_why(finished):
    label = "ndcg(ideal=retrieved, ties=first)@3"
    assert (
        f"{label}: no expected score of a random order is shown: ideal=retrieved with a gain of "
        "exp2 has no average over ties"
    ) in finished["notes"]
    shown = {bound["bound"]: bound["scores"][label] for bound in finished["bounds"]}
    assert shown == {"best": 1.0, "random": None}


def test_a_comparison_that_cannot_decide_is_noted_in_the_table_the_record_and_the_methods(finished):
    reason = (
        "cannot decide: with 100 resamples no difference can be significant in 6 comparisons; set "
        "resamples to at least 2,400, or leave it out"
    )
    assert f"ndcg@3, ndcg(ideal=retrieved, ties=first)@3: {reason}" in finished["notes"]
    entry = next(each for each in finished["statistics"] if each["metric"] == "ndcg@3")
    assert entry["note"] == reason
    assert reason[1:] in entry["method"]
    assert reason in " ".join(text for _, text in methods(finished).paragraphs)
    assert {pair["p_is_bound"] for pair in entry["pairs"]} <= {True, False}


def test_conventions_that_give_all_the_same_are_marked(finished):
    (entry,) = finished["conventions"]
    notes = {row["convention"]: row["note"] for row in entry["rows"]}
    assert notes["mllib"] == notes["recbole"] == "cannot distinguish these algorithms"
    assert notes["sklearn"] == notes["elliot"] == ""


def test_a_split_is_noted_under_the_first_seed_alone():
    noted = run(
        {
            "dataset": DATA,
            "split": {"kind": "holdout"},
            "algorithms": ["ItemMean"],
            "metrics": ["ndcg@3"],
            "baselines": False,
            "seed": [3, 1],
        },
        results=None,
    ).info["notes"]
    leaks = [note.partition(" leaks the future")[0] for note in noted if "leaks" in note]
    assert leaks == ["holdout 20%, first seed:"]


class Levels(AlgoBase):
    """Estimates of a few levels, so that some lists have ties."""

    def __init__(self, n_levels):
        super().__init__()
        self.n_levels = n_levels

    def estimate(self, u, i):
        if isinstance(u, str) or isinstance(i, str):  # unknown
            return 2.5
        return 1 + 3 * ((7 * u + 3 * i) % self.n_levels) / self.n_levels


@pytest.mark.parametrize(("n_levels", "whose"), [(2, "many"), (16, "some")])
def test_ties_decide_the_scores_of_many_users_from_a_third_of_them_on(n_levels, whose):
    own = {"name": f"{__name__}:Levels", "label": "own", "params": {"n_levels": n_levels}}
    config = {"dataset": DATA, "algorithms": [own], "metrics": ["ndcg@3"], "baselines": False}
    noted = run(config, results=None).info["notes"]
    (note,) = (each for each in noted if "ties at the cut" in each)
    assert note.startswith(f"ndcg@3: ties at the cut decide the score of {whose} users: own (")
