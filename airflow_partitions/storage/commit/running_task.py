"""The Airflow task that this process runs, as far as it matters to what is written."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
from typing import Any

from airflow_partitions.core.keys import Key
from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.metadata.counts import count, size
from airflow_partitions.storage.metadata.partition_metadata import PartitionMetadata

log = logging.getLogger(__name__)


def task_context() -> Mapping[str, Any]:
    """Airflow's context of the running task; empty where none runs."""
    if "airflow.sdk" not in sys.modules:  # whoever runs a task has imported it
        return {}
    from airflow.sdk import get_current_context

    try:
        return get_current_context()
    except RuntimeError:
        return {}


def running_attempt() -> Attempt | None:
    """The try of the running task; ``None`` where none runs."""
    instance = task_context().get("ti")
    if instance is None:
        return None
    # With the task in it: what one task of a run has created is not for another one to replace.
    mapped = "" if instance.map_index in (None, -1) else f"[{instance.map_index}]"
    return Attempt(instance.dag_id, f"{instance.run_id}/{instance.task_id}{mapped}", instance.try_number)


def own_key(dataset: Dataset) -> Key | None:
    """The key of the partition that the running task's run is to make, if *dataset* has such partitions."""
    partition = task_context().get("partition")
    if partition is None or partition.definition != dataset.partition:
        return None
    key: Key = partition.wrapped
    return key


def report(metadata: PartitionMetadata) -> None:
    """Say in the task's log what of its own partition was published, and on the event of the one asset it makes."""
    counts = f"{count(metadata.rows, 'row')}, {count(metadata.files, 'file')}, {size(metadata.bytes)}"
    log.info("Published %s: %s", metadata.key, counts)
    context = task_context()
    outlets = [outlet for outlet in context["task"].outlets if hasattr(outlet, "uri")]
    if len(outlets) == 1:
        event = context["outlet_events"][outlets[0]]
        written = {"rows": metadata.rows, "files": metadata.files, "bytes": metadata.bytes}
        event.extra = {**(event.extra or {}), **written}
