"""Ledgers as the triggers of a process read them: once for all that wait.

A trigger has no database. It reads cells of the state store one by one, through the process above it. So all triggers
of a process wake up together, and the first one reads for the others.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from airflow.sdk.exceptions import AirflowRuntimeError
from airflow.sdk.execution_time.context import AssetStateStoreAccessor

from airflow_partitions.core.dependencies import Selection
from airflow_partitions.core.versions import read_form
from airflow_partitions.engine.ledger.addresses import Addresses
from airflow_partitions.engine.ledger.ledger_pages import PROGRESS, LedgerProgress, months_with, page_cell, read_page

T = TypeVar("T")

log = logging.getLogger(__name__)

_FORGET = 3600.0
_READERS: WeakKeyDictionary[asyncio.AbstractEventLoop, LedgerReader] = WeakKeyDictionary()


class LedgerReader:
    """Reads the ledgers that triggers of one event loop wait for."""

    def __init__(self) -> None:
        self._cells: dict[tuple[str, str], tuple[float, asyncio.Task[Any]]] = {}

    @classmethod
    def of_this_loop(cls) -> LedgerReader:
        """The one reader of the running event loop."""
        return _READERS.setdefault(asyncio.get_running_loop(), cls())

    async def times(self, asset: str, selection: Selection, interval: float) -> Mapping[str, datetime]:
        """Wait for the next look, and tell when partitions of *asset* were last materialized, by the text of their key.

        Of those in the ledger's months that have keys of the *selection*.

        :param interval: seconds between two looks; all that wait as long look together.
        """
        now = time.monotonic()
        look = now - now % interval + interval
        await asyncio.sleep(look - now)
        progress = await self._read(asset, PROGRESS, LedgerProgress.from_json, look, interval)
        addresses = Addresses(selection.definition)
        if progress is None or progress.addresses.family != addresses.family:
            return {}
        times: dict[str, datetime] = {}
        for month in months_with(selection, progress.months):
            page = await self._read(asset, page_cell(addresses, month), read_page, look, interval) or {}
            times |= {text: last for text, (_, last) in page.items()}
        return times

    async def _read(self, asset: str, cell: str, read: Callable[[Any], T], look: float, interval: float) -> T | None:
        """What is in a *cell*; not read again for the same *look*, however late a busy loop comes to it."""
        at, task = self._cells.get((asset, cell), (look - interval, None))
        if task is None or look - at > interval / 2 or task.cancelled():
            task = asyncio.create_task(read_cell(asset, cell, read))
            self._cells = {name: entry for name, entry in self._cells.items() if look - entry[0] < _FORGET}
            self._cells[asset, cell] = look, task
        return await asyncio.shield(task)


async def read_cell(asset: str, cell: str, read: Callable[[Any], T]) -> T | None:
    """What is in a *cell* of an asset's state store; ``None`` too while the store can't be reached: ask again later."""
    try:
        form = await AssetStateStoreAccessor(name=asset).aget(cell)
    except AirflowRuntimeError as error:
        log.warning("Asset %r can't be looked at: %s", asset, error)
        return None
    return read_form(form, read, f"the cell {cell} of asset {asset!r}", log.warning)
