"""Two datasets that are written in all ways there are, each beside its model."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import attrs
import pyarrow.parquet as parquet
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from airflow_partitions.core.errors import (
    ConflictError,
    ForeignRowsError,
    InvalidKeyError,
    StoredError,
)
from airflow_partitions.core.keys import Key
from airflow_partitions.storage import Commit, Files, Parquet
from airflow_partitions.storage.metadata.attempt import Attempt
from tests.storage.lakes import LAKES
from tests.storage.model import (
    SCHEMA,
    Change,
    Changes,
    Columns,
    Holding,
    Holdings,
    Part,
    Table,
    failing,
    frame,
    put,
    widened,
)

COLUMNS: Sequence[Columns] = (SCHEMA, {"n": "bigint"}, {"n": "int", "x": "string"})
NUMBERS = st.lists(st.integers(0, 5), max_size=3).map(tuple)
MODES = st.sampled_from(["create", "append", "overwrite"])
WRITES = st.builds(Change, MODES, st.lists(NUMBERS, min_size=1, max_size=3).map(tuple))
CHANGES = WRITES | st.sampled_from([Change("drop"), Change("truncate")])
#: Runs whose tries come again and again, each in a way of its own; nobody is a run of its own.
RUNS = st.sampled_from(["", "create", "append", "overwrite"])
WHICH = st.sampled_from([0, 0, 0, 1])
SELDOM = st.sampled_from([False, False, False, True])
INDEX = st.sampled_from([(), ("n",), ("n", "x")])


class Writing(RuleBasedStateMachine):
    """Two tables of one kind.

    :ivar foreign_files: files of others, that stay whatever happens.
    """

    #: Who may tell what the tables hold.
    stores: ClassVar[Sequence[str]]

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.root = self.folder / "the lake %41=b|"
        self.tables: list[Table] = []
        self.frozen: list[tuple[Files, Holdings, bool]] = []
        self.tries: Counter[str] = Counter()
        self.foreign_files: set[str] = set()

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    @initialize(data=st.data(), name=st.sampled_from(sorted(LAKES)), declared=st.booleans(), index=INDEX)
    def begin(self, data: st.DataObject, name: str, declared: bool, index: tuple[str, ...]) -> None:
        self.store, self.lake = data.draw(st.sampled_from(self.stores)), LAKES[name]
        self.root.mkdir()
        for table in "ab":
            path = f"{self.root}/{table}"
            files = Parquet(
                path,
                partition=self.lake.definition,
                partition_on=self.lake.columns,
                schema=SCHEMA if declared else None,
                index=index,
                log=f"{self.root}/_{table}/log" if self.store == "log" else None,
                ownership=self.store if self.store in ("add-only", "adopted") else "owned",
            )
            self.tables.append(Table(files))
            for key in (
                data.draw(st.sets(st.sampled_from(self.lake.keys), max_size=3)) if files.ownership != "owned" else ()
            ):
                self.tables[-1].holdings[key] = self.foreign_partition(Path(files.path_of(key)))

    def foreign_partition(self, folder: Path) -> Holding:
        """A partition that others made in *folder*."""
        folder.mkdir(parents=True)
        parquet.write_table(frame([1, 2], SCHEMA), folder / "their own.parquet")
        self.foreign_files.add(str(folder / "their own.parquet"))
        return Holding((Part(((1, "x1"), (2, "x2"))),), counted=False)

    def draw_keys(self, data: st.DataObject, most: int = 3) -> list[Key]:
        return data.draw(st.lists(st.sampled_from(self.lake.keys), min_size=1, max_size=most, unique=True))

    def draw_table(self, data: st.DataObject, which: int) -> Table:
        """A table, perhaps by a declaration of another index than before; what is stored keeps the one that it has."""
        table = self.tables[which]
        table.files = attrs.evolve(table.files, index=data.draw(st.just(table.files.index) | INDEX))
        return table

    def draw_columns(self, data: st.DataObject) -> tuple[Columns, bool]:
        return data.draw(st.sampled_from(COLUMNS)), not data.draw(SELDOM)

    @rule(data=st.data(), which=WHICH, mode=MODES, run=RUNS, note=st.integers(0, 9))
    def save(self, data: st.DataObject, which: int, mode: str, run: str, note: int) -> None:
        table, mode = self.draw_table(data, which), run or mode
        columns, evolve = self.draw_columns(data)
        changes = {key: Change(mode, (data.draw(NUMBERS),)) for key in self.draw_keys(data)}
        frames: dict[str, Any] = {str(key): frame(change.parts[0], columns) for key, change in changes.items()}
        declared = table.files.schema is not None
        if data.draw(st.booleans()) and (declared or all(any(change.parts[0]) for change in changes.values())):
            frames = {key: each.to_pandas() for key, each in frames.items()}  # which knows no type of nulls
        schema = table.files.schema or table.columns
        columns = widened(columns, dict(schema))
        self.tries[run] += 1
        attempt = Attempt("dag", run, self.tries[run]) if run else None
        user = {"note": note, mode: note}
        with failing(errors := table.errors(changes, columns, evolve=evolve, run=run)):
            metadata = table.files.save(frames, mode=mode, attempt=attempt, evolve=evolve, user=user)
            assert list(metadata) == list(frames)
        if not errors:
            table.change(changes, columns, run=run, user=user)

    @rule(data=st.data(), which=WHICH, numbers=NUMBERS)
    def append_to_what_is_stored(self, data: st.DataObject, which: int, numbers: tuple[int, ...]) -> None:
        table = self.draw_table(data, which)
        keys = [key for key, holding in table.holdings.items() if holding.parts]
        if not keys:
            return
        changes = {data.draw(st.sampled_from(keys)): Change("append", (numbers,))}
        with failing(errors := table.errors(changes, SCHEMA, evolve=True)):
            table.files.save({key: frame(numbers, SCHEMA) for key in changes}, mode="append", evolve=True)
        if not errors:
            table.change(changes, SCHEMA)

    @rule(data=st.data(), which=WHICH, counted=st.booleans(), fails=SELDOM)
    def commit(self, data: st.DataObject, which: int, counted: bool, fails: bool) -> None:
        table = self.draw_table(data, which)
        columns, evolve = self.draw_columns(data)
        changes = {key: data.draw(CHANGES) for key in self.draw_keys(data, 4)}
        errors = table.errors(changes, columns, evolve=evolve)
        errors = [ZeroDivisionError, *errors] if fails else errors
        with failing(errors), Commit(table.files, evolve=evolve) as commit:
            put(commit, changes, columns, counted=counted)
            if fails:
                raise ZeroDivisionError
        if not errors:
            table.change(changes, columns, counted=counted)

    @rule(which=WHICH, op=st.sampled_from(["drop", "truncate"]))
    def empty(self, which: int, op: str) -> None:
        table = self.tables[which]
        with Commit(table.files) as commit:
            getattr(commit, op)()
        table.change({key: Change(op) for key in list(table.holdings)}, {})

    @rule(data=st.data(), which=WHICH, op=MODES, quick=MODES)
    def race(self, data: st.DataObject, which: int, op: str, quick: str) -> None:
        """A commit ends before another one that began earlier."""
        table = self.tables[which]
        late: Changes = {key: Change(op, ((1,), (2,))) for key in self.draw_keys(data)}
        early: Changes = {key: Change(quick, ((3,),)) for key in self.draw_keys(data)}
        slow = Commit(table.files, evolve=True)
        put(slow, late, SCHEMA)
        with failing(refused := table.errors(early, SCHEMA, evolve=True)), Commit(table.files, evolve=True) as commit:
            put(commit, early, SCHEMA)
        if not refused:
            table.change(early, SCHEMA)
        lost = not refused and op != "append" and late.keys() & early.keys()
        with failing(errors := [ConflictError] if lost else table.errors(late, SCHEMA, evolve=True)), slow:
            pass
        if not errors:
            table.change(late, SCHEMA)

    @rule(data=st.data(), which=WHICH)
    @precondition(lambda self: self.store == "log")
    def add(self, data: st.DataObject, which: int) -> None:
        """Files that lie elsewhere become a partition."""
        table, (key,) = self.tables[which], self.draw_keys(data, 1)
        folder = Path(tempfile.mkdtemp(dir=self.folder)) / "a b%20"
        holding = self.foreign_partition(folder)
        with failing(errors := [StoredError] if key in table.holdings else []), Commit(table.files) as commit:
            commit.add(key, str(folder))
        if not errors:
            table.holdings[key] = Holding(holding.parts, counted=False, foreign=True)

    @rule(data=st.data(), which=WHICH, mode=MODES)
    def mistake(self, data: st.DataObject, which: int, mode: str) -> None:
        """A row of another partition, after a good one, and a key that is none."""
        files = self.tables[which].files
        good, bad = data.draw(st.lists(st.sampled_from(self.lake.keys), min_size=2, max_size=2, unique=True))
        rows = frame([1], SCHEMA)
        column = next(n for n, text in files.layout.values_of(good).items() if files.layout.values_of(bad)[n] != text)
        strange = rows.append_column(column, [[files.layout.values_of(good)[column]]])
        with failing([ForeignRowsError]):
            files.save({good: rows, bad: strange}, mode=mode, evolve=True)
        with failing([InvalidKeyError]):
            files.save({good: rows, "": rows}, mode=mode)
