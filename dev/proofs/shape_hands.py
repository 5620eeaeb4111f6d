"""What apps, hands and less usual programs write: shapes of `shape_files`."""

from __future__ import annotations

import base64
import io
import json
import struct
import tarfile
from collections.abc import Callable, Iterator

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from shape_files import (
    BY_USER,
    DENSE,
    FOUR,
    ROWS,
    I,
    R,
    Row,
    Shape,
    U,
    always,
    as_bytes,
    database,
    entries,
    frame,
    json_lines,
    midnight,
    moment,
    one,
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

DAY = when("%Y-%m-%d")
CSV = table(",", "user,item,rating,timestamp", *FOUR)
THREE = table(",", "user,item,rating", U, I, R)


def name(row: Row) -> str:
    """Return a user as a name with a comma, in quotation marks."""
    return f'"Miller, Ann {row.user}"'


def code(row: Row) -> str:
    """Return an item as a code that could be a number."""
    return f"{row.item}E5"


def apps() -> Iterator[Shape]:
    """Yield what apps and shops export."""
    yield one(
        "apps", "StoryGraph, of one reader", "storygraph.csv",
        table(",", "Title,Authors,ISBN/UID,Format,Read Status,Date Added,Last Date Read,Star Rating",
              lambda r: f"Book {r.item}", always("A. Author"), lambda r: f"978{r.item:010}",
              always("paperback"), always("read"), DAY, DAY, R, rows=BY_USER[:9]),
        None, says="no column .*user",
    )  # fmt: skip
    yield one(
        "apps", "App Store Connect", "reviews.csv",
        table(",", "Date,App Name,Storefront,Rating,Title,Review,Nickname", DAY,
              lambda r: f"App {r.item}", always("us"), R, always("nice"),
              always('"I, like, it"'), lambda r: f"nick{r.user}"),
        truth(lambda r: f"nick{r.user}", lambda r: f"App {r.item}", R, midnight),
        option={"columns": {"user": "Nickname", "item": "App Name"}},
    )  # fmt: skip
    yield one(
        "apps", "Trustpilot", "reviews.csv",
        table(",", "Review Id,Review Created (UTC),Review Username,Review User Id,Domain Url,"
              "Review Stars,Review Title", lambda r: f"rev{r.user:03}x{r.item:03}",
              when("%Y-%m-%d %H:%M:%S"),
              lambda r: f"Ann {r.user}", lambda r: f"5f{r.user:022x}",
              lambda r: f"shop{r.item}.com", R, always("ok")),
        truth(lambda r: f"5f{r.user:022x}", lambda r: f"shop{r.item}.com"),
        option={"columns": {"user": "Review User Id", "item": "Domain Url",
                            "rating": "Review Stars", "timestamp": "Review Created (UTC)"}},
    )  # fmt: skip
    yield one(
        "apps", "Yotpo", "yotpo.csv",
        table(",", "Review Score,Review Content,Email,Product ID,Product Title,Review Date",
              R, always("good"), lambda r: f"u{r.user}@x.org", I, lambda r: f"Mug {r.item}", DAY),
        truth(lambda r: f"u{r.user}@x.org", I, R, midnight),
        option={"columns": {"user": "Email", "rating": "Review Score", "item": "Product ID",
                            "timestamp": "Review Date"}},
    )  # fmt: skip
    yield one(
        "apps", "MovieLens, one's own ratings", "movielens-ratings.csv",
        table(",", "movie_id,imdb_id,tmdb_id,rating,average_rating,title", I,
              lambda r: f"tt{r.item:07}", lambda r: str(r.item * 7), R, always("3.4"),
              lambda r: f"Film {r.item}", rows=BY_USER[:9]),
        None, says="no column .*user",
    )  # fmt: skip
    yield one(
        "apps", "Plex, a database of many tables", "plex.db",
        database(
            "create table accounts (id integer, name text)",
            "create table metadata_item_settings (id integer, account_id integer, guid text, "
            "rating float, view_count integer, updated_at integer)",
            "create table tags (id integer, tag text)",
            rows={
                "accounts": [(n, f"ann{n}") for n in range(1, 41)],
                "metadata_item_settings": [
                    (n, r.user, f"plex://movie/{r.item}", float(r.rating), 1, r.time)
                    for n, r in enumerate(ROWS)
                ],
                "tags": [(1, "Drama")],
            },
        ),
        truth(U, lambda r: f"plex://movie/{r.item}"),
        option={"table": "metadata_item_settings",
                "columns": {"user": "account_id", "item": "guid", "timestamp": "updated_at"}},
    )  # fmt: skip
    yield one(
        "apps", "Moodle, grades", "grades.csv",
        wide(DENSE, corner="First name,Surname,Email address", blank="-",
             user=lambda u: f"Ann,No{u},ann{u}@x.org", item=lambda i: f"Quiz: Film {i} (Real)",
             rating=lambda x: f"{x}.00"),
        untimed(DENSE, user=lambda r: f"ann{r.user}@x.org",
                item=lambda r: f"Quiz: Film {r.item} (Real)"),
        option={"format": "matrix", "columns": {"user": "Email address"},
                "not_items": ["First name", "Surname"]},
        ordered=False, says="Email|not_items|matrix",
    )  # fmt: skip
    points = wide(DENSE, corner="Student,ID", user=lambda u: f"Ann {u},{900 + u}",
                  item=lambda i: f"Film {i} ({i})").split("\n", 1)  # fmt: skip
    yield one(
        "apps", "Canvas, points possible below the header", "gradebook.csv",
        "\n".join([points[0], "Points Possible,," + ",".join(["5"] * 20), points[1]]),
        untimed(DENSE, user=lambda r: f"Ann {r.user}", item=lambda r: f"Film {r.item} ({r.item})"),
        ordered=False, says="Points Possible|matrix",
        undecidable="a line of what can be reached is like one of a person",
    )  # fmt: skip
    yield one(
        "apps", "Notion", "Ratings 3f2a.csv",
        "\ufeff" + table(",", "Name,Person,Film,Stars,Created time", lambda r: f"{r.user}/{r.item}",
              lambda r: f"Ann {r.user}", lambda r: f"Film {r.item} (https://www.notion.so/{r.item})",
              lambda r: "★" * r.rating, when('"%B %-d, %Y %-I:%M %p"')),
        truth(lambda r: f"Ann {r.user}", lambda r: f"Film {r.item} (https://www.notion.so/{r.item})",
              R, lambda r: r.time // 60 * 60),
        option={"columns": {"user": "Person", "item": "Film", "rating": "Stars",
                            "timestamp": "Created time"}},
    )  # fmt: skip
    yield one(
        "apps", "Neo4j, a file of relations", "rated.csv",
        table(",", ":START_ID(User),:END_ID(Movie),rating:float,:TYPE", U, I, R, always("RATED")),
        untimed(),
        option={"columns": {"user": ":START_ID(User)", "item": ":END_ID(Movie)"}},
    )  # fmt: skip
    yield one(
        "apps", "Neptune, edges", "edges.csv",
        table(",", "~id,~from,~to,~label,rating:Double", lambda r: f"e{r.user}-{r.item}", U, I,
              always("rated"), R),
        untimed(), option={"columns": {"user": "~from", "item": "~to"}},
    )  # fmt: skip


def by_hand() -> Iterator[Shape]:
    """Yield what people type and paste."""
    yield one(
        "by hand",
        "title lines filled up with commas",
        "r.csv",
        "Our ratings,,,\nspring term,,,\n,,,\n" + CSV,
    )
    yield one(
        "by hand", "two tables, one below the other", "r.csv",
        CSV + "\nitem,title\n" + "".join(f"{n},Film {n}\n" for n in range(1, 31)),
        says=r"2 fields",
    )  # fmt: skip
    yield one(
        "by hand", "two tables, side by side", "r.csv",
        table(",", "user,item,rating,,item,title", U, I, R, always(""),
              lambda r: str(ROWS.index(r) + 1) if ROWS.index(r) < 30 else "",
              lambda r: f"Film {ROWS.index(r) + 1}" if ROWS.index(r) < 30 else ""),
        untimed(), option={"columns": {"item": 2}}, says="2 columns are called",
    )  # fmt: skip
    yield one(
        "by hand",
        "decimal commas between commas",
        "r.csv",
        table(",", "user,item,rating", U, I, lambda r: f"{r.rating},5"),
        untimed(rating=lambda r: f"{r.rating}.5"),
        says="decimal|4 fields|fields",
        undecidable="a comma between numbers may part two fields",
    )
    yield one(
        "by hand", "mixed scales, of 5 and of 10", "r.csv",
        table(",", "user,item,rating", U, I,
              lambda r: f"{r.rating}/5" if r.user % 2 else f"{2 * r.rating}/10"),
        untimed(), says="/10|values|/5",
    )  # fmt: skip
    yield one(
        "by hand",
        "numbers and a star",
        "r.csv",
        table(",", "user,item,rating", U, I, lambda r: f"{r.rating}.0 ⭐"),
        untimed(),
    )
    yield one(
        "by hand",
        "a star before numbers",
        "r.csv",
        table(",", "user,item,rating", U, I, lambda r: f"★ {r.rating}"),
        untimed(),
    )
    faces = "😡🙁😐🙂😀"
    yield one(
        "by hand",
        "faces",
        "r.csv",
        table(",", "user,item,rating", U, I, lambda r: faces[r.rating - 1]),
        untimed(),
        option={"values": {face: n for n, face in enumerate(faces, 1)}},
    )
    tones = ["👎🏽", "👎", "👎🏿", "👍", "👍🏽"]
    yield one(
        "by hand",
        "thumbs in tones of skin",
        "r.csv",
        table(",", "user,item,rating", U, I, lambda r: tones[r.rating - 1]),
        untimed(rating=lambda r: str(int(r.rating > 3))),
        option={"values": {each: int(n > 2) for n, each in enumerate(tones)}},
    )
    yield one(
        "by hand", "Unicode minus", "r.csv",
        table(",", "user,item,rating", U, I,
              lambda r: f"{r.rating - 3}".replace("-", "\N{MINUS SIGN}")),
        untimed(rating=lambda r: str(r.rating - 3)),
    )  # fmt: skip
    yield one(
        "by hand",
        "Arabic digits",
        "r.csv",
        table(",", "user,item,rating", U, I, lambda r: "٠١٢٣٤٥"[r.rating]),
        untimed(),
    )
    yield one(
        "by hand",
        "Devanagari digits",
        "r.csv",
        table(",", "user,item,rating", U, I, lambda r: "०१२३४५"[r.rating]),
        untimed(),
    )
    yield one(
        "by hand", "blanks that do not break", "r.csv",
        table(",", "user\xa0id,item\xa0id,rating", U, I,
              lambda r: f"{r.rating}\xa0"),
        untimed(),
    )  # fmt: skip
    yield one(
        "by hand",
        "marks without width",
        "r.csv",
        table(",", "\u200buser,item\u200e,rating", U, I, R),
        untimed(),
    )
    yield one(
        "by hand",
        "names with commas in quotes",
        "r.csv",
        table(",", "user,item,rating", name, I, R),
        untimed(user=lambda r: name(r)[1:-1]),
        frame="csv",
    )
    yield one(
        "by hand",
        "codes such as 12E5",
        "r.csv",
        table(",", "user,item,rating", U, code, R),
        untimed(item=code),
    )
    yield one(
        "by hand",
        "codes such as 12E5, without header",
        "r.csv",
        table(",", "", U, code, R),
        untimed(item=code),
    )
    yield one(
        "by hand", "a reply to a mail", "r.txt",
        "".join(f"> {line}\n" for line in THREE.splitlines()), untimed(),
        says="> user|mail|quot",
    )  # fmt: skip
    yield one(
        "by hand", "a fence of Markdown", "r.md", f"Here they are:\n\n```csv\n{THREE}```\n",
        untimed(), says="```|Markdown|fence",
    )  # fmt: skip
    yield one(
        "by hand",
        "comments with ;",
        "r.csv",
        "; crawl of May\n; by ann\n" + THREE,
        untimed(),
    )
    yield one(
        "by hand", "comments with ! between", "r.txt",
        table(" ", "", U, I, R, rows=ROWS[:100]) + "! second half\n"
        + table(" ", "", U, I, R, rows=ROWS[100:]),
        untimed(), says="second half|1 field|fields",
    )  # fmt: skip
    yield one(
        "by hand", "two files joined, each with a mark", "r.csv",
        b"\xef\xbb\xbf" + table(",", "user,item,rating", U, I, R, rows=ROWS[:100]).encode()
        + b"\xef\xbb\xbf" + table(",", "user,item,rating", U, I, R, rows=ROWS[100:]).encode(),
        untimed(),
    )  # fmt: skip
    yield one(
        "by hand", "wide, 8/10 in the fields", "r.csv",
        wide(DENSE, corner="name", user=lambda u: f"Ann {u}", item=lambda i: f"Film {i}",
             rating=lambda x: f"{2 * x}/10"),
        untimed(DENSE, user=lambda r: f"Ann {r.user}", item=lambda r: f"Film {r.item}",
                rating=lambda r: str(2 * r.rating)),
        ordered=False, says="values|matrix",
    )  # fmt: skip
    yield one(
        "by hand", "wide, stars in the fields", "r.csv",
        wide(DENSE, corner="name", user=lambda u: f"Ann {u}", item=lambda i: f"Film {i}",
             rating=lambda x: "★" * x + "☆" * (5 - x)),
        untimed(DENSE, user=lambda r: f"Ann {r.user}", item=lambda r: f"Film {r.item}"),
        ordered=False, says="values|matrix",
    )  # fmt: skip
    yield one(
        "by hand", "wide, in a workbook, with a mean at the end", "r.xlsx",
        workbook(ratings=[
            ["name", *(f"Film {i}" for i in range(1, 21)), "Mean"],
            *([f"Ann {u}", *(r.rating for r in DENSE if r.user == u),
               sum(r.rating for r in DENSE if r.user == u) / 20] for u in range(1, 41)),
        ]),
        untimed(DENSE, user=lambda r: f"Ann {r.user}", item=lambda r: f"Film {r.item}"),
        ordered=False,
    )  # fmt: skip
    yield one(
        "by hand", "a workbook with a sheet for each year", "r.xlsx",
        workbook(**{
            f"y{year}": [["user", "item", "rating"], *(r[:3] for r in part)]
            for year, part in ((2023, ROWS[:200]), (2024, ROWS[200:]))
        }),
        untimed(),
    )  # fmt: skip
    yield one(
        "by hand", "a workbook with an empty first column and a title", "r.xlsx",
        workbook(ratings=[["", "Ratings of May"], [""], ["", "user", "item", "rating"],
                          *(["", *r[:3]] for r in ROWS)]),
        untimed(),
    )  # fmt: skip


def headers() -> Iterator[Shape]:
    """Yield headers in other languages, with the separators and decimals of their programs."""
    half = {"rating": lambda r: f"{r.rating}.5"}
    comma: Callable[[Row], str] = lambda r: f"{r.rating},5"  # noqa: E731
    for language, header, named in (
        ("German", "Benutzer;Artikel;Bewertung", None),
        ("French", "utilisateur;produit;note", None),
        ("Spanish", "usuario;película;calificación", None),
        ("Italian", "utente;prodotto;voto", None),
        ("Portuguese", "usuário;filme;nota", None),
        ("Polish", "użytkownik;produkt;ocena", None),
        ("Russian", "пользователь;товар;оценка", None),
        ("Turkish", "kullanıcı;ürün;puan", None),
        ("Dutch", "gebruiker;artikel;beoordeling", None),
    ):
        names = header.split(";")
        yield one(
            "own languages", language, "r.csv", table(";", header, U, I, comma), untimed(**half),
            option=named or {"columns": dict(zip(("user", "item", "rating"), names, strict=True))},
        )  # fmt: skip
    for language, header in (
        ("Japanese", "ユーザー,商品,評価"),
        ("Korean", "사용자,상품,평점"),
        ("Arabic", "المستخدم,المنتج,التقييم"),
        ("Hebrew", "משתמש,פריט,דירוג"),
    ):
        names = header.split(",")
        yield one(
            "own languages",
            language,
            "r.csv",
            table(",", header, U, I, R),
            untimed(),
            option={"columns": dict(zip(("user", "item", "rating"), names, strict=True))},
        )
    months = "Januar Februar März April Mai Juni Juli August September Oktober November Dezember"
    yield one(
        "own languages", "German months", "r.csv",
        table(";", "user;item;rating;date", U, I, R,
              lambda r: f"{moment(r).day}. {months.split()[moment(r).month - 1]} {moment(r).year}"),
        truth(time=midnight), says="date|time",
    )  # fmt: skip
    months = "janv. févr. mars avr. mai juin juil. août sept. oct. nov. déc."
    yield one(
        "own languages", "French months", "r.csv",
        table(";", "user;item;rating;date", U, I, R,
              lambda r: f"{moment(r).day} {months.split()[moment(r).month - 1]} {moment(r).year}"),
        truth(time=midnight), says="date|time",
    )  # fmt: skip
    yield one(
        "own languages",
        "full-width commas",
        "r.csv",
        table("，", "user，item，rating", U, I, R),
        untimed(),
    )
    yield one(
        "own languages",
        "Arabic commas",
        "r.csv",
        table("،", "user،item،rating", U, I, R),
        untimed(),
    )
    yield one(
        "own languages", "quotes of French", "r.csv",
        table(";", "« user »;« item »;« rating »", lambda r: f"« Ann {r.user} »", I, R),
        untimed(user=lambda r: f"Ann {r.user}"), says="«",
    )  # fmt: skip
    japanese = table(
        ",", "user,item,rating", lambda r: f"田中{r.user}", lambda r: f"映画{r.item}", R
    )
    yield one(
        "own languages", "ISO-2022-JP", "r.csv", japanese.encode("iso2022_jp"),
        untimed(user=lambda r: f"田中{r.user}", item=lambda r: f"映画{r.item}"),
        option={"encoding": "iso2022_jp"}, says="2022",
    )  # fmt: skip
    hebrew = table(",", "user,item,rating", U, lambda r: f"סרט {r.item}", R)
    yield one(
        "own languages",
        "cp1255, Hebrew",
        "r.csv",
        hebrew.encode("cp1255"),
        untimed(item=lambda r: f"סרט {r.item}"),
        option={"encoding": "cp1255"},
        undecidable="the same bytes are Cyrillic letters",
    )
    yield one(
        "own languages", "times as ages", "r.csv",
        table(",", "user,item,rating,time", U, I, R, lambda r: f"{r.item} days ago"),
        untimed(), option={"columns": {"timestamp": None}},
    )  # fmt: skip
    yield one(
        "own languages", "a year and a month", "r.csv",
        table(",", "user,item,rating,date", U, I, R, when("%Y-%m")),
        truth(time=lambda r: pd.Timestamp(f"{moment(r):%Y-%m}-01").timestamp()),
        option={"time_format": "%Y-%m"}, says="date|time",
    )  # fmt: skip
    yield one(
        "own languages", "weeks", "r.csv",
        table(",", "user,item,rating,date", U, I, R, when("%G-W%V")),
        untimed(), option={"columns": {"timestamp": None}},
    )  # fmt: skip


def writers() -> Iterator[Shape]:
    """Yield what writers of tables do by default, and less usual formats."""
    data = frame("user", "item", "rating")
    plain = pa.Table.from_pandas(data, preserve_index=False)
    yield one(
        "writers", "Arrow for R, dictionaries and zstd", "r.parquet",
        written(lambda out: pq.write_table(
            plain.set_column(0, "user", plain["user"].cast(pa.string()).dictionary_encode()),
            out, compression="zstd")),
        untimed(),
    )  # fmt: skip
    yield one(
        "writers", "Parquet, decimals and times with a zone", "r.parquet",
        written(lambda out: pq.write_table(pa.table({
            "user": plain["user"], "item": plain["item"],
            "rating": plain["rating"].cast(pa.decimal128(21, 1)),
            "timestamp": pa.array([r.time * 1000 for r in ROWS], pa.timestamp("ms", "Europe/Rome")),
        }), out)),
    )  # fmt: skip
    yield one(
        "writers", "Parquet, nested user", "r.parquet",
        written(lambda out: pq.write_table(pa.table({
            "user": pa.array([{"id": r.user, "name": f"Ann {r.user}"} for r in ROWS]),
            "item": plain["item"], "rating": plain["rating"],
        }), out)),
        untimed(), says="struct|nested|user",
    )  # fmt: skip
    yield one("writers", "data.table fwrite", "r.csv",
              table(",", "user,item,rating,timestamp", U, I, R, when("%Y-%m-%dT%H:%M:%SZ")))  # fmt: skip
    yield one("writers", "R write.table with col.names=NA", "r.txt",
              '"" "user" "item" "rating"\n'
              + "".join(f'"{n}" {r.user} {r.item} {r.rating}\n' for n, r in enumerate(ROWS, 1)),
              untimed())  # fmt: skip
    yield one("writers", "Julia writedlm", "r.txt", table("\t", "", U, I, lambda r: f"{r.rating}.0"),
              untimed())  # fmt: skip
    yield one("writers", "key=value lines of a log", "r.log",
              "".join(f"ts={moment(r):%Y-%m-%dT%H:%M:%SZ} level=info user={r.user} item={r.item} "
                      f"rating={r.rating}\n" for r in ROWS),
              truth(), says="key=value")  # fmt: skip
    yield one("writers", "queries of addresses", "r.txt",
              "".join(f"user={r.user}&item={r.item}&rating={r.rating}\n" for r in ROWS),
              untimed(), says="queries")  # fmt: skip
    yield one("writers", "JSON behind the time of a log", "r.log",
              "".join(f"{moment(r):%Y-%m-%d %H:%M:%S} INFO " + json.dumps(each) + "\n"
                      for r, each in zip(ROWS, entries("user", "item", "rating"), strict=True)),
              untimed(), says="JSON|field")  # fmt: skip
    node = [{"node": each} for each in entries()]
    yield one("writers", "GraphQL, edges and nodes", "r.json",
              json.dumps({"data": {"ratings": {"edges": node, "pageInfo": {"hasNextPage": False}}}}),
              option={"columns": {"user": "node.user", "item": "node.item",
                                  "rating": "node.rating", "timestamp": "node.timestamp"}},
              )  # fmt: skip
    attributes = [{"type": "rating", "id": str(n), "attributes": each}
                  for n, each in enumerate(entries())]  # fmt: skip
    yield one("writers", "JSON:API, attributes", "r.json", json.dumps({"data": attributes}),
              option={"columns": {"user": "attributes.user", "item": "attributes.item",
                                  "rating": "attributes.rating",
                                  "timestamp": "attributes.timestamp"}})  # fmt: skip
    yield one("writers", "JSONP", "r.js", f"callback({json.dumps(entries())});", says="JSON|script")
    yield one("writers", "JSON text sequences", "r.json",
              "".join("\x1e" + json.dumps(each) + "\n" for each in entries()))  # fmt: skip
    by_user = [{"user": u, "ratings": {str(r.item): r.rating for r in BY_USER if r.user == u}}
               for u in range(1, 41)]  # fmt: skip
    yield one("writers", "a dict of ratings in each line", "r.jsonl", json_lines(by_user),
              untimed(BY_USER), ordered=False)  # fmt: skip
    insert = "INSERT"
    yield one("writers", "SQL Server, generated scripts", "r.sql",
              "USE [shop]\nGO\nCREATE TABLE [dbo].[Ratings](\n\t[user] [int] NOT NULL,\n\t[item] "
              "[nvarchar](50) NULL,\n\t[rating] [float] NULL\n) ON [PRIMARY]\nGO\n"
              + "".join(f"{insert} [dbo].[Ratings] ([user], [item], [rating]) VALUES ({r.user}, "
                        f"N'{r.item}', {r.rating})\nGO\n" for r in ROWS),
              untimed(), says="SQL")  # fmt: skip
    yield one("writers", "Oracle SQL Developer, inserts", "r.sql",
              "REM INSERTING into RATINGS\nSET DEFINE OFF;\n"
              + "".join(f"{insert} into RATINGS (USER_ID,ITEM_ID,RATING) values ({r.user},{r.item},"
                        f"{r.rating});\n" for r in ROWS),
              untimed())  # fmt: skip
    yield one("writers", "commands of Redis", "r.txt",
              "".join(f"HSET ratings:{r.user} {r.item} {r.rating}\n" for r in ROWS),
              None, says="Redis")  # fmt: skip
    yield one("writers", "facts of Prolog", "r.pl",
              "".join(f"rated({r.user},{r.item},{r.rating}).\n" for r in ROWS),
              None, says=r"tuples")  # fmt: skip
    yield one("writers", "text of protocol buffers", "r.textproto",
              "".join(f"ratings {{\n  user: {r.user}\n  item: {r.item}\n  rating: {r.rating}\n}}\n"
                      for r in ROWS),
              None, says="protocol")  # fmt: skip
    yield one("writers", "EDN of Clojure", "r.edn",
              "".join(f"{{:user {r.user} :item {r.item} :rating {r.rating}}}\n" for r in ROWS),
              None, says="not JSON")  # fmt: skip
    yield one("writers", "Orange, three header lines", "r.tab",
              "user\titem\trating\nd\td\tc\n\t\tclass\n" + table("\t", "", U, I, R),
              untimed())  # fmt: skip
    yield one("writers", "Weka, sparse ARFF", "r.arff",
              "@relation r\n@attribute user numeric\n@attribute item numeric\n@attribute rating "
              "numeric\n@data\n"
              + "".join(f"{{0 {r.user}, 1 {r.item}, 2 {r.rating}}}\n" for r in ROWS),
              untimed(), says="sparse|ARFF")  # fmt: skip
    yield one("writers", "Matrix Market of a pattern", "r.mtx",
              f"%%MatrixMarket matrix coordinate pattern general\n40 30 {len(ROWS)}\n"
              + table(" ", "", U, I), None, says="pattern")  # fmt: skip
    yield one("writers", "Matrix Market, dense", "r.mtx",
              "%%MatrixMarket matrix array real general\n40 20\n"
              + "".join(f"{r.rating}\n" for r in sorted(DENSE, key=lambda r: (r.item, r.user))),
              untimed(DENSE), ordered=False, says="array|dense")  # fmt: skip
    head = b"HEADER RECORD*******LIBRARY HEADER RECORD!!!!!!!000000000000000000000000000000  "
    yield one("writers", "SAS transport", "r.xpt", head + bytes(4000), None, says="SAS")
    yield one("writers", "SPSS portable", "r.por",
              b"ASCII SPSS PORT FILE".ljust(40).decode() * 5 + "SPSSPORT" + "A" * 400,
              None, says="SPSS")  # fmt: skip
    cells = "".join(
        "<Row>" + "".join(f'<Cell><Data ss:Type="String">{cell}</Data></Cell>' for cell in row)
        + "</Row>" for row in [("user", "item", "rating"), *(r[:3] for r in ROWS)]
    )  # fmt: skip
    yield one("writers", "Excel 2003, XML", "r.xls",
              '<?xml version="1.0"?>\n<?mso-application progid="Excel.Sheet"?>\n<Workbook '
              'xmlns="urn:schemas-microsoft-com:office:spreadsheet" '
              'xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet"><Worksheet ss:Name="r">'
              f"<Table>{cells}</Table></Worksheet></Workbook>",
              None, says="XML")  # fmt: skip
    fields = b"".join(
        each.ljust(11, b"\0") + b"N" + bytes(4) + bytes([8, 0]) + bytes(14)
        for each in (b"USER", b"ITEM", b"RATING")
    )
    records = b"".join(b" " + b"".join(b"%8d" % value for value in r[:3]) for r in ROWS)
    dbf = struct.pack("<BBBBLHH20x", 3, 124, 1, 1, len(ROWS), 32 + len(fields) + 1, 25)
    yield one("writers", "dBASE", "r.dbf", dbf + fields + b"\r" + records + b"\x1a", None,
              says="dBASE|DBF")  # fmt: skip
    yield one("writers", "tar.zst", "r.tar.zst",
              squeezed(tarred({"ratings.csv": CSV}), "zstd"))  # fmt: skip
    yield one("writers", "compress", "r.csv.Z", b"\x1f\x9d\x90" + bytes(range(256)) * 9, None,
              says="compress|uncompress|gzip")  # fmt: skip
    yield one("writers", "base64", "r.csv", base64.encodebytes(as_bytes(CSV)), None,
              says="base64|field|column|separator")  # fmt: skip
    yield one("writers", "units and records", "r.txt",
              "\x1e".join(["user\x1fitem\x1frating", *(f"{r.user}\x1f{r.item}\x1f{r.rating}"
                                                      for r in ROWS)]),
              untimed(), says="x1e|record|field|separator")  # fmt: skip
    yield one("writers", "zip of a workbook", "r.zip",
              zipped({"r.xlsx": workbook(r=[["user", "item", "rating"], *(r[:3] for r in ROWS)])}),
              untimed())  # fmt: skip
    links = io.BytesIO()
    with tarfile.open(fileobj=links, mode="w") as archive:
        for each, target in (("data/ratings.csv", ""), ("latest.csv", "data/ratings.csv")):
            member = tarfile.TarInfo(each)
            member.type = tarfile.SYMTYPE if target else tarfile.REGTYPE
            member.linkname, member.size = target, 0 if target else len(CSV.encode())
            archive.addfile(member, None if target else io.BytesIO(CSV.encode()))
    yield one("writers", "tar with a link", "r.tar", links.getvalue())
    yield one("writers", "QUOTE_NONNUMERIC, ids as texts", "r.csv",
              table(",", '"user","item","rating"', lambda r: f'"{r.user:03}"',
                    lambda r: f'"{r.item}"', lambda r: f"{r.rating}.0"),
              untimed(user=lambda r: f"{r.user:03}"))  # fmt: skip
    yield one("writers", "times in seconds as floats, of an unusual name", "r.csv",
              table(",", "user,item,rating,when_seen", U, I, R, lambda r: f"{r.time}.25"),
              option={"columns": {"timestamp": "when_seen"}}, says="when_seen")  # fmt: skip
    yield one("writers", "Parquet with an unusual name of times", "r.parquet",
              written(lambda out: frame("user", "item", "rating", "seen_at_utc", times="dates")
                      .to_parquet(out)),
              option={"columns": {"timestamp": "seen_at_utc"}}, says="seen_at_utc")  # fmt: skip


HANDS = (apps, by_hand, headers, writers)
