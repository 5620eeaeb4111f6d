"""A run from elsewhere is read whole, or refused with file, key and advice, in bounded time."""

import copy
import csv
import hashlib
import io
import itertools
import json
import math
import os
import re
import shutil
import sys
from contextlib import suppress
from functools import reduce
from operator import getitem

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import harness
from harness.comparison.runs import join
from harness.config.load import load
from harness.errors import HarnessError, ResultsError
from harness.report.methods import command, describe_cells, describe_run, methods, to_yaml
from harness.report.papers import latex, sensitivity_tables
from harness.report.plots import kinds
from harness.report.summary import summarise
from harness.results import Run, find_runs, read_run
from harness.results.record import RunInfo
from harness.results.runs import to_markdown
from harness.results.table import rounded_csv, to_csv
from harness.results.verdict import verdict_lines

FAILING = "import surprise\nclass Fails(surprise.SVD):\n    fit = lambda *_: 1 / 0\n"
COMMANDS = (
    "report made --output page.html --force",
    "plot made --output plots --force --kind tradeoff --kind differences",
    "conventions made --metric ndcg -k 5",
    "compare made other --anyway --output page.html --force",
    "list runs",
    "methods made",
    "methods made --checklist",
    *(f"table made --format {form}" for form in ("text", "markdown", "csv", "latex")),
    *(f"table made --groups --format {form}" for form in ("text", "csv", "latex")),
    "plot made --output plots --force --kind groups",
)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A run with every part that a run can have, and its description."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("made")
        patch.setenv("HARNESS_CACHE", str(folder / "cache"))
        patch.chdir(folder)
        patch.syspath_prepend(folder)
        patch.delitem(sys.modules, "failing_algorithms", raising=False)  # another folder's
        (folder / "failing_algorithms.py").write_text(FAILING)
        tuned = {"name": "KNNBasic", "search": {"k": [5, 10]}}
        failing = {"name": "failing_algorithms:Fails", "label": "Fails"}
        config = {
            "name": "made",
            "dataset": {"synthetic": {"n_users": 30, "n_items": 20, "n_ratings": 300}},
            "split": {"kind": "kfold", "n_splits": 2},
            "algorithms": [tuned, "ItemMean", "Random", failing],
            "metrics": ["ndcg@5", "rmse"],
            "tuning": {"trials": 1, "metric": "rmse"},
            "statistics": {"resamples": 100, "baseline": "Random"},
        }
        done = harness.run(config, results=folder)
        info = json.loads((done.folder / "run.json").read_text())
        del info["sha256"]
        yield done.folder, info


@pytest.fixture
def info(made):
    return copy.deepcopy(made[1])


@pytest.fixture
def write(tmp_path, made):
    """Write a record, as an attacker who knows the format would, beside the other files."""

    def write(info, name="made", users=None):
        folder = tmp_path / "runs" / name
        if not folder.exists():
            shutil.copytree(made[0], folder)
        if users is not None:
            (folder / "users.parquet").write_bytes(users)
            digest = hashlib.sha256(users).hexdigest()
            info = info | {"files": info["files"] | {"users.parquet": digest}}
        data = info if isinstance(info, bytes) else json.dumps(info).encode()
        (folder / "run.json").write_bytes(data)
        return folder

    return write


def show(run):
    """Show all words and numbers of a run that commands show; plots take longer."""
    for text in (to_csv, to_markdown, methods, describe_run, describe_cells):
        text(run.info)
    run._repr_html_()
    join([run, Run(run.info, run.users)])
    summary = summarise(run)
    (
        sensitivity_tables(summary),
        verdict_lines(run.info),
        latex(run),
        to_yaml(run.info),
        command(run.info),
    )


def test_a_record_without_its_hash_is_read_and_shown(write, info):
    folder = write(info)
    run = read_run(folder)
    assert run.info.model_dump(exclude_unset=True) == info
    assert len(run.users) == len(read_run(run.folder).users)
    show(run)


