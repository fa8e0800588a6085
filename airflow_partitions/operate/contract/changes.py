"""Operations about what got worse."""

from __future__ import annotations

from pydantic import Field

from airflow_partitions.operate.contract.asset_selection import AssetSelection
from airflow_partitions.operate.contract.fields import USUAL, Cursor, Limit, Since
from airflow_partitions.operate.contract.operation import Answer, Operation


class Changed(Answer):
    """Partitions of an asset that got worse in one way."""

    count: int
    partitions: str = Field(description="These in words, the last one of a range included; cut where it is long")


class AssetChanges(Answer):
    """What got worse of an asset, by what is known now; null where nothing did."""

    asset: str
    failed: Changed | None = Field(description="Failed now, by a run that failed since then")
    late: Changed | None = Field(description="Not there now, and became due since then")
    stale: Changed | None = Field(description="Stale now, by something upstream that was materialized since then")
    missing: Changed | None = Field(
        description="Missing now, and their interval ended since then, or somebody forgot them since then"
    )
    error: str | None = Field(description="Why nothing can be told of it")


class Changes(Answer):
    """What got worse since a time."""

    now: str = Field(description="The moment of the answer, with UTC offset")
    since: str = Field(description="The time that was asked for, with UTC offset")
    assets: list[AssetChanges] = Field(description="Those of which something got worse, by name")
    cursor: str | None = Field(description="From which the next page goes on; null at the end")


class ListChanges(AssetSelection, Operation, route="GET /changes", answer=Changes, noun="failures", refusals=(404,)):
    """What got worse since a time, of the assets that one may read: newly failed, late, stale and missing partitions.

    What was bad then and has been mended since is not told, nor what got better.
    """

    since: Since
    limit: Limit = USUAL
    cursor: Cursor = None
