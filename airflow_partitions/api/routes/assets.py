"""Routes about assets and their definitions."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from pydantic import BaseModel, Field

from airflow_partitions.api.parameters import Cursor, Limit, Search
from airflow_partitions.api.permissions import Readable, ReadableDags
from airflow_partitions.api.problem import problems
from airflow_partitions.api.router import router
from airflow_partitions.api.routes.states import StateCounts
from airflow_partitions.operations import assets as operations
from airflow_partitions.operations.page import USUAL

api = router("assets")


class Dimension(BaseModel):
    """A dimension of a definition."""

    name: str = Field(examples=["time"])
    kind: str = Field(examples=["interval"])
    count: int | None = Field(description="Number of its keys; null for time, and for keys at runtime")


class Definition(BaseModel):
    """What partitions an asset has; of those with time, the closed ones."""

    kind: str = Field(description="interval, sequence, product or runtime", examples=["interval"])
    text: str = Field(examples=["PartitionByInterval('@hourly', timezone='America/New_York')"])
    timezone: str | None = Field(description="IANA name of the zone of the intervals", examples=["America/New_York"])
    dimensions: list[Dimension]
    first: str | None = Field(description="Key of the first partition; null if the calendar is open to the past")
    last: str | None = Field(description="Key of the newest partition whose interval is over")
    count: int | None = Field(description="Number of partitions from first to last")
    form: dict[str, Any] = Field(description="JSON form of the definition")


class Asset(BaseModel):
    """A partitioned asset."""

    name: str = Field(examples=["hourly_flights"])
    definition: Definition
    producers: list[str] = Field(description="Dags that make it")
    counts: StateCounts | None = Field(default=None, description="Numbers of its partitions by state, where asked for")
    consumers: list[str] = Field(description="Dags that wait for it, as far as one may read them")


class AssetPage(BaseModel):
    """Some of the assets."""

    assets: list[Asset]
    cursor: str | None = Field(description="From which the next page goes on; null at the end")


@api.get("/assets", response_model=AssetPage)
def list_assets(
    dags: ReadableDags,
    search: Search = None,
    *,
    counts: Annotated[bool, Query(description="With numbers of their partitions by state, which takes longer")] = False,
    limit: Limit = USUAL,
    cursor: Cursor = None,
) -> Any:
    """The partitioned assets that one may read, by name."""
    return operations.list_assets(search=search, counts=counts, limit=limit, cursor=cursor, dags=dags)


@api.get("/assets/{asset:name}", response_model=Asset, responses=problems(404))
def show_asset(asset: Readable, dags: ReadableDags) -> Any:
    """One asset, its definition, and the Dags around it."""
    return operations.show_asset(asset, dags=dags)
