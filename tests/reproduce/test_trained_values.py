"""Published values that need training, from the configs that ship."""

import pytest

from harness.cli import main
from harness.errors import DownloadError
from harness.reproduce import Band, NotRun, published, reproduce, sources
from harness.reproduce.trained import config_path, trained_runs


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))


def test_every_quantity_that_needs_training_has_a_run():
    known = trained_runs()
    for quantity in published():
        trained = quantity.source in ("microsoft", "surprise") or " table: " in quantity.what
        demonstration = quantity.what.startswith("demo table")
        assert ((quantity.source, quantity.what) in known) == (trained and not demonstration)


@pytest.mark.parametrize("name", ["surprise-readme", "microsoft-svd", "singh-2025"])
def test_its_config_ships(name):
    assert config_path(name).is_file()


@pytest.mark.network
def test_the_notebook_is_equal_as_printed(ml_100k):
    found = reproduce("microsoft", trained_runs(ratings=ml_100k))
    assert len(found) == 7
    assert {finding.verdict for finding in found} == {"equal as printed"}


def test_data_that_cannot_be_had_is_not_run_and_never_a_pass(monkeypatch):
    def fail(*arguments, **options):
        raise DownloadError("ml-100k: could not be fetched\n  every source failed")

    monkeypatch.setattr("harness.reproduce.trained.run", fail)
    found = reproduce("surprise", trained_runs())
    assert {finding.verdict for finding in found} == {"not run"}
    assert {finding.note for finding in found} == {"ml-100k: could not be fetched"}


def test_the_command_shows_an_erratum_with_its_reason(capsys):
    with pytest.raises(SystemExit) as left:
        main(["reproduce", "bellei-2017", "--no-runs"])
    assert left.value.code == 0
    out = capsys.readouterr().out
    erratum = next(line for line in out.splitlines() if "reciprocal rank@3, mean" in line)
    assert "erratum" in erratum
    assert "0.333" in erratum
    assert "0.5" in erratum


def test_an_unknown_source_gets_a_suggestion(capsys):
    with pytest.raises(SystemExit) as left:
        main(["reproduce", "singh"])
    assert left.value.code == 2
    assert "did you mean 'singh-2025'" in capsys.readouterr().err


def test_documents_are_named_by_author_and_year(capsys):
    with pytest.raises(SystemExit):
        main(["reproduce", "--no-runs"])
    out = capsys.readouterr().out
    assert "Claudio Bellei, 2017: The confusion over information retrieval metrics" in out
    assert "seed-0" not in out
    with pytest.raises(SystemExit):
        main(["reproduce", "--help"])
    words = capsys.readouterr().out.split()
    assert set(sources()) <= {word.strip(",;") for word in words}


def test_a_band_says_what_it_is_and_what_the_seeds_gave(capsys, monkeypatch):
    place = ("singh-2025", "explicit table: SVD")
    band = {"ndcg": Band.of_one_more([0.0462, 0.0557, 0.05]), "runtime_s": 1.0}
    monkeypatch.setattr(
        "harness.reproduce.trained.trained_runs", lambda watch: {place: lambda quantity: band}
    )
    with pytest.raises(SystemExit):
        main(["reproduce", "singh-2025", "--quiet"])
    out = capsys.readouterr().out
    assert "3 seeds gave 0.0462 to 0.0557" in out
    assert "99% prediction interval of one more seed" in " ".join(out.split())


def test_implicit_tables_say_what_they_need():
    quantity = next(q for q in published("singh-2025") if q.what.startswith("implicit"))
    answer = trained_runs()[quantity.source, quantity.what](quantity)
    assert isinstance(answer, NotRun)
    assert "lastfm-implicit.yaml" in answer.why
