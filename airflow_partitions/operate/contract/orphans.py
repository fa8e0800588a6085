"""Operations about partitions of an older definition."""

from __future__ import annotations

from pydantic import Field

from airflow_partitions.operate.contract.fields import AssetName
from airflow_partitions.operate.contract.operation import Answer, Operation


class Orphans(Answer):
    """Partitions of one older definition."""

    count: int
    first: str = Field(description="Key of the first of them", examples=["2013-01-01T00:00Z"])
    last: str = Field(description="Key of the last of them", examples=["2013-01-02T23:00Z"])


class AllOrphans(Answer):
    """Partitions of older definitions."""

    asset: str
    orphans: list[Orphans]


class ListOrphans(Operation, route="GET /assets/{asset}/orphans", answer=AllOrphans, noun="states", refusals=(404,)):
    """The materialized partitions of an asset that its definition does not have any more."""

    asset: AssetName
