"""Loaded data of every library give the ratings that the same rows give as columns."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse

import harness
from harness.datasets import Ratings, load, load_under
from harness.datasets.section import DatasetSection
from harness.errors import ConfigError, DataError

RNG = np.random.default_rng(8)
CELLS = RNG.permutation(20 * 30)[:150]
USERS, ITEMS = np.divmod(CELLS, 30)
RATINGS = RNG.integers(1, 11, 150) / 2
TIMES = 10**9 + RNG.integers(0, 10**6, 150)
FRAME = pd.DataFrame({"user": USERS, "item": ITEMS, "rating": RATINGS, "timestamp": TIMES})
EXPECTED = load(FRAME)
ARROW = pa.Table.from_pandas(FRAME, preserve_index=False)


class Stream:
    """A table of a library that hands over Arrow's streams, as Polars and DuckDB do."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


class Interchange:
    """A table of a library that knows the interchange protocol alone."""

    def __dataframe__(self, **options):
        return ARROW.__dataframe__(**options)


class Lazy:
    """A frame whose rows are not computed yet, as Polars has them."""

    columns = FRAME.columns

    def lazy(self):
        return self

    def collect(self):
        return FRAME


class Broken:
    """A table whose query fails."""

    def __arrow_c_stream__(self, requested_schema=None):
        raise RuntimeError("no such table")


def polars_frame():
    return pytest.importorskip("polars").DataFrame(ARROW)


def duckdb_relation():
    duckdb = pytest.importorskip("duckdb")
    return duckdb.connect().from_arrow(ARROW)


TABLES = {
    "Arrow": lambda: ARROW,
    "a batch": lambda: ARROW.to_batches()[0],
    "a stream": lambda: Stream(ARROW),
    "interchange": Interchange,
    "Polars": polars_frame,
    "DuckDB": duckdb_relation,
    "tuples": lambda: list(FRAME.itertuples(index=False, name=None)),
    "lists": lambda: [
        [str(user), str(item), *rest] for user, item, *rest in FRAME.to_numpy(object)
    ],
}


@pytest.mark.parametrize("kind", TABLES)
def test_every_kind_gives_the_ratings_of_the_frame(kind):
    made = load(TABLES[kind]())
    assert made.fingerprint == EXPECTED.fingerprint
    assert made.scale == EXPECTED.scale


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr"])
@pytest.mark.parametrize("kind", [sparse.coo_matrix, sparse.coo_array])
def test_a_sparse_matrix_has_users_as_rows(form, kind):
    matrix = kind((RATINGS, (USERS, ITEMS)), shape=(20, 31)).asformat(form)
    made = load(matrix)
    columns = ["user", "item", "rating"]
    rows, expected = (r.to_frame()[columns].sort_values(columns) for r in (made, EXPECTED))
    np.testing.assert_array_equal(rows.to_numpy(), expected.to_numpy())
    assert made.timestamps is None


def test_a_stored_zero_is_a_rating_and_repeated_entries_are_for_a_policy():
    matrix = sparse.coo_matrix(([0.0, 2.0, 3.0], ([0, 1, 1], [0, 0, 0])))
    with pytest.raises(DataError, match=r"^matrix: row 2 .*user '1' rates item '0' again"):
        load(matrix)
    summed = load_under(matrix, DatasetSection(path="x", duplicates="sum"))
    assert summed.ratings.tolist() == [0.0, 5.0]


@pytest.mark.parametrize("kind", ["pandas", "Arrow", "a stream", "Polars", "DuckDB", "tuples"])
def test_options_of_a_config_hold_for_each_kind(kind):
    frame = FRAME.rename(columns={"user": "who", "item": "what", "rating": "points"})
    frame["points"] = [f"{rating:.1f}".replace(".", ",") for rating in RATINGS]
    section = {"columns": {"user": "who", "item": "what", "rating": "points", "timestamp": None}}
    if kind == "tuples":
        section["columns"] = {"user": 1, "item": 2, "rating": 3, "timestamp": None}
    given = {
        "pandas": lambda: frame,
        "Arrow": lambda: pa.Table.from_pandas(frame),
        "a stream": lambda: Stream(pa.Table.from_pandas(frame)),
        "Polars": lambda: pytest.importorskip("polars").DataFrame(pa.Table.from_pandas(frame)),
        "DuckDB": lambda: (
            pytest.importorskip("duckdb").connect().from_arrow(pa.Table.from_pandas(frame))
        ),
        "tuples": lambda: list(frame.itertuples(index=False, name=None)),
    }[kind]()
    section |= {"decimal": ",", "scale": [1, 5], "out_of_scale": "drop", "not_rated": [5]}
    made = load_under(given, DatasetSection(path="x", **section))
    inside = (RATINGS >= 1) & (RATINGS < 5)
    expected = Ratings.from_columns(USERS[inside], ITEMS[inside], RATINGS[inside], scale=(1, 5))
    assert made.fingerprint == expected.fingerprint
    codes = [note.code for note in made.notes]
    assert "not-rated-dropped" in codes
    assert "outside-scale-dropped" in codes


