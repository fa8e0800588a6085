"""Parts of keys that rows in memory are of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import pyarrow as pa

from airflow_partitions.core.errors import ForeignRowsError
from airflow_partitions.core.keys import Interval, Key, Segment
from airflow_partitions.storage.iceberg.table.key_column import KeyColumn
from airflow_partitions.storage.iceberg.table.key_filter import KeyFilter


@attrs.frozen
class KeyParts:
    """What each of some rows is of, in each dimension.

    :ivar keys: how keys are told.
    :ivar parts: the intervals and segments that occur, by dimension.
    :ivar numbers: a row for each of theirs: which of these parts it is of, a column for each dimension.
    """

    keys: KeyFilter
    parts: Mapping[str, Sequence[Interval | Segment]]
    numbers: pa.Table

    @classmethod
    def of(cls, rows: pa.Table, keys: KeyFilter, name: str) -> KeyParts:
        """Those of *rows*, whose columns have the types of the table.

        :param name: of the table, for messages.
        :raises ForeignRowsError: if a row is of no key.
        """
        numbers, parts = {}, {}
        for dimension, column in keys.columns.items():
            parts[dimension], numbers[dimension] = _parts(column, rows[column.name], name)
        return cls(keys, parts, pa.table(numbers))

    def key(self, numbers: Mapping[str, int]) -> Key:
        """The key that rows with these *numbers* are of."""
        parts = {dimension: self.parts[dimension][numbers[dimension]] for dimension in self.parts}
        return self.keys.layout.definition.key(parts if len(parts) > 1 else next(iter(parts.values())))


def _parts(column: KeyColumn, values: pa.ChunkedArray, name: str) -> tuple[list[Interval | Segment], Any]:
    """The parts that *values* are of, in order, and the number of its own for each value."""
    if values.null_count:
        raise _stray(f"nulls in {column.name}", name)
    stored = _stored(values)
    different = np.unique(stored)
    parts, starts, first = [], [], 0
    while first < len(different):
        value = different[first].item() if hasattr(different[first], "item") else different[first]
        if (part := column.part(value)) is None:
            raise _stray(f"{column.name} {column.shown(value)}", name)
        parts.append(part)
        starts.append(first)
        first = int(np.searchsorted(different, column.values(part).high, side="right"))
    return parts, np.searchsorted(different[starts], stored, side="right") - 1


def _stored(values: pa.ChunkedArray) -> Any:
    """*values* as Iceberg stores them."""
    if pa.types.is_timestamp(values.type):
        values = values.cast(pa.timestamp("us", values.type.tz)).cast(pa.int64())
    elif pa.types.is_date(values.type):
        values = values.cast(pa.date32()).cast(pa.int32())
    return values.to_numpy()


def _stray(shown: str, name: str) -> ForeignRowsError:
    return ForeignRowsError(
        f"some rows belong to no partition of {name!r}: {shown}; expected rows of its partitions only: filter the"
        " others"
    )
