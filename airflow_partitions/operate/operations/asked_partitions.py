"""The partitions that somebody asks for: by a selection, or by a list of keys."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from airflow_partitions.core.definitions import PartitionDefinition
from airflow_partitions.core.dependencies import Selection, listed_keys, parse_selection
from airflow_partitions.core.errors import SelectionError
from airflow_partitions.operate.requests.request_size import check_number


def asked_partitions(
    definition: PartitionDefinition, select: str | None, keys: Sequence[str] | None, now: datetime
) -> Selection | None:
    """The partitions that are selected, or listed; ``None`` if neither is said.

    :raises SelectionError: if both are, or the selection can't be read.
    :raises InvalidKeyError: for what is no key.
    :raises RequestSizeError: if more are listed than a request may have.
    """
    if keys is None:
        return None if select is None else parse_selection(definition, select, closed_by=now)
    if select is not None:
        raise SelectionError(f"both select={select!r} and keys are given; expected one of both")
    check_number(len(keys))
    return listed_keys(definition, keys)
