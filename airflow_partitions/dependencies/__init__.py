"""Which upstream partitions a downstream partition needs."""

from airflow_partitions.dependencies.dependency import Dependency
from airflow_partitions.dependencies.selection import Selection

__all__ = ["Dependency", "Selection"]
