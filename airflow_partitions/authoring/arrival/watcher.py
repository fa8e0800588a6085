"""The trigger that notices new partitions."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

from airflow.triggers.base import BaseEventTrigger, TriggerEvent

from airflow_partitions.authoring.arrival.arrivals import Arrivals
from airflow_partitions.core.errors import PartitionError


class ArrivalTrigger(BaseEventTrigger):
    """Fires whenever partitions have arrived that nobody has reported: for an ``AssetWatcher``.

    It fires again while it finds that some were reported and others are left, and for those that are not reported
    within the time of a lease: nothing is lost when a report fails. An event of Airflow's triggerer has no partition
    key; :func:`.asset.watched` makes keyed events of it.

    :param arrivals: JSON form of the :class:`.Arrivals`.
    :param poke_interval: seconds between two looks.
    """

    def __init__(self, arrivals: dict[str, Any], poke_interval: float = 60) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.arrivals = arrivals
        self.poke_interval = poke_interval

    def serialize(self) -> tuple[str, dict[str, Any]]:
        return f"{__name__}.ArrivalTrigger", {"arrivals": self.arrivals, "poke_interval": self.poke_interval}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        arrivals = Arrivals.from_json(self.arrivals)
        consumer = arrivals.consumer()
        reported: dict[str, float] = {}
        while True:
            now = time.monotonic()
            try:
                pending = [partition.directory for partition in await asyncio.to_thread(consumer.pending)]
            except PartitionError as error:  # a file system that is away for a while, a folder that is no partition
                self.log.warning("%s can't be looked at: %s", arrivals.files.path, error)
                pending = []
            left = {directory: reported[directory] for directory in pending if directory in reported}
            over = now - arrivals.lease.total_seconds()
            if len(left) < len(reported) or any(left.get(directory, over) <= over for directory in pending):
                left = dict.fromkeys(pending, now)
                if pending:
                    yield TriggerEvent({"partitions": len(pending), "first": pending[0], "last": pending[-1]})
            reported = left
            await asyncio.sleep(self.poke_interval)
