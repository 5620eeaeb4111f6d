"""What every test has: a home and a cache of its own, the same cases each time, and ml-100k.

The environment is set before anything else is imported, once for all workers of pytest-xdist, which
inherit it: Matplotlib, Hypothesis and IPython decide at import where they keep their files.
"""

from __future__ import annotations

import compileall
import gc
import itertools
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any


def _private_home() -> Path:
    """Move the home of this process and of all that it starts to a temporary folder."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        return Path(os.environ["HOME"])
    home = Path(tempfile.mkdtemp(prefix="harness-tests-home-"))
    for pip_configuration in (".config/pip/pip.conf", ".pip/pip.conf"):
        if (Path.home() / pip_configuration).exists():
            os.environ.setdefault("PIP_CONFIG_FILE", str(Path.home() / pip_configuration))
    os.environ |= {
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / "cache"),
        "XDG_CONFIG_HOME": str(home / "config"),
        "XDG_DATA_HOME": str(home / "data"),
        "XDG_STATE_HOME": str(home / "state"),
        "HYPOTHESIS_STORAGE_DIRECTORY": str(home / "hypothesis"),
    }
    other = ("MPLCONFIGDIR", "IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR")
    for name in other:
        os.environ.pop(name, None)
    return home


def _compile_the_package() -> None:
    """Write bytecode beside the package, which each process that a test starts reads.

    Where Python is told to write none, each of them would compile every module again.
    """
    package = find_spec("harness")
    if package and "PYTEST_XDIST_WORKER" not in os.environ:
        for folder in package.submodule_search_locations or ():
            compileall.compile_dir(folder, quiet=2)


BEGIN = time.monotonic()
_compile_the_package()
USERS_HOME = os.environ.setdefault("HARNESS_TESTS_USERS_HOME", str(Path.home()))
HOME = _private_home()
os.environ.pop("COLUMNS", None)  # which would wrap what commands print, here and in each worker

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
import pytest  # noqa: E402
from filelock import FileLock  # noqa: E402
from hypothesis import HealthCheck, settings  # noqa: E402

from harness import datasets  # noqa: E402
from harness.console.commands import main  # noqa: E402
from harness.errors import DownloadError  # noqa: E402
from harness.experiment.execute import processes  # noqa: E402
from tests.worker_processes import FORKED, STARTED, close  # noqa: E402

# Time measures the machine, and the compilation of kernels, instead of the code.
TIMELESS = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
}
# Fewer cases than usual: the random search of CI draws five hundred.
settings.register_profile("same", **TIMELESS, max_examples=15, derandomize=True, database=None)
settings.register_profile("search", **TIMELESS, max_examples=500, database=None)
settings.load_profile("same")


def _leave_out_constants_of_the_code() -> None:
    """Let Hypothesis try constants of this package's code in a search only.

    It parses every imported module for them, which takes seconds, and finds others after tests that
    imported more.
    """
    try:
        from hypothesis.internal.conjecture import providers

        find = providers._get_local_constants
    except (AttributeError, ImportError):
        return
    searches = settings.get_profile("search").max_examples

    def constants() -> Any:
        searched = settings.default.max_examples == searches
        return find() if searched else providers._local_constants

    providers._get_local_constants = constants


_leave_out_constants_of_the_code()


def _compile_in_turn() -> None:
    """Let one worker compile a kernel while another waits for it, to read it from disk then.

    Two workers compile different kernels at once. A thread takes Numba's own lock first: else one
    could hold that lock and wait for a kernel, while another holds the kernel and waits for Numba.
    """
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.dispatcher import Dispatcher

    compile_now, turns = Dispatcher.compile, dict[str, FileLock]()

    def compile_in_turn(self: Any, signature: Any) -> Any:
        function = self.py_func
        name = f"{function.__module__}.{function.__qualname__}".replace("<", "").replace(">", "")
        with global_compiler_lock, turns.setdefault(name, FileLock(HOME / f"{name}.lock")):
            return compile_now(self, signature)

    Dispatcher.compile = compile_in_turn


if "PYTEST_XDIST_WORKER" in os.environ:
    _compile_in_turn()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[object]:
    """Look for no garbage while tests are collected, and later for none among what was collected.

    That takes nearly a third of the time of the collection, and finds nothing. Another third is to
    rewrite assertions: pytest keeps what it wrote, also where Python is told to write no bytecode.
    """
    writes_none, sys.dont_write_bytecode = sys.dont_write_bytecode, False
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
        sys.dont_write_bytecode = writes_none


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let whoever has little time say so: what is left out is named as skipped."""
    parser.addoption("--seconds", type=float, help="begin no test after so many seconds")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test that would begin too late."""
    seconds = item.config.getoption("seconds")
    if seconds is not None and time.monotonic() - BEGIN > seconds:
        pytest.skip("the seconds for tests were over")


@pytest.hookimpl(tryfirst=True)  # before those that are long are left out
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the first of every n cases of a test that is marked ``sample(n)``; others are long."""
    numbers: Counter[str] = Counter()
    for item in items:
        if marker := item.get_closest_marker("sample"):
            name = item.nodeid.partition("[")[0]
            if numbers[name] % marker.args[0]:
                item.add_marker(pytest.mark.long)
            numbers[name] += 1


