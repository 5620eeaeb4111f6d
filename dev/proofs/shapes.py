"""Read the files that people have by every way in, and say where a way is wrong or disagrees.

    python dev/proofs/shapes.py                       all shapes
    python dev/proofs/shapes.py --family times        those of a family; can be repeated
    python dev/proofs/shapes.py --shape "4 stars" --show    one of them, with its messages

Each shape of `shape_public`, `shape_programs`, `shape_exports`, `shape_odd` and `shape_hands` is a
file or a folder, with the ratings that it stands for. It is read by `harness.load`,
`harness.describe`, a config, `harness run --dataset`, the config of `harness new`, and as a frame
where pandas reads it plainly. If a message or a note names keys of ``dataset``, they are followed
literally. The outcome is one of `OUTCOMES`.

It is a fault if two ways disagree, if a file is refused without a way on, if a shape that can be
decided is read wrongly, and if advice loses ratings without saying how many. Of the shapes with
ratings, at least 80% have to be read rightly, at once or after one option; at most 2% may be wrong
without a word, and of each of these the shape says why nobody can tell.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import itertools
import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from ruamel.yaml import YAML, YAMLError
from shape_exports import EXPORTS
from shape_files import Rated, Shape
from shape_hands import HANDS
from shape_odd import ODD
from shape_programs import PROGRAMS
from shape_public import PUBLIC

import harness
from harness import datasets
from harness.cli.new import new
from harness.config.load import load as load_config
from harness.console.answers import KEYS, write_config
from harness.console.commands import main as command_line
from harness.datasets import Ratings
from harness.datasets.section import DatasetSection
from harness.errors import HarnessError

RIGHT = "right"
OPTION = "right after an option"
SEVERAL = "right after several"
REFUSED = "refused, says what it is"
ASTRAY = "refused without a way on"
NOTED = "wrong, the note says so"
SILENT = "wrong in silence"
OUTCOMES = (RIGHT, OPTION, SEVERAL, REFUSED, ASTRAY, NOTED, SILENT)
SHORT = ("right", "option", "several", "refused", "astray", "noted", "silent")

CONFIGS = (".yaml", ".yml")
"""Endings that `harness describe` takes for those of a config."""
SPELLED = ("run", "new")
"""Ways that write a config, which spells out what was found."""
SCALE = re.compile("^scale .* the lowest and highest rating found")

LEAST_RIGHT = 0.80
MOST_SILENT = 0.02
TYPED = 0.008
"""Proportion of the shapes that go through the real command line too."""
FAILING = Path(__file__).with_name("shapes_failing.txt")
"""The shapes that have a fault today, one a line."""
MOST_OPTIONS = 3
"""Options that are followed one after the other."""
SECOND = 1.0
"""Times are read in whole seconds."""
LOST = 0.9
"""Proportion of the ratings below which advice has to say how many it loses."""


def families() -> dict[str, list[Shape]]:
    """Return all shapes by family."""
    made: dict[str, list[Shape]] = defaultdict(list)
    for make in (*PUBLIC, *PROGRAMS, *ODD, *EXPORTS, *HANDS):
        for shape in make():
            made[shape.family].append(shape)
    return dict(made)


def sampled(shapes: Sequence[Shape], n: int = 13) -> list[Shape]:
    """Return about one of `n` shapes, the same ones however many others there are."""
    return [s for s in shapes if zlib.crc32(f"{s.family}: {s.name}".encode()) % n == 0]


def failing() -> set[str]:
    """Return the shapes that are known to have a fault, as ``family: name``."""
    return set(FAILING.read_text(encoding="utf-8").splitlines())


# What was read ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Read:
    """What a way in made of a shape: ratings, or a message."""

    numbers: tuple[int, int, int, float, bool] | None = None
    """Users, items, ratings, their sum, and whether there are times."""
    rows: tuple[Rated, ...] | None = None
    """The ratings; None of a description, which has none."""
    notes: tuple[str, ...] = ()
    message: str = ""
    crashed: bool = False
    days: tuple[str, ...] = ()
    """The first and the last day, of a description."""
    sure: tuple[str, ...] = ()
    """The notes among them that say what is certain."""

    @property
    def texts(self) -> str:
        """All that was said."""
        return "\n".join([self.message, *self.notes])


def read_of(ratings: Ratings) -> Read:
    """Return what was read as `Ratings`."""
    columns = ratings.to_frame()
    moments = columns["timestamp"].tolist() if "timestamp" in columns else [None] * len(columns)
    rows = tuple(
        Rated(str(user), str(item), float(rating), moment)
        for user, item, rating, moment in zip(
            *(columns[name].tolist() for name in ("user", "item", "rating")), moments, strict=True
        )
    )
    sure = tuple(str(note) for note in ratings.notes if note.weight < 2)
    return Read(numbers(rows), rows, tuple(map(str, ratings.notes)), sure=sure)


def numbers(rows: Sequence[Rated]) -> tuple[int, int, int, float, bool]:
    """Return users, items, ratings, their sum, and whether there are times."""
    return (
        len({row.user for row in rows}),
        len({row.item for row in rows}),
        len(rows),
        round(sum(row.rating for row in rows), 3),
        bool(rows) and rows[0].time is not None,
    )


# Ways in -------------------------------------------------------------------------------------


def _source(shape: Shape, keys: Mapping[str, Any]) -> Any:
    return {"path": shape.asked, **keys} if keys else shape.asked


def by_load(shape: Shape, keys: Mapping[str, Any]) -> Read:
    """Read by `harness.load`."""
    return read_of(harness.load(_source(shape, keys)))


def by_describe(shape: Shape, keys: Mapping[str, Any]) -> Read:
    """Read by `harness.describe`."""
    (data,) = harness.describe(_source(shape, keys))
    total = round(data.mean * data.n_ratings, 3)
    found = (data.n_users, data.n_items, data.n_ratings, total, bool(data.span))
    return Read(found, None, tuple(map(str, data.notes)), days=tuple(data.span))


def _of_config(path: str, text: str | None = None) -> Read:
    if text is not None:
        Path(path).write_text(text)
    experiment, document = load_config(path)
    return read_of(datasets.load(experiment.dataset[0], base=document.folder))


def by_config(shape: Shape, keys: Mapping[str, Any]) -> Read:
    """Read by a config."""
    dataset = json.dumps(_source(shape, keys), ensure_ascii=False)
    return _of_config("c.yaml", f"dataset: {dataset}\nalgorithms: [ItemMean]\nmetrics: [rmse]\n")


def _options(keys: Mapping[str, Any]) -> tuple[str | None, list[str]]:
    """Return keys as ``--data-columns`` and as what ``--set`` takes."""
    columns = keys.get("columns")
    if isinstance(columns, Mapping):
        plain = all(value is not None and "," not in str(value) for value in columns.values())
        named = ",".join(f"{role}={name}" for role, name in columns.items()) if plain else None
    else:
        named = None
    rest = {key: value for key, value in keys.items() if key != "columns" or named is None}
    texts = {key: json.dumps(value, ensure_ascii=False) for key, value in rest.items()}
    return named, [f"dataset.{key}={text}" for key, text in texts.items()]


def by_run(shape: Shape, keys: Mapping[str, Any]) -> Read:
    """Read by ``harness run --dataset``, up to the ratings that it splits."""
    columns, settings = _options(keys)
    stated: dict[str, str | int | None] = dict.fromkeys(KEYS)
    stated |= {"dataset": shape.asked, "algorithms": "ItemMean", "data_columns": columns}
    written = write_config(stated, settings, Path("runs"), shows_rows=False)
    return _of_config(str(written))


def by_new(shape: Shape, keys: Mapping[str, Any]) -> Read:
    """Read by the config of ``harness new``; one with keys that it does not take is written."""
    columns, settings = _options(keys)
    words = ["new", "n.yaml", "--dataset", shape.asked, "--algorithms", "ItemMean", "-y", "--force"]
    words += ["--columns", columns] if columns else []
    if settings and not any(parameter.name == "overrides" for parameter in new.params):
        return by_config(shape, keys)
    said = called(*words, *(word for setting in settings for word in ("--set", setting)))
    got = _of_config("n.yaml")
    notes = [line.removeprefix("note: ") for line in said.splitlines() if line[:6] == "note: "]
    return replace(got, notes=tuple(dict.fromkeys((*got.notes, *notes))))


READERS: dict[str, Callable[[str], pd.DataFrame]] = {
    "csv": pd.read_csv,
    "tsv": lambda path: pd.read_csv(path, sep="\t"),
    "json": pd.read_json,
    "lines": lambda path: pd.read_json(path, lines=True),
    "parquet": pd.read_parquet,
    "feather": pd.read_feather,
}


def by_frame(shape: Shape, keys: Mapping[str, Any]) -> Read:
    """Read as a frame of pandas."""
    data = READERS[shape.frame](shape.asked)
    if not keys:
        return read_of(harness.load(data))
    if "columns" in keys:
        named = dict(keys)
        columns = {
            role: data.columns[name - 1] if isinstance(name, int) else name
            for role, name in named.pop("columns").items()
            if name is not None
        }
        return read_of(Ratings.from_frame(data, **columns, **named))
    config = {"dataset": dict(keys), "algorithms": ["ItemMean"], "metrics": ["rmse"]}
    experiment, _ = load_config(config, with_ratings=True)
    return read_of(datasets.load_under(data, experiment.dataset[0]))


WAYS = {
    "load": by_load,
    "describe": by_describe,
    "config": by_config,
    "run": by_run,
    "new": by_new,
    "frame": by_frame,
}


def called(*arguments: str) -> str:
    """Call the command line in this process; return what it printed, or raise what it said."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            command_line([*arguments])
        except SystemExit as end:
            code = int(end.code or 0)
    if code:
        raise HarnessError(err.getvalue().strip() or out.getvalue().strip())
    return out.getvalue()


