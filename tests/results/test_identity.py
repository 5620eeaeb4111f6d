"""Tables and rows are known by what they are of, whatever they are called."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import harness
from harness.config.experiment import AlgorithmConfig
from harness.errors import ComparisonError, ConfigError
from harness.report import build_page, join, latex

SMALL = {
    "dataset": {"synthetic": {"n_users": 30, "n_items": 20, "n_ratings": 250}},
    "split": {"kind": "kfold", "n_splits": 2},
    "algorithms": ["BaselineOnly", "ItemMean"],
    "metrics": ["ndcg@3", "rmse"],
    "statistics": {"resamples": 100},
    "baselines": False,
}
NAMES = ["dataset", "split", "candidates"]
VALUES = ["ndcg@3", "ndcg@3_low", "ndcg@3_high", "ndcg@3_letters", "rmse", "n_users", "n_cells"]


def synthetic(seed):
    return {"synthetic": SMALL["dataset"]["synthetic"] | {"seed": seed}}


def run(**changes):
    return harness.run(SMALL | changes, results=None)


def values(*runs):
    """Return the values of every row, by identity, in one order."""
    rows = pd.concat([each.table for each in runs]).set_index("row")[VALUES]
    return rows.sort_index()


def write_ratings(path, shift):
    path.parent.mkdir(parents=True, exist_ok=True)
    frame = harness.load(synthetic(shift)).to_frame()
    frame.to_csv(path, index=False)
    return str(path)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    return [write_ratings(folder / name / "ratings.csv", i) for i, name in enumerate("ab")]


KFOLD = {"kind": "kfold", "n_splits": 2}
DRAWN = [KFOLD | {"random_state": state} for state in (1, 2)]
ONE_OUT = [{"kind": "leave-n-out", "too_few": each} for each in ("train", "drop")]
KNOWN = {"kind": "rated", "unknown_users": "drop"}


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("key", "entries", "expected"),
    [
        ("dataset", None, ["a/ratings.csv", "b/ratings.csv"]),
        ("dataset", [synthetic(0), synthetic(1)], ["synthetic", "synthetic (seed 1)"]),
        ("split", DRAWN, [f"2-fold (random_state {state})" for state in (1, 2)]),
        ("split", [KFOLD, DRAWN[1]], ["2-fold", "2-fold (random_state 2)"]),
        ("split", ONE_OUT, [f"leave-1-out random (too_few {x})" for x in ("train", "drop")]),
        ("candidates", ["rated", KNOWN], ["rated", "rated, known users"]),
    ],
)
def test_a_list_of_two_gives_the_rows_of_two_runs(key, entries, expected, files):
    entries = entries or files
    both = run(**{key: entries})
    alone = [run(**{key: entry}) for entry in entries]
    pd.testing.assert_frame_equal(values(both), values(*alone))
    assert list(dict.fromkeys(both.table[key])) == expected
    bounds = pd.concat([each.bounds for each in alone])
    labels = both.bounds.columns.intersection(["ndcg@3", "ndcg@3_sd"])
    assert both.bounds[labels].to_numpy().tolist() == bounds[labels].to_numpy().tolist()
    for part in ("table", "row"):
        users = [each.users[part].value_counts() for each in (both, *alone)]
        pd.testing.assert_series_equal(users[0].sort_index(), pd.concat(users[1:]).sort_index())
    for record, part in (("conventions", "rows"), ("ties", "rows"), ("statistics", "pairs")):
        own = [entry[part] for each in alone for entry in each.info[record]]
        assert [entry[part] for entry in both.info[record]] == own


@pytest.mark.long
@settings(max_examples=8, deadline=None, derandomize=True)
@given(data=st.data())
def test_any_lists_give_the_rows_of_runs_of_their_entries(data):
    def two(entries):
        return data.draw(st.lists(st.sampled_from(entries), min_size=1, max_size=2, unique_by=str))

    ways = ({"random_state": 1}, {"random_state": 2}, {"shuffle": False})
    splits = [{"kind": "holdout", "test_size": 0.3, **way} for way in ways]
    lists = {"dataset": two([synthetic(0), synthetic(1)]), "split": two(splits)}
    lists["candidates"] = two(["rated", "catalogue"])
    changes = {"algorithms": ["BaselineOnly"], "metrics": ["ndcg@3", "rmse"], "statistics": None}
    both = run(**changes, **lists)
    parts = (dict(zip(lists, each, strict=True)) for each in itertools.product(*lists.values()))
    alone = pd.concat([run(**changes, **each).table for each in parts])
    found, expected = (
        each.set_index("row")[changes["metrics"]].sort_index() for each in (both.table, alone)
    )
    pd.testing.assert_frame_equal(found, expected)
    assert not both.table.duplicated(NAMES).any()


def test_two_seeds_are_one_row_whose_cells_are_those_of_two_runs():
    both, *alone = run(seed=[0, 1]), run(seed=0), run(seed=1)
    for each in alone:
        assert both.table["row"].tolist() == each.table["row"].tolist()
    keys = [{cell["key"] for cell in each.info.cells} for each in (both, *alone)]
    assert keys[0] == keys[1] | keys[2]
    means = np.mean([each.table["rmse"] for each in alone], axis=0).tolist()
    assert both.table["rmse"].tolist() == pytest.approx(means)


def test_files_with_the_same_ratings_are_refused_before_a_fit(tmp_path, files):
    copy = write_ratings(tmp_path / "copy.csv", 0)
    config, rest = tmp_path / "same.yaml", "algorithms: [BaselineOnly]\nmetrics: [rmse]\n"
    config.write_text(f"dataset:\n- {files[0]}\n- {copy}\n{rest}")
    events = []
    with pytest.raises(ConfigError) as caught:
        harness.run(config, results=None, watch=events.append)
    assert str(caught.value) == (
        f"{config}:3: dataset[1]: holds the same ratings as dataset[0] (line 2); remove one of them"
    )
    assert {type(event).__name__ for event in events} == {"Stage"}


def test_an_algorithm_listed_twice_is_two_rows():
    twice = run(algorithms=["ItemMean", {"name": "ItemMean", "label": "again"}])
    assert twice.table["row"].nunique() == 2
    assert twice.table["ndcg@3"].nunique() == 1


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two runs of one name, of models that differ in a parameter."""
    folder = tmp_path_factory.mktemp("runs")
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_CACHE", str(folder / "cache"))
        for n in (2, 9):
            rows = [{"name": "SVD", "params": {"n_factors": n}}, "ItemMean"]
            found.append(harness.run(SMALL | {"algorithms": rows}, results=folder / str(n)))
    return found


