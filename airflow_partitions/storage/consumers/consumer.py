"""Consuming a dataset's partitions step by step, each once."""

from __future__ import annotations

import logging
import os
import re
import secrets
import socket
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

import attrs

from airflow_partitions.core.calendars.duration import Length, duration
from airflow_partitions.core.calendars.instants import UTC
from airflow_partitions.core.errors import CheckpointError, InvalidDefinitionError, MissingInputError
from airflow_partitions.core.keys import Key
from airflow_partitions.storage.consumers.batch import Acceptor, Batch
from airflow_partitions.storage.consumers.checkpoint import Checkpoint, rank
from airflow_partitions.storage.consumers.lease import Lease
from airflow_partitions.storage.consumers.past_checkpoint import PastCheckpoint
from airflow_partitions.storage.consumers.ready import Ready
from airflow_partitions.storage.consumers.versioned_document import VersionedDocument
from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.filesystem.bookkeeping import bookkeeping
from airflow_partitions.storage.filesystem.filesystem import at
from airflow_partitions.storage.filesystem.paths import is_local, local
from airflow_partitions.storage.ownership import Ownership
from airflow_partitions.storage.scan.scan_plan import Where, list_
from airflow_partitions.storage.scan.snapshot import inventory, stored
from airflow_partitions.storage.scan.stored_partition import StoredPartition

#: Folder of the checkpoints, in the bookkeeping of a dataset.
CONSUMERS = "consumers"
#: How many keys a warning has.
_SHOWN = 5
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")

_log = logging.getLogger(__name__)


