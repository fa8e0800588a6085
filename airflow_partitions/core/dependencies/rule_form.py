"""Rules read back from their JSON form."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from airflow_partitions.core.dependencies.by_dimension import ByDimension
from airflow_partitions.core.dependencies.dimension_rule import DimensionRule
from airflow_partitions.core.dependencies.rule import Rule
from airflow_partitions.core.dependencies.same_key import SameKey
from airflow_partitions.core.dependencies.segment_map import SegmentMap
from airflow_partitions.core.dependencies.time_rule import (
    AllPartitions,
    LatestPartition,
    Lookback,
    Overlap,
    Previous,
    Window,
)
from airflow_partitions.core.dependencies.unpartitioned import Unpartitioned
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.core.keys.value import from_json


def rule_from_json(data: dict[str, Any], registered: Mapping[str, type[Rule]] | None = None) -> Rule:
    """The rule whose :meth:`~Rule.to_json` gave *data*; no author's code is imported.

    :param registered: classes of rules of one's own, by ``"package.module:Class"``.
    :raises InvalidDefinitionError: if *data* is no rule, or one that is not registered.
    """
    match data:
        case {"rule": "overlap"}:
            return Overlap()
        case {"rule": "lookback", "n": n, "of": of}:
            return Lookback(n, of)
        case {"rule": "previous", "n": n}:
            return Previous(n)
        case {"rule": "window", "before": before, "after": after}:
            return Window(timedelta(microseconds=before), timedelta(microseconds=after))
        case {"rule": "all"}:
            return AllPartitions()
        case {"rule": "latest"}:
            return LatestPartition()
        case {"rule": "unpartitioned", "makes": makes}:
            return Unpartitioned(makes)
        case {"rule": "same_key"}:
            return SameKey()
        case {"rule": "segments", "values": pairs}:
            return SegmentMap({from_json(value): [from_json(other) for other in needed] for value, needed in pairs})
        case {"rule": "by_dimension", "rules": rules}:
            return ByDimension({name: _of_dimension(form) for name, form in rules.items()})
        case {"rule": str(name)} if ":" in name:
            return _own(name, data, registered or {})
    raise InvalidDefinitionError(f"{data!r} is not the JSON form of a rule")


def _of_dimension(data: dict[str, Any]) -> DimensionRule:
    rule = rule_from_json(data)
    if not isinstance(rule, DimensionRule):
        raise InvalidDefinitionError(f"{rule!r} is about whole keys, not about one dimension")
    return rule


def _own(name: str, data: dict[str, Any], registered: Mapping[str, type[Rule]]) -> Rule:
    if name not in registered:
        names = f"registered are: {', '.join(sorted(registered))}" if registered else "none is registered"
        raise InvalidDefinitionError(
            f"rule {name!r} is not registered, so it can't be loaded here; {names}. Register the class with"
            " register_rules() in the on_load of an Airflow plugin"
        )
    try:
        return registered[name].from_json(data)
    except TypeError as error:
        raise InvalidDefinitionError(f"{data!r} is not the JSON form of {name}: {error}") from error
