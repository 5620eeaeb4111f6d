"""The cases of the suite: their values are exact, complete, and those of this package's metrics."""

import importlib.util
import json
import math
from fractions import Fraction
from functools import cache
from itertools import groupby
from pathlib import Path

import jsonschema
import numpy as np

from harness import metrics
from harness.metrics.conventions import conventions

TOP = Path(__file__).parents[3]
FOLDER = TOP / "results" / "conformance"
SUITE = json.loads((FOLDER / "cases.json").read_text(encoding="utf-8"))
CASES = SUITE["cases"]
BITS = 140
DIGITS = Fraction(1, 10**29)
EVERY_JUDGED = ("lenskit", "microsoft", "implicit")


@cache
def log2(number):
    """Return the logarithm as a fraction, bit by bit: squares that pass 2 set the next bit."""
    scale = 1 << 2 * BITS
    whole = number.bit_length() - 1
    x, out = (number * scale) >> whole, whole << BITS
    for bit in range(1, BITS + 1):
        x = x * x // scale
        if x >= 2 * scale:
            x //= 2
            out += 1 << (BITS - bit)
    return Fraction(out, 1 << BITS)


def divisor(name, rank):
    return {
        "log": lambda: log2(rank + 1),
        "jarvelin": lambda: max(Fraction(1), log2(rank)),
    }[name]()


def power_of_two(grade):
    """Return 2**grade as a fraction: halves by an integer square root."""
    grade = Fraction(grade)
    whole, rest = divmod(grade, 1)
    root = Fraction(math.isqrt(2 << 2 * BITS), 1 << BITS)
    assert rest in (0, Fraction(1, 2))
    return Fraction(2) ** int(whole) * (root if rest else 1)


def gain(answers, grade):
    if grade is None:
        return Fraction(0)
    if answers.get("grades") == "whole":
        grade = int(grade)
    if grade < 0 and answers["negative"] == "zero":
        grade = 0
    if answers["gain"] == "judged":
        return Fraction(1)
    if answers["gain"] == "binary":
        return Fraction(int(grade >= 1 if answers.get("grades") == "from 1" else grade > 0))
    if answers["gain"] == "exp2+1":
        return power_of_two(grade + 1) - 1 if grade >= 0 else Fraction(0)
    return power_of_two(grade) - 1 if answers["gain"] == "exp2" else Fraction(grade)


def of_list(user, k, answers):
    """Return NDCG as a fraction, or None where the ideal has no gain."""
    names = user.get("items") or [*range(len(user["relevance"]))]
    if answers.get("cut") == "none":
        k = 1000
    listed = [n for n in range(len(names)) if user["scores"][n] is not None]
    single = answers["scores"] == "single"
    score = {n: np.float32(user["scores"][n]) if single else user["scores"][n] for n in listed}
    listed.sort(key=score.__getitem__, reverse=True)  # stable
    gains = [gain(answers, user["relevance"][n]) for n in listed]
    weights = [
        1 / divisor(answers["discount"], r) if r <= k else 0 for r in range(1, len(listed) + 1)
    ]
    if answers["ties"] == "average":
        levelled = []
        for _, group in groupby(range(len(listed)), key=lambda place: score[listed[place]]):
            places = [*group]
            mean = sum(weights[place] for place in places) / Fraction(len(places))
            levelled += [mean] * len(places)
        weights = levelled
    found = sum(g * w for g, w in zip(gains, weights, strict=True))
    judged = {}
    for n, name in enumerate(names):
        if user["relevance"][n] is not None:
            judged.setdefault(name, gain(answers, user["relevance"][n]))
    grades = [user["relevance"][n] or 0 for n in range(len(names))]
    if answers["negative"] == "sum" and not sum(grades):
        return None
    best = sorted(judged.values(), reverse=True)
    if answers["ideal"] == "full":
        best = [Fraction(1)] * k if any(best) else []
    elif answers["ideal"] == "retrieved":
        inside = [gain(answers, user["relevance"][n]) for n in listed[:k]]
        if any(best) and not any(inside):
            return Fraction(0)
        best = sorted(inside, reverse=True) if any(best) else []
    ideal = sum(g / divisor(answers["discount"], r) for r, g in enumerate(best[:k], 1))
    return found / ideal if ideal else None


def exact(case, answers):
    """Return a value of a case under a convention, as the file has it."""
    if "users" not in case:
        found = of_list(case, case["k"], answers)
        if case["question"] == "empty" and answers["empty"] == "nan":
            return "nan"
        return answers["nothing"] if found is None else found
    values = []
    for user in case["users"]:
        found = of_list(user, case["k"], answers)
        is_empty = all(score is None for score in user["scores"])
        if found is None and answers["mean"] == "zero":
            found = Fraction(0)
        if found is not None and not (is_empty and answers["mean"] == "listed"):
            values.append(found)
    return sum(values) / Fraction(len(values))


