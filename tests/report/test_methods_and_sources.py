"""The methods paragraph says what the config says, and every source it cites is listed."""

import csv
import hashlib
import re
from importlib import metadata
from typing import NamedTuple

import pytest

import harness
from harness.algorithms import registry
from harness.candidates.base import Catalogue, Rated
from harness.candidates.sampled import Sampled
from harness.config.experiment import Experiment
from harness.config.yaml import parse
from harness.datasets.catalogue import CATALOGUE
from harness.metrics.labels import definition
from harness.plugins import registry as plugins
from harness.report.methods import ASSETS, all_sources, checklist, cited_in, methods, to_markdown
from harness.results.record import RunInfo

DOI = re.compile(r"doi:(10\.[^\s;,)]+[^\s;,).])")


class Changed(NamedTuple):
    """A run with another record."""

    info: RunInfo


def said(run, **changes):
    """Return the paragraphs of a run whose config is changed, by heading."""
    given = {"name": "x", "dataset": "ml-100k", "algorithms": ["SVD"], "metrics": ["ndcg@10"]}
    config = Experiment.model_validate(given | changes).model_dump(mode="json")
    labels = changes.get("metrics", run.info.metrics)
    info = run.info.model_copy(update={"config": config, "metrics": labels})
    return dict(methods(info).paragraphs)


SENTENCES = {
    "split": [
        ("{test_size: 0.25}", "25% of the ratings, sampled at random as by Surprise"),
        (
            "{train_size: 0.75, random_state: 42, like: sklearn}",
            "All but 75% of the ratings, sampled at random as by scikit-learn (random_state 42)",
        ),
        ("{kind: kfold, n_splits: 4}", "split at random into 4 folds, each the test"),
        ("{kind: repeated-kfold, n_repeats: 3}", "at random into 5 folds, 3 times"),
        ("{kind: leave-n-out, n: 2}", "2 ratings of each user, sampled at random"),
        ("{kind: leave-n-out, choose: latest}", "1 rating of each user, the latest"),
        ("{kind: user-fraction, fraction: 0.3}", "30% of each user's ratings"),
        ("{kind: global-time}", "the moment on that 80% of the ratings come before"),
        (
            "{kind: rolling, origins: [0.5, 1998-01-01], window: 90 days}",
            "(after 50% of the ratings, 1998-01-01), the latest 90 days of ratings before it are",
        ),
        ("{kind: global-time, date: '1998-01-01'}", "Ratings from 1998-01-01 on"),
        ("{kind: user-holdout, given: 5}", "For 20% of the users, sampled at random, 5 of"),
        (
            "{kind: predefined, test: u1.test}",
            "the test set is read from u1.test, all other ratings",
        ),
    ],
    "candidates": [
        ("rated", "Each user's own test ratings are ranked."),
        ("catalogue", "those that the user rated in training left out"),
        ("{kind: catalogue, training_items: keep}", "rated in training included"),
        ("{kind: sampled, n: 99}", "among 99 items sampled at random"),
        ("sampled", "biased (Krichene and Rendle 2020)"),
    ],
    "metrics": [
        ("[ndcg@10]", "gain / log2(i + 1)` with gain `2^rel − 1`"),
        ("['ndcg(gain=linear, undefined=0)@10']", "with gain rel, rel the true rating"),
        ("['ndcg(gain=linear, undefined=0)@10']", "without a relevant item are counted as 0"),
        ("['ndcg(gain=binary(4), ties=first)@10']", "gain 1 from relevance 4 on"),
        ("['ndcg(gain=binary(4), ties=first)@10']", "estimates are in input order"),
        ("['ndcg(discount=reciprocal)@10']", "gain / i` with gain"),
        ("['ndcg(base=e)@10']", "gain / ln(i + 1)"),
        ("['ndcg(offset=2)@10']", "Also offset=2."),
        ("['recall(threshold=4)@10']", "Here with threshold=4."),
    ],
}


@pytest.mark.parametrize(
    ("key", "value", "sentence"), [(k, *each) for k, own in SENTENCES.items() for each in own]
)
def test_every_choice_has_its_sentence(plain_run, key, value, sentence):
    value = parse(f"value: {value}", "test").data["value"]
    value = {"kind": "holdout"} | value if key == "split" else value
    assert sentence in said(plain_run, **{key: value})[key.capitalize()]


