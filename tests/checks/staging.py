"""Partitions that are written and not published, for checks to look at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from airflow_partitions import Partition, PartitionByInterval
from airflow_partitions.checks import Check, CheckResult, StagedPartition
from airflow_partitions.checks.audit import audit
from airflow_partitions.core.errors import CheckError
from airflow_partitions.frames.staged import stage
from airflow_partitions.storage import Attempt, Files, Parquet, StagedFiles
from airflow_partitions.storage.metadata.arrow_types import spark_name
from airflow_partitions.storage.stores.open import open_staging

DAYS = PartitionByInterval("@daily", timezone="America/New_York", start="2013-01-01", name="date")
DAY = "2013-02-08"


def staged(storage: Files, frame: Any, key: str = DAY) -> StagedPartition:
    """*frame* as the rows of a partition, written by the writer of the storage."""
    bound, partition = storage.of(DAYS), Partition(DAYS, key)
    staging = open_staging(bound, Attempt("dag", "run", 1), bound.layout.directory_of(partition.wrapped))
    return StagedPartition(partition, bound, stage(frame, partition, bound, staging), staging.data)


def parquet(folder: Path, *tables: pa.Table, **options: Any) -> StagedPartition:
    """Each of *tables* as a file of its own, with *options* of the writer."""
    data = folder / "staged"
    data.mkdir()
    for number, table in enumerate(tables):
        pq.write_table(table, data / f"{number}.parquet", **options)
    types = {field.name: spark_name(field.type) or "string" for field in tables[0].schema}
    files = {file.name: file.stat().st_size for file in sorted(data.iterdir())}
    written = StagedFiles(sum(map(len, tables)), files, types)
    return StagedPartition(Partition(DAYS, DAY), Parquet(str(folder / "lake"), partition=DAYS), written, data)


def result(check: Check, partition: StagedPartition) -> CheckResult:
    """What *check* says of *partition*."""
    try:
        (only,) = audit([check], partition, "delays")
    except CheckError as error:
        (only,) = error.results
    return only


def spoil(partition: StagedPartition, *names: str) -> None:
    """Overwrite the bytes of columns in all files: whoever reads them fails, and not who reads the footers."""
    for name in partition.written.files:
        path = Path(str(partition._folder)) / name
        footer, content = pq.read_metadata(path), bytearray(path.read_bytes())
        for number in range(footer.num_row_groups):
            group = footer.row_group(number)
            for column in map(group.column, range(group.num_columns)):
                if column.path_in_schema in names:
                    start = column.dictionary_page_offset or column.data_page_offset
                    content[start : start + column.total_compressed_size] = b"\xff" * column.total_compressed_size
        path.write_bytes(content)