def read(way: str, shape: Shape, keys: Mapping[str, Any]) -> Read:
    """Read a shape, whose folder is the current one, by a way."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return WAYS[way](shape, merged(shape.keys, keys))
        except HarnessError as error:
            return Read(message=str(error))
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{Path(last.filename).name}:{last.lineno}"
            return Read(message=f"{type(error).__name__}: {error} ({place})", crashed=True)


# What a message advises -----------------------------------------------------------------------

FIELDS = tuple(DatasetSection.model_fields)
_TICKED = re.compile(r"`([^`\n]+)`((?:(?:, | or |, or )`[\w.+-]+`)*)")
_BARE = re.compile(rf"\b({'|'.join(FIELDS)}): (\{{[^}}\n]*\}}|\[[^\]\n]*\]|'[^'\n]*'|[\w.%/+-]+)")
_PLACEHOLDER = re.compile(r'"(NAME|COLUMN|TABLE|FILE|MEMBER|VALUE|NUMBER|N|X)"|…|\.\.\.')


def remedies(text: str) -> list[dict[str, Any]]:
    """Return keys of ``dataset`` that a text advises, each as it can be followed literally."""
    found: list[dict[str, Any]] = []
    for match in _TICKED.finditer(text):
        first = _keys(match[1])
        found += first
        if len(first) == 1 and len(first[0]) == 1:
            (key,) = first[0]
            found += [{key: _value(word)} for word in re.findall(r"`([^`]+)`", match[2])]
    rest = _TICKED.sub(" ", text)
    found += [keys for match in _BARE.finditer(rest) for keys in _keys(match[0])]
    found += [
        keys for match in re.finditer(r"--(?:data-)?columns \S+", rest) for keys in _keys(match[0])
    ]
    unique: dict[str, dict[str, Any]] = {}
    for keys in found:
        unique.setdefault(json.dumps(keys, sort_keys=True, default=str), keys)
    return list(unique.values())


def _value(text: str) -> Any:
    try:
        return YAML(typ="safe", pure=True).load(text)
    except YAMLError:
        return text


def _keys(text: str, *, literal: bool = True) -> list[dict[str, Any]]:
    """Return the keys of one piece of a text: typed, or as in YAML; `literal` without NAME."""
    if "--" in text:
        keys: dict[str, Any] = {}
        try:
            words = shlex.split(text)
        except ValueError:
            return []
        for option, word in itertools.pairwise(words):
            if option == "--set" and word.startswith("dataset."):
                path, _, value = word.removeprefix("dataset.").partition("=")
                key, *inner = path.split(".", 1)
                keys = merged(keys, {key: {inner[0]: _value(value)} if inner else _value(value)})
            elif option in ("--data-columns", "--columns"):
                pairs = (part.partition("=") for part in word.rstrip(".,;").split(","))
                keys["columns"] = {role: int(n) if n.isdigit() else n for role, _, n in pairs}
    else:
        loaded = _value("{" + text + "}")
        keys = dict(loaded) if isinstance(loaded, dict) else {}
        if isinstance(keys.get("dataset"), dict):
            keys = keys["dataset"]
    if not keys or not set(keys) <= set(FIELDS) or None in keys.values():
        return []
    held = json.dumps([*_leaves(keys)], default=str, ensure_ascii=False)
    return [] if literal and _PLACEHOLDER.search(held) else [keys]


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        for part in value.values():
            yield from _leaves(part)
    else:
        yield value


def names(text: str, key: str) -> bool:
    """Return whether a text names a key of ``dataset``, or the option that stands for it."""
    if key == "columns" and re.search(r"--(data-)?columns", text):
        return True
    return re.search(rf"(`|dataset\.|\b){key}(:|=|`)", text) is not None


def merged(keys: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Return keys with more of them; columns by role."""
    both = {**keys, **more}
    old, new = keys.get("columns"), more.get("columns")
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        both["columns"] = {**old, **new}
    return both


