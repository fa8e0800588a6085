"""Operations about what failed."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from airflow_partitions.operate.contract.asset_selection import AssetSelection
from airflow_partitions.operate.contract.fields import USUAL, Cursor, Limit, Since
from airflow_partitions.operate.contract.operation import Answer, Operation


class FailedOfAsset(Answer):
    """The failed partitions of one asset with one error."""

    asset: str
    count: int
    partitions: str = Field(
        description="These in words, the last one of a range included; cut where it is long",
        examples=["2013-03-01 to 2013-03-03"],
    )


class Failure(Answer):
    """Failed partitions with the same error, but for their keys, dates, ids and numbers."""

    id: str = Field(description="Short name of the error")
    error: str = Field(description="That of the newest, in one line", examples=["ConnectionError: 503 from the source"])
    count: int = Field(description="Number of partitions")
    assets: list[FailedOfAsset]
    tasks: list[str] = Field(description="Ids of the tasks that failed")
    since: str | None = Field(description="When the first of these runs failed, with UTC offset")
    last: str | None = Field(description="When the last one did")


class FailurePage(Answer):
    """What failed, by its error."""

    now: str = Field(description="The moment of the answer, with UTC offset")
    failures: list[Failure] = Field(description="The most partitions first")
    unread: int = Field(description="Number of failed partitions that are not told, since their assets have so many")
    problems: list[str] = Field(description="Assets of which nothing can be told, each with the reason")
    cursor: str | None = Field(description="From which the next page goes on; null at the end")


class ListFailures(
    AssetSelection, Operation, route="GET /failures", answer=FailurePage, noun="failures", refusals=(404,)
):
    """The failed partitions of all assets that one may read, by what made their last runs fail."""

    since: Annotated[Since | None, Field(description="Only those whose run failed since then")] = None
    limit: Limit = USUAL
    cursor: Cursor = None
