"""A run whose partition another run of its Dag makes, as its leader's task knows it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import attrs

from airflow_partitions.core.versions import check_version, read_time

#: The cell of the leader's task in which the scheduler leaves its members.
MEMBERS = "batch_members"
_VERSION = 1


@attrs.frozen
class Member:
    """A queued run, which is not to begin if its leader makes its partition.

    :ivar key: text of its partition's key.
    :ivar run_after: when it was due or asked for, aware.
    :ivar run_type: Airflow's, such as ``backfill``.
    :ivar clear_number: how often it was cleared.
    :ivar try_number: that of its task if its leader makes it: the one after the last.
    :ivar skip: why it is not to be made, if it was made by hand already; else empty.
    """

    run_id: str
    key: str
    run_after: datetime
    run_type: str
    clear_number: int = 0
    try_number: int = 1
    skip: str = ""


def members_to_json(members: Iterable[Member]) -> dict[str, Any]:
    """JSON form, read back by :func:`members_from_json`."""
    return {"version": _VERSION, "members": [_row(member) for member in members]}


def members_from_json(form: Mapping[str, Any]) -> list[Member]:
    """The inverse of :func:`members_to_json`.

    :raises UnknownVersionError: if another release wrote it.
    """
    check_version(form, _VERSION, "the members of a batch")
    return [
        Member(run_id, key, read_time(run_after), run_type, clear_number, try_number, *skip)
        for run_id, key, run_after, run_type, clear_number, try_number, *skip in form["members"]
    ]


def _row(member: Member) -> list[Any]:
    # Tasks of a release without the last column read all rows but those that have one.
    skip = [member.skip] if member.skip else []
    when = member.run_after.isoformat()
    return [member.run_id, member.key, when, member.run_type, member.clear_number, member.try_number, *skip]
