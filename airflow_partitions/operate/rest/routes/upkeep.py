"""Routes about what keeps an estate in order."""

from __future__ import annotations

from typing import Annotated, Any

from airflow.api_fastapi.core_api.security import GetUserDep
from fastapi import Depends, Query
from pydantic import BaseModel, Field

from airflow_partitions.operate.operations import doctor
from airflow_partitions.operate.operations import upkeep as operations
from airflow_partitions.operate.operations.problem import Kind, RemedyKind
from airflow_partitions.operate.rest.guard import Guarded
from airflow_partitions.operate.rest.permissions import Changeable, ReadableDags, editable, signed_in, startable
from airflow_partitions.operate.rest.problem import problems
from airflow_partitions.operate.rest.router import router

api = router("upkeep")


class Remedy(BaseModel):
    """What mends a problem."""

    kind: RemedyKind = Field(
        description="An operation for the asset or the request of the problem; unpause-dag is Airflow's own PATCH of"
        " the Dag; a command is to be typed"
    )
    select: str | None = Field(description="Which partitions it is about, as text")
    command: str | None = Field(examples=["airflow asset-partitions upkeep --loop"])


class DoctorProblem(BaseModel):
    """Something that does not go on by itself."""

    kind: Kind
    text: str = Field(description="A sentence")
    is_error: bool = Field(description="Whether it can't work as it is; else it is stuck, or late")
    dag_id: str | None
    asset: str | None
    request: int | None = Field(description="Number of the request it is about")
    remedy: Remedy | None = Field(description="What mends it; null if nothing here does, or one may not")


class Diagnosis(BaseModel):
    """What can't work as the Dags are now, and what is stuck or late."""

    problems: list[DoctorProblem] = Field(description="None if all is well")
    complete: bool = Field(description="Whether it is about all assets, not only those that one may read")


class UpkeepStatus(BaseModel):
    """Whether upkeep runs."""

    alive: bool = Field(description="Whether an upkeep process has sent a heartbeat within 30 seconds")


class Reconciliation(BaseModel):
    """What making a ledger again has changed."""

    asset: str
    events: int = Field(description="Number of events that were read")
    written: int = Field(description="Number of partitions that were written")
    malformed: dict[str, str] = Field(description="Keys of events that are none of the asset's, each with the reason")


@api.get("/doctor", response_model=Diagnosis)
def list_problems(
    user: GetUserDep,
    dags: ReadableDags,
    *,
    records: Annotated[
        bool, Query(description="Look at each record of the ledgers, too, which takes seconds for 100,000 of them")
    ] = True,
) -> Any:
    """What can't work, what is stuck or late, and what mends it, of what one may read."""
    return doctor.list_problems(
        records=records,
        dags=dags,
        startable=lambda dag_ids: startable(dag_ids, user),
        editable=lambda dag_ids: editable(dag_ids, user),
    )


@api.get("/upkeep", response_model=UpkeepStatus, dependencies=[Depends(signed_in)])
def show_upkeep() -> Any:
    """Whether an upkeep process is alive."""
    return operations.show_upkeep()


@api.post(
    "/assets/{asset:name}/reconcile",
    response_model=Reconciliation,
    responses=problems(404),
    dependencies=[Guarded],
)
def reconcile(asset: Changeable) -> Any:
    """Read all events of an asset again, and write what is missing in its ledger."""
    return operations.reconcile(asset)