NOT_OBJECTS = (b"", b"null", b"[]", b"3", b'"run"', b"{}", b"\xff\xfe\x00")
VERSIONS = (b'"1"', b"true", b"3", b"2", b'2, "sha256": "%s"' % (b"0" * 64), b'2, "sha256": []')
NESTED = (b"[" * 1_000_000, b'{"a":' * 1_000_000)
LONG = (b"9" * 1_000_000, b'{"schema_version": 2, "cells": [' + b"[], " * 1_000_000)


@pytest.mark.parametrize(
    "text",
    [
        *(*NOT_OBJECTS, *NESTED, *LONG),
        *(b'{"schema_version": %s}' % version for version in (*VERSIONS, b"9" * 100_000)),
    ],
    ids=range(18),
)
@pytest.mark.timeout(120)
def test_what_is_no_record_is_one_line(write, text):
    folder = write(text)
    with pytest.raises(
        ResultsError, match=r"run\.json: .*; .*run (the|its) config again"
    ) as caught:
        read_run(folder)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1_000


def test_a_huge_record_is_not_read(write):
    folder = write(b"{}")
    with (folder / "run.json").open("wb") as file:
        file.truncate(3_000_000_000)  # sparse: takes no room
    with pytest.raises(ResultsError, match="larger than"):
        read_run(folder)


WRONG: list[tuple[tuple[str | int, ...], list[object], str]] = [
    (("cells",), ["all of them", {"0": {}}], "cells"),
    (("cells", 0), [None], r"cells\[0\]"),
    (("cells", 1, "fold"), [10**400, -1], r"cells\[1\]\.fold"),
    (("cells", 0, "algorithm"), [["SVD"], "x" * 20_000], r"cells\[0\]\.algorithm"),
    (("cells", 0, "scores"), [{}], "has no ndcg@5"),
    (("cells", 0, "scores", "rmse"), [0.5], r"cells\[0\]\.scores\.rmse"),
    (("cells", 0, "scores", "rmse", "mean"), ["low", float("inf")], r"scores\.rmse\.mean"),
    (("cells", 0, "fit_seconds"), [float("nan")], r"cells\[0\]\.fit_seconds"),
    (("cells", 0, "peak_mb"), ["much"], r"cells\[0\]\.peak_mb"),
    (("cells", 0, "key"), [["0"]], r"cells\[0\]\.key"),
    (("cells", 0, "error"), [["no"]], r"cells\[0\]\.error"),
    (("name",), ["../../escape", "a/b", "", 3], "name"),
    (("metrics",), [[], ["ndcg@5", "no such metric"], "ndcg@5"], "metrics"),
    (("notes",), ["one note"], "notes"),
    (("seeds",), [[0.5], []], "seeds"),
    (("config",), [[]], "config"),
    (("config", "clip"), ["yes"], r"config\.clip"),
    (("config", "dataset", 0, "synthetic"), [{"n_users": 30, "n_items": 20}], "config"),
    (("config", "statistics"), ["holm"], r"config\.statistics"),
    (("datasets",), [[{"name": "x"}]], r"datasets\[0\]\.source"),
    (("splits",), [{}], "splits"),
    (("bounds",), [[[]]], r"bounds\[0\]"),
    (("bounds", 0, "table"), ["0" * 16], "has two names, or no row"),
    (("rows",), [[]], "rows"),
    (("rows", 0, "row"), ["0" * 16], "its rows do not match its cells"),
    (("rows", 0, "row"), ["SVD"], r"rows\[0\]\.row"),
    (("rows", 0, "scores"), [{}], "has no ndcg@5"),
    (("rows", 0, "algorithm"), ["ItemMean"], "two rows have the same name"),
    (("cells", 0, "algorithm"), ["ItemMean"], "has two names"),
    (("cells", 0, "dataset"), ["other"], "has two names"),
    (("conventions", 0, "rows", 0, "scores"), [{"0" * 16: 1.0}], "unknown row"),
    (("statistics",), [[{}]], r"statistics\[0\]"),
    (("statistics", 0, "pairs"), [[1]], r"statistics\[0\]\.pairs\[0\]"),
    (("statistics", 0, "algorithms", 0, "low"), ["x"], r"algorithms\[0\]\.low"),
    (("started",), [20, "yesterday"], "started"),
    (("files",), [[]], "files"),
    (("files",), [{"users.parquet": "0"}], r"files\.users\.parquet"),
    (("unknown",), [1], "unknown: Extra inputs"),
    (("metrics",), [["ndcg@5", "ndcg@5"]], "a metric is there twice"),
    (("seeds",), [[7]], "a cell of a seed or a fold that the run does not have"),
    (("versions",), [None], "versions"),
    (("machine",), [{}], r"machine\.system"),
    (("datasets",), [[]], "datasets"),
    (("conventions",), ["all"], "conventions"),
    (("conventions",), [[{}]], r"conventions\[0\]"),
    (("conventions", 0, "rows", 0, "label"), ["no such metric"], "no such metric"),
    (("ties",), [[{"rows": []}]], r"ties\[0\]"),
]


