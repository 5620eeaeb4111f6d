"""A run records its plug-ins, is read without their code, and repeated only where it is trusted."""

import json
import shutil
import sys

import pytest

import harness
from harness import metrics
from harness.console.commands import main
from harness.errors import ConfigError, MetricError
from harness.plugins import registry as plugins

MODULE = '''
import numpy as np
import harness
import harness.candidates

@harness.metric("share of ones", higher_is_better=False)
def ones(lists, k, *, grade=1.0):
    return (lists.relevance(k) == grade).mean(axis=1)

class Half(harness.Split):
    """The second half is the test set."""

    skip: int = 0

    def divide(self, ratings, rng):
        test = np.arange(len(ratings)) >= len(ratings) // 2
        yield ~test, test

class Few(harness.candidates.Rated):
    kind: str
    name = "a few items"

class Zero:
    def fit(self, train): self.n = train.n_items
    def estimate(self, users, items): return np.zeros(len(users))
'''


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """Return the folder of a finished run that was moved away from its code, and the code."""
    name = f"own_{tmp_path.name.replace('-', '_')}"
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(plugins, "_LOADED", set())
    monkeypatch.setattr(plugins, "_RECORDED", {})
    home = tmp_path / "home"
    home.mkdir()
    (home / f"{name}.py").write_text(MODULE)
    config = f"""
dataset: {{synthetic: {{n_users: 20, n_items: 20, n_ratings: 200}}}}
plugins: [{name}.py]
split: {{kind: "{name}:Half", skip: 2}}
candidates: {{kind: "{name}:Few"}}
algorithms: [ItemMean, "{name}:Zero"]
metrics: ["{name}:ones(grade=2)@3", rmse]
"""
    (home / "a.yaml").write_text(config)
    run = harness.run(home / "a.yaml", results=home / "runs")
    folder = tmp_path / "away" / "runs" / "a"
    shutil.copytree(run.folder, folder)
    sys.modules.pop(name, None)
    sys.path[:] = [entry for entry in sys.path if entry != str(home)]
    plugins._LOADED.clear()
    metrics.labels.declaration.cache_clear()
    (home / f"{name}.py").rename(home / "hidden")
    monkeypatch.chdir(tmp_path / "away")
    yield name, folder
    sys.modules.pop(name, None)


def test_the_record_names_what_is_not_the_packages_own(elsewhere):
    name, folder = elsewhere
    used = json.loads((folder / "run.json").read_text())["plugins"]
    assert [(each["kind"], each["name"]) for each in used] == [
        ("algorithms", f"{name}:Zero"),
        ("metrics", f"{name}:ones"),
        ("splits", f"{name}:Half"),
        ("candidates", f"{name}:Few"),
    ]


@pytest.mark.long
def test_it_is_read_and_shown_without_the_code(elsewhere, capsys):
    name, folder = elsewhere
    run = harness.read_run(folder)
    label = f"{name}:ones(grade=2)@3"
    assert label in run.table
    assert not metrics.parse(label).higher_is_better
    assert f"{name}:Half, skip 2" in run.table["split"].tolist()
    assert run.info.section("candidates", "a few items").kind == f"{name}:Few"
    for command in ("table", "methods", "report"):
        with pytest.raises(SystemExit) as stop:
            main([command, str(folder)])
        assert stop.value.code == 0
    assert "The second half is the test set (skip 2)." in capsys.readouterr().out
    assert name not in sys.modules
    with pytest.raises(MetricError, match="its code was not imported, since a run that names it"):
        metrics.parse(label).definition(harness.rankings.from_pairs([1], [1], [1]), 3)


def test_it_is_repeated_only_where_it_is_trusted(elsewhere):
    name, folder = elsewhere
    with pytest.raises(ConfigError, match=f"it names code, .*{name}:Zero.*`--trust` then imports"):
        harness.run(folder, results=None)
    assert name not in sys.modules
    with pytest.raises(ConfigError, match=f"{name}.py: no such file; correct its path"):
        harness.run(folder, results=None, trust=True)


def test_a_check_without_code_lists_what_a_config_names(elsewhere, capsys):
    name, folder = elsewhere
    with pytest.raises(SystemExit) as stop:
        main(["check", "--no-code", str(folder)])
    assert stop.value.code == 0
    assert f"{name}:Zero" in capsys.readouterr().out
    assert name not in sys.modules
