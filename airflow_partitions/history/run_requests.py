"""Requests for runs: of several schedulers one starts a run, and all know what it has read.

Airflow may have two pending rows for one partition. If each is looked at by a scheduler of its own, neither sees the
run that the other one makes before it is committed. So each notes its requests in cells of an upstream.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

import attrs

from airflow_partitions.errors import UnknownVersionError
from airflow_partitions.history.database import is_one_machine, session
from airflow_partitions.history.state_store import asset_id_of, lock_cell, read_cells, write_cells
from airflow_partitions.versions import check_version, read_form, read_number, read_time

log = logging.getLogger(__name__)

#: A run that was requested is there after one loop of the scheduler; this is far longer.
APPEARS_WITHIN = timedelta(seconds=60)
_VERSION = 1


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

    def to_json(self) -> dict[str, Any]:
        """JSON form, read back by :meth:`from_json`."""
        return {"version": _VERSION, "at": self.at.isoformat(), "event": self.event, "run": self.run}

    @classmethod
    def from_json(cls, form: Any) -> RunRequest:
        """The inverse of :meth:`to_json`.

        :raises UnknownVersionError: if another release wrote it.
        """
        check_version(form, _VERSION, "the request of a run")
        return cls(read_time(form["at"]), read_number(form["event"]), read_number(form["run"]))


def request_run(dag_id: str, key: str, upstream: str, request: RunRequest, started: datetime | None) -> bool:
    """Note the *request* of a run of the Dag's *key*; ``False`` if another scheduler's is open.

    On SQLite, which Airflow allows one scheduler, nothing is noted.

    :param upstream: the asset that has the cell.
    :param started: when the newest run of the key began.
    """
    with session() as at:
        asset_id = asset_id_of(at, upstream)
        if asset_id is None or is_one_machine():
            return True
        cell = _cell(dag_id, key)
        lock_cell(at, asset_id, cell)
        before = _read(read_cells(at, asset_id, [cell])[cell], key)
        if before is not None and before.is_open(started, request.at):
            return False
        write_cells(at, asset_id, {cell: json.dumps(request.to_json())})
        at.commit()
    return True


def run_requests(dag_id: str, keys: Collection[str], upstream: str) -> dict[str, RunRequest]:
    """The newest requests for runs of a Dag's *keys*, by key."""
    if is_one_machine():
        return {}
    cells = {_cell(dag_id, key): key for key in keys}
    with session() as at:
        asset_id = asset_id_of(at, upstream)
        forms = {} if asset_id is None else read_cells(at, asset_id, cells)
    requests = {cells[cell]: _read(form, cells[cell]) for cell, form in forms.items()}
    return {key: request for key, request in requests.items() if request is not None}


def _cell(dag_id: str, key: str) -> str:
    return f"request/{dag_id}/{key}"


def _read(form: Any, key: str) -> RunRequest | None:
    """The request in a cell; none if another release wrote it, since a scheduler must go on."""
    try:
        return read_form(form, RunRequest.from_json, f"the request of a run for {key!r}", log.warning)
    except UnknownVersionError as error:
        log.warning("The request of a run for %r is left aside: %s", key, error)
        return None
