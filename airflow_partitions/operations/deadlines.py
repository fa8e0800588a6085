"""Partitions that are late."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from airflow_partitions.deadlines.late import due_times, late
from airflow_partitions.dependencies import selection_text
from airflow_partitions.graph.partitioned_assets import PartitionedAsset, asset_dags, partitioned_asset, read_assets

_SHOWN = 200


def list_late(asset: str) -> dict[str, Any]:
    """The partitions of an asset that are due, by the deadlines of the Dags that make it, and are not there.

    :raises UnknownAssetError: if no Dag makes, or waits for, partitions of it.
    """
    return {"asset": asset, "deadlines": list(_late(partitioned_asset(asset)))}


def late_notes() -> Iterator[str]:
    """A sentence for each asset and deadline by which partitions are late."""
    dags = asset_dags()
    with_deadlines = due_times(sorted({dag_id for each in dags.values() for dag_id in each.producers}))
    for asset in read_assets([each for each in dags.values() if with_deadlines.keys() & set(each.producers)]):
        for form in _late(asset):
            if form["count"]:
                number = f"{form['count']:,} partition{'s' * (form['count'] > 1)}"
                yield f"asset {asset.name!r}: {number} late, due by {form['due']}: {form['partitions']}"


def _late(asset: PartitionedAsset) -> Iterator[dict[str, Any]]:
    now = datetime.now(UTC)
    for deadlines in due_times(asset.dags.producers).values():
        for due_time, later in deadlines:
            partitions = late(asset, due_time, now - later)
            text = selection_text(partitions)
            yield {
                "due": f"{due_time} and {later}" if later else str(due_time),
                "count": len(partitions),
                "partitions": text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…",
            }
