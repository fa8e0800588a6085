"""Checks between staged and published; on a local disk and on S3."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from airflow_partitions import Partition, PartitionBySequence
from airflow_partitions.checks import AcceptedValues, NotNull, RowCountChange, Unique
from airflow_partitions.checks.audit import audit
from airflow_partitions.checks.staged_partition import StagedPartition
from airflow_partitions.core.errors import CheckError
from airflow_partitions.frames.staged import stage
from airflow_partitions.storage import Attempt, Parquet
from airflow_partitions.storage.commit.publish import publish
from airflow_partitions.storage.stores.open import open_staging

LETTERS = PartitionBySequence(["a", "b"], name="letter")
CHECKS = [Unique("n"), NotNull("n"), AcceptedValues("letter", ["a", "b"]), RowCountChange(50)]


def make(files: Parquet, key: str, frame: Any, number: int) -> Any:
    """Write, audit, publish: as a task does. What was staged."""
    partition, attempt = Partition(LETTERS, key), Attempt("dag", key, number)
    staging = open_staging(files, attempt, files.layout.directory_of(partition.wrapped))
    written = stage(frame, partition, files, staging)
    audit(CHECKS, StagedPartition(partition, files, written, staging.data), "letters", kept=str(staging.data))
    publish(files, partition.wrapped, attempt, staging, written)
    return staging


def test_what_fails_a_check_is_not_published_and_stays(root: str) -> None:
    files = Parquet(root, partition=LETTERS)
    make(files, "a", pl.DataFrame({"n": [1, 2]}), 1)
    for number, frame in enumerate(
        [pl.DataFrame({"n": [None, 2]}), pl.DataFrame({"n": [1, 1]}), pl.DataFrame({"n": range(9)})]
    ):
        with pytest.raises(
            CheckError, match="1 of 4 checks failed, so nothing was published; what was written stays in"
        ):
            make(files, "b", frame, number)
        assert not files.exists("b")
    make(files, "b", pl.DataFrame({"n": [1, 2, 3]}), 9)
    assert files.read("b", as_="arrow")["n"].to_pylist() == [1, 2, 3]


def test_what_a_trial_stages_here_is_checked_here(root: str, tmp_path: Path) -> None:
    files, partition, attempt = Parquet(root, partition=LETTERS), Partition(LETTERS, "a"), Attempt("dag", "a", 1)
    staging = open_staging(str(tmp_path), attempt)
    written = stage(pl.DataFrame({"n": [1, 1]}), partition, files, staging)
    staged = StagedPartition(partition, files, written, staging.data)
    with pytest.raises(CheckError, match="1 of 4 checks failed"):
        audit(CHECKS, staged, "letters")
    assert staged.read()["n"].to_pylist() == [1, 1]
