"""Kill a run at random moments, resume it, and compare the end with an undisturbed run.

    python dev/proofs/kills.py
    python dev/proofs/kills.py --count 50 --seed 7

Of a run of 40 cells the main process, one of its worker processes or all of them are killed with
signal 9, some while the worker processes start. None prints a traceback. Afterwards every cell on
disk has to be whole, no process may be left, and the next run goes on. When a run ends, its table
must equal the undisturbed one byte for byte, measured columns aside; then everything is removed and
a new round begins, until there were as many kills as asked. A cell that was finished may never be
fitted or written again.
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
from collections import defaultdict
from contextlib import suppress
from pathlib import Path

import psutil
from common import N_CELLS, Proof, Setting

from harness.results import read_run
from harness.results.store import MaintainedStore

VICTIMS = ("main", "worker", "all")
PATIENCE = 10.0
"""Seconds in which every process of a killed run has to be gone."""


class Disturbance:
    """Rounds of kills, and what is counted in them."""

    def __init__(self, proof: Proof, folder: Path) -> None:
        self.proof = proof
        self.rng = random.Random(proof.seed)  # noqa: S311 - nothing is secret
        self.setting = Setting(folder / "disturbed")
        self.store = MaintainedStore(self.setting.cache / "cells")
        calm = Setting(folder / "calm")
        begun = time.monotonic()
        calm.run()
        self.whole = time.monotonic() - begun
        self.table = calm.table()
        # One process fits fold after fold, which tells whose training set a note is of.
        by_tag: dict[str, list[str]] = defaultdict(list)
        for line in calm.notes.read_text().splitlines():
            by_tag[line.split()[0]].append(line)
        self.key_of_note = {
            by_tag[cell.params["tag"]][cell.fold]: cell.key
            for cell in read_run(calm.results / "disturbed").info.cells
            if "tag" in cell.params
        }
        self.finished: dict[str, tuple[int, int]] = {}
        self.n_notes = 0

    def attempt(self) -> bool:
        """Start a run and perhaps kill it; return whether it ended by itself."""
        self.proof.add("resumed", bool(self.finished))
        process = self.setting.start("--workers", self.rng.choice(("1", "2")))
        killed = None
        # Little is left to be disturbed once every cell is there: half of those runs are let be.
        spared = len(self.finished) == N_CELLS and self.rng.random() < 0.5
        if self.proof.goes_on and not spared and self.moment_comes(process):
            killed = self.kill(process.pid)
            self.proof.add("done")
            self.proof.add(killed)
        printed, _ = process.communicate(timeout=600)
        if killed is None and process.returncode != 0:
            raise SystemExit(f"exit code {process.returncode} without a kill:\n{printed}")
        if killed == "worker" and process.returncode not in (0, 1):
            self.proof.fault(
                f"exit code {process.returncode} where a worker was killed:\n{printed}"
            )
        if "Traceback" in printed:
            self.proof.fault(f"a traceback after a kill of {killed}:\n{printed}")
        self.check(process.pid)
        return killed in (None, "worker") and process.returncode == 0

    def moment_comes(self, process: subprocess.Popen[str]) -> bool:
        """Wait for a random moment, some in the start; return whether the run still goes on."""
        at_cell, wait, moment = 0, self.rng.uniform(0.1, self.whole), self.rng.random()
        if moment < 0.25:  # in the first second of its worker processes
            wait = self.rng.uniform(0.0, 1.0)
            while not workers_of(process.pid) and process.poll() is None:
                time.sleep(0.005)
        elif moment < 0.8:
            at_cell = self.rng.randint(len(self.finished), N_CELLS)
            wait = self.rng.uniform(0.0, 0.2 if at_cell < N_CELLS else 0.8)
            while len(self.setting.stored()) < max(1, at_cell) and process.poll() is None:
                time.sleep(0.01)
        begun = time.monotonic()
        while process.poll() is None and time.monotonic() - begun < wait:
            time.sleep(0.002)
        return process.poll() is None

    def kill(self, pid: int) -> str:
        """Send signal 9 to the main process, a worker or the whole group; say to whom."""
        victim = self.rng.choice(VICTIMS)
        if victim == "all":
            os.killpg(pid, signal.SIGKILL)
            return victim
        workers = workers_of(pid)
        if victim == "worker" and workers:
            self.rng.choice(workers).kill()
            return victim
        os.kill(pid, signal.SIGKILL)
        return "main"

    def check(self, group: int) -> None:
        """Look for what must not be: processes left, cells broken, fitted or written again."""
        begun = time.monotonic()
        while left := processes_of(group):
            if time.monotonic() - begun > PATIENCE:
                self.proof.fault(f"{len(left)} processes left behind")
                os.killpg(group, signal.SIGKILL)
                break
            time.sleep(0.01)
        notes = self.setting.notes.read_text().splitlines()
        for note in notes[self.n_notes :]:
            self.proof.add("fits counted")
            if self.key_of_note[note] in self.finished:
                self.proof.fault(f"fitted again: {note}")
        self.n_notes = len(notes)
        stored = self.setting.stored()
        for key, file in self.finished.items():
            if stored.get(key) != file:
                self.proof.fault(f"written again: {key}")
        for key in stored:
            if self.store.fault(key):
                self.proof.fault(f"broken: {key}")
        self.proof.add("cells looked at", len(stored))
        self.finished = stored
        if (self.setting.results / "disturbed").exists():
            read_run(self.setting.results / "disturbed")

    def end_round(self) -> None:
        """Compare the table and remove everything."""
        if self.setting.table() != self.table:
            self.proof.fault("another table")
        if len(self.finished) != N_CELLS:
            self.proof.fault(f"{len(self.finished)} cells, not {N_CELLS}")
        self.proof.add("rounds")
        for folder in (self.setting.cache, self.setting.results):
            shutil.rmtree(folder)
        self.finished = {}


def workers_of(pid: int) -> list[psutil.Process]:
    """Return the processes that compute cells for a run."""
    with suppress(psutil.NoSuchProcess):
        return [process for process in psutil.Process(pid).children() if is_worker(process)]
    return []


def is_worker(process: psutil.Process) -> bool:
    """Return whether a process is one that computes cells, and alive."""
    try:
        return any("harness.experiment.execute.processes" in word for word in process.cmdline())
    except psutil.NoSuchProcess:
        return False


def processes_of(group: int) -> list[psutil.Process]:
    """Return the processes of a group that are still alive."""
    found = []
    for process in psutil.process_iter():
        with suppress(ProcessLookupError, psutil.NoSuchProcess):
            if os.getpgid(process.pid) == group and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def main() -> int:
    """Run the proof and print its figures."""
    proof = Proof(__doc__, full=200, quick=3, is_random=True)
    with tempfile.TemporaryDirectory() as folder:
        disturbance = Disturbance(proof, Path(folder))
        while proof.goes_on or disturbance.finished:
            if disturbance.attempt():
                disturbance.end_round()
    by_victim = ", ".join(f"{name} {proof[name]}" for name in VICTIMS)
    return proof.close(
        f"{proof['done']} kills of a run of {N_CELLS} cells ({by_victim}); seed {proof.seed}",
        f"{proof['rounds']} rounds ended with the undisturbed table; {proof['resumed']} resumed",
        f"{proof['fits counted']} fits counted, {proof['cells looked at']} cells looked at: "
        "none of the finished files written again, none broken",
    )


if __name__ == "__main__":
    sys.exit(main())
