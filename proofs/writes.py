"""Let the disk be full at each write in turn, and folders read-only.

    python proofs/writes.py

A run of ten cells is carried out again and again: on a small file system of every size from one
page to what it needs (tmpfs, for which one has to be root), and under a limit of file sizes just
below each file that it writes. It has to end with exit code 1 or 2 and the system's reason, without
a traceback; every cell on disk has to be whole and nothing half written may be left. Given room,
the next run has to end well, with the undisturbed table, and may not compute a finished cell again.
"""

from __future__ import annotations

import multiprocessing
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from common import Proof, table_without_measures
from files import call

from harness.results.store import CellStore

PAGE = 4096
CONFIG = """\
name: disturbed
dataset: {synthetic: {n_users: 60, n_items: 40, n_ratings: 1200}}
split: {kind: kfold, n_splits: 2}
algorithms: [BaselineOnly, ItemMean, SlopeOne, NormalPredictor, Random]
metrics: [ndcg@5, rmse]
baselines: false
statistics: null
"""
FULL = ("no space left on device", "file too large")
fork = multiprocessing.get_context("fork")


def run(place: Path, limit: int | None = None, results: str = "results") -> tuple[object, str]:
    """Run in a child process, everything in one place; return how it ended and what it said."""
    ours, theirs = fork.Pipe(duplex=False)

    def child() -> None:
        os.environ["HARNESS_CACHE"] = str(place / "cache")
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        config = str(place.parent / "disturbed.yaml")
        theirs.send(call("run", config, "--results", str(place / results)))

    process = fork.Process(target=child)
    process.start()
    theirs.close()
    try:
        told: tuple[object, str] = ours.recv()
    except EOFError:
        told = ("nothing", "")
    process.join()
    return told


def cells(place: Path) -> dict[str, int]:
    """Return the finished cells and when they were written."""
    found = (place / "cache" / "cells").glob("??/*.cell")
    return {path.stem: path.stat().st_mtime_ns for path in found}


class Disk:
    """A place of limited size, where the system can make one."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def mount(self, options: str) -> bool:
        """Make or change the file system; return whether that could be done."""
        command = ["mount", "-t", "tmpfs", "-o", options, "none", str(self.place)]
        return subprocess.run(command, check=False, capture_output=True).returncode == 0

    def unmount(self) -> None:
        """Take it away."""
        subprocess.run(["umount", str(self.place)], check=True, capture_output=True)


def judge(proof: Proof, what: str, place: Path, end: tuple[object, str]) -> dict[str, int]:
    """Look at a run that could not write all it wanted; return the cells it finished."""
    code, said = end
    if code not in (1, 2) or not any(reason in said for reason in FULL):
        proof.fault(f"{what}: ended with {code}: {said[-500:]}")
    store = CellStore(place / "cache" / "cells")
    finished = cells(place)
    for key in finished:
        if not store.is_whole(key):
            proof.fault(f"{what}: broken cell {key}")
    for part in place.rglob("*.part"):
        proof.fault(f"{what}: half written {part.name}")
    proof.add("exit 1" if code == 1 else "exit 2")
    proof.add("cells kept", len(finished))
    return finished


def go_on(proof: Proof, what: str, place: Path, finished: dict[str, int], table: bytes) -> None:
    """Run once more, with room, and compare."""
    code, said = run(place)
    if code != 0:
        proof.fault(f"{what}: did not go on: {code}: {said[-500:]}")
    elif table_without_measures(place / "results" / "disturbed" / "table.csv") != table:
        proof.fault(f"{what}: another table")
    now = cells(place)
    for key, written in finished.items():
        if now.get(key) != written:
            proof.fault(f"{what}: computed again {key}")


def main() -> int:
    """Run the proof and print its figures."""
    proof = Proof(__doc__, full=10_000, quick=6)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "place"
        place.mkdir()
        (place.parent / "disturbed.yaml").write_text(CONFIG)
        os.environ["HARNESS_CACHE"] = str(place / "cache")
        # Here, so that the children find everything compiled.
        code, said = call(
            "run", str(place.parent / "disturbed.yaml"), "--results", str(place / "results")
        )
        if code != 0:
            raise SystemExit(f"{code}\n{said}")
        table = table_without_measures(place / "results" / "disturbed" / "table.csv")
        written = [path.stat().st_size for path in place.rglob("*") if path.is_file()]
        limits = [size - 1 for size in sorted(set(written)) if size]
        needed = sum(-(-size // PAGE) + 1 for size in written)
        disk = Disk(place)
        shutil.rmtree(place)
        place.mkdir()
        can_mount = disk.mount("size=1m")
        if can_mount:
            disk.unmount()
        sizes = [pages * PAGE for pages in range(1, needed)] if can_mount else []
        todo = [("limit", size) for size in limits] + [("disk", size) for size in sizes]
        proof.count = min(proof.count, len(todo))
        step = len(todo) // proof.count
        while proof.goes_on:
            kind, size = todo[proof.done * step]
            what = f"{kind} of {size} bytes"
            if kind == "disk":
                disk.mount(f"size={size}")
                end = run(place)
                if end[0] == 0:  # it was enough
                    proof.add("enough")
                else:
                    finished = judge(proof, what, place, end)
                    disk.mount("remount,size=64m")
                    go_on(proof, what, place, finished, table)
                disk.unmount()
            else:
                finished = judge(proof, what, place, run(place, limit=size))
                go_on(proof, what, place, finished, table)
                shutil.rmtree(place)
                place.mkdir()
            proof.add(kind)
            proof.add("done")
        if can_mount:
            read_only(proof, disk, place, table)
    return proof.close(
        f"disk full at each of {proof['disk']} sizes by a page ({proof['enough']} were enough), "
        f"{proof['limit']} limits just below each size of file",
        f"exit code 1 {proof['exit 1']} times, 2 {proof['exit 2']} times; "
        f"{proof['cells kept']} cells kept, none broken, none computed again",
        "read-only cache and results: said, and gone on from"
        if can_mount
        else "not root: no file system of a limited size could be made",
    )


def read_only(proof: Proof, disk: Disk, place: Path, table: bytes) -> None:
    """Let the place be read-only: before anything is there, and when all but results is."""
    disk.mount("size=64m")
    disk.mount("remount,ro")
    code, said = run(place)
    if code != 2 or "finished cells cannot be kept there (read-only file system)" not in said:
        proof.fault(f"read-only cache: {code}: {said[-500:]}")
    disk.mount("remount,rw")
    run(place)
    finished = cells(place)
    disk.mount("remount,ro")
    code, said = run(place, results="others")
    if code != 2 or "cannot write the results (read-only file system)" not in said:
        proof.fault(f"read-only results: {code}: {said[-500:]}")
    code, said = run(place, results="../elsewhere")
    if code != 0:
        proof.fault(f"finished cells of a read-only cache were not read: {code}: {said[-500:]}")
    disk.mount("remount,rw")
    go_on(proof, "read-only", place, finished, table)
    disk.unmount()


if __name__ == "__main__":
    sys.exit(main())
