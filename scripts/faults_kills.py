"""Kill a run at random moments, resume it, and compare the end with an undisturbed run.

    python scripts/faults_kills.py --kills 200

Of a run of 40 cells the main process, one of its worker processes or all of them are killed with
signal 9. Afterwards every cell on disk has to be whole, no process may be left, and the next run
goes on. When a run ends, its table must equal the undisturbed one byte for byte, measured columns
aside; then everything is removed and a new round begins, until there were as many kills as asked.
A cell that was finished may never be fitted or written again.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import psutil
from faults_setting import N_CELLS, Setting

from harness.results import read_run
from harness.results.cells import CellStore

VICTIMS = ("main", "worker", "all")
PATIENCE = 10.0
"""Seconds in which every process of a killed run has to be gone."""


class Disturbance:
    """Rounds of kills, and what was counted in them."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.rng = random.Random(seed)  # noqa: S311 - nothing is secret
        self.setting = Setting(folder / "disturbed")
        self.store = CellStore(self.setting.cache / "cells")
        calm = Setting(folder / "calm")
        begun = time.monotonic()
        calm.run()
        whole = time.monotonic() - begun
        self.table = calm.table()
        begun = time.monotonic()
        calm.run()
        self.to_start = time.monotonic() - begun
        self.per_cell = max(0.0, whole - self.to_start) / N_CELLS
        # One process fits fold after fold, which tells whose training set a note is of.
        by_tag: dict[str, list[str]] = {}
        for line in calm.notes.read_text().splitlines():
            by_tag.setdefault(line.split()[0], []).append(line)
        self.key_of_note = {
            by_tag[str(cell["params"]["tag"])][cell["fold"]]: cell["key"]  # type: ignore[index]
            for cell in calm.cells()
            if str(cell["algorithm"]).startswith("noted")
        }
        self.kills: Counter[str] = Counter()
        self.rounds = self.resumed = self.orphans = self.again = self.broken = 0
        self.finished: dict[str, tuple[int, int]] = {}
        self.n_notes = 0
        self.longest_left = 0.0

    def attempt(self, kills_left: int) -> bool:
        """Start a run and perhaps kill it; return whether it ended by itself."""
        workers = self.rng.choice(("1", "2", "2"))
        expected = self.to_start + self.per_cell * (N_CELLS - len(self.finished))
        process = self.setting.start("--workers", workers)
        killed = None
        try:
            if kills_left > 0:
                process.communicate(timeout=self.rng.uniform(0.2, expected))
            else:
                process.communicate(timeout=600)
        except subprocess.TimeoutExpired:
            killed = self.kill(process.pid)
            process.communicate(timeout=600)
        if killed:
            self.kills[killed] += 1
        self.check(process.pid)
        print(
            f"{self.kills.total()} kills; {killed or 'none'} killed, {len(self.finished)} cells on "
            f"disk, {self.again} computed again, {self.broken} broken, {self.orphans} left behind",
            file=sys.stderr,
            flush=True,
        )
        return killed in (None, "worker") and process.returncode == 0

    def kill(self, pid: int) -> str:
        """Send signal 9 to the main process, a worker or the whole group; say to whom."""
        victim = self.rng.choice(VICTIMS)
        if victim == "worker":
            workers = [each for each in psutil.Process(pid).children() if is_worker(each)]
            if workers:
                self.rng.choice(workers).kill()
                return victim
            victim = "main"
        if victim == "all":
            os.killpg(pid, signal.SIGKILL)
        else:
            os.kill(pid, signal.SIGKILL)
        return victim

    def check(self, group: int) -> None:
        """Count what must not be: processes left, cells broken, fitted again or written again."""
        begun = time.monotonic()
        while left := processes_of(group):
            if time.monotonic() - begun > PATIENCE:
                self.orphans += len(left)
                os.killpg(group, signal.SIGKILL)
                break
            time.sleep(0.01)
        self.longest_left = max(self.longest_left, time.monotonic() - begun)
        notes = self.setting.notes.read_text().splitlines()
        for note in notes[self.n_notes :]:
            self.again += self.key_of_note[note] in self.finished
        self.n_notes = len(notes)
        stored = self.setting.stored()
        self.again += sum(stored.get(key) != file for key, file in self.finished.items())
        self.broken += sum(not self.store.is_whole(key) for key in stored)
        self.finished = stored
        if (self.setting.results / "disturbed").exists():
            read_run(self.setting.results / "disturbed")

    def end_round(self) -> None:
        """Compare the table and begin anew."""
        if self.setting.table() != self.table:
            raise SystemExit("the table differs from the undisturbed one")
        if len(self.finished) != N_CELLS:
            raise SystemExit(f"{len(self.finished)} cells on disk, not {N_CELLS}")
        self.rounds += 1
        for folder in (self.setting.cache, self.setting.results):
            shutil.rmtree(folder)
        self.finished = {}


def is_worker(process: psutil.Process) -> bool:
    """Return whether a process is one that does cells, and alive."""
    try:
        return any("spawn_main" in word for word in process.cmdline())
    except psutil.NoSuchProcess:
        return False


def processes_of(group: int) -> list[psutil.Process]:
    """Return the processes of a group that are still alive."""
    found = []
    for process in psutil.process_iter():
        try:
            if os.getpgid(process.pid) == group and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (ProcessLookupError, psutil.NoSuchProcess):
            continue
    return found


def main() -> int:
    """Run the proof and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        proof = Disturbance(Path(folder), asked.seed)
        while proof.kills.total() < asked.kills or proof.finished:
            proof.resumed += bool(proof.finished)
            if proof.attempt(asked.kills - proof.kills.total()):
                proof.end_round()
    by_victim = ", ".join(f"{name} {proof.kills[name]}" for name in VICTIMS)
    print(f"{proof.kills.total()} kills of a run of {N_CELLS} cells ({by_victim})")
    print(f"{proof.rounds} rounds, each ended with the undisturbed table; {proof.resumed} resumed")
    print(f"{proof.again} finished cells computed again, {proof.broken} broken cells on disk")
    print(
        f"{proof.orphans} processes left behind; the last was gone after "
        f"{proof.longest_left:.2f} s at most; {time.monotonic() - begun:.0f} s in all"
    )
    return 1 if proof.again or proof.broken or proof.orphans else 0


if __name__ == "__main__":
    sys.exit(main())
