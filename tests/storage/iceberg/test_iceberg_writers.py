"""Several writers of a table of Iceberg: tries, runs, and others."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import attrs
import pyarrow as pa
import pytest
import requests
from pyiceberg.expressions import EqualTo
from pyiceberg.types import StringType

from airflow_partitions.core.errors import (
    ConflictError,
    LayoutError,
    ResultError,
    StorageError,
    StoredError,
    UnknownOutcomeError,
)
from airflow_partitions.storage.iceberg.iceberg_store import IcebergStore
from airflow_partitions.storage.iceberg.table.catalog import TableReference
from airflow_partitions.storage.iceberg.table.new_snapshot import TableChange
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.metadata.schema import SchemaRule
from tests.storage.iceberg.tables import (
    DAYS,
    MONTHS,
    NEW_YORK,
    SCHEMA,
    Try,
    numbers,
    rows_of,
    save,
    store_of,
    table_of,
)

DAY, NEXT = "2013-01-01", "2013-01-02"


def foreign(store: IcebergStore, rows: pa.Table) -> None:
    """Somebody else appends *rows*."""
    table_of(store).append(rows)


def test_an_older_try_does_not_replace_what_a_newer_one_published(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    older = Try.begin(store, "run", 1).write(DAY, rows_of(NEW_YORK, DAY, [1]))
    newer = Try.begin(store, "run", 2).write(DAY, rows_of(NEW_YORK, DAY, []))
    newer.publish()
    with pytest.raises(ConflictError, match="the older try 1"):
        older.publish()
    assert numbers(store, DAY) == []
    save(store, {DAY: [3]}, "run", 3)
    assert numbers(store, DAY) == [3]


def test_of_two_runs_that_write_a_key_the_first_one_wins(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    one = Try.begin(store, "one").write(DAY, rows_of(NEW_YORK, DAY, [1]))
    two = Try.begin(store, "two").write(DAY, rows_of(NEW_YORK, DAY, [2]))
    other = Try.begin(store, "other").write(NEXT, rows_of(NEW_YORK, NEXT, [3]))
    two.publish()
    other.publish()
    with pytest.raises(ConflictError, match="was published by try 1 of run 'two'"):
        one.publish()
    assert numbers(store) == [2, 3]


def test_a_try_that_was_killed_after_its_commit_finds_it(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    work = Try.begin(store).write(DAY, rows_of(NEW_YORK, DAY, [1]))
    first = store.commit(work.changes, work.attempt, work.staging.base)
    assert store.commit(work.changes, work.attempt, work.staging.base) == first
    assert len(table_of(store).snapshots()) == 1


@pytest.mark.parametrize("made", [True, False])
def test_an_answer_that_is_lost_is_looked_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: bool) -> None:
    store = store_of(tmp_path)
    work = Try.begin(store).write(DAY, rows_of(NEW_YORK, DAY, [1]))
    commit, calls = TableChange.commit, []

    def lossy(self: TableChange) -> None:
        calls.append(self)
        if len(calls) > 1 or made:
            commit(self)
        if len(calls) == 1:
            raise requests.ConnectionError("the line is dead")

    monkeypatch.setattr(TableChange, "commit", lossy)
    work.publish()
    assert (len(calls), numbers(store)) == (1 if made else 2, [1])
    assert len(table_of(store).snapshots()) == 1


def test_an_outcome_that_nobody_knows_is_told_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = store_of(tmp_path)
    work = Try.begin(store).write(DAY, rows_of(NEW_YORK, DAY, [1]))

    def lost(self: TableChange) -> None:
        monkeypatch.setattr(TableReference, "find", unreachable)
        raise requests.ConnectionError("the line is dead")

    def unreachable(self: TableReference) -> None:
        raise StorageError("the line is dead")

    monkeypatch.setattr(TableChange, "commit", lost)
    with pytest.raises(UnknownOutcomeError, match="the line is dead"):
        work.publish()


def test_a_commit_that_is_outrun_looks_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = store_of(tmp_path)
    work = Try.begin(store).write(DAY, rows_of(NEW_YORK, DAY, [1]))
    commit, calls = TableChange.commit, []

    def outrun(self: TableChange) -> None:
        calls.append(self)
        if len(calls) == 1:  # another key is published by someone who does not wait
            foreign(store, rows_of(NEW_YORK, NEXT, [2]))
        if len(calls) == 2:  # a branch moves on, which no requirement speaks of
            table = table_of(store)
            head = table.current_snapshot()
            assert head is not None
            table.manage_snapshots().create_branch(head.snapshot_id, "aside").commit()
            table_of(store).append(rows_of(NEW_YORK, NEXT, [3]), branch="aside")
        commit(self)

    monkeypatch.setattr(TableChange, "commit", outrun)
    work.publish()
    assert (len(calls), numbers(store)) == (3, [1, 2])
    manifests = {path.name for path in (tmp_path / "warehouse/db/delays/metadata").glob("*-m*.avro")}
    metadata = table_of(store)
    named = {
        Path(manifest.manifest_path).name
        for snapshot in metadata.snapshots()
        for manifest in snapshot.manifests(metadata.io)
    }
    assert manifests == named  # what was written for nothing is gone


def test_rows_of_others_are_conflicts_unless_they_are_elsewhere_or_only_compacted(tmp_path: Path) -> None:
    store = store_of(tmp_path, DAYS)
    save(store, {DAY: [1], NEXT: [2]})
    work = Try.begin(store, "late").write(DAY, rows_of(DAYS, DAY, [3]))
    foreign(store, rows_of(DAYS, NEXT, [4]))
    work.publish()
    assert numbers(store) == [2, 3, 4]
    work = Try.begin(store, "later").write(DAY, rows_of(DAYS, DAY, [5]))
    foreign(store, rows_of(DAYS, DAY, [6]))
    with pytest.raises(ConflictError, match="was changed by others in snapshot"):
        work.publish()
    work = Try.begin(store, "latest").write(DAY, rows_of(DAYS, DAY, [7]))
    table_of(store).delete(EqualTo("v", 6))
    with pytest.raises(ConflictError, match="was changed by others in snapshot"):
        work.publish()
    assert numbers(store) == [2, 3, 4]


def test_rows_that_others_added_make_a_partition_that_says_nothing_about_itself(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    save(store, {DAY: [1]})
    foreign(store, rows_of(NEW_YORK, DAY, [2]))
    foreign(store, rows_of(NEW_YORK, NEXT, [3]))
    assert {name: (len(each.files), each.metadata) for name, each in store.snapshot().items()} == {
        f"date={DAY}": (2, None),
        f"date={NEXT}": (1, None),
    }
    save(store, {DAY: [4]}, "again")
    assert numbers(store) == [3, 4]


def test_files_across_the_edge_are_refused_with_the_way_out(tmp_path: Path) -> None:
    store = store_of(tmp_path, MONTHS)
    save(store, {"2013-01-01": [1, 2, 3]})
    days = store_of(tmp_path, DAYS)
    work = Try.begin(days).write(DAY, rows_of(DAYS, DAY, [4]))
    expected = (
        r"DELETE FROM db.delays WHERE ts >= TIMESTAMP '2013-01-01 00:00:00\+00:00' AND ts < TIMESTAMP"
        r" '2013-01-02 00:00:00\+00:00'"
    )
    with pytest.raises(LayoutError, match=expected):
        work.publish()
    assert numbers(store) == [1, 2, 3]
    assert len(days.snapshot()) == 21  # whose rows may be in it
    work = Try.begin(days, "appends").write(DAY, rows_of(DAYS, DAY, [5]), "append")
    work.publish()
    assert numbers(store) == [1, 2, 3, 5]


def test_a_definition_of_other_keys_over_the_same_table_is_someone_else(tmp_path: Path) -> None:
    utc, local = store_of(tmp_path, DAYS), store_of(tmp_path, NEW_YORK)
    save(utc, {DAY: [1]})
    work = Try.begin(local).write("2013-01-01", rows_of(NEW_YORK, "2013-01-01", [2]))
    save(utc, {NEXT: [3]}, "meanwhile")  # its first hours are those of New York's first of January
    with pytest.raises(ConflictError, match="by others"):
        work.publish()
    assert all(content.metadata is None for content in local.snapshot().values())


def test_it_appends_and_a_later_try_appends_anew(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    Try.begin(store, "one").write(DAY, rows_of(NEW_YORK, DAY, [1]), "append").publish()
    Try.begin(store, "two").write(DAY, rows_of(NEW_YORK, DAY, [2, 3]), "append").publish()
    (metadata,) = Try.begin(store, "two", 2).write(DAY, rows_of(NEW_YORK, DAY, [4]), "append").publish()
    assert metadata is not None
    assert (numbers(store), metadata.rows, metadata.files) == ([1, 4], 2, 2)
    content = store.content(f"date={DAY}")
    assert content is not None
    assert content.metadata == metadata
    with pytest.raises(ConflictError, match="the older try 1"):
        Try.begin(store, "two").write(DAY, rows_of(NEW_YORK, DAY, [5]), "append").publish()


def test_all_changes_are_made_or_none(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    save(store, {DAY: [1]})
    work = Try.begin(store, "creates").write(NEXT, rows_of(NEW_YORK, NEXT, [2]), "create")
    work.write(DAY, rows_of(NEW_YORK, DAY, [3]), "create")
    with pytest.raises(StoredError, match="is stored already"):
        work.publish()
    assert numbers(store) == [1]
    work = Try.begin(store, "several").write(NEXT, rows_of(NEW_YORK, NEXT, [4]), "create").write(DAY, None)
    assert [metadata and metadata.rows for metadata in work.publish()] == [1, None]
    assert list(store.snapshot()) == [f"date={NEXT}"]


def test_columns_that_took_the_place_of_others_meanwhile_are_conflicts(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    save(store, {DAY: [1]})
    rows = rows_of(NEW_YORK, DAY, [2], note=pa.array(["new"]))
    work = Try.begin(store, "wide").write(DAY, rows, schema={**SCHEMA, "note": "string"}, evolve=True)
    with table_of(store).update_schema() as update:
        update.add_column("remark", StringType())
    with pytest.raises(ConflictError, match=r"columns of table 'db\.delays' have changed"):
        work.publish(SchemaRule(evolve=True))
    late = Try.begin(store, "late").write(DAY, rows_of(NEW_YORK, DAY, [3]))
    with table_of(store).update_schema() as update:
        update.add_column("another", StringType())
    late.publish()
    assert numbers(store) == [3]


def test_snapshots_that_expired_meanwhile_are_a_conflict(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    save(store, {DAY: [1]})
    work = Try.begin(store, "slow").write(DAY, rows_of(NEW_YORK, DAY, [2]))
    for number in range(3):
        save(store, {NEXT: [number]}, f"run {number}")
    table_of(store).maintenance.expire_snapshots().older_than(datetime.now(UTC) + timedelta(hours=1)).commit()
    with pytest.raises(ConflictError, match="have expired"):
        work.publish()
    assert store.snapshot()[f"date={DAY}"].metadata is None
    save(store, {DAY: [3]}, "again")
    assert numbers(store, DAY) == [3]


def test_files_that_are_not_what_the_job_said_are_refused(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    work = Try.begin(store).write(DAY, rows_of(NEW_YORK, DAY, [1]))
    work.changes[0] = attrs.evolve(work.changes[0], files={"data/other.parquet": 3})
    with pytest.raises(ResultError, match="are not those the job wrote"):
        work.publish()


def test_a_try_has_one_place_to_write(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    attempt = Attempt("dag", "run", 1)
    store.staging(attempt)
    with pytest.raises(ConflictError, match="is in use"):
        store.staging(attempt)
