"""``harness audit``: a made-up file for each fault, and one without any."""

import json
import math

import numpy as np
import pandas as pd
import pytest

import harness
from harness.errors import MetricError, ResultsError
from harness.extras.audit import audit, checks
from harness.extras.audit.search import AuditSearch as Search
from harness.extras.audit.searches import unequal_candidates


def clean():
    """Return predictions in the right order, without ties, of 12 users with 24 items each."""
    rows = pd.DataFrame(
        [(f"u{user}", item, 1 + (item + user) % 5) for user in range(12) for item in range(24)],
        columns=["user", "item", "rating"],
    ).astype({"rating": float})
    jitter = np.random.default_rng(0).permutation(len(rows)) / len(rows)
    return rows.assign(estimate=rows["rating"] + 0.4 * jitter)


def rmse(rows):
    return math.sqrt(((rows["estimate"] - rows["rating"]) ** 2).mean())


def ndcg(rows, k=10):
    """Return nDCG of one list, in the order of the estimates."""
    gain = 2 ** rows["rating"].to_numpy() - 1
    weights = 1 / np.log2(np.arange(2, k + 2))
    best = np.sort(gain)[::-1][:k]
    own = gain[np.argsort(-rows["estimate"].to_numpy())][:k]
    return (own * weights[: len(own)]).sum() / (best * weights[: len(best)]).sum()


def mean_ndcg(rows, k=10):
    return np.mean([ndcg(own, k) for _, own in rows.groupby("user")])


def constant(rows):
    changed = rows.assign(estimate=3.3)
    return changed, "unknown-ids", {"rmse": (rmse(changed), None)}


def infinite(rows):
    rows = rows.astype({"estimate": object})
    rows.loc[5, "estimate"] = "inf"
    return rows, "bad-estimates", {"rmse": (None, rmse(rows.drop(5).astype({"estimate": float})))}


def far(rows):
    changed = rows.assign(estimate=rows["estimate"] * 100)
    clipped = changed.assign(estimate=changed["estimate"].clip(1, 5))
    return changed, "bad-estimates", {"rmse": (rmse(changed), rmse(clipped))}


def default(rows):
    given = np.arange(len(rows)) % 5 < 3
    changed = rows.assign(estimate=rows["estimate"].mask(given, 3.31))
    return changed, "bad-estimates", {"rmse": (rmse(changed), rmse(rows[~given]))}


def duplicates(rows):
    changed = pd.concat([rows, rows.iloc[:3].assign(estimate=4.9)])
    return changed, "duplicates", {"rmse": (rmse(changed), rmse(rows))}


def clipped(rows):
    rows = rows.assign(rating=rows["rating"].replace(1, 0.5))
    changed = rows.assign(estimate=rows["estimate"].mask(rows["rating"] < 1, 1.0))
    free = changed.assign(estimate=changed["estimate"].mask(rows["rating"] < 1, 0.5))
    return changed, "clipped", {"rmse": (rmse(changed), rmse(free))}


def ties(rows):
    """Give two items of one user the same estimate, one before the cut and one behind."""
    own = rows[rows["user"] == "u0"].sort_values("estimate", ascending=False)
    tenth, last = own.index[9], own[own["rating"] == 1].index[0]
    between = rows.index.isin(own.index[10:]) & (rows.index != last)
    changed = rows.assign(estimate=rows["estimate"].mask(between, rows["estimate"] - 1.5))
    changed.loc[last, "estimate"] = changed.loc[tenth, "estimate"]
    orders = [changed.copy() for _ in range(2)]
    orders[0].loc[last, "estimate"] += 1e-6
    orders[1].loc[last, "estimate"] -= 1e-6
    return (
        changed,
        "ties",
        {"ndcg@10": {"worst": mean_ndcg(orders[0]), "best": mean_ndcg(orders[1])}},
    )


def ideal(rows):
    short = rows["user"].isin([f"u{n}" for n in range(5)]) & (rows["item"] >= 6)
    weights = 1 / np.log2(np.arange(2, 12))
    full = (5 * weights[:6].sum() / weights.sum() + 7) / 12
    effect = {"ideal of 10": full, "own ideal": 1.0}
    return rows[~short], "ideal", {"ndcg(gain=binary)@10": effect}


