"""Public data sets as they are distributed: shapes of `shape_files`."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator

import numpy as np
import scipy.io
from shape_files import (
    BY_ITEM,
    BY_USER,
    FOUR,
    ROWS,
    I,
    R,
    Row,
    Shape,
    T,
    U,
    always,
    asin,
    decimal,
    gz,
    json_lines,
    midnight,
    moment,
    number,
    one,
    reviewer,
    table,
    tarred,
    truth,
    untimed,
    when,
    wide,
    written,
    zipped,
)

NO_RATINGS = r"no (column of )?ratings|not ratings|holds no rating|without ratings|no rating"
"""What a message has to say of a file of events, of pairs or of metadata."""

README = "SUMMARY\n=======\n\nThese files contain ratings.\n"
MOVIES = "movieId,title,genres\n" + "".join(
    f'{n},"Film {n}, The (19{n + 60})",Drama|Comedy\n' for n in range(1, 31)
)
TAGS = "userId,movieId,tag,timestamp\n" + "".join(
    f"{row.user},{row.item},funny,{row.time}\n" for row in ROWS[:50]
)
LINKS = "movieId,imdbId,tmdbId\n" + "".join(f"{n},{n:07d},{n * 7}\n" for n in range(1, 31))
RATINGS = table(",", "userId,movieId,rating,timestamp", *FOUR)
HALVES = "::".join


def movielens() -> Iterator[Shape]:
    """MovieLens of all ages, and sets in its shape."""
    udata = table("\t", "", *FOUR)
    dat = table("::", "", *FOUR)

    def half(row: Row) -> float:
        return row.rating - 0.5

    yield one("movielens", "ml-100k u.data", "u.data", udata)
    yield one("movielens", "ml-100k u1.base", "u1.base", udata)
    yield one("movielens", "ml-1m ratings.dat", "ratings.dat", dat)
    yield one(
        *("movielens", "ml-10m ratings.dat", "ratings.dat"),
        table("::", "", U, I, lambda row: f"{half(row):g}", T),
        truth(rating=half),
    )
    yield one("movielens", "ml-25m ratings.csv", "ratings.csv", RATINGS, frame="csv")
    yield one(
        *("movielens", "ml-20m rating.csv of Kaggle", "rating.csv"),
        table(
            *(",", '"userId","movieId","rating","timestamp"', U, I, R),
            when('"%Y-%m-%d %H:%M:%S"'),
        ),
    )
    yield one(
        *("movielens", "hetrec user_ratedmovies.dat", "user_ratedmovies.dat"),
        table(
            *("\t", "userID\tmovieID\trating\tdate_day\tdate_month\tdate_year\tdate_hour"),
            *(U, I, R, when("%d"), when("%m"), when("%Y"), when("%H")),
        ),
        untimed(),
    )
    yield one(
        *("movielens", "hetrec timestamps", "user_ratedmovies-timestamps.dat"),
        table("\t", "userID\tmovieID\trating\ttimestamp", U, I, R, lambda row: row.time * 1000),
    )
    yield one(
        *("movielens", "ml-100k.inter of RecBole", "ml-100k.inter"),
        table("\t", "user_id:token\titem_id:token\trating:float\ttimestamp:float", *FOUR),
    )
    small = "ml-latest-small/"
    members = {
        small: "",
        f"{small}links.csv": LINKS,
        f"{small}movies.csv": MOVIES,
        f"{small}ratings.csv": RATINGS,
        f"{small}README.txt": README,
        f"{small}tags.csv": TAGS,
    }
    yield one("movielens", "ml-latest-small.zip", "ml-latest-small.zip", zipped(members))
    unpacked = {f"downloads/{name}": content for name, content in members.items()}
    yield Shape(
        *("movielens", "ml-latest-small folder", unpacked, truth()),
        path="downloads/ml-latest-small",
    )
    item = "".join(f"{n}|Film {n} (1995)|01-Jan-1995||http://x/{n}|0|1\n" for n in range(1, 31))
    user = "".join(f"{n}|{20 + n}|M|student|85711\n" for n in range(1, 41))
    hundred = {
        "ml-100k/README": README,
        "ml-100k/u.data": udata,
        "ml-100k/u.genre": "unknown|0\nAction|1\n",
        "ml-100k/u.info": "40 users\n30 items\n340 ratings\n",
        "ml-100k/u.item": item,
        "ml-100k/u.user": user,
        "ml-100k/u1.base": table("\t", "", *FOUR, rows=ROWS[:280]),
        "ml-100k/u1.test": table("\t", "", *FOUR, rows=ROWS[280:]),
    }
    yield one("movielens", "ml-100k.zip", "ml-100k.zip", zipped(hundred))
    million = {
        "ml-1m/movies.dat": "".join(f"{n}::Film {n} (1995)::Drama\n" for n in range(1, 31)),
        "ml-1m/ratings.dat": dat,
        "ml-1m/users.dat": "".join(f"{n}::F::1::10::48067\n" for n in range(1, 41)),
        "ml-1m/README": README,
    }
    yield one("movielens", "ml-1m.zip", "ml-1m.zip", zipped(million))
    yield one(
        *("movielens", "tags.csv", "tags.csv", TAGS, None),
        says=NO_RATINGS + "|no column",
    )
    yield one(
        *("movielens", "movies.csv", "movies.csv", MOVIES, None),
        says=NO_RATINGS + "|no column",
    )
    yield one(
        *("movielens", "MovieTweetings", "ratings.dat"),
        table("::", "", U, lambda row: f"{row.item:07d}", lambda row: row.rating * 2, T),
        truth(item=lambda row: f"{row.item:07d}", rating=lambda row: row.rating * 2),
    )
    yield one(
        *("movielens", "ml-1m.train.rating of NCF", "ml-1m.train.rating"),
        table("\t", "", *FOUR),
    )
    negatives = "".join(
        f"({u},{u % 30 + 1})\t" + "\t".join(str(n) for n in range(100, 199)) + "\n"
        for u in range(40)
    )
    yield one(
        *("movielens", "ml-1m.test.negative of NCF", "ml-1m.test.negative", negatives, None),
        says=NO_RATINGS + r"|candidates|negatives",
    )
    yield one(
        *("movielens", "ml-1m.txt of SASRec", "ml-1m.txt", table(" ", "", U, I), None),
        says=NO_RATINGS + r"|2 (columns|fields)|two (columns|fields)|fewer than",
    )
    yield one(
        *("movielens", "genome-scores.csv", "genome-scores.csv"),
        table(",", "movieId,tagId,relevance", I, U, lambda row: f"0.{row.rating}250"),
        None,
        says=NO_RATINGS + "|no column|user",
    )


def netflix() -> Iterator[Shape]:
    """Yield the Netflix Prize."""
    films = defaultdict(list)
    for row in BY_ITEM:
        films[row.item].append(f"{row.user},{row.rating},{moment(row):%Y-%m-%d}\n")
    blocks = {item: f"{item}:\n" + "".join(lines) for item, lines in films.items()}
    dated = truth(time=midnight, rows=BY_ITEM)
    yield one(
        "netflix", "combined_data_1.txt", "combined_data_1.txt", "".join(blocks.values()), dated
    )
    parts = [
        "".join(block for item, block in blocks.items() if (item - 1) // 8 == n) for n in range(4)
    ]
    combined = {f"combined_data_{n}.txt": part for n, part in enumerate(parts, 1)}
    yield Shape("netflix", "combined by pattern", combined, dated, path="combined_data_*.txt")
    yield one(
        "netflix",
        "mv_0000001.txt",
        "mv_0000001.txt",
        blocks[1],
        tuple(row for row in dated if row.item == "1"),
    )
    each = {f"training_set/mv_{item:07d}.txt": block for item, block in blocks.items()}
    yield Shape("netflix", "training_set folder", each, dated, path="training_set")
    yield one("netflix", "training_set.tar", "training_set.tar", tarred(each), dated)
    archive = {**combined, "movie_titles.csv": "1,2003,Dinosaur Planet\n", "README": README}
    yield one("netflix", "archive.zip of Kaggle", "archive.zip", zipped(archive), dated)
    asked = "".join(
        f"{item}:\n" + "".join(f"{line.split(',')[0]},{line.split(',')[2]}" for line in lines)
        for item, lines in films.items()
    )
    yield one("netflix", "qualifying.txt", "qualifying.txt", asked, None, says=NO_RATINGS)
    probe = "".join(
        f"{item}:\n" + "".join(f"{line.split(',')[0]}\n" for line in lines)
        for item, lines in films.items()
    )
    yield one("netflix", "probe.txt", "probe.txt", probe, None, says=NO_RATINGS)
    yield one(
        *("netflix", "Cust_Id and Movie_Id with an index", "netflix.csv"),
        table(",", ",Cust_Id,Rating,Date,Movie_Id", number, U, R, when("%Y-%m-%d"), I),
        truth(time=midnight),
        option={"columns": {"user": "Cust_Id", "item": "Movie_Id", "rating": "Rating"}},
    )


def snap(row: Row, prefix: str = "product", review: str = "review") -> str:
    """Return a review in SNAP's blocks."""
    return (
        f"{prefix}/productId: {asin(row)}\n{review}/userId: {reviewer(row)}\n"
        f"{review}/profileName: Ann: the reader\n{review}/helpfulness: 1/1\n"
        f"{review}/score: {row.rating}.0\n{review}/time: {row.time}\n"
        f"{review}/summary: Good\n{review}/text: Well, it: works\n\n"
    )


