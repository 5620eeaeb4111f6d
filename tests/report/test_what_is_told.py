"""Headline, captions, provenance, several runs and the list of runs."""

import math

import pytest

from harness.config.document import parse
from harness.config.experiment import Experiment
from harness.errors import ComparisonError, ResultsError
from harness.report import build_page, join, plots, write_index, write_page
from harness.report.axes import spread_positions
from harness.report.methods import command, describe_cells, to_yaml
from harness.report.sentences import headline, seconds_text
from harness.report.summary import summarise
from harness.results.record import CellName, FailedCell, RunInfo
from harness.results.run import Run


def renamed(run, name, **info):
    return Run(RunInfo(**run.info.model_dump() | {"name": name} | info), run.users)


def test_the_headline_is_made_from_the_numbers(plain_run):
    told = summarise(plain_run)
    row = told.tables[0].rows.iloc[0]
    low, _ = told.tables[0].interval("ndcg@10", "SVD")
    [pair] = [
        pair
        for pair in told.tables[0].differences("ndcg@10", "BaselineOnly")
        if pair.first == "SVD"
    ]
    [sentence] = headline(told)
    places = told.tables[0].decimals["ndcg@10"]
    assert sentence.startswith(
        "On ml-100k (2-fold; candidates: rated), SVD reaches the best ndcg@10"
    )
    assert f", {row['ndcg@10']:.{places}f} (95% interval {low:.{places}f} to" in sentence
    significant = pair.p_adjusted <= 0.05
    assert ("significantly ahead of BaselineOnly" in sentence) == significant
    assert ("not significantly different from BaselineOnly" in sentence) == (not significant)


def test_the_headline_is_of_an_algorithm_that_finished_and_never_of_a_bound(nasty):
    first = summarise(nasty).tables[0]
    leader = first.best("ndcg@10")[0]
    for number, cell in enumerate(nasty.info["cells"]):
        if cell["algorithm"] == leader and cell["table"] == first.key and cell["fold"] == 1:
            names = {key: cell[key] for key in CellName.model_fields}
            nasty.info.cells[number] = FailedCell(**names, error="boom")
    told = summarise(Run(nasty.info, nasty.users))
    [second] = told.tables[0].best("ndcg@10")
    assert second != leader
    assert f"{second} reaches the best ndcg@10" in headline(told)[0]
    assert told.tables[0].ranked("ndcg@10")[0] == second
    assert not any("order" in name for name in told.tables[0].ranked("ndcg@10"))


def test_the_value_of_the_headline_lies_in_its_interval(nasty):
    for place in summarise(nasty).tables:
        for label, compared in place.comparisons.items():
            for mean in compared.algorithms:
                value = place.records[mean.algorithm][label]
                assert math.isclose(value, mean.mean, abs_tol=1e-12)
                low, high = place.interval(label, mean.algorithm)
                assert low <= value <= high


def test_each_table_has_a_sentence_and_failures_one_more(nasty):
    sentences = headline(summarise(nasty))
    assert len(sentences) == 3
    assert sentences[-1] == "4 cells failed: NMF."


def test_equal_values_share_the_first_place(plain_run):
    info = plain_run.info.model_copy(deep=True)
    for row in info.rows:
        row.scores["ndcg@10"] = 0.5
    assert (
        "SVD, BaselineOnly and Random reach the best ndcg@10"
        in headline(summarise(Run(info, plain_run.users)))[0]
    )


def test_a_run_in_which_all_failed_says_so(plain_run):
    info = plain_run.info.model_copy(deep=True)
    for number, cell in enumerate(info.cells):
        names = {key: cell[key] for key in CellName.model_fields}
        info.cells[number] = FailedCell(**names, error="boom")
    for row in info.rows:
        row.scores["ndcg@10"] = None
    info.statistics = []
    run = Run(info, plain_run.users.iloc[:0])
    assert headline(summarise(run)) == [
        "On ml-100k (2-fold; candidates: rated), no algorithm finished with a value of ndcg@10.",
        "3 cells failed: SVD, BaselineOnly and Random.",
    ]
    assert "no algorithm finished with a value of" in build_page([run])


def test_one_algorithm_alone_makes_a_page(plain_run):
    info = plain_run.info
    parts = {"cells": info.cells[:1], "rows": info.rows[:1]}
    parts |= {"statistics": [], "conventions": [], "ties": []}
    info = info.model_copy(update=parts)
    users = plain_run.users[plain_run.users["algorithm"] == "SVD"]
    page = build_page([Run(info, users)])
    assert "SVD reaches the best ndcg@10" in page


def test_a_run_without_cells_is_refused(plain_run):
    with pytest.raises(ResultsError, match="holds no cells; run the config again"):
        summarise(Run(plain_run.info.model_copy(update={"cells": []}), plain_run.users))


@pytest.mark.parametrize("kind", list(plots.KINDS))
def test_every_plot_has_its_words(nasty, kind):
    plot = plots.KINDS[kind]
    text = plot.describe(plot.view(nasty, "ndcg@10"))
    assert text.startswith("ndcg")
    assert text.endswith(".")
    assert "nan" not in text


def test_the_page_shows_the_words_and_data_of_every_plot(nasty_page):
    assert nasty_page.count("<figure ") == nasty_page.count("<figcaption>")
    assert nasty_page.count("<figure ") == nasty_page.count("Data (CSV)</summary>")
    for number in range(1, nasty_page.count("<figure ") + 1):
        assert f'aria-labelledby="plot{number}-says"' in nasty_page
        assert f'<p id="plot{number}-says">' in nasty_page


