"""A config becomes an experiment, or every fault of it is named at once."""

from pathlib import Path

import pytest

from harness.config.load import load
from harness.errors import ConfigError

SMALL = {"dataset": "bundled", "algorithms": ["SVD"], "metrics": ["ndcg@10"], "baselines": False}
CONFIGS = sorted((Path(__file__).parents[2] / "configs").glob("*.yaml"))


def faults(config, **options):
    with pytest.raises(ConfigError, match=r"config: ") as caught:
        load(config, **options)
    return {fault.key: fault.message for fault in caught.value.faults}


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_every_config_of_the_project_loads(path):
    experiment, _ = load(path)
    assert experiment.name == path.stem


def test_one_value_stands_for_a_list_of_one():
    one, _ = load(SMALL | {"split": "kfold", "seed": 3})
    several, _ = load(SMALL | {"split": ["kfold"], "seed": [3], "dataset": ["bundled"]})
    assert one == several


def test_all_faults_come_at_once_each_with_line_key_and_suggestion(tmp_path):
    path = tmp_path / "bad.yaml"
    path.write_text(
        "dataset: ml-100kk\n"
        "splitt: holdout\n"
        "candidates: {kind: rated, n: 3}\n"
        "algorithms:\n"
        "  - SDV\n"
        "  - name: KNNBasic\n"
        "    params: {k: 0, sim_options: {nme: msd}}\n"
        "  - {name: SVD, lable: x}\n"
        "metrics: [ndgc@10, ndcg@0]\n"
        "seed: -1\n"
    )
    with pytest.raises(ConfigError, match=r"bad\.yaml") as caught:
        load(path)
    lines = str(caught.value).split("\n")
    for start, end in [
        ("bad.yaml:1: dataset", "'ml-100k'?"),
        ("bad.yaml:2: splitt: unknown key", "did you mean 'split'?"),
        ("bad.yaml:3: candidates.n: unknown key", "kind, unknown_users"),
        ("bad.yaml:5: algorithms[0]: unknown algorithm 'SDV'", "did you mean 'SVD'?"),
        ("bad.yaml:7: algorithms[1].params.k: found 0", "must be 1 or more"),
        ("bad.yaml:7: algorithms[1].params.sim_options.nme", "did you mean 'name'?"),
        ("bad.yaml:8: algorithms[2].lable: unknown key", "did you mean 'label'?"),
        ("bad.yaml:9: metrics[0]", "'ndcg'?"),
        ("bad.yaml:9: metrics[1]", ""),
        ("bad.yaml:10: seed", ""),
    ]:
        matching = [line for line in lines if f"{tmp_path}/{start}" in line and line.endswith(end)]
        assert matching, f"{start} ... {end} is not in\n{caught.value}"


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"seed": "1"}, "seed"),
        ({"seed": True}, "seed"),
        ({"clip": 1}, "clip"),
        ({"metrics": []}, "metrics"),
        ({"metrics": "rmse"}, "metrics"),
        ({"algorithms": {}}, "algorithms"),
        ({"name": "../up"}, "name"),
        ({"name": ""}, "name"),
        ({"split": {"kind": "holdout", "test_size": "half"}}, "split.test_size"),
        ({"split": {"test_size": 0.1}}, "split"),
        ({"candidates": {"kind": "sampled", "n": 0}}, "candidates.n"),
        ({"execution": {"workers": 0}}, "execution.workers"),
        ({"dataset": None}, "dataset"),
    ],
)
def test_a_wrong_value_is_named_by_its_key(change, key):
    found = faults(SMALL | change)
    assert any(each.startswith(key) for each in found), found


def test_two_rows_may_not_share_a_label():
    found = faults(SMALL | {"algorithms": ["SVD", {"name": "SVD"}]})
    assert "two algorithms are labelled 'SVD'" in " ".join(found.values())


def test_one_algorithm_may_stand_twice_under_two_labels():
    rows = ["SVD", {"name": "SVD", "label": "small", "params": {"n_factors": 5}}]
    experiment, _ = load(SMALL | {"algorithms": rows})
    assert [row.title for row in experiment.algorithms] == ["SVD", "small"]


