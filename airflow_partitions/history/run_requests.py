"""Which runs were just asked for: of several schedulers one starts them.

Airflow may have two pending rows for one partition. If each is looked at by a scheduler of its own, neither sees the
run that the other one makes before it is committed. So they tell each other in a cell of an upstream.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

from airflow_partitions.history.database import session
from airflow_partitions.history.state_store import hold_cell, owner, read_cells, write_cells

#: A run that was asked for is there after one loop of the scheduler; this is far longer.
APPEARS_WITHIN = timedelta(seconds=60)


def is_open(asked: datetime | None, begun: datetime | None, now: datetime) -> bool:
    """Whether the run *asked* for at a moment may still appear, and is not the one that has *begun*."""
    return asked is not None and now - asked < APPEARS_WITHIN and not (begun is not None and begun >= asked)


def first_to_ask(dag_id: str, key: str, upstream: str, begun: datetime | None) -> bool:
    """Note that a run of the Dag's *key* is asked for; ``False`` if another scheduler has, and its run may yet appear.

    On SQLite, which Airflow allows one scheduler, nothing is noted.

    :param upstream: the asset that has the cell.
    :param begun: when the newest run of the key began.
    """
    with session() as at:
        asset_id = owner(at, upstream)
        if asset_id is None or at.get_bind().dialect.name == "sqlite":
            return True
        cell = f"asked/{dag_id}"
        hold_cell(at, asset_id, cell)
        found = json.loads(read_cells(at, asset_id, [cell])[cell]) or {}
        now = datetime.now(UTC)
        asked = {
            text: time for text, moment in found.items() if is_open(time := datetime.fromisoformat(moment), None, now)
        }
        if is_open(asked.get(key), begun, now):
            return False
        asked[key] = now
        write_cells(at, asset_id, {cell: json.dumps({text: time.isoformat() for text, time in asked.items()})})
        at.commit()
    return True
