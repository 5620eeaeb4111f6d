"""Published numbers come out, wrong ones are errata, and nothing passes that was not run."""

import json
import math
from collections import Counter

import numpy as np
import pytest

import harness
from harness.config.yaml import bundled
from harness.errors import DownloadError
from harness.extras import reproduce
from harness.extras.reproduce import (
    Band,
    NotRun,
    Quantity,
    compare,
    published,
    sources,
    trained_runs,
)
from harness.results.cells import CellName, FailedCell

SOURCES = ["vincent-2018", "rectools-docs", "singh-2025", "nicolas-2022", "bellei-2017"]
SOURCES += ["recommenders-tests"]
ELSEWHERE = {"kane-2018", "great-learning", "singh-sidhu"}  # not of MovieLens 100K
NEED_RUNS = {"singh-2025", *sources()} - {*SOURCES[:2], *SOURCES[3:]}


@pytest.fixture(autouse=True)
def _no_copies(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where no copy is in `data`


def test_what_needs_no_training_comes_out_as_published():
    for source in SOURCES:
        verdicts = Counter(finding.verdict for finding in reproduce.reproduce(source))
        assert verdicts["differs"] == 0
        assert sum(verdicts.values()) - verdicts["not run"] >= 3


def test_the_worked_example_is_equal_to_twelve_digits():
    findings = reproduce.reproduce("vincent-2018")
    assert len(findings) == 9
    assert {finding.verdict for finding in findings} == {"equal"}
    assert all(abs(each.difference) < 1e-12 for each in findings if each.difference is not None)


def test_misprinted_means_are_errata_and_undefined_scores_stay_undefined():
    findings = reproduce.reproduce("bellei-2017")
    wrong = [each for each in findings if each.verdict == "erratum"]
    assert [(each.quantity, each.published, each.here) for each in wrong] == [
        ("reciprocal rank@3, mean", 0.333, 0.5),
        ("reciprocal rank@5, mean", 0.333, 0.5),
    ]
    assert all("(1 + 1/2 + 0)/3" in each.note for each in wrong)
    found = {each.quantity: each for each in findings}
    assert math.isnan(found["precision@3, user 4"].here)
    assert found["precision@3, user 4"].verdict == "equal"
    assert found["precision@3, user 3"].here == 0


def test_what_needs_a_run_is_not_run_and_never_equal():
    findings = [each for each in reproduce.reproduce() if each.here is None]
    assert {each.verdict for each in findings} == {"not run"}
    assert {each.source for each in findings} == NEED_RUNS


def test_a_run_is_asked_for_its_quantity_alone():
    def run(quantity):
        return {"rmse": 0.934, "mae": NotRun("no time")}

    findings = reproduce.reproduce("hug-2020", {("hug-2020", "ml-100k: SVD"): run})
    assert [(each.quantity, each.verdict, each.note) for each in findings[:2]] == [
        ("ml-100k: SVD rmse", "equal", findings[0].note),
        ("ml-100k: SVD mae", "not run", "no time"),
    ]
    assert findings[2].verdict == "not run"


VERDICTS = {"equal", "equal as printed", "truncated", "within the band", "erratum", "not run"}
VERDICTS |= {"another machine", "refused here", "named here"}
RIGHT = {"expected": 0.5, "errata": {"": (0.333, "their own sum is 0.5")}}
NO_RIGHT = {"expected": None, "errata": {"": (1.06, "ids of two types")}}
TIMED = {"expected": {"ndcg": 0.047, "runtime_s": 3.35}}


@pytest.mark.parametrize(
    ("printed", "here", "verdicts"),
    [
        ({"expected": 0.5}, 0.5 + 1e-13, ["equal"]),
        ({"expected": 0.93}, 0.934, ["equal as printed"]),
        ({"expected": 0.93}, 0.936, ["differs"]),
        ({"expected": 0.93}, math.nan, ["differs"]),
        ({"expected": None}, math.nan, ["equal"]),
        ({"expected": 0.047}, Band(0.046, 0.05), ["within the band"]),
        ({"expected": 0.047}, Band(0.048, 0.05), ["outside the band"]),
        ({"expected": [[1, 2]]}, [[1, 3]], ["differs"]),
        ({"expected": 0.801, "truncated": True}, 0.8019, ["truncated"]),
        ({"expected": 0.0}, "an error", ["refused here"]),
        (RIGHT, 0.5, ["erratum"]),
        (RIGHT, 0.4, ["differs"]),
        (NO_RIGHT, 0.8, ["erratum"]),
        (NO_RIGHT, 1.0601, ["differs"]),  # what was printed
        (TIMED, {"ndcg": 0.047, "runtime_s": 0.2}, ["equal", "another machine"]),
    ],
)
def test_verdicts(printed, here, verdicts):
    findings = compare(Quantity(source="s", what="x", **printed), here)
    assert [finding.verdict for finding in findings] == verdicts
    assert all(each.difference is None for each in findings if each.verdict == "another machine")


def test_sources_are_computed_in_the_order_of_the_command():
    chosen = "vincent-2018", "nicolas-2022"
    assert tuple(reproduce.Reproduction.of(*chosen, runs={}).findings) == chosen


def test_an_unknown_source_names_the_nearest(cli):
    code, _, err = cli("reproduce", "singh")
    assert code == 2
    assert "singh: unknown source; did you mean 'singh-2025'" in err


def test_the_band_holds_one_more_run_ninety_nine_times_in_a_hundred():
    draws = np.random.default_rng(7).normal(size=(4000, 11))
    bands = [Band.of_one_more(row[:10].tolist()) for row in draws]
    held = sum(band.low <= row[10] <= band.high for band, row in zip(bands, draws, strict=True))
    assert held / 4000 == pytest.approx(0.99, abs=0.006)


def test_every_quantity_is_computed_or_has_a_config_that_ships():
    assert [
        each.what for each in published() if not (each.config or each.order or each.metrics)
    ] == []
    assert {each.config for each in published()} - {""} <= bundled().keys()
    assert {source for source, _ in trained_runs()} == NEED_RUNS


@pytest.mark.long
def test_a_course_comes_out_as_published():
    done = reproduce.Reproduction.of("kane-2018", runs=trained_runs())
    assert done.counts == {"equal as printed": 13, "erratum": 1}


@pytest.mark.long
@pytest.mark.network
def test_every_source_comes_out_as_published(ml_100k):
    runs = trained_runs(ratings=ml_100k)
    for (source, what), run in trained_runs().items():
        if source in ELSEWHERE or "FilmTrust" in what:
            runs[source, what] = run
    done = reproduce.Reproduction.of(runs=runs)
    odd = [each for own in done.findings.values() for each in own if each.verdict not in VERDICTS]
    assert not odd
    not_run = [each for own in done.findings.values() for each in own if each.verdict == "not run"]
    of_not_run = Counter(each.source for each in not_run)
    most = {"singh-2025": 2, "cortes-2020": 1, "singh-sidhu": 2, "orange3-docs": 6}
    assert all(count <= most.get(source, 0) for source, count in of_not_run.items())
    exact = {"graham-2019", "argyriou-2020", "gantner-2011", "hug-2020-notebook", "hug-2020"}
    orange = [each for each in done.findings["orange3-docs"] if each.difference is not None]
    assert all(abs(each.difference) < 5e-4 for each in orange)  # also of what is printed as 1.000
    exact |= {"hug-2018", "hug-2020-start", "great-learning", "segura", "caiwanxian"}
    found = {each.verdict for source in exact for each in done.findings[source]}
    assert found <= {"equal", "equal as printed"}
    assert {each.verdict for each in done.findings["hug-2020-faq"]} == {"equal"}
    made_up = Counter(each.verdict for each in done.findings["schnabel-2016-mae"])
    assert made_up == {"within the band": 35}
    agree, printed = done.digits
    assert agree == printed > 1500
    parsed = json.loads(done.to_json())
    assert [each["source"] for each in parsed["sources"]] == [*sources()]


def test_of_a_number_that_differs_the_leading_digits_agree():
    def found(printed, here):
        (finding,) = compare(Quantity(source="s", what="x", expected=printed), here)
        return reproduce.Reproduction({"s": [finding]}, {"s": 0.0}).digits

    assert found(0.9344, 0.9344) == (4, 4)
    assert found(0.9344, 0.93441) == (4, 4)
    assert found(0.9344, 0.9352) == (2, 4)
    assert found(0.9344, 9.3442) == (0, 4)
    assert found(491.5768, 491.58) == (4, 7)
    assert found(math.nan, 0.5) == (0, 0)


def test_data_that_cannot_be_had_is_not_run_and_never_a_pass(monkeypatch):
    def fail(*arguments, **options):
        raise DownloadError("ml-100k: could not be fetched\n  every source failed")

    monkeypatch.setattr("harness.run", fail)
    found = reproduce.reproduce("hug-2020", trained_runs())
    assert {finding.verdict for finding in found} == {"not run"}
    assert {finding.note for finding in found} == {"ml-100k: could not be fetched"}


def test_a_config_is_run_once_and_a_row_averaged_over_folds_unless_it_failed(monkeypatch):
    run, runs = harness.run, []
    config = {
        "dataset": {"synthetic": {"n_users": 30, "n_items": 20, "n_ratings": 300}},
        "split": {"kind": "kfold", "n_splits": 3},
        "algorithms": ["BaselineOnly", {"name": "Random", "label": "SVD"}],
        "metrics": ["rmse", "mae"],
        "statistics": None,
    }

    def small(*arguments, **options):
        done = run(config, results=None)
        for number, cell in enumerate(done.info.cells):
            if cell.algorithm == "SVD":
                names = {key: cell[key] for key in CellName.model_fields}
                done.info.cells[number] = FailedCell(**names, error="out of memory")
        runs.append(done)
        return done

    monkeypatch.setattr("harness.run", small)
    found = {each.quantity: each for each in reproduce.reproduce("hug-2020", trained_runs())}
    (done,) = runs
    expected = done.table.set_index("algorithm").loc["BaselineOnly", "rmse"]
    assert found["ml-100k: BaselineOnly rmse"].here == pytest.approx(expected, abs=1e-15)
    failed = found["ml-100k: SVD rmse"]
    assert (failed.verdict, failed.note) == ("not run", "out of memory")


def test_the_command_shows_an_erratum_with_its_reason(cli):
    code, out, _ = cli("reproduce", "bellei-2017", "--no-runs")
    assert code == 0
    erratum = next(line for line in out.splitlines() if "reciprocal rank@3, mean" in line)
    assert {"erratum", "0.333", "0.5"} <= set(erratum.split())


def test_documents_are_named_by_author_and_year(cli):
    _, out, _ = cli("reproduce", "--no-runs")
    assert "Claudio Bellei, 2017: The confusion over information retrieval metrics" in out
    assert "seed-0" not in out
    words = cli("reproduce", "--help")[1].split()
    assert set(sources()) <= {word.strip(",;") for word in words}


def test_a_band_says_what_it_is_and_what_the_seeds_gave(cli, monkeypatch):
    key = ("singh-2025", "explicit table: SVD")
    band = {"ndcg": Band.of_one_more([0.0462, 0.0557, 0.05]), "runtime_s": 1.0}
    monkeypatch.setattr(
        "harness.extras.reproduce.trained_runs", lambda watch: {key: lambda quantity: band}
    )
    _, out, _ = cli("reproduce", "singh-2025", "--quiet")
    assert "3 seeds gave 0.0462 to 0.0557" in out
    assert "99% prediction interval of one more seed" in " ".join(out.split())


def test_implicit_tables_say_what_they_need():
    quantity = next(q for q in published("singh-2025") if q.what.startswith("implicit"))
    answer = trained_runs()[quantity.source, quantity.what](quantity)
    assert isinstance(answer, NotRun)
    assert "lastfm-implicit.yaml" in answer.why