# What became of a shape -----------------------------------------------------------------------


def difference(shape: Shape, got: Read) -> str:
    """Return how what was read differs from the truth; empty if it does not."""
    if shape.truth is None:
        return "it has no ratings, and was read"
    real, found = numbers(shape.truth), got.numbers
    assert found is not None
    for name, a, b in zip(("users", "items", "ratings", "sum"), real, found, strict=False):
        if abs(a - b) > 1e-6 * abs(a) + (0.01 if name == "sum" else 0):
            return f"{b:g} {name} in place of {a:g}"
    if found[4] and not real[4]:
        return "times where there are none"
    if real[4] and not found[4] and not re.search(r"\btime|\bdate", " ".join(got.notes)):
        return "times lost without a word"
    if got.rows is None:
        moments = [int(row.time) for row in shape.truth if row.time is not None and got.days]
        ends = np.array([min(moments), max(moments)] if moments else [], "datetime64[s]")
        days = tuple(ends.astype("datetime64[D]").astype(str).tolist())
        return "" if got.days == days else f"times of {got.days} in place of {days}"
    there, here = list(shape.truth), list(got.rows)
    if not found[4]:
        there = [row._replace(time=None) for row in there]
    if not shape.ordered:
        there, here = sorted(there, key=_order), sorted(here, key=_order)
    for n, (a, b) in enumerate(zip(there, here, strict=True), 1):
        same_time = a.time is b.time or (
            a.time is not None and b.time is not None and abs(a.time - b.time) < SECOND
        )
        if a[:2] != b[:2] or abs(a.rating - b.rating) > 1e-9 or not same_time:
            return f"rating {n} is {tuple(b)} in place of {tuple(a)}"
    return ""


