"""A message about the value of an option begins with that option, before anything is fitted."""

import shutil

import pytest

CALLS = [
    ("best one --metric fcp", "--metric: one: no metric 'fcp'; use one of "),
    ("best one --algorithm SVDD", "--algorithm: one: no row 'SVDD'; "),
    ("gate one --against two --confidence 3", "--confidence: confidence 3.0; use one such as 0.95"),
    ("gate one --against two --row KNN", "--row: one: no row 'KNN'; "),
    ("plot one --baseline KNN", "--baseline: one: no baseline 'KNN'; use one of "),
    ("report one --baseline KNN", "--baseline: one: no baseline 'KNN'; use one of "),
    ("power one --metric fcp", "--metric: one: no metric 'fcp'; use one of "),
    ("history one --row KNN", "--row: one: no row 'KNN'; "),
    ("table one --metrics fcp", "--metrics: no metric 'fcp'; use one of "),
    ("run one.json --track nosuch", "--track: 'nosuch' is not among the trackers; use one of "),
    ("run one.json --columns nosuch", "--columns: no column 'nosuch'; use one of "),
    ("run --dataset bundeled --algorithms SVD", "--dataset: no data set is called 'bundeled'"),
    ("recommend one.json --algorithm SVDD", "--algorithm: no row 'SVDD'; "),
    ("recommend one.json --algorithm BaselineOnly -o x.xlsx", "--output x.xlsx: lists are not "),
    ("recommend one.json --algorithm BaselineOnly --users no.txt", "no.txt: cannot be read "),
    (
        "explain one.json --algorithm BaselineOnly --user no --item 1",
        "--user: user 'no' is not in ",
    ),
    ("evaluate ratings.csv --metrics nosuch", "--metrics: nosuch: unknown metric 'nosuch'; "),
    ("describe ratings.csv --set nosuch=1", "--set nosuch=1: not a key of the data; "),
]


@pytest.mark.parametrize(("words", "message"), CALLS, ids=[words for words, _ in CALLS])
def test_the_option_of_a_value_is_named_before_a_fit(
    made, tmp_path, monkeypatch, call, words, message
):
    shutil.copytree(made, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    (tmp_path / "here" / "ratings.csv").write_text("user,item,rating\na,x,1\nb,x,2\n")
    code, _, said = call(*words.split())
    said = " ".join(said.split())
    assert code == 2
    assert message in said
    assert "fitting" not in said
    assert "✓" not in said
