"""Time zones by name."""

from __future__ import annotations

from contextlib import suppress
from zoneinfo import ZoneInfo

from airflow_partitions.errors import InvalidDefinitionError


def zone(name: str) -> ZoneInfo:
    """The zone called *name*.

    :raises InvalidDefinitionError: if there is none; names close to it are offered.
    """
    with suppress(KeyError, ValueError, OSError, TypeError):  # any of these, depending on what it is given
        if name != "localtime":  # another zone on each machine
            return ZoneInfo(name)
    from difflib import get_close_matches
    from zoneinfo import available_timezones

    near = get_close_matches(str(name), available_timezones() - {"localtime"}, n=3)
    hint = f"; nearest: {', '.join(near)}" if near else ""
    raise InvalidDefinitionError(f"unknown timezone {name!r}; expected an IANA name like 'Europe/Berlin'{hint}")
