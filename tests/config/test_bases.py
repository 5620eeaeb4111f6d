"""Configs that extend others: what is merged, replaced and added, paths, lines and faults."""

import pytest

from harness.config.document import line_of, source_of
from harness.config.load import load, read_config
from harness.errors import ConfigError

BASE = """\
dataset: {path: r.csv, scale: [1, 5]}
split: {kind: holdout, test_size: 0.25}
algorithms:
  - SVD
  - {name: KNNBasic, params: {k: 20}}
metrics: [ndcg@10]
tuning: {trials: 9}
"""


@pytest.fixture
def folder(tmp_path):
    """A folder with ratings and a base, which other folders may extend."""
    (tmp_path / "r.csv").write_text("user,item,rating\n1,1,1\n1,2,5\n2,1,3\n", encoding="utf-8")
    (tmp_path / "base.yaml").write_text(BASE, encoding="utf-8")
    return tmp_path


@pytest.fixture
def merged(folder):
    """Return the plain data of a config that extends the base by these lines."""

    def merged(lines, where="top.yaml"):
        path = folder / where
        path.parent.mkdir(exist_ok=True, parents=True)
        base = "base.yaml" if path.parent == folder else "../base.yaml"
        path.write_text(f"extends: {base}\n{lines}\n", encoding="utf-8")
        return read_config(path)

    return merged


@pytest.mark.parametrize(
    ("lines", "key", "expected"),
    [
        ("seed: 3", "seed", 3),
        ("split: {test_size: 0.1}", "split", {"kind": "holdout", "test_size": 0.1}),
        ("split: {kind: kfold, n_splits: 3}", "split", {"kind": "kfold", "n_splits": 3}),
        ("split: {kind: holdout}", "split", {"kind": "holdout", "test_size": 0.25}),
        ("split: kfold", "split", "kfold"),
        ("dataset: {path: s.csv}", "dataset", {"path": "s.csv", "scale": [1, 5]}),
        ("dataset: {name: ml-1m}", "dataset", {"name": "ml-1m"}),
        ("dataset: {scale: [0, 5]}", "dataset", {"path": "r.csv", "scale": [0, 5]}),
        ("metrics: [rmse]", "metrics", ["rmse"]),
        ("+metrics: [rmse, mae]", "metrics", ["ndcg@10", "rmse", "mae"]),
        ("+metrics: rmse", "metrics", ["ndcg@10", "rmse"]),
        ("+seed: [1, 2]", "seed", [1, 2]),
        ("+split: [kfold]", "split", [{"kind": "holdout", "test_size": 0.25}, "kfold"]),
        ("algorithms: [NMF]", "algorithms", ["NMF"]),
        (
            "+algorithms: [NMF]",
            "algorithms",
            ["SVD", {"name": "KNNBasic", "params": {"k": 20}}, "NMF"],
        ),
        ("tuning: {trials: 1, metric: mae}", "tuning", {"trials": 1, "metric": "mae"}),
        ("statistics: null", "statistics", None),
        ("", "tuning", {"trials": 9}),
    ],
)
def test_a_config_is_merged_into_its_base(merged, lines, key, expected):
    assert merged(lines).data[key] == expected


def test_a_name_of_the_base_gets_the_keys_of_a_mapping(folder):
    (folder / "base.yaml").write_text("dataset: ml-100k\nsplit: kfold\n", encoding="utf-8")
    lines = "extends: base.yaml\ndataset: {path: ml.zip}\nsplit: {n_splits: 3}\n"
    (folder / "top.yaml").write_text(lines, encoding="utf-8")
    data = read_config(folder / "top.yaml").data
    assert data["dataset"] == {"name": "ml-100k", "path": "ml.zip"}
    assert data["split"] == {"kind": "kfold", "n_splits": 3}


def test_paths_of_a_base_are_relative_to_it(folder, merged):
    (folder / "base.yaml").write_text(
        "dataset: [r.csv, {path: [r.csv, 'https://a.org/b.csv'], items: {path: i.csv}}, ml-100k]\n"
        "split: {kind: predefined, test: 't{fold}.csv'}\nplugins: mine.py\n"
        "algorithms: [{name: 'mine:A', depends: [data]}]\n",
        encoding="utf-8",
    )
    data = merged("+plugins: [here.py]", "sub/folder/../top.yaml").data
    first, second, third = data["dataset"]
    assert first == {"path": "../r.csv"}
    assert second == {"path": ["../r.csv", "https://a.org/b.csv"], "items": {"path": "../i.csv"}}
    assert third == "ml-100k"
    assert data["split"] == {"kind": "predefined", "test": "../t{fold}.csv"}
    assert data["plugins"] == ["../mine.py", "here.py"]
    assert data["algorithms"][0]["depends"] == ["../data"]


def test_the_data_of_a_base_in_another_folder_are_read(folder, merged, cli):
    merged("", "sub/top.yaml")
    shown = cli.done("check", folder / "sub" / "top.yaml")
    assert "3 ratings of 2 items by 2 users" in shown


def test_several_bases_and_bases_of_bases_follow_each_other(folder):
    for name, lines in {
        "one.yaml": "extends: base.yaml\nseed: 1\n+metrics: [rmse]\ntuning: {metric: rmse}\n",
        "two.yaml": "seed: 2\ntuning: {trials: 3}\n",
        "top.yaml": "extends: [one.yaml, two.yaml]\n+metrics: [mae]\n",
    }.items():
        (folder / name).write_text(lines, encoding="utf-8")
    document = read_config(folder / "top.yaml")
    assert document.data["seed"] == 2
    assert document.data["metrics"] == ["ndcg@10", "rmse", "mae"]
    assert document.data["tuning"] == {"trials": 3, "metric": "rmse"}
    places = [
        (source_of(document, ("metrics", n)), line_of(document, ("metrics", n))) for n in range(3)
    ]
    names = [(source.rpartition("/")[2].rpartition("\\")[2], line) for source, line in places]
    assert names == [("base.yaml", 6), ("one.yaml", 3), ("", 2)]


