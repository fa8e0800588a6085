"""The cells of a leader's task in which it tells what became of its members, while it works."""

from __future__ import annotations

import logging
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from airflow_partitions.core.versions import read_form
from airflow_partitions.engine.batches.outcome import IN_CELL, OUTCOMES, Outcome, outcomes_from_json, outcomes_to_json

if TYPE_CHECKING:
    from airflow.sdk.execution_time.context import TaskStateStoreAccessor

log = logging.getLogger(__name__)

#: A cell is written that often at most: each time costs what making a small partition does.
_WRITE_EVERY = 1.0


class OutcomeCells:
    """What a task has told, and goes on to tell, a hundred outcomes to a cell; all is told when the block ends.

    :ivar outcomes: all of them, by run id.
    """

    def __init__(self, store: TaskStateStoreAccessor) -> None:
        self._store = store
        self._cell = 0
        self._untold: list[Outcome] = []
        self._written = time.monotonic()
        self.outcomes: dict[str, Outcome] = {}
        while (told := self._read(self._cell)) is not None:  # by an earlier try
            self.outcomes.update((outcome.run_id, outcome) for outcome in told)
            self._cell += 1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._write()

    def add(self, outcome: Outcome) -> None:
        """Tell an outcome, within a second of the next one."""
        self.outcomes[outcome.run_id] = outcome
        self._untold.append(outcome)
        if len(self._untold) == IN_CELL or time.monotonic() - self._written > _WRITE_EVERY:
            self._write()

    def _read(self, cell: int) -> list[Outcome] | None:
        form: Any = self._store.get(f"{OUTCOMES}{cell}")
        return read_form(form, outcomes_from_json, "what was told of the batch", log.warning)

    def _write(self) -> None:
        from airflow.sdk.execution_time.context import NEVER_EXPIRE

        if not self._untold:
            return
        form: Any = outcomes_to_json(self._untold)
        self._store.set(f"{OUTCOMES}{self._cell}", form, retention=NEVER_EXPIRE)
        self._written = time.monotonic()
        if len(self._untold) == IN_CELL:
            self._cell += 1
            self._untold = []
