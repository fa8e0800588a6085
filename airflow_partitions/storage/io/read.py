"""Reading the partitions that are asked for: one by one when they are wanted, or as one frame."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from airflow_partitions.storage.backend import open_backend
from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.filesystem.translate_errors import about, translate_errors
from airflow_partitions.storage.filters.filter import Filter
from airflow_partitions.storage.filters.pruning import Pruning
from airflow_partitions.storage.io import Reader, reader_for
from airflow_partitions.storage.io.read_request import ReadRequest
from airflow_partitions.storage.scan.file_index import excludes, needed
from airflow_partitions.storage.scan.recorded_schema import with_schema
from airflow_partitions.storage.scan.scan_plan import Where, choose
from airflow_partitions.storage.scan.stored_partition import StoredPartition

_log = logging.getLogger(__name__)


def load(
    dataset: Dataset,
    where: Where = None,
    as_: str | type = "spark",
    *,
    spark: Any = None,
    columns: Iterable[str] | None = None,
    full_scan: bool = False,
) -> Mapping[str, Callable[[], Any]]:
    """A function for each partition, by the text of its key, which reads it."""
    reader = reader_for(as_, dataset)
    dataset = dataset if open_backend(dataset).knows_schema else with_schema(dataset)
    chosen = choose(dataset, where, full_scan=full_scan)
    names = None if columns is None else tuple(columns)

    def scan(partition: StoredPartition) -> Callable[[], Any]:
        return partial(_read, reader, dataset, (partition,), names, chosen.pruning, spark)

    return {str(partition.key): scan(partition) for partition in chosen.partitions}


def read(
    dataset: Dataset,
    where: Where,
    as_: str | type,
    *,
    spark: Any = None,
    columns: Iterable[str] | None = None,
    full_scan: bool = False,
) -> Any:
    """One frame of the partitions that *where* asks for."""
    reader = reader_for(as_, dataset)
    names = None if columns is None else tuple(columns)
    if dataset.partition is None and where is None:
        return _read(reader, dataset, None, names, None, spark)
    chosen = choose(dataset, where, full_scan=full_scan, at_once=True)
    partitions, pruning = tuple(chosen.partitions), chosen.pruning
    dataset = dataset if open_backend(dataset).knows_schema else with_schema(dataset, partitions)
    return _read(reader, dataset, partitions, names, pruning, spark)


def _read(
    reader: Reader,
    dataset: Dataset,
    partitions: tuple[StoredPartition, ...] | None,
    columns: tuple[str, ...] | None,
    pruning: Pruning | None,
    spark: Any,
) -> Any:
    chosen = partitions
    if partitions is not None and pruning is not None and pruning.residual is not None:
        chosen = _by_index(dataset, partitions, pruning.residual)
    # A folder that is no partition is an error, not rows.
    keys = [str(partition.key) for partition in partitions or ()]
    with translate_errors(about(dataset.path, keys), "read"):
        return reader.read(
            ReadRequest(dataset=dataset, partitions=chosen, columns=columns, pruning=pruning, spark=spark)
        )


def _by_index(dataset: Dataset, partitions: tuple[StoredPartition, ...], rows: Filter) -> tuple[StoredPartition, ...]:
    """*partitions* without the files in which *rows* never holds; those without an index are whole."""
    types = dict(dataset.schema or ())
    names = [needed(partition, rows, types.get) for partition in partitions]
    whole = sum(1 for partition, some in zip(partitions, names, strict=True) if some is None and partition.files)
    if whole and excludes(rows, dataset.index):
        _log.warning(
            "%r: %s of %s partitions are read whole, since there is no index of theirs for %s; build_index() makes it",
            dataset.path,
            whole,
            len(partitions),
            rows,
        )
    return tuple(p if n is None else p.only(n) for p, n in zip(partitions, names, strict=True))
