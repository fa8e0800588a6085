"""Datasets with tables and plain dictionaries, after whatever sequence of operations: they hold the same."""

from __future__ import annotations

import shutil
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import attrs
import pyarrow as pa
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from airflow_partitions.core.errors import ConflictError, FilterError, ResultError, StoredError
from airflow_partitions.storage import Commit, Parquet, clean, compact, field
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.scan.file_index import needed
from airflow_partitions.storage.scan.recorded_schema import with_schema
from tests.hunt import effort
from tests.storage.lakes import LAKES
from tests.storage.model import failing

SCHEMA = {"core": {"n": "bigint"}, "extra": {"n": "bigint", "x": "string"}}
INDEX = {"core": ["n"], "extra": ["x", "n"]}
LATER = datetime(2100, 1, 1, tzinfo=UTC)
NUMBERS = st.fixed_dictionaries({table: st.lists(st.integers(0, 9), max_size=3) for table in SCHEMA})
MODES = st.sampled_from(["create", "append", "overwrite"])
Numbers = dict[str, list[int]]


def frames(numbers: Numbers) -> dict[str, pa.Table]:
    core, extra = (pa.array(numbers[table], pa.int64()) for table in SCHEMA)
    return {"core": pa.table({"n": core}), "extra": pa.table({"n": extra, "x": extra.cast(pa.string())})}


