"""Files that went wrong: from good ones, by a seed, in every way that a file can go wrong."""

from __future__ import annotations

import io
import random
import re
from collections.abc import Sequence

ODD_BYTES = (
    *(b"\0", b"\xff", b"\xff\xfe", b"\xef\xbb\xbf", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80"),
    *(b"\r", b"\n", b"\r\n", b"\t", b"\x0b", b"\x1f", b"\x1b[2J\x1b[31m", b"\x7f", b"\xc2\x85"),
    *("\u2028\u202e".encode(), b"PK\x03\x04", b"\x1f\x8b\x08", b"PAR1", b"\x00" * 4096),
)
ODD_WORDS = (
    *("", "~", "null", "true", "no", "0", "-1", "1e999", "-1e-999", "nan", "inf", "-.inf", ".nan"),
    *("1_000", "0x7fffffff", "0o17", "9" * 30, "9" * 5_000, "-9223372036854775809", "4294967296"),
    *("1.7976931348623157e309", "1:30:30", "2001-99-99", "\u0663", "é", "\U0001f600", "\ufeff"),
    *("x" * 100_000, "../../../etc/passwd", "/dev/zero", "/dev/stdin", "\\\\host\\share", "."),
    *("..", "CON", "a/b", "[]", "{}", "[[[]]]", "{a: {b: {c: 1}}}", "[1, two, null]", "'", '"'),
    *("#", "---", "...", "? ", "- ", ": ", "!!python/object/apply:os.system [id]", "!!binary aGk="),
    *("!!set {a}", "&a [*a, *a]", "*missing", "<<: {a: 1}", "|", ">", "%YAML 9.9", "@", "`"),
    *("ndcg@0", "ndcg@" + "9" * 40, "ndcg(((((@5", "ndcg(gain=linear,gain=linear)@5", "%s%n"),
    *("{{7*7}}", "__import__('os')", "os:system", "builtins:eval", "=1+1", "<script>", "$(id)"),
    *(",", "::", "\t", ";", "|", '""', '"""', "1,5", "5.0.0", "+5", "0.1e-400", "1970-01-01"),
)
TOKEN = re.compile(r"\w+|\s+|[^\w\s]")


WAYS = ("flip", "insert", "cut", "repeat", "splice", "recode", "line", "monster", *["word"] * 4)


def mutant(samples: Sequence[bytes], seed: str) -> bytes:
    """Return one of some good files, changed once to four times; a seed gives the same file."""
    rng = random.Random(seed)  # noqa: S311 - nothing is secret
    data = rng.choice(samples)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 4))):
        data = _changed(rng.choice(WAYS), data, rng, samples)
    return data


def _changed(way: str, data: bytes, rng: random.Random, samples: Sequence[bytes]) -> bytes:
    match way:
        case "flip":
            changed = bytearray(data or b"\0")
            for _ in range(rng.choice((1, 1, 2, 8, 64))):
                changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
            return bytes(changed)
        case "insert":
            place = rng.randint(0, len(data))
            odd = rng.choice(ODD_BYTES) * rng.choice((1, 1, 1, 100))
            return data[:place] + odd + data[place:]
        case "cut":
            first, last = sorted(rng.randint(0, len(data)) for _ in range(2))
            return data[:first] if rng.random() < 0.3 else data[:first] + data[last:]
        case "repeat":
            first = rng.randint(0, len(data))
            piece = data[first : first + rng.choice((1, 10, 100, 1000))]
            return data[:first] + piece * rng.choice((2, 3, 50)) + data[first:]
        case "splice":
            other = rng.choice(samples)
            return data[: rng.randint(0, len(data))] + other[rng.randint(0, len(other)) :]
        case "recode":
            text = data.decode("utf-8", "replace")
            other_encoding = rng.choice(("utf-16", "utf-16-be", "utf-32", "utf-7", "cp037"))
            return text.encode(other_encoding, "replace")
        case "line":  # moved, doubled, dropped or indented
            lines = data.split(b"\n")
            line = lines.pop(rng.randrange(len(lines)))
            place, kind = rng.randint(0, len(lines)), rng.randrange(4)
            indented = b" " * rng.randint(1, 9) + line
            lines[place:place] = ([line], [line, line], [], [indented])[kind]
            return b"\n".join(lines)
        case "monster":
            place = rng.choice((0, len(data), data.rfind(b"\n", 0, rng.randint(0, len(data))) + 1))
            return data[:place] + _monster(rng) + b"\n" + data[place:]
    # Odd words, or words of another file, in the place of words.
    tokens = TOKEN.findall(data.decode("utf-8", "replace")) or [""]
    for _ in range(rng.choice((1, 1, 2, 4))):
        words = [rng.choice(ODD_WORDS)]
        if rng.random() < 0.3:
            words = TOKEN.findall(rng.choice(samples).decode("utf-8", "replace")) or [""]
        tokens[rng.randrange(len(tokens))] = rng.choice(words)
    return "".join(tokens).encode("utf-8", "replace")


def _monster(rng: random.Random) -> bytes:
    """Return something very deep, very long, very wide or very often referred to."""
    size = rng.choice((50, 500, 5_000))
    key = rng.choice((b"name: ", b"split: ", b"params: ", b"- ", b"", b"1,2,"))
    return key + rng.choice(
        (
            *(b"[" * size, b"[" * size + b"]" * size, b"{a: " * size + b"}" * size, b"- " * size),
            b"".join(b" " * n + b"a:\n" for n in range(min(size, 500))),
            b"z0: &z0 [1, 1]\n"
            + b"".join(b"z%d: &z%d [*z%d, *z%d]\n" % (n, n, n - 1, n - 1) for n in range(1, 40)),
            *(b"a" * size * 200, b"\n" * size * 200, b"9" * size * 10),
            b",".join(b"c%d" % n for n in range(min(2 * size, 10_000))),
            b"".join(b"k%d: %d\n" % (n, n) for n in range(size)),
            *(b'"' * size, b"(" * size),
        )
    )


def odd_parquet(seed: str) -> bytes:
    """Return a Parquet file of columns that ratings should not have."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = random.Random(seed)  # noqa: S311 - nothing is secret
    n_rows = rng.choice((0, 1, 50))

    def column() -> pa.Array:
        kind = rng.choice(
            (
                *(pa.int64(), pa.float64(), pa.string(), pa.binary(), pa.bool_(), pa.date32()),
                *(pa.null(), pa.timestamp("ns"), pa.decimal128(20, 3), pa.list_(pa.int8())),
                *(pa.uint64(), pa.struct({"a": pa.int8()}), pa.float16(), pa.duration("s")),
            )
        )
        if rng.random() < 0.5:
            return pa.nulls(n_rows, kind)
        numbers = [rng.choice((-1, 0, 1, 2, 5, None)) for _ in range(n_rows)]
        try:
            return pa.array(numbers).cast(kind)
        except (pa.ArrowException, OverflowError):
            values = [rng.choice((float("nan"), float("inf"), 4.5)) for _ in range(n_rows)]
            return pa.array(values, pa.float64())

    names = ["user", "item", "rating", "timestamp", "\x1b[31m", "user"][: rng.randint(1, 6)]
    file = io.BytesIO()
    pq.write_table(pa.Table.from_arrays([column() for _ in names], names=names), file)
    return file.getvalue()
