"""Results are shared: nothing in them names a folder of this machine."""

import hashlib
import tempfile
from pathlib import Path

import pytest

import harness
from harness import Note
from harness.datasets import Ratings, cache_folder
from harness.results.environment import without_folders


def everything_in(folder):
    return b"".join(path.read_bytes() for path in sorted(folder.iterdir()))


def test_notes_of_the_data_and_errors_of_cells_name_no_folder(bench, small):
    ratings = harness.load({"synthetic": {"n_users": 40, "n_items": 30, "n_ratings": 600}})
    noted = Ratings(
        *(getattr(ratings, name) for name in ("users", "items", "ratings", "timestamps")),
        *(getattr(ratings, name) for name in ("user_ids", "item_ids", "scale", "name")),
        notes=(Note("copy-skipped", {"reason": f"{bench.cache / 'datasets' / 'x.zip'}: no"}),),
    )
    (bench.cache / "cells").mkdir(parents=True)
    for number in range(256):  # in the place of the folder of every cell
        (bench.cache / "cells" / f"{number:02x}").touch()
    done = harness.run(small | {"dataset": "bundled"}, ratings=noted)
    assert done.failed[0].error.startswith("(cache)/cells/")
    (note,) = done.info.datasets[0]["notes"]
    assert note.values == {"reason": "(cache)/datasets/x.zip: no"}
    assert str(note) == "skipped (cache)/datasets/x.zip: no"
    held = everything_in(bench.results / "small")
    assert b"(not a directory)" in held
    assert str(bench.folder).encode() not in held
    assert str(Path.home()).encode() + b"/" not in held


def test_a_config_elsewhere_and_what_it_names_are_told_without_where(bench, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "ratings.csv").write_text("user,item,rating\na,x,1\nb,x,2\na,y,2\nb,y,1\n")
    config = elsewhere / "own.yaml"
    config.write_text(
        "dataset: ratings.csv\nalgorithms: [ItemMean]\nmetrics: [rmse]\n"
        "split: {kind: holdout, test_size: 0.5}\nbaselines: false\nstatistics: null\n"
    )
    harness.run(config)
    assert str(elsewhere).encode() not in everything_in(bench.results / "own")


@pytest.mark.parametrize(
    ("folder", "name"),
    [(cache_folder, "(cache)"), (tempfile.gettempdir, "(temporary)"), (Path.home, "~")],
)
def test_a_folder_is_told_by_what_it_is_for(folder, name):
    text = f"{folder()}/a b/{hashlib.sha256().hexdigest()}.cell: gone; see {folder()}"
    assert without_folders(text) == text.replace(str(folder()), name)


def test_a_folder_that_begins_alike_is_another(tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    beside = tmp_path / "cache-of-another"
    assert without_folders(f"{beside}/x", tmp_path) == "./cache-of-another/x"
