"""Routes about requests for partitions."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from airflow.api_fastapi.auth.managers.models.base_user import BaseUser
from airflow.api_fastapi.core_api.security import GetUserDep
from fastapi import BackgroundTasks, Query
from pydantic import BaseModel, ConfigDict, Field

from airflow_partitions.engine.graph.partitioned_assets import asset_dags
from airflow_partitions.engine.runs.request_state import RequestState
from airflow_partitions.operate.operations import requests as operations
from airflow_partitions.operate.operations.page import USUAL
from airflow_partitions.operate.requests.request_rows import read_request
from airflow_partitions.operate.rest.guard import Guarded
from airflow_partitions.operate.rest.parameters import Cursor, Limit, Select
from airflow_partitions.operate.rest.permissions import (
    Changeable,
    ChangeableRequest,
    Readable,
    ReadableDags,
    ReadableRequest,
    check_pausing,
    editable,
    readable_asset,
    readable_dags,
    startable,
)
from airflow_partitions.operate.rest.problem import problems
from airflow_partitions.operate.rest.router import router
from airflow_partitions.operate.rest.text import Text
from airflow_partitions.operate.states import State

api = router("requests")


class RunOptions(BaseModel):
    """How the runs of a request are to go."""

    model_config = ConfigDict(extra="forbid")

    concurrency: int = Field(default=16, ge=1, le=10_000, description="The most runs at a time")
    newest_first: bool = Field(default=False, description="Begin with the newest partition")
    stop_at_failure: bool = Field(default=False, description="Begin no more runs once one has failed")
    label: Text = Field(default="", description="In the note of every run", examples=["after the outage"])
    conf: dict[str, Any] = Field(default={}, description="Configuration of every run")
    while_paused: bool = Field(
        default=False, description="Also if the Dag is paused; its schedule begins no run until the request has ended"
    )


class Order(RunOptions):
    """What is asked for: a selection, states, or both."""

    select: Text | None = Field(
        default=None, description="Which partitions, as text", examples=["2013-03-01..2013-03-10 & origin in JFK,LGA"]
    )
    states: list[State] | None = Field(default=None, description="Only those in one of these states")
    upstream: bool = Field(default=False, description="What they need and is missing is made first")
    dry_run: bool = Field(default=False, description="Only plan")


class Change(BaseModel):
    """How to change a request."""

    model_config = ConfigDict(extra="forbid")

    dry_run: bool = Field(default=False, description="Change nothing, only answer")


class Request(BaseModel):
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


class Step(BaseModel):
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
    seconds: float | None = Field(description="Usual time of all, one after the other; null if there is no history")
    bytes: float | None = Field(description="Usual size of all; null if there is no history")


class Plan(BaseModel):
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


class Requested(BaseModel):
    """What was asked for, or would be."""

    asset: str
    plan: Plan
    requests: list[Request] = Field(description="One for each Dag of which something begins at once; none of a dry run")
    dry_run: bool


class RequestPage(BaseModel):
    """Some of the requests."""

    requests: list[Request]
    cursor: str | None = Field(description="From which the next page goes on; null at the end")


_CHANGES: dict[str, Any] = {"response_model": Request, "responses": problems(404, 409), "dependencies": [Guarded]}


@api.get("/assets/{asset:name}/plan", response_model=AssetPlan, responses=problems(404, 409))
def plan_partitions(
    asset: Readable,
    dags: ReadableDags,
    select: Select = None,
    states: Annotated[list[State] | None, Query(description="Only those in one of these states")] = None,
    *,
    upstream: Annotated[bool, Query(description="What they need and is missing is made first")] = False,
    downstream: Annotated[bool, Query(description="Tell what events make again because of it")] = False,
) -> Any:
    """What a request for partitions of an asset would do: which Dag makes which, in which order. Changes nothing."""
    plan = operations.plan_partitions(
        asset, select=select, states=states, upstream=upstream, downstream=downstream, dags=dags
    )
    return _visible(plan, dags)


@api.post(
    "/assets/{asset:name}/requests",
    response_model=Requested,
    responses=problems(404, 409),
    dependencies=[Guarded],
)
def materialize_partitions(asset: Changeable, order: Order, user: GetUserDep, background: BackgroundTasks) -> Any:
    """Ask for partitions of an asset, each to be made by one run; the runs are created after the answer.

    Upstream Dags are asked only where one may start runs of them. ``while_paused`` takes the right to unpause Dags too.
    """
    dags = readable_dags(user) if order.upstream else set()
    others = startable(dags, user)
    if order.while_paused:
        check_pausing(asset_dags()[asset].producers, user)
        others &= editable(others, user)
    answer = operations.materialize_partitions(
        asset, **order.model_dump(), dags=others, by=user.get_name(), later=background.add_task
    )
    return answer | {"plan": _visible(answer["plan"], dags)}


@api.get("/requests", response_model=RequestPage, responses=problems(404))
def list_requests(
    user: GetUserDep,
    dags: ReadableDags,
    asset: Annotated[list[Text] | None, Query(description="Only those for partitions of these assets")] = None,
    states: Annotated[list[RequestState] | None, Query(description="Only those in one of these states")] = None,
    limit: Limit = USUAL,
    cursor: Cursor = None,
) -> Any:
    """The requests that one may read, the newest first."""
    for name in asset or ():
        readable_asset(name, user)
    return operations.list_requests(asset=asset, states=states, limit=limit, cursor=cursor, dags=dags)


@api.get("/requests/{request}", response_model=Request, responses=problems(404))
def show_request(request: ReadableRequest) -> Any:
    """A request, and how far it has come."""
    return operations.show_request(request)


@api.post("/requests/{request}/pause", **_CHANGES)
def pause_request(request: ChangeableRequest, change: Change) -> Any:
    """Begin no more runs of a request; those that run go on."""
    return operations.pause_request(request, dry_run=change.dry_run)


@api.post("/requests/{request}/resume", **_CHANGES)
def resume_request(request: ChangeableRequest, change: Change, user: GetUserDep, background: BackgroundTasks) -> Any:
    """Go on with a request: begin runs again; missing ones are created afterwards."""
    _check_pausing(request, user)
    answer = operations.resume_request(request, dry_run=change.dry_run, create=False)
    return answer if change.dry_run else _created_after(background, answer)


@api.post("/requests/{request}/cancel", **_CHANGES)
def cancel_request(request: ChangeableRequest, change: Change) -> Any:
    """Begin no more runs of a request, for good; those that have not begun fail, as Airflow has it."""
    return operations.cancel_request(request, dry_run=change.dry_run)


@api.post("/requests/{request}/retry", **_CHANGES)
def retry_request(request: ChangeableRequest, change: Change, user: GetUserDep, background: BackgroundTasks) -> Any:
    """Let the runs of a request that failed, or were cancelled, work again; missing ones are created afterwards."""
    _check_pausing(request, user)
    answer = operations.retry_request(request, dry_run=change.dry_run, create=False)
    return answer if change.dry_run else _created_after(background, answer)


def _check_pausing(number: int, user: BaseUser) -> None:
    """Refuse a *user* who may not unpause the Dag of a request that does so."""
    request = read_request(number)
    if request.options.while_paused:
        check_pausing([request.dag_id], user)


def _created_after(background: BackgroundTasks, request: dict[str, Any]) -> dict[str, Any]:
    """The *request*, whose missing runs are created once it is answered."""
    if request["state"] == "creating":
        background.add_task(operations.create_requested, request["id"])
    return request


def _visible(plan: dict[str, Any], dags: set[str]) -> dict[str, Any]:
    """A *plan* without the assets that one may not read."""
    around = asset_dags() if plan["lacking"] else {}
    lacking = {name: text for name, text in plan["lacking"].items() if name in around and around[name].owned_by(dags)}
    return plan | {"lacking": lacking}
