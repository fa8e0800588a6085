"""Segments that belong together under different names."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import attrs

from airflow_partitions.core.definitions import PartitionByInterval, PartitionDefinition
from airflow_partitions.core.dependencies.box import in_order
from airflow_partitions.core.dependencies.dimension_rule import DimensionRule, Images, SegmentRule
from airflow_partitions.core.dependencies.rule import Sides
from airflow_partitions.core.errors import InvalidDefinitionError, InvalidKeyError
from airflow_partitions.core.keys import Segment
from airflow_partitions.core.keys.value import Value, own_value, to_json


def _lists(values: Any) -> dict[Value, tuple[Value, ...]]:
    lists = values.items() if isinstance(values, Mapping) else ()
    if not lists or not all(isinstance(needed, list | tuple) and needed for _, needed in lists):
        raise InvalidDefinitionError(
            f"SegmentMap({values!r}); expected downstream values, each with a list of the upstream values it needs,"
            " such as {'east': ['EWR', 'JFK']}"
        )
    return {own_value(value): tuple(map(own_value, needed)) for value, needed in lists}


@attrs.frozen
class SegmentMap(SegmentRule):
    """The upstream values that each downstream value of a dimension needs; other values of either side need nothing.

    .. code-block:: python

        SegmentMap({"east": ["EWR", "JFK"], "west": ["LAX"]})

    :param values: downstream value -> list of upstream values.
    """

    values: Mapping[Value, tuple[Value, ...]] = attrs.field(converter=_lists)

    def by_dimension(self, sides: Sides) -> Mapping[str, DimensionRule]:
        return {self.ends(sides)[0]: self}

    def ends(self, sides: Sides, name: str = "") -> tuple[str, str]:
        needed = [value for values in self.values.values() for value in values]
        return self._end(sides.downstream, self.values, name), self._end(sides.upstream, needed, name)

    def images(self, downstream: PartitionDefinition, upstream: PartitionDefinition) -> tuple[Images, Images]:
        up: dict[Segment, tuple[Segment, ...]] = {}
        down: dict[Segment, list[Segment]] = {}
        for value, needed in self.values.items():
            segment = self._segment(downstream, value)
            up[segment] = in_order(upstream, {self._segment(upstream, other) for other in needed})
            for other in up[segment]:
                down.setdefault(other, []).append(segment)
        return up, {other: in_order(downstream, segments) for other, segments in down.items()}

    def to_json(self) -> dict[str, Any]:
        pairs = [[to_json(value), [to_json(other) for other in needed]] for value, needed in self.values.items()]
        return {"rule": "segments", "values": pairs}

    def _end(self, definition: PartitionDefinition, values: Collection[Value], name: str) -> str:
        segments = {n: d for n, d in definition.dimensions.items() if not isinstance(d, PartitionByInterval)}
        fitting = [n for n, dimension in segments.items() if all(map(dimension.contains, values))]
        if name in fitting:
            return name
        chosen = fitting or (list(segments) if len(segments) == 1 else [])  # the message is then about a value
        if len(chosen) != 1:
            raise InvalidDefinitionError(
                f"{self!r} fits {' and '.join(fitting) or 'no dimension'} of {definition!r}; expected one dimension"
                " with all of its values, named by ByDimension({'region': SegmentMap(…)}) if there are more"
            )
        return chosen[0]

    def _segment(self, dimension: PartitionDefinition, value: Value) -> Segment:
        try:
            segment = dimension.key(value)
        except InvalidKeyError as error:
            raise InvalidDefinitionError(f"{self!r}: {error}") from None
        if not isinstance(segment, Segment):
            raise InvalidDefinitionError(f"{self!r} is about segments; {dimension!r} has none")
        return segment
