"""Whatever stands at a key of a config, loading gives an experiment or a `ConfigError`."""

import copy
import math
import sys

import pytest

from harness.config.experiment import Experiment
from harness.config.load import load
from harness.config.yaml import parse
from harness.errors import ConfigError

FULL = """
name: full
description: every key
dataset:
  path: ratings.csv
  format: csv
  columns: {user: u, item: i, rating: r, timestamp: 4}
  separator: ","
  header: true
  encoding: utf-8
  decimal: "."
  scale: [1, 5]
  duplicates: error
  missing: drop
  unreadable: drop
  out_of_scale: clip
  users: u.csv
  items: {path: i.csv, columns: [i, g], id: i, genres: g, separator: ";", encoding: utf-8}
filters:
  - {kind: k-core, n: 2}
  - {kind: time-window, start: 1998-01-01, end: 900000000}
  - {kind: sample-users, n: 0.5, random_state: 1}
  - {kind: top-items, n: 5, by: sum}
  - {kind: min-rating, at_least: 1.5}
split:
  - {kind: holdout, test_size: 0.2, train_size: 5, random_state: 1, shuffle: true, like: sklearn,
     validation: {kind: kfold, n_splits: 3}}
  - {kind: repeated-kfold, n_splits: 2, n_repeats: 2}
  - {kind: leave-n-out, n: 1, choose: latest, too_few: train}
  - {kind: user-fraction, fraction: 0.2}
  - {kind: global-time, date: 1998-01-01}
  - {kind: global-time, quantile: 0.9}
  - {kind: user-holdout}
  - {kind: predefined, train: a.csv, test: b.csv}
  - {kind: file, path: split.parquet}
  - {kind: judgements, path: a.qrels}
candidates:
  - {kind: rated, unknown_users: keep}
  - {kind: catalogue, training_items: drop, unknown_items: count, list_ties: training,
     least_estimate: 1.5}
  - {kind: sampled, n: 10}
algorithms:
  - SVD
  - {name: KNNBasic, label: knn, as_surprise: false, params: {k: 5, sim_options: {name: msd}},
     search: {min_k: [1, 2], k: {low: 1, high: 9, log: true, points: 3}}}
  - {name: BaselineOnly, params: {bsl_options: {method: als, reg_u: 5}}}
metrics: [ndcg@5]
headline: ndcg@5
groups: [{users: known}, {items: genre, quantiles: 3}]
plugins: null
analyses: [default, groups]
seed: [0, 1]
seeds: {split: 1, search: 1, model: 1}
tuning: {method: random, trials: 2, seconds: 5.0, metric: ndcg@5, validation: {kind: holdout}}
baselines: true
statistics: {claim: models, baseline: SVD, test: t, margin: 0.1, correction: holm, interval: bca,
             resamples: 100, confidence: 0.9}
fallback: mean
outputs: {lists: 5, estimates: true}
results: {keep: 3}
trackers: {csv: {path: all.csv}}
clip: true
accelerate: true
execution: {workers: 1, time_limit: 5.0, executor: dask, scheduler: "tcp://a:1"}
"""

ODD = [
    *(None, True, False, 0, 1, -1, 3, 2**31, 2**63, -(2**64), 10**400, 10**5000),
    *(0.0, -0.0, 0.5, 1e-320, 1e308, math.inf, -math.inf, math.nan),
    *("", " ", "x", "svd", "kfold", "1998-01-31", "99999-01-01", "0001-01-01T00:00+23:59"),
    *("\ud800", "\0", "\u2192", "a" * 200, "a/../b.csv", "~nobody/x.csv", "x:y", "..:C", ":"),
    *("ndcg@" + "9" * 5000, "ndcg(" * 50, [], [None], [[]], [1, "a"], [math.nan, math.inf]),
    *([[1, 2], [3, 4]], ["SVD", "SVD"], {}, {"": 1}, {"kind": None}, {"kind": []}, {"name": {}}),
    *({"low": math.nan, "high": 1}, {"low": 0, "high": 10**400}, {"k": {"low": 1}}),
    *({None: 1}, {10**5000: 1}, {"\ud800": 1}, {("k",): 2}, {"k" * 5000: [10**5000]}),
]


START = "dataset: bundled\nalgorithms: [SVD]\nmetrics: [rmse]\n"
SCALARS = [
    *("0o17", "017", "0b11", "0x" + "f" * 5000, "9" * 5000, "1_000", "1:30", "+.inf", "-.INF"),
    *(".nan", "~", "null", "yes", "=", "<<", "&a 1", "*a", "1998-01-31", "1998-13-45", "x"),
    *('"\\ud800"', '"\\0"', '"\\u2192"', "''", "1e999", "1e-999", "-0", "--1", "|", "> x", "? x"),
    *("[1, 1]", "{a: 1, a: 2}", "{<<: {a: 1}}", "{[1]: 2}", "{? {a: 1} : 2}", "[*a]", "@", "`"),
]


def places(data, path=()):
    """Yield the path of everything in nested mappings and lists."""
    for key, value in data.items() if isinstance(data, dict) else enumerate(data):
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from places(value, (*path, key))


DATA = parse(FULL).data


@pytest.fixture(autouse=True)
def _own_search_path(monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))  # where classes such as `x:y` are searched


def faults(config):
    try:
        load(config)
    except ConfigError as error:
        return str(error)
    return ""


def test_the_full_config_is_right():
    assert faults(DATA) == ""
    gone_once_read = {"extends", "training_shares"}
    assert DATA.keys() | gone_once_read == Experiment.model_fields.keys()


def deep(depth):
    value = {}
    for _ in range(depth):
        value = {"k": value}
    return value


@pytest.mark.parametrize("depth", [100, 300, 10_000])
@pytest.mark.parametrize("key", ["dataset", "algorithms", "x"])
def test_values_that_are_nested_deeply_are_a_fault(key, depth):
    assert faults(DATA | {key: deep(depth)})


@pytest.mark.parametrize("tag", ["", "!!bool", "!!int", "!!float", "!!null", "!!timestamp", "!!x"])
def test_an_odd_scalar_of_yaml_is_a_fault_or_an_experiment(tag, tmp_path):
    for text in SCALARS:
        (tmp_path / "a.yaml").write_text(f"{START}seed: {tag} {text}\n", encoding="utf-8")
        assert "Traceback" not in faults(tmp_path / "a.yaml")


@pytest.mark.sample(10)
@pytest.mark.parametrize("place", list(places(DATA)), ids=lambda path: ".".join(map(str, path)))
def test_an_odd_value_anywhere_is_a_fault_or_an_experiment(place):
    for odd in ODD:
        config = copy.deepcopy(DATA)
        target = config
        for part in place[:-1]:
            target = target[part]
        target[place[-1]] = odd
        assert "Traceback" not in faults(config)
