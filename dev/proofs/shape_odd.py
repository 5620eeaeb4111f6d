"""Ways in which files are odd, wide tables, packed files and folders: shapes of `shape_files`."""

from __future__ import annotations

import bz2
import json
import lzma
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import timedelta, timezone
from email.utils import format_datetime
from functools import wraps
from typing import Any

from shape_files import (
    BY_USER,
    DENSE,
    FOUR,
    ROWS,
    THREE,
    Content,
    I,
    R,
    Rated,
    Row,
    Shape,
    T,
    U,
    always,
    arrow,
    database,
    decimal,
    entries,
    frame,
    gz,
    json_lines,
    midnight,
    moment,
    number,
    one,
    parquet,
    pivot,
    squeezed,
    table,
    tarred,
    truth,
    untimed,
    when,
    wide,
    workbook,
    written,
    zipped,
)

NAMES = "user,item,rating,timestamp"
PLAIN = table(",", NAMES, *FOUR)
BARE = table(",", "", *FOUR)
THREE_NAMES = "user,item,rating"


def framed(make: Callable[[], Iterator[Shape]]) -> Callable[[], Iterator[Shape]]:
    """Have pandas read those shapes of a family that are commas below a header."""

    @wraps(make)
    def wrapper() -> Iterator[Shape]:
        for shape in make():
            content = next(iter(shape.files.values()))
            first = content.split("\n", 1)[0] if isinstance(content, str) else ""
            plain = shape.asked.endswith(".csv") and "," in first and ";" not in first
            yield replace(shape, frame="csv") if plain and not first[0].isdigit() else shape

    return wrapper


def endings() -> Iterator[Shape]:
    """Wrong endings, marks at the beginning, line ends."""
    tabs = table("\t", NAMES.replace(",", "\t"), *FOUR)
    cases = {
        "no ending": ("ratings", PLAIN),
        "commas in .txt": ("ratings.txt", PLAIN),
        "tabs in .csv": ("ratings.csv", tabs),
        "commas in .tsv": ("ratings.tsv", PLAIN),
        "commas in .dat": ("ratings.dat", BARE),
        "an ending of a browser": ("ratings.csv.download", PLAIN),
        "a copy of a browser": ("ratings (1).csv", PLAIN),
        "capital ending": ("RATINGS.CSV", PLAIN),
        "text called .parquet": ("r.parquet", PLAIN),
        "text called .gz": ("r.csv.gz", PLAIN),
        "text called .json": ("r.json", PLAIN),
        "text called .xlsx": ("r.xlsx", PLAIN),
        "text called .zip": ("r.zip", PLAIN),
        "Parquet called .csv": ("r.csv", parquet()),
        "Parquet called .parquet.gz": ("r.parquet.gz", gz(parquet())),
        "gzip called .csv": ("r.csv", gz(PLAIN)),
        "zip called .csv": ("r.csv", zipped({"ratings.csv": PLAIN})),
        "xz called .txt": ("r.txt", lzma.compress(PLAIN.encode())),
        "Arrow file called .parquet": ("r.parquet", arrow(stream=False)),
        "Arrow stream": ("r.arrow", arrow(stream=True)),
        "Arrow stream called .ipc": ("r.ipc", arrow(stream=True)),
        "Arrow file": ("r.arrow", arrow(stream=False)),
        "lines of JSON called .csv": ("r.csv", json_lines(entries())),
        "a list of JSON called .jsonl": ("r.jsonl", json.dumps(entries())),
        "UTF-8 with a mark": ("r.csv", "\ufeff" + PLAIN),
        "UTF-8 with a mark without header": ("r.csv", "\ufeff" + BARE),
        "UTF-16 with a mark": ("r.csv", PLAIN.encode("utf-16")),
        "UTF-16 without a mark": ("r.csv", PLAIN.encode("utf-16-le")),
        "UTF-32": ("r.csv", PLAIN.encode("utf-32")),
        "Windows line ends": ("r.csv", PLAIN.replace("\n", "\r\n")),
        "old Macintosh line ends": ("r.csv", PLAIN.replace("\n", "\r")),
        "mixed line ends": ("r.csv", PLAIN.replace("\n", "\r\n", 100)),
        "doubled line ends": ("r.csv", PLAIN.replace("\n", "\r\r\n")),
        "no end of the last line": ("r.csv", PLAIN.rstrip("\n")),
        "mark of CP/M at the end": ("r.csv", PLAIN + "\x1a"),
        "zeros at the end": ("r.csv", PLAIN + "\0" * 100),
        "blank lines at the beginning": ("r.csv", "\n\n" + PLAIN),
        "blank lines between": ("r.csv", PLAIN.replace("\n", "\n\n")),
        "a blank line below the header": ("r.csv", PLAIN.replace("\n", "\n\n", 1)),
        "blank lines at the end": ("r.csv", PLAIN + "\n\n \n"),
    }
    for name, (file, content) in cases.items():
        yield one("endings", name, file, content)


def separators() -> Iterator[Shape]:
    """Separators, quotes, and lines that are not rows."""
    for name, mark in {
        "semicolon": ";",
        "pipe": "|",
        "caret": "^",
        "tilde": "~",
        "colon": ":",
        "double pipe": "||",
        "comma and space": ", ",
        "two blanks": "  ",
        "blank": " ",
        "hash": "#",
        "thorn": "þ",
    }.items():
        yield one("separators", name, "r.txt", table(mark, NAMES.replace(",", mark), *FOUR))
        if mark in ";|, ":
            yield one("separators", f"{name} without header", "r.txt", table(mark, "", *FOUR))
    yield one(
        "separators",
        "columns of blanks",
        "r.txt",
        "".join(
            f"{a:>8}{b:>8}{c:>8}{d:>12}\n"
            for a, b, c, d in [NAMES.split(","), *[tuple(map(str, r)) for r in ROWS]]
        ),
    )
    quoted = ",".join(f'"{n}"' for n in NAMES.split(","))
    marks = [lambda r, c=c: f'"{c(r)}"' for c in FOUR]
    yield one("separators", "all quoted", "r.csv", table(",", quoted, *marks))
    yield one("separators", "all quoted without header", "r.csv", table(",", "", *marks))
    single = [lambda r, c=c: f"'{c(r)}'" for c in FOUR]
    yield one("separators", "single quotes", "r.csv", table(",", quoted.replace('"', "'"), *single))
    curly = [lambda r, c=c: f"“{c(r)}”" for c in FOUR]
    yield one(
        "separators",
        "typographic quotes",
        "r.csv",
        table(",", NAMES, *curly[:2], R, T),
    )
    yield one(
        "separators",
        "lines in quotes",
        "r.csv",
        "".join(f'"{line}"\n' for line in PLAIN.splitlines()),
        says="quot",
    )
    titled = {"item": lambda r: f'Film "{r.item}", part 2'}
    yield one(
        "separators",
        "commas and quotes in titles",
        "r.csv",
        table(",", THREE_NAMES, U, lambda r: f'"Film ""{r.item}"", part 2"', R),
        untimed(**titled),
        frame="csv",
    )
    yield one(
        "separators",
        "quotes behind a backslash",
        "r.csv",
        table(",", THREE_NAMES, U, lambda r: f'"Film \\"{r.item}\\", part 2"', R),
        untimed(**titled),
    )
    yield one(
        "separators",
        "one mark that does not close",
        "r.tsv",
        table(
            "\t",
            "user\titem\trating\tcomment",
            U,
            I,
            R,
            lambda r: '"Great' if r is ROWS[100] else "fine",
        ),
        untimed(),
    )
    yield one(
        "separators",
        "inches in titles",
        "r.csv",
        table(",", THREE_NAMES, U, lambda r: f'{r.item}" TV', R),
        untimed(item=lambda r: f'{r.item}" TV'),
    )
    yield one(
        "separators",
        "texts of several lines",
        "r.csv",
        table(",", "user,item,rating,review", U, I, R, always('"line one\nline two, and\n"')),
        untimed(),
        frame="csv",
    )
    yield one(
        "separators",
        "a comma at the end of each line",
        "r.csv",
        table(",", NAMES, U, I, R, lambda r: f"{r.time},"),
    )
    yield one("separators", "a comma at the end of all lines", "r.csv", PLAIN.replace("\n", ",\n"))
    yield one(
        "separators",
        "blanks around",
        "r.csv",
        table(" , ", " user , item , rating , timestamp ", *FOUR),
    )
    yield one(
        "separators",
        "blanks before lines",
        "r.txt",
        "".join(f"  {line}\n" for line in PLAIN.splitlines()),
    )
    short = table(",", NAMES, *FOUR, rows=ROWS[:335]) + table(",", "", U, I, rows=ROWS[335:])
    yield one("separators", "short lines at the end", "r.csv", short, truth(rows=ROWS[:335]))
    long = PLAIN + "3,4,5,1100000000,too,many\n" * 3
    yield one("separators", "long lines at the end", "r.csv", long)
    comma = PLAIN.splitlines()
    comma[50] = comma[50].replace(",", ",Paris, France,", 1)
    yield one(
        "separators",
        "a comma in an unquoted text",
        "r.csv",
        "\n".join(comma) + "\n",
        truth(rows=ROWS[:49] + ROWS[50:]),
    )
    yield one(
        "separators",
        "header between the rows",
        "r.csv",
        table(",", NAMES, *FOUR, rows=ROWS[:200]) + table(",", NAMES, *FOUR, rows=ROWS[200:]),
    )
    yield one("separators", "header at the end", "r.csv", BARE + NAMES + "\n")


