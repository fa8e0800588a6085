"""Check of columns and their types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import attrs

from airflow_partitions.checks.check import Check
from airflow_partitions.checks.result import Observation
from airflow_partitions.checks.staged_partition import StagedPartition
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.storage.column_type import check_type
from airflow_partitions.storage.metadata.statistics import PartitionStatistics

if TYPE_CHECKING:
    from airflow_partitions.storage.storage import Storage


def _schema(columns: Mapping[str, str]) -> Mapping[str, str]:
    if not isinstance(columns, Mapping) or not columns:
        raise InvalidDefinitionError(
            f"columns={columns!r}; expected column to Spark type, such as {{'origin': 'string'}}"
        )
    for column, kind in columns.items():
        check_type(column, kind)
    return dict(columns)


@attrs.frozen
class ExactSchema(Check):
    """The files have these columns, of these types, and no others. Their order is free.

    :param schema: column to Spark type, without the partition columns.
    """

    schema: Mapping[str, str] = attrs.field(converter=_schema, hash=False)

    @property
    def name(self) -> str:
        return "schema"

    @property
    def expected(self) -> str:
        return _in_words(self.schema)

    def check_storage(self, storage: Storage) -> None:
        if storage.schema is not None and (difference := self._difference(dict(storage.schema))):
            raise InvalidDefinitionError(
                f"check {self.name!r}: {difference} in schema= of {storage.path!r}; expected the same in both"
            )

    def by_statistics(self, staged: StagedPartition, statistics: PartitionStatistics) -> Observation:
        difference = self._difference(staged.files_schema)
        return Observation(not difference, difference or _in_words(staged.files_schema))

    def _difference(self, schema: Mapping[str, str]) -> str:
        words = [f"{name} is missing" for name in self.schema if name not in schema]
        words += [f"{name} ({kind}) is one more" for name, kind in schema.items() if name not in self.schema]
        words += [
            f"{name} is {schema[name]}, not {kind}"
            for name, kind in self.schema.items()
            if name in schema and schema[name].lower() != kind.lower()
        ]
        return ", ".join(words)


def _in_words(schema: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {kind}" for name, kind in schema.items())
