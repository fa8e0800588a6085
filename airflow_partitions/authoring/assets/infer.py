"""Inference of partitions from the schedule."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from enum import Enum
from typing import Any

from airflow_partitions.core.definitions import PartitionByInterval, PartitionDefinition
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.engine.timetables.asset_extra import read_extra
from airflow_partitions.engine.timetables.condition import condition_of, leaves


class Inferred(Enum):
    """Stands for a definition that follows from ``schedule``.

    For a preset, cron or timedelta those are the intervals between its ticks, read in UTC; for upstream assets the
    partitions that all of them have. Anything else is refused.
    """

    INFER = "INFER"

    def __repr__(self) -> str:
        return self.name


INFER: Any = Inferred.INFER


def inferred(schedule: Any, definitions: Mapping[str, Any]) -> PartitionDefinition:
    """The definition that follows from *schedule*.

    :param definitions: of upstream assets by name, for those that publish none.
    :raises InvalidDefinitionError: if there is none, or more than one; the message says what to write instead.
    """
    condition = condition_of(schedule)
    if condition is None:
        return _of_time(schedule)
    upstream: dict[str, PartitionDefinition] = {}
    for leaf in leaves(condition):
        produced = read_extra(getattr(leaf, "extra", {}))
        declared = definitions.get(leaf.name)
        definition = getattr(definitions.get(leaf.name, produced), "definition", declared)
        if definition is None:
            raise InvalidDefinitionError(
                f"partition=INFER: upstream asset {leaf.name!r} says nothing of its partitions here; write the"
                " definition, for example partition=PartitionByInterval('@daily'), or partition=None for none"
            )
        upstream[leaf.name] = definition
    first, *others = upstream.values()
    if any(other != first for other in others):
        pairs = "; ".join(f"{name}: {definition!r}" for name, definition in upstream.items())
        raise InvalidDefinitionError(
            f"partition=INFER: the upstream assets have different partitions ({pairs}); write the one you mean:"
            f" partition={first!r}"
        )
    return first


def _of_time(schedule: Any) -> PartitionDefinition:
    if schedule is None:
        raise InvalidDefinitionError(
            "partition=INFER: schedule=None says nothing of partitions; write partition=None for an asset without, or"
            " the definition"
        )
    if not isinstance(schedule, str | timedelta) or schedule in ("@once", "@continuous"):
        raise InvalidDefinitionError(
            f"partition=INFER: no intervals follow from schedule={schedule!r}; expected a preset such as '@daily', a"
            " cron expression, a timedelta or upstream assets. Write the definition:"
            " partition=PartitionByInterval('@daily', timezone=…)"
        )
    return PartitionByInterval(schedule)
