"""Every convention equals its library, user by user, or what cannot be equal is excluded by name.

The values of the libraries on cases of every kind are kept in ``golden_conventions.json``. The
libraries themselves, on random lists, do not all live in one environment: one is made for each
group below the folder that ``HARNESS_PEERS`` names, and kept. Without the variable these tests are
skipped, because they fetch some gigabytes::

    HARNESS_PEERS=/tmp/peers pytest -m long tests/peers
"""

import json
import math
import os
import random
import subprocess
import venv
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from harness import metrics, rankings
from harness.errors import MetricError
from harness.extras.reproduce import sources
from harness.metrics import number

FOLDER = os.environ.get("HARNESS_PEERS", "")
GOLDEN = json.loads(
    (Path(__file__).parents[1] / "data" / "golden_conventions.json").read_text(encoding="utf-8")
)
CONVENTIONS = list(dict.fromkeys(row[0] for row in GOLDEN["rows"]))
SINGLE_PRECISION = ("torchmetrics", "recbole")
"""Their kept values have seven digits; recbole's live ones have all."""

# What cannot be equal: convention, roles (or any), cases, what the library does, why.
NOBODY_RELEVANT = ("T4_all_zero_rel", "T4_all_negative", "T4_zero_sum")
LIKE_EMPTY = ("T2", *NOBODY_RELEVANT)
ALL_TIED = ("T4_ties", "T4_all_equal_est", "T4_all_equal_est_20")
BELOW_ONE = ("T1_grades0to4", "T4_ties", "T4_zeros", "T4_negative", "T4_negative_scores")
EXCLUDED = [
    ("sklearn", "ndcg dcg", ("T4_single",), "raises", "it takes no list of one item"),
    ("cornac", "ncrr", ("T2",), "says more", "its ideal stops at the length of the list"),
    ("cornac", "rr", NOBODY_RELEVANT, "raises", "no relevant item is an error"),
    ("lenskit", "ap", LIKE_EMPTY, "raises", "it divides by no relevant item"),
    ("implicit", "ndcg precision ap", LIKE_EMPTY, "raises", "it divides by no user"),
    ("trec_eval", None, ("T4_fractional",), "raises", "grades must be integers"),
    ("trec_eval", None, ("T2",), "has no row", "a user nobody judged is unknown to it"),
    ("ranx", None, ("T2",), "has no row", "a user nobody judged is unknown to it"),
    ("ranx-burges", None, ("T2",), "has no row", "a user nobody judged is unknown to it"),
    ("microsoft", "ndcg", BELOW_ONE, "differs", "a rating of 0 is relevant"),
    ("microsoft", None, NOBODY_RELEVANT, "differs", "the mean over no user is 0"),
    ("torchmetrics", "precision recall ap rr hit", ALL_TIED, "differs", "ties by unstable sort"),
    (
        "torchmetrics",
        "precision recall ap rr",
        ("T4_negative_scores",),
        "differs",
        "items with a score of 0 or less are left out",
    ),
]
# The same for random lists; and one such value: role, k, user, and the values here and there.
EXCLUDED_LIVE = {
    ("trec_eval", None, ("listed",), "has no row", "a user nobody judged is unknown to it"): (
        *("ndcg", 10, 12, 0.0, None),
    ),
    ("lenskit", "ap", ("listed",), "raises", "it divides by no relevant item"): (
        *("ap", 10, 9, math.nan, "error"),
    ),
    ("implicit", None, ("listed",), "raises", "it divides by no user"): (
        *("ndcg", 10, 9, math.nan, "error"),
    ),
    ("microsoft", None, ("tied", "listed"), "says 0", "the mean over no user is 0"): (
        *("precision", 10, 9, math.nan, 0.0),
    ),
    ("cornac", "ncrr", ("listed",), "says more", "its ideal stops at the length of the list"): (
        *("ncrr", 3, 113, 9 / 11, 1.0),
    ),
}


