"""The reader gives what pandas reads as text, over generated files, and what frames hold.

A file is CSV, TSV, ``::``, blanks or Parquet, with odd ids, quotation marks, titles of several
lines, empty lines, line ends and numbers of every kind; it is read in blocks of a few bytes too.
Ids, ratings, times and the number of rows have to be what pandas reads as text and these few lines
convert. Some files are damaged in one line: then the message has to start with that line. A frame
has ids, ratings and times of every type that pandas knows, some of them missing.
"""

import csv
import io
import random
import re
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import settings

from harness import datasets
from harness.datasets.readers import text as reading
from harness.errors import DataError

IDS = ("1", "01", "007", "7", "0x10", "16", "1e3", "1000", "1.0", "-5", "+5", "NA", "nan", "None",
       "é", "日本", "a b", "a'b", "x" * 60, "true", "2020-01-01", "=1+1", "½", "x\u00a0y",
       "99999999999999999999")  # fmt: skip
QUOTED_IDS = ('a"b', "a,b", "a;b", "a::b", '"')
TITLES = ("t", "two\nlines", 'say "hi"', "a, b", "", "\n\n", '"', "x" * 300)
RATINGS = ("1", "2.5", "0.5", "5.", ".5", "+4", "1e0", "-1", "3.0000000001", "00004")
SEPARATORS = (",", ";", "\t", "|", "::", "whitespace")
TIMES = {
    "none": None,
    "seconds": lambda rng: str(rng.randrange(-(10**9), 2 * 10**9)),
    "fractions": lambda rng: f"{rng.randrange(10**9)}.{rng.randrange(100)}",
    "milliseconds": lambda rng: str(rng.randrange(10**12, 2 * 10**12)),
    "nanoseconds": lambda rng: str(rng.randrange(10**18, 2 * 10**18)),
    "dates": lambda rng: f"{rng.randrange(1980, 2040)}-{rng.randrange(10, 13)}-28",
    "moments": lambda rng: f"20{rng.randrange(10, 40)}-01-02T03:04:{rng.randrange(60):02}Z",
}  # fmt: skip


WHOLE = 1 << 24
"""Characters of a block that holds a whole file."""


class Case(NamedTuple):
    """A file: its bytes and name, what a config says of it, and the line that is damaged."""

    name: str
    data: bytes
    keys: dict
    times: str
    damaged: int | None
    block: int


def make(number):
    """Return the file of a number."""
    rng = random.Random(number)
    separator = rng.choice(SEPARATORS)
    quoted = len(separator) == 1
    times = rng.choice(list(TIMES))
    header = ["user", "item", "rating"] + ["time"] * (times != "none")
    header += ["title"] * (quoted and rng.random() < 0.5)
    ids = [each for each in IDS if separator != "whitespace" or " " not in each]
    ids += [*QUOTED_IDS, *(f"u{n}" for n in range(50))] if quoted else []
    pairs = {(rng.choice(ids), rng.choice(ids)) for _ in range(rng.choice((1, 3, 30)))}
    rows = [
        [user, item, rng.choice(RATINGS), *([TIMES[times](rng)] if times != "none" else [])]
        + [rng.choice(TITLES)] * ("title" in header)
        for user, item in sorted(pairs)
    ]
    blanks = rng.random() < 0.2 and separator != "whitespace"
    if blanks:  # around ids and numbers
        rows = [[f" {cell}" if rng.random() < 0.3 and n < 4 else cell
                 for n, cell in enumerate(row)] for row in rows]  # fmt: skip
    lines = [as_line(row, separator, rng) for row in [header, *rows]]
    damaged = rng.randrange(1, len(lines)) if rng.random() < 0.15 else None
    if damaged is not None:
        lines[damaged] = with_fault(rows[damaged - 1], separator, rng, lines[damaged])
    end = rng.choice(("\n", "\n", "\r\n", "\r"))
    gaps = [rng.choice((0, 0, 0, 1, 2)) if rng.random() < 0.2 else 0 for _ in lines]
    text = "".join("\n" * gap + line + "\n" for gap, line in zip(gaps, lines, strict=True))
    if damaged is not None:
        before = sum(line.count("\n") + 1 for line in lines[:damaged])
        damaged = before + sum(gaps[: damaged + 1]) + 1
    text = text[: len(text) - rng.randrange(2)].replace("\n", end)
    encoding = rng.choice(("utf-8", "utf-8", "utf-8-sig", "utf-16"))
    keys = {"separator": separator}
    if rng.random() < 0.5 and separator not in ("|", "whitespace"):
        del keys["separator"]
    name = {"\t": "a.tsv", "::": "a.dat"}.get(separator, "a.csv")
    block = rng.choice((7, 64, WHOLE))
    return Case(name, text.encode(encoding), keys, times, damaged, block)


