"""Write the cases of the conformance suite for NDCG, with exact values: results/conformance/cases.json.

python dev/tools/conformance_cases.py           write the file
python dev/tools/conformance_cases.py --check   exit 1 if it is not what would be written

Values are computed in decimals of 60 digits and written with 30. Named conventions are those of
`harness conventions` that define NDCG; their labels and notes answer the questions of the suite.
"""

from __future__ import annotations

import argparse
import json
import sys
from decimal import Decimal, getcontext
from pathlib import Path
from typing import Any

from harness.extras.conformance.calculation import Arithmetic, value
from harness.metrics.conventions import conventions

TARGET = Path(__file__).parents[2] / "results" / "conformance" / "cases.json"
DIGITS = 30
EVERY_JUDGED = ("lenskit", "microsoft", "implicit")
"""Their notes: every judged item is relevant, whatever its grade."""
COUNT_AGAIN = ("mllib", "lenskit", "recbole", "cornac", "implicit")
"""Seen to count a repeated item each time; of the others nothing is stated."""
SINGLE = ("trec_eval", "torchmetrics")
"""Their notes: scores are compared in 32 bits."""
GAINS = {"linear": "linear", "exp2": "exp2", "binary": "binary", "binary(1)": "binary"}


def exact() -> Arithmetic:
    """Return decimals of 60 digits."""
    getcontext().prec = 60
    log = {1: Decimal(0)}

    def log2(number: Any) -> Decimal:
        if number not in log:
            log[number] = Decimal(number).ln() / Decimal(2).ln()
        return log[number]

    return Arithmetic(Decimal, log2)


def named() -> dict[str, dict[str, Any]]:
    """Return each named convention: its source, its label, and its answers."""
    found: dict[str, dict[str, Any]] = {}
    for name, convention in conventions().items():
        for role in ("ndcg", "graded ndcg"):
            if role not in convention.labels:
                continue
            label = convention.metric(role, 3)
            params = {key: str(setting) for key, setting in label.params.items()}
            answers = {
                "gain": GAINS[params["gain"]],
                "discount": params["discount"],
                "ideal": params["ideal"],
                "ties": params["ties"],
                "grades": {"real": "real", "whole": "whole"}[params["grades"]],
                "negative": params["negative"],
                "mean": "zero" if params["undefined"] == "0" else "defined",
                "nothing": params["undefined"],
                "empty": params["empty"],
                "scores": "single" if name in SINGLE else "double",
            }
            if params["offset"] == "-1":
                answers["gain"] = "exp2+1"
            if params["empty"] == "nan":
                answers["mean"] = "listed"
            if params["gain"] == "binary(1)":
                answers["grades"] = "from 1"
            if name in EVERY_JUDGED and params["gain"] == "binary":
                answers["gain"] = "judged"
            if name in COUNT_AGAIN:
                answers["duplicates"] = "again"
            if label.k is None:
                answers["cut"] = "none"
            if name == "torchmetrics":
                answers["negative"] = "sum"  # its note on relevances that sum to 0
            if name == "trec_eval":
                del answers["grades"]  # it takes whole grades alone
            if name == "lenskit":
                del answers["mean"]  # its two functions differ
            title = name if role == "ndcg" else f"{name}-graded"
            text = str(label).replace("@3", "@k")
            found[title] = {"source": convention.source, "label": text, "answers": answers}
    return found


