"""Publishing what jobs of any engine have staged, and refusing what they should not have."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from airflow.sdk import DAG, Asset

from airflow_partitions import Partition, PartitionByInterval, Partitioned, Publish
from airflow_partitions.checks import NotNull, SameRowCount
from airflow_partitions.core.errors import (
    CheckError,
    ConflictError,
    DamagedError,
    ForeignRowsError,
    InvalidDefinitionError,
    MissingInputError,
    ResultError,
    SchemaError,
)
from airflow_partitions.storage import Csv, Parquet
from tests.authoring.tasks.open_run import DAY, DAYS, DELAYS, NEW_YORK, OpenRun

HOURS = PartitionByInterval("@hourly", **NEW_YORK, name="hour")
ROWS = [{"origin": "EWR", "delay": 1.5}, {"origin": "JFK", "delay": None}]


def by_polars(folder: str) -> None:
    pl.DataFrame(ROWS).write_parquet(f"{folder}/delays.parquet")


def by_pyarrow(folder: str) -> None:
    for number, row in enumerate(ROWS):
        pq.write_table(
            pa.Table.from_pylist([row], pa.schema({"origin": "string", "delay": "double"})),
            f"{folder}/{number}.parquet",
        )


def by_duckdb(folder: str) -> None:
    values = "(VALUES ('EWR', 1.5::DOUBLE), ('JFK', NULL)) t(origin, delay)"
    duckdb.execute(f"COPY (FROM {values}) TO '{folder}/delays.parquet' (FORMAT parquet)")


@pytest.fixture
def storage(tmp_path: Path) -> Parquet:
    return Parquet(str(tmp_path / "delays"), partition_on={"day": "%Y-%m-%d"})


def rows(storage: Any, key: str = DAY) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = storage.of(DAYS).read(key, as_="arrow").to_pylist()
    return [{name: value for name, value in row.items() if name != "day"} for row in listed]


@pytest.mark.parametrize("job", [by_polars, by_pyarrow, by_duckdb])
def test_what_an_engine_stages_is_published_with_its_counts(storage: Parquet, job: Callable[[str], None]) -> None:
    run = OpenRun(storage, checks=[NotNull("origin")])
    folder = run.make().staging
    assert Path(folder).is_dir()
    job(folder)
    assert not storage.of(DAYS).exists(DAY)
    event = run.published()
    stored = storage.of(DAYS).get(DAY)
    assert stored is not None
    assert rows(storage) == ROWS
    assert (event["rows"], event["files"], event["bytes"]) == (2, len(stored.files), stored.bytes)
    assert [(each["name"], each["passed"]) for each in event["checks"]] == [("no nulls in origin", True)]
    assert stored.metadata["schema"] == {"origin": "string", "delay": "double"}
    assert (stored.rows, stored.metadata["attempt"]["number"]) == (2, 1)
    assert not Path(folder).exists()


def test_the_folder_is_that_of_the_try_however_often_it_is_asked_for(storage: Parquet) -> None:
    run = OpenRun(storage)
    first = run.make()
    assert first.staging == first.staging == run.context("make")["partition"].staging_of("delays")
    second = run.make(2)
    assert second.staging != first.staging
    by_polars(first.staging)  # by a job of the first try that still runs
    with pytest.raises(ResultError, match=r"no file in .*; expected at least one"):
        run.published()
    by_pyarrow(second.staging)
    run.published(2)
    assert rows(storage) == ROWS
    stored = storage.of(DAYS).get(DAY)
    assert stored is not None
    assert stored.metadata["attempt"]["number"] == 2


def test_an_older_try_does_not_publish_over_a_newer_one(storage: Parquet) -> None:
    late, run = OpenRun(storage), OpenRun(storage)
    by_polars(late.make(1).staging)
    by_pyarrow(run.make(2).staging)
    run.published()
    with pytest.raises(ConflictError):
        late.published()
    stored = storage.of(DAYS).get(DAY)
    assert stored is not None
    assert len(stored.files) == 2


def test_another_run_that_was_quicker_is_not_replaced(storage: Parquet) -> None:
    one, other = OpenRun(storage, run_id="one"), OpenRun(storage, run_id="other")
    by_polars(one.make().staging)
    by_pyarrow(other.make().staging)
    other.published()
    with pytest.raises(ConflictError):
        one.published()


def test_publishing_again_says_again_what_was_published(storage: Parquet) -> None:
    run = OpenRun(storage)
    by_polars(run.make().staging)
    event = run.published()
    again = run.published(2)
    assert {name: again[name] for name in ("rows", "files", "bytes")} == {
        name: event[name] for name in ("rows", "files", "bytes")
    }
    other = OpenRun(storage, run_id="other")
    by_pyarrow(other.make().staging)
    other.published()
    with pytest.raises(ResultError, match=r"is gone: a later one has taken its place.*cleared together with 'publish'"):
        run.published(3)


def test_nothing_staged_is_refused(storage: Parquet) -> None:
    run = OpenRun(storage)
    with pytest.raises(ResultError, match=r"no task before it has asked for .*expected one that writes to \{\{ part"):
        run.published()
    by_polars(run.make().staging)
    run.states["make"] = "failed"
    with pytest.raises(ResultError, match="task 'make', which has staged a partition of 'delays', is 'failed'"):
        run.published()
    assert not storage.of(DAYS).exists(DAY)


@pytest.mark.parametrize("value", ["2013-11-04", None])
def test_rows_of_another_partition_are_refused_and_what_was_there_stays(storage: Parquet, value: str | None) -> None:
    run = OpenRun(storage)
    by_polars(run.make().staging)
    run.published()
    stray = OpenRun(storage, run_id="stray")
    folder = stray.make().staging
    pl.DataFrame({"origin": ["LGA"] * 2, "delay": [0.0] * 2, "day": [DAY, value]}).write_parquet(f"{folder}/x.parquet")
    with pytest.raises(ForeignRowsError, match=f"rows belong elsewhere, for example day={value}"):
        stray.published()
    assert rows(storage) == ROWS
    assert Path(folder).exists()


def test_a_column_of_the_partition_in_the_files_is_checked_and_read_from_the_folder(storage: Parquet) -> None:
    run = OpenRun(storage)
    folder = run.make().staging
    pl.DataFrame(ROWS).with_columns(day=pl.lit(DAY)).write_parquet(f"{folder}/x.parquet")
    run.published()
    assert rows(storage) == ROWS
    stored = storage.of(DAYS).get(DAY)
    assert stored is not None
    assert stored.metadata["schema"] == {"origin": "string", "delay": "double"}
    assert storage.of(DAYS).read(DAY, as_="polars").columns == ["origin", "delay", "day"]


def test_folders_of_other_partitions_are_refused(storage: Parquet) -> None:
    run = OpenRun(storage)
    folder = run.make().staging
    frame = pa.table({"origin": ["EWR"], "day": ["2013-11-04"]})
    pq.write_to_dataset(frame, folder, partition_cols=["day"])
    with pytest.raises(ResultError, match=r"has left 'day=2013-11-04/.*' in a folder of its own"):
        run.published()


def test_other_columns_than_are_declared_are_refused(tmp_path: Path) -> None:
    storage = Parquet(str(tmp_path / "delays"), schema={"origin": "string", "delay": "double"})
    run = OpenRun(storage)
    pl.DataFrame({"origin": ["EWR"], "dela": [1.5]}).write_parquet(f"{run.make().staging}/x.parquet")
    with pytest.raises(SchemaError, match="'delay' is missing; 'dela' is new"):
        run.published()
    pl.DataFrame({"delay": [1], "origin": ["EWR"]}).cast({"delay": pl.Int32}).write_parquet(
        f"{run.make(2).staging}/x.parquet"
    )
    run.published()  # what is narrower is widened where it is read
    assert rows(storage) == [{"origin": "EWR", "delay": 1.0}]


def test_files_that_differ_or_are_none_of_the_format_are_refused(storage: Parquet) -> None:
    run = OpenRun(storage)
    folder = run.make().staging
    pl.DataFrame({"delay": [1]}).write_parquet(f"{folder}/0.parquet")
    pl.DataFrame({"delay": ["late"]}).write_parquet(f"{folder}/1.parquet")
    with pytest.raises(SchemaError, match="column 'delay' is"):
        run.published()
    Path(run.make(2).staging, "x.parquet").write_text("origin;delay")
    with pytest.raises(DamagedError):
        run.published()


def test_a_failed_check_publishes_nothing(storage: Parquet) -> None:
    run = OpenRun(storage, checks=[NotNull("delay")])
    by_polars(run.make().staging)
    with pytest.raises(CheckError, match="no nulls in delay"):
        run.published()
    assert not storage.of(DAYS).exists(DAY)


def test_csv_and_hidden_files(tmp_path: Path) -> None:
    storage = Csv(str(tmp_path / "delays"), options={"header": True}, schema={"origin": "string", "delay": "double"})
    run = OpenRun(storage)
    folder = run.make().staging
    Path(folder, "delays.csv").write_text("origin,delay\nEWR,1.5\nJFK,\n")
    Path(folder, "_SUCCESS").touch()
    event = run.published()
    assert (event["rows"], event["files"]) == (2, 1)
    assert rows(storage) == ROWS


def test_tables_are_published_together(tmp_path: Path) -> None:
    storage = Parquet(str(tmp_path / "delays"), tables=["core", "notes"])
    run = OpenRun(storage)
    folder = run.make().staging
    pl.DataFrame(ROWS).write_parquet(f"{folder}/core/0.parquet")
    with pytest.raises(ResultError, match="no file of table 'notes'"):
        run.published()
    pl.DataFrame({"note": ["late"]}).write_parquet(f"{folder}/notes/0.parquet")
    assert run.published()["rows"] == 3
    assert storage.table("notes").of(DAYS).read(DAY, as_="polars")["note"].to_list() == ["late"]


@pytest.fixture
def flights(tmp_path: Path) -> Parquet:
    """25 hours of a day, and one of the next."""
    storage = Parquet(str(tmp_path / "flights"), partition=HOURS, partition_on={"hour": "%Y-%m-%dT%H%z"})
    day = Partition(DAYS, DAY)
    hours = [*HOURS.keys(day.start, day.end), HOURS.parse("2013-11-04T00:00-05:00")]
    storage.save({hour: pa.table({"n": [number]}) for number, hour in enumerate(hours)})
    return storage


def test_paths_are_the_files_that_the_run_may_read(storage: Parquet, flights: Parquet, tmp_path: Path) -> None:
    airports = Parquet(str(tmp_path))
    run = OpenRun(storage, inputs={"flights": flights, "airports": airports})
    partition = run.make()
    paths = partition.paths("flights")
    assert len(paths) == 25
    assert sorted(pl.read_parquet(paths)["n"]) == list(range(25))
    assert partition.paths("airports") == [airports.path]
    assert partition.where("airports") == "TRUE"
    pl.read_parquet(paths).group_by(pl.lit("EWR").alias("origin")).agg(pl.sum("n")).write_parquet(
        f"{partition.staging}/0.parquet"
    )
    assert run.published()["unseen"] == ["what was read of flights: 25 partitions promised"]


def test_a_check_may_look_at_an_input(storage: Parquet, flights: Parquet) -> None:
    run = OpenRun(storage, inputs={"flights": flights}, checks=[SameRowCount("flights")])
    by_polars(run.make().staging)
    with pytest.raises(CheckError, match=r"row count of flights: 2 rows, .*expected"):
        run.published()


def test_where_is_the_same_partitions_in_sql(storage: Parquet, flights: Parquet) -> None:
    where = OpenRun(storage, inputs={"flights": flights}).make().where("flights", "duckdb")
    found = duckdb.execute(
        f"SELECT n FROM read_parquet('{flights.path}/*/*.parquet', hive_partitioning = true) WHERE {where} ORDER BY n"
    ).fetchall()
    assert [n for (n,) in found] == list(range(25))


def test_inputs_are_named_with_the_nearest(storage: Parquet, flights: Parquet) -> None:
    partition = OpenRun(storage, inputs={"flights": flights}).make()
    with pytest.raises(InvalidDefinitionError, match=r"'flight' is no input of delays; nearest: flights, of: flights"):
        partition.paths("flight")
    with pytest.raises(InvalidDefinitionError, match=r"SQL dialect 'duck' is not known; nearest: duckdb; expected one"):
        partition.where("flights", "duck")
    missing = OpenRun(storage, "2013-11-04", inputs={"flights": flights}).make()
    for name in ("paths", "where"):
        with pytest.raises(MissingInputError, match="input 'flights': 23 of 24 partitions are not stored"):
            getattr(missing, name)("flights")


def test_staging_needs_a_task_that_publishes_it(storage: Parquet) -> None:
    run = OpenRun(storage)
    with pytest.raises(InvalidDefinitionError, match=r"'notify' stages .*expected notify >> publish"):
        _ = run.context("notify")["partition"].staging
    with pytest.raises(InvalidDefinitionError, match=r"task 'make' is mapped \(map index 3\)"):
        _ = run.context("make", map_index=3)["partition"].staging
    with pytest.raises(InvalidDefinitionError, match="staged of asset 'delay'; nearest: delays"):
        run.make().staging_of("delay")
    run.dag.task_dict.pop("publish")
    with pytest.raises(InvalidDefinitionError, match=r"'delays' publishes nothing that is staged; expected Publish\("):
        _ = run.context("make")["partition"].staging


def test_what_makes_no_sense_is_refused_when_the_file_is_parsed(storage: Parquet, tmp_path: Path) -> None:
    foreign = Parquet(str(tmp_path / "x"), ownership="read-only")
    cases: list[tuple[dict[str, Any], str]] = [
        ({"storage": "/lake/x"}, r"storage='/lake/x' is no storage; expected for example Parquet"),
        ({"storage": foreign}, "has ownership='read-only', so no asset makes all of it"),
        ({"storage": storage, "inputs": {"flights": Asset("flights")}}, "input 'flights' is .* says not where it is"),
        ({"storage": storage, "rules": {"flights": None}}, "rules for 'flights', which is no input; expected inputs="),
        ({"storage": storage, "checks": ["delay"]}, "'delay' is no check"),
        ({"storage": Parquet(str(tmp_path / "x"), partition=HOURS)}, "it can't be that of"),
    ]
    for arguments, words in cases:
        with DAG("delays", schedule=Partitioned("@daily", DAYS)), pytest.raises(InvalidDefinitionError, match=words):
            Publish(asset=DELAYS, **arguments)


def test_the_form_in_the_xcom_is_json(storage: Parquet) -> None:
    run = OpenRun(storage)
    folder = run.make().staging
    ((_, form),) = run.xcoms.items()
    assert json.loads(json.dumps(form)) == form
    assert form["delays"]["attempt"]["nonce"] in folder