def _order(row: Rated) -> tuple[str, str]:
    return row.user, row.item


@dataclass
class Outcome:
    """What became of a shape by one way."""

    kind: str
    got: Read
    why: str = ""
    followed: tuple[dict[str, Any], ...] = ()
    harms: list[str] = field(default_factory=list)


def outcome_of(way: str, shape: Shape) -> Outcome:
    """Read a shape by a way, and follow what is advised."""
    got = read(way, shape, {})
    if got.numbers is not None:
        if not (why := difference(shape, got)):
            return Outcome(RIGHT, got)
        notes = "\n".join(got.notes)
        for keys in remedies(notes):
            again = read(way, shape, keys)
            if shape.truth is not None and again.numbers and not difference(shape, again):
                return Outcome(NOTED, got, why, (keys,))
        if shape.says and re.search(shape.says, notes):
            return Outcome(NOTED, got, why)
        option = shape.option
        if option and all(names(notes, key) for key in option):
            again = read(way, shape, option)
            if again.numbers and not difference(shape, again):
                return Outcome(NOTED, got, why, (dict(option),))
        return Outcome(SILENT, got, why)
    said = shape.says and re.search(shape.says, got.message)
    harms: list[str] = []
    if shape.truth is not None and not got.crashed:
        steps = _followed(way, shape, got, {}, harms, 1)
        if steps:
            return Outcome(OPTION if len(steps) == 1 else SEVERAL, got, "", steps, harms)
    if said or ("pip install" in got.message and not got.crashed):
        return Outcome(REFUSED, got, "", (), harms)
    return Outcome(ASTRAY, got, "", (), harms)