def as_line(row, separator, rng):
    if len(separator) > 1:
        return ("::" if separator == "::" else rng.choice((" ", "\t", "  "))).join(row)
    text = io.StringIO()
    quoting = rng.choice((csv.QUOTE_MINIMAL, csv.QUOTE_ALL))
    csv.writer(text, delimiter=separator, lineterminator="\n", quoting=quoting).writerow(row)
    return text.getvalue()[:-1]


def with_fault(row, separator, rng, line):
    """Return the line of a row with a fault; it keeps the number of lines of the row."""
    kind = rng.choice(("rating", "fields", "quote"))
    mark = " " if separator == "whitespace" else separator
    if kind == "fields":
        return line + mark + "more"
    if kind == "quote" and len(separator) == 1:
        return f'{mark.join("x" * len(row))}{mark}"never closed'
    return as_line([*row[:2], rng.choice(("four", "0x10", "inf", "1_0")), *row[3:]], separator, rng)


def expected(case):
    """Return what pandas reads as text, converted."""
    encoding = "utf-16" if case.data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    text = case.data.decode(encoding).replace("\r\n", "\n").replace("\r", "\n")
    rows = pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False, **options(case, text))
    found = pd.DataFrame({role: whole(rows[role].str.strip(" \t")) for role in ("user", "item")})
    found["rating"] = [float(cell) for cell in rows["rating"]]
    if case.times != "none":
        cells = rows["time"].str.strip()
        if case.times in ("dates", "moments"):
            moments = pd.to_datetime(cells, utc=True)
            found["timestamp"] = [int(moment.timestamp()) for moment in moments]
        else:
            unit = {"milliseconds": 10**3, "nanoseconds": 10**9}.get(case.times, 1)
            found["timestamp"] = [
                int(np.floor(float(c))) if "." in c else int(c) // unit for c in cells
            ]
    return found


def options(case, text):
    """Return how pandas reads a file."""
    separator = case.keys.get("separator")
    if separator is None:
        separator = "::" if case.name == "a.dat" else "\t" if case.name == "a.tsv" else None
        head = text.strip("\n").partition("\n")[0]
        separator = separator or next(mark for mark in ",;\t|" if mark in head)
    if len(separator) == 1:
        return {"sep": separator}
    pattern = r"[ \t]+" if separator == "whitespace" else separator
    return {"sep": pattern, "engine": "python", "quoting": csv.QUOTE_NONE}


def difference(case, folder, **kept):
    """Return what is wrong with how a file is read, None for nothing.

    A text such as NA beside numbers alone is asked about; then what the message names is added.
    """
    (folder / case.name).write_bytes(case.data)
    kept = {"out_of_scale": "keep", **kept}
    block, reading.BLOCK = reading.BLOCK, case.block
    try:
        ratings = datasets.load({"path": case.name, **case.keys, **kept}, base=folder)
    except DataError as error:
        if "`no_id: []` reads such texts as ids" in str(error) and "no_id" not in kept:
            return difference(case, folder, no_id=[])
        # Between tabs the first block shows whether marks are text; a row of several lines that
        # goes on in the next block hides it. No block is as small as here.
        if case.name == "a.tsv" and case.damaged is None and case.block < WHOLE:
            return difference(case._replace(block=WHOLE), folder, **kept)
        line = None if case.damaged is None else f"{case.name}:{case.damaged}: "
        # Ids with blanks around them may repeat a pair; a damaged first row may decide the layout.
        if line and str(error).startswith(line):
            return None
        if "again (first at" in str(error) and case.damaged is None:
            repeated = expected(case).duplicated(["user", "item"])
            return None if repeated.any() else str(error)
        return f"refused: {error} (damaged: {case.damaged})"
    finally:
        reading.BLOCK = block
    if case.damaged is not None:
        return f"line {case.damaged} is damaged, and nothing is said"
    if any(note.code == "time-guessed" for note in ratings.notes):
        return None  # too small for seconds of our days, as a note says
    if problem := compared(ratings, expected(case)):
        return problem
    frame = ratings.to_frame()
    frame.to_parquet(folder / "a.parquet")
    for kind, again in (
        ("Parquet", datasets.load({"path": "a.parquet", **kept}, base=folder)),
        ("frame", datasets.Ratings.from_frame(frame, **kept)),
    ):
        if again.fingerprint != ratings.fingerprint:
            return f"{kind} gives other ratings"
    return None


def whole(ids):
    """Return ids that are all whole numbers without the point that pandas writes."""
    if not all(re.fullmatch(r"(-?(0|[1-9]\d*)(\.0)?)?", text) for text in ids):
        return [*ids]
    return [text.removesuffix(".0") for text in ids]


