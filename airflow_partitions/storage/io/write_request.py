"""The request that a writer answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import attrs

from airflow_partitions.core.errors import ForeignRowsError, LayoutError
from airflow_partitions.storage.column_type import check_index
from airflow_partitions.storage.io.format_limits import check_columns
from airflow_partitions.storage.io.request import Request
from airflow_partitions.storage.metadata.schema import SchemaRule

if TYPE_CHECKING:
    from airflow_partitions.core.keys import Key
    from airflow_partitions.storage.filesystem.filesystem import Location


@attrs.frozen(kw_only=True)
class WriteRequest(Request):
    """Where and how to write rows.

    :ivar dataset: the dataset: its path, format, options, declared schema.
    :ivar folder: where the files go. It is nobody else's, and nobody reads it before it is published.
    :ivar evolve: the rows may have other columns than the dataset declares.
    """

    folder: Location
    evolve: bool = False

    def name_of(self, key: Key) -> str:
        """What is written as *key*, for messages."""
        member = self.dataset.member
        return f"partition {str(key)!r}" + ("" if member is None else f", table {member!r}")

    def key_of(self, directory: str) -> Key:
        """The key of rows whose own values name *directory*.

        :raises ForeignRowsError: if there is none.
        """
        try:
            return self.dataset.layout.key_of(directory)
        except LayoutError as error:
            raise ForeignRowsError(
                f"some rows belong to {directory!r}, which is no partition of {self.dataset.path!r}; expected rows of"
                " its partitions only: filter the others"
            ) from error

    def check(self, schema: Mapping[str, str], name: str) -> None:
        """Refuse columns that the dataset does not declare or its format can't hold, and an index of others.

        :param schema: column to Spark type, without the partition columns.
        :param name: what is written, for the message.
        :raises SchemaError: if the dataset declares others.
        :raises WriterError: if the format can't hold them.
        :raises InvalidDefinitionError: if the dataset declares an index of a column that is in neither.
        """
        declared = dict(self.dataset.schema or ())
        if self.dataset.schema is not None:
            SchemaRule(evolve=self.evolve).check(declared, schema, name)
        check_index(self.dataset.index, {**declared, **schema}, self.dataset.path)
        check_columns(self.dataset, schema)
