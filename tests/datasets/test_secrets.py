"""No secret of an address stands in anything that is written or shown."""

import json
import pickle
import re
import traceback
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

import harness
from harness._util.files import file_name
from harness.config.trackers import Tracker
from harness.errors import (
    ConfigError,
    DataError,
    Fault,
    HarnessError,
    is_masked,
    masked,
    masked_text,
    masked_value,
)
from harness.extras.trackers.files_of_run import files_of
from harness.notes.note import Note, plain

from .conftest import status, whole

SECRET = "s3cr3tPW"
DATA = b"user,item,rating\n" + b"".join(
    b"u%d,i%d,%d\n" % (user, item, (user + item) % 5 + 1)
    for user in range(30)
    for item in range(20)
    if (user + item) % 3
)
FORMS = {
    "password": "http://bob:{}@HOST/ratings.csv",
    "user": "http://{}@HOST/ratings.csv",
    "query": "http://HOST/ratings.csv?X-Amz-Signature={}",
    "query with a path": "http://HOST/ratings.csv?file=a/b.{}",
    "both": "http://bob:{0}@HOST/ratings.csv?token={0}&download=1",
}
WITH_SIGNS = st.text(st.sampled_from("ab1%:/?#@'\"()[],;.&=+"), min_size=1, max_size=12)


@given(WITH_SIGNS, st.sampled_from(["", ":80"]), st.sampled_from(["", "?k=1"]))
def test_what_is_before_the_host_and_after_the_path_is_masked(sign, port, query):
    password = SECRET + sign + SECRET
    for address in (
        f"https://bob:{password}@example.org{port}/a.csv{query}",
        f"https://example.org{port}/a.csv?k={password}",
        f"s3://bob:{password}@bucket/a.csv{query}",
    ):
        for shown in (masked(address), masked_text(f"no answer ({address}); try again")):
            assert SECRET not in shown
        assert is_masked(masked(address))
        assert masked(masked(address)) == masked(address)
        assert SECRET not in file_name(address)
        assert SECRET not in json.dumps(plain({"a": [address]}, masked_value))


@pytest.mark.parametrize(
    "text",
    [
        *("a/b?c.csv", "C:/a@b/c.csv", "https://example.org/a.csv", "me@example.org", "10:30/7"),
        *("see https://example.org/a; then b", "s3://bucket/a.csv", "a.csv:12: user 'a@b'"),
    ],
)
def test_what_has_no_secret_stays(text):
    assert masked(text) == masked_text(text) == text


def test_messages_notes_and_faults_are_masked():
    address = FORMS["both"].format(SECRET)
    shown = [
        str(HarnessError(f"{address}: gone")),
        str(pickle.loads(pickle.dumps(DataError(f"({address})")))),
        str(ConfigError("a.yaml", [Fault(1, "dataset", f"found {address!r}")])),
        Fault(1, "dataset", f"found {address!r}").message,
        json.dumps(Note("mine:gone", {"at": [address]}, where=address, text=address).to_dict()),
    ]
    for text in shown:
        assert SECRET not in text
        assert "***" in text


class Recording(Tracker):
    """Keeps whatever it is given."""

    kept: list[str] = []  # noqa: RUF012 - of the class, as each run makes an object

    def start(self, name, config):
        self.kept += [name, json.dumps(config)]

    def row(self, row):
        self.kept.append(repr(row))

    def end(self, run):
        if run is not None:
            with files_of(run) as paths:
                self.kept += [path.read_text() for path in paths]


@pytest.fixture
def place(tmp_path, monkeypatch):
    pytest.importorskip("aiohttp", reason="the extra `remote`")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    return tmp_path


def files_with_a_secret(folder):
    """Return the files, and names of them, in which the secret stands."""
    found = [path for path in folder.rglob("*") if SECRET in path.name]
    for path in folder.rglob("*"):
        if path.is_file() and SECRET.encode() in path.read_bytes():
            found.append(path)
    return [str(path.relative_to(folder)) for path in found]


def address_of(form, host):
    return form.format(SECRET).replace("HOST", host)