class Machine(RuleBasedStateMachine):
    """A dataset, what each of its tables should hold, and listings of it."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.holdings: dict[Any, Numbers] = {}
        self.by: dict[Any, str] = {}
        self.pins: list[tuple[Parquet, dict[Any, Numbers]]] = []
        self.tries = 0

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    @initialize(name=st.sampled_from(sorted(LAKES)), log=st.booleans(), declared=st.booleans(), index=st.booleans())
    def begin(self, name: str, log: bool, declared: bool, index: bool) -> None:
        self.lake, path = LAKES[name], f"{self.folder}/lake"
        Path(path).mkdir()
        self.files = Parquet(
            path,
            partition=self.lake.definition,
            partition_on=self.lake.columns,
            tables=tuple(SCHEMA),
            schema=SCHEMA if declared else None,
            index=INDEX if index else (),
            log=f"{self.folder}/_lake/log" if log else None,
        )

    def draw_keys(self, data: st.DataObject) -> list[Any]:
        return data.draw(st.lists(st.sampled_from(self.lake.keys), min_size=1, max_size=3, unique=True))

    @invariant()
    def tables_hold_what_they_should(self) -> None:
        if hasattr(self, "files"):
            self.check(self.files, self.holdings)
            for files, holdings in self.pins:
                self.check(files, holdings)

    def check(self, files: Parquet, holdings: dict[Any, Numbers]) -> None:
        assert {partition.key for partition in files.list()} == set(holdings)
        for table in SCHEMA:
            view = files.table(table)
            partitions = {partition.key: partition for partition in view.list()}
            assert set(partitions) == set(holdings)
            for key, partition in partitions.items():
                assert partition.bytes == sum(Path(path).stat().st_size for path in partition.paths)
                assert partition.metadata["files"] == len(partition.files)
                if partition.files:
                    assert sorted(view.read(key, "arrow")["n"].to_pylist()) == sorted(holdings[key][table])
                else:
                    assert holdings[key][table] == []
        for partition in files.list():
            assert partition.rows == sum(map(len, holdings[partition.key].values()))

    @rule(data=st.data(), mode=MODES, run=st.booleans())
    def save(self, data: st.DataObject, mode: str, run: bool) -> None:
        changes = {key: data.draw(NUMBERS) for key in self.draw_keys(data)}
        self.tries += 1
        name = mode if run else ""
        existing = [key for key in changes if key in self.holdings and not (run and self.by[key] == name)]
        with failing(errors := [StoredError] if mode == "create" and existing else []):
            tables = {key: frames(numbers) for key, numbers in changes.items()}
            attempt = Attempt("dag", name, self.tries) if run and mode != "append" else None
            self.files.save(tables, mode=mode, attempt=attempt)
        if errors:
            return
        for key, numbers in changes.items():
            old = self.holdings.get(key) if mode == "append" else None
            self.holdings[key] = {t: [*(old[t] if old else []), *numbers[t]] for t in SCHEMA}
            self.by[key] = name if mode != "append" else ""

    @rule(data=st.data(), table=st.sampled_from(sorted(SCHEMA)), mode=MODES)
    def save_some_tables(self, data: st.DataObject, table: str, mode: str) -> None:
        one, *_ = self.draw_keys(data)
        whole = frames({"core": [1], "extra": [1]})
        with pytest.raises(ResultError):
            self.files.save({one: {table: whole[table]}}, mode=mode)

    @rule(data=st.data(), op=st.sampled_from(["drop", "truncate"]))
    def empty(self, data: st.DataObject, op: str) -> None:
        keys = [key for key in self.draw_keys(data) if key in self.holdings]
        with Commit(self.files) as commit:
            for key in keys:
                getattr(commit, op)(key)
        for key in keys:
            self.by[key] = ""
            if op == "drop":
                del self.holdings[key]
            else:
                self.holdings[key] = {table: [] for table in SCHEMA}

    @rule(data=st.data())
    def race(self, data: st.DataObject) -> None:
        key, *_ = self.draw_keys(data)

        def late() -> None:
            with Commit(self.files):
                self.files.save({key: frames({"core": [7], "extra": [8]})}, mode="overwrite")
                raise ZeroDivisionError

        with pytest.raises((ZeroDivisionError, ConflictError)):
            late()
        self.holdings[key], self.by[key] = {"core": [7], "extra": [8]}, ""

    @rule(index=st.booleans())
    def declare_an_index(self, index: bool) -> None:
        self.files = attrs.evolve(self.files, index=INDEX if index else ())

    @rule()
    @precondition(lambda self: self.holdings)
    def build_index(self) -> None:
        self.files.build_index()
        assert self.files.build_index() == []
        for partition in self.files.list():
            assert set(partition.metadata["index"]) == (set(self.files.index) if partition.files else set())

    @rule(table=st.sampled_from(sorted(SCHEMA)), number=st.integers(0, 9))
    @precondition(lambda self: self.holdings)
    def ask_by_index(self, table: str, number: int) -> None:
        view = self.files.table(table)
        where = field("x") == str(number) if table == "extra" else field("n") == number
        if not view.index:
            with pytest.raises(FilterError):
                view.read(where, "arrow")
            return
        for partition in view.list():
            names = needed(partition, where, dict(with_schema(view).schema).get)
            index = partition.metadata["index"]
            assert (names is None) == (not index)
        assert view.read(where, "arrow").num_rows == sum(
            numbers[table].count(number) for numbers in self.holdings.values()
        )

    @rule()
    def compact(self) -> None:
        for one in compact(self.files, settled=timedelta(0), now=LATER):
            assert one.done
            self.by[self.lake.definition.parse(one.key)] = ""

    @rule(run=st.sampled_from(["one", "two"]), table=st.sampled_from(["", *SCHEMA]))
    def freeze(self, run: str, table: str) -> None:
        pinned = (self.files.table(table) if table else self.files).freeze(run).pin
        if all(files.pin != pinned for files, _ in self.pins):
            form = self.files.to_json() | {"pin": pinned}
            self.pins.append((Parquet.from_json(form), dict(self.holdings)))

    @rule()
    def clean(self) -> None:
        for files, _ in self.pins:
            files.release()
        self.pins = []
        clean(self.files, now=LATER)
        named = {path for partition in self.files.list() for path in partition.paths}
        assert {str(path) for path in Path(self.folder).rglob("*.parquet")} == named


TestTables = Machine.TestCase
TestTables.settings = effort(20, 15)