def amazon() -> Iterator[Shape]:
    """Amazon reviews of all generations."""
    ids = {"user": reviewer, "item": asin}
    real = truth(**ids)
    yield one(
        *("amazon", "2014 ratings_Books.csv", "ratings_Books.csv"),
        *(table(",", "", reviewer, asin, decimal, T), real),
    )
    old = [
        {
            "reviewerID": reviewer(row),
            "asin": asin(row),
            "reviewerName": "Ann",
            "helpful": [0, 0],
            "reviewText": 'It said "Great", and',
            "overall": float(row.rating),
            "summary": "Good",
            "unixReviewTime": row.time,
            "reviewTime": f"{moment(row):%m %d, %Y}",
        }
        for row in ROWS
    ]
    yield one("amazon", "2014 5-core", "reviews_Books_5.json.gz", gz(json_lines(old)), real)
    yield one(
        *("amazon", "2014 lines of Python", "reviews_Books.json.gz"),
        *(gz("".join(f"{line}\n" for line in old)), real),
        says="Python",
    )
    yield one(
        *("amazon", "2018 Books.csv, item first", "Books.csv"),
        *(table(",", "", asin, reviewer, decimal, T), real),
    )
    yield one(
        *("amazon", "2018 Books.csv, digits as items", "Books.csv"),
        table(",", "", lambda row: f"{row.item:010d}", reviewer, decimal, T),
        truth(item=lambda row: f"{row.item:010d}", user=reviewer),
    )
    new = [
        line | {"verified": True, "style": {"Format:": " Hardcover"}, "vote": "2"} for line in old
    ]
    yield one("amazon", "2018 5-core", "Books_5.json.gz", gz(json_lines(new)), real)
    reviews = [
        {
            "rating": float(row.rating),
            "title": "Good",
            "text": "Well",
            "images": [],
            "asin": asin(row),
            "parent_asin": asin(row),
            "user_id": reviewer(row),
            "timestamp": row.time * 1000,
            "helpful_vote": 0,
            "verified_purchase": True,
        }
        for row in ROWS
    ]
    yield one(
        *("amazon", "2023 Books.jsonl.gz", "Books.jsonl.gz", gz(json_lines(reviews)), real),
        option={"columns": {"item": "parent_asin"}},
    )
    yield one(
        *("amazon", "2023 Books.csv.gz", "Books.csv.gz"),
        gz(
            table(
                *(",", "user_id,parent_asin,rating,timestamp", reviewer, asin, decimal),
                lambda row: row.time * 1000,
            )
        ),
        real,
    )
    yield one(
        *(
            "amazon",
            "customer reviews, quotes that do not close",
            "amazon_reviews_us_Books_v1_00.tsv",
        ),
        table(
            "\t",
            "marketplace\tcustomer_id\treview_id\tproduct_id\tproduct_parent\tproduct_title\t"
            "product_category\tstar_rating\thelpful_votes\tverified_purchase\treview_headline\t"
            "review_body\treview_date",
            *(always("US"), U, lambda row: f"R{number(row)}", asin, lambda row: 900 + row.item),
            lambda row: '19" TV' if row.item % 3 else "A book",
            *(always("Books"), R, always("0"), always("Y")),
            lambda row: '"Great' if row.user % 2 else "Good",
            *(always("body, text"), when("%Y-%m-%d")),
        ),
        truth(item=asin, time=midnight),
        option={"columns": {"user": "customer_id", "item": "product_id", "rating": "star_rating"}},
    )
    yield one(
        *("amazon", "SNAP finefoods.txt", "finefoods.txt", "".join(map(snap, ROWS)), real),
        says="SNAP|key.value|blocks?",
    )
    yield one(
        *("amazon", "Fine Foods of Kaggle", "Reviews.csv"),
        table(
            ",",
            "Id,ProductId,UserId,ProfileName,HelpfulnessNumerator,HelpfulnessDenominator,Score,"
            "Time,Summary,Text",
            *(number, asin, reviewer, always('"Ann, ""the"" reader"'), always("1")),
            *(always("1"), R, T, always("Good"), always('"Well, it works"')),
        ),
        real,
    )
    parts = {
        f"5core/Books.{part}.csv": table(
            *(",", "user_id,parent_asin,rating,timestamp", reviewer, asin, decimal),
            lambda row: row.time * 1000,
            rows=rows,
        )
        for part, rows in (("train", ROWS[:280]), ("valid", ROWS[280:310]), ("test", ROWS[310:]))
    }
    yield Shape("amazon", "2023 benchmark folder", parts, real, path="5core", ordered=False)
    meta = json_lines({"asin": f"B{n:09d}", "title": f"T{n}", "price": n} for n in range(30))
    yield one("amazon", "metadata", "meta_Books.jsonl", meta, None, says=NO_RATINGS + "|no column")


