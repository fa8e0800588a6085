"""Partitions lent to one consumer, to be confirmed together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

from airflow_partitions.core.errors import ConfirmedError
from airflow_partitions.storage.consumers.lease import Heartbeat
from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.io.read import load
from airflow_partitions.storage.scan.stored_partition import StoredPartition

if TYPE_CHECKING:
    from typing_extensions import Self

#: Told the partitions taken so far and one more at the end: whether that one is taken too. After the first no, no other
#: is asked about. It may be asked again, when another consumer was quicker.
Acceptor = Callable[[Sequence[StoredPartition]], bool]


def up_to_bytes(limit: int) -> Acceptor:
    """Takes partitions up to a total size in bytes; one that is larger by itself comes alone."""

    def accept(partitions: Sequence[StoredPartition]) -> bool:
        return len(partitions) == 1 or sum(partition.bytes for partition in partitions) <= limit

    return accept


class Lender(Protocol):
    """What a batch needs of the consumer that took it."""

    dataset: Dataset
    lease: timedelta

    def confirm(self, batch: str) -> None:
        """Record that *batch* is consumed."""

    def put_back(self, batch: str, *, failed: bool = False) -> None:
        """Give *batch* back."""

    def renew(self, batch: str) -> None:
        """Make the lease of *batch* last from now on."""


class Batch(Sequence[StoredPartition]):
    """Partitions to work on: a sequence, in the order of their keys, that stays the same whatever happens.

    As a context manager it renews its lease while the work goes on, confirms itself when the work is done, and puts
    itself back when the work fails:

    .. code-block:: python

        with consumer.take(limit=100) as batch:
            for partition in batch:
                work_on(partition.paths)

    An empty batch is false; there is nothing to confirm about it, but it may be.
    """

    def __init__(self, consumer: Lender, id: str, partitions: Sequence[StoredPartition]) -> None:  # noqa: A002
        self.id = id
        self._consumer = consumer
        self._partitions = tuple(partitions)
        self._ended: str | None = None
        self._heartbeat: Heartbeat | None = None

    @property
    def keys(self) -> list[str]:
        """Texts of the keys."""
        return [str(partition.key) for partition in self._partitions]

    def confirm(self) -> None:
        """Record that all partitions are consumed.

        :raises ConfirmedError: the second time.
        :raises LeaseLostError: if the lease was lost; nothing is recorded.
        """
        if self._ended == "confirmed":
            raise ConfirmedError(
                f"batch {self.id!r} of {self._consumer.dataset.path!r} was confirmed before; expected one confirmation"
            )
        if self._partitions:
            self._consumer.confirm(self.id)
        self._ended = "confirmed"

    def put_back(self, *, failed: bool = False) -> None:
        """Give the partitions back, for whoever takes them next. A lease that was lost is no error.

        :param failed: count it as a failure of each, as an exception in the block does.
        :raises ConfirmedError: if they were confirmed.
        """
        if self._ended == "confirmed":
            raise ConfirmedError(f"batch {self.id!r} was confirmed; it can't be put back")
        if self._partitions:
            self._consumer.put_back(self.id, failed=failed)
        self._ended = "put back"

    def renew(self) -> None:
        """Make the lease last from now on.

        :raises LeaseLostError: if it was lost.
        """
        if self._partitions:
            self._consumer.renew(self.id)

    def load(self, **options: Any) -> Mapping[str, Any]:
        """Key text to data, all of it loaded; *options* are those of :meth:`.Storage.load`."""
        if not self._partitions:
            return {}
        loads = load(self._consumer.dataset, [partition.key for partition in self._partitions], **options)
        return {key: load_one() for key, load_one in loads.items()}

    def __enter__(self) -> Self:
        if self._partitions:
            self._heartbeat = Heartbeat(self.renew, self._consumer.lease.total_seconds() / 3)
            self._heartbeat.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._heartbeat is not None:
            self._heartbeat.stop()
        if self._ended is None:
            if error is None:
                self.confirm()
            else:
                self.put_back(failed=True)

    def __len__(self) -> int:
        return len(self._partitions)

    def __getitem__(self, index: Any) -> Any:
        return self._partitions[index]

    def __iter__(self) -> Iterator[StoredPartition]:
        return iter(self._partitions)

    def __repr__(self) -> str:
        return f"<Batch {self.id} of {len(self)} partitions>"
