"""Nothing that a file holds can steer the terminal on which it is told of."""

import pytest

STEERING = "\x1b[2J\x1b]0;owned\x07"


def is_plain(text):
    return all(c.isprintable() or c == "\n" for c in text)


def test_a_message_spells_out_what_steers_a_terminal(bench):
    (bench.folder / "odd.yaml").write_text('"\\e[2J\\uFEFFname": a\nalgorithms: [SVD]\n')
    code, out, err = bench.call("check", "odd.yaml")
    assert code == 2
    assert r"\x1b[2J\ufeffname: unknown key" in err
    assert is_plain(out + err)


def test_a_faulty_line_of_data_is_shown_spelled_out(bench):
    (bench.folder / "scored.csv").write_text("user,item,estimate,rating\n1,1,4,4\n1,\x1b[2J,\x07\n")
    code, out, err = bench.call("evaluate", "scored.csv", "--metrics", "rmse")
    assert code == 2
    assert is_plain(out + err)


def test_a_field_of_any_length_is_told_in_short(bench):
    (bench.folder / "scored.csv").write_bytes(
        b"user,item,estimate,rating\n1,1,4,4\n1,2,4," + b"\0" * 500_000 + b"\n"
    )
    code, _, err = bench.call("evaluate", "scored.csv", "--metrics", "rmse")
    assert code == 2
    assert "scored.csv" in err
    assert len(err) < 20_000


def test_names_of_columns_in_another_encoding_are_refused(bench):
    (bench.folder / "scored.csv").write_bytes(b"\xa4user,item,estimate,rating\n1,1,4,4\n")
    code, out, err = bench.call("evaluate", "scored.csv", "--metrics", "rmse")
    assert code == 2
    assert "scored.csv:1: no column for the user among" in err
    assert is_plain(out + err)


def test_labels_and_names_are_shown_spelled_out(bench):
    odd = bench.folder / f"{STEERING.replace('/', '')}.csv"
    odd.write_text("user,item,rating\n" + "".join(f"{u},{i},{u}\n" for u in "123" for i in "abcd"))
    config = (bench.folder / "small.yaml").read_text()
    config = config.replace(
        "dataset:", f'dataset: "{odd.name.encode("unicode_escape").decode()}"\n#'
    )
    config = config.replace("[BaselineOnly,", '[{name: SVD, label: "\\e[2Jred"}, BaselineOnly,')
    (bench.folder / "odd.yaml").write_text(config)
    for command in ("check", "run"):
        code, out, err = bench.call(command, "odd.yaml")
        assert code == 0, err
        assert "[2Jred" in out
        assert is_plain(out + err)


@pytest.mark.parametrize("row", ["[SVD]", "{name: [SVD]}", "{name: {a: b}}", "[[]]", "null", "3"])
def test_a_row_of_algorithms_may_be_anything_and_is_refused(bench, row):
    (bench.folder / "odd.yaml").write_text(
        f"dataset: synthetic\nalgorithms: [{row}]\nmetrics: [rmse]\n"
    )
    code, _, err = bench.call("check", "odd.yaml")
    assert code == 2
    assert "odd.yaml:2: algorithms[0]" in err
