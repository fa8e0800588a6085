"""Partitions of other Dags' assets in tasks: a sensor for them, and an operator that makes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow_partitions.exports import lazy_exports

_MODULES = {
    "AnswerTrigger": "trigger",
    "Materialise": "operator",
    "MaterialisedSensor": "sensor",
    "MaterialisedTrigger": "trigger",
}

__all__ = ["AnswerTrigger", "Materialise", "MaterialisedSensor", "MaterialisedTrigger"]

if TYPE_CHECKING:
    from airflow_partitions.authoring.tasks.operator import Materialise
    from airflow_partitions.authoring.tasks.sensor import MaterialisedSensor
    from airflow_partitions.authoring.tasks.trigger import AnswerTrigger, MaterialisedTrigger


__getattr__ = lazy_exports(__name__, _MODULES)


def __dir__() -> list[str]:
    return __all__
