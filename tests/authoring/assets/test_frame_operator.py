"""Functions over frames, without Spark."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any

import attrs
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from airflow.sdk.execution_time.context import OutletEventAccessors
from pyarrow import parquet
from pyspark.sql import DataFrame

from airflow_partitions import Partition, PartitionByInterval, Previous, asset
from airflow_partitions.core.errors import (
    ConflictError,
    ForeignRowsError,
    InvalidDefinitionError,
    MissingInputError,
    ResultError,
    SchemaError,
)
from airflow_partitions.storage import Iceberg, Parquet, Reader, ReadRequest, register_reader

if TYPE_CHECKING:
    from airflow_partitions.authoring.local import Trial

HOURS = PartitionByInterval("@hourly", timezone="America/New_York", start="2013-01-01", name="hour")
DAYS = PartitionByInterval("@daily", timezone="America/New_York", start="2013-01-01", name="date")
DAY = "2013-11-03"


@pytest.fixture
def flights(tmp_path: Path) -> Parquet:
    """Two flights in each of the 25 hours of a day."""
    storage = Parquet(str(tmp_path / "flights"), partition=HOURS, partition_on={"hour": "%Y-%m-%dT%H:%M%z"})
    rows = pa.table({"origin": ["EWR", "JFK"], "delay": [1.0, 3.0], "tail": ["N1", "N2"]})
    storage.save(dict.fromkeys(HOURS.keys(DAY, "2013-11-04"), rows))
    return storage


@pytest.fixture
def storage(tmp_path: Path) -> Parquet:
    return Parquet(str(tmp_path / "delays"), partition_on={"date": "%Y-%m-%d"})


def context(key: str = DAY, number: int = 1, run: str = "run") -> dict[str, Any]:
    return {
        "partition": Partition(DAYS, key),
        "ti": SimpleNamespace(dag_id="delays", run_id=run, try_number=number),
        "outlet_events": OutletEventAccessors(),
        "dag_run": SimpleNamespace(run_after=datetime(2013, 11, 5, tzinfo=UTC)),
        "dag": SimpleNamespace(),
    }


def declared(function: Callable[..., Any], storage: Parquet, **inputs: Any) -> Any:
    function.__qualname__ = function.__name__
    return asset(schedule="@daily", partition=DAYS, storage=storage, inputs=inputs)(function)


def rows(storage: Parquet, key: str = DAY) -> list[dict[str, Any]]:
    table: pa.Table = storage.of(DAYS).read(key, as_="arrow")
    return table.to_pylist()


def test_f1_a_function_takes_and_gives_frames_of_any_kind(flights: Parquet, storage: Parquet) -> None:
    def eager(flights: pl.DataFrame) -> pl.DataFrame:
        assert len(flights) == 50
        return flights.group_by("origin").agg(pl.sum("delay")).sort("origin")

    def lazy(flights: pl.LazyFrame) -> pl.LazyFrame:
        assert isinstance(flights, pl.LazyFrame)
        return flights.group_by("origin").agg(pl.sum("delay")).sort("origin")

    def pandas(flights: pd.DataFrame) -> pd.DataFrame:
        return flights.groupby("origin", as_index=False)["delay"].sum()

    def arrow(flights: pa.Table, partition: Any) -> pa.Table:
        assert str(partition.key) == DAY
        return flights.group_by("origin").aggregate([("delay", "sum")]).rename_columns(["origin", "delay"])

    for number, function in enumerate([eager, lazy, pandas, arrow], start=1):
        run, delayed = context(number=number), declared(function, storage, flights=flights)
        assert delayed.task.execute(run) is None
        sums = [{"origin": "EWR", "delay": 25.0, "date": DAY}, {"origin": "JFK", "delay": 75.0, "date": DAY}]
        assert sorted(rows(storage), key=lambda row: row["origin"]) == sums
        event = run["outlet_events"][delayed]
        reads = event.extra["reads"]["flights"]
        assert (event.extra["rows"], reads["partitions"], reads["files"]) == (2, 25, 25)
        assert reads["rows"] == 50


def running_total(past: pd.DataFrame | None, flights: pd.DataFrame) -> pd.DataFrame:
    before = 0.0 if past is None else past["delay"].sum()
    return pd.DataFrame({"delay": [before + flights["delay"].sum()]})


def test_a_function_takes_the_partition_before_its_own(tmp_path: Path) -> None:
    days = PartitionByInterval("@daily", start="2013-11-03", name="date")
    flights = Parquet(str(tmp_path / "flights"), partition=days, partition_on={"date": "%Y-%m-%d"})
    delays = {"2013-11-03": 1.0, "2013-11-04": 2.0, "2013-11-05": 4.0}
    flights.save({day: pa.table({"delay": [delay]}) for day, delay in delays.items()})
    storage = Parquet(str(tmp_path / "total"))
    total: Any = asset(schedule="@daily", partition=days, storage=storage, inputs={"flights": flights}, past=1)(
        running_total
    )
    for number, day in enumerate(delays, start=1):
        total.task.execute(context(number=number, run=day) | {"partition": Partition(days, day)})
    stored = total.storage.load(as_="arrow")
    assert [load().column("delay").to_pylist() for load in stored.values()] == [[1.0], [3.0], [7.0]]


def test_a_partition_before_the_own_one_takes_storage() -> None:
    days = PartitionByInterval("@daily", start="2013-11-03", name="date")
    with pytest.raises(InvalidDefinitionError, match="parameter 'past' takes its own partitions before this one, and"):
        asset(schedule="@daily", partition=days, past=1)(running_total)


def test_rows_of_a_lazy_frame_are_those_that_its_queries_take_from_the_files(
    flights: Parquet, storage: Parquet
) -> None:
    def delays(flights: pl.LazyFrame) -> pl.LazyFrame:
        return queries.pop(0)(flights)

    queries: list[Callable[[pl.LazyFrame], pl.LazyFrame]] = [
        lambda flights: flights.filter(pl.col("origin") == "EWR").select(pl.sum("delay")),
        lambda flights: flights.select(pl.len()),
        lambda flights: flights.filter(pl.col("hour") == f"{DAY}T05:00-0500").select("delay"),
        lambda flights: flights.join(flights.filter(delay=1.0).unique("origin"), on="origin").select(pl.len()),
        lambda flights: flights.head(3).collect().lazy(),
        lambda flights: pl.LazyFrame({"delay": [1.0]}),
    ]
    delayed = declared(delays, storage, flights=flights)
    counts = []
    for number in range(1, len(queries) + 1):
        run = context(number=number)
        delayed.task.execute(run)
        counts.append(run["outlet_events"][delayed].extra["reads"]["flights"]["rows"])
    assert counts == [25, 50, 2, 75, 3, 0]


def test_rows_of_a_frame_without_a_length_are_not_counted(
    flights: Parquet, storage: Parquet, caplog: pytest.LogCaptureFixture
) -> None:
    class Batches:
        """A frame that is read as it is gone through."""

    class BatchesReader(Reader):
        frame = Batches

        def read(self, scan: ReadRequest) -> Batches:
            return Batches()

    def delays(flights: Any) -> pl.DataFrame:
        assert isinstance(flights, Batches)
        return pl.DataFrame({"delay": [1.0]})

    delays.__annotations__["flights"] = Batches
    register_reader(BatchesReader())
    delayed, run = declared(delays, storage, flights=flights), context()
    caplog.set_level(logging.INFO)
    delayed.task.execute(run)
    assert run["outlet_events"][delayed].extra["reads"]["flights"]["rows"] is None
    assert "read flights 25 of 25 partitions, uncounted rows" in caplog.text


def test_es10_the_index_of_the_storage_is_kept(flights: Parquet, storage: Parquet) -> None:
    def delays(flights: pl.DataFrame) -> pl.DataFrame:
        return flights.group_by("origin").agg(pl.sum("delay"))

    indexed = attrs.evolve(storage, index=["origin"])
    declared(delays, indexed, flights=flights).task.execute(context())
    (partition,) = indexed.of(DAYS).list()
    assert set(partition.metadata["index"]["origin"]["files"]) == {"EWR", "JFK"}
    misspelt = attrs.evolve(storage, index=["orgin"])
    with pytest.raises(InvalidDefinitionError, match=r"index='orgin' is no column of it; .* nearest: origin"):
        declared(delays, misspelt, flights=flights).task.execute(context(number=2))


def test_f6_only_the_columns_of_the_annotation_are_read(flights: Parquet, storage: Parquet) -> None:
    columns: list[Any] = []

    def delays(
        flights: Annotated[pl.DataFrame, {"delay": float, "hour": None}, "parquet"],
        lazily: Annotated[pl.LazyFrame, ["delay"]],
    ) -> pl.DataFrame:
        columns.append((flights.columns, lazily.collect_schema().names()))
        return lazily.select(pl.sum("delay")).collect()

    delayed = declared(delays, storage, flights=flights, lazily=flights)
    _spoil_column(flights, "tail")  # whoever reads it fails
    with pytest.raises(OSError, match="can't be read"):
        flights.read(DAY + "T00:00-04:00", as_="arrow")
    delayed.task.execute(context())
    assert columns == [(["delay", "hour"], ["delay"])]
    assert rows(storage) == [{"delay": 100.0, "date": DAY}]


def _spoil_column(flights: Parquet, name: str) -> None:
    """Overwrite the bytes of a column in all files."""
    for partition in flights.list():
        for path in partition.paths:
            group = parquet.read_metadata(path).row_group(0)
            (column,) = [group.column(i) for i in range(group.num_columns) if group.column(i).path_in_schema == name]
            start = column.dictionary_page_offset or column.data_page_offset
            content = bytearray(Path(path).read_bytes())
            content[start : start + column.total_compressed_size] = b"\xff" * column.total_compressed_size
            Path(path).write_bytes(content)


def test_nothing_is_published_when_something_fails(flights: Parquet, storage: Parquet) -> None:
    def delays(flights: pl.DataFrame, partition: Any) -> Any:
        return results.pop(0)

    delayed = declared(delays, attrs.evolve(storage, schema={"delay": "double"}), flights=flights)
    good = pl.DataFrame({"delay": [1.0]})
    results: list[Any] = [
        good,
        None,
        "text",
        good.with_columns(date=pl.lit("2013-11-04")),
        good.select(delay=pl.lit("x")),
    ]
    delayed.task.execute(context())
    for number, error in enumerate([ResultError, ResultError, ForeignRowsError, SchemaError], start=2):
        with pytest.raises(error):
            delayed.task.execute(context(number=number))
        assert rows(storage) == [{"delay": 1.0, "date": DAY}]
    with pytest.raises(MissingInputError, match="input 'flights': 24 of 24 partitions are not stored"):
        delayed.task.execute(context("2013-11-05"))


def test_a_rule_replaces_overlap_for_an_input(flights: Parquet, storage: Parquet) -> None:
    def delays(today: pl.DataFrame, before: pl.DataFrame) -> pl.DataFrame:
        return pl.DataFrame({"hours": [today["hour"].n_unique()], "before": [before["hour"].n_unique()]})

    rest = pa.table({"origin": ["EWR"], "delay": [1.0], "tail": ["N1"]})
    flights.save(dict.fromkeys(HOURS.keys("2013-11-04", "2013-11-05"), rest))
    delays.__qualname__ = delays.__name__
    inputs, rules = {"today": flights, "before": flights}, {"before": Previous()}
    declare = asset(schedule="@daily", partition=DAYS, storage=storage, inputs=inputs, rules=rules)
    declare(delays).task.execute(context("2013-11-04"))  # type: ignore[union-attr]
    assert rows(storage, "2013-11-04") == [{"hours": 24, "before": 25, "date": "2013-11-04"}]
    with pytest.raises(InvalidDefinitionError, match="rules for befor: no input or upstream of delays"):
        attrs.evolve(declare, rules={"befor": Previous()})(delays)


def test_columns_may_come_and_go_where_no_schema_is_declared(flights: Parquet, storage: Parquet) -> None:
    def delays(flights: pl.DataFrame, partition: Any) -> pl.DataFrame:
        return results.pop(0)

    declaration = declared(delays, storage, flights=flights)
    results = [
        pl.DataFrame({"delay": [1], "note": ["a"]}, schema={"delay": pl.Int32, "note": pl.String}),
        pl.DataFrame({"delay": [None], "tail": ["N1"]}),
        pl.DataFrame({"delay": ["late"]}),
    ]
    for number in (1, 2):
        declaration.task.execute(context(number=number))
    assert rows(storage) == [{"delay": None, "note": None, "tail": "N1", "date": DAY}]
    with pytest.raises(SchemaError, match="'delay' is string, not int"):
        declaration.task.execute(context(number=3))
    assert rows(storage) == [{"delay": None, "note": None, "tail": "N1", "date": DAY}]


def test_what_another_run_has_published_meanwhile_is_not_replaced(flights: Parquet, storage: Parquet) -> None:
    def delays(flights: pl.DataFrame, partition: Any) -> pl.DataFrame:
        if others:
            others.pop().task.execute(context(run="other"))
            return flights.select(delay=pl.lit(1.0)).head(1)
        return flights.select(delay=pl.lit(2.0)).head(1)

    others: list[Any] = []
    delayed = declared(delays, storage, flights=flights)
    others.append(delayed)
    with pytest.raises(ConflictError):
        delayed.task.execute(context())
    assert rows(storage) == [{"delay": 2.0, "date": DAY}]


def test_k6_all_tries_of_a_run_read_what_the_first_one_read(flights: Parquet, storage: Parquet) -> None:
    def delays(flights: pl.DataFrame) -> pl.DataFrame:
        rows = flights.select(pl.sum("delay"))
        if failures:
            hour = f"{DAY}T05:00-05:00"
            flights_storage.save(
                {hour: pa.table({"origin": ["EWR"], "delay": [0.0], "tail": ["N1"]})}, mode="overwrite"
            )
            raise failures.pop()
        return rows

    def try_again(number: int, started: str) -> Any:
        run = context(number=number)
        run["ti"].task_id, run["dag"].tasks = "delays", [delayed.task]
        run["ti"].xcom_push = lambda key, value: None
        run["dag_run"].dag_id, run["dag_run"].run_id, run["dag_run"].start_date = "delays", "run", started
        return delayed.task.execute(run)

    flights_storage, failures = flights, [OSError("worker lost")]
    delays.__qualname__ = "delays"
    decorator = asset(schedule="@daily", partition=DAYS, storage=storage, inputs={"flights": flights}, freeze=True)
    delayed = decorator(delays)
    with pytest.raises(OSError, match="worker lost"):
        try_again(1, "start")
    listings = Path(flights.path).with_name("_flights") / "listings"
    assert len(list(listings.iterdir())) == 1
    try_again(2, "start")
    assert rows(storage) == [{"delay": 100.0, "date": DAY}]
    assert not list(listings.iterdir())
    try_again(3, "start of what was cleared")
    assert rows(storage) == [{"delay": 96.0, "date": DAY}]


def test_a_table_without_partitions_is_read_beside_inputs_that_are_frozen(
    flights: Parquet, storage: Parquet, tmp_path: Path
) -> None:
    properties = {"type": "sql", "uri": f"sqlite:///{tmp_path}/catalog.db", "warehouse": str(tmp_path / "warehouse")}
    stored = Iceberg(
        "db.tails", credentials=properties, partition=DAYS, schema={"date": "date", "n": "int"}, create=True
    )
    stored.save({DAY: pa.table({"n": pa.array([7], pa.int32())})})
    tails = Iceberg("db.tails", credentials=properties)

    def delays(flights: pl.DataFrame, tails: pl.DataFrame) -> pl.DataFrame:
        return flights.select(pl.sum("delay"), n=pl.lit(tails["n"].sum()))

    delays.__qualname__ = "delays"
    inputs = {"flights": flights, "tails": tails}
    delayed = asset(schedule="@daily", partition=DAYS, storage=storage, inputs=inputs, freeze=True)(delays)
    run = context()
    run["ti"].task_id, run["dag"].tasks, run["ti"].xcom_push = "delays", [delayed.task], lambda key, value: None
    run["dag_run"].dag_id, run["dag_run"].run_id, run["dag_run"].start_date = "delays", "run", "start"
    delayed.task.execute(run)
    assert rows(storage) == [{"delay": 100.0, "n": 7, "date": DAY}]
    assert not list((Path(flights.path).with_name("_flights") / "listings").iterdir())


def test_an_upstream_asset_is_an_input_where_its_parameter_is_a_frame(flights: Parquet, storage: Parquet) -> None:
    def delays(flights: pl.DataFrame) -> Annotated[pl.DataFrame, {"delay": float}]:
        return flights.select("delay")

    upstream = declared(delays, storage, flights=flights)
    assert dict(upstream.storage.schema) == {"delay": "double"}

    def wrong(delays: Annotated[pl.DataFrame, ["dely"]]) -> None: ...

    def mean(delays: Annotated[pl.DataFrame, ["delay"]], partition: Any) -> float:
        return delays["delay"].mean()

    for function in (wrong, mean):
        function.__qualname__ = function.__name__
    consumer = asset(schedule=upstream, partition=DAYS)
    with pytest.raises(InvalidDefinitionError, match="wrong: delays: there is no column 'dely'"):
        consumer(wrong)
    upstream.task.execute(context())
    assert consumer(mean).task.execute(context()) == 2.0


@pytest.mark.parametrize("freeze", [True, "/lake/listings"])
def test_listings_that_can_not_be_made_are_refused_when_the_file_is_parsed(freeze: Any, flights: Parquet) -> None:
    def nothing() -> None: ...

    def delays(flights: pl.DataFrame) -> None: ...

    for function in (nothing, delays):
        function.__qualname__ = function.__name__
    with pytest.raises(InvalidDefinitionError, match=r"freeze=.*, and no input to freeze; expected inputs="):
        asset(schedule="@daily", partition=DAYS, freeze=freeze)(nothing)
    foreign = attrs.evolve(flights, ownership="read-only")
    decorator = asset(schedule="@daily", partition=DAYS, freeze=freeze, inputs={"flights": foreign})
    if freeze is True:
        with pytest.raises(InvalidDefinitionError, match="input 'flights' has ownership='read-only'"):
            decorator(delays)
    else:
        assert decorator(delays).task.freeze == freeze  # type: ignore[union-attr]


@pytest.mark.parametrize("what", ["unannotated", "spark", "no partition", "task"])
def test_what_can_not_work_is_refused_when_the_file_is_parsed(what: str, flights: Parquet, storage: Parquet) -> None:
    from airflow.sdk import task

    def unannotated(flights): ...  # type: ignore[no-untyped-def]

    def spark(flights: DataFrame) -> None: ...

    def plain(flights: pl.DataFrame) -> pl.DataFrame:
        return flights

    for function in (unannotated, spark, plain):
        function.__qualname__ = function.__name__
    functions: dict[str, Any] = {"unannotated": unannotated, "spark": spark, "no partition": plain, "task": task(plain)}
    messages = {
        "unannotated": "input 'flights' does not say what it is to be read as; expected an annotation",
        "spark": "input 'flights' is a DataFrame of Spark; expected one of pandas, polars or Arrow, or @spark_asset",
        "no partition": "has partition=None; expected a definition",
        "task": "a function decorated by @task; expected a plain function",
    }
    definition = None if what == "no partition" else DAYS
    with pytest.raises(InvalidDefinitionError, match=messages[what]):
        asset(schedule="@daily", partition=definition, storage=storage, inputs={"flights": flights})(functions[what])


def test_it_is_tried_here_and_now(partition_trial: Callable[..., Trial], flights: Parquet, storage: Parquet) -> None:
    def delays(flights: pl.DataFrame, partition: Any) -> pl.DataFrame:
        return flights.select(pl.sum("delay"), date=pl.lit(partition.text))

    delayed = declared(delays, storage, flights=flights)
    trial = partition_trial(delayed, DAY)
    assert trial.value["delay"].to_list() == [100.0]
    assert trial.result is not None
    assert trial.result.summary()["reads"]["flights"]["rows"] == 50
    assert not Path(storage.path).exists()
    trial = partition_trial(delayed, DAY, inputs={"flights": pl.DataFrame({"delay": [1.5]})})
    assert trial.value["delay"].to_list() == [1.5]
    with pytest.raises(InvalidDefinitionError, match="there is no input fligths; delays has: flights"):
        partition_trial(delayed, DAY, inputs={"fligths": pl.DataFrame()})


def test_a_table_is_read_and_made_as_folders_are(tmp_path: Path, partition_trial: Callable[..., Trial]) -> None:
    properties = {"type": "sql", "uri": f"sqlite:///{tmp_path}/catalog.db", "warehouse": str(tmp_path / "warehouse")}
    schema = {"departed_at": "timestamp", "origin": "string", "delay": "double"}
    where: dict[str, Any] = {"credentials": properties, "partition_on": {"hour": "departed_at"}, "create": True}
    flights = Iceberg("flights.flights", partition=HOURS, schema=schema, **where)
    flights.save(dict.fromkeys(HOURS.keys(DAY, "2013-11-04"), pa.table({"origin": ["EWR"], "delay": [1.0]})))
    of_day = {"date": "date", "origin": "string", "delay": "double"}
    delays = Iceberg("flights.delays", credentials=properties, schema=of_day, create=True)

    def mean(flights: Annotated[pl.DataFrame, ["origin", "delay"]]) -> pl.DataFrame:
        assert flights.columns == ["origin", "delay"]
        return flights.group_by("origin").agg(pl.sum("delay"))

    run, delayed = context(), declared(mean, delays, flights=flights)  # type: ignore[arg-type]
    trial = partition_trial(delayed, DAY)
    assert trial.value.rows() == [("EWR", 25.0)]
    assert trial.result is not None
    assert trial.result.summary()["rows"] == 1
    assert not (tmp_path / "warehouse" / "flights" / "delays").exists()
    delayed.task.execute(run)
    assert delays.of(DAYS).read(DAY, as_="arrow", columns=["origin", "delay"]).to_pylist() == [
        {"origin": "EWR", "delay": 25.0}
    ]
    counts = run["outlet_events"][delayed].extra
    assert (counts["rows"], counts["reads"]["flights"]["files"], counts["reads"]["flights"]["rows"]) == (1, 25, 25)
    assert not list((tmp_path / "warehouse" / "flights" / "_delays" / "staging").iterdir())
