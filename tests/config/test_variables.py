"""Variables of the environment in a config: their values, types, defaults and faults."""

import json

import pytest
from ruamel.yaml import YAML

import harness
from harness.config.load import load
from harness.config.yaml import as_yaml
from harness.errors import ConfigError

BODY = "dataset: bundled\nalgorithms: [SVD]\nmetrics: [rmse]\n"


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Read a config with these lines, and variables of these values."""

    def read(lines, **variables):
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        (tmp_path / "c.yaml").write_text(f"{BODY}{lines}\n", encoding="utf-8")
        return load(tmp_path / "c.yaml")

    return read


@pytest.mark.parametrize(
    ("line", "value", "expected"),
    [
        ("seed: ${HERE}", "7", [7]),
        ("seed: [1, ${HERE}]", "7", [1, 7]),
        ("clip: ${HERE}", "false", False),
        ("statistics: ${HERE}", "null", None),
        ("description: ${HERE}", "a: b, [c] # d", "a: b, [c] # d"),
        ("description: in ${HERE}/x", "/data", "in /data/x"),
        ("description: ${HERE}-${HERE}", "1", "1-1"),
        ('description: "${HERE}"', "12", "12"),
        ("description: '${HERE}'", "true", "true"),
        ("description: x$HERE$", "1", "x$HERE$"),
        ("description: $${HERE}", "1", "${HERE}"),
        ("description: $${HERE", "1", "${HERE"),
        ("description: ${HERE}$${HERE}${HERE}", "a", "a${HERE}a"),
        ("description: '${ABSENT:-é: x}'", "", "é: x"),
        ("description: ${HERE:-empty}", "", "empty"),
        ("description: x${ABSENT:-}y", "", "xy"),
        ("seed: ${ABSENT:-4}", "", [4]),
        ("# ${ABSENT} in a comment\nseed: 2", "", [2]),
        ("description: |\n  ${HERE}", "long", "long"),
        ("description: ${HERE}", "${OTHER}", "${OTHER}"),  # a value is not read again
    ],
)
def test_values_are_those_of_the_environment(read, line, value, expected):
    experiment, _ = read(line, HERE=value)
    key = next(entry for entry in line.split("\n") if not entry.startswith(("#", " ")))
    found = getattr(experiment, key.partition(":")[0])
    assert (found.strip() if isinstance(found, str) else found) == expected


def test_paths_and_rows_in_braces_may_hold_variables(read):
    experiment, _ = read("tuning: {trials: ${N}, metric: '${METRIC}'}", N="7", METRIC="rmse")
    assert (experiment.tuning.trials, experiment.tuning.metric) == (7, "rmse")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "seed: ${ABSENT}",
            "c.yaml:4: seed: the environment variable ABSENT is not set; set it, or write a "
            "default, as ${ABSENT:-default}",
        ),
        ("description: ${A B}", "c.yaml:4: description: found '${A B}'; write ${NAME} or"),
        ("description: ${1A}", "c.yaml:4: description: found '${1A}'; write ${NAME} or"),
        ("description: ${HERE:+x}", "c.yaml:4: description: found '${HERE:+x}'; write"),
        ("description: ${}", "c.yaml:4: description: found '${}'; write ${NAME} or"),
        ("description: '${HERE'", "c.yaml:4: description: found '${HERE'; write ${NAME} or"),
        ("description: '${A:-${HERE}}'", "found '${A:-${HERE}}'; write ${NAME} or"),
        ("${HERE}: 1", "c.yaml:4: a variable in a key; write the key itself"),
        (
            "split: {kind: holdout, test_size: ${HERE}}",
            "c.yaml:4: split.test_size (${HERE}): found 'word'; write",
        ),
        ("seed: [${HERE}, 1", "c.yaml:4: not valid YAML"),
    ],
)
def test_faults_name_line_key_and_variable(read, line, message):
    with pytest.raises(ConfigError) as info:
        read(line, HERE="word")
    assert message in str(info.value)
    assert not any("\U000f5b00" <= character <= "\U000f5b0f" for character in str(info.value))


def test_all_missing_variables_are_named_at_once(read):
    with pytest.raises(ConfigError) as info:
        read("seed: ${ONE}\ndescription: ${TWO}")
    assert [fault.line for fault in info.value.faults] == [4, 5]


def test_a_mapping_from_python_has_variables_too(monkeypatch):
    monkeypatch.setenv("SEED", "5")
    data = {"dataset": "bundled", "algorithms": ["SVD"], "metrics": ["rmse"]}
    experiment, _ = load(data | {"seed": "${SEED}", "description": "$${SEED}"})
    assert (experiment.seed, experiment.description) == ([5], "${SEED}")
    with pytest.raises(ConfigError, match="seed: the environment variable ABSENT is not set"):
        load(data | {"seed": "${ABSENT}"})
    assert data == {"dataset": "bundled", "algorithms": ["SVD"], "metrics": ["rmse"]}


def test_an_override_may_hold_variables(read, monkeypatch, tmp_path):
    read("seed: 1", SEED="8")
    experiment, _ = load(tmp_path / "c.yaml", overrides=["seed=${SEED}"])
    assert experiment.seed == [8]


def test_a_written_config_reads_as_the_same_values(tmp_path):
    values = {"description": "${A} $${B} $", "labels": ["${C", "$${", "x"], "n": [1, None, True]}
    text = as_yaml(values)
    (tmp_path / "c.yaml").write_text(text, encoding="utf-8")
    from harness.config.yaml import read as read_file

    assert read_file(tmp_path / "c.yaml").data == values
    assert YAML(typ="safe").load(text)["n"] == values["n"]


def test_a_run_records_values_and_is_not_resolved_again(tmp_path, monkeypatch):
    monkeypatch.setenv("SIZE", "0.5")
    config = {
        "name": "r",
        "dataset": {"synthetic": {"n_users": 20, "n_items": 15, "n_ratings": 120}},
        "algorithms": ["ItemMean"],
        "metrics": ["rmse"],
        "baselines": False,
        "split": {"kind": "holdout", "test_size": "${SIZE}"},
        "description": "literal $${SIZE}",
    }
    first = harness.run(config, results=tmp_path)
    monkeypatch.delenv("SIZE")
    recorded = json.loads((tmp_path / "r" / "run.json").read_text("utf-8"))["config"]
    assert recorded["split"][0]["test_size"] == 0.5
    assert recorded["description"] == "literal ${SIZE}"
    assert "extends" not in recorded
    again = harness.run(tmp_path / "r", results=None, fresh=True)
    assert again.info.config["description"] == "literal ${SIZE}"
    assert again.table["rmse"].tolist() == first.table["rmse"].tolist()
