"""A wait for the end of a driver that spark-submit has started, without a worker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import attrs
from airflow.triggers.base import BaseTrigger, TriggerEvent
from tenacity import AsyncRetrying

from airflow_partitions.spark.engines.driver_pods import DriverPods
from airflow_partitions.spark.engines.patience import patience
from airflow_partitions.spark.engines.resource_manager import ResourceManager
from airflow_partitions.spark.engines.tracker import Tracker

_KINDS: Mapping[str, Callable[..., Tracker]] = {kind.__name__: kind for kind in (ResourceManager, DriverPods)}


class DriverTrigger(BaseTrigger):
    """Fires when *driver* has ended, or is gone: with what :meth:`.Tracker.ending` says.

    It fires with an ``error``, too, when nobody has told for long. The driver is ended if its task is.

    :param kind: of tracker, which is asked,
    :param place: and its fields.
    :param poll_seconds: it is asked that often, for the first time after as long.
    """

    def __init__(self, driver: str, kind: str, place: Mapping[str, Any], poll_seconds: float) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.driver = driver
        self.kind = kind
        self.place = place
        self.tracker = _KINDS[kind](**place)
        self.poll_seconds = poll_seconds

    @classmethod
    def of(cls, driver: str, tracker: Tracker, poll_seconds: float) -> DriverTrigger:
        """One that asks *tracker*."""
        return cls(driver, type(tracker).__name__, attrs.asdict(tracker), poll_seconds)

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """As Airflow keeps it."""
        names = ("driver", "kind", "place", "poll_seconds")
        return f"{__name__}.DriverTrigger", {name: getattr(self, name) for name in names}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Ask until it has ended."""
        errors = self.tracker.errors
        end: dict[str, str] | None = None
        ask = AsyncRetrying(**patience(errors, self.poll_seconds))
        try:
            while end is None:
                # The task has just looked; and an event within a second of the deferral can overtake the scheduler.
                await asyncio.sleep(self.poll_seconds)
                end = await ask(asyncio.to_thread, self.tracker.ending, self.driver)
        except errors as error:
            end = {"error": f"{type(error).__name__}: {error}"}
        yield TriggerEvent(end)

    async def on_kill(self) -> None:
        """End the driver: somebody has ended the task that waits for it."""
        await asyncio.to_thread(self.tracker.kill, self.driver)
