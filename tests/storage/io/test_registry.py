"""Readers of others."""

from __future__ import annotations

import attrs
import pytest

from airflow_partitions.core.errors import ReaderError
from airflow_partitions.storage import Files, Parquet, Reader, ReadRequest, register_reader
from tests.storage.io.lake import DAYS, WEEK


class Sizes(Reader):
    """How many bytes there are."""

    frame = "sizes"
    protocols = ("file",)

    def read(self, scan: ReadRequest) -> int:
        return sum(partition.bytes for partition in scan.partitions or ())


class ParquetSizes(Sizes):
    formats = ("parquet",)

    def read(self, scan: ReadRequest) -> int:
        return -1


def test_f2_readers_of_others(delays: Parquet) -> None:
    with pytest.raises(ReaderError, match=r"nothing reads format 'parquet' on 'file' as 'sizes'; expected .*arrow"):
        delays.read(as_="sizes")
    register_reader(Sizes())
    assert delays.read("2013-01-02|JFK", "sizes") == delays.get("2013-01-02|JFK").bytes  # type: ignore[union-attr]
    assert attrs.evolve(delays).load(WEEK, "sizes")["2013-01-02|JFK"]() > 0
    with pytest.raises(ReaderError, match="Sizes reads any format on file as 'sizes' already"):
        register_reader(Sizes())
    register_reader(ParquetSizes())
    assert delays.read("2013-01-02|JFK", "sizes") == -1
    with pytest.raises(ReaderError, match="on 's3' as 'sizes'"):
        Parquet("s3://x/y", partition=DAYS).read(as_="sizes")
    with pytest.raises(ReaderError, match="format 'xml'"):
        Files("/x", format="xml", partition=DAYS).read(as_="arrow")
