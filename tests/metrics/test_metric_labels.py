"""A label is a metric's identity: read and printed alike, or refused with a hint."""

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import metrics
from harness.errors import MetricError
from harness.metrics import number
from harness.metrics.parameters import NONE, SEVERAL


def words(parameter):
    """Draw a value that a parameter takes, in its canonical spelling."""
    choices = []
    for word, behind in parameter.words.items():
        if behind == SEVERAL:
            rising = st.lists(st.integers(0, 30), min_size=1, max_size=5).map(sorted)
            choices.append(rising.map(lambda n, w=word: f"{w}({', '.join(map(str, n))})"))
            continue
        choices.append(st.just(word))
        if behind != NONE:
            choices.append(st.integers(1, 9).map(lambda n, w=word: f"{w}({n})"))
    if parameter.limits:
        low, high = max(parameter.limits[0], -50.0), min(parameter.limits[1], 50.0)
        numbers = st.floats(low, high, exclude_min=True, exclude_max=True)
        choices.append(numbers.map(number))
    return st.one_of(choices)


@st.composite
def legal_labels(draw):
    """Draw a canonical label: parameters in order, none at its default."""
    definition = draw(st.sampled_from(metrics.describe()))
    chosen = []
    for parameter in definition.parameters:
        if draw(st.booleans()):
            value = draw(words(parameter))
            if value != str(parameter.default):
                chosen.append(f"{parameter.name}={value}")
    k = draw(st.integers(1, 1000))
    cut = {"none": "", "required": f"@{k}", "optional": draw(st.sampled_from(["", f"@{k}"]))}
    return definition.name + (f"({', '.join(chosen)})" if chosen else "") + cut[definition.cut]


@settings(max_examples=max(300, settings().max_examples), deadline=None)
@given(legal_labels())
def test_a_legal_label_is_printed_as_it_was_read(label):
    try:
        metric = metrics.parse(label)
    except MetricError as error:  # values that exclude each other
        said = ("add ", "write ", "leave one out", "move its threshold")
        assert any(words in str(error) for words in said)  # noqa: PT017
        return
    assert str(metric) == label
    assert metrics.parse(str(metric)) == metric
    assert hash(metrics.parse(str(metric))) == hash(metric)


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("ndcg(gain=exp2, discount=log)@10", "ndcg@10"),
        (" ndcg ( ties=first , gain = linear ) @ 5 ", "ndcg(gain=linear, ties=first)@5"),
        ("ndcg(ties=random(0))", "ndcg(ties=random)"),
        ("ndcg(base=2.0)", "ndcg"),
        ("ndcg(base=10.0)", "ndcg(base=10)"),
        ("ndcg(undefined=0.0)", "ndcg(undefined=0)"),
        ("fbeta(beta=2.50)@5", "fbeta(beta=2.5)@5"),
        ("ndcg@010", "ndcg@10"),
        ("ndcg()", "ndcg"),
    ],
)
def test_other_spellings_become_the_canonical_one(written, canonical):
    assert str(metrics.parse(written)) == canonical


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ("map@10", r"map@10: unknown metric 'map'; did you mean 'ap'\?"),
        ("MRR@10", r"unknown metric 'MRR'; did you mean 'rr'\?"),
        ("zzz", r"zzz: unknown metric 'zzz'; use one of ap, aplt, auc, "),
        ("ndcg(gian=linear)", r"ndcg has no parameter 'gian'; did you mean 'gain'\?"),
        ("ndcg(gain=lineer)", r"gain cannot be lineer; did you mean 'linear'\?"),
        ("ndcg(gain=2)", r"gain cannot be 2; use exp2, linear, binary or with \(number\), table"),
        ("ndcg(gain=table)", r"gain=table has 0 numbers in brackets; write table\(number, ...\)"),
        ("ndcg(gain=table(-1, 0))", r"gains of table\(-1, 0\) are negative or fall; write"),
        ("ndcg(gain=table(3, 1))", r"negative or fall"),
        ("ndcg(gain=binary(1, 2))", r"has 2 numbers in brackets; write binary or binary\(number\)"),
        ("ndcg(gain=binary(x))", r"something other than numbers in its brackets"),
        ("ndcg(gain=binary(nan))", r"gain=binary\(nan\) is not finite"),
        ("ndcg(gain=binary, threshold=4)", r"write gain=binary\(4\)"),
        ("ndcg(negative=keep, threshold=4)", r"leave one out"),
        ("ndcg(gain=linear, gain=exp2)", r"gain is given twice; keep one"),
        ("ndcg(gain)", r"'gain' is not a parameter; write parameter=value"),
        ("ndcg(gain=exp2, )", r"'' is not a parameter"),
        ("ndcg(base=1)", r"base cannot be 1; use e or a number above 1"),
        ("ndcg(base=inf)", r"base cannot be inf"),
        ("ndcg(ties=random(-1))", r"random\(-1\) is not a seed; use a whole number from 0 to 4"),
        ("ndcg(ties=random(1.5))", r"use a whole number from 0"),
        ("ndcg(ties=first(1))", r"ties=first\(1\) has 1 number in brackets; write first"),
        ("ndcg(undefined=2)", r"undefined cannot be 2; use nan, 0, 1"),
        ("rbp(p=1)", r"p cannot be 1; use a number above 0 and below 1"),
        ("fbeta(beta=-1)@5", r"beta cannot be -1; use a number above 0"),
        ("ndcg@" + "9" * 5_000, r"k is '9+'; use a whole number from 1"),
        ("ndcg@-3", r"k is '-3'; use a whole number from 1"),
        ("ndcg@²", r"k is '²'; use a whole number from 1"),
        ("ndcg@", r"k is ''; use a whole number from 1"),
        ("ndcg@10000001", r"use a whole number from 1 to 10,000,000"),
        ("", "'': not a metric label; write name@k"),
        ("rmse@10", r"rmse has no rank; leave @10 out"),
        ("novelty", r"novelty needs a rank; write novelty@10"),
        ("precision", r"there is no rank to divide by; write precision@10"),
        ("ndcg(gain=binary, ideal=full)", r"ideal=full fills k ranks; write"),
        ("ndcg(ideal=full)@5", r"ideal=full means k relevant items.*add gain=binary"),
        ("ndcg(ideal=retrieved)@5", r"has no average over ties; add gain=binary, or ties=first"),
        ("ndcg)(@5", r"not a metric label; write name@k"),
        ("", r"not a metric label"),
    ],
)
def test_a_label_that_cannot_be_read_says_what_to_do(label, message):
    with pytest.raises(MetricError, match=message):
        metrics.parse(label)


