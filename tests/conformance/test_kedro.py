"""Kedro's PartitionedDataset, rows K1 to K6: many files as one dataset."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import fsspec
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from airflow_partitions import PartitionAtRuntime, PartitionByInterval
from airflow_partitions.core.errors import (
    ForeignRowsError,
    InvalidDefinitionError,
    InvalidKeyError,
    LayoutError,
    ResultError,
    SchemaError,
    StorageError,
    StoredError,
    WriterError,
)
from airflow_partitions.storage import Csv, FilePerKey, Files, Parquet, Text, field
from airflow_partitions.storage.filesystem.bookkeeping import bookkeeping
from airflow_partitions.storage.filesystem.filesystem import at, sizes

SCHEMA = {"n": "bigint"}


def put(root: str, name: str, text: str = "n\n1\n2\n") -> None:
    with fsspec.open(f"{root}/{name}", "w", auto_mkdir=True) as file:
        file.write(text)


@pytest.fixture
def days(root: str) -> Csv:
    """What the seed's first example has: files named by their day, in folders."""
    for number, name in enumerate(["2019-12-04/data.csv", "2019-12-05/data.csv", "2019-12-05/more.csv"]):
        put(root, name, f"n\n{number}\n")
    put(root, "2019-12-05/README.md", "no data")
    return Csv(root, partition_on=FilePerKey(".csv"), schema=SCHEMA, options={"header": True})


def test_k1_a_mapping_of_ids_to_functions_that_read_when_they_are_called(days: Csv) -> None:
    loaded = days.load(as_="pandas")
    assert list(loaded) == ["2019-12-04/data", "2019-12-05/data", "2019-12-05/more"]
    assert all(map(callable, loaded.values()))
    put(days.path, "2019-12-05/data.csv", "n\n7\n8\n")  # nothing was read before
    assert pd.concat([load() for _, load in sorted(loaded.items())])["n"].to_list() == [0, 7, 8, 2]


def test_k1_one_frame_of_all_or_some(days: Csv) -> None:
    assert days.read(as_="pandas")["n"].to_list() == [0, 1, 2]
    assert days.read(["2019-12-05/more"], "arrow").to_pydict() == {"n": [2]}
    assert days.read(field("file") >= "2019-12-05", "polars")["n"].to_list() == [1, 2]
    assert days.read(field("file") == "2019-12-05/data", "polars")["n"].to_list() == [1]


@pytest.mark.spark
def test_k1_functions_for_spark(days: Csv, spark: Any) -> None:
    loaded = days.load(as_="spark", spark=spark)
    assert [row.n for row in loaded["2019-12-05/more"]().collect()] == [2]
    assert sorted(row.n for row in days.read(as_="spark", spark=spark).collect()) == [0, 1, 2]


def test_k2_the_id_is_the_path_without_the_suffix(days: Csv) -> None:
    assert list(attrs.evolve(days, partition_on=FilePerKey("")).load(as_="pandas")) == [
        "2019-12-04/data.csv",
        "2019-12-05/README.md",
        "2019-12-05/data.csv",
        "2019-12-05/more.csv",
    ]
    assert list(attrs.evolve(days, partition_on=FilePerKey("more.csv")).load(as_="pandas")) == ["2019-12-05/"]
    partition = days.get("2019-12-05/more")
    assert partition is not None
    assert partition.paths == (f"{days.path}/2019-12-05/more.csv",)


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a/../../x", "a//b", "_hidden", "a/.b"])
def test_k2_ids_that_climb_out_of_the_root_are_refused(days: Csv, name: str) -> None:
    with pytest.raises(LayoutError, match="is not the path of a file below the root"):
        days.get(name)


def test_k2_memory() -> None:
    put("memory://kedro", "a.csv")
    assert list(Csv("memory://kedro", partition_on=FilePerKey(".csv"), schema=SCHEMA).load(as_="arrow")) == ["a"]


def test_k3_by_name_class_or_configuration(root: str) -> None:
    put(root, "part/foo.csv")
    put(root, "bar.csv", "n\n3\n")
    by_kind = Csv(root, partition_on=FilePerKey(".csv"), schema=SCHEMA, options={"header": True})
    named = Files(root, format="csv", partition_on=FilePerKey(".csv"), schema=SCHEMA, options={"header": True})
    config = {
        "kind": "csv",
        "path": root,
        "partition_on": {"suffix": ".csv", "find": {}},
        "schema": [["n", "bigint"]],
        "options": {"header": True},
    }
    for files in (by_kind, named, Files.from_json(config)):
        assert {name: len(load()) for name, load in files.load(as_="pandas").items()} == {"bar": 1, "part/foo": 2}
    assert list(attrs.evolve(by_kind, partition_on=FilePerKey(".csv", find={"maxdepth": 1})).load(as_="pandas")) == [
        "bar"
    ]


def test_k3_the_path_is_not_an_option() -> None:
    with pytest.warns(UserWarning, match="option 'filepath' is ignored"):
        Csv("/lake/x", partition_on=FilePerKey(".csv"), options={"filepath": "/y"})
    with pytest.raises(InvalidDefinitionError, match="'versioned'"):
        Csv("/lake/x", partition_on=FilePerKey(".csv"), options={"versioned": True})


