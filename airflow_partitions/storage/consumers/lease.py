"""The right to work on some partitions for a while."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import attrs

from airflow_partitions.core.errors import LeaseLostError, StorageError

_log = logging.getLogger(__name__)


@attrs.frozen
class Lease:
    """Partitions that are lent to one consumer, and to nobody else until it ends.

    :ivar holder: who has them.
    :ivar until: when it ends unless it is renewed, aware.
    :ivar partitions: their folders below the root of the dataset, in the order of their keys.
    """

    holder: str
    until: datetime
    partitions: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """JSON form, read back by :meth:`from_json`."""
        return {"holder": self.holder, "until": self.until.isoformat(), "partitions": list(self.partitions)}

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> Lease:
        """The lease whose :meth:`to_json` is *form*.

        :raises ValueError: if its end has no zone.
        """
        until = datetime.fromisoformat(form["until"])
        if until.tzinfo is None:
            raise ValueError(f"the end of a lease, {form['until']!r}, has no zone")
        return cls(form["holder"], until, tuple(form["partitions"]))


class Heartbeat:
    """Renews a lease from a thread of its own, for as long as the work takes.

    :param renew: renews it once.
    :param seconds: time between two renewals; a third of the lease leaves room for two failures.
    """

    def __init__(self, renew: Callable[[], object], seconds: float) -> None:
        self._renew = renew
        self._seconds = seconds
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="lease", daemon=True)

    def start(self) -> None:
        """Begin; the first renewal is one interval away."""
        self._thread.start()

    def stop(self) -> None:
        """End, after a renewal that is under way."""
        self._stopped.set()
        self._thread.join()

    def _beat(self) -> None:
        while not self._stopped.wait(self._seconds):
            try:
                self._renew()
            except LeaseLostError as error:  # the holder is told when it confirms
                _log.warning("%s", error)
                return
            except StorageError as error:  # perhaps the next time
                _log.warning("a lease could not be renewed: %s", error)
