"""Functions that choose where else a partition is stored, and in which format."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import attrs
import polars as pl
import pytest
from airflow.sdk.execution_time.context import OutletEventAccessors

from airflow_partitions import Partition, PartitionByInterval, StoredFrame, asset, spark_asset
from airflow_partitions.core.errors import ConflictError, InvalidDefinitionError, ResultError, SchemaError
from airflow_partitions.storage import Attempt, Csv, Parquet

if TYPE_CHECKING:
    from airflow_partitions.authoring.local import Trial

DAYS = PartitionByInterval("@daily", start="2013-01-01", name="date")
DAY = "2013-02-08"
FRAME = pl.DataFrame({"origin": ["EWR"], "delay": [1.5]})
ROWS = [{"origin": "EWR", "delay": 1.5, "date": DAY}]


@pytest.fixture
def own(tmp_path: Path) -> Parquet:
    return Parquet(str(tmp_path / "delays"), partition=DAYS)


@pytest.fixture
def exports(tmp_path: Path) -> Csv:
    return Csv(
        str(tmp_path / "exports"), options={"header": True, "sep": ";"}, schema={"origin": "string", "delay": "double"}
    )


def context(number: int = 1, run: str = "run") -> Any:
    return {
        "partition": Partition(DAYS, DAY),
        "ti": SimpleNamespace(dag_id="delays", run_id=run, try_number=number),
        "outlet_events": OutletEventAccessors(),
        "dag_run": SimpleNamespace(run_after=datetime(2013, 2, 9, tzinfo=UTC)),
        "dag": SimpleNamespace(),
    }


def declared(make: Callable[[], Any], **arguments: Any) -> Any:
    """An asset whose function returns what *make* does."""

    def delays() -> Any:
        return make()

    delays.__qualname__ = delays.__name__
    return asset(schedule="@daily", partition=DAYS, **arguments)(delays)


def rows(storage: Any) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = storage.of(DAYS).read(DAY, as_="arrow").to_pylist()
    return listed


def test_f4_a_function_chooses_place_and_format_of_its_value(own: Parquet, exports: Csv) -> None:
    values = [FRAME.lazy(), StoredFrame(FRAME.lazy(), exports)]
    delays = declared(lambda: values.pop(0), storage=own)
    run = context()
    assert delays.task.execute(run) is None
    assert "elsewhere" not in run["outlet_events"][delays].extra
    assert not exports.of(DAYS).exists(DAY)
    run = context(2)
    assert delays.task.execute(run) is None
    assert rows(own) == rows(exports) == ROWS
    (path,) = exports.of(DAYS).get(DAY).paths  # type: ignore[union-attr]
    assert Path(path).read_text() == '"origin";"delay"\n"EWR";1.5\n'
    extra = run["outlet_events"][delays].extra
    assert (extra["rows"], extra["files"]) == (1, 1)
    entry = {"path": exports.path, "format": "csv", "rows": 1, "files": 1, "bytes": Path(path).stat().st_size}
    assert extra["elsewhere"] == [entry]
    assert exports.of(DAYS).get(DAY).metadata["attempt"]["run_id"] == "run"  # type: ignore[union-attr]


def test_f4_all_places_are_chosen_where_the_asset_has_none(own: Parquet, exports: Csv, tmp_path: Path) -> None:
    source = Parquet(str(tmp_path / "source"), partition=DAYS)
    source.save({DAY: FRAME})

    def delays(source: pl.DataFrame) -> StoredFrame:
        return StoredFrame(source, exports, own)

    delays.__qualname__ = delays.__name__
    made = asset(schedule="@daily", partition=DAYS, inputs={"source": source})(delays)
    run = context()
    assert made.task is not None
    made.task.execute(run)
    assert rows(own) == rows(exports) == ROWS
    formats = [entry["format"] for entry in run["outlet_events"][made].extra["elsewhere"]]
    assert formats == ["csv", "parquet"]


def test_f4_nothing_is_published_anywhere_when_something_fails(own: Parquet, exports: Csv) -> None:
    values: list[Any] = [StoredFrame(FRAME, exports)]
    delays = declared(lambda: values.pop(0), storage=attrs.evolve(own, schema={"origin": "string", "delay": "double"}))
    delays.task.execute(context())
    late = FRAME.with_columns(delay=pl.lit(2.5))
    foreign = attrs.evolve(exports, ownership="read-only")
    failing: list[tuple[StoredFrame, type[Exception], str]] = [
        (StoredFrame(late.with_columns(other=1), exports), SchemaError, "other"),
        (StoredFrame(late.with_columns(delay=pl.lit("x")), exports), SchemaError, "delay"),
        (StoredFrame(late, exports, exports), ResultError, "stored twice at .*exports'; expected other places"),
        (StoredFrame(late, own), ResultError, "stored twice at .*delays'"),
        (StoredFrame(late, foreign), InvalidDefinitionError, "read-only"),
        (StoredFrame(late, exports.of(PartitionByInterval("@hourly"))), InvalidDefinitionError, "holds partitions of"),
    ]
    for value, error, message in failing:
        values.append(value)
        with pytest.raises(error, match=message):
            delays.task.execute(context(2))
        assert rows(own) == rows(exports) == ROWS
    newer = Attempt("delays", "run", 3)
    own.save({DAY: FRAME}, mode="overwrite", attempt=newer)
    values.append(StoredFrame(late, exports))
    with pytest.raises(ConflictError):  # its own storage is published first
        delays.task.execute(context(2))
    assert rows(own) == rows(exports) == ROWS
    staging = Path(exports.path).with_name("_exports") / "staging"
    assert not list(staging.iterdir())


def test_f4_what_is_no_storage_is_refused(exports: Csv) -> None:
    with pytest.raises(InvalidDefinitionError, match="'/exports' is no storage; expected for example Csv"):
        StoredFrame(FRAME, exports, "/exports")  # type: ignore[arg-type]


def test_f4_a_trial_stores_nothing_elsewhere(partition_trial: Callable[..., Trial], own: Parquet, exports: Csv) -> None:
    trial = partition_trial(declared(lambda: StoredFrame(FRAME, exports), storage=own), DAY)
    assert trial.value.equals(FRAME)
    assert not Path(exports.path).exists()


def delays(flights: Any) -> Any:
    from airflow_partitions import StoredFrame

    return StoredFrame(flights)


def test_f4_on_a_spark_driver_the_way_out_is_told_when_the_dag_is_parsed(own: Parquet) -> None:
    flights = Parquet("/lake/flights", partition=DAYS)
    with pytest.raises(
        InvalidDefinitionError,
        match=r"reaches neither .* nor catalogs.*expected a DataFrame.*@spark_asset\(schedule=delays, storage=…\)",
    ):
        spark_asset(schedule="@daily", partition=DAYS, inputs={"flights": flights}, storage=own)(delays)
