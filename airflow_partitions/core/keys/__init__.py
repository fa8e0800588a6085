"""Keys: immutable names of partitions. ``str(key)`` is the canonical text in its definition.

They are loaded when first used: who asks about hours needs no products.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow_partitions.exports import lazy_exports

_MODULES = {
    "Interval": "interval",
    "Key": "key",
    "PartitionKey": "partition_key",
    "ProductKey": "product_key",
    "Segment": "segment",
}

__all__ = ["Interval", "Key", "PartitionKey", "ProductKey", "Segment"]

if TYPE_CHECKING:
    from airflow_partitions.core.keys.interval import Interval
    from airflow_partitions.core.keys.key import Key
    from airflow_partitions.core.keys.partition_key import PartitionKey
    from airflow_partitions.core.keys.product_key import ProductKey
    from airflow_partitions.core.keys.segment import Segment


__getattr__ = lazy_exports(__name__, _MODULES)


def __dir__() -> list[str]:
    return __all__
