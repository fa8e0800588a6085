"""What each check says: of files with statistics, and of files without."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from airflow_partitions.checks import (
    AcceptedValues,
    Check,
    ExactSchema,
    Freshness,
    NotNull,
    RowCount,
    RowCountChange,
    Unique,
    ValueRange,
)
from airflow_partitions.core.errors import InvalidDefinitionError, StorageError
from airflow_partitions.storage import Avro, Csv, Files, Json, Orc, Parquet
from tests.checks.staging import DAY, DAYS, parquet, result, spoil, staged

SCHEMA = {"origin": "string", "delay": "bigint", "speed": "double", "time": "timestamp"}
KINDS: list[type[Files]] = [Parquet, Orc, Csv, Json, Avro]
MIDNIGHT = datetime(2013, 2, 9, 5, tzinfo=UTC)  # in New York


def table(**columns: list[Any]) -> pa.Table:
    types = {"origin": pa.string(), "delay": pa.int64(), "speed": pa.float64(), "time": pa.timestamp("us", tz="UTC")}
    length = max(map(len, columns.values()), default=0)
    return pa.table({name: pa.array(columns.get(name, [None] * length), kind) for name, kind in types.items()})


EXPECTED = {
    "rows": (RowCount(at_least=1), {"delay": [1]}, {}, "1 row", "0 rows", "at least 1"),
    "range of rows": (RowCount(at_least=1, at_most=2), {"delay": [1]}, {"delay": [1] * 3}, "1 row", "3 rows", "1 to 2"),
    "nulls": (
        NotNull(["origin", "delay"]),
        {"origin": ["a", "b"], "delay": [1, 2]},
        {"origin": ["a", "b"], "delay": [1, None]},
        "none in 2 rows|all of 2 rows",
        "1 failing row of 2",
        "no nulls",
    ),
    "range": (
        ValueRange("delay", at_least=-5, at_most=1500),
        {"delay": [-5, None, 1500]},
        {"delay": [-6, None, 1501, 3]},
        "-5 to 1500|all of 3 rows",
        "2 failing rows of 4",
        "-5 to 1,500",
    ),
    "range of numbers that may be no numbers": (
        ValueRange("speed", at_most=9.5),
        {"speed": [None, 9.5]},
        {"speed": [1.0, float("nan"), float("inf"), -float("inf")]},
        "all of 2 rows",
        "2 failing rows of 4",
        "at most 9.5",
    ),
    "range of texts": (
        ValueRange("origin", at_least="B"),
        {"origin": ["EWR", "JFK"]},
        {"origin": ["EWR", "ABQ"]},
        "EWR to JFK|all of 2 rows",
        "1 failing row of 2",
        "at least B",
    ),
    "values": (
        AcceptedValues("origin", ["EWR", "JFK"]),
        {"origin": ["EWR", None]},
        {"origin": ["EWR", "LGA"]},
        "all of 2 rows",
        "1 failing row of 2",
        "one of 'EWR', 'JFK'",
    ),
    "key": (
        Unique(["origin", "delay"]),
        {"origin": ["a", "a", None], "delay": [1, 2, 1]},
        {"origin": ["a", "a", None, None], "delay": [1, 1, 1, 1]},
        "3 in 3 rows",
        "2 of 2 are there several times, in 4 rows",
        "each once",
    ),
    "fresh": (
        Freshness("time", within="2h"),
        {"time": [MIDNIGHT - timedelta(hours=2), None]},
        {"time": [MIDNIGHT - timedelta(hours=3)]},
        "2013-02-09 03:00:00+00:00, 2:00:00 before 2013-02-09 00:00:00-05:00",
        "2013-02-09 02:00:00+00:00, 3:00:00 before 2013-02-09 00:00:00-05:00",
        "a row of the last 2:00:00",
    ),
    "fresh without times": (
        Freshness("time", within="2h"),
        {"time": [MIDNIGHT]},
        {"time": [None]},
        "2013-02-09 05:00:00+00:00, 0:00:00 before 2013-02-09 00:00:00-05:00",
        "no row has a time",
        "a row of the last 2:00:00",
    ),
    "schema": (
        ExactSchema(SCHEMA),
        {"delay": [1]},
        None,
        "origin string, delay bigint, speed double, time timestamp",
        "",
        "origin string, delay bigint, speed double, time timestamp",
    ),
}


#: Arrow writes no times that Spark reads from ORC.
TIMED = ("fresh", "fresh without times", "schema")


@pytest.mark.parametrize(
    ("name", "kind"), [(name, kind) for name in EXPECTED for kind in KINDS if kind is not Orc or name not in TIMED]
)
def test_each_check_says_the_same_of_every_format(name: str, kind: type[Files], tmp_path: Path) -> None:
    check, good, bad, passed, failed, expected = EXPECTED[name]
    columns = [name for name in SCHEMA if kind is not Orc or name != "time"]
    schema = {name: SCHEMA[name] for name in columns}
    storage = [
        kind(str(tmp_path / place), schema=schema, partition_on={"date": "%Y-%m-%d"}) for place in ("good", "bad")
    ]
    answer = result(check, staged(storage[0], table(**good).select(columns)))
    assert (answer.passed, answer.expected) == (True, expected)
    assert answer.observed in passed.split("|")
    if bad is not None:
        answer = result(check, staged(storage[1], table(**bad).select(columns)))
        assert (answer.passed, answer.observed, answer.expected) == (False, failed, expected)


def test_the_rows_that_fail_are_told_up_to_some(tmp_path: Path) -> None:
    rows = pa.table({"origin": ["a"] * 9, "delay": [None, *range(8)], "text": ["x" * 1000] * 9})
    answer = result(ValueRange("delay", at_most=0), parquet(tmp_path, rows))
    assert len(answer.rows) == 5
    assert answer.rows[0].startswith("{'origin': 'a', 'delay': 1, 'text': 'xxxx")
    assert [len(row) for row in answer.rows] == [500] * 5
    assert "such as {'origin'" in answer.describe()
    assert "rows" not in answer.summary()


def test_the_keys_that_are_not_unique_are_told_with_how_often_they_are_there(tmp_path: Path) -> None:
    rows = pa.table({"n": [number for number in range(9) for _ in range(number)]})
    answer = result(Unique("n"), parquet(tmp_path, rows))
    assert answer.rows[:2] == ("{'n': 8, 'rows': 8}", "{'n': 7, 'rows': 7}")


def test_what_statistics_tell_is_not_read(tmp_path: Path) -> None:
    times = pa.array([MIDNIGHT] * 4, pa.timestamp("us", tz="UTC"))
    rows = pa.table({"n": [1, 2, 3, None], "s": list("abcd"), "t": times, "d": [date(2013, 2, 8)] * 4, "f": [1.5] * 4})
    rows = rows.append_column("decimal", pa.array([Decimal("1.5")] * 4, pa.decimal128(9, 2)))
    partition = parquet(tmp_path, rows, rows, row_group_size=2)
    spoil(partition, *rows.column_names)
    with pytest.raises(StorageError):
        partition.read(["n"])
    for check in (
        RowCount(at_most=8),
        NotNull(["s", "t", "f"]),
        ValueRange("n", at_least=1, at_most=3),
        ValueRange("s", at_least="a", at_most="d"),
        ValueRange("d", at_least=date(2013, 2, 8)),
        ValueRange("t", at_most=MIDNIGHT),
        ValueRange("decimal", at_least=1),
        Freshness("t", within="1d"),
        Freshness("d", within="1d"),
        RowCountChange(10),
        ExactSchema(partition.written.schema),
    ):
        assert result(check, partition).passed, check


def test_only_the_columns_that_checks_look_at_are_read_and_once_for_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from airflow_partitions.checks.audit import audit

    partition = parquet(tmp_path, pa.table({"a": [1, 2], "b": [1.0, 2.0], "c": ["x", "y"], "other": [None, 3]}))
    spoil(partition, "other")
    reads: list[Any] = []
    monkeypatch.setattr(type(partition), "read", _counted(reads, type(partition).read))
    checks = [
        Unique("a"),
        ValueRange("b", at_most=2),
        AcceptedValues("c", ["x", "y"]),
        Unique(["c", "a"]),
        NotNull("a"),
    ]
    assert all(each.passed for each in audit(checks, partition, "delays"))
    assert reads == [["a", "b", "c"]]


def _counted(reads: list[Any], read: Callable[..., Any]) -> Callable[..., Any]:
    def counted(partition: Any, columns: Any = None) -> Any:
        reads.append(columns)
        return read(partition, columns)

    return counted


@settings(max_examples=60, deadline=None)
@given(
    files=st.lists(st.lists(st.none() | st.integers(-5, 5), max_size=4), min_size=1, max_size=4),
    low=st.integers(-5, 5),
    high=st.integers(0, 5),
    statistics=st.booleans(),
    group=st.integers(1, 3),
)
def test_statistics_say_what_the_rows_say(
    tmp_path_factory: pytest.TempPathFactory, files: Any, low: int, high: int, statistics: bool, group: int
) -> None:
    tables = [pa.table({"n": pa.array(numbers, pa.int64())}) for numbers in files]
    folder = tmp_path_factory.mktemp("staged")
    partition = parquet(folder, *tables, write_statistics=statistics, row_group_size=group)
    numbers = [number for each in files for number in each]
    values = [number for number in numbers if number is not None]
    assert result(NotNull("n"), partition).passed == (None not in numbers)
    in_range = all(low <= number <= low + high for number in values)
    assert result(ValueRange("n", at_least=low, at_most=low + high), partition).passed == in_range
    assert partition.rows == len(numbers)


def test_bounds_of_another_type_are_compared_by_arrow(tmp_path: Path) -> None:
    rows = pa.table({"t": pa.array([MIDNIGHT], pa.timestamp("us", tz="UTC")), "n": [1]})
    partition = parquet(tmp_path, rows)
    assert result(ValueRange("t", at_least=date(2013, 2, 8)), partition).passed
    answer = result(ValueRange("n", at_least="zwei"), partition)
    assert not answer.passed
    assert answer.observed.startswith("it raised Arrow")


def test_times_that_python_has_not_are_left_to_arrow(tmp_path: Path) -> None:
    partition = parquet(tmp_path, pa.table({"far": pa.array([0, 2**60], pa.timestamp("us", tz="UTC"))}))
    assert result(NotNull("far"), partition).passed
    assert not result(ValueRange("far", at_most=datetime(2013, 1, 1, tzinfo=UTC)), partition).passed
    assert "raised" in result(Freshness("far", within="1d"), partition).observed


def test_the_partition_before_is_the_measure_of_the_change(tmp_path: Path) -> None:
    storage = Parquet(str(tmp_path / "delays"), partition_on={"date": "%Y-%m-%d"})
    now = staged(storage, table(delay=list(range(130))))
    answer = result(RowCountChange(20), now)
    assert (answer.passed, answer.observed) == (True, "130 rows; the partition before is not stored")
    storage.of(DAYS).save({"2013-02-07": table(delay=list(range(100)))})
    answer = result(RowCountChange(20), now)
    assert (answer.passed, answer.observed) == (False, "130 rows after 100 of 2013-02-07 (+30.0%)")
    assert answer.expected == "at most 20 % more or less than in the partition before"
    assert result(RowCountChange(30), now).passed
    storage.of(DAYS).save({"2013-02-07": table()}, mode="overwrite")
    answer = result(RowCountChange(1000), now)
    assert (answer.passed, answer.observed) == (False, "130 rows after 0 of 2013-02-07")


def test_a_partition_column_is_a_column_too(tmp_path: Path) -> None:
    storage = Parquet(str(tmp_path / "delays"), partition_on={"date": "%Y-%m-%d"})
    partition = staged(storage, table(delay=[1, 2]))
    assert result(AcceptedValues("date", [DAY]), partition).passed
    assert result(Unique(["date", "delay"]), partition).passed
    assert not result(Unique("date"), partition).passed


def test_a_column_that_is_not_there_is_told_with_the_nearest(tmp_path: Path) -> None:
    answer = result(NotNull("dealy"), parquet(tmp_path, pa.table({"delay": [1]})))
    assert not answer.passed
    assert answer.observed == "there is no column 'dealy' in what was written; did you mean 'delay'?"


def test_a_schema_that_differs_is_told_by_column(tmp_path: Path) -> None:
    partition = parquet(tmp_path, pa.table({"a": [1], "b": ["x"]}))
    answer = result(ExactSchema({"a": "int", "c": "string"}), partition)
    assert (answer.passed, answer.observed) == (False, "c is missing, b (string) is one more, a is bigint, not int")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (RowCount, "expected at_least=, at_most= or both"),
        (lambda: RowCount(at_least=2, at_most=1), "at_least=2 is greater than at_most=1"),
        (lambda: ValueRange("n"), r"ValueRange\('n'\): expected at_least="),
        (lambda: NotNull([]), "expected one column or several different ones"),
        (lambda: Unique(["a", "a"]), "expected one column or several different ones"),
        (lambda: AcceptedValues("n", "EWR"), "expected the values allowed"),
        (lambda: AcceptedValues("n", []), "expected the values allowed"),
        (lambda: Freshness("t", within="soon"), "'soon' is not a length of time"),
        (lambda: ExactSchema({}), "expected column to Spark type"),
        (lambda: ExactSchema({"a": "strin"}), "'strin'; expected a type of Spark, such as string"),
        (lambda: RowCountChange(-1), "expected per cent, such as 20"),
        (lambda: NotNull("n", severity="warning"), "severity='warning'; expected 'error' or 'warn'"),
    ],
)
def test_what_makes_no_sense_is_refused_at_once(make: Callable[[], Check], message: str) -> None:
    with pytest.raises(InvalidDefinitionError, match=message):
        make()


def test_et1_times_of_96_bits_are_read_as_spark_has_written_them(tmp_path: Path) -> None:
    rows = table(time=[MIDNIGHT - timedelta(hours=1), None], delay=[1, 2])
    partition = parquet(tmp_path, rows, use_deprecated_int96_timestamps=True, store_schema=False)
    assert result(Freshness("time", within="2h"), partition).passed
    assert not result(Freshness("time", within="30min"), partition).passed
    assert result(Unique(["time", "delay"]), partition).passed
    assert result(AcceptedValues("time", [MIDNIGHT - timedelta(hours=1)]), partition).passed
    assert not result(ValueRange("time", at_least=MIDNIGHT), partition).passed
    assert result(NotNull("time"), partition).observed == "1 failing row of 2"


@pytest.mark.parametrize("kind", [Parquet, Orc])
def test_et4_minus_zero_is_zero(tmp_path: Path, kind: type[Files]) -> None:
    for number, (stored, accepted) in enumerate([(-0.0, 0.0), (0.0, -0.0)]):
        rows = pa.table({"speed": [stored, None], "delay": [1, 1]})
        partition = staged(kind(str(tmp_path / f"{number}")), rows)
        assert result(AcceptedValues("speed", [accepted, 5]), partition).passed
        assert not result(AcceptedValues("speed", [5]), partition).passed
    both = staged(kind(str(tmp_path / "both")), pa.table({"speed": [0.0, -0.0], "delay": [1, 1]}))
    assert result(Unique(["speed", "delay"]), both).observed.startswith("1 of 1 are there several times")


def test_et5_bounds_and_values_are_rounded_to_the_type_of_the_column_as_filters_do(tmp_path: Path) -> None:
    rows = pa.table({"c": pa.array([0.1, None], pa.float32())})
    partition = parquet(tmp_path, rows)
    for check in (ValueRange("c", at_most=0.1), ValueRange("c", at_least=0.1), AcceptedValues("c", [0.1])):
        assert result(check, partition).passed
    for check in (ValueRange("c", at_most=0.09), ValueRange("c", at_least=0.11), AcceptedValues("c", [0.2])):
        assert not result(check, partition).passed


@pytest.mark.parametrize("accepted", [[1, 2**70], [1.0, 2**70], [Decimal(1), 10**39], [2**70, 1, 1.5]])
def test_et6_an_accepted_value_that_the_column_can_not_hold_is_no_error(tmp_path: Path, accepted: list[Any]) -> None:
    partition = parquet(tmp_path, pa.table({"n": pa.array([1], pa.int64())}))
    assert result(AcceptedValues("n", accepted), partition).passed
    assert not result(AcceptedValues("n", [2**70, 2]), partition).passed
    assert not result(AcceptedValues("n", [2**70]), partition).passed
