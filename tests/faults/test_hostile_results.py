"""A results folder from a stranger gives one clear line, in bounded time and memory."""

import copy
import hashlib
import io
import json
import os
import time

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import harness
from harness.errors import HarnessError, ResultsError
from harness.report.summary import summarise
from harness.results import Run, find_runs, read_run
from harness.results.compare import join, open_run
from harness.results.table import display_table, to_csv, to_markdown


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A run as it is written, and its description."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("made")
        patch.setenv("HARNESS_CACHE", str(folder / "cache"))
        config = {
            "name": "made",
            "dataset": {"synthetic": {"n_users": 40, "n_items": 30, "n_ratings": 600}},
            "split": {"kind": "kfold", "n_splits": 2},
            "algorithms": ["BaselineOnly", "ItemMean", "Random"],
            "metrics": ["ndcg@5", "rmse"],
            "statistics": {"resamples": 100},
        }
        done = harness.run(config, results=folder)
        info = json.loads((done.folder / "run.json").read_text())
        del info["sha256"]
        yield done.folder, info


@pytest.fixture
def write(tmp_path, made):
    """Write a description, as somebody who knows the format would, beside the other files."""
    source, _ = made

    def write(text, name="made"):
        folder = tmp_path / "results" / name
        folder.mkdir(parents=True, exist_ok=True)
        for each in ("table.csv", "bounds.csv", "table.md", "users.parquet"):
            (folder / each).write_bytes((source / each).read_bytes())
        data = text if isinstance(text, bytes) else json.dumps(text).encode()
        (folder / "run.json").write_bytes(data)
        return folder

    return write


@pytest.fixture
def info(made):
    return copy.deepcopy(made[1])


def test_a_description_without_its_hash_is_read(write, info):
    run = read_run(write(info))
    assert run.info.model_dump(exclude_unset=True) == info
    assert len(run.users) == len(read_run(run.folder).users)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"null",
        b"[]",
        b"3",
        b'"run"',
        b"{}",
        b"[" * 1_000_000,
        b'{"a":' * 1_000_000,
        b"9" * 1_000_000,
        b'{"schema_version": ' + b"9" * 100_000 + b"}",
        b"\xff\xfe\x00",
        b'{"schema_version": 2, "cells": [' + b"[], " * 1_000_000,
        b'{"schema_version": "1"}',
        b'{"schema_version": true}',
        b'{"schema_version": 3}',
        b'{"schema_version": 2}',
        b'{"schema_version": 2, "sha256": "' + b"0" * 64 + b'"}',
        b'{"schema_version": 2, "sha256": []}',
    ],
    ids=range(18),
)
def test_what_is_no_description_is_one_line_at_once(write, text):
    folder = write(text)
    begun = time.process_time()
    with pytest.raises(
        ResultsError, match=r"run\.json: .*; .*run (the|its) config again"
    ) as caught:
        read_run(folder)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1_000
    assert time.process_time() - begun < 5


def test_a_huge_description_is_not_read(write, tmp_path):
    folder = write(b"{}")
    with (folder / "run.json").open("wb") as file:
        file.truncate(3_000_000_000)  # sparse: takes no room
    with pytest.raises(ResultsError, match="larger than"):
        read_run(folder)


