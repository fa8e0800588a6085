"""Saving frames as partitions: the counterpart of loading."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airflow_partitions.core.errors import InvalidKeyError, LayoutError, ResultError
from airflow_partitions.core.keys import Key
from airflow_partitions.storage.commit.commit import Commit
from airflow_partitions.storage.commit.running_task import own_key, report, running_attempt
from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.filesystem.translate_errors import about, translate_errors
from airflow_partitions.storage.io.write_partition import write_partition
from airflow_partitions.storage.io.write_request import WriteRequest
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.metadata.partition_metadata import PartitionMetadata
from airflow_partitions.storage.scan.recorded_schema import with_schema


def save(
    dataset: Dataset,
    data: Mapping[Any, Any],
    *,
    mode: str | None = None,
    attempt: Attempt | None = None,
    user: Mapping[str, Any] | None = None,
    evolve: bool = False,
) -> dict[str, PartitionMetadata]:
    """Write *data*, frames or functions that give them by key, as partitions of *dataset*: all of them, or none."""
    if not isinstance(data, Mapping):
        raise ResultError(
            f"save() of {dataset.path!r} got {type(data).__name__}; expected frames by their key, such as"
            " {'2013-02-08': frame}, or {partition: frame} in a task"
        )
    own, frames = own_key(dataset), dict[Key, Any]()
    for name, frame in data.items():
        if (key := dataset.layout.key(name)) in frames:
            raise InvalidKeyError(
                f"partition {str(key)!r} of {dataset.path!r} is given twice; expected it once", given=name
            )
        try:
            dataset.layout.directory_of(key)
        except LayoutError as error:
            raise LayoutError(f"partition of {dataset.path!r}: {error}") from None
        frames[key] = frame
    if attempt is None and mode != "append":  # a later try may have other rows to append, beside those of the first
        attempt = running_attempt()
    typed = with_schema(dataset)
    with Commit(dataset, attempt, evolve=evolve) as commit:
        for key, frame in frames.items():
            rows = frame() if callable(frame) else frame
            request = WriteRequest(dataset=typed, folder=commit.stage(key), evolve=evolve)
            with translate_errors(about(dataset.path, [str(key)]), "written"):
                staged = write_partition(rows, key, request)
            usual = "overwrite" if key == own else "create"
            commit.put_files(key, staged, mode=mode or usual, user=user)
    if own in frames:
        report(commit.metadata[str(own)])
    return commit.metadata
