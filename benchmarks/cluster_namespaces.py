"""A scheduler and two workers in network namespaces of their own; one is cut off in mid-run.

    sudo python benchmarks/cluster_namespaces.py

Needs Linux, root and `ip`. Lays a bridge, runs the same experiment here and on the cluster, takes
the second worker's network away while it computes, and compares the tables. Prints what happened
and takes everything down again.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "dask"))

from cluster_processes import (
    Cluster,
    Running,
    cell_of,
    config_here,
    config_on,
    marks,
    paced,
    table_text,
    wait_until,
)

from harness.experiment import run

# Names and addresses of this process, so that two can run at once.
MARK = os.getpid() % 10_000
NET = f"10.213.{MARK % 256}"
BRIDGE, HERE = f"hbr{MARK}", f"{NET}.1"
SCHEDULER, STAYS, LEAVES = (f"h{name}{MARK}" for name in ("sched", "stay", "leave"))
PLACES = {SCHEDULER: f"{NET}.2", STAYS: f"{NET}.3", LEAVES: f"{NET}.4"}


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


def lay(stack: ExitStack) -> None:
    """Make a bridge here and a namespace for each place on it."""
    ip("link", "add", BRIDGE, "type", "bridge")
    stack.callback(subprocess.run, ["ip", "link", "del", BRIDGE], check=False)
    ip("addr", "add", f"{HERE}/24", "dev", BRIDGE)
    ip("link", "set", BRIDGE, "up")
    for name, address in PLACES.items():
        ip("netns", "add", name)
        stack.callback(subprocess.run, ["ip", "netns", "del", name], check=False)
        ip("link", "add", f"{name}o", "type", "veth", "peer", "name", "eth0", "netns", name)
        ip("link", "set", f"{name}o", "master", BRIDGE, "up")
        ip("-n", name, "addr", "add", f"{address}/24", "dev", "eth0")
        ip("-n", name, "link", "set", "eth0", "up")
        ip("-n", name, "link", "set", "lo", "up")


def inside(name: str) -> list[str]:
    return ["ip", "netns", "exec", name]


def main() -> None:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="harness-net-")))
        lay(stack)
        pace = folder / "pace"
        for each in (pace, folder / "cluster"):
            each.mkdir()
        os.environ["HARNESS_CACHE"] = str(folder / "driver")
        cluster = Cluster(folder / "cluster")
        stack.callback(cluster.stop)
        address = cluster.start_scheduler(8786, PLACES[SCHEDULER], inside(SCHEDULER))
        for name in (STAYS, LEAVES):
            cluster.start_worker("--host", PLACES[name], prefix=inside(name))
        algorithms = ["SVD", "KNNBasic", *paced(2, pace)]
        begun = time.monotonic()
        running = Running(config_on(address, algorithms=algorithms), folder / "there")
        wait_until(lambda: len(marks(pace)) >= 2, "a slow cell on each worker")
        before = set(marks(pace))
        ip("link", "set", f"{LEAVES}o", "down")
        cut = time.monotonic()
        print(f"cut off the second worker after {cut - begun:.1f} s")
        wait_until(lambda: running.said("workers")() and cluster.n_joined() == 1, "the loss")
        print(f"the scheduler missed it after {time.monotonic() - cut:.1f} s")
        (pace / "go").touch()
        there = running.end()
        interrupted = {cell_of(mark) for mark in before}
        again = {cell_of(mark) for mark in set(marks(pace)) - before} & interrupted
        print(f"finished with {len(there.failed)} failed cells; begun twice: {len(again)}")
        os.environ["HARNESS_CACHE"] = str(folder / "another")
        here = run(config_here(algorithms=algorithms), results=folder / "here")
        same = table_text(there) == table_text(here)
        print(f"the same table as here, seconds and memory aside: {same}")
        raise SystemExit(0 if same and again and not there.failed else 1)


if __name__ == "__main__":
    main()
