"""Feed files that went wrong to the command line: configs, ratings, predictions, saved splits.

    python dev/proofs/inputs.py configs           100,000 of them
    python dev/proofs/inputs.py data              20,000 of them

Each goes through a command in a child process: `harness check` for a config, `harness split` or
`harness evaluate` for data. It has to end in two seconds of processor time with exit
code 0 and nothing but a result, or with exit code 2 and nothing but a message that can be printed;
the child's memory has to stay under 500 MB. Anything else is a fault, and its file is kept.
"""

from __future__ import annotations

import contextlib
import faulthandler
import io
import multiprocessing
import os
import random
import resource
import sys
import tempfile
import time
import traceback
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import cache
from pathlib import Path

import pandas as pd
from common import Proof
from mutants import mutant, odd_parquet

TOP = Path(__file__).resolve().parents[2]
MOST_SECONDS = 2.0
MOST_MEGABYTES = 500.0
HANGS = 300.0
"""Seconds by the clock after which a child is given up; the machine may be busy."""

ROWS = [(u, i, (u * i) % 5 + 1, 880_000_000 + u) for u in range(1, 13) for i in range(1, 11)]
OWN = "algorithms: [ItemMean]\nmetrics: [rmse]\ndataset: "
SECTIONS = (
    *("{path: FILE}", "{path: FILE, format: csv}", "{path: FILE, format: tsv}"),
    *("{path: FILE, encoding: latin-1}", "{path: FILE, encoding: utf-16}", "{path: FILE}"),
    *("{path: FILE, header: false}", "{path: FILE, separator: whitespace}", "{path: FILE}"),
    "{path: FILE, duplicates: mean, missing: drop, out_of_scale: drop, scale: [1, 5]}",
)


def table(separator: str, header: str) -> bytes:
    """Return good ratings as text."""
    lines = [separator.join(map(str, row)) for row in ROWS]
    return "\n".join([header] * bool(header) + lines).encode() + b"\n"


TEXTS = {
    ".csv": table(",", "userId,movieId,rating,timestamp"),
    ".dat": table("::", ""),
    ".tsv": table("\t", "user\titem\trating\ttimestamp"),
    ".inter": table("\t", "user_id:token\titem_id:token\trating:float\ttimestamp:float"),
    ".txt": b"\n".join(b"u%d Q0 i%d %d %d run" % (u, i, i, r) for u, i, r, _ in ROWS),
}
PREDICTED = b"user,item,estimate,rating\n" + b"".join(
    b"%d,%d,%f,%d\n" % (u, i, r * 0.9, r) for u, i, r, _ in ROWS
)