@pytest.mark.parametrize("form", FORMS)
def test_a_run_and_all_that_is_made_of_it_have_no_secret(place, serve, cli, form):
    host = serve(DATA, whole).url.removeprefix("http://")
    address = address_of(FORMS[form], host)
    config = place / "c.yaml"
    body = "scale: [1, 5]}\nalgorithms: [ItemMean, UserMean]\nbaselines: false\nmetrics: [rmse]\n"
    config.write_text(f'name: c\ndataset: {{path: "{address}", {body}')
    printed = []
    for command in (
        ("check", config),
        ("check", config, "--json"),
        ("run", config, "--log-file", "log.txt", "--track", "csv"),
        ("run", config, "--json", "--fresh"),
        ("report", "c"),
        ("table", "c"),
        ("table", "c", "--json"),
        ("methods", "c"),
        ("history", "c"),
        ("describe", address),
        ("describe", address, "--json"),
        ("describe", config),
    ):
        code, out, err = cli(*command)
        assert code == 0, (command, err)
        printed += [out, err]
    config.unlink()
    assert SECRET not in "".join(printed)
    assert files_with_a_secret(place) == []
    assert (place / "runs/c/report.html").is_file()
    assert masked(address) in (place / "runs/c/run.json").read_text()


def test_a_run_without_a_config_writes_none_with_a_secret(place, serve, cli):
    host = serve(DATA, whole).url.removeprefix("http://")
    address = address_of(FORMS["both"], host)
    options = ("--algorithms", "ItemMean", "--metrics", "rmse", "--log-file", "log.txt")
    for _ in range(2):  # the second finds the config of the first
        code, out, err = cli("run", "--dataset", address, *options)
        assert code == 0, err
        assert SECRET not in out + err
    assert files_with_a_secret(place) == []
    assert [path.name for path in (place / "runs").glob("*.yaml")] == ["ratings.yaml"]
    code, _, err = cli("run", "runs/ratings.yaml", "--fresh")
    assert code == 2
    assert "without its password or query, which no record keeps" in err
    code, _, err = cli("run", "runs/ratings.yaml", "--set", f"dataset.path='{address}'")
    assert code == 0, err


def test_a_tracker_is_given_no_secret(place, serve, monkeypatch):
    host = serve(DATA, whole).url.removeprefix("http://")
    monkeypatch.setattr("harness.extras.trackers.csv_file.CSVFile", Recording)
    monkeypatch.setattr(Recording, "kept", [])
    config = {
        "dataset": {"path": address_of(FORMS["both"], host)},
        "algorithms": ["ItemMean"],
        "metrics": ["rmse"],
    }
    done = harness.run(config, track="csv")
    assert len(Recording.kept) > 5
    assert SECRET not in "".join(Recording.kept)
    assert SECRET not in repr(done) + done.to_html() if hasattr(done, "to_html") else repr(done)


FAULTS = {
    "is not there": (status(404), ""),
    "fails": (status(500), ""),
    "has another hash": (whole, f", sha256: {'0' * 64}"),
    "has other columns": (whole, ", columns: {item: film}"),
    "is too large": (whole, ", most_megabytes: 0.0001"),
    "is not Parquet": (whole, ", format: parquet"),
    "is out of scale": (whole, ", scale: [1, 2]"),
    "is not asked for": (whole, ", unknown: 1"),
}


@pytest.mark.parametrize("form", ["both", "query with a path"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_message_has_no_secret(place, serve, cli, fault, form, monkeypatch):
    manner, keys = FAULTS[fault]
    host = serve(DATA, manner).url.removeprefix("http://")
    address = address_of(FORMS[form], host)
    config = place / "c.yaml"
    dataset = f'{{path: "{address}"{keys}}}'
    config.write_text(f"dataset: {dataset}\nalgorithms: [ItemMean]\nmetrics: [rmse]\n")
    printed = []
    for command in (
        ("run", config, "--log-file", "log.txt"),
        ("run", config, "--json"),
        ("--traceback", "run", config),
        ("describe", config),
    ):
        code, out, err = cli(*command)
        assert code == 2, (command, out)
        printed += [out, err]
    config.unlink()
    assert SECRET not in re.sub(r"(?m)^ .*$", "", "".join(printed))
    assert files_with_a_secret(place) == []
    section = {"path": address, "sha256": "0" * 64}
    with pytest.raises(DataError) as caught:
        harness.load(section)
    assert SECRET not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    "source",
    [
        {"name": "http://bob:{}@h/a.csv"},
        {"path": "simplecache::http://bob:{}@h/a.csv"},
        {"path": "a.csv", "items": "http://bob:{}@h/a.csv"},
        {"path": "a.csv", "at_random": "http://bob:{}@h/a.csv"},
        {"path": ["a.csv", "nothing://bob:{}@h/a.csv"]},
        "file:/bob:{}@h/a.csv",
    ],
)
def test_an_address_in_another_place_is_refused_without_its_secret(load, tmp_path, source):
    load("a.csv", DATA)
    text = json.dumps(source).replace("{}", quote(SECRET))
    with pytest.raises(DataError) as caught:
        harness.load(json.loads(text), base=tmp_path)
    assert SECRET not in "".join(traceback.format_exception_only(caught.value))
    assert "***" in str(caught.value)