def cases() -> list[dict[str, Any]]:
    """Return the cases without their values."""
    out: list[dict[str, Any]] = []

    def case(
        question: str, tells: str, k: int, relevance: list[Any], scores: Any = None, **more: Any
    ) -> None:
        number = sum(each["question"] == question for each in out) + 1
        if scores is None:
            scores = list(range(len(relevance), 0, -1))
        scores = [None if s is None else float(s) for s in scores]
        head = {"name": f"{question}-{number:02}", "question": question, "tells": tells, "k": k}
        out.append(head | {"relevance": relevance, "scores": scores} | more)

    def users(tells: str, k: int, *lists: tuple[list[Any], list[Any] | None]) -> None:
        number = sum(each["question"] == "mean" for each in out) + 1
        rows = [
            {
                "relevance": r,
                "scores": [
                    float(s) if s is not None else None for s in (x or range(len(r), 0, -1))
                ],
            }
            for r, x in lists
        ]
        head = {"name": f"mean-{number:02}", "question": "mean", "tells": tells, "k": k}
        out.append(head | {"users": rows})

    gain = "whether the gain is the grade, 2**grade - 1, or 1"
    for relevance in ([1, 2], [2, 3], [1, 3], [1, 2, 3], [2, 1, 3], [1, 3, 2, 4], [3, 2, 4, 1]):
        case("gain", gain, len(relevance), relevance)
    zero = "whether grade 0 has a gain"
    for relevance in ([0, 1], [0, 2, 1], [1, 0, 0, 2], [0, 0, 3, 1, 0]):
        case("gain", zero, len(relevance), relevance)
    clip = "whether large grades are clipped"
    case("gain", clip, 3, [2, 4, 3])
    case("gain", clip, 4, [3, 4, 2, 0])
    case("gain", "the value of a perfect order, 1 under every gain", 4, [4, 3, 2, 1])

    for rank in range(1, 9):
        relevance = [int(i == rank) for i in range(1, 9)]
        case(
            "discount",
            f"what a gain at rank {rank} is divided by, relative to rank 1",
            8,
            relevance,
        )
    for ranks in ((2, 3), (1, 4), (3, 8), (5, 6), (2, 4)):
        relevance = [int(i in ranks) for i in range(1, 9)]
        tells = f"the discounts of ranks {ranks[0]} and {ranks[1]}, relative to ranks 1 and 2"
        case("discount", tells, 8, relevance)
    for rank in (12, 20):
        relevance = [int(i == rank) for i in range(1, rank + 1)]
        tells = "whether lists or discounts end before rank k, for example at rank 10"
        case("discount", tells, rank, relevance)

    cut = "whether the ideal ranking is cut at k"
    for k, relevance in (
        (1, [1, 1]),
        (2, [1, 1, 1]),
        (2, [0, 1, 1, 1]),
        (2, [1, 0, 1, 1]),
        (3, [1, 0, 1, 1, 1, 1]),
    ):
        case("ideal", cut, k, relevance)
    best = "whether the ideal has the best items of the whole list or those above k"
    for k, relevance in (
        (1, [1, 2]),
        (2, [1, 0, 2]),
        (2, [1, 2, 3, 4]),
        (3, [2, 1, 0, 3, 3]),
        (1, [2, 1, 3]),
    ):
        case("ideal", best, k, relevance)
    full = "whether the ideal has k relevant items although the user has fewer"
    for k, relevance in ((3, [1, 0, 0]), (3, [1, 1, 0, 0]), (4, [0, 1, 0, 1, 0])):
        case("ideal", full, k, relevance)
    case("ideal", "whether grades are sorted as numbers, not as text", 3, [9, 10, 2])

    order = "whether the list is ordered by score, the highest first"
    for relevance, scores in (
        ([1, 2], [1, 2]),
        ([3, 0, 1], [1, 9, 5]),
        ([1, 3, 2], [2, 7, 4]),
        ([0, 1, 2, 3], [3, 1, 4, 2]),
        ([2, 0, 3, 1, 0], [30, 10, 50, 20, 40]),
        ([1, 0, 2], [25, 50, 12]),
    ):
        case("order", order, min(3, len(relevance)), relevance, scores)

    missing = "whether judged items that the list leaves out count in the ideal"
    for k, relevance, scores in (
        (2, [1, 0, 1], [2, 1, None]),
        (2, [1, 0, 2], [2, 1, None]),
        (3, [1, 0, 0, 1, 1], [3, 2, 1, None, None]),
        (2, [1, 2, 3, 4], [2, 1, None, None]),
        (3, [0, 1, 0, 2, 3], [3, 2, 1, None, None]),
        (2, [0, 1, 1, 1], [2, 1, None, None]),
        (1, [1, 0, 3], [2, 1, None]),
    ):
        case("missing", missing, k, relevance, scores)
    length = "whether the ideal is cut at the length of the list"
    for k, relevance, scores in (
        (5, [1, 1, 1, 1, 1], [1, None, None, None, None]),
        (3, [1, 1, 1], [2, 1, None]),
        (4, [2, 3, 1, 1], [2, 1, None, None]),
    ):
        case("missing", length, k, relevance, scores)

    short = "whether ranks beyond the end of the list add nothing"
    for k, relevance in (
        (3, [0, 1]),
        (5, [1, 2]),
        (4, [1, 0, 2]),
        (10, [0, 1, 1]),
        (3, [2, 1]),
        (10, [1, 3, 0, 2]),
        (20, [0, 0, 1]),
    ):
        case("short", short, k, relevance)
    case("short", "whether a list of one item can be scored", 3, [2])

    tied = "how equal scores are ordered"
    for k, relevance, scores in (
        (2, [0, 1], [1, 1]),
        (2, [1, 0], [1, 1]),
        (3, [1, 2, 3], [5, 5, 5]),
        (3, [3, 1, 2], [5, 5, 1]),
        (4, [0, 2, 1, 3], [4, 2, 2, 1]),
        (5, [1, 0, 2, 0, 3], [2, 2, 2, 1, 1]),
    ):
        case("ties", tied, k, relevance, scores)
    across = "how equal scores are ordered where their group crosses k"
    for k, relevance, scores in (
        (1, [0, 1], [1, 1]),
        (2, [2, 0, 1], [1, 1, 1]),
        (2, [1, 0, 0, 3], [5, 3, 3, 3]),
        (3, [0, 1, 2, 3, 4], [2, 2, 2, 2, 2]),
        (1, [1, 0, 2, 0], [1, 1, 1, 1]),
    ):
        case("ties", across, k, relevance, scores)
    case("ties", "that equal grades make ties harmless", 3, [2, 2, 1], [1, 1, 0])
    long = "whether the order of equal scores changes in longer lists"
    case("ties", long, 5, [(i * 7) % 5 for i in range(18)], [1] * 18)
    case("ties", long, 10, [(i * i) % 4 for i in range(24)], [i % 2 for i in range(24)])

    near = "whether scores are compared in 64 bits"
    case("scores", near, 2, [0, 1], [1.0, 1.000000001])
    case("scores", near, 3, [1, 0, 2], [0.5, 0.50000000001, 0.500000000015])
    case("scores", near, 2, [1, 2], [16777216, 16777217])
    case("scores", near, 2, [1, 0], [1.000000001, 1.0])
    case("scores", near, 2, [2, 1], [16777217, 16777216])
    sign = "whether scores of 0 or less are ranked as other scores"
    case("scores", sign, 2, [0, 1], [-2, -1])
    case("scores", sign, 3, [1, 0, 2], [-0.5, 0.5, -1.5])
    case("scores", sign, 3, [2, 0, 1], [0, 1, -1])
    case("scores", "whether scores keep their fractions", 3, [1, 2, 3], [0.1, 0.2, 0.3])
    case("scores", "whether scores keep their fractions", 3, [0, 2, 1], [2.1, 2.9, 2.5])

    below = "what a negative grade gains"
    for k, relevance in (
        (2, [-1, 1]),
        (3, [2, -1, 1]),
        (3, [-2, 3, 1]),
        (2, [1, -1, 2]),
        (3, [0, -1, 2]),
    ):
        case("negative", below, k, relevance)
    case("negative", "whether grades that sum to 0 count as no relevant item", 3, [0, 1, -1])
    case("negative", "whether a value can be below 0", 1, [-3, 1])

    fraction = "whether grades keep their fractions"
    for relevance in ([0.5, 1.5], [1.5, 2.5, 0.5], [0.5, 2], [2.5, 3], [3.5, 1, 4]):
        case("grades", fraction, len(relevance), relevance)
    case("grades", "whether a grade below 1 counts", 2, [0, 0.5])

    unjudged = "whether items without a judgement keep their rank"
    for k, relevance in (
        (2, [None, 1]),
        (3, [None, 2, 1]),
        (3, [1, None, 2]),
        (2, [None, 1, 2]),
        (3, [None, None, 1, 0]),
        (4, [2, None, None, 3]),
        (3, [0, None, 1]),
    ):
        case("unjudged", unjudged, k, relevance)

    twice = "whether a repeated item counts again"
    for k, relevance, items in (
        (2, [1, 1], ["a", "a"]),
        (3, [1, 1, 0], ["a", "a", "b"]),
        (3, [1, 1, 1], ["a", "a", "b"]),
        (3, [1, 0, 1], ["a", "b", "a"]),
        (3, [2, 2, 1], ["a", "a", "b"]),
        (4, [1, 2, 1, 3], ["a", "b", "a", "c"]),
        (3, [0, 0, 1], ["a", "a", "b"]),
        (2, [1, 1, 2], ["a", "a", "b"]),
        (4, [0, 1, 1, 1], ["c", "a", "a", "a"]),
    ):
        case("duplicates", twice, k, relevance, items=items)
    scores = [3.0, 2.0, 1.0, None]
    case("duplicates", twice, 3, [1, 1, 0, 1], scores, items=["a", "a", "b", "c"])

    none = "the value where no item is relevant"
    for k, relevance in ((2, [0, 0]), (3, [0, 0, 0]), (3, [0, 0]), (1, [0, 0, 0])):
        case("nothing", none, k, relevance)
    case("nothing", "the value where no item has a judgement", 2, [None, None])

    empty = "the value of an empty list of a user with relevant items"
    for k, relevance in ((2, [1]), (3, [1, 2]), (1, [2, 1, 0])):
        case("empty", empty, k, relevance, [None] * len(relevance))

    two = "whether the mean is over users, each with the same weight"
    users(two, 2, ([0, 1], None), ([1, 0], None))
    users(two, 3, ([0, 1, 2], None), ([3, 0, 0], None), ([0, 0, 1], None))
    users(two, 4, ([0, 1], None), ([1, 0, 0, 0, 0, 0], None))
    users(two, 3, ([0, 3, 0], None), ([0, 0, 1], None), ([1, 1, 1], None), ([0, 1, 1], None))
    without = "how a user without relevant items counts in the mean"
    users(without, 2, ([0, 1], None), ([0, 0], None))
    users(without, 3, ([0, 1, 2], None), ([0, 0, 0], None), ([1, 0, 0], None))
    users(without, 2, ([0, 0], None), ([1, 0], None), ([0, 0], None))
    nobody = "how a user without a list counts in the mean"
    users(nobody, 2, ([0, 1], None), ([1, 1], [None, None]))
    users(nobody, 3, ([2, 1, 3], None), ([1], [None]), ([1, 0, 0], None))
    users(
        "users without relevant items and without a list, together",
        2,
        ([0, 1], None),
        ([0, 0], None),
        ([1], [None]),
    )
    beyond = "how a user without a relevant item among the first k counts in the mean"
    users(beyond, 1, ([0, 1], None), ([1, 0], None))
    return out


