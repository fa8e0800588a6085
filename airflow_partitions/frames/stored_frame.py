"""A frame with the storage that its function chose for it."""

from __future__ import annotations

from typing import Any

import attrs

from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.storage.storage import Storage


@attrs.frozen(init=False)
class StoredFrame:
    """A frame that a function returns, with other storage to put it in, each with a place and a format of its own.

    .. code-block:: python

        EXPORTS = Csv("/exports/trip_days", options={"header": True})

        @asset(schedule="@daily", partition=DAYS, inputs={"trips": TRIPS}, storage=Parquet("/lake/trip_days"))
        def trip_days(partition, trips: pl.DataFrame):
            days = trips.group_by("zone").agg(pl.sum("fare"))
            return StoredFrame(days, EXPORTS) if partition.end.day == 1 else days

    The asset's own storage gets it too, if it has one. All of it is written before any of it is published, the own one
    first. It is for an :class:`.asset` with *storage* or *inputs*.

    :param frame: what would be returned without this.
    :param storage: of the asset's definition, or bound to none; nobody else writes there.
    :raises InvalidDefinitionError: if that is no storage.
    """

    frame: Any
    storage: tuple[Storage, ...]

    def __init__(self, frame: Any, *storage: Storage) -> None:
        if wrong := [each for each in storage if not isinstance(each, Storage)]:
            raise InvalidDefinitionError(
                f"StoredFrame(…): {wrong[0]!r} is no storage; expected for example Csv('/exports/x')"
            )
        self.__attrs_init__(frame, storage)

    @classmethod
    def of(cls, value: Any) -> StoredFrame:
        """What a function returned, with the storage that it chose: none, if it returned a plain frame."""
        return value if isinstance(value, cls) else cls(value)

    def collected(self) -> StoredFrame:
        """The same, computed once for all storage if it is lazy."""
        lazy = bool(self.storage) and hasattr(self.frame, "collect")
        return StoredFrame(self.frame.collect(), *self.storage) if lazy else self
