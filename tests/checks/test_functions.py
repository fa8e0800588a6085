"""Functions and schemas of pandera as checks of a plain asset."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import pandera.pandas
import pandera.polars
import polars as pl
import pyarrow as pa
import pytest
from pyspark.sql import DataFrame

from airflow_partitions import PartitionByInterval, asset
from airflow_partitions.authoring.local import try_partition
from airflow_partitions.checks import Check, FunctionCheck, NotNull, SameRowCount, SchemaCheck, ValueRange
from airflow_partitions.core.errors import CheckError, InvalidDefinitionError
from airflow_partitions.storage import Parquet

DAYS = PartitionByInterval("@daily", timezone="America/New_York", start="2013-01-01", name="date")
DAY = "2013-02-08"
ROWS = pl.DataFrame({"origin": ["EWR", "JFK"], "delay": [1.0, -1.0]})


class Delays(pandera.polars.DataFrameModel):
    origin: str = pandera.polars.Field(isin=["EWR"])
    delay: float = pandera.polars.Field(ge=0)


IN_PANDAS = pandera.pandas.DataFrameSchema(
    {"delay": pandera.pandas.Column(float, pandera.pandas.Check.ge(0))}, name="delays"
)


def declared(path: Path, checks: Any, **more: Any) -> Any:
    def delays(flights: pl.DataFrame) -> pl.DataFrame:
        return flights

    delays.__qualname__ = delays.__name__
    flights = Parquet(str(path / "flights"), partition=DAYS, ownership="read-only")
    storage = Parquet(str(path / "delays"), **more)
    return asset(schedule="@daily", partition=DAYS, inputs={"flights": flights}, storage=storage, checks=checks)(delays)


def failures(path: Path, *checks: Any) -> list[str]:
    """What each of *checks* says that fails."""
    try:
        results = try_partition(declared(path, checks), DAY, inputs={"flights": ROWS}).checks
    except CheckError as error:
        results = error.results
    assert len(results) == len(checks)
    return [each.describe() for each in results if not each.passed]


def test_a_function_gets_the_rows_as_it_is_annotated(tmp_path: Path) -> None:
    def in_pandas(rows: pd.DataFrame, partition: Any) -> bool:
        assert list(rows.columns) == ["origin", "delay", "date"]
        return (rows["date"] == partition.text).all()  # type: ignore[no-any-return]

    def in_polars(rows: pl.DataFrame) -> bool:
        return rows.height == 2

    def lazily(rows: pl.LazyFrame) -> pl.LazyFrame:
        return rows.filter(pl.col("delay") > 5)

    def in_arrow(rows: Annotated[pa.Table, ["delay"]]) -> bool:
        return bool(rows.column_names == ["delay"])

    assert failures(tmp_path, in_pandas, in_polars, lazily, in_arrow) == []


def test_a_function_gives_whether_all_is_well_or_the_rows_that_fail(tmp_path: Path) -> None:
    def no(rows: pl.DataFrame) -> bool:
        return False

    def negative(rows: pl.LazyFrame) -> pl.LazyFrame:
        return rows.filter(pl.col("delay") < 0)

    def many(rows: pd.DataFrame) -> pd.DataFrame:
        return pd.concat([rows] * 10)

    def nothing(rows: pl.DataFrame) -> None: ...

    def broken(rows: pl.DataFrame) -> bool:
        raise RuntimeError("boom")

    def asserting(rows: pl.DataFrame) -> bool:
        assert rows.height == 3, "three rows"
        return True

    def a_column(rows: pl.DataFrame) -> pl.Series:
        return rows["delay"] > 0

    def misspelt(rows: Annotated[pl.DataFrame, ["dealy"]]) -> bool:
        return True

    told = failures(tmp_path, no, negative, many, nothing, broken, asserting, misspelt, a_column)
    assert told[0] == "no: it returned False; expected no failing rows"
    assert told[1] == (
        "negative: 1 failing row; expected no failing rows; such as"
        " {'origin': 'JFK', 'delay': -1.0, 'date': '2013-02-08'}"
    )
    assert told[2].startswith("many: 20 failing rows; ")
    assert told[3].startswith("nothing: it raised ResultError: it returned None; expected True or False, or a frame of")
    assert told[4] == "broken: it raised RuntimeError: boom; expected no failing rows"
    assert "AssertionError: three rows" in told[5]
    assert "ResultError: it returned shape: (2,)" in told[7]
    assert told[6].startswith("misspelt: there is no column 'dealy' in what was written; did you mean 'delay'?")


def test_a_schema_of_pandera_is_a_check(tmp_path: Path) -> None:
    models = failures(tmp_path, Delays, IN_PANDAS)
    assert models[0].startswith("schema Delays: 2 failures; expected what the schema says; such as {'column': 'origin'")
    assert "'check': \"isin(['EWR'])\", 'failure_case': 'JFK', 'index': 1}" in models[0]
    assert models[1].startswith("schema delays: 1 failure; expected what the schema says; such as {'column': 'delay'")
    assert failures(tmp_path, pandera.polars.DataFrameSchema({"delay": pandera.polars.Column(float)})) == []
    warned = declared(tmp_path, [SchemaCheck(Delays, severity="warn")])
    (result,) = try_partition(warned, DAY, inputs={"flights": ROWS}).checks
    assert (result.passed, result.severity) == (False, "warn")


def test_the_rows_of_an_input_are_counted_where_they_are_stored(tmp_path: Path) -> None:
    flights = Parquet(str(tmp_path / "flights"), partition=DAYS)
    flights.save({DAY: ROWS})
    assert (
        try_partition(declared(tmp_path, [SameRowCount("flights")]), DAY).checks[0].observed == "2 rows, 2 in flights"
    )
    (file,) = (tmp_path / "flights" / f"date={DAY}").glob("*.parquet")
    file.rename(file.with_name("others.parquet"))  # what others put there has no record: its footers tell

    def fewer(flights: pl.DataFrame) -> pl.DataFrame:
        return flights.head(1)

    fewer.__qualname__ = fewer.__name__
    storage = Parquet(str(tmp_path / "fewer"))
    checked = asset(
        schedule="@daily",
        partition=DAYS,
        inputs={"flights": flights},
        storage=storage,
        checks=[SameRowCount("flights")],
    )(fewer)
    with pytest.raises(CheckError, match="row count of flights: 1 row, 2 in flights; expected as many as in flights"):
        try_partition(checked, DAY)


def test_a_check_of_your_own_is_a_class(tmp_path: Path) -> None:
    class Mean(Check):
        name, expected, columns = "mean delay", "above 0", ("delay",)

        def by_rows(self, staged: Any, rows: pa.Table) -> Any:
            from airflow_partitions.checks import Observation

            mean = rows["delay"].to_pandas().mean()
            return Observation(mean > 0, f"{mean}")

    assert failures(tmp_path, Mean()) == ["mean delay: 0.0; expected above 0"]


def unannotated(rows): ...  # type: ignore[no-untyped-def]


def by_spark(rows: DataFrame) -> bool: ...  # type: ignore[empty-body]


def two(rows: pl.DataFrame, other: pl.DataFrame) -> bool: ...  # type: ignore[empty-body]


SCHEMA = {"origin": "string", "delay": "double"}


@pytest.mark.parametrize(
    ("checks", "message"),
    [
        (
            [NotNull("dealy")],
            r"check 'no nulls in dealy': there is no column 'dealy' in '.*delays'; did you mean 'delay'",
        ),
        (
            [SchemaCheck(pandera.polars.DataFrameSchema({"dealy": pandera.polars.Column(float)}))],
            "did you mean 'delay'",
        ),
        ([NotNull], r"<class .*NotNull'> is no check; expected one of .*: NotNull\(…\), a function over the rows"),
        (["delay > 0"], "'delay > 0' is no check; expected one of airflow_partitions.checks, a function"),
        (NotNull("delay"), "expected a list, such as"),
        ([unannotated], "check 'unannotated' does not say what 'rows' is; expected an annotation"),
        ([by_spark], "check 'by_spark' takes a DataFrame of Spark; expected one of pandas, polars or Arrow"),
        ([SameRowCount("fligths")], "is about 'fligths', which is no input; expected one of: flights"),
        ([NotNull("delay", table="core")], "is about table 'core' of .*; expected no table="),
    ],
)
def test_what_can_not_work_is_refused_when_the_file_is_parsed(checks: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidDefinitionError, match=message):
        declared(tmp_path, checks, schema=SCHEMA)


def test_more_of_what_can_not_work_is_refused_when_the_file_is_parsed(tmp_path: Path) -> None:
    with pytest.raises(InvalidDefinitionError, match="check 'two' has the parameters rows, other; expected one"):
        declared(tmp_path, [two])
    with pytest.raises(InvalidDefinitionError, match=r"expected one of pandera.polars or pandera.pandas"):
        SchemaCheck(int)
    with pytest.raises(InvalidDefinitionError, match="expected a function"):
        FunctionCheck(3)  # type: ignore[arg-type]

    def nowhere() -> None: ...

    nowhere.__qualname__ = nowhere.__name__
    with pytest.raises(InvalidDefinitionError, match="asset 'nowhere' has checks and no storage"):
        asset(schedule="@daily", partition=DAYS, checks=[ValueRange("delay", at_least=0)])(nowhere)