def single(rows):
    changed = rows.assign(estimate=rows["estimate"] + 1.5 * (rows["user"] == "u3"))
    return changed, "one-list", {"ndcg@10": {"one list": ndcg(changed), "mean over users": 1.0}}


def sampled(rows):
    parts = [rows.assign(item=rows["item"] + 24 * n, rating=float(n == 0)) for n in range(2)]
    every = pd.concat(parts, ignore_index=True)
    return every.assign(estimate=every["rating"] + np.arange(len(every)) / 1000), "sampled", {}


def equal(rows):
    return rows.assign(rating=4.0), "indistinct", {"ndcg@10": {"here": 1.0}}


@pytest.mark.parametrize(
    "fault",
    [constant, infinite, far, default, duplicates, clipped, ties, ideal, single, sampled, equal],
)
def test_a_file_with_one_fault_has_this_finding_alone(tmp_path, fault):
    rows, check, effect = fault(clean())
    rows.to_csv(tmp_path / "p.csv", index=False)
    found = audit(tmp_path / "p.csv")
    assert [each.id for each in found.findings] == [check]
    (finding,) = found.findings
    assert finding.level == checks()[check]["level"]
    for label, expected in effect.items():
        values = finding.effect[label]
        if isinstance(expected, tuple):
            expected = dict(zip(("as it is", "without the problem"), expected, strict=True))
        for name, value in expected.items():
            assert values[name] == (None if value is None else pytest.approx(value, abs=1e-12))


def test_a_clean_file_has_no_finding_and_says_what_was_not_checked(tmp_path):
    rows = clean().assign(timestamp=lambda table: 2000 + table.index)
    rows.to_csv(tmp_path / "p.csv", index=False)
    rows.assign(item=rows["item"] + 24, timestamp=1000).to_csv(tmp_path / "t.csv", index=False)
    found = audit(tmp_path / "p.csv")
    assert found.findings == []
    never = {"dropped-users", "chosen-on-test"}
    unknown = never | {"inner-ids", "cut-ids", "test-in-training", "training-items", "future"}
    assert set(found.not_checked) == unknown
    assert "no fault found, no caution found" in str(found)
    assert found.input == str(tmp_path / "p.csv")  # which distinguishes files of one name
    found = audit(tmp_path / "p.csv", train=tmp_path / "t.csv")
    assert (found.findings, set(found.not_checked)) == ([], never)
    assert {*found.checked, *found.not_checked} == set(checks())


def test_training_pairs_show_leaks_and_distinguish_constants(tmp_path):
    rows = clean().assign(timestamp=lambda table: table.index + 1)
    rows.to_csv(tmp_path / "p.csv", index=False)
    seen = rows["item"] < 3
    train = pd.concat([rows[seen], rows[seen].assign(item=30, timestamp=10_000).iloc[::3]])
    train.to_csv(tmp_path / "t.csv", index=False)
    leak, future = audit(tmp_path / "p.csv", train=tmp_path / "t.csv").findings
    assert (leak.id, future.id) == ("test-in-training", "future")
    both = {"as it is": rmse(rows), "without the problem": rmse(rows[~seen])}
    assert leak.effect["rmse"] == pytest.approx(both)
    later = int((train["timestamp"] > np.sort(rows["timestamp"])[(len(rows) - 1) // 2]).sum())
    assert f"{later:,} of {len(train):,}" in future.what
    for known, check in (("u", "bad-estimates"), ("x", "unknown-ids")):
        rows.assign(estimate=3.3).to_csv(tmp_path / "c.csv", index=False)
        new = train.assign(user=train["user"].str.replace("u", known), item=99, timestamp=0)
        new = new.drop_duplicates("user")
        new.to_csv(tmp_path / "t.csv", index=False)
        (found,) = audit(tmp_path / "c.csv", train=tmp_path / "t.csv").findings
        assert found.id == check


def lists(tmp_path, change=lambda table: table):
    """Write lists in the right order, changed, and their truth; return the ids and effects."""
    rows = clean().sort_values(["user", "estimate"], ascending=[True, False])
    rows[["user", "item", "rating"]].to_csv(tmp_path / "truth.csv", index=False)
    rows["rank"] = rows.groupby("user").cumcount() + 1
    top = rows[rows["rank"] <= 15][["user", "item", "rank"]]
    change(top).to_csv(tmp_path / "l.csv", index=False)
    found = audit(tmp_path / "l.csv", truth=tmp_path / "truth.csv")
    return {each.id: each.effect.get("ndcg@10") for each in found.findings}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda table: table, {}),
        (
            lambda table: table[table["user"] != "u7"],
            {"dropped-users": {"users with a list": 1.0, "others as 0": 11 / 12}},
        ),
        (
            lambda table: table.assign(item="m00" + table["item"].astype(str)),
            {"unknown-ids": {"as it is": 0.0, "without the problem": 1.0}},
        ),
        (
            lambda table: pd.concat([table, table.iloc[:1].assign(rank=16)]),
            {"duplicates": {"as it is": None, "without the problem": 1.0}},
        ),
    ],
)
def test_lists_are_compared_with_their_truth(tmp_path, change, expected):
    assert lists(tmp_path, change) == expected


