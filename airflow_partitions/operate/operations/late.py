"""Partitions that are late."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import attrs

from airflow_partitions.core.definitions.due_time import DueTime
from airflow_partitions.core.dependencies import Selection, selection_text
from airflow_partitions.engine.graph.partitioned_assets import (
    AssetDags,
    PartitionedAsset,
    partitioned_asset,
    read_assets,
)
from airflow_partitions.operate.asker import Asker
from airflow_partitions.operate.contract.late import ListLate
from airflow_partitions.operate.late import due_times, late

_SHOWN = 200


@attrs.frozen
class Late:
    """Partitions of an asset that are due, by one deadline of a Dag that makes them, and are not there.

    :ivar due: the deadline, in words.
    """

    asset: str
    dag_id: str
    due: str
    partitions: Selection

    def __str__(self) -> str:
        count = len(self.partitions)
        number = f"{count:,} partition{'s' * (count > 1)}"
        return f"asset {self.asset!r}: {number} late, due by {self.due}: {self._shown}"

    def to_json(self) -> dict[str, Any]:
        """JSON form."""
        return {"due": self.due, "count": len(self.partitions), "partitions": self._shown}

    @property
    def _shown(self) -> str:
        """The partitions as text, cut where it is long."""
        text = selection_text(self.partitions)
        return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def list_late(asked: ListLate, _: Asker) -> dict[str, Any]:
    """The partitions of an asset that are due, by the deadlines of the Dags that make it, and are not there."""
    asset = partitioned_asset(asked.asset)
    deadlines = _by_deadline(asset, due_times(asset.dags.producers))
    return {"asset": asset.name, "deadlines": [each.to_json() for each in deadlines]}


def late_partitions(dags: Collection[AssetDags]) -> Iterator[Late]:
    """The partitions that are late, by asset and deadline; only assets with deadlines are read.

    :param dags: those around the assets to look at.
    """
    with_deadlines = due_times(sorted({dag_id for each in dags for dag_id in each.producers}))
    for asset in read_assets([each for each in dags if with_deadlines.keys() & set(each.producers)]):
        yield from (each for each in _by_deadline(asset, with_deadlines) if each.partitions)


def _by_deadline(
    asset: PartitionedAsset, with_deadlines: Mapping[str, Sequence[tuple[DueTime, timedelta]]]
) -> Iterator[Late]:
    """What is late of an asset, or nothing, by each of its deadlines."""
    now = datetime.now(UTC)
    for dag_id in asset.dags.producers:
        for due_time, later in with_deadlines.get(dag_id, ()):
            due = f"{due_time} and {later}" if later else str(due_time)
            yield Late(asset.name, dag_id, due, late(asset, due_time, now - later))
