"""What people try first gets a message that says what to write."""

import pytest

import harness
from harness.config.load import load
from harness.config.yaml import parse
from harness.errors import ConfigError
from harness.report.methods import checklist

START = {"dataset": "bundled", "metrics": ["rmse"], "baselines": False}
FOLDS = [{"train": "u1.base", "test": "u1.test"}]
TRIED = [
    ({"algorithms": [{"name": "KNNBasic", "params": {"k": [5, 10]}}]}, "search: {k: [5, 10]}"),
    (
        {"algorithms": [{"name": "SVD", "params": {"lr_all": [0.1, 0.2]}}]},
        "- {name: SVD, label: SVD lr_all=0.1, params: {lr_all: 0.1}}",
    ),
    ({"algorithms": ["mine.MyALS"]}, "for your own class, write `mine:MyALS`"),
    ({"algorithms": ["Pop"]}, "did you mean 'Popularity'?"),
    ({"algorithms": ["KNN"]}, "did you mean one of KNNBasic, KNNWithMeans"),
    (
        {"algorithms": ["SVD"], "split": {"kind": "predefined", "folds": FOLDS}},
        "`folds` are names, not files; write train: u{fold}.base",
    ),
]


@pytest.mark.parametrize(("tried", "message"), TRIED)
def test_a_config_that_people_try_first_is_answered(tried, message):
    with pytest.raises(ConfigError) as caught:
        harness.run(START | tried, results=None)
    assert message in str(caught.value)


def test_algorithms_in_place_of_runs_are_said_to_be(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for names in (["SVD", "KNN"], ["svd"]):
        code, _, err = cli("compare", *names)
        assert code == 2
        assert f"{', '.join(names)}: these are algorithms, not runs" in " ".join(err.split())
    assert "--algorithms SVD,KNNBasic" in cli("compare", "SVD", "KNN")[2]
    assert "no run of this name" in cli("compare", "SVD", "mine")[2]


ROWS = [{"name": "ItemMean", "label": f"d{n}", "params": {"damping": n}} for n in (1, 5, 25)]


@pytest.mark.parametrize("n_rows", [1, 3])
def test_the_best_of_several_settings_is_said_to_be_chosen_on_the_test_part(n_rows):
    rows = [*ROWS[:n_rows], "BaselineOnly"]
    data = {"synthetic": {"n_users": 40, "n_items": 30, "n_ratings": 500}}
    run = harness.run(START | {"dataset": data, "algorithms": rows}, results=None)
    notes = [str(note) for note in run.info.notes]
    several = n_rows == 3
    assert any("with 3 settings" in note for note in notes) is several
    assert ("if the best of d1, d5 and d25 is reported" in checklist(run.info)) is several
    evidence = " ".join(harness.best(run, algorithm=None).evidence)
    is_setting = harness.best(run).row.algorithm != "BaselineOnly"
    assert ("Chosen among 3 settings of ItemMean" in evidence) is (several and is_setting)
    named = " ".join(harness.best(run, algorithm="d1").evidence)
    assert "Chosen among" not in named


def test_of_rows_with_a_search_nothing_is_said():
    rows = [{"name": "ItemMean", "label": f"s{n}", "search": {"damping": [n, 9]}} for n in (1, 2)]
    data = {"synthetic": {"n_users": 40, "n_items": 30, "n_ratings": 500}}
    run = harness.run(START | {"dataset": data, "algorithms": rows}, results=None)
    assert not any("settings; picking" in str(note) for note in run.info.notes)


LISTS = [
    {"name": "KNNBasic", "params": {"k": [5, 10]}},
    {"name": "KNNBasic", "params": {"k": [5, 10], "min_k": 2}},
    {"name": "KNNBaseline", "params": {"sim_options": {"name": ["msd", "cosine"]}, "k": 4}},
    {"name": "SVD", "params": {"n_factors": [5, 9], "lr_all": [0.1, 0.2], "biased": False}},
    {"name": "NMF", "params": {"n_factors": [5]}},
]


@pytest.mark.parametrize("row", LISTS, ids=str)
def test_what_a_message_says_to_paste_is_accepted(row):
    with pytest.raises(ConfigError) as caught:
        load(START | {"algorithms": [row]})
    first, *more = caught.value.faults
    search, *rows = [text for text in first.message.splitlines() if text.startswith("- ")]
    searched = parse(f"algorithms:\n{search}").data["algorithms"]
    (written,) = load(START | {"algorithms": searched})[0].algorithms
    assert len(written.search) == 1 + len(more)
    if not more:
        written_rows = parse("\n".join(["algorithms:", *rows])).data["algorithms"]
        experiment, _ = load(START | {"algorithms": written_rows})
        assert len(experiment.algorithms) == len(rows) >= 1


def test_only_six_rows_are_written_out_and_what_is_wrong_in_itself_is_not():
    def message(values):
        with pytest.raises(ConfigError) as caught:
            load(START | {"algorithms": [{"name": "KNNBasic", "params": {"k": values}}]})
        return str(caught.value)

    assert message([*range(1, 9)]).count("- {name") == 7
    assert message([*range(1, 9)]).endswith("\n- ...")
    assert "- {name" not in message([5, "ten"])
    assert "- {name" not in message([])