def top_lists(items_of):
    """Return lists of the items of each user, the first one on top."""
    rows = [(u, item, n) for u, items in items_of.items() for n, item in enumerate(items, 1)]
    return pd.DataFrame(rows, columns=["user", "item", "rank"])


@pytest.mark.parametrize(("same", "code"), [(True, "same"), (False, "pairs")])
def test_training_items_in_lists_are_found_with_their_size(tmp_path, same, code):
    """Each user's only relevant item stands behind as many training items as the list has."""
    users = [f"u{n}" for n in range(6)]
    pairs = {user: ["a", "b", "t", "c"] if same else ["a", f"x{user}", "t"] for user in users}
    top_lists(pairs).to_csv(tmp_path / "l.csv", index=False)
    truth = pd.DataFrame({"user": users, "item": "t", "rating": 1.0})
    truth.to_csv(tmp_path / "truth.csv", index=False)
    train = pd.DataFrame([(user, item) for user in users[:4] for item in ("a", "z")])
    train.set_axis(["user", "item"], axis=1).to_csv(tmp_path / "train.csv", index=False)
    found = audit(tmp_path / "l.csv", truth=tmp_path / "truth.csv", train=tmp_path / "train.csv")
    (finding,) = (each for each in found.findings if each.id == "training-items")
    assert finding.code == f"training-items.{code}"
    assert finding.values["seen"] == {"n": 4, "n_all": len(users) * len(pairs["u0"])}
    assert finding.values["users"] == {"n": 4, "n_all": 6}
    third, second = 1 / np.log2(4), 1 / np.log2(3)
    effect = finding.effect["ndcg@10"]
    assert effect["as it is"] == pytest.approx(third)
    assert effect["without the problem"] == pytest.approx((4 * second + 2 * third) / 6)
    assert ("all users have the same list" in str(found)) == same


def test_rows_that_the_training_file_repeats_are_found(tmp_path):
    rows = clean()
    rows.to_csv(tmp_path / "p.csv", index=False)
    train = rows[["user", "item"]].assign(item=rows["item"] + 100)
    pd.concat([train, train.iloc[:7]]).to_csv(tmp_path / "t.csv", index=False)
    (finding,) = audit(tmp_path / "p.csv", train=tmp_path / "t.csv").findings
    assert finding.code == "duplicates.training"
    assert finding.values["again"] == {"n": 7, "n_all": len(train) + 7}
    assert f"t.csv:{len(train) + 2}" in finding.where


def test_users_who_are_ranked_among_their_own_items_alone_are_found_in_predictions(tmp_path):
    rows, _, _ = sampled(clean())
    few = rows["user"].isin([f"u{n}" for n in range(6)]) & (rows["rating"] == 0)
    rows = rows[~few].assign(estimate=lambda table: 1 - table["estimate"] / 2)  # the worst order
    rows.to_csv(tmp_path / "p.csv", index=False)
    found = audit(tmp_path / "p.csv")
    (finding,) = (each for each in found.findings if each.level == "fault")
    assert finding.code == "unequal-candidates.users"
    assert finding.values["only"] == {"n": 6, "n_all": 12}
    effect = finding.effect["ndcg@10"]
    assert effect["with only test items"] == 1.0
    assert effect["with other items"] == pytest.approx(2 * effect["all users"] - 1)


