"""A run remembers what its cells took, and the next one knows; nothing else depends on it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import harness
from harness.experiment.events import CellFinished, Expected
from harness.experiment.pace import FILE, MOST_KINDS, MOST_TIMES, Kind, Pace

CONFIG = {
    "name": "paced",
    "dataset": {"synthetic": {"n_users": 40, "n_items": 30, "n_ratings": 600}},
    "split": {"kind": "kfold", "n_splits": 2},
    "algorithms": ["BaselineOnly", "ItemMean"],
    "metrics": ["ndcg@5"],
    "statistics": None,
    "floors": False,
}


def kind(work="SVD", params="{}", n=1000):
    return Kind(work, params, n)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "deep" / FILE


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def run_and_hear(**change):
    heard = []
    done = harness.run(CONFIG | change, results=None, watch=heard.append)
    return done, heard


def test_what_one_run_learned_the_next_expects(cache):
    _, first = run_and_hear()
    _, second = run_and_hear(seed=1)
    assert set(next(e for e in first if isinstance(e, Expected)).seconds.values()) == {None}
    expected = next(e for e in second if isinstance(e, Expected))
    assert set(expected.seconds) == {e.cell for e in second if isinstance(e, CellFinished)}
    assert all(seconds > 0 for seconds in expected.seconds.values())
    assert expected.n_workers == 1


def test_the_first_of_a_family_tells_of_the_others(cache):
    _, heard = run_and_hear()
    later = [e for e in heard if isinstance(e, Expected)][1:]
    assert [list(e.seconds) for e in later] == [
        ["BaselineOnly · fold 2/2"],
        ["ItemMean · fold 2/2"],
    ]


def test_a_memory_that_cannot_be_kept_changes_no_number(cache):
    before, _ = run_and_hear()
    (cache / FILE).unlink()
    (cache / FILE).mkdir()
    after = harness.run(CONFIG, results=None, fresh=True)
    assert [c["scores"] for c in before.info["cells"]] == [c["scores"] for c in after.info["cells"]]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\x00",
        b"[]",
        b"[" * 100_000,
        b'{"kinds": {"a": {}}}',
        b'{"kinds": {"a": {"work": "SVD", "params": "{}", "n_ratings": 5, "seconds": ["x"]}}}',
        b'{"kinds": {}, "more": 1}',
        b" " * 20_000_000,
    ],
    ids=range(8),
)
def test_what_is_no_memory_is_forgotten(path, content):
    path.parent.mkdir()
    path.write_bytes(content)
    pace = Pace(path)
    assert pace.expect(kind()) is None
    pace.learn([(kind(), 1.0)])
    assert Pace(path).expect(kind()) == 1.0


@pytest.mark.parametrize("seconds", [-1.0, "NaN", "Infinity"])
def test_impossible_times_are_forgotten(path, seconds):
    path.parent.mkdir()
    entry = {"work": "SVD", "params": "{}", "n_ratings": 1000, "seconds": [seconds]}
    text = json.dumps({"kinds": {kind().name: entry}})
    path.write_text(text.replace('"NaN"', "NaN").replace('"Infinity"', "Infinity"))
    assert Pace(path).expect(kind()) is None


def test_the_median_of_the_latest_is_expected(path):
    for seconds in (100.0, 1.0, 2.0, 3.0, 4.0, 50.0):
        Pace(path).learn([(kind(), seconds)])
    assert Pace(path).expect(kind()) == 3.0
    (entry,) = json.loads(path.read_text())["kinds"].values()
    assert len(entry["seconds"]) == MOST_TIMES


def test_the_same_parameters_weigh_more_than_the_same_size(path):
    pace = Pace(path)
    pace.learn([(kind(params='{"n_epochs": 5}'), 1.0), (kind(n=499), 10.0)])
    assert pace.expect(kind()) == pytest.approx(10 * 1001 / 500)


@given(st.integers(1, 10**7), st.floats(1e-3, 1e5))
def test_more_ratings_take_more_time_in_proportion(tmp_path_factory, n, seconds):
    pace = Pace(tmp_path_factory.mktemp("pace") / FILE)
    pace.learn([(kind(n=n), seconds)])
    assert pace.expect(kind(n=2 * n + 1)) == pytest.approx(2 * seconds)
    assert pace.expect(kind(work="NMF")) is None


def test_a_memory_does_not_grow_without_end(path):
    pace = Pace(path)
    pace.learn([(kind(params=f'{{"n_epochs": {i}}}'), 1.0) for i in range(MOST_KINDS + 10)])
    kept = json.loads(path.read_text())["kinds"]
    assert len(kept) == MOST_KINDS
    assert any('"n_epochs": 3009' in name for name in kept)


def test_parameters_as_long_as_a_table_are_not_remembered(path):
    pace = Pace(path)
    pace.learn([(kind(params="x" * 5000), 1.0)])
    assert not path.exists()


def test_two_runs_that_end_after_each_other_keep_what_both_learned(path):
    one, other = Pace(path), Pace(path)
    one.learn([(kind("SVD"), 1.0)])
    other.learn([(kind("NMF"), 2.0)])
    again = Pace(path)
    assert (again.expect(kind("SVD")), again.expect(kind("NMF"))) == (1.0, 2.0)
