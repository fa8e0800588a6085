"""The producer's partitions in an asset's ``extra``, for other Dag files, the API and the view.

It is a hint: Airflow overwrites ``extra`` at every mention of an asset. The truth is the producer's timetable.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.definitions import PartitionDefinition, from_json
from airflow_partitions.errors import InvalidDefinitionError, UnknownVersionError
from airflow_partitions.versions import check_version

if TYPE_CHECKING:
    from airflow.sdk import Asset

log = logging.getLogger(__name__)

FIELD = "airflow_partitions"
_VERSION = 1


@attrs.frozen
class ProducedPartitions:
    """The partitions that a producer makes, and its ticks.

    :ivar ticks: JSON form of its time schedule; ``None`` if it has none.
    """

    definition: PartitionDefinition
    ticks: Any = None

    def to_json(self) -> dict[str, Any]:
        """JSON form, read back by :meth:`from_json`."""
        return {"version": _VERSION, "definition": self.definition.to_json(), "ticks": self.ticks}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> ProducedPartitions:
        """The inverse of :meth:`to_json`.

        :raises UnknownVersionError: if another release wrote it.
        """
        check_version(data, _VERSION, "what an asset's producer makes")
        return cls(from_json(data["definition"]), data["ticks"])


def write_extra(asset: Asset, partitions: ProducedPartitions, path: str | None = None) -> None:
    """Put the *partitions* of its producer into the asset's ``extra``.

    :param path: where they are stored, if the producer says it.
    :raises InvalidDefinitionError: if it is no asset.
    """
    if not hasattr(asset, "extra"):
        raise InvalidDefinitionError(f"asset={asset!r} is not an asset; expected Asset('flights')")
    asset.extra[FIELD] = partitions.to_json() | ({} if path is None else {"path": path})


def path_of(extra: dict[str, Any]) -> str | None:
    """Where an asset with this *extra* is stored, if its producer says it."""
    path: str | None = extra.get(FIELD, {}).get("path")
    return path


def read_extra(extra: dict[str, Any]) -> ProducedPartitions | None:
    """The producer's partitions by an asset's *extra*; ``None`` if it has none, or those of another release."""
    if FIELD not in extra:
        return None
    try:
        return ProducedPartitions.from_json(extra[FIELD])
    except UnknownVersionError as error:  # a hint only: the producer's timetable is asked instead
        log.warning("An asset's extra is left aside: %s", error)
        return None