def test_the_configs_of_the_package_can_be_extended(tmp_path):
    (tmp_path / "top.yaml").write_text("extends: quickstart\n+metrics: [rr@10]\n", "utf-8")
    experiment, _ = load(tmp_path / "top.yaml")
    assert (experiment.name, experiment.metrics[-1]) == ("top", "rr@10")
    experiment, _ = load({"extends": "quickstart", "name": "mine", "algorithms": ["SVD"]})
    assert (experiment.name, experiment.algorithms[0].name) == ("mine", "SVD")


@pytest.mark.parametrize(
    ("base", "top", "message"),
    [
        ("a: [", "", "base.yaml:1: not valid YAML"),
        ("dataset: bundled\nmetric: [rmse]", "algorithms: [SVD]\nmetrics: [rmse]",
         "base.yaml:2: metric: unknown key; did you mean 'metrics'?"),
        ("dataset: bundled\nalgorithms: [SVD]", "metrics: [rmse]\n+algorithms: [SVF]",
         "top.yaml:3: algorithms[1]: unknown algorithm 'SVF'"),
        ("dataset: bundled\nsplit: {kind: kfold,\n n_splits: 1}", "split: {n_splits: 0}\n"
         "algorithms: [SVD]\nmetrics: [rmse]", "top.yaml:2: split.n_splits: "),
        ("dataset: bundled\nsplit: {kind: kfold,\n n_splits: 0}", "split: {random_state: 1}\n"
         "algorithms: [SVD]\nmetrics: [rmse]", "base.yaml:3: split.n_splits: "),
        ("seed: ${ABSENT}", "", "base.yaml:1: seed: the environment variable ABSENT is not set"),
        ("dataset: bundled", "metrics: [rmse]\n+metrics: [mae]",
         "top.yaml:3: +metrics: `+metrics` beside `metrics`; keep one"),
        ("extends: top.yaml", "", "base.yaml:1: extends: a circle of files, top.yaml extends "
         "base.yaml extends top.yaml; take one `extends` out"),
        ("extends: [base.yaml]", "", "a circle of files, "),
        ("extends: no.yaml", "", "base.yaml:1: extends: no file "),
        ("extends: 3", "", "base.yaml:1: extends: found 3; write the path of a config"),
        ("extends: r.csv", "", "r.csv' is not a config in YAML; name one, such as base.yaml"),
        ("extends: .", "", "is not a config in YAML; name one, such as base.yaml"),
    ],
)  # fmt: skip
def test_faults_name_the_file_and_line_that_they_are_in(folder, base, top, message):
    (folder / "base.yaml").write_text(base, encoding="utf-8")
    (folder / "top.yaml").write_text(f"extends: base.yaml\n{top}\n", encoding="utf-8")
    with pytest.raises(ConfigError) as info:
        load(folder / "top.yaml")
    assert message in str(info.value)


def test_a_key_written_in_python_has_no_line_of_the_base(folder):
    with pytest.raises(ConfigError) as info:
        load({"extends": "base.yaml", "split": {"test_size": "x"}}, folder=folder)
    (fault,) = info.value.faults
    assert (fault.line, fault.source, fault.key) == (0, "", "split.test_size")


def test_too_many_files_are_refused(folder):
    for number in range(30):
        extends = f"extends: b{number + 1}.yaml\n" if number < 29 else "seed: 1\n"
        (folder / f"b{number}.yaml").write_text(extends, encoding="utf-8")
    with pytest.raises(ConfigError, match="more than 20 files in all; put some together"):
        load(folder / "b0.yaml")


def test_an_addition_without_a_base_says_what_is_missing():
    data = {"dataset": "bundled", "algorithms": ["SVD"], "metrics": ["rmse"]}
    with pytest.raises(ConfigError, match="`\\+` adds to a list of another config; name that"):
        load(data | {"+algorithms": ["NMF"]})


def test_the_resolved_config_is_shown_and_runs_as_it_is(folder, monkeypatch, cli):
    monkeypatch.setenv("SHARE", "0.5")
    lines = "extends: base.yaml\nsplit: {test_size: ${SHARE}}\ndescription: $${SHARE}\n"
    (folder / "top.yaml").write_text(lines, encoding="utf-8")
    shown = cli.done("check", "--resolved", folder / "top.yaml")
    assert shown.startswith("# ")
    assert "base.yaml" in shown.split("\n")[0]
    monkeypatch.delenv("SHARE")
    (folder / "again.yaml").write_text(shown, encoding="utf-8")
    first, again = read_config(folder / "again.yaml"), load(folder / "again.yaml")[0]
    assert first.data["split"] == {"kind": "holdout", "test_size": 0.5}
    assert (again.name, again.description) == ("top", "${SHARE}")
    twice = cli.done("check", "--resolved", folder / "again.yaml")
    assert twice.split("\n")[1:] == shown.split("\n")[1:]


def test_code_of_a_base_is_listed_and_not_imported(folder, merged, cli):
    (folder / "base.yaml").write_text("plugins: mine.py\ndataset: bundled\n", encoding="utf-8")
    merged("algorithms: ['other:A']", "sub/top.yaml")
    listed = cli.done("check", "--no-code", folder / "sub" / "top.yaml")
    assert "../mine.py" in listed
    assert "other:A" in listed
