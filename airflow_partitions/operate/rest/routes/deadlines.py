"""Routes about deadlines."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from airflow_partitions.operate.operations import deadlines as operations
from airflow_partitions.operate.rest.permissions import Readable
from airflow_partitions.operate.rest.problem import problems
from airflow_partitions.operate.rest.router import router

api = router("states")


class Deadline(BaseModel):
    """What is late by one deadline."""

    due: str = Field(description="When partitions are due", examples=["06:00"])
    count: int = Field(description="Number of partitions that are due and not there")
    partitions: str = Field(description="These, as text; cut where it is long", examples=["2013-03-01..2013-03-03"])


class Late(BaseModel):
    """What is late of an asset."""

    asset: str
    deadlines: list[Deadline]


@api.get("/assets/{asset:name}/late", response_model=Late, responses=problems(404))
def list_late(asset: Readable) -> Any:
    """The partitions of an asset that are due, by the deadlines of the Dags that make it, and are not there."""
    return operations.list_late(asset)
