"""``harness new`` and ``harness schema``: a config to start from, and what an editor needs."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from harness.algorithms import registry
from harness.cli.new import FIRST_LINE, SCHEMA_FILE
from harness.cli.schema import make_reference, make_schema
from harness.config.experiment import Experiment
from harness.config.load import load
from harness.config.yaml import parse, read
from harness.console.answers import SPLITS
from harness.errors import ConfigError

TOP = Path(__file__).parents[2]
CONFIGS = sorted((TOP / "configs").glob("*.yaml"))


@pytest.fixture(scope="module")
def schema():
    return make_schema()


def faults(schema, data):
    return [error.message for error in jsonschema.Draft202012Validator(schema).iter_errors(data)]


def test_a_new_config_loads_and_every_key_stands_under_its_meaning(call, tmp_path, schema):
    out = call.done("new", "mine/my first.yaml")
    assert "next: harness run 'mine/my first.yaml'" in out
    path = tmp_path / "mine" / "my first.yaml"
    lines = path.read_text().splitlines()
    assert lines[0] == FIRST_LINE
    assert json.loads((tmp_path / "mine" / "schema.json").read_text()) == schema
    as_written, _ = load(path)
    assert as_written.name == "my-first"
    text = " ".join("\n".join(lines).replace("\n# ", " ").split())
    for key, meaning in Experiment.meanings().items():
        if f" {key}: " in text or f"#{key}: " in text:
            assert " ".join(meaning.split()) in text
    assert Experiment.meanings().keys() == Experiment.model_fields.keys()
    assert not [line for line in lines if line.count("{") != line.count("}") or line.endswith(" ")]
    # What is commented out are the defaults.
    bare = [line[1:] if re.match("#(  |[^ ])", line) else line for line in lines]
    assert bare != lines
    uncommented, _ = load(parse("\n".join(bare), "a.yaml").data | {"name": "my-first"})
    assert uncommented == as_written


def test_a_new_config_holds_what_was_asked_for(call, tmp_path):
    call(
        *("new", "a.yaml", "--dataset", "ml-100k", "--split", "kfold", "--candidates", "catalogue"),
        *("--algorithms", "SVD++, slope one", "--metrics", "ndcg@5,10,rmse", "--seed", "7"),
        *("--description", "What: is 'best'? # really"),
    )
    experiment, _ = load(tmp_path / "a.yaml")
    assert experiment.description == "What: is 'best'? # really"
    assert experiment.dataset[0].name == "ml-100k"
    assert experiment.split[0].describe() == "5-fold"
    assert experiment.candidates[0].describe() == "catalogue"
    assert [each.name for each in experiment.algorithms][:2] == ["SVD++", "slope one"]
    assert experiment.metrics == ["ndcg@5", "ndcg@10", "rmse"]
    assert experiment.seed == [7]
    call("new", "b.yaml", "--algorithms", "all")
    experiment, _ = load(tmp_path / "b.yaml")
    assert set(registry.names("surprise")) <= {each.name for each in experiment.algorithms}


@pytest.mark.parametrize("command", [["new", "a.yaml"], ["run", "--dataset", "bundled"]])
def test_an_override_changes_its_own_config_only(call, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    rest = [] if command[0] == "new" else ["--algorithms", "Random"]
    call.done(*command, *rest, "--set", "split.test_size=0.1")
    assert SPLITS["holdout"] == {"kind": "holdout", "test_size": 0.2}


def test_what_was_assumed_is_said_as_the_config_spells_it_out(call, tmp_path):
    (tmp_path / "a.csv").write_text("7,10,4\n8,11,2\n8,10,0\n9,11,5\n9,10,1\n")
    _, out, _ = call("new", "a.yaml", "--dataset", "a.csv", "--algorithms", "ItemMean", "-y")
    written = read(tmp_path / "a.yaml").data["dataset"]
    assert written["columns"] == {"user": 1, "item": 2, "rating": 3}
    (order, zeros) = [line for line in out.splitlines() if line.startswith("note: ")]
    assert "`columns: {user: 2, item: 1}` gives another order" in order
    assert "`not_rated: [0]` drops it" in zeros


def test_faults_in_the_answers_come_at_once_and_nothing_is_written(call, tmp_path):
    err = call.refused("new", "a.yaml", "--algorithms", "SDV", "--metrics", "ndgc@3")
    assert "unknown algorithm 'SDV'; did you mean 'SVD'?" in err
    assert "unknown metric 'ndgc'; did you mean 'ndcg'?" in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "is_ours"),
    [
        ("{}", False),
        ("not json", False),
        ('{"title": "of something else"}', False),
        ('{"title": "A config of harness"}', True),
    ],
)
def test_an_older_schema_is_replaced_and_that_of_another_program_kept(
    call, tmp_path, schema, content, is_ours
):
    (tmp_path / "schema.json").write_text(content)
    call("new", "a.yaml")
    written = (tmp_path / "schema.json").read_text()
    assert json.loads(written) == schema if is_ours else written == content


ROWS = [(u, i, (0.5, 1, 3.5, 5)[(u * i) % 4], 10**9 + u) for u in range(1, 21) for i in range(15)]


def table(separator, *names, comma=False):
    rows = (tuple(str(v).replace(".", ",") if comma else str(v) for v in row) for row in ROWS)
    lines = [separator.join(row[: len(names)]) for row in rows]
    return "\n".join([separator.join(names), *lines]) + "\n"


USUAL = table(",", "user", "item", "rating")


@pytest.mark.parametrize(
    ("name", "content", "also"),
    [
        ("a.csv", table(",", "userId", "movieId", "rating", "timestamp"), {}),
        ("a.csv", USUAL, {}),
        ("a.dat", table("::", "UserID", "MovieID", "Rating"), {}),
        ("a.tsv", table("\t", "user", "item", "stars", "date"), {}),
        ("a.csv", table(";", "user", "item", "rating", comma=True), {"decimal": ","}),
        ("a.csv", USUAL.replace("\n1,", "\nJosé,"), {"encoding": "cp1252"}),
    ],
)
def test_a_file_of_ratings_is_read_and_its_config_runs(call, tmp_path, name, content, also):
    (tmp_path / name).write_bytes(content.encode(also.get("encoding", "utf-8")))
    names = re.split("[,;:\t]+", content.splitlines()[0])
    code, out, err = call(
        "new", "mine/c.yaml", "--dataset", name, "--algorithms", "ItemMean", "--metrics", "rmse"
    )
    assert (code, err) == (0, "")
    assert "a: 300 ratings of 15 items by 20 users, 0.5 to 5" in out
    assert f"user ({names[0]})" in out
    said = [line for line in out.splitlines() if line.startswith("note: ")]
    assert [line.split(";")[0] for line in said] == ["note: not UTF-8"] * ("encoding" in also)
    assert len(out.split("\n\n")[1].splitlines()) == 6
    assert max(map(len, out.splitlines())) <= 80
    section = read(tmp_path / "mine" / "c.yaml").data["dataset"]
    columns = dict(zip(("user", "item", "rating", "timestamp"), names, strict=False))
    assert section == {"path": f"../{name}", "columns": columns, "scale": [0.5, 5], **also}
    assert "ItemMean" in call.done("run", "-q", "mine/c.yaml", "--results", "out")


def test_columns_with_unusual_names_are_named_in_one_option(call, tmp_path):
    (tmp_path / "a.csv").write_text(table(",", "who", "what", "mark"))
    for force in ([], ["--force"]):  # the data is not replaced by a config
        advice = "`harness new a.yaml --dataset a.csv`"
        assert advice in call.refused("new", "a.csv", "--yes", *force).replace("\n", " ")
    err = call.refused("new", "c.yaml", "--dataset", "a.csv")
    assert err.endswith("name them, such as `--columns user=who,item=what,rating=mark`\n")
    assert not (tmp_path / "c.yaml").exists()
    columns = "user=who,item=2,rating=mark"
    assert call("new", "c.yaml", "--dataset", "a.csv", "--columns", columns)[0] == 0
    section = read(tmp_path / "c.yaml").data["dataset"]
    assert section["columns"] == {"user": "who", "item": "what", "rating": "mark"}
    (tmp_path / "bare.csv").write_text("7,30,film,.5\n7,10,film,4\n")
    columns = "user=1,item=2,rating=4"
    out = call.done("new", "b.yaml", "--dataset", "bare.csv", "--columns", columns)
    assert "bare: 2 ratings of 2 items by 1 user, 0.5 to 4" in out
    section = read(tmp_path / "b.yaml").data["dataset"]
    assert section["columns"] == {"user": 1, "item": 2, "rating": 4}
    (tmp_path / "b.csv").write_text("user,item\n1,30\n")
    err = call.refused("new", "d.yaml", "--dataset", "b.csv")
    assert err.startswith("b.csv:1: no column of ratings beside user and item; add one, of 1s")
    err = call.refused("new", "d.yaml", "--columns", columns)
    assert err == "--columns: needs a file of ratings; give one with --dataset\n"
    err = call.refused("new", "d.yaml", "--dataset", "a.csv", "--columns", "person=who")
    assert "write role=name, such as user=who" in err


@pytest.mark.parametrize(
    ("rows", "scale", "note", "decisions"),
    [
        (
            "99,1,55\n98,1,four\n",
            [0.5, 5],
            "note: 1 rating lies outside the scale 0.5 to 5.\n",
            ["a.csv:302: the rating 55 is", "a.csv:303: the rating 'four' is not a number"],
        ),
        (
            "99,1,9\n",
            [0.5, 9],
            "note: 1 rating is 9, outside the 0.5 to 5 of all others, and the scale includes it; "
            "if it is a mistake, write `scale: [0.5, 5]` with `out_of_scale: drop`.\n",
            [],
        ),
    ],
)
def test_rows_that_need_a_decision_and_a_lone_rating_at_an_end_are_shown(
    call, tmp_path, rows, scale, note, decisions
):
    (tmp_path / "a.csv").write_text(USUAL + rows)
    out = call.done("new", "c.yaml", "--dataset", "a.csv")
    assert note in out
    assert ("Decide what to do with these rows before a run:" in out) == bool(decisions)
    assert all(decision in out for decision in decisions)
    assert f"next: harness {'check' if decisions else 'run'} c.yaml" in out
    assert read(tmp_path / "c.yaml").data["dataset"]["scale"] == scale
    comment = (tmp_path / "c.yaml").read_text().replace("\n# ", " ")
    assert note.removeprefix("note: ").strip() in comment


@pytest.mark.parametrize(
    "content", ["", "user,item,rating\n", "\0\0\0\0\0", "user,item,rating,time\n1,2,3,4/1/20\n"]
)
def test_a_file_without_ratings_gives_no_config(call, tmp_path, content):
    (tmp_path / "a.csv").write_text(content)
    err = call.refused("new", "c.yaml", "--dataset", "a.csv")
    assert err.startswith("a.csv")
    assert "policies" not in err
    (tmp_path / "a.csv.gz").write_bytes(b"\x1f\x8b\0")
    assert "a.csv.gz: cannot be unpacked" in call.refused("new", "c.yaml", "--dataset", "a.csv.gz")
    assert not (tmp_path / "c.yaml").exists()


def answered(tmp_path, *answers, options=()):
    pty = pytest.importorskip("pty", reason="no terminals to open here")
    driver, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "harness", "new", "a.yaml", *options],
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=tmp_path,
    )
    os.write(driver, "".join(f"{answer}\n" for answer in answers).encode())
    out, _ = process.communicate(timeout=60)
    os.close(driver)
    os.close(terminal)
    assert process.returncode == 0, out
    experiment, _ = load(tmp_path / "a.yaml")
    return experiment, out.decode()


def test_on_a_terminal_what_is_missing_is_asked_for(tmp_path):
    answers = ("Which?", "global-time", "", "SVD", "", "3")
    experiment, out = answered(tmp_path, *answers, options=("--dataset", "bundled"))
    assert experiment.description == "Which?"
    assert experiment.split[0].kind == "global-time"
    assert experiment.seed == [3]
    assert "[]" not in out


def test_answers_are_checked_one_by_one_with_a_reason(tmp_path):
    (tmp_path / "a.csv").write_text(table(",", "who", "what", "mark", "at"))
    experiment, out = answered(
        tmp_path,
        *("", "ml-100", "b.csv", "a.csv", "who", "what", "mark", "none"),
        *("nothing", "kfold", "rated", "SDV", "SVD, slope one", "ndgc@5", "ndcg@5", "x", "4"),
    )
    assert experiment.dataset[0].columns.rating == "mark"
    assert experiment.dataset[0].columns.timestamp is None
    assert [each.name for each in experiment.algorithms][:2] == ["SVD", "slope one"]
    assert (experiment.metrics, experiment.seed) == (["ndcg@5"], [4])
    for reason in (
        "no data set is called 'ml-100', and no file in ",
        "did you mean 'ml-100k'?",
        "b.csv: no such file",
        "columns: who, what, mark, at",
        "'nothing' is not one of",
        "unknown algorithm 'SDV'; did you mean 'SVD'?",
        "unknown metric 'ndgc'; did you mean 'ndcg'?",
        "'x' is not a valid",
    ):
        assert reason in out


def test_of_a_file_without_a_header_the_positions_are_asked_for(tmp_path):
    (tmp_path / "a.csv").write_text("7,30,film,.5\n7,10,film,4\n")
    answers = ("", "a.csv", "1", "2", "4", "none", "", "", "ItemMean", "", "")
    experiment, out = answered(tmp_path, *answers)
    assert "columns: 1 (7), 2 (30), 3 (film), 4 (.5)" in out
    columns = experiment.dataset[0].columns
    assert (columns.user, columns.item, columns.rating) == (1, 2, 4)


def test_what_is_committed_is_what_the_command_prints(call, schema):
    assert call("schema") == (0, (TOP / "configs" / "schema.json").read_text("utf-8"), "")
    page = (TOP / "docs" / "reference" / "config.md").read_text("utf-8")
    assert call("schema", "--format", "markdown") == (0, page, "")
    assert "; one or a list | `0` | The run's seed" in page
    jsonschema.Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_every_config_of_the_project_names_its_schema_first_and_fits_it(schema, path):
    assert path.read_text(encoding="utf-8").splitlines()[0] == FIRST_LINE
    assert (path.parent / SCHEMA_FILE).is_file()
    assert faults(schema, read(path).data) == []


SMALL = {"dataset": "bundled", "algorithms": ["SVD"], "metrics": ["ndcg@10"]}


@pytest.mark.parametrize(
    "change",
    [
        {"splitt": "kfold"},
        {"split": "kfolds"},
        {"split": {"kind": "kfold", "n_split": 3}},
        {"split": {"kind": "holdout", "validation": "holdouts"}},
        {"candidates": "all"},
        {"candidates": {"kind": "rated", "n": 5}},
        {"algorithms": []},
        {"algorithms": "SVD"},
        {"algorithms": [{"name": "SVD", "parms": {}}]},
        {"seed": -1},
        {"seed": "0"},
        {"execution": {"workers": 0}},
        {"clip": "yes"},
    ],
    ids=str,
)
def test_what_the_schema_refuses_the_harness_refuses_too(schema, change):
    assert faults(schema, SMALL | change)
    with pytest.raises(ConfigError, match=f"^config: {next(iter(change))}"):
        load(SMALL | change)


@pytest.mark.parametrize(
    "change",
    [
        {"algorithms": ["SVD++", "my.module:Own", {"name": "slope one"}]},
        {"split": ["kfold", {"kind": "holdout", "validation": "holdout"}]},
        {"candidates": ["rated", {"kind": "sampled", "n": 5}]},
        {"dataset": [{"name": "ml-100k"}, "ratings.csv"]},
        {"seed": [0, 1]},
        {"statistics": None},
        {"name": "mine", "tuning": {"method": "grid", "trials": 3}},
    ],
    ids=str,
)
def test_what_the_harness_takes_the_schema_takes_too(schema, change):
    assert faults(schema, SMALL | change) == []
    Experiment.model_validate({"name": "x"} | SMALL | change)


def test_an_editor_is_offered_every_algorithm(schema):
    offered = schema["$defs"]["AlgorithmConfig"]["properties"]["name"]["anyOf"][0]["enum"]
    assert offered == list(registry.algorithms())
    assert schema["properties"]["algorithms"]["items"]["anyOf"][0]["anyOf"][0]["enum"] == offered


def test_the_reference_page_has_every_key_and_its_links_lead_to_headings(schema):
    page = make_reference(schema)
    for section in [schema, *schema["$defs"].values()]:
        inside = next((each for each in section.get("anyOf", []) if "properties" in each), section)
        for key, value in inside["properties"].items():
            assert f"| `{key}` |" in page
            assert value.get("description"), key
    titles = re.findall("^## (.*)$", page, re.MULTILINE)
    links = set(re.findall(r"\]\(#([^)]+)\)", page))
    assert links <= {title.lower().replace(" ", "-") for title in titles}
    assert len(links) > 15
