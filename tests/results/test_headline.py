"""One metric decides which row is the best, wherever that is said."""

import json
from pathlib import Path

import pytest

import harness
from harness.config.experiment import Experiment, headline_of
from harness.errors import ConfigError
from harness.report import build_page, join
from harness.report.summary import summarise
from harness.results import read_run

# By the first cut SVD and the two others may be ordered in another way than by the second.
CONFIG = {
    "name": "heads",
    "dataset": {"synthetic": {"n_users": 60, "n_items": 40, "n_ratings": 1200}},
    "split": {"kind": "holdout", "test_size": 0.25},
    "algorithms": ["SVD", "ItemMean", "Random"],
    "metrics": ["rmse", "ndcg@1", "ndcg@10", "novelty@5"],
    "statistics": None,
    "baselines": False,
}


@pytest.fixture(
    scope="module",
    params=[
        None,
        pytest.param("ndcg@10", marks=pytest.mark.long),
        "rmse",
        pytest.param("novelty@5", marks=pytest.mark.long),
    ],
)
def run(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_CACHE", str(folder / "cache"))
        return harness.run(CONFIG | {"headline": request.param}, results=folder)


def expected(run):
    return run.info.config["headline"] or "ndcg@1"


@pytest.mark.sample(4)
def test_best_page_plots_and_comparison_agree(run):
    label = expected(run)
    assert run.info.headline == run.info.primary == label
    best = harness.best(run)
    assert f"{best.row.algorithm}: {label} " in best.evidence[1]
    summary = summarise(run)
    assert summary.primary == summary.metric(None) == label
    assert best.row.algorithm in summary.table(1).best(label)
    assert f"<option selected>{label}</option>" in build_page([run])
    other = harness.run(CONFIG | {"seed": 1, "headline": label}, results=None)
    assert join([run, other], anyway=True).info.primary == label
    assert harness.best(run, metric="ndcg@10").row.scores["ndcg@10"] is not None


def test_the_config_of_the_best_row_has_the_same_headline(run):
    for label in (None, *run.info.metrics):
        config = harness.best(run, metric=label).config
        headline = headline_of(config["metrics"], config.get("headline"))
        assert headline == (label or expected(run))
        assert Experiment.model_validate(config).headline in (None, headline)


def test_a_record_without_a_headline_follows_the_same_rule(run, tmp_path):
    record = json.loads((run.folder / "run.json").read_text())
    del record["headline"], record["config"]["headline"], record["sha256"]
    record["files"] = {}
    (tmp_path / "run.json").write_text(json.dumps(record))
    old = read_run(tmp_path)
    assert old.info.headline is None
    assert old.info.primary == "ndcg@1"


def test_a_record_with_a_headline_that_it_lacks_is_refused(run, tmp_path):
    record = json.loads((run.folder / "run.json").read_text())
    del record["sha256"]
    record["headline"] = "mae"
    (tmp_path / "run.json").write_text(json.dumps(record))
    with pytest.raises(harness.errors.ResultsError, match="the headline mae is not among"):
        read_run(tmp_path)


def test_a_headline_is_one_of_the_metrics(tmp_path):
    config = Path(tmp_path / "c.yaml")
    config.write_text(
        "dataset: bundled\nalgorithms: [SVD]\nmetrics: [ndcg@5, rmse]\nheadline: ndgc@5\n"
    )
    with pytest.raises(ConfigError, match=r"c.yaml:4: headline: 'ndgc@5' is not in `metrics`; did"):
        harness.run(config, results=None)
    again = CONFIG | {"headline": "NDCG@10", "metrics": ["rmse", "ndcg@1,10"]}
    assert Experiment.model_validate(again).headline == "ndcg@10"


@pytest.mark.parametrize(
    ("change", "metric"),
    [
        ({}, "ndcg@1"),
        ({"headline": "ndcg@10"}, "ndcg@10"),
        ({"metrics": ["rmse", "mae"]}, "rmse"),
        ({"headline": "novelty@5"}, "ndcg@10"),
        ({"metrics": ["novelty@5"]}, "ndcg@10"),
        ({"headline": "rmse", "tuning": {"trials": 3}}, "rmse"),
        ({"headline": "rmse", "tuning": {"metric": "ndcg@3"}}, "ndcg@3"),
        ({"algorithms": ["SVD"]}, "ndcg@10"),  # nothing is tuned
    ],
)
def test_a_search_selects_by_the_headline_where_it_can(change, metric):
    rows = [{"name": "SVD", "search": {"n_factors": [2, 5]}}]
    experiment = Experiment.model_validate(CONFIG | {"algorithms": rows} | change)
    assert experiment.tuning.metric == metric
    written = experiment.model_dump(mode="json")
    assert Experiment.model_validate(written) == experiment
