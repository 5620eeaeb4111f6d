"""Every mutant is found and named by what it does; right implementations pass, however written."""

import importlib.util
import json
import math
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from harness._util import environments
from harness.console.commands import main
from harness.errors import HarnessError
from harness.extras.conformance.asking import libraries
from harness.extras.conformance.calculation import value
from harness.extras.conformance.command import badge, record
from harness.extras.conformance.profile import FOLDER, profile, questions, suite


def module(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


HERE = Path(__file__).parent
tried = module(HERE / "implementations.py")
runner = module(FOLDER / "runner.py")


def returned(adapter):
    return {case["name"]: runner.ask(adapter, case) for case in suite()["cases"]}


def of(adapter):
    return profile(returned(adapter))


def largest_difference(found, got):
    """Return by how much values differ from those of the answers that were found."""
    answers = {question: words[0] for question, words in found.answers.items()}
    numeric = [case for case in suite()["cases"] if isinstance(got[case["name"]], float)]
    return max(abs(value(case, answers) - got[case["name"]]) for case in numeric)


RIGHT = {
    "gain": ("exp2",),
    "discount": ("log",),
    "ideal": ("judged",),
    "cut": ("k",),
    "order": ("descending",),
    "factor": ("1",),
    "short": ("summed",),
    "ties": ("first",),
    "scores": ("double",),
    "negative": ("keep",),
    "grades": ("real",),
    "unjudged": ("kept",),
    "duplicates": ("once",),
    "nothing": ("nan",),
    "empty": ("0",),
    "mean": ("defined",),
}


def test_a_right_implementation_has_one_answer_to_each_question():
    got = returned(tried.made())
    found = profile(got)
    assert found.answers == RIGHT
    assert list(questions()) == list(RIGHT)
    assert found.is_explained
    assert largest_difference(found, got) < 1e-12


@pytest.mark.parametrize("name", tried.TWINS)
def test_a_twin_written_differently_passes(name):
    twin = tried.TWINS[name]
    twin.mean = tried.over_users(twin)
    found = of(twin)
    assert found.answers == RIGHT
    assert found.is_explained
    assert found.conventions == of(tried.made()).conventions


@pytest.mark.parametrize("name", tried.MUTANTS)
def test_a_mutant_is_named_by_what_it_does(name):
    (question, answer), steps = tried.MUTANTS[name]
    found = of(tried.made(**steps))
    assert found.answers[question] == (answer,)
    assert RIGHT[question] != (answer,)
    if answer in questions()[question].deviations:
        named = [finding for finding in found.findings if finding.question == question]
        assert [finding.answer for finding in named] == [answer]
        assert named[0].arithmetic != named[0].deviating
    else:  # documented somewhere, so not a deviation; the profile shows it all the same
        assert found.is_explained


def test_there_are_enough_mutants_and_twins():
    assert len(tried.MUTANTS) >= 20
    assert len(tried.TWINS) == 5


def test_a_value_that_nothing_gives_is_shown_with_the_first_case_and_its_arithmetic():
    found = of(tried.made(gain=lambda grade: math.sin(grade) if grade else 0))
    (finding,) = found.findings
    assert finding.question == "gain"
    assert finding.answer == ""
    assert finding.case == "gain-01"
    assert "DCG = " in finding.arithmetic
    assert not found.is_explained


def test_ties_in_no_order_are_arbitrary_and_values_beyond_the_best_order_are_not():
    import random

    generator = random.Random(0)

    def shuffled(relevance, scores, k):
        rows = list(zip(relevance, scores, strict=True))
        generator.shuffle(rows)
        return tried.ndcg([g for g, _ in rows], [s for _, s in rows], k)

    assert of(shuffled).answers["ties"] == ("arbitrary",)

    def beyond(relevance, scores, k):
        is_tied = len(set(scores)) < len(scores)
        return tried.ndcg(relevance, scores, k) + (0.5 if is_tied and None not in scores else 0)

    found = of(beyond)
    assert "ties" in [finding.question for finding in found.findings]


def test_what_cannot_be_expressed_and_what_is_refused_are_no_deviations():
    def narrow(relevance, scores, k):
        if None in relevance or None in scores:
            raise NotImplementedError("complete lists alone")
        if min(relevance) < 0:
            raise ValueError("a negative grade")
        return tried.ndcg(relevance, scores, k)

    found = of(narrow)
    assert found.is_explained
    assert found.sentence("unjudged") == "not asked: complete lists alone"
    assert found.sentence("negative") == "refused: ValueError: a negative grade"
    assert found.sentence("duplicates") == "not asked: no parameter `items`"
    assert found.answers["ideal"] == ("judged", "listed")


def test_an_implementation_without_a_value_is_an_error():
    def broken(relevance, scores, k):
        raise RuntimeError("not today")

    with pytest.raises(HarnessError, match=r"no value for any case .* \(RuntimeError: not today\)"):
        of(broken)


MINE = """
import math


def dcg(gains):
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def ndcg(relevance, scores, k):
    rows = [(s, g or 0) for g, s in zip(relevance, scores) if s is not None]
    listed = [g for s, g in sorted(rows, key=lambda row: -row[0])]
    ideal = dcg(sorted((g or 0 for g in relevance), reverse=True)[:k])
    return dcg(listed[:k]) / ideal if ideal else None


def infinite(relevance, scores, k):
    return {1: math.inf, 2: -math.inf, 3: math.nan}.get(k, 0.5)


class Wrong:
    def __call__(self, relevance, scores, k):
        value = ndcg(relevance, scores, k)
        return None if value is None else 100 * value


def none(relevance, scores, k):
    return None


def raises(relevance, scores, k):
    raise ValueError("not today")


def other(relevance, scores):
    return 1.0


class Needs:
    def __init__(self, k):
        self.k = k
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(*arguments):
    with pytest.raises(SystemExit) as stop:
        main(["conformance", *arguments])
    return stop.value.code or 0


def test_the_command_prints_the_conventions_of_a_function(mine, capsys):
    assert call("mine:ndcg", "--badge", "ndcg.svg", "-o", "found.json") == 0
    shown = capsys.readouterr().out
    assert "gain of a grade" in shown
    assert "documented conventions explain all values" in shown
    assert (mine / "ndcg.svg").read_text().startswith("<svg")
    found = json.loads((mine / "found.json").read_text())["mine:ndcg"]
    assert found["answers"]["nothing"] == ["none"]
    assert set(found["returned"]) == {case["name"] for case in suite()["cases"]}


def test_a_file_is_a_module_wherever_it_is(mine, capsys, monkeypatch):
    (mine / "below").mkdir()
    monkeypatch.chdir(mine / "below")
    assert call("../mine.py:ndcg") == 0
    assert call(f"{mine / 'mine.py'}:ndcg") == 0
    assert "documented conventions explain all values" in capsys.readouterr().out


def test_the_output_fits_80_ascii_columns(mine, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert call("mine:Wrong") == 1
    shown = capsys.readouterr().out
    assert shown.isascii()
    assert max(map(len, shown.splitlines())) <= 80


def test_the_command_ends_with_1_where_a_value_is_not_explained(mine, capsys):
    assert call("mine:Wrong") == 1
    shown = capsys.readouterr().out
    assert "deviation: factor and rounding: percent" in shown
    assert "gain-01" in shown


def test_the_command_compares_with_the_convention_that_is_expected(mine, capsys):
    assert call("mine:ndcg", "--expect", "sklearn") == 1
    assert "mine:ndcg: is not sklearn" in capsys.readouterr().out
    assert call("mine:ndcg", "--expect", "skleran") == 2
    assert "sklearn" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("mine:absent", "mine:absent: cannot be asked (AttributeError: "),
        ("absent:ndcg", "No module named 'absent'"),
        ("absent.py:ndcg", "absent.py:ndcg: no such file"),
        ("mine.py", "name its function, for example mine.py:ndcg"),
        ("mine:", "name its function, for example mine:ndcg"),
        ("mine:none", "every value is None"),
        ("mine:raises", "ValueError: not today"),
        ("mine:other", "takes 2 positional arguments but 3 were given"),
        ("mine:Needs", "a class without arguments"),
        ("scikit-lern", "scikit-learn"),
    ],
)
def test_a_name_that_is_not_there_is_refused(mine, capsys, name, words):
    assert call(name) == 2
    shown = " ".join(capsys.readouterr().err.split())
    assert words in shown
    assert "; " in shown or "did you mean" in shown
    assert "Traceback" not in shown


def test_every_name_is_looked_at_before_one_is_asked(mine, capsys):
    assert call("mine:ndcg", "scikit-lern") == 2
    assert "gain of a grade" not in capsys.readouterr().out


def test_the_result_is_a_document_with_json(mine, capsys):
    assert call("mine:ndcg", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["result"]["mine:ndcg"]["is_explained"]


def strict(text):
    return json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def of_implementations(found):
    schema = strict((FOLDER / "schema.json").read_text(encoding="utf-8"))
    form = {"$defs": schema["$defs"], "$ref": "#/$defs/implementations"}
    jsonschema.Draft202012Validator(form).validate(found)
    return found


def test_values_that_json_lacks_are_text_in_every_document(mine, capsys):
    assert call("mine:infinite", "-o", "found.json") == 1
    assert "returned -inf" in capsys.readouterr().out
    found = of_implementations(strict((mine / "found.json").read_text()))
    assert call("mine:infinite", "--json") == 1
    assert strict(capsys.readouterr().out)["result"] == found
    returned = found["mine:infinite"]["returned"]
    assert {"inf", "-inf", "nan", 0.5} <= {v for v in returned.values() if not isinstance(v, dict)}
    command = [sys.executable, FOLDER / "runner.py", "mine:infinite", "--json", "values.json"]
    subprocess.run(command, capture_output=True)
    assert strict((mine / "values.json").read_text()) == returned


def test_the_values_of_libraries_have_the_form_that_the_schema_states():
    of_implementations(strict((FOLDER / "libraries.json").read_text(encoding="utf-8")))


def test_the_runner_works_without_this_package(mine):
    alone = "import sys; sys.modules['harness'] = None; import runpy; "
    alone += "runpy.run_path(sys.argv.pop(1), run_name='__main__')"
    done = subprocess.run(
        [sys.executable, "-c", alone, FOLDER / "runner.py", "mine.py:ndcg"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1  # documented, but no named convention has all of its answers
    assert "sklearn: differs in 17, first ties-01: 0.6309297535714575, not 0.815464" in done.stdout
    assert done.stdout.count("\n") == len(suite()["conventions"])


@pytest.mark.long
def test_scikit_learn_is_asked_in_this_environment(capsys):
    pytest.importorskip("sklearn")
    assert call("scikit-learn") == 0
    assert "named conventions that give all values: sklearn" in capsys.readouterr().out


def test_a_library_that_is_not_installed_gets_an_environment_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    library = libraries()["ranx"].model_copy(
        update={
            "distribution": "no-such-distribution",
            "requirements": ["--no-index", "no-such-one"],
        }
    )
    calls = []

    def run(command, **_):
        calls.append(command)
        code = int("pip" in command)
        return subprocess.CompletedProcess(command, code, "", "ERROR: no such one\n")

    monkeypatch.setattr(environments.subprocess, "run", run)
    with pytest.raises(HarnessError, match="could not be installed: ERROR: no such one; install "):
        library.interpreter()
    assert calls[0][1:3] == ["-m", "venv"]
    assert calls[1][-2:] == ["--no-index", "no-such-one"]
    assert str(tmp_path) in calls[1][0]


def test_a_badge_says_what_is_computed_or_that_it_is_not_explained():
    assert "exp2, log, judged, first" in badge(record(returned(tried.made())))
    percent = tried.made(after=lambda value, *_: value * 100)
    assert "not explained" in badge(record(returned(percent)))


@pytest.mark.parametrize("name", libraries())
def test_a_reproduction_has_at_most_five_lines(name):
    for each in libraries()[name].reproductions:
        assert 1 <= len([line for line in each["code"].splitlines() if line]) <= 5
        assert each["question"] in (*questions(), "label")


def our_ndcg(relevance, scores, k, items=None):
    """NDCG of this package, by the label whose undefined value is nan."""
    from harness import metrics

    if items is not None:
        raise NotImplementedError("a user has one estimate for an item")
    ranked = sorted((n for n, s in enumerate(scores) if s is not None), key=lambda n: -scores[n])
    order = [scores[n] for n in ranked]
    rows = [
        (
            relevance[n],
            rank,
            order.index(scores[n]) + 1,
            order.index(scores[n]) + order.count(scores[n]),
        )
        for rank, n in enumerate(ranked, 1)
        if relevance[n] is not None
    ]
    columns = [list(column) for column in zip(*rows, strict=True)] or [[], [], [], []]
    pool = sorted((g for g in relevance if g is not None), reverse=True)
    lists = metrics.Rankings([0, len(rows)], *columns, [len(ranked)], [0, len(pool)], pool)
    (metric,) = metrics.parse_many(f"ndcg@{k}")
    return metrics.score([metric], lists)[metric].mean


def test_ndcg_of_this_package_is_explained():
    found = of(our_ndcg)
    assert found.is_explained
    assert found.answers["gain"] == ("exp2",)
    assert found.answers["ties"] == ("average",)
    assert found.unasked["negative"].startswith("refused: MetricError")


@pytest.mark.parametrize(
    ("k", "expected"),
    [
        # `a` is listed twice: 2/1 + 2/1.585 over 1/1 + 1/1.585, as 2 x 2 copies fill the ideal
        (2, 2.0),
        # 2/1 + 1/1.585 + 2/2 over 1/1 + 1/1.585 + 1/2
        (3, (2 + 1 / math.log2(3) + 1) / (1 + 1 / math.log2(3) + 0.5)),
    ],
)
def test_a_joined_item_counts_once_for_each_pair_of_its_rows(k, expected):
    scores = [3, 1, 2] if k == 3 else [3, 2, 1]
    case = {"relevance": [1, 1, 1], "scores": scores, "items": ["a", "a", "b"], "k": k}
    assert value(case, {"duplicates": "joined"}) == pytest.approx(expected)
