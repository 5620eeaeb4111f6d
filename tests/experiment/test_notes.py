"""What a run notes, before and after, about data, metrics and comparisons that say nothing."""

import pandas as pd
import pytest
from surprise import AlgoBase

from harness import Ratings, load
from harness.comparison.runs import join
from harness.errors import ComparisonError, MetricError
from harness.experiment.dry_run import dry_run, notes_before_fit
from harness.experiment.plan import Plan, check_metrics
from harness.experiment.run import run
from harness.report.methods import methods

RATINGS = [1, 2, 3, 4, 5, 4, 3, 2, 5, 4]
DATA = {"synthetic": {"n_users": 40, "n_items": 60, "n_ratings": 1200}}


def data(ratings=RATINGS, scale=(1, 5)):
    rows = [(user, item, ratings[(user + item) % 10]) for user in range(6) for item in range(10)]
    return Ratings.from_columns(*zip(*rows, strict=True), scale=scale)


def prepared(ratings, **config):
    """Return a plan that holds the ratings."""
    return Plan.from_config({"algorithms": ["SVD"], **config}, ratings=ratings)


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("ndcg@10", r"columns, rated from -10 to 10: ndcg: .*negative=zero.* offset=-10$"),
        ("err@10", r"offset=-10$"),
        ("ndcg(offset=-5)@10", r"a relevance of -5 after the offset of -5; .* offset=-10$"),
        ("ndcg(gain=table(0, 1), offset=-10)@3", r"no gain for a relevance of 0.5"),
        ("err(offset=-10)@3", r"a relevance of 20 is above max=5; set max"),
    ],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_relevance_without_a_gain_is_refused_before_the_first_fit(metric, message, seed):
    ratings, events = data([-9.5, 3, 10, 4, 7, 0, 2, 2, 9, 1], (-10, 10)), []
    config = {"algorithms": ["BaselineOnly"], "metrics": [metric], "seed": seed}
    with pytest.raises(MetricError, match=message):
        run(config, ratings=ratings, results=None, watch=events.append)
    assert {getattr(event, "stage", "") for event in events} <= {"loading"}


def test_the_metric_that_decides_a_search_is_checked_too():
    rows = [{"name": "SVD", "search": {"n_factors": [2, 3]}}]
    config = {"metrics": ["rmse"], "algorithms": rows, "tuning": {"metric": "ndcg@10"}}
    with pytest.raises(MetricError, match="ndcg"):
        check_metrics(prepared(data([-1, 2] * 5, (-1, 2)), **config))


def test_a_metric_that_defines_negative_relevances_is_not_refused():
    labels = ["precision@3", "ndcg(negative=zero)@10", "ndcg(gain=binary)@2"]
    check_metrics(prepared(data([-1, 2] * 5, (-1, 2)), metrics=labels))


SAMPLED = {"kind": "sampled", "n": 5}


@pytest.mark.parametrize(
    ("metric", "config", "reason"),
    [
        ("precision@2", {}, "all-relevant precision(threshold=4)@2"),
        ("ndcg(gain=binary)@1", {}, "all-relevant ndcg(gain=binary(4))@1"),
        ("hit(threshold=6)@1", {}, "none-relevant"),
        ("recall(threshold=4)@10", {}, "lists-within-k 10"),
        ("ndcg@10", {"split": "leave-n-out"}, "lists-of-one"),
        ("ndcg@10", {"ratings": [3] * 10}, "equally-relevant"),
        ("ndcg@1", {"ratings": [3] * 10}, "equally-relevant"),
        ("idcg@3", {"candidates": "catalogue"}, "lists-alone"),
        ("precision(threshold=4)@8", {"candidates": "catalogue"}, "lists-within-k 8"),
        ("precision(threshold=4)@8", {"candidates": SAMPLED}, "lists-within-k 8"),
    ],
)
def test_a_metric_that_cannot_distinguish_algorithms_is_named_with_the_reason(
    metric, config, reason
):
    config = {"split": {"kind": "user-fraction", "fraction": 0.3}, **config}
    ratings = data(config.pop("ratings", RATINGS))
    reason, _, label = reason.partition(" ")
    (note,) = notes_before_fit(prepared(ratings, metrics=["rmse", metric], **config))
    assert note.code == "indistinct"
    assert note.values["metric"] == metric
    assert note.values["reason"]["code"] == reason
    assert str(note) == f"{metric} cannot distinguish algorithms: {note.values['reason']['text']}"
    assert label in str(note)


@pytest.mark.parametrize("candidates", ["rated", "catalogue", SAMPLED])
def test_a_metric_that_depends_on_the_order_gets_no_note(candidates):
    labels = ["ndcg@2", "precision(threshold=4)@1", "auc(threshold=4)"]
    assert not [*notes_before_fit(prepared(data(), metrics=labels, candidates=candidates))]


