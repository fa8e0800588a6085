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

from airflow_partitions.errors import NotStoredError, SchemaError, StorageError, StoredError
from airflow_partitions.keys import Key
from airflow_partitions.storage import Commit, Files
from airflow_partitions.storage.metadata.arrow_types import arrow_type, wider, widest

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
class Held:
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


Holdings = Mapping[Key, Held]


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
    given = list(numbers)
    made = pa.table({"n": given, "x": [text(n) for n in given]}).select(list(columns))
    return made.cast(pa.schema([(name, arrow_type(kind)) for name, kind in columns.items()]))


def widened(columns: Columns, known: Columns) -> Columns:
    """What becomes of *columns* that are saved where these are *known*."""
    return {name: known[name] if name in known and wider(kind, known[name]) else kind for name, kind in columns.items()}


def failing(errors: Sequence[type[BaseException]]) -> AbstractContextManager[Any]:
    """A block that ends with one of *errors*; if there are none, it ends well."""
    return pytest.raises(tuple(errors)) if errors else nullcontext()


def put(commit: Commit, changes: Changes, columns: Columns, *, counted: bool = True, index: bool = False) -> None:
    """Make *changes* part of *commit*."""
    for key, change in changes.items():
        if not change.parts:
            getattr(commit, change.op)(key)
            continue
        values: dict[str, list[str]] = {}
        for number, numbers in enumerate(change.parts):
            name = f"part-{number}.parquet"
            parquet.write_table(frame(numbers, columns), str(commit.stage(key) / name))
            for n in set(numbers):
                values.setdefault(str(n), []).append(name)
        commit.put(
            key,
            mode=change.op,
            rows=sum(map(len, change.parts)) if counted else None,
            schema=columns,
            index={"n": {n: tuple(names) for n, names in values.items()}} if index else None,
        )


@attrs.define
class Table:
    """A dataset, and what it should hold.

    :ivar columns: the columns written so far, where the dataset declares none.
    """

    files: Files
    held: dict[Key, Held] = attrs.field(factory=dict)
    columns: Columns = attrs.field(factory=dict)

    def errors(self, changes: Changes, columns: Columns, *, evolve: bool, run: str = "") -> list[type[BaseException]]:
        """Why *changes* are refused; nothing if they are not."""
        found: list[type[BaseException]] = []
        known = dict(self.files.schema or self.columns)
        for key, change in changes.items():
            held = self.held.get(key)
            if change.op == "drop" and held is None:
                found.append(NotStoredError)
            if change.op == "create" and held is not None and not (run and held.by == run):
                found.append(StoredError)
            if change.op == "append" and held is not None and held.foreign:
                found.append(StorageError)
            if change.parts and known and columns != known and not evolve:
                found.append(SchemaError)
        return found

    def change(
        self, changes: Changes, columns: Columns, *, run: str = "", counted: bool = True, user: Mapping[str, Any] = {}
    ) -> None:
        """Make *changes*; a run that appends makes anew what it appended before."""
        for key, change in changes.items():
            rows = [tuple((n, text(n) if "x" in columns else None) for n in numbers) for numbers in change.parts]
            parts = tuple(Part(each, run, columns["n"]) for each in rows)
            held = self.held.get(key)
            if change.op == "drop":
                del self.held[key]
            elif change.op == "truncate":
                self.held[key] = Held()
            elif change.op == "append" and held is not None:
                kept = tuple(part for part in held.parts if not run or part.run != run)
                known = counted and held.counted and len(kept) == len(held.parts)
                self.held[key] = Held(kept + parts, known, run, {**held.user, **user})
            else:
                self.held[key] = Held(parts, counted, run, user)
            if change.parts:
                self.columns = widest(self.columns, columns)


def check(files: Files, held: Holdings) -> None:
    """Make sure that *files* hold what they should, with what is known of it."""
    found = {partition.key: partition for partition in files.list()}
    assert set(found) == set(held)
    for key, partition in found.items():
        wanted = held[key]
        assert len(partition.files) == len(wanted.parts)
        assert partition.rows == (len(wanted.rows) if wanted.counted else None)
        assert partition.bytes == sum(Path(path).stat().st_size for path in partition.paths)
        said = {"user": {}, "files": len(wanted.parts), "bytes": partition.bytes, "schema": {}, **partition.metadata}
        assert (said["user"], said["files"], said["bytes"]) == (wanted.user, len(wanted.parts), partition.bytes)
        assert not said["schema"] or said["schema"]["n"] == min(part.kind for part in wanted.parts)  # bigint, int
        assert files.exists(str(key))
    check_rows(files, held)


def check_rows(files: Files, held: Holdings) -> None:
    """Make sure that *files* hold these rows."""
    if files.schema is None and not any(each.parts for each in held.values()):
        return  # nothing tells what their columns are
    columns = ["n", *(["x"] if files.schema else []), *files.layout.columns]
    try:
        read = files.read(None, "arrow", columns=columns).to_pylist()
    except SchemaError:
        assert differ(files, held)
        return
    found = Counter((*(str(row[name]) for name in files.layout.columns), row["n"], row.get("x")) for row in read)
    assert found == Counter(
        (*files.layout.values_of(key).values(), n, x if files.schema else None)
        for key, each in held.items()
        for n, x in each.rows
    )


def differ(files: Files, held: Holdings) -> bool:
    """Whether the schema of the first file may not be that of the others."""
    return files.schema is None and len({part.kind for each in held.values() for part in each.parts}) > 1
