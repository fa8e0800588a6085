"""The operation that fills several assets."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from airflow_partitions.operate.contract.asset_selection import AssetSelection
from airflow_partitions.operate.contract.fields import (
    DryRun,
    Since,
    Until,
)
from airflow_partitions.operate.contract.operation import Answer, Operation
from airflow_partitions.operate.contract.requests import (
    Concurrency,
    Label,
    NewestFirst,
    Plan,
    Request,
    StopAtFailure,
    WhilePaused,
)
from airflow_partitions.operate.state import State


class LeftOut(Answer):
    """An asset that is left out."""

    asset: str
    why: str = Field(examples=["Dag orders is paused, so none of its runs begins"])


class Filled(Answer):
    """What was asked for to fill some assets, or would be."""

    start: str = Field(description="Partitions that begin from then on, with UTC offset")
    end: str = Field(description="And before it")
    plan: Plan
    left_out: list[LeftOut] = Field(description="Those with something to fill that can't be asked for")
    requests: list[Request] = Field(description="One for each Dag of which something begins at once; none of a dry run")
    notes: list[str] = Field(description="What will be otherwise than one might expect, each a sentence")
    dry_run: bool


class FillAssets(AssetSelection, Operation, route="POST /fill", answer=Filled, noun="requests", refusals=(404, 409)):
    """Ask for what is missing of all assets that one may start runs of, or some, over one stretch of time: one plan.

    What is made of what is asked for follows by events. Nothing is asked for that lacks something upstream which is not
    planned, too. An asset that can't be asked for is left out, with the reason, and keeps no other from it.
    """

    since: Since
    until: Until = None
    states: Annotated[
        list[State] | None,
        Field(description="Only those in one of these states; by default missing, failed or waiting"),
    ] = None
    concurrency: Concurrency = 16
    newest_first: NewestFirst = False
    stop_at_failure: StopAtFailure = False
    label: Label = ""
    conf: dict[str, Any] = Field(default={}, description="Configuration of every run")
    while_paused: WhilePaused = False
    dry_run: DryRun = False
