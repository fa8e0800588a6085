"""One meaning of a filter: every engine, with and without an index, takes the rows that Python takes."""

from __future__ import annotations

import datetime as dt
import math
import operator
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from airflow_partitions import PartitionBySequence
from airflow_partitions.storage import Files, Filter, Orc, Parquet, field, write_many
from airflow_partitions.storage.commit.commit import Commit
from airflow_partitions.storage.filters.filter import And, Condition, Or
from airflow_partitions.storage.filters.values import typed
from airflow_partitions.storage.metadata.arrow_types import arrow_type
from tests.hunt import HUNT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LETTERS = PartitionBySequence(["a", "b"], name="letter")
SCHEMA = {
    "id": "int", "tiny": "tinyint", "n": "int", "big": "bigint", "f": "float", "d": "double", "m": "decimal(5,2)",
    "s": "string", "b": "boolean", "day": "date", "at": "timestamp", "wall": "timestamp_ntz",
}  # fmt: skip
AT = dt.datetime(2013, 11, 3, 5, 30, 0, 123456, dt.UTC)
TENTH, HALF = float(np.float32(0.1)), Decimal("0.50")
NAN, INF = math.nan, math.inf
#: Each list is a file: what compares in odd ways, alone and in company.
STORED: Mapping[str, list[list[Any]]] = {
    "tiny": [[1, 2], [None], [127, -128], [0, None]],
    "n": [[1, 20_000_001], [None], [2**31 - 1, -(2**31)], [16_777_217, None]],
    "big": [[2, 20_000_001], [None], [2**63 - 1, -(2**63)], [2**53 + 1, 2**53, None]],
    "f": [[TENTH, 0.5], [None], [NAN], [-0.0], [0.0, None], [INF, -INF], [1.0, NAN], [NAN, 1.0]],
    "d": [[0.1, TENTH], [None], [NAN], [-0.0], [0.0, None], [INF, -INF], [1.0, NAN], [2.0**53]],
    "m": [[HALF, Decimal("-0.01")], [None], [Decimal("999.99"), Decimal("-999.99")], [Decimal("0.00"), None]],
    "s": [["", "x"], [None], ["1", "é"], ["X", None]],
    "b": [[True, False], [None], [True], [False, None]],
    "day": [[dt.date(2013, 2, 8)], [None], [dt.date(1, 1, 1)], [dt.date(1582, 10, 4), dt.date(9999, 12, 31), None]],
    "at": [[AT], [None], [AT.replace(microsecond=0)], [AT + dt.timedelta(hours=1), None]],
    "wall": [
        [AT.replace(tzinfo=None)],
        [None],
        [dt.datetime.fromisoformat("2013-03-31T02:30")],
        [dt.datetime.fromisoformat("1883-01-01"), None],
    ],
}
ASKED: Mapping[str, list[Any]] = {
    "s": ["", "x", "X", "ü", "1"],
    "b": [True, False],
    "day": [dt.date(2013, 2, 8), dt.date(1582, 10, 4), "2013-02-09"],
    "at": [AT, AT.astimezone(dt.timezone(dt.timedelta(hours=-5))), "2013-11-03T01:30:00-05:00", pd.Timestamp(AT)],
    "wall": [dt.datetime.fromisoformat("2013-03-31T02:30"), "1883-01-01T00:00:00", AT.replace(tzinfo=None)],
}
NUMBERS: list[Any] = [
    0, 0.0, -0.0, 1, 2, 2.0, 2.5, -1.5, 127, 128, 1e6, 20_000_001, 16_777_216, 16_777_217, 2**31, 2**53 + 1, 2**64,
    -(2**64), 0.1, TENTH, np.float32(0.1), 0.005, HALF, Decimal("0.1"), Decimal("1e400"), "1e-999999999", "0.5",
    999.99, 1e39, -1e300, 1e308, np.int64(2),
]  # fmt: skip
OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def rows_of(file: int) -> list[dict[str, Any]]:
    """The rows of the file of this number: those of each column, as far as there are any."""
    columns = {name: files[file % len(files)] for name, files in STORED.items()}
    count = max(map(len, columns.values()))
    return [
        {"id": 10 * file + row, **{name: values[row % len(values)] for name, values in columns.items()}}
        for row in range(count)
    ]


