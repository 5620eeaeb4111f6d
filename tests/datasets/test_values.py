"""Ratings that are words, stars, percentages: read if certain, else refused with a mapping."""

from __future__ import annotations

import re

import pandas as pd
import pytest
from ruamel.yaml import YAML

from harness import datasets
from harness.datasets.loading import load_under
from harness.datasets.numerals import proposed
from harness.datasets.remedies import remedies_of
from harness.datasets.section import DatasetSection
from harness.errors import DataError

NUMBERS = [3, 1, 4, 5, 2, 3, 1, 5]
WAYS = ("csv", "jsonl", "parquet", "dictionary", "frame", "rows", "rows-of-a-file")


def source(texts, way, folder):
    """Return ratings with these texts, as one of the ways in takes them."""
    frame = pd.DataFrame(
        {"user": [f"u{n // 2}" for n in range(len(texts))],
         "item": [f"i{n}" for n in range(len(texts))], "rating": texts}
    )  # fmt: skip
    if way == "frame":
        return frame
    if way == "rows":
        return list(frame.itertuples(index=False, name=None))
    path = folder / f"a.{way}"
    if way == "csv":
        frame.to_csv(path, index=False)
    elif way == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    elif way == "rows-of-a-file":
        path = folder / "a.tsv"
        frame.to_csv(path, index=False, sep="\t")
    else:
        path = folder / "a.parquet"
        if way == "dictionary":
            frame["rating"] = frame["rating"].astype("category")
        frame.to_parquet(path)
    return path


def load(given, **keys):
    """Load a path or data under keys of a config."""
    if isinstance(given, pd.DataFrame | list):
        section = DatasetSection(path="-", **keys)
        return load_under(given, section)
    return datasets.load({"path": str(given), **keys})


def remedies(error):
    """Return the keys that a message or a note names, each as a part of a config."""
    named = re.findall(r"`([a-z_]+: .+?)`", str(error))
    return [dict(YAML(typ="safe").load("{" + text + "}")) for text in named]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "texts",
    [
        ["strongly disagree", "Disagree", "Neutral", "AGREE", "Strongly agree"],
        ["stimme gar nicht zu", "stimme nicht zu", "teils teils", "stimme zu", "stimme voll zu"],
        ["very dissatisfied", "dissatisfied", "neutral", "satisfied", "very satisfied"],
        ["F", "D", "C", "B", "A"],
        ["E", "D", "C", "B", "A"],
        ["terrible", "poor", "average", "good", "excellent"],
        ["did not like it", "it was ok", "liked it", "really liked it", "it was amazing"],
        ["1 - worst", "2", "3", "4", "5 - best"],
        ["1_0", "2_0", "3_0", "4_0", "5_0"],
    ],
)  # fmt: skip
def test_words_are_refused_with_the_mapping_that_reads_them(tmp_path, texts, way):
    given = source([texts[n - 1] for n in NUMBERS], way, tmp_path)
    with pytest.raises(DataError, match="is not a number") as refused:
        load(given)
    remedy = next(keys for keys in remedies(refused.value) if "values" in keys)
    ratings = load(given, **remedy)
    assert ratings.ratings.tolist() == NUMBERS
    assert ratings.scale == (1, 5) or texts[1] == "2"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("no", "yes"),
    [("dislike", "like"), ("👎", "👍🏽"), ("no", "yes"), ("False", "True"), ("nein", "ja"),
     ("thumbs down", "thumbs up"), ("negative", "positive"), (False, True),
     ("Not Recommended", "Recommended")],
)  # fmt: skip
def test_two_words_are_0_and_1(tmp_path, no, yes, way):
    given = source([yes if n > 2 else no for n in NUMBERS], way, tmp_path)
    with pytest.raises(DataError) as refused:
        load(given)
    (remedy,) = (keys for keys in remedies(refused.value) if "values" in keys)
    assert load(given, **remedy).ratings.tolist() == [int(n > 2) for n in NUMBERS]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("form", "factor", "scale"),
    [
        ("{}%", 20, (0, 100)),
        ("{} %", 20, (0, 100)),
        ("{}/5", 1, (1, 5)),
        ("{}/10", 2, (1, 10)),
        ("{}.0 out of 5 stars", 1, (1, 5)),
        ("{},0 von 5 Sternen", 1, (1, 5)),
        ("{} stars", 1, (1, 5)),
        ("{} points", 1, (1, 5)),
        ("rating: {}", 1, (1, 5)),
    ],
)
def test_numbers_with_words_around_them_are_read_and_said(tmp_path, form, factor, scale, way):
    ratings = load(source([form.format(n * factor) for n in NUMBERS], way, tmp_path))
    assert ratings.ratings.tolist() == [n * factor for n in NUMBERS]
    assert ratings.scale == scale
    assert "ratings-written" in {note.code for note in ratings.notes}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("full", ["★", "⭐", "*"])