@pytest.mark.parametrize(
    ("override", "look", "value"),
    [
        ("split.test_size=0.5", lambda e: e.split[0].test_size, 0.5),
        ("seed=[1, 2]", lambda e: e.seed, [1, 2]),
        ("algorithms[0].params.n_factors=7", lambda e: e.algorithms[0].params["n_factors"], 7),
        ("execution.workers=2", lambda e: e.execution.workers, 2),
        ("dataset=synthetic", lambda e: e.dataset[0].name, "synthetic"),
    ],
)
def test_an_override_sets_one_key(override, look, value):
    config = SMALL | {"split": "holdout"}
    experiment, _ = load(config, overrides=[override])
    assert look(experiment) == value
    assert config["split"] == "holdout"


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("seed", "no '='"),
        ("=1", "no '='"),
        ("algorithms[9].params.k=1", "no such place"),
        ("algorithms[x]=1", "is no list index"),
        ("algorithms[\u00b2]=1", "is no list index"),
        ("algorithms[" + "1" * 5_000 + "]=1", r"^--set algorithms\[1+"),
        ("splt.kind=kfold", "unknown key"),
        ("seed=[1", "not valid YAML"),
    ],
)
def test_an_override_that_leads_nowhere_says_so(override, message):
    with pytest.raises(ConfigError, match=message):
        load(SMALL, overrides=[override])


def test_baselines_are_added_where_they_are_not_named():
    rows = ["SVD", {"name": "Random", "label": "chance"}]
    experiment, _ = load(SMALL | {"baselines": True, "algorithms": rows})
    assert [row.title for row in experiment.algorithms] == ["SVD", "chance", "Popularity"]


def test_a_baseline_has_to_be_a_row():
    found = faults(SMALL | {"statistics": {"baseline": "SVDD"}})
    assert "did you mean 'SVD'?" in " ".join(found.values())


def test_an_experiment_passes_through_unchanged():
    experiment, _ = load(SMALL)
    assert load(experiment)[0] == experiment


def test_very_many_and_very_long_faults_are_told_in_short():
    many = {f"key{number}": number for number in range(1_000)}
    with pytest.raises(ConfigError, match=r"\d+ faults more; fix these first$") as refused:
        load({**many, "x" * 100_000: 1})
    assert len(refused.value.faults) > 1_000
    assert len(str(refused.value)) < 20_000
    assert str(refused.value).count("\n") == 50


def test_the_old_name_of_baselines_is_answered_with_the_new_one():
    told = faults({**{k: v for k, v in SMALL.items() if k != "baselines"}, "floors": False})
    assert told == {"floors": "this key is now called `baselines`; rename it"}


@pytest.mark.parametrize(
    ("key", "entries"),
    [
        ("dataset", "[bundled, ml-100k, bundled]"),
        ("dataset", "[a/r.csv, b/r.csv, {path: ./a/r.csv}]"),
        ("split", "[holdout, kfold, {kind: holdout, test_size: 0.2}]"),
        ("candidates", "[rated, catalogue, {kind: rated}]"),
        ("seed", "[1, 2, 1]"),
    ],
)
def test_an_entry_that_an_earlier_one_equals_is_refused_with_both_places(tmp_path, key, entries):
    path = tmp_path / "twice.yaml"
    lists = {"dataset": "bundled"} | {key: entries.replace(", ", ",\n  ")}
    # Each entry on a line of its own, but for those that hold a comma themselves.
    text = "".join(f"{name}: {value}\n" for name, value in lists.items())
    path.write_text(text + "algorithms: [SVD]\nmetrics: [rmse]\n")
    with pytest.raises(ConfigError) as caught:
        load(path)
    (fault,) = caught.value.faults
    line = text[: text.index(f"{key}:")].count("\n") + 1
    assert (fault.key, fault.message) == (
        f"{key}[2]",
        f"is the same as {key}[0] (line {line}); remove one of them",
    )
    assert fault.line == line + 2
