"""A name becomes an object when used: of this package, another one, or a module of your own."""

import subprocess
import sys

import pytest

import harness
from harness import metrics
from harness.algorithms import registry
from harness.datasets.catalogue import ALIASES
from harness.errors import MetricError, PluginError
from harness.plugins import own_modules
from harness.plugins import registry as plugins


def install(folder, package, version, entry_points, **modules):
    """Write a distribution as pip leaves it: its metadata, and its modules."""
    info = folder / f"{package.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
    lines = []
    for kind, names in entry_points.items():
        lines += [f"[harness.{kind}]", *(f"{name} = {target}" for name, target in names.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text)


@pytest.fixture
def site(tmp_path, monkeypatch):
    """Return a folder of installed packages, forgotten again after the test."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    before = set(sys.modules)
    plugins.refresh()
    yield folder
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(folder)):
            del sys.modules[name]
    monkeypatch.undo()
    plugins.refresh()


@pytest.mark.parametrize("kind", plugins.KINDS)
def test_every_builtin_can_be_imported(kind):
    for name in plugins.builtin_names(kind):
        plugin = plugins.find(kind, name)
        assert plugin.is_builtin
        assert plugins.problem(plugin) == ""


def test_a_name_of_another_package_is_found_and_imported_when_used(site):
    install(site, "small-shops", "1.2", {"metrics": {"shops": "shops:share"}}, shops="share = 7")
    assert "shops" in plugins.names("metrics")
    plugin = plugins.find("metrics", "shops")
    assert plugin.origin == "small-shops 1.2"
    assert "shops" not in sys.modules
    assert plugin.load() == 7


def test_two_packages_with_one_name_are_refused_with_both(site):
    for package in ("one", "two"):
        install(site, package, "1", {"metrics": {"shared": "nowhere:x"}})
    with pytest.raises(
        PluginError, match=r"one 1 and two 1 all have 'shared'; uninstall all but one"
    ):
        plugins.find("metrics", "shared")


def test_a_name_of_this_package_cannot_be_taken(site):
    install(site, "thief", "3", {"metrics": {"ndcg": "thief:ndcg"}}, thief="ndcg = 1")
    assert plugins.find("metrics", "ndcg").is_builtin
    (reason,) = [text for plugin, text in plugins.declared("metrics") if plugin.package == "thief"]
    assert reason == "'ndcg' is a name of surprise-harness itself; its author has to rename it"


OTHER_SPELLINGS = {
    "algorithms": ["svd", "SVD++", "slope one", "spark_als", "all"],
    "metrics": ["NDCG", "R-Precision", "Rmse"],
    "splits": ["HoldOut", "k_core", "Leave_N_Out"],
    "datasets": ["bundled", "Bundled", "ML_100k"],
    "readers": ["CSV", "Parquet"],
    "analyses": ["Ties", "default"],
    "trackers": ["MLFlow", "WandB"],
    "commands": ["Run", "REPORT"],
    "candidates": ["Rated", "CATALOGUE"],
    "plots": ["Spread", "ndcg_over_k"],
    "sources": ["Libraries"],
    "executors": ["Dask"],
    "openers": ["HTTPS", "Gs"],
}


@pytest.mark.parametrize("kind", plugins.KINDS)
def test_no_spelling_and_no_word_of_this_package_can_be_taken(site, kind):
    taken = OTHER_SPELLINGS[kind] + [name.upper() for name in plugins.builtin_names(kind)]
    free = dict.fromkeys(("mine", "svd-of-mine"), f"free_{kind}:x")
    targets = dict.fromkeys(taken, "thief:x")
    before = plugins.names(kind)
    install(site, "thief", "3", {kind: targets | free}, thief="raise SystemExit")
    plugins.refresh()
    assert plugins.names(kind) == [*before, *sorted(free)]
    reasons = {each.name: text for each, text in plugins.declared(kind) if each.package == "thief"}
    assert all(reasons[name] == "" for name in free)
    for name in targets:
        assert f"{name!r} is a name of surprise-harness itself" in reasons[name]
        if name not in plugins.builtin_names(kind):
            with pytest.raises(PluginError, match="is not among the"):
                plugins.find(kind, name)


def test_a_package_changes_nothing_that_another_spelling_means(site):
    names = {"metrics": {"NDCG": "thief:x"}, "algorithms": {"svd": "thief:x"}}
    install(site, "thief", "3", names | {"datasets": {"bundled": "thief:x"}}, thief="x = 1")
    plugins.refresh()
    assert str(metrics.parse("NDCG@10")) == "ndcg@10"
    assert registry.canonical("svd") == "SVD"
    assert len(harness.load("bundled").ratings) > 100_000


def test_words_of_this_package_are_those_that_are_reserved():
    assert {*ALIASES} == {*plugins.WORDS["datasets"]}
    assert plugins.own_name("analyses", "Default") == "default"


@pytest.mark.parametrize(
    ("module", "said"),
    [
        (
            "import not_there_at_all\nx = 1",
            "cannot be imported .No module named 'not_there_at_all'.; in",
        ),
        ("raise SystemExit(3)", "importing 'broken' failed .SystemExit: 3.; fix the module"),
        ("y = 1", "'broken' has no 'x'; "),
        ("class x: api = 2", "written for version 2 of the interface, and this is 1; install"),
    ],
)
def test_what_cannot_be_imported_is_an_error_with_name_and_package(site, module, said):
    install(site, "shaky", "0.1", {"metrics": {"wobble": "broken:x"}}, broken=module)
    with pytest.raises(PluginError, match=f"metrics: 'wobble' of shaky 0.1: .*{said}"):
        plugins.find("metrics", "wobble").load()
    with pytest.raises(MetricError, match="wobble"):
        metrics.parse("wobble@10")
    assert "ndcg" in {definition.name for definition in metrics.describe()}


def test_an_unknown_name_gets_the_nearest_one():
    with pytest.raises(PluginError, match="did you mean 'recall'"):
        plugins.find("metrics", "recal")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("gone.py", None, "no such file; correct its path under `plugins`"),
        ("two words.py", "", "not a module; name it as mine.py"),
        ("json.py", "", "another module has the name 'json'"),
    ],
)
def test_files_that_cannot_be_plug_ins_are_refused(tmp_path, name, content, said):
    path = tmp_path / name
    if content is not None:
        path.write_text(content)
    with pytest.raises(PluginError, match=said):
        own_modules.add_files([path])


def test_reading_a_builtin_metric_reads_no_other_package():
    code = (
        "import importlib.metadata as m\n"
        "def refuse(*args, **kwargs): raise AssertionError('packages were scanned')\n"
        "m.distributions = refuse\n"
        "from harness import metrics\n"
        "print(metrics.parse('ndcg@10'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "ndcg@10\n", done.stderr


FAILING = """
class Raises:
    def fit(self, train):
        raise ValueError("cannot fit")

    def estimate(self, users, items):
        return users
"""


def test_a_failed_row_names_the_package_of_its_algorithm(site):
    install(site, "bad-shop", "1.0", {"algorithms": {"raises": "bad:Raises"}}, bad=FAILING)
    sizes = {"n_users": 30, "n_items": 20, "n_ratings": 200}
    config = {"dataset": {"synthetic": sizes}, "algorithms": ["raises", "ItemMean"]}
    run = harness.run(config | {"metrics": ["rmse"], "baselines": False}, results=None)
    (failed,) = run.failed
    assert failed.algorithm == "raises"
    assert failed.error.startswith("ValueError: cannot fit")
    assert failed.error.endswith("(bad-shop 1.0)")