@pytest.mark.parametrize(
    ("path", "value", "where"),
    [(path, value, where) for path, values, where in WRONG for value in values],
)
def test_a_value_of_the_wrong_kind_is_named(write, info, path, value, where):
    changed = mutated(info, path, value)
    with pytest.raises(ResultsError, match=rf"run\.json: .*{where}.*; run the config") as caught:
        read_run(write(changed))
    assert "\n" not in str(caught.value)
    with pytest.raises(ResultsError, match="not written"):  # nor would it be written
        RunInfo.checked(changed, "not written")


def places(node, path=()):
    """Yield a path to every place of a description, items of lists of one kind once."""
    seen = set()
    for key, inner in node.items() if isinstance(node, dict) else enumerate(node):
        kind = key
        if isinstance(node, list):
            kind = ("[]", tuple(inner)) if isinstance(inner, dict) else ("[]", type(inner))
        if kind in seen:
            continue
        seen.add(kind)
        yield (*path, key)
        if isinstance(inner, dict | list):
            yield from places(inner, (*path, key))


WEEK = int(os.environ.get("SEED", 0))
"""Decides which of the changes that are read are shown: CI has another one each week."""
MISSING = object()
NUMBERS = (-1, 0.5, 2, 10**400, 10**4000, math.nan, math.inf, 1e308)
TEXTS = ("", "0" * 16, "\x1b[2J\x07\u202e", "2025-13-45T99:99:99", "x" * 20_000)
VALUES = (MISSING, None, True, *NUMBERS, *TEXTS, [], [[]], {}, {"a": [{}]})


def mutated(info, path, value):
    """Copy what is changed, which shares all the rest."""
    key, *inner = path
    changed = copy.copy(info)
    if inner:
        changed[key] = mutated(info[key], inner, value)
    elif value is MISSING:
        del changed[key]
    elif value == "twice":
        changed[key] = [*info[key], info[key][0]]
    else:
        changed[key] = value
    return changed


def mutations(info):
    for path in places(info):
        yield from ((path, value) for value in VALUES)
        node = reduce(getitem, path, info)
        if isinstance(node, list) and node:
            yield path, "twice"


@pytest.mark.long
@pytest.mark.parametrize("part", range(4))
def test_every_change_of_a_record_is_refused_in_one_line_or_shown(write, made, part):
    found, n_refused, n_read = [], 0, 0
    for path, value in itertools.islice(mutations(made[1]), part, None, 4):
        try:
            run = read_run(write(mutated(made[1], path, value)))
            n_read += 1
            if n_read % 2 == WEEK % 2:
                show(run)
        except Exception as error:
            n_refused += 1
            advised = re.fullmatch(r".*run (the|its) config again", str(error))
            if not (advised and isinstance(error, ResultsError)):
                found.append((path, str(value)[:20], repr(error)[:200]))
    assert found == []
    assert n_refused > 900
    assert n_read > 90


def call_all(bench):
    """Yield each command on the run that was written, with its exit code and all it prints."""
    for words in COMMANDS:
        code, out, err = bench.call(*words.split())
        yield words, code, out + err


@pytest.mark.long
def test_a_changed_record_makes_no_traceback_in_any_command(write, made, bench):
    write(made[1], "other")
    readable = []
    for path, value in itertools.islice(mutations(made[1]), 0, None, 13):
        with suppress(ResultsError):
            read_run(write(mutated(made[1], path, value)))
            readable.append((path, value))
    assert len(readable) > 20
    for path, value in readable[WEEK % 8 :: 8]:
        write(mutated(made[1], path, value))
        for words, code, printed in call_all(bench):
            assert code in (0, 2), (path, value, words, printed)
            assert "Traceback" not in printed, (path, value, words)


