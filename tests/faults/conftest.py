"""A small experiment, and algorithms that misbehave, for every test of what can go wrong."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

import harness

TOP = Path(__file__).parents[2]

CONFIG = """\
name: small
dataset: {synthetic: {n_users: 40, n_items: 30, n_ratings: 600}}
split: {kind: holdout, test_size: 0.25}
algorithms: [BaselineOnly, SVD, ItemMean, Random]
metrics: [ndcg@5, rmse]
baselines: false
statistics: null
"""

MISFITS = '''
import os
import signal
import sys
import threading
import time

import surprise


class Constant(surprise.AlgoBase):
    def estimate(self, u, i):
        return 3.0


def whose_fit(act):
    class Misfit(Constant):
        def fit(self, trainset):
            act()

    return Misfit


def spin():
    while True:
        pass


def throw(error):
    raise error


class Odd(Exception):
    """Neither to be pickled nor to be printed."""

    def __init__(self, one, other):
        self.lock = threading.Lock()

    def __str__(self):
        raise RuntimeError("no text")


class Base(BaseException):
    pass


Killed = whose_fit(lambda: os.kill(os.getpid(), signal.SIGKILL))
Crashed = whose_fit(lambda: os.kill(os.getpid(), signal.SIGSEGV))
Left = whose_fit(lambda: os._exit(3))
Exits = whose_fit(lambda: sys.exit(4))
Hangs = whose_fit(lambda: time.sleep(600))
Spins = whose_fit(spin)
RaisesOdd = whose_fit(lambda: throw(Odd(1, 2)))
RaisesLong = whose_fit(lambda: throw(ValueError("\\x1b[31mred\\n\\udc80" * 100_000)))
Interrupts = whose_fit(lambda: throw(KeyboardInterrupt("of its own")))
Generates = whose_fit(lambda: throw(GeneratorExit("of its own")))
RaisesBase = whose_fit(lambda: throw(Base("of its own")))
NoThreads = whose_fit(lambda: throw(RuntimeError("can't start new thread")))
NoMemory = whose_fit(lambda: throw(MemoryError()))


class Swallows(Constant):
    def fit(self, trainset):
        surprise.AlgoBase.fit(self, trainset)
        try:
            signal.raise_signal(signal.SIGINT)
        except BaseException:
            pass
        return self


class Slow(Constant):
    """Leaves a file where it is fitted, then takes its time."""

    def __init__(self, seconds=0.0):
        surprise.AlgoBase.__init__(self)
        self.seconds = seconds

    def fit(self, trainset):
        surprise.AlgoBase.fit(self, trainset)
        with open(os.environ["FITS"], "a") as file:
            file.write(f"{os.getpid()}\\n")
        time.sleep(self.seconds)
        return self
'''


@pytest.fixture(autouse=True)
def _as_for_users(started_workers: None) -> None:
    """Start the worker processes of runs as outside of tests."""


def default_signals() -> None:
    """Let a started process meet signals as from a shell, also where pytest runs under nohup."""
    for name in ("SIGHUP", "SIGINT", "SIGTERM"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)


class Bench:
    """A folder with a config, a cache, results and the misfits, and ``harness`` run in it."""

    def __init__(self, folder: Path, cli: Any) -> None:
        self.cli = cli
        self.folder = folder
        self.cache = folder / "cache"
        self.results = folder / "runs"
        self.fits = folder / "fits.txt"
        (folder / "small.yaml").write_text(CONFIG)
        (folder / "misfits.py").write_text(MISFITS)
        self.fits.touch()
        self.started: list[subprocess.Popen[str]] = []
        self.events: list[Any] = []

    def start(self, *arguments: object) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "harness", *map(str, arguments)],
            cwd=self.folder,
            env=os.environ | {"PYTHONPATH": os.pathsep.join([str(self.folder), str(TOP)])},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=default_signals,
        )
        self.started.append(process)
        return process

    def end(self) -> None:
        """End what is still running and close its pipes, so that no other test meets it."""
        for process in self.started:
            process.kill()
            process.wait()
            for pipe in (process.stdout, process.stderr):
                if pipe is not None:
                    pipe.close()

    def call(self, *arguments: object, **more: str) -> tuple[int, str, str]:
        """Run ``harness`` in this process and return exit code, output and errors."""
        with pytest.MonkeyPatch.context() as patch:
            for name, value in more.items():
                patch.setenv(name, value)
            return self.cli(*arguments)

    def run(self, config: dict[str, Any], **options: Any) -> harness.Run:
        """Run a config in this process; its events are kept."""
        self.events = []
        return harness.run(config, watch=self.events.append, **options)

    def seen(self, kind: str) -> list[Any]:
        """Return the events of one class in the last run."""
        return [event for event in self.events if type(event).__name__ == kind]

    def cells(self) -> list[Path]:
        return sorted(self.cache.glob("cells/??/*.cell"))

    @staticmethod
    def numbers(run: harness.Run) -> tuple[Any, str]:
        """Return everything of a run that is not measured."""
        fields = {"algorithm", "params", "n_users", "scores"}
        return [cell.model_dump(include=fields) for cell in run.info.cells], run.users.to_csv()


@pytest.fixture
def bench(tmp_path, monkeypatch, cli):
    bench = Bench(tmp_path, cli)
    monkeypatch.setenv("HARNESS_CACHE", str(bench.cache))
    monkeypatch.setenv("FITS", str(bench.fits))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    yield bench
    bench.end()
    sys.modules.pop("misfits", None)


@pytest.fixture
def small():
    """The config of `Bench` as Python data."""
    return YAML(typ="safe").load(CONFIG)


@pytest.fixture
def tuned(small):
    """One with six cells: a mean, four trials, and the fit with what they found."""
    rows = ["ItemMean", {"name": "KNNBasic", "label": "tuned", "search": {"k": [2, 5, 10]}}]
    tuning = {"method": "grid", "trials": 4, "metric": "rmse"}
    return small | {"algorithms": rows, "tuning": tuning}
