"""Routes about the keys of an asset."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from pydantic import BaseModel, Field, JsonValue

from airflow_partitions.operate.operations import keys as operations
from airflow_partitions.operate.operations.page import USUAL
from airflow_partitions.operate.rest.parameters import Cursor, Limit, Search, Select
from airflow_partitions.operate.rest.permissions import Readable
from airflow_partitions.operate.rest.problem import problems
from airflow_partitions.operate.rest.router import router
from airflow_partitions.operate.rest.text import Text

api = router("keys")


class Key(BaseModel):
    """A key of a partition."""

    key: str = Field(examples=["2013-11-03T01:00-04:00"])
    dimensions: dict[str, str] = Field(
        description="Text of each dimension", examples=[{"time": "2013-11-03T01:00-04:00"}]
    )
    start: str | None = Field(
        description="Begin of its interval, with UTC offset", examples=["2013-11-03T01:00:00-04:00"]
    )
    end: str | None = Field(description="End of its interval, not part of it", examples=["2013-11-03T01:00:00-05:00"])
    metadata: JsonValue = Field(default=None, description="What was kept with a key that is known only at runtime")


class KeyPage(BaseModel):
    """Some of the keys."""

    keys: list[Key]
    count: int | None = Field(description="Number of all; null where one searches, or the calendar is open to the past")
    cursor: str | None = Field(description="From which the next page goes on; null at the end")


@api.get("/assets/{asset:name}/keys", response_model=KeyPage, responses=problems(404))
def list_keys(
    asset: Readable,
    select: Select = None,
    search: Search = None,
    dimension: Annotated[
        Text | None, Query(description="List the keys of this dimension", examples=["airport"])
    ] = None,
    *,
    oldest_first: Annotated[bool, Query(description="Oldest intervals first")] = False,
    limit: Limit = USUAL,
    cursor: Cursor = None,
) -> Any:
    """The valid keys of an asset's closed partitions, materialized or not, for pickers: the newest intervals first."""
    return operations.list_keys(
        asset, select=select, search=search, dimension=dimension, oldest_first=oldest_first, limit=limit, cursor=cursor
    )