def books() -> Iterator[Shape]:
    """Book-Crossing, Goodreads, and other sets of books."""
    isbn = {"item": lambda row: f"{row.item:010d}"}

    def doubled(row: Row) -> int:
        return row.rating * 2

    crossing = '"User-ID";"ISBN";"Book-Rating"\r\n' + "".join(
        f'"{row.user}";"{row.item:010d}";"{row.rating * 2}"\r\n' for row in ROWS
    )
    real = untimed(rating=doubled, **isbn)
    yield one("books", "BX-Book-Ratings.csv", "BX-Book-Ratings.csv", crossing, real)
    zeros = "".join(f'"{row.user}";"X{row.item:09d}";"0"\r\n' for row in ROWS[:170])
    yield one(
        *("books", "BX-Book-Ratings.csv with zeros", "BX-Book-Ratings.csv", crossing + zeros, real),
        option={"not_rated": [0]},
        undecidable="0 may be a rating",
    )
    archive = {
        "BX-Book-Ratings.csv": crossing,
        "BX-Books.csv": '"ISBN";"Book-Title";"Book-Author"\r\n"0000000001";"A & B";"Émile"\r\n'.encode(
            "latin-1"
        ),
        "BX-Users.csv": '"User-ID";"Location";"Age"\r\n"1";"nyc, usa";NULL\r\n',
    }
    yield one("books", "BX-CSV-Dump.zip", "BX-CSV-Dump.zip", zipped(archive), real)
    yield one(
        *("books", "Ratings.csv of Kaggle", "Ratings.csv"),
        table(",", "User-ID,ISBN,Book-Rating", U, isbn["item"], doubled),
        real,
    )
    reads = [
        {
            "user_id": f"{row.user:032x}",
            "book_id": I(row),
            "review_id": f"{row.time:032x}",
            "is_read": True,
            "rating": row.rating,
            "date_added": f"{moment(row):%a %b %d %H:%M:%S +0000 %Y}",
            "date_updated": f"{moment(row):%a %b %d %H:%M:%S +0000 %Y}",
            "read_at": "",
        }
        for row in ROWS
    ]
    yield one(
        *("books", "Goodreads", "goodreads_interactions_poetry.json.gz", gz(json_lines(reads))),
        truth(user=lambda row: f"{row.user:032x}"),
        option={"columns": {"timestamp": "date_added"}},
    )
    yield one(
        *("books", "Goodreads CSV", "goodreads_interactions.csv"),
        table(",", "user_id,book_id,is_read,rating,is_reviewed", U, I, always("1"), R, always("0")),
        untimed(),
    )
    yield one(
        *("books", "goodbooks-10k", "ratings.csv", table(",", "user_id,book_id,rating", U, I, R)),
        untimed(),
        frame="csv",
    )
    yield one(
        *("books", "goodbooks-10k to_read.csv", "to_read.csv", table(",", "user_id,book_id", U, I)),
        None,
        says=NO_RATINGS + "|no column",
    )
    yield one(
        *("books", "Goodreads export of one's library", "goodreads_library_export.csv"),
        "Book Id,Title,Author,ISBN,My Rating,Average Rating,Date Read\n"
        + "".join(
            f'{n},Book {n},Ann,"=""{n:010d}""",{n % 5 + 1},3.9,2020/01/0{n % 9 + 1}\n'
            for n in range(30)
        ),
        None,
        says=NO_RATINGS + "|no column|user",
    )


