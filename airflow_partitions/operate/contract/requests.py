"""Operations about requests for partitions."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from airflow_partitions.engine.runs.request_state import RequestState
from airflow_partitions.engine.runs.run_options import MOST_AT_A_TIME
from airflow_partitions.operate.contract.fields import (
    MOST,
    USUAL,
    AssetName,
    Cursor,
    DryRun,
    KeyTexts,
    Limit,
    RequestId,
    Select,
    Text,
)
from airflow_partitions.operate.contract.operation import Answer, Operation
from airflow_partitions.operate.state import State

Concurrency = Annotated[int, Field(ge=1, le=MOST_AT_A_TIME, description="The most runs at a time")]
NewestFirst = Annotated[bool, Field(description="Begin with the newest partition")]
StopAtFailure = Annotated[bool, Field(description="Begin no more runs once one has failed")]
Label = Annotated[Text, Field(description="In the note of every run", examples=["after the outage"])]
WhilePaused = Annotated[
    bool, Field(description="Also if the Dag is paused; its schedule begins no run until the request has ended")
]


class RunOptions(Answer):
    """How the runs of a request are to go."""

    concurrency: int = Field(description="The most runs at a time")
    newest_first: bool = Field(description="Begin with the newest partition")
    stop_at_failure: bool = Field(description="Begin no more runs once one has failed")
    label: str = Field(description="In the note of every run", examples=["after the outage"])
    conf: dict[str, Any] = Field(description="Configuration of every run")
    while_paused: bool = Field(
        description="Also if the Dag is paused; its schedule begins no run until the request has ended"
    )


class Request(Answer):
    """A request for partitions, and how far it has come."""

    id: int = Field(description="Its number: that of Airflow's backfill")
    asset: str
    dag_id: str = Field(description="The Dag whose runs make them")
    selection: str = Field(description="The partitions, as text")
    partitions: int = Field(description="Number of them")
    options: RunOptions
    at: str = Field(description="When it was made, with UTC offset")
    by: str = Field(description="Who made it")
    created: int = Field(description="Number of partitions that have a run by now")
    cancelled: str | None = Field(description="When it was cancelled")
    state: RequestState
    runs: dict[str, int] = Field(description="Numbers of runs by their state", examples=[{"success": 7, "queued": 3}])
    dag_is_paused: bool
    error: str | None = Field(
        default=None,
        description="What made the newest failed run of it fail, in one line; null if none failed",
        examples=["ConnectionError: 503 from the source"],
    )
    problem: str | None = Field(
        default=None, description="Why something of it can't be shown, such as its conf; null if all is"
    )


class Step(Answer):
    """What one Dag makes in a plan."""

    asset: str | None = Field(description="That its partitions are of; null if it makes none")
    dag_id: str
    role: Literal["asked", "upstream", "downstream"]
    partitions: int = Field(description="Number of partitions that it makes")
    selection: str = Field(description="These partitions, as text")
    begin: int = Field(description="Number of those for which a run is asked for at once; events start the others")
    begins: str = Field(description="Those for which a run is asked for at once, as text")
    stays: str = Field(description="Partitions that are stale afterwards, since the Dag does not make them again")
    again: int = Field(description="How many of them were materialized before")
    batch: int = Field(description="The most partitions that one task makes, as the Dag says or as its batches are now")
    tasks: int = Field(description="Number of tasks that make them, if each takes so many")
    limits: dict[str, int] = Field(
        description="How many runs of one value are at work at a time, by dimension; empty if there is no such limit"
    )
    seconds: float | None = Field(description="Usual time of all, one after the other; null if there is no history")
    bytes: float | None = Field(description="Usual size of all; null if there is no history")


class Plan(Answer):
    """What a request would do."""

    steps: list[Step] = Field(description="Upstream first, as far as one may read it")
    partitions: int
    seconds: float | None
    bytes: float | None
    lacking: dict[str, str] = Field(
        description="Upstream partitions, by asset, that are needed, not there, and that no Dag makes when it is asked"
    )


class AssetPlan(Plan):
    """What a request for partitions of an asset would do."""

    asset: str


class Requested(Answer):
    """What was asked for, or would be."""

    asset: str
    plan: Plan
    requests: list[Request] = Field(description="One for each Dag of which something begins at once; none of a dry run")
    notes: list[str] = Field(description="What will be otherwise than one might expect, each a sentence")
    dry_run: bool


class RequestPage(Answer):
    """Some of the requests."""

    requests: list[Request]
    cursor: str | None = Field(description="From which the next page goes on; null at the end")


class PlanPartitions(
    Operation, route="GET /assets/{asset}/plan", answer=AssetPlan, noun="requests", refusals=(404, 409)
):
    """What a request for partitions of an asset would do: which Dag makes which, in which order. Changes nothing."""

    asset: AssetName
    select: Select = None
    keys: Annotated[
        list[Text] | None,
        Field(
            min_length=1,
            max_length=MOST,
            description="Texts of keys, instead of a selection; for more try the request itself as a dry run",
        ),
    ] = None
    states: Annotated[list[State] | None, Field(description="Only those in one of these states")] = None
    upstream: Annotated[bool, Field(description="What they need and is missing is made first")] = False
    downstream: Annotated[bool, Field(description="Tell what events make again because of it")] = False


class MaterializePartitions(
    Operation, route="POST /assets/{asset}/requests", answer=Requested, noun="requests", refusals=(404, 409)
):
    """Ask for partitions of an asset, each to be made by one run; the runs are created after the answer.

    Upstream Dags are asked only where one may start runs of them. ``while_paused`` takes the right to unpause Dags too.
    """

    asset: AssetName
    select: Select = None
    keys: KeyTexts = None
    states: Annotated[list[State] | None, Field(description="Only those in one of these states")] = None
    upstream: Annotated[bool, Field(description="What they need and is missing is made first")] = False
    concurrency: Concurrency = 16
    newest_first: NewestFirst = False
    stop_at_failure: StopAtFailure = False
    label: Label = ""
    conf: dict[str, Any] = Field(default={}, description="Configuration of every run")
    while_paused: WhilePaused = False
    downstream: Annotated[bool, Field(description="Tell what events make again because of it")] = False
    dry_run: Annotated[bool, Field(description="Only plan")] = False


class ListRequests(Operation, route="GET /requests", answer=RequestPage, noun="requests", refusals=(404,)):
    """The requests that one may read, the newest first."""

    asset: Annotated[list[Text] | None, Field(description="Only those for partitions of these assets")] = None
    states: Annotated[list[RequestState] | None, Field(description="Only those in one of these states")] = None
    limit: Limit = USUAL
    cursor: Cursor = None


class ShowRequest(Operation, route="GET /requests/{request}", answer=Request, noun="requests", refusals=(404,)):
    """A request, and how far it has come."""

    request: RequestId


class PauseRequest(
    Operation, route="POST /requests/{request}/pause", answer=Request, noun="requests", refusals=(404, 409)
):
    """Begin no more runs of a request; those that run go on."""

    request: RequestId
    dry_run: DryRun = False


class ResumeRequest(
    Operation, route="POST /requests/{request}/resume", answer=Request, noun="requests", refusals=(404, 409)
):
    """Go on with a request: begin runs again; missing ones are created afterwards."""

    request: RequestId
    dry_run: DryRun = False


class CancelRequest(
    Operation, route="POST /requests/{request}/cancel", answer=Request, noun="requests", refusals=(404, 409)
):
    """Begin no more runs of a request, for good; those that have not begun fail, as Airflow has it."""

    request: RequestId
    dry_run: DryRun = False


class DeleteRequest(
    Operation, route="POST /requests/{request}/delete", answer=Request, noun="requests", refusals=(404, 409)
):
    """Delete a request that is not at work, and its backfill; its runs stay, and what they made."""

    request: RequestId
    dry_run: DryRun = False


class RetryRequest(
    Operation, route="POST /requests/{request}/retry", answer=Request, noun="requests", refusals=(404, 409)
):
    """Let the runs of a request that failed, or were cancelled, work again; missing ones are created afterwards."""

    request: RequestId
    dry_run: DryRun = False