def make_frame(number):
    """Return the frame of a number, its complete rows as they are to be read, and how many are not.

    Ids are text, numbers, or categories; a rating or a time may be any type that holds it.
    """
    rng = random.Random(number)
    texts = [*IDS, *QUOTED_IDS, *(f"u{n}" for n in range(50))]
    pairs = sorted({(rng.choice(texts), rng.choice(texts)) for _ in range(rng.choice((1, 3, 30)))})
    rng.shuffle(pairs)
    columns, wanted = {}, {}
    lacks = np.zeros(len(pairs), dtype=bool)
    for place, role in enumerate(("user", "item")):
        known = sorted({pair[place] for pair in pairs})
        ids = [pair[place] for pair in pairs]
        kind = rng.choice(("object", "string", "category", "int64", "int32", "Int64", "float64"))
        if kind not in ("object", "string", "category"):
            ids = [7 * known.index(each) - 5 for each in ids]
        if kind not in ("int64", "int32") and rng.random() < 0.3:
            gone = rng.randrange(len(ids))
            ids[gone], lacks[gone] = None, True
        wanted[role] = whole(["" if each is None else str(each) for each in ids])
        columns[role] = pd.Series(ids, dtype=kind)
    ratings = [rng.choice((1, 2, 3, 4, 5)) for _ in pairs]
    kind = rng.choice(("float64", "float32", "int64", "int8", "Int64", "Float64", "object"))
    values = [str(each) for each in ratings] if kind == "object" else list(ratings)
    if not kind.startswith("int") and rng.random() < 0.3:
        gone = rng.randrange(len(values))
        values[gone], lacks[gone] = None, True
    columns["rating"] = pd.Series(values, dtype=kind)
    wanted["rating"] = [float(each) for each in ratings]
    if rng.random() < 0.7:
        moments = [rng.randrange(10**8, 2 * 10**9) for _ in pairs]
        times = pd.Series(moments)
        kind = rng.choice(("seconds", "float64", "object", "milliseconds", "dates", "zone"))
        if kind == "milliseconds":
            times = times * 1000 + 10**12
            moments = [moment + 10**9 for moment in moments]
        elif kind in ("dates", "zone"):
            times = pd.to_datetime(times, unit="s", utc=kind == "zone")
            times = times.dt.tz_convert("Asia/Tokyo") if kind == "zone" else times
        elif kind != "seconds":
            times = times.astype(str if kind == "object" else kind)
        columns["timestamp"], wanted["timestamp"] = times, moments
    order = rng.sample(list(columns), len(columns))
    frame = pd.DataFrame({role: columns[role] for role in order})
    return frame, pd.DataFrame(wanted)[~lacks].reset_index(drop=True), int(lacks.sum())


def frame_difference(number):
    """Return what is wrong with how a frame is read, None for nothing."""
    frame, wanted, n_lacking = make_frame(number)
    before = frame.copy()
    try:
        if n_lacking:
            try:
                datasets.Ratings.from_frame(frame, out_of_scale="keep", no_id=[])
                return f"{n_lacking} rows lack a value, and nothing is said"
            except DataError:
                pass
        ratings = datasets.Ratings.from_frame(frame, out_of_scale="keep", missing="drop", no_id=[])
    except DataError as error:
        nothing_left = not len(wanted) and "no ratings are left" in str(error)
        return None if nothing_left else f"refused: {error}"
    if not frame.equals(before):
        return "the frame is changed"
    return compared(ratings, wanted)


def compared(ratings, wanted):
    found = ratings.to_frame()
    if len(found) != len(wanted):
        return f"{len(found)} rows, pandas {len(wanted)}"
    for column in wanted:
        if found[column].tolist() != wanted[column].tolist():
            pairs = zip(found[column], wanted[column], strict=True)
            ours, theirs = next(pair for pair in pairs if pair[0] != pair[1])
            return f"{column} {ours!r}, pandas {theirs!r}"
    return None


# Of the usual cases 200 files and 300 frames; of a random search many more.
@pytest.mark.parametrize("part", range(4))
def test_generated_files_are_read_as_by_pandas(tmp_path, part):
    for number in range(part, 5 * settings().max_examples, 4):
        assert difference(make(number), tmp_path) is None, number


def test_generated_frames_are_read_as_by_pandas():
    for number in range(8 * settings().max_examples):
        assert frame_difference(number) is None, number


def test_a_difference_would_be_found(tmp_path, monkeypatch):
    cases = map(make, range(50))
    case = next(each for each in cases if each.times == "seconds" and each.damaged is None)
    wanted = expected(case)
    wanted.loc[0, "user"] += "x"
    monkeypatch.setitem(globals(), "expected", lambda case: wanted)
    assert "pandas" in difference(case, tmp_path)