def films() -> Iterator[Shape]:
    """Epinions, Ciao, FilmTrust, Douban, Yahoo and others."""
    shifted = {"user": lambda row: 591_150 + row.user, "item": lambda row: 139_431_556 + row.item}
    yield one(
        "films", "Epinions ratings_data.txt", "ratings_data.txt", table(" ", "", U, I, R), untimed()
    )
    yield one(
        *("films", "Epinions extended rating.txt", "rating.txt"),
        table(
            *("\t", "", shifted["item"], shifted["user"], R, always("0"), when("%Y/%m/%d")),
            *(when("%Y/%m/%d"), always("1"), always("5")),
        ),
        truth(time=midnight, **shifted),
        option={"columns": {"user": 2, "item": 1, "rating": 3, "timestamp": 5}},
        undecidable="nothing but the documentation tells the item from the user",
    )
    yield one(
        *("films", "Epinions trust_data.txt", "trust_data.txt"),
        "".join(f" {row.user} {row.item + 40} 1 \n" for row in ROWS),
        None,
        says="trust|same rating|every rating found",
        undecidable="user, user and 1 cannot be told from user, item and a rating of 1",
    )
    yield one(
        *("films", "CiaoDVD movie-ratings.txt", "movie-ratings.txt"),
        table(",", "", U, I, lambda row: row.item % 17 + 1, number, R, when("%Y-%m-%d")),
        truth(time=midnight),
        option={"columns": {"user": 1, "item": 2, "rating": 5, "timestamp": 6}},
    )
    matrix = np.array([[row.user, row.item, row.item % 6, row.rating, 3] for row in ROWS])
    yield one(
        *("films", "Ciao rating.mat", "rating.mat"),
        *(written(lambda out: scipy.io.savemat(out, {"rating": matrix})), untimed()),
        says="MATLAB|mat file|loadmat",
    )
    yield one("films", "FilmTrust ratings.txt", "ratings.txt", table(" ", "", U, I, R), untimed())
    yield one(
        *("films", "Douban moviereviews_cleaned.txt", "moviereviews_cleaned.txt"),
        table(
            "\t",
            "user_id\tmovie_id\trating\tlabels\tcomment\ttime\tID",
            *(U, I, R, always("剧情|爱情"), lambda row: '"连 续' if row.user % 3 else "好"),
            *(when("%Y-%m-%d %H:%M:%S"), number),
        ),
    )
    yield one(
        *("films", "Douban ratings of movies", "ratings.csv"),
        table(
            *(",", "RATING_ID,USER_MD5,MOVIE_ID,RATING,RATING_TIME", number),
            *(lambda row: f"{row.user:032x}", I, R, when("%Y-%m-%d %H:%M:%S")),
        ),
        truth(user=lambda row: f"{row.user:032x}"),
    )
    yield one(
        "films",
        "Douban book uir.index",
        "douban_book.uir.index",
        table("\t", "", U, I, R),
        untimed(),
    )
    yield one(
        *("films", "DMSC of Kaggle", "DMSC.csv"),
        table(
            *(
                ",",
                "ID,Movie_Name_EN,Movie_Name_CN,Crawl_Date,Number,Username,Date,Star,Comment,Like",
            ),
            *(number, lambda row: f"Film {row.item}", lambda row: f"电影 {row.item}"),
            *(always("2017-01-22"), number, lambda row: f"用户{row.user}", when("%Y-%m-%d"), R),
            *(always('"连奥创，都"'), lambda row: row.user % 7),
        ),
        truth(
            user=lambda row: f"用户{row.user}", item=lambda row: f"Film {row.item}", time=midnight
        ),
        option={
            "columns": {
                "user": "Username",
                "item": "Movie_Name_EN",
                "rating": "Star",
                "timestamp": "Date",
            }
        },
    )
    hdf = b"MATLAB 7.3 MAT-file, Platform: GLNXA64, Created on: Thu HDF5 schema 1.00 ."
    hdf = hdf.ljust(512, b" ") + b"\x89HDF\r\n\x1a\n" + bytes(512)
    yield one(
        *("films", "Douban monti, MATLAB 7.3", "training_test_dataset.mat", hdf, None),
        says="MATLAB|HDF5",
    )
    music = {"rating": lambda row: row.rating}
    yield one(
        "films",
        "Yahoo R3",
        "ydata-ymusic-rating-study-v1_0-train.txt",
        table("\t", "", U, I, R),
        untimed(**music),
    )
    never = "".join(f"{row.user}\t{row.item + 100}\t255\n" for row in ROWS[:30])
    scores = {"rating": lambda row: row.rating * 20}
    yield one(
        *("films", "Yahoo R1, 255 is never again", "ydata-ymusic-user-artist-ratings-v1_0.txt"),
        *(table("\t", "", U, I, scores["rating"]) + never, untimed(**scores)),
        option={"not_rated": [255]},
        undecidable="255 may be a rating",
    )
    yield one(
        *("films", "LibimSeTi", "ratings.dat", table(",", "", U, I, lambda row: row.rating * 2)),
        untimed(rating=lambda row: row.rating * 2),
    )
    yield one(
        *("films", "Flixster, UTF-16", "Ratings.timed.txt"),
        table("\t", "userid\tmovieid\trating\tdate", U, I, R, when("%Y-%m-%d")).encode("utf-16"),
        truth(time=midnight),
    )
    konect = "% bip weighted\n% 340 40 30\n" + table(" ", "", *FOUR)
    yield one("films", "KONECT out.movielens", "out.movielens", konect)
    yield one(
        *(
            "films",
            "Coat train.ascii",
            "train.ascii",
            wide(ROWS, corner=None, ids=False, blank="0", separator=" "),
        ),
        untimed(BY_USER),
        option={"format": "matrix", "not_rated": [0]},
    )
    yield one(
        *("films", "LDOS-CoMoDa", "LDOScomoda.csv"),
        table(
            *(",", "userID,itemID,rating,age,sex,city,country,time,daytype,season"),
            *(U, I, R, lambda row: 20 + row.user, always("1"), always("7"), always("2")),
            *(lambda row: row.time % 4 + 1, always("1"), always("3")),
        ),
        untimed(),
        option={"columns": {"timestamp": None}},
        undecidable="numbers from 1 to 4 as a time may be parts of the day, or an order",
    )


