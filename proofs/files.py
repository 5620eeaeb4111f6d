"""Damage every kind of file that the project writes, and see that it is found and made again.

    python proofs/files.py

Each kind is cut at several places, emptied, lengthened, replaced by foreign files and by files of
other kinds, and has single bits flipped. Then the commands that read it are called. What is damaged
has to be named by exit code 2, or said to be computed again; `harness run` has to end well with the
numbers of the undisturbed run; nothing may end in a traceback.
"""

from __future__ import annotations

import hashlib
import http.server
import io
import os
import random
import shutil
import sys
import tempfile
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from common import Proof, call, table_without_measures

CONFIG = """\
dataset: ml-25m
split: {kind: kfold, n_splits: 2}
algorithms:
  - ItemMean
  - {name: KNNBasic, label: tuned, search: {k: [2, 5]}}
tuning: {method: grid, trials: 3, metric: rmse}
metrics: [ndcg@5, rmse]
baselines: false
statistics: null
"""
LINES = [f"{u},{i},{(u * i) % 9 / 2 + 0.5},{10**9 + u}" for u in range(1, 41) for i in range(1, 26)]
RATINGS = ("userId,movieId,rating,timestamp\n" + "\n".join(LINES) + "\n").encode()


class Kind(NamedTuple):
    """A kind of file: where it is, and what has to happen when it is damaged."""

    name: str
    pattern: str
    then: str
    """*again*: `harness run` says so and computes it again; *source*: it is made again from its
    source; *named*: commands that read it end with exit code 2 and name it, and `harness run`
    replaces it; *unread*: nothing reads it, and it is written again."""


KINDS = (
    Kind("finished cell", "cache/cells/??/*.cell", "again"),
    Kind("archive", "cache/datasets/ml-25m/ml-25m.zip", "source"),
    Kind("lock of cells", "cache/cells/locks/*.lock", "unread"),
    Kind("lock of results", "runs/.lock", "unread"),
    Kind("run.json", "runs/disturbed/run.json", "named"),
    Kind("table.csv", "runs/disturbed/table.csv", "named"),
    Kind("bounds.csv", "runs/disturbed/bounds.csv", "named"),
    Kind("table.md", "runs/disturbed/table.md", "named"),
    Kind("users.parquet", "runs/disturbed/users.parquet", "named"),
    Kind("trials.parquet", "runs/disturbed/trials.parquet", "named"),
    Kind("saved split", "splits/*.parquet", "named"),
    Kind("page", "runs/disturbed/report.html", "unread"),
    Kind("list of pages", "runs/index.html", "unread"),
    Kind("plot", "runs/disturbed/plots/*.svg", "unread"),
)


def serve_archive(folder: Path) -> None:
    """Offer a small archive under the name of a large data set, from this machine."""
    from harness.datasets import section

    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("ml-25m/ratings.csv", RATINGS)
    data = file.getvalue()
    (folder / "ml-25m.zip").write_bytes(data)

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *words: object) -> None:
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    os.environ["HARNESS_MIRROR"] = f"http://127.0.0.1:{server.server_port}"
    os.environ["NO_PROXY"] = "127.0.0.1"
    section.CATALOGUE["ml-25m"] = replace(
        section.CATALOGUE["ml-25m"],
        md5=hashlib.md5(data, usedforsecurity=False).hexdigest(),
        sha256=None,
        archive_bytes=len(data),
        member_bytes=len(RATINGS),
        member_md5=None,
        n_ratings=len(LINES),
        n_users=40,
        n_items=25,
    )


def damages(data: bytes, others: list[bytes], n_flips: int) -> Iterator[tuple[str, bytes]]:
    """Yield what a file may become."""
    rng = random.Random(len(data))  # noqa: S311 - nothing is secret
    yield "empty", b""
    for share in (0.01, 0.5, 0.9):
        yield f"cut to {share:.0%}", data[: int(share * len(data))]
    yield "cut by a byte", data[:-1]
    yield "lengthened", data + b"\0"
    for number, other in enumerate((*others, b"PK\x03\x04" * 50, b"user,item\n1,2\n", b"\0" * 999)):
        yield f"foreign {number}", other
    for _ in range(n_flips if data else 0):
        place, bit = rng.randrange(len(data)), rng.randrange(8)
        changed = data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :]
        yield f"bit {bit} of byte {place} flipped", changed