@pytest.mark.parametrize(
    ("path", "value", "where"),
    [
        (("cells",), "all of them", "cells"),
        (("cells",), {"0": {}}, "cells"),
        (("cells", 0), None, r"cells\[0\]"),
        (("cells", 1, "fold"), 10**400, r"cells\[1\]\.fold"),
        (("cells", 1, "fold"), -1, r"cells\[1\]\.fold"),
        (("cells", 0, "algorithm"), ["SVD"], r"cells\[0\]\.algorithm"),
        (("cells", 0, "algorithm"), "x" * 20_000, r"cells\[0\]\.algorithm"),
        (("cells", 0, "scores"), {}, "has no ndcg@5"),
        (("cells", 0, "scores", "rmse"), 0.5, r"cells\[0\]\.scores\.rmse"),
        (("cells", 0, "scores", "rmse", "mean"), "low", r"scores\.rmse\.mean"),
        (("cells", 0, "scores", "rmse", "mean"), float("inf"), r"scores\.rmse\.mean"),
        (("cells", 0, "fit_seconds"), float("nan"), r"cells\[0\]\.fit_seconds"),
        (("cells", 0, "peak_mb"), None, r"cells\[0\]\.peak_mb"),
        (("cells", 0, "key"), ["0"], r"cells\[0\]\.key"),
        (("cells", 0, "error"), ["no"], r"cells\[0\]\.error"),
        (("name",), "../../escape", "name"),
        (("name",), "a/b", "name"),
        (("name",), "", "name"),
        (("name",), 3, "name"),
        (("metrics",), [], "metrics"),
        (("metrics",), ["ndcg@5", "no such metric"], "metrics"),
        (("metrics",), "ndcg@5", "metrics"),
        (("notes",), "one note", "notes"),
        (("seeds",), [0.5], "seeds"),
        (("seeds",), [], "seeds"),
        (("config",), [], "config"),
        (("config", "clip"), "yes", r"config\.clip"),
        (("config", "statistics"), "holm", r"config\.statistics"),
        (("datasets",), [{"name": "x"}], r"datasets\[0\]\.source"),
        (("splits",), {}, "splits"),
        (("bounds",), [[]], r"bounds\[0\]"),
        (("bounds", 0, "table"), "0" * 16, "has two names, or no row"),
        (("rows",), [], "rows"),
        (("rows", 0, "row"), "0" * 16, "its rows are not those of its cells"),
        (("rows", 0, "row"), "SVD", r"rows\[0\]\.row"),
        (("rows", 0, "scores"), {}, "has no ndcg@5"),
        (("rows", 0, "algorithm"), "ItemMean", "two rows have the same name"),
        (("cells", 0, "algorithm"), "ItemMean", "has two names"),
        (("cells", 0, "dataset"), "other", "has two names"),
        (("conventions", 0, "rows", 0, "scores"), {"0" * 16: 1.0}, "unknown row"),
        (("statistics",), [{}], r"statistics\[0\]"),
        (("statistics", 0, "pairs"), [1], r"statistics\[0\]\.pairs\[0\]"),
        (("statistics", 0, "algorithms", 0, "low"), "x", r"algorithms\[0\]\.low"),
        (("started",), 20, "started"),
        (("files",), [], "files"),
        (("files",), {"users.parquet": "0"}, r"files\.users\.parquet"),
    ],
)
def test_a_value_of_the_wrong_kind_is_named(write, info, path, value, where):
    target = info
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = value
    with pytest.raises(ResultsError, match=rf"run\.json: {where}|run\.json: .*{where}") as caught:
        read_run(write(info))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "name", ["../made/table.csv", "/etc/hostname", "..", ".", "a/b", "a\x00b", "table.csv/"]
)
def test_names_of_files_cannot_leave_the_folder(write, info, name):
    info["files"] = {name: "0" * 64}
    with pytest.raises(ResultsError, match="missing; run the config again"):
        read_run(write(info))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("name", ["run.json", "users.parquet"])
def test_a_named_pipe_is_not_waited_for(write, info, name):
    folder = write(info)
    (folder / name).unlink()
    os.mkfifo(folder / name)
    with pytest.raises(ResultsError, match=r"no run there|missing"):
        read_run(folder)
    assert find_runs(folder.parent) == ([] if name == "run.json" else [folder])


def parquet(table):
    data = io.BytesIO()
    pq.write_table(table, data, compression="zstd")
    return data.getvalue()


def with_users(write, info, data):
    info["files"]["users.parquet"] = hashlib.sha256(data).hexdigest()
    folder = write(info)
    (folder / "users.parquet").write_bytes(data)
    return read_run(folder)


