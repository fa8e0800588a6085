"""The rule for an upstream without partitions."""

from __future__ import annotations

from typing import Any

import attrs

from airflow_partitions.core.dependencies.time_rule import AllPartitions
from airflow_partitions.core.errors import InvalidDefinitionError


@attrs.frozen
class Unpartitioned(AllPartitions):
    """Of an upstream without partitions: its newest event counts for every partition.

    .. code-block:: python

        @asset(schedule=sales & rates, partition=DAYS, rules={"rates": Unpartitioned()})
        def revenue(partition): ...  # each day of sales, once there are any rates

    :param makes: what a new event of it makes again: the ``"newest"`` partition that is over, with all segments; of a
        definition without time all partitions; or ``"nothing"``.
    """

    makes: str = attrs.field(default="newest")

    @makes.validator
    def _check(self, _: Any, makes: Any) -> None:
        if makes not in ("newest", "nothing"):
            raise InvalidDefinitionError(f"Unpartitioned(makes={makes!r}); expected 'newest' or 'nothing'")

    def to_json(self) -> dict[str, Any]:
        return {"rule": "unpartitioned", "makes": self.makes}
