"""Seeds as part of the design: crossed, tested, and as before where there is one."""

import json

import numpy as np
import pytest
from scipy import stats

import harness
from harness import report
from harness.comparison.inference import LEVELS, Design
from harness.comparison.runs import join
from harness.config.experiment import Inference, Seeds
from harness.config.load import load
from harness.errors import ConfigError
from harness.experiment.dry_run import dry_run
from harness.report.methods import methods
from harness.results.reading import read_run
from harness.results.table import table_latex

SMALL = {
    "dataset": {"synthetic": {"n_users": 60, "n_items": 50, "n_ratings": 1500}},
    "split": {"kind": "holdout", "test_size": 0.25},
    "algorithms": ["NMF", "BaselineOnly", "ItemMean"],
    "metrics": ["ndcg@5"],
    "baselines": False,
}


FIXED = {"kind": "holdout", "test_size": 0.25, "random_state": 3}


def run(results=None, **changes):
    return harness.run(SMALL | changes, results=results)


def means(done):
    return {
        (cell.algorithm, cell.seed): (cell.split_fingerprint, cell.scores["ndcg@5"].mean)
        for cell in done.info.finished
    }


def test_seeds_are_nested_and_the_first_of_each_kind_is_the_runs():
    draws = list(Seeds(split=3, search=2, model=4).draws(7))
    assert draws[0] == (7, 7, 7)
    assert len({draw.model for draw in draws}) == len(draws) == 24
    assert len({draw.split for draw in draws}) == 3
    assert len({draw.search for draw in draws}) == 6
    for draw in draws:
        parents = {(each.split, each.search) for each in draws if each.model == draw.model}
        assert parents == {(draw.split, draw.search)}
        assert {each.split for each in draws if each.search == draw.search} == {draw.split}


def test_a_run_of_crossed_seeds_has_the_cells_of_runs_of_one_seed():
    crossed = run(seeds={"split": 2, "model": 2})
    first, second = (
        draw for draw in crossed.info.experiment.draws.values() if draw.model == draw.split
    )
    found = means(crossed)
    for draw in (first, second):
        for key, value in means(run(seed=draw.split, statistics=None)).items():
            assert found[key] == value
    fits = {name: {found[key] for key in found if key[0] == name} for name in ("NMF", "ItemMean")}
    assert len(fits["NMF"]) == 4
    assert len(fits["ItemMean"]) == 2  # it has no seed of its own
    assert {each.seed for each in crossed.info.splits} == {first.split, second.split}


def test_tables_of_equal_parts_have_searches_of_their_own():
    parts = {"kind": "leave-n-out", "n": 1, "random_state": 3}
    one, other = ({"kind": "holdout", "test_size": size, "random_state": 1} for size in (0.5, 0.1))
    tuned = {"name": "ItemMean", "search": {"damping": [1.0, 10.0, 30.0]}}
    split = [
        parts | {"too_few": "train", "validation": one},
        parts | {"too_few": "drop", "validation": other},
    ]
    done = run(algorithms=[tuned], split=split)
    assert len({each.fingerprint for each in done.info.splits}) == 1
    assert done.table["n_trials"].tolist() == [3, 3]
    assert done.trials.groupby("split").size().tolist() == [4, 4]  # with the setting of the config


def test_a_search_has_seeds_of_its_own_and_is_made_once_for_model_seeds_that_change_nothing():
    tuned = {"name": "BaselineOnly", "search": {"bsl_options.reg_u": [1, 2, 4, 8, 16, 32]}}
    config = SMALL | {"seeds": {"search": 2, "model": 2}, "algorithms": [tuned],
                      "tuning": {"trials": 2}, "statistics": None}  # fmt: skip
    done = harness.run(config, results=None)
    trials = done.trials.groupby("seed")["params"].agg(tuple)
    assert {*trials.index} == {draw.search for draw in done.info.experiment.draws.values()}
    assert len({*trials}) == 2
    assert (done.table["n_trials"].item(), done.table["n_cells"].item()) == (4, 4)
    assert dry_run(config).rows[0][2] == "6"  # with the setting of the config
    drawn = {"name": "SVD", "params": {"n_epochs": 1}, "search": {"n_factors": [1, 2, 3, 4, 5, 6]}}
    other = harness.run(config | {"algorithms": [drawn]}, results=None)
    assert other.table["n_trials"].item() == 8
    assert dry_run(config | {"algorithms": [drawn]}).rows[0][2] == "12"
    assert harness.best(done).config["seeds"] == {"model": 2}  # its row has no search


def test_two_seeds_make_a_claim_about_algorithms(tmp_path):
    done = run(tmp_path, seeds={"split": 5, "model": 2}, statistics={"margin": 0.5})
    read = read_run(done.folder)
    (compared,) = read.info.statistics
    assert compared.claim == "algorithms"
    assert compared.about in map(str, read.info.notes)
    assert compared.about.endswith("other seeds (split and model)")
    by_name = {each.algorithm: each.components for each in compared.algorithms}
    assert [*by_name["NMF"]] == ["users", "split", "model", "rest"]
    assert by_name["ItemMean"]["model"] == 0 < by_name["NMF"]["rest"]
    users = done.users.pivot_table(index="user", columns=["algorithm", "seed"], values="ndcg@5")
    for pair in compared.pairs:
        gaps = (users[pair.first] - users[pair.second])[done.info.seeds]
        of_users = gaps.mean(axis=1)
        assert pair.difference == pytest.approx(of_users.mean())
        of_splits = gaps.dropna().to_numpy().reshape(-1, 5, 2).mean(axis=(0, 2))
        least = max(stats.sem(of_users), stats.sem(of_splits))
        assert least * (1 - 1e-9) <= pair.standard_error <= 1.5 * least
        t = abs(pair.difference) / pair.standard_error
        assert pair.p == pytest.approx(2 * stats.t.sf(t, pair.degrees))
        assert pair.equivalent
    assert read.pairs["claim"].unique().tolist() == ["algorithms"]
    (side,) = report.evidence(read)
    assert side.columns[-4:] == ["sd users", "sd split", "sd model", "sd rest"]
    assert {row[9] for row in side.rows} == {"equivalent", ""}
    assert r"within\\$\pm$0.5" in table_latex(side)  # in two lines: the table is wide
    inference = dict(methods(read.info).paragraphs)["Inference"]
    assert "users and seeds as random effects (Satterthwaite 1946)" in inference
    assert compared.about in inference
    assert compared.about in report.build_page([read])


