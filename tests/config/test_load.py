"""A config becomes an experiment, or every fault of it is named at once."""

import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import harness
from harness.algorithms import registry
from harness.config.load import load
from harness.config.yaml import parse
from harness.errors import ConfigError

SMALL = {"dataset": "bundled", "algorithms": ["SVD"], "metrics": ["ndcg@10"], "baselines": False}


def faults(text, *overrides):
    """Return what is wrong with a small config that is changed by keys in YAML."""
    change = parse(text).data if isinstance(text, str) and text else text or {}
    with pytest.raises(ConfigError) as caught:
        load(SMALL | change, overrides=overrides)
    return str(caught.value)


def test_one_value_stands_for_a_list_of_one():
    one, _ = load(SMALL | {"split": "kfold", "seed": 3})
    several, _ = load(SMALL | {"split": ["kfold"], "seed": [3], "dataset": ["bundled"]})
    assert one == several
    assert load(one)[0] == one


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
    lines = str(caught.value).removeprefix(f"{tmp_path}/").split(f"\n{tmp_path}/")
    for line, (start, end) in zip(
        lines,
        [
            ("bad.yaml:1: dataset", "'ml-100k'?"),
            ("bad.yaml:2: splitt: unknown key", "did you mean 'split'?"),
            ("bad.yaml:3: candidates.n: unknown key", "kind, least_estimate, unknown_users"),
            ("bad.yaml:5: algorithms[0]: unknown algorithm 'SDV'", "did you mean 'SVD'?"),
            ("bad.yaml:7: algorithms[1].params.k: found 0", "must be 1 or more"),
            ("bad.yaml:7: algorithms[1].params.sim_options.nme", "did you mean 'name'?"),
            ("bad.yaml:8: algorithms[2].lable: unknown key", "did you mean 'label'?"),
            ("bad.yaml:9: metrics[0]", "'ndcg'?"),
            ("bad.yaml:9: metrics[1]", ""),
            ("bad.yaml:10: seed", ""),
        ],
        strict=True,
    ):
        assert line.startswith(start)
        assert line.endswith(end)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("seed: '1'", "config: seed: found '1'; "),
        ("seed: true", "config: seed: found True; it must be a whole number"),
        ("clip: yes", "config: clip: found 'yes'; it must be true or false"),
        ("description: 12", "config: description: found 12; it must be text: put it in quotation"),
        ("fallback:", "config: fallback: empty; use one of default, "),
        ("algorithms: [{name: SVD, label: ''}]", "label: found ''; it must have at least 1 char"),
        ("metrics: []", "config: metrics: empty; name at least one"),
        ("metrics: rmse", "config: metrics: found 'rmse'; write a list: [rmse]"),
        ("filters: {kind: k-core}", "config: filters: found a mapping; write a list: [{…}]"),
        ("metrics: 3", "config: metrics: found 3; write a list: [3]"),
        ("algorithms: {}", "config: algorithms: found a mapping; "),
        ("name: ../up", "config: name: found '../up'; "),
        ("name: ''", "config: name: found ''; "),
        ("dataset: null", "config: dataset: empty"),
        (
            "dataset: 5",
            "dataset: found 5; it must be a mapping of keys to values, or only its `name`",
        ),
        (
            {"dataset": pd.DataFrame()},
            "config: dataset: found an object of type DataFrame; give loaded data beside",
        ),
        (
            "split: [5]",
            "split[0]: found 5; it must be a mapping of keys to values, or only its `kind`",
        ),
        ("statistics: {margin: .nan}", "margin: found nan; it must be a finite number"),
        ("split: {kind: holdout, test_size: half}", "split.test_size: found 'half'; "),
        ("split: {test_size: 0.1}", "split: no `kind` given; use one of file, global-time, "),
        ("split: {kind: kfolds}", "split.kind: unknown kind 'kfolds'; did you mean 'kfold'?"),
        ("split: [kfolds]", "split[0]: unknown kind 'kfolds'; did you mean 'kfold'?"),
        ("candidates: {kind: sampled, n: 0}", "candidates.n: found 0; "),
        ("execution: {workers: 0}", "execution.workers: found 0; "),
        ("execution: {time_limit: .inf}", "execution.time_limit: found inf"),
        ("execution: {time_limit: 1.0e+12}", "execution.time_limit: found 1000000000000.0"),
        ("algorithms: [SVD, {name: SVD}]", "algorithms: [0] and [1] are both labelled 'SVD'; give"),
        ("groups: [{users: known}, {users: known}]", "groups: 'users: known' is there twice;"),
        ("statistics: {baseline: SVDD}", "statistics: baseline is 'SVDD'; did you mean"),
        ("floors: false", "floors: this key is now called `baselines`; rename it"),
        ("tuning: {metric: ndgc@10}", "tuning.metric: ndgc@10: unknown metric"),
        ("tuning: {metric: item_coverage@10}", "does not measure accuracy"),
        ("tuning: {seconds: .inf}", "tuning.seconds: found inf"),
        ("candidates: {kind: sampled, n: 100000000000000000000}", "candidates.n: found 1000000"),
        ("split: {kind: repeated-kfold, n_repeats: 1000000000}", "n_repeats: found 1000000000"),
        ("split: {kind: kfold, n_splits: 1000000000}", "n_splits: found 1000000000"),
        ("split: {kind: kfold, n_splits: 1}", "n_splits: found 1; it must be"),
        ("split: {kind: leave-n-out, n_splits: 1000000000}", "n_splits: found 1000000000"),
        (f"split: {{kind: holdout, test_size: {10**30}}}", "test_size: found 1000"),
        (f"split: {{kind: global-time, date: {10**30}}}", "date: found 1000"),
    ],
)
def test_a_wrong_value_is_named_by_its_key(text, fault):
    assert fault in faults(text)


