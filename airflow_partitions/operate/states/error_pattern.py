"""What errors of many partitions have in common."""

from __future__ import annotations

import re
from collections.abc import Collection

_ELSEWHERE = "…"
_VARIABLE = re.compile(
    r"""
    \b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b      # a UUID
    | \b\d{4}-\d\d-\d\d(?:[T ]\d\d(?::?\d\d){0,2}(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)?   # a date or time
    | \b0x[0-9a-f]+\b
    | \b(?=[a-f]*\d)[0-9a-f]{8,}\b                                        # an id
    | \d+(?:[.,:]\d+)*                                                    # a number, an address, a time of day
    """,
    re.VERBOSE | re.IGNORECASE,
)
_SEVERAL = re.compile(rf"{_ELSEWHERE}(?:[-_./:,T]?{_ELSEWHERE})+")


def error_pattern(text: str, names: Collection[str] = ()) -> str:
    """A *text* without what differs from one partition to the next: keys, dates, ids and numbers.

    :param names: texts of the partition itself: its key, its segments, the id of its run.
    """
    for name in sorted(names, key=len, reverse=True):
        if len(name) > 1:
            text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", _ELSEWHERE, text)
    return _SEVERAL.sub(_ELSEWHERE, _VARIABLE.sub(_ELSEWHERE, text))
