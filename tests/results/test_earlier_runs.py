"""No run destroys the results of another: the earlier one is kept, and every command finds it."""

import errno
import json
import os
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

import harness
from harness._util import files
from harness.errors import ResultsError
from harness.results import find_runs, open_run, read_run
from harness.results.folder import differences, earlier_runs, name_of
from harness.results.record import record_in

CONFIG = {
    "name": "tiny",
    "dataset": {"path": "ratings.csv", "scale": [1, 5]},
    "split": {"kind": "holdout", "test_size": 0.25},
    "algorithms": ["ItemMean"],
    "metrics": ["mae"],
    "baselines": False,
    "statistics": None,
}
OWN = """
import surprise

class Own(surprise.AlgoBase):
    def estimate(self, u, i):
        return {}
"""


def write_ratings(n_users):
    rows = [f"u{u},i{i},{(u * i) % 5 + 1}" for u in range(n_users) for i in range(8)]
    Path("ratings.csv").write_text("user,item,rating\n" + "\n".join(rows) + "\n")


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    write_ratings(12)
    return tmp_path / "runs"


def changed_data(config):
    write_ratings(13)
    return config


CHANGES = {
    "other data": changed_data,
    "another config": lambda config: config | {"metrics": ["mae", "rmse"]},
    "other code, versions or settings found by a search": lambda config: config,
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_earlier_run_is_kept_whole_under_its_time(results, monkeypatch, change):
    first = harness.run(CONFIG, results=results)
    assert first.earlier is None
    (first.folder / "mine.txt").write_text("written by hand")
    before = {path.name: path.read_bytes() for path in first.folder.iterdir()}
    if change.startswith("other code"):
        monkeypatch.setattr("harness.experiment.plan.NUMBERS_VERSION", -1)
    second = harness.run(CHANGES[change](CONFIG), results=results)
    time = first.info.started[:19].replace(":", "-")
    assert second.earlier == results / f"tiny@{time}"
    assert second.changed == [change]
    assert {path.name: path.read_bytes() for path in second.earlier.iterdir()} == before
    assert find_runs(results) == [second.folder, second.earlier]
    assert read_run(second.earlier).table.equals(first.table)


def test_the_same_run_takes_its_own_place(results):
    first = harness.run(CONFIG, results=results)
    (first.folder / "mine.txt").write_text("written by hand")
    same = CONFIG | {"description": "again", "execution": {"workers": 1, "time_limit": 1000}}
    again = harness.run(same, results=results)
    assert again.earlier is None
    assert find_runs(results) == [again.folder]
    assert (again.folder / "mine.txt").read_text() == "written by hand"
    assert again.info.description == "again"


@pytest.mark.long
def test_a_cell_that_failed_later_does_not_take_the_place_of_its_numbers(results, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    Path("history_rows.py").write_text(OWN.format("3.0"))
    config = CONFIG | {"algorithms": ["history_rows:Own", "ItemMean"]}
    first = harness.run(config, results=results)
    limited = config | {"execution": {"time_limit": 1e-9}}
    failed = harness.run(limited, results=results, fresh=True)
    assert failed.failed
    assert failed.earlier is not None
    assert read_run(failed.earlier).info.cells == first.info.cells
    complete = harness.run(config, results=results)
    assert complete.earlier is None  # the failed run has no number that this one lacks


@pytest.mark.parametrize("later", ["return None", "1 / 0", "return pd.DataFrame({'n': [2]})"])
def test_an_analysis_that_failed_or_differs_later_does_not_take_the_place_of_its_table(
    results, monkeypatch, later
):
    source = """
import harness
import pandas as pd

class Sizes(harness.Analysis):
    def result(self):
        {}
"""
    monkeypatch.syspath_prepend(results.parent)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    config = CONFIG | {"analyses": ["sizes:Sizes"]}
    for text in ("return pd.DataFrame({'n': [1]})", later):
        sys.modules.pop("sizes", None)
        (results.parent / "sizes.py").write_text(source.format(text))
        for _ in "ab":  # the second is the same run
            done = harness.run(config, results=results)
    sys.modules.pop("sizes", None)
    (earlier,) = earlier_runs(done.folder)
    assert read_run(earlier).analyses["sizes:Sizes"]["n"].tolist() == [1]


def test_runs_of_one_second_are_all_kept_in_their_order(results, monkeypatch):
    metrics = [["mae"], ["rmse"], ["fcp"], ["mae", "rmse"]]
    for number, labels in enumerate(metrics):
        done = harness.run(CONFIG | {"metrics": labels}, results=results)
        record = json.loads((done.folder / "run.json").read_text())
        record["started"] = "2026-11-26T02:41:07+00:00"
        del record["sha256"]
        (done.folder / "run.json").write_text(json.dumps(record))
        assert len(earlier_runs(done.folder)) == number
    folders = earlier_runs(done.folder)
    time = "tiny@2026-11-26T02-41-07"
    assert [each.name for each in folders] == [time, f"{time}-2", f"{time}-3"]
    assert [read_run(each).info.metrics for each in folders] == metrics[:3]
    assert earlier_runs(folders[1]) == folders
    assert {name_of(each) for each in find_runs(results)} == {"tiny"}


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema_version": 1, "config": 3}'])
def test_a_record_that_cannot_be_read_is_kept_too(results, text):
    first = harness.run(CONFIG, results=results)
    (first.folder / "run.json").write_text(text)
    second = harness.run(CONFIG, results=results)
    assert (second.earlier / "run.json").read_text() == text
    assert second.changed == ["a record that cannot be read"]
    assert [name_of(each) for each in find_runs(results)] == ["tiny", "tiny"]


def every_table(results):
    return sorted((each / "table.csv").read_bytes() for each in find_runs(results))


@pytest.mark.sample(4)
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EACCES])
@pytest.mark.parametrize("number", range(1, 5))
@pytest.mark.parametrize("call", ["rename", "open"])
def test_whatever_step_fails_no_run_is_lost(results, monkeypatch, call, number, code):
    harness.run(CONFIG, results=results)
    (table,) = every_table(results)
    real, n_calls = getattr(Path, call), 0

    def failing(path, *arguments, **options):
        nonlocal n_calls
        writes = call == "rename" or "xb" in arguments
        n_calls += writes and path.is_relative_to(results)
        if writes and n_calls == number:
            raise OSError(code, os.strerror(code))
        return real(path, *arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(files.Path, call, failing)
        with suppress(ResultsError):
            harness.run(CHANGES["another config"](CONFIG), results=results)
    assert read_run(results / "tiny").table is not None  # brings back what was moved aside
    assert table in every_table(results)
    harness.run(CHANGES["another config"](CONFIG), results=results)
    assert len(every_table(results)) == 2
    assert table in every_table(results)
    assert {each.name.partition("@")[0] for each in results.iterdir()} == {"tiny", ".lock"}


@pytest.mark.parametrize("is_written", [False, True])
def test_a_writer_that_was_killed_between_its_steps_loses_no_run(results, is_written):
    first = harness.run(CONFIG, results=results)
    aside = first.folder.rename(results / ".tiny.0123.old")
    if is_written:
        later = harness.run(CHANGES["another config"](CONFIG), results=results / "elsewhere")
        shutil.move(later.folder, results / "tiny")
        shutil.rmtree(results / "elsewhere")
    read = read_run(results / "tiny")
    assert not aside.exists()
    folders = earlier_runs(read.folder)
    assert len(folders) == is_written
    assert [*folders, read.folder][0].joinpath("table.csv").is_file()
    assert first.table.equals(read_run([*folders, read.folder][0]).table)


def test_writers_at_once_all_keep_their_runs(results):
    harness.run(CONFIG, results=results)
    made = [
        harness.run(CONFIG | {"seed": seed, "metrics": ["rmse", "mae"]}, results=None)
        for seed in range(6)
    ]
    with ThreadPoolExecutor(3) as pool:
        written = list(pool.map(lambda run: run.write(results), made))
    folders = find_runs(results)
    assert len(folders) == 7
    seeds = sorted(read_run(each).info.seeds[0] for each in folders)
    assert seeds == [0, 0, 1, 2, 3, 4, 5]
    assert len({run.earlier for run in written}) == 6


@pytest.mark.long
def test_every_command_that_takes_a_run_takes_an_earlier_one(results, cli):
    outputs = {"outputs": {"estimates": True, "lists": 3}, "metrics": ["ndcg@3", "mae"]}
    first = harness.run(CONFIG | outputs, results=results)
    second = harness.run(changed_data(CONFIG | outputs), results=results)
    name = second.earlier.name
    assert open_run(name, results).table.equals(first.table)
    for command in (
        ("list", "runs"),
        ("table", name),
        ("notes", name),
        ("best", name),
        ("report", name),
        ("plot", name, "--kind", "distribution"),
        ("methods", name),
        ("compare", "tiny", name, "--anyway"),
        ("evaluate", name),
        ("audit", name),
    ):
        code, out, err = cli(*command)
        assert code in (0, 1), (command, err)
        if command[0] in ("list", "table", "best", "methods", "audit"):
            assert name in " ".join(out.split()), command  # the head says which of the two
    assert "name: tiny-best" in cli("best", name)[1]  # a config's name holds no time
    assert "did you mean 'tiny@" in cli("table", name[:-2])[2]


def test_repeating_a_runs_folder_after_its_data_changed_keeps_it(results, cli):
    first = harness.run(CONFIG, results=results)
    write_ratings(13)
    code, _, err = cli("run", "-q", "runs/tiny")
    assert code == 0
    assert "tiny held another run (other data); it is kept as" in " ".join(err.split())
    (earlier,) = earlier_runs(results / "tiny")
    assert read_run(earlier).table.equals(first.table)
    harness.run(str(earlier), results=results)  # its config, with today's data
    assert earlier_runs(results / "tiny") == [earlier]


def test_what_differs_is_found_in_any_record():
    assert differences({}, {}) == ["a record that cannot be read"]
    assert record_in(Path("nowhere")) == {}


def rerun(results, n_times, keep=None):
    """Run the config on other data several times; return the last run."""
    for _ in range(n_times):
        write_ratings(Path("ratings.csv").read_text().count("i0,") + 1)
        run = harness.run(CONFIG | {"results": {"keep": keep}}, results=results)
    return run


def test_only_the_latest_earlier_runs_are_kept_where_the_config_says_so(results):
    rerun(results, 4)
    folders = earlier_runs(results / "tiny")
    assert len(folders) == 3
    run = rerun(results, 1, keep=2)
    assert run.removed == folders[:2]
    assert earlier_runs(results / "tiny") == [folders[2], run.earlier]
    assert rerun(results, 1).removed == []
    assert len(rerun(results, 1, keep=0).removed) == 4
    assert earlier_runs(results / "tiny") == []


def test_what_no_run_wrote_is_not_removed(results):
    rerun(results, 3)
    first, second = earlier_runs(results / "tiny")
    (first / "thesis.txt").write_text("mine")
    (second / "plots").mkdir()
    (second / "plots" / "a.svg").write_text("<svg/>")
    run = rerun(results, 1, keep=0)
    assert second in run.removed
    assert (first / "thesis.txt").read_text() == "mine"
    assert earlier_runs(results / "tiny") == [first]


def test_how_many_are_kept_changes_no_number_and_makes_no_other_run(results):
    first = rerun(results, 1)
    again = harness.run(CONFIG | {"results": {"keep": 5}}, results=results)
    assert (again.earlier, again.removed) == (None, [])
    assert again.table["mae"].tolist() == first.table["mae"].tolist()


def test_the_command_says_what_it_removed(results, cli):
    rerun(results, 2)
    write_ratings(30)
    Path("tiny.json").write_text(json.dumps(CONFIG | {"results": {"keep": 1}}))
    code, _, err = cli("run", "-q", "tiny.json", "--results", results)
    assert code == 0
    assert "note: 1 earlier run removed, because of `results: {keep: 1}`" in err