FILES = [rows_of(number) for number in range(8)]
ROWS = [row for file in FILES for row in file]
#: Days before are counted by two calendars in ORC files, as the docs say, so none is stored there.
GREGORIAN = dt.date(1582, 10, 15)
ORC_ROWS = [row | {"day": row["day"] if row["day"] and row["day"] >= GREGORIAN else None} for row in ROWS]


def fits(value: Any, op: str, operand: Any, kind: str) -> bool | None:
    """What the docs say; ``None`` if it is unknown, because the value is null."""
    if operand is None:
        return (value is None) == (op == "==")
    if operand == ():
        return op == "not in"
    if value is None:
        return None
    if isinstance(value, float) and math.isnan(value):
        return False
    if isinstance(operand, tuple):
        return any(fits(value, "==", each, kind) for each in operand) == (op == "in")
    if isinstance(value, bool) or kind == "string":
        return OPERATORS[op](value, operand)
    if isinstance(value, dt.date):
        return OPERATORS[op](value, type(value).fromisoformat(operand))
    number: Any = Decimal(operand)
    if isinstance(value, float):
        with np.errstate(over="ignore"):
            rounded = float(np.float32(float(number)) if kind == "float" else float(number))
        number = rounded if math.isfinite(rounded) else number
    return OPERATORS[op](value, number)


def holds(where: Filter, row: Mapping[str, Any]) -> bool | None:
    """The filter, read word for word, with the three truth values of SQL."""
    if isinstance(where, Condition):
        return fits(row[where.field], where.op, where.value, SCHEMA[where.field])
    assert isinstance(where, And | Or)
    answers = [holds(part, row) for part in where.parts]
    decisive = isinstance(where, Or)
    return decisive if decisive in answers else None if None in answers else not decisive


@st.composite
def conditions(draw: st.DrawFn) -> Filter:
    name = draw(st.sampled_from(sorted(STORED)))
    one, values = field(name), st.sampled_from(ASKED.get(name, NUMBERS))
    op = draw(st.sampled_from([*OPERATORS, "in", "not in", "null", "not null"]))
    if op in ("in", "not in"):
        among = one.isin(draw(st.lists(values, max_size=3)))
        return among if op == "in" else ~among
    if op in ("null", "not null"):
        return one == None if op == "null" else one != None  # noqa: E711
    return OPERATORS[op](one, draw(values))  # type: ignore[return-value]


FILTERS = st.recursive(
    conditions(),
    lambda some: st.one_of(
        some.map(operator.invert),
        st.tuples(some, some).map(lambda two: two[0] & two[1]),
        st.tuples(some, some).map(lambda two: two[0] | two[1]),
    ),
    max_leaves=3,
)


def sql(where: Filter) -> str:
    """The same for DuckDB, to which NaN is the greatest number."""
    if isinstance(where, And | Or):
        word = " AND " if isinstance(where, And) else " OR "
        return f"({word.join(map(sql, where.parts))})" if where.parts else str(isinstance(where, And))
    assert isinstance(where, Condition)
    kind = SCHEMA[where.field]
    part = typed(where, kind)
    if not isinstance(part, Condition):
        return sql(part)
    column, type_ = f'"{part.field}"', {"timestamp": "timestamptz", "timestamp_ntz": "timestamp"}.get(kind, kind)
    if part.value is None:
        return f"{column} IS {'' if part.op == '==' else 'NOT '}NULL"
    values = part.value if isinstance(part.value, tuple) else (part.value,)
    literals = ", ".join(f"CAST('{value}' AS {type_})" for value in values)
    compared = f"{column} {part.op} ({literals})"
    return f"({compared} AND NOT isnan({column}))" if kind in ("float", "double") else compared


Engine = Callable[[Files, list[Filter]], list[list[int]]]


def through_frames(as_: str) -> Engine:
    def ids(files: Files, filters: list[Filter]) -> list[list[int]]:
        return [sorted(int(n) for n in files.read(where, as_, full_scan=True)["id"].to_numpy()) for where in filters]

    return ids


