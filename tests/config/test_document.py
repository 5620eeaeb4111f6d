"""YAML is read safely, with lines, in bounded time."""

import os
from pathlib import Path

import pytest

from harness.config.document import line_of
from harness.config.yaml import parse, read
from harness.errors import ConfigError

needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="makes pipes")


def test_every_key_knows_its_line():
    assert line_of(parse("a: 1\nb:\n  - c: 2\n  - d: 3\n"), ("b", 1, "d")) == 4
    assert line_of(parse("a: 1\nb:\n  c: 2\n"), ("b", "x")) == 2  # of what is around a missing key


SIZE = 99_990
# Nine names of nine names of ... of one list.
EXPLODING = "\n".join(
    ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    + [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("- 1", "not a mapping"),
        ("a: [1", "not valid YAML"),
        ("a: 1\na: 2", "a: given twice"),
        ("a: 1\n---\nb: 2", "config:2: .*: expected a single document in the stream, but found an"),
        ("a: 1\nb 2\nc: 3", "config:2: not valid YAML: could not find expected ':'"),
        ("a: 1\nb: [2\nc: 3\n", "config:2: not valid YAML: expected ',' or ']'"),
        ("a:\n\tb: 1", "config:2: .*; use spaces in place of tabs"),
        ("a: 1\nb: *c", "config:2: not valid YAML: found undefined alias 'c'; fix the line"),
        ("a: !!python/object:os.system x", "tag .* is not allowed"),
        ("a: !!binary aGk=", "tag .* is not allowed"),
        ("? [1]\n: 2", "a key is not a plain word"),
        ("a: {<<: {b: 1}}", "merge keys"),
        ("a: &x [*x]", "not valid YAML|nested deeper"),
        ("a: " + "[" * 60 + "]" * 60, "nested deeper than 40"),
        ("a: " + "9" * 5000, r"a: '9{57}\.\.\.' is not of type int"),
        ("a: 1\n\x00", "not valid YAML"),
        (EXPLODING, "more than 5,000 values"),
        ("[" * SIZE, "nested deeper than 40 levels"),
        ("{a: " * (SIZE // 4), "nested deeper than 40 levels"),
        ("- " * (SIZE // 2), "nested deeper than 40 levels"),
        ("a: [" + "1," * (SIZE // 2), "more than 5,000 values"),
        ("a:\n" + "- x\n" * (SIZE // 4), "more than 5,000 values"),
        ("".join(f"k{n}: {n}\n" for n in range(8_000)), "more than 5,000 values"),
        ("x " * (SIZE // 2), "not a mapping"),
        ("a: '" + "x\n" * (SIZE // 2), "not valid YAML"),
    ],
    ids=lambda text: text[:30],
)
@pytest.mark.timeout(120)  # hundreds of times what refusing takes
def test_what_is_not_a_plain_short_mapping_is_refused(text, message):
    with pytest.raises(ConfigError, match=message):
        parse(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("1e-3", 0.001), ("yes", "yes"), ("2020-01-01", "2020-01-01"), ("null", None)),
        *(("0x10", 16), ("[&x [1], *x]", [[1], [1]])),
    ],
)
def test_scalars_follow_yaml_1_2_and_aliases_are_written_out(text, value):
    assert parse(f"a: {text}").data["a"] == value


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, r"a\.yaml: no such file"),
        (b"a: 1\nb: \xff\n", r"a\.yaml:2: not UTF-8"),
        (b"#" * 100_001, "larger than 100,000 bytes"),
    ],
)
def test_a_file_that_is_no_config_says_so(tmp_path, content, message):
    if content is not None:
        (tmp_path / "a.yaml").write_bytes(content)
    with pytest.raises(ConfigError, match=message):
        read(tmp_path / "a.yaml")
    with pytest.raises(ConfigError, match="is a directory"):
        read(tmp_path)


def test_a_byte_order_mark_is_skipped(tmp_path):
    (tmp_path / "a.yaml").write_bytes(b"\xef\xbb\xbfa: 1\n")
    assert read(tmp_path / "a.yaml").data == {"a": 1}


@needs_pipes
def test_a_named_pipe_is_refused_at_once(tmp_path):
    for name in ("a.yaml", "run.json"):
        os.mkfifo(tmp_path / name)
        with pytest.raises(ConfigError, match="not a regular file"):
            read(tmp_path / name)


@needs_pipes
def test_a_config_from_a_pipe_of_the_shell_is_read_and_paths_start_in_the_current_folder():
    source, sink = os.pipe()
    os.write(sink, b"dataset: ratings.csv")
    os.close(sink)
    document = read(Path(f"/dev/fd/{source}"))
    os.close(source)
    assert document.data == {"dataset": "ratings.csv"}
    assert document.folder == Path()


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no /dev/zero here")
def test_a_device_without_end_is_not_read_to_it():
    with pytest.raises(ConfigError, match="larger than 100,000 bytes"):
        read(Path("/dev/zero"))
