"""``--json`` of every command: one document of one schema, with unrounded values, errors too."""

import json
import math
import shutil
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest

import harness
from harness.console.json import SCHEMA, as_data
from tests.cli.test_help import commands

RESULTS = ("--results", "runs")
CALLS = {
    "run": (("run", "one.json", *RESULTS), {"runs"}),
    "new": (("new", "my.yaml", "--dataset", "bundled"), None),
    "describe": (("describe", "one.json"), list),
    "check": (("check", "one.json"), list),
    "list": (("list", "metrics"), None),
    "table": (("table", "one", *RESULTS), {"runs"}),
    "notes": (("notes", "one", *RESULTS), list),
    "report": (("report", "one", *RESULTS), None),
    "plot": (("plot", "one", "--kind", "tradeoff", *RESULTS), None),
    "compare": (("compare", "one", "two", *RESULTS), {"runs"}),
    "history": (("history", "one", *RESULTS), {"lines", "metric"}),
    "methods": (("methods", "one", *RESULTS), {"text"}),
    "best": (("best", "one", *RESULTS), {"row", "params", "config", "evidence"}),
    "recommend": (("recommend", "one", "--top", "2", *RESULTS), list),
    "similar": (("similar", "two", "--algorithm", "KNNBasic", "--user", "1", *RESULTS), list),
    "explain": (
        ("explain", "two", "--algorithm", "KNNBasic", "--user", "1", "--item", "1", *RESULTS),
        list,
    ),
    "save": (("save", "one", "m.harness", "--algorithm", "BaselineOnly", *RESULTS), None),
    "evaluate": (("evaluate", "p.csv", "--metrics", "ndcg@2,rmse"), {"rows"}),
    "gate": (
        ("gate", "one", "--against", "one", "--row", "Random", "--old-row", "Popularity", *RESULTS),
        {"verdict"},
    ),
    "power": (("power", "one", *RESULTS), {"pairs"}),
    "verify": (("verify", "two", *RESULTS), {"equal", "rows"}),
    "audit": (("audit", "p.csv"), list),
    "conventions": (("conventions", "one", *RESULTS), list),
    "conformance": (("conformance", "mine:ndcg"), {"mine:ndcg"}),
    "reproduce": (("reproduce", "--no-runs"), dict),
    "split": (("split", "one.json"), None),
    "schema": (("schema",), {"properties"}),
    "doctor": (("doctor",), {"is_healthy", "problems", "notes", "versions", "probe"}),
    "cache list": (("cache", "list"), list),
    "cache size": (("cache", "size"), {"cells", "bytes"}),
    "cache verify": (("cache", "verify"), None),
    "cache prune": (("cache", "prune", "--older-than", "9999"), None),
    "completion": (("completion", "bash"), {"text"}),
}
"""A call of each command, and the keys that its result has, its type, or None for no result."""


def document(out):
    """What a command printed, which has to be one document of the schema in ASCII."""
    assert out.isascii()
    value = json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    jsonschema.validate(value, SCHEMA)
    assert value["version"] == harness.__version__
    return value


@pytest.fixture
def folder(call, made):
    """The current folder, with the runs of `made`, a file of another program, and a function."""
    shutil.copytree(made, Path(), dirs_exist_ok=True)
    rows = "user,item,estimate,rating\n1,1,2.5,3\n1,2,4.5,4\n2,1,4,5\n2,3,1,1\n"
    Path("p.csv").write_text(rows, encoding="utf-8")
    Path("mine.py").write_text("def ndcg(relevance, scores, k):\n    return 1.0\n")
    return Path()


def test_every_command_has_a_call():
    names = {
        " ".join(names[1:]) for names, command in commands() if not hasattr(command, "commands")
    }
    assert names == CALLS.keys()


@pytest.mark.long
@pytest.mark.parametrize("name", CALLS)
def test_every_command_prints_one_document_and_nothing_else(call, folder, name):
    words, expected = CALLS[name]
    code, out, _ = call(*words, "--json")
    value = document(out)
    assert (value["command"], value["exit"], value["error"]) == (name, code, None), value["error"]
    result = value["result"]
    if expected is None:
        assert result is None
        assert value["lines"] or value["tables"] or value["files"]
    elif isinstance(expected, type):
        assert isinstance(result, expected)
        assert result
    else:
        assert expected <= result.keys()
    for path in value["files"]:
        assert Path(path).exists()
    if name in ("new", "report", "plot", "save", "split", "run"):
        assert value["files"]


def test_a_file_of_recommendations_is_named(call, folder):
    code, out, _ = call("recommend", "one", "--top", "2", *RESULTS, "-o", "lists.csv", "--json")
    assert (code, document(out)["files"]) == (0, ["lists.csv"])