def through_duckdb(files: Files, filters: list[Filter]) -> list[list[int]]:
    paths = [path for partition in files.list() for path in partition.paths]
    with duckdb.connect() as base:
        base.execute("SET TimeZone = 'UTC'")
        base.from_parquet(paths).create_view("stored")
        queries = [f"SELECT id FROM stored WHERE {sql(where)} ORDER BY id" for where in filters]
        return [[row[0] for row in base.execute(query).fetchall()] for query in queries]


def through_spark(files: Files, filters: list[Filter]) -> list[list[int]]:
    """All of them as one job."""
    from pyspark.sql import functions as f

    frames = [files.read(w, full_scan=True).select(f.lit(n).alias("n"), "id") for n, w in enumerate(filters)]
    rows = reduce(lambda one, other: one.unionAll(other), frames).collect()
    return [sorted(row["id"] for row in rows if row["n"] == n) for n in range(len(filters))]


def check(filters: list[Filter], engine: Engine, files: Files) -> None:
    rows = ORC_ROWS if isinstance(files, Orc) else ROWS
    expected = [[row["id"] for row in rows if holds(where, row)] for where in filters]
    for where, ids, right in zip(filters, engine(files, filters), expected, strict=True):
        assert ids == right, f"{where}: {ids}, expected {right}"


def written(root: Path, *, index: bool) -> Parquet:
    """Written by pyarrow."""
    dataset = Parquet(str(root), partition=LETTERS, schema=SCHEMA, index=list(SCHEMA) if index else ())
    schema = pa.schema([(name, arrow_type(kind)) for name, kind in SCHEMA.items()])
    with Commit(dataset) as commit:
        for number, rows in enumerate(FILES):
            pq.write_table(pa.Table.from_pylist(rows, schema), commit.stage("ab"[number % 2]) / f"{number}.parquet")
        for letter in "ab":
            commit.put(letter, schema=SCHEMA)
    return dataset


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Parquet:
    return written(tmp_path_factory.mktemp("lake"), index=False)


@pytest.fixture(scope="module")
def indexed_files(tmp_path_factory: pytest.TempPathFactory) -> Parquet:
    dataset = written(tmp_path_factory.mktemp("lake"), index=True)
    assert all(set(partition.metadata["index"]) == set(SCHEMA) for partition in dataset.list())
    return dataset


@pytest.fixture(scope="module")
def zone(spark: SparkSession) -> Iterator[None]:
    """A session whose zone is not that of the machine: conditions are about instants all the same."""
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    yield
    spark.conf.set("spark.sql.session.timeZone", str(before))


@pytest.fixture(scope="module", params=["parquet", "indexed", "orc"])
def spark_files(
    request: pytest.FixtureRequest,
    spark: SparkSession,
    zone: None,
    files: Parquet,
    tmp_path_factory: pytest.TempPathFactory,
) -> Files:
    """Written by Spark, or by pyarrow for Spark."""
    from pyspark.sql import functions as f

    if request.param == "parquet":
        return files
    kind = Orc if request.param == "orc" else Parquet
    index = list(SCHEMA) if request.param == "indexed" else []
    copied = kind(str(tmp_path_factory.mktemp(request.param)), partition=LETTERS, schema=SCHEMA, index=index)
    frame = files.read(spark=spark)
    if request.param == "orc":
        frame = frame.withColumn("day", f.when(f.col("day") >= f.lit(GREGORIAN), f.col("day")))
    write_many(frame, copied, bucket_by=["id"], buckets=8)
    return copied


@settings(max_examples=100 * HUNT, derandomize=HUNT == 1, deadline=None)
@given(where=FILTERS)
@pytest.mark.parametrize("engine", ["arrow", "pandas", "polars", "duckdb"])
def test_es_a_filter_means_the_same_without_spark(
    files: Parquet, indexed_files: Parquet, engine: str, where: Filter
) -> None:
    check([where], through_duckdb if engine == "duckdb" else through_frames(engine), files)
    if engine == "arrow":
        check([where], through_frames("arrow"), indexed_files)


@pytest.mark.spark
@settings(max_examples=4 * HUNT, derandomize=HUNT == 1, deadline=None, phases=[Phase.explicit, Phase.generate])
@given(filters=st.lists(FILTERS, min_size=10, max_size=10))
def test_es_a_filter_means_the_same_in_spark(spark_files: Files, filters: list[Filter]) -> None:
    check(filters, through_spark, spark_files)
    check(filters, through_frames("arrow"), spark_files)