class Consumer:
    """One of perhaps several processes that consume a dataset together: every partition goes to one of them.

    .. code-block:: python

        consumer = Consumer(flights, "report")
        with consumer.take(limit=100) as batch:  # confirmed at the end, put back on an error
            frames = batch.load(as_="pandas")

    What was taken is lent to its taker and offered to no other, until it is confirmed, put back, or the lease is over.
    Processes that use the same dataset, name and state work together; another name consumes everything for itself.

    :param dataset: what is consumed.
    :param name: what it is consumed for.
    :param where: only these partitions, as for :meth:`.Storage.list`: a filter, a selection, or keys.
    :param state: folder of the checkpoint; by default in the bookkeeping of the dataset.
    :param checkpoint: how to tell what is past the checkpoint: the key to start after as text, or a mapping with
        ``comparison_func`` and ``force_checkpoint`` (see :class:`.PastCheckpoint`). By default every partition is
        consumed once.
    :param ready: which partitions are complete, for data that others write; by default all that are stored.
    :param lease: how long a batch is lent, unless it is renewed. Clocks of the processes must agree better than that.
    :param holder: a name for who takes. What it held before goes back when it takes again: a task that is tried again
        need not wait for the lease of its last try. By default every batch has a holder of its own.
    :param max_failures: a partition whose work has failed so often is set aside: see :attr:`failures`. Its last try is
        in a batch of its own, so that others are not set aside with it. By default it comes again and again.
    :param clock: tells the time, if not the machine's.
    :raises InvalidDefinitionError: if nothing is written to the dataset, and *state* is not given.
    """

    def __init__(
        self,
        dataset: Dataset,
        name: str = "default",
        *,
        where: Where = None,
        state: str | None = None,
        checkpoint: str | Mapping[str, str | None] | None = None,
        ready: Ready | None = None,
        lease: Length = timedelta(minutes=15),
        holder: str | None = None,
        max_failures: int | None = None,
        clock: Callable[[], datetime] | None = None,
    ) -> None:
        if not _NAME.fullmatch(name):
            raise InvalidDefinitionError(
                f"consumer name {name!r} can't be a file name; expected letters, digits, '.', '_' and '-'"
            )
        lease = duration(lease)
        if lease <= timedelta(0):
            raise InvalidDefinitionError(f"lease {lease} is over before it begins; expected a positive duration")
        if state is None and not dataset.in_folder:
            raise InvalidDefinitionError(
                f"storage {dataset.path!r} is a table, beside which nothing is kept; give state= a folder of your own"
            )
        if state is None and dataset.ownership is Ownership.READ_ONLY:
            raise InvalidDefinitionError(
                f"storage {dataset.path!r} has ownership='read-only', nothing is written there; give state= a folder"
                " of your own"
            )
        if max_failures is not None and max_failures < 1:
            raise InvalidDefinitionError(f"max_failures={max_failures} takes nothing; expected at least 1, or None")
        self.dataset = dataset
        self.name = name
        self._where = where
        self._max_failures = max_failures
        self.lease = lease
        self._comparison = PastCheckpoint.of(checkpoint)
        self._ready = ready
        self._holder = holder
        self._clock = clock or _now
        self._state = state
        self._own: set[str] = set()  # confirmed by this object: not given again, whatever is forced

    @cached_property
    def _record(self) -> VersionedDocument:
        dataset, credentials = self.dataset, dict(self.dataset.credentials)
        folder = at(self._state, credentials) if self._state else bookkeeping(at(dataset.path, credentials)) / CONSUMERS
        return VersionedDocument(str(folder / self.name), credentials)

    @property
    def checkpoint(self) -> Checkpoint:
        """What is recorded.

        :raises CheckpointError: if it is damaged, or that of another dataset.
        """
        return self._read(self._record.read())

    @property
    def failures(self) -> dict[str, int]:
        """How often the work on a partition has failed, by the text of its key: of those that have, and that wait.

        With ``max_failures`` those with so many are set aside, until :meth:`retry`.
        """
        key_of = self.dataset.layout.key_of
        return {str(key_of(directory)): count for directory, count in self._current(self.checkpoint).failures.items()}

    def retry(self, *keys: Key | Any) -> None:
        """Forget the failures of the partitions *keys*, or of all: what was set aside is given out again."""
        layout = self.dataset.layout
        directories = {layout.directory_of(layout.key(key)) for key in keys}
        self._change(lambda checkpoint: checkpoint.forgive(directories if keys else checkpoint.failures.keys()))

    def pending(self) -> list[StoredPartition]:
        """The partitions that could be taken now, in the order of their keys."""
        return self._free(self._listed(), self._current(self.checkpoint))

    def take(
        self,
        limit: int | None = None,
        accept: Acceptor | None = None,
        *,
        skip: Callable[[StoredPartition], bool] | None = None,
    ) -> Batch:
        """Borrow partitions that are to be consumed, in the order of their keys; perhaps none.

        With ``max_failures``, those that have failed come after all others.

        :param limit: at most so many.
        :param accept: asked about each, with those before it: see :func:`.batch.up_to_bytes`. After its first no,
            nothing more is taken.
        :param skip: asked about each: whether it is left for another time.
        :raises CheckpointError: if the checkpoint is damaged, or that of another dataset.
        """
        if limit is not None and limit < 1:
            raise InvalidDefinitionError(f"limit={limit} takes nothing; expected at least 1, or None")
        id, taken = secrets.token_hex(8), list[StoredPartition]()  # noqa: A001
        listed = self._listed()

        def lend(checkpoint: Checkpoint) -> Checkpoint:
            current = self._current(checkpoint)
            current = current.without(current.returned - self._stored(current.returned, listed))
            free = self._in_turn(self._free(listed, current), current)
            kept = [partition for partition in free if skip is None or not skip(partition)]
            if self._comparison.marks:
                current = current.skip({partition.directory for partition in free} - {p.directory for p in kept})
            taken[:] = sorted(_accepted(kept[:limit], accept), key=lambda partition: rank(partition.key))
            if not taken:
                return current
            holder = self._holder or f"{socket.gethostname()}:{os.getpid()}:{id}"
            return current.lend(id, Lease(holder, self._clock() + self.lease, tuple(p.directory for p in taken)))

        lend(self.checkpoint)
        if taken:  # where there is nothing to take, nothing is written
            self._change(lend)
        return Batch(self, id, taken)

    def batch(self, id: str) -> Batch:  # noqa: A002
        """The batch taken earlier, perhaps by another process, with the same partitions; also after its confirmation.

        :raises LeaseLostError: if it is lent no longer.
        :raises MissingInputError: if one of its partitions was removed.
        """
        directories = self.checkpoint.partitions_of(id)
        partitions = {partition.directory: partition for partition in inventory(self.dataset)}
        if missing := [directory for directory in directories if directory not in partitions]:
            raise MissingInputError(f"{missing[:3]} of batch {id!r} are no longer in {self.dataset.path!r}")
        return Batch(self, id, [partitions[directory] for directory in directories])

    def confirm(self, batch: str) -> None:
        """Record that *batch* is consumed; see :meth:`.Batch.confirm`."""
        layout = self.dataset.layout if self._comparison.marks else None
        done = list[str]()

        def confirmed(checkpoint: Checkpoint) -> Checkpoint:
            done[:] = checkpoint.lease(batch).partitions
            return checkpoint.confirm(batch, layout)

        self._change(confirmed)
        self._own.update(done)

    def put_back(self, batch: str, *, failed: bool = False) -> None:
        """Give *batch* back; see :meth:`.Batch.put_back`."""

        def returned(checkpoint: Checkpoint) -> Checkpoint:
            checkpoint.check_unconfirmed(batch)
            return checkpoint.put_back(batch, failed=failed)

        self._change(returned)

    def renew(self, batch: str) -> None:
        """Make the lease of *batch* last from now on; see :meth:`.Batch.renew`."""
        self._change(
            lambda checkpoint: checkpoint.lend(
                batch, attrs.evolve(checkpoint.lease(batch), until=self._clock() + self.lease)
            )
        )

    def _free(self, listed: list[StoredPartition], checkpoint: Checkpoint) -> list[StoredPartition]:
        """Those of the *listed* partitions that are to be consumed and nobody works on, in the order of their keys."""
        taken = checkpoint.lent | self._own
        there = (partition for partition in listed if partition.directory not in taken)
        past = self._comparison.past(checkpoint, self.dataset.layout.definition, there)
        free = sorted(filter(self._is_ready, past), key=lambda partition: rank(partition.key))
        aside = self._set_aside(checkpoint)
        if left := [str(partition.key) for partition in free if partition.directory in aside]:
            _log.warning(
                "%d partitions of %r are set aside for %r, after %d failures: %s; retry() gives them out again",
                len(left), self.dataset.path, self.name, self._max_failures, ", ".join(left[:_SHOWN]),
            )  # fmt: skip
        return [partition for partition in free if partition.directory not in aside]

    def _set_aside(self, checkpoint: Checkpoint) -> frozenset[str]:
        """Partitions that have failed too often."""
        if self._max_failures is None:
            return frozenset()
        return frozenset(each for each, count in checkpoint.failures.items() if count >= self._max_failures)

    def _in_turn(self, free: list[StoredPartition], checkpoint: Checkpoint) -> list[StoredPartition]:
        """Those of the *free* partitions that may be in one batch: what has failed comes later, and at last alone."""
        if self._max_failures is None:
            return free
        failures = checkpoint.failures
        ordered = sorted(free, key=lambda partition: failures.get(partition.directory, 0))  # else in order
        last = self._max_failures - 1
        together = [partition for partition in ordered if not last or failures.get(partition.directory, 0) < last]
        return together or ordered[:1]

    def _listed(self) -> list[StoredPartition]:
        return list(list_(self.dataset, self._where))

    def _stored(self, directories: AbstractSet[str], listed: list[StoredPartition]) -> set[str]:
        """Those of *directories* that are still partitions of the dataset."""
        there = {partition.directory for partition in listed}
        if self._where is not None:  # they may be of consumers with other filters
            keys = [self.dataset.layout.key_of(directory) for directory in directories - there]
            there |= {partition.directory for partition in stored(self.dataset, keys)}
        return there

    def _is_ready(self, partition: StoredPartition) -> bool:
        return self._ready is None or self._ready.holds(partition, dict(self.dataset.credentials), self._clock())

    def _current(self, checkpoint: Checkpoint) -> Checkpoint:
        """The *checkpoint* without leases that are over and those of an earlier try of the same holder."""
        current = checkpoint.expire(self._clock())
        mine = (batch for batch, lease in current.leases.items() if lease.holder == self._holder)
        return current.put_back(*mine, failed=True)

    def _change(self, function: Callable[[Checkpoint], Checkpoint]) -> None:
        def changed(text: str | None) -> str | None:
            checkpoint = self._read(text)
            updated = function(checkpoint)
            return text if updated == checkpoint else updated.dump()

        self._record.change(changed)

    def _read(self, text: str | None) -> Checkpoint:
        dataset = str(local(self.dataset.path)) if is_local(self.dataset.path) else self.dataset.path
        if text is None:
            return Checkpoint(dataset)
        checkpoint = Checkpoint.load(text, self._record.path)
        if checkpoint.dataset != dataset:
            raise CheckpointError(
                f"{self._record.path!r} is the checkpoint of {checkpoint.dataset!r}, not of {dataset!r};"
                " give state= another folder, or the consumer another name"
            )
        return checkpoint


def _accepted(partitions: list[StoredPartition], accept: Acceptor | None) -> list[StoredPartition]:
    if accept is None:
        return partitions
    for count in range(1, len(partitions) + 1):
        if not accept(partitions[:count]):
            return partitions[: count - 1]
    return partitions


def _now() -> datetime:
    return datetime.now(UTC)