def test_the_notes_of_several_tables_say_which_table_they_are_of():
    config = {"metrics": ["ndcg@10"], "split": ["leave-n-out", "holdout"]}
    (note,) = notes_before_fit(prepared(data(), **config))
    assert (note.code, note.where) == ("indistinct", "columns, leave-1-out random, rated")
    assert str(note).startswith("columns, leave-1-out random, rated: ndcg@10 cannot distinguish")
    config = {"algorithms": ["ItemMean"], "metrics": ["ndcg@3"]}
    noted = run(config | {"split": ["holdout", "kfold"]}, ratings=data(), results=None).info.notes
    tables = [note.where for note in noted if note.code == "test-limited"]
    assert tables == ["columns, holdout 20%, rated", "columns, 5-fold, rated"]


def test_orders_of_ties_that_favour_a_side_of_a_sample_are_noted():
    labels = ["ndcg@3", "ndcg(ties=first)@3", "ap(ties=first)", "ndcg(ties=last)@3"]
    few = {**SAMPLED, "n": 3}
    config = {"algorithms": ["UserMean"], "metrics": labels, "candidates": few, "baselines": False}
    made = run(config, ratings=load(DATA), results=None)
    noted = [str(note) for note in made.info.notes if note.code == "sampled-ties"]
    assert [note.partition(";")[0] for note in noted] == [
        "sampled 3: ndcg(ties=first)@3 and ap(ties=first): among equal estimates, a user's test "
        "items come before the sampled ones",
        "sampled 3: ndcg(ties=last)@3: among equal estimates, a user's test items come after the "
        "sampled ones",
    ]
    first, average, last = (made.table.loc[0, labels[n]] for n in (1, 0, 3))
    assert first > average > last  # all of a user's estimates are equal
    rated = run(config | {"candidates": "rated"}, ratings=load(DATA), results=None)
    assert not any(note.code == "sampled-ties" for note in rated.info.notes)


def test_orders_of_ties_that_favour_a_side_of_a_list_are_noted(tmp_path, monkeypatch):
    ratings = data()
    pairs = [f"{user},{item}" for user in ratings.user_ids for item in ratings.item_ids]
    (tmp_path / "all.csv").write_text("\n".join(["user,item", *pairs]))
    monkeypatch.chdir(tmp_path)
    listed = {"kind": "file", "path": "all.csv"}
    for candidates in (listed, "catalogue"):
        keys = {"metrics": ["ndcg(ties=last)@3"], "candidates": candidates, "baselines": False}
        made = run({"algorithms": ["UserMean"], **keys}, ratings=ratings, results=None)
        noted = [str(note) for note in made.info.notes if note.code == "sampled-ties"]
        assert noted == [
            "file all.csv: ndcg(ties=last)@3: among equal estimates, a user's test items come "
            "after the others; use ties=average"
        ] * (candidates is listed)


