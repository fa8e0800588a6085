"""Election of a leader: of several upkeep processes one works, the others stand by.

Each is a row, with a heartbeat; the oldest that is alive works. If a process stalls and wakes up after another has
taken over, both work for a moment, which does no harm: all may be done twice.
"""

from __future__ import annotations

import getpass
import socket
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Self

import attrs
from sqlalchemy import delete, func, select, update

from airflow_partitions.engine.database.connection import open_session
from airflow_partitions.engine.database.models import Upkeep

#: Without a heartbeat for so long a process counts as ended.
ALIVE = timedelta(seconds=30)
#: Heartbeats within a round are sent so often.
_EVERY = ALIVE / 6
#: So long the rows of processes that ended are kept.
_KEEP = timedelta(days=7)


def leader() -> int | None:
    """The id of the leader's row; ``None`` if no upkeep process is alive."""
    alive = Upkeep.ended_at.is_(None), Upkeep.heartbeat_at > datetime.now(UTC) - ALIVE
    with open_session() as session:
        return session.scalar(select(func.min(Upkeep.id)).where(*alive))


def last_heartbeat() -> datetime | None:
    """When an upkeep process last said that it is alive; ``None`` if none did for a week."""
    with open_session() as session:
        return session.scalar(select(func.max(Upkeep.heartbeat_at)))


@attrs.define
class Candidate:
    """This process among the upkeep processes of one Airflow, while it runs.

    .. code-block:: python

        with Candidate() as candidate:
            if candidate.leads():
                ...
    """

    _id: int | None = attrs.field(init=False, default=None)
    _beat_at: datetime = attrs.field(init=False)

    def __enter__(self) -> Self:
        self.enter()
        return self

    @property
    def is_entered(self) -> bool:
        """Whether this process is among them."""
        return self._id is not None

    def enter(self) -> None:
        """Be among them from now on."""
        now = self._beat_at = datetime.now(UTC)
        row = Upkeep(host=socket.getfqdn(), user=getpass.getuser(), started_at=now, heartbeat_at=now)
        with open_session() as session:
            session.execute(delete(Upkeep).where(Upkeep.heartbeat_at < now - _KEEP))
            session.add(row)
            session.commit()
        self._id = row.id

    def leads(self) -> bool:
        """Send a heartbeat; whether this process is the leader."""
        self._send(datetime.now(UTC))
        return leader() == self._id

    def beat(self) -> None:
        """Send a heartbeat, if the last one was some seconds ago: while a round takes long, it is called often."""
        now = datetime.now(UTC)
        if abs(now - self._beat_at) >= _EVERY:
            self._send(now)

    def _send(self, now: datetime) -> None:
        self._beat_at = now
        with open_session() as session:
            session.execute(update(Upkeep).where(Upkeep.id == self._id).values(heartbeat_at=now))
            session.commit()

    def leave(self) -> None:
        """Be none of them any more; others need not wait for the heartbeat that does not come."""
        with open_session() as session:
            session.execute(update(Upkeep).where(Upkeep.id == self._id).values(ended_at=datetime.now(UTC)))
            session.commit()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.leave()
