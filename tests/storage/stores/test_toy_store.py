"""A new kind of store is one new file: a description that names it, and the store. All of storage works on it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar
from uuid import uuid4

import attrs
import pyarrow as pa
import pytest

from airflow_partitions import PartitionByInterval, PartitionByProduct, PartitionBySequence, Selection
from airflow_partitions.core.errors import ConflictError, NotStoredError, SchemaError, StoredError
from airflow_partitions.storage import Commit, Consumer, Files, clean, compact, drop_older, field
from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.filesystem.filesystem import at
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.metadata.change import Change, superseded
from airflow_partitions.storage.metadata.partition_files import PartitionFiles
from airflow_partitions.storage.metadata.partition_metadata import PartitionMetadata
from airflow_partitions.storage.metadata.schema import SchemaRule
from airflow_partitions.storage.stores.folders import accepts
from airflow_partitions.storage.stores.leftovers import leftovers
from airflow_partitions.storage.stores.staging import DATA, STAGING, Staging, claim
from airflow_partitions.storage.stores.store import Accept, Limits, Store

if TYPE_CHECKING:
    from airflow_partitions.storage.filesystem.filesystem import Location


@attrs.frozen
class Toy(Files):
    """A dataset whose commits this process remembers, with its files in a file system in memory."""

    kind: ClassVar[str] = "toy"
    store: ClassVar[str] = f"{__name__}:open_toy"


@attrs.define
class ToyStore(Store):
    root: str
    partitions: dict[str, PartitionFiles] = attrs.field(factory=dict)
    schema: dict[str, str] = attrs.field(factory=dict)
    number: int = 0
    snapshots: int = 0

    def snapshot(
        self, directories: Sequence[str] | None = None, accept: Accept | None = None
    ) -> dict[str, PartitionFiles]:
        self.snapshots += 1
        selected = sorted(self.partitions) if directories is None else directories
        return {
            directory: self.partitions[directory]
            for directory in selected
            if directory in self.partitions and (accept is None or accepts(directory, accept))
        }

    def version(self) -> int:
        return self.number

    def staging(self, attempt: Attempt, directory: str = "") -> Staging:
        claim(self.place_of(attempt).folder, attempt)
        return self.place_of(attempt, directory, self.number)

    def place_of(self, attempt: Attempt, directory: str = "", base: int | None = None) -> Staging:
        files = at(self.root) / DATA / attempt.name
        return Staging(at(self.root) / STAGING / attempt.name, files / directory if directory else files, base)

    def _committed(
        self, changes: Sequence[Change], attempt: Attempt, base: int | None, rule: SchemaRule | None
    ) -> list[PartitionMetadata | None]:
        for change in changes:
            current = self.partitions.get(change.directory)
            change.check(current is not None, current and current.metadata, attempt, base)
        self.schema = self.schema if rule is None else rule.after(self.schema, changes)
        self.number += 1
        for change in changes:
            self._make(change, attempt)
        return [content and content.metadata for content in (self.partitions.get(c.directory) for c in changes)]

    def _make(self, change: Change, attempt: Attempt) -> None:
        current = self.partitions.pop(change.directory, None)
        if change.metadata is None:
            return
        names = {name: f"{str(change.folder).removeprefix(self.root)[1:]}/{name}" for name in change.files}
        files = {names[name]: size for name, size in change.files.items()}
        metadata = attrs.evolve(change.metadata, commit=self.number).renamed(names)
        if change.mode == "append" and current is not None:
            kept = current.files.keys() - superseded(current.files, attempt, change.key)
            files |= {name: current.files[name] for name in kept}
            metadata = metadata.joined(current.metadata, kept, files)
        self.partitions[change.directory] = PartitionFiles(self.root, dict(sorted(files.items())), metadata)

    def _described(self, directory: str, content: PartitionFiles, metadata: PartitionMetadata) -> bool:
        if self.partitions.get(directory) != content:
            return False
        self.partitions[directory] = attrs.evolve(content, metadata=metadata)
        return True

    def expired(self, limits: Limits) -> list[Location]:
        root = at(self.root)
        return leftovers(root, root / "_log", limits.staged)


_STORES: dict[str, ToyStore] = {}


def open_toy(dataset: Dataset) -> ToyStore:
    return _STORES.setdefault(dataset.path, ToyStore(dataset.path))


DAYS = PartitionByInterval("@daily", start="2013-01-01", name="date")
KEYS = PartitionByProduct([DAYS, PartitionBySequence(["EWR", "JFK"], name="airport")])
FRAME = pa.table({"n": [1, 2, 3]})


@pytest.fixture
def toys() -> Toy:
    return Toy(f"memory://{uuid4().hex}/toys", partition=KEYS)


def key(day: int, airport: str = "EWR") -> str:
    return f"2013-01-{day:02}|{airport}"


def test_it_saves_lists_and_reads(toys: Toy) -> None:
    saved = toys.save({key(1): FRAME, key(2): lambda: FRAME.slice(1), key(2, "JFK"): FRAME.slice(0, 0)})
    assert [each.rows for each in saved.values()] == [3, 2, 0]
    assert [str(partition.key) for partition in toys.list()] == [key(1), key(2), key(2, "JFK")]
    assert toys.exists(key(2))
    assert not toys.exists(key(3))
    assert toys.read(as_="arrow", full_scan=True).select(["n", "airport"]).to_pylist() == [
        {"n": n, "airport": "EWR"} for n in (1, 2, 3, 2, 3)
    ]
    assert toys.load([key(2)], "pandas")[key(2)]()["n"].to_list() == [2, 3]


def test_it_filters(toys: Toy) -> None:
    toys.save({key(day, airport): FRAME for day in (1, 2, 3) for airport in ("EWR", "JFK")})
    where = field("date").between("2013-01-02", "2013-01-03") & (field("airport") == "JFK")
    assert [str(partition.key) for partition in toys.list(where)] == [key(2, "JFK")]
    assert toys.read(where & (field("n") > 1), "arrow").num_rows == 2


def test_it_commits_all_or_nothing(toys: Toy) -> None:
    toys.save({key(1): FRAME})
    with pytest.raises(StoredError, match="is stored already"):
        toys.save({key(2): FRAME, key(1): FRAME})
    with pytest.raises(SchemaError, match="'n' is missing"):
        toys.save({key(2): FRAME.rename_columns(["m"])})
    assert [str(partition.key) for partition in toys.list()] == [key(1)]
    toys.save({key(1): FRAME, key(2): FRAME}, mode="append")
    assert [partition.rows for partition in toys.list()] == [6, 3]
    slow = Commit(toys)
    with Commit(toys) as commit:
        commit.truncate(key(1))
        commit.drop(key(2))
    assert [partition.rows for partition in toys.list()] == [0]
    slow.truncate(key(1))
    with pytest.raises(ConflictError, match="nothing was changed"):
        slow.publish()
    with pytest.raises(NotStoredError), Commit(toys) as commit:
        commit.drop(key(2))


def test_it_is_consumed_and_kept_small(toys: Toy, tmp_path: Path) -> None:
    toys.save({key(day): FRAME for day in (1, 2)})
    with Consumer(toys, state=str(tmp_path)).take() as batch:
        assert batch.keys == [key(1), key(2)]
        assert batch.load(as_="arrow")[key(1)].num_rows == 3
    toys.save({key(3): FRAME})
    assert Consumer(toys, state=str(tmp_path)).take().keys == [key(3)]
    toys.save({key(3): FRAME}, mode="append")
    (compacted,) = compact(toys, settled=timedelta(0), now=datetime.now(UTC) + timedelta(hours=1))
    assert (compacted.files, compacted.into, compacted.done) == (2, 1, True)
    assert drop_older(toys, timedelta(days=1), keep=2) == [key(1)]
    assert [partition.rows for partition in toys.list()] == [3, 6]


def test_es10_it_has_an_index(toys: Toy) -> None:
    toys.save({key(day): FRAME for day in (1, 2)})
    indexed = attrs.evolve(toys, schema={"n": "bigint"}, index=("n",))
    indexed.save({key(3): FRAME})
    indexed.save({key(3): FRAME.slice(2)}, mode="append")
    assert [one.key for one in indexed.build_index(field("date") < "2013-01-02")] == [key(1)]
    opened = {each.directory[:15]: len(each.metadata["index"]) for each in indexed.list()}
    assert opened == {"date=2013-01-01": 1, "date=2013-01-02": 0, "date=2013-01-03": 1}
    assert indexed.read(field("n") == 3, "arrow").num_rows == 4


def test_it_is_cleaned_up(toys: Toy) -> None:
    Commit(toys).stage(key(1))
    assert clean(toys) == []
    later = datetime.now(UTC) + timedelta(days=8)
    assert len(clean(toys, now=later, dry_run=True)) == len(clean(toys, now=later)) == 1
    assert clean(toys, now=later) == []


def test_it_is_pinned_and_comes_back_from_json(toys: Toy) -> None:
    toys.save({key(1): FRAME})
    frozen = toys.freeze("a run")
    toys.save({key(2): FRAME})
    again = Files.from_json(json.loads(json.dumps(frozen.to_json())))
    assert again == frozen
    assert [str(partition.key) for partition in again.list()] == [key(1)]
    assert len(list(again.release().list())) == 2


def test_it_is_asked_once_for_many_keys(toys: Toy) -> None:
    toys.save({key(day): FRAME for day in range(1, 11)})
    store = open_toy(toys)
    for where in (Selection.of(KEYS, *map(key, range(5, 15))), [key(day) for day in range(5, 15)]):
        before = store.snapshots
        assert len(list(toys.list(where))) == len(toys.get_many(where)) == 6
        assert store.snapshots == before + 2
