"""A value of each of an asset's partitions."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from airflow_partitions.engine.graph.partitioned_assets import partitioned_asset
from airflow_partitions.operate.asker import Asker
from airflow_partitions.operate.contract.values import ShowValues, Value
from airflow_partitions.operate.operations.grid import view_of
from airflow_partitions.operate.states.asset_states import AssetStates
from airflow_partitions.operate.states.sight import Sight
from airflow_partitions.operate.states.values import value_grid
from airflow_partitions.operate.states.version import version_of

# What these are changes with the clock, or with a run that is tried again, and not with a state.
_MOVING = (Value.AGE, Value.TRIES)


def show_values(asked: ShowValues, asker: Asker) -> dict[str, Any] | None:
    """A value of each of an asset's partitions, in the cells of a picture; ``None`` if the asker has seen it."""
    of = AssetStates(partitioned_asset(asked.asset), datetime.now(UTC))
    version = version_of(of)
    if asked.value in _MOVING:
        version += f"-{of.now:%Y%m%d%H%M}"
    if asker.seen == version:
        return None
    values = value_grid(Sight(of, view_of(of, asked)), asked.value)
    return values.to_json() | {"version": version, "value": str(asked.value), "measure": _measure(asked.value)}


def _measure(value: Value) -> str:
    """What a *value* is in."""
    if value in (Value.BYTES, Value.READ_BYTES):
        return "bytes"
    return "seconds" if value in (Value.SECONDS, Value.AGE) else "number"
