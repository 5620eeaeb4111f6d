import os
import subprocess
import sys

import pytest


def run(code, home, **extra):
    env = {key: value for key, value in os.environ.items() if key != "SURPRISE_DATA_FOLDER"}
    options = {"check": True, "timeout": 120, "stdout": subprocess.PIPE, "text": True}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=env | {"HOME": str(home), **extra}, **options).stdout


def test_importing_surprise_leaves_home_and_environment_as_they_were(tmp_path):
    code = (
        "import os; from harness.algorithms import surprise; surprise.SVD;"
        "assert 'SURPRISE_DATA_FOLDER' not in os.environ"
    )
    run(code, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_the_user_chose_is_used(tmp_path):
    code = (
        "from harness.algorithms import surprise;"
        "from surprise.builtin_datasets import BUILTIN_DATASETS;"
        "assert BUILTIN_DATASETS['ml-100k'].path.startswith({!r})"
    )
    chosen = tmp_path / "chosen"
    run(code.format(str(chosen)), tmp_path, SURPRISE_DATA_FOLDER=str(chosen))
    assert chosen.is_dir()


def test_reading_a_run_and_listing_import_no_more_than_they_need(tmp_path):
    code = (
        "import harness.results.reading, harness.console.options, harness.cli.notes, sys;"
        "print(*sorted({'surprise', 'pandas', 'pyarrow', 'matplotlib', 'jinja2', 'rich',"
        "'harness.experiment', 'harness.models'} & {*sys.modules}))"
    )
    assert run(code, tmp_path).split() == []
    code = (
        "import harness.cli.list, sys;"
        "print(*sorted({'pandas', 'matplotlib', 'ruamel', 'harness.splits.filters',"
        "'harness.config.experiment', 'harness.results.record'} & {*sys.modules}))"
    )
    assert run(code, tmp_path).split() == []


PATHS = (
    "import surprise;"
    "paths = [data.path for data in surprise.dataset.BUILTIN_DATASETS.values()];"
    "print([surprise.get_dataset_dir(), *paths])"
)
A_RUN = (
    "import harness, os;"
    "harness.run({'dataset': {'synthetic': {'n_users': 9, 'n_items': 9, 'n_ratings': 40}},"
    "'algorithms': ['SlopeOne'], 'metrics': ['rmse'], 'statistics': None}, results=None);"
    "assert not os.listdir(os.environ['HOME']), os.listdir(os.environ['HOME']);"
)


@pytest.mark.long
def test_surprise_looks_for_its_data_where_it_does_without_the_harness(tmp_path):
    # Anybody can write to the temporary folder: what lies there must not be read.
    temporary, home = tmp_path / "temporary", tmp_path / "home"
    planted = temporary / "ml-100k" / "ml-100k" / "u.data"
    planted.parent.mkdir(parents=True)
    planted.write_text("1\t1\t5\t0\n")
    home.mkdir()
    extra = {"TMPDIR": str(temporary)}
    imported = run("import harness.algorithms;" + PATHS, home, **extra)
    (home / ".surprise_data").rmdir()  # made by `get_dataset_dir`
    after_a_run = run(A_RUN + PATHS, home, **extra)
    assert imported == after_a_run == run(PATHS, home, **extra)
    assert str(temporary) not in imported
