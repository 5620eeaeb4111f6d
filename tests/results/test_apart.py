"""Numbers on different test ratings never stand in one column, and a column has equal decimals."""

import re

import pytest

import harness
from harness.report import join
from harness.results.runs import to_markdown
from harness.results.table import display_table, divided

CONFIG = {
    "algorithms": ["ItemMean", "BaselineOnly", "Random"],
    "metrics": ["ndcg@5", "rmse"],
    "baselines": False,
    "candidates": ["rated", "catalogue"],
}


def run(name, n_users, **changes):
    data = {"synthetic": {"n_users": n_users, "n_items": 60, "n_ratings": 20 * n_users}}
    return harness.run({"name": name, "dataset": data, **CONFIG, **changes}, results="runs")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("apart")
        patch.chdir(folder)
        patch.setenv("HARNESS_CACHE", str(folder / "cache"))
        others = {
            "data": run("other", 400),
            "split": run("split", 30, split={"kind": "item-fraction"}),
        }
        yield folder, run("one", 30), others


def decimals(texts):
    return {len(n) for text in texts for n in re.findall(r"\d+\.(\d+)", text)}


@pytest.mark.parametrize("part", ["data", "split"])
@pytest.mark.parametrize("swapped", [False, True])
def test_a_comparison_of_other_data_or_splits_has_a_table_for_each(runs, part, swapped):
    _, first, others = runs
    joined = join([others[part], first] if swapped else [first, others[part]], anyway=True)
    tables = divided(display_table(joined.info))
    assert len(tables) == len(joined.info.tables) == 4
    assert len({table.title for table in tables}) == 4
    for table in tables:
        assert not {"dataset", "split", "candidates"} & {*table.columns}
        for label in joined.info.metrics:
            assert len(decimals(table.frame[label])) == 1
        assert {row[0] for row in table.rows} >= {*CONFIG["algorithms"]}
    shown = {row["algorithm"] for table in tables for row in table.frame.to_dict("records")}
    assert shown >= {*CONFIG["algorithms"]}
    assert to_markdown(joined.info).count("| algorithm |") == 4
    assert joined._repr_html_().count("<table") == 4


def test_the_terminal_and_markdown_keep_them_apart(runs, cli, monkeypatch):
    folder, *_ = runs
    monkeypatch.chdir(folder)
    code, out, _ = cli("compare", "one", "other", "--anyway")
    assert code == 0
    heads = [line for line in out.splitlines() if line.startswith("algorithm")]
    assert len(heads) == 4
    assert not any("dataset" in head for head in heads)
    assert out.count("dataset: ") == 4


def test_candidates_of_one_split_stay_in_one_table(runs, cli, monkeypatch):
    folder, *_ = runs
    monkeypatch.chdir(folder)
    _, out, _ = cli("table", "one")
    assert len([line for line in out.splitlines() if line.startswith("algorithm")]) == 1
