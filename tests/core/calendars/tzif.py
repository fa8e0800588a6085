"""Clock changes read straight from the time zone database, without ``zoneinfo`` and without our own code."""

from __future__ import annotations

import re
import struct
from calendar import monthrange
from datetime import date
from functools import cache
from importlib.resources import files
from typing import NamedTuple

_DAY_ZERO = date(1970, 1, 1).toordinal()
_LAST_YEAR = 2037


class Change(NamedTuple):
    """At the UTC second *at* the offset goes from *before* to *after* seconds."""

    at: int
    before: int
    after: int


@cache
def data_of(name: str) -> bytes:
    path = files("tzdata") / "zoneinfo"
    for part in name.split("/"):
        path = path / part
    return path.read_bytes()


@cache
def changes(name: str, first_year: int = 1900) -> tuple[Change, ...]:
    """The changes of the zone called *name*, from *first_year* through 2037."""
    data = data_of(name)
    body = data.index(b"TZif", 4)  # the second header: 64-bit times
    isutcnt, isstdcnt, leapcnt, timecnt, typecnt, charcnt = struct.unpack(">6l", data[body + 20 : body + 44])
    times_end = body + 44 + 8 * timecnt
    times = struct.unpack(f">{timecnt}q", data[body + 44 : times_end])
    kinds = data[times_end : times_end + timecnt]
    types_start = times_end + timecnt
    offsets = [struct.unpack(">l", data[i : i + 4])[0] for i in range(types_start, types_start + 6 * typecnt, 6)]
    footer = data[types_start + 6 * typecnt + charcnt + 12 * leapcnt + isstdcnt + isutcnt :].decode().strip()

    all_changes, before = [], offsets[0]
    for at, kind in zip(times, kinds, strict=True):
        all_changes.append(Change(at, before, offsets[kind]))
        before = offsets[kind]
    last = all_changes[-1].at if all_changes else -(1 << 62)
    all_changes.extend(change for change in _changes_by_rule(footer) if change.at > last)
    low, high = _seconds(first_year, 1, 1), _seconds(_LAST_YEAR + 1, 1, 1)
    return tuple(c for c in sorted(all_changes) if c.before != c.after and low <= c.at < high)


_RULE = re.compile(
    r"(?:[A-Za-z]+|<[^>]+>)(?P<standard>[-+:\d]+)(?:[A-Za-z]+|<[^>]+>)(?P<summer>[-+:\d]*),(?P<on>[^,]+),(?P<off>[^,]+)"
)


def _changes_by_rule(footer: str) -> list[Change]:
    """The changes of each year by a POSIX rule such as ``EST5EDT,M3.2.0,M11.1.0``; none without summer time."""
    rule = _RULE.fullmatch(footer)
    if rule is None:
        return []
    standard = -_clock(rule["standard"])
    summer = -_clock(rule["summer"]) if rule["summer"] else standard + 3600
    rule_changes = []
    for year in range(1970, _LAST_YEAR + 1):
        rule_changes.append(Change(_rule_second(rule["on"], year) - standard, standard, summer))
        rule_changes.append(Change(_rule_second(rule["off"], year) - summer, summer, standard))
    return sorted(rule_changes)


def _rule_second(rule: str, year: int) -> int:
    day, _, time = rule.partition("/")
    month, week, weekday = map(int, day.removeprefix("M").split("."))
    first_weekday, length = monthrange(year, month)
    number = 1 + (weekday - (first_weekday + 1)) % 7 + 7 * (week - 1)
    while number > length:
        number -= 7
    return _seconds(year, month, number) + (_clock(time) if time else 2 * 3600)


def _clock(text: str) -> int:
    sign = -1 if text.startswith("-") else 1
    parts = [int(part) for part in text.lstrip("+-").split(":")]
    return sign * sum(part * unit for part, unit in zip(parts, (3600, 60, 1), strict=False))


def _seconds(year: int, month: int, day: int) -> int:
    return (date(year, month, day).toordinal() - _DAY_ZERO) * 86_400
