"""Partitions that are made elsewhere: a sensor for some of them, and events for new ones."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_MODULES = {
    "PartitionSensor": "sensor",
    "PartitionTrigger": "trigger",
    "ArrivalTrigger": "watcher",
    "watched": "asset",
}

__all__ = ["ArrivalTrigger", "PartitionSensor", "PartitionTrigger", "watched"]

if TYPE_CHECKING:
    from airflow_partitions.arrival.asset import watched
    from airflow_partitions.arrival.sensor import PartitionSensor
    from airflow_partitions.arrival.trigger import PartitionTrigger
    from airflow_partitions.arrival.watcher import ArrivalTrigger


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