def test_values_are_shares_of_the_room_between_random_and_best_order():
    done = run()
    best, random = (row["ndcg@5"] for row in done.bounds.to_dict("records"))
    for value, share in zip(done.table["ndcg@5"], done.room["ndcg@5"], strict=True):
        assert share == pytest.approx((value - random) / (best - random))
    assert run(metrics=["rmse"]).room["rmse"].isna().all()


def test_folds_are_tested_as_nadeau_and_bengio_do():
    done = run(split={"kind": "kfold", "n_splits": 5}, statistics={"test": "nadeau-bengio"})
    (compared,) = done.info.statistics
    folds = done.users.pivot_table(index="fold", columns="algorithm", values="ndcg@5")
    for pair in compared.pairs:
        each = folds[pair.first] - folds[pair.second]
        error = np.sqrt((1 / 5 + 1 / 4) * each.var(ddof=1))
        assert pair.standard_error == pytest.approx(error, rel=1e-3)
        assert pair.degrees == 4
    assert compared.claim == "algorithms"
    one = run(statistics={"test": "nadeau-bengio"})
    assert one.info.statistics[0].claim == "models"
    assert "no-common-seeds" in {note.code for note in one.info.notes}


def test_one_seed_and_written_tests_are_about_fitted_models():
    alone = run().info.statistics[0]
    written = run(statistics={"test": "randomisation"}).info.statistics[0]
    assert alone == written
    assert alone.claim == "models"
    assert alone.algorithms[0].components == {}
    several = run(seed=[0, 1], statistics={"claim": "models"}).info.statistics[0]
    assert "randomisation test" in several.method
    assert "these fitted models" in several.about
    assert several.algorithms[0].components.keys() == {"users", "seed", "rest"}


def test_a_record_of_before_is_read_as_a_claim_about_models(tmp_path):
    done = run(tmp_path)
    path = done.folder / "run.json"
    record = json.loads(path.read_text())
    del record["sha256"], record["config"]["seeds"]
    record["config"]["statistics"] = {"test": "randomisation"}
    for entry in record["statistics"]:
        del entry["claim"], entry["about"], entry["margin"]
        for row in entry["algorithms"]:
            del row["components"]
        for pair in entry["pairs"]:
            del pair["standard_error"], pair["degrees"], pair["detectable"]
    path.write_text(json.dumps(record))
    read = read_run(done.folder)
    assert read.info.statistics[0].claim == "models"
    assert [row[8] for row in report.evidence(read)[0].rows] == ["", "", ""]
    assert report.build_page([read])


def test_runs_in_one_table_have_the_notes_of_their_common_tests():
    first, second = run(split=FIXED, seed=[0, 1]), run(split=FIXED, seed=2, algorithms=["SVD"])
    third = run(split=FIXED, seed=[0, 1], algorithms=["SVD"])
    few = "ndcg@5: with 2 seeds the test may find"
    for runs, is_noted in (([first], 1), ([first, second], 0), ([second, third, first], 0),
                           ([third, first], 1)):  # fmt: skip
        notes = join(runs).info.notes
        assert sum(str(note).startswith(few) for note in notes) == is_noted
        assert sum(note.code == "claim" for note in notes) == 1


def test_splits_that_do_not_change_are_named():
    done = run(seeds={"split": 3}, split=FIXED)
    assert done.info.statistics[0].about.endswith("other seeds (model), on these splits")
    every = Design({}, "split", [*LEVELS], []).about("algorithms", "two-way")
    assert every.endswith("other seeds (split, search and model)")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"statistics": {"claim": "algorithms"}}, "one seed can carry no claim about algorithms"),
        ({"statistics": {"test": "two-way"}}, "cross several with `seeds: {split: 5}`"),
        ({"statistics": {"claim": "models", "test": "two-way"}}, "is not about models; use"),
        ({"statistics": {"margin": 0}}, "statistics.margin: found 0; it must be greater than 0"),
        ({"seeds": {"split": 2}, "seed": [1, 2]}, "seeds: 2 values of `seed`"),
        ({"seeds": {"search": 2}}, "no algorithm has a `search`"),
        ({"seeds": {"split": 200, "model": 200}}, "40,000 combinations; ask for 10,000"),
        ({"seeds": {"splits": 2}}, "splits"),
    ],
)
def test_designs_that_make_no_sense_are_refused(changes, message):
    with pytest.raises(ConfigError, match=message.replace("{", r"\{")):
        load(SMALL | changes)


def test_the_claim_follows_the_test_and_the_number_of_seeds():
    assert Inference().about(1) == ("models", "randomisation")
    assert Inference().about(2) == ("algorithms", "two-way")
    assert Inference(claim="models").about(2) == ("models", "randomisation")
    assert Inference(test="wilcoxon").about(2) == ("models", "wilcoxon")
    assert Inference(test="nadeau-bengio").about(1) == ("algorithms", "nadeau-bengio")