class Bench:
    """A folder in which everything was written once, and its copy to go back to."""

    def __init__(self, top: Path) -> None:
        self.home, self.kept = top / "home", top / "kept"
        self.home.mkdir()
        os.chdir(self.home)
        os.environ["HARNESS_CACHE"] = "cache"
        (self.home / "disturbed.yaml").write_text(CONFIG)
        for arguments in (
            ("run", "disturbed.yaml"),
            ("report", "disturbed"),
            ("plot", "disturbed", "--kind", "tradeoff"),
            ("split", "disturbed.yaml"),
        ):
            code, printed = call(*arguments)
            if code != 0:
                raise SystemExit(f"{arguments}: {code}\n{printed}")
        split = next(Path("splits").iterdir())
        own = CONFIG.replace("{kind: kfold, n_splits: 2}", f"{{kind: file, path: {split}}}")
        Path("from-split.yaml").write_text(own)
        self.table = table_without_measures(Path("runs/disturbed/table.csv"))
        shutil.copytree(self.home, self.kept)

    def restore(self) -> None:
        """Bring everything back."""
        for path in list(self.home.iterdir()):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        shutil.copytree(self.kept, self.home, dirs_exist_ok=True)

    def read(self, kind: Kind) -> tuple[object, str]:
        """Call the command that reads a file of a kind."""
        if kind.name == "saved split":
            return call("run", "from-split.yaml", "--results", "other")
        return call("table", "disturbed")

    def wrong(self, kind: Kind, data: bytes) -> str | None:
        """Damage a file; return what went wrong afterwards, None for nothing."""
        path = next(Path().glob(kind.pattern))
        path.write_bytes(data)
        if kind.then == "named":
            code, printed = self.read(kind)
            if code != 2 or path.name not in printed:
                return f"read with {code}: {printed[:300]}"
        if kind.name == "saved split":
            return None
        code, printed = call("run", "disturbed.yaml")
        if code != 0:
            return f"run with {code}: {printed[:300]}"
        if kind.then == "again" and "it is computed again" not in printed:
            return f"nothing said: {printed[:300]}"
        if table_without_measures(Path("runs/disturbed/table.csv")) != self.table:
            return "another table"
        code, printed = self.read(kind)
        if code != 0:
            return f"still broken: {code}: {printed[:300]}"
        if kind.name in ("page", "list of pages", "plot"):
            command = "plot" if kind.name == "plot" else "report"
            code, printed = call(command, "disturbed")
            if code != 0 or path.read_bytes() == data:
                return f"not written again: {code}: {printed[:300]}"
        return None


def main() -> int:
    """Run the proof and print its figures."""
    proof = Proof(__doc__, full=len(KINDS), quick=len(KINDS))
    with tempfile.TemporaryDirectory() as folder:
        serve_archive(Path(folder))
        bench = Bench(Path(folder))
        originals = [next(bench.kept.glob(kind.pattern)).read_bytes() for kind in KINDS]
        while proof.goes_on:
            kind, data = KINDS[proof["done"]], originals[proof["done"]]
            others = [] if proof.quick else [other for other in originals if other != data]
            slow = kind.then == "unread"
            flips = 0 if proof.quick or not data else 4 if slow else 30
            chosen = list(damages(data, others[:2] if slow else others, flips))
            for name, changed in chosen[:: 5 if proof.quick else 1]:
                bench.restore()
                if wrong := bench.wrong(kind, changed):
                    proof.fault(f"{kind.name}, {name}: {wrong}")
                proof.add("damages")
                proof.add(kind.then)
            proof.add("done")
        os.chdir("/")
    return proof.close(
        f"{proof['damages']} damages to {proof['done']} kinds of files: "
        + "; ".join(f"{kind.name} ({kind.then})" for kind in KINDS[: proof["done"]]),
        f"computed again and said so {proof['again']}, made from its source {proof['source']}, "
        f"named {proof['named']}, unread {proof['unread']} times; every table as undisturbed",
    )


if __name__ == "__main__":
    sys.exit(main())
