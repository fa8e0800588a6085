"""Datasets and plain dictionaries, after whatever sequence of operations: they hold the same."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import attrs
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule

from airflow_partitions.core.errors import (
    FilterError,
    InvalidDefinitionError,
    MissingInputError,
    PartitionError,
    SchemaError,
    StorageError,
)
from airflow_partitions.storage import Files, Filter, clean, compact, drop_older, field
from airflow_partitions.storage.filesystem.bookkeeping import bookkeeping
from airflow_partitions.storage.filesystem.filesystem import sizes
from airflow_partitions.storage.stores import commit_log, log_checkpoint
from tests.hunt import effort
from tests.storage.commit.publisher import OWN, check_log, check_records
from tests.storage.lakes import questions
from tests.storage.machine import WHICH, Writing
from tests.storage.model import SCHEMA, Change, Part, check, check_rows, differ

LATER = datetime(2100, 1, 1, tzinfo=UTC)


def tree(root: Path) -> dict[str, tuple[int, int]]:
    """All that is below *root*, so that every change shows."""
    paths = (Path(folder, name) for folder, below, names in os.walk(root) for name in (*below, *names))
    return {str(path): (path.stat().st_ino, path.stat().st_mtime_ns) for path in paths}


class Machine(Writing):
    """What is written is looked at, frozen, looked after and moved."""

    @invariant()
    def tables_hold_what_they_should(self) -> None:
        for table in self.tables:
            check(table.files, table.holdings)

    @invariant()
    def listings_hold_what_they_did(self) -> None:
        for files, holdings, cleaned in self.frozen:
            if not cleaned:
                check(files, holdings)
            else:  # there is all of it, or an error: never something else
                with suppress(PartitionError):
                    check_rows(files, holdings)

    @rule(data=st.data(), which=WHICH)
    def ask_for_partitions(self, data: st.DataObject, which: int) -> None:
        table = self.tables[which]
        where, holds = data.draw(questions(self.lake))
        expected = {key for key in table.holdings if holds(key)}
        for form in (where, Filter.parse(str(where)), Filter.from_json(json.loads(json.dumps(where.to_json())))):
            assert {each.key for each in table.files.list(form)} == expected
        keys = self.draw_keys(data)
        assert set(table.files.get_many(keys)) == set(keys) & set(table.holdings)

    @rule(data=st.data(), which=WHICH, limit=st.integers(0, 6), few=st.booleans(), either=st.booleans())
    def ask_for_rows(self, data: st.DataObject, which: int, limit: int, few: bool, either: bool) -> None:
        table = self.tables[which]
        where, holds = data.draw(questions(self.lake))
        rows = field("n") == limit if few else field("n") < limit
        expected = []
        for key, holding in table.holdings.items():
            for n, _ in holding.rows:
                fits = n == limit if few else n < limit
                if (holds(key) or fits) if either else (holds(key) and fits):
                    expected.append(n)
        try:
            answer = table.files.read(where | rows if either else where & rows, "arrow", columns=["n"], full_scan=True)
        except MissingInputError:  # nothing tells the schema
            assert table.files.schema is None
            assert not expected
        except FilterError:  # a range of folders can't be told to an engine
            assert either
        except SchemaError:
            assert differ(table.files, table.holdings)
        else:
            assert sorted(answer["n"].to_pylist()) == sorted(expected)

    @rule(which=WHICH, number=st.integers(0, 6), column=st.sampled_from(["n", "x"]), most=st.booleans())
    def ask_by_index(self, which: int, number: int, column: str, most: bool) -> None:
        table = self.tables[which]
        value: int | str = number if column == "n" else f"x{number}"
        where = field(column) != value if most else field(column) == value
        rows = [dict(zip(SCHEMA, row, strict=True)) for holding in table.holdings.values() for row in holding.rows]
        fits = [row["n"] for row in rows if row[column] is not None and (row[column] != value) == most]
        try:
            answer = table.files.read(where, "arrow", columns=["n"])
        except MissingInputError:  # nothing tells the schema
            assert table.files.schema is None
        except FilterError:
            assert column not in {*table.files.index} & dict(table.files.schema or table.columns).keys()
        except SchemaError:
            assert differ(table.files, table.holdings)
        else:
            assert sorted(answer["n"].to_pylist()) == sorted(fits)

    @rule(data=st.data(), which=WHICH, some=st.booleans())
    def build_index(self, data: st.DataObject, which: int, some: bool) -> None:
        files = self.tables[which].files
        where = data.draw(questions(self.lake))[0] if some else None
        unknown = {*files.index} - dict(files.schema or self.tables[which].columns).keys()
        before = tree(self.root)
        try:
            plan = files.build_index(where, dry_run=True)
            assert tree(self.root) == before
            assert files.build_index(where) == [attrs.evolve(one, done=True) for one in plan]
        except InvalidDefinitionError:
            assert unknown
        except SchemaError:
            assert differ(files, self.tables[which].holdings)
        else:
            assert not unknown
            assert files.build_index(where, dry_run=True) == []
            for partition in files.list(where):
                assert set(partition.metadata.get("index", ())) == (set(files.index) if partition.files else set())

    @rule(which=WHICH, run=st.sampled_from(["one", "two"]))
    def freeze(self, which: int, run: str) -> None:
        table = self.tables[which]
        files = table.files.freeze(run)
        if all(files.pin != other.pin for other, _, _ in self.frozen):
            self.frozen.append((files, dict(table.holdings), False))

    @rule(data=st.data())
    @precondition(lambda self: self.frozen)
    def release(self, data: st.DataObject) -> None:
        files, _, _ = self.frozen.pop(data.draw(st.integers(0, len(self.frozen) - 1)))
        assert files.release().pin is None
        with pytest.raises(StorageError):
            list(files.list())

    @rule(which=WHICH, size=st.sampled_from([1500, 3000, 2**27]))
    def compact(self, which: int, size: int) -> None:
        table = self.tables[which]
        if table.files.ownership == "add-only":
            with pytest.raises(InvalidDefinitionError):
                compact(table.files)
            return
        at_once: dict[str, Any] = {"settled": timedelta(0), "now": LATER, "target": size}
        before = tree(self.root)
        plan = compact(table.files, dry_run=True, **at_once)
        assert tree(self.root) == before
        if table.files.ownership == "owned":  # all of it was published just now
            assert compact(table.files, target=size) == []
        assert compact(table.files, **at_once) == [attrs.evolve(one, done=True) for one in plan]
        for one in plan:
            key = self.lake.definition.parse(one.key)
            holding = table.holdings[key]
            assert one.files == len(holding.parts)
            merged = Part(tuple(holding.rows), kind=min(part.kind for part in holding.parts))
            parts = (merged, *[Part((), kind=merged.kind)] * (one.into - 1))
            table.holdings[key] = attrs.evolve(holding, parts=parts, by="", foreign=False)

    @rule(data=st.data(), which=WHICH, keep=st.integers(0, 3))
    def drop_older(self, data: st.DataObject, which: int, keep: int) -> None:
        table, definition = self.tables[which], self.lake.definition
        if table.files.ownership == "add-only" or definition.time is None:
            with pytest.raises(InvalidDefinitionError):
                drop_older(table.files, timedelta(0))
            return
        ends = {
            key: interval.end.astimezone(UTC)
            for key in self.lake.keys
            if (interval := definition.interval_of(key)) is not None
        }
        limit = ends[data.draw(st.sampled_from(self.lake.keys))] + timedelta(
            minutes=data.draw(st.sampled_from([0, 30]))
        )
        newest = sorted({ends[key] for key in table.holdings}, reverse=True)[:keep]
        old = [key for key in table.holdings if ends[key] <= limit and ends[key] not in newest]
        days = timedelta(days=3)
        now = (limit + days).astimezone(ZoneInfo("America/New_York"))
        before = tree(self.root)
        plan = drop_older(table.files, days, keep=keep, now=now, dry_run=True)
        assert tree(self.root) == before
        assert drop_older(table.files, days, keep=keep, now=now) == plan
        assert sorted(plan) == sorted(map(str, old))
        table.change({key: Change("drop") for key in old}, {})

    @rule(which=WHICH)
    def clean_up_at_once(self, which: int) -> None:
        assert clean(self.tables[which].files) == []

    @rule(which=WHICH, listings=st.booleans())
    def clean_up_later(self, which: int, listings: bool) -> None:
        table = self.tables[which]
        limits: dict[str, Any] = {"now": LATER, "keep_staged": timedelta(days=36_500 if listings else 7)}
        before = tree(self.root)
        plan = clean(table.files, dry_run=True, **limits)
        assert tree(self.root) == before
        removed = clean(table.files, **limits)
        assert sorted(map(str, removed)) == sorted(map(str, plan))
        assert not any(map(os.path.lexists, map(str, removed)))
        assert clean(table.files, **limits) == []
        own_listings = [listing for listing in self.frozen if listing[0].path == table.files.path]
        self.frozen = [listing for listing in self.frozen if listing not in own_listings]
        if listings:
            self.frozen += [(files, holdings, True) for files, holdings, _ in own_listings]
            return
        for files, _, _ in own_listings:
            with pytest.raises(StorageError):
                list(files.list())
        self.check_nothing_left(table.files)

    def check_nothing_left(self, files: Files) -> None:
        root = Path(files.path)
        aside = bookkeeping(root)
        named = {path for partition in files.list() for path in partition.paths} | self.foreign_files
        assert {str(path) for path in root.rglob("*") if path.is_file() and path.stat().st_size} <= named
        unused = {name for name in sizes(aside) if not name.startswith("log/") and f"{aside}/{name}" not in named} - OWN
        check_log(files)
        if self.store == "folders":
            check_records(root, unused)
        else:
            assert not unused
        if self.store != "adopted":
            assert all(map(os.path.exists, self.foreign_files))

    @rule(which=WHICH)
    def reopen(self, which: int) -> None:
        files = self.tables[which].files
        self.tables[which].files = Files.from_json(json.loads(json.dumps(files.to_json())))
        assert self.tables[which].files == files

    @rule()
    def move(self) -> None:
        """The folder of both tables is given another name."""
        for files, _, _ in self.frozen:
            files.release()
        self.frozen = []
        old, self.root = self.root, self.folder / self.root.name[::-1]
        old.rename(self.root)
        for table in self.tables:
            path = table.files.path.replace(str(old), str(self.root))
            table.files = attrs.evolve(
                table.files, path=path, log=table.files.log and str(bookkeeping(Path(path)) / "log")
            )
        self.foreign_files = {path.replace(f"{old}/", f"{self.root}/") for path in self.foreign_files}


class FoldersMachine(Machine):
    """Folders tell what is stored."""

    stores = ("folders",)


class LogMachine(Machine):
    """A log tells it, also of what others made."""

    stores = ("log", "add-only", "adopted")

    def __init__(self) -> None:
        super().__init__()
        self.patch = pytest.MonkeyPatch()

    def teardown(self) -> None:
        self.patch.undo()
        super().teardown()

    @rule(every=st.integers(1, 5), changes=st.integers(2, 20), size=st.integers(1, 3000), short=st.integers(0, 4))
    def checkpoint(self, every: int, changes: int, size: int, short: int) -> None:
        """From now on there are more checkpoints, of shorter parts."""
        self.patch.setattr(commit_log, "CHECKPOINT_EVERY", every)
        self.patch.setattr(commit_log, "_CHECKPOINT_CHANGES", changes)
        self.patch.setattr(log_checkpoint, "PART_BYTES", size)
        self.patch.setattr(log_checkpoint, "_SHORT_PARTS", short)


TestFolders = FoldersMachine.TestCase
TestFolders.settings = effort(15, 25)
TestLog = LogMachine.TestCase
TestLog.settings = effort(15, 25)