@pytest.mark.parametrize("data", [b"", b"PAR1", b"PAR1" + b"\0" * 100 + b"PAR1", b"x" * 1_000])
def test_scores_that_are_no_table_are_named(write, info, data):
    run = with_users(write, info, data)
    with pytest.raises(ResultsError, match=r"users\.parquet: not a table"):
        _ = run.users


def test_scores_with_columns_of_another_kind_are_named(write, info, made):
    table = pq.read_table(made[0] / "users.parquet").replace_schema_metadata(None)
    place = table.schema.get_field_index("ndcg@5")
    for column in (pa.array(["high"] * len(table)), pa.array([[1.0]] * len(table))):
        run = with_users(write, info, parquet(table.set_column(place, "ndcg@5", column)))
        with pytest.raises(ResultsError, match="no column 'ndcg@5'"):
            _ = run.users
    run = with_users(write, info, parquet(table.drop_columns(["user"])))
    with pytest.raises(ResultsError, match="no column 'user'"):
        _ = run.users


def test_a_small_file_that_unpacks_to_more_than_memory_is_refused(write, info):
    table = pa.table({"ndcg@5": pa.array(np.zeros(1_000_000))})
    data = io.BytesIO()
    with pq.ParquetWriter(data, table.schema, compression="zstd") as writer:
        for _ in range(50):
            writer.write_table(table)
    assert len(data.getvalue()) < 1_000_000
    run = with_users(write, info, data.getvalue())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("psutil.virtual_memory", lambda: type("M", (), {"available": 2 * 10**9}))
        with pytest.raises(ResultsError, match=r"would take . GB"):
            _ = run.users


def test_what_a_file_says_of_pandas_is_not_believed(write, info, made):
    table = pq.read_table(made[0] / "users.parquet")
    about = json.dumps({"index_columns": [], "columns": [], "pandas_version": "0", "x": "[[["})
    run = with_users(write, info, parquet(table.replace_schema_metadata({b"pandas": about})))
    pd.testing.assert_frame_equal(run.users, read_run(made[0]).users)
    run = with_users(write, info, parquet(table.replace_schema_metadata({b"pandas": b"{[["})))
    with pytest.raises(ResultsError, match="not a table"):
        _ = run.users


def show_everything(folder):
    """Do with a run what commands do."""
    run = read_run(folder)
    to_csv(run.info)
    to_markdown(run.info)
    display_table(run.info)
    join([run, Run(run.info, run.users)])
    run._repr_html_()
    summarise(run)


def test_what_is_read_can_be_shown(write, info):
    show_everything(write(info))


LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=20),
    st.just([]),
    st.just({}),
    st.lists(st.integers(), max_size=3),
)


@settings(max_examples=60)
@given(data=st.data())
def test_any_changed_value_is_refused_or_can_be_shown(tmp_path_factory, made, data):
    source, whole = made
    changed = copy.deepcopy(whole)
    for _ in range(data.draw(st.integers(1, 3))):
        node = changed
        while True:
            keys = sorted(node) if isinstance(node, dict) else range(len(node))
            key = data.draw(st.sampled_from(list(keys)))
            inner = node[key]
            if not isinstance(inner, dict | list) or not inner or data.draw(st.booleans()):
                break
            node = inner
        if data.draw(st.booleans()):
            node[key] = data.draw(LEAVES)
        else:
            del node[key]
    folder = tmp_path_factory.mktemp("changed") / "made"
    folder.mkdir()
    for name in ("table.csv", "bounds.csv", "table.md", "users.parquet"):
        (folder / name).write_bytes((source / name).read_bytes())
    (folder / "run.json").write_text(json.dumps(changed))
    try:
        show_everything(folder)
    except HarnessError as error:
        assert "\n" not in str(error)  # noqa: PT017 - anything else is a traceback


def test_a_run_is_found_among_broken_ones(write, info):
    write(info)
    write(b"[", name="broken")
    (write(info, name="gone") / "table.csv").unlink()
    results = write(info).parent
    assert open_run("made", results).name == "made"
    assert [each.name for each in find_runs(results)] == ["broken", "gone", "made"]