@pytest.mark.parametrize(
    ("top", "own", "filesystem", "reader"),
    [
        (None, ..., {}, {}),
        (None, {"secret": "b"}, {}, {"secret": "b"}),
        ({"secret": "a"}, ..., {"secret": "a"}, {"secret": "a"}),
        ({"secret": "a"}, None, {"secret": "a"}, {}),
        ({"secret": "a"}, {"secret": "b"}, {"secret": "a"}, {"secret": "b"}),
    ],
)
def test_k4_credentials_go_down_never_up(top: Any, own: Any, filesystem: Any, reader: Any) -> None:
    from airflow_partitions.storage.io.read_request import ReadRequest

    options = {} if own is ... else {"credentials": own}
    files = Csv("memory://kedro", partition_on=FilePerKey(".csv"), credentials=top, options=options)
    assert dict(files.credentials) == filesystem
    assert ReadRequest(dataset=files).credentials == reader
    assert "secret" not in str(files.to_json())


PARTS = PartitionAtRuntime("part")


@pytest.mark.parametrize("kind", ["parquet", "csv", "json", "orc", "avro"])
def test_k5_data_or_functions_are_saved_each_when_its_time_comes(root: str, kind: str) -> None:
    options = {"header": True} if kind == "csv" else {}
    files = Files(root, format=kind, partition=PARTS, schema=SCHEMA, options=options)
    names: list[str] = []

    def late(name: str, kind: type) -> Callable[[], Any]:
        def make() -> Any:
            staged = [path for path in sizes(bookkeeping(at(root))) if "part=" in path]
            assert len(staged) == len(names) + 1  # what is before it is written
            names.append(name)
            return kind({"n": [len(names)]})

        return make

    partitions = files.save(
        {"part/foo": pd.DataFrame({"n": [9]}), "b": late("b", pa.table), "c": late("c", pl.DataFrame)}
    )
    assert names == ["b", "c"]
    assert {key: metadata.rows for key, metadata in partitions.items()} == {"part/foo": 1, "b": 1, "c": 1}
    assert {key: load()["n"].to_list() for key, load in files.load(as_="pandas").items()} == {
        "b": [1],
        "c": [2],
        "part/foo": [9],
    }


def test_k5_what_was_loaded_can_be_saved(root: str) -> None:
    files = Parquet(f"{root}-one", partition=PARTS)
    files.save({"a": pd.DataFrame({"n": [1, 2], "s": ["x", None]}), "b": pd.DataFrame({"n": [3], "s": ["y"]})})
    copy = attrs.evolve(files, path=f"{root}-other")
    for kind in ("pandas", "polars", "arrow"):
        copy.save(files.load(as_=kind), mode="overwrite")
        assert copy.read(as_="arrow") == files.read(as_="arrow")
    assert [partition.metadata["schema"] for partition in copy.list()] == [{"n": "bigint", "s": "string"}] * 2


@pytest.mark.spark
def test_k5_dataframes_of_spark(root: str, spark: Any) -> None:
    files = Parquet(f"{root}-one", partition=PARTS)
    frame = spark.createDataFrame([(1, "a"), (2, "a")], "n bigint, part string")
    files.save({"a": frame, "b": lambda: spark.range(3).withColumnRenamed("id", "n")})
    assert [partition.rows for partition in files.list()] == [2, 3]
    copy = attrs.evolve(files, path=f"{root}-other")
    copy.save(files.load(spark=spark))
    assert sorted(copy.read(as_="pandas")["n"]) == [0, 1, 1, 2, 2]
    with pytest.raises(ForeignRowsError, match="rows belong elsewhere, for example part=a"):
        files.save({"c": frame})
    assert not files.exists("c")


def test_k5_modes(root: str) -> None:
    files = Parquet(root, partition=PARTS)
    files.save({"a": pd.DataFrame({"n": [1]})})
    with pytest.raises(StoredError, match="'a' is stored already"):
        files.save({"b": pd.DataFrame({"n": [2]}), "a": pd.DataFrame({"n": [2]})})
    assert list(files.load(as_="pandas")) == ["a"]
    files.save({"a": pd.DataFrame({"n": [2]}), "b": pd.DataFrame({"n": [3]})}, mode="append", user={"by": "me"})
    assert {key: sorted(load()["n"]) for key, load in files.load(as_="pandas").items()} == {"a": [1, 2], "b": [3]}
    assert [partition.metadata["user"] for partition in files.list()] == [{"by": "me"}] * 2
    files.save({"a": pd.DataFrame({"n": [4]})}, mode="overwrite")
    assert files.read("a", "pandas")["n"].to_list() == [4]
    assert files.save({}) == {}


