"""Requests for runs: of several schedulers one starts a run, and all know what it has read.

Airflow may have two pending rows for one partition. If each is looked at by a scheduler of its own, neither sees the
run that the other one makes before it is committed. So each notes its requests.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta

import attrs
from sqlalchemy import bindparam, delete, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from airflow_partitions.engine.database.connection import is_one_machine, open_connection, open_session, portions
from airflow_partitions.engine.database.models import RunRequest as Row

#: A run that was requested is there after one loop of the scheduler; this is far longer.
APPEARS_WITHIN = timedelta(seconds=60)
_REQUESTS = select(Row.key, Row.at, Row.event, Row.run).where(
    Row.dag_id == bindparam("dag_id"), Row.key.in_(bindparam("keys", expanding=True))
)


@attrs.frozen
class RunRequest:
    """A request for the run of a partition.

    :ivar at: when it was made, by the clock of the scheduler that made it; aware.
    :ivar event: the newest asset event at that time, by id: a run that was made later has read all up to it.
    :ivar run: the newest run of the partition at that time, by id; 0 if there was none.
    """

    at: datetime
    event: int = 0
    run: int = 0

    def is_open(self, started: datetime | None, now: datetime) -> bool:
        """Whether the run may still appear, and is not the one that has *started*."""
        return abs(now - self.at) < APPEARS_WITHIN and (started is None or started < self.at)


def request_run(dag_id: str, key: str, request: RunRequest, started: datetime | None) -> bool:
    """Note the *request* of a run of the Dag's *key*; ``False`` if another scheduler's is open.

    On SQLite, which Airflow allows one scheduler, nothing is noted.

    :param started: when the newest run of the key began.
    """
    if is_one_machine():
        return True
    own = Row.dag_id == dag_id, Row.key == key
    # What RunRequest.is_open says no to: of several schedulers one writes over it.
    over = [Row.at <= request.at - APPEARS_WITHIN, Row.at >= request.at + APPEARS_WITHIN]
    if started is not None:
        over.append(Row.at <= started)
    with open_session() as session:
        taken = session.connection().execute(update(Row).where(*own, or_(*over)).values(attrs.asdict(request))).rowcount
        if not taken:
            if session.scalar(select(Row.at).where(*own)) is not None:
                return False
            try:
                session.execute(insert(Row).values(dag_id=dag_id, key=key, **attrs.asdict(request)))
            except IntegrityError:  # another scheduler was there first
                return False
        session.commit()
    return True


def run_requests(dag_id: str, keys: Collection[str]) -> dict[str, RunRequest]:
    """The newest requests for runs of a Dag's *keys*, by key."""
    if is_one_machine():
        return {}
    requests: dict[str, RunRequest] = {}
    with open_connection() as connection:
        for portion in portions(list(keys)):
            rows = connection.execute(_REQUESTS, {"dag_id": dag_id, "keys": portion})
            requests.update((key, RunRequest(made, event, run)) for key, made, event, run in rows)
    return requests


def delete_run_requests(before: datetime) -> None:
    """Delete those that were made *before* an instant: their runs are there, and their time tells what these read."""
    if is_one_machine():
        return
    with open_session() as session:
        session.execute(delete(Row).where(Row.at < before))
        session.commit()