class Group(NamedTuple):
    """Libraries that share an environment."""

    requirements: str
    conventions: str
    n_users: int = 200


GROUPS = {
    "rank": Group(
        "numpy<2 scikit-learn==1.9.1 rectools==0.19.0 ranx==0.3.21 pytrec-eval-terrier==0.5.11 "
        "ir-measures==0.4.3",
        "sklearn rectools ranx ranx-burges trec_eval ir_measures",
    ),
    "spark": Group("pyspark==4.3.0 pandas pyarrow", "mllib", 40),  # needs Java
    "torch": Group("lenskit==2025.8.1 torchmetrics==1.9.0", "lenskit torchmetrics"),
    "microsoft": Group("recommenders==1.2.1", "microsoft", 60),
    "cornac": Group("cornac==3.0.1 implicit==0.7.3", "cornac implicit"),
    "recbole": Group("recbole==1.2.1", "recbole"),
}
LIVE = {name: group for group, each in GROUPS.items() for name in each.conventions.split()}
"""The group of each convention that libraries answer."""
CUTS = [1, 3, 5, 10]
LONGEST = 15  # ranx keeps the order of ties no further


def tied(n_users, seed=1):
    """Return users whose items are all judged, with estimates that tie."""
    rng = random.Random(seed)
    users = []
    for user in range(n_users):
        n = rng.randint(2, LONGEST)
        grades = [rng.randint(0, 5) for _ in range(n)]
        users.append(
            {
                "user": f"u{user:04d}",
                "items": [f"i{item:02d}" for item in rng.sample(range(60), n)],
                "estimates": [rng.choice([1.5, 2.0, 2.5, 4.0]) for _ in range(n)],
                "grades": [0] * n if user % 17 == 0 else grades,
            }
        )
    return users


def listed(n_users, seed=2):
    """Return users with a list in order, and grades of some of its items and of items it missed.

    Every ninth user has nothing relevant, every eleventh nothing recommended, and every
    thirteenth was judged by nobody.
    """
    rng = random.Random(seed)
    users = []
    for user in range(n_users):
        items = [f"i{item:02d}" for item in rng.sample(range(40), rng.randint(1, LONGEST))]
        known = rng.sample([f"i{item:02d}" for item in range(40)], rng.randint(1, 12))
        grades = {item: rng.randint(0, 5) for item in known}
        if user % 9 == 0:
            grades = dict.fromkeys(known, 0)
        if user % 13 == 12:
            grades = {}
        users.append(
            {
                "user": f"u{user:04d}",
                "items": [] if user % 11 == 0 else items,
                "grades": grades,
            }
        )
    return users


@cache
def cases(group):
    """Return the users of each case: random ones of a group, or those whose values are kept."""
    if group:
        return {"tied": tied(GROUPS[group].n_users), "listed": listed(GROUPS[group].n_users)}
    found = {}
    for name, case in GOLDEN["cases"].items():
        if case["kind"] == "graded":
            names = {"items": "items", "estimates": "est", "grades": "true"}
        else:
            names = {"items": "preds", "grades": "labels" if case["kind"] == "binary" else "rel"}
        found[name] = [{own: user[kept] for own, kept in names.items()} for user in case["users"]]
        if case["kind"] == "mixed":
            for user in found[name]:
                user["grades"] = {int(item): grade for item, grade in user["grades"].items()}
    return found


@cache
def answers(group):
    """Return what the libraries of a group say, from an environment that is made once."""
    folder, wanted = Path(FOLDER, group), GROUPS[group].requirements
    python, installed = folder / "bin" / "python", folder / "installed.txt"
    if not installed.exists() or installed.read_text(encoding="utf-8") != wanted:
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *wanted.split()], check=True)
        installed.write_text(wanted, encoding="utf-8")  # not where an installation failed
    questions, answers = folder / "cases.json", folder / "answers.json"
    questions.write_text(json.dumps(cases(group) | {"cuts": CUTS}), encoding="utf-8")
    work = Path(__file__).with_name("peer_work.py")
    subprocess.run([python, work, group, questions, answers], check=True)
    return json.loads(answers.read_text(encoding="utf-8"))


