"""Published numbers come out, wrong ones are errata, and nothing passes that was not run."""

import math
from collections import Counter

import numpy as np
import pytest

from harness import reproduce
from harness.errors import ResultsError
from harness.reproduce import Band, NotRun, Quantity
from harness.reproduce.findings import compare

SOURCES = ["vincent-2018", "rectools-docs", "singh-2025", "nicolas-2022", "bellei-2017"]


@pytest.mark.parametrize("source", SOURCES)
def test_what_needs_no_training_comes_out_as_published(source):
    findings = reproduce.reproduce(source)
    verdicts = Counter(finding.verdict for finding in findings)
    assert verdicts["differs"] == 0
    assert sum(verdicts.values()) - verdicts["not run"] >= 3


def test_the_worked_example_is_equal_to_twelve_digits():
    findings = reproduce.reproduce("vincent-2018")
    assert len(findings) == 9
    assert {finding.verdict for finding in findings} == {"equal"}
    assert all(abs(each.difference) < 1e-12 for each in findings if each.difference is not None)


def test_the_misprinted_means_of_reciprocal_rank_are_errata():
    wrong = [each for each in reproduce.reproduce("bellei-2017") if each.verdict == "erratum"]
    assert [(each.quantity, each.published, each.here) for each in wrong] == [
        ("reciprocal rank@3, mean", 0.333, 0.5),
        ("reciprocal rank@5, mean", 0.333, 0.5),
    ]
    assert all("(1 + 1/2 + 0)/3" in each.note for each in wrong)


def test_undefined_scores_are_published_as_undefined():
    findings = {each.quantity: each for each in reproduce.reproduce("bellei-2017")}
    assert math.isnan(findings["precision@3, user 4"].here)
    assert findings["precision@3, user 4"].verdict == "equal"
    assert findings["precision@3, user 3"].here == 0


def test_what_needs_a_run_is_not_run_and_never_equal():
    findings = [each for each in reproduce.reproduce() if each.here is None]
    assert {each.verdict for each in findings} == {"not run"}
    assert {each.source for each in findings} == {"singh-2025", "microsoft", "surprise"}


def test_a_run_is_asked_for_its_quantity_alone():
    def run(quantity):
        return {"rmse": 0.934, "mae": NotRun("no time")}

    findings = reproduce.reproduce("surprise", {("surprise", "ml-100k: SVD"): run})
    assert [(each.quantity, each.verdict, each.note) for each in findings[:2]] == [
        ("ml-100k: SVD rmse", "equal", findings[0].note),
        ("ml-100k: SVD mae", "not run", "no time"),
    ]
    assert findings[2].verdict == "not run"


@pytest.mark.parametrize(
    ("printed", "here", "verdict"),
    [
        (0.5, 0.5 + 1e-13, "equal"),
        (0.93, 0.934, "equal as printed"),
        (0.93, 0.936, "differs"),
        (0.93, math.nan, "differs"),
        (None, math.nan, "equal"),
        (0.047, Band(0.046, 0.05), "within the band"),
        (0.047, Band(0.048, 0.05), "outside the band"),
        ([1, 2], [1, 3], "differs"),
    ],
)
def test_verdicts(printed, here, verdict):
    printed = [printed] if isinstance(printed, list) else printed
    here = [here] if isinstance(here, list) else here
    [finding] = compare(Quantity("s", "x", {}, printed), here)
    assert finding.verdict == verdict


def test_running_times_are_shown_but_not_judged():
    quantity = Quantity("s", "x", {}, {"ndcg": 0.047, "runtime_s": 3.35})
    ndcg, seconds = compare(quantity, {"ndcg": 0.047, "runtime_s": 0.2})
    assert (ndcg.verdict, seconds.verdict, seconds.difference) == ("equal", "another machine", None)


def test_an_erratum_holds_only_where_the_right_value_comes_out():
    quantity = Quantity("s", "x", {}, 0.5, errata={"": (0.333, "their own sum is 0.5")})
    assert compare(quantity, 0.5)[0].verdict == "erratum"
    assert compare(quantity, 0.4)[0].verdict == "differs"


def test_an_unknown_source_names_the_nearest():
    with pytest.raises(ResultsError, match="vincent: unknown source; did you mean 'vincent-2018"):
        reproduce.reproduce("vincent")


def test_the_band_holds_one_more_run_ninety_nine_times_in_a_hundred():
    draws = np.random.default_rng(7).normal(size=(4000, 11))
    bands = [Band.of_one_more(row[:10].tolist()) for row in draws]
    held = sum(band.low <= row[10] <= band.high for band, row in zip(bands, draws, strict=True))
    assert held / 4000 == pytest.approx(0.99, abs=0.006)