def test_k5_all_or_none(root: str) -> None:
    files = Parquet(root, partition=PARTS, schema=SCHEMA)
    files.save({"a": pd.DataFrame({"n": [1]})})
    calls: list[str] = []

    def fail() -> pd.DataFrame:
        calls.append("fail")
        raise RuntimeError("no data")

    bad: list[tuple[Any, type[Exception], str]] = [
        ({"a": pd.DataFrame({"n": [2]}), "b": fail, "c": fail}, RuntimeError, "no data"),
        ({"a": pd.DataFrame({"n": [2]}), "b": None}, ResultError, "got NoneType; expected a frame of pandas, polars"),
        ({"a": pd.DataFrame({"n": ["x"]})}, SchemaError, r"partition 'a': 'n' is string, not bigint"),
        ({"a": pd.DataFrame({"n": [1], "m": [1]})}, SchemaError, "'m' is new"),
        (
            {"a": pd.DataFrame({"n": [1], "part": ["b"]})},
            ForeignRowsError,
            "1 rows belong elsewhere, for example part=b",
        ),
        ({"a": pd.DataFrame({"part": ["a"]})}, ResultError, "only partition columns"),
        ({"a": fail, "str:a": fail}, InvalidKeyError, "given twice"),
        ({"b": fail, " ": fail}, InvalidKeyError, "can't be a partition key"),
    ]
    for data, kind, message in bad:
        with pytest.raises(kind, match=message):
            files.save(data, mode="overwrite")
    assert calls == ["fail"]  # keys are looked at first, and what comes after a failure is not called
    assert files.read(as_="pandas")["n"].to_list() == [1]
    paths = [f"{place}/{path}" for place in (at(root), bookkeeping(at(root))) for path in sizes(place)]
    assert [path for path in paths if path.endswith(".parquet")] == [
        path for partition in files.list() for path in partition.paths
    ]


def test_k5_what_a_format_cannot_hold(root: str) -> None:
    nested = pa.table({"n": [[1]]})
    with pytest.raises(WriterError, match="csv can't hold column 'n', which is array<bigint>"):
        Csv(root, partition=PARTS).save({"a": nested})
    with pytest.raises(WriterError, match="option 'escape' of 'csv' is known to Spark alone"):
        Csv(root, partition=PARTS, options={"escape": "#"}).save({"a": pa.table({"n": [1]})})
    with pytest.raises(WriterError, match="is no line of text"):
        Text(root, partition=PARTS).save({"a": pa.table({"value": ["one\ntwo"]})})
    with pytest.raises(SchemaError, match=r"column 'n': .*there are only nulls"):
        Parquet(root, partition=PARTS).save({"a": pa.table({"n": [None]})})


def test_k5_files_of_others_are_not_written(days: Csv) -> None:
    with pytest.raises(
        InvalidDefinitionError, match=r"every file .* a partition; expected folders: leave out FilePerKey"
    ):
        days.save({")2019-12-07/data": pd.DataFrame({"n": [1]})})


def test_k6_readers_of_a_run_see_the_same_until_it_is_released(days: Csv) -> None:
    frozen = days.freeze("run 1")
    put(days.path, "2019-12-06/data.csv")
    assert len(days.load(as_="pandas")) == 4
    assert list(frozen.load(as_="pandas")) == ["2019-12-04/data", "2019-12-05/data", "2019-12-05/more"]
    assert days.freeze("run 1") == frozen
    assert len(days.freeze("run 2").load(as_="pandas")) == 4
    assert Files.from_json(frozen.to_json()) == frozen
    assert len(frozen.read(as_="pandas")) == 3
    released = frozen.release()
    assert len(released.load(as_="pandas")) == 4
    with pytest.raises(StorageError, match="was released"):
        frozen.load(as_="pandas")
    assert len(days.freeze("run 1").load(as_="pandas")) == 4


def seen_by_another(path: str, queue: Any) -> None:
    queue.put(sorted(Csv(path, partition_on=FilePerKey(".csv"), schema=SCHEMA).freeze("run").load(as_="pandas")))


def test_k6_also_in_another_process(tmp_path: Path) -> None:
    put(str(tmp_path), "a.csv")
    Csv(str(tmp_path), partition_on=FilePerKey(".csv"), schema=SCHEMA).freeze("run")
    put(str(tmp_path), "b.csv")
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    other = context.Process(target=seen_by_another, args=(str(tmp_path), queue))
    other.start()
    assert queue.get(timeout=60) == ["a"]
    other.join()
    queue.close()
    queue.join_thread()


def test_k6_partitions_in_folders_too(tmp_path: Path) -> None:
    days = PartitionByInterval("@daily", start="2013-01-01", name="date")
    files = Csv(str(tmp_path / "data"), partition=days, schema=SCHEMA, options={"header": True}, ownership="read-only")
    put(files.path, "date=2013-01-01/0.csv")
    frozen = files.freeze("run", folder=str(tmp_path / "listings"))
    put(files.path, "date=2013-01-02/0.csv")
    assert list(frozen.load(as_="arrow")) == ["2013-01-01"]
    assert not frozen.exists("2013-01-02")
    assert files.exists("2013-01-02")
    assert not (tmp_path / "_data").exists()