def rows(convention, group):
    """Yield role, case, threshold, k, and the library's value of each user."""
    if group:
        for role, by_k in answers(group)[convention].items():
            case, plain = ("tied", role[5:]) if role.startswith("tied ") else ("listed", role)
            yield from ((plain, case, None, int(k), theirs) for k, theirs in by_k.items())
        return
    for name, role, case, threshold, by_k in GOLDEN["rows"]:
        if name == convention and case != "T4_duplicate_preds":
            for k, theirs in by_k.items():
                yield role, case, threshold, int(k) if k.isdigit() else None, theirs


@cache
def lists_of(group, case, by_falling_id):
    """Return a case's rankings; trec_eval wants equal scores by falling document id."""
    users = cases(group)[case]
    if "estimates" not in users[0]:
        return rankings.from_lists([u["items"] for u in users], [u["grades"] for u in users])
    columns = []
    for owner, user in enumerate(users):
        own = zip(user["items"], user["estimates"], user["grades"], strict=True)
        if by_falling_id:
            own = sorted(own, reverse=True)
        columns += [(owner, estimate, grade) for _, estimate, grade in own]
    return rankings.from_pairs(*zip(*columns, strict=True))


def metric_of(convention, role, threshold, k):
    """Return the metric of a role, or of a variant that is written out."""
    made = metrics.conventions()[convention].metrics(k or 1, threshold)
    if role not in made:
        fill = {"t": "positive", "bt": ""}
        if threshold is not None:
            fill = {"t": number(threshold), "bt": f"({number(threshold)})"}
        return metrics.parse(role.format(**fill) + ("" if k is None else f"@{k}"))
    if k is not None:
        return made[role]
    whole = made[role]
    if role in ("precision", "f1") and "denominator" not in dict(whole.chosen):
        whole = whole.having(denominator="list")  # which has its own length
    return whole.at(None)


def unlike(ours, theirs, tolerance):
    """Return how a library's value is unlike ours, or None."""
    if "error" in (ours, theirs):
        return None if ours == theirs else "raises"
    if theirs is None:
        return None if math.isnan(ours) else "has no row"
    if ours == pytest.approx(float(theirs), abs=tolerance, nan_ok=True):
        return None
    if float(theirs) == 0 and math.isnan(ours):
        return "says 0"
    return "says more" if float(theirs) > ours else "says less"


def compare(convention, group=""):
    """Yield each value's role, case, k and user, how it is unlike ours, and both."""
    name = {"ir_measures": "trec_eval"}.get(convention, convention)
    tolerances = (1e-12, 1e-6) if not group else (1e-9, 1e-5)
    is_rough = name in (SINGLE_PRECISION[:1] if group else SINGLE_PRECISION)
    for role, case, threshold, k, theirs in rows(convention, group):
        lists = lists_of(group, case, name == "trec_eval")
        metric = metric_of(name, role, threshold, k)
        try:
            ours = metrics.score([metric], lists)[metric].per_user.tolist()
        except MetricError:
            if group:  # every random list has a value
                raise
            ours = ["error"] * lists.n_users
        for user, (mine, value) in enumerate(zip(ours, theirs, strict=True)):
            how = unlike(mine, value, tolerances[is_rough])
            yield (role, case, k, user), how, mine, value


def is_of(excluded, convention, role, case, how):
    """Return whether a difference is one that is excluded by name."""
    name, roles, cases, what, _ = excluded
    of_them = name == convention and case in cases and (roles is None or role in roles.split())
    return of_them and (what == how or (what == "differs" and how.startswith("says")))


def check(convention, group, excluded, least):
    compared = 0
    for (role, case, k, user), how, ours, theirs in compare(convention, group):
        if how and any(is_of(each, convention, role, case, how) for each in excluded):
            continue
        compared += 1
        assert not how, f"{role}@{k} of {case}, user {user}: {ours} here, {theirs} there"
    assert compared > least