@pytest.mark.parametrize(("n_only", "is_found"), [(0, False), (2, False), (10, True), (20, False)])
def test_users_whose_list_is_their_truth_are_found_among_others(tmp_path, n_only, is_found):
    truth = {f"u{n}": [f"t{n}", f"s{n}"] for n in range(20)}
    items = {
        user: own if n < n_only else [*"abcdef", *own]
        for n, (user, own) in enumerate(truth.items())
    }
    top_lists(items).to_csv(tmp_path / "l.csv", index=False)
    top_lists(truth)[["user", "item"]].to_csv(tmp_path / "truth.csv", index=False)
    found = audit(tmp_path / "l.csv", truth=tmp_path / "truth.csv")
    codes = [each.code for each in found.findings if each.level == "fault"]
    assert codes == ["unequal-candidates.users"] * is_found
    for each in found.findings:
        if each.level == "fault":
            assert each.values["only"] == {"n": n_only, "n_all": 20}


def test_rows_that_rank_other_items_are_found(tmp_path):
    rows = clean()
    rows.to_csv(tmp_path / "a.csv", index=False)
    rows[rows["item"] < 20].to_csv(tmp_path / "b.csv", index=False)
    rows.assign(item=rows["item"] + 500).to_csv(tmp_path / "fold.csv", index=False)
    a, b, fold = (tmp_path / name for name in ("a.csv", "b.csv", "fold.csv"))
    assert audit(a, beside=[a, fold]).findings == []
    (finding,) = audit(a, beside=[a, b]).findings
    assert finding.code == "unequal-candidates.files"
    assert finding.values["apart"] == {"n": 48, "n_all": 288}
    common = {"as it is": rmse(rows), "without the problem": rmse(rows[rows["item"] < 20])}
    assert finding.effect["rmse"] == pytest.approx(common)


def test_rows_of_a_run_with_other_lengths_of_lists_are_found():
    sizes = pd.Series({"ann": 40, "bob": 40, "cy": 40})
    for other, n in ((sizes, 0), (sizes.replace(40, 39), 3), (sizes[:2], 1)):
        search = Search("ndcg@10")
        unequal_candidates.of_cells(search, ("A", sizes), ("B", other), {"table": "", "fold": 1})
        found = [each.values["users"] for each in search.findings]
        assert found == ([{"n": n, "n_all": 3}] if n else [])


def test_what_nearly_every_table_has_is_one_line_at_the_end(tmp_path):
    rows, _, _ = ideal(clean())
    rows = rows.assign(estimate=rows["estimate"] + 1.5 * (rows["user"] == "u7"))
    rows.to_csv(tmp_path / "p.csv", index=False)
    found = audit(tmp_path / "p.csv")
    assert [each.id for each in found.findings] == ["ideal", "one-list"]
    *rest, last = str(found).splitlines()
    assert "no fault found, no caution found" in rest
    assert last.startswith(
        "usual, in nearly every table: ideal (ndcg(gain=binary)@10 ideal of 10 0."
    )
    assert "; one-list (ndcg@10 one list 0." in last
    assert not any("ideal" in line for line in rest)


def run(results=None, **keys):
    data = {"synthetic": {"n_users": 50, "n_items": 40, "n_ratings": 800}}
    config = {"dataset": data, "algorithms": ["ItemMean"], "metrics": ["ndcg@10"]}
    return harness.run(config | keys, results=results)


def test_short_lists_are_found_under_each_split_of_one_kind():
    split = [{"kind": "holdout", "random_state": state} for state in (0, 1)]
    found = audit(run(split=split)).findings
    text = "% of all lists are not longer than 10, so that ndcg@10 sees all of them"
    whats = [each.what for each in found if "of all lists are not longer" in each.what]
    assert whats == [f"98{text}", f"100{text}"]


def test_users_that_are_left_out_are_found_in_the_table_that_leaves_them_out():
    candidates = [{"kind": "rated", "unknown_users": "drop"}, "rated"]
    split = {"kind": "global-time", "quantile": 0.5}
    found = audit(run(split=split, candidates=candidates)).findings
    (dropped,) = (each for each in found if each.id == "dropped-users")
    assert "rated, known users: " in dropped.where