def headers() -> Iterator[Shape]:
    """Titles, comments, totals, footers and names of columns."""
    yield one("headers", "title line", "r.csv", "Ratings export\n" + PLAIN)
    yield one("headers", "title and blank line", "r.csv", "Ratings export\n\n" + PLAIN)
    yield one("headers", "title with a comma", "r.csv", "Ratings, exported on 1 May 2020\n" + PLAIN)
    yield one(
        "headers",
        "three header lines",
        "r.csv",
        "Survey of films 2020,,,\nInstitute of X,,,\n" + PLAIN,
    )
    yield one(
        "headers",
        "key and value lines",
        "r.csv",
        "Source: shop\nDate: 2020-01-01\nRows: 340\n\n" + PLAIN,
    )
    yield one("headers", "comments with #", "r.csv", "# exported\n# by us\n" + PLAIN)
    yield one("headers", "header behind #", "r.csv", "#" + PLAIN)
    yield one(
        "headers",
        "header behind # and blank",
        "r.txt",
        table(" ", "# user item rating time", *FOUR),
    )
    yield one("headers", "comments with %", "r.txt", "% ratings\n% of us\n" + table(" ", "", *FOUR))
    yield one("headers", "comments with //", "r.csv", "// ratings\n" + PLAIN)
    yield one(
        "headers",
        "comments between with #",
        "r.csv",
        table(",", NAMES, *FOUR, rows=ROWS[:9])
        + "# a note\n"
        + table(",", "", *FOUR, rows=ROWS[9:]),
    )
    total = sum(r.rating for r in ROWS)
    three = table(",", THREE_NAMES, U, I, R)
    yield one(
        "headers",
        "total of all at the end",
        "r.csv",
        three + f"Total,340,{total / 340:.2f}\n",
        untimed(),
    )
    yield one(
        "headers", "total with an empty field", "r.csv", three + f"Total,,{total}\n", untimed()
    )
    yield one("headers", "mean at the end", "r.csv", three + f",,{total / 340:.2f}\n", untimed())
    yield one(
        "headers",
        "sum in German at the end",
        "r.csv",
        table(";", "user;item;rating", U, I, R) + f"Summe;340;{total}\n",
        untimed(),
    )
    yield one("headers", "count of rows at the end", "r.csv", PLAIN + "(340 rows)\n")
    yield one(
        "headers", "a blank line and a source at the end", "r.csv", PLAIN + "\nSource: our shop\n"
    )
    yield one("headers", "End of file", "r.csv", PLAIN + "-- end of file --\n")
    yield one(
        "headers",
        "line of dashes below the header",
        "r.txt",
        table("\t", "user\titem\trating\n----\t----\t------", U, I, R),
        untimed(),
    )
    yield one(
        "headers",
        "units below the header",
        "r.csv",
        table(",", f"{THREE_NAMES}\n(id),(id),(1-5)", U, I, R),
        untimed(),
    )
    yield one("headers", "capitals", "r.csv", table(",", NAMES.upper(), *FOUR), frame="csv")
    yield one(
        "headers",
        "words and blanks",
        "r.csv",
        table(",", "User ID,Item ID,Star Rating,Time Stamp", *FOUR),
    )
    yield one(
        "headers",
        "scale in the name",
        "r.csv",
        table(",", "user,item,rating (1-5)", U, I, R),
        untimed(),
        option={"columns": {"rating": "rating (1-5)"}},
    )
    yield one(
        "headers",
        "one name twice",
        "r.csv",
        table(",", "user,item,rating,rating", U, I, R, R),
        untimed(),
    )
    yield one(
        "headers",
        "reader, book, stars",
        "r.csv",
        table(",", "reader,book,stars", U, I, R),
        untimed(),
        option={"columns": {"user": "reader"}},
    )
    yield one(
        "headers",
        "who, what, mark",
        "r.csv",
        table(",", "who,what,mark", U, I, R),
        untimed(),
        option={"columns": {"user": "who", "item": "what", "rating": "mark"}},
    )
    yield one(
        "headers",
        "one-letter names",
        "r.csv",
        table(",", "u,i,r,t", *FOUR),
        option={"columns": {"user": "u", "item": "i", "rating": "r", "timestamp": "t"}},
    )
    yield one(
        "headers",
        "V1, V2, V3",
        "r.csv",
        table(",", '"V1","V2","V3"', U, I, R),
        untimed(),
        option={"columns": {"user": "V1", "item": "V2", "rating": "V3"}},
    )
    yield one(
        "headers",
        "Chinese names",
        "r.csv",
        table(",", "用户,电影,评分,时间", *FOUR),
        option={"columns": {"user": "用户", "item": "电影", "rating": "评分", "timestamp": "时间"}},
    )
    yield one(
        "headers",
        "ids and names",
        "r.csv",
        table(
            ",",
            "user_id,user_name,item_id,item_name,rating",
            U,
            lambda r: f"Ann {r.user}",
            I,
            lambda r: f"Film {r.item}",
            R,
        ),
        untimed(),
        frame="csv",
    )
    yield one(
        "headers",
        "two columns of ratings",
        "r.csv",
        table(",", "user,item,rating,predicted_rating", U, I, R, lambda r: f"{r.rating - 0.25}"),
        untimed(),
        frame="csv",
    )
    yield one(
        "headers",
        "overall and other ratings",
        "r.csv",
        table(",", "user,hotel,service_rating,overall_rating", U, I, always("3"), R),
        untimed(),
        option={"columns": {"item": "hotel", "rating": "overall_rating"}},
    )
    yield one(
        "headers",
        "many other columns",
        "r.csv",
        table(
            ",",
            "rating,comment,item,age,user,city",
            R,
            always("fine"),
            I,
            lambda r: 20 + r.user,
            U,
            always("Ulm"),
        ),
        untimed(),
        frame="csv",
    )
    yield one(
        "headers",
        "an id of the row",
        "r.csv",
        table(",", "id,user_id,item_id,rating", number, U, I, R),
        untimed(),
        frame="csv",
    )
    yield one(
        "headers",
        "row numbers named #",
        "r.csv",
        table(",", "#,user,item,rating", number, U, I, R),
        untimed(),
    )
    yield one(
        "headers",
        "row numbers from 1 without header",
        "r.csv",
        table(",", "", lambda r: ROWS.index(r) + 1, *FOUR),
    )
    yield one(
        "headers",
        "more fields than names",
        "r.csv",
        table(",", THREE_NAMES, number, U, I, R),
        untimed(),
    )
    yield one(
        "headers",
        "fewer fields than names",
        "r.csv",
        table(",", "user,item,rating,comment", U, I, R),
        untimed(),
    )
    yield one("headers", "header in another separator", "r.csv", table(";", NAMES, *FOUR))


def orders() -> Iterator[Shape]:
    """Orders of columns without a header, or with one."""
    asin = {"item": lambda r: f"B{r.item:09d}"}
    yield one(
        "orders",
        "item, user, rating with header",
        "r.csv",
        table(",", "item,user,rating", I, U, R),
        untimed(),
        frame="csv",
    )
    yield one(
        "orders",
        "rating, user, item with header",
        "r.csv",
        table(",", "rating,user,item", R, U, I),
        untimed(),
        frame="csv",
    )
    yield one(
        "orders",
        "item, user, rating without header",
        "r.csv",
        table(",", "", asin["item"], U, R),
        untimed(**asin),
        option={"columns": {"item": 1, "user": 2}},
        undecidable="nothing but a product number of Amazon tells an item",
    )
    yield one(
        "orders",
        "rating, user, item without header",
        "r.csv",
        table(",", "", decimal, U, I),
        untimed(),
        option={"columns": {"rating": 1, "user": 2, "item": 3}},
    )
    yield one(
        "orders",
        "time, user, item, rating without header",
        "r.csv",
        table(",", "", T, U, I, R),
        option={"columns": {"timestamp": 1, "user": 2, "item": 3, "rating": 4}},
    )
    yield one(
        "orders",
        "user, item, time, rating without header",
        "r.csv",
        table(",", "", U, I, T, R),
        option={"columns": {"timestamp": 3, "user": 1, "item": 2, "rating": 4}},
    )
    yield one(
        "orders",
        "user, time, item, rating without header",
        "r.csv",
        table(",", "", U, T, I, R),
        option={"columns": {"timestamp": 2, "user": 1, "item": 3, "rating": 4}},
    )
    yield one(
        "orders",
        "user, item, rating, date and city without header",
        "r.csv",
        table(",", "", U, I, R, when("%Y-%m-%d"), always("Ulm")),
        truth(time=midnight),
    )
    yield one(
        "orders",
        "first rating missing without header",
        "r.csv",
        BARE.replace(f",{ROWS[0].rating},", ",,", 1),
        truth(rows=ROWS[1:]),
    )
    yield one(
        "orders",
        "e-mail, title, rating without header",
        "r.csv",
        table(",", "", lambda r: f"ann{r.user}@x.org", lambda r: f"Film {r.item}", R),
        untimed(user=lambda r: f"ann{r.user}@x.org", item=lambda r: f"Film {r.item}"),
    )
    yield one(
        "orders",
        "title, e-mail, rating without header",
        "r.csv",
        table(",", "", lambda r: f"Film {r.item}", lambda r: f"ann{r.user}@x.org", R),
        untimed(user=lambda r: f"ann{r.user}@x.org", item=lambda r: f"Film {r.item}"),
    )


