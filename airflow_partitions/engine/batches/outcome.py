"""What became of a member of a batch, as the leader's task tells it and the scheduler reads it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

import attrs

from airflow_partitions.core.versions import check_version, read_time

#: What the names of the cells of the leader's task begin with in which it tells outcomes; a number follows.
OUTCOMES = "batch_outcomes|"
#: So many are in one cell.
IN_CELL = 100
_VERSION = 1


class Ending(StrEnum):
    """How a member ended."""

    MADE = "made"
    SKIPPED = "skipped"
    FAILED = "failed"


@attrs.frozen
class Outcome:
    """What became of a member.

    :ivar ending: ``FAILED`` if the run is to try by itself.
    :ivar begin: when the leader began with it; aware.
    :ivar end: when it had done with it; aware.
    :ivar extras: of its event, by the name of the asset.
    :ivar text: why it was skipped, what made it fail, or the checks that it fails and was published all the same.
    """

    run_id: str
    ending: Ending
    begin: datetime
    end: datetime
    extras: Mapping[str, Any] = attrs.field(factory=dict)
    text: str = ""


def outcomes_to_json(outcomes: Iterable[Outcome]) -> dict[str, Any]:
    """JSON form, read back by :func:`outcomes_from_json`."""
    rows = [[o.run_id, o.ending, o.begin.isoformat(), o.end.isoformat(), dict(o.extras), o.text] for o in outcomes]
    return {"version": _VERSION, "outcomes": rows}


def outcomes_from_json(form: Mapping[str, Any]) -> list[Outcome]:
    """The inverse of :func:`outcomes_to_json`.

    :raises UnknownVersionError: if another release wrote it.
    """
    check_version(form, _VERSION, "the outcomes of a batch")
    return [
        Outcome(run_id, Ending(ending), read_time(begin), read_time(end), extras, text)
        for run_id, ending, begin, end, extras, text in form["outcomes"]
    ]
