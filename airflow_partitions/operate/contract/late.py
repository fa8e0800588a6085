"""Operations about deadlines."""

from __future__ import annotations

from pydantic import Field

from airflow_partitions.operate.contract.fields import AssetName
from airflow_partitions.operate.contract.operation import Answer, Operation


class Deadline(Answer):
    """What is late by one deadline."""

    due: str = Field(description="When partitions are due", examples=["06:00"])
    count: int = Field(description="Number of partitions that are due and not there")
    partitions: str = Field(
        description="These in words, the last one of a range included; cut where it is long",
        examples=["2013-03-01 to 2013-03-03"],
    )


class Late(Answer):
    """What is late of an asset."""

    asset: str
    deadlines: list[Deadline]


class ListLate(Operation, route="GET /assets/{asset}/late", answer=Late, noun="states", refusals=(404,)):
    """The partitions of an asset that are due, by the deadlines of the Dags that make it, and are not there."""

    asset: AssetName
