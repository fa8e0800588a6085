"""The trigger that waits for partitions of an asset."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from typing import Any

from airflow.triggers.base import BaseTrigger, TriggerEvent

from airflow_partitions.dependencies import Selection
from airflow_partitions.tasks.ledger_reader import LedgerReader


class MaterialisedTrigger(BaseTrigger):
    """Fires once all partitions that it waits for are in the asset's ledger, or when it is time to look elsewhere.

    The triggers of a process read each ledger together, however many there are.

    :param asset: name of the asset.
    :param selection: JSON form of the :class:`~airflow_partitions.Selection` to wait for.
    :param poke_interval: seconds between two looks.
    :param patience: seconds after which the task is to look at the asset's events by itself: without upkeep, the ledger
        learns of none.
    """

    def __init__(self, asset: str, selection: dict[str, Any], poke_interval: float = 60, patience: float = 600) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.asset = asset
        self.selection = selection
        self.poke_interval = poke_interval
        self.patience = patience

    def serialize(self) -> tuple[str, dict[str, Any]]:
        names = ("asset", "selection", "poke_interval", "patience")
        return f"{__name__}.MaterialisedTrigger", {name: getattr(self, name) for name in names}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        selection, reader = Selection.from_json(self.selection), LedgerReader.of_this_loop()
        missing = {str(key) for key in selection}
        end = time.monotonic() + self.patience
        while missing and time.monotonic() < end:
            times = await reader.times(self.asset, selection, self.poke_interval)
            if missing & times.keys():
                missing -= times.keys()
                self.log.info("%s partitions of %s are missing", len(missing), self.asset)
        yield TriggerEvent({"missing": len(missing)})
