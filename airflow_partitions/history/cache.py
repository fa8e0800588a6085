"""What a scheduler knows of materialised partitions, kept between its questions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime, timedelta

from airflow_partitions.definitions import PartitionDefinition
from airflow_partitions.history.events import Times, events_since
from airflow_partitions.history.ledger import made
from airflow_partitions.keys import Key

# Events are registered in transactions that may commit later than others that began later: the last events are read
# again, and after a while everything is.
_OVERLAP = timedelta(seconds=60)
_FORGET = timedelta(minutes=5)


class History:
    """When partitions of assets were materialised.

    A key that was asked for once is remembered, so that the next question needs the newest events only: one query for
    all assets, however many partitions are waited for.
    """

    def __init__(self) -> None:
        self._known: dict[str, dict[str, Times | None]] = {}
        self._begun: dict[str, datetime] = {}
        self._read: dict[str, datetime] = {}

    def refresh(self, assets: Collection[str]) -> list[str]:
        """Take in the newest events of *assets*; returns those of which nothing is known yet."""
        now = datetime.now(UTC)
        for asset in assets:
            if now - self._begun.get(asset, now) > _FORGET:
                for kept in (self._known, self._begun, self._read):
                    kept.pop(asset, None)
        asked = [asset for asset in assets if asset in self._known]
        if asked:
            for asset, key, at in events_since(asked, min(self._read[asset] for asset in asked) - _OVERLAP):
                known = self._known[asset]
                if key in known:
                    known[key] = Times(at, at).also(known[key])
            self._read.update(dict.fromkeys(asked, now))
        return [asset for asset in assets if asset not in self._known]

    def times(
        self, asset: str, definition: PartitionDefinition, keys: Iterable[tuple[str, Key]]
    ) -> Mapping[str, Times | None]:
        """When *asset* was materialised for each of the *keys*, by the text its events carry; as of the last refresh.

        :param keys: each after that text.
        :return: of these keys, and possibly of others.
        """
        now = datetime.now(UTC)
        known = self._known.setdefault(asset, {})
        self._begun.setdefault(asset, now)
        self._read.setdefault(asset, now)
        if unknown := {text: key for text, key in keys if text not in known}:
            found = made(asset, definition, unknown)
            known.update((text, found.get(text)) for text in unknown)
        return known