def test_the_values_of_a_run_are_those_of_its_table(call, folder):
    (run,) = document(call.done("table", "one", *RESULTS, "--json"))["result"]["runs"]
    table = harness.read_run("runs/one").table
    assert [row["ndcg@10"] for row in run["rows"]] == table["ndcg@10"].tolist()
    assert [row["algorithm"] for row in run["rows"]] == table["algorithm"].tolist()
    assert run["headline"] == "ndcg@10"
    assert run["verdicts"][0]["metric"] == "ndcg@10"


def test_scores_of_a_file_are_not_rounded(call, folder):
    result = document(call.done("evaluate", "p.csv", "--metrics", "rmse", "--json"))["result"]
    squares = [(2.5 - 3) ** 2, (4.5 - 4) ** 2, (4 - 5) ** 2, 0]
    assert result["rows"][0]["values"]["rmse"] == pytest.approx(
        math.sqrt(sum(squares) / 4), rel=1e-15
    )
    assert result["rows"][0]["users"] == 2


@pytest.mark.parametrize(
    ("words", "kind", "message"),
    [
        (("table", "none"), "ResultsError", "none: no run of this name"),
        (("table",), "usage", "Missing argument"),
        (("table", "--no-such"), "usage", "No such option"),
        (("cache", "prune", "--older-than", "x"), "usage", "'x' is not a valid float"),
        (("run", "absent.yaml"), "ConfigError", "absent.yaml: no such file"),
    ],
)
def test_an_error_is_a_document_too(call, words, kind, message):
    code, out, err = call(*words, "--json")
    value = document(out)
    assert (code, value["exit"], value["result"]) == (2, 2, None)
    assert value["error"]["kind"] == kind
    assert message in value["error"]["message"]
    assert message in " ".join(err.split())
    assert value["command"] == words[0] or value["command"] == " ".join(words[:2])


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"dataset": "absent.csv"}, "absent.csv: no such file"),
        ({"dataset": "bad.csv"}, "the rating 'x' is not a number"),
        ({"dataset": "absent.csv", "metrics": ["nope"]}, "unknown metric 'nope'"),
    ],
)
def test_whatever_would_stop_a_run_is_an_error_of_check(call, config, message):
    Path("bad.csv").write_text("user,item,rating\n1,1,3\n1,2,x\n", "utf-8")
    usual = {"dataset": "bundled", "algorithms": ["ItemMean"], "metrics": ["rmse"]}
    Path("a.json").write_text(json.dumps(usual | config), "utf-8")
    code, out, err = call("check", "a.json", "--json")
    value = document(out)
    assert (code, value["exit"]) == (2, 2)
    assert message in value["error"]["message"]
    assert " ".join(value["error"]["message"].split()) in " ".join(err.split())
    (first, *_) = value["error"]["faults"]
    assert first["source"] == "a.json"
    assert message in first["message"]
    if value["error"]["kind"] == "check":
        assert value["result"][0]["faults"] == [
            each["message"] for each in value["error"]["faults"]
        ]
    else:
        assert (value["error"]["kind"], value["result"]) == ("ConfigError", None)


def test_the_faults_of_a_config_have_their_places(call):
    Path("a.yaml").write_text("dataset: bundled\nalgorithms: [SVF]\nmetrics: [rmsd]\n", "utf-8")
    faults = document(call("check", "a.yaml", "--json")[1])["error"]["faults"]
    places = [(fault["source"], fault["line"], fault["key"]) for fault in faults]
    assert places == [("a.yaml", 2, "algorithms[0]"), ("a.yaml", 3, "metrics[0]")]


def test_without_the_option_nothing_changes_after_a_call_with_it(call):
    document(call.done("list", "configs", "--json"))
    assert call.done("list", "configs").startswith("config ")


def test_the_schema_is_printed(call):
    schema = json.loads(call.done("schema", "--format", "output"))
    assert schema == SCHEMA
    jsonschema.Draft202012Validator.check_schema(schema)


def test_values_of_libraries_become_plain_data():
    frame = pd.DataFrame({"a": [1.5, np.nan], "b": ["x", None]})
    value = {
        "n": np.int64(3),
        "x": np.float32(0.5),
        "inf": math.inf,
        "p": Path("a") / "b",
        "f": frame,
    }
    assert as_data(value) == {
        "n": 3, "x": 0.5, "inf": None, "p": "a/b",
        "f": [{"a": 1.5, "b": "x"}, {"a": None, "b": None}],
    }  # fmt: skip
