"""The one partition of an asset without partitions."""

from __future__ import annotations

from typing import Any

from airflow_partitions.core.definitions.sequence import PartitionBySequence
from airflow_partitions.core.keys import Segment
from airflow_partitions.core.keys.keyed import key_of

#: Text of its key, for an event without one: no other key is empty.
UNKEYED = ""


class WholeAsset(PartitionBySequence):
    """An asset without partitions, seen as one with a single one; its events have no key."""

    kind = "whole"

    def __init__(self) -> None:
        vars(self).update(name=self.kind, segments=(Segment(UNKEYED, UNKEYED),), _index={UNKEYED: 0})

    def key(self, value: Any) -> Segment:
        value = key_of(value)
        return self.parse(value.text if isinstance(value, Segment) else value)

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind}

    def __repr__(self) -> str:
        return "WholeAsset()"
