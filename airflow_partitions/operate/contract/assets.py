"""Operations about assets and their definitions."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from airflow_partitions.operate.contract.asset_selection import AssetSelection
from airflow_partitions.operate.contract.fields import USUAL, AssetName, Cursor, Limit
from airflow_partitions.operate.contract.operation import Answer, Operation
from airflow_partitions.operate.contract.states import StateCounts
from airflow_partitions.operate.state import State


class Dimension(Answer):
    """A dimension of a definition."""

    name: str = Field(examples=["time"])
    kind: str = Field(examples=["interval"])
    count: int | None = Field(description="Number of its keys; null for time, and for keys at runtime")


class Definition(Answer):
    """What partitions an asset has; of those with time, the closed ones."""

    kind: str = Field(description="interval, sequence, product or runtime", examples=["interval"])
    text: str = Field(examples=["PartitionByInterval('@hourly', timezone='America/New_York')"])
    timezone: str | None = Field(description="IANA name of the zone of the intervals", examples=["America/New_York"])
    dimensions: list[Dimension]
    first: str | None = Field(description="Key of the first partition; null if the calendar is open to the past")
    last: str | None = Field(description="Key of the newest partition whose interval is over")
    count: int | None = Field(description="Number of partitions from first to last")
    form: dict[str, Any] = Field(description="JSON form of the definition")


class NewestPartition(Answer):
    """The newest interval that is over."""

    key: str = Field(description="Of the interval", examples=["2013-03-01"])
    state: State = Field(description="Of its partitions the state that needs somebody most")
    counts: dict[State, int] = Field(description="Numbers of its partitions by state")


class NextPartition(Answer):
    """The interval that ends next."""

    key: str = Field(description="Of the interval", examples=["2013-03-02"])
    due: str = Field(description="When it is over, with UTC offset", examples=["2013-03-03T00:00:00-05:00"])


class Absence(Answer):
    """A Dag that Airflow had, and can't run as it is now."""

    dag_id: str
    cause: Literal["import-error", "missing", "unreadable"] = Field(
        description="import-error: its file can't be imported; missing: its file is gone, or has it no longer;"
        " unreadable: another release has serialized it, as after an upgrade until it is parsed again"
    )
    file: str = Field(description="Inside its bundle", examples=["shop/orders.py"])
    error: str | None = Field(description="The last lines of the error, if there was one")
    text: str = Field(description="What is the matter, and the way out")


class Asset(Answer):
    """A partitioned asset; of those around it what one may read."""

    name: str = Field(examples=["hourly_flights"])
    group: str = Field(description="Airflow's group of assets", examples=["asset"])
    definition: Definition
    producers: list[str] = Field(description="Dags that make it")
    consumers: list[str] = Field(description="Dags that wait for it")
    upstream: list[str] = Field(description="Assets that the Dags wait for that make it")
    downstream: list[str] = Field(description="Assets that the Dags make that wait for it")
    tags: list[str] = Field(description="Of the Dags that make it, or of those that wait for it where others make it")
    owners: list[str] = Field(description="Of these Dags")
    paused: list[str] = Field(description="Those of the Dags that make it that are paused")
    holds: dict[str, list[int]] = Field(
        description="Those that work for requests alone although they were paused, with the numbers of these requests"
    )
    absent: list[Absence] = Field(
        description="Those of its Dags that Airflow can't run as they are, so nothing makes it; what was made stays"
    )
    may_change: bool = Field(description="Whether one may ask for its partitions, mark and forget them")
    next: NextPartition | None = Field(description="Null without time, and where there is none any more")
    counts: StateCounts | None = Field(
        default=None, description="Numbers of its partitions by state, where asked for; null if they can't be told"
    )
    newest: NewestPartition | None = Field(
        default=None, description="With the counts; null without time, and where no interval is over"
    )
    error: str | None = Field(default=None, description="With the counts: why they can't be told")


class StoragePlace(Answer):
    """Where partitions are stored."""

    path: str = Field(description="Path of the folder, or name of the table", examples=["s3a://lake/flights"])
    kind: str | None = Field(description="Of the dataset; null if only the Dag file can reach it", examples=["files"])
    format: str = Field(description="Of its files; empty if it has none of one format", examples=["parquet"])


class Source(Answer):
    """A Dag that makes the asset, and what it says of it."""

    dag_id: str
    description: str | None = Field(description="Documentation of the Dag; of @asset the docstring of its function")
    schedule: str | None = Field(description="When its runs begin, in words", examples=["daily, in America/New_York"])
    file: str | None = Field(description="Its file, from the folder of its bundle", examples=["flights.py"])
    place: StoragePlace | None = Field(description="Of what it makes; null if it does not say it")
    tasks: int | None = Field(description="Number of its tasks; null if that can't be read", examples=[3])


class AssetDetails(Asset):
    """A partitioned asset, and what the Dags say of it that make it."""

    sources: list[Source] = Field(description="The Dags that make it")
    example: str | None = Field(
        description="Text that selects some of its newest partitions; null without any, and with keys at runtime",
        examples=["2013-03-01..2013-03-08"],
    )


class AssetPage(Answer):
    """Some of the assets."""

    assets: list[Asset]
    cursor: str | None = Field(description="From which the next page goes on; null at the end")


class ListAssets(AssetSelection, Operation, route="GET /assets", answer=AssetPage, noun="assets", refusals=(404,)):
    """The partitioned assets that one may read, by name."""

    states: Annotated[list[State] | None, Field(description="Only those with partitions in one of these states")] = None
    counts: Annotated[
        bool, Field(description="With numbers of their partitions by state, and the newest one, which takes longer")
    ] = False
    limit: Limit = USUAL
    cursor: Cursor = None


class ShowAsset(Operation, route="GET /assets/{asset}", answer=AssetDetails, noun="assets", refusals=(404,)):
    """One asset, its definition, the Dags and assets around it, and what the Dags say of it."""

    asset: AssetName
