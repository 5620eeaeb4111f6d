"""What programs and databases write: shapes of `shape_files`."""

from __future__ import annotations

import json
import pickle
from collections import defaultdict
from collections.abc import Iterator

import numpy as np
import pandas as pd
import scipy.io
import scipy.sparse
from shape_files import (
    BY_USER,
    FOUR,
    ROWS,
    I,
    R,
    Shape,
    T,
    U,
    always,
    database,
    decimal,
    duck_database,
    entries,
    frame,
    gz,
    json_lines,
    midnight,
    moment,
    number,
    one,
    open_document,
    parquet,
    spss,
    table,
    truth,
    untimed,
    when,
    workbook,
    written,
)

NAMES = "user,item,rating,timestamp"
MINUTE = lambda row: row.time // 60 * 60  # noqa: E731


def pandas_() -> Iterator[Shape]:
    """Yield what pandas writes."""
    data = frame()
    yield one("pandas", "to_csv without index", "r.csv", data.to_csv(index=False), frame="csv")
    yield one("pandas", "to_csv with index", "r.csv", data.to_csv(), frame="csv")
    yield one(
        *("pandas", "to_csv with index, saved twice", "r.csv"),
        table(
            ",", "Unnamed: 0.1,Unnamed: 0,userId,movieId,rating,timestamp", number, number, *FOUR
        ),
        frame="csv",
    )
    yield one("pandas", "to_csv with index without header", "r.csv", data.to_csv(header=False))
    three = frame("user", "item", "rating")
    yield one(
        *("pandas", "index, user, item, rating without header", "r.csv"),
        *(three.to_csv(header=False), untimed()),
    )
    shuffled = three.sample(frac=1, random_state=3)
    yield one(
        *("pandas", "shuffled index, user, item, rating without header", "r.csv"),
        shuffled.to_csv(header=False),
        untimed(ROWS[n] for n in shuffled.index),
        undecidable="a shuffled index is a column of ids like any other",
        option={"columns": {"user": 2, "item": 3, "rating": 4}},
    )
    plain = pd.DataFrame(list(ROWS))
    plain.columns = pd.Index(range(4))
    yield one("pandas", "default columns 0, 1, 2, 3", "r.csv", plain.to_csv(index=False))
    yield one(
        "pandas",
        "default columns 0, 1, 2",
        "r.csv",
        plain[[0, 1, 2]].to_csv(index=False),
        untimed(),
    )
    yield one("pandas", "default columns and index", "r.csv", plain[[0, 1, 2]].to_csv(), untimed())
    yield one("pandas", "default columns, index and times", "r.csv", plain.to_csv())
    yield one("pandas", "to_csv without header", "r.csv", data.to_csv(index=False, header=False))
    indexed = frame("user", "item", "rating").set_index(["user", "item"])["rating"]
    yield one("pandas", "series with two levels", "r.csv", indexed.to_csv(), untimed())
    yield one(
        *("pandas", "series without a name", "r.csv", indexed.rename(None).to_csv(), untimed()),
        option={"columns": {"rating": "0"}},
    )
    yield one(
        *("pandas", "groupby with two header lines", "r.csv"),
        pd.DataFrame(BY_USER, columns=["user", "item", "rating", "t"])
        .groupby(["user", "item"])
        .agg({"rating": ["mean", "count"]})
        .to_csv(),
        untimed(BY_USER),
        option={"columns": {"user": 1, "item": 2, "rating": 3}, "skip": 3, "header": False},
    )
    dated = frame("user", "item", "rating", "timestamp", times="dates")
    yield one("pandas", "to_csv with dates", "r.csv", dated.to_csv(index=False), frame="csv")
    yield one("pandas", "to_csv by tab", "r.tsv", data.to_csv(index=False, sep="\t"), frame="tsv")
    for orient in ("records", "columns", "index", "split", "values", "table"):
        text = data.to_json(orient=orient)  # type: ignore[call-overload]
        yield one(
            *("pandas", f"to_json, orient {orient}", "r.json", text),
            frame="json" if orient in ("records", "columns") else "",
        )
    yield one(
        *("pandas", "to_json, lines", "r.jsonl", data.to_json(orient="records", lines=True)),
        frame="lines",
    )
    yield one(
        "pandas", "to_json, lines named .json", "r.json", data.to_json(orient="records", lines=True)
    )
    yield one(
        "pandas", "to_json, dates", "r.json", dated.to_json(orient="records", date_format="iso")
    )
    yield one("pandas", "to_json, indented", "r.json", data.to_json(orient="records", indent=2))
    yield one("pandas", "to_parquet", "r.parquet", parquet(), frame="parquet")
    yield one(
        "pandas", "to_parquet with an index by user", "r.parquet", parquet(data.set_index("userId"))
    )
    yield one("pandas", "to_parquet with dates", "r.parquet", parquet(dated), frame="parquet")
    texts = data.astype({"userId": "string", "movieId": "category"})
    yield one("pandas", "to_parquet of texts and categories", "r.parquet", parquet(texts))
    yield one("pandas", "to_feather", "r.feather", written(data.to_feather), frame="feather")
    yield one("pandas", "to_orc", "r.orc", written(data.to_orc))
    yield one(
        *(
            "pandas",
            "to_pickle",
            "r.pkl",
            written(lambda out: pickle.dump(data.to_dict(), out)),
            None,
        ),
        says="[Pp]ickle",
    )
    yield one(
        "pandas", "to_hdf", "r.h5", b"\x89HDF\r\n\x1a\n" + bytes(2000), None, says="HDF5|read_hdf"
    )
    yield one("pandas", "to_html", "r.html", data.to_html(index=False), says="HTML|read_html")
    yield one(
        *("pandas", "to_xml", "r.xml"),
        "<?xml version='1.0' encoding='utf-8'?>\n<data>\n"
        + "".join(
            f"  <row><user>{r.user}</user><item>{r.item}</item><rating>{r.rating}</rating></row>\n"
            for r in ROWS
        )
        + "</data>",
        untimed(),
        says="XML|read_xml",
    )
    yield one("pandas", "to_string", "r.txt", data.to_string(index=False) + "\n")
    yield one("pandas", "to_string with index", "r.txt", data.to_string() + "\n")
    stata = written(lambda out: data.to_stata(out, write_index=False))
    yield one("pandas", "to_stata", "r.dta", stata)
    yield one(
        *("pandas", "to_markdown", "r.md"),
        "|   user |   item |   rating |\n|-------:|-------:|---------:|\n"
        + "".join(f"| {r.user:6} | {r.item:6} | {r.rating:8} |\n" for r in ROWS),
        untimed(),
        says="Markdown",
    )
    for ending in ("bz2", "xz"):
        packed = written(
            lambda out, e=ending: data.to_csv(
                out, index=False, compression={"bz2": "bz2", "xz": "xz"}[e]
            )
        )
        yield one("pandas", f"to_csv, {ending}", f"r.csv.{ending}", packed)