def jester() -> Iterator[Shape]:
    """Jester's jokes."""

    def score(row: Row) -> str:
        return f"{row.rating * 3.7 - 10:.2f}"

    known = {(row.user, row.item): score(row) for row in ROWS}
    lines = []
    for user in range(1, 41):
        cells = [known.get((user, item), "99") for item in range(1, 31)]
        lines.append(",".join([str(sum(cell != "99" for cell in cells)), *cells]))
    real = untimed(BY_USER, rating=score)
    yield one(
        *("jester", "jester-data-1.csv", "jester-data-1.csv", "\n".join(lines) + "\n", real),
        option={"format": "matrix", "not_rated": [99]},
    )
    yield one(
        *("jester", "jester_ratings.dat, two tabs", "jester_ratings.dat"),
        *(table("\t\t", "", U, I, lambda row: f"{score(row)}0"), untimed(rating=score)),
    )
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2040)
    yield one(
        "jester", "jester-data-1.xls", "jester-data-1.xls", ole, None, says="Excel|workbook|\\.xls"
    )
    yield one(
        *("jester", "jester_dataset_1_1.zip of a sheet", "jester_dataset_1_1.zip"),
        zipped({"jester-data-1.xls": ole}),
        None,
        says="Excel|workbook|\\.xls",
    )
    yield one(
        "jester",
        "Jester 3 with blanks",
        "jester.csv",
        "\n".join(
            ",".join([str(user), *(known.get((user, item), "") for item in range(1, 31))])
            for user in range(1, 41)
        )
        + "\n",
        real,
        option={"format": "matrix"},
    )


def music() -> Iterator[Shape]:
    """LastFM, LFM, and other sets of plays."""

    def plays(row: Row) -> int:
        return row.rating**3 * 9

    counted = untimed(rating=plays)
    yield one(
        *("music", "HetRec user_artists.dat", "user_artists.dat"),
        *(table("\t", "userID\tartistID\tweight", U, I, plays), counted),
    )
    sha = {"user": lambda row: f"{row.user:040x}"}
    yield one(
        *("music", "Last.fm 360K", "usersha1-artmbid-artname-plays.tsv"),
        table(
            *("\t", "", sha["user"], lambda row: f"00000000-0000-0000-0000-{row.item:012x}"),
            *(lambda row: f'artist "{row.item}', plays),
        ),
        untimed(rating=plays, item=lambda row: f'artist "{row.item}', **sha),
        option={"columns": {"user": 1, "item": 3, "rating": 4}},
        undecidable="the identifier of the artist and the name are both items",
    )
    yield one(
        *("music", "Last.fm 1K events", "userid-timestamp-artid-artname-traid-traname.tsv"),
        table(
            *("\t", "", lambda row: f"user_{row.user:06d}", when("%Y-%m-%dT%H:%M:%SZ")),
            *(
                lambda row: f"00000000-0000-0000-0000-{row.item:012x}",
                lambda row: f"Artist {row.item}",
            ),
            *(always(""), lambda row: f"Track {row.item * 3}"),
        ),
        None,
        says=NO_RATINGS + "|events|not a number",
    )
    yield one(
        *("music", "LFM-1b_LEs.txt", "LFM-1b_LEs.txt"),
        table("\t", "", U, I, lambda row: row.item * 3, lambda row: row.item * 7, T),
        None,
        says=NO_RATINGS + "|events",
    )
    yield one(
        *("music", "LFM-2b listening-counts.tsv", "listening-counts.tsv"),
        table("\t", "user_id\ttrack_id\tcount", U, I, plays),
        counted,
        option={"columns": {"rating": "count"}},
    )
    yield one(
        *("music", "Million Song taste profile", "train_triplets.txt"),
        table("\t", "", lambda row: f"{row.user:040x}", lambda row: f"SO{row.item:016X}", plays),
        untimed(rating=plays, item=lambda row: f"SO{row.item:016X}", **sha),
    )
    yield one(
        *("music", "user, artist, track and rating", "r.csv"),
        table(
            ",",
            "user,artist,track,rating",
            U,
            lambda row: f"artist{row.item}",
            lambda row: row.item * 3,
            R,
        ),
        untimed(item=lambda row: row.item * 3),
        option={"columns": {"item": "track"}},
    )
    playlists = {
        "info": {},
        "playlists": [{"pid": n, "tracks": [{"track_uri": f"t:{n}"}]} for n in range(9)],
    }
    yield one(
        *("music", "Million Playlist", "mpd.slice.0-999.json", json.dumps(playlists), None),
        says=NO_RATINGS + "|playlists|no column",
    )
    yield one(
        *("music", "Frappe", "frappe.csv"),
        table(
            "\t",
            "user\titem\tcnt\tdaytime\tweekday\tisweekend",
            U,
            I,
            plays,
            *[always("sunday")] * 3,
        ),
        counted,
        option={"columns": {"rating": "cnt"}},
    )