@pytest.mark.parametrize(
    ("override", "look", "value"),
    [
        ("split.test_size=0.5", lambda e: e.split[0].test_size, 0.5),
        ("seed=[1, 2]", lambda e: e.seed, [1, 2]),
        ("algorithms[0].params.n_factors=7", lambda e: e.algorithms[0].params["n_factors"], 7),
        ("candidates[1].unknown_users=drop", lambda e: e.candidates[1].unknown_users, "drop"),
        ("execution.workers=2", lambda e: e.execution.workers, 2),
        ("dataset=synthetic", lambda e: e.dataset[0].name, "synthetic"),
    ],
)
def test_an_override_sets_one_key(override, look, value):
    config = SMALL | {"split": "holdout", "candidates": ["rated", "catalogue"]}
    experiment, _ = load(config, overrides=[override])
    assert look(experiment) == value
    assert config["split"] == "holdout"
    assert load(SMALL, overrides=["split.test_size=0.5"])[0].split[0].test_size == 0.5  # default


NAMES = [
    ("für mich", "f-r-mich"),
    ("my config", "my-config"),
    ("_x", "x"),
    ("é", "run"),
    ("_é", "run"),
    ("ü1", "1"),
]


def test_a_file_of_any_name_names_its_run_and_ratings_are_no_config(tmp_path):
    for stem, name in NAMES:
        path = tmp_path / f"{stem}.yaml"
        path.write_text(str(SMALL))
        assert load(path)[0].name == name
    (tmp_path / "r.csv").write_text("1,2,3\n")
    with pytest.raises(ConfigError, match=r"ratings; .*new \S+r\.yaml --dataset \S+r\.csv"):
        load(tmp_path / "r.csv")


@pytest.mark.parametrize(
    ("text", "inside", "written"),
    [
        ("dataset: a.csv", ".duplicates=last", "{path: a.csv, duplicates: last}"),
        ("dataset: ml-1m", ".duplicates=last", "{name: ml-1m, duplicates: last}"),
        ("dataset: {path: a, items: i}", ".items.id=2", "{path: a, items: {path: i, id: 2}}"),
        (
            "tuning: {validation: kfold}",
            ".validation.n_splits=2",
            "{validation: {kind: kfold, n_splits: 2}}",
        ),
        ("algorithms: [SVD]", "[0].label=x", "[{name: SVD, label: x}]"),
    ],
)
def test_an_override_sets_a_key_of_what_a_plain_string_stands_for(text, inside, written):
    key, _, _ = text.partition(":")
    found, _ = load(SMALL | parse(text).data, overrides=[key + inside])
    assert found == load(SMALL | parse(f"{key}: {written}").data)[0]


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("seed", "no '='"),
        ("=1", "no key; write"),
        ("..=1", "no key; write"),
        ("algorithms[9].params.k=1", "no such place"),
        ("algorithms[x]=1", "is not a list index"),
        ("algorithms[\u00b2]=1", "is not a list index"),
        ("algorithms[" + "1" * 5_000 + "]=1", "--set algorithms[1"),
        ("splt.kind=kfold", "config: --set splt.kind=kfold: unknown key"),
        ("splt=kfold", "config: --set splt=kfold: unknown key; did you mean 'split'?"),
        ("algorithms=[SDV]", "config: --set algorithms=[SDV]: algorithms[0]: unknown algorithm"),
        ("seed=[1", "--set seed=[1: not valid YAML"),
        ("seed=!!bool maybe", "'maybe' is not of type bool"),
        ("seed=!!int x", "'x' is not of type int"),
    ],
)
def test_an_override_that_leads_nowhere_says_so(override, message):
    assert message in faults("", override)


