"""The policy by which a partition is made, and made again. Now is an argument."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, TypeAlias

import attrs

from airflow_partitions.core.calendars.duration import Length, duration
from airflow_partitions.core.definitions.due_time import DueTime
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.core.keys import Interval


@attrs.frozen
class AtLeast:
    """Make a partition as soon as *n* partitions of every upstream are there, and once more when all are.

    :param n: at least 1; an upstream of which fewer are needed must be complete.
    """

    n: int = attrs.field()

    @n.validator
    def _check(self, _: Any, value: Any) -> None:
        if type(value) is not int or value < 1:
            raise InvalidDefinitionError(f"AtLeast({value!r}); expected a number of upstream partitions, at least 1")


@attrs.frozen
class Within:
    """Make a partition again only while it is young, and only when its upstreams have come to rest.

    :param age: time since the end of the partition's interval; afterwards a changed upstream leaves it stale.
    :param settle: time for which no needed upstream partition must have changed.
    """

    age: timedelta = attrs.field(converter=duration)
    settle: timedelta = attrs.field(converter=duration, default=timedelta(0))


@attrs.frozen
class UpstreamStatus:
    """Status of the upstream partitions that one partition needs. Times are aware.

    :ivar complete: each has been materialized.
    :ivar enough: as many have been as it takes to begin.
    :ivar blocked: one of them is being made right now.
    :ivar newest: when one of them was last materialized.
    :ivar completed: when the last of them was materialized for the first time; ``None`` if not *complete*.
    """

    complete: bool
    enough: bool
    blocked: bool = False
    newest: datetime | None = None
    completed: datetime | None = None

    def and_(self, other: UpstreamStatus) -> UpstreamStatus:
        """The status if both are needed."""
        complete = self.complete and other.complete
        return UpstreamStatus(
            complete,
            self.enough and other.enough,
            self.blocked or other.blocked,
            _latest(self.newest, other.newest),
            _latest(self.completed, other.completed) if complete else None,
        )

    def or_(self, other: UpstreamStatus) -> UpstreamStatus:
        """The status if either will do: of those that hold and come to no harm by beginning now."""
        ready = [one for one in (self, other) if one.enough and not one.blocked] or [self, other]
        complete = any(one.complete for one in ready)
        completed = [one.completed for one in (self, other) if one.completed]
        return UpstreamStatus(
            complete,
            any(one.enough for one in ready),
            any(one.blocked for one in ready),
            _latest(*(one.newest for one in ready)),
            min(completed, default=None) if complete else None,
        )


#: A time of day such as ``"06:00"``, or how long after the end of the interval.
BeginTime: TypeAlias = "DueTime | Length"


def _begin_time(at: Any) -> DueTime | None:
    """What ``at=`` says: a time of day, or a length of time after the end of the interval."""
    if at is None or isinstance(at, DueTime):
        return at
    with suppress(InvalidDefinitionError):
        return DueTime(at)
    with suppress(InvalidDefinitionError):
        return DueTime(duration(at))
    raise InvalidDefinitionError(
        f"at={at!r} is no time at which a partition can begin; expected a time of day such as '06:00', or how long"
        " after the end of the interval: a timedelta, seconds, or text such as '2h'"
    )


@attrs.frozen
class RunPolicy:
    """Policy by which a Dag scheduled on assets makes a partition, and makes it again.

    :ivar wait: ``None`` for all that is needed, or :class:`AtLeast`.
    :ivar rerun: when an upstream partition changes after the partition was made: ``"always"`` make it again,
        ``"never"``, or :class:`Within`.
    :ivar max_wait: time after which an upstream run at work is waited for no longer.
    :ivar at: no run begins by itself before this time after the partition's interval; ``None`` for as soon as it can.
    """

    wait: AtLeast | None = attrs.field(default=None)
    rerun: str | Within = attrs.field(default="always")
    max_wait: timedelta = attrs.field(default=timedelta(days=1), converter=duration)
    at: DueTime | None = attrs.field(default=None, converter=_begin_time)

    @wait.validator
    def _check_wait(self, _: Any, value: Any) -> None:
        if value is not None and not isinstance(value, AtLeast):
            raise InvalidDefinitionError(f"wait={value!r}; expected AtLeast(n), or None to wait for all")

    @rerun.validator
    def _check_rerun(self, _: Any, value: Any) -> None:
        if value not in ("always", "never") and not isinstance(value, Within):
            raise InvalidDefinitionError(f"rerun={value!r}; expected 'always', 'never' or Within('7d', settle='30min')")

    def enough(self, there: int, needed: int) -> bool:
        """Whether *there* of *needed* partitions of one upstream suffice to begin."""
        return there >= (needed if self.wait is None else min(self.wait.n, needed))

    def begins(self, interval: Interval | None) -> datetime | None:
        """The time before which no run of a partition with that *interval* begins by itself, aware."""
        return None if self.at is None or interval is None else self.at.of(interval)

    def fires(
        self,
        status: UpstreamStatus,
        started: datetime | None,
        end: datetime | None,
        now: datetime,
        *,
        queued: bool = False,
    ) -> bool:
        """Whether to start a run, where it is late enough for one to begin.

        A run that has begun after an upstream partition was materialized has read it: nothing is left to do.

        :param started: when the newest run of the partition began; ``None`` if there is none.
        :param end: the end of the partition's interval; ``None`` without a time dimension.
        :param queued: whether a run of the partition has yet to begin: it will read what is there.
        """
        if queued or status.blocked or not (status.complete or status.enough):
            return False
        if started is None:
            return True
        if status.completed is None:
            return False
        if self.wait is not None and status.completed > started:
            return True
        return status.newest is not None and status.newest > started and self.reruns(status.newest, end, now)

    def settles(
        self,
        status: UpstreamStatus,
        started: datetime | None,
        end: datetime | None,
        now: datetime,
        *,
        queued: bool = False,
    ) -> bool:
        """Whether to start a run now, or once nothing has changed for long enough; as for :meth:`fires`."""
        if isinstance(self.rerun, Within) and status.newest is not None:
            now = max(now, status.newest + self.rerun.settle)
        return self.fires(status, started, end, now, queued=queued)

    def idle(
        self,
        status: UpstreamStatus,
        started: datetime | None,
        end: datetime | None,
        now: datetime,
        *,
        queued: bool = False,
    ) -> bool:
        """Whether nothing is left to do before another upstream partition is materialized; as for :meth:`fires`."""
        if status.newest is None or (started is None and not queued):
            return False
        if queued or started is None or status.newest <= started:
            return True
        unfinished = self.wait is not None and (status.completed is None or status.completed > started)
        return not unfinished and self.is_past(end, now)

    def reruns(self, changed: datetime, end: datetime | None, now: datetime) -> bool:
        """Whether a partition that was made is made again, *changed* being when an upstream partition last was."""
        if isinstance(self.rerun, Within):
            return not self.is_past(end, now) and now - changed >= self.rerun.settle
        return self.rerun == "always"

    def is_past(self, end: datetime | None, now: datetime) -> bool:
        """Whether no change of an upstream partition makes the partition again any more."""
        if isinstance(self.rerun, Within):
            return end is not None and now - end > self.rerun.age
        return self.rerun == "never"

    def to_json(self) -> dict[str, Any]:
        """JSON form, read back by :meth:`from_json`; durations are in seconds."""
        rerun: Any = self.rerun
        if isinstance(rerun, Within):
            rerun = {"age": rerun.age.total_seconds(), "settle": rerun.settle.total_seconds()}
        wait = None if self.wait is None else self.wait.n
        form = {"wait": wait, "rerun": rerun, "max_wait": self.max_wait.total_seconds()}
        return form if self.at is None else form | {"at": self.at.to_json()}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> RunPolicy:
        """The inverse of :meth:`to_json`."""
        rerun = data["rerun"]
        if isinstance(rerun, dict):
            rerun = Within(*(timedelta(seconds=rerun[name]) for name in ("age", "settle")))
        wait = None if data["wait"] is None else AtLeast(data["wait"])
        at = DueTime.from_json(data["at"]) if "at" in data else None
        return cls(wait, rerun, timedelta(seconds=data["max_wait"]), at)


def _latest(*times: datetime | None) -> datetime | None:
    return max((time for time in times if time is not None), default=None)
