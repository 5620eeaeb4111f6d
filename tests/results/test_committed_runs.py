"""The tables of the committed runs hold the numbers of their users, and the users are those."""

from pathlib import Path

import pandas as pd
import pytest

import harness
from harness import metrics
from harness.results.scores import is_mean_of_users

RESULTS = Path(__file__).parents[2] / "results"
RUNS = sorted(path.parent.name for path in RESULTS.glob("*/run.json"))


@pytest.mark.long
@pytest.mark.parametrize("name", RUNS)
def test_values_are_means_over_the_number_of_users_beside_them(name):
    run = harness.read_run(RESULTS / name)
    written = pd.read_csv(RESULTS / name / "table.csv")
    assert written["n_users"].tolist() == run.table["n_users"].tolist()
    by_row = run.users.groupby("row", sort=False)
    counts = by_row["user"].nunique()
    assert dict(zip(run.table["row"], written["n_users"], strict=True)) == counts.to_dict()
    for label in filter(lambda label: is_mean_of_users(metrics.parse(label)), run.info.metrics):
        means = run.users.groupby(["row", "user"])[label].mean().groupby("row").mean()
        values = dict(zip(run.table["row"], written[label], strict=True))
        assert values == pytest.approx(means.to_dict(), abs=6e-9, nan_ok=True), label


def test_the_markdown_table_has_the_same_numbers_of_users():
    assert RUNS
    for name in RUNS:
        written = pd.read_csv(RESULTS / name / "table.csv")
        lines = (RESULTS / name / "table.md").read_text(encoding="utf-8").splitlines()
        heads = [line for line in lines if line.startswith("| algorithm")]
        last = [line.split("|")[-2].strip() for line in lines if line.startswith("| ")]
        assert {head.split("|")[-2].strip() for head in heads} == {"users"}, name
        assert [int(text) for text in last if text.isdigit()] == written["n_users"].tolist(), name