class Kitchen:
    """Makes the file of a number and the command that reads it, in a folder."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.kind = kind
        self.folder = folder
        self.configs = [path.read_bytes() for path in sorted(TOP.glob("configs/*.yaml"))]
        self.configs.append((TOP / "docs/reference/config.md").read_bytes()[:4000])
        if kind == "data":
            frame = pd.DataFrame(ROWS, columns=["user", "item", "rating", "timestamp"])
            self.parquet = frame.to_parquet(index=False)
            self.call("split", self.write("own.yaml", (OWN + "synthetic").encode()))
            self.split = next(folder.glob("splits/*")).read_bytes()
            # What is compiled when it is first used is compiled here.
            scored, listed = self.write("a.csv", PREDICTED), self.write("b.csv", TEXTS[".csv"])
            self.call("evaluate", scored, "--metrics", "ndcg@5,rmse")
            self.call("evaluate", listed, "--truth", listed, "--metrics", "ndcg@5,novelty@5")

    def write(self, name: str, data: bytes) -> str:
        """Write a file and return its path."""
        path = self.folder / name
        path.write_bytes(data)
        return str(path)

    def serve(self, number: int) -> tuple[Path, list[str]]:
        """Return the file of a number, and the arguments of the command for it."""
        seed = f"{self.kind} {number}"
        if self.kind == "configs":
            path = self.write("config.yaml", mutant(self.configs, seed))
            return Path(path), ["check", "--no-probe", path]  # a probe takes seconds by design
        rng = random.Random(seed)  # noqa: S311 - nothing is secret
        what = rng.choice(("ratings", "ratings", "ratings", "parquet", "scored", "truth", "split"))
        if what == "scored":
            path = self.write("scored.csv", mutant([PREDICTED, TEXTS[".csv"]], seed))
            return Path(path), ["evaluate", path, "--metrics", "ndcg@5,rmse"]
        if what == "truth":
            ending = rng.choice((".csv", ".txt"))
            path = self.write(f"listed{ending}", mutant([TEXTS[ending]], seed))
            truth = self.write(f"truth{ending}", TEXTS[ending])
            files = [path, "--truth", truth] if rng.random() < 0.5 else [truth, "--truth", path]
            return Path(path), ["evaluate", *files, "--metrics", "ndcg@5,novelty@5"]
        if what == "split":
            path = self.write("kept.split", mutant([self.split], seed))
            own = f"{OWN}synthetic\nsplit: {{kind: file, path: kept.split}}\n"
            return Path(path), ["split", self.write("own.yaml", own.encode())]
        if what == "parquet":
            name, section = "ratings.parquet", "ratings.parquet"
            odd = rng.random() < 0.5
            path = self.write(name, odd_parquet(seed) if odd else mutant([self.parquet], seed))
        else:
            name = f"ratings{rng.choice(list(TEXTS))}"
            section = rng.choice(SECTIONS).replace("FILE", name)
            path = self.write(name, mutant(list(TEXTS.values()), seed))
        return Path(path), ["split", self.write("own.yaml", (OWN + section).encode())]

    def call(self, *arguments: str) -> str | None:
        """Call the command line; return what is wrong with how it ended, None for nothing."""
        from harness.console.commands import main

        where = ("--output", "splits") if arguments[0] == "split" else ()
        out, err, code = io.StringIO(), io.StringIO(), None
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                main([*arguments, *where])
        except SystemExit as end:
            code = end.code or 0
        except BaseException:
            return traceback.format_exc()
        messages = err.getvalue()
        if code not in (0, 2):
            return f"exit code {code}"
        if bool(messages) != (code == 2):
            return f"exit code {code} with {messages[:200]!r}"
        printed = messages + out.getvalue()
        if "Traceback" in printed or not all(c.isprintable() or c == "\n" for c in printed):
            return f"not fit to be printed: {printed[:500]!r}"
        if code == 2 and not (len(messages) < 20_000 and ":" in messages):
            return f"a message of {len(messages)} characters: {messages[:500]!r}"
        return None


@cache
def kitchen(kind: str, folder: str) -> Kitchen:
    """Return what makes the files, once in each process."""
    os.chdir(folder)
    os.environ["HARNESS_CACHE"] = folder
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    return Kitchen(kind, Path(folder))


def examine(kind: str, number: int, folder: str) -> tuple[str | None, float, float]:
    """Feed the file of a number; return what is wrong, CPU seconds and peak MB."""
    makes = kitchen(kind, folder)
    path, arguments = makes.serve(number)
    faulthandler.dump_traceback_later(HANGS, exit=True)
    begun = time.process_time()
    wrong = makes.call(*arguments)
    seconds = time.process_time() - begun
    faulthandler.cancel_dump_traceback_later()
    if wrong or seconds > MOST_SECONDS:
        kept = TOP / "build" / "faults" / f"{kind}-{number}{path.suffix}"
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(path.read_bytes())
        wrong = f"{wrong or f'{seconds:.1f} s'} ({' '.join(arguments)}; see {kept.name})"
    return wrong, seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def main() -> int:
    """Run the proof and print its figures."""
    kind = sys.argv.pop(1) if len(sys.argv) > 1 else ""
    if kind not in ("configs", "data"):
        raise SystemExit(__doc__)
    proof = Proof(__doc__, *((100_000, 300) if kind == "configs" else (20_000, 150)))
    spawn = multiprocessing.get_context("spawn")
    slowest = peak = 0.0
    with tempfile.TemporaryDirectory() as folder:
        while proof.goes_on:  # once, unless a process ends
            with (
                ProcessPoolExecutor(1, spawn, max_tasks_per_child=1000) as child,
                contextlib.suppress(BrokenProcessPool),
            ):
                while proof.goes_on:
                    number = proof["done"]
                    proof.add("done")
                    task = child.submit(examine, kind, number, folder)
                    wrong, seconds, megabytes = task.result()
                    slowest, peak = max(slowest, seconds), max(peak, megabytes)
                    if wrong:
                        proof.fault(f"{kind} {number}: {wrong}")
                break
            proof.fault(f"{kind} {number}: the process ended")
    if peak > MOST_MEGABYTES:
        proof.fault(f"{peak:.0f} MB")
    return proof.close(
        f"{proof['done']} {kind} that went wrong: each a result or a message of exit code 2",
        f"slowest {slowest:.2f} s, peak memory {peak:.0f} MB",
    )


if __name__ == "__main__":
    sys.exit(main())