def test_rows_of_one_name_are_told_apart_by_their_parameters(runs):
    joined = join(runs)
    table = joined.table.set_index("algorithm")
    assert table.index.tolist() == ["SVD (n_factors 2)", "ItemMean", "SVD (n_factors 9)"]
    for name, own in zip(("SVD (n_factors 2)", "SVD (n_factors 9)"), runs, strict=True):
        alone = own.table.set_index("algorithm").loc["SVD"]
        columns = ["ndcg@3", "rmse", "n_cells"]
        assert table.loc[name, columns].tolist() == alone[columns].tolist()
    assert (joined.name, len(joined.bounds)) == ("2/run and 9/run", 2)
    assert "9/run: the same cells as in another run, counted once: ItemMean" in map(
        str, joined.info.notes
    )
    assert "SVD (n\\_factors 9)" in latex(joined)
    assert "SVD (n_factors 9)" in build_page(runs)


def test_a_joined_run_gives_what_one_run_of_all_rows_gives(runs):
    two, nine = ({"name": "SVD", "params": {"n_factors": n}} for n in (2, 9))
    one = run(algorithms=[two, "ItemMean", nine | {"label": "other"}])
    pd.testing.assert_frame_equal(values(join(runs)), values(one))


def test_what_a_run_has_beyond_another_is_kept():
    fixed = SMALL["split"] | {"random_state": 1}
    rows = [{"name": "SVD", "params": {"n_epochs": 1}}, "ItemMean"]
    one, two = (run(algorithms=rows, split=fixed, seed=seeds) for seeds in (0, [0, 1]))
    for pair in ([one, two], [two, one]):
        table = join(pair).table.set_index("algorithm")
        assert table.loc["SVD", "n_cells"] == 4
        assert table.loc["SVD", "rmse"] == two.table["rmse"][0]


def test_runs_of_other_data_are_tables_of_their_own():
    runs = [run(dataset=synthetic(seed)) for seed in (0, 1)]
    with pytest.raises(ComparisonError, match=r"run \(2\) \(other data"):
        join(runs)
    joined = join(runs, anyway=True)
    pd.testing.assert_frame_equal(values(joined), values(*runs))
    names = joined.table["dataset"].unique().tolist()
    assert names == ["synthetic (run)", "synthetic (run (2))"]


def test_each_key_of_an_algorithm_decides_numbers_or_describes():
    assert AlgorithmConfig.model_fields.keys() - AlgorithmConfig.DECISIVE == {"label", "depends"}


def test_a_new_key_that_describes_changes_no_identity():
    class WithNote(AlgorithmConfig):
        note: str = ""

    plain = AlgorithmConfig(name="SVD", params={"n_factors": 5}, label="mine")
    described = WithNote(name="SVD", params={"n_factors": 5}, note="as in the paper")
    assert described.decisive() == plain.decisive()
    assert plain.decisive() != AlgorithmConfig(name="SVD", params={"n_factors": 6}).decisive()
