"""Operations about what is said of partitions by hand."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from airflow_partitions.operate.contract.fields import AssetName, DryRun, KeyTexts, Reason, Select, Text
from airflow_partitions.operate.contract.operation import Answer, Operation


class Marked(Answer):
    """Partitions that were marked as materialized, or would be."""

    asset: str
    count: int = Field(description="Number of partitions that were marked")
    present: int = Field(description="How many of them were materialized already")
    new: str = Field(description="The others, as text: forget these to undo it")
    quiet: bool
    dry_run: bool


class Forgotten(Answer):
    """Partitions that were forgotten, or would be."""

    asset: str
    count: int = Field(description="Number of partitions that were forgotten")
    absent: int = Field(description="How many others were asked for, which were missing before")
    selection: str = Field(description="Those that were forgotten, as text: remember these to undo it")
    dry_run: bool


class Remembered(Answer):
    """Partitions that count as materialized again, or would."""

    asset: str
    count: int = Field(description="Number of partitions that were forgotten, and count again")
    selection: str = Field(description="These, as text")
    dry_run: bool


class Adopted(Answer):
    """Partitions that were taken over, or would be."""

    asset: str
    source: str = Field(description='"storage", or the name of the asset whose ledger had them')
    count: int = Field(description="Number of partitions that were taken over")
    present: int = Field(description="How many others the ledger has already, as new or newer")
    forgotten: int = Field(description="How many were forgotten since they were stored; mark them to let them count")
    foreign: list[str] = Field(description="What is none of the asset's partitions, such as date=x; the first hundred")
    dry_run: bool


class Mark(Operation, route="POST /assets/{asset}/mark", answer=Marked, noun="corrections", refusals=(404,)):
    """Mark partitions as materialized now, without a run; storage is not touched."""

    asset: AssetName
    select: Select = None
    keys: KeyTexts = None
    reason: Reason = ""
    quiet: Annotated[bool, Field(description="Let nothing downstream run for it")] = False
    dry_run: DryRun = False


class Forget(Operation, route="POST /assets/{asset}/forget", answer=Forgotten, noun="corrections", refusals=(404,)):
    """Let partitions count as missing until they are materialized again; storage is not touched, and nothing runs."""

    asset: AssetName
    select: Select = None
    keys: KeyTexts = None
    reason: Reason = ""
    dry_run: DryRun = False


class Remember(
    Operation, route="POST /assets/{asset}/remember", answer=Remembered, noun="corrections", refusals=(404,)
):
    """Take back that partitions were forgotten: they count as materialized when they were; nothing runs for it."""

    asset: AssetName
    select: Select = None
    keys: KeyTexts = None
    dry_run: DryRun = False


class Adopt(Operation, route="POST /assets/{asset}/adopt", answer=Adopted, noun="corrections", refusals=(404,)):
    """Take what exists into the ledger, quietly: from the asset's storage, or from what it was called before."""

    asset: AssetName
    from_storage: Annotated[bool, Field(description="Take over what is stored")] = False
    from_asset: Annotated[Text | None, Field(description="Take over what the asset called so before has made")] = None
    dry_run: DryRun = False
