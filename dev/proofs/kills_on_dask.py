"""Kill Dask workers and drivers at random moments, and compare the end with an undisturbed run.

    python dev/proofs/kills_on_dask.py
    python dev/proofs/kills_on_dask.py --count 20 --seed 7

A run with a search goes to a scheduler with three workers. At random moments one of the workers
with all of its processes, or the driver, is killed with signal 9; another worker takes the place of
the killed one, and may be killed while it joins. A run must go on without a worker; after a driver
is killed the next run continues. Where a run ends, its table must equal that of an undisturbed run
in processes of one machine byte for byte, measured columns aside; then everything is removed and a
new round begins, until there were as many kills as asked.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from common import Proof, Setting

CONFIG = """\
name: disturbed
dataset: {synthetic: {n_users: 100, n_items: 80, n_ratings: 2000}}
split: {kind: kfold, n_splits: 3}
algorithms:
  - {name: "noted:Noted", label: noted a, params: {tag: a, seconds: 0.5}}
  - {name: "noted:Noted", label: noted b, params: {tag: b, seconds: 0.5}}
  - {name: KNNBasic, label: tuned, search: {k: [2, 5, 10, 20]}}
  - SVD
  - ItemMean
tuning: {method: grid, trials: 4, metric: rmse}
metrics: [ndcg@5, rmse]
baselines: false
statistics: {resamples: 200}
"""
N_WORKERS = 3
MOST_KILLS = 4
"""In one run: with more, the machine decides how many runs come to their end."""
LONGEST_RUN = 300.0
"""Seconds after which a run that has not ended is a fault."""


class Cluster:
    """A scheduler and workers, each in a process group of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.file = folder, folder / "scheduler.json"
        folder.mkdir()
        address = ["--host", "127.0.0.1", "--port", "0", "--dashboard-address", "127.0.0.1:0"]
        self.scheduler = self.start("scheduler", *address)
        while not (self.file.exists() and self.file.read_text()):
            time.sleep(0.05)
        self.workers = [self.start_worker() for _ in range(N_WORKERS)]

    def start(self, kind: str, *options: str) -> subprocess.Popen[bytes]:
        """Start a scheduler or a worker."""
        here = Path(__file__).resolve().parent
        paths = [str(here), str(here.parent), os.environ.get("PYTHONPATH", "")]
        with (self.folder / "log.txt").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "dask", kind, "--scheduler-file", str(self.file), *options],
                env=os.environ
                | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
                | {"HARNESS_CACHE": str(self.folder / "cache"), "TMPDIR": str(self.folder)}
                | {"FIT_NOTES": str(self.folder / "fits.txt")},
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def start_worker(self) -> subprocess.Popen[bytes]:
        """Start a worker with one thread."""
        space = str(self.folder / "space")
        return self.start("worker", "--nthreads", "1", "--no-dashboard", "--local-directory", space)

    def kill_worker(self, number: int) -> None:
        """Kill a worker with all of its processes, and start another."""
        kill(self.workers[number])
        self.workers[number] = self.start_worker()

    def end(self) -> None:
        """Kill everything."""
        for process in (*self.workers, self.scheduler):
            kill(process)


def kill(process: subprocess.Popen[bytes] | subprocess.Popen[str]) -> None:
    """Kill a process and its group."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


class Disturbance:
    """Rounds of kills of workers and drivers."""

    def __init__(self, proof: Proof, folder: Path) -> None:
        self.proof = proof
        self.rng = random.Random(proof.seed)  # noqa: S311 - nothing is secret
        calm = Setting(folder / "calm", CONFIG)
        calm.run()
        self.table = calm.table()
        self.cluster = Cluster(folder / "cluster")
        execution = f"execution: {{executor: dask, scheduler: {self.cluster.file}, workers: 2}}\n"
        self.setting = Setting(folder / "disturbed", CONFIG + execution)
        self.is_resumed = False

    def attempt(self) -> bool:
        """Start a run and disturb it; return whether it ended by itself."""
        self.proof.add("resumed", self.is_resumed)
        process = self.setting.start()
        n_kills, begun, victim = self.rng.randint(1, MOST_KILLS), time.monotonic(), ""
        while n_kills and victim != "driver" and self.moment_comes(process, begun):
            n_kills -= 1
            victim = "driver" if self.rng.random() < 0.25 else "worker"
            self.proof.add("done")
            self.proof.add(victim)
            if victim == "driver":
                kill(process)
            else:
                self.cluster.kill_worker(self.rng.randrange(N_WORKERS))
        try:
            printed, _ = process.communicate(timeout=LONGEST_RUN)
        except subprocess.TimeoutExpired:
            kill(process)
            printed, _ = process.communicate()
            self.proof.fault(f"the run goes on after {LONGEST_RUN:.0f} s:\n{printed}")
        if victim != "driver" and process.returncode != 0:
            self.proof.fault(
                f"exit code {process.returncode} without the driver killed:\n{printed}"
            )
        if "Traceback" in printed:
            self.proof.fault(f"a traceback:\n{printed}")
        self.is_resumed = True
        return process.returncode == 0

    def moment_comes(self, process: subprocess.Popen[str], begun: float) -> bool:
        """Wait for a random moment; return whether there is still a run to be disturbed."""
        end = time.monotonic() + self.rng.uniform(0.2, 8.0)
        while process.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
        is_running = process.poll() is None and time.monotonic() - begun < LONGEST_RUN
        return self.proof.goes_on and is_running

    def end_round(self) -> None:
        """Compare the table and remove what was computed."""
        if self.setting.table() != self.table:
            self.proof.fault(f"another table:\n{self.setting.table()}")
        self.proof.add("rounds")
        for folder in (self.setting.cache, self.setting.results):
            shutil.rmtree(folder)
        self.is_resumed = False


def main() -> int:
    """Run the proof and print its figures."""
    proof = Proof(__doc__, full=20, quick=3, is_random=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        disturbance = Disturbance(proof, Path(folder))
        try:
            while proof.goes_on or disturbance.is_resumed:
                if disturbance.attempt():
                    disturbance.end_round()
        finally:
            disturbance.cluster.end()
    return proof.close(
        f"{proof['done']} kills on Dask (worker {proof['worker']}, driver {proof['driver']}); "
        f"seed {proof.seed}",
        f"{proof['rounds']} rounds ended with the undisturbed table; {proof['resumed']} resumed",
    )


if __name__ == "__main__":
    sys.exit(main())
