"""Times of materialised partitions, kept in a scheduler between its loops."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime, timedelta

from airflow_partitions.definitions import PartitionDefinition
from airflow_partitions.history.events import EventTimes, events_since
from airflow_partitions.history.ledger import materialised_times
from airflow_partitions.keys import Key

# Events are registered in transactions that may commit later than others that began later: the last events are read
# again, and after a while everything is.
_OVERLAP = timedelta(seconds=60)
_FORGET = timedelta(minutes=5)


class HistoryCache:
    """Times at which partitions of assets were materialised.

    A key that was asked for once is remembered, so that the next question needs the newest events only: one query for
    all assets, however many partitions are waited for.
    """

    def __init__(self) -> None:
        self._times: dict[str, dict[str, EventTimes | None]] = {}
        self._since: dict[str, datetime] = {}
        self._read: dict[str, datetime] = {}

    def refresh(self, assets: Collection[str]) -> list[str]:
        """Take in the newest events of *assets*; returns those of which nothing is remembered yet."""
        now = datetime.now(UTC)
        for asset in assets:
            if now - self._since.get(asset, now) > _FORGET:
                for memory in (self._times, self._since, self._read):
                    memory.pop(asset, None)
        remembered = [asset for asset in assets if asset in self._times]
        if remembered:
            for asset, key, at in events_since(remembered, min(self._read[asset] for asset in remembered) - _OVERLAP):
                times = self._times[asset]
                if key in times:
                    times[key] = EventTimes(at, at).also(times[key])
            self._read.update(dict.fromkeys(remembered, now))
        return [asset for asset in assets if asset not in self._times]

    def times(
        self, asset: str, definition: PartitionDefinition, keys: Iterable[tuple[str, Key]]
    ) -> Mapping[str, EventTimes | None]:
        """Times at which *asset* was materialised for each of the *keys*, by the text its events carry.

        As of the last refresh; ``None`` for a key that never was.

        :param keys: each after that text.
        :return: of these keys, and possibly of others.
        """
        now = datetime.now(UTC)
        times = self._times.setdefault(asset, {})
        self._since.setdefault(asset, now)
        self._read.setdefault(asset, now)
        if unread := {text: key for text, key in keys if text not in times}:
            stored = materialised_times(asset, definition, unread)
            times.update((text, stored.get(text)) for text in unread)
        return times
