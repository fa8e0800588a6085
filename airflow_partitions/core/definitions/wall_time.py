"""Times as people write them, for messages that name what was meant."""

from __future__ import annotations

import re
from datetime import datetime

from airflow_partitions.core.calendars.instants import from_iso

_TIME = re.compile(
    r"(?P<date>\d{4}-\d{1,2}-\d{1,2})(?:[T\s]*(?P<clock>\d{1,2}(?::\d{2}){0,2}))?\s*(?P<offset>Z|[+-]\d{2}:?\d{2})?"
)


def wall_time(text: str) -> datetime | None:
    """The first date or time in *text*, naive where it has no UTC offset; ``None`` if there is none."""
    match = _TIME.search(text)
    if match is None:
        return None
    year, month, day = match["date"].split("-")
    hour, minute, second = [*(match["clock"] or "0").split(":"), "0", "0"][:3]
    clock = f"{hour:0>2}:{minute:0>2}:{second:0>2}"
    try:
        return from_iso(f"{year}-{month:0>2}-{day:0>2}T{clock}{match['offset'] or ''}")
    except ValueError:
        return None