def _followed(
    way: str, shape: Shape, got: Read, keys: dict[str, Any], harms: list[str], depth: int
) -> tuple[dict[str, Any], ...]:
    """Return the remedies that lead to the right ratings, one after the other; none if none do."""
    advised = [more for more in remedies(got.message) if not more.items() <= keys.items()]
    known = {k: v for k, v in shape.option.items() if k not in keys and names(got.message, k)}
    later = []
    for more in [*advised, *({key: value} for key, value in known.items())]:
        again = read(way, shape, merged(keys, more))
        if again.numbers is None:
            later.append((more, again))
            continue
        if not (why := difference(shape, again)):
            return (more,)
        n_true = len(shape.truth or ())
        lost = n_true - again.numbers[2]
        if more in advised and again.numbers[2] < LOST * n_true and f"{lost:,}" not in got.message:
            harms.append(f"{json.dumps(more, ensure_ascii=False)} leaves {again.numbers[2]}: {why}")
    if depth < MOST_OPTIONS:
        for more, again in later[:4]:
            if again.message != got.message and (
                rest := _followed(way, shape, again, merged(keys, more), harms, depth + 1)
            ):
                return (more, *rest)
    return ()


def canonical(text: str, folder: str) -> str:
    """Return a message or a note without what may differ between ways: folder and typed options."""
    text = text.replace(folder + "/", "")
    text = re.sub(r"^(c\.yaml|n\.yaml|harness run|config)(:\d+)?: ", "", text)
    text = re.sub(r"^(--set )?dataset([.:=] ?\w+(=\S+)?)?: ", "", text)

    def of_keys(match: re.Match[str]) -> str:
        found = _keys(match[1], literal=False)
        return f"<{json.dumps(found[0], sort_keys=True, default=str)}>" if found else match[0]

    text = re.sub(r"`([^`\n]+)`", of_keys, text)
    return " ".join(text.split())


def disagreements(outcomes: Mapping[str, Outcome], folder: str) -> Iterator[str]:
    """Yield in what other ways differ from `harness.load`."""
    first = outcomes["load"]
    for way, other in outcomes.items():
        if way == "load":
            continue
        if other.kind != first.kind and not (way == "describe" and _tells_less(other, first)):
            yield f"{way}: {other.kind}; load: {first.kind}"
        elif way == "frame":
            continue
        elif other.got.numbers != first.got.numbers:
            yield f"{way}: {other.got.numbers}; load: {first.got.numbers}"
        elif other.got.numbers is None:
            here, there = (canonical(o.got.message, folder) for o in (other, first))
            if here != there:
                yield f"{way}: {here[:300]!r}; load: {there[:300]!r}"
        else:
            here, there = ({canonical(n, folder) for n in o.got.notes} for o in (other, first))
            sure = {canonical(n, folder) for n in first.got.sure}
            if way in SPELLED:  # its config has the scale that was found
                here, there = ({n for n in some if not SCALE.search(n)} for some in (here, there))
                here |= {n for n in there if way == "new" and n in sure}  # as its config shows
            if here != there:
                yield f"{way}: notes {sorted(here ^ there)!r:.400}"


