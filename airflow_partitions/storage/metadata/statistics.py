"""Statistics of columns, as files and manifests tell them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs


@attrs.frozen
class ColumnStatistics:
    """What is known of one column without reading it.

    :ivar nulls: how many values are null.
    :ivar minimum: no value is smaller; ``None`` if that is not known, or all values are null.
    :ivar maximum: no value is greater.
    """

    nulls: int
    minimum: Any = None
    maximum: Any = None

    def also(self, other: ColumnStatistics, rows: int, other_rows: int) -> ColumnStatistics:
        """These of *rows* rows and the *other* ones together. Rows without a value have no bounds to take part."""
        if self.nulls == rows or other.nulls == other_rows:
            bounds = other if self.nulls == rows else self
            return attrs.evolve(bounds, nulls=self.nulls + other.nulls)
        if self.minimum is None or other.minimum is None:
            return ColumnStatistics(self.nulls + other.nulls)
        low, high = min(self.minimum, other.minimum), max(self.maximum, other.maximum)
        return ColumnStatistics(self.nulls + other.nulls, low, high)


@attrs.frozen
class PartitionStatistics:
    """What is known of a partition without reading it.

    :ivar rows: how many there are; ``None`` if its files don't tell.
    :ivar columns: those that something is known of.
    """

    rows: int | None = None
    columns: Mapping[str, ColumnStatistics] = attrs.field(factory=dict)


def together(parts: list[PartitionStatistics]) -> PartitionStatistics:
    """The statistics of all *parts* as one: of the columns that each of them tells of."""
    if not parts:
        return PartitionStatistics(0)
    whole = parts[0]
    for part in parts[1:]:
        rows, more = whole.rows or 0, part.rows or 0
        columns = {
            name: own.also(part.columns[name], rows, more)
            for name, own in whole.columns.items()
            if name in part.columns
        }
        whole = PartitionStatistics(rows + more, columns)
    return whole
