"""Folders that others have written: escaped in their ways, of null, under names that can't be keys."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from airflow_partitions import PartitionByProduct, PartitionBySequence
from airflow_partitions.storage import Commit, Consumer, Csv, FilePerKey, Parquet, Ready, field
from airflow_partitions.storage.layout.escape import escape

NAMES = ["New York", "ü,+", "a/b=%2F", "int:1", "plain", "50%", "a'b\"c"]
CITIES = PartitionByProduct(
    [PartitionBySequence(["x", "y"], name="kind"), PartitionBySequence([*NAMES, "a", "b", "ü"], name="city")]
)
OWNERSHIPS = ["read-only", "add-only", "adopted"]


def rows(names: list[str | None]) -> pa.Table:
    return pa.table({"n": [*range(len(names))], "kind": ["x"] * len(names), "city": pa.array(names, pa.string())})


def by_arrow(root: Path, table: pa.Table) -> None:
    schema = pa.schema([("kind", pa.string()), ("city", pa.string())])
    ds.write_dataset(table, root, format="parquet", partitioning=ds.partitioning(schema, flavor="hive"))


def by_polars(root: Path, table: pa.Table) -> None:
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    frame.write_parquet(root, partition_by=["kind", "city"])


def by_hand(escaped: Callable[[str], str]) -> Callable[[Path, pa.Table], None]:
    def write(root: Path, table: pa.Table) -> None:
        for row in table.to_pylist():
            name = "__HIVE_DEFAULT_PARTITION__" if row["city"] is None else escaped(row["city"])
            folder = root / "kind=x" / f"city={name}"
            folder.mkdir(parents=True)
            pl.DataFrame({"n": [row["n"]]}).write_parquet(folder / "0.parquet")

    return write


WRITERS: Mapping[str, Callable[[Path, pa.Table], None]] = {
    "arrow": by_arrow,
    "polars": by_polars,
    "spark": by_hand(escape),
    "kartothek": by_hand(lambda text: quote(text, safe="")),
    "small letters": by_hand(lambda text: re.sub("%..", lambda match: match[0].lower(), quote(text, safe=""))),
}


def dataset(path: Path, ownership: str = "read-only") -> Parquet:
    return Parquet(str(path), partition=CITIES, ownership=ownership)


@pytest.mark.parametrize("ownership", OWNERSHIPS)
@pytest.mark.parametrize("writer", WRITERS)
def test_es_folders_are_read_however_they_are_escaped(tmp_path: Path, writer: str, ownership: str) -> None:
    WRITERS[writer](tmp_path / "lake", rows([*NAMES]))
    files = dataset(tmp_path / "lake", ownership)
    assert {str(partition.key) for partition in files.list()} == {f"x|{name}" for name in NAMES}
    table = files.read(as_="arrow")
    assert dict(zip(table["city"].to_pylist(), table["n"].to_pylist(), strict=True)) == {
        name: number for number, name in enumerate(NAMES)
    }
    for number, name in enumerate(NAMES):
        key = files.layout.key({"kind": "x", "city": name})
        assert files.read(key, "pandas")["n"].tolist() == [number]
        assert files.read(field("city") == name, "polars")["n"].to_list() == [number]
        assert len(files.get_many([key])) == 1
    assert not files.exists(files.layout.key({"kind": "y", "city": "New York"}))


@pytest.mark.spark
@pytest.mark.parametrize("writer", ["arrow", "kartothek"])
def test_es_spark_reads_them_too(tmp_path: Path, writer: str, spark: Any) -> None:
    WRITERS[writer](tmp_path / "lake", rows([*NAMES]))
    frame = dataset(tmp_path / "lake").read(spark=spark)
    assert {row["city"]: row["n"] for row in frame.collect()} == {name: number for number, name in enumerate(NAMES)}


@pytest.mark.parametrize("writer", WRITERS)
def test_es_partitions_of_null_are_left_out_with_a_warning(tmp_path: Path, writer: str) -> None:
    WRITERS[writer](tmp_path / "lake", rows(["a", None, "b"]))
    files = dataset(tmp_path / "lake")
    name = "city=__HIVE_DEFAULT_PARTITION__"
    with pytest.warns(UserWarning, match=rf"1 left out of '.*lake', since no key stands for null: 'kind=x/{name}'"):
        assert files.read(as_="pandas")["n"].tolist() == [0, 2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert files.read(field("city") == "b", "pandas")["n"].tolist() == [2]


@pytest.mark.parametrize("ownership", OWNERSHIPS)
def test_es_of_two_folders_for_one_key_one_is_read_with_a_warning(tmp_path: Path, ownership: str) -> None:
    by_hand(escape)(tmp_path / "lake", rows(["New York"]))
    by_hand(lambda text: quote(text, safe=""))(tmp_path / "lake", rows(["New York"]))
    files = dataset(tmp_path / "lake", ownership)
    with pytest.warns(UserWarning, match=r"another folder for the same key: 'kind=x/city=New%20York'"):
        assert len(files.read(as_="pandas")) == 1
    assert len(files.read("x|New York", "pandas")) == 1


@pytest.mark.parametrize("ownership", OWNERSHIPS)
def test_es_they_are_complete_when_their_writer_says_so(tmp_path: Path, ownership: str) -> None:
    by_arrow(tmp_path / "lake", rows(["New York", "ü"]))
    (tmp_path / "lake" / "kind=x" / "city=New%20York" / "_SUCCESS").touch()
    files = dataset(tmp_path / "lake", ownership)
    consumer = Consumer(files, state=str(tmp_path / "state"), ready=Ready(success_file="_SUCCESS"))
    assert [str(partition.key) for partition in consumer.pending()] == ["x|New York"]
    settled = Consumer(files, "other", state=str(tmp_path / "state"), ready=Ready(settled=timedelta(microseconds=1)))
    assert len(settled.pending()) == 2


def test_es_folders_of_others_are_replaced_whatever_they_are_called(tmp_path: Path) -> None:
    by_arrow(tmp_path / "lake", rows(["New York", "ü"]))
    files = dataset(tmp_path / "lake", "adopted")
    files.save({"x|New York": pl.DataFrame({"n": [7]})}, mode="overwrite")
    with Commit(files) as commit:
        commit.drop("x|ü")
    assert files.read(as_="pandas")["n"].tolist() == [7]


@pytest.mark.parametrize("name", ["no\u00a0break", "space ", "a\u200db", "x" * 100 + "/" + "y" * 200])
def test_es11_a_file_whose_name_can_be_no_key_is_left_out_with_a_warning(tmp_path: Path, name: str) -> None:
    for each in ("a", name):
        (tmp_path / each).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / f"{each}.csv").write_text("n\n1\n")
    days = Csv(str(tmp_path), partition_on=FilePerKey(".csv"), schema={"n": "bigint"}, options={"header": True})
    with pytest.warns(UserWarning, match=r"1 left out of .*, since their names can't be keys: '"):
        assert list(days.load(as_="pandas")) == ["a"]
    with pytest.warns(UserWarning, match="names can't be keys"):
        assert len(days.read(field("file") == "a", "pandas")) == 1