@pytest.mark.parametrize("section", [Rated, Catalogue, Sampled])
def test_every_option_of_every_kind_of_candidates_changes_its_sentence(section):
    others = {"training_items": "keep", "unknown_users": "drop", "unknown_items": "drop", "n": 7}
    others |= {"least_estimate": 3.5, "list_ties": "training", "by": "popularity"}
    options = {key: others[key] for key in section.model_fields if key != "kind"}
    changed = [section(**{key: value}).sentence() for key, value in options.items()]
    assert len({section().sentence(), *changed}) == len(options) + 1


def test_data_algorithms_and_tuning_are_described_with_parameters_and_sources(plain_run):
    algorithms = [
        {"name": "SVD", "label": "small", "params": {"n_factors": 5}},
        {"name": "KNNBaseline", "search": "recommended"},
        {"name": "my_package.models:Best"},
    ]
    text = said(plain_run, algorithms=algorithms, tuning={"trials": 1})
    for heading, sentence in (
        ("Data", "MovieLens 100K (Harper and Konstan 2015) holds 100,000 ratings of 1,682 items "),
        ("Data", "by 943"),
        ("Split", "Training sets hold 50,000 ratings, test sets 50,000."),
        ("Algorithms", "SVD (Koren et al. 2009) [shown as small; n_factors=5]"),
        ("Algorithms", "KNNBaseline (Koren 2010) [tuned]"),
        ("Algorithms", "Models of other code: my_package.models:Best."),
        ("Algorithms", "Non-personalised baselines: Random and Popularity."),
        ("Tuning", "KNNBaseline were tuned by random search (Bergstra"),
        ("Tuning", "a budget of 1 trial for each algorithm, fold and seed"),
    ):
        assert sentence in text[heading]


def test_one_training_rating_is_counted_as_one(plain_run):
    for sizes, text in (([1, 1], "1 rating, test"), ([1, 3], "1 to 3 ratings, test")):
        first = plain_run.info.splits[0]
        splits = [first.model_copy(update={"n_train": n}) for n in sizes]
        info = plain_run.info.model_copy(update={"splits": splits})
        found = dict(methods(info).paragraphs)["Split"]
        assert f"Training sets hold {text} sets 50,000." in found


def test_tuning_names_spaces_validation_and_the_trials_that_were_made(plain_run):
    for cell in plain_run.info.cells:
        cell.n_trials = {"SVD": 7, "BaselineOnly": 5}.get(cell.algorithm, 0)
    algorithms = [
        {"name": "SVD", "search": {"n_factors": [5, 10], "lr_all": {"low": 0.01, "high": 0.1}}},
        {"name": "BaselineOnly", "search": "recommended"},
        {"name": "SlopeOne", "search": "recommended"},
    ]
    split = {"kind": "global-time", "validation": {"kind": "global-time", "quantile": 0.9}}
    text = said(plain_run, algorithms=algorithms, split=split, tuning={"trials": 7})
    for sentence in (
        "Parameters of SVD and BaselineOnly were tuned",
        "Trials of each search: 7 of SVD and 5 of BaselineOnly.",
        "SVD: n_factors from 5 and 10, lr_all from 0.01 to 0.1",
        "BaselineOnly: bsl_options.reg_u from",
        "90% of the ratings come before are the validation set",
        "SlopeOne has nothing to tune.",
    ):
        assert sentence in text["Tuning"]
    by_default = said(plain_run, algorithms=algorithms, split="global-time")["Tuning"]
    assert "80% of the ratings come before are the validation set" in by_default
    shared = "fold and seed; an algorithm that no seed of the fit changes was searched once for all"
    assert shared in said(plain_run, algorithms=algorithms, seeds={"model": 2})["Tuning"]
    assert "searched once" not in text["Tuning"]
    timed = said(plain_run, algorithms=algorithms, tuning={"seconds": 1})["Tuning"]
    assert "a budget of 1 second for each algorithm, fold and seed. The setting" in timed
    assert "SlopeOne (Lemire and Maclachlan 2005)." in text["Algorithms"]


