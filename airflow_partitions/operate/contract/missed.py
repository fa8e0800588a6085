"""Operations about what Dags have missed while they were paused."""

from __future__ import annotations

from pydantic import Field

from airflow_partitions.operate.contract.fields import AssetName, DryRun
from airflow_partitions.operate.contract.operation import Answer, Operation


class MissedByDag(Answer):
    """What one paused Dag has missed."""

    dag_id: str
    count: int = Field(description="Number of partitions that follow by themselves once it is unpaused")
    more: bool = Field(description="Whether there are more: only the first five thousand events are looked at")
    partitions: str = Field(description="These, as text: materialize some of them by --select, and skip the others")


class MissedPartitions(Answer):
    """What the paused Dags that make an asset have missed."""

    asset: str
    dags: list[MissedByDag]
    dry_run: bool = Field(description="Whether nothing was changed")


class ListMissed(
    Operation, route="GET /assets/{asset}/missed", answer=MissedPartitions, noun="states", refusals=(404,)
):
    """The partitions that follow once the paused Dags of an asset are unpaused, for events that came meanwhile."""

    asset: AssetName


class SkipMissed(
    Operation, route="POST /assets/{asset}/missed/skip", answer=MissedPartitions, noun="corrections", refusals=(404,)
):
    """Let none of these partitions follow; they can still be asked for."""

    asset: AssetName
    dry_run: DryRun = False