def test_an_algorithm_may_stand_twice_under_two_labels_and_baselines_are_added():
    rows = ["SVD", {"name": "SVD", "label": "small"}, {"name": "Random", "label": "chance"}]
    experiment, _ = load(SMALL | {"baselines": True, "algorithms": rows})
    assert [row.title for row in experiment.algorithms] == ["SVD", "small", "chance", "Popularity"]


def test_numbers_and_arrays_of_numpy_are_taken_as_pythons():
    section = {"synthetic": {"n_users": np.int64(50), "n_items": 40, "n_ratings": 300}}
    knn = {"name": "KNNBasic", "params": {"k": np.int32(5)}, "search": {"min_k": np.arange(1, 3)}}
    experiment, _ = load(SMALL | {"dataset": section, "seed": np.arange(2), "algorithms": [knn]})
    assert repr(experiment.seed) == "[0, 1]"
    assert repr(experiment.algorithms[0].params) == "{'k': 5}"
    assert repr(experiment.algorithms[0].search["min_k"]) == "[1, 2]"
    assert len(harness.load(section)) == 300


def test_very_many_and_very_long_faults_are_told_in_short():
    many = {f"key{number}": number for number in range(1_000)}
    with pytest.raises(ConfigError, match=r"\d+ problems more; fix these first$") as refused:
        load({**many, "x" * 100_000: 1})
    assert len(refused.value.faults) > 1_000
    assert len(str(refused.value)) < 20_000
    assert str(refused.value).count("\n") == 50
    one_more = str(ConfigError("a", refused.value.faults[:51]))
    assert one_more.endswith("a: 1 problem more; fix these first")
    with pytest.raises(ConfigError, match=r"found \('rmse',\); write a list: \[rmse\]"):
        load({"dataset": "bundled", "algorithms": ["SVD"], "metrics": ("rmse",)})


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
    lists = {"dataset": "bundled"} | {key: entries.replace(", ", ",\n  ")}
    # Each entry on a line of its own, but for those that hold a comma themselves.
    text = "".join(f"{name}: {value}\n" for name, value in lists.items())
    (tmp_path / "twice.yaml").write_text(text + "algorithms: [SVD]\nmetrics: [rmse]\n")
    with pytest.raises(ConfigError) as caught:
        load(tmp_path / "twice.yaml")
    (fault,) = caught.value.faults
    line = text[: text.index(f"{key}:")].count("\n") + 1
    message = f"is the same as {key}[0] (line {line}); remove one of them"
    assert (fault.line, fault.key, fault.message) == (line + 2, f"{key}[2]", message)


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ("KNNBasic, search: {kk: [5, 10]}", "search.kk: KNNBasic has no such parameter; did you"),
        ("SlopeOne, search: {k: [5]}", "search.k: SlopeOne has no such parameter"),
        ("KNNBasic, search: {k: [5, 0]}", "search.k[1]: found 0; it must be 1 or more"),
        ("KNNBasic, search: {k: [5, 2.5]}", "search.k[1]: found 2.5; it must be a whole number"),
        ("SVD, search: {n_factors: {low: 0, high: 5}}", "search.n_factors.low: found 0"),
        ("SVD, search: {n_factors: {low: 1.5, high: 9}}", "low: found 1.5; it must be a whole"),
        (f"SVD, search: {{n_factors: {{low: 1, high: {2**40}}}}}", "high: found 1099511627776"),
        (f"SVD, search: {{n_factors: {{low: 1, high: {2**70}}}}}", "is too large or not a number"),
        ("SVD, search: {lr_all: {low: 0.1, high: .inf}}", "search.lr_all: inf is too large"),
        ("SVD, search: {lr_all: {low: .nan, high: 1}}", "search.lr_all: nan is too large"),
        ("SVD, search: {n_factors: {low: 9, high: 2}}", "search.n_factors: [9, 2] is empty"),
        (
            "SVD, search: {n_factors: {low: 1, high: 2, logs: true}}",
            "unknown key; did you mean 'log'?",
        ),
        ("SVD, search: {reg_all: {low: 0, high: 1, log: true}}", "range starts above 0"),
        ("SVD, search: {biased: [true, 1]}", "search.biased[1]: found 1; it must be true or false"),
        ("KNNBasic, search: {sim_options.nam: [msd]}", "sim_options.nam: no such similarity"),
        ("KNNBasic, search: {sim_options.name: [msd, cosin]}", "unknown similarity 'cosin'"),
        ("BaselineOnly, search: {bsl_options.reg: [0.1]}", "reg: no such option of the als"),
        ("SVD, params: {n_factors: 5}, search: {n_factors.x: [2]}", "found {'x': 2}; it must be"),
        (
            "KNNBaseline, params: {bsl_options: []}, search: {bsl_options.method: [als, sgd]}",
            "bsl_options: found []; it must be a mapping of baseline options",
        ),
        ("SVD, params: {n_factors: 2.5}", "it must be"),
        ("SVD, params: {n_epochs: 2.0}", "it must be"),
        ("NMF, params: {init_high: -1}", "it must be"),
        ("CoClustering, params: {n_cltr_u: 1.5}", "it must be"),
        ("KNNBasic, params: {min_k: 1.5}", "it must be"),
        ("KNNBasic, params: {sim_options: {min_support: 0.5}}", "it must be"),
        ("SVD, params: {random_state: 0.5}", "it must be"),
    ],
)
def test_parameters_and_searches_are_checked_as_strictly(row, fault):
    found = faults(f"algorithms: [{{name: {row}}}]")
    assert fault in found
    assert found.count("\n") == 0


