"""Definitions read back from their JSON form."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from airflow_partitions.core.definitions.definition import PartitionDefinition
from airflow_partitions.core.definitions.interval import PartitionByInterval
from airflow_partitions.core.definitions.product import PartitionByProduct
from airflow_partitions.core.definitions.runtime import PartitionAtRuntime
from airflow_partitions.core.definitions.sequence import PartitionBySequence
from airflow_partitions.core.definitions.whole import WholeAsset
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.core.keys.value import from_json as value_from_json


def from_json(data: dict[str, Any]) -> PartitionDefinition:
    """The definition whose :meth:`~PartitionDefinition.to_json` gave *data*; no author's code is imported.

    :raises InvalidDefinitionError: if *data* is of no known kind.
    """
    match data:
        case {"kind": "interval", "schedule": schedule, "timezone": timezone, "name": name}:
            step = timedelta(microseconds=schedule["microseconds"]) if isinstance(schedule, dict) else schedule
            return PartitionByInterval(step, timezone=timezone, start=data.get("start"), end=data.get("end"), name=name)
        case {"kind": "sequence", "values": values, "name": name}:
            return PartitionBySequence([value_from_json(value) for value in values], name=name)
        case {"kind": "product", "dimensions": dimensions}:
            parts = [from_json(dimension) for dimension in dimensions]
            listed = from_json(data["listed"]) if "listed" in data else None
            if isinstance(listed, PartitionAtRuntime | None):
                if "only" in data:
                    return PartitionByProduct.from_json(parts, data["only"], listed)
                return PartitionByProduct(parts, only=listed)
        case {"kind": "runtime", "name": name, "allowed": allowed}:
            return PartitionAtRuntime(name, allowed=allowed, of=from_json(data["of"]) if "of" in data else None)
        case {"kind": "whole"}:
            return WholeAsset()
    raise InvalidDefinitionError(f"{data!r} is not the JSON form of a partition definition")
