"""`harness list plugins` says what is there, and what is wrong with it; a template begins one."""

import sys
import tomllib
from pathlib import Path

import pytest

from harness.cli.new import ENDINGS, template
from harness.plugins import registry as plugins
from tests.plugins.test_plugins import install, site

__all__ = ["site"]
EXAMPLE = Path(__file__).parents[2] / "examples" / "plugin"


@pytest.fixture
def shelf(site, cli, monkeypatch):
    """Install what `harness new --plugin` writes, as pip would."""
    folder = site / "written"
    cli.done("new", "--plugin", folder)
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    groups = project["entry-points"]
    points = {group.removeprefix("harness."): named for group, named in groups.items()}
    install(site, project["name"], project["version"], points)
    plugins.refresh()  # `new` has looked what is installed
    monkeypatch.syspath_prepend(folder)
    yield folder
    for name in [name for name in sys.modules if name.partition(".")[0] == "shelf"]:
        del sys.modules[name]


def rows(text):
    return [line.split() for line in text.splitlines() if line]


def test_the_template_is_the_example(cli, tmp_path):
    out = cli.done("new", "--plugin", tmp_path / "mine")
    names = [path for path in sorted(EXAMPLE.rglob("*")) if path.suffix in ENDINGS]
    assert template() == EXAMPLE
    for path in names:
        written = tmp_path / "mine" / path.relative_to(EXAMPLE)
        assert written.read_bytes() == path.read_bytes()
        assert f"written to {written}" in out
    assert "has something in it; name a new folder" in cli.refused(
        "new", "--plugin", tmp_path / "mine"
    )
    assert "leave out FILE" in cli.refused("new", "--plugin", tmp_path / "b", "a.yaml")
    assert "name the FILE to write" in cli.refused("new")


def test_the_template_is_listed_with_its_package(cli, shelf):
    """`dev/tools/check_plugin.sh` installs it, and checks that each of its plug-ins passes."""
    kinds = {
        "DampedMean": "algorithms",
        "small_share": "metrics",
        "weekday": "splits",
        "loans": "datasets",
        "slips": "readers",
        "list-lengths": "analyses",
        "row-log": "trackers",
        "row-count": "commands",
        "shelf": "openers",
        "recent": "candidates",
        "bars": "plots",
        "shop": "sources",
        "one-by-one": "executors",
    }
    listed = rows(cli.done("list", "plugins"))
    for name, kind in kinds.items():
        assert [name, kind, "harness-shelf", "0.1", "usable"] in listed
    assert ["built", "in", "metrics", "surprise-harness"] in [row[1:5] for row in listed]
    assert ["ndcg", "metrics"] not in [row[:2] for row in listed]
    assert set(kinds.values()) == set(plugins.KINDS)


def test_lists_and_errors_name_the_package_of_a_plugin(cli, shelf):
    assert "(from harness-shelf 0.1)" in cli.done("list", "metrics")
    assert "few. (from harness-shelf 0.1)" in " ".join(cli.done("list", "algorithms").split())
    refused = cli.refused("evaluate", "p.csv", "--metrics", "smal_share@5")
    assert "did you mean 'small_share' of harness-shelf 0.1?" in refused


def test_all_names_the_builtin_ones_too(cli):
    listed = rows(cli.done("list", "plugins", "--all"))
    assert len(listed) == 1 + sum(len(plugins.builtin_names(kind)) for kind in plugins.KINDS)
    assert ["ndcg", "metrics", "surprise-harness"] in [row[:3] for row in listed]


def test_what_cannot_be_used_is_listed_with_its_reason(site, cli):
    install(
        site,
        "shaky",
        "0.1",
        {
            "metrics": {"wobble": "broken:x", "ndcg": "shaky_parts:x"},
            "splits": {"heap": "shaky_parts:x"},
            "commands": {"shake": "shaky_parts:x"},
        },
        broken="import not_there_at_all",
        shaky_parts="x = 7",
    )
    out = cli.done("list", "plugins")
    for said in (
        "No module named 'not_there_at_all'",
        "'ndcg' is a name of surprise-harness itself",
        "shaky_parts:x is not a class of a split or a filter; correct the entry point",
        "shaky_parts:x is not a click command; correct the entry point",
    ):
        assert said in " ".join(out.split())
    code, out, _ = cli("list", "plugins", "--check")
    assert code == 1
    assert "4 plug-ins with something wrong" in out


def test_names_choose_plugins_and_an_unknown_one_gets_the_nearest(cli):
    assert "ndcg     metrics" not in cli.done("list", "plugins", "rmse")
    assert "did you mean 'rmse'?" in cli.refused("list", "plugins", "rmes")
    assert "need `list plugins`" in cli.refused("list", "metrics", "--all")


@pytest.mark.parametrize(
    ("subject", "name", "other", "wrong"),
    [
        ("metrics", "ndcg", "rmse", "ndgc"),
        ("algorithms", "SVD", "NMF", "SVDD"),
        ("datasets", "ml-100k", "ml-1m", "ml-100"),
        ("configs", "quickstart", "half-stars", "quikstart"),
    ],
)
def test_names_choose_rows_of_any_list(cli, subject, name, other, wrong):
    first = [line.split()[0] for line in cli.done("list", subject, other, name).splitlines()[1:]]
    assert [word for word in first if word in {name, other}] == [other, name]
    assert name not in cli.done("list", subject, other).split()
    assert f"did you mean '{name}'?" in cli.refused("list", subject, name, wrong)
