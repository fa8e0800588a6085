"""Keys that belong together because they read the same."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

import attrs

from airflow_partitions.core.definitions import PartitionDefinition
from airflow_partitions.core.dependencies.rule import KeyRule, Sides
from airflow_partitions.core.errors import InvalidKeyError
from airflow_partitions.core.keys import Key


@attrs.frozen
class SameKey(KeyRule):
    """The key with the same text on the other side, whatever the definitions are; none if there is no such key.

    Days of different zones, or a runtime key and a value of a sequence, go together by it.
    """

    fan_out = 1

    def upstream(self, key: Key, sides: Sides, now: datetime | None) -> Iterable[Any]:
        return _named(sides.upstream, str(key))

    def downstream(self, key: Key, sides: Sides, now: datetime | None) -> Iterable[Any]:
        return _named(sides.downstream, str(key))

    def to_json(self) -> dict[str, Any]:
        return {"rule": "same_key"}


def _named(definition: PartitionDefinition, text: str) -> list[Key]:
    try:
        key = definition.parse(text)
    except InvalidKeyError:
        return []
    return [key] if str(key) == text else []  # texts may name an instant in more than one way