STEERING = "\x1b[2J\x1b]0;owned\x07\u202e\x9b31m"


@pytest.fixture
def hostile(write, made):
    """A well-formed run whose every text steers a terminal, or is a formula."""
    info = copy.deepcopy(made[1])
    names = {"Random": f"=cmd|' /C calc'!A1{STEERING}", "ItemMean": f"@SUM(1){STEERING}"}
    places = ("dataset", "split", "candidates")
    frame = pd.read_parquet(made[0] / "users.parquet")

    def changed(node, key=None):
        if isinstance(node, dict):
            return {each: changed(inner, each) for each, inner in node.items()}
        if isinstance(node, list):
            return [changed(each, key) for each in node]
        if key in ("algorithm", "first", "second"):
            return names.get(node, node)
        steered = (*places, "method", "note", "notes", "error", "convention", "processor")
        return f"+{node}{STEERING}" if key in steered else node

    info = {
        key: value if key in ("config", "files", "splits") else changed(value, key)
        for key, value in info.items()
    }
    info |= {"description": STEERING, "config_file": f"{STEERING}.yaml", "commit": STEERING}
    info["versions"] |= {"python": STEERING}
    info["files"].pop("trials.parquet", None)  # of rows with the names from before
    frame["algorithm"] = frame["algorithm"].map(lambda name: names.get(name, name))
    for place in places:
        frame[place] = frame[place].map(lambda name: f"+{name}{STEERING}")
    data = frame.to_parquet(index=False)
    write(info | {"name": "other"}, "other", data)
    return write(info, users=data)


@pytest.mark.long
def test_no_command_prints_what_steers_a_terminal(hostile, bench):
    said = ""
    for words, code, printed in call_all(bench):
        assert code == 0, (words, printed)
        assert printed.replace("\n", "").isprintable(), words
        said += printed
    assert "owned" in said
    assert "calc" in said
    for words in ("plot made --metric={}", "run runs/made --set=algorithms=[{}]"):
        code, out, err = bench.call(*(word.format(STEERING) for word in words.split()))
        assert (code, out) == (2, "")
        assert "[2J" in err
        assert err.replace("\n", "").isprintable()


def test_a_broken_record_does_not_steer_a_terminal(write, made, bench):
    write(made[1] | {f"a{STEERING}": 1})
    for words, code, printed in call_all(bench):
        assert code == (0 if words == "list runs" else 2), (words, printed)
        assert "run.json" in printed
        assert printed.replace("\n", "").isprintable(), words