def test_a_run_stores_what_its_methods_say_of_spaces_unknown_ones_and_packages():
    ratings = harness.load({"synthetic": {"n_users": 30, "n_items": 40, "n_ratings": 200}})
    config = {
        "dataset": "bundled",
        "split": {"kind": "holdout", "shuffle": False},
        "algorithms": [{"name": "BaselineOnly", "search": "recommended"}, "SlopeOne"],
        "tuning": {"trials": 1},
        "metrics": ["ndcg@10", "rmse"],
    }
    info = RunInfo.checked(harness.run(config, ratings=ratings, results=None).info.model_dump())
    assert info.spaces == {"BaselineOnly": registry.entry("BaselineOnly").space}
    (first, second) = (ratings.users.tolist(), ratings.items.tolist())
    known, asked = (range(160), range(160, 200))
    users, items = {first[i] for i in known}, {second[i] for i in known}
    tested = {first[i] for i in asked}
    unknown = len(tested - users) / len(tested), sum(second[i] not in items for i in asked) / 40
    assert info.splits[0].unknown == pytest.approx(unknown)
    text = dict(methods(info).paragraphs)
    assert f"{100 * unknown[0]:.1f}% of the test users have no training rating" in text["Split"]
    assert (
        f"{100 * unknown[1]:.1f}% of the test ratings are of an item without a training rating"
        in text["Split"]
    )
    impossible = sum(each.n_impossible for each in info.finished) / (4 * 40)
    assert (
        f"{100 * impossible:.1f}% of the estimates of test ratings were impossible"
        in text["Candidates"]
    )
    assert "For each metric and table, 6 pairs were compared." in text["Inference"]
    listed = (metadata.distribution("numba").read_text("RECORD") or "").splitlines()
    rows = [row for row in csv.reader(listed) if row[1] and ".dist-info/" not in row[0]]
    lines = sorted(f"{path} {hash.partition('=')[2]}" for path, hash, _ in rows if path[0] != ".")
    assert info.packages["numba"] == hashlib.sha256("\n".join(lines).encode()).hexdigest()
    assert info.packages["harness"] != info.packages["numba"]


@pytest.mark.parametrize(
    ("n_impossible", "sentence"),
    [
        (0, "No estimate of a test rating was impossible."),
        (1, "1 of the estimates of test ratings was impossible; the default"),
        (20, "20 of the estimates of test ratings were impossible; the default"),
        (5_000, "3.3% of the estimates of test ratings were impossible; the default"),
    ],
)
def test_few_impossible_estimates_are_counted(plain_run, n_impossible, sentence):
    for cell in plain_run.info.cells:
        cell.n_impossible = n_impossible * (cell.algorithm == "SVD")
    assert sentence in dict(methods(plain_run.info).paragraphs)["Candidates"]


def test_filtered_data_are_counted_as_the_filters_leave_them():
    config = {
        "dataset": "bundled",
        "filters": [{"kind": "first-users", "n": 30}],
        "algorithms": ["Random"],
        "metrics": ["rmse"],
    }
    info = harness.run(config, results=None).info
    left = f"of {info.descriptions[0].n_items:,} items by 30 users"
    assert left in dict(methods(info).paragraphs)["Data"]


def answers(info):
    """Return what a checklist answers, by the end of the question; None for no answer."""
    found = {}
    entry = re.compile(r"^- \[(.)\] \*\*(.*)\*\*\n  (.+)$", re.MULTILINE)
    for ticked, question, answer in entry.findall(checklist(info)):
        assert (ticked == " ") == (answer == "not in this run")
        found[" ".join(question.split()[-3:])] = None if ticked == " " else answer
    return found


def test_a_checklist_is_answered_by_the_run_or_not_at_all(plain_run, nasty):
    found = answers(plain_run.info)
    assert len(found) == checklist(plain_run.info).count("**") // 2 > 20
    unanswered = {"one data set?", "seed or fold?", "on which part?", "Which code?"}
    unanswered |= {"of single users?", "are not personalised?"}  # all rows are SVD, so called
    assert {question for question, answer in found.items() if answer is None} == unanswered
    assert "ab" * 32 in found["Which version exactly?"]
    alike = "no: SVD, BaselineOnly and Random as the config has them"
    assert found["tune, baselines too?"] == alike
    assert found["every cell finish?"] == "yes, all 3"
    other = answers(nasty.info)
    assert other["every cell finish?"] == "no: 4 of 24 failed"
    assert other["seed or fold?"] == "1 seed, 2 folds and seeds in all"
    text = to_markdown(nasty.info)
    for heading, _ in methods(nasty.info).paragraphs:
        assert f"\n## {heading}\n" in text
    assert methods(nasty.info).bibtex in text


