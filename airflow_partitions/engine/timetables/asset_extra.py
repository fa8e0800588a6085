"""What a producer says of its asset in the asset's ``extra``, for other Dag files, the API and the view.

It is a hint: Airflow overwrites ``extra`` at every mention of an asset. The truth is the producer's timetable.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.core.definitions import PartitionDefinition, from_json
from airflow_partitions.core.errors import InvalidDefinitionError, UnknownVersionError
from airflow_partitions.core.versions import check_version
from airflow_partitions.frames.frame_type import FrameType

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
        return {"version": _VERSION, "definition": self.definition.declared.to_json(), "ticks": self.ticks}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> ProducedPartitions:
        """The inverse of :meth:`to_json`.

        :raises UnknownVersionError: if another release wrote it.
        """
        check_version(data, _VERSION, "what an asset's producer makes")
        return cls(from_json(data["definition"]), data["ticks"])


@attrs.frozen
class AssetFrames:
    """The frames that a producer stores, and those that it reads to make them.

    :ivar stored: of its partitions; ``None`` if it says nothing of where they are.
    :ivar inputs: of its inputs, by name.
    :ivar storage: JSON form of the dataset that they are stored in; ``None`` if only the Dag file can reach it.
    """

    stored: FrameType | None = None
    inputs: Mapping[str, FrameType] = attrs.field(factory=dict)
    storage: Mapping[str, Any] | None = None

    @property
    def maintained(self) -> bool:
        """Whether upkeep is to keep the table small that they are stored in."""
        return self.storage is not None and "maintenance" in self.storage

    def to_json(self) -> dict[str, Any]:
        """JSON form, read back by :meth:`from_json`."""
        return {
            "stored": None if self.stored is None else self.stored.to_json(),
            "inputs": {name: frame.to_json() for name, frame in self.inputs.items()},
            **({} if self.storage is None else {"storage": dict(self.storage)}),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> AssetFrames:
        """The inverse of :meth:`to_json`."""
        stored = data["stored"]
        inputs = {name: FrameType.from_json(form) for name, form in data["inputs"].items()}
        return cls(None if stored is None else FrameType.from_json(stored), inputs, data.get("storage"))


def write_extra(asset: Asset, partitions: ProducedPartitions, frames: AssetFrames | None = None) -> None:
    """Put the *partitions* of its producer into the asset's ``extra``.

    :param frames: what the producer stores and reads, if it says it.
    :raises InvalidDefinitionError: if it is no asset.
    """
    if not hasattr(asset, "extra"):
        raise InvalidDefinitionError(f"asset={asset!r} is not an asset; expected Asset('flights')")
    asset.extra[FIELD] = partitions.to_json() | ({} if frames is None else {"frames": frames.to_json()})


def frames_of(extra: Mapping[str, Any]) -> AssetFrames:
    """What an asset's producer stores and reads, by the asset's *extra*, as far as it says it."""
    form = extra.get(FIELD, {})
    said = form.get("version") == _VERSION and "frames" in form
    return AssetFrames.from_json(form["frames"]) if said else AssetFrames()


def read_extra(extra: Mapping[str, Any]) -> ProducedPartitions | None:
    """The producer's partitions by an asset's *extra*; ``None`` if it has none, or those of another release."""
    if FIELD not in extra:
        return None
    try:
        return ProducedPartitions.from_json(extra[FIELD])
    except UnknownVersionError as error:  # a hint only: the producer's timetable is asked instead
        log.warning("An asset's extra is left aside: %s", error)
        return None
