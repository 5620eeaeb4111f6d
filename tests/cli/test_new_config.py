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
from harness.config.load import load, parse, read
from harness.errors import ConfigError

TOP = Path(__file__).parents[2]
CONFIGS = sorted((TOP / "configs").glob("*.yaml"))


@pytest.fixture(scope="module")
def schema():
    return make_schema()


def faults(schema, data):
    return [error.message for error in jsonschema.Draft202012Validator(schema).iter_errors(data)]


def test_a_new_config_loads_and_names_its_schema(call, tmp_path):
    code, out, _ = call("new", "mine/first.yaml")
    assert code == 0
    assert "next: harness run mine/first.yaml" in out
    path = tmp_path / "mine" / "first.yaml"
    assert path.read_text().splitlines()[0] == FIRST_LINE
    assert json.loads((tmp_path / "mine" / "schema.json").read_text()) == make_schema()
    experiment, _ = load(path)
    assert experiment.name == "first"


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


def test_all_takes_every_algorithm_of_surprise(call, tmp_path):
    call("new", "a.yaml", "--algorithms", "all")
    experiment, _ = load(tmp_path / "a.yaml")
    assert set(registry.names("surprise")) <= {each.name for each in experiment.algorithms}


def test_every_key_stands_under_its_meaning(call, tmp_path):
    call("new", "a.yaml")
    text = " ".join((tmp_path / "a.yaml").read_text().replace("\n# ", " ").split())
    for key, field in Experiment.model_fields.items():
        if f" {key}: " in text or f"#{key}: " in text:
            assert " ".join(field.description.split()) in text


def test_what_is_commented_out_are_the_defaults(call, tmp_path):
    call("new", "a.yaml")
    path = tmp_path / "a.yaml"
    as_written, _ = load(path)
    lines = path.read_text().splitlines()
    bare = [
        line[1:] if line.startswith("#") and line[1:2] not in ("", " ") else line for line in lines
    ]
    inner = [line[1:] if line.startswith("#  ") else line for line in bare]
    assert inner != lines
    uncommented, _ = load(parse("\n".join(inner), "a.yaml").data | {"name": "a"})
    assert uncommented == as_written


def test_faults_in_the_answers_come_at_once_and_nothing_is_written(call, tmp_path):
    code, _, err = call("new", "a.yaml", "--algorithms", "SDV", "--metrics", "ndgc@3")
    assert code == 2
    assert "unknown algorithm 'SDV'; did you mean 'SVD'?" in err
    assert "unknown metric 'ndgc'; did you mean 'ndcg'?" in err
    assert list(tmp_path.iterdir()) == []


def test_a_config_that_is_there_is_kept_unless_forced(call, tmp_path):
    (tmp_path / "a.yaml").write_text("mine")
    code, _, err = call("new", "a.yaml")
    assert code == 2
    assert "exists; choose another name, or use --force" in err
    assert (tmp_path / "a.yaml").read_text() == "mine"
    assert call("new", "a.yaml", "--force")[0] == 0
    assert (tmp_path / "a.yaml").read_text().startswith(FIRST_LINE)


@pytest.mark.parametrize("content", ["{}", "not json", '{"title": "of something else"}'])
def test_a_schema_of_somebody_else_is_kept(call, tmp_path, content):
    (tmp_path / "schema.json").write_text(content)
    call("new", "a.yaml")
    assert (tmp_path / "schema.json").read_text() == content


def test_an_older_schema_is_brought_up_to_date(call, tmp_path):
    old = {"title": make_schema()["title"]}
    (tmp_path / "schema.json").write_text(json.dumps(old))
    call("new", "a.yaml")
    assert json.loads((tmp_path / "schema.json").read_text()) == make_schema()


ROWS = [(u, i, (0.5, 1, 3.5, 5)[(u * i) % 4], 10**9 + u) for u in range(1, 21) for i in range(15)]


def table(separator, *names, comma=False):
    rows = (tuple(str(v).replace(".", ",") if comma else str(v) for v in row) for row in ROWS)
    lines = [separator.join(row[: len(names)]) for row in rows]
    return "\n".join([separator.join(names), *lines]) + "\n"


