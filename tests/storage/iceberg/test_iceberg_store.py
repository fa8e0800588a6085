"""Partitions of a table of Iceberg, in a SQL catalog, without Spark."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import attrs
import pyarrow as pa
import pytest
from pyiceberg.transforms import IdentityTransform

from airflow_partitions import PartitionAtRuntime, PartitionByInterval
from airflow_partitions.core.errors import (
    ConflictError,
    ForeignRowsError,
    InvalidDefinitionError,
    MissingInputError,
    NotStoredError,
    SchemaError,
    StorageError,
    StoredError,
)
from airflow_partitions.storage.iceberg.iceberg_store import IcebergStore
from airflow_partitions.storage.iceberg.table import new_table
from airflow_partitions.storage.iceberg.table.catalog import TableReference
from airflow_partitions.storage.iceberg.table.pin import pin
from airflow_partitions.storage.iceberg.table.snapshots import Snapshots
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.metadata.schema import SchemaRule
from airflow_partitions.storage.stores.store import Limits
from tests.storage.iceberg.rest_server import rest_server
from tests.storage.iceberg.tables import (
    DAYS,
    FLIGHTS,
    HOURS,
    MONTHS,
    NEW_YORK,
    SCHEMA,
    Try,
    history,
    numbers,
    reference,
    rows_of,
    save,
    store_of,
    table_of,
)

DAY, NEXT = "2013-01-01", "2013-01-02"


def directory(store: IcebergStore, key: str) -> str:
    return store.layout.directory_of(store.layout.definition.parse(key))


def test_a_partition_is_published_in_one_snapshot_that_says_whose_it_is(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    (metadata,) = Try.begin(store).write(DAY, rows_of(NEW_YORK, DAY, [1, 2, 3])).publish()
    assert metadata is not None
    assert (metadata.rows, metadata.commit, store.version()) == (3, 1, 1)
    (snapshot,) = table_of(store).snapshots()
    assert snapshot.summary is not None
    said = snapshot.summary.additional_properties
    assert (said["airflow.dag-id"], said["airflow.run-id"], said["airflow.try-number"]) == ("dag", "run", "1")
    assert json.loads(said["airflow.partition-keys"]) == [DAY]
    content = store.content(f"date={DAY}")
    assert content is not None
    assert content.metadata == metadata
    assert content.base == store.root == str(tmp_path / "warehouse/db/delays")
    assert all((Path(content.base) / name).stat().st_size == size for name, size in content.files.items())
    assert list(store.listed()) == [f"date={DAY}"]


def test_a_partition_replaces_its_own_rows_and_no_others(tmp_path: Path) -> None:
    store = store_of(tmp_path, FLIGHTS)
    save(store, {"2013-01-01|EWR": [1, 2], "2013-01-01|JFK": [3], "2013-01-02|EWR": [4]})
    save(store, {"2013-01-01|EWR": [5]}, "again")
    assert numbers(store) == [3, 4, 5]
    assert numbers(store, "2013-01-01|EWR") == [5]
    assert history(table_of(store)) == ["append", "overwrite"]
    rows = {name: content.metadata and content.metadata.rows for name, content in store.snapshot().items()}
    assert rows == {
        "date=2013-01-01/airport=EWR": 1,
        "date=2013-01-01/airport=JFK": 1,
        "date=2013-01-02/airport=EWR": 1,
    }
    selected = store.snapshot(accept=lambda name, text: name == "date" or text == "JFK")
    assert list(selected) == ["date=2013-01-01/airport=JFK"]
    assert list(store.snapshot(["date=2013-01-02/airport=EWR", "date=2013-01-03/airport=EWR"])) == [
        "date=2013-01-02/airport=EWR"
    ]


def test_fresh_tables_are_partitioned_so_that_keys_never_share_a_file(tmp_path: Path) -> None:
    for number, (definition, expected) in enumerate(
        [
            (DAYS, ["day"]),
            (MONTHS, ["month"]),
            (NEW_YORK, ["hour"]),
            (FLIGHTS, ["hour", "identity"]),
            (PartitionByInterval("@daily", timezone="Asia/Kolkata", start=DAY, name="date"), []),
        ]
    ):
        store = store_of(tmp_path, definition, table=reference(tmp_path, f"db.t{number}"))
        store.staging(Attempt("dag", "run", 1))
        assert [str(field.transform) for field in table_of(store).spec().fields] == expected


def test_a_spec_in_which_compaction_merges_keys_is_told_with_the_nearest_that_fits(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    save(store_of(tmp_path, DAYS), {DAY: [1]})
    with caplog.at_level(logging.WARNING):
        store_of(tmp_path, NEW_YORK).staging(Attempt("dag", "late", 1))
    assert "partitioned by days(ts)" in caplog.text
    assert "nearest spec that fits: hours(ts)" in caplog.text


def test_keys_of_another_zone_than_the_spec_are_replaced_alone(tmp_path: Path) -> None:
    utc = store_of(tmp_path, DAYS)
    utc.staging(Attempt("dag", "makes the table", 1))
    store = store_of(tmp_path, NEW_YORK)
    save(store, {DAY: [1, 2, 3], NEXT: [4, 5, 6]})
    save(store, {DAY: [7]}, "again")
    assert (numbers(store, DAY), numbers(store, NEXT)) == ([7], [4, 5, 6])


def test_hours_that_the_clock_shows_twice_are_two_partitions(tmp_path: Path) -> None:
    store = store_of(tmp_path, HOURS)
    early, late = "2013-11-03T01:00-04:00", "2013-11-03T01:00-05:00"
    save(store, {early: [1, 2], late: [3]})
    save(store, {late: []}, "again")
    assert (numbers(store, early), numbers(store, late)) == ([1, 2], [])


def test_an_empty_partition_stays_known_until_it_is_filled_or_dropped(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    save(store, {DAY: [1]})
    save(store, {DAY: [], NEXT: []}, "empties")
    assert len(table_of(store).snapshots()) == 2
    assert {
        name: (content.files, content.metadata and content.metadata.rows) for name, content in store.snapshot().items()
    } == {
        f"date={DAY}": ({}, 0),
        f"date={NEXT}": ({}, 0),
    }
    with pytest.raises(StoredError):
        Try.begin(store, "creates").write(DAY, rows_of(NEW_YORK, DAY, [1]), "create").publish()
    save(store, {DAY: [2]}, "fills")
    Try.begin(store, "drops").write(NEXT, None).publish()
    assert list(store.snapshot()) == [f"date={DAY}"]
    assert not [name for name in table_of(store).properties if name.startswith("airflow.empty.")]
    with pytest.raises(NotStoredError):
        Try.begin(store, "drops again").write(NEXT, None).publish()
    assert numbers(store) == [2]


def test_a_table_that_is_not_there_holds_nothing_until_it_is_written(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    assert (dict(store.snapshot()), dict(store.recorded_schema()), store.version()) == ({}, {}, 0)
    save(store, {DAY: []})
    assert list(store.snapshot()) == [f"date={DAY}"]
    assert store.recorded_schema() == SCHEMA


def test_stray_rows_are_refused_from_statistics_alone(tmp_path: Path) -> None:
    store = store_of(tmp_path, FLIGHTS)
    save(store, {"2013-01-01|EWR": [1]})
    day_after = rows_of(FLIGHTS, "2013-01-02|EWR", [2])
    elsewhere = rows_of(FLIGHTS, "2013-01-01|JFK", [2])
    nowhere = rows_of(FLIGHTS, "2013-01-01|EWR", [2], airport=pa.array([None], pa.string()))
    for number, (strays, message) in enumerate(
        [
            (day_after, r"ts 2013-01-02 05:00:00\+00:00"),
            (elsewhere, "airport JFK"),
            (nowhere, "nulls in airport"),
        ]
    ):
        work = Try.begin(store, f"run {number}").write("2013-01-01|EWR", strays)
        with pytest.raises(ForeignRowsError, match=message):
            work.publish()
    assert numbers(store) == [1]


def test_long_segments_are_told_apart_although_statistics_are_cut(tmp_path: Path) -> None:
    carriers = PartitionAtRuntime("airport")
    store = store_of(tmp_path, carriers, create=False)
    catalog = store.table.open()
    catalog.create_namespace("db")
    catalog.create_table(
        "db.delays", pa.schema([("ts", pa.timestamp("us", tz="UTC")), ("airport", pa.string()), ("v", pa.int64())])
    )
    names = [f"a name of an airport that is long, number {number}" for number in range(3)]
    for number, name in enumerate(names):
        rows = pa.table({"airport": [name], "v": [number]})
        Try.begin(store, name).write(name, rows).publish()
    save_again = pa.table({"airport": [names[1]], "v": [9]})
    Try.begin(store, "again").write(names[1], save_again).publish()
    assert numbers(store) == [0, 2, 9]
    assert len(store.snapshot()) == 3


def test_many_keys_are_published_in_one_snapshot(tmp_path: Path) -> None:
    store = store_of(tmp_path, DAYS)
    keys = [str(key) for key in DAYS.keys("2013-01-01", "2013-02-10")]
    save(store, {key: [number] for number, key in enumerate(keys)})
    save(store, {key: [number + 100] for number, key in enumerate(keys[1:])}, "again")
    assert len(table_of(store).snapshots()) == 2
    assert numbers(store) == [0, *range(100, 139)]
    assert len(store.snapshot(directories := [directory(store, key) for key in keys])) == len(directories) == 40


def test_files_of_an_older_partition_spec_are_found_by_range(tmp_path: Path) -> None:
    store = store_of(tmp_path, DAYS)
    save(store, {DAY: [1], NEXT: [2]})
    work = Try.begin(store, "slow").write(DAY, rows_of(DAYS, DAY, [3, 4]))
    with table_of(store).update_spec() as update:
        update.remove_field("ts_day")
        update.add_field("airport", IdentityTransform())
    work.publish()
    assert (numbers(store, DAY), numbers(store, NEXT)) == ([3, 4], [2])
    save(store, {DAY: [5]}, "new spec")
    assert (numbers(store, DAY), numbers(store, NEXT)) == ([5], [2])
    assert len({task.file.spec_id for task in table_of(store).scan().plan_files()}) == 2


def test_columns_come_in_the_same_commit_as_their_rows(tmp_path: Path) -> None:
    store = store_of(tmp_path, create=True)
    save(store, {DAY: [1]})
    wide = {**SCHEMA, "note": "string"}
    rows = rows_of(NEW_YORK, NEXT, [2], note=pa.array(["new"]))
    work = Try.begin(store, "wide").write(NEXT, rows, schema=wide, evolve=True)
    with pytest.raises(SchemaError, match="'note' is new"):
        work.publish(SchemaRule())
    assert "note" not in store.recorded_schema()
    work = Try.begin(store, "wide", 2).write(NEXT, rows, schema=wide, evolve=True)
    work.publish(SchemaRule(evolve=True))
    assert store.recorded_schema() == wide
    assert table_of(store).scan().to_arrow().sort_by("v")["note"].to_pylist() == [None, "new"]
    assert len(table_of(store).snapshots()) == 2


def test_declared_columns_may_be_written_before_the_table_has_them(tmp_path: Path) -> None:
    save(store_of(tmp_path), {DAY: [1]})
    wide = {**SCHEMA, "note": "string"}
    store = store_of(tmp_path, schema=wide)
    rows = rows_of(NEW_YORK, NEXT, [2], note=pa.array(["new"]))
    Try.begin(store, "wide").write(NEXT, rows, schema=wide).publish(SchemaRule(wide, evolve=True))
    assert store.recorded_schema() == wide


def test_manifests_that_name_no_file_any_more_are_left_out(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    for number in range(6):
        save(store, {DAY: [number]}, f"run {number}")
    table = table_of(store)
    head = table.current_snapshot()
    assert head is not None
    assert len(head.manifests(table.io)) == 2  # what is there, and what was replaced last
    assert head.summary is not None
    assert head.summary["total-records"] == "1"


def test_what_a_table_held_is_kept_for_reading(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    save(store, {DAY: [1, 2]})
    pin(table_of(store), tmp_path / "pin")
    save(store, {DAY: [3], NEXT: [4]}, "later")
    pinned = attrs.evolve(store, pin=str(tmp_path / "pin"))
    assert {name: content.metadata and content.metadata.rows for name, content in pinned.snapshot().items()} == {
        f"date={DAY}": 2
    }
    assert pinned.version() == 1
    with pytest.raises(InvalidDefinitionError, match="expected it as it is now"):
        pinned.staging(Attempt("dag", "run", 1))
    with pytest.raises(StorageError, match="was released"):
        attrs.evolve(store, pin=str(tmp_path / "gone")).snapshot()


def test_left_over_tries_expire(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    Try.begin(store).write(DAY, rows_of(NEW_YORK, DAY, [1]))
    now = datetime.now(UTC)
    assert store.expired(Limits(now - timedelta(days=1), now - timedelta(days=1))) == []
    expired = store.expired(Limits(now + timedelta(days=1), now + timedelta(days=1)))
    staging, data = expired
    assert (staging.parent.name, data.suffix) == ("staging", ".parquet")


def test_tables_that_are_not_there_and_catalogs_that_make_no_sense_are_told(tmp_path: Path) -> None:
    store = store_of(tmp_path, create=False)
    save(store_of(tmp_path, table=reference(tmp_path, "db.delayed")), {DAY: [1]})
    with pytest.raises(MissingInputError, match=r"no table 'db\.delays' in catalog 'lake'; nearest: 'db\.delayed'"):
        store.snapshot()
    with pytest.raises(InvalidDefinitionError, match="has no namespace"):
        TableReference("delays", "lake")
    with pytest.raises(InvalidDefinitionError, match="of type 'nessie', to which nobody commits without a JVM"):
        TableReference("db.t", "lake", {"type": "nessie", "uri": "http://127.0.0.1:9"}).load()
    with pytest.raises(InvalidDefinitionError, match="URI missing"):
        TableReference("db.t", "lake", {"type": "sql"}).load()
    with pytest.raises(StorageError, match="unable to open database file"):
        TableReference("db.t", "lake", {"type": "sql", "uri": f"sqlite:///{tmp_path}/no/catalog.db"}).load()
    with pytest.raises(StorageError, match="check the network"):
        TableReference("db.t", "lake", {"type": "rest", "uri": "http://127.0.0.1:9"}).load()
    assert "secret" not in repr(TableReference("db.t", "lake", {"uri": "sqlite://", "token": "secret"}))


def test_formats_that_can_not_be_written_are_told(tmp_path: Path) -> None:
    store = store_of(tmp_path, create=False)
    catalog = store.table.open()
    catalog.create_namespace("db")
    schema = pa.schema([("ts", pa.timestamp("us", tz="UTC")), ("airport", pa.string()), ("v", pa.int64())])
    catalog.create_table("db.delays", schema, properties={"format-version": "1"})
    with pytest.raises(InvalidDefinitionError, match="has format version 1; expected 2"):
        store.staging(Attempt("dag", "run", 1))
    with pytest.raises(InvalidDefinitionError, match="nobody said which columns"):
        store_of(tmp_path, schema=None, table=reference(tmp_path, "db.new")).staging(Attempt("dag", "run", 1))


def test_snapshots_are_walked_along_the_main_branch(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    save(store, {DAY: [1]})
    save(store, {DAY: [2]}, "two")
    table = table_of(store)
    first = table.snapshots()[0]
    table.manage_snapshots().rollback_to_snapshot(first.snapshot_id).commit()
    save(store, {NEXT: [3]}, "three")
    table = table_of(store)
    snapshots = Snapshots(table.metadata, table.io)
    assert [snapshot.sequence_number for snapshot in snapshots] == [3, 1]
    assert [snapshot.sequence_number for snapshot in snapshots.since(1) or []] == [3]
    assert numbers(store) == [1, 3]


def test_what_a_partition_says_changes_without_its_files(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    save(store, {DAY: [1], NEXT: []})
    for name, content in store.snapshot().items():
        assert content.metadata is not None
        work = Try.begin(store, f"meanwhile {name}").write(content.metadata.key, rows_of(NEW_YORK, DAY, []))
        metadata = attrs.evolve(content.metadata, user={"note": 1})
        store.describe(name, content, metadata)
        assert store.snapshot()[name] == attrs.evolve(content, metadata=metadata)
        with pytest.raises(ConflictError, match="was written or dropped meanwhile"):
            store.describe(name, content, attrs.evolve(metadata, user={"note": 2}))
        work.publish()  # who writes it at the same time does not notice


@pytest.mark.parametrize("rest", [False, True])
def test_writers_that_make_a_table_at_once_all_have_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rest: bool
) -> None:
    with rest_server(tmp_path) as server:
        own = {"table": TableReference("db.delays", "lake", server.properties)} if rest else {}
        one, other = store_of(tmp_path, **own), store_of(tmp_path, **own)
        partition = new_table.partition_by_keys

        def meanwhile(*arguments: Any) -> None:
            monkeypatch.setattr(new_table, "partition_by_keys", partition)
            save(other, {DAY: [1]}, "other")
            partition(*arguments)

        monkeypatch.setattr(new_table, "partition_by_keys", meanwhile)
        save(one, {NEXT: [2]}, "one")
        assert numbers(one) == [1, 2]


def test_a_catalog_of_folders_is_read_and_refused_as_an_output(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    save(store, {DAY: [1]})
    pin(table_of(store), tmp_path / "folders/db/delays")  # as Hadoop's catalog keeps its tables
    hadoop = TableReference("db.delays", "lake", {"type": "hadoop", "warehouse": str(tmp_path / "folders")})
    read = attrs.evolve(store, table=hadoop, create=False)
    assert list(read.snapshot()) == [f"date={DAY}"]
    for refused in (read.check_writable, lambda: read.staging(Attempt("dag", "run", 1))):
        with pytest.raises(InvalidDefinitionError, match="expected type 'rest', or 'sql'"):
            refused()
    with pytest.raises(MissingInputError, match=r"no table 'db\.other'"):
        attrs.evolve(hadoop, name="db.other").load()
    with pytest.raises(InvalidDefinitionError, match="says no warehouse"):
        TableReference("db.delays", "lake", {"type": "hadoop"}).load()


def test_a_store_that_was_looked_at_before_there_was_a_table_is_written(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    assert store.root == "db.delays"
    save(store, {DAY: [1]})
    assert store.root == str(tmp_path / "warehouse/db/delays")