def events() -> Iterator[Shape]:
    """Yield logs of clicks, visits and purchases, which hold no ratings."""
    z = when("%Y-%m-%dT%H:%M:%S.277Z")
    sku = lambda row: 214_536_500 + row.item  # noqa: E731
    logs = {
        "YooChoose clicks": ("yoochoose-clicks.dat", table(",", "", U, z, sku, always("0"))),
        "YooChoose buys": (
            "yoochoose-buys.dat",
            table(
                ",", "", lambda row: 420_000 + row.user, z, sku, lambda row: row.rating * 1000, R
            ),
        ),
        "Gowalla check-ins": (
            "loc-gowalla_totalCheckins.txt",
            table(
                *("\t", "", U, when("%Y-%m-%dT%H:%M:%SZ"), lambda row: 30 + row.item / 1e4),
                *(lambda row: -97 - row.item / 1e4, lambda row: 22_847 + row.item),
            ),
        ),
        "Gowalla of LightGCN": (
            "train.txt",
            "".join(
                " ".join([str(user), *(str(row.item) for row in BY_USER if row.user == user)])
                + "\n"
                for user in range(1, 41)
            ),
        ),
        "Foursquare": (
            "dataset_TSMC2014_NYC.txt",
            table(
                *("\t", "", U, lambda row: f"{row.item:024x}", lambda row: f"{row.item:024d}"),
                *(always("Bar"), lambda row: 40 + row.item / 1e4, always("-74.0"), always("-240")),
                when("%a %b %d %H:%M:%S +0000 %Y"),
            ),
        ),
        "Diginetica": (
            "train-item-views.csv",
            table(
                ";",
                "session_id;user_id;item_id;timeframe;eventdate",
                number,
                U,
                I,
                T,
                when("%Y-%m-%d"),
            ),
        ),
        "Retailrocket": (
            "events.csv",
            table(
                *(
                    ",",
                    "timestamp,visitorid,event,itemid,transactionid",
                    lambda row: row.time * 1000,
                ),
                *(U, always("view"), I, always("")),
            ),
        ),
        "Tmall": (
            "user_log_format1.csv",
            table(
                *(",", "user_id,item_id,cat_id,seller_id,brand_id,time_stamp,action_type", U, I),
                *(always("833"), always("2882"), always("2661"), when("%m%d"), always("0")),
            ),
        ),
        "Taobao UserBehavior": (
            "UserBehavior.csv",
            table(",", "", U, I, lambda row: 2000 + row.item % 5, always("pv"), T),
        ),
        "Tenrec": (
            "QB-video.csv",
            table(
                *(",", "user_id,item_id,click,follow,like,share,video_category,watching_times"),
                *(U, I, always("1"), always("0"), lambda row: int(row.rating > 3), always("0")),
                *(always("1"), R),
            ),
        ),
        "MIND behaviors.tsv": (
            "behaviors.tsv",
            table(
                *("\t", "", number, lambda row: f"U{row.user}", when("%m/%d/%Y %I:%M:%S %p")),
                *(lambda row: f"N{row.item} N7", lambda row: f"N{row.item}-1 N3-0"),
            ),
        ),
        "KuaiRand": (
            "log_standard.csv",
            table(
                *(",", "user_id,video_id,date,hourmin,time_ms,is_click,is_like,play_time_ms", U, I),
                *(when("%Y%m%d"), when("%H%M"), lambda row: row.time * 1000, always("1")),
                *(always("0"), lambda row: row.rating * 900),
            ),
        ),
        "H&M": (
            "transactions_train.csv",
            table(
                *(",", "t_dat,customer_id,article_id,price,sales_channel_id", when("%Y-%m-%d")),
                *(lambda row: f"{row.user:064x}", lambda row: f"{row.item:010d}", always("0.05")),
                always("2"),
            ),
        ),
        "Online Retail": (
            "online_retail.csv",
            table(
                *(
                    ",",
                    "InvoiceNo,StockCode,Description,Quantity,InvoiceDate,UnitPrice,CustomerID,Country",
                ),
                *(number, lambda row: f"85{row.item:03d}A", always("HOLDER"), R),
                *(when("%m/%d/%Y %H:%M"), always("2.55"), U, always("France")),
            ),
        ),
        "MicroLens pairs": ("MicroLens_pairs.csv", table(",", "user,item,timestamp", U, I, T)),
        "Twitch": (
            "100k_a.csv",
            table(
                ",",
                "",
                U,
                lambda row: 34_347_669_376 + row.item,
                lambda row: f"s{row.item}",
                always("5415"),
                always("5419"),
            ),
        ),
        "Behance": ("Behance_appreciate_1M", table(" ", "", U, I, T)),
        "CiteULike users.dat": (
            "users.dat",
            "".join(
                " ".join([str(len(rated)), *rated]) + "\n"
                for user in range(1, 41)
                if (rated := [str(row.item) for row in BY_USER if row.user == user])
            ),
        ),
        "OTTO": (
            "otto.jsonl",
            json_lines(
                {
                    "session": row.user,
                    "events": [{"aid": row.item, "ts": row.time, "type": "clicks"}],
                }
                for row in ROWS
            ),
        ),
        "Instacart": (
            "order_products__prior.csv",
            table(",", "order_id,product_id,add_to_cart_order,reordered", U, I, R, always("1")),
        ),
        "Last.fm tags": (
            "user_taggedartists.dat",
            table(
                "\t",
                "userID\tartistID\ttagID\tday\tmonth\tyear",
                U,
                I,
                R,
                *map(when, ("%d", "%m", "%Y")),
            ),
        ),
        "user, item and unix time": ("r.txt", table(" ", "", U, I, T)),
        "user, item and date": ("r.csv", table(",", "", U, I, when("%Y%m%d"))),
    }
    open_ = {
        "CiteULike users.dat": "lines of ids without a header can be ratings of a small table",
        "Instacart": "",
    }
    for name, (file, text) in logs.items():
        yield one(
            *("events", name, file, text, None),
            says=NO_RATINGS + "|events|interactions|implicit|no column",
            undecidable=open_.get(name, ""),
        )


