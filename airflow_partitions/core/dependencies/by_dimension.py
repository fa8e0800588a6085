"""A rule for each dimension of a product."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from airflow_partitions.core.dependencies.dimension_rule import DimensionRule
from airflow_partitions.core.dependencies.rule import Sides
from airflow_partitions.core.errors import InvalidDefinitionError


@attrs.frozen
class ByDimension(DimensionRule):
    """A rule of its own for some dimensions; the others belong together as without a rule.

    .. code-block:: python

        ByDimension({"date": Lookback(1), "airport": SegmentMap({"NYC": ["EWR", "JFK", "LGA"]})})

    :param rules: name of a dimension, downstream or upstream -> rule about a time or about segments.
    """

    rules: Mapping[str, DimensionRule] = attrs.field()

    @rules.validator
    def _check(self, _: Any, rules: Any) -> None:
        for name, rule in rules.items() if isinstance(rules, Mapping) else [("", None)]:
            if not isinstance(rule, DimensionRule) or isinstance(rule, ByDimension):
                raise InvalidDefinitionError(
                    f"ByDimension({rules!r}): {rule!r} is no rule for a dimension {name!r}; expected for example"
                    " {'date': Lookback(1), 'region': SegmentMap(…)}"
                )

    @property
    def moving(self) -> bool:
        return any(rule.moving for rule in self.rules.values())

    def by_dimension(self, sides: Sides) -> Mapping[str, DimensionRule]:
        return self.rules

    def to_json(self) -> dict[str, Any]:
        return {"rule": "by_dimension", "rules": {name: rule.to_json() for name, rule in self.rules.items()}}