def test_a_run_reports_what_it_has_recorded(tmp_path):
    mean = {"name": "KNNBasic", "label": "mean", "params": {"min_k": 90}}
    done = run(
        tmp_path,
        name="r",
        dataset={"synthetic": {"n_users": 60, "n_items": 80, "n_ratings": 1500}},
        split={"kind": "holdout", "test_size": 0.3},
        candidates=["catalogue", {"kind": "sampled", "n": 10}],
        algorithms=["BaselineOnly", mean],
        metrics=["ndcg@5", "rmse"],
        outputs={"estimates": True},
        baselines=False,
        seed=[0, 1],
    )
    found = audit(tmp_path / "r")
    assert found == harness.audit("r", results=tmp_path)
    by_id = {each.id: each for each in found.findings}
    values = done.table.set_index(["candidates", "algorithm"])["ndcg@5"]
    names = list(dict.fromkeys(done.table["candidates"]))
    best = values[names[1]].idxmax()
    effect = by_id["sampled"].effect["ndcg@5"]
    assert effect == {names[1]: values[names[1], best], "catalogue": values["catalogue", best]}
    of_mean = done.estimates[done.estimates["algorithm"] == "mean"]
    of_mean = of_mean[(of_mean["candidates"] == names[-1]) & (of_mean["seed"] == 0)]
    assert by_id["unknown-ids"].where.startswith(f"synthetic, holdout 30%, {names[-1]}: mean, fold")
    assert by_id["unknown-ids"].effect["rmse"]["as it is"] == pytest.approx(rmse(of_mean))
    tied = [each for each in found.findings if each.id == "ties"]
    worst = done.info.ties[0].rows[1]
    assert tied[0].effect["ndcg@5"] == dict(worst.scores)
    of_cells = [cell.tied["ndcg@5"] for cell in done.info.cells_of_rows[worst.row]]
    assert f"the mean of the folds and seeds: mean ({np.mean(of_cells):.0%})" in tied[0].where
    for compared in done.info.statistics:
        compared.pairs[0].significant = True
        for row, letters in zip(compared.algorithms, ("aa.ab", "a"), strict=True):
            row.letters = letters  # as of more than 26 groups, where "aa" and "a" are two
    assert "all share a letter" not in str(audit(done))
    with pytest.raises(ResultsError, match="has no 'ndcg@7'; did you mean 'ndcg@5'"):
        audit(done, metric="ndcg@7")
    with pytest.raises(ResultsError, match="a run has its own truth"):
        audit(done, train="t.csv")


@pytest.mark.parametrize(
    ("text", "given", "message"),
    [
        (None, {}, "p.csv: no such file in "),
        ("user,item,rating\n1,2,3\n", {}, "p.csv:1: no column for the estimate"),
        ("user,estimate,rating\n1,2,3\n1,3,x\n", {}, "p.csv:3: the rating 'x' is not a number"),
        ("user,estimate,rating\n1,nan,3\n", {}, "p.csv:2: no estimate is a finite number"),
        ("user,estimate,rating\n1,2,3\n", {"metric": "rmse"}, "rmse: not a metric of ranks"),
    ],
)
def test_bad_input_says_what_to_do(tmp_path, monkeypatch, text, given, message):
    monkeypatch.chdir(tmp_path)
    if text is not None:
        (tmp_path / "p.csv").write_text(text)
    with pytest.raises((MetricError, harness.errors.DataError)) as error:
        audit("p.csv", **given)
    assert message in str(error.value)


def test_an_audit_fits_80_columns_and_ends_with_0(call, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    rows = (f"u{u},{i},3.3,{1 + (u + i) % 5}\n" for u in range(12) for i in range(24))
    (tmp_path / "p.csv").write_text("user,item,estimate,rating\n" + "".join(rows))
    out = call.done("audit", "p.csv")
    assert "1 fault, no caution found" in out
    assert max(map(len, out.splitlines())) <= 80
    found = json.loads(call.done("audit", "p.csv", "--json"))["result"]
    assert found == [harness.audit("p.csv").model_dump()]
