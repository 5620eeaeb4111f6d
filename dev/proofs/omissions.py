"""Nothing of a new member of a kind can be left out: a test fails for each of its parts.

A member of each kind is put into a copy of this repository: its class with its entry point, texts,
flags and documentation. With all of its parts the law of `tests/test_every_kind.py` holds. Then
each part is left out in turn, and the law has to fail; a part that it lets through is a fault.
`--only KIND`, or `--only KIND:PART`, which may be given again, leaves out these alone.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from common import Proof

TOP = Path(__file__).resolve().parents[2]
COPIED = ("harness", "configs", "docs", "tests", "dev/tools", "dev/changes", "examples")
LAWS = ("tests/test_every_kind.py", "tests/compatibility/test_last_version.py")
GENERATED = ("configs", "docs/reference", "harness/report/assets", "harness/console")
MARK = re.compile(r"\s*(?:#|<!--|\{#) part: ([\w ]+?)(?: -->| #\})?$", re.MULTILINE)
"""What ends a line that a part consists of."""
FILES = "generated files"
"""The part that is `python dev/tools/regenerate.py` itself."""
WRITTEN = {
    "configs/schema.json": ("-m", "harness", "schema"),
    "docs/reference/config.md": ("-m", "harness", "schema", "--format", "markdown"),
    "": ("dev/tools/build_reference.py",),
}
"""What `python dev/tools/regenerate.py --fast` calls: commands, and the files that they print."""


NEW, END = "", "$"
NO_TESTS = 5
"""The exit code of pytest if no test was chosen."""


@dataclass(frozen=True)
class Member:
    """A new member of a kind.

    Parameters
    ----------
    kind, name : str
        As the law calls them.
    edits : dict of str to tuple of str
        By path, where lines are added, and these lines, each of which ends in the name of the part
        that it belongs to, if it can be left out. They are added below the first line that begins
        so, at the end of the file (`END`), or are a `NEW` file. What follows a blank in a path
        tells two edits of a file apart.
    generated : bool
        Whether a generated file names it.
    told : bool
        Whether users are told of it: its name is one that they write or see.
    """

    kind: str
    name: str
    edits: dict[str, tuple[str, str]]
    generated: bool = True
    told: bool = True

    def __post_init__(self) -> None:
        if self.told:
            fragment = f"- `{self.name}` is new. <!-- part: fragment -->\n"
            self.edits[f"dev/changes/{self.name.replace('_', '-')}.added.md"] = (NEW, fragment)

    @property
    def parts(self) -> list[str]:
        """What can be left out."""
        found = [part for _, text in self.edits.values() for part in MARK.findall(text)]
        return list(dict.fromkeys([*found, *[FILES] * self.generated]))


def entry_point(group: str, line: str) -> tuple[str, str]:
    """Return the edit of ``pyproject.toml`` that declares a member."""
    return f'[project.entry-points."harness.{group}"]', f"{line}  # part: entry point\n"


CANDIDATES = '''
"""Candidates that are a random sample of the first items of the training set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from harness.candidates.base import Candidates, CandidatesSection
from harness.metrics import Metric
from harness.notes.note import Note
from harness.splits import Split


class Early(CandidatesSection):
    """A user's test ratings among some of the first items of the training set."""  # part: docstring

    name = "early {0.n}"  # part: short name
    ranked = "Each user's test ratings are ranked among {0.n} of the first training items."  # part: sentence
    caution = "Metrics over sampled candidates are biased"  # part: caution
    citation = "krichene2020sampled"  # part: citation
    longer = "more `n`"  # part: longer lists
    is_sample = True  # part: is_sample
    judges_unrated = True  # part: judges_unrated

    kind: Literal["early"] = "early"
    """Rank the test ratings and `n` of the first training items."""  # part: meaning of the kind
    n: int = Field(default=3, ge=1)
    """How many items each user gets."""  # part: meaning of a key

    def select(self, split: Split, seed: int) -> Candidates:
        """Select the test users, their test ratings and a sample for each."""
        tested, ratings = self.tested(split), split.ratings
        rng = np.random.default_rng([seed, split.fold])
        first = np.flatnonzero(split.known_items)
        extra = []
        for user in tested.users:
            rated = ratings.items[ratings.users == user]
            free = np.setdiff1d(first, rated)
            extra.append(rng.permutation(free)[: self.n])
        return replace(
            tested,
            known=split.known_items[tested.items],
            extra_offsets=np.cumsum([0, *map(len, extra)]).astype(np.int64),
            extra_items=np.concatenate(extra).astype(np.int32),
        )

    def notes(self, name: str, metrics: Sequence[Metric]) -> Iterator[Note]:  # part: notes
        """Yield that metrics over samples are biased."""  # part: notes
        yield Note("sampled-biased", {"candidates": name})  # part: notes

    def n_ranked(self, split: Split, tested: Candidates) -> NDArray[np.int64] | None:  # part: lengths of lists
        """Return how many items each list holds."""  # part: lengths of lists
        drawn = self.select(split, 0)  # part: lengths of lists
        known = np.add.reduceat(drawn.known, drawn.offsets[:-1])  # part: lengths of lists
        return known + np.diff(drawn.extra_offsets)  # part: lengths of lists
