"""The definition published in an asset's ``extra``, so that other files, the API and the view can read it.

It is a hint: Airflow overwrites ``extra`` at every mention of an asset. The truth is the producer's timetable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from airflow_partitions.definitions import PartitionDefinition, from_json

if TYPE_CHECKING:
    from airflow.sdk import Asset

FIELD = "airflow_partitions"


def publish(asset: Asset, definition: PartitionDefinition) -> None:
    """Put *definition* into the asset's ``extra``."""
    asset.extra[FIELD] = {"definition": definition.to_json()}


def published(extra: dict[str, Any]) -> PartitionDefinition | None:
    """The definition in an asset's *extra*, if there is one."""
    return from_json(extra[FIELD]["definition"]) if FIELD in extra else None
