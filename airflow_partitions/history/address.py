"""Where the ledger keeps the record of a partition: text that sorts by time.

Texts of keys don't sort by time; a row's address does, so that a range of partitions is a range of rows.
"""

from __future__ import annotations

import json
from datetime import datetime
from hashlib import blake2b

from airflow_partitions.calendars.instants import utc
from airflow_partitions.definitions import PartitionDefinition
from airflow_partitions.keys import Key, ProductKey, Segment

#: Every row of the ledger starts with it.
MADE = "made"


def family(definition: PartitionDefinition) -> str:
    """Short name of all definitions whose keys mean the same as those of *definition*.

    Another ``start``, ``end`` or list of values makes no other family: the keys that remain keep their rows.
    """
    parts: dict[str, object] = {}
    for name, dimension in definition.dimensions.items():
        form = dimension.to_json()
        parts[name] = {
            field: form[field] for field in ("kind", "schedule", "seconds", "timezone", "name") if field in form
        }
    return blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=6).hexdigest()


def address(definition: PartitionDefinition, key: Key) -> str:
    """Address of a *key* of *definition*: family, start in UTC, segments."""
    interval = definition.interval_of(key)
    time = "" if interval is None else moment(interval.bounds[0])
    parts = key.parts if isinstance(key, ProductKey) else (key,)
    texts = [part.text.replace("\\", "\\\\").replace("|", "\\|") for part in parts if isinstance(part, Segment)]
    return f"{prefix(definition)}{time}/{'|'.join(texts)}"


def prefix(definition: PartitionDefinition) -> str:
    """What the addresses of all keys of *definition* start with."""
    return f"{MADE}/{family(definition)}/"


def moment(at: int) -> str:
    """An instant in microseconds since the epoch as text of fixed width, in UTC."""
    when: datetime = utc(at)
    return f"{when.year:04}{when:%m%dT%H%M%S}.{when.microsecond:06}Z"
