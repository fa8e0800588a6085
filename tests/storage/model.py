"""What a dataset should hold, as a plain dictionary, and a look at whether it does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import attrs
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from airflow_partitions.core.errors import (
    InvalidDefinitionError,
    NotStoredError,
    SchemaError,
    StorageError,
    StoredError,
)
from airflow_partitions.core.keys import Key
from airflow_partitions.storage import Commit, Files
from airflow_partitions.storage.metadata.arrow_types import arrow_type, wider, widest
from airflow_partitions.storage.scan.stored_partition import StoredPartition
from airflow_partitions.storage.stores.open import open_store

Row = tuple[int, str | None]
Columns = Mapping[str, str]
SCHEMA: Columns = {"n": "bigint", "x": "string"}


@attrs.frozen
class Part:
    """A file: its rows, the run that appended it, and the type of its numbers."""

    rows: tuple[Row, ...]
    run: str = ""
    kind: str = "bigint"


@attrs.frozen
class Holding:
    """What a partition should hold.

    :ivar counted: whether all who wrote it counted their rows.
    :ivar by: the run that wrote it last.
    :ivar foreign: its files lie elsewhere.
    """

    parts: tuple[Part, ...] = ()
    counted: bool = True
    by: str = ""
    user: Mapping[str, Any] = attrs.field(factory=dict)
    foreign: bool = False

    @property
    def rows(self) -> list[Row]:
        return [row for part in self.parts for row in part.rows]


Holdings = Mapping[Key, Holding]


@attrs.frozen
class Change:
    """What is to be done to one partition: a mode and the numbers in each file, or ``drop`` or ``truncate``."""

    op: str
    parts: tuple[tuple[int, ...], ...] = ()


Changes = Mapping[Key, Change]


def text(number: int) -> str | None:
    """What stands beside *number* in a row."""
    return f"x{number}" if number else None


def frame(numbers: Iterable[int], columns: Columns) -> pa.Table:
    """A row for each of *numbers*."""
    n = list(numbers)
    table = pa.table({"n": n, "x": list(map(text, n))}).select(list(columns))
    return table.cast(pa.schema([(name, arrow_type(kind)) for name, kind in columns.items()]))


def widened(columns: Columns, schema: Columns) -> Columns:
    """What becomes of *columns* that are saved where *schema* is known."""
    return {
        name: schema[name] if name in schema and wider(kind, schema[name]) else kind for name, kind in columns.items()
    }


def failing(errors: Sequence[type[BaseException]]) -> AbstractContextManager[Any]:
    """A block that ends with one of *errors*; if there are none, it ends well."""
    return pytest.raises(tuple(errors)) if errors else nullcontext()


def put(commit: Commit, changes: Changes, columns: Columns, *, counted: bool = True) -> None:
    """Make *changes* part of *commit*."""
    for key, change in changes.items():
        if not change.parts:
            getattr(commit, change.op)(key)
            continue
        for number, numbers in enumerate(change.parts):
            parquet.write_table(frame(numbers, columns), str(commit.stage(key) / f"part-{number}.parquet"))
        commit.put(
            key,
            mode=change.op,
            rows=sum(map(len, change.parts)) if counted else None,
            schema=columns,
        )


@attrs.define
class Table:
    """A dataset, and what it should hold.

    :ivar columns: the columns written so far, where the dataset declares none.
    """

    files: Files
    holdings: dict[Key, Holding] = attrs.field(factory=dict)
    columns: Columns = attrs.field(factory=dict)

    def errors(self, changes: Changes, columns: Columns, *, evolve: bool, run: str = "") -> list[type[BaseException]]:
        """Why *changes* are refused; nothing if they are not."""
        reasons: list[type[BaseException]] = []
        schema = dict(self.files.schema or self.columns)
        for key, change in changes.items():
            holding = self.holdings.get(key)
            if change.op == "drop" and holding is None:
                reasons.append(NotStoredError)
            if change.op == "create" and holding is not None and not (run and holding.by == run):
                reasons.append(StoredError)
            if change.op == "append" and holding is not None and holding.foreign:
                reasons.append(StorageError)
            if change.parts and schema and columns != schema and not evolve:
                reasons.append(SchemaError)
            if change.parts and not {*self.files.index} <= {**schema, **columns}.keys():
                reasons.append(InvalidDefinitionError)
        return reasons

    def change(
        self, changes: Changes, columns: Columns, *, run: str = "", counted: bool = True, user: Mapping[str, Any] = {}
    ) -> None:
        """Make *changes*; a run that appends makes anew what it appended before."""
        for key, change in changes.items():
            rows = [tuple((n, text(n) if "x" in columns else None) for n in numbers) for numbers in change.parts]
            parts = tuple(Part(each, run, columns["n"]) for each in rows)
            holding = self.holdings.get(key)
            if change.op == "drop":
                del self.holdings[key]
            elif change.op == "truncate":
                self.holdings[key] = Holding()
            elif change.op == "append" and holding is not None:
                kept = tuple(part for part in holding.parts if not run or part.run != run)
                is_counted = counted and holding.counted and len(kept) == len(holding.parts)
                self.holdings[key] = Holding(kept + parts, is_counted, run, {**holding.user, **user})
            else:
                self.holdings[key] = Holding(parts, counted, run, user)
            if change.parts:
                self.columns = widest(self.columns, columns)


def check(files: Files, holdings: Holdings) -> None:
    """Make sure that *files* hold what they should, with what is known of it."""
    partitions = {partition.key: partition for partition in files.list()}
    assert set(partitions) == set(holdings)
    for key, partition in partitions.items():
        holding = holdings[key]
        assert len(partition.files) == len(holding.parts)
        assert partition.rows == (len(holding.rows) if holding.counted else None)
        assert partition.bytes == sum(Path(path).stat().st_size for path in partition.paths)
        metadata = {"files": len(holding.parts), "bytes": partition.bytes, **partition.metadata}
        assert metadata.get("user", {}) == holding.user
        assert (metadata["files"], metadata["bytes"]) == (len(holding.parts), partition.bytes)
        if schema := metadata.get("schema"):
            assert schema["n"] == min(part.kind for part in holding.parts)  # bigint, int
        check_index(partition, holding)
        assert files.exists(str(key))
    check_rows(files, holdings)


def check_index(partition: StoredPartition, holding: Holding) -> None:
    """Make sure that the index of *partition* names all files that have a value."""
    metadata = partition.content.metadata
    for column, index in ({} if metadata is None else metadata.index).items():
        number = list(SCHEMA).index(column)
        assert set(index.files) == {str(row[number]) for row in holding.rows} - {str(None)}
        assert {name for names in index.files.values() for name in names} <= set(partition.files)


def check_rows(files: Files, holdings: Holdings) -> None:
    """Make sure that *files* hold these rows."""
    if files.schema is None and not any(each.parts for each in holdings.values()):
        return  # nothing tells what their columns are
    columns = ["n", *(["x"] if files.schema else []), *files.layout.columns]
    try:
        table = files.read(None, "arrow", columns=columns).to_pylist()
    except SchemaError:
        assert differ(files, holdings)
        return
    rows = Counter((*(str(row[name]) for name in files.layout.columns), row["n"], row.get("x")) for row in table)
    assert rows == Counter(
        (*files.layout.values_of(key).values(), n, x if files.schema else None)
        for key, each in holdings.items()
        for n, x in each.rows
    )


def differ(files: Files, holdings: Holdings) -> bool:
    """Whether the recorded schema, or that of the first file, may not be that of all files."""
    kinds = {part.kind for each in holdings.values() for part in each.parts}
    too_narrow = open_store(files).recorded_schema().get("n") == "int" and "bigint" in kinds
    return files.schema is None and (too_narrow or len(kinds) > 1)