@pytest.mark.parametrize(
    ("name", "search"),
    [
        ("SVD", {"lr_all": [0.001, 1], "n_factors": {"low": 1, "high": 9, "log": True}}),
        ("KNNBaseline", {"bsl_options.method": ["als", "sgd"], "bsl_options.reg": [0.1]}),
        ("KNNBasic", {"sim_options.user_based": [True, False]}),
        ("SlopeOne", {}),
        *((each, "recommended") for each in registry.algorithms()),
    ],
)
def test_a_search_that_is_right_passes(name, search):
    load(SMALL | {"algorithms": [{"name": name, "search": search}]})


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("SVD", {"init_mean": 0.1}),
        ("SVDpp", {"init_mean": 0.1, "lr_yj": 1, "reg_yj": 0}),
        ("NMF", {"init_low": 0.1, "init_high": 0.9}),
        ("KNNBaseline", {"sim_options": {"shrinkage": 2.5}, "bsl_options": {"reg_i": 1.5}}),
        ("ItemMean", {"damping": 1}),
    ],
)
def test_what_surprise_takes_passes_and_can_be_built(name, params):
    load(SMALL | {"algorithms": [{"name": name, "params": params}]})
    registry.create(name, params, seed=0)


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are Unicode there")
def test_a_config_whose_name_is_no_unicode_is_refused_before_it_is_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = b"dataset: bundled\nalgorithms: [ItemMean]\nmetrics: [rmse]\n"
    folder = os.fsdecode(b"\xff")
    Path(folder).mkdir()
    for path in (os.fsdecode(b"a\xff.yaml"), f"{folder}/a.yaml"):
        Path(path).write_bytes(text)
        with pytest.raises(ConfigError, match="its name is not UTF-8 text; rename it"):
            load(path)
    assert load(tmp_path / folder / "a.yaml")[0].name == "a"  # a record has no absolute path


@pytest.mark.parametrize(
    ("section", "advice"),
    [
        ("{kind: kfold, folds: 2}", "use one of kind, n_splits, random_state, shuffle"),
        ("[{kind: kfold, folds: 2}]", "use one of kind, n_splits, random_state, shuffle"),
        ("[{kind: movielens-folds, fold: u1}]", "did you mean 'folds'?"),
    ],
)
def test_an_unknown_key_is_compared_with_those_of_its_kind(section, advice):
    fault = faults(f"split: {section}")
    assert "unknown key; " in fault
    assert advice in fault
