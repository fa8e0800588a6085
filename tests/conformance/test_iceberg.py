"""Tables of Iceberg between users of many kinds: what we publish, others read, append to and compact."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from copy import copy
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import attrs
import pandas as pd
import polars as pl
import pytest
from airflow.sdk.execution_time.context import OutletEventAccessors

from airflow_partitions import Partition, PartitionByInterval, PartitionByProduct, PartitionBySequence, asset
from airflow_partitions.checks import NotNull, RowCount
from airflow_partitions.core.errors import CheckError, ForeignRowsError, LayoutError
from airflow_partitions.storage import Iceberg, Parquet
from airflow_partitions.storage.iceberg.table.open import open_table
from tests.hunt import HUNT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [
    pytest.mark.spark,
    # Polars has another package that plans quicker.
    pytest.mark.filterwarnings("ignore:Iceberg scan planning:polars.exceptions.PerformanceWarning"),
]

ZONE = "America/New_York"
DAYS = PartitionByInterval("@daily", timezone=ZONE, start="2013-01-01", name="date")
AIRPORTS = PartitionBySequence(["EWR", "JFK", "LGA"], name="airport")
FLIGHTS = PartitionByProduct([DAYS, AIRPORTS])
SCHEMA = {"departed_at": "timestamp", "origin": "string", "delay": "double"}
#: A week, or a month if the tests are to look far; one day has 25 hours.
DAY_COUNT = 30 if HUNT > 1 else 7
PERIOD = "2013-10-30", str(date(2013, 10, 30) + timedelta(days=DAY_COUNT))
DAY = "2013-11-03"

#: Day in New York, airport, how many flights, sum of their delays.
Sums = list[tuple[str, str, int, float]]


@attrs.frozen
class Lake:
    """A SQL catalog that Spark and we share, with flights in files beside it."""

    spark: SparkSession
    root: Path
    name: str = attrs.field(factory=lambda: f"lake_{secrets.token_hex(4)}")

    def __attrs_post_init__(self) -> None:
        options = {
            "": "org.apache.iceberg.spark.SparkCatalog",
            ".type": "jdbc",
            ".uri": f"jdbc:sqlite:{self.root}/catalog.db?busy_timeout=20000",
            ".warehouse": f"{self.root}/warehouse",
            ".jdbc.schema-version": "V1",
            ".cache-enabled": "false",
        }
        for option, value in options.items():
            self.spark.conf.set(f"spark.sql.catalog.{self.name}{option}", value)

    @property
    def table(self) -> str:
        """What Spark calls the table."""
        return f"{self.name}.flights.delays"

    @property
    def flights(self) -> Parquet:
        return Parquet(f"{self.root}/flights", partition=DAYS, partition_on={"date": "%Y-%m-%d"})

    def delays(self, **more: Any) -> Iceberg:
        catalog = {"type": "sql", "uri": f"sqlite:///{self.root}/catalog.db", "warehouse": f"{self.root}/warehouse"}
        on = {"date": "departed_at", "airport": "origin"}
        return Iceberg("flights.delays", catalog=self.name, credentials=catalog, partition_on=on, **more)

    def snapshots(self) -> int:
        return len(open_table(self.delays().of(FLIGHTS)).snapshots())


@pytest.fixture
def lake(spark: SparkSession, tmp_path: Path) -> Lake:
    return Lake(spark, tmp_path)


def flights_of(start: str, end: str) -> pd.DataFrame:
    """A flight every hour and a half, from each airport in turn."""
    moments = pd.date_range(start, end, freq="90min", tz=ZONE, inclusive="left").tz_convert(UTC).as_unit("us")
    origins = [("EWR", "JFK", "LGA")[i % 3] for i in range(len(moments))]
    delays = [float(i) for i in range(len(moments))]
    return pd.DataFrame({"departed_at": moments, "origin": origins, "delay": delays})


def days_of(flights: pd.DataFrame) -> pd.Series[str]:
    return flights["departed_at"].dt.tz_convert(ZONE).dt.strftime("%Y-%m-%d")


def departures(partition: Any, flights: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    here = flights.filter(pl.col("origin") == partition["airport"])
    return here.select("departed_at", "origin", "delay")


def run(made: Any, key: str, name: str = "scheduled") -> None:
    """What the task of an asset does."""
    instance = SimpleNamespace(dag_id="delays", run_id=f"{name}__{key}", try_number=1, xcom_push=lambda **_: None)
    context = {
        "partition": Partition(FLIGHTS, key),
        "ti": instance,
        "outlet_events": OutletEventAccessors(),
        "dag_run": SimpleNamespace(run_after=datetime(2013, 12, 1, tzinfo=UTC)),
        "dag": SimpleNamespace(tasks=[]),
    }
    copy(made.task).execute(context)  # each task has a process of its own


def by_pandas(flights: pd.DataFrame) -> Sums:
    groups = flights.groupby([days_of(flights), "origin"])["delay"]
    return [(day, origin, len(own), own.sum()) for (day, origin), own in sorted(groups, key=lambda group: group[0])]


def by_spark(lake: Lake) -> Sums:
    """Plain Spark, which knows of the catalog alone."""
    day = f"date_format(from_utc_timestamp(departed_at, '{ZONE}'), 'yyyy-MM-dd')"
    query = f"SELECT {day} day, origin, count(*), sum(delay) FROM {lake.table} GROUP BY 1, 2 ORDER BY 1, 2"
    return [tuple(row) for row in lake.spark.sql(query).collect()]


def by_pyiceberg(lake: Lake) -> Sums:
    return by_pandas(open_table(lake.delays().of(FLIGHTS)).scan().to_pandas())


def by_polars(lake: Lake) -> Sums:
    day = pl.col("departed_at").dt.convert_time_zone(ZONE).dt.strftime("%Y-%m-%d")
    groups = pl.scan_iceberg(open_table(lake.delays().of(FLIGHTS))).group_by(day.alias("day"), "origin")
    return groups.agg(pl.len().alias("count"), pl.sum("delay")).sort("day", "origin").collect().rows()


def by_duckdb(lake: Lake) -> Sums:
    """DuckDB over what pyiceberg scans: its own extension for Iceberg is no package of Python."""
    connection = open_table(lake.delays().of(FLIGHTS)).scan().to_duckdb("delays")
    day = f"strftime(departed_at AT TIME ZONE '{ZONE}', '%Y-%m-%d')"
    query = f"SELECT {day}, origin, count(*), sum(delay) FROM delays GROUP BY 1, 2 ORDER BY 1, 2"
    return connection.execute(query).fetchall()


def by_us(lake: Lake) -> Sums:
    frame: pd.DataFrame = lake.delays().of(FLIGHTS).read(as_="pandas", columns=["departed_at", "origin", "delay"])
    return by_pandas(frame)


READERS: tuple[Callable[[Lake], Sums], ...] = (by_spark, by_pyiceberg, by_polars, by_duckdb, by_us)


def agree(lake: Lake, flights: pd.DataFrame) -> None:
    sums = by_pandas(flights)
    for reader in READERS:
        assert reader(lake) == sums, reader.__name__


def append(lake: Lake, flights: pd.DataFrame, **more: Any) -> None:
    """What a job of someone else does."""
    frame = lake.spark.createDataFrame(flights.assign(departed_at=flights["departed_at"].dt.tz_localize(None), **more))
    frame.writeTo(lake.table).append()


def compact(lake: Lake) -> int:
    """What another one does; how many files there were."""
    options = "map('rewrite-all', 'true')"
    call = f"CALL {lake.name}.system.rewrite_data_files(table => 'flights.delays', options => {options})"
    (row,) = lake.spark.sql(call).collect()
    return int(row.rewritten_data_files_count)


def test_a_period_that_others_append_to_and_compact_is_the_same_to_all_who_read_it(lake: Lake) -> None:
    flights = flights_of(*PERIOD)
    lake.flights.save(dict(list(flights.groupby(days_of(flights)))))
    delays = lake.delays(schema=SCHEMA, create=True)
    checks = [NotNull("delay"), RowCount(at_least=1)]
    made = asset(schedule="@daily", partition=FLIGHTS, storage=delays, inputs={"flights": lake.flights}, checks=checks)(
        departures
    )
    keys = [str(key) for key in FLIGHTS.keys(*PERIOD)]
    assert len(keys) == 3 * DAY_COUNT
    for key in keys:
        run(made, key)
    assert lake.snapshots() == len(keys)
    agree(lake, flights)

    # A day is made again, of other flights.
    flights.loc[days_of(flights) == DAY, "delay"] += 1000
    lake.flights.save({DAY: flights[days_of(flights) == DAY]}, mode="overwrite")
    run(made, f"{DAY}|JFK", "again")
    here = (days_of(flights) == DAY) & (flights["origin"] != "JFK")
    flights.loc[here, "delay"] -= 1000
    agree(lake, flights)

    # What fails a check, or belongs elsewhere, is not published.
    before = lake.snapshots()
    damaged = flights[days_of(flights) == DAY].assign(delay=None).astype({"delay": "float64"})
    lake.flights.save({DAY: damaged}, mode="overwrite")
    with pytest.raises(CheckError, match="no nulls in delay"):
        run(made, f"{DAY}|EWR", "damaged")
    with pytest.raises(ForeignRowsError, match=rf"rows of other partitions than '{DAY}\|LGA'"):
        delays.of(FLIGHTS).save({f"{DAY}|LGA": flights[days_of(flights) == "2013-11-04"]}, mode="overwrite")
    assert lake.snapshots() == before

    # A column comes.
    (before_last, _, _), (last_day, _, _) = (key.partition("|") for key in (keys[-4], keys[-1]))
    last = (days_of(flights) == last_day) & (flights["origin"] == "LGA")
    flights.loc[last, "delay"] = 5.0
    wide = {**SCHEMA, "carrier": "string"}
    with_carriers = lake.delays(schema=wide).of(FLIGHTS)
    rows = flights[last].assign(carrier="UA")
    with_carriers.save({f"{last_day}|LGA": rows}, mode="overwrite", evolve=True)
    agree(lake, flights)
    carriers = with_carriers.read([f"{before_last}|LGA", f"{last_day}|LGA"], as_="pandas")["carrier"]
    assert carriers.dropna().tolist() == ["UA"] * last.sum()
    assert len(carriers) > last.sum()

    # Others append and compact.
    late = flights_of(DAY, "2013-11-04").assign(delay=0.5)
    append(lake, late, carrier="DL")
    flights = pd.concat([flights, late])
    agree(lake, flights)
    assert not with_carriers.get(f"{DAY}|JFK").metadata  # type: ignore[union-attr]
    assert compact(lake) > 13 * DAY_COUNT
    agree(lake, flights)

    # No file holds rows of two keys, so that each can still be replaced alone.
    here = (days_of(flights) == DAY) & (flights["origin"] == "JFK")
    rows = flights[here].assign(delay=7.0, carrier="AA")
    with_carriers.save({f"{DAY}|JFK": rows}, mode="overwrite")
    flights.loc[here, "delay"] = 7.0
    agree(lake, flights)


def test_a_table_whose_files_hold_several_keys_says_how_to_part_them(lake: Lake) -> None:
    columns = "departed_at timestamp, origin string, delay double"
    lake.spark.sql(f"CREATE NAMESPACE {lake.name}.flights")
    lake.spark.sql(f"CREATE TABLE {lake.table} ({columns}) PARTITIONED BY (days(departed_at), origin)")
    flights = flights_of("2013-11-02", "2013-11-05")
    delays = lake.delays().of(FLIGHTS)
    for (day, origin), own in flights.groupby([days_of(flights), "origin"]):
        delays.save({f"{day}|{origin}": own})
    assert compact(lake) > 9
    agree(lake, flights)

    # A day of UTC, which is a file now, has hours of two days in New York.
    here = (days_of(flights) == DAY) & (flights["origin"] == "JFK")
    rows = flights[here].assign(delay=7.0)
    with pytest.raises(LayoutError, match=rf"hold rows of '{DAY}\|JFK' and of other partitions") as refused:
        delays.save({f"{DAY}|JFK": rows}, mode="overwrite")
    agree(lake, flights)
    _, delete, _ = str(refused.value).split("`")
    lake.spark.sql(delete.replace("flights.delays", lake.table))
    agree(lake, flights[~here])
    delays.save({f"{DAY}|JFK": rows})
    flights.loc[here, "delay"] = 7.0
    agree(lake, flights)
