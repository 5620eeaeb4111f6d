"""Nothing that a file holds can steer the terminal on which it is shown."""

import pytest

STEERING = "\x1b[2J\x1b]0;owned\x07"


def test_a_message_spells_out_what_steers_a_terminal(bench):
    (bench.folder / "odd.yaml").write_text('"\\e[2J\\uFEFFname": a\nalgorithms: [SVD]\n')
    code, out, err = bench.call("check", "odd.yaml")
    assert code == 2
    assert r"\x1b[2J\ufeffname: unknown key" in err
    assert (out + err).replace("\n", "").isprintable()


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (b"user,item,estimate,rating\n1,1,4,4\n1,\x1b[2J,\x07\n", "scored.csv"),
        (b"user,item,estimate,rating\n1,1,4,4\n1,2,4," + b"\0" * 500_000 + b"\n", "scored.csv"),
        (b"\xa4who,item,estimate,rating\n1,1,4,4\n", "scored.csv:1: no column for the user among"),
    ],
)
def test_faulty_data_of_any_length_are_shown_in_short_and_spelled_out(bench, lines, message):
    (bench.folder / "scored.csv").write_bytes(lines)
    code, out, err = bench.call("evaluate", "scored.csv", "--metrics", "rmse")
    assert code == 2
    assert message in err
    assert len(err) < 20_000
    assert (out + err).replace("\n", "").isprintable()


def test_labels_and_names_are_shown_spelled_out(bench):
    odd = bench.folder / f"{STEERING}.csv"
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
        assert (out + err).replace("\n", "").isprintable()


@pytest.mark.parametrize("row", ["[SVD]", "{name: [SVD]}", "{name: {a: b}}", "[[]]", "null", "3"])
def test_a_row_of_algorithms_may_be_anything_and_is_refused(bench, row):
    text = f"dataset: synthetic\nalgorithms: [{row}]\nmetrics: [rmse]\n"
    (bench.folder / "odd.yaml").write_text(text)
    code, _, err = bench.call("check", "odd.yaml")
    assert code == 2
    assert "odd.yaml:2: algorithms[0]" in err