USERS_CACHE = os.environ.get("HARNESS_CACHE")
CACHES = itertools.count()


@pytest.fixture(autouse=True)
def _own_folders(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep every test away from the user's cache, data and mirrors, and from other tests' cells."""
    cache = tmp_path_factory.getbasetemp() / "caches" / str(next(CACHES))  # made when it is written
    monkeypatch.setenv("HARNESS_CACHE", str(cache))
    monkeypatch.setenv("SURPRISE_DATA_FOLDER", str(tmp_path_factory.getbasetemp()))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    for name in ("HARNESS_DATA", "HARNESS_MIRROR"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def _forked_workers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fork the worker processes of runs, except in tests that are long."""
    is_long = request.node.get_closest_marker("long")
    monkeypatch.setattr(processes, "subprocess", STARTED if is_long else FORKED)


@pytest.fixture
def started_workers(monkeypatch: pytest.MonkeyPatch, _forked_workers: None) -> None:
    """Start the worker processes of runs as outside of tests, and leave none that forks others."""
    close()
    monkeypatch.setattr(processes, "subprocess", STARTED)


@pytest.fixture
def forked_workers(monkeypatch: pytest.MonkeyPatch, _forked_workers: None) -> None:
    """Fork the worker processes of runs in a test that is long, and tests what runs make."""
    monkeypatch.setattr(processes, "subprocess", FORKED)


@pytest.fixture
def module(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """Return the name of a module with the text ``MODULE`` of a test's file, to be imported."""
    name = f"own_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(request.module.MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    yield name
    sys.modules.pop(name, None)


class Command:
    """The command line, in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def __call__(self, *arguments: object) -> tuple[Any, str, str]:
        """Return exit code, output and errors."""
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        return left.value.code, *self.capsys.readouterr()

    def done(self, *arguments: object) -> str:
        """Return the output of a command that ends well."""
        code, out, err = self(*arguments)
        assert code == 0, err
        return out

    def refused(self, *arguments: object) -> str:
        """Return the errors of a command that ends with exit code 2."""
        code, _, err = self(*arguments)
        assert code == 2
        return err


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(capsys)


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Command) -> Command:
    """Call the command line in an empty folder with a cache of its own."""
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HARNESS_TRACEBACK", "0")
    monkeypatch.setattr(sys, "path", list(sys.path))  # where algorithms of one's own are searched
    monkeypatch.chdir(tmp_path)
    return cli


@pytest.fixture(scope="session")
def plays() -> pd.DataFrame:
    """Counts of plays by users who like one of two kinds of items."""
    rng = np.random.default_rng(5)
    taste, kind = rng.integers(0, 2, 40), np.arange(25) % 2
    rows = [
        (user, item, int(rng.integers(1, 50)))
        for user in range(40)
        for item in range(25)
        if rng.random() < (0.5 if taste[user] == kind[item] else 0.05)
    ]
    return pd.DataFrame(rows, columns=["user", "item", "rating"])


@pytest.fixture(scope="session")
def ml_100k(tmp_path_factory: pytest.TempPathFactory) -> datasets.Ratings:
    """MovieLens 100K, fetched once for all workers; skips where no source can be reached."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    cache = Path(USERS_CACHE) if USERS_CACHE else shared / "cache"
    unreachable = shared / "ml-100k-unreachable.txt"
    with FileLock(shared / "ml-100k.lock"):
        if unreachable.exists():
            pytest.skip(unreachable.read_text())
        try:
            return datasets.load("ml-100k", cache=cache)
        except DownloadError as error:
            unreachable.write_text(str(error))
            pytest.skip(str(error))


def pytest_unconfigure(config: pytest.Config) -> None:
    """End what forks workers, and remove the temporary home after the last process has ended."""
    close()
    if "PYTEST_XDIST_WORKER" not in os.environ:
        shutil.rmtree(HOME, ignore_errors=True)