@pytest.mark.sample(3)
@pytest.mark.parametrize("convention", CONVENTIONS)
def test_a_convention_equals_what_its_library_returned(convention):
    check(convention, "", EXCLUDED, 30)


@pytest.mark.long
@pytest.mark.parametrize("excluded", EXCLUDED, ids=lambda each: f"{each[0]} {each[4]}")
def test_what_is_excluded_is_unlike_ours_indeed(excluded):
    convention, _, cases, *_ = excluded
    unlike = {
        case
        for (role, case, *_), how, *_ in compare(convention)
        if how and is_of(excluded, convention, role, case, how)
    }
    assert unlike == set(cases)


@pytest.mark.network
@pytest.mark.long
@pytest.mark.skipif(not FOLDER, reason="HARNESS_PEERS names no folder for the environments")
class TestLive:
    @pytest.mark.parametrize("convention", LIVE)
    def test_a_convention_equals_the_real_library(self, convention):
        check(convention, LIVE[convention], EXCLUDED_LIVE, 300)

    @pytest.mark.parametrize("excluded", EXCLUDED_LIVE, ids=lambda each: f"{each[0]} {each[4]}")
    def test_what_is_excluded_is_unlike_ours_indeed(self, excluded):
        convention, _, _, what, _ = excluded
        role, k, user, ours, theirs = EXCLUDED_LIVE[excluded]
        found = {place: rest for place, *rest in compare(convention, LIVE[convention])}
        how, found_ours, found_theirs = found[role, "listed", k, user]
        assert (how, found_theirs) == (what, theirs)
        assert found_ours == pytest.approx(ours, rel=1e-12, nan_ok=True)


@pytest.mark.parametrize(("convention", "role", "case", "threshold", "k", "mean"), GOLDEN["means"])
def test_the_mean_leaves_the_same_users_out(convention, role, case, threshold, k, mean):
    metric = metric_of(convention, role, threshold, k)
    found = metrics.score([metric], lists_of("", case, False))[metric].mean
    assert found == pytest.approx(mean)


def test_an_item_listed_twice_is_refused_where_libraries_count_it_twice():
    twice = {
        (convention, role): by_k["3"][0]
        for convention, role, case, _, by_k in GOLDEN["rows"]
        if case == "T4_duplicate_preds"
    }
    assert twice["mllib", "ndcg"] == pytest.approx(1.306574, abs=1e-6)
    assert twice["microsoft", "ndcg"] == pytest.approx(1.765361, abs=1e-6)
    with pytest.raises(MetricError, match="item 1 comes twice for user 0; keep one"):
        lists_of("", "T4_duplicate_preds", False)


def test_every_convention_was_compared_or_is_of_a_document():
    documents = set(metrics.conventions()) & set(sources()) - {"microsoft"}
    assert len(documents) == 5
    # Elliot is on no package index: its published formula is tested below.
    libraries = set(metrics.conventions()) - documents - {"elliot", "surprise-faq"}
    assert libraries == set(CONVENTIONS) == set(LIVE) - {"ir_measures"}


def test_elliot_follows_its_published_formula():
    ratings = np.array([5.0, 3.5, 2.0, 4.0, 3.0, 1.0])
    lists = rankings.from_pairs(np.zeros(6, int), -np.arange(6.0), ratings)
    for threshold in (None, 3, 4):
        least = 0 if threshold is None else threshold
        gains = np.where(ratings >= least, 2 ** (ratings - least + 1) - 1, 0.0)
        for k in (1, 3, 6):
            discount = np.log(2) / np.log(np.arange(k) + 2)
            best = np.sort(gains)[::-1][:k] @ discount
            metric = metrics.conventions()["elliot"].metrics(k, threshold)["ndcg"]
            found = metrics.score([metric], lists)[metric].mean
            assert found == pytest.approx(gains[:k] @ discount / best, rel=1e-12)
