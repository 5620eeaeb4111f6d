"""What sites, shops, surveys and tools export: shapes of `shape_files`."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
from shape_files import (
    BY_USER,
    DENSE,
    ROWS,
    I,
    R,
    Row,
    Shape,
    T,
    U,
    always,
    decimal,
    frame,
    json_lines,
    midnight,
    moment,
    one,
    table,
    truth,
    untimed,
    when,
    wide,
    workbook,
    written,
)

DAY = when("%Y-%m-%d")
NO_USER = r"no column .*user|user.*name"


def title(row: Row) -> str:
    """Return an item as the title of a film, with a comma."""
    return f"Film {row.item}, The"


def quoted(column: Callable[[Row], str]) -> Callable[[Row], str]:
    """Return a column in quotation marks."""
    return lambda row: f'"{column(row)}"'


def mail(row: Row) -> str:
    """Return a user as an address."""
    return f"u{row.user}@x.org"


def half(row: Row) -> str:
    """Return the rating in half stars."""
    return f"{row.rating - 0.5:.1f}"


def sites() -> Iterator[Shape]:
    """Yield what sites give a member, or all members."""
    yield one(
        "sites",
        "Letterboxd, of one member",
        "ratings.csv",
        table(",", "Date,Name,Year,Letterboxd URI,Rating", DAY, quoted(title), always("1999"),
              lambda r: f"https://boxd.it/{r.item}", half, rows=BY_USER[:9]),
        None,
        says=NO_USER,
    )  # fmt: skip
    yield one(
        "sites",
        "Letterboxd, of several members",
        "ratings.csv",
        table(",", "Username,Date,Name,Year,Letterboxd URI,Rating", lambda r: f"ann{r.user}", DAY,
              quoted(title), always("1999"), lambda r: f"https://boxd.it/{r.item}", half),
        truth(lambda r: f"ann{r.user}", title, half, midnight),
        option={"columns": {"user": "Username", "item": "Name"}},
    )  # fmt: skip
    yield one(
        "sites",
        "IMDb, of one member",
        "ratings.csv",
        table(",", "Const,Your Rating,Date Rated,Title,URL,Title Type,IMDb Rating,Num Votes",
              lambda r: f"tt{r.item:07}", R, DAY, quoted(title),
              lambda r: f"https://www.imdb.com/title/tt{r.item:07}", always("Movie"),
              lambda r: f"{r.item % 9 + 0.7:.1f}", lambda r: str(r.item * 1000),
              rows=BY_USER[:9]),
        None,
        says=NO_USER,
    )  # fmt: skip
    yield one(
        "sites",
        "IMDb, of several members",
        "ratings.csv",
        table(",", "userId,Const,Your Rating,Date Rated,Title,Title Type,IMDb Rating,Num Votes", U,
              lambda r: f"tt{r.item:07}", R, DAY, quoted(title), always("Movie"),
              lambda r: f"{r.item % 9 + 0.7:.1f}", lambda r: str(r.item * 1000)),
        truth(item=lambda r: f"tt{r.item:07}", time=midnight),
        option={"columns": {"item": "Const", "rating": "Your Rating", "timestamp": "Date Rated"}},
    )  # fmt: skip
    yield one(
        "sites",
        "Trakt, of one member",
        "ratings-movies.json",
        json.dumps([
            {"rated_at": f"{moment(r):%Y-%m-%dT%H:%M:%S.000Z}", "rating": r.rating, "type": "movie",
             "movie": {"title": title(r), "year": 1999, "ids": {"trakt": r.item, "slug": "a"}}}
            for r in BY_USER[:9]
        ]),
        None,
        says=NO_USER,
    )  # fmt: skip
    yield one(
        "sites",
        "MyAnimeList, XML",
        "animelist.xml",
        '<?xml version="1.0" encoding="UTF-8" ?>\n<myanimelist>\n<myinfo><user_id>1</user_id>'
        "</myinfo>\n<anime><series_animedb_id>1</series_animedb_id><my_score>9</my_score></anime>\n"
        "</myanimelist>\n",
        None,
        says="XML",
    )
    yield one(
        "sites",
        "AniList, an answer of its API",
        "a.json",
        json.dumps({"data": {"Page": {"pageInfo": {"total": 340}, "mediaList": [
            {"userId": r.user, "mediaId": r.item, "score": r.rating, "updatedAt": r.time}
            for r in ROWS
        ]}}}),
        truth(),
        option={"columns": {"item": "mediaId"}},
    )  # fmt: skip
    yield one(
        "sites",
        "Spotify, of one listener",
        "StreamingHistory0.json",
        json.dumps([
            {"endTime": f"{moment(r):%Y-%m-%d %H:%M}", "artistName": f"Band {r.item}",
             "trackName": title(r), "msPlayed": r.time % 300_000}
            for r in BY_USER[:20]
        ]),
        None,
        says=NO_USER,
    )  # fmt: skip
    yield one(
        "sites",
        "Netflix, ratings of profiles",
        "Ratings.csv",
        table(",", "Profile Name,Title Name,Rating Type,Star Value,Thumbs Value,Device Model,"
              "Event Utc Ts", lambda r: f"Ann {r.user}", quoted(title), always("star"), R,
              always(""), always("TV"), when("%Y-%m-%d %H:%M:%S")),
        truth(lambda r: f"Ann {r.user}", title),
        option={"columns": {"user": "Profile Name", "item": "Title Name", "rating": "Star Value",
                            "timestamp": "Event Utc Ts"}},
    )  # fmt: skip
    yield one(
        "sites",
        "Netflix, what was watched",
        "NetflixViewingHistory.csv",
        table(",", "Title,Date", quoted(title), when("%m/%d/%y"), rows=BY_USER[:30]),
        None,
        says="user|field|column",
    )
    yield one(
        "sites",
        "Google Play, reviews of apps",
        "reviews.csv",
        table(",", "reviewId,userName,content,score,thumbsUpCount,reviewCreatedVersion,at,app_id",
              lambda r: f"gp:{r.user}-{r.item}", lambda r: f"Ann {r.user}", always('"good, really"'),
              R, lambda r: str(r.item % 3), always("1.0.2"), when("%Y-%m-%d %H:%M:%S"),
              lambda r: f"com.x.a{r.item}"),
        truth(lambda r: f"Ann {r.user}", lambda r: f"com.x.a{r.item}"),
        option={"columns": {"user": "userName", "item": "app_id", "rating": "score",
                            "timestamp": "at"}},
    )  # fmt: skip
    yield one(
        "sites",
        "Steam, reviews of a game",
        "reviews.json",
        json.dumps({"success": 1, "query_summary": {"num_reviews": 20}, "reviews": [
            {"recommendationid": str(r.time), "author": {"steamid": str(r.user),
             "playtime_forever": r.item}, "voted_up": r.rating > 3, "timestamp_created": r.time}
            for r in BY_USER[:20]
        ]}),
        None,
        says=r"no column .*item",
    )  # fmt: skip
    yield one(
        "sites",
        "Airbnb, reviews without ratings",
        "reviews.csv",
        table(",", "listing_id,id,date,reviewer_id,reviewer_name,comments", I, T, DAY, U,
              lambda r: f"Ann {r.user}", always('"Nice, clean"')),
        None,
        says=r"no column .*rating|no ratings",
    )  # fmt: skip
    yield one(
        "sites",
        "Udemy, comments",
        "Comments.csv",
        table(",", "id,course_id,rate,date,display_name,comment",
              lambda r: str(90_000_000 + r.user * 100 + r.item), I, decimal,
              when("%Y-%m-%dT%H:%M:%SZ"), lambda r: f"Ann {r.user}", always("good")),
        truth(lambda r: f"Ann {r.user}"),
        option={"columns": {"user": "display_name", "item": "course_id", "rating": "rate",
                            "timestamp": "date"}},
    )  # fmt: skip
    yield one(
        "sites",
        "X-Wines",
        "ratings.csv",
        table(",", "RatingID,UserID,WineID,Vintage,Rating,Date",
              lambda r: str(r.time), U, I, lambda r: str(1990 + r.user % 20), decimal,
              when("%Y-%m-%d %H:%M:%S")),
    )  # fmt: skip
    yield one(
        "sites",
        "Vivino, an answer of its API",
        "reviews.json",
        json.dumps({"reviews": [
            {"id": r.time, "rating": r.rating, "note": "good", "created_at":
             f"{moment(r):%Y-%m-%dT%H:%M:%S.000Z}", "user": {"id": r.user, "seo_name": "ann"},
             "vintage": {"id": 7, "wine": {"id": r.item}}}
            for r in ROWS
        ]}),
        truth(),
        option={"columns": {"user": "user.id", "item": "vintage.wine.id",
                            "timestamp": "created_at"}},
    )  # fmt: skip
    yield one(
        "sites",
        "Untappd, of one drinker",
        "beers.csv",
        table(",", "beer_name,brewery_name,beer_abv,rating_score,global_weighted_rating_score,bid",
              quoted(title), always("Ulm"), always("4.8"), half, always("3.71"), I,
              rows=BY_USER[:9]),
        None,
        says=NO_USER,
    )  # fmt: skip


def shops() -> Iterator[Shape]:
    """Yield what shops and logs hold."""
    yield one(
        "shops",
        "WooCommerce, reviews",
        "reviews.csv",
        table(",", "comment_ID,comment_post_ID,comment_author_email,comment_date,rating",
              lambda r: str(ROWS.index(r) + 1), I, mail, when("%Y-%m-%d %H:%M:%S"), R),
        truth(mail),
        option={"columns": {"user": "comment_author_email", "item": "comment_post_ID",
                            "timestamp": "comment_date"}},
    )  # fmt: skip
    yield one(
        "shops",
        "Shopify, reviews of Judge.me",
        "reviews.csv",
        table(",", "title,body,rating,review_date,reviewer_name,reviewer_email,product_id,"
              "product_handle", always("Nice"), always('"good, really"'), R,
              when("%Y-%m-%d %H:%M:%S UTC"), lambda r: f"Ann {r.user}", mail, I,
              lambda r: f"shoe-{r.item}"),
        truth(lambda r: f"Ann {r.user}"),
        option={"columns": { "item": "product_id",
                            "timestamp": "review_date"}},
    )  # fmt: skip
    yield one(
        "shops",
        "Segment, events",
        "events.jsonl",
        json_lines({"event": "Product Rated", "userId": str(r.user), "timestamp":
                    f"{moment(r):%Y-%m-%dT%H:%M:%S.000Z}", "properties":
                    {"product_id": str(r.item), "rating": r.rating}} for r in ROWS),
        option={"columns": {"user": "userId", "item": "properties.product_id",
                            "rating": "properties.rating", "timestamp": "timestamp"}},
    )  # fmt: skip
    yield one(
        "shops",
        "lines of a log",
        "ratings.log",
        "".join(
            f"{moment(r):%Y-%m-%dT%H:%M:%SZ} INFO rated user={r.user} item={r.item} "
            f"rating={r.rating}\n"
            for r in ROWS
        ),
        None,
        says="log|key=value|no number|not a number|columns|time",
    )
    yield one(
        "shops",
        "Kafka, keys before JSON",
        "topic.txt",
        "".join(
            f'{r.user}\t{{"user":{r.user},"item":{r.item},"rating":{r.rating}}}\n' for r in ROWS
        ),
        None,
        says="field|separator|JSON",
    )
    yield one(
        "shops",
        "Snowflake, capital keys",
        "data_0_0_0.json.gz",
        gzip.compress(
            json_lines(
                {"USER_ID": r.user, "ITEM_ID": r.item, "RATING": r.rating, "RATED_AT": f"{DAY(r)} "
                 f"{moment(r):%H:%M:%S.000}"} for r in ROWS
            ).encode()
        ),
        truth(),
        option={"columns": {"timestamp": "RATED_AT"}},
    )  # fmt: skip
    yield one(
        "shops",
        "Mechanical Turk, a batch",
        "Batch_1_results.csv",
        table(",", "HITId,AssignmentId,WorkerId,SubmitTime,Input.item,Answer.rating",
              lambda r: f'"3{r.item}"', lambda r: f'"A{ROWS.index(r)}"', lambda r: f'"W{r.user}"',
              quoted(when("%a %b %d %H:%M:%S UTC %Y")), quoted(I), quoted(R)),
        truth(lambda r: f"W{r.user}"),
        option={"columns": {"user": "WorkerId", "item": "Input.item", "rating": "Answer.rating",
                            "timestamp": "SubmitTime"}},
    )  # fmt: skip
    yield one(
        "shops",
        "Airtable, an automatic number first",
        "Grid view.csv",
        "\ufeff" + table(",", "Name,User,Film,Rating,Created", lambda r: str(ROWS.index(r) + 1), U, I,
                         R, when("%-m/%-d/%Y %-I:%M%p")),
        truth(time=lambda r: r.time // 60 * 60),
        option={"columns": {"item": "Film", "timestamp": "Created"}},
    )  # fmt: skip


def surveys() -> Iterator[Shape]:
    """Yield what tools of surveys write: a row for each person."""

    def titled(n: int) -> str:
        return f"Film {n}"

    films = untimed(DENSE, item=lambda r: f"Film {r.item}")
    yield one(
        "surveys",
        "LimeSurvey",
        "results-survey.csv",
        "\n".join(
            ['"id","submitdate","lastpage","startlanguage",'
             + ",".join(f'"G01Q01[SQ{n:03}]"' for n in range(1, 21))]
            + [",".join([f'"{user}"', '"2024-03-01 10:00:00"', '"1"', '"de"',
                         *(f'"{r.rating}"' for r in DENSE if r.user == user)])
               for user in range(1, 41)]
        ) + "\n",
        untimed(DENSE, item=lambda r: f"G01Q01[SQ{r.item:03}]"),
        option={"not_items": ["submitdate", "lastpage", "startlanguage"]},
        undecidable="all may have rated an item alike",
    )  # fmt: skip
    yield one(
        "surveys",
        "REDCap, with a column that says complete",
        "data.csv",
        "\n".join(
            ["record_id,redcap_survey_identifier," + ",".join(f"film_{n}" for n in range(1, 21))
             + ",survey_complete"]
            + [",".join([str(user), "", *(str(r.rating) for r in DENSE if r.user == user), "2"])
               for user in range(1, 41)]
        ) + "\n",
        untimed(DENSE, item=lambda r: f"film_{r.item}"),
        option={"not_items": ["redcap_survey_identifier", "survey_complete"]},
        undecidable="all may have rated an item alike",
    )  # fmt: skip
    yield one(
        "surveys",
        "Typeform",
        "responses.csv",
        "\n".join(
            ["#," + ",".join(titled(n) for n in range(1, 21))
             + ",Start Date (UTC),Submit Date (UTC),Network ID"]
            + [",".join([f"k{user}", *(str(r.rating) for r in DENSE if r.user == user),
                         "2024-03-01 10:00:00", "2024-03-01 10:05:00", f"ab{user}"])
               for user in range(1, 41)]
        ) + "\n",
        untimed(DENSE, user=lambda r: f"k{r.user}", item=lambda r: f"Film {r.item}"),
        option={"columns": {"user": "#"}},
    )  # fmt: skip
    book = [
        ["ID", "Start time", "Completion time", "Email", "Name", *map(titled, range(1, 21))],
        *([user, "3/1/24 10:00:00", "3/1/24 10:05:00", "anonymous", "",
           *(r.rating for r in DENSE if r.user == user)] for user in range(1, 41)),
    ]  # fmt: skip
    yield one("surveys", "Microsoft Forms", "Films(1-40).xlsx", workbook(Sheet1=book), films)
    yield one(
        "surveys",
        "Kobo, codes of items",
        "kobo.csv",
        "\n".join(
            ["start;end;_id;_uuid;" + ";".join(f"films/film_{n}" for n in range(1, 21))]
            + [";".join(["2024-03-01T10:00:00.000+01:00", "2024-03-01T10:05:00.000+01:00",
                         str(9000 + user), f"8d{user:04}",
                         *(str(r.rating) for r in DENSE if r.user == user)])
               for user in range(1, 41)]
        ) + "\n",
        untimed(DENSE, user=lambda r: str(9000 + r.user), item=lambda r: f"films/film_{r.item}"),
        option={"columns": {"user": "_id"}, "not_items": ["start", "end", "_uuid"]},
    )  # fmt: skip
    yield one(
        "surveys",
        "Label Studio",
        "project.json",
        json.dumps([
            {"id": r.item, "data": {"text": "a"}, "annotations": [
                {"completed_by": r.user, "result": [{"type": "rating", "value":
                 {"rating": r.rating}}]}]}
            for r in BY_USER[:20]
        ]),
        None,
        says="no column",
    )  # fmt: skip
    merged = [["Survey of films", "", ""], ["Person", "Film", "Answer"], ["user", "item", "rating"],
              *((r.user, r.item, r.rating) for r in ROWS)]  # fmt: skip
    yield one(
        "surveys", "Excel, title and two header lines", "r.xlsx", workbook(a=merged), untimed()
    )
    groups = "".join(
        f"{r.user if not n or BY_USER[n - 1].user != r.user else ''},{r.item},{r.rating}\n"
        for n, r in enumerate(BY_USER)
    )
    yield one(
        "surveys",
        "a user once above all of theirs",
        "r.csv",
        "user,item,rating\n" + groups,
        untimed(BY_USER),
        says="no user",
        undecidable="a user that is left out may be unknown",
    )
    totals = "".join(
        f"{r.user},{r.item},{r.rating}\n"
        + (f"{r.user} Total,,{sum(x.rating for x in BY_USER if x.user == r.user)}\n"
           if n + 1 == len(BY_USER) or BY_USER[n + 1].user != r.user else "")
        for n, r in enumerate(BY_USER)
    )  # fmt: skip
    yield one(
        "surveys",
        "Excel, subtotals",
        "r.csv",
        "user,item,rating\n" + totals + f"Grand Total,,{sum(r.rating for r in ROWS)}\n",
        untimed(BY_USER),
    )
    yield one(
        "surveys",
        "a wide table whose ids are below",
        "r.csv",
        wide(DENSE, corner="user_name", user=lambda n: f"Ann {n}", names="age", more=lambda n: [
            str(20 + n)]),
        untimed(DENSE, user=lambda r: f"Ann {r.user}"),
        option={"not_items": ["age"]},
    )  # fmt: skip


def tools() -> Iterator[Shape]:
    """Yield what databases and tools for data unload."""
    yield one("tools", "bcp, three signs", "r.txt", table("|~|", "", U, I, R), untimed())
    yield one("tools", "a broken bar", "r.txt", table("¦", "user¦item¦rating", U, I, R), untimed())
    lines = table("|", "", lambda r: f"{r.user:>6}", lambda r: f"{r.item:>6}",
                  lambda r: f"{r.rating:>6}").splitlines()  # fmt: skip
    dashes = "-" * 22
    yield one(
        "tools",
        "SAP, a list",
        "list.txt",
        "\n".join(
            ["17.09.2005                 Ratings                1", "", dashes,
             "|  user|  item|rating|", dashes, *(f"|{line}|" for line in lines), dashes]
        ) + "\n",
        untimed(),
        says="SAP",
    )  # fmt: skip
    pages = ""
    for n in range(0, len(ROWS), 14):
        pages += "\n      USER       ITEM     RATING\n---------- ---------- ----------\n"
        pages += "".join(f"{r.user:>10} {r.item:>10} {r.rating:>10}\n" for r in ROWS[n : n + 14])
    yield one(
        "tools",
        "SQL*Plus, a header on each page",
        "r.lst",
        pages + "\n340 rows selected.\n",
        untimed(),
    )
    yield one(
        "tools",
        "Db2, DEL",
        "r.del",
        table(",", "", quoted(U), quoted(I), lambda r: f"+{r.rating:.14f}E+000"),
        untimed(),
    )
    yield one(
        "tools",
        "Informix, a bar behind each row",
        "r.unl",
        "".join(f"{r.user}|{r.item}|{r.rating}|\n" for r in ROWS),
        untimed(),
    )
    yield one(
        "tools",
        "Access",
        "Ratings.txt",
        table(",", '"ID","UserID","ItemID","Rating","RatedOn"', lambda r: str(ROWS.index(r) + 1), U,
              I, R, when("%-m/%-d/%Y 0:00:00"), end="\r\n"),
        truth(time=midnight),
        option={"columns": {"timestamp": "RatedOn"}},
    )  # fmt: skip
    yield one(
        "tools",
        "Neo4j, a query",
        "export.csv",
        table(",", '"u.userId","m.movieId","r.rating"', quoted(U), quoted(I), quoted(R)),
        untimed(),
        option={"columns": {"user": "u.userId", "item": "m.movieId", "rating": "r.rating"}},
    )
    yield one(
        "tools",
        "Gephi, edges",
        "edges.csv",
        table(",", "Source,Target,Type,Id,Label,Weight", lambda r: f"u{r.user}",
              lambda r: f"i{r.item}", always("Directed"), lambda r: str(ROWS.index(r)), always(""),
              R),
        untimed(user=lambda r: f"u{r.user}", item=lambda r: f"i{r.item}"),
        option={"columns": {"user": "Source", "item": "Target", "rating": "Weight"}},
    )  # fmt: skip
    yield one(
        "tools",
        "Pajek",
        "r.net",
        "*Vertices 70 40\n" + "".join(f'{n} "v{n}"\n' for n in range(1, 71)) + "*Edges\n"
        + "".join(f"{r.user} {r.item + 40} {r.rating}\n" for r in ROWS),
        None,
        says="a network of Pajek",
    )  # fmt: skip
    yield one(
        "tools",
        "LibFFM",
        "r.ffm",
        "".join(f"{r.rating} 0:{r.user}:1 1:{r.item}:1\n" for r in ROWS),
        None,
        says="LibFFM|FFM|LibSVM|no number|not a number|:",
    )
    yield one(
        "tools",
        "learning to rank, qid",
        "train.txt",
        "".join(f"{r.rating} qid:{r.user} 1:0.{r.item} 2:0.5 # doc{r.item}\n" for r in BY_USER),
        None,
        says="qid|rank|LibSVM|SVM|not a number|:",
    )
    avro = b"Obj\x01\x04\x14avro.codec\x08null\x16avro.schema\x80\x01" + bytes(range(200))
    yield one("tools", "Avro", "r.avro", avro, None, says="Avro")
    yield one("tools", "TFRecord", "r.tfrecord", b"\x12\0\0\0\0\0\0\0\x9a\x1c\x02\xd3" * 30, None,
              says="TFRecord|binary|null|not text")  # fmt: skip
    yield one("tools", "MessagePack", "r.msgpack",
              b"\x93" + b"\x83\xa4user\x01\xa4item\x02\xa6rating\x05" * 90, None,
              says="MessagePack|binary|null|not text|UTF-8|encod")  # fmt: skip
    archive = written(lambda out: _zip(out, {"Index/Document.iwa": "x", "preview.jpg": "x"}))
    yield one("tools", "Numbers", "r.numbers", archive, None, says="Numbers|no file of ratings|iwa")


def _zip(out: io.BytesIO, members: dict[str, str]) -> None:
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def languages() -> Iterator[Shape]:
    """Yield what languages print and save."""

    def c(column: Callable[[Row], str]) -> str:
        return f"c({', '.join(f'{column(r)}L' for r in ROWS)})"

    yield one(
        "languages",
        "R, dput",
        "r.R",
        f"structure(list(user = {c(U)}, item = {c(I)}, rating = {c(R)}), class = "
        '"data.frame", row.names = c(NA, -340L))\n',
        None,
        says=r"\bR\b|dput|structure",
    )
    rdata = gzip.compress(b"RDX3\nX\n\0\0\0\3\0\4\1\2\0\3\5\0\0\0\0\5UTF-8\0\0\4\2" + bytes(99))
    yield one("languages", "R, save", "r.RData", rdata, None, says=r"\bR\b|RData")
    yield one(
        "languages",
        "R, print",
        "r.txt",
        "    user item rating\n"
        + "".join(f"{n:<3} {r.user:>4} {r.item:>4} {r.rating:>6}\n" for n, r in enumerate(ROWS, 1)),
        untimed(),
    )
    tuples = [(r.user, r.item, float(r.rating)) for r in ROWS]
    yield one("languages", "Python, a list of tuples", "r.txt", f"{tuples}\n", None,
              says="Python|tuples|JSON|repr")  # fmt: skip
    nested = {u: {r.item: r.rating for r in ROWS if r.user == u} for u in range(1, 41)}
    yield one("languages", "Python, a dict of dicts", "r.txt", f"{nested}\n", None,
              says="Python|dict|JSON")  # fmt: skip
    arrays = {role: np.array([int(column(r)) for r in ROWS])
              for role, column in {"user": U, "item": I, "rating": R}.items()}  # fmt: skip
    yield one("languages", "NumPy, savez", "r.npz", written(lambda out: np.savez(out, **arrays)),
              None, says="NumPy|npz")  # fmt: skip
    yield one(
        "languages",
        "Octave, save",
        "r.txt",
        "# Created by Octave 8.4.0, Fri Mar 01 10:00:00 2024 CET <ann@x>\n# name: a\n# type: matrix\n"
        "# rows: 340\n# columns: 3\n" + "".join(f" {r.user} {r.item} {r.rating}\n" for r in ROWS)
        + "\n\n",
        untimed(),
    )  # fmt: skip
    lists = pd.DataFrame({
        "user": range(1, 41),
        "items": [[r.item for r in ROWS if r.user == u] for u in range(1, 41)],
        "ratings": [[r.rating for r in ROWS if r.user == u] for u in range(1, 41)],
    })  # fmt: skip
    yield one("languages", "Parquet, lists of a user", "r.parquet",
              written(lists.to_parquet), None, says="list|explode|no column")  # fmt: skip
    inside = lists.assign(ratings=[
        json.dumps([{"item": r.item, "rating": r.rating} for r in ROWS if r.user == u])
        for u in range(1, 41)
    ])[["user", "ratings"]]  # fmt: skip
    yield one("languages", "CSV with JSON in a field", "r.csv", inside.to_csv(index=False), None,
              says="field|column|JSON")  # fmt: skip


def layouts() -> Iterator[Shape]:
    """Yield tables as people lay them out in text."""
    names = ("user", "item", "rating")
    yield one(
        "layouts",
        "tabs, quotes and decimal commas",
        "r.txt",
        table("\t", "\t".join(f'"{n}"' for n in names), quoted(U), quoted(I),
              lambda r: f'"{r.rating},0"'),
        untimed(),
    )  # fmt: skip
    yield one(
        "layouts",
        "a mark, sep=, semicolons and quotes",
        "r.csv",
        "\ufeffsep=;\r\n" + table(";", '"user";"item";"rating"', quoted(U), quoted(I), quoted(R),
                                  end="\r\n"),
        untimed(),
    )  # fmt: skip
    yield one(
        "layouts",
        "UTF-16, tabs and German times",
        "r.txt",
        table("\t", "Benutzer\tFilm\tBewertung\tDatum", U, I, lambda r: f"{r.rating},5",
              when("%d.%m.%Y %H:%M"), end="\r\n").encode("utf-16"),
        truth(rating=lambda r: r.rating + 0.5, time=lambda r: r.time // 60 * 60),
        option={"columns": {"user": "Benutzer", "item": "Film", "rating": "Bewertung",
                            "timestamp": "Datum"}},
    )  # fmt: skip
    yield one(
        "layouts",
        "fixed width without blanks",
        "r.txt",
        "".join(f"{r.user:05}{r.item:05}{r.rating:02}\n" for r in ROWS),
        None,
        says="field|column|separator",
    )
    yield one(
        "layouts",
        "fixed width, names with blanks",
        "r.txt",
        f"{'user':<12}{'item':<16}{'rating':>6}\n"
        + "".join(f"{f'Ann {r.user}':<12}{f'Film {r.item}':<16}{r.rating:>6}\n" for r in ROWS),
        untimed(user=lambda r: f"Ann {r.user}", item=lambda r: f"Film {r.item}"),
        says="read_fwf",
    )
    bars = "".join(f"| {r.user} | {r.item} | {r.rating} |\n" for r in ROWS)
    yield one(
        "layouts",
        "Markdown, text above the table",
        "ratings.md",
        "# Our ratings\n\nAs of March.\n\n| user | item | rating |\n|:-----|-----:|:------:|\n"
        + bars,
        untimed(),
    )
    yield one(
        "layouts",
        "Org",
        "r.org",
        "| user | item | rating |\n|------+------+--------|\n" + bars,
        untimed(),
    )
    yield one(
        "layouts",
        "Jira",
        "r.txt",
        "||user||item||rating||\n" + "".join(f"|{r.user}|{r.item}|{r.rating}|\n" for r in ROWS),
        untimed(),
        says="Jira",
    )
    yield one(
        "layouts",
        "LaTeX",
        "r.tex",
        "\\begin{tabular}{lll}\nuser & item & rating \\\\\n\\hline\n"
        + "".join(f"{r.user} & {r.item} & {r.rating} \\\\\n" for r in ROWS) + "\\end{tabular}\n",
        None,
        says="LaTeX|tabular",
    )  # fmt: skip
    yield one(
        "layouts",
        "MediaWiki",
        "r.wiki",
        '{| class="wikitable"\n! user !! item !! rating\n'
        + "".join(f"|-\n| {r.user} || {r.item} || {r.rating}\n" for r in ROWS) + "|}\n",
        None,
        says="wiki|JSON",
    )  # fmt: skip
    yield one(
        "layouts",
        "TOML",
        "r.toml",
        "".join(
            f"[[ratings]]\nuser = {r.user}\nitem = {r.item}\nrating = {r.rating}\n\n" for r in ROWS
        ),
        None,
        says="TOML|JSON|field",
    )
    yield one(
        "layouts",
        "blocks of users",
        "r.txt",
        "".join(
            f"User {u}\n" + "".join(f"  item {r.item}: {r.rating}\n" for r in ROWS if r.user == u)
            for u in range(1, 41)
        ),
        None,
        says="field|column|separator",
    )
    data = frame("user", "item", "rating")
    yield one("layouts", "a frame of pandas with its index, by blanks", "r.txt",
              data.to_string(), untimed())  # fmt: skip


EXPORTS = (sites, shops, surveys, tools, languages, layouts)
