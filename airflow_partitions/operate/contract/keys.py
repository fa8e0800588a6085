"""Operations about the keys of an asset."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, JsonValue

from airflow_partitions.operate.contract.fields import USUAL, AssetName, Cursor, DryRun, Limit, Search, Select, Text
from airflow_partitions.operate.contract.operation import Answer, Operation

Keys = Annotated[list[Text], Field(min_length=1, max_length=1_000, description="Texts of keys", examples=[["ann"]])]


class Key(Answer):
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


class KeyPage(Answer):
    """Some of the keys."""

    keys: list[Key]
    count: int | None = Field(description="Number of all; null where one searches, or the calendar is open to the past")
    cursor: str | None = Field(description="From which the next page goes on; null at the end")


class KeysChange(Answer):
    """Keys that were added or removed, or would be."""

    asset: str
    name: str = Field(description="Of the list, which assets may share")
    keys: list[str]
    known: int = Field(description="How many others were there already")
    dry_run: bool


class ListKeys(Operation, route="GET /assets/{asset}/keys", answer=KeyPage, noun="keys", refusals=(404,)):
    """The valid keys of an asset's closed partitions, materialized or not, for pickers: the newest intervals first."""

    asset: AssetName
    select: Select = None
    search: Search = None
    dimension: Annotated[Text | None, Field(description="List the keys of this dimension", examples=["airport"])] = None
    oldest_first: Annotated[bool, Field(description="Oldest intervals first")] = False
    limit: Limit = USUAL
    cursor: Cursor = None


class AddKeys(Operation, route="POST /assets/{asset}/keys/add", answer=KeysChange, noun="keys", refusals=(404, 409)):
    """Add keys that are known only at runtime, as a task does: what is downstream runs for each."""

    asset: AssetName
    keys: Keys
    metadata: Annotated[JsonValue, Field(description="To keep with each")] = None
    reason: Annotated[Text, Field(description="Why; it is kept")] = ""
    once: Annotated[bool, Field(description="Leave those as they are that are there already")] = False
    dry_run: DryRun = False


class RemoveKeys(
    Operation, route="POST /assets/{asset}/keys/remove", answer=KeysChange, noun="keys", refusals=(404, 409)
):
    """Take keys that are known only at runtime off the list; what was made for them stays."""

    asset: AssetName
    keys: Keys
    dry_run: DryRun = False
