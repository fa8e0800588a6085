"""The type of keys."""

from __future__ import annotations

from typing import TypeAlias

from airflow_partitions.core.keys.interval import Interval
from airflow_partitions.core.keys.product_key import ProductKey
from airflow_partitions.core.keys.segment import Segment

Key: TypeAlias = Interval | Segment | ProductKey