def test_a_label_has_to_be_text():
    with pytest.raises(MetricError, match="10: a metric label is text; write it as 'ndcg@10'"):
        metrics.parse(10)
    with pytest.raises(MetricError, match="10: a metric label is text"):
        metrics.parse_many([10])


def test_one_string_may_name_several_ranks_and_metrics():
    labels = [str(each) for each in metrics.parse_many("ndcg(gain=table(0, 1))@5,10, rmse, ap@3,5")]
    table = "ndcg(gain=table(0, 1))"
    assert labels == [f"{table}@5", f"{table}@10", "rmse", "ap@3", "ap@5"]
    assert len(metrics.parse_many(["ndcg@5,10", "ndcg(gain=exp2)@10"])) == 2  # one is named twice
    with pytest.raises(MetricError, match="nothing is named; write at least one label"):
        metrics.parse_many([])


def test_the_range_widens_with_negative_gains():
    assert metrics.parse("ndcg@5").range == (0.0, 1.0)
    assert metrics.parse("ndcg(negative=keep)@5").range == (float("-inf"), float("inf"))


@pytest.mark.parametrize("definition", metrics.describe(), ids=lambda each: each.name)
def test_every_metric_says_what_it_is(definition):
    assert definition.summary.endswith(".")
    assert definition.formula
    assert any(mark in definition.source for mark in ("doi:", "NIST", "IJCAI"))
    assert definition.range[0] < definition.range[1]
    assert all(each.summary and each.choices for each in definition.parameters)


def test_reading_a_label_compiles_nothing():
    code = (
        "import sys; from harness import metrics; metrics.parse_many('ndcg@5,10,rmse');"
        "metrics.describe(); metrics.conventions();"
        "sys.exit(any(name in sys.modules for name in ('numba', 'pandas', 'scipy', 'surprise')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("label", ["ndcg(gain=linear, offset=1)@1,2", "rbp(p=0.5)@2", "rmse"])
def test_values_of_a_label_are_read_once(label, monkeypatch):
    wanted = metrics.parse_many(label)
    lists = metrics.Rankings([0, 2], [1.0, 3.0], [1, 2], [1, 2], [1, 2], [2])
    pairs = metrics.Pairs([0, 2], [1.0, 2.0], [1.0, 3.0])
    first = metrics.score(wanted, lists, pairs)
    monkeypatch.setattr(metrics.Value, "__new__", lambda *_: pytest.fail("read again"))
    again = metrics.score(wanted, lists, pairs)
    assert [scores.mean for scores in again.values()] == [s.mean for s in first.values()]


def test_a_value_is_the_number_that_it_was_read_as():
    assert float(metrics.Value("0.25")) == 0.25
    with pytest.raises(ValueError, match="'positive' is not a number"):
        float(metrics.Value("positive"))
