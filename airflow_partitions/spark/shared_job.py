"""A submitted job that makes several partitions one after the other, while its task publishes those that are done."""

from __future__ import annotations

import contextvars
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event, Thread
from types import TracebackType
from typing import Self

from airflow_partitions.core.errors import ResultError
from airflow_partitions.spark.handover import Handover
from airflow_partitions.spark.job_result import JobResult, load_error

log = logging.getLogger(__name__)

#: The staging place is looked at that often, in seconds: a local one, and one in an object store.
_LOOK_EVERY = 0.1
_LOOK_AFAR_EVERY = 1.0


class SharedJob:
    """A job at work on a thread of its own, for the block. What nobody has waited for when the block ends is not made.

    :param handovers: what it makes, in that order.
    :param submit: runs it, and ends when it has ended.
    :param kill: ends it.
    """

    def __init__(self, handovers: Sequence[Handover], submit: Callable[[], None], kill: Callable[[], None]) -> None:
        self._waiting = list(handovers)
        self._submit = submit
        self._kill = kill
        self._failure: BaseException | None = None
        self._ended = Event()
        own = contextvars.copy_context()
        # Not one that Python waits for as it exits: whoever kills the task ends the job by itself.
        self._thread = Thread(target=own.run, args=[self._run], name="job", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._give_up(len(self._waiting))
        while error is not None and not self._ended.is_set():  # again, if it had not begun
            self._kill()
            self._ended.wait(1)
        self._thread.join()
        if error is None and self._failure is not None:
            log.warning("The job failed when all that it was to make was made: %s", self._failure)

    def result(self, handover: Handover) -> JobResult:
        """What the job reports of *handover*, once it has done with it; those before it are not waited for any more.

        :raises PartitionError: that of the partition.
        :raises SparkServerError: if the job ended before.
        """
        self._give_up(self._waiting.index(handover))
        self._waiting.remove(handover)
        staging = handover.staging
        pause = _LOOK_EVERY if isinstance(staging.folder, Path) else _LOOK_AFAR_EVERY
        has_ended = False
        while not staging.result.exists():
            if (error := load_error(staging)) is not None:
                raise error
            if has_ended:
                raise self._failure or ResultError(
                    f"the job ended, and left no result of partition {handover.partition.text!r}; expected one of each"
                )
            has_ended = self._ended.wait(pause)  # once more after that: it may have come just before
        return JobResult.load(staging, handover.attempt.name)

    def _run(self) -> None:
        try:
            if self._waiting:
                self._submit()
        except BaseException as failure:  # noqa: BLE001 - raised where a result is waited for
            self._failure = failure
        finally:
            self._ended.set()

    def _give_up(self, count: int) -> None:
        """Let the job leave out the next *count*, but the one that it is making."""
        for handover in self._waiting[:count]:
            handover.staging.remove()
        del self._waiting[:count]
