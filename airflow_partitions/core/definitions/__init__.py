"""Definitions of the partitions of an asset.

They are loaded when first used: who asks about hours needs no products.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow_partitions.exports import lazy_exports

_MODULES = {
    "MAX_KEY_LENGTH": "definition",
    "PartitionAtRuntime": "runtime",
    "PartitionByInterval": "interval",
    "PartitionByProduct": "product",
    "PartitionBySequence": "sequence",
    "PartitionDefinition": "definition",
    "WholeAsset": "whole",
    "from_json": "definition_form",
}

__all__ = [
    "MAX_KEY_LENGTH",
    "PartitionAtRuntime",
    "PartitionByInterval",
    "PartitionByProduct",
    "PartitionBySequence",
    "PartitionDefinition",
    "WholeAsset",
    "from_json",
]

if TYPE_CHECKING:
    from airflow_partitions.core.definitions.definition import MAX_KEY_LENGTH, PartitionDefinition
    from airflow_partitions.core.definitions.definition_form import from_json
    from airflow_partitions.core.definitions.interval import PartitionByInterval
    from airflow_partitions.core.definitions.product import PartitionByProduct
    from airflow_partitions.core.definitions.runtime import PartitionAtRuntime
    from airflow_partitions.core.definitions.sequence import PartitionBySequence
    from airflow_partitions.core.definitions.whole import WholeAsset


__getattr__ = lazy_exports(__name__, _MODULES)


def __dir__() -> list[str]:
    return __all__
