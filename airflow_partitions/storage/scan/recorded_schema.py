"""The schema of a dataset that declares none, as its commits recorded it."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import TypeVar

from airflow_partitions.core.errors import SchemaError
from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.filesystem.translate_errors import translate_errors
from airflow_partitions.storage.metadata.arrow_types import arrow_type, widest
from airflow_partitions.storage.scan.stored_partition import StoredPartition
from airflow_partitions.storage.stores.open import open_store

_Dataset = TypeVar("_Dataset", bound=Dataset)


def with_schema(dataset: _Dataset, partitions: Iterable[StoredPartition] = ()) -> _Dataset:
    """*dataset* with its schema: the declared one, else what its commits recorded, as wide as *partitions* need.

    It stays as it is where nothing is recorded, or a type that only Spark knows.
    """
    if dataset.schema is not None or dataset.partition is None:
        return dataset
    with translate_errors(repr(dataset.path), "read"):
        schema = dict(open_store(dataset).recorded_schema())
    with suppress(SchemaError):
        for partition in partitions:
            metadata = partition.content.metadata
            if metadata is not None and metadata.schema != schema:
                schema = widest(schema, metadata.schema)
        for kind in schema.values():
            arrow_type(kind)
        if schema:
            return dataset.declaring(schema)  # an indexed column may yet come with what is written
    return dataset
