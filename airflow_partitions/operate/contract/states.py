"""Operations about the states of partitions."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from airflow_partitions.operate.contract.fields import USUAL, AssetName, Cursor, Limit, PathText, Select
from airflow_partitions.operate.contract.operation import Answer, Operation
from airflow_partitions.operate.state import State

#: The most stretches of a page.
MOST_STRETCHES = 10_000


class Upstream(Answer):
    """What partitions that wait need of one upstream asset."""

    asset: str
    there: int = Field(description="Number of upstream partitions that were materialized")
    needed: int = Field(description="Number of all that are needed")
    lacking: str = Field(description="Those that were not materialized, as text")
    lacks: str = Field(
        default="",
        description="Those in words, the last one of a range included; cut where it is long",
        examples=["2013-03-01 to 2013-03-03"],
    )


class Stretch(Answer):
    """Partitions side by side that are in one state."""

    state: State
    first: str = Field(description="Key of the first of them", examples=["2013-03-01"])
    last: str = Field(description="Key of the last of them", examples=["2013-03-09"])
    count: int = Field(ge=1, examples=[9])
    start: str | None = Field(default=None, description="Begin of the first interval, with UTC offset")
    end: str | None = Field(default=None, description="End of the last interval, not part of it")
    segments: dict[str, list[str]] | None = Field(
        default=None, description="Values of the other dimensions, if not all"
    )
    provisional: bool = Field(default=False, description="Whether they were made before their interval was over")
    upstream: list[Upstream] = Field(
        default=[], description="Of those that wait: what they need, as far as one may read it"
    )


class StatePage(Answer):
    """Some of the stretches."""

    asset: str
    now: str = Field(description="The moment of the answer, with UTC offset")
    stretches: list[Stretch]
    cursor: str | None = Field(description="From which the next page goes on; null at the end")


class StateCounts(Answer):
    """Numbers of partitions by state."""

    asset: str
    now: str = Field(description="The moment of the answer, with UTC offset")
    total: int
    counts: dict[State, int] = Field(description="Those that are not 0", examples=[{"materialized": 87, "failed": 3}])
    provisional: int = Field(description="Number of those made before their interval was over")
    selection: str | None = Field(
        default=None,
        description="Canonical text of what was selected; null where nothing was, or the text would be very long",
        examples=["2013-03-31"],
    )


class Measures(Answer):
    """What was written and read to make a partition; null where nothing tells."""

    rows: int | None = Field(default=None, description="That were written")
    files: int | None = None
    bytes: int | None = None
    seconds: float | None = Field(default=None, description="From the look at the inputs to the end of the write")
    read_rows: int | None = Field(default=None, description="Of all inputs")
    read_bytes: int | None = Field(default=None, description="Of all inputs")
    read_files: int | None = Field(default=None, description="Of all inputs; one that was read twice counts twice")
    unproven: str | None = Field(
        default=None,
        description="Names of the inputs whose reads nothing counted where the job ran, so that what was read is not"
        " proven; null if all is, or nothing was read by Spark",
        examples=["hourly_flights"],
    )


class Event(Measures):
    """A moment at which the partition was materialized."""

    at: str = Field(description="With UTC offset")
    dag_id: str | None = Field(description="The Dag whose run did it; null if it came from outside")
    run_id: str | None
    by: str | None = Field(default=None, description="Who marked or adopted it without a run")
    extra: dict[str, Any] = Field(
        description="What was kept with it: rows, files, bytes, checks, and what the task adds"
    )


class Run(Answer):
    """A run of the partition."""

    dag_id: str
    run_id: str
    state: str = Field(examples=["success"])
    kind: str = Field(description="How it was asked for", examples=["scheduled"])
    queued: str | None
    began: str | None
    ended: str | None
    task_id: str | None = Field(description="The task that makes the asset; null if the run has none of it yet")
    tries: int = Field(description="Of this task, as far as it was begun")
    failed: list[str] = Field(description="Ids of the tasks that failed")
    error: str | None = Field(
        default=None,
        description="What made the first of them fail, in one line; null if the run has not failed",
        examples=["ConnectionError: 503 from the source"],
    )
    leader: str | None = Field(
        default=None,
        description="The run in whose batch its partition is made, was made or has failed; null if it was in none",
        examples=["backfill__2013-03-08T00:00Z__9f5e46a8"],
    )
    note: str
    conf: dict[str, Any]
    backfill: int | None = Field(description="The request, or backfill of Airflow, that asked for it")


class Neighbour(Answer):
    """Partitions of another asset that the partition needs, or that need it."""

    asset: str
    dag_id: str = Field(description="The Dag that depends on the other")
    count: int
    stretches: list[Stretch] = Field(description="Their states, the newest first, up to twenty")
    more: bool = Field(description="Whether there are others")


class Partition(Answer):
    """All that is known of one partition."""

    asset: str
    key: str
    now: str = Field(description="The moment of the answer, with UTC offset")
    state: State
    provisional: bool = Field(description="Whether it was made before its interval was over")
    reasons: list[str] = Field(description="Why it is what it is, each a sentence; the first tells the most")
    start: str | None = Field(description="Begin of its interval, with UTC offset")
    end: str | None = Field(description="End of its interval, not part of it")
    previous: str | None = Field(description="Key before it, along time; without time in the declared order")
    next: str | None = Field(description="Key after it, if it is there by now")
    events: list[Event] = Field(description="The newest first")
    runs: list[Run] = Field(description="The newest first, up to twenty")
    upstream: list[Neighbour] = Field(description="What it needs, as far as one may read it")
    downstream: list[Neighbour] = Field(description="What needs it, as far as one may read it")
    upstream_hidden: bool = Field(description="Whether there are assets upstream that one may not read")
    downstream_hidden: bool = Field(description="Whether there are assets downstream that one may not read")


class CheckOutcome(Answer):
    """What came of a check."""

    name: str
    passed: bool


class Materialization(Measures):
    """The last time that a partition was materialized."""

    key: str = Field(examples=["2013-03-01"])
    start: str | None = Field(description="Begin of its interval, with UTC offset; null without time")
    end: str | None = Field(description="End of its interval, not part of it")
    at: str = Field(description="When it was materialized, with UTC offset")
    dag_id: str | None = Field(description="The Dag whose run did it; null if it came from outside")
    run_id: str | None
    checks: list[CheckOutcome] = Field(description="Of what was written")


class Materializations(Answer):
    """The newest partitions that were materialized."""

    asset: str
    materializations: list[Materialization] = Field(
        description="In order of time; without time, of when they were materialized"
    )


class ListStates(Operation, route="GET /assets/{asset}/states", answer=StatePage, noun="states", refusals=(404,)):
    """The states of an asset's partitions, in stretches of one state each: the newest first."""

    asset: AssetName
    select: Select = None
    states: Annotated[list[State] | None, Field(description="Only those in one of these states")] = None
    oldest_first: Annotated[bool, Field(description="Oldest partitions first")] = False
    limit: Annotated[int, Field(ge=1, le=MOST_STRETCHES, description="The most stretches of a page")] = USUAL
    cursor: Cursor = None


class CountStates(Operation, route="GET /assets/{asset}/counts", answer=StateCounts, noun="states", refusals=(404,)):
    """Numbers of an asset's partitions by state."""

    asset: AssetName
    select: Select = None


class ListMaterializations(
    Operation, route="GET /assets/{asset}/materializations", answer=Materializations, noun="states", refusals=(404,)
):
    """The newest partitions that were materialized, with rows, bytes and seconds, for charts over time."""

    asset: AssetName
    select: Select = None
    limit: Limit = USUAL


class ShowPartition(
    Operation, route="GET /assets/{asset}/partitions/{key}", answer=Partition, noun="states", refusals=(404,)
):
    """One partition: its runs, what was written, why it is what it is, and what is up- and downstream of it."""

    asset: AssetName
    key: Annotated[PathText, Field(description="Key of the partition", examples=["2013-03-01"])]
