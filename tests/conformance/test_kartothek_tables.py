"""Kartothek: several tables in each partition of a dataset. Rows T2 and T8 of the list."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from airflow_partitions import PartitionBySequence
from airflow_partitions.core.errors import (
    ConflictError,
    InvalidDefinitionError,
    LayoutError,
    NotStoredError,
    ResultError,
    SchemaError,
)
from airflow_partitions.storage import Commit, Files, Parquet, clean, compact
from airflow_partitions.storage.filesystem.filesystem import at
from airflow_partitions.storage.scan.snapshot import snapshot

DAYS = PartitionBySequence(["1", "2", "3"], name="day")
TABLES = ("orders", "items")
SCHEMA = {"orders": {"n": "bigint"}, "items": {"n": "bigint", "price": "double"}}


def texts(root: str, **options: Any) -> Files:
    at(root).mkdir(parents=True, exist_ok=True)
    return Files(f"{root}/shop", format="text", partition=DAYS, tables=TABLES, **options)


def write(commit: Commit, key: str, text: str, tables: tuple[str, ...] = TABLES, mode: str = "overwrite") -> None:
    for table in tables:
        (commit.stage(key, table) / text).write_text(text)
    commit.put(key, mode=mode, rows=2)


def files_by_key(files: Files) -> dict[str, list[str]]:
    """Key to the names of the files, with the folder of each."""
    return {str(p.key): sorted("/".join(path.split("/")[-2:]) for path in p.paths) for p in files.list()}


def both(text: str) -> list[str]:
    return [f"items/{text}", f"orders/{text}"]


def test_t2_all_tables_are_changed_together(root: str) -> None:
    files = texts(root)
    with Commit(files) as commit:
        write(commit, "1", "a")
        write(commit, "2", "a")
        assert files_by_key(files) == {}
    assert files_by_key(files) == {"1": both("a"), "2": both("a")}
    assert files_by_key(files.table("items")) == {"1": ["items/a"], "2": ["items/a"]}
    with Commit(files) as commit:
        write(commit, "1", "b")
        commit.drop("2")
    assert files_by_key(files) == {"1": both("b")}
    assert files_by_key(files.table("orders")) == {"1": ["orders/b"]}
    assert commit.metadata["1"].rows == 2


def test_t2_appending_adds_to_every_table(root: str) -> None:
    files = texts(root)
    for _ in range(2):
        with Commit(files) as commit:
            write(commit, "1", "a", mode="append")
    for table in TABLES:
        (partition,) = files.table(table).list()
        assert len(partition.files) == 2
        assert {at(path).read_text() for path in partition.paths} == {"a"}


def test_t2_a_failure_in_one_partition_changes_none(root: str) -> None:
    files = texts(root)
    with Commit(files) as commit:
        write(commit, "1", "a")

    def drop() -> None:
        with Commit(files) as commit:
            write(commit, "1", "b")
            commit.drop("3")

    with pytest.raises(NotStoredError):
        drop()
    assert files_by_key(files) == {"1": both("a")}


def test_t2_every_partition_has_every_table(root: str) -> None:
    files = texts(root)

    def write_one() -> None:
        with Commit(files) as commit:
            write(commit, "1", "a")
            write(commit, "2", "a", ("orders",))

    with pytest.raises(
        ResultError, match=r"partition '2' has no file of table 'items'; expected one of each of orders"
    ):
        write_one()
    assert files_by_key(files) == {}


def test_t2_an_empty_table_counts(root: str) -> None:
    files = Parquet(f"{root}/shop", partition=DAYS, tables=TABLES, schema=SCHEMA)
    at(root).mkdir(parents=True, exist_ok=True)
    orders = pa.table({"n": pa.array([1, 2], pa.int64())})
    items = pa.table({"n": pa.array([], pa.int64()), "price": pa.array([], pa.float64())})
    files.save({"1": {"orders": orders, "items": items}})
    (partition,) = files.table("items").list()
    assert len(partition.files) == 1
    assert files.table("items").read(None, "arrow").to_pydict() == {"n": [], "price": [], "day": []}
    assert files.table("orders").read(None, "arrow").to_pydict() == {"n": [1, 2], "day": ["1", "1"]}


def test_t2_two_writers_of_the_same_partition(root: str) -> None:
    files = texts(root)

    def late() -> None:
        with Commit(files) as commit:
            write(commit, "1", "late")
            with Commit(files) as other:
                write(other, "1", "early")

    with pytest.raises(ConflictError):
        late()
    assert files_by_key(files) == {"1": both("early")}


def test_t2_plain_readers_read_a_table_by_its_folder(tmp_path: Path) -> None:
    import pyarrow.parquet as parquet

    files = Parquet(str(tmp_path / "shop"), partition=DAYS, tables=TABLES, schema=SCHEMA)
    for day in ("1", "2"):
        rows = pa.table({"n": [int(day)]})
        files.save({day: {"orders": rows, "items": rows.append_column("price", pa.array([0.5]))}})
    tables = [parquet.read_table(file, partitioning=None) for file in tmp_path.glob("shop/day=*/items/*.parquet")]
    assert sorted(n for table in tables for n in table["n"].to_pylist()) == [1, 2]
    assert [table.schema.names for table in tables] == [["n", "price"]] * 2


def test_t2_a_table_is_frozen_with_the_others(root: str) -> None:
    files = texts(root)
    with Commit(files) as commit:
        write(commit, "1", "a")
    frozen = {table: files.table(table).freeze("run") for table in TABLES}
    with Commit(files) as commit:
        write(commit, "1", "b")
        write(commit, "2", "b")
    assert {table: files_by_key(files) for table, files in frozen.items()} == {
        table: {"1": [f"{table}/a"]} for table in TABLES
    }
    assert files.freeze("run").pin == frozen["items"].pin


def test_t2_tables_in_files_of_others(root: str) -> None:
    files = texts(root, log=f"{root}/log")
    folder = at(f"{root}/elsewhere")
    for table in TABLES:
        (folder / table).mkdir(parents=True, exist_ok=True)
    (folder / "orders" / "x").write_text("x")
    with pytest.raises(ResultError, match="has no file of table 'items'"), Commit(files) as commit:
        commit.add("1", str(folder))
    (folder / "items" / "y").write_text("y")
    with Commit(files) as commit:
        commit.add("1", str(folder))
    assert files_by_key(files.table("items")) == {"1": ["items/y"]}


def test_t2_frames_of_every_table(tmp_path: Path) -> None:
    files = Parquet(str(tmp_path / "shop"), partition=DAYS, tables=TABLES, schema=SCHEMA)
    rows = pa.table({"n": [1]})
    items = rows.append_column("price", pa.array([0.5]))
    for frames in ({"orders": rows}, {"orders": rows, "items": items, "more": rows}, rows):
        with pytest.raises(ResultError, match=r"partition .1.: .*expected a frame for each of the tables"):
            files.save({"1": frames})
    with pytest.raises(SchemaError, match="'price' is missing"):
        files.save({"1": {"orders": rows, "items": rows}})
    assert list(files.list()) == []
    metadata = files.save({"1": lambda: {"orders": rows, "items": items}}, user={"by": "me"})
    assert metadata["1"].rows == 2
    assert metadata["1"].schema == {"orders/n": "bigint", "items/n": "bigint", "items/price": "double"}
    (partition,) = files.table("items").list()
    assert partition.metadata["schema"] == {"n": "bigint", "price": "double"}
    assert partition.metadata["user"] == {"by": "me"}


def test_t2_the_schema_of_each_table_is_known_from_its_first_commit(root: str) -> None:
    files = Parquet(f"{root}/shop", partition=DAYS, tables=TABLES)
    at(root).mkdir(parents=True, exist_ok=True)
    rows, names = pa.table({"n": [1]}), pa.table({"n": ["a"]})
    files.save({"1": {"orders": rows, "items": names}})
    with pytest.raises(SchemaError, match="partition '2', table 'items': 'n' is bigint, not string"):
        files.save({"2": {"orders": rows, "items": rows}})
    assert files.table("items").read(None, "arrow").to_pydict() == {"n": ["a"], "day": ["1"]}


def test_t2_a_dataset_with_tables_is_read_table_by_table(root: str) -> None:
    files = texts(root)
    with Commit(files) as commit:
        write(commit, "1", "a")
    with pytest.raises(InvalidDefinitionError, match=r"has tables; expected one of them: \.table\('orders'\)"):
        files.read("1", "pandas")
    with pytest.raises(InvalidDefinitionError, match="expected one of them"):
        files.load("1", "pandas")["1"]()
    with pytest.raises(InvalidDefinitionError, match=r"table .items. of storage .* is only read"):
        Commit(files.table("items"))
    assert files.table("items").read("1", "pandas")["value"].tolist() == ["a"]


def test_t2_names_of_tables(tmp_path: Path) -> None:
    path = str(tmp_path)
    for name in ("", "a/b", "_a", ".a", "a=b", "1"):
        with pytest.raises(LayoutError, match="can't be a folder"):
            Parquet(path, partition=DAYS, tables=("orders", name))
    with pytest.raises(LayoutError, match="each table once"):
        Parquet(path, partition=DAYS, tables=("orders", "orders"))
    with pytest.raises(InvalidDefinitionError, match="is not that of tables"):
        Parquet(path, partition=DAYS, tables=TABLES, schema={"orders": {"n": "bigint"}})
    with pytest.raises(LayoutError, match="are partition columns and columns of the files"):
        Parquet(path, partition=DAYS, tables=("orders",), schema={"orders": {"Day": "bigint"}})
    files = Parquet(path, partition=DAYS, tables=TABLES, schema=SCHEMA)
    with pytest.raises(InvalidDefinitionError, match="has no table 'more'; expected one of: orders, items"):
        files.table("more")
    for each in (files, files.table("items")):
        assert Files.from_json(each.to_json()) == each
    assert dict(files.table("items").schema or ()) == {"n": "bigint", "price": "double"}


def test_t8_readers_see_all_tables_of_a_commit_or_none(root: str) -> None:
    files = texts(root)
    with Commit(files) as commit:
        for key in ("1", "2"):
            write(commit, key, "0")
    stop, generations = threading.Event(), set()

    def look() -> None:
        while not stop.is_set():
            partitions = snapshot(files).values()
            generations.add(tuple(sorted({n.rpartition("/")[2] for p in partitions for n in p.files})))

    reader = threading.Thread(target=look)
    reader.start()
    for number in range(1, 8):
        with Commit(files) as commit:
            for key in ("1", "2"):
                write(commit, key, str(number))
    stop.set()
    reader.join()
    assert generations
    assert all(len(names) == 1 for names in generations), generations


def test_t2_files_of_each_table_are_compacted(root: str) -> None:
    files = Parquet(f"{root}/shop", partition=DAYS, tables=TABLES, schema=SCHEMA)
    at(root).mkdir(parents=True, exist_ok=True)
    for n in range(3):
        rows = pa.table({"n": [n]})
        files.save({"1": {"orders": rows, "items": rows.append_column("price", pa.array([0.5]))}}, mode="append")
    far = datetime(2100, 1, 1, tzinfo=UTC)
    (compacted,) = compact(files, settled=timedelta(0), now=far)
    assert (compacted.files, compacted.into, compacted.done) == (6, 2, True)
    for table in TABLES:
        assert sorted(files.table(table).read(None, "arrow")["n"].to_pylist()) == [0, 1, 2]
        assert len(next(files.table(table).list()).files) == 1
    assert next(files.list()).rows == 6
    clean(files, now=far)
    assert files_by_key(files.table("orders")).keys() == {"1"}
