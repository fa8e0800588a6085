"""Keys as conditions on the columns of a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from itertools import product

import attrs
from pyiceberg.expressions import And, BooleanExpression, Or
from pyiceberg.schema import Schema

from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.core.keys import Key
from airflow_partitions.storage.iceberg.table.key_column import KeyColumn, Values, key_column
from airflow_partitions.storage.layout.layout import Layout


@attrs.frozen
class KeyFilter:
    """How the keys of a definition are told by the columns of a table.

    :ivar layout: has a directory for each key.
    :ivar columns: dimension to the column of the table that holds it.
    """

    layout: Layout
    columns: Mapping[str, KeyColumn]

    @classmethod
    def of(cls, layout: Layout, columns: Mapping[str, str], schema: Schema) -> KeyFilter:
        """The filter of a table.

        :param columns: dimension to the name of the column that holds it.
        :raises InvalidDefinitionError: if a dimension has no column, or none that can hold it.
        """
        dimensions = layout.definition.dimensions
        if set(columns) != set(dimensions):
            raise InvalidDefinitionError(
                f"partition_on={dict(columns)}; expected a column for each of the dimensions {', '.join(dimensions)}"
            )
        return cls(layout, {name: key_column(dimensions[name], column, schema) for name, column in columns.items()})

    def condition(self, key: Key) -> BooleanExpression:
        """The rows of *key*, as a condition on columns of the table, never on their transforms."""
        parts = self.layout.definition.dimensions_of(key)
        return reduce(And, [column.filter(parts[name]) for name, column in self.columns.items()])

    def conditions(self, keys: Iterable[Key]) -> BooleanExpression:
        """The rows of all *keys*, of which there is one at least."""
        return reduce(Or, [self.condition(key) for key in keys])

    def sql(self, key: Key) -> str:
        """The rows of *key*, as a condition in Spark's SQL."""
        parts = self.layout.definition.dimensions_of(key)
        return " AND ".join(column.sql(parts[name]) for name, column in self.columns.items())

    def values(self, key: Key) -> dict[str, Values]:
        """What values the rows of *key* have, by dimension."""
        parts = self.layout.definition.dimensions_of(key)
        return {name: column.values(parts[name]) for name, column in self.columns.items()}

    def keys(self, values: Mapping[str, Values]) -> Iterable[Key] | None:
        """The keys that rows with *values* may be of, ``None`` if that can't be said."""
        names = list(self.columns)
        parts = [self.columns[name].parts(values[name]) for name in names]
        if None in parts:
            return None
        definition = self.layout.definition
        several = len(names) > 1
        keys = (
            dict(zip(names, each, strict=True)) if several else each[0]
            for each in product(*(part for part in parts if part is not None))
        )
        return (definition.key(key) for key in keys if definition.only is None or definition.contains(key))
