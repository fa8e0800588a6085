"""The link from a task instance to its partition, on Airflow's page of it."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, urlsplit

from airflow.sdk import BaseOperatorLink
from sqlalchemy import select

from airflow_partitions.engine.database.connection import open_connection
from airflow_partitions.operate.urls import PARTITION_PAGE

_OURS = "airflow_partitions."


class PartitionLink(BaseOperatorLink):
    """A link to the partition of a run: of the asset that the task writes, or of the first that its Dag writes.

    The API server asks for it when somebody looks at a task instance, of any Dag; others have no link.
    """

    name = "Partition"

    def get_link(self, operator: Any, *, ti_key: Any) -> str:
        """The address of the partition; empty if there is none."""
        from airflow.configuration import conf
        from airflow.models.asset import AssetModel, TaskOutletAssetReference
        from airflow.models.dag import DagModel
        from airflow.models.dagrun import DagRun

        query = (
            select(DagRun.partition_key, AssetModel.name)
            .join(DagModel, DagModel.dag_id == DagRun.dag_id)
            .join(TaskOutletAssetReference, TaskOutletAssetReference.dag_id == DagRun.dag_id)
            .join(AssetModel, AssetModel.id == TaskOutletAssetReference.asset_id)
            .where(
                DagRun.dag_id == ti_key.dag_id,
                DagRun.run_id == ti_key.run_id,
                DagRun.partition_key.is_not(None),
                DagModel.timetable_type.startswith(_OURS, autoescape=True),
                AssetModel.active.has(),
            )
            .order_by((TaskOutletAssetReference.task_id == ti_key.task_id).desc(), AssetModel.name)
            .limit(1)
        )
        with open_connection() as connection:
            row = connection.execute(query).one_or_none()
        if row is None:
            return ""
        base = urlsplit(conf.get("api", "base_url", fallback="")).path.rstrip("/")
        names = {"asset": quote(row.name, safe=""), "key": quote(row.partition_key, safe="")}
        return base + PARTITION_PAGE.format(**names)
