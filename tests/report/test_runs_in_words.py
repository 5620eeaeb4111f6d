"""Headline, captions, origin, several runs and the list of runs."""

import math
import re

import pytest

from harness.config.experiment import Experiment
from harness.config.yaml import parse
from harness.errors import ComparisonError, ResultsError
from harness.report import build_page, join, plots, write_index, write_page
from harness.report.methods import command, describe_cells, to_yaml
from harness.report.summary import failures_text, seconds_text, summarise
from harness.results.cells import CellName, FailedCell
from harness.results.runs import Run
from harness.results.verdict import verdict_lines, verdicts

from .conftest import changed


def failed(cell):
    return FailedCell(**{key: cell[key] for key in CellName.model_fields}, error="boom")


@pytest.mark.long
def test_the_headline_is_of_an_algorithm_that_finished_and_counts_failures(nasty):
    assert failures_text(nasty.info.failed) == "4 cells failed: NMF."
    assert "<p>4 cells failed: NMF.</p>" in build_page([nasty])
    first = summarise(nasty).tables[0]
    leader = first.best("ndcg@10")[0]
    for i, cell in enumerate(nasty.info.cells):
        if (cell.algorithm, cell.table, cell.fold) == (leader, first.key, 1):
            nasty.info.cells[i] = failed(cell)
    summary = summarise(Run(nasty.info, nasty.users))
    [second] = summary.tables[0].best("ndcg@10")
    ranked = summary.tables[0].ranked("ndcg@10")
    assert leader != second == ranked[0]
    assert verdicts(nasty.info)[0].values["leaders"] == [second]
    assert not any("order" in name for name in ranked)  # no bounds


def test_the_value_of_the_headline_lies_in_its_interval(nasty):
    for table in summarise(nasty).tables:
        for label, compared in table.comparisons.items():
            for mean in compared.algorithms:
                value = table.records[mean.algorithm][label]
                assert math.isclose(value, mean.mean, abs_tol=1e-12)
                low, high = table.interval(label, mean.algorithm)
                assert low <= value <= high


def test_rows_of_one_value_have_no_leader_and_the_page_says_so(plain_run):
    for row in plain_run.info.rows:
        row.scores["ndcg@10"] = 0.5
    for comparison in plain_run.info.statistics:
        for pair in comparison.pairs:
            pair.difference, pair.significant = 0.0, False
    [verdict] = verdict_lines(plain_run.info)
    assert [each.code for each in verdicts(plain_run.info)] == ["all-equal"]
    assert verdict in build_page([plain_run])


def test_a_run_in_which_all_failed_says_so(plain_run):
    run = changed(plain_run, cells=[failed(cell) for cell in plain_run.info.cells], statistics=[])
    for row in run.info.rows:
        row.scores["ndcg@10"] = None
    run = Run(run.info, plain_run.users.iloc[:0])
    assert failures_text(run.info.failed) == "3 cells failed: SVD, BaselineOnly and Random."
    assert verdict_lines(run.info)[0] in build_page([run])


def test_one_algorithm_alone_makes_a_page_and_a_run_without_cells_none(plain_run):
    parts = {"cells": plain_run.info.cells[:1], "rows": plain_run.info.rows[:1]}
    alone = changed(plain_run, **parts, statistics=[], conventions=[], ties=[])
    users = plain_run.users[plain_run.users["algorithm"] == "SVD"]
    [verdict] = verdict_lines(alone.info)
    assert verdict.endswith("SVD (0.7919) is the only row.")
    assert verdict in build_page([Run(alone.info, users)])
    with pytest.raises(ResultsError, match="holds no cells; run the config again"):
        summarise(changed(plain_run, cells=[]))


@pytest.mark.long
def test_the_page_shows_the_words_and_data_of_every_plot_and_each_id_once(nasty, nasty_page):
    for kind in (plot for name, plot in plots.kinds().items() if name != "learning"):
        text = kind(nasty, "ndcg@10").describe()
        assert re.fullmatch(r"ndcg.*\.", text)
        assert "nan" not in text
    n_plots = nasty_page.count("<figure ")
    assert n_plots == nasty_page.count("<figcaption>") == nasty_page.count("Data (CSV)</summary>")
    for number in range(1, n_plots + 1):
        assert f'aria-labelledby="plot{number}-says"' in nasty_page
        assert f'<p id="plot{number}-says">' in nasty_page
    ids = re.findall(r'\sid="([^"]+)"', nasty_page)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'(?:href="|url\()#([^")]+)', nasty_page)) <= set(ids)


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.0001, "1 ms"), (0.94, "940 ms"), (1.0, "1.0 s"), (3600.0, "60 min")]
)
def test_times_are_short(seconds, text):
    assert seconds_text(seconds) == text


