"""Dependencies between the partitions of two definitions, and selections of keys."""

from airflow_partitions.core.dependencies.by_dimension import ByDimension
from airflow_partitions.core.dependencies.dependency import Dependency
from airflow_partitions.core.dependencies.inverse import check_inverse
from airflow_partitions.core.dependencies.key_format import KeyFormat
from airflow_partitions.core.dependencies.listed_keys import listed_keys
from airflow_partitions.core.dependencies.rule import KeyRule, Rule, Sides
from airflow_partitions.core.dependencies.rule_form import rule_from_json
from airflow_partitions.core.dependencies.same_key import SameKey
from airflow_partitions.core.dependencies.segment_map import SegmentMap
from airflow_partitions.core.dependencies.selection import Selection
from airflow_partitions.core.dependencies.selection_text import parse_selection, selection_text
from airflow_partitions.core.dependencies.time_rule import (
    AllPartitions,
    LatestPartition,
    Lookback,
    Overlap,
    Previous,
    Window,
)
from airflow_partitions.core.dependencies.unpartitioned import Unpartitioned

__all__ = [
    "AllPartitions",
    "ByDimension",
    "Dependency",
    "KeyFormat",
    "KeyRule",
    "LatestPartition",
    "Lookback",
    "Overlap",
    "Previous",
    "Rule",
    "SameKey",
    "SegmentMap",
    "Selection",
    "Sides",
    "Unpartitioned",
    "Window",
    "check_inverse",
    "listed_keys",
    "parse_selection",
    "rule_from_json",
    "selection_text",
]
