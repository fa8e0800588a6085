"""Election of a leader: of several upkeep processes one works, the others stand by.

Each is a row among Airflow's jobs, with a heartbeat, as schedulers are; the oldest that is alive works. If a process
stalls and wakes up after another has taken over, both work for a moment, which does no harm: all may be done twice.
"""

from __future__ import annotations

import getpass
import socket
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Self

import attrs
from sqlalchemy import func, insert, select, update

from airflow_partitions.history.database import session

#: Airflow's name for such rows, with the version of what they mean: processes of other releases are not looked at.
JOB_TYPE = "AssetPartitionsUpkeep-1"
#: Without a heartbeat for so long a process counts as ended.
ALIVE = timedelta(seconds=30)


def leader() -> int | None:
    """The id of the leader's job; ``None`` if no upkeep process is alive."""
    from airflow.jobs.job import Job

    alive = (Job.job_type == JOB_TYPE, Job.state == "running", Job.latest_heartbeat > datetime.now(UTC) - ALIVE)
    with session() as at:
        return at.scalar(select(func.min(Job.id)).where(*alive))


@attrs.define
class Candidate:
    """This process among the upkeep processes of one Airflow, while it runs.

    .. code-block:: python

        with Candidate() as candidate:
            if candidate.leads():
                ...
    """

    _id: int = attrs.field(init=False)

    def __enter__(self) -> Self:
        from airflow.jobs.job import Job

        now = datetime.now(UTC)
        row = insert(Job).values(
            job_type=JOB_TYPE,
            state="running",
            start_date=now,
            latest_heartbeat=now,
            hostname=socket.getfqdn(),
            unixname=getpass.getuser(),
        )
        with session() as at:
            (self._id,) = tuple(at.connection().execute(row).inserted_primary_key or ())
            at.commit()
        return self

    def leads(self) -> bool:
        """Send a heartbeat; whether this process is the leader."""
        from airflow.jobs.job import Job

        with session() as at:
            at.execute(update(Job).where(Job.id == self._id).values(latest_heartbeat=datetime.now(UTC)))
            at.commit()
        return leader() == self._id

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        from airflow.jobs.job import Job

        state = "success" if kind is None or kind is KeyboardInterrupt else "failed"
        with session() as at:
            at.execute(update(Job).where(Job.id == self._id).values(state=state, end_date=datetime.now(UTC)))
            at.commit()
