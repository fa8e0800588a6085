"""The index of a dataset: kept by every writer, built for what is stored; on a local disk and on S3."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import attrs
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from airflow_partitions import PartitionBySequence
from airflow_partitions.core.errors import (
    DamagedError,
    FilterError,
    InvalidDefinitionError,
    SchemaError,
)
from airflow_partitions.storage import (
    Avro,
    Column,
    Commit,
    Consumer,
    Csv,
    Files,
    Json,
    Orc,
    Parquet,
    Text,
    compact,
    field,
)
from airflow_partitions.storage.filesystem.filesystem import at
from airflow_partitions.storage.maintenance import build_index
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.scan.file_index import needed

LETTERS = PartitionBySequence(["a", "b", "c"], name="letter")
SCHEMA = {"n": "bigint", "s": "string"}
FAR: dict[str, Any] = {"settled": timedelta(0), "now": datetime(2100, 1, 1, tzinfo=UTC)}
N = field("n")


def lake(root: str, *index: str, **more: Any) -> Parquet:
    return Parquet(root, partition=LETTERS, **{"schema": SCHEMA, "index": index, **more})


def table(*numbers: int | None) -> pa.Table:
    return pa.table({"n": pa.array(numbers, pa.int64()), "s": pa.array(list(map(str, numbers)), pa.string())})


def stage(commit: Commit, key: str, *files: Iterable[int], **more: Any) -> None:
    for number, numbers in enumerate(files):
        with (commit.stage(key) / f"part-{number}.parquet").open("wb") as out:
            pq.write_table(table(*numbers), out)
    commit.put(key, **more)


def columns(files: Files) -> dict[str, str]:
    """The indexed columns of each partition."""
    return {str(partition.key): " ".join(sorted(partition.metadata.get("index", ()))) for partition in files.list()}


def opened(files: Files, where: Any) -> list[int]:
    """How many files of each partition are opened for *where*."""
    partitions = list(files.list())
    names = [needed(partition, where, dict(files.schema or SCHEMA).get) for partition in partitions]
    return [len(p.files if n is None else n) for p, n in zip(partitions, names, strict=True)]


def rows(files: Files, where: Any) -> list[int]:
    return sorted(files.read(where, "arrow", columns=["n"])["n"].to_pylist())


def test_t6_every_writer_keeps_the_index(root: str) -> None:
    files = lake(root, "n", "s")
    files.save({"a": table(1, 2), "b": lambda: table(3).to_pandas()})
    assert opened(files, N == 3) == [0, 1]
    files.save({"a": table(3), "b": table(None)}, mode="append")
    assert opened(files, N == 3) == [1, 1]
    assert opened(files, N == 1) == [1, 0]
    with Commit(files) as commit:  # files that nobody has described, of several partitions at once
        stage(commit, "a", [7], [8], mode="append")
        stage(commit, "c", [3, 7], [9], schema=SCHEMA)
    assert opened(files, N == 7) == [1, 0, 1]
    assert opened(files, field("s") == "9") == [0, 0, 1]
    assert rows(files, N.isin([3, 7])) == [3, 3, 3, 7, 7]
    assert [one.done for one in compact(files, **FAR)] == [True] * 3
    assert opened(files, N == 7) == [1, 0, 1]
    files.save({"c": table(4)}, mode="overwrite")
    assert opened(files, N >= 4) == [1, 0, 1]
    assert columns(files) == dict.fromkeys("abc", "n s")
    assert files.build_index() == []


def test_t6_a_try_that_appends_again_has_its_own_values_alone(root: str) -> None:
    files = lake(root, "n")
    files.save({"a": table(1)})
    for number in (1, 2):
        files.save({"a": table(10 + number)}, mode="append", attempt=Attempt("dag", "run", number))
    assert [opened(files, value == N) for value in (1, 11, 12)] == [[1], [0], [1]]


@pytest.mark.parametrize("kind", [Parquet, Csv, Json, Orc, Avro, Text])
def test_es10_every_format_has_it(root: str, kind: type[Files]) -> None:
    name, data = ("value", ["x", "y"]) if kind is Text else ("s", ["1", None])
    schema = {"value": "string"} if kind is Text else SCHEMA
    files = kind(root, partition=LETTERS, schema=schema, index=[name])
    frame = pa.table({"value": data}) if kind is Text else pa.table({"n": [1, 2], "s": data})
    files.save({"a": frame.slice(0, 1)})
    attrs.evolve(files, index=()).save({"b": frame, "c": frame.slice(1)})
    assert [one.key for one in files.build_index()] == ["b", "c"]
    first = field(name) == data[0]
    assert [len(needed(p, first, schema.get) or ()) for p in files.list()] == [1, 1, 0]
    assert files.read(first, "arrow").num_rows == 2


def test_es10_a_partition_without_an_index_is_read_whole(root: str, caplog: pytest.LogCaptureFixture) -> None:
    files = lake(root, "n")
    lake(root).save({"a": table(1, 2)})
    files.save({"b": table(2), "c": table(3)})
    assert rows(files, N == 2) == [2, 2]
    assert rows(files, (N == 1) | (N == 3)) == [1, 3]
    assert "1 of 3 partitions are read whole, since there is no index of theirs for n == 2" in caplog.text
    assert {key: load()["n"].to_pylist() for key, load in files.load(N == 2, "arrow").items()} == {
        "a": [2], "b": [2], "c": [],
    }  # fmt: skip
    with pytest.raises(
        FilterError, match=r"no part of the filter n is None excludes .* condition on letter, n, or say"
    ):
        files.read(N == None, "arrow")  # noqa: E711
    with pytest.raises(FilterError, match="no part of the filter s == '2' excludes"):
        files.read(field("s") == "2", "arrow")
    with pytest.raises(FilterError, match="no part of the filter n == 2 excludes"):
        lake(root).read(N == 2, "arrow")


def test_es10_what_happens_as_declarations_come_and_go(root: str) -> None:
    plain, files, other = lake(root), lake(root, "n"), lake(root, "s")
    plain.save({"a": table(1), "b": table(2)})
    files.save({"b": table(3)}, mode="append")  # stays without it
    files.save({"c": table(1)})
    assert columns(files) == {"a": "", "b": "", "c": "n"}
    listed = files.build_index(dry_run=True)
    assert [(one.key, one.columns, one.dropped, one.done) for one in listed] == [
        ("a", ("n",), (), False),
        ("b", ("n",), (), False),
    ]
    assert columns(files) == {"a": "", "b": "", "c": "n"}
    assert [(one.key, one.done) for one in files.build_index("a")] == [("a", True)]
    assert [(one.key, one.done) for one in files.build_index()] == [("b", True)]
    assert files.build_index() == []
    assert opened(files, N == 1) == [1, 0, 1]
    assert opened(plain, N == 1) == [1, 0, 1]  # what is there is used
    assert plain.read((field("letter") != "c") & (N == 1), "arrow").num_rows == 1
    plain.save({"a": table(5)}, mode="append")  # by who knows of none
    assert columns(files) == {"a": "", "b": "n", "c": "n"}
    assert rows(files, N == 5) == [5]
    other.save({"b": table(7)}, mode="append")  # by who knows of another
    assert columns(files) == {"a": "", "b": "", "c": "n"}
    assert [(one.key, one.columns, one.dropped) for one in other.build_index()] == [
        ("a", ("s",), ()),
        ("b", ("s",), ()),
        ("c", ("s",), ("n",)),
    ]
    assert columns(files) == dict.fromkeys("abc", "s")
    assert opened(files, N == 1) == [2, 3, 1]
    assert [one.dropped for one in plain.build_index()] == [("s",)] * 3
    assert columns(files) == dict.fromkeys("abc", "")


def test_es10_an_index_of_another_type_is_built_anew(root: str) -> None:
    lake(root, "n", schema=None).save({"a": pa.table({"n": ["1", "02"]})})
    files = lake(root, "n", schema={"n": "bigint"})
    assert opened(files, N == 2) == [1]
    with pytest.raises(SchemaError):
        files.build_index()
    files.save({"a": pa.table({"n": [1]})}, mode="overwrite", evolve=True)
    assert opened(files, N == 2) == [0]


def test_es10_a_wrong_index_is_told_before_anything_is_published(root: str) -> None:
    def refused(index: Any, match: str, **more: Any) -> None:
        with pytest.raises(InvalidDefinitionError, match=match):
            lake(root, index=index, **more).save({"a": table(1)})

    refused(["m"], r"storage '.*': index='m' is no column of it; expected a column of numbers, .*; nearest: n")
    refused(["xx"], "nearest: n, s")
    refused("n", r"index='n'; expected a sequence of columns: index=\('n',\)")
    refused(["letter"], "index='letter' is a partition column, whose values the folders tell")
    refused(["m"], "index='m' is no column of it", schema=None)
    nested = {"n": "array<int>", "s": "binary", "number": "int"}
    refused(["n"], r"index='n' is of type array<int>, whose values have no order; .* nearest: number", schema=nested)
    refused(["s"], "index='s' is of type binary", schema=nested)
    refused({"items": ["n"]}, r"index='items/n' names none of the tables orders", schema=None, tables=["orders"])
    files = lake(root, "m", schema=None)
    with pytest.raises(InvalidDefinitionError, match="index='m' is no column of it"), Commit(files) as commit:
        stage(commit, "a", [1], schema=SCHEMA)
    assert list(lake(root).list()) == []
    lake(root).save({"a": table(1)})
    with pytest.raises(InvalidDefinitionError, match="index='m' is no column of it"):
        files.build_index()
    with pytest.raises(InvalidDefinitionError, match="nobody says what types its columns have"):
        lake(f"{root}/other", "n", schema=None).build_index()


def test_es10_a_column_may_come_and_go(root: str) -> None:
    files = lake(root, "n", "s", schema=None)
    lake(root, schema=None).save({"a": table(1).select(["n"])})
    files.save({"b": table(2)}, evolve=True)
    files.save({"c": table(3).select(["n"])}, evolve=True)
    assert columns(files) == {"a": "", "b": "n s", "c": "n s"}
    assert [one.columns for one in files.build_index()] == [("n", "s")]
    assert opened(files, field("s") != "x") == [0, 1, 0]


def test_es10_only_the_index_changes(root: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    files = lake(root, "n")
    lake(root).save({key: table(number) for number, key in enumerate("abc")}, user={"note": 1})
    before = {str(partition.key): {**partition.metadata, "index": None} for partition in files.list()}
    with Consumer(files, state=str(tmp_path)).take():
        pass
    frozen = files.freeze("run")
    with caplog.at_level(logging.INFO):
        files.build_index()
    assert "indexed 1 file of c (3 of 3)" in caplog.text
    assert {str(partition.key): {**partition.metadata, "index": None} for partition in files.list()} == before
    assert columns(files) == dict.fromkeys("abc", "n")
    assert Consumer(files, state=str(tmp_path)).pending() == []
    assert columns(frozen) == dict.fromkeys("abc", "")
    assert rows(frozen, N == 2) == [2]
    with pytest.raises(InvalidDefinitionError):
        frozen.build_index()


@pytest.mark.parametrize("quick", ["append", "overwrite", "drop", "index"])
def test_es10_a_writer_that_is_quicker_wins(root: str, monkeypatch: pytest.MonkeyPatch, quick: str) -> None:
    files = lake(root, "n")
    lake(root).save({"a": table(1), "b": table(2)})
    read: Callable[..., Any] = build_index.index_of

    def slow(*arguments: Any) -> Any:
        index = read(*arguments)
        monkeypatch.setattr(build_index, "index_of", read)
        if quick == "drop":
            with Commit(files) as commit:
                commit.drop("a")
        elif quick == "index":
            files.build_index("a")
        else:
            files.save({"a": table(9)}, mode=quick)
        return index

    monkeypatch.setattr(build_index, "index_of", slow)
    assert [(one.key, one.done) for one in files.build_index()] == [("a", False), ("b", True)]
    assert rows(files, N == 9) == ([9] if quick in ("append", "overwrite") else [])
    assert rows(files, N == 1) == ([1] if quick in ("append", "index") else [])
    files.build_index()
    assert all(each == "n" for each in columns(files).values())


def test_es10_who_writes_meanwhile_does_not_notice(root: str) -> None:
    files = lake(root, "n")
    lake(root).save({"a": table(1), "b": table(2)})
    with Commit(files) as commit:
        stage(commit, "a", [7], mode="overwrite")
        stage(commit, "b", [7], mode="append")
        assert [one.done for one in files.build_index()] == [True, True]
    assert opened(files, N == 7) == [1, 1]
    assert opened(files, N == 2) == [0, 1]


def test_es10_what_cannot_be_read_is_told_once_the_others_are_done(root: str) -> None:
    files = lake(root, "n")
    lake(root).save({key: table(number) for number, key in enumerate("abc")})
    (path,) = next(iter(files.list())).paths
    size = len(at(path).read_bytes())
    at(path).write_bytes(b"x" * size)
    with pytest.raises(DamagedError, match="letter=a"):
        files.build_index()
    assert columns(files) == {"a": "", "b": "n", "c": "n"}


@pytest.mark.parametrize("ownership", ["adopted", "add-only"])
def test_es10_data_of_others_has_an_index(root: str, ownership: str) -> None:
    for number, key in enumerate("ab"):
        folder = at(root) / f"letter={key}"
        folder.mkdir(parents=True, exist_ok=True)
        for part in range(2):
            with (folder / f"their {part}.parquet").open("wb") as out:
                pq.write_table(table(number, 10 * part), out)
    files = lake(root, "n", ownership=ownership)
    assert rows(files, N == 1) == [1, 1]
    assert [one.done for one in files.build_index()] == [True, True]
    assert files.build_index() == []
    assert opened(files, N == 10) == [1, 1]
    assert opened(files, N == 1) == [0, 2]
    assert rows(files, N == 10) == [10, 10]
    files.save({"b": table(10), "c": table(10)}, mode="append")
    assert opened(files, N == 10) == [1, 2, 1]
    assert rows(files, N == 10) == [10] * 4


def test_es10_files_that_come_behind_our_back_are_read(tmp_path: Path) -> None:
    files = lake(str(tmp_path / "lake"), "n")
    files.save({"a": table(1), "b": table(2)})
    pq.write_table(table(7), tmp_path / "lake/letter=a/theirs.parquet")
    assert rows(files, N == 7) == [7]
    files.save({"a": table(8)}, mode="append")
    assert rows(files, N == 7) == [7]
    assert [(one.key, one.done) for one in files.build_index()] == [("a", True)]
    assert opened(files, N == 7) == [1, 0]
    (tmp_path / "_lake/partitions").rename(tmp_path / "gone")  # what the partitions say is lost
    assert rows(files, N == 7) == [7]
    assert [one.done for one in files.build_index()] == [True, True]
    assert opened(files, N == 7) == [1, 0]


def test_es10_a_read_only_log_has_an_index_of_files_that_lie_elsewhere(tmp_path: Path) -> None:
    theirs = tmp_path / "elsewhere"
    theirs.mkdir()
    for number in range(3):
        pq.write_table(table(number), theirs / f"{number}.parquet")
    files = lake(str(tmp_path / "lake"), "n", log=str(tmp_path / "_lake/log"))
    with Commit(files) as commit:
        commit.add("a", str(theirs))
    assert opened(files, N == 1) == [1]
    assert rows(files, N == 1) == [1]
    assert files.build_index() == []


def test_es10_of_others_none_is_made(tmp_path: Path) -> None:
    lake(str(tmp_path)).save({"a": table(1)})
    with pytest.raises(InvalidDefinitionError, match="never written"):
        lake(str(tmp_path), "n", ownership="read-only").build_index()


def test_es10_tables_have_indexes_of_their_own(root: str) -> None:
    schema = {"orders": {"n": "bigint"}, "items": {"n": "bigint", "s": "string"}}
    files = lake(root, tables=("orders", "items"), schema=schema, index={"items": ("s",), "orders": ("n",)})
    assert files.index == ("items/s", "orders/n")
    attrs.evolve(files, index=()).save({"a": {"orders": table(1).select(["n"]), "items": table(5)}})
    files.save({"b": {"orders": table(2).select(["n"]), "items": table(6)}})
    for expected in ([1, 1], [0, 1]):
        items = files.table("items")
        assert items.index == ("s",)
        assert [
            len(p.files if n is None else n) for p in items.list() for n in [needed(p, field("s") == "6", SCHEMA.get)]
        ] == expected
        assert items.read(field("s") == "6", "arrow")["letter"].to_pylist() == ["b"]
        assert rows(files.table("orders"), N == 1) == [1]
        files.build_index()
    with pytest.raises(InvalidDefinitionError, match="only read"):
        files.table("items").build_index()


def test_es10_it_comes_back_from_json(root: str) -> None:
    files = lake(root, "n", partition_on={"letter": Column("{letter}")})
    again = Files.from_json(files.to_json())
    assert (again, again.index) == (files, ("n",))
