"""What the partitions of an asset took lately: seconds of their runs, and bytes."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any

import attrs
from sqlalchemy import select

from airflow_partitions.engine.database.connection import open_session
from airflow_partitions.engine.database.models import Partition

if TYPE_CHECKING:
    from airflow_partitions.operate.states.asset_states import AssetStates

#: So many of the newest are looked at.
_RECENT = 50


@attrs.frozen
class Cost:
    """The usual cost of one partition: medians of recent ones.

    :ivar seconds: from the start of its run to its end; ``None`` if there was none lately.
    :ivar bytes: that were written; ``None`` if nothing tells.
    """

    seconds: float | None = None
    bytes: int | None = None


def recent_cost(of: AssetStates, dag_id: str) -> Cost:
    """The usual cost of a partition of an asset, made by a run of the Dag."""
    seconds, sizes = _seconds(dag_id), _sizes(of)
    return Cost(round(median(seconds), 1) if seconds else None, round(median(sizes)) if sizes else None)


def _seconds(dag_id: str) -> list[float]:
    from airflow.models.dagrun import DagRun
    from airflow.utils.state import DagRunState

    query = (
        select(DagRun.start_date, DagRun.end_date)
        .where(DagRun.dag_id == dag_id, DagRun.state == DagRunState.SUCCESS)
        .order_by(DagRun.id.desc())
        .limit(_RECENT)
    )
    with open_session() as session:
        return [(end - start).total_seconds() for start, end in session.execute(query) if start and end]


def _sizes(of: AssetStates) -> list[int]:
    """Bytes of the partitions of the newest events; where there are no events any more, of the ledger's last ones."""
    from airflow.models.asset import AssetEvent

    if (asset_id := of.times.asset_id) is None:
        return []
    with open_session() as session:
        events = select(AssetEvent.extra).where(AssetEvent.asset_id == asset_id).order_by(AssetEvent.timestamp.desc())
        extras: list[Any] = list(session.scalars(events.limit(_RECENT)))
        if not extras:
            where = Partition.asset_id == asset_id, Partition.family == of.times.family
            newest = select(Partition.bytes).where(*where).order_by(Partition.start.desc()).limit(_RECENT)
            return [size for size in session.scalars(newest) if size is not None]
    sizes = [extra.get("bytes") for extra in extras if isinstance(extra, dict)]
    return [size for size in sizes if isinstance(size, int)]
