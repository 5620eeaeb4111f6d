"""The page of errata has every wrong number, and its arithmetic holds."""

import math
import re
from collections import defaultdict
from pathlib import Path
from statistics import mean, stdev

import numpy as np
import pytest
import surprise
from surprise.model_selection import train_test_split

from harness.extras.audit import checks
from harness.extras.reproduce import (
    Band,
    Quantity,
    compare,
    published,
    sources,
)

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "reproduced.md"
TEXT = PAGE.read_text(encoding="utf-8")
UNSEEN = 3.5238268742409184  # the mean of ua.base


def wrong_numbers():
    return [(each.source, wrong) for each in published() for wrong, _ in each.errata.values()]


def rows_of(heading):
    """Return the numbers of the table of a section, by the name of each row."""
    section = TEXT.split(f"## {heading}\n")[1].split("\n##")[0]
    rows = re.findall(r"^\| ([^|]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", section, re.M)
    return {name: tuple(map(float, numbers)) for name, *numbers in rows}


def test_the_page_names_every_source_with_an_erratum_and_each_number_of_it():
    for source, wrong in wrong_numbers():
        assert f"`{source}`" in TEXT
        if source != "hug-2020-compare":  # 13 estimates, which `harness reproduce` shows
            assert repr(wrong) in TEXT, (source, wrong)
    assert set(re.findall(r"\[`([\w-]+)`\]\(#", TEXT)) <= {*sources()}


def test_the_page_names_checks_that_exist_and_its_own_sections():
    overview = TEXT.split("*Its first line*")[0]
    named = re.findall(r"\| (?:`([\w-]+)`|none|its first line) \|$", overview, re.M)
    assert {*named} - {""} <= {*checks()}
    assert len(named) == 16
    slugs = {
        re.sub(r"[^\w -]", "", line).replace(" ", "-").lower()
        for line in re.findall(r"^#+ (.+)$", TEXT, re.M)
    }
    assert {*re.findall(r"\]\(#([\w-]+)\)", TEXT)} <= {slug.strip("-") for slug in slugs}


def test_two_unknown_items_as_minus_one_are_the_whole_difference():
    as_mark = (1 + 1) ** 2 + (5 + 1) ** 2
    as_mean = (1 - UNSEEN) ** 2 + (5 - UNSEEN) ** 2
    assert (as_mark - as_mean) / 9430 == pytest.approx(
        1.0886091212940086 - 1.0852738921517344, abs=1e-14
    )


def test_the_mse_is_the_square_of_what_is_called_mse():
    found = {each.what: each for each in published("poznan-lab")}
    assert found["SlopeOne"].expected["mse"] == pytest.approx(0.9648840238100149**2, abs=1e-12)
    mean_of_items = found["item mean"].expected
    assert mean_of_items["mse"] == pytest.approx(mean_of_items["rmse"] ** 2, abs=1e-12)


def test_f1_is_that_of_the_printed_means_and_the_rows_are_alike():
    rows = rows_of("A class compared with a string")
    assert len(rows) == 10
    for precision, recall, f1 in rows.values():
        assert f1 == pytest.approx(2 * precision * recall / (precision + recall), abs=1e-6)
    for column, figures in ((0, (0.5814, 0.0075)), (1, (0.1266, 0.0030))):
        values = [row[column] for row in rows.values()]
        assert (round(mean(values), 4), round(stdev(values), 4)) == figures
    printed = {each.what.split()[-1]: each for each in published("linksboy")}
    errata = sorted(wrong for each in printed.values() for wrong, _ in each.errata.values())
    errata.append(printed["Random"].expected)
    assert sorted(errata) == sorted(row[0] for row in rows.values())


def precision_and_recall(predictions):
    """Return the means over users by the rule of the script: 1 where there is nothing to divide."""
    of_user = defaultdict(list)
    for each in predictions:
        of_user[each.uid].append((each.est, each.r_ui))
    both = []
    for rows in of_user.values():
        best = sorted(rows, key=lambda row: row[0], reverse=True)[:5]
        relevant = sum(rating >= 4 for _, rating in rows)
        listed = sum(estimate >= 4 for estimate, _ in best)
        hits = sum(estimate >= 4 and rating >= 4 for estimate, rating in best)
        both.append((hits / listed if listed else 1, hits / relevant if relevant else 1))
    return np.mean(both, axis=0)


@pytest.mark.long
@pytest.mark.network
def test_all_ten_rows_are_draws_of_one_random_predictor(ml_100k):
    data, draws = ml_100k.to_surprise(), []
    for seed in range(10):
        train, test = train_test_split(data, test_size=0.75, random_state=seed)
        np.random.seed(seed)
        draws.append(precision_and_recall(surprise.NormalPredictor().fit(train).test(test)))
    assert surprise.SVD != "SVD"  # what the script compares
    for column in (0, 1):
        band = Band.of_one_more([float(draw[column]) for draw in draws])
        for row in rows_of("A class compared with a string").values():
            assert band.low <= row[column] <= band.high


def test_a_wrong_number_is_an_erratum_where_the_right_one_is_a_band():
    quantity = Quantity(
        source="s", what="x", expected=math.nan, errata={"": (0.58, "another algorithm")}
    )
    (finding,) = compare(quantity, Band(0.67, 0.76))
    assert (finding.verdict, finding.difference) == ("erratum", None)
    (finding,) = compare(quantity, Band(0.57, 0.76))
    assert finding.verdict == "differs"
