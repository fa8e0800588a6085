"""What tasks ask for, and the answers.

A task reaches no database. It leaves what it asks for in a cell of the asset; upkeep takes that over into our tables,
makes a request of it, and leaves the answer in another cell.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import attrs

from airflow_partitions.core.dependencies import Selection
from airflow_partitions.core.versions import check_version, read_time
from airflow_partitions.engine.runs.request_state import ENDED
from airflow_partitions.engine.runs.run_options import RunOptions

#: The start of the names of the cells; an id follows.
TASK_REQUEST, ANSWER = "task-request/", "answer/"
_VERSION = 1
# What columns take.
_LONGEST_ID, _LONGEST_NAME = 250, 512


@attrs.frozen
class TaskRequest:
    """What a task asks for.

    :ivar id: the same for all tries of the task.
    :ivar by: the task.
    :ivar at: when it asked first, aware.
    """

    id: str = attrs.field(validator=attrs.validators.max_len(_LONGEST_ID))
    asset: str
    selection: Selection
    by: str
    at: datetime
    options: RunOptions = attrs.field(factory=RunOptions)

    @property
    def requester(self) -> str:
        """Who has made the request, by its name."""
        return f"{self.by[: _LONGEST_NAME - len(self.id) - 1]} {self.id}"

    def to_json(self) -> dict[str, Any]:
        """JSON form, read back by :meth:`from_json`."""
        return {
            "version": _VERSION,
            "id": self.id,
            "asset": self.asset,
            "selection": self.selection.to_json(),
            "by": self.by,
            "at": self.at.isoformat(),
            "options": attrs.asdict(self.options),
        }

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> TaskRequest:
        """The inverse of :meth:`to_json`.

        :raises UnknownVersionError: if another release wrote it.
        """
        check_version(form, _VERSION, "what a task asks for")
        selection, options = Selection.from_json(form["selection"]), RunOptions(**form["options"])
        return cls(form["id"], form["asset"], selection, form["by"], read_time(form["at"]), options)


@attrs.frozen
class TaskAnswer:
    """What became of it.

    :ivar state: of the request, as :class:`.Progress` has it; ``waiting`` for others that make some of it, or
        ``refused``.
    :ivar request: its number, if it was made.
    :ivar words: why it waits, or was refused.
    :ivar runs: number of runs by Airflow's state of them.
    """

    state: str
    request: int | None = None
    words: str = ""
    runs: Mapping[str, int] = attrs.field(factory=dict)

    @property
    def has_ended(self) -> bool:
        """Whether nothing happens any more."""
        return self.state in (*ENDED, "refused")

    def to_json(self) -> dict[str, Any]:
        """JSON form, read back by :meth:`from_json`."""
        return {"version": _VERSION, **attrs.asdict(self)}

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> TaskAnswer:
        """The inverse of :meth:`to_json`.

        :raises UnknownVersionError: if another release wrote it.
        """
        check_version(form, _VERSION, "the answer to a task")
        return cls(form["state"], form["request"], form["words"], form["runs"])