def _tells_less(described: Outcome, loaded: Outcome) -> bool:
    """Return whether a description is like what was loaded, but for what only rows can show."""
    if described.got.numbers is None:
        return loaded.got.numbers is None
    return described.got.numbers == loaded.got.numbers


@dataclass
class Judged:
    """What became of a shape by all ways."""

    shape: Shape
    outcomes: dict[str, Outcome]
    differ: list[str]

    @property
    def title(self) -> str:
        """Family and name."""
        return f"{self.shape.family}: {self.shape.name}"

    @property
    def kind(self) -> str:
        """The outcome of `harness.load`."""
        return self.outcomes["load"].kind

    def faults(self) -> Iterator[str]:
        """Yield what must not be, each as ``way: what``."""
        for way, outcome in self.outcomes.items():
            said = " ".join(outcome.got.texts.split())[:300]
            if outcome.got.crashed:
                yield f"{way}: CRASH: {said}"
            elif outcome.kind == ASTRAY:
                yield f"{way}: {ASTRAY}: {said}"
            elif outcome.kind in (NOTED, SILENT) and not self.shape.undecidable:
                yield f"{way}: {outcome.kind}: {outcome.why}: {said}"
            for harm in outcome.harms:
                yield f"{way}: ADVICE THAT HARMS: {harm}"
        for text in self.differ:
            yield f"DISAGREE: {text}"


def judged(shape: Shape, folder: Path, ways: Iterable[str] = WAYS) -> Judged:
    """Write a shape into a folder and read it by all ways."""
    folder.mkdir(parents=True, exist_ok=True)
    shape.write(folder)
    before = Path.cwd()
    os.chdir(folder)
    try:
        outcomes = {
            way: outcome_of(way, shape)
            for way in ways
            if (way != "frame" or shape.frame)
            and (way != "describe" or not shape.asked.endswith(CONFIGS))
        }
    finally:
        os.chdir(before)
    return Judged(shape, outcomes, list(disagreements(outcomes, str(folder))))


def typed(shape: Shape, expected: Outcome, folder: Path) -> str:
    """Return what the real command line makes of a shape that `by_run` found otherwise."""
    command = [sys.executable, "-m", "harness", "run", "-q", "--json", "--dataset", shape.asked]
    more = ["--algorithms", "ItemMean", "--metrics", "rmse", "--results", "typed"]
    columns, settings = _options(shape.keys)
    more += ["--data-columns", columns] if columns else []
    more += [word for setting in settings for word in ("--set", setting)]
    done = subprocess.run(
        [*command, *more], cwd=folder, capture_output=True, text=True, check=False
    )
    read_it = done.returncode == 0
    if "Traceback" in done.stderr + done.stdout:
        return f"the command line ends in a traceback: {done.stderr[-300:]}"
    if read_it != (expected.got.numbers is not None):
        return f"the command line: exit code {done.returncode}; in process: {expected.kind}"
    return ""


# The proof -------------------------------------------------------------------------------------


