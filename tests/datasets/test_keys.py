"""Which keys a file can have is seen by what it is; by its ending where there is no file."""

import pytest

import harness
from harness.config.load import load as load_config
from harness.datasets.readers import kind_of_file, reader_named, unused
from harness.datasets.readers.base import OF_TABLES, OF_TEXT
from harness.errors import ConfigError, DataError
from harness.plugins import registry as plugins
from tests.plugins.test_plugins import install

VALUES = {
    "separator": ";",
    "header": True,
    "skip": 1,
    "comment": "%",
    "encoding": "utf-8",
    "quotes": "none",
    "table": "ratings",
    "query": "SELECT * FROM ratings",
}
FORMATS = plugins.builtin_names("readers")
TEXT = "user;item;rating\na;x;1\na;y;4\nb;x;5\n"
READER = """
class Bars:
    endings = (".bars",)

    def read(self, path, options):
        assert options.table in (None, "mine")
        return {"user": ["a", "b"], "item": ["x", "y"], "rating": [1, 5]}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(source, **more):
    with pytest.raises(DataError) as caught:
        harness.load(source, **more)
    return str(caught.value)


@pytest.mark.parametrize("name", FORMATS)
def test_a_key_that_means_nothing_for_a_format_is_refused_whatever_a_file_is_called(folder, name):
    reader = reader_named(name)
    assert {*reader.keys} <= VALUES.keys() == {*OF_TEXT, *OF_TABLES}
    path = folder / ("a.csv" if name != "csv" else "a.parquet")
    try:
        reader.write_example(path)
    except DataError as error:
        pytest.skip(str(error))
    if name == "matrix":  # a form that texts have, not a format of its own
        return
    has_own_kind = kind_of_file(path) == name
    for key in {*VALUES} - {*reader.keys}:
        assert unused(key, name)
        given = {"path": "a.csv", "format": name} | {key: VALUES[key]}
        assert unused(key, name) in refused(given)
        if has_own_kind:
            given = {"path": path.name, key: VALUES[key]}
            assert refused(given) == f"{path.name}: {key}: {unused(key, name)}"


def test_a_fault_of_a_file_that_is_not_there_is_at_its_key(folder):
    config = "dataset:\n  path: r.parquet\n  separator: ';'\nalgorithms: [SVD]\nmetrics: [rmse]\n"
    (folder / "c.yaml").write_text(config)
    said = r"c\.yaml:3: dataset\.separator: a Parquet file has none; leave this out"
    with pytest.raises(ConfigError, match=said):
        load_config("c.yaml")
    (folder / "r.parquet").write_text(TEXT)
    experiment, document = load_config("c.yaml")
    assert len(harness.load(experiment.dataset[0], base=document.folder)) == 3


def test_the_file_of_a_config_is_looked_for_beside_it(folder):
    (folder / "there").mkdir()
    (folder / "there/r.parquet").write_text(TEXT)
    path = folder / "there/c.yaml"
    lines = ("dataset: {path: r.parquet, separator: ';'}", "algorithms: [SVD]", "metrics: [rmse]")
    path.write_text("\n".join(lines))
    assert load_config(path)[0].dataset[0].separator == ";"


def test_a_pattern_and_an_address_are_not_judged_by_their_endings(folder, serve):
    (folder / "r-1.parquet").write_text(TEXT)
    assert len(harness.load({"path": "r-*.parquet", "separator": ";"})) == 3
    assert "has none" in refused({"path": "s-*.parquet", "separator": ";"})
    pytest.importorskip("aiohttp", reason="the extra `remote`")
    url = serve(TEXT.encode()).url
    assert len(harness.load({"path": f"{url}/r.parquet", "separator": ";"})) == 3


def test_a_run_is_read_where_its_file_is_gone(folder):
    (folder / "r.parquet").write_text(TEXT + "b;y;2\nc;x;3\nc;y;1\n")
    config = {"dataset": {"path": "r.parquet", "separator": ";"}, "algorithms": ["ItemMean"]}
    run = harness.run({**config, "metrics": ["rmse"]}, results=folder / "runs")
    (folder / "r.parquet").unlink()
    assert harness.read_run(run.folder).table.equals(run.table)


@pytest.mark.usefixtures("site")
def test_formats_of_other_packages_have_tables_and_no_text(folder, site):
    install(site, "bar-files", "2.1", {"readers": {"bars": "bars_files:Bars"}}, bars_files=READER)
    plugins.refresh()
    (folder / "a.bars").write_text("bars")
    assert len(harness.load({"path": "a.bars", "table": "mine"})) == 2
    said = "separator: a 'bars' file has none; leave this out"
    assert refused({"path": "a.bars", "separator": ";"}) == f"a.bars: {said}"
    assert refused({"path": "b.bars", "separator": ";"}) == f"dataset: {said}"
    given = {"path": "a.bars", "format": "bars", "separator": ";"}
    assert refused(given) == f"dataset: {said}"
