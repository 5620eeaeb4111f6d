import os
import subprocess
import sys


def run(code, home, **extra):
    env = {key: value for key, value in os.environ.items() if key != "SURPRISE_DATA_FOLDER"}
    env |= {"HOME": str(home), **extra}
    subprocess.run([sys.executable, "-c", code], env=env, check=True, timeout=120)


def test_importing_surprise_leaves_home_and_environment_as_they_were(tmp_path):
    code = (
        "import os; from harness.algorithms.quiet_surprise import surprise; surprise.SVD;"
        "assert 'SURPRISE_DATA_FOLDER' not in os.environ"
    )
    run(code, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_the_user_chose_is_used(tmp_path):
    code = (
        "from harness.algorithms.quiet_surprise import surprise;"
        "from surprise.builtin_datasets import BUILTIN_DATASETS;"
        "assert BUILTIN_DATASETS['ml-100k'].path.startswith({!r})"
    )
    chosen = tmp_path / "chosen"
    run(code.format(str(chosen)), tmp_path, SURPRISE_DATA_FOLDER=str(chosen))
    assert chosen.is_dir()


def test_memory_is_estimated_without_importing_numba_or_surprise(tmp_path):
    code = (
        "import sys; from harness.algorithms.acceleration import memory;"
        "memory('SVD', {}, 10, 10, 10);"
        "assert not {'numba', 'surprise', 'numpy'} & set(sys.modules), sys.modules.keys()"
    )
    run(code, tmp_path)