def values(
    case: dict[str, Any], known: dict[str, dict[str, Any]], of: Arithmetic
) -> dict[str, str | None]:
    """Return the value of a case by named convention; None where a convention states nothing."""
    question, out = case["question"], {}
    for name, convention in known.items():
        answers = convention["answers"]
        refused = question == "negative" and answers["negative"] == "error"
        if refused or (question in ("duplicates", "grades", "mean") and question not in answers):
            out[name] = None
            continue
        found = value(case, {key: word for key, word in answers.items() if word != "error"}, of)
        if found != found:
            out[name] = answers["nothing"]
        elif question == "empty" and answers["empty"] == "nan":
            out[name] = "nan"
        else:
            rounded = Decimal(found).quantize(Decimal(1).scaleb(-DIGITS))
            out[name] = f"{rounded.normalize():f}" if rounded else "0"
    return out


def text() -> str:
    """Return the file: one case a line."""
    known, of = named(), exact()
    rows = [each | {"values": values(each, known, of)} for each in cases()]
    about = {
        "$schema": "schema.json",
        "licence": "CC0-1.0",
        "about": "Small cases for NDCG at k, with exact values under named conventions; see README.md.",
        "conventions": known,
    }
    head = json.dumps(about, indent=1, ensure_ascii=False).removesuffix("\n}")
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    return f'{head},\n "cases": [\n{lines}\n ]\n}}\n'


def main() -> int:
    """Write the file, or compare it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; 1 if it differs")
    written = text()
    if parser.parse_args().check:
        if TARGET.read_text(encoding="utf-8") != written:
            print(TARGET.name)
            return 1
        return 0
    TARGET.write_text(written, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