def test_every_value_is_exact_to_30_digits():
    n = 0
    for case in CASES:
        for name, stated in case["values"].items():
            if stated is not None:
                found = exact(case, SUITE["conventions"][name]["answers"])
                if isinstance(found, str):
                    assert stated == found, (case["name"], name)
                else:
                    assert stated != "nan", (case["name"], name)
                    assert abs(Fraction(stated) - found) <= DIGITS, (case["name"], name)
                n += 1
    assert n > 2000


def test_every_value_is_that_of_the_metric_that_harness_conventions_uses():
    cases = [each for each in CASES if each["question"] not in ("mean", "duplicates")]
    offsets, pool_offsets, columns, pool, lengths = [0], [0], [[], [], [], []], [], []
    for case in cases:
        scores = case["scores"]
        ranked = sorted(
            (n for n, s in enumerate(scores) if s is not None), key=lambda n: -scores[n]
        )
        in_order = [scores[n] for n in ranked]
        for rank, n in enumerate(ranked, 1):
            if case["relevance"][n] is not None:
                low = in_order.index(scores[n]) + 1
                row = case["relevance"][n], rank, low, low + in_order.count(scores[n]) - 1
                for column, each in zip(columns, row, strict=True):
                    column.append(each)
        judged = sorted((g for g in case["relevance"] if g is not None), reverse=True)
        offsets.append(len(columns[0]))
        pool += judged
        pool_offsets.append(len(pool))
        lengths.append(len(ranked))
    n = 0
    for name, about in SUITE["conventions"].items():
        base, _, role = name.partition("-graded")
        role = "graded ndcg" if name.endswith("-graded") else "ndcg"
        convention = conventions()[name if name in conventions() else base]
        threshold = 0 if name in EVERY_JUDGED else None
        is_of_grades = about["answers"]["negative"] != "error"
        chosen = [i for i, c in enumerate(cases) if is_of_grades or c["question"] != "negative"]
        lists = metrics.Rankings(offsets, *columns, lengths, pool_offsets, pool)
        if len(chosen) < len(cases):
            lists = _of_users(lists, chosen)
        ks = sorted({case["k"] for case in cases})
        asked = {k: convention.metric(role, k, threshold) for k in ks}
        found = metrics.score(list(dict.fromkeys(asked.values())), lists)
        for place, i in enumerate(chosen):
            case, stated = cases[i], cases[i]["values"][name]
            is_coarse = about["answers"]["scores"] == "single" and case["question"] == "scores"
            is_of_note = name == "torchmetrics" and not sum(g or 0 for g in case["relevance"])
            if stated is None or is_coarse or (is_of_note and case["question"] == "negative"):
                continue
            value = found[asked[case["k"]]].per_user[place]
            same = math.isnan(value) if stated == "nan" else abs(value - float(stated)) < 1e-13
            assert same, (name, case["name"], value, stated)
            n += 1
    assert n > 2000


def _of_users(lists, chosen):
    """Return some of the users of ranked lists."""
    entries = [np.arange(lists.offsets[u], lists.offsets[u + 1]) for u in chosen]
    pools = [np.arange(lists.pool_offsets[u], lists.pool_offsets[u + 1]) for u in chosen]
    take, pool = np.concatenate(entries), np.concatenate(pools)
    return metrics.Rankings(
        np.concatenate(([0], np.cumsum([len(e) for e in entries]))),
        lists.relevance[take], lists.rank[take], lists.tie_low[take], lists.tie_high[take],
        lists.n_ranked[chosen],
        np.concatenate(([0], np.cumsum([len(p) for p in pools]))), lists.pool[pool],
    )  # fmt: skip


def test_there_are_more_than_100_cases_and_each_says_what_it_tells_apart():
    assert len(CASES) >= 100
    assert len({case["name"] for case in CASES}) == len(CASES)
    assert all(case["tells"] and set(case["values"]) == set(SUITE["conventions"]) for case in CASES)


def test_every_convention_that_defines_ndcg_is_named():
    defined = {
        name if role == "ndcg" else f"{name}-graded"
        for name, convention in conventions().items()
        for role in convention.roles
        if role in ("ndcg", "graded ndcg")
    }
    assert defined == set(SUITE["conventions"])


def test_the_file_has_the_form_that_its_schema_states():
    schema = json.loads((FOLDER / "schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(SUITE, schema)


def test_the_file_is_what_the_script_writes():
    path = TOP / "dev" / "tools" / "conformance_cases.py"
    spec = importlib.util.spec_from_file_location("conformance_cases", path)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert (FOLDER / "cases.json").read_text(encoding="utf-8") == script.text()


def test_the_runner_has_60_lines_and_imports_the_standard_library_alone():
    text = (FOLDER / "runner.py").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 60
    imported = {
        line.split()[1] for line in text.splitlines() if line.startswith(("import", "from"))
    }
    assert imported == {"importlib", "inspect", "json", "math", "sys", "pathlib"}


def test_the_folder_can_be_used_without_this_package():
    described = (FOLDER / "README.md").read_text(encoding="utf-8")
    for path in FOLDER.iterdir():
        assert f"`{path.name}`" in described or path.name in ("README.md", "__pycache__")
    for path in (FOLDER / "adapters").glob("*.py"):
        assert "harness" not in path.read_text(encoding="utf-8")
