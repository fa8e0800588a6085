"""Times of materialized partitions, kept in a scheduler between its loops."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta

from airflow_partitions.core.definitions import PartitionDefinition
from airflow_partitions.core.keys import Key
from airflow_partitions.engine.ledger.events import EventTimes
from airflow_partitions.engine.ledger.forgotten import corrections_of
from airflow_partitions.engine.ledger.ledger import materialized_times
from airflow_partitions.engine.ledger.new_events import NewEvents

_GOOD_FOR = timedelta(seconds=1)
# An asset may be taken away and come back as another one: after a while everything is read again.
_FORGET = timedelta(hours=1)


class HistoryCache:
    """Times at which partitions of assets were materialized.

    A key that was asked for once is remembered, so that the next question needs the new events only: one query for all
    assets and Dags, however many partitions are waited for.
    """

    def __init__(self) -> None:
        self._times: dict[str, dict[str, EventTimes | None]] = {}
        self._since: dict[str, datetime] = {}
        self._corrections: dict[str, int | None] = {}
        self._events = NewEvents()
        self._read: datetime | None = None
        self._is_behind = False

    def newest_event(self, known: int = 0) -> int:
        """The greatest id of an event, at least of all those that :meth:`times` was told of so far.

        Keys that were asked for after the last refresh may have newer events than that has read.

        :param known: an id that another scheduler has seen; the answer is smaller only where ids have begun anew.
        """
        if self._is_behind or known > self._events.newest:
            self.refresh(at_once=True)
        return self._events.newest

    def refresh(self, *, at_once: bool = False) -> None:
        """Take in the new events of all assets, if the last ones are not of this second; or *at_once*."""
        now = datetime.now(UTC)
        if not at_once and self._read is not None and abs(now - self._read) < _GOOD_FOR:
            return
        for asset in [asset for asset, since in self._since.items() if now - since > _FORGET]:
            del self._since[asset], self._times[asset]
        self._forget()
        for event in self._events.read():
            times = self._times.get(event.asset, {})
            if event.key in times:
                times[event.key] = EventTimes(event.at, event.at, event.id, event.id).also(times[event.key])
        self._read, self._is_behind = now, False

    def _forget(self) -> None:
        """Read everything again of assets that were corrected since this was asked: no event tells of that."""
        corrections = corrections_of(self._times) if self._times else {}
        for asset, times in self._times.items():
            if self._corrections.get(asset) != corrections.get(asset):
                times.clear()
        self._corrections = {asset: corrections.get(asset) for asset in self._times}

    def lacks(self, asset: str, keys: Iterable[tuple[str, Key]]) -> bool:
        """Whether the next question for these *keys* of an asset asks the database."""
        times = self._times.get(asset, {})
        return any(text not in times for text, _ in keys)

    def times(
        self, asset: str, definition: PartitionDefinition, keys: Iterable[tuple[str, Key]]
    ) -> Mapping[str, EventTimes | None]:
        """Times at which *asset* was materialized for each of the *keys*, by the text its events carry.

        As of the last refresh; ``None`` for a key that never was.

        :param keys: each after that text.
        :return: of these keys, and possibly of others.
        """
        times = self._times.setdefault(asset, {})
        self._since.setdefault(asset, datetime.now(UTC))
        if unread := {text: key for text, key in keys if text not in times}:
            self._is_behind = True
            stored = materialized_times(asset, definition, unread)
            times.update((text, stored.get(text)) for text in unread)
        return times