def report(all_judged: Sequence[Judged]) -> Iterator[str]:
    """Yield the lines of the tables."""
    groups: dict[str, list[Judged]] = defaultdict(list)
    for each in all_judged:
        groups[each.shape.family].append(each)
    head = "".join(f"{name:>9}" for name in (*SHORT, "differ", "shapes"))
    yield f"{'family':16}{head}"
    rows = [*groups.items(), ("all", list(all_judged))]
    for family, members in rows:
        kinds = Counter(each.kind for each in members)
        cells = [kinds[kind] for kind in OUTCOMES] + [
            sum(bool(each.differ) for each in members),
            len(members),
        ]
        yield f"{family:16}" + "".join(f"{cell or '.':>9}" for cell in cells)
    yield ""
    yield f"{'way':16}" + "".join(f"{name:>9}" for name in SHORT)
    for way in WAYS:
        kinds = Counter(e.outcomes[way].kind for e in all_judged if way in e.outcomes)
        if kinds:
            yield f"{way:16}" + "".join(f"{kinds[kind] or '.':>9}" for kind in OUTCOMES)


def main() -> int:
    """Run the proof and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--family", action="append", default=[], help="only shapes of this family")
    parser.add_argument("--shape", action="append", default=[], help="only shapes of this name")
    parser.add_argument("--way", action="append", default=[], choices=[*WAYS], help="and `load`")
    parser.add_argument("--keep", type=Path, help="a folder in which all files stay")
    parser.add_argument("--quick", action="store_true", help="a third of the shapes")
    parser.add_argument(
        "--write", action="store_true", help=f"write what is failing to {FAILING.name}"
    )
    parser.add_argument("--show", action="store_true", help="print what each way says")
    options = parser.parse_args()
    start = time.monotonic()
    chosen = [
        shape
        for family, shapes in families().items()
        for shape in shapes
        if (not options.family or family in options.family)
        and (not options.shape or shape.name in options.shape)
    ]
    if options.quick:
        chosen = chosen[::3]
    if not chosen:
        parser.error(f"no such shape; families: {', '.join(families())}")
    ways = [way for way in WAYS if not options.way or way in ("load", *options.way)]
    all_judged, typed_faults = [], []
    with tempfile.TemporaryDirectory() as temporary:
        os.environ["HARNESS_CACHE"] = temporary
        top = (options.keep or Path(temporary)).resolve()
        for shape in chosen:
            folder = top / f"{shape.family}-{re.sub(r'[^A-Za-z0-9]+', '-', shape.name).strip('-')}"
            each = judged(shape, folder, ways)
            all_judged.append(each)
            if options.show:
                print(f"== {shape.family}: {shape.name}")
                for way, outcome in each.outcomes.items():
                    steps = "".join(f" {step}" for step in outcome.followed)
                    print(f"-- {way}: {outcome.kind}{steps} {outcome.why}\n{outcome.got.texts}")
            is_typed = random.Random(shape.name).random() < TYPED  # noqa: S311
            if "run" in each.outcomes and is_typed:
                said = typed(shape, each.outcomes["run"], folder)
                typed_faults += [f"{each.title}: {said}"] * bool(said)
            if options.keep is None:
                shutil.rmtree(folder)
    faults = [
        f"{each.title}: {fault}" for each in all_judged for fault in each.faults()
    ] + typed_faults
    if options.write:
        others = failing() - {each.title for each in all_judged}
        wrong = {each.title for each in all_judged if any(each.faults())}
        names_of = sorted(others | wrong)
        FAILING.write_text("".join(f"{name}\n" for name in names_of), encoding="utf-8")
    print(*report(all_judged), sep="\n")
    rated = [each for each in all_judged if each.shape.truth is not None]
    good = sum(each.kind in (RIGHT, OPTION) for each in rated)
    silent = [each for each in all_judged if each.kind == SILENT]
    print(f"\n{len(faults)} faults:", *faults, sep="\n")
    share = good / max(1, len(rated))
    print(
        f"\n{len(all_judged)} shapes, {len(rated)} with ratings: {share:.1%} of these right at "
        f"once or after one option; {len(silent) / len(all_judged):.1%} wrong in silence; "
        f"{sum(bool(each.differ) for each in all_judged)} on which ways disagree; "
        f"{time.monotonic() - start:.0f} s"
    )
    failed = share < LEAST_RIGHT or len(silent) > MOST_SILENT * len(all_judged)
    return 1 if faults or failed else 0


if __name__ == "__main__":
    sys.exit(main())
