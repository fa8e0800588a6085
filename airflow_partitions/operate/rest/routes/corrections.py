"""Routes about what is said of partitions by hand."""

from __future__ import annotations

from typing import Annotated, Any

from airflow.api_fastapi.core_api.security import GetUserDep
from fastapi import Body
from pydantic import BaseModel, Field

from airflow_partitions.engine.graph.partitioned_assets import asset_dags
from airflow_partitions.operate.operations import corrections as operations
from airflow_partitions.operate.rest.guard import Guarded
from airflow_partitions.operate.rest.permissions import Changeable, check_reading
from airflow_partitions.operate.rest.problem import problems
from airflow_partitions.operate.rest.router import router
from airflow_partitions.operate.rest.text import Text

api = router("corrections")

DryRun = Annotated[bool, Body(description="Change nothing, only tell")]
Reason = Annotated[Text, Body(description="Why; it is kept", examples=["loaded by hand"])]
Selected = Annotated[
    Text,
    Body(
        description="Which partitions: keys, ranges without their end, conditions on dimensions, latest or all",
        examples=["2013-03-01..2013-03-10 & origin in JFK,LGA"],
    ),
]


class Marked(BaseModel):
    """Partitions that were marked as materialized, or would be."""

    asset: str
    count: int = Field(description="Number of partitions that were marked")
    present: int = Field(description="How many of them were materialized already")
    new: str = Field(description="The others, as text: forget these to undo it")
    quiet: bool
    dry_run: bool


class Forgotten(BaseModel):
    """Partitions that were forgotten, or would be."""

    asset: str
    count: int = Field(description="Number of partitions that were forgotten")
    absent: int = Field(description="How many others were asked for, which were missing before")
    selection: str = Field(description="Those that were forgotten, as text: remember these to undo it")
    dry_run: bool


class Remembered(BaseModel):
    """Partitions that count as materialized again, or would."""

    asset: str
    count: int = Field(description="Number of partitions that were forgotten, and count again")
    selection: str = Field(description="These, as text")
    dry_run: bool


class Adopted(BaseModel):
    """Partitions that were taken over, or would be."""

    asset: str
    source: str = Field(description='"storage", or the name of the asset whose ledger had them')
    count: int = Field(description="Number of partitions that were taken over")
    present: int = Field(description="How many others the ledger has already, as new or newer")
    forgotten: int = Field(description="How many were forgotten since they were stored; mark them to let them count")
    foreign: list[str] = Field(description="What is none of the asset's partitions, such as date=x; the first hundred")
    dry_run: bool


@api.post("/assets/{asset:name}/mark", response_model=Marked, responses=problems(404), dependencies=[Guarded])
def mark(
    asset: Changeable,
    user: GetUserDep,
    select: Selected,
    reason: Reason = "",
    *,
    quiet: Annotated[bool, Body(description="Let nothing downstream run for it")] = False,
    dry_run: DryRun = False,
) -> Any:
    """Mark partitions as materialized now, without a run; storage is not touched."""
    return operations.mark(asset, select=select, reason=reason, quiet=quiet, dry_run=dry_run, by=user.get_name())


@api.post("/assets/{asset:name}/forget", response_model=Forgotten, responses=problems(404), dependencies=[Guarded])
def forget(
    asset: Changeable, user: GetUserDep, select: Selected, reason: Reason = "", *, dry_run: DryRun = False
) -> Any:
    """Let partitions count as missing until they are materialized again; storage is not touched, and nothing runs."""
    return operations.forget(asset, select=select, reason=reason, dry_run=dry_run, by=user.get_name())


@api.post("/assets/{asset:name}/remember", response_model=Remembered, responses=problems(404), dependencies=[Guarded])
def remember(asset: Changeable, select: Selected, *, dry_run: DryRun = False) -> Any:
    """Take back that partitions were forgotten: they count as materialized when they were; nothing runs for it."""
    return operations.remember(asset, select=select, dry_run=dry_run)


@api.post("/assets/{asset:name}/adopt", response_model=Adopted, responses=problems(404), dependencies=[Guarded])
def adopt(
    asset: Changeable,
    user: GetUserDep,
    *,
    from_storage: Annotated[bool, Body(description="Take over what is stored")] = False,
    from_asset: Annotated[Text | None, Body(description="Take over what the asset called so before has made")] = None,
    dry_run: DryRun = False,
) -> Any:
    """Take what exists into the ledger, quietly: from the asset's storage, or from what it was called before."""
    if from_asset is not None and (former := asset_dags(from_asset).get(from_asset)) is not None:
        check_reading([former], user)
    return operations.adopt(
        asset, from_storage=from_storage, from_asset=from_asset, dry_run=dry_run, by=user.get_name()
    )
