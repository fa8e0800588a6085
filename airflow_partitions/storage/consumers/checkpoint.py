"""Checkpoint of a consumer: what is behind it, and what is lent. Pure data, kept elsewhere."""

from __future__ import annotations

import json
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from datetime import datetime
from itertools import chain
from typing import Any

import attrs

from airflow_partitions.core.definitions import PartitionDefinition
from airflow_partitions.core.errors import CheckpointError, ConfirmedError, InvalidKeyError, LeaseLostError
from airflow_partitions.core.keys import Interval, Key, ProductKey
from airflow_partitions.storage.consumers.lease import Lease
from airflow_partitions.storage.layout.layout import Layout

#: So many confirmed batches are remembered, to tell a second confirmation from a lost lease.
REMEMBERED = 100
_VERSION = 1


def rank(key: Key) -> tuple[Any, ...]:
    """Where *key* stands among the keys of its definition: by time first, then by the text of its segments."""
    parts = key.parts if isinstance(key, ProductKey) else (key,)
    times = [part.time_range for part in parts if isinstance(part, Interval)]
    return (*times, *(part.text for part in parts if not isinstance(part, Interval)))


def key_of_watermark(watermark: str, definition: PartitionDefinition) -> Key:
    """The key whose text is *watermark*.

    :raises CheckpointError: if the *definition* has no such key.
    """
    try:
        return definition.parse(watermark)
    except InvalidKeyError as error:
        raise CheckpointError(
            f"checkpoint {watermark!r} is no key of {definition!r}; give the one to start after: {error}"
        ) from error