@pytest.mark.parametrize(
    ("name", "content", "also"),
    [
        ("a.csv", table(",", "userId", "movieId", "rating", "timestamp"), {}),
        ("a.csv", table(",", "user", "item", "rating"), {}),
        ("a.dat", table("::", "UserID", "MovieID", "Rating"), {}),
        ("a.tsv", table("\t", "user", "item", "stars", "date"), {}),
        ("a.csv", table(";", "user", "item", "rating", comma=True), {"decimal": ","}),
        (
            "a.csv",
            table(",", "user", "item", "rating").replace("\n1,", "\né,"),
            {"encoding": "cp1252"},
        ),
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
    assert len(out.split("\n\n")[1].splitlines()) == 6
    assert max(map(len, out.splitlines())) <= 80
    section = read(tmp_path / "mine" / "c.yaml").data["dataset"]
    roles = ("user", "item", "rating", "timestamp")
    assert section == {
        "path": f"../{name}",
        "columns": dict(zip(roles, names, strict=False)),
        "scale": [0.5, 5],
        **also,
    }
    code, out, err = call("run", "-q", "mine/c.yaml", "--results", "out")
    assert code == 0, err
    assert "ItemMean" in out


def test_columns_with_unusual_names_are_named_in_one_option(call, tmp_path):
    (tmp_path / "a.csv").write_text(table(",", "who", "what", "mark"))
    code, _, err = call("new", "c.yaml", "--dataset", "a.csv")
    assert code == 2
    assert err.endswith("name them, as --columns user=NAME,item=NAME,rating=NAME\n")
    assert not (tmp_path / "c.yaml").exists()
    columns = "user=who,item=2,rating=mark"
    assert call("new", "c.yaml", "--dataset", "a.csv", "--columns", columns)[0] == 0
    section = read(tmp_path / "c.yaml").data["dataset"]
    assert section["columns"] == {"user": "who", "item": "what", "rating": "mark"}
    code, _, err = call("new", "d.yaml", "--dataset", "a.csv", "--columns", "person=who")
    assert code == 2
    assert "write role=name, as user=who" in err


def test_rows_that_need_a_decision_are_shown(call, tmp_path):
    (tmp_path / "a.csv").write_text(table(",", "user", "item", "rating") + "99,1,55\n98,1,four\n")
    code, out, _ = call("new", "c.yaml", "--dataset", "a.csv")
    assert code == 0
    assert "Before a run, these rows need a decision:" in out
    assert "a.csv:302: the rating 55 is" in out
    assert "a.csv:303: the rating 'four' is not a number" in out
    assert "next: harness check c.yaml" in out
    assert read(tmp_path / "c.yaml").data["dataset"]["scale"] == [0.5, 5]


@pytest.mark.parametrize("content", ["", "user,item,rating\n", "\0\0\0\0\0"])
def test_a_file_without_ratings_gives_no_config(call, tmp_path, content):
    (tmp_path / "a.csv").write_text(content)
    code, _, err = call("new", "c.yaml", "--dataset", "a.csv")
    assert code == 2
    assert err.startswith("a.csv")
    assert not (tmp_path / "c.yaml").exists()


def answered(tmp_path, answers, *options):
    pty = pytest.importorskip("pty", reason="no terminals to open here")
    driver, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "harness", "new", "a.yaml", *options],
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=tmp_path,
    )
    os.write(driver, answers.encode())
    out, _ = process.communicate(timeout=60)
    os.close(driver)
    os.close(terminal)
    assert process.returncode == 0, out
    experiment, _ = load(tmp_path / "a.yaml")
    return experiment, out.decode()


def test_on_a_terminal_what_is_missing_is_asked_for(tmp_path):
    experiment, out = answered(
        tmp_path, "Which?\nglobal-time\n\nSVD\n\n3\n", "--dataset", "bundled"
    )
    assert experiment.description == "Which?"
    assert experiment.split[0].kind == "global-time"
    assert experiment.seed == [3]
    assert "[]" not in out


def test_answers_are_checked_one_by_one_with_a_reason(tmp_path):
    (tmp_path / "a.csv").write_text(table(",", "who", "what", "mark", "at"))
    answers = [
        *("", "ml-100", "b.csv", "a.csv", "who", "what", "mark", "none"),
        *("nothing", "kfold", "rated", "SDV", "SVD, slope one", "ndgc@5", "ndcg@5", "x", "4"),
    ]
    experiment, out = answered(tmp_path, "\n".join(answers) + "\n")
    assert experiment.dataset[0].columns.rating == "mark"
    assert experiment.dataset[0].columns.timestamp is None
    assert [each.name for each in experiment.algorithms][:2] == ["SVD", "slope one"]
    assert (experiment.metrics, experiment.seed) == (["ndcg@5"], [4])
    for reason in (
        "no data set is called 'ml-100'; did you mean 'ml-100k'?",
        "b.csv: no such file",
        "columns: who, what, mark, at",
        "'nothing' is not one of",
        "unknown algorithm 'SDV'; did you mean 'SVD'?",
        "unknown metric 'ndgc'; did you mean 'ndcg'?",
        "'x' is not a valid",
    ):
        assert reason in out


def test_the_committed_schema_is_current(schema):
    assert json.loads((TOP / "configs" / "schema.json").read_text(encoding="utf-8")) == schema


def test_the_reference_page_is_current(schema):
    page = TOP / "docs" / "reference" / "config.md"
    assert page.read_text(encoding="utf-8") == make_reference(schema)


def test_schema_prints_what_is_committed(call):
    code, out, _ = call("schema")
    assert code == 0
    assert out == (TOP / "configs" / "schema.json").read_text(encoding="utf-8")
    assert call("schema", "--format", "markdown")[1].startswith("# Keys of a config\n")


def test_the_schema_is_a_schema(schema):
    jsonschema.Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_every_config_of_the_project_names_its_schema_first(path):
    assert path.read_text(encoding="utf-8").splitlines()[0] == FIRST_LINE
    assert (path.parent / SCHEMA_FILE).is_file()


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_every_config_of_the_project_fits_the_schema(schema, path):
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


def test_every_key_of_every_section_is_on_the_reference_page(schema):
    page = make_reference(schema)
    for section in [schema, *schema["$defs"].values()]:
        inside = next((each for each in section.get("anyOf", []) if "properties" in each), section)
        for key, value in inside["properties"].items():
            assert f"| `{key}` |" in page
            assert value.get("description"), key


def test_links_of_the_reference_page_lead_to_its_headings(schema):
    page = make_reference(schema)
    headings = {
        line[3:].lower().replace(" ", "-") for line in page.splitlines() if line[:3] == "## "
    }
    links = set(re.findall(r"\]\(#([^)]+)\)", page))
    assert links <= headings
    assert len(links) > 15