@framed
def times() -> Iterator[Shape]:
    """How times are written."""
    kolkata = timezone(timedelta(hours=5, minutes=30))
    writings = {
        "ISO with T": (when("%Y-%m-%dT%H:%M:%S"), T),
        "ISO with Z": (when("%Y-%m-%dT%H:%M:%SZ"), T),
        "ISO with an offset": (lambda r: moment(r).astimezone(kolkata).isoformat(), T),
        "ISO with fractions": (when("%Y-%m-%dT%H:%M:%S.500Z"), lambda r: r.time + 0.5),
        "ISO without seconds": (when("%Y-%m-%d %H:%M"), lambda r: r.time // 60 * 60),
        "dates": (when("%Y-%m-%d"), midnight),
        "slashes": (when("%Y/%m/%d %H:%M:%S"), T),
        "dots": (when("%Y.%m.%d"), midnight),
        "German": (when("%d.%m.%Y"), midnight),
        "German with hours": (when("%d.%m.%Y %H:%M:%S"), T),
        "American": (when("%m/%d/%Y"), midnight),
        "American without zeros": (lambda r: f"{moment(r):%-m/%-d/%Y}", midnight),
        "British": (when("%d/%m/%Y"), midnight),
        "two digits of the year": (when("%d/%m/%y"), midnight),
        "Sep 17, 2005": (when('"%b %d, %Y"'), midnight),
        "September 17, 2005": (when('"%B %d, %Y"'), midnight),
        "17 Sep 2005": (when("%d %b %Y"), midnight),
        "17-Sep-2005": (when("%d-%b-%Y"), midnight),
        "RFC 2822": (lambda r: f'"{format_datetime(moment(r))}"', T),
        "Twitter": (when("%a %b %d %H:%M:%S +0000 %Y"), T),
        "ctime": (when("%a %b %d %H:%M:%S %Y"), T),
        "Java": (when("%a %b %d %H:%M:%S UTC %Y"), T),
        "Apache": (when("%d/%b/%Y:%H:%M:%S +0000"), T),
        "PostgreSQL": (when("%Y-%m-%d %H:%M:%S+00"), T),
        "UTC in letters": (when("%Y-%m-%d %H:%M:%S UTC"), T),
        "milliseconds": (lambda r: r.time * 1000, T),
        "microseconds": (lambda r: r.time * 10**6, T),
        "nanoseconds": (lambda r: r.time * 10**9, T),
        "seconds with decimals": (lambda r: f"{r.time}.25", lambda r: r.time + 0.25),
        "seconds in scientific notation": (lambda r: f"{r.time:.9e}", T),
        "minutes since 1970": (lambda r: r.time // 60, lambda r: r.time // 60 * 60),
        "days since 1970": (lambda r: r.time // 86_400, midnight),
        "YYYYMMDD": (when("%Y%m%d"), midnight),
        "YYYYMMDDHHMMSS": (when("%Y%m%d%H%M%S"), T),
        "YYMMDD": (when("%y%m%d"), midnight),
        "Chinese": (lambda r: f"{moment(r):%Y年%m月%d日}", midnight),
    }
    doubt = {
        "minutes since 1970": "minutes are whole numbers like any other",
        "YYMMDD": "six digits may be a number",
        "two digits of the year": "",
    }
    pattern = {
        "dots": "%Y.%m.%d",
        "German": "%d.%m.%Y",
        "German with hours": "%d.%m.%Y %H:%M:%S",
        "American": "%m/%d/%Y",
        "American without zeros": "%m/%d/%Y",
        "British": "%d/%m/%Y",
        "two digits of the year": "%d/%m/%y",
        "Apache": "%d/%b/%Y:%H:%M:%S %z",
        "Java": "%a %b %d %H:%M:%S UTC %Y",
        "ctime": "%a %b %d %H:%M:%S %Y",
        "17-Sep-2005": "%d-%b-%Y",
        "Chinese": "%Y年%m月%d日",
        "YYMMDD": "%y%m%d",
        "days since 1970": "days",
        "YYYYMMDDHHMMSS": "%Y%m%d%H%M%S",
        "YYYYMMDD": "%Y%m%d",
        "17 Sep 2005": "%d %b %Y",
        "UTC in letters": "%Y-%m-%d %H:%M:%S UTC",
        "PostgreSQL": "%Y-%m-%d %H:%M:%S%z",
    }
    for name, (text, real) in writings.items():
        option = {"time_format": pattern[name]} if name in pattern else {}
        yield one(
            "times",
            name,
            "r.csv",
            table(",", NAMES, U, I, R, text),
            truth(time=real),
            option=option,
            undecidable=doubt.get(name, ""),
        )
    for name in ("rated_at", "created", "when_rated", "ts_event", "erstellt_am", "ReviewDate"):
        yield one(
            "times",
            f"column named {name}",
            "r.csv",
            table(",", f"{THREE_NAMES},{name}", *FOUR),
            option={"columns": {"timestamp": name}},
        )
    yield one(
        "times",
        "two columns, date and time",
        "r.csv",
        table(",", "user,item,rating,date,time", U, I, R, when("%Y-%m-%d"), when("%H:%M:%S")),
        truth(),
        says="date.*time|time.*date",
        option={"columns": {"timestamp": "date"}},
    )
    yield one(
        "times",
        "some missing",
        "r.csv",
        table(",", NAMES, *FOUR, rows=ROWS[:330])
        + table(",", "", U, I, R, always(""), rows=ROWS[330:]),
        truth(rows=ROWS[:330]),
    )
    yield one(
        "times",
        "0000-00-00",
        "r.csv",
        table(",", NAMES, U, I, R, when("%Y-%m-%d"), rows=ROWS[:330])
        + table(",", "", U, I, R, always("0000-00-00"), rows=ROWS[330:]),
        truth(time=midnight, rows=ROWS[:330]),
    )
    yield one(
        "times",
        "a year alone",
        "r.csv",
        table(",", "user,item,rating,year", U, I, R, when("%Y")),
        untimed(),
    )


@framed
def values() -> Iterator[Shape]:
    """How ratings are written."""
    words = ["Terrible", "Bad", "OK", "Good", "Excellent"]
    likert = ["Strongly disagree", "Disagree", "Neutral", "Agree", "Strongly agree"]
    german = [
        "stimme gar nicht zu",
        "stimme nicht zu",
        "teils/teils",
        "stimme zu",
        "stimme voll zu",
    ]
    happy = ["Very dissatisfied", "Dissatisfied", "Neutral", "Satisfied", "Very satisfied"]
    five = {
        "words": words,
        "Likert": likert,
        "Likert in German": german,
        "satisfaction": happy,
        "letters": ["E", "D", "C", "B", "A"],
        "letters of a school": ["F", "D", "C", "B", "A"],
        "stars": ["★☆☆☆☆", "★★☆☆☆", "★★★☆☆", "★★★★☆", "★★★★★"],
        "stars alone": ["★", "★★", "★★★", "★★★★", "★★★★★"],
        "stars of emoji": ["⭐" * n for n in range(1, 6)],
        "asterisks": ["*" * n for n in range(1, 6)],
        "4 stars": ["1 star", "2 stars", "3 stars", "4 stars", "5 stars"],
        "4/5": [f"{n}/5" for n in range(1, 6)],
        "4.0/5.0": [f"{n}.0/5.0" for n in range(1, 6)],
        "4 out of 5": [f"{n} out of 5" for n in range(1, 6)],
        "4.0 out of 5 stars": [f"{n}.0 out of 5 stars" for n in range(1, 6)],
        "4 - good": [f"{n} - {w}" for n, w in enumerate(words, 1)],
        "numbers in words": ["one", "two", "three", "four", "five"],
        "capital words": ["ONE", "TWO", "THREE", "FOUR", "FIVE"],
        "4 points": [f"{n} points" for n in range(1, 6)],
        "plus sign": [f"+{n}" for n in range(1, 6)],
        "leading zeros": [f"0{n}" for n in range(1, 6)],
        "decimals": [f"{n}.000" for n in range(1, 6)],
        "full-width digits": ["１", "２", "３", "４", "５"],
        "Roman numbers": ["I", "II", "III", "IV", "V"],
    }
    for name, texts in five.items():
        yield one(
            "values",
            name,
            "r.csv",
            table(",", THREE_NAMES, U, I, lambda r, t=texts: t[r.rating - 1]),
            untimed(),
            option={"values": {text: n for n, text in enumerate(texts, 1)}},
        )
    liked = {"rating": lambda r: int(r.rating > 3)}
    for name, (yes, no) in {
        "like and dislike": ("like", "dislike"),
        "thumbs": ("👍", "👎"),
        "up and down": ("up", "down"),
        "true and false": ("true", "false"),
        "True and False": ("True", "False"),
        "yes and no": ("yes", "no"),
        "Y and N": ("Y", "N"),
        "t and f": ("t", "f"),
        "Recommended": ("Recommended", "Not Recommended"),
    }.items():
        yield one(
            "values",
            name,
            "r.csv",
            table(",", NAMES, U, I, lambda r, y=yes, n=no: y if r.rating > 3 else n, T),
            truth(**liked),
            option={"values": {yes: 1, no: 0}},
        )
    yield one(
        "values",
        "+1 and -1",
        "r.csv",
        table(",", NAMES, U, I, lambda r: "+1" if r.rating > 3 else "-1", T),
        truth(rating=lambda r: 1 if r.rating > 3 else -1),
    )
    percent = {"rating": lambda r: r.rating * 20}
    yield one(
        "values",
        "percentages",
        "r.csv",
        table(",", THREE_NAMES, U, I, lambda r: f"{r.rating * 20}%"),
        untimed(**percent),
    )
    yield one(
        "values",
        "percentages with a blank",
        "r.csv",
        table(",", THREE_NAMES, U, I, lambda r: f"{r.rating * 20} %"),
        untimed(**percent),
    )
    half = {"rating": lambda r: r.rating - 0.5}
    comma = lambda r: f"{r.rating - 1},5"  # noqa: E731
    yield one(
        "values",
        "decimal commas by semicolon",
        "r.csv",
        table(";", "user;item;rating", U, I, comma),
        untimed(**half),
        option={"decimal": ","},
    )
    yield one(
        "values",
        "decimal commas in quotes",
        "r.csv",
        table(",", THREE_NAMES, U, I, lambda r: f'"{comma(r)}"'),
        untimed(**half),
        option={"decimal": ","},
    )
    yield one(
        "values",
        "decimal commas by tab without header",
        "r.tsv",
        table("\t", "", U, I, comma),
        untimed(**half),
        option={"decimal": ","},
    )
    yield one(
        "values",
        "4½",
        "r.csv",
        table(",", THREE_NAMES, U, I, lambda r: f"{r.rating - 1}½"),
        untimed(**half),
    )
    thousand = {"rating": lambda r: r.rating * 1234}
    yield one(
        "values",
        "thousands with commas",
        "r.csv",
        table(",", THREE_NAMES, U, I, lambda r: f'"{r.rating * 1234:,}"'),
        untimed(**thousand),
        option={"thousands": ","},
    )
    yield one(
        "values",
        "thousands with apostrophes",
        "r.csv",
        table(",", THREE_NAMES, U, I, lambda r: f"{r.rating * 1234:,}".replace(",", "'")),
        untimed(**thousand),
        option={"thousands": "'"},
    )
    yield one(
        "values",
        "thousands with points",
        "r.csv",
        table(";", "user;item;plays", U, I, lambda r: f"{r.rating * 1234567:,}".replace(",", ".")),
        untimed(rating=lambda r: r.rating * 1234567),
        option={"thousands": ".", "columns": {"rating": "plays"}},
    )
    yield one(
        "values",
        "binary ones",
        "r.csv",
        table(",", THREE_NAMES, U, I, always("1")),
        untimed(rating=always("1")),
    )


@framed
def missing() -> Iterator[Shape]:
    """Values that stand for no rating."""
    kept, lost = ROWS[:310], ROWS[310:]
    for text in (
        "",
        "NA",
        "NaN",
        "nan",
        "null",
        "NULL",
        "None",
        "\\N",
        "-",
        "?",
        "n/a",
        ".",
        "NR",
        "not rated",
        "#N/A",
    ):
        yield one(
            "missing",
            f"rating {text or 'empty'}",
            "r.csv",
            table(",", NAMES, *FOUR, rows=kept) + table(",", "", U, I, always(text), T, rows=lost),
            truth(rows=kept),
        )
    for value in (0, -1, 99, 255, 9999, 99_999, -999):
        yield one(
            "missing",
            f"sentinel {value}",
            "r.csv",
            table(",", THREE_NAMES, U, I, R, rows=kept)
            + table(",", "", U, I, always(str(value)), rows=lost),
            untimed(kept),
            option={"not_rated": [value]},
            undecidable=f"{value} may be a rating",
        )
    ten = lambda r: r.rating * 2  # noqa: E731
    yield one(
        "missing",
        "sentinel 0 in half of the rows",
        "r.csv",
        table(",", THREE_NAMES, U, I, ten, rows=ROWS[:170])
        + table(",", "", U, I, always("0"), rows=ROWS[170:]),
        untimed(ROWS[:170], rating=ten),
        option={"not_rated": [0]},
        undecidable="0 may be a rating",
    )


def ids() -> Iterator[Shape]:
    """How ids are written."""

    def both(name: str, user, item=I, **more):
        return one(
            "ids",
            name,
            "r.csv",
            table(",", NAMES, user, item, R, T),
            truth(user=user, item=item),
            **more,
        )

    yield both("leading zeros", lambda r: f"{r.user:05d}", lambda r: f"{r.item:07d}")
    yield both("long numbers", lambda r: 76_561_190_000_000_000_000 + r.user)
    yield both("negative numbers", lambda r: -r.user)
    yield both("UUIDs", lambda r: f"{r.user:08x}-23ec-43a9-8b87-991c80000000")
    yield both("e-mails", lambda r: f"ann.{r.user}@example.org")
    yield both("addresses", lambda r: f"https://x.org/u?id={r.user}&a=b")
    yield both("emoji and accents", lambda r: f"Zoé 😀 {r.user}", lambda r: f"映画{r.item}")
    yield both("hash before numbers", lambda r: f"#{r.user}")
    yield both("at sign", lambda r: f"@{r.user}")
    yield both("zero to thirty-nine", lambda r: r.user - 1, lambda r: r.item - 1)
    yield both("one user among all named Total", lambda r: "Total" if r.user == 7 else f"u{r.user}")
    yield both("names of people", lambda r: f"Null {r.user}" if r.user == 7 else f"Ann {r.user}")
    yield both(
        "True and None as film titles",
        U,
        lambda r: {1: "True", 2: "It", 3: "2012", 4: "1917"}.get(r.item, f"Film {r.item}"),
    )
    yield both("formula", lambda r: f"=A{r.user}")
    text = table(",", "", lambda r: f"#{r.user}", I, R, T)
    yield one(
        "ids", "hash before users without header", "r.csv", text, truth(user=lambda r: f"#{r.user}")
    )
    guests = "#a,5,3,1100000000\n#b,6,4,1100000001\n#a,7,5,1100000002\n"
    extra = (
        Rated("#a", "5", 3, 1_100_000_000),
        Rated("#b", "6", 4, 1_100_000_001),
        Rated("#a", "7", 5, 1_100_000_002),
    )
    yield one(
        "ids",
        "hash before the first users without header",
        "r.csv",
        guests + BARE,
        (*extra, *truth()),
    )
    mixed = lambda r: f"{r.user:08x}-abcd-4ef0-8b87-{r.user:012x}"  # noqa: E731
    yield one(
        "ids",
        "UUIDs in two cases",
        "r.csv",
        table(",", NAMES, lambda r: mixed(r).upper() if r.time % 2 else mixed(r), I, R, T),
        truth(user=mixed),
        undecidable="ids of a program may differ in capital letters alone",
    )
    yield one(
        "ids",
        "numbers with .0",
        "r.csv",
        table(",", NAMES, lambda r: f"{r.user}.0", lambda r: f"{r.item}.0", R, T),
        truth(),
    )
    yield one(
        "ids",
        "numbers with and without .0",
        "r.csv",
        table(",", NAMES, lambda r: f"{r.user}.0" if r.time % 2 else r.user, I, R, T),
    )
    yield one(
        "ids",
        "blanks behind",
        "r.csv",
        table(",", NAMES, lambda r: f"{r.user} " if r.time % 2 else U(r), I, R, T),
    )
    kept, lost = ROWS[:325], ROWS[325:]
    yield one(
        "ids",
        "users called nan",
        "r.csv",
        table(",", NAMES, *FOUR, rows=kept)
        + table(",", "", always("nan"), I, R, T, rows=_distinct(lost)),
        truth(rows=kept),
        frame="csv",
    )
    variants = lambda r: ("NA", "None", "null", "nan")[r.user % 4]  # noqa: E731
    yield one(
        "ids",
        "users called NA, None, null and nan",
        "r.csv",
        table(",", NAMES, *FOUR, rows=kept)
        + table(",", "", variants, I, R, T, rows=_distinct(lost)),
        truth(rows=kept),
        frame="csv",
    )
    yield one(
        "ids",
        "empty users",
        "r.csv",
        table(",", NAMES, *FOUR, rows=kept)
        + table(",", "", always(""), I, R, T, rows=_distinct(lost)),
        truth(rows=kept),
        frame="csv",
    )
    yield one(
        "ids",
        "long numbers in scientific notation",
        "r.csv",
        table(",", NAMES, lambda r: f"{7.6561e16 + r.user * 1e12:.4E}", I, R, T),
        None,
        says="scientific|E\\+",
        undecidable="7.6561E+16 is a damaged number, or a name",
    )


def _distinct(rows: list[Row]) -> list[Row]:
    """Return rows of distinct items."""
    return list({row.item: row for row in rows}.values())


def repeats() -> Iterator[Shape]:
    """Pairs that are rated more than once."""
    again = ROWS[:20]
    yield one("repeats", "equal rows twice", "r.csv", PLAIN + table(",", "", *FOUR, rows=again))
    later = [r._replace(rating=6 - r.rating, time=r.time + 10**8) for r in again]
    real = truth(rows=[*later, *ROWS[20:]])
    yield one(
        "repeats",
        "a later rating of a pair",
        "r.csv",
        PLAIN + table(",", "", *FOUR, rows=later),
        real,
        ordered=False,
    )
    counts = [r for r in BY_USER for _ in range(r.rating)]
    yield one(
        "repeats",
        "a row for each play",
        "r.csv",
        table(",", "user,item,timestamp", U, I, T, rows=counts),
        None,
        says="no rating|no column|ratings",
    )


def encodings() -> Iterator[Shape]:
    """Texts in other encodings."""
    people = {
        "latin-1": ("Zoé Müller", "Amélie"),
        "cp1252": ("Zoé “M”", "Œuvre €"),
        "cp1251": ("Пользователь", "Фильм"),
        "koi8-r": ("Пользователь", "Фильм"),
        "shift-jis": ("表", "ソ"),
        "euc-jp": ("利用者", "映画"),
        "gbk": ("用户", "电影"),
        "big5": ("使用者", "電影"),
        "euc-kr": ("사용자", "영화"),
        "iso-8859-2": ("Łukasz", "Źródło"),
        "cp1253": ("Χρήστης", "Ταινία"),
        "iso-8859-9": ("Kullanıcı", "Şirin"),
        "utf-8": ("Ζωή", "映画"),
        "cp437": ("Zoë Ü", "Él"),
        "mac-roman": ("Zoé Müller", "Amélie"),
    }
    for encoding, (user, item) in people.items():
        name = {
            "user": lambda r, u=user: f"{u} {r.user}",
            "item": lambda r, i=item: f"{i} {r.item}",
        }
        yield one(
            "encodings",
            encoding,
            "r.csv",
            table(",", NAMES, name["user"], name["item"], R, T).encode(encoding),
            truth(**name),
            option={"encoding": encoding},
            says="encod|UTF-8",
        )
    twice = "Zoé".encode().decode("latin-1")
    yield one(
        "encodings",
        "UTF-8 encoded twice",
        "r.csv",
        table(",", NAMES, lambda r: f"{twice} {r.user}", I, R, T),
        truth(user=lambda r: f"{twice} {r.user}"),
        undecidable="the text itself was spoiled before",
    )
    yield one(
        "encodings",
        "one wrong byte",
        "r.csv",
        table(",", "user,item,rating,comment", U, I, R, always("fine"))
        .encode()
        .replace(b"fine", b"caf\xe9", 1),
        untimed(),
        option={"encoding": "latin-1"},
        says="encod|UTF-8",
    )


@framed
def wides() -> Iterator[Shape]:
    """Tables of a row a user and a column an item."""
    matrix = {"format": "matrix"}
    real, dense = untimed(BY_USER), untimed(DENSE)
    named = untimed(BY_USER, item=lambda r: f"Film {r.item}")
    film = lambda n: f"Film {n}"  # noqa: E731
    yield one("wide", "pivot with blanks", "wide.csv", pivot().to_csv(), real, option=matrix)
    yield one(
        "wide",
        "pivot with zeros",
        "wide.csv",
        pivot().fillna(0).to_csv(),
        real,
        option=matrix | {"not_rated": [0]},
    )
    yield one(
        "wide",
        "NA of R",
        "m.csv",
        wide(BY_USER, corner='""', blank="NA", item=lambda n: f'"{n}"', user=lambda n: f'"{n}"'),
        real,
        option=matrix,
    )
    yield one("wide", "nan", "m.csv", wide(BY_USER, blank="nan"), real, option=matrix)
    yield one("wide", "dashes", "m.csv", wide(BY_USER, blank="-"), real, option=matrix)
    yield one(
        "wide", "question marks", "m.csv", wide(BY_USER, blank="?", item=film), named, option=matrix
    )
    yield one(
        "wide",
        "dense, header of numbers",
        "w.csv",
        wide(DENSE, corner="user"),
        dense,
        option=matrix,
    )
    yield one("wide", "dense, empty corner", "w.csv", wide(DENSE, corner=""), dense, option=matrix)
    yield one(
        "wide",
        "dense, titles",
        "w.csv",
        wide(DENSE, corner="user", item=film),
        untimed(DENSE, item=lambda r: film(r.item)),
        option=matrix,
    )
    yield one(
        "wide", "dense, without header", "w.csv", wide(DENSE, corner=None), dense, option=matrix
    )
    yield one(
        "wide",
        "zeros, without header",
        "w.csv",
        wide(BY_USER, corner=None, blank="0"),
        real,
        option=matrix | {"not_rated": [0]},
    )
    yield one(
        "wide",
        "zeros, without header and ids",
        "R.csv",
        wide(BY_USER, corner=None, ids=False, blank="0"),
        real,
        option=matrix | {"not_rated": [0]},
    )
    small = [
        Row(u, i, r, 0)
        for u, line in enumerate(
            ((5, 3, 0, 1), (4, 0, 0, 1), (1, 1, 0, 5), (1, 0, 0, 4), (0, 1, 5, 4)), 1
        )
        for i, r in enumerate(line, 1)
        if r
    ]
    yield one(
        "wide",
        "five by four of a tutorial",
        "R.csv",
        wide(small, corner=None, ids=False, blank="0"),
        untimed(small),
        option=matrix | {"not_rated": [0]},
        undecidable="four columns of small numbers may be user, item, rating and time",
    )
    yield one(
        "wide",
        "savetxt without ids",
        "R.txt",
        wide(DENSE, corner=None, ids=False, separator=" "),
        dense,
        option=matrix,
    )
    yield one(
        "wide",
        "three items",
        "w.csv",
        wide(THREE, corner="user", item=lambda n: str(100 + n)),
        untimed(THREE, item=lambda r: 100 + r.item),
        option=matrix,
    )
    yield one(
        "wide",
        "titles with blanks",
        "w.csv",
        wide(BY_USER, corner="user", item=film),
        named,
        option=matrix,
    )
    yield one(
        "wide",
        "titles by users without a corner",
        "w.csv",
        wide(BY_USER, corner="", user=lambda n: f"Ann {n}", item=film),
        untimed(BY_USER, user=lambda r: f"Ann {r.user}", item=lambda r: film(r.item)),
        option=matrix,
    )
    swapped = "the rows are items"
    yield one(
        "wide",
        "movieId in the corner",
        "wide.csv",
        wide(BY_USER, corner="movieId", flipped=True),
        real,
        ordered=False,
        says=swapped,
        option=matrix,
    )
    yield one(
        "wide",
        "item in the corner, titles",
        "wide.csv",
        wide(BY_USER, corner="item", flipped=True, item=film),
        named,
        ordered=False,
        says=swapped,
        option=matrix,
    )
    yield one(
        "wide",
        "titles in rows, people in columns",
        "wide.csv",
        wide(BY_USER, corner="", flipped=True, item=film, user=lambda n: f"Ann {n}"),
        untimed(BY_USER, user=lambda r: f"Ann {r.user}", item=lambda r: film(r.item)),
        ordered=False,
        option=matrix,
        undecidable="names of people and of films are both texts",
    )
    yield one(
        "wide",
        "age, gender and mean",
        "w.csv",
        "user,age,gender,A,B,mean\n"
        + "".join(
            f"{n},{20 + n},{n % 2},{n % 5 + 1},{n % 3 + 1},{(n % 5 + n % 3 + 2) / 2}\n"
            for n in range(1, 25)
        ),
        tuple(
            Rated(str(n), name, float(n % m + 1), None)
            for n in range(1, 25)
            for name, m in (("A", 5), ("B", 3))
        ),
        option=matrix,
        says="age|gender|mean",
    )
    yield one(
        "wide",
        "names and cities beside ids",
        "w.csv",
        wide(
            BY_USER, corner="user", more=lambda n: (f"Ann {n}", "Ulm"), names="name,city", item=film
        ),
        named,
        option=matrix,
    )
    yield one(
        "wide",
        "semicolons and decimal commas",
        "w.csv",
        wide(BY_USER, separator=";", rating=lambda r: f"{r - 1},5"),
        untimed(BY_USER, rating=lambda r: r.rating - 0.5),
        option=matrix | {"decimal": ","},
    )
    yield one("wide", "tabs", "w.tsv", wide(BY_USER, separator="\t"), real, option=matrix)
    yield one(
        "wide",
        "99 for not rated",
        "w.csv",
        wide(BY_USER, blank="99"),
        real,
        option=matrix | {"not_rated": [99]},
    )
    yield one(
        "wide",
        "two header lines of pandas",
        "w.csv",
        frame("user", "item", "rating").set_index(["user", "item"]).unstack().to_csv(),
        real,
        option=matrix,
    )
    yield one(
        "wide",
        "name of the columns above",
        "w.csv",
        ",".join(["movieId", *map(str, range(1, 31))])
        + "\nuserId"
        + "," * 30
        + "\n"
        + wide(BY_USER, corner=None),
        real,
        option=matrix,
    )
    yield one(
        "wide",
        "total row and column",
        "w.csv",
        wide(
            BY_USER,
            corner="user",
            item=film,
            more=lambda n: (str(sum(r.rating for r in BY_USER if r.user == n)),),
            names="Total",
        )
        + "Total,"
        + ",".join(
            ["999"] + [str(sum(r.rating for r in BY_USER if r.item == n)) for n in range(1, 31)]
        )
        + "\n",
        named,
        option=matrix,
        says="[Tt]otal",
    )
    yield one(
        "wide",
        "Parquet",
        "w.parquet",
        written(lambda out: pivot().rename(columns=str).reset_index().to_parquet(out)),
        real,
        option=matrix,
    )
    yield one("wide", "JSON of a pivot", "w.json", pivot().to_json(orient="index"), real)
    yield one(
        "wide",
        "half stars",
        "w.csv",
        wide(BY_USER, rating=lambda r: f"{r - 0.5}"),
        untimed(BY_USER, rating=lambda r: r.rating - 0.5),
        option=matrix,
    )
    yield one(
        "wide",
        "words",
        "w.csv",
        wide(
            BY_USER,
            corner="user",
            item=film,
            rating=lambda r: ("bad", "poor", "fair", "good", "great")[r - 1],
        ),
        named,
        option=matrix | {"values": {"bad": 1, "poor": 2, "fair": 3, "good": 4, "great": 5}},
    )


def packed() -> Iterator[Shape]:
    """Packed files and archives."""
    two = {
        "a.csv": table(",", NAMES, *FOUR, rows=ROWS[:170]),
        "b.csv": table(",", NAMES, *FOUR, rows=ROWS[170:]),
    }
    films = "item,title\n" + "".join(f"{n},Film {n}\n" for n in range(1, 31))
    mac = {
        "ratings.csv": PLAIN,
        "__MACOSX/._ratings.csv": b"\0\5\x16\7" + bytes(100),
        ".DS_Store": bytes(50),
    }
    cases = {
        "gzip": ("r.csv.gz", gz(PLAIN)),
        "bzip2": ("r.csv.bz2", bz2.compress(PLAIN.encode())),
        "xz": ("r.csv.xz", lzma.compress(PLAIN.encode())),
        "zstd": ("r.csv.zst", squeezed(PLAIN, "zstd")),
        "zip": ("r.zip", zipped({"ratings.csv": PLAIN})),
        "zip of a folder": ("r.zip", zipped({"r/": "", "r/ratings.csv": PLAIN})),
        "zip of macOS": ("r.zip", zipped(mac)),
        "zip with films": ("r.zip", zipped({"films.csv": films, "ratings.csv": PLAIN})),
        "zip of parts": ("r.zip", zipped(two)),
        "zip with a README": ("r.zip", zipped({"README.md": "# Ratings\n", "r.csv": PLAIN})),
        "zip in a zip": ("r.zip", zipped({"r.zip": zipped({"ratings.csv": PLAIN})})),
        "zip of gzip": ("r.zip", zipped({"ratings.csv.gz": gz(PLAIN)})),
        "zip of Parquet": ("r.zip", zipped({"r.parquet": parquet()})),
        "tar": ("r.tar", tarred({"ratings.csv": PLAIN})),
        "tar.gz": ("r.tar.gz", tarred({"ratings.csv": PLAIN}, "w:gz")),
        "tgz with films": ("r.tgz", tarred({"d/films.csv": films, "d/ratings.csv": PLAIN}, "w:gz")),
        "tar of parts": ("r.tar", tarred(two)),
        "tar.bz2": ("r.tar.bz2", tarred({"ratings.csv": PLAIN}, "w:bz2")),
        "gzip of two members": ("r.csv.gz", gz(two["a.csv"]) + gz(two["b.csv"].split("\n", 1)[1])),
    }
    for name, (file, content) in cases.items():
        yield one("packed", name, file, content)
    for name, codec, ending in (("LZ4", "lz4", "lz4"), ("Brotli", "brotli", "br")):
        yield one("packed", name, f"r.csv.{ending}", squeezed(PLAIN, codec), says=name)
    yield one("packed", "7z", "r.7z", b"7z\xbc\xaf\x27\x1c\0\4" + bytes(300), None, says="7z|7-Zip")
    yield one("packed", "RAR", "r.rar", b"Rar!\x1a\x07\x01\0" + bytes(300), None, says="RAR|rar")
    locked = bytearray(zipped({"ratings.csv": PLAIN}))
    locked[6] |= 1
    locked[locked.index(b"PK\1\2") + 8] |= 1
    yield one(
        "packed", "zip with a password", "r.zip", bytes(locked), None, says="password|encrypted"
    )
    yield one(
        "packed",
        "zip without ratings",
        "r.zip",
        zipped({"films.csv": films, "README": "x\n"}),
        None,
        says="no (file|member|rating|column)|which|several|member",
    )
    yield one("packed", "empty zip", "r.zip", zipped({}), None, says="empty|no (file|member)")


def folders() -> Iterator[Shape]:
    """Folders, parts and patterns."""
    halves = ROWS[:170], ROWS[170:]
    text = [table(",", NAMES, *FOUR, rows=rows) for rows in halves]
    bare = [table(",", "", *FOUR, rows=rows) for rows in halves]
    data = frame("user", "item", "rating", "timestamp")
    files = [parquet(data[:170]), parquet(data[170:])]

    def folder(name: str, members: dict, real=None, path="", **more) -> Shape:
        return Shape("folders", name, members, truth() if real is None else real, path=path, **more)

    yield folder("two CSV files", {"d/a.csv": text[0], "d/b.csv": text[1]})
    yield folder("one CSV file", {"d/ratings.csv": PLAIN})
    yield folder("train and test", {"d/train.csv": text[0], "d/test.csv": text[1]}, ordered=False)
    yield folder("README beside", {"d/README.md": "# Ratings\n", "d/ratings.csv": PLAIN})
    yield folder("pattern of CSV files", {"a.csv": text[0], "b.csv": text[1]}, path="*.csv")
    yield folder("pattern without header", {"a.csv": bare[0], "b.csv": bare[1]}, path="*.csv")
    swapped = table(",", "rating,item,user,timestamp", R, I, U, T, rows=halves[1])
    yield folder("columns in another order", {"a.csv": text[0], "b.csv": swapped}, path="*.csv")
    yield folder("folder of columns in another order", {"d/a.csv": text[0], "d/b.csv": swapped})
    yield folder(
        "other separators", {"a.csv": text[0], "b.csv": text[1].replace(",", ";")}, path="*.csv"
    )
    yield folder("Parquet files", {"d/a.parquet": files[0], "d/b.parquet": files[1]})
    yield folder(
        "pattern of Parquet files", {"a.parquet": files[0], "b.parquet": files[1]}, path="*.parquet"
    )
    yield folder(
        "lines of JSON",
        {
            "d/a.jsonl": json_lines(entries(rows=halves[0])),
            "d/b.jsonl": json_lines(entries(rows=halves[1])),
        },
    )
    yield folder("packed parts", {"d/a.csv.gz": gz(text[0]), "d/b.csv.gz": gz(text[1])})
    spark = {"out/_SUCCESS": "", "out/._SUCCESS.crc": b"crc", "out/.part-00000.crc": b"crc\0"}
    yield folder(
        "Spark CSV with headers",
        spark | {"out/part-00000-x-c000.csv": text[0], "out/part-00001-x-c000.csv": text[1]},
    )
    yield folder(
        "Spark CSV without headers",
        spark | {"out/part-00000-x-c000.csv": bare[0], "out/part-00001-x-c000.csv": bare[1]},
    )
    yield folder(
        "Spark CSV, gzip",
        spark | {"out/part-00000-x.csv.gz": gz(text[0]), "out/part-00001-x.csv.gz": gz(text[1])},
    )
    yield folder(
        "Spark Parquet",
        spark
        | {
            "out/part-00000-x.snappy.parquet": files[0],
            "out/part-00001-x.snappy.parquet": files[1],
        },
    )
    yield folder(
        "Spark JSON",
        spark
        | {
            "out/part-00000-x.json": json_lines(entries(rows=halves[0])),
            "out/part-00001-x.json": json_lines(entries(rows=halves[1])),
        },
    )
    yield folder(
        "Spark text without ending", spark | {"out/part-00000": bare[0], "out/part-00001": bare[1]}
    )
    yield folder(
        "Spark tuples",
        spark | {"out/part-00000": "".join(f"({r.user},{r.item},{r.rating}.0)\n" for r in ROWS)},
        untimed(),
        says="tuple|parenthes",
    )
    yield folder(
        "Spark ALS ratings",
        spark
        | {"out/part-00000": "".join(f"Rating({r.user},{r.item},{r.rating}.0)\n" for r in ROWS)},
        untimed(),
        says="Rating\\(|tuple|parenthes",
    )
    bucket = {
        f"out/bucket={n}/part-0.parquet": parquet(data[data["user"] % 4 == n]) for n in range(4)
    }
    yield folder("Hive, a partition without a role", bucket, ordered=False)
    yield folder("Hive by pattern", bucket, path="out/*/*.parquet", ordered=False)
    rated = {
        f"out/rating={n}/part-0.parquet": parquet(data[data["rating"] == n].drop(columns="rating"))
        for n in range(1, 6)
    }
    yield folder("Hive, the rating in the folder", rated, ordered=False)
    users = {
        f"out/user={n}/part-0.parquet": parquet(data[data["user"] == n].drop(columns="user"))
        for n in sorted(set(data["user"]))
    }
    yield folder("Hive, the user in the folder", users, ordered=False)
    years = {
        f"out/year={n}/part-0.csv": table(
            ",", NAMES, *FOUR, rows=[r for r in ROWS if moment(r).year == n]
        )
        for n in range(2004, 2009)
    }
    yield folder("Hive of CSV by year", years, ordered=False)
    log = json_lines(
        [
            {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
            {
                "metaData": {
                    "id": "x",
                    "format": {"provider": "parquet", "options": {}},
                    "schemaString": "{}",
                    "partitionColumns": [],
                    "configuration": {},
                }
            },
            *(
                {
                    "add": {
                        "path": f"part-0000{n}.parquet",
                        "partitionValues": {},
                        "size": len(files[n]),
                        "modificationTime": 1,
                        "dataChange": True,
                    }
                }
                for n in (0, 1)
            ),
        ]
    )
    delta = {
        "tbl/part-00000.parquet": files[0],
        "tbl/part-00001.parquet": files[1],
        "tbl/_delta_log/00000000000000000000.json": log,
    }
    yield folder("Delta", delta)
    removed = json_lines(
        [{"remove": {"path": "part-00000.parquet", "deletionTimestamp": 1, "dataChange": True}}]
    )
    yield folder(
        "Delta with a removed file",
        delta | {"tbl/_delta_log/00000000000000000001.json": removed},
        truth(rows=halves[1]),
        says="Delta",
    )
    iceberg = {
        "tbl/data/00000-0-a.parquet": files[0],
        "tbl/data/00000-1-b.parquet": files[1],
        "tbl/metadata/v1.metadata.json": '{"format-version":2}',
        "tbl/metadata/snap-1.avro": b"Obj\x01x",
        "tbl/metadata/version-hint.text": "1",
    }
    yield folder("Iceberg with an orphan", iceberg, truth(rows=halves[0]), says="Iceberg")
    hudi = {
        "tbl/.hoodie/hoodie.properties": "hoodie.table.name=r\n",
        "tbl/a_0.parquet": files[0],
        "tbl/a_1.parquet": files[0],
    }
    yield folder("Hudi", hudi, truth(rows=halves[0]), says="Hudi")
    yield folder(
        "Hugging Face save_to_disk",
        {
            "ds/data-00000-of-00001.arrow": arrow(stream=True),
            "ds/state.json": '{"_data_files":[{"filename":"data-00000-of-00001.arrow"}]}',
            "ds/dataset_info.json": "{}",
        },
    )
    yield folder(
        "Hugging Face hub",
        {
            "ds/README.md": "---\ndataset_info: {}\n---\n",
            "ds/.gitattributes": "*.parquet filter=lfs\n",
            "ds/data/train-00000-of-00001.parquet": files[0],
            "ds/data/test-00000-of-00001.parquet": files[1],
        },
        ordered=False,
    )
    base = {
        "d/u1.base": table("\t", "", *FOUR, rows=ROWS[:280]),
        "d/u1.test": table("\t", "", *FOUR, rows=ROWS[280:]),
        "d/u2.base": table("\t", "", *FOUR, rows=ROWS[60:]),
        "d/u2.test": table("\t", "", *FOUR, rows=ROWS[:60]),
    }
    yield Shape(
        "folders", "folds that overlap", base, None, path="d", says="several|which|folder|again"
    )
    each = {
        f"d/{u}.csv": table(",", "item,rating", I, R, rows=[r for r in ROWS if r.user == u])
        for u in sorted({r.user for r in ROWS})
    }
    yield Shape(
        "folders",
        "a file for each user",
        each,
        untimed(),
        path="d",
        ordered=False,
        says="no column.*user|user.*no column|name of (each|the) file",
    )
    yield Shape(
        "folders",
        "empty folder",
        {"d/": ""},
        None,
        path="d",
        says="empty|no file|no ratings|holds no",
    )
    yield Shape(
        "folders",
        "folder of pictures",
        {
            "d/a.png": b"\x89PNG\r\n\x1a\n" + bytes(99),
            "d/notes.docx": zipped({"word/document.xml": "<w/>"}),
        },
        None,
        path="d",
        says="no (file|ratings|Parquet)|holds no|picture|none of",
    )
    yield Shape(
        "folders",
        "a path that is not there",
        {"d/": ""},
        None,
        path="ratings.csv",
        says="no such|not (there|found|exist)|does not exist|no file|missing",
    )
    yield Shape(
        "folders",
        "a pattern that matches nothing",
        {"d/": ""},
        None,
        path="d/*.csv",
        says="no (such )?file|match",
    )
    yield Shape(
        "folders",
        "films beside",
        {"d/films.csv": "item,title\n1,Film 1\n2,Film 2\n", "d/ratings.csv": PLAIN},
        truth(),
        path="d",
    )
    yield Shape(
        "folders",
        "pattern that takes films along",
        {"films.csv": "item,title\n1,Film 1\n2,Film 2\n", "ratings.csv": PLAIN},
        truth(),
        path="*.csv",
        says="films.csv",
    )


def junk() -> Iterator[Shape]:
    """Files that are no ratings, or were damaged on the way."""
    cut = PLAIN.rstrip("\n")
    squashed = gz(PLAIN)
    none = {
        "Git LFS pointer": (
            "ratings.csv",
            "version https://git-lfs.github.com/spec/v1\noid sha256:"
            + "4d" * 32
            + "\nsize 12345\n",
            "LFS",
        ),
        "Git LFS pointer of Parquet": (
            "r.parquet",
            "version https://git-lfs.github.com/spec/v1\noid sha256:"
            + "4d" * 32
            + "\nsize 12345\n",
            "LFS",
        ),
        "login page": (
            "ratings.csv",
            '<!doctype html>\n<html lang="en">\n<head><title>Sign in</title></head>\n<body>Sign in</body></html>\n',
            "HTML|web page",
        ),
        "virus warning of Google Drive": (
            "ml.zip",
            "<!DOCTYPE html><html><head><title>Google Drive - Virus scan warning</title></head></html>",
            "HTML|web page",
        ),
        "page called .gz": (
            "r.csv.gz",
            "<html><head><title>403 Forbidden</title></head></html>\n",
            "HTML|web page",
        ),
        "error of S3": (
            "ratings.csv",
            '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>',
            "XML",
        ),
        "404 of GitHub": (
            "ratings.csv",
            "404: Not Found",
            "404|one line|download|no row|no rating|no column",
        ),
        "error in JSON": (
            "ratings.csv",
            '{"message": "Not Found", "documentation_url": "https://x"}',
            "JSON|no column|error",
        ),
        "empty file": ("ratings.csv", "", "empty|0 bytes|no (row|line|rating)"),
        "blanks alone": ("ratings.csv", "\n\n  \n", "empty|no (row|line|rating)|blank"),
        "header alone": ("ratings.csv", NAMES + "\n", "empty|no (row|line|rating)|header"),
        "PDF": (
            "ratings.csv",
            b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n" + bytes(range(256)),
            "PDF",
        ),
        "picture": (
            "ratings.csv",
            b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(200),
            "PNG|picture|image|binary|not text",
        ),
        "Word document": (
            "ratings.docx",
            zipped({"[Content_Types].xml": "<Types/>", "word/document.xml": "<w/>"}),
            "Word|docx|document|Office",
        ),
        "program": (
            "ratings.csv",
            b"\x7fELF\2\1\1\0" + bytes(range(256)) * 4,
            "binary|null|not text|program",
        ),
        "random bytes": (
            "ratings.csv",
            bytes((n * 7919 + n * n * 31) % 256 for n in range(3000)),
            "binary|null|not text|encod|UTF-8",
        ),
        "README": (
            "README.md",
            "# Ratings\n\nThis folder has ratings of films.\n\n- See ratings.csv.\n",
            "no column|no rating|Markdown|text|fields",
        ),
        "Python script": (
            "load.py",
            "import pandas as pd\n\ndata = pd.read_csv('ratings.csv')\nprint(data)\n",
            "no column|no rating|Python|fields|program",
        ),
        "notebook": (
            "ratings.ipynb",
            json.dumps(
                {"cells": [{"cell_type": "code", "source": ["1"]}], "metadata": {}, "nbformat": 4}
            ),
            "notebook|no column|no rating",
        ),
        "config of YAML": (
            "ratings.yaml",
            "dataset: ratings.csv\nalgorithms: [SVD]\n",
            "YAML|config|no column|fields",
        ),
        "gzip that was cut": (
            "r.csv.gz",
            squashed[: len(squashed) // 2],
            "truncated|cut|incomplete|damaged|end",
        ),
        "zip that was cut": (
            "r.zip",
            zipped({"ratings.csv": PLAIN})[:900],
            "truncated|cut|incomplete|damaged|zip",
        ),
        "Parquet that was cut": (
            "r.parquet",
            parquet()[:3000],
            "truncated|cut|incomplete|damaged|Parquet",
        ),
        "Parquet without rows": ("r.parquet", parquet(frame()[:0]), "empty|no (row|rating)"),
        "a partial download": (
            "ratings.csv.crdownload",
            PLAIN.encode()[:2000] + bytes(2000),
            "cut|incomplete|download|null|binary|not text|truncated",
        ),
        "items alone": (
            "items.csv",
            "item_id,title,year\n" + "".join(f"{n},Film {n},19{60 + n}\n" for n in range(1, 31)),
            "no column|no rating|user",
        ),
        "users alone": (
            "users.csv",
            "user_id,age,city\n" + "".join(f"{n},{20 + n},Ulm\n" for n in range(1, 41)),
            "no column|no rating|item",
        ),
        "a shortcut": (
            "ratings.csv.url",
            "[InternetShortcut]\nURL=https://x.org/ratings.csv\n",
            "shortcut|no column|no rating|fields|address",
        ),
        "a list of ratings of one column": (
            "r.txt",
            "".join(f"{r.rating}\n" for r in ROWS),
            "one column|1 (column|field)|no column|fewer|separator|field",
        ),
    }
    for name, (file, content, says) in none.items():
        yield one("junk", name, file, content, None, says=says)
    yield one(
        "junk",
        "cut in a line",
        "ratings.csv",
        PLAIN[: len(PLAIN) - 14],
        truth(rows=ROWS[:-1]),
        says="cut|truncated|fewer|fields",
    )
    yield one(
        "junk",
        "cut in the last time",
        "ratings.csv",
        cut[:-4],
        truth(rows=ROWS[:-1]),
        says="cut off",
        undecidable="nothing but its size tells that the last time was cut",
    )
    halves = table(",", THREE_NAMES, U, I, lambda r: f"{r.rating}.5").rstrip("\n")
    yield one(
        "junk",
        "cut in the last rating",
        "ratings.csv",
        halves[:-2],
        untimed(ROWS[:-1], rating=lambda r: r.rating + 0.5),
        says="cut off",
        undecidable="a last rating of 3 in place of 3.5 is a rating",
    )
    shifted = PLAIN.splitlines()
    shifted[100] = ",".join(shifted[100].split(",")[:3]).replace(",", ";") + ";1"
    yield one(
        "junk",
        "one line in another separator",
        "ratings.csv",
        "\n".join(shifted) + "\n",
        truth(rows=ROWS[:99] + ROWS[100:]),
    )
    nulls = PLAIN.encode().replace(b"\n", b"\n\0\0\n", 1)
    yield one("junk", "null bytes between lines", "ratings.csv", nulls)
    yield one(
        "junk",
        "merge marks of git",
        "ratings.csv",
        table(",", NAMES, *FOUR, rows=ROWS[:200])
        + "<<<<<<< HEAD\n"
        + table(",", "", *FOUR, rows=ROWS[200:250])
        + "=======\n>>>>>>> main\n"
        + table(",", "", *FOUR, rows=ROWS[250:]),
        says="merge|git|<<<<",
    )


def given(
    keys: Mapping[str, Any], name: str, files: Mapping[str, Content], *about: Any, **more: Any
) -> Shape:
    """Return a shape that is given with keys."""
    return Shape("keys", name, files, *(about or (untimed(),)), keys=keys, **more)


def keys() -> Iterator[Shape]:
    """Files with keys that say how they are written, which hold for what a file is."""
    lines = table(";", THREE_NAMES.replace(",", ";"), U, I, R)
    bare = table(";", "", U, I, R)
    blanks = table(" ", "", U, I, R)
    commas = table(",", THREE_NAMES, U, I, R)
    noted = "% exported\n" + lines
    records = json_lines(entries("user", "item", "rating"))
    cells = [THREE_NAMES.split(","), *((r.user, r.item, r.rating) for r in ROWS)]
    columns = frame("user", "item", "rating")
    base = database(
        "create table ratings (user, item, rating)",
        "create table seen (user, item, rating)",
        rows={"ratings": [r[:3] for r in ROWS], "seen": [r[:3] for r in ROWS[:9]]},
    )
    semicolon = {"separator": ";"}
    # A text, whatever it is called.
    for ending in (
        "parquet",
        "xlsx",
        "json",
        "db",
        "feather",
        "sav",
        "mtx",
        "sql",
        "orc",
        "duckdb",
    ):
        yield given(semicolon, f"semicolons in .{ending}", {f"r.{ending}": lines})
    yield given({"separator": "whitespace"}, "blanks in .parquet", {"r.parquet": blanks})
    yield given({"header": False}, "no header in .xls", {"r.xls": bare}, undecidable="")
    yield given({"quotes": "none"}, "no quotation marks in .xlsx", {"r.xlsx": lines})
    yield given({"skip": 1}, "a line that is left out in .db", {"r.db": noted})
    yield given({"comment": "%"}, "a comment in .parquet", {"r.parquet": noted})
    yield given({"encoding": "utf-16"}, "UTF-16 in .parquet", {"r.parquet": lines.encode("utf-16")})
    yield given(semicolon, "packed semicolons in .parquet.gz", {"r.parquet.gz": gz(lines)})
    yield given(semicolon, "semicolons in .parquet in zip", {"r.zip": zipped({"r.parquet": lines})})
    yield given(
        {"separator": ";", "member": "b.parquet"},
        "a member called .parquet",
        {"r.zip": zipped({"a.csv": "a,b\n1,2\n", "b.parquet": lines})},
    )
    halves = [table(";", "user;item;rating", U, I, R, rows=rows) for rows in (ROWS[:99], ROWS[99:])]
    yield given(
        semicolon,
        "a pattern of .parquet",
        {"a.parquet": halves[0], "b.parquet": halves[1]},
        path="*.parquet",
    )
    yield given(
        semicolon, "a folder called .parquet", {"r.parquet/a": halves[0], "r.parquet/b": halves[1]}
    )
    yield given(
        semicolon,
        "partitions of texts",
        {
            f"d/rating={n}/part-0.csv": table(
                ";", "user;item", U, I, rows=[r for r in ROWS if r.rating == n]
            )
            for n in range(1, 6)
        },
        ordered=False,
    )
    # What is no text, whatever it is called.
    none = "r.csv.*{}: an? {}.* has none; leave this out"
    others: dict[str, tuple[Content, str]] = {
        "Parquet": (parquet(columns), "Parquet file"),
        "Feather": (arrow(stream=False), "Feather file"),
        "SQLite": (base, "SQLite file"),
        "JSON": (records, "JSON file"),
        "Stata": (written(lambda out: columns.to_stata(out, write_index=False)), "Stata file"),
        "a workbook": (workbook(ratings=cells), "workbook"),
    }
    for name, (content, called) in others.items():
        says = none.format("separator", called)
        yield given(semicolon, f"{name} in .csv", {"r.csv": content}, None, says=says)
        says = none.format("encoding", called)
        yield given(
            {"encoding": "latin-1"},
            f"{name} in .csv, encoding",
            {"r.csv": content},
            None,
            says=says,
        )
        says = none.format("quotes", called)
        yield given({"quotes": "none"}, f"{name}, quotes", {"r.csv": content}, None, says=says)
    yield given(
        {"header": False},
        "Parquet without header",
        {"r.parquet": parquet(columns)},
        None,
        says="r.parquet: header: a Parquet file has none",
    )
    yield given(
        semicolon,
        "packed Parquet in .csv.gz",
        {"r.csv.gz": gz(parquet(columns))},
        None,
        says="separator: a Parquet file has none",
    )
    yield given(
        semicolon,
        "Parquet in .csv in zip",
        {"r.zip": zipped({"a.csv": parquet(columns)})},
        None,
        says=r"r.zip!a.csv: separator: a Parquet file has none",
    )
    yield given(
        semicolon,
        "Parquet in a folder",
        {"d/a.csv": parquet(columns), "d/README": "."},
        None,
        says="separator: a Parquet file has none",
    )
    parts = {
        f"d/rating={n}/part-0.csv": parquet(columns[columns["rating"] == n][["user", "item"]])
        for n in range(1, 6)
    }
    yield given(semicolon, "partitions of Parquet", parts, None, says="a Parquet file has none")
    netflix = "".join(
        f"{item}:\n" + table(",", "", U, R, rows=[r for r in ROWS if r.item == item])
        for item in range(1, 31)
    )
    yield given({"encoding": "latin-1"}, "Netflix with encoding", {"r.txt": netflix}, ordered=False)
    yield given(
        semicolon,
        "Netflix with separator",
        {"r.txt": netflix},
        None,
        says="separator: a Netflix Prize file has none",
    )
    # Tables.
    yield given({"table": "ratings"}, "a table in .csv", {"r.csv": base})
    yield given({"query": "select * from ratings"}, "a query in .csv", {"r.csv": base})
    yield given({"table": "ratings"}, "a table in .txt", {"r.txt": base})
    dump = "CREATE TABLE ratings (user int, item int, rating int);\nINSERT INTO ratings VALUES "
    dump += ",".join(f"({r.user},{r.item},{r.rating})" for r in ROWS) + ";\n"
    yield given({"table": "ratings"}, "a table of a dump in .txt", {"r.txt": dump})
    yield given(
        {"query": "select 1"},
        "a query of a dump",
        {"r.sql": dump},
        None,
        says="r.sql: query: an SQL dump file takes no query; name what is read under `table`",
    )
    for key, value in {"table": "ratings", "query": "select 1"}.items():
        for name, content in {"a text": lines, "Parquet": parquet(columns)}.items():
            yield given(
                {key: value},
                f"{key} of {name} in .db",
                {"r.db": content},
                None,
                says=f"r.db: {key}: a .*(text|Parquet file) has no tables; leave this out",
            )
    # Workbooks: a sheet is a table, and its rows are those of a text.
    titled = [["Ratings", "", ""], *cells]
    two = workbook(other=[["a", "b"], [1, 2]], ratings=titled)
    book = workbook(ratings=cells)
    for ending in ("xlsx", "csv", "txt"):
        yield given({"table": "ratings"}, f"a sheet in .{ending}", {f"r.{ending}": two})
    yield given({"table": "ratings", "skip": 1}, "a sheet with a title", {"r.xlsx": two})
    yield given({"table": "ratings", "format": "excel"}, "a sheet, format", {"r.dat": two})
    yield given({"header": True}, "a workbook with header", {"r.xlsx": book})
    yield given({"comment": "#"}, "a workbook with comment", {"r.xlsx": book})
    yield given(
        {"header": False}, "a workbook without header", {"r.xlsx": workbook(ratings=cells[1:])}
    )
    yield given(
        {"table": "rating"},
        "a sheet that is not there",
        {"r.xlsx": two},
        None,
        says="no sheet 'rating' for table; did you mean 'ratings'",
    )
    yield given(
        {"query": "select 1"},
        "a query of a workbook",
        {"r.xlsx": book},
        None,
        says="query: a workbook file takes no query; name what is read under `table`",
    )
    yield given(
        {"quotes": "none", "table": "ratings"},
        "quotes of a sheet",
        {"r.xlsx": two},
        None,
        says="quotes: a workbook file has none; leave this out",
    )
    yield given({"table": "ratings"}, "a sheet in zip", {"r.zip": zipped({"a.xlsx": two})})
    # The form of a matrix, which a text and a workbook may have.
    grid = wide(DENSE)
    dense = untimed(DENSE)
    yield given({"format": "matrix", "separator": ","}, "a matrix", {"r.csv": grid}, dense)
    yield given({"comment": "%"}, "a matrix with a comment", {"r.csv": "% by hand\n" + grid}, dense)
    yield given(
        {"comment": "%", "format": "matrix"},
        "a matrix with a comment, format",
        {"r.csv": "% by hand\n" + grid},
        dense,
    )
    yield given({"skip": 1}, "a matrix with a title", {"r.csv": "by hand\n" + grid}, dense)
    single = wide(DENSE, item=lambda n: f"'{n}'")
    yield given({"quotes": "single"}, "a matrix, single quotes", {"r.csv": single}, dense)
    yield given(
        {"quotes": "single", "format": "matrix"},
        "a matrix, single quotes, format",
        {"r.csv": single},
        dense,
    )
    grids = workbook(
        about=[["a", "b"], [1, 2]], wide=[line.split(",") for line in grid.splitlines()]
    )
    yield given({"table": "wide"}, "a sheet that is wide", {"r.xlsx": grids}, dense)
    yield given(
        {"table": "wide", "format": "matrix"}, "a sheet as a matrix", {"r.xlsx": grids}, dense
    )
    # What is not there yet has its ending only.
    yield given(
        semicolon,
        "no file, .parquet",
        {"other.csv": commas},
        None,
        path="r.parquet",
        says="separator: a Parquet file has none; leave this out",
    )
    yield given(
        {"table": "a"},
        "no file, .csv",
        {"other.csv": commas},
        None,
        path="r.csv",
        says="table: a 'csv' file has no tables; leave this out",
    )
    yield given(
        semicolon,
        "no file, .csv, separator",
        {"other.csv": commas},
        None,
        path="r.csv",
        says="no such file",
    )


ODD = (
    endings,
    separators,
    headers,
    orders,
    times,
    values,
    missing,
    ids,
    repeats,
    encodings,
    wides,
    packed,
    folders,
    junk,
    keys,
)
