"""The events that a run has read."""

from __future__ import annotations

from datetime import datetime, timedelta

import attrs

_MICROSECOND = timedelta(microseconds=1)


@attrs.frozen
class EventsRead:
    """The upstream events that the newest run of a partition has read.

    :ivar started: when that run began, by a scheduler's clock; ``None`` if none has.
    :ivar event: the id up to which it has read all events for sure, whatever clocks say.
    :ivar clocks: how far the clock that dates events may differ from the scheduler's.
    """

    started: datetime | None = None
    event: int = 0
    clocks: timedelta = timedelta(0)

    def time(self, at: datetime, event: int) -> datetime:
        """When an event dated *at* came, by the scheduler's clock.

        What may have come after the run began is taken to have: one run too many rather than one too few.
        """
        if self.started is None:
            return at
        if event <= self.event:
            return min(at, self.started)
        return max(at, self.started + _MICROSECOND) if at > self.started - self.clocks else at
