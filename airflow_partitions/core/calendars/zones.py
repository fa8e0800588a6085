"""Time zones by name."""

from __future__ import annotations

from contextlib import suppress
from zoneinfo import ZoneInfo

from airflow_partitions.core.errors import InvalidDefinitionError

_OF_THE_MACHINE = {"localtime", "posixrules"}  # another zone on each machine
# They look like the abbreviation of a place and never change their clocks.
_FIXED = {"EST", "MST", "HST"}


def zone(name: str) -> ZoneInfo:
    """The zone called *name*.

    :raises InvalidDefinitionError: if there is none; names close to it are offered.
    """
    with suppress(KeyError, ValueError, OSError, TypeError):  # any of these, depending on what it is given
        if name not in _OF_THE_MACHINE:
            return ZoneInfo(name)
    from difflib import get_close_matches
    from zoneinfo import available_timezones

    near = get_close_matches(str(name), available_timezones() - _OF_THE_MACHINE - _FIXED, n=3)
    hint = f"; nearest: {', '.join(near)}" if near else ""
    raise InvalidDefinitionError(f"unknown timezone {name!r}; expected an IANA name like 'Europe/Berlin'{hint}")
