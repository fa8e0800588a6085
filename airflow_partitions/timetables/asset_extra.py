"""What a producer says of its partitions in the asset's ``extra``, for other files, the API and the view.

It is a hint: Airflow overwrites ``extra`` at every mention of an asset. The truth is the producer's timetable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.definitions import PartitionDefinition, from_json

if TYPE_CHECKING:
    from airflow.sdk import Asset

FIELD = "airflow_partitions"


@attrs.frozen
class Made:
    """What partitions a producer makes, and at which ticks.

    :ivar ticks: JSON form of its time schedule; ``None`` if it has none.
    """

    definition: PartitionDefinition
    ticks: Any = None

    def to_json(self) -> dict[str, Any]:
        """JSON form, read back by :meth:`from_json`."""
        return {"definition": self.definition.to_json(), "ticks": self.ticks}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Made:
        """The inverse of :meth:`to_json`."""
        return cls(from_json(data["definition"]), data.get("ticks"))


def publish(asset: Asset, made: Made) -> None:
    """Put what is *made* into the asset's ``extra``."""
    asset.extra[FIELD] = made.to_json()


def published(extra: dict[str, Any]) -> Made | None:
    """What is made, as an asset's *extra* tells it, if it does."""
    return Made.from_json(extra[FIELD]) if FIELD in extra else None
