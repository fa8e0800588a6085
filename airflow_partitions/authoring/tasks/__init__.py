"""Tasks about partitions: a sensor and an operator for those of other Dags, and what publishes or proves other work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow_partitions.exports import lazy_exports

_MODULES = {
    "AnswerTrigger": "trigger",
    "DbtBatches": "dbt_batches",
    "Materialize": "operator",
    "MaterializedSensor": "sensor",
    "MaterializedTrigger": "trigger",
    "Publish": "publish",
}

__all__ = ["AnswerTrigger", "DbtBatches", "Materialize", "MaterializedSensor", "MaterializedTrigger", "Publish"]

if TYPE_CHECKING:
    from airflow_partitions.authoring.tasks.dbt_batches import DbtBatches
    from airflow_partitions.authoring.tasks.operator import Materialize
    from airflow_partitions.authoring.tasks.publish import Publish
    from airflow_partitions.authoring.tasks.sensor import MaterializedSensor
    from airflow_partitions.authoring.tasks.trigger import AnswerTrigger, MaterializedTrigger


__getattr__ = lazy_exports(__name__, _MODULES)


def __dir__() -> list[str]:
    return __all__
