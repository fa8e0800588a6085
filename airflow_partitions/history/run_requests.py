"""Requests for runs: of several schedulers one starts a run.

Airflow may have two pending rows for one partition. If each is looked at by a scheduler of its own, neither sees the
run that the other one makes before it is committed. So each notes its requests in a cell of an upstream.
"""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime, timedelta

from airflow_partitions.errors import UnknownVersionError
from airflow_partitions.history.database import session
from airflow_partitions.history.state_store import asset_id_of, lock_cell, read_cells, write_cells
from airflow_partitions.versions import check_version

log = logging.getLogger(__name__)

#: A run that was requested is there after one loop of the scheduler; this is far longer.
APPEARS_WITHIN = timedelta(seconds=60)
_VERSION = 1


def is_open(requested: datetime | None, started: datetime | None, now: datetime) -> bool:
    """Whether the run *requested* at a moment may still appear, and is not the one that has *started*."""
    if requested is None or now - requested >= APPEARS_WITHIN:
        return False
    return started is None or started < requested


def request_run(dag_id: str, key: str, upstream: str, started: datetime | None) -> bool:
    """Note that a run of the Dag's *key* is requested; ``False`` if another scheduler has, and its run may yet appear.

    On SQLite, which Airflow allows one scheduler, nothing is noted.

    :param upstream: the asset that has the cell.
    :param started: when the newest run of the key began.
    """
    with session() as at:
        asset_id = asset_id_of(at, upstream)
        if asset_id is None or at.get_bind().dialect.name == "sqlite":
            return True
        cell = f"requests/{dag_id}"
        lock_cell(at, asset_id, cell)
        now = datetime.now(UTC)
        requests = _read(read_cells(at, asset_id, [cell])[cell], now)
        if is_open(requests.get(key), started, now):
            return False
        requests[key] = now
        form = {"version": _VERSION, "requests": {text: time.isoformat() for text, time in requests.items()}}
        write_cells(at, asset_id, {cell: json.dumps(form)})
        at.commit()
    return True


def _read(text: str, now: datetime) -> dict[str, datetime]:
    """The open requests in a cell; none if another release wrote it, since a scheduler must go on."""
    form = json.loads(text)
    if form is None:
        return {}
    try:
        check_version(form, _VERSION, "the cell of run requests")
    except UnknownVersionError as error:
        log.warning("Requests of other schedulers are left aside: %s", error)
        return {}
    times = {key: datetime.fromisoformat(moment) for key, moment in form["requests"].items()}
    return {key: time for key, time in times.items() if is_open(time, None, now)}
