"""The rows that Airflow keeps for partitions that wait."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from tests.metadata import Metadata

pytestmark = pytest.mark.airflow

DAY = """
@asset(schedule="@hourly", partition=PartitionByInterval("@hourly"))
def hours(): ...

@asset(schedule=hours, partition=DAYS)
def day(): ...
"""


def test_the_events_of_a_days_hours_are_kept_in_one_row(metadata: Metadata, tmp_path: Path) -> None:
    from airflow.assets.manager import asset_manager
    from airflow.models.asset import AssetModel
    from airflow.models.asset import AssetPartitionDagRun as Row
    from airflow.models.dag import DagModel

    metadata.parse(tmp_path, day=DAY)
    with Session(metadata.engine) as at:
        at.execute(update(DagModel).values(is_paused=False))
        asset = at.scalars(select(AssetModel).where(AssetModel.name == "hours")).one().to_serialized()
        for hour in range(24):
            key = f"2013-01-01T{hour:02}:00Z"
            asset_manager.register_asset_change(asset=asset, partition_key=key, session=at)
        at.commit()
        assert at.execute(select(Row.target_dag_id, Row.partition_key)).all() == [("day", "2013-01-01")]
