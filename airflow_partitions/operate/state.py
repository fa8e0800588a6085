"""The states that a partition can be in."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from airflow_partitions.core.errors import SelectionError


class State(StrEnum):
    """State of a partition: the first that applies."""

    #: A run of it is at work.
    RUNNING = "running"
    #: A run of it has yet to begin.
    QUEUED = "queued"
    #: Its newest run that began failed, and nothing has materialized it since then.
    FAILED = "failed"
    #: An upstream partition that it depends on was materialized later than it.
    STALE = "stale"
    #: It was materialized.
    MATERIALIZED = "materialized"
    #: Its newest run succeeded, but the task that makes it skipped itself.
    SKIPPED = "skipped"
    #: Some of what it needs is there, or it was asked for by events.
    WAITING = "waiting"
    #: Nothing of that.
    MISSING = "missing"

    @classmethod
    def called(cls, text: str) -> State:
        """The state of that name.

        :raises SelectionError: if there is none.
        """
        try:
            return cls(text)
        except ValueError:
            raise SelectionError(f"{text!r} is no state; expected one of {', '.join(cls)}") from None


#: The states of partitions that are there, whatever is wrong with them.
COMPLETE = frozenset({State.STALE, State.MATERIALIZED})


class Status(NamedTuple):
    """The state of a partition, and what is to be said beside it.

    :ivar provisional: whether it was materialized before its interval was over.
    """

    state: State
    provisional: bool = False


MISSING = Status(State.MISSING)
WAITING = Status(State.WAITING)
