"""The condition on assets that a Dag is scheduled on."""

from __future__ import annotations

from typing import Any

from airflow.sdk.definitions.asset import BaseAsset
from airflow.serialization.definitions.assets import (
    SerializedAsset,
    SerializedAssetAll,
    SerializedAssetBase,
    SerializedAssetBooleanCondition,
    SerializedAssetNameRef,
)
from airflow.serialization.encoders import ensure_serialized_asset

from airflow_partitions.core.errors import InvalidDefinitionError

Leaf = SerializedAsset | SerializedAssetNameRef


class AnyEvent(SerializedAssetAll):
    """Lets an event of any upstream ask for an evaluation; the evaluation itself looks at the whole *condition*.

    Airflow takes assets without an event since the last run for missing, so that ``A & B`` would wait for both again
    after a re-run of A alone.
    """

    agg_func = any

    def __init__(self, condition: SerializedAssetBase) -> None:
        super().__init__(list(leaves(condition)))
        self.condition = condition

    def as_expression(self) -> Any:
        """The condition as it is shown."""
        return self.condition.as_expression()


def condition_of(schedule: Any) -> SerializedAssetBase | None:
    """*schedule* as a condition on assets; ``None`` for a time schedule. A list of assets means all of them."""
    if isinstance(schedule, list | tuple) and schedule and all(isinstance(part, BaseAsset) for part in schedule):
        return SerializedAssetAll([ensure_serialized_asset(part) for part in schedule])
    if isinstance(schedule, BaseAsset | SerializedAssetBase):
        return ensure_serialized_asset(schedule)
    return None


def leaves(condition: SerializedAssetBase) -> list[Leaf]:
    """The assets of a condition, in order, or references to them by name."""
    if isinstance(condition, SerializedAssetBooleanCondition):
        return [leaf for part in condition.objects for leaf in leaves(part)]
    if isinstance(condition, SerializedAsset | SerializedAssetNameRef):
        return [condition]
    raise InvalidDefinitionError(
        f"{condition!r} can't be waited for by partition; schedule on the asset, or on Asset.ref(name=…)"
    )