@attrs.frozen
class Checkpoint:
    """What one consumer of a dataset has behind it. Partitions are named by their folders below the dataset's root.

    :ivar dataset: path of the dataset.
    :ivar watermark: text of the last key that, with all before it, is consumed. Only kept with a comparison function.
    :ivar consumed: partitions consumed beyond the watermark.
    :ivar returned: partitions beyond the watermark that were lent and came back.
    :ivar leases: what is being worked on, by batch.
    :ivar confirmed: partitions of the last confirmed batches, by batch.
    :ivar failures: how often the work on a partition has failed since it was last consumed; none that has not.
    """

    dataset: str
    watermark: str | None = None
    consumed: frozenset[str] = frozenset()
    returned: frozenset[str] = frozenset()
    leases: Mapping[str, Lease] = attrs.field(factory=dict)
    confirmed: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)
    failures: Mapping[str, int] = attrs.field(factory=dict)

    @property
    def lent(self) -> frozenset[str]:
        """Partitions that someone works on."""
        return frozenset().union(*(lease.partitions for lease in self.leases.values()))

    def partitions_of(self, batch: str) -> tuple[str, ...]:
        """What is in *batch*, be it lent or confirmed.

        :raises LeaseLostError: if it is neither.
        """
        return self.confirmed[batch] if batch in self.confirmed else self.lease(batch).partitions

    def lease(self, batch: str) -> Lease:
        """The lease of *batch*.

        :raises ConfirmedError: if it was confirmed.
        :raises LeaseLostError: if it ended.
        """
        self.check_unconfirmed(batch)
        if batch not in self.leases:
            raise LeaseLostError(
                f"batch {batch!r} of {self.dataset!r} is lent no longer: it was put back, or took longer than its lease"
                " and others took over; what it did is not recorded, take a new batch"
            )
        return self.leases[batch]

    def check_unconfirmed(self, batch: str) -> None:
        """Refuse *batch* if it was confirmed.

        :raises ConfirmedError: if it was.
        """
        if batch in self.confirmed:
            raise ConfirmedError(
                f"batch {batch!r} of {self.dataset!r} was confirmed before; expected one confirmation of a batch:"
                " confirm it in one place only"
            )

    def lend(self, batch: str, lease: Lease) -> Checkpoint:
        """With *lease* made, or made longer."""
        returned = self.returned - set(lease.partitions)
        return attrs.evolve(self, leases={**self.leases, batch: lease}, returned=returned)

    def put_back(self, *batches: str, failed: bool = False) -> Checkpoint:
        """With the leases of *batches* ended; nothing of them is consumed.

        :param failed: whether that is so because the work on them failed.
        """
        ended = [self.leases[batch].partitions for batch in batches if batch in self.leases]
        leases = {batch: lease for batch, lease in self.leases.items() if batch not in batches}
        failures = dict(self.failures)
        for partition in chain.from_iterable(ended) if failed else ():
            failures[partition] = failures.get(partition, 0) + 1
        returned = self.returned.union(*ended) - self.consumed
        return attrs.evolve(self, leases=leases, returned=returned, failures=failures)

    def skip(self, partitions: AbstractSet[str]) -> Checkpoint:
        """With *partitions* left for later: the watermark waits for them."""
        return attrs.evolve(self, returned=self.returned | partitions)

    def without(self, missing: AbstractSet[str]) -> Checkpoint:
        """With nothing to wait for among the partitions *missing* from the dataset."""
        return attrs.evolve(self, returned=self.returned - missing).forgive(missing)

    def forgive(self, partitions: AbstractSet[str]) -> Checkpoint:
        """With the failures of *partitions* forgotten."""
        failures = {partition: count for partition, count in self.failures.items() if partition not in partitions}
        return attrs.evolve(self, failures=failures)

    def expire(self, now: datetime) -> Checkpoint:
        """With the leases ended whose time is over: whoever had them has failed."""
        return self.put_back(*(batch for batch, lease in self.leases.items() if lease.until <= now), failed=True)

    def confirm(self, batch: str, watermarked: Layout | None = None) -> Checkpoint:
        """With the partitions of *batch* consumed.

        :param watermarked: the dataset's layout, if the watermark is to move on.
        :raises ConfirmedError: if they were before.
        :raises LeaseLostError: if they are lent no longer.
        """
        done = self.lease(batch).partitions
        kept = list(self.confirmed.items())[-REMEMBERED + 1 :]
        later = attrs.evolve(
            self,
            leases={other: lease for other, lease in self.leases.items() if other != batch},
            consumed=self.consumed | set(done),
            confirmed=dict([*kept, (batch, done)]),
        ).forgive(set(done))
        return later if watermarked is None else later.move_watermark(watermarked)

    def move_watermark(self, layout: Layout) -> Checkpoint:
        """With the watermark as far as can be: up to the first partition that is lent or came back."""
        old = (
            () if self.watermark is None else rank(key_of_watermark(self.watermark, layout.definition))
        )  # nothing is before ()
        waiting = {rank(layout.key_of(partition)) for partition in self.returned | self.lent}
        end = min((place for place in waiting if place > old), default=None)
        ranks = {partition: rank(layout.key_of(partition)) for partition in self.consumed}
        behind = [partition for partition, place in ranks.items() if end is None or place < end]
        last = max(behind, key=ranks.__getitem__, default=None)
        watermark = self.watermark if last is None or ranks[last] <= old else str(layout.key_of(last))
        return attrs.evolve(self, watermark=watermark, consumed=self.consumed - set(behind))

    def dump(self) -> str:
        """As text, read back by :meth:`load`."""
        form = {
            "version": _VERSION,
            "dataset": self.dataset,
            "watermark": self.watermark,
            "consumed": sorted(self.consumed),
            "returned": sorted(self.returned),
            "leases": {batch: lease.to_json() for batch, lease in self.leases.items()},
            "confirmed": {batch: list(partitions) for batch, partitions in self.confirmed.items()},
            "failures": dict(self.failures),
        }
        return json.dumps(form, separators=(",", ":"))

    @classmethod
    def load(cls, text: str, where: str) -> Checkpoint:
        """The checkpoint whose :meth:`dump` is *text*, which was read from *where*.

        :raises CheckpointError: if it is none.
        """
        try:
            form = json.loads(text)
            _check_version(form["version"])
            return cls(
                _text(form["dataset"]),
                None if form["watermark"] is None else _text(form["watermark"]),
                frozenset(_texts(form["consumed"])),
                frozenset(_texts(form["returned"])),
                {batch: Lease.from_json(lease) for batch, lease in form["leases"].items()},
                {batch: _texts(partitions) for batch, partitions in form["confirmed"].items()},
                {partition: _number(count) for partition, count in form["failures"].items()},
            )
        except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
            raise CheckpointError(
                f"{where!r} is no checkpoint ({error!r}); restore it, or remove it to consume everything again"
            ) from error


def _check_version(value: Any) -> None:
    if value != _VERSION:
        raise ValueError(f"version {value!r} is not known; expected {_VERSION}")


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _number(value: Any) -> int:
    if type(value) is not int:
        raise TypeError(f"{value!r} is no number")
    return value


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError(f"{value!r} is no list of texts")
    return tuple(map(_text, value))