def test_stars_are_counted(tmp_path, full, way):
    texts = [full * n + "☆" * (5 - n) * (full == "★") for n in NUMBERS]
    ratings = load(source(texts, way, tmp_path))
    assert ratings.ratings.tolist() == NUMBERS
    assert ratings.scale == (1, 5)
    halves = load(source([full * n + "½" for n in NUMBERS], way, tmp_path))
    assert halves.ratings.tolist() == [n + 0.5 for n in NUMBERS]


@pytest.mark.parametrize("way", WAYS)
def test_fractions_are_read_beside_whole_numbers(tmp_path, way):
    ratings = load(source(["4½", "3", "½", "2¼", "1¾"], way, tmp_path))
    assert ratings.ratings.tolist() == [4.5, 3, 0.5, 2.25, 1.75]
    assert "ratings-written" in {note.code for note in ratings.notes}


def test_many_numbers_behind_a_letter_are_ids():
    data = {"user": range(40), "item": range(40), "rating": [f"s{n % 20}" for n in range(40)]}
    with pytest.raises(DataError, match="the rating 's0' is not a number"):
        datasets.load(pd.DataFrame(data))


@pytest.mark.parametrize(
    "texts",
    [["4/5", "8/10"], ["4 stars", "4 points"], ["110%", "50%"], ["6/5", "5/5"], ["★★★☆☆", "★★☆"],
     ["3 min", "3 m"], ["4", "80%"]],
)  # fmt: skip
def test_texts_of_several_kinds_are_refused(texts):
    frame = pd.DataFrame({"user": [1, 2], "item": [1, 2], "rating": texts})
    with pytest.raises(DataError, match="is not a number"):
        datasets.load(frame)


def test_words_of_no_known_order_ask_for_numbers(tmp_path):
    given = source(["wow", "meh, well", "wow", "no: way"] * 2, "csv", tmp_path)
    with pytest.raises(DataError, match="with a number for each") as refused:
        load(given)
    named = re.search("`(values: .*)`", str(refused.value))[1]
    assert named == "values: {wow: …, 'meh, well': …, 'no: way': …}"
    for number in "312":
        named = named.replace("…", number, 1)
    ratings = load(given, **YAML(typ="safe").load(named))
    assert ratings.ratings.tolist() == [3, 1, 3, 2] * 2


def test_of_several_files_the_words_are_named_together(tmp_path):
    for name, texts in (("a", ["like", "dislike"]), ("b", ["love", "like"])):
        rows = "".join(f"{name}{n},x,{text}\n" for n, text in enumerate(texts))
        (tmp_path / f"{name}.csv").write_text("user,item,rating\n" + rows)
    paths = [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]
    with pytest.raises(DataError) as refused:
        datasets.load({"path": paths})
    (remedy,) = (keys for keys in remedies(refused.value) if "values" in keys)
    assert datasets.load({"path": paths, **remedy}).ratings.tolist() == [1, 0, 2, 1]


def test_a_text_that_is_not_named_is_a_fault_with_its_line_and_all_are_proposed(tmp_path):
    given = source(["like", "dislike", "like", "dislike", "love", "love", "like"], "csv", tmp_path)
    values = {"like": 1, "dislike": 0}
    with pytest.raises(DataError, match=r"a\.csv:6: the rating 'love' is not among") as refused:
        load(given, values=values)
    remedy = next(keys for keys in remedies(refused.value) if "values" in keys)
    assert remedy["values"] == {"like": 1, "dislike": 0, "love": 2}
    assert len(load(given, values=values, unreadable="drop")) == 5


@pytest.mark.parametrize("way", ["csv", "jsonl", "parquet", "frame", "rows"])
def test_numbers_stay_as_they_are_unless_one_is_named(tmp_path, way):
    ratings = load(source(["4", "5", "none", "1"], way, tmp_path), values={"none": 3})
    assert ratings.ratings.tolist() == [4, 5, 3, 1]
    assert "numbers-beside-values" in {note.code for note in ratings.notes}
    coded = source([1, 2, 2, 1], way, tmp_path)
    assert load(coded, values={"1": 5, 2: 0}).ratings.tolist() == [5, 0, 0, 5]
    with pytest.raises(DataError, match=r"the rating '2(\.0)?' is not among the texts"):
        load(coded, values={"1": 5})


