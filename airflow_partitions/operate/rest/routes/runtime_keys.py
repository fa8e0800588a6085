"""Routes about keys known only at runtime."""

from __future__ import annotations

from typing import Annotated, Any

from airflow.api_fastapi.core_api.security import GetUserDep
from fastapi import Body
from pydantic import BaseModel, Field, JsonValue

from airflow_partitions.operate.operations import runtime_keys as operations
from airflow_partitions.operate.rest.guard import Guarded
from airflow_partitions.operate.rest.permissions import Changeable
from airflow_partitions.operate.rest.problem import problems
from airflow_partitions.operate.rest.router import router
from airflow_partitions.operate.rest.text import Text

api = router("keys")

Keys = Annotated[list[Text], Body(min_length=1, max_length=1_000, description="Texts of keys", examples=[["ann"]])]
DryRun = Annotated[bool, Body(description="Change nothing, only tell")]


class KeysChange(BaseModel):
    """Keys that were added or removed, or would be."""

    asset: str
    name: str = Field(description="Of the list, which assets may share")
    keys: list[str]
    known: int = Field(description="How many others were there already")
    dry_run: bool


@api.post(
    "/assets/{asset:name}/keys/add", response_model=KeysChange, responses=problems(404, 409), dependencies=[Guarded]
)
def add_keys(
    asset: Changeable,
    user: GetUserDep,
    keys: Keys,
    metadata: Annotated[JsonValue, Body(description="To keep with each")] = None,
    reason: Annotated[Text, Body(description="Why; it is kept")] = "",
    *,
    once: Annotated[bool, Body(description="Leave those as they are that are there already")] = False,
    dry_run: DryRun = False,
) -> Any:
    """Add keys that are known only at runtime, as a task does: what is downstream runs for each."""
    return operations.add_keys(
        asset, keys=keys, metadata=metadata, reason=reason, once=once, dry_run=dry_run, by=user.get_name()
    )


@api.post(
    "/assets/{asset:name}/keys/remove", response_model=KeysChange, responses=problems(404, 409), dependencies=[Guarded]
)
def remove_keys(asset: Changeable, keys: Keys, *, dry_run: DryRun = False) -> Any:
    """Take keys that are known only at runtime off the list; what was made for them stays."""
    return operations.remove_keys(asset, keys=keys, dry_run=dry_run)
