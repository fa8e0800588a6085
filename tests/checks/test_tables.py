"""Checks of what is written to a table of Iceberg, before the table has it."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from airflow_partitions.checks import AcceptedValues, Freshness, NotNull, RowCount, RowCountChange, Unique, ValueRange
from airflow_partitions.core.errors import CheckError
from airflow_partitions.storage import Iceberg
from airflow_partitions.storage.iceberg import table_readers
from tests.checks.staging import DAY, DAYS, result, staged
from tests.checks.test_checks import Run, declared

SCHEMA = {"time": "timestamp", "origin": "string", "day": "date", "delay": "double", "n": "bigint"}
NOON = datetime(2013, 2, 8, 17, tzinfo=UTC)


def table(folder: Path) -> Iceberg:
    catalog = {"type": "sql", "uri": f"sqlite:///{folder}/catalog.db", "warehouse": str(folder / "warehouse")}
    on = {"date": "time"}
    return Iceberg("flights.delays", credentials=catalog, schema=SCHEMA, partition_on=on, create=True)


def rows(**columns: Any) -> pl.DataFrame:
    values = {"time": NOON, "origin": "EWR", "day": date(2013, 2, 8), "delay": 1.5, "n": 1} | columns
    return pl.DataFrame({name: value if isinstance(value, list) else [value] * 2 for name, value in values.items()})


def test_what_the_manifests_tell_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    partition = staged(table(tmp_path), rows(n=[1, 2]))  # type: ignore[arg-type]

    def read(_: Any) -> Any:
        raise AssertionError("the rows are read")

    monkeypatch.setattr(table_readers, "_read", read)
    for check in (
        RowCount(at_least=2, at_most=2),
        NotNull(list(SCHEMA)),
        ValueRange("n", at_least=1, at_most=2),
        ValueRange("origin", at_least="A", at_most="Z"),
        ValueRange("day", at_least=date(2013, 2, 8), at_most=date(2013, 2, 8)),
        ValueRange("time", at_least=NOON, at_most=NOON),
        Freshness("time", within="12h"),
        RowCountChange(10),
    ):
        assert result(check, partition).passed, check
    with pytest.raises(AssertionError, match="the rows are read"):
        partition.read(["n"])


def test_what_they_do_not_tell_is_read(tmp_path: Path) -> None:
    partition = staged(table(tmp_path), rows(delay=[1.0, float("nan")], n=[None, 2]))  # type: ignore[arg-type]
    answer = result(ValueRange("delay", at_most=5), partition)
    assert (answer.passed, answer.observed) == (False, "1 failing row of 2")
    assert "'n': 2" in answer.rows[0]
    assert not result(NotNull("n"), partition).passed
    assert not result(Unique("origin"), partition).passed
    assert result(AcceptedValues("origin", ["EWR"]), partition).passed
    assert result(NotNull("dleay"), partition).observed.endswith("did you mean 'delay'?")


def test_what_fails_a_check_is_in_no_snapshot(tmp_path: Path) -> None:
    storage = table(tmp_path)

    def function(frame: pl.DataFrame) -> pl.DataFrame:
        return frame.filter(pl.col("n") < 0)

    delays = declared(storage, [NotNull("n"), function], [rows(), rows(n=[None, -1]), rows(n=[5, 6])])
    delays.task.execute(Run().context)
    with pytest.raises(CheckError, match="2 of 2 checks failed"):
        delays.task.execute(Run(number=2).context)

    def stored() -> list[int]:
        read: pa.Table = storage.of(DAYS).read(DAY, as_="arrow")
        return sorted(read["n"].to_pylist())

    assert stored() == [1, 1]
    delays.task.execute(Run(number=3).context)
    assert stored() == [5, 6]