'''

SPLIT = '''
"""Every n-th rating is tested."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field

from harness.datasets import Ratings
from harness.splits.base import DrawnSplit, Notes, Parts


class EveryNth(DrawnSplit):
    """Every n-th rating is tested."""  # part: docstring

    kind: Literal["every-nth"] = "every-nth"
    """Every n-th rating, from a random one on, is the test set."""  # part: meaning of the kind
    n: int = Field(default=5, ge=2)
    """Of how many ratings one is tested."""  # part: meaning of a key

    def draw(self, ratings: Ratings, state: int) -> tuple[list[Parts], Notes]:  # part: draw
        rows = np.arange(len(ratings))  # part: draw
        test = rows % self.n == state % self.n  # part: draw
        return [(rows[~test], rows[test])], ()  # part: draw

    def describe(self) -> str:  # part: short name
        return f"every {self.n}th"  # part: short name

    def sentence(self, part: str = "test set") -> str:  # part: sentence
        return f"Every {self.n}th rating is the {part}."  # part: sentence
'''

FILTER = '''
"""Ratings of some users only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from harness.datasets import Ratings
from harness.splits.base import FilterSection, Mask


class EveryNthUser(FilterSection):
    """Ratings of every n-th user."""  # part: docstring

    name = "every {0.n}th user"  # part: short name
    example: ClassVar[Mapping[str, object]] = {"n": 1}  # part: example

    kind: Literal["every-nth-user"] = "every-nth-user"
    """Keep the ratings of every n-th user."""  # part: meaning of the kind
    n: int
    """Of how many users one is kept."""  # part: meaning of a key

    def keep(self, ratings: Ratings, state: int) -> Mask:  # part: keep
        return ratings.users % self.n == 0  # part: keep
'''

CORRECTION = """    "bonferroni": CorrectionMethod(
        title="Bonferroni's correction",  # part: title
        sentence="with Bonferroni's correction",  # part: sentence
        citation="dunn1961multiple",  # part: citation
        adjusted=lambda p_values: np.minimum(1.0, p_values * len(p_values)),  # part: arithmetic
    ),
"""
SOURCE = """@article{dunn1961multiple,  <!-- part: source -->
  author = {Olive Jean Dunn},  <!-- part: source -->
  title = {Multiple comparisons among means},  <!-- part: source -->
  journal = {Journal of the American Statistical Association},  <!-- part: source -->
  volume = {56},  <!-- part: source -->
  pages = {52--64},  <!-- part: source -->
  year = {1961},  <!-- part: source -->
  doi = {10.1080/01621459.1961.10482090}  <!-- part: source -->
}  <!-- part: source -->

"""

READER = '''
"""Files of ratings that begin with a word of their own."""

from __future__ import annotations

from pathlib import Path

from harness.datasets.readers.base import Reader, ReadOptions, example_lines

MAGIC = b"PIPES\\n"


class Pipes(Reader):
    """A rating a line, fields between bars, below a line that says so."""  # part: docstring

    endings = (".pipes",)
    label = "Pipes"  # part: label

    def recognises(self, head: bytes) -> bool:  # part: recognition
        """Return whether a file begins with the word."""  # part: recognition
        return head.startswith(MAGIC)  # part: recognition

    def write_example(self, path: Path) -> None:  # part: example
        """Write the example ratings."""  # part: example
        path.write_bytes(MAGIC + example_lines("|", header=False))  # part: example

    def read(self, path: Path, options: ReadOptions) -> object:  # part: reading
        """Read all ratings."""  # part: reading
        lines = path.read_text(encoding="utf-8").split("\\n")[1:-1]  # part: reading
        users, items, ratings = zip(*(line.split("|") for line in lines), strict=True)  # part: reading
        return {"user": users, "item": items, "rating": ratings}  # part: reading
