"""Every format, read without Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from pyarrow import orc

from airflow_partitions.core.errors import ReaderError, StorageError
from airflow_partitions.storage import Avro, Csv, Files, Json, Orc, Parquet, Text, field
from tests.storage.io.lake import DAYS, FRAMES, SCHEMA, add, rows


def write(files: Files, key: str, table: pa.Table) -> None:
    folder = Path(files.path_of(files.layout.definition.parse(key)))
    folder.mkdir(parents=True)
    if files.format == "avro":
        import fastavro

        fields = [{"name": "carrier", "type": ["null", "string"]}, {"name": "delay", "type": ["null", "double"]}]
        with (folder / "0.avro").open("wb") as file:
            fastavro.writer(file, {"type": "record", "name": "row", "fields": fields}, table.to_pylist())
    elif files.format == "json":
        (folder / "0.json").write_text(pl.from_arrow(table).write_ndjson())  # type: ignore[union-attr]
    elif files.format == "orc":
        orc.write_table(table, folder / "0.orc")
    elif files.format == "text":
        (folder / "0.txt").write_text("AA 1\r\nUA é\n")
    else:
        ds.write_dataset(table, folder, format=files.format, existing_data_behavior="overwrite_or_ignore")


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("dataset", [Parquet, Orc, Json, Avro, Csv])
def test_every_format_is_read_alike(tmp_path: Path, dataset: Any, kind: str) -> None:
    options = {"header": True} if dataset is Csv else {}
    files = dataset(str(tmp_path), partition=DAYS, schema=SCHEMA, options=options)
    write(files, "2013-01-01", pa.table({"carrier": ["AA", None], "delay": [1.5, None]}))
    write(files, "2013-01-02", pa.table({"carrier": ["é,\"'"], "delay": [2.0]}))
    all_rows = rows(files.read(field("date") < "2013-01-03", kind))
    assert [row["date"] for row in all_rows] == ["2013-01-01", "2013-01-01", "2013-01-02"]
    assert [row["carrier"] for row in all_rows] in (["AA", None, "é,\"'"], ["AA", float("nan"), "é,\"'"])
    assert [row["delay"] for row in all_rows][::2] == [1.5, 2.0]
    assert rows(files.read((field("date") == "2013-01-02") & (field("delay") > 3), kind)) == []


def test_csv_without_header_and_with_other_separators(tmp_path: Path) -> None:
    files = Csv(str(tmp_path), partition=DAYS, schema={**SCHEMA, "more": "int"}, options={"sep": ";", "nullValue": "-"})
    folder = tmp_path / "date=2013-01-01"
    folder.mkdir()
    (folder / "0.csv").write_text("AA;1.5;-\nUA;-;7\n")
    assert files.read(as_="arrow", columns=["carrier", "delay", "more"]).to_pylist() == [
        {"carrier": "AA", "delay": 1.5, "more": None},
        {"carrier": "UA", "delay": None, "more": 7},
    ]
    with pytest.raises(ReaderError, match="option 'mode' of 'csv' is known to Spark alone"):
        attrs.evolve(files, options={"mode": "PERMISSIVE"}).read(as_="arrow")
    (folder / "1.csv").write_text("AA;late;1\n")
    with pytest.raises(StorageError, match=r"can't be read as csv: .*late"):
        attrs.evolve(files, options={"sep": ";", "nullValue": "-", "mode": "FAILFAST"}).read(as_="arrow")


def test_text_is_lines(tmp_path: Path) -> None:
    files = Text(str(tmp_path), partition=DAYS)
    write(files, "2013-01-01", pa.table({}))
    assert files.read("2013-01-01", "polars").rows() == [("AA 1", "2013-01-01"), ("UA é", "2013-01-01")]


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    files = Parquet(str(tmp_path), partition=DAYS, schema={"n": "int"})
    path = add(files, "2013-01-01", {"n": [1]})
    path.write_bytes(b"PAR1 no more")
    with pytest.raises(StorageError, match="can't be read as parquet") as error:
        files.read(as_="arrow")
    assert str(path) in str(error.value)
