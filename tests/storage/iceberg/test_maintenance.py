"""Tables that are kept small say and hold the same as before."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import attrs
import pytest
from pyiceberg.expressions import EqualTo
from pyiceberg.manifest import ManifestFile

from airflow_partitions.core.errors import ConflictError
from airflow_partitions.storage.filesystem.filesystem import remove
from airflow_partitions.storage.iceberg.iceberg_store import IcebergStore
from airflow_partitions.storage.iceberg.table import maintenance
from airflow_partitions.storage.iceberg.table.compaction import SmallFiles
from airflow_partitions.storage.iceberg.table.key_filter import KeyFilter
from airflow_partitions.storage.iceberg.table.maintenance import expire_snapshots, orphans, rewrite_manifests
from airflow_partitions.storage.iceberg.table.pin import pin
from airflow_partitions.storage.iceberg.table.planned_files import PlannedFiles
from airflow_partitions.storage.iceberg.table.tags import tag, untag
from airflow_partitions.storage.stores.store import Limits
from tests.storage.iceberg.tables import DAYS, NEW_YORK, Try, history, numbers, rows_of, save, store_of

DAY, NEXT = "2013-01-01", "2013-01-02"
KEYS = [str(key) for key in DAYS.keys("2013-01-01", "2013-01-21")]


def later() -> datetime:
    return datetime.now(UTC) + timedelta(hours=1)


def keys_of(store: IcebergStore) -> KeyFilter:
    return KeyFilter.of(store.layout, store.columns, store.table.load().schema())


def test_expired_snapshots_take_nothing_with_them_that_partitions_say(tmp_path: Path) -> None:
    store = store_of(tmp_path, DAYS)
    for number, key in enumerate(KEYS[:4]):
        save(store, {key: [number]}, f"run {number}")
    save(store, {KEYS[0]: [10], KEYS[1]: []}, "again")
    before = dict(store.snapshot())
    assert len(expire_snapshots(store.table, keys_of(store), later(), dry_run=True)) == 4
    assert len(store.table.load().snapshots()) == 5
    assert len(expire_snapshots(store.table, keys_of(store), later())) == 4
    assert len(store.table.load().snapshots()) == 1
    assert dict(store.snapshot()) == before
    assert expire_snapshots(store.table, keys_of(store), later()) == []
    save(store, {KEYS[0]: [11]}, "after")
    Try.begin(store, "after", 1).write(KEYS[2], None).publish()
    expire_snapshots(store.table, keys_of(store), later())
    rows = {name: content.metadata and content.metadata.rows for name, content in store.snapshot().items()}
    assert rows == {f"date={KEYS[0]}": 1, f"date={KEYS[1]}": 0, f"date={KEYS[3]}": 1}


def test_young_snapshots_and_those_with_a_tag_are_kept(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    save(store, {DAY: [1]})
    number = tag(store.table, "run of today")
    pin(store.table.load(), tmp_path / "pin")
    save(store, {DAY: [2]}, "later")
    assert tag(store.table, "run of today") == number
    save(store, {DAY: [3]}, "latest")
    assert expire_snapshots(store.table, keys_of(store), datetime.now(UTC) - timedelta(hours=1)) == []
    assert len(expire_snapshots(store.table, keys_of(store), later())) == 1
    for path in orphans(store.table, later()):
        remove(path)
    content = attrs.evolve(store, pin=str(tmp_path / "pin")).content(f"date={DAY}")
    assert content is not None
    assert all(Path(path).exists() for path in content.sizes)
    untag(store.table, "run of today")
    untag(store.table, "run of today")
    assert expire_snapshots(store.table, keys_of(store), later()) == [number]


def test_files_that_nobody_names_are_orphans_once_they_are_old(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    assert store.expired(Limits(later(), later())) == []
    save(store, {DAY: [1], NEXT: [2]})
    save(store, {DAY: [3]}, "again")
    Try.begin(store, "killed").write(DAY, rows_of(NEW_YORK, DAY, [4]))
    assert orphans(store.table, datetime.now(UTC) - timedelta(hours=1)) == []
    (left,) = orphans(store.table, later())
    assert "/data/" in str(left)
    expired = store.expired(Limits(later(), later()))
    staging = (tmp_path / "warehouse/db/_delays/staging").iterdir()
    assert sorted(map(str, expired)) == sorted([str(left), *map(str, staging)])
    expire_snapshots(store.table, keys_of(store), later())
    paths = orphans(store.table, later())
    assert {path.parent.name == "metadata" for path in paths} == {True, False}
    for path in paths:
        remove(path)
    assert numbers(store) == [2, 3]
    assert orphans(store.table, later()) == []
    save(store, {NEXT: [5]}, "after")
    assert numbers(store) == [3, 5]


def test_manifests_are_read_only_where_a_try_has_left_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, reads = store_of(tmp_path), Counter[str]()
    fetch = ManifestFile.fetch_manifest_entry
    for number, run in enumerate(["first", "second"]):
        save(store, {DAY: [number]}, run)

    def counted(manifest: ManifestFile, *arguments: Any, **more: Any) -> Any:
        reads["manifests"] += 1
        return fetch(manifest, *arguments, **more)

    monkeypatch.setattr(ManifestFile, "fetch_manifest_entry", counted)
    assert store.expired(Limits(later(), later())) == []
    assert not reads
    Try.begin(store, "killed").write(DAY, rows_of(NEW_YORK, DAY, [4]))
    reads.clear()
    assert len(store.expired(Limits(later(), later()))) == 2
    assert reads["manifests"] > 0


def test_manifests_are_rewritten_to_a_good_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maintenance, "MANIFEST_FILES", 8)
    store = store_of(tmp_path, DAYS)
    for number, key in enumerate(KEYS):
        save(store, {key: [number]}, f"run {number}")
    before = dict(store.snapshot())
    work = Try.begin(store, "meanwhile").write(KEYS[0], rows_of(DAYS, KEYS[0], [100]))
    assert rewrite_manifests(store.table, dry_run=True) == (20, 3)
    assert rewrite_manifests(store.table) == (20, 3)
    assert rewrite_manifests(store.table) == (3, 3)
    table = store.table.load()
    snapshot = table.current_snapshot()
    assert snapshot is not None
    manifests = snapshot.manifests(table.io)
    assert sorted(manifest.existing_files_count or 0 for manifest in manifests) == [4, 8, 8]
    assert dict(store.snapshot()) == before
    assert history(table)[-1] == "replace"
    assert snapshot.summary is not None
    assert snapshot.summary["total-records"] == "20"
    where = keys_of(store).condition(DAYS.parse(KEYS[3]))
    assert len(list(table.scan(row_filter=where).plan_files())) == 1
    work.publish()  # to which it is no conflict
    assert numbers(store) == [*range(1, 20), 100]


def planned(store: IcebergStore, key: str) -> PlannedFiles:
    return store.snapshot([f"date={key}"])[f"date={key}"]


def test_compaction_never_merges_keys(tmp_path: Path) -> None:
    save(store_of(tmp_path, DAYS), {"2013-02-01": [0]})  # partitioned by days of UTC
    store = store_of(tmp_path, NEW_YORK)
    for number in range(3):
        for key in (DAY, NEXT):
            rows = rows_of(NEW_YORK, key, range(number, 18, 3))
            Try.begin(store, f"{key} {number}").write(key, rows, "append").publish()
    before = {name: content.metadata for name, content in store.snapshot([f"date={DAY}", f"date={NEXT}"]).items()}
    small = SmallFiles(store.table, keys_of(store), NEW_YORK.parse(DAY))
    assert small.count(planned(store, DAY))[0] == 6
    late = Try.begin(store, "meanwhile").write(NEXT, rows_of(NEW_YORK, NEXT, [100]))
    assert small.compact(tmp_path / "staging", "compaction-1") == 2
    assert small.count(planned(store, DAY)) == (0, 0)
    content = store.content(f"date={DAY}")
    assert content is not None
    assert content.metadata is not None
    assert (len(content.files), content.metadata.rows) == (2, 18)
    assert content.metadata.commit == before[f"date={DAY}"].commit  # type: ignore[union-attr]
    assert numbers(store, DAY) == [*range(18)]
    assert store.content(f"date={NEXT}").metadata == before[f"date={NEXT}"]  # type: ignore[union-attr]
    late.publish()
    save(store, {DAY: [7]}, "over it")
    assert (numbers(store, DAY), numbers(store, NEXT)) == ([7], [100])


def test_compaction_leaves_what_is_written_meanwhile_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = store_of(tmp_path, DAYS)
    for number in range(3):
        Try.begin(store, f"run {number}").write(DAY, rows_of(DAYS, DAY, [number]), "append").publish()
    small = SmallFiles(store.table, keys_of(store), DAYS.parse(DAY))
    write = SmallFiles._write

    def meanwhile(self: SmallFiles, *arguments: object) -> None:
        write(self, *arguments)  # type: ignore[arg-type]
        store.table.load().delete(EqualTo("v", 1))

    monkeypatch.setattr(SmallFiles, "_write", meanwhile)
    with pytest.raises(ConflictError, match="compact it another time"):
        small.compact(tmp_path / "staging", "compaction-1")
    assert numbers(store) == [0, 2]
