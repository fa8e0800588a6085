"""Things that stand for their keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from airflow_partitions.core.keys import Key


class Keyed:
    """Something with a key, which may stand wherever a key may: a partition.

    :ivar wrapped: the key.
    """

    __slots__ = ("wrapped",)

    wrapped: Key


def key_of(value: Any) -> Any:
    """The key of what has one; anything else as it is."""
    return value.wrapped if isinstance(value, Keyed) else value
