"""Stands for spark-submit, driver and job where a test is about what is around them: two files, by pyarrow."""

from __future__ import annotations

import sys

from airflow_partitions.frames.result import Reads
from airflow_partitions.spark.handover import PROPERTY, Handover
from airflow_partitions.spark.job_result import JobResult
from airflow_partitions.storage.metadata.staged_files import StagedFiles, readable_files


def main(words: list[str]) -> None:
    """Do what the handover among the *words* of the command asks for."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    handover = Handover.from_text(next(word for word in words if word.startswith(PROPERTY)).partition("=")[2])
    reads = {}
    for name, source in handover.inputs.items():
        assert source.selection is not None
        table = source.storage.read(list(source.selection), as_="arrow")
        reads[name] = Reads(selected=len(source.selection), partitions=len(source.selection), rows=len(table))
    handover.staging.data.mkdir()
    for file in range(2):
        rows = {"try": [handover.attempt.number], "read": [sum(one.rows for one in reads.values())]}
        pq.write_table(pa.table(rows), handover.staging.data / f"part-{file}-{handover.attempt.name}.parquet")
    JobResult(
        attempt=handover.attempt.name,
        written=StagedFiles(2, readable_files(handover.staging.data), {"try": "bigint", "read": "bigint"}),
        reads=reads,
        others=(),
        application="stub",
        seconds=0,
    ).save(handover.staging)


if __name__ == "__main__":
    main(sys.argv)
