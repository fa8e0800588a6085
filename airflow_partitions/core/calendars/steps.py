"""Steps along a calendar, many at once."""

from __future__ import annotations

from bisect import bisect_right

from airflow_partitions.core.calendars import Calendar
from airflow_partitions.core.calendars.timeline import FIRST, LAST

_WALKED = 32  # so few are quicker walked than searched for


def ahead(calendar: Calendar, boundary: int, n: int) -> int:
    """The *n*-th boundary after *boundary*; the end of time if there are not so many."""
    if n <= _WALKED:
        for _ in range(n):
            boundary = calendar.after(boundary) or LAST
        return min(boundary, LAST)
    distance = ((calendar.after(boundary) or LAST) - boundary) * (n + 1)
    while (end := min(boundary + distance, LAST)) < LAST and calendar.count(boundary, end) <= n:
        distance *= 2
    counted = range(boundary, end)
    return boundary + bisect_right(counted, n, key=lambda at: calendar.count(boundary, at + 1))


def back(calendar: Calendar, boundary: int, n: int) -> int:
    """The *n*-th boundary before *boundary*; the start of time if there are not so many."""
    if n <= _WALKED:
        for _ in range(n):
            previous = calendar.floor(boundary - 1)
            boundary = FIRST if previous is None else previous
        return max(boundary, FIRST)
    before = calendar.floor(boundary - 1)
    distance = (boundary - (FIRST if before is None else before)) * n
    while (start := max(boundary - distance, FIRST)) > FIRST and calendar.count(start, boundary) < n:
        distance *= 2
    counted = calendar.count(start, boundary)
    return FIRST if counted < n else ahead(calendar, (calendar.after(start - 1) or LAST), counted - n)
