"""Which upstream partitions a downstream partition needs."""

from airflow_partitions.dependencies.dependency import Dependency
from airflow_partitions.dependencies.rule import Lookback, Overlap, Rule, Window, rule_from_json
from airflow_partitions.dependencies.selection import Selection

__all__ = ["Dependency", "Lookback", "Overlap", "Rule", "Selection", "Window", "rule_from_json"]
