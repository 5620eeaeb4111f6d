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

from common import Proof, call, table_without_measures

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
Stored = dict[str, int]


def run(room: Path, limit: int | None = None, results: str = "results") -> tuple[object, str]:
    """Run in a child process, everything in one folder; return its exit code and its messages."""
    fork = multiprocessing.get_context("fork")
    ours, theirs = fork.Pipe(duplex=False)

    def child() -> None:
        os.environ["HARNESS_CACHE"] = str(room / "cache")
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        theirs.send(call("run", f"{room.parent}/disturbed.yaml", "--results", str(room / results)))

    process = fork.Process(target=child)
    process.start()
    theirs.close()
    try:
        code, printed = ours.recv()
    except EOFError:
        code, printed = "nothing", ""
    process.join()
    return code, printed


def mount(room: Path, options: str) -> bool:
    """Make or change a small file system; return whether that could be done."""
    command = ["mount", "-t", "tmpfs", "-o", options, "none", str(room)]
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


def unmount(room: Path) -> None:
    """Take the file system away."""
    subprocess.run(["umount", str(room)], check=True, capture_output=True)


def finished(room: Path) -> Stored:
    """Return the finished cells and when they were written."""
    found = (room / "cache" / "cells").glob("??/*.cell")
    return {path.stem: path.stat().st_mtime_ns for path in found}


def check_stopped(proof: Proof, what: str, room: Path, code: object, printed: str) -> Stored:
    """Check a run that could not write all it wanted; return the cells it finished."""
    if code not in (1, 2) or not any(reason in printed for reason in FULL):
        proof.fault(f"{what}: ended with {code}: {printed[-500:]}")
    store, cells = CellStore(room / "cache" / "cells"), finished(room)
    broken = [key for key in cells if not store.is_whole(key)]
    if broken or list(room.rglob("*.part")):
        proof.fault(f"{what}: broken cells {broken}, or files that are half written")
    proof.figures.update({f"exit {code}": 1, "cells kept": len(cells)})
    return cells


def check_resumed(proof: Proof, what: str, room: Path, before: Stored, table: bytes) -> None:
    """Run again, with room, and compare."""
    code, printed = run(room)
    if code != 0:
        proof.fault(f"{what}: did not go on: {code}: {printed[-500:]}")
    elif table_without_measures(room / "results" / "disturbed" / "table.csv") != table:
        proof.fault(f"{what}: another table")
    now = finished(room)
    if again := [key for key, written in before.items() if now.get(key) != written]:
        proof.fault(f"{what}: computed again {again}")


def check_read_only(proof: Proof, room: Path, table: bytes) -> None:
    """Let the folder be read-only: before anything is there, and when all but results is."""

    def expect(what: str, code: int, message: str, results: str = "results") -> None:
        found, printed = run(room, results=results)
        if found != code or message not in printed:
            proof.fault(f"{what}: {found}: {printed[-500:]}")

    mount(room, "size=64m")
    mount(room, "remount,ro")
    expect("cache", 2, "finished cells cannot be kept there (read-only file system)")
    mount(room, "remount,rw")
    run(room)
    before = finished(room)
    mount(room, "remount,ro")
    expect("results", 2, "cannot write the results (read-only file system)", "others")
    expect("finished cells of a read-only cache", 0, "", "../elsewhere")
    mount(room, "remount,rw")
    check_resumed(proof, "read-only", room, before, table)
    unmount(room)


def main() -> int:
    """Run the proof and print its figures."""
    proof = Proof(__doc__, full=10_000, quick=6)
    with tempfile.TemporaryDirectory() as folder:
        room = Path(folder) / "room"
        room.mkdir()
        (room.parent / "disturbed.yaml").write_text(CONFIG)
        code, printed = run(room)
        if code != 0:
            raise SystemExit(f"{code}\n{printed}")
        table = table_without_measures(room / "results" / "disturbed" / "table.csv")
        written = [path.stat().st_size for path in room.rglob("*") if path.is_file()]
        needed = sum(-(-size // PAGE) + 1 for size in written)
        todo = [("limit", size - 1) for size in sorted(set(written)) if size]
        shutil.rmtree(room)
        room.mkdir()
        if can_mount := mount(room, "size=1m"):
            unmount(room)
            todo += [("disk", pages * PAGE) for pages in range(1, needed)]
        proof.count = min(proof.count, len(todo))
        while proof.goes_on:
            kind, size = todo[proof["done"] * (len(todo) // proof.count)]
            what = f"{kind} of {size} bytes"
            if kind == "disk":
                mount(room, f"size={size}")
            code, printed = run(room, limit=size if kind == "limit" else None)
            if kind == "disk" and code == 0:
                proof.add("enough")
            else:
                before = check_stopped(proof, what, room, code, printed)
                if kind == "disk":
                    mount(room, "remount,size=64m")
                check_resumed(proof, what, room, before, table)
            if kind == "disk":
                unmount(room)
            else:
                shutil.rmtree(room)
                room.mkdir()
            proof.figures.update({kind: 1, "done": 1})
        if can_mount:
            check_read_only(proof, room, table)
    return proof.close(
        f"disk full at each of {proof['disk']} sizes by a page ({proof['enough']} were enough), "
        f"{proof['limit']} limits just below each size of file",
        f"exit code 1 {proof['exit 1']} times, 2 {proof['exit 2']} times; "
        f"{proof['cells kept']} cells kept, none broken, none computed again",
        "read-only cache and results: a message, and resumed"
        if can_mount
        else "not root: no file system of a limited size could be made",
    )


if __name__ == "__main__":
    sys.exit(main())