def test_the_test_its_correction_and_bounds_of_p_values_are_named(plain_run):
    assert not {"Tuning", "Inference"} & set(said(plain_run, statistics=None))
    statistics = {"test": "t", "correction": "benjamini-hochberg", "confidence": 0.9}
    text = said(plain_run, statistics=statistics)["Inference"]
    assert "by Student's paired t-test over users" in text
    assert "(Benjamini and Hochberg 1995) at level 0.1" in text
    assert "90% intervals are BCa" in text
    assert "Holm" not in text
    assert "level 0.1; a user's scores in several folds or seeds were averaged first." in text
    bounds = [pair.p_is_bound for each in plain_run.info.statistics for pair in each.pairs]
    text = said(plain_run)["Inference"]
    assert ("A p-value is an upper bound if no" in text) == any(bounds)
    plain_run.info.statistics[0].claim = "algorithms"
    text = said(plain_run, statistics={"test": "nadeau-bengio"})["Inference"]
    assert "by the corrected t-test over folds and seeds" in text
    assert "averaged" not in text  # it compares the means of folds


def test_what_is_computed_from_moments_is_told_from_what_is_resampled(plain_run):
    resampled = plain_run.info.statistics[0]
    computed = resampled.model_copy(update={"from_moments": True})
    assert "from 10,000 resamples. Algorithms" in said(plain_run)["Inference"]
    changed = Changed(plain_run.info.model_copy(update={"statistics": [resampled, computed]}))
    text = said(changed)["Inference"]
    assert "from 10,000 resamples, and from moments with many users. With 2,000 users" in text
    assert "expansion (Cornish and Fisher 1938; DiCiccio and Efron 1996)" in text
    assert "by a saddlepoint approximation (Lugannani and Rice 1980; Robinson 1982); where" in text
    changed = Changed(plain_run.info.model_copy(update={"statistics": [computed]}))
    text = said(changed)["Inference"]
    assert "from moments, as of infinitely many resamples. With" in text
    assert "upper bound if no random sign" not in text
    assert "Robinson" not in said(changed, statistics={"test": "t"})["Inference"]


def test_every_citation_of_the_text_is_listed_and_every_entry_cited(nasty):
    account = methods(nasty.info)
    text = " ".join(text for _, text in account.paragraphs)
    groups = re.findall(r"\(([^()]*\b(?:19|20)\d\d(?:; [^()]*)?)\)", text)
    cited = {each.strip() for group in groups for each in group.split(";")}
    assert cited == {each.cite for each in account.sources}
    assert all(each.bibtex in account.bibtex for each in account.sources)


@pytest.mark.parametrize("name", plugins.builtin_names("metrics"))
def test_every_metric_has_its_sources_in_the_bibliography(name):
    text = definition(name).source
    found = cited_in(text)
    assert len(found) == len(text.split("; "))
    links = {all_sources()[key].link for key in found}
    assert {f"https://doi.org/{doi}" for doi in DOI.findall(text)} <= links


@pytest.mark.parametrize("name", [name for name, each in CATALOGUE.items() if each.citation])
def test_every_data_set_has_its_source_in_the_bibliography(name):
    assert len(cited_in(CATALOGUE[name].citation)) == 1


def test_the_bibliography_is_whole_and_each_key_is_there_once():
    of_data = (f"\n{each.bibtex}\n" for each in CATALOGUE.values() if each.bibtex)
    text = "".join([(ASSETS / "sources.bib").read_text(encoding="utf-8"), *of_data])
    keys = re.findall(r"^@\w+\{([^,]+),$", text, re.MULTILINE)
    assert keys == list(all_sources())
    assert "".join(f"{each.bibtex}\n\n" for each in all_sources().values()) == text + "\n"
    assert len(set(keys)) == len(keys)
    for entry in all_sources().values():
        assert entry.bibtex.count("{") == entry.bibtex.count("}")
        assert all((entry.authors, entry.fields["title"], entry.venue))
        assert re.fullmatch(r"(19|20)\d\d", entry.fields["year"])
        assert entry.bibtex.isascii()
        assert not set("{\\") & set(entry.reference + entry.cite)
    assert all_sources()["jarvelin2002cumulated"].cite == "Järvelin and Kekäläinen 2002"
    assert "Matúš Medo" in all_sources()["zhou2010solving"].authors
