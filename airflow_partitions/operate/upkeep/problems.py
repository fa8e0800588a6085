"""What fails in the rounds of upkeep."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from sqlalchemy.exc import OperationalError

from airflow_partitions.core.errors import PartitionError, StorageError
from airflow_partitions.core.versions import Report

log = logging.getLogger(__name__)


class Problems:
    """What fails in the jobs of the rounds of one process: each problem is told once while it lasts.

    It is over when its job was done without it; if it comes back it is told again.
    """

    def __init__(self) -> None:
        self._lasting: dict[str, Collection[str]] = {}
        self._new: dict[str, None] = {}

    @contextmanager
    def of(self, job: str, *, named: bool = True) -> Iterator[Report]:
        """Let what fails in a *job* be a problem, and keep nothing else from being done.

        :param named: begin the sentences with the name of the job.
        """
        texts: dict[str, None] = {}  # in their order, each once
        before = self._lasting.pop(job, ())

        def report(problem: str) -> None:
            texts[f"{job}: {problem}" if named else problem] = None

        try:
            yield report
        except (StorageError, OperationalError):  # nothing else would work either
            raise
        except PartitionError as error:
            texts[f"{job}: {error}"] = None
        except Exception as error:
            text = f"{job}: {type(error).__name__}: {error}"
            if text not in before:
                log.exception("Upkeep of %s failed", job)
            texts[text] = None
        self._new |= {text: None for text in texts if text not in before}
        if texts:
            self._lasting[job] = texts

    def new(self) -> tuple[str, ...]:
        """Those that are new since this was asked last, each as a sentence."""
        new, self._new = tuple(self._new), {}
        return new