def others() -> Iterator[Shape]:
    """Yelp, Steam, anime, food, beer, games, clothes, places."""
    stars = [
        {
            "review_id": f"r{n}",
            "user_id": f"u{row.user}",
            "business_id": f"b{row.item}",
            "stars": float(row.rating),
            "useful": 0,
            "funny": 0,
            "cool": 0,
            "text": "Good.\nBut: {dear}",
            "date": f"{moment(row):%Y-%m-%d %H:%M:%S}",
        }
        for n, row in enumerate(ROWS)
    ]
    named = truth(user=lambda row: f"u{row.user}", item=lambda row: f"b{row.item}")
    yield one("others", "Yelp", "yelp_academic_dataset_review.json", json_lines(stars), named)
    yield one(
        *("others", "Yelp of RecBole", "yelp.inter"),
        table(
            "\t",
            "review_id:token\tuser_id:token\tbusiness_id:token\tstars:float\tdate:float",
            *(number, U, I, decimal, T),
        ),
    )
    steam = "".join(
        f"{{u'username': u'{row.user}', u'product_id': u'{row.item}', u'hours': {row.rating}.5, "
        f"u'date': u'{moment(row):%Y-%m-%d}', u'text': u'It\\'s'}}\n"
        for row in ROWS
    )
    yield one(
        *("others", "Steam reviews, lines of Python", "steam_reviews.json.gz", gz(steam)),
        truth(rating=lambda row: row.rating + 0.5, time=midnight),
        says="Python",
    )
    nested = "".join(
        f"{{'user_id': '{row.user}', 'reviews': [{{'item_id': '{row.item}', 'recommend': {row.rating > 3}}}]}}\n"
        for row in ROWS
    )
    yield one(
        *("others", "Steam of Australia", "australian_user_reviews.json", nested),
        untimed(rating=lambda row: int(row.rating > 3)),
    )
    yield one(
        *("others", "Steam 200K", "steam-200k.csv"),
        "".join(
            f"{row.user},Game {row.item},purchase,1.0,0\n{row.user},Game {row.item},play,{row.rating}.5,0\n"
            for row in ROWS
        ),
        None,
        says=NO_RATINGS + "|events|not a number",
    )
    liked = {"rating": lambda row: int(row.rating > 3)}
    yield one(
        *("others", "Steam recommendations of Kaggle", "recommendations.csv"),
        table(
            *(",", "app_id,helpful,funny,date,is_recommended,hours,user_id,review_id", I),
            *(always("0"), always("0"), when("%Y-%m-%d"), lambda row: str(row.rating > 3).lower()),
            *(lambda row: f"{row.time % 99}.5", U, number),
        ),
        truth(time=midnight, **liked),
        option={
            "columns": {
                "user": "user_id",
                "item": "app_id",
                "rating": "is_recommended",
                "timestamp": "date",
            }
        },
    )
    ten = {"rating": lambda row: row.rating * 2}
    watched = "".join(f"{row.user},{row.item + 100},-1\n" for row in ROWS[:60])
    yield one(
        *("others", "Anime, -1 is watched", "rating.csv"),
        table(",", "user_id,anime_id,rating", U, I, ten["rating"]) + watched,
        untimed(**ten),
        option={"not_rated": [-1]},
        undecidable="-1 may be a rating",
    )
    zero = "".join(f"{row.user},{row.item + 100},0,6,0\n" for row in ROWS[:60])
    yield one(
        *("others", "Anime 2020, 0 is not rated", "animelist.csv"),
        table(
            *(",", "user_id,anime_id,rating,watching_status,watched_episodes"),
            *(U, I, ten["rating"], always("2"), always("12")),
        )
        + zero,
        untimed(**ten),
        option={"not_rated": [0]},
        undecidable="0 may be a rating",
    )
    yield one(
        *("others", "MyAnimeList", "UserAnimeList.csv"),
        table(
            *(
                ",",
                "username,anime_id,my_watched_episodes,my_start_date,my_score,my_status,my_last_updated",
            ),
            *(lambda row: f"ann{row.user}", I, always("12"), always("0000-00-00"), ten["rating"]),
            *(always("2"), T),
        ),
        truth(user=lambda row: f"ann{row.user}", **ten),
        option={
            "columns": {
                "user": "username",
                "item": "anime_id",
                "rating": "my_score",
                "timestamp": "my_last_updated",
            }
        },
    )
    ratio = {"rating": lambda row: round(row.rating * 0.37, 2)}
    yield one(
        *("others", "KuaiRec big_matrix.csv", "big_matrix.csv"),
        table(
            *(",", "user_id,video_id,play_duration,video_duration,time,date,timestamp,watch_ratio"),
            *(U, I, lambda row: row.rating * 1000, always("9000"), when("%Y-%m-%d %H:%M:%S")),
            *(when("%Y%m%d"), lambda row: f"{row.time}.25", ratio["rating"]),
        ),
        truth(time=lambda row: row.time + 0.25, **ratio),
        option={"columns": {"rating": "watch_ratio", "timestamp": "timestamp"}},
    )
    yield one(
        *("others", "Food.com", "RAW_interactions.csv"),
        table(
            *(",", "user_id,recipe_id,date,rating,review", U, I, when("%Y-%m-%d"), R),
            always('"Two lines,\nand a ""mark"""'),
        ),
        truth(time=midnight),
    )
    yield one(
        *("others", "BeerAdvocate", "beer_reviews.csv"),
        table(
            ",",
            "brewery_id,brewery_name,review_time,review_overall,review_aroma,review_appearance,"
            "review_profilename,beer_style,review_palate,review_taste,beer_name,beer_abv,beer_beerid",
            *(always("7"), always("Brew"), T, R, always("2.5"), always("3"), U, always("Ale")),
            *(always("3"), always("2"), always("Beer"), always("5.0"), I),
        ),
    )
    yield one(
        *("others", "BeerAdvocate in SNAP's blocks", "beeradvocate.txt"),
        "".join(
            f"beer/name: Beer {row.item}\nbeer/beerId: {row.item}\nreview/appearance: 2.5\n"
            f"review/overall: {row.rating}\nreview/time: {row.time}\n"
            f"review/profileName: {row.user}\nreview/text: fine\n\n"
            for row in ROWS
        ),
        truth(),
        says="SNAP|key.value|blocks?",
    )
    yield one(
        *("others", "BoardGameGeek", "bgg-19m-reviews.csv"),
        table(
            ",",
            ",user,rating,comment,ID,name",
            number,
            U,
            ten["rating"],
            always(""),
            I,
            always("Go"),
        ),
        untimed(**ten),
        option={"columns": {"item": "ID"}},
    )
    rented = [
        {
            "fit": "fit",
            "user_id": U(row),
            "item_id": I(row),
            "rating": str(row.rating * 2),
            "review_date": f"{moment(row):%B %-d, %Y}",
        }
        for row in ROWS
    ]
    yield one(
        *("others", "RentTheRunway", "renttherunway_final_data.json.gz", gz(json_lines(rented))),
        truth(time=midnight, **ten),
    )
    yield one(
        *("others", "ModCloth, item first", "df_modcloth.csv"),
        table(
            *(",", "item_id,user_id,rating,timestamp,size,fit,user_attr", I, U, decimal),
            *(when("%Y-%m-%d %H:%M:%S+00:00"), always(""), always(""), always("Small")),
        ),
        frame="csv",
    )
    places = [
        {
            "user_id": f"1{row.user:020d}",
            "name": "Ann",
            "time": row.time * 1000,
            "rating": row.rating,
            "text": None,
            "pics": None,
            "resp": None,
            "gmap_id": f"0x{row.item:x}",
        }
        for row in ROWS
    ]
    yield one(
        *("others", "Google Local 2021", "review-Vermont.json.gz", gz(json_lines(places))),
        truth(user=lambda row: f"1{row.user:020d}", item=lambda row: f"0x{row.item:x}"),
    )
    yield one(
        *("others", "Restaurants of UCI", "rating_final.csv"),
        table(
            *(
                ",",
                "userID,placeID,rating,food_rating,service_rating",
                lambda row: f"U{row.user:04d}",
            ),
            *(lambda row: 135_000 + row.item, R, always("2"), always("1")),
        ),
        untimed(user=lambda row: f"U{row.user:04d}", item=lambda row: 135_000 + row.item),
    )
    yield one(
        *("others", "Coursera of Kaggle", "Coursera_reviews.csv"),
        table(
            *(
                ",",
                "reviews,reviewers,date_reviews,rating,course_id",
                always('"good, and interesting"'),
            ),
            *(
                lambda row: f"By Ann {row.user}",
                when('"%b %d, %Y"'),
                R,
                lambda row: f"course-{row.item}",
            ),
        ),
        truth(
            user=lambda row: f"By Ann {row.user}",
            item=lambda row: f"course-{row.item}",
            time=midnight,
        ),
        option={"columns": {"user": "reviewers", "item": "course_id", "timestamp": "date_reviews"}},
    )
    yield one(
        *("others", "Online course of a school", "grades.csv"),
        table(",", "student,course,grade", U, I, R),
        untimed(),
        option={"columns": {"user": "student", "item": "course", "rating": "grade"}},
    )
    yield one(
        *("others", "LensKit ratings.parquet", "ratings.csv"),
        table(",", "user,item,rating,timestamp", *FOUR),
        frame="csv",
    )
    yield one(
        *("others", "Elliot dataset.tsv", "dataset.tsv", table("\t", "", *FOUR)),
    )
    yield one(
        *("others", "LibFM", "train.libfm"),
        "".join(f"{row.rating} {row.user}:1 {row.item + 40}:1\n" for row in ROWS),
        untimed(item=lambda row: row.item + 40),
        says="LibSVM|libFM|svmlight|index:value",
    )
    yield one(
        *("others", "Vowpal Wabbit", "train.vw"),
        "".join(f"{row.rating} |u {row.user} |i {row.item}\n" for row in ROWS),
        untimed(),
        says="Vowpal|namespace",
    )


PUBLIC = (movielens, netflix, amazon, books, films, jester, music, events, others)
