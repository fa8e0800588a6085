"""Saving frames as partitions: the counterpart of loading."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from airflow_partitions.errors import InvalidKeyError, ResultError
from airflow_partitions.keys import Key
from airflow_partitions.storage.commit.commit import Commit
from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.filesystem.translate_errors import about, translate_errors
from airflow_partitions.storage.io.arrow_writer import write_table
from airflow_partitions.storage.io.spark_writer import write_spark
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.metadata.partition_metadata import PartitionMetadata

#: Told a frame, the dataset, the key and the folder: how many rows were written, and column to type.
Write = Callable[[Any, Dataset, Key, Any], tuple[int, dict[str, str]]]
#: Who writes the frames of a package.
_WRITERS: Mapping[str, Write] = {
    "pandas": write_table,
    "polars": write_table,
    "pyarrow": write_table,
    "pyspark": write_spark,
}


def save(
    files: Dataset,
    data: Mapping[Any, Any],
    *,
    mode: str = "create",
    attempt: Attempt | None = None,
    user: Mapping[str, Any] | None = None,
    evolve: bool = False,
) -> dict[str, PartitionMetadata]:
    """Write *data*, frames or functions that give them by key, as partitions of *files*: all of them, or none."""
    wanted: dict[Key, Any] = {}
    for given, frame in data.items():
        if (key := files.layout.key(given)) in wanted:
            raise InvalidKeyError(
                f"partition {str(key)!r} of {files.path!r} is given twice; expected it once", given=given
            )
        wanted[key] = frame
    with Commit(files, attempt, evolve=evolve) as commit:
        for key, frame in wanted.items():
            found = frame() if callable(frame) else frame
            with translate_errors(about(files.path, [str(key)]), "written"):
                rows, schema = _writer(found, key)(found, files, key, commit.stage(key))
            if files.schema is not None:  # before the next function is called
                commit.rule.check(dict(files.schema), schema, str(key))
            commit.put(key, mode=mode, rows=rows, schema=schema, user=user)
    return commit.markers


def _writer(frame: Any, key: Key) -> Write:
    found = _WRITERS.get(type(frame).__module__.partition(".")[0])
    if found is None:
        hint = ": return the frame instead of writing it" if frame is None else ""
        raise ResultError(
            f"partition {str(key)!r}: got {type(frame).__name__}; expected a frame of pandas, polars, Arrow or Spark,"
            f" or a function that gives one{hint}"
        )
    return found