@pytest.mark.parametrize("kind", ["Arrow", "tuples", "matrix"])
def test_a_run_takes_each_kind_and_refuses_what_it_has_not(kind):
    matrix = sparse.csr_matrix((RATINGS, (USERS, ITEMS)))
    given = matrix if kind == "matrix" else TABLES[kind]()
    config = {
        "dataset": {"scale": [0.5, 5]}, "split": {"kind": "holdout", "test_size": 0.3},
        "algorithms": ["ItemMean"], "metrics": ["rmse"], "baselines": False, "statistics": None,
    }  # fmt: skip
    found = harness.describe(config, ratings=given)
    assert (found[0].n_ratings, [*found[0].scale]) == (150, [0.5, 5])
    config["dataset"] = {"separator": ";"}
    with pytest.raises(ConfigError, match="separator: found ';'; `ratings` from Python have none"):
        harness.describe(config, ratings=given)


@pytest.mark.parametrize(
    "chosen",
    [
        {"columns": {"user": 2}}, {"decimal": ","}, {"thousands": ","}, {"time_format": "days"},
        {"id_spellings": "join"},
    ],
)  # fmt: skip
def test_what_a_matrix_cannot_follow_is_refused_by_name(chosen):
    (key,) = chosen
    with pytest.raises(DataError, match=f"^dataset.{key}: a sparse matrix .* leave `{key}` out"):
        load_under(sparse.csr_matrix((RATINGS, (USERS, ITEMS))), DatasetSection(path="x", **chosen))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (Lazy(), r"^frame: a lazy frame; give frame.collect\(\)"),
        (Broken(), r"^frame: of type Broken, .* \(RuntimeError: no such table\); give a DataFrame"),
        ([], "^rows: no ratings"),
        ([("a", "x")], r"^rows: no column .*rating"),
        ([("a", "x", 3), ("a", "y")], r"^rows: row 1 \(counted from 0\) has 2 values, the first 3"),
        (["axe", "bye"], r"^rows: row 0 \(counted from 0\): 'axe'; give tuples"),
        ([{"user": 1}], r"^rows: row 0 .*; give tuples"),
        ([("a", "x", "high")], r"^rows: row 0 .*the rating 'high' is not a number"),
        (sparse.csr_matrix((2, 2)), "^matrix: no ratings"),
        (sparse.coo_array(([1j], ([0], [0]))), "^matrix: a matrix of complex128; turn it into num"),
        (pa.table({"user": [1], "item": [[2]], "rating": [3]}), "^frame: item ids of type list"),
        (pa.table({"a": [1], "b": [2]}), "^frame: no column"),
        (np.arange(6.0), "is not ratings; give the name of a data set, .* a scipy.sparse matrix"),
    ],
)
def test_what_is_no_ratings_says_why(source, message):
    with pytest.raises(DataError, match=message):
        load(source)


def test_tuples_have_positions_and_no_names():
    rows = [("x", 4, "ann"), ("y", 2, "bob")]
    section = DatasetSection(path="x", columns={"user": 3, "item": 1, "rating": 2})
    assert load_under(rows, section).user_ids.tolist() == ["ann", "bob"]
    named = DatasetSection(path="x", columns={"user": "who"})
    with pytest.raises(DataError, match=r"^dataset.columns: 'who': tuples have no names"):
        load_under(rows, named)


def test_texts_of_every_type_of_arrow_are_ids():
    users = ["ann", "bob", "ann"]
    coded = pa.dictionary(pa.int8(), pa.string())
    for kind in (pa.string(), pa.large_string(), pa.string_view(), coded):
        try:
            ids = pa.array(users).cast(kind)
        except pa.ArrowNotImplementedError:  # of views, before Arrow 18
            continue
        table = pa.table({"user": ids, "item": [1, 1, 2], "rating": [1, 2, 3]})
        (batch,) = table.to_batches()
        for form in (table, batch, pa.RecordBatchReader.from_batches(table.schema, [batch])):
            assert load(form).user_ids.tolist() == ["ann", "bob"]