def statistics() -> Iterator[Shape]:
    """Yield what R, Julia, MATLAB, SPSS, Stata, Weka, NumPy and SciPy write."""
    quoted = table(
        *(",", '"","user","item","rating"', lambda r: f'"{ROWS.index(r) + 1}"', U, I, R),
    )
    yield one("statistics", "R write.csv", "r.csv", quoted, untimed(), frame="csv")
    yield one(
        *("statistics", "R write.csv without row names", "r.csv"),
        *(table(",", '"user","item","rating"', U, I, R), untimed()),
        frame="csv",
    )
    half = {"rating": lambda r: r.rating - 0.5}
    comma = lambda r: f"{r.rating - 1},5"  # noqa: E731
    yield one(
        *("statistics", "R write.csv2", "r.csv"),
        table(";", '"";"user";"item";"rating"', lambda r: f'"{ROWS.index(r) + 1}"', U, I, comma),
        untimed(**half),
        option={"decimal": ","},
    )
    yield one(
        *("statistics", "R write.table", "r.txt"),
        table(" ", '"user" "item" "rating"', lambda r: f'"{ROWS.index(r) + 1}"', U, I, R),
        untimed(),
    )
    yield one(
        *("statistics", "R write.table, factors", "r.txt"),
        table(
            " ",
            '"user" "item" "rating"',
            *(
                lambda r: f'"{ROWS.index(r) + 1}"',
                lambda r: f'"u{r.user}"',
                lambda r: f'"i {r.item}"',
                R,
            ),
        ),
        untimed(user=lambda r: f"u{r.user}", item=lambda r: f"i {r.item}"),
    )
    rds = gz(b"X\n\x00\x00\x00\x03\x00\x04\x02\x00" + bytes(100))
    yield one("statistics", "R saveRDS", "r.rds", rds, None, says=r"\bR\b|RDS|readRDS")
    yield one(
        *("statistics", "Julia CSV with missing", "r.csv"),
        table(",", "user,item,rating", U, I, decimal, rows=ROWS[:330])
        + table(",", "", U, I, always("missing"), rows=ROWS[330:]),
        untimed(ROWS[:330]),
    )
    matrix = np.array([[r.user, r.item, r.rating] for r in ROWS])
    yield one(
        *("statistics", "MATLAB of triples", "r.mat"),
        *(written(lambda out: scipy.io.savemat(out, {"R": matrix})), untimed()),
        says="MATLAB|loadmat",
    )
    yield one("statistics", "MATLAB dlmwrite", "r.txt", table(",", "", U, I, R), untimed())
    yield one("statistics", "SPSS", "ratings.sav", spss(), says="SPSS")
    yield one(
        "statistics",
        "SAS",
        "r.sas7bdat",
        bytes(12) + b"\xc2\xea\x81\x60" + bytes(900),
        None,
        says="SAS",
    )
    savetxt = written(lambda out: np.savetxt(out, matrix))
    yield one(
        "statistics",
        "NumPy savetxt",
        "r.txt",
        savetxt,
        untimed(user=decimal, item=decimal),
        says="exponent",
        undecidable="1.000e+00 as an id may be kept or be written 1",
    )
    yield one(
        *("statistics", "NumPy savetxt, whole numbers", "r.csv"),
        *(written(lambda out: np.savetxt(out, matrix, fmt="%d", delimiter=",")), untimed()),
    )
    yield one(
        *("statistics", "NumPy savetxt with a header", "r.csv"),
        written(
            lambda out: np.savetxt(out, matrix, fmt="%d", delimiter=",", header="user,item,rating")
        ),
        untimed(),
    )
    yield one(
        *(
            "statistics",
            "NumPy save",
            "r.npy",
            written(lambda out: np.save(out, matrix)),
            untimed(),
        ),
        says=r"NumPy|np\.load|numpy",
    )
    sparse = scipy.sparse.coo_matrix(
        ([r.rating for r in ROWS], ([r.user for r in ROWS], [r.item for r in ROWS]))
    )
    yield one(
        *("statistics", "SciPy save_npz", "r.npz"),
        *(written(lambda out: scipy.sparse.save_npz(out, sparse.tocsr())), untimed(BY_USER)),
        says="NumPy|SciPy|load_npz|numpy",
    )
    arff = "@RELATION ratings\n\n@ATTRIBUTE user NUMERIC\n@ATTRIBUTE item NUMERIC\n"
    arff += "@ATTRIBUTE rating NUMERIC\n\n@DATA\n"
    yield one(
        "statistics",
        "Weka ARFF",
        "r.arff",
        arff + table(",", "", U, I, R),
        untimed(),
        says="ARFF|Weka",
    )
    yield one(
        *("statistics", "Weka ARFF with comments and nominals", "r.arff"),
        "% 1. Title: ratings\n%\n"
        + arff.replace("rating NUMERIC", "rating {1,2,3,4,5}")
        + table(",", "", U, I, R),
        untimed(),
        says="ARFF|Weka",
    )
    by_user = defaultdict(list)
    for row in BY_USER:
        by_user[row.user].append(f"{row.item}:{row.rating}")
    yield one(
        *("statistics", "LibSVM, a line a user", "r.libsvm"),
        "".join(f"{user} {' '.join(cells)}\n" for user, cells in by_user.items()),
        untimed(BY_USER),
        says="LibSVM|svmlight|index:value",
    )
    head = "%%MatrixMarket matrix coordinate integer general\n%\n40 30 340\n"
    yield one(
        "statistics",
        "Matrix Market",
        "r.mtx",
        head + table(" ", "", U, I, R),
        untimed(),
        says="Matrix Market",
    )
    yield one(
        *("statistics", "Matrix Market of counts", "r.mtx"),
        head + table(" ", "", U, I, lambda r: r.rating**3 * 9),
        untimed(rating=lambda r: r.rating**3 * 9),
        says="Matrix Market",
    )
    yield one(
        *("statistics", "Matrix Market called .txt", "r.txt"),
        *(head.replace("integer", "real") + table(" ", "", U, I, decimal), untimed()),
        says="Matrix Market",
    )
    yield one(
        *(
            "statistics",
            "Matrix Market, gzip",
            "r.mtx.gz",
            gz(head + table(" ", "", U, I, R)),
            untimed(),
        ),
        says="Matrix Market",
    )
    yield one(
        *("statistics", "TREC qrels", "test.qrels"),
        table(" ", "", lambda r: f"u{r.user}", always("0"), lambda r: f"i{r.item}", R),
        untimed(user=lambda r: f"u{r.user}", item=lambda r: f"i{r.item}"),
        says="TREC|qrels",
    )
    yield one(
        *("statistics", "TREC qrels of numbers", "qrels.txt"),
        *(table(" ", "", U, always("0"), I, R), untimed()),
        says="TREC|qrels",
    )
    yield one(
        *("statistics", "TREC run", "r.run"),
        table(
            " ",
            "",
            U,
            always("Q0"),
            I,
            lambda r: r.item % 9 + 1,
            lambda r: f"{r.rating}.25",
            always("bm25"),
        ),
        None,
        says="TREC|run",
    )
    yield one(
        *("statistics", "SNAP edges with comments", "edges.txt"),
        "# Undirected graph: ratings\n# Nodes: 70 Edges: 340\n# FromNodeId\tToNodeId\tWeight\n"
        + table("\t", "", U, I, R),
        untimed(),
    )
    yield one(
        *("statistics", "GraphML", "r.graphml"),
        '<?xml version="1.0"?>\n<graphml><graph edgedefault="directed">'
        + "".join(f'<edge source="{r.user}" target="{r.item}"/>' for r in ROWS)
        + "</graph></graphml>",
        None,
        says="XML|GraphML",
    )