def test_the_config_on_the_page_gives_the_same_experiment_without_defaults(nasty, plain_run):
    text = to_yaml(nasty.info)
    again = Experiment.model_validate(parse(text, "page").data)
    assert again == Experiment.model_validate(nasty.info.config)
    assert not {"accelerate", "clip"} & set(re.findall(r"\w+", text))
    config = plain_run.info.config | {"dataset": ["given from Python: frame"]}
    assert "given from Python: frame" in to_yaml(changed(plain_run, config=config).info)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("configs/a.yaml", "harness run configs/a.yaml"),
        ("my configs/a.yaml", "harness run 'my configs/a.yaml'"),
        ("a'; date; '.yaml", r"harness run 'a'\''; date; '\''.yaml'"),
        (None, "harness run plain.yaml"),
    ],
)
def test_the_command_that_makes_a_run_again(plain_run, path, expected):
    assert command(changed(plain_run, name="plain", config_file=path).info) == expected


def test_how_each_algorithm_ran_counts_impossible_estimates_over_all_cells(nasty):
    rows = {row[0]: row[1:] for row in describe_cells(nasty.info)}
    assert rows["SVD"][1:] == ["accelerated", "accelerated", "0.0%"]
    assert rows["Random"][3] == f"{4 / 50_000:.1%}"


def test_several_runs_stand_in_one_table_and_are_compared_user_by_user(plain_run, other_run):
    both = join([plain_run, other_run])
    names = both.info.algorithms
    assert names[:4] == ["SVD", "BaselineOnly", "Random", "SVD (other)"]
    assert set(both.users["algorithm"]) == set(names)
    [table] = summarise(both).tables
    pairs = {pair.first: pair for pair in table.differences("ndcg@10", "SVD (other)")}
    assert pairs["SVD"].difference == 0
    assert math.isclose(table.records["SVD"]["ndcg@10"], table.records["SVD (other)"]["ndcg@10"])
    same = join([plain_run, changed(plain_run, name="other")])
    assert set(same.info.algorithms) == {"SVD", "BaselineOnly", "Random"}
    counted = "other: the same cells as in another run, counted once: SVD, BaselineOnly, Random"
    assert counted in map(str, same.info.notes)


def test_runs_that_cannot_be_compared_are_refused_unless_wanted(plain_run):
    data = [plain_run.info.datasets[0].model_copy(update={"fingerprint": "00" * 32})]
    path = "configs/other.yaml"
    other = changed(plain_run, name="other", datasets=data, config_file=path)
    with pytest.raises(ComparisonError, match="other data"):
        join([plain_run, other])
    page = build_page([plain_run, other], anyway=True)
    for text in ("not comparable: other: other data", "run configs/nasty.yaml", f"run {path}"):
        assert text in page


def test_the_list_of_runs_has_the_latest_first_links_to_pages_and_reasons(plain_run, tmp_path):
    old = changed(plain_run, name="old", started="2025-01-01T00:00:00+00:00").write(tmp_path)
    changed(plain_run, name="new").write(tmp_path)
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "run.json").write_text("{")
    write_page([old], old.folder / "report.html")
    page = write_index(tmp_path).read_text(encoding="utf-8")
    assert page.index(">new<") < page.index(">old<")
    assert 'href="old/report.html"' in page
    assert "new/report.html" not in page
    assert f"<code>harness report {(tmp_path / 'new').as_posix()}</code>" in page
    assert page.index("2026-01-02 03:04") < page.index("2025-01-01 00:00")
    assert "not a run" in page
    (tmp_path / "file").write_text("")
    with pytest.raises(ResultsError, match=r"file.report\.html: cannot be written"):
        write_page([plain_run], tmp_path / "file" / "report.html")
