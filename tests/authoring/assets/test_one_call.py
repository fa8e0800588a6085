"""All partitions of a batch by one call of a function, whose frame names them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from airflow_partitions.checks import FunctionCheck, NotNull, RowCount, Unique
from airflow_partitions.core.errors import (
    ForeignRowsError,
    InvalidDefinitionError,
    ResultError,
)
from airflow_partitions.storage import Parquet
from tests.authoring.assets.batched import DAYS, KEYS, batch, declared, stored, together
from tests.batch_context import endings, outcomes


def test_one_frame_makes_all_partitions_and_one_commit(storage: Any) -> None:
    calls: list[int] = []

    def function(partitions: list[Any]) -> pd.DataFrame:
        calls.append(len(partitions))
        return together(partitions)

    made = declared(function, storage)
    context = batch(made, *KEYS[1:])
    made.task.execute(context)
    assert calls == [8]
    assert stored(made) == {key: day for day, key in enumerate(KEYS, start=1)}
    assert endings(context) == dict.fromkeys(KEYS[1:], "made")
    assert {key: told.extras["made"]["rows"] for key, told in outcomes(context).items()} == {
        key: day for day, key in enumerate(KEYS, start=1) if day > 1
    }
    commits = {partition.content.metadata.commit for partition in made.storage.list()}
    assert len(commits) == 1
    attempt = made.storage.get(KEYS[5]).content.metadata.attempt
    assert (attempt.run_id, attempt.number) == (f"run {KEYS[5]}", 1)


def test_alone_it_gets_a_list_of_one(storage: Any) -> None:
    made = declared(together, storage)
    context = batch(made, own=KEYS[4])
    made.task.execute(context)
    assert stored(made) == {KEYS[4]: 5}
    assert context["outlet_events"][made].extra["rows"] == 5


def test_one_without_rows_is_published_empty(storage: Any) -> None:
    def function(partitions: list[Any]) -> pl.DataFrame:
        frame = pl.from_pandas(together(partitions), schema_overrides={"date": pl.Date})
        return frame.filter(pl.col("date").dt.day() != 3)

    made = declared(function, storage)
    context = batch(made, *KEYS[1:4])
    made.task.execute(context)
    assert stored(made) == {KEYS[0]: 1, KEYS[1]: 2, KEYS[2]: 0, KEYS[3]: 4}
    assert endings(context) == dict.fromkeys(KEYS[1:4], "made")


def test_what_fails_as_a_whole_is_halved_until_the_bad_one_is_alone(files: Parquet) -> None:
    calls: list[int] = []

    def function(partitions: list[Any]) -> pd.DataFrame:
        calls.append(len(partitions))
        if any(partition.text == KEYS[5] for partition in partitions):
            raise ValueError("five")
        return together(partitions)

    made = declared(function, files)
    context = batch(made, *KEYS[1:])
    made.task.execute(context)
    assert calls == [8, 4, 4, 2, 1, 1, 2]
    assert {key for key, told in endings(context).items() if told == "failed"} == {KEYS[5]}
    assert stored(made).keys() == set(KEYS) - {KEYS[5]}


def test_a_check_fails_one_of_several(files: Parquet) -> None:
    made = declared(together, files, checks=[RowCount(at_most=6), RowCount(at_most=4, severity="warn")])
    context = batch(made, *KEYS[1:])
    made.task.execute(context)
    assert {key for key, told in endings(context).items() if told == "failed"} == set(KEYS[6:])
    assert stored(made).keys() == set(KEYS[:6])
    assert {key for key, told in outcomes(context).items() if told.text and told.ending == "made"} == set(KEYS[4:6])


def test_a_check_sees_the_rows_of_one_of_several(storage: Any) -> None:
    """Also where the rows of all of them were written to one table."""
    seen: list[tuple[str, int]] = []

    def few(partition: Any, rows: pd.DataFrame) -> bool:
        seen.append((partition.text, len(rows)))
        return len(rows) < 3

    def function(partitions: list[Any]) -> pd.DataFrame:
        frame = together(partitions)
        return frame[[date.day != 2 for date in frame["date"]]]

    made = declared(function, storage, checks=[few, NotNull("n"), Unique(["date", "n"])])
    context = batch(made, *KEYS[1:4])
    made.task.execute(context)
    assert seen == [(KEYS[0], 1), (KEYS[1], 0), (KEYS[2], 3), (KEYS[3], 4)]
    assert {key for key, told in endings(context).items() if told == "failed"} == set(KEYS[2:4])
    assert stored(made) == {KEYS[0]: 1, KEYS[1]: 0}


@pytest.fixture(params=["local", "object store"])
def tables(request: pytest.FixtureRequest, tmp_path: Path) -> Parquet:
    path = str(tmp_path / "made") if request.param == "local" else f"memory://{tmp_path.name}/made"
    return Parquet(path, partition_on={"date": "%Y-%m-%d"}, tables=["numbers", "days"])


def test_tables_of_all_partitions_are_made_by_one_call(tables: Parquet) -> None:
    def few(partition: Any, days: pd.DataFrame) -> bool:
        return bool((days["day"] < 4).all())

    def function(partitions: list[Any]) -> dict[str, Any]:
        days = [partition.start.date() for partition in partitions if partition.start.day > 1]
        return {"numbers": together(partitions), "days": pl.DataFrame({"date": days, "day": [d.day for d in days]})}

    made = declared(function, tables, checks=[FunctionCheck(few, table="days"), NotNull("n", table="numbers")])
    context = batch(made, *KEYS[1:4])
    made.task.execute(context)
    assert {key for key, told in endings(context).items() if told == "failed"} == {KEYS[3]}
    for day, key in enumerate(KEYS[:3], start=1):
        assert len(made.storage.table("numbers").read(key, as_="arrow")) == day
        assert made.storage.table("days").read(key, as_="arrow")["day"].to_pylist() == ([day] if day > 1 else [])
    assert stored(made).keys() == set(KEYS[:3])
    files = [path for partition in made.storage.list() for path in partition.paths]
    assert len(files) == 2 * len(KEYS[:3])
    assert not [path for path in files if "/_tables/" in path]


def test_each_table_is_a_frame_of_the_partitions_that_are_asked_for(tables: Parquet) -> None:
    def of(**frames: Any) -> Any:
        def function(partitions: list[Any]) -> Any:
            return frames

        return declared(function, tables)

    rows = pd.DataFrame({"date": [KEYS[0]], "n": [1]})
    for frames, error, words in [
        ({"numbers": rows}, ResultError, "frames for numbers; expected a frame for each of the tables numbers, days"),
        ({"numbers": rows, "days": 1}, ResultError, "table 'days' got int; expected a frame whose rows name their"),
        ({"numbers": rows, "days": rows.assign(date=KEYS[1])}, ForeignRowsError, f"rows name partition '{KEYS[1]}'"),
    ]:
        made = of(**frames)
        with pytest.raises(error, match=words):
            made.task.execute(batch(made))
        assert not stored(made)


def test_rows_of_another_partition_fail(files: Parquet) -> None:
    def function(partitions: list[Any]) -> pd.DataFrame:
        return pd.DataFrame({"date": ["2012-12-31"], "n": [1]})

    made = declared(function, files)
    with pytest.raises(ForeignRowsError, match="2012-12-31"):
        made.task.execute(batch(made))


def test_duckdb_makes_all_of_them_over_tables_of_arrow(files: Parquet, tmp_path: Path) -> None:
    readings = Parquet(str(tmp_path / "readings"), partition=DAYS, partition_on={"date": "%Y-%m-%d"})
    readings.save({key: pa.table({"n": range(day)}) for day, key in enumerate(KEYS, start=1)})

    def function(partitions: list[Any], readings: pa.Table) -> pa.Table:
        return duckdb.sql("select date, n + 1 as n from readings where n > 0").to_arrow_table()

    made = declared(function, files, inputs={"readings": readings})
    context = batch(made, *KEYS[1:])
    made.task.execute(context)
    assert stored(made) == {key: day - 1 for day, key in enumerate(KEYS, start=1)}
    assert endings(context) == dict.fromkeys(KEYS[1:], "made")


def test_inputs_are_those_of_all_and_read_once(files: Parquet, tmp_path: Path) -> None:
    source = Parquet(str(tmp_path / "source"), partition=DAYS, partition_on={"date": "%Y-%m-%d"})
    source.save({key: pa.table({"n": [1, 2]}) for key in KEYS})

    def function(partitions: list[Any], source: pl.DataFrame) -> pl.DataFrame:
        assert len(source) == 2 * len(partitions)
        return source.group_by("date").agg(pl.sum("n"))

    made = declared(function, files, inputs={"source": source})
    context = batch(made, *KEYS[1:5])
    made.task.execute(context)
    assert stored(made) == dict.fromkeys(KEYS[:5], 1)


@pytest.mark.parametrize(
    ("function", "options", "words"),
    [
        (lambda partitions, partition: None, {}, "also takes 'partition'; expected one of the two"),
        (lambda partitions: None, {"storage": None}, "did you mean 'partition'"),
    ],
)
def test_what_no_function_over_several_has(
    files: Parquet, function: Callable[..., Any], options: dict[str, Any], words: str
) -> None:
    with pytest.raises(InvalidDefinitionError, match=words):
        declared(function, options.get("storage", files))