def test_a_split_from_files_is_known_by_its_rows_and_goes_to_other_processes_with_them(tmp_path):
    ratings, split = data(), []
    table = ratings.to_frame()
    for number, name in enumerate(["a.csv", "b.csv", "c.csv"]):
        folds = [row % (2 + number // 2) for row in range(len(table))]
        table.assign(fold=folds).to_csv(tmp_path / name, index=False)
        split.append({"kind": "predefined", "file": str(tmp_path / name)})
    plan = prepared(ratings, metrics=["rmse"], split=[*split, "kfold"])
    first, same, other, _ = [each.table for each in plan.tables.values()]
    assert first == same != other
    plan.splits(0, 3, 0)
    assert {position[1] for position in plan.portable()._splits} == {0, 1, 2}


def test_an_algorithm_that_no_memory_of_this_machine_could_hold_is_a_fault():
    huge = {"name": "SVD", "params": {"n_factors": 2_000_000_000}}
    (fault,) = dry_run({"dataset": "bundled", "algorithms": [huge], "metrics": ["rmse"]}).faults
    assert fault.startswith("SVD: ")
    assert "GB needed, and this machine has" in fault


OF_GENRES = {"algorithms": ["BaselineOnly"], "metrics": ["calibration@2", "genre_diversity@2"]}


def test_metrics_of_genres_say_what_they_lack_and_what_they_leave_out():
    plain = data()
    items = pd.DataFrame({"item": [str(item) for item in range(10)]})
    items["genre"] = ["Crime | Drama", "Drama", None, "unknown", *["Comedy"] * 6]
    known = load(plain, items=items)
    done = run(OF_GENRES, ratings=known, results=None)
    assert (
        "columns: 2 of 10 items have no genre and are left out of calibration@2, genre_diversity@2"
    ) in map(str, done.info.notes)
    (frame,) = [each for each in done.info.datasets if each.fingerprint == plain.fingerprint]
    assert frame.genres
    other = run(OF_GENRES, ratings=load(plain, items=items.assign(genre="Comedy")), results=None)
    with pytest.raises(ComparisonError, match="other genres of the items"):
        join([done, other])
    for message, ratings in {
        "calibration@2: columns: no genres of items; give a file that has them, for example": plain,
        "of items .kind.; name the col": load(plain, items=items.rename(columns={"genre": "kind"})),
        "no genres among what is known of items": load(plain, items=items.assign(genre="")),
    }.items():
        with pytest.raises(MetricError, match=message):
            run(OF_GENRES, ratings=ratings, results=None)
    config = {**OF_GENRES, "dataset": "bundled"}
    assert dry_run(config).faults[0].startswith("calibration@2: ml-latest-small-2016: no genres")


NO_MEAN = "ndcg(ideal=retrieved, ties=first)@3"


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    config = {
        "dataset": DATA,
        "algorithms": ["BaselineOnly", "ItemMean"],
        "metrics": ["ndcg@3", "precision@3", NO_MEAN, "item_coverage@60"],
        "statistics": {"resamples": 100},
    }
    with pytest.MonkeyPatch.context() as patch:  # the cache of a test is not set up yet
        patch.setenv("HARNESS_CACHE", str(tmp_path_factory.mktemp("cache")))
        return run(config, results=None).info


def test_metrics_that_distinguish_nothing_or_have_no_random_order_are_named(finished):
    (noted,) = [note for note in finished["notes"] if note.code == "indistinct"]
    assert str(noted).startswith(
        "precision@3 cannot distinguish algorithms: every test item is rel"
    )
    ties = [note.values["metric"] for note in finished["notes"] if note.code == "ties-decide"]
    assert "precision@3" not in ties
    texts = [*map(str, finished["notes"])]
    assert "item_coverage@60: all algorithms of this run score the same" in texts
    assert (
        f"{NO_MEAN}: no expected score of a random order is shown: ideal=retrieved with a gain of "
        "exp2 has no average over ties"
    ) in texts
    shown = {bound["bound"]: bound["scores"][NO_MEAN] for bound in finished["bounds"]}
    assert shown == {"best": 1.0, "random": None}


def test_a_comparison_that_cannot_decide_is_noted_in_the_table_the_record_and_the_methods(finished):
    reason = (
        "cannot decide: with 100 resamples no difference can be significant in 6 comparisons; set "
        "resamples to at least 2,400, or leave it out"
    )
    assert f"ndcg@3, {NO_MEAN}: {reason}" in map(str, finished["notes"])
    entry = next(each for each in finished["statistics"] if each["metric"] == "ndcg@3")
    assert entry["note"] == reason
    assert reason[1:] in entry["method"]
    assert reason[1:] in " ".join(text for _, text in methods(finished).paragraphs)
    assert {pair["p_is_bound"] for pair in entry["pairs"]} <= {True, False}


def test_conventions_that_give_all_the_same_are_marked(finished):
    (entry,) = finished["conventions"]
    notes = {row["convention"]: row["note"] for row in entry["rows"]}
    assert notes["mllib"] == notes["recbole"] == "cannot distinguish these algorithms"
    assert notes["sklearn"] == notes["elliot"] == ""


def test_users_and_items_that_filters_remove_are_not_counted():
    plan = prepared(data(), metrics=["mae"], filters=[{"kind": "first-users", "n": 3}])
    plan.ratings(0)
    (found,) = plan.loaded()
    assert (found.n_users, found.n_items, found.n_ratings) == (3, 10, 30)


def test_a_split_is_noted_under_the_first_seed_alone():
    config = {"dataset": DATA, "split": {"kind": "holdout"}, "algorithms": ["ItemMean"]}
    noted = run(config | {"metrics": ["ndcg@3"], "seed": [3, 1]}, results=None).info["notes"]
    assert [note.where for note in noted if note.code == "leak"] == ["holdout 20%, first seed"]


def test_no_user_is_left_out_of_a_value_over_all_ratings():
    config = {"dataset": DATA, "split": "leave-n-out", "algorithms": ["ItemMean"]}
    noted = run(config | {"metrics": ["r2", "recall(threshold=5)@3"]}, results=None).info["notes"]
    (note,) = (each for each in noted if each.code == "users-undefined")
    assert note.values["metric"] == "recall(threshold=5)@3"


class Levels(AlgoBase):
    """Estimates of a few levels, so that some lists have ties."""

    def __init__(self, n_levels):
        super().__init__()
        self.n_levels = n_levels

    def estimate(self, u, i):
        if isinstance(u, str) or isinstance(i, str):  # unknown
            return 2.5
        return 1 + 3 * ((7 * u + 3 * i) % self.n_levels) / self.n_levels


@pytest.mark.parametrize(("n_levels", "whose"), [(2, "many"), (32, "some")])
def test_ties_decide_the_scores_of_many_users_from_a_third_of_them_on(n_levels, whose):
    own = {"name": f"{__name__}:Levels", "label": "own", "params": {"n_levels": n_levels}}
    config = {"dataset": DATA, "algorithms": [own], "metrics": ["ndcg@3"], "baselines": False}
    noted = run(config, results=None).info["notes"]
    (note,) = (each for each in noted if each.code == "ties-decide")
    assert note.values["whose"] == whose
    assert str(note).startswith(f"ndcg@3: ties decide the score of {whose} users: own (")
