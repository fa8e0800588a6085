"""The partition of a run in storage that its function chose, besides that of the asset."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from airflow_partitions.core.errors import ResultError
from airflow_partitions.core.partition import Partition
from airflow_partitions.engine.runs.publication import attempt_of
from airflow_partitions.frames.stored_frame import StoredFrame
from airflow_partitions.storage.commit.commit import Commit
from airflow_partitions.storage.io.write_partition import write_partition
from airflow_partitions.storage.io.write_request import WriteRequest
from airflow_partitions.storage.metadata.counts import count, size
from airflow_partitions.storage.scan.recorded_schema import with_schema
from airflow_partitions.storage.storage import Storage

if TYPE_CHECKING:
    from airflow.sdk import Asset, Context

log = logging.getLogger(__name__)


@contextmanager
def published_elsewhere(
    context: Context, asset: Asset, own: Storage | None, partition: Partition, frame: StoredFrame
) -> Iterator[None]:
    """Write *frame* to the storage that it names; when the block ends well it is published there, else nothing is.

    The event of *asset* tells where it is.

    :param own: the asset's storage, which gets it by other ways.
    :raises ResultError: if a place is given twice, or is that of the asset.
    """
    paths = [storage.path for storage in (own, *frame.storage) if storage is not None]
    if twice := [path for path in paths if paths.count(path) > 1]:
        raise ResultError(
            f"partition {partition.text!r} is to be stored twice at {twice[0]!r}; expected other places than the"
            " asset's own, each once"
        )
    entries: list[dict[str, Any]] = []
    with ExitStack() as commits:
        for storage in frame.storage:
            bound = storage.of(partition.definition)
            commit = commits.enter_context(Commit(bound, attempt_of(context), evolve=bound.schema is None))
            request = WriteRequest(
                dataset=with_schema(bound), folder=commit.stage(partition.wrapped), evolve=bound.schema is None
            )
            written = write_partition(frame.frame, partition.wrapped, request)
            commit.put_files(partition.wrapped, written, mode="overwrite")
            counts = {"rows": written.rows, "files": len(written.files), "bytes": written.bytes}
            entries.append({"path": bound.path, "format": bound.format, **counts})
        yield
    for entry in entries:
        rows, files = count(entry["rows"], "row"), count(entry["files"], "file")
        log.info("Published %s in %s: %s, %s, %s", partition.text, entry["path"], rows, files, size(entry["bytes"]))
    if entries:
        event: Any = context["outlet_events"][asset]
        event.extra = {**(event.extra or {}), "elsewhere": entries}