'''

PLOT = '''
"""The rank of each algorithm."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from harness.report.drawing import Plot, label_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class RankPlot(Plot):
    """The rank of each algorithm."""  # part: docstring

    name = "ranks"  # part: name
    title = "Ranks"  # part: title
    caption = "Each mark is the rank of a row, from 1."  # part: caption

    def _select(self) -> pd.DataFrame:  # part: data
        rows = enumerate(self.table.ranked(self.label), 1)  # part: data
        return self._frame([(name, rank) for rank, name in rows], "rank")  # part: data

    def _draw(self, axes: Axes) -> None:  # part: drawing
        names = self.data["algorithm"].tolist()  # part: drawing
        axes.plot(self.data["rank"], range(len(names)), "o")  # part: drawing
        label_rows(axes, names)  # part: drawing

    def _facts(self) -> dict[str, object]:  # part: facts
        return {"n": len(self.data)}  # part: facts
'''
PLOT_SENTENCE = """{% macro ranks(plot, n) %}  {# part: text alternative #}
The ranks of {{ n|counted("row") }} by {{ plot.label }}.  {# part: text alternative #}
{% endmacro %}  {# part: text alternative #}

"""

ANALYSIS = '''
"""How long lists are."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from harness.experiment.analyses.base import Analysis, ScoredCell
from harness.metrics import Scores


class Lengths(Analysis):
    """How many items each algorithm lists for a user, on average."""  # part: docstring

    def __init__(self) -> None:  # part: cells
        self.rows: list[tuple[str, float]] = []  # part: cells

    def add(self, cell: ScoredCell, scores: Mapping[str, Scores]) -> None:  # part: cells
        """Take a cell."""  # part: cells
        self.rows.append((cell.algorithm, float(cell.lists.lengths.mean())))  # part: cells

    def result(self) -> pd.DataFrame:  # part: table
        """Return a row for each cell."""  # part: table
        return pd.DataFrame(self.rows, columns=["algorithm", "length"])  # part: table
'''

METRIC = '''
@metric(
    "1 if rank 1 is relevant, else 0",  # part: formula
    "Kantor and Voorhees 2000",  # part: source
    parameters=(THRESHOLD, *LISTS),
)
def first_hit(lists: Rankings, ks: Ints, params: Params) -> Floats:
    """Whether the first item is relevant."""  # part: summary
    return np.minimum(1.0, expected_hits(lists, np.ones_like(ks), params))


'''

TRACKER = '''
"""The titles of rows in a file."""

from __future__ import annotations

from pathlib import Path

from harness.config.trackers import TrackedRow, Tracker


class Titles(Tracker):
    """The titles of all rows, a line each."""  # part: docstring

    def __init__(self, path: str = "titles.txt") -> None:
        self.path = Path(path)

    def row(self, row: TrackedRow) -> None:
        """Write a title."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"{row.title}\\n")
'''

MEMBERS = [
    Member(
        "candidates",
        "early",
        {
            "harness/candidates/early.py": (NEW, CANDIDATES),
            "docs/explanation/candidates.md": (
                "| --- | --- |",
                "| `early` | some of the first items | Another question | <!-- part: documentation -->\n",
            ),
            "pyproject.toml": entry_point("candidates", 'early = "harness.candidates.early:Early"'),
        },
    ),
    Member(
        "splits",
        "every-nth",
        {
            "harness/splits/every_nth.py": (NEW, SPLIT),
            "pyproject.toml": entry_point(
                "splits", 'every-nth = "harness.splits.every_nth:EveryNth"'
            ),
        },
    ),
    Member(
        "filters",
        "every-nth-user",
        {
            "harness/splits/every_user.py": (NEW, FILTER),
            "pyproject.toml": entry_point(
                "splits", 'every-nth-user = "harness.splits.every_user:EveryNthUser"'
            ),
        },
    ),
    Member(
        "corrections",
        "bonferroni",
        {
            "harness/statistics/corrections.py": (
                "CORRECTIONS: dict[str, CorrectionMethod] = {",
                CORRECTION,
            ),
            "harness/report/assets/sources.bib": (END, SOURCE),
        },
    ),
    Member(
        "readers",
        "pipes",
        {
            "harness/datasets/readers/pipes.py": (NEW, READER),
            "docs/reference/files.md": (
                "| --- | --- |",
                "| Fields between bars | `a.pipes` | `{path: a.pipes}` | <!-- part: documentation -->\n",
            ),
            "docs/how-to/own-data.md": (
                "- **Text**",
                "- **Pipes** (`.pipes`). <!-- part: line for users -->\n",
            ),
            "pyproject.toml": entry_point(
                "readers", 'pipes = "harness.datasets.readers.pipes:Pipes"'
            ),
        },
    ),
    Member(
        "plots",
        "ranks",
        {
            "harness/report/rank_plot.py": (NEW, PLOT),
            "harness/report/assets/sentences.txt": (
                END,
                PLOT_SENTENCE,
            ),
            "pyproject.toml": entry_point("plots", 'ranks = "harness.report.rank_plot:RankPlot"'),
        },
    ),
    Member(
        "analyses",
        "lengths",
        {
            "harness/experiment/analyses/lengths.py": (NEW, ANALYSIS),
            "docs/how-to/other-plug-ins.md": (
                "# ",
                "\nThe analysis `lengths` says how long lists are. <!-- part: documentation -->\n",
            ),
            "pyproject.toml": entry_point(
                "analyses", 'lengths = "harness.experiment.analyses.lengths:Lengths"'
            ),
        },
        generated=False,
    ),
    Member(
        "columns",
        "n_tried",
        {
            # A title that is a common word, which other tables of the documentation have too.
            "harness/results/table.py": ("COLUMNS = (", '    Column("n_tried", "items", 0),\n'),
            "harness/results/table.py again": (
                '        row["n_users"] = ',
                '        row["n_tried"] = len(cells)  # part: values\n',
            ),
            "harness/results/runs.py": (
                "        Columns are ``algorithm``",
                "        ``n_tried``, how many cells are of the row;  # part: docstring of the table\n",
            ),
            "docs/how-to/read-the-table.md": (
                "| --- | --- |",
                "| items | cells of the row, finished or not | <!-- part: documentation -->\n",
            ),
        },
        generated=False,
    ),
    Member(
        "metrics",
        "first_hit",
        {
            "harness/metrics/binary.py": (END, METRIC),
            "pyproject.toml": entry_point(
                "metrics", 'first_hit = "harness.metrics.binary:first_hit"'
            ),
        },
    ),
    Member(
        "notes",
        "odd-users",
        {
            "harness/notes/notes.toml": (
                END,
                "[odd-users]\n"
                "weight = 2  # part: weight\n"
                'text = "{n:n user} {n:is|are} odd"  # part: text\n',
            ),
            "harness/experiment/notes.py": (
                END,
                '\n\nODD = "odd-users"  # part: where it is found\n',
            ),
        },
        generated=False,
        told=False,
    ),
    Member(
        "trackers",
        "titles",
        {
            "harness/extras/trackers/titles.py": (NEW, TRACKER),
            "docs/how-to/other-plug-ins.md": (
                "# ",
                "\nThe tracker `titles` writes a line for each row. <!-- part: documentation -->\n",
            ),
            "pyproject.toml": entry_point(
                "trackers", 'titles = "harness.extras.trackers.titles:Titles"'
            ),
        },
        generated=False,
    ),
]


class Scratch:
    """A copy of the repository into which members are put."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.moment = folder, int(time.time())
        for name in COPIED:
            skipped = shutil.ignore_patterns("__pycache__", "*.pyc")
            shutil.copytree(TOP / name, folder / name, ignore=skipped)
        (folder / "results").mkdir()
        for name in ("pyproject.toml", "README.md", "results/reproduced.json"):
            shutil.copy2(TOP / name, folder / name)

    def put(self, member: Member, left_out: str = "") -> None:
        """Put a member into the copy without one of its parts, and write what is generated."""
        self.restore()
        for key, (anchor, text) in member.edits.items():
            path = key.partition(" ")[0]
            lines = [line for line in text.lstrip("\n").splitlines() if _part(line) != left_out]
            added = "".join(f"{MARK.sub('', line)}\n" for line in lines)
            self._write(path, self._with(path, anchor, added))
        if member.generated and left_out != FILES:
            for path, command in WRITTEN.items():
                printed = self._call(*command).stdout
                if path and printed:
                    (self.folder / path).write_text(printed, encoding="utf-8")

    def restore(self) -> None:
        """Take every member out again."""
        for member in MEMBERS:
            for key, (anchor, _) in member.edits.items():
                path = key.partition(" ")[0]
                if anchor == NEW:
                    (self.folder / path).unlink(missing_ok=True)
                else:
                    self._write(path, (TOP / path).read_text(encoding="utf-8"))
        for name in GENERATED:
            for file in (TOP / name).glob("*.*"):
                shutil.copy2(file, self.folder / name / file.name)

    def failure(self, member: Member) -> str:
        """Return which test fails, and why; "" if the law holds."""
        done = self._law(f"{member.kind}:{member.name}]")
        if done.returncode == NO_TESTS:
            done = self._law("every_class or every_kind_of")
            if done.returncode == 0:
                return "LET THROUGH: it is not registered, and no test misses it"
        if done.returncode == 0:
            done = self._law("told_to_users")
        if done.returncode == 0:
            return ""
        said = re.findall(r"^E +(.+)$", done.stdout, re.MULTILINE)
        return said[-1 if "Error" in said[-1] else 0] if said else _end(done)

    def _law(self, chosen: str) -> subprocess.CompletedProcess[str]:
        law = ("-m", "pytest", "-q", "-n", "0", "--tb=short", *LAWS)
        return self._call(*law, "-k", chosen)

    def _with(self, path: str, anchor: str, added: str) -> str:
        if anchor == NEW:
            return added
        text = (self.folder / path).read_text(encoding="utf-8")
        if anchor == END:
            return text.rstrip("\n") + "\n\n\n" + added
        start = re.search(rf"^{re.escape(anchor)}.*\n", text, re.MULTILINE)
        if start is None:
            raise SystemExit(f"{path}: no line begins with {anchor!r}; correct the proof")
        return text[: start.end()] + added + text[start.end() :]

    def _write(self, path: str, text: str) -> None:
        file = self.folder / path
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
            self.moment += 1  # Python tells compiled files by whole seconds
            os.utime(file, (self.moment, self.moment))

    def _call(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        paths = [str(self.folder), str(self.folder / "dev" / "tools")]
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            # Each process reads the bytecode of those before it.
            env=os.environ | {"PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": ""},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )


def _end(done: subprocess.CompletedProcess[str]) -> str:
    """Return the end of what a command printed."""
    return " ".join((done.stdout + done.stderr).split())[-120:]


def _part(line: str) -> str | None:
    """Return the part that a line belongs to."""
    found = MARK.search(line)
    return None if found is None else found[1]


def _names(member: Member, part: str) -> tuple[str, str]:
    """Return what `--only` may call a part."""
    return member.kind, f"{member.kind}:{part}"


def main() -> int:
    """Leave out each part of each member, and print which test fails."""
    cases = [(member, part) for member in MEMBERS for part in member.parts]
    proof = Proof(__doc__ or "", full=len(cases), quick=2, parts="KIND or KIND:PART")
    if proof.only:
        names = {name for member, part in cases for name in _names(member, part)}
        if unknown := {*proof.only} - names:
            raise SystemExit(f"--only: no {', '.join(sorted(unknown))}; known: {sorted(names)}")
        cases = [case for case in cases if {*proof.only} & {*_names(*case)}]
        proof.count = min(proof.count, len(cases))
    if proof.quick:  # a part of each of the first kinds, another one of each
        firsts = {member.kind: number for number, (member, _) in enumerate(cases[::-1])}
        cases = [cases[-1 - number] for number in firsts.values()]
    rows: list[tuple[str, str, str]] = []
    complete: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="harness-omissions-") as folder:
        scratch = Scratch(Path(folder))
        for member, part in cases:
            if not proof.goes_on:
                break
            if member.kind not in complete:
                scratch.put(member)
                complete[member.kind] = scratch.failure(member)
                if complete[member.kind]:
                    proof.fault(f"{member.kind}, with all parts: {complete[member.kind]}")
            scratch.put(member, part)
            failure = scratch.failure(member)
            proof.add("done")
            if not failure or failure.startswith("LET THROUGH"):
                proof.fault(f"{member.kind}: {part} can be left out, and no test fails")
                failure = "none"
            rows.append((member.kind, part, failure))
            print(f"{member.kind:<12} {part:<20} {failure[:150]}", flush=True)
    let_through = sum(failure == "none" for _, _, failure in rows)
    return proof.close(
        f"{len(complete)} members of {len(complete)} kinds, {len(rows)} parts left out; "
        f"{let_through} omissions let through",
    )


if __name__ == "__main__":
    sys.exit(main())