def test_ids_on_the_page_are_there_once(nasty_page):
    import re

    ids = re.findall(r'\sid="([^"]+)"', nasty_page)
    assert len(ids) == len(set(ids))
    wanted = re.findall(r'(?:href="|url\()#([^")]+)', nasty_page)
    assert set(wanted) <= set(ids)


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.0001, "1 ms"), (0.94, "940 ms"), (1.0, "1.0 s"), (3600.0, "60 min")]
)
def test_times_are_told_as_people_say_them(seconds, text):
    assert seconds_text(seconds) == text


def test_the_config_on_the_page_gives_the_same_experiment(nasty):
    data = parse(to_yaml(nasty.info), "page").data
    again = Experiment.model_validate(data)
    assert again == Experiment.model_validate(nasty.info["config"])


def test_the_config_leaves_out_what_is_the_default(nasty):
    text = to_yaml(nasty.info)
    assert "accelerate" not in text
    assert "clip" not in text


def test_data_given_from_python_still_has_a_config_to_show(plain_run):
    config = plain_run.info["config"] | {"dataset": ["given from Python: frame"]}
    assert "given from Python: frame" in to_yaml(
        plain_run.info.model_copy(update={"config": config})
    )


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("configs/a.yaml", "harness run configs/a.yaml"),
        ("my configs/a.yaml", "harness run 'my configs/a.yaml'"),
        (None, "harness run plain.yaml"),
    ],
)
def test_the_command_that_makes_a_run_again(plain_run, path, expected):
    changes = {"name": "plain", "config_file": path}
    assert command(plain_run.info.model_copy(update=changes)) == expected


def test_how_each_algorithm_ran_counts_impossible_estimates_over_all_cells(nasty):
    rows = {row[0]: row[1:] for row in describe_cells(nasty.info)}
    assert rows["SVD"][1:] == ["accelerated", "accelerated", "0.0%"]
    assert rows["Random"][3] == f"{4 / 50_000:.1%}"


def test_several_runs_stand_in_one_table_and_are_compared_user_by_user(plain_run):
    other = renamed(plain_run, "other")
    for number, cell in enumerate(other.info["cells"]):
        cell.key = f"{number}".rjust(64, "e")
    both = join([plain_run, other])
    names = list(dict.fromkeys(cell["algorithm"] for cell in both.info["cells"]))
    assert names[:4] == ["SVD", "BaselineOnly", "Random", "SVD (other)"]
    assert set(both.users["algorithm"]) == set(names)
    [table] = summarise(both).tables
    pairs = {pair.first: pair for pair in table.differences("ndcg@10", "SVD (other)")}
    assert pairs["SVD"].difference == 0
    assert math.isclose(table.records["SVD"]["ndcg@10"], table.records["SVD (other)"]["ndcg@10"])


def test_the_very_same_cells_are_shown_once(plain_run):
    both = join([plain_run, renamed(plain_run, "other")])
    assert {cell["algorithm"] for cell in both.info["cells"]} == {"SVD", "BaselineOnly", "Random"}
    assert (
        "other: the same cells as in another run, counted once: SVD, BaselineOnly, Random"
        in both.info["notes"]
    )


def test_runs_that_cannot_be_compared_are_refused_unless_asked_for(plain_run):
    data = [plain_run.info.datasets[0].model_copy(update={"fingerprint": "00" * 32})]
    other = renamed(plain_run, "other", datasets=data)
    with pytest.raises(ComparisonError, match="other data"):
        join([plain_run, other])
    page = build_page([plain_run, other], anyway=True)
    assert "not comparable: other: other data" in page


def test_a_page_of_several_runs_tells_how_each_was_made(plain_run):
    other = renamed(plain_run, "other", config_file="configs/other.yaml")
    page = build_page([plain_run, other])
    assert "harness run configs/nasty.yaml" in page
    assert "harness run configs/other.yaml" in page


def test_the_list_of_runs_has_the_latest_first_and_links_to_pages(plain_run, tmp_path):
    old = renamed(plain_run, "old", started="2025-01-01T00:00:00+00:00").write(tmp_path)
    renamed(plain_run, "new").write(tmp_path)
    write_page([old], old.folder / "report.html")
    page = write_index(tmp_path).read_text(encoding="utf-8")
    assert page.index(">new<") < page.index(">old<")
    assert 'href="old/report.html"' in page
    assert "new/report.html" not in page
    assert f"<code>harness report {(tmp_path / 'new').as_posix()}</code>" in page
    assert page.index("2026-01-02 03:04") < page.index("2025-01-01 00:00")


def test_a_broken_run_is_listed_with_the_reason(plain_run, tmp_path):
    plain_run.write(tmp_path)
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "run.json").write_text("{")
    page = write_index(tmp_path).read_text(encoding="utf-8")
    assert "not a run" in page
    assert ">plain<" in page


def test_a_folder_that_cannot_be_written_is_named(plain_run, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ResultsError, match=r"file.report\.html: cannot be written"):
        write_page([plain_run], tmp_path / "file" / "report.html")


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ([], []),
        ([3.0], [3.0]),
        ([5.0, 1.0], [5.0, 1.0]),
        ([0.0, 0.0, 0.0], [0.0, 1.0, 2.0]),
        ([10.0, 10.0], [9.0, 10.0]),
    ],
)
def test_names_on_a_line_move_only_as_far_as_they_must(wanted, expected):
    assert spread_positions(wanted, 1.0, 0.0, 10.0) == pytest.approx(expected)
