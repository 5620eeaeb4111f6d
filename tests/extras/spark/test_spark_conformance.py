"""NDCG over Spark data frames gives the values of one documented convention."""

import pytest

from harness.extras.conformance.calculation import value
from harness.extras.conformance.profile import profile, suite
from harness.extras.spark.frames import evaluate

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore:.*deprecated.*:FutureWarning"),
]


def test_ndcg_on_spark_is_explained(spark):
    left_out = {"skip": "ratings with an estimate alone"}
    cases = [
        case
        for case in suite()["cases"]
        if "users" not in case and "items" not in case and case["question"] != "negative"
        if None not in case["relevance"] + case["scores"]
    ]
    rows = [
        (case["name"], score, float(grade))
        for case in cases
        for score, grade in zip(case["scores"], case["relevance"], strict=True)
    ]
    frame = spark.createDataFrame(rows, "user string, estimate double, rating double").coalesce(1)
    labels = [f"ndcg@{k}" for k in sorted({case["k"] for case in cases})]
    values = {row["user"]: row for row in evaluate(frame, labels).collect()}
    got = {case["name"]: left_out for case in suite()["cases"]}
    got |= {case["name"]: values[case["name"]][f"ndcg@{case['k']}"] for case in cases}
    found = profile(got)
    assert found.is_explained
    assert found.answers["gain"] == ("exp2",)
    assert found.answers["ties"] == ("average",)
    assert found.answers["nothing"] == ("none",)
    answers = {question: words[0] for question, words in found.answers.items()}
    numeric = [case for case in cases if got[case["name"]] is not None]
    assert max(abs(value(case, answers) - got[case["name"]]) for case in numeric) < 1e-12
