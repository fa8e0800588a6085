"""Partitions that are made elsewhere: a sensor for some of them, and events for new ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow_partitions.exports import lazy_exports

_MODULES = {
    "PartitionSensor": "sensor",
    "PartitionTrigger": "trigger",
    "ArrivalTrigger": "watcher",
    "watched": "asset",
}

__all__ = ["ArrivalTrigger", "PartitionSensor", "PartitionTrigger", "watched"]

if TYPE_CHECKING:
    from airflow_partitions.authoring.arrival.asset import watched
    from airflow_partitions.authoring.arrival.sensor import PartitionSensor
    from airflow_partitions.authoring.arrival.trigger import PartitionTrigger
    from airflow_partitions.authoring.arrival.watcher import ArrivalTrigger


__getattr__ = lazy_exports(__name__, _MODULES)


def __dir__() -> list[str]:
    return __all__
