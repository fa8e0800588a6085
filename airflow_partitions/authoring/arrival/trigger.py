"""The trigger that waits for partitions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from airflow.triggers.base import BaseTrigger, TriggerEvent

from airflow_partitions.authoring.arrival.missing import missing
from airflow_partitions.core.dependencies import Selection
from airflow_partitions.storage.consumers.ready import Ready
from airflow_partitions.storage.storage import Storage


class PartitionTrigger(BaseTrigger):
    """Fires once all partitions that it waits for are stored and complete.

    :param files: JSON form of the dataset.
    :param selection: JSON form of the :class:`~airflow_partitions.Selection` to wait for.
    :param ready: JSON form of the :class:`.Ready` that says which are complete.
    :param poke_interval: seconds between two looks.
    """

    def __init__(
        self, files: dict[str, Any], selection: dict[str, Any], ready: dict[str, Any], poke_interval: float = 60
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.files = files
        self.selection = selection
        self.ready = ready
        self.poke_interval = poke_interval

    def serialize(self) -> tuple[str, dict[str, Any]]:
        names = ("files", "selection", "ready", "poke_interval")
        return f"{__name__}.PartitionTrigger", {name: getattr(self, name) for name in names}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        files, selection = Storage.from_json(self.files), Selection.from_json(self.selection)
        ready = Ready.from_json(self.ready)
        left = [""]
        while left:
            # The sensor has just looked; and an event within a second of the deferral can overtake the scheduler.
            await asyncio.sleep(self.poke_interval)
            if left := await asyncio.to_thread(missing, files, selection, ready):
                self.log.info("%s partitions of %s are missing, such as %s", len(left), files.path, left[0])
        yield TriggerEvent({"partitions": len(selection)})
