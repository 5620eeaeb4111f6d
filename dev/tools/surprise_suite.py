"""Run Surprise's own test suite and examples, unchanged, under the patch.

python dev/tools/surprise_suite.py [--examples] [SOURCES...]

SOURCES are folders with ``tests/`` and ``examples/``: a clone of Surprise, which has the data of
its tests, and the unpacked source distribution of 1.1.5, whose files come last. Without them, both
are fetched. Nothing of it is kept. Tests run twice: as a user patches Surprise, which leaves small
calls to Surprise, and with all calls accelerated. Examples run twice, from the same seed, without
the patch and with it, on MovieLens 100K; what they print is compared, times aside. One needs the
package tabulate. Exits with 1 if a test fails or an example prints something else.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

REPOSITORY = "https://github.com/NicolasHug/Surprise"
RELEASE = "scikit-surprise==1.1.5"
PARTS = ("tests", "examples")
SKIPPED = {
    "run_all_examples.py": "it runs the others",
    "benchmark.py": "it prints times alone; dev/benchmarks/accelerate.py measures them",
}
TIMES = re.compile(r"(?im)^.*(?:fit|test)[ _]time.*$|\d+\.\d+e?-?\d* seconds")
DRIVER = """
import random, sys, time
import numpy
time.time = time.perf_counter = lambda: 0.0  # a table has seconds of fits too
random.seed(0)
numpy.random.seed(0)
way, script = sys.argv[1:]
if way == "patched":
    from harness.accelerate import main
    main([script])
else:
    import runpy
    sys.argv, sys.path[0] = [script], script.rpartition("/")[0]
    runpy.run_path(script, run_name="__main__")
"""
ACCELERATED = """
import sys
from harness.accelerate import main
from harness.extras.accelerate import worth
worth.known.is_loaded = True
main(sys.argv[1:])
"""


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("sources", nargs="*", type=Path)
    parser.add_argument("--examples", action="store_true", help="run the examples too")
    parser.add_argument("--only", default="", help="of the examples, those whose name has this")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="surprise-suite-") as folder:
        work = Path(folder)
        for source in given.sources or fetch(work):
            for part in PARTS:
                if (source / part).is_dir():
                    shutil.copytree(source / part, work / "run" / part, dirs_exist_ok=True)
        ok = run_tests(work / "run")
        if given.examples:
            ok = run_examples(work / "run", given.only) and ok
    sys.exit(0 if ok else 1)


def fetch(work: Path) -> list[Path]:
    """Return folders of a clone and of the unpacked source distribution."""
    clone, sdist = work / "clone", work / "sdist"
    subprocess.run(["git", "clone", "-q", "--depth", "1", REPOSITORY, clone], check=True)
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps"]
    package = RELEASE.partition("==")[0]
    subprocess.run([*pip, "--no-binary", package, RELEASE, "-d", sdist], check=True)
    with tarfile.open(next(sdist.glob("*.tar.gz"))) as archive:
        archive.extractall(sdist, filter="data")
    return [clone, next(path for path in sdist.iterdir() if path.is_dir())]


def run_tests(work: Path) -> bool:
    """Run the test suite under the patch, with small calls accelerated or not."""
    arguments = ["-m", "pytest", "-q", "tests", "-p", "no:cacheprovider", "--durations=3"]
    ways = ["-m", "harness.accelerate"], ["-c", ACCELERATED]
    codes = [
        subprocess.run([sys.executable, *way, *arguments], cwd=work, check=False).returncode
        for way in ways
    ]
    return not any(codes)


def run_examples(work: Path, only: str) -> bool:
    """Run each example on both sides, and compare what it prints."""
    home = work / "home"
    (home / ".surprise_data/ml-100k/ml-100k").mkdir(parents=True)
    write_movielens(home / ".surprise_data/ml-100k/ml-100k")
    (work / "driver.py").write_text(DRIVER)
    ok = True
    for script in sorted((work / "examples").rglob("*.py")):
        if script.name in SKIPPED or only not in script.name:
            continue
        printed = [output(work, home, way, script) for way in ("plain", "patched")]
        if printed[0][0] != 0:
            last = printed[0][1].strip().splitlines()[-1]
            print(f"{script.relative_to(work)}: does not run without the patch ({last})")
            continue
        same = printed[0] == printed[1]
        ok &= same
        size = printed[0][1].count("\n")
        print(
            f"{script.relative_to(work)}: {'the same' if same else 'DIFFERS'}, {size} lines",
            flush=True,
        )
        if not same:
            print(*printed, sep="\n")
    return ok


def output(work: Path, home: Path, way: str, script: Path) -> tuple[int, str]:
    """Return the exit code of an example and what it prints, without times."""
    environment = os.environ | {"HOME": str(home), "PYTHONHASHSEED": "0"}
    environment["SURPRISE_DATA_FOLDER"] = f"{home}/.surprise_data/"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(work / "driver.py"), way, str(script)],
        cwd=script.parent,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, TIMES.sub("<time>", done.stdout + (done.stderr[-500:]))


def write_movielens(folder: Path) -> None:
    """Write MovieLens 100K and its five folds as GroupLens has them."""
    import numpy as np

    import harness

    data = harness.load("ml-100k")
    columns = [data.user_ids[data.users], data.item_ids[data.items], data.ratings.astype(int)]
    lines = ["\t".join(map(str, (*row, 0))) + "\n" for row in zip(*columns, strict=True)]
    (folder / "u.data").write_text("".join(lines))
    titles = {"1": "Toy Story (1995)"}  # which an example looks up
    items = sorted(set(map(str, columns[1])), key=int)
    text = "".join(f"{item}|{titles.get(item, item)}|\n" for item in items)
    (folder / "u.item").write_text(text)
    fold = np.arange(len(lines)) % 5
    for number in range(5):
        parts = {"base": fold != number, "test": fold == number}
        for name, rows in parts.items():
            text = "".join(lines[row] for row in np.flatnonzero(rows))
            (folder / f"u{number + 1}.{name}").write_text(text)


if __name__ == "__main__":
    main()
