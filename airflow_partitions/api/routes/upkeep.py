"""Routes about what keeps an estate in order."""

from __future__ import annotations

from typing import Any

from fastapi import Depends
from pydantic import BaseModel, Field

from airflow_partitions.api.guard import Guarded
from airflow_partitions.api.permissions import Changeable, reader_of_all, signed_in
from airflow_partitions.api.problem import problems
from airflow_partitions.api.router import router
from airflow_partitions.operations import upkeep as operations

api = router("upkeep")


class Diagnosis(BaseModel):
    """What can't work as the Dags are now."""

    problems: list[str] = Field(description="Each a sentence; none if all is well")


class UpkeepStatus(BaseModel):
    """Whether upkeep runs."""

    alive: bool = Field(description="Whether an upkeep process has sent a heartbeat within 30 seconds")


class Reconciliation(BaseModel):
    """What making a ledger again has changed."""

    asset: str
    events: int = Field(description="Number of events that were read")
    written: int = Field(description="Number of partitions that were written")
    malformed: dict[str, str] = Field(description="Keys of events that are none of the asset's, each with the reason")


@api.get("/doctor", response_model=Diagnosis, dependencies=[Depends(reader_of_all)])
def list_problems() -> Any:
    """What can't work as all Dags are now; takes the right to read each partitioned Dag."""
    return operations.list_problems()


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
