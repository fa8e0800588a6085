"""The trigger that waits for partitions of an asset."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

from airflow.sdk.exceptions import AirflowRuntimeError
from airflow.sdk.execution_time.context import AssetStateStoreAccessor
from airflow.triggers.base import BaseTrigger, TriggerEvent

from airflow_partitions.authoring.tasks.failed_runs import failed_run
from airflow_partitions.authoring.tasks.ledger_reader import LedgerReader, read_cell
from airflow_partitions.core.dependencies import Selection
from airflow_partitions.engine.runs.task_request import ANSWER, TASK_REQUEST, TaskAnswer


class MaterializedTrigger(BaseTrigger):
    """Fires once all partitions that it waits for are in the asset's ledger, or when it is time to look elsewhere.

    The triggers of a process read each ledger together, however many there are.

    :param asset: name of the asset.
    :param selection: JSON form of the :class:`~airflow_partitions.Selection` to wait for.
    :param poke_interval: seconds between two looks.
    :param patience: seconds after which the task is to look at the asset's events by itself: without upkeep, the ledger
        learns of none.
    :param fail_soon: fire also when a run that was to make one of them has failed.
    """

    def __init__(
        self,
        asset: str,
        selection: dict[str, Any],
        poke_interval: float = 60,
        patience: float = 600,
        fail_soon: bool = False,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.asset = asset
        self.selection = selection
        self.poke_interval = poke_interval
        self.patience = patience
        self.fail_soon = fail_soon

    def serialize(self) -> tuple[str, dict[str, Any]]:
        names = ("asset", "selection", "poke_interval", "patience", "fail_soon")
        return f"{__name__}.MaterializedTrigger", {name: getattr(self, name) for name in names}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        selection, reader = Selection.from_json(self.selection), LedgerReader.of_this_loop()
        missing = {str(key) for key in selection}
        end = time.monotonic() + self.patience
        while missing and time.monotonic() < end:
            times = await reader.times(self.asset, selection, self.poke_interval)
            if missing & times.keys():
                missing -= times.keys()
                self.log.info("%s partitions of %s are missing", len(missing), self.asset)
            if self.fail_soon:
                keys = [key for key in selection if str(key) in missing]
                with suppress(AirflowRuntimeError):  # it is asked again
                    if await asyncio.to_thread(failed_run, self.asset, keys):
                        break
        yield TriggerEvent({"missing": len(missing)})


class AnswerTrigger(BaseTrigger):
    """Fires once what a task has asked for has ended.

    :param asset: name of the asset.
    :param number: id of what the task asks for.
    :param poke_interval: seconds between two looks.
    :param task_request: JSON form of what the task asks for: it is left once more as long as there is no answer, since
        Airflow throws away what is left for an asset whose Dag file is away.
    """

    def __init__(
        self, asset: str, number: str, poke_interval: float = 30, task_request: dict[str, Any] | None = None
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.asset = asset
        self.number = number
        self.poke_interval = poke_interval
        self.task_request = task_request

    def serialize(self) -> tuple[str, dict[str, Any]]:
        names = ("asset", "number", "poke_interval", "task_request")
        return f"{__name__}.AnswerTrigger", {name: getattr(self, name) for name in names}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        answer = None
        while answer is None or not answer.has_ended:
            await asyncio.sleep(self.poke_interval)
            answer = await read_cell(self.asset, ANSWER + self.number, TaskAnswer.from_json)
            if answer is None and self.task_request is not None:
                with suppress(AirflowRuntimeError):  # it is tried again
                    store = AssetStateStoreAccessor(name=self.asset)
                    await store.aset(TASK_REQUEST + self.number, self.task_request)
        yield TriggerEvent(answer.to_json())
