"""Routes about partitions of an older definition."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from airflow_partitions.operate.operations import orphans as operations
from airflow_partitions.operate.rest.permissions import Readable
from airflow_partitions.operate.rest.problem import problems
from airflow_partitions.operate.rest.router import router

api = router("states")


class Orphans(BaseModel):
    """Partitions of one older definition."""

    count: int
    first: str = Field(description="Key of the first of them", examples=["2013-01-01T00:00Z"])
    last: str = Field(description="Key of the last of them", examples=["2013-01-02T23:00Z"])


class AllOrphans(BaseModel):
    """Partitions of older definitions."""

    asset: str
    orphans: list[Orphans]


@api.get("/assets/{asset:name}/orphans", response_model=AllOrphans, responses=problems(404))
def list_orphans(asset: Readable) -> Any:
    """The materialized partitions of an asset that its definition does not have any more."""
    return operations.list_orphans(asset)