def spreadsheets() -> Iterator[Shape]:
    """Excel in several languages, Google, LibreOffice and survey programs."""
    names = NAMES.split(",")
    cells = [names, *map(list, ROWS)]
    no = "Excel|xlsx|workbook|spreadsheet|OpenDocument"
    yield one("spreadsheets", "Excel workbook", "r.xlsx", workbook(Sheet1=cells), says=no)
    other = [["item", "title"], *([n, f"Film {n}"] for n in range(1, 31))]
    yield one(
        *("spreadsheets", "Excel workbook of three sheets", "r.xlsx"),
        workbook(About=[["Ratings of our film club"]], Films=other, Ratings=cells),
        says=no,
    )
    yield one(
        *("spreadsheets", "Excel workbook with a title", "r.xlsx"),
        workbook(Sheet1=[["Our ratings"], [], *cells]),
        says=no,
    )
    yield one(
        "spreadsheets", "Excel workbook called .csv", "r.csv", workbook(Sheet1=cells), says=no
    )
    yield one("spreadsheets", "OpenDocument", "r.ods", open_document(cells), says=no)
    german = "Benutzer;Artikel;Bewertung;Zeit"
    given = {
        "columns": dict(
            zip(("user", "item", "rating", "timestamp"), german.split(";"), strict=True)
        )
    }
    half = {"rating": lambda r: r.rating - 0.5}
    comma = lambda r: f"{r.rating - 1},5"  # noqa: E731
    yield one(
        *("spreadsheets", "Excel German", "r.csv"),
        table(";", german, U, I, R, when("%d.%m.%Y %H:%M"), end="\r\n").encode("cp1252"),
        truth(time=MINUTE),
        option=given,
    )
    yield one(
        *("spreadsheets", "Excel German, decimal commas", "r.csv"),
        table(";", "user;item;rating", U, I, comma, end="\r\n"),
        untimed(**half),
        option={"decimal": ","},
    )
    yield one(
        *("spreadsheets", "Excel German, thousands", "r.csv"),
        table(";", "user;item;rating", U, I, lambda r: f"{r.rating}.{r.rating * 111:03d}"),
        untimed(rating=lambda r: r.rating * 1111),
        option={"thousands": "."},
        undecidable="1.111 is a number of thousands or of three decimals",
    )
    yield one(
        *("spreadsheets", "Excel French", "r.csv"),
        table(
            ";",
            "utilisateur;film;note;date",
            lambda r: f"Zoé {r.user}",
            lambda r: f"Amélie {r.item}",
            comma,
            when("%d/%m/%Y"),
            end="\r\n",
        ).encode("cp1252"),
        truth(
            user=lambda r: f"Zoé {r.user}", item=lambda r: f"Amélie {r.item}", time=midnight, **half
        ),
        option={
            "columns": {
                "user": "utilisateur",
                "item": "film",
                "rating": "note",
                "timestamp": "date",
            },
            "encoding": "cp1252",
            "decimal": ",",
            "time_format": "%d/%m/%Y",
        },
    )
    yield one(
        *("spreadsheets", "Excel Spanish", "r.csv"),
        table(";", "usuario;película;puntuación", U, I, R, end="\r\n").encode("cp1252"),
        untimed(),
        option={
            "columns": {"user": "usuario", "item": "película", "rating": "puntuación"},
            "encoding": "cp1252",
        },
    )
    yield one(
        *("spreadsheets", "Excel American", "r.csv"),
        table(",", NAMES, U, I, R, lambda r: f"{moment(r):%-m/%-d/%Y %-I:%M:%S %p}", end="\r\n"),
    )
    yield one(
        *("spreadsheets", "Excel, sep= in the first line", "r.csv"),
        "sep=;\r\n" + table(";", NAMES.replace(",", ";"), *FOUR, end="\r\n"),
    )
    yield one(
        *("spreadsheets", "Excel Unicode text", "r.txt"),
        table("\t", NAMES.replace(",", "\t"), *FOUR, end="\r\n").encode("utf-16"),
    )
    yield one(
        "spreadsheets", "Excel CSV UTF-8", "r.csv", "\ufeff" + table(",", NAMES, *FOUR, end="\r\n")
    )
    yield one("spreadsheets", "Excel Macintosh", "r.csv", table(",", NAMES, *FOUR, end="\r"))
    yield one(
        "spreadsheets",
        "empty columns",
        "r.csv",
        table(",", f"{NAMES},,,", *FOUR, *[always("")] * 3),
    )
    yield one("spreadsheets", "empty rows", "r.csv", table(",", NAMES, *FOUR) + ",,,\n" * 20)
    yield one(
        *("spreadsheets", "empty first column and rows", "r.csv"),
        ",,,,\n,,,,\n" + table(",", f",{NAMES}", always(""), *FOUR),
    )
    yield one(
        *("spreadsheets", "#N/A and #DIV/0!", "r.csv"),
        table(",", NAMES, *FOUR, rows=ROWS[:330])
        + table(",", "", U, I, lambda r: "#N/A" if r.user % 2 else "#DIV/0!", T, rows=ROWS[330:]),
        truth(rows=ROWS[:330]),
    )
    yield one(
        *("spreadsheets", "dates as serial numbers", "r.csv"),
        table(",", NAMES, U, I, R, lambda r: r.time // 86_400 + 25_569),
        truth(time=midnight),
        undecidable="days since 1900 are whole numbers like any other",
    )
    forms = table(
        *(",", '"Timestamp","Your name","Which film?","How good was it?"'),
        *(lambda r: f'"{moment(r):%Y/%m/%d %-I:%M:%S %p} GMT"', lambda r: f'"Ann {r.user}"'),
        *(lambda r: f'"Film {r.item}"', lambda r: f'"{r.rating}"'),
    )
    people = {"user": lambda r: f"Ann {r.user}", "item": lambda r: f"Film {r.item}"}
    yield one(
        *("spreadsheets", "Google Forms, a row a rating", "Responses.csv", forms, truth(**people)),
        option={
            "columns": {
                "user": "Your name",
                "item": "Which film?",
                "rating": "How good was it?",
                "timestamp": "Timestamp",
            }
        },
    )
    known = {(r.user, r.item): r.rating for r in ROWS}

    def answers(blank: str = "", first: str = "2020/03/01 1:02:03 PM GMT+1") -> str:
        lines = ""
        for user in range(1, 41):
            given = [str(known.get((user, item), blank)) for item in range(1, 31)]
            lines += ",".join([first, f"Ann {user}", f"ann{user}@x.org", *given]) + "\n"
        return lines

    asked = [f"How do you rate [Film {n}]" for n in range(1, 31)]
    survey = untimed(
        BY_USER, user=people["user"], item=lambda r: f"How do you rate [Film {r.item}]"
    )
    yield one(
        *("spreadsheets", "Google Forms, a column a film", "Responses.csv"),
        ",".join(["Timestamp", "Your name", "Email Address", *asked]) + "\n" + answers(),
        survey,
        option={"format": "matrix", "columns": {"user": "Your name"}},
    )
    yield one(
        *("spreadsheets", "SurveyMonkey, two header lines", "survey.csv"),
        ",".join(["Start", "Name", "Email", "How do you rate?", *[""] * 29])
        + "\n"
        + ",".join(["", "Open-Ended Response", "", *(f"Film {n}" for n in range(1, 31))])
        + "\n"
        + answers(),
        untimed(BY_USER, user=people["user"], item=lambda r: f"Film {r.item}"),
        says="two header|header of (two|2)|survey|matrix",
        option={"format": "matrix", "skip": 1},
    )
    yield one(
        *("spreadsheets", "Qualtrics, three header lines", "survey.csv"),
        ",".join(["StartDate", "Name", "Email", *(f"Q1_{n}" for n in range(1, 31))])
        + "\n"
        + ",".join(["Start Date", "Name", "Email", *(f"Rate - Film {n}" for n in range(1, 31))])
        + "\n"
        + ",".join(['"{""ImportId"":""d""}"'] * 33)
        + "\n"
        + answers(),
        untimed(BY_USER, user=people["user"], item=lambda r: f"Q1_{r.item}"),
        says="three header|header of (three|3)|survey|matrix|ImportId",
    )
    yield one(
        *("spreadsheets", "Google Sheets saved as a page", "Sheet1.html"),
        "<html><body><table>"
        + "".join(f"<tr><td>{r.user}</td><td>{r.item}</td><td>{r.rating}</td></tr>" for r in ROWS)
        + "</table></body></html>",
        untimed(),
        says="HTML",
    )
    yield one(
        *("spreadsheets", "apostrophes before numbers", "r.csv"),
        table(",", NAMES, lambda r: f"'{r.user}", lambda r: f"'{r.item}", R, T),
        truth(user=lambda r: f"'{r.user}", item=lambda r: f"'{r.item}"),
    )


def databases() -> Iterator[Shape]:
    """MySQL, PostgreSQL, SQLite, SQL Server, Oracle, warehouses and Hive."""
    iso = when("%Y-%m-%d %H:%M:%S")
    ids = "user_id,item_id,rating,created_at"
    says = "SQL|dump"
    create = (
        "-- MySQL dump 10.13  Distrib 8.0\n/*!40101 SET NAMES utf8 */;\nDROP TABLE IF EXISTS `ratings`;\n"
        "CREATE TABLE `ratings` (\n  `user_id` int NOT NULL,\n  `item_id` int NOT NULL,\n  `rating` int\n)"
        " ENGINE=InnoDB;\nLOCK TABLES `ratings` WRITE;\nINSERT INTO `ratings` VALUES "
    )
    dump = (
        create + ",".join(f"({r.user},{r.item},{r.rating})" for r in ROWS) + ";\nUNLOCK TABLES;\n"
    )
    yield one("databases", "mysqldump", "dump.sql", dump, untimed(), says=says)
    yield one("databases", "mysqldump, gzip", "dump.sql.gz", gz(dump), untimed(), says=says)
    yield one(
        *("databases", "MySQL into outfile", "ratings.txt"),
        table("\t", "", *FOUR, rows=ROWS[:335])
        + table("\t", "", U, I, always("\\N"), T, rows=ROWS[335:]),
        truth(rows=ROWS[:335]),
    )
    yield one(
        *("databases", "mysql -e", "r.tsv", table("\t", ids.replace(",", "\t"), U, I, R, iso)),
        frame="tsv",
    )
    box = "+---------+---------+--------+\n"
    yield one(
        *("databases", "mysql, a box of the terminal", "r.txt"),
        box
        + "| user_id | item_id | rating |\n"
        + box
        + "".join(f"| {r.user:7} | {r.item:7} | {r.rating:6} |\n" for r in ROWS)
        + box
        + "340 rows in set (0.00 sec)\n",
        untimed(),
        says="terminal|box|mysql",
    )
    yield one(
        *("databases", "phpMyAdmin CSV", "ratings.csv"),
        table(
            ";",
            '"user_id";"item_id";"rating"',
            lambda r: f'"{r.user}"',
            lambda r: f'"{r.item}"',
            lambda r: f'"{r.rating}"',
        ),
        untimed(),
    )
    yield one(
        *("databases", "phpMyAdmin JSON", "ratings.json"),
        json.dumps(
            [
                {"type": "header", "comment": "Export to JSON plugin for PHPMyAdmin"},
                {"type": "database", "name": "shop"},
                {
                    "type": "table",
                    "name": "ratings",
                    "data": entries("user_id", "item_id", "rating"),
                },
            ]
        ),
        untimed(),
        says="phpMyAdmin",
    )
    yield one(
        *(
            "databases",
            "PostgreSQL COPY CSV",
            "r.csv",
            table(",", ids, U, I, R, when("%Y-%m-%d %H:%M:%S+00")),
        ),
    )
    yield one(
        *("databases", "PostgreSQL times with fractions", "r.csv"),
        table(",", ids, U, I, R, when("%Y-%m-%d %H:%M:%S.250000+00")),
        truth(time=lambda r: r.time + 0.25),
    )
    yield one("databases", "PostgreSQL COPY text", "r.copy", table("\t", "", U, I, R, iso))
    psql = " user_id | item_id | rating \n---------+---------+--------\n"
    psql += "".join(f" {r.user:7} | {r.item:7} | {r.rating:6}\n" for r in ROWS)
    yield one("databases", "psql, as on the terminal", "r.txt", psql + "(340 rows)\n\n", untimed())
    yield one(
        *("databases", "psql unaligned", "r.txt"),
        *(table("|", "user_id|item_id|rating", U, I, R) + "(340 rows)\n", untimed()),
    )
    pg = (
        "--\n-- PostgreSQL database dump\n--\n\nSET client_encoding = 'UTF8';\n\nCREATE TABLE public.ratings (\n"
        "    user_id integer,\n    item_id integer,\n    rating integer\n);\n\n"
        "COPY public.ratings (user_id, item_id, rating) FROM stdin;\n"
    )
    yield one(
        "databases",
        "pg_dump",
        "dump.sql",
        pg + table("\t", "", U, I, R) + "\\.\n\n",
        untimed(),
        says=says,
    )
    yield one(
        "databases",
        "pg_dump, custom format",
        "dump.pgc",
        b"PGDMP\x01\x0e\x00" + bytes(900),
        None,
        says="PostgreSQL|pg_dump|pg_restore",
    )
    four = "create table ratings (user integer, item integer, rating real, timestamp integer)"
    yield one("databases", "SQLite, one table", "shop.db", database(four, rows={"ratings": ROWS}))
    yield one("databases", "SQLite called .csv", "shop.csv", database(four, rows={"ratings": ROWS}))
    two = database(
        "create table films (id integer, title text)",
        four,
        rows={"films": [(n, f"Film {n}") for n in range(1, 31)], "ratings": ROWS},
    )
    yield one("databases", "SQLite, two tables", "shop.sqlite", two)
    django = database(
        "create table auth_user (id integer, username text)",
        "create table app_movie (id integer, title text)",
        "create table app_rating (id integer, stars integer, created_at text, movie_id integer, user_id integer)",
        rows={
            "auth_user": [(n, f"ann{n}") for n in range(1, 41)],
            "app_movie": [(n, f"Film {n}") for n in range(1, 31)],
            "app_rating": [(n, r.rating, iso(r), r.item, r.user) for n, r in enumerate(ROWS, 1)],
        },
    )
    yield one("databases", "SQLite of Django", "db.sqlite3", django)
    yield one("databases", "sqlite3 .mode list", "r.txt", table("|", "", *FOUR))
    yield one(
        *("databases", "sqlite3 .dump", "r.sql"),
        "PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nCREATE TABLE ratings (user integer, item integer, rating real);\n"
        + "".join(f"INSERT INTO ratings VALUES({r.user},{r.item},{r.rating}.0);\n" for r in ROWS)
        + "COMMIT;\n",
        untimed(),
        says=says,
    )
    yield one(
        "databases",
        "sqlite3 .mode column",
        "r.txt",
        "user  item  rating\n----  ----  ------\n"
        + "".join(f"{r.user:<4}  {r.item:<4}  {r.rating}\n" for r in ROWS),
        untimed(),
    )
    yield one(
        *("databases", "DuckDB", "shop.duckdb", duck_database(), truth()),
        says="DuckDB",
    )
    yield one(
        *("databases", "SQL Server sqlcmd", "r.txt"),
        "user_id,item_id,rating\n-------,-------,------\n"
        + table(",", "", U, I, R)
        + "\n(340 rows affected)\n",
        untimed(),
    )
    yield one(
        *("databases", "SQL Server, UTF-16", "r.csv"),
        table(",", ids, U, I, R, when("%Y-%m-%d %H:%M:%S.000"), end="\r\n").encode("utf-16"),
    )
    yield one(
        "databases",
        "Oracle dates",
        "r.csv",
        table(
            ",",
            "USER_ID,ITEM_ID,RATING,CREATED",
            U,
            I,
            R,
            lambda r: f"{moment(r):%d-%b-%y}".upper(),
        ),
        truth(time=midnight),
        option={"columns": {"timestamp": "CREATED"}, "time_format": "%d-%b-%y"},
    )
    yield one(
        "databases",
        "BigQuery CSV",
        "r.csv",
        table(",", ids, U, I, R, when("%Y-%m-%d %H:%M:%S UTC")),
    )
    yield one(
        *("databases", "BigQuery JSON", "r.json"),
        json_lines(
            {"user_id": U(r), "item_id": I(r), "rating": R(r), "timestamp": f"{iso(r)} UTC"}
            for r in ROWS
        ),
    )
    parts = {
        "unload/0000_part_00": table("|", "", *FOUR, rows=ROWS[:170]),
        "unload/0001_part_00": table("|", "", *FOUR, rows=ROWS[170:]),
    }
    yield Shape("databases", "Redshift UNLOAD", parts, truth(), path="unload")
    yield one(
        *("databases", "Athena CSV", "r.csv"),
        table(
            ",", '"user_id","item_id","rating","ts"', *[lambda r, c=c: f'"{c(r)}"' for c in FOUR]
        ),
        option={"columns": {"timestamp": "ts"}},
    )
    yield one("databases", "Hive text", "000000_0", table("\x01", "", *FOUR))
    hive = {
        "warehouse/000000_0": table("\x01", "", *FOUR, rows=ROWS[:170]),
        "warehouse/000001_0": table("\x01", "", *FOUR, rows=ROWS[170:]),
    }
    yield Shape("databases", "Hive folder of text", hive, truth(), path="warehouse")
    yield one(
        *("databases", "Hive with names of the table", "r.tsv"),
        table("\t", "ratings.user_id\tratings.item_id\tratings.rating\tratings.ts", *FOUR),
        option={
            "columns": {
                "user": "ratings.user_id",
                "item": "ratings.item_id",
                "rating": "ratings.rating",
                "timestamp": "ratings.ts",
            }
        },
    )
    yield one(
        "databases",
        "Cassandra COPY",
        "r.csv",
        table(",", "user_id,item_id,rating,rated_at", U, I, R, when("%Y-%m-%d %H:%M:%S.000+0000")),
    )
    yield one(
        "databases",
        "ClickHouse TSVWithNamesAndTypes",
        "r.tsv",
        "user_id\titem_id\trating\nUInt32\tUInt32\tUInt8\n" + table("\t", "", U, I, R),
        untimed(),
    )


def documents() -> Iterator[Shape]:
    """MongoDB, Elasticsearch, web APIs and other JSON."""
    items = entries()
    three = untimed()
    mongo = [
        {
            "_id": {"$oid": f"{n:024x}"},
            "user_id": r.user,
            "movie_id": r.item,
            "rating": r.rating,
            "timestamp": {"$date": f"{moment(r):%Y-%m-%dT%H:%M:%SZ}"},
        }
        for n, r in enumerate(ROWS)
    ]
    yield one(
        "documents",
        "mongoexport",
        "ratings.json",
        json_lines(mongo),
        option={"columns": {"timestamp": "timestamp.$date"}},
    )
    yield one(
        "documents",
        "mongoexport --jsonArray",
        "ratings.json",
        json.dumps(mongo),
        option={"columns": {"timestamp": "timestamp.$date"}},
    )
    canonical = [m | {"rating": {"$numberInt": str(m["rating"])}, "timestamp": None} for m in mongo]
    yield one(
        "documents",
        "mongoexport, canonical",
        "ratings.json",
        json_lines(canonical),
        three,
        option={"columns": {"rating": "rating.$numberInt", "timestamp": None}},
    )
    yield one(
        "documents",
        "mongoexport CSV",
        "ratings.csv",
        table(
            ",",
            "_id,user_id,movie_id,rating,timestamp",
            lambda r: f"ObjectId({ROWS.index(r):024x})",
            U,
            I,
            R,
            when("%Y-%m-%dT%H:%M:%S.000Z"),
        ),
    )
    yield one(
        "documents",
        "mongodump",
        "ratings.bson",
        b"\x52\x00\x00\x00\x07_id\x00" + bytes(75),
        None,
        says="BSON|MongoDB",
    )
    hits = [{"_index": "ratings", "_id": str(n), "_source": e} for n, e in enumerate(items)]
    yield one(
        "documents",
        "Elasticsearch dump",
        "ratings.json",
        json_lines(hits),
        option={
            "columns": {
                "user": "_source.user",
                "item": "_source.item",
                "rating": "_source.rating",
                "timestamp": "_source.timestamp",
            }
        },
    )
    yield one(
        "documents",
        "Elasticsearch bulk",
        "bulk.ndjson",
        "".join(f'{{"index":{{"_id":"{n}"}}}}\n{json.dumps(e)}\n' for n, e in enumerate(items)),
        says="bulk|index",
    )
    yield one("documents", "wrapped in data", "r.json", json.dumps({"status": "ok", "data": items}))
    yield one(
        "documents",
        "pages of an API",
        "r.json",
        json.dumps({"count": 340, "next": None, "previous": None, "results": items}),
    )
    yield one(
        "documents", "two levels of wrapping", "r.json", json.dumps({"data": {"ratings": items}})
    )
    yield one(
        "documents",
        "Firebase",
        "r.json",
        json.dumps({"ratings": {f"-Mx{n:05d}": e for n, e in enumerate(items)}}),
    )
    yield one(
        "documents",
        "objects by a key",
        "r.json",
        json.dumps({str(n): e for n, e in enumerate(items)}),
    )
    dynamo = [
        {"Item": {"user": {"S": U(r)}, "item": {"S": I(r)}, "rating": {"N": R(r)}}} for r in ROWS
    ]
    yield one(
        "documents",
        "DynamoDB",
        "r.json",
        json_lines(dynamo),
        three,
        option={
            "columns": {"user": "Item.user.S", "item": "Item.item.S", "rating": "Item.rating.N"}
        },
    )
    yield one(
        "documents",
        "Django dumpdata",
        "r.json",
        json.dumps([{"model": "app.rating", "pk": n, "fields": e} for n, e in enumerate(items)]),
        option={
            "columns": {
                "user": "fields.user",
                "item": "fields.item",
                "rating": "fields.rating",
                "timestamp": "fields.timestamp",
            }
        },
    )
    critics: dict[str, dict[str, int]] = defaultdict(dict)
    for r in BY_USER:
        critics[f"Person {r.user}"][f"Film {r.item}"] = r.rating
    people = untimed(BY_USER, user=lambda r: f"Person {r.user}", item=lambda r: f"Film {r.item}")
    yield one(
        "documents",
        "ratings by item by user",
        "critics.json",
        json.dumps(critics, indent=1),
        people,
    )
    yield one(
        "documents",
        "pairs by user",
        "r.json",
        json.dumps({user: list(map(list, given.items())) for user, given in critics.items()}),
        people,
    )
    yield one(
        "documents",
        "a list of ratings in an object a user",
        "r.jsonl",
        json_lines(
            {"user": user, "ratings": [{"item": i, "rating": v} for i, v in given.items()]}
            for user, given in critics.items()
        ),
        people,
    )
    yield one("documents", "arrays in an array", "r.json", json.dumps([list(r) for r in ROWS]))
    yield one(
        "documents",
        "arrays with a header",
        "r.json",
        json.dumps([NAMES.split(","), *map(list, ROWS)]),
    )
    yield one("documents", "an array on each line", "r.jsonl", json_lines(map(list, ROWS)))
    yield one(
        "documents",
        "columns of arrays",
        "r.json",
        json.dumps({name: [r[n] for r in ROWS] for n, name in enumerate(NAMES.split(","))}),
    )
    yield one(
        "documents",
        "concatenated objects",
        "r.json",
        "".join(json.dumps(e, indent=1) for e in items),
    )
    yield one(
        "documents", "objects without line ends", "r.json", "".join(json.dumps(e) for e in items)
    )
    yield one(
        "documents",
        "a comma after each line",
        "r.json",
        "[\n" + ",\n".join(map(json.dumps, items)) + ",\n]\n",
        says="JSON",
    )
    yield one(
        "documents",
        "NaN as a rating",
        "r.json",
        "["
        + ",\n".join(
            [json.dumps(e) for e in items[:330]]
            + [json.dumps(e | {"rating": float("nan")}) for e in items[330:]]
        )
        + "]",
        truth(rows=ROWS[:330]),
    )
    yield one(
        "documents",
        "nested user and item",
        "r.jsonl",
        json_lines(
            {"reviewer": {"id": r.user}, "product": {"id": r.item}, "review": {"stars": r.rating}}
            for r in ROWS
        ),
        three,
        option={"columns": {"user": "reviewer.id", "item": "product.id", "rating": "review.stars"}},
    )
    yield one(
        "documents",
        "an error of an API",
        "r.json",
        '{"error": {"code": 401, "message": "Unauthorized"}}',
        None,
        says="error|no (list|object|row)|no column",
    )
    yield one(
        "documents",
        "texts as numbers",
        "r.jsonl",
        json_lines({"user": U(r), "item": I(r), "rating": R(r), "timestamp": T(r)} for r in ROWS),
        frame="",
    )
    yield one("documents", "UTF-8 with a mark", "r.json", "\ufeff" + json.dumps(items))
    yield one(
        "documents",
        "YAML list",
        "r.yaml",
        "".join(f"- user: {r.user}\n  item: {r.item}\n  rating: {r.rating}\n" for r in ROWS),
        untimed(),
        says="YAML",
    )
    yield one(
        "documents",
        "Surprise predictions",
        "r.csv",
        table(
            ",",
            ",uid,iid,r_ui,est,details",
            number,
            U,
            I,
            decimal,
            lambda r: f"{r.rating - 0.3:.2f}",
            always("\"{'was_impossible': False}\""),
        ),
        untimed(),
        option={"columns": {"rating": "r_ui"}},
    )


PROGRAMS = (pandas_, statistics, spreadsheets, databases, documents)
