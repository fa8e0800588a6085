"""Kinds of frames, as annotations name them."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyspark.sql import DataFrame

from airflow_partitions import PartitionByInterval
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.frames.frame import Frame, check_read, frame_of, stored_as
from airflow_partitions.frames.frame_type import FrameType
from airflow_partitions.storage import Csv, Iceberg, Parquet

if TYPE_CHECKING:
    from polars import DataFrame as Hidden

DAYS = PartitionByInterval("@daily", start="2013-01-01", name="date")
DELAYS = Parquet("/lake/delays", partition=DAYS, schema={"carrier": "string", "delay": "double"})


class Rows(list[dict[str, Any]]):
    """A frame that nobody registered."""


def kinds(
    spark: DataFrame, pandas: pd.DataFrame, eager: pl.DataFrame, lazy: pl.LazyFrame, arrow: pa.Table, rows: Rows, n: int
) -> pd.DataFrame:
    raise NotImplementedError


def test_f1_the_type_of_a_frame_is_enough() -> None:
    names = ("spark", "pandas", "eager", "lazy", "arrow", "rows", "n", "return", "other")
    frames = {name: frame_of(kinds, name) for name in names}
    assert {name: frame.kind for name, frame in frames.items() if frame is not None} == {
        "spark": "spark",
        "pandas": "pandas",
        "eager": "polars",
        "lazy": "polars.LazyFrame",
        "arrow": "arrow",
        "return": "pandas",
    }


def described(
    listed: Annotated[pl.DataFrame, ["carrier", "delay"]],
    typed: Annotated[pl.DataFrame, {"carrier": str, "delay": "double", "at": datetime, "any": None}, "parquet"],
    form: Annotated[pl.DataFrame, "csv"],
) -> None: ...


def test_f3_columns_and_format_stand_beside_the_type() -> None:
    assert frame_of(described, "listed") == Frame("polars", {"carrier": None, "delay": None})
    typed = {"carrier": "string", "delay": "double", "at": "timestamp", "any": None}
    assert frame_of(described, "typed") == Frame("polars", typed, "parquet")
    assert frame_of(described, "form") == Frame("polars", {}, "csv")
    for frame in map(frame_of, [described] * 3, ["listed", "typed", "form"]):
        assert frame is not None
        assert Frame.from_json(frame.to_json()) == frame


def misspelt(
    number: Annotated[pl.DataFrame, 5],
    kind: Annotated[pl.DataFrame, {"delay": "dubble"}],
    odd: Annotated[pl.DataFrame, {"delay": complex}],
    unseen: Hidden,
) -> None: ...


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("number", "says nothing of a frame; expected its columns"),
        ("kind", "expected a type of Spark, such as double"),
        ("odd", "expected a type of Spark as text, such as 'bigint', or one of str, int"),
        ("unseen", "name 'Hidden' is not defined; expected what it names to be imported at the top of the file"),
    ],
)
def test_f3_what_has_no_meaning_is_refused_when_the_file_is_parsed(name: str, message: str) -> None:
    with pytest.raises(InvalidDefinitionError, match=message):
        frame_of(misspelt, name)


def test_an_annotation_that_is_not_there_stands_for_what_is_usual() -> None:
    assert frame_of(misspelt, "unseen", unknown=Frame()) == Frame("spark")


@pytest.mark.parametrize(
    ("made", "frame"),
    [
        (None, Frame("polars")),
        (None, Frame("polars", {"delay": "double"}, "parquet")),
        (None, Frame("polars", {"delay": None, "date": "string"})),  # of the folders
        (Frame("pandas", {"delay": "double"}), Frame("polars", {"delay": "DOUBLE"})),
        (Frame("pandas"), Frame("polars", {"carrier": None})),
    ],
)
def test_f5_the_columns_of_a_consumer_are_among_those_of_the_producer(made: Frame | None, frame: Frame) -> None:
    check_read(frame, DELAYS, made, "days: delays")


@pytest.mark.parametrize(
    ("made", "frame", "message"),
    [
        (None, Frame("polars", {"dely": None}), "delays: there is no column 'dely' in '/lake/delays'; did"),
        (Frame("pandas", {"delay": None}), Frame("polars", {"carrier": None}), "no column 'carrier' in"),
        (None, Frame("polars", {"delay": "bigint"}), "column 'delay' is double in '/lake/delays'; expected that"),
        (None, Frame("polars", {}, "csv"), "its format is 'csv', and that of '/lake/delays' is 'parquet'"),
    ],
)  # fmt: skip
def test_f5_what_does_not_fit_is_refused(made: Frame | None, frame: Frame, message: str) -> None:
    with pytest.raises(InvalidDefinitionError, match=message):
        check_read(frame, DELAYS, made, "days: delays")


def test_f5_a_producer_that_says_nothing_fits_all() -> None:
    check_read(Frame("polars", {"anything": "bigint"}), Parquet("/lake/x", partition=DAYS), None, "days: x")


def test_what_a_function_returns_is_the_schema() -> None:
    storage = Parquet("/lake/x", partition=DAYS)
    typed = stored_as(Frame("polars", {"carrier": "string", "delay": "double"}), storage, "x")
    assert dict(typed.schema or ()) == {"carrier": "string", "delay": "double"}
    assert stored_as(Frame("polars", {"carrier": None}), storage, "x").schema is None
    assert stored_as(None, storage, "x") is storage
    assert stored_as(Frame("polars", {"carrier": None, "DELAY": "double"}), DELAYS, "x") is DELAYS
    with pytest.raises(InvalidDefinitionError, match="expected the same, or only one of the two"):
        stored_as(Frame("polars", {"carrier": None}), DELAYS, "x")
    with pytest.raises(InvalidDefinitionError, match="x: its format is 'parquet', and that of '/lake/x' is 'csv'"):
        stored_as(Frame("polars", {}, "parquet"), Csv("/lake/x", partition=DAYS), "x")


def test_f3_the_columns_that_hold_the_keys_may_be_left_out() -> None:
    delays, whole = {"delay": "double"}, {"date": "string", "delay": "double"}
    files = Parquet("/lake/x", partition=DAYS)
    for columns in (delays, whole):
        assert dict(stored_as(Frame("polars", columns), files, "x").schema or ()) == delays
        assert stored_as(Frame("polars", columns), DELAYS.declaring(delays), "x").schema == (("delay", "double"),)
    table = Iceberg("flights.x", partition=DAYS)
    assert stored_as(Frame("polars", delays), table, "x").schema is None  # the table has its own
    assert dict(stored_as(Frame("polars", whole), table, "x").schema or ()) == whole
    declared = Iceberg("flights.x", partition=DAYS, schema=whole)
    for columns in (delays, whole):
        assert stored_as(Frame("polars", columns), declared, "x") is declared
    with pytest.raises(InvalidDefinitionError, match="expected the same, or only one of the two"):
        stored_as(Frame("polars", {"late": "double"}), declared, "x")


def test_f5_a_table_has_the_columns_that_hold_its_keys() -> None:
    table = Iceberg("flights.x", partition=DAYS, partition_on={"date": "at"})
    made = Frame("polars", {"delay": "double"})
    check_read(Frame("polars", {"delay": None, "at": "timestamp"}), table, made, "days: x")
    with pytest.raises(InvalidDefinitionError, match=r"there is no column 'date' in 'iceberg_default://flights.x'"):
        check_read(Frame("polars", {"date": None}), table, made, "days: x")


def test_f5_tables_of_two_catalogs_are_two_places() -> None:
    here, there = (Iceberg("flights.x", catalog=name, partition=DAYS) for name in ("here", "there"))
    assert FrameType.stored(here).path != FrameType.stored(there).path