def as_spreadsheets_do(text):
    """Return the cells of a CSV file that a spreadsheet would take for formulas."""
    cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row]
    formulas = [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
    return [cell for cell in formulas if not re.fullmatch(r"-?[\d.]+", cell)]


def test_no_csv_of_a_run_holds_a_formula(hostile):
    run = read_run(hostile)
    summary = summarise(run)
    for text in (
        to_csv(run.info),
        rounded_csv(run.bounds),
        *(table.csv for table in sensitivity_tables(summary)),
        kinds()["tradeoff"](summary, "ndcg@5").csv,
    ):
        assert as_spreadsheets_do(text) == []
        assert "'=cmd" in text or "'+" in text
    found = pd.read_csv(io.StringIO(to_csv(run.info)), dtype={"algorithm": str})
    assert found["ndcg@5"].dtype == float
    names = found["algorithm"].str.replace(r"^'(?=[=+@\t\r-])", "", regex=True)
    assert names.tolist() == run.table["algorithm"].tolist()


def test_scores_of_users_hold_no_formula(bench):
    rows = [("=1+1", 4.0), ("-7", 3.0), ("@x", 2.0), ("plain", 1.0)]
    text = "".join(f"{user},{item},{item},{rating}\n" for user, rating in rows for item in "123")
    (bench.folder / "=scored.csv").write_text("user,item,estimate,rating\n" + text)
    arguments = ("--metrics", "ndcg@5", "--per-user", "out.csv")
    assert bench.call("evaluate", "=scored.csv", *arguments)[0] == 0
    out = bench.folder / "out.csv"
    assert as_spreadsheets_do(out.read_text()) == []
    assert sorted(pd.read_csv(out, dtype=str)["user"]) == ["'=1+1", "'@x", "-7", "plain"]


def parquet(table):
    data = io.BytesIO()
    pq.write_table(table, data, compression="zstd")
    return data.getvalue()


def changed_scores(**columns):
    def change(table):
        frame = table.to_pandas()
        for column, value in columns.items():
            frame[column] = value * len(frame) if isinstance(value, list) else value
        return frame.to_parquet(index=False)

    return change


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (changed_scores(row="0" * 16), "has rows of cells that run.json does not have"),
        (changed_scores(algorithm="other"), "has rows of cells that run.json does not have"),
        (changed_scores(fold=7), "has rows of cells that run.json does not have"),
        (changed_scores(rmse=float("inf")), "an infinite number in 'rmse'"),
        (changed_scores(**{"ndcg@5": "high"}), "no column 'ndcg@5'"),
        (changed_scores(**{"ndcg@5": [[1.0]]}), "no column 'ndcg@5'"),
        (lambda table: parquet(table.drop_columns(["user"])), "no column 'user'"),
        (lambda table: parquet(table.replace_schema_metadata({b"pandas": b"{[["})), "not a table"),
        (lambda table: b"", "not a table"),
        (lambda table: b"PAR1", "not a table"),
        (lambda table: b"PAR1" + b"\0" * 100 + b"PAR1", "not a table"),
        (lambda table: b"x" * 1_000, "not a table"),
    ],
)
def test_scores_of_other_cells_or_another_kind_are_refused(write, made, change, reason):
    run = read_run(write(made[1], users=change(pq.read_table(made[0] / "users.parquet"))))
    with pytest.raises(ResultsError, match=rf"users\.parquet: {reason}"):
        _ = run.users


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
    with pytest.raises(ResultsError, match=r"no run there|users\.parquet: missing; run the conf"):
        read_run(folder)
    assert find_runs(folder.parent) == ([] if name == "run.json" else [folder])


def test_a_small_file_that_unpacks_to_more_than_memory_is_refused(write, info):
    table = pa.table({"ndcg@5": pa.array(np.zeros(1_000_000))})
    data = io.BytesIO()
    with pq.ParquetWriter(data, table.schema, compression="zstd") as writer:
        for _ in range(50):
            writer.write_table(table)
    assert len(data.getvalue()) < 1_000_000
    run = read_run(write(info, users=data.getvalue()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("psutil.virtual_memory", lambda: type("M", (), {"available": 2 * 10**9}))
        with pytest.raises(ResultsError, match=r"would take . GB"):
            _ = run.users


def test_what_a_file_says_of_pandas_is_not_believed(write, info, made):
    table = pq.read_table(made[0] / "users.parquet")
    about = json.dumps({"index_columns": [], "columns": [], "pandas_version": "0", "x": "[[["})
    run = read_run(write(info, users=parquet(table.replace_schema_metadata({b"pandas": about}))))
    pd.testing.assert_frame_equal(run.users, read_run(made[0]).users)


def test_a_changed_config_in_a_record_is_refused_or_loaded_to_run_it_again(write, made):
    changes = [each for each in mutations(made[1]) if each[0][0] in ("config", "config_file")]
    n_refused = 0
    for path, value in changes[::11]:
        folder = write(mutated(made[1], path, value))
        try:
            load(folder)
        except HarnessError as error:
            assert "run.json" in str(error)  # noqa: PT017 - any other error is a traceback
            n_refused += 1
    assert n_refused > 50


def test_conventions_of_a_run_without_a_finished_cell_are_refused_in_one_line(bench, small):
    harness.run(small | {"algorithms": ["misfits:Exits"]})
    refusal = "small: no cell finished; run the config again\n"
    assert bench.call("conventions", "small") == (2, "", refusal)
    for words in ("table small", "report small", "list runs"):
        assert bench.call(*words.split())[0] == 0
