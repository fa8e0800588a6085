"""Units of time as calendars have them: a quarter of an hour, a day, a week, a month, ten years."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

import attrs

from airflow_partitions.core.calendars.instants import DAY, HOUR, MINUTE, SECOND
from airflow_partitions.core.calendars.timeline import FIRST, LAST, Timeline

_LENGTHS = {"second": SECOND, "minute": MINUTE, "hour": HOUR, "day": DAY, "week": 7 * DAY, "month": 31 * DAY,
            "year": 366 * DAY}  # fmt: skip
_MONDAY = -3 * DAY  # of the epoch's week
_DAY_ZERO = date(1970, 1, 1).toordinal()


@attrs.frozen
class Unit:
    """So many seconds, minutes, hours, days, weeks, months or years of a wall clock.

    Weeks begin on Monday. Several begin where their number divides: 6 hours at 0, 6, 12 and 18 o'clock.
    """

    name: str
    count: int = 1

    def __str__(self) -> str:
        return self.name if self.count == 1 else f"{self.count} {self.name}s"

    @property
    def longest(self) -> int:
        """Its greatest length, in microseconds of a wall clock."""
        return self.count * _LENGTHS[self.name]

    def beginnings(self, low: int, high: int, line: Timeline) -> Iterator[int]:
        """The instants between *low* and *high* at which one begins, by the clocks of a zone, in order.

        Where the clock jumps over it, it begins after the jump; where the clock shows it twice, the first time.
        """
        last = line.period(high)  # the clock may have gone back within it
        for wall in self._walls(low + line.offset(low), high + max(last.offset, last.before)):
            shown = line.instants(wall)
            at = shown[0] if shown else line.after_gap(wall)
            if low < at < high:
                yield at

    def _walls(self, low: int, high: int) -> Iterator[int]:
        """The wall-clock moments in a range at which one begins."""
        low, high = max(low, FIRST + DAY), min(high, LAST - DAY)
        if self.name not in ("month", "year"):
            anchor = _MONDAY if self.name == "week" else 0
            yield from range(low + (anchor - low) % self.longest, high, self.longest)
            return
        months = self.count * (12 if self.name == "year" else 1)
        first, last = (date.fromordinal(at // DAY + _DAY_ZERO) for at in (low, high))
        begin = (first.year * 12 + first.month - 1) // months * months
        for month in range(begin + months, last.year * 12 + last.month, months):
            yield (date(month // 12, month % 12 + 1, 1).toordinal() - _DAY_ZERO) * DAY


#: From the shortest to the longest.
UNITS = tuple(
    Unit(name, count)
    for name, counts in {
        "second": (1, 2, 5, 10, 15, 30),
        "minute": (1, 2, 5, 10, 15, 30),
        "hour": (1, 2, 3, 6, 12),
        "day": (1, 2),
        "week": (1, 2),
        "month": (1, 2, 3, 6),
        "year": (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000),
    }.items()
    for count in counts
)
