"""Keys: immutable names of partitions. ``str(key)`` is the canonical text in its definition."""

from airflow_partitions.keys.interval import Interval
from airflow_partitions.keys.partition_key import PartitionKey
from airflow_partitions.keys.product_key import ProductKey
from airflow_partitions.keys.segment import Segment

Key = Interval | Segment | ProductKey

__all__ = ["Interval", "Key", "PartitionKey", "ProductKey", "Segment"]