def test_the_mapping_is_the_scale_unless_one_is_given(tmp_path):
    given = source(["b", "c", "b", "c"], "csv", tmp_path)
    grades = {"a": 5, "b": 4, "c": 3, "f": 1, "not seen": 0}
    assert load(given, values=grades, not_rated=[0]).scale == (1, 5)
    assert load(given, values=grades, scale=[0, 10]).scale == (0, 10)


def test_keys_that_yaml_reads_as_no_text_are_texts(tmp_path):
    given = source(["yes", "no", "no", "yes"], "csv", tmp_path)
    assert load(given, values={True: 1, False: 0}).ratings.tolist() == [1, 0, 0, 1]
    given = source([True, False], "parquet", tmp_path)
    assert load(given, values={True: 1, False: 0}).ratings.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("values", "message"),
    [({}, "no texts"), ({"a": 1, "A": 2}, "'a' and 'A' are the same text"), ("a", "values"),
     ({"a": "x"}, "values"), ({"a": float("nan")}, "values"), ({"a": 1e200}, "values")],
)  # fmt: skip
def test_what_is_no_mapping_is_refused(tmp_path, values, message):
    with pytest.raises(DataError, match=message):
        load(source(["a", "A"], "csv", tmp_path), values=values)


def test_a_first_line_with_a_written_rating_is_a_row(tmp_path):
    (tmp_path / "a.csv").write_text("7,x,80%\n8,y,60%\n")
    assert load(tmp_path / "a.csv").ratings.tolist() == [80, 60]
    (tmp_path / "a.csv").write_text("7,x,like\n8,y,dislike\n")
    ratings = load(tmp_path / "a.csv", values={"like": 1, "dislike": 0})
    assert ratings.ratings.tolist() == [1, 0]


def test_numbers_of_ratings_can_be_named_too():
    ratings = datasets.Ratings.from_columns(
        [1, 2], [1, 2], ["low", "high"], values={"low": 3, "high": 4}
    )
    section = DatasetSection(path="-", scale=[0, 9], values={"3": 5, "4": 6})
    assert load_under(ratings, section).ratings.tolist() == [5, 6]


@pytest.mark.parametrize(
    ("texts", "number"),
    [
        (["4,5", "3"], 4.5), (["1.234,5", "12"], 1234.5), (["1.234.567", "1"], 1234567),
        (["1,234.5", "7"], 1234.5), (["1 234", "7"], 1234), (["1'234", "7"], 1234),
        (["1,234,567", "1"], 1234567),
    ],
)  # fmt: skip
@pytest.mark.parametrize("way", ["csv", "jsonl", "parquet", "frame", "rows"])
def test_marks_that_can_mean_one_thing_are_read_and_said(tmp_path, texts, number, way):
    ratings = load(source(texts, way, tmp_path))
    assert ratings.ratings.tolist() == [number, float(texts[1])]
    note = next(note for note in ratings.notes if note.code == "marks-found")
    (remedy,) = remedies_of(str(note))
    assert remedy.keys == note.values["keys"]
    assert (
        load(source(texts, way, tmp_path), **remedy.keys).ratings.tolist()
        == ratings.ratings.tolist()
    )


def test_points_that_may_be_between_thousands_are_asked_about(tmp_path):
    given = source(["1.234", "2.468", "3.702", "999"], "csv", tmp_path)
    note = next(note for note in load(given).notes if note.code == "maybe-thousands")
    (remedy,) = remedies(note)
    assert load(given, **remedy).ratings.tolist() == [1234, 2468, 3702, 999]
    decimals = source(["0.234", "2.468", "3.702"], "csv", tmp_path)
    assert "maybe-thousands" not in {note.code for note in load(decimals).notes}


def test_a_proposal_has_each_text_and_orders_known_words():
    for texts in (["good", "bad"], ["often", "never", "always"], ["gold", "bronze", "silver"]):
        numbers = proposed(texts)
        assert {*numbers} == {*texts}
        assert len({*numbers.values()}) == len(texts)
    assert [*proposed(["often", "never", "always"])] == ["never", "often", "always"]
    assert proposed(["B+", "A-", "f"]) == {"f": 1, "B+": 5, "A-": 6}
