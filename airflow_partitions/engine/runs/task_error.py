"""What made a task of a partition's run fail, in the task's own state store, which Airflow keeps as long as the run.

The task notes it while its process ends; where that can't, the scheduler or the API server does, who fail the task
then. A process that was killed notes nothing.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import attrs
from airflow.listeners import hookimpl

from airflow_partitions.core.versions import check_version, read_time
from airflow_partitions.engine.runs.task_rows import instance_columns
from airflow_partitions.engine.timetables.base import PartitionTimetable

if TYPE_CHECKING:
    from airflow.models.taskinstance import TaskInstance
    from airflow.sdk.execution_time.task_runner import RuntimeTaskInstance
    from airflow.utils.state import TaskInstanceState
    from sqlalchemy.orm import Session

log = logging.getLogger(__name__)

#: The cell of it.
TASK_ERROR = "partition_error"
_VERSION = 1
#: So many characters are kept of a text.
MOST = 500
_TRACE = "Traceback (most recent call last):"
_FRAME = re.compile(r"at [\w.$/@]+\(.*\)$|\.{3} \d+ more$|JVM stacktrace:$")
_LOGIN = re.compile(r"(?<=://)[^/\s@]+(?=@)")
_UNSHOWN = re.compile(r"[\x00-\x1f\x7f\u2028\u2029\ud800-\udfff]")


@attrs.frozen
class TaskError:
    """What made one try of a task fail.

    :ivar text: the exception's class and what it says, in one line of up to 500 characters.
    :ivar at: when it was noted; aware.
    """

    text: str
    try_number: int
    at: datetime

    def to_json(self) -> dict[str, Any]:
        """JSON form, read back by :meth:`from_json`."""
        return {"version": _VERSION, "text": self.text, "try": self.try_number, "at": self.at.isoformat()}

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> TaskError:
        """The inverse of :meth:`to_json`.

        :raises UnknownVersionError: if another release wrote it.
        """
        check_version(form, _VERSION, "what made a task fail")
        return cls(_bounded(str(form["text"])), int(form["try"]), read_time(form["at"]))


@hookimpl
def on_task_instance_failed(
    previous_state: TaskInstanceState | None,  # noqa: ARG001 - Airflow's names
    task_instance: RuntimeTaskInstance | TaskInstance,
    error: BaseException | str | None,
) -> None:
    """Note what made the task fail."""
    from airflow.models.taskinstance import TaskInstance

    if error is None:
        return
    if isinstance(task_instance, TaskInstance):
        _note_for(task_instance, error)
    elif isinstance(task_instance.task.dag.timetable, PartitionTimetable):  # type: ignore[union-attr]
        from airflow.sdk.execution_time.context import NEVER_EXPIRE

        form: Any = _noted(error, task_instance.try_number).to_json()
        store = task_instance.get_template_context()["task_state_store"]
        store.set(TASK_ERROR, form, retention=NEVER_EXPIRE)


def _note_for(task_instance: TaskInstance, error: BaseException | str) -> None:
    """Note it for a task, in the transaction that fails it, which goes on if that can't be done."""
    from sqlalchemy.exc import SQLAlchemyError
    from sqlalchemy.orm import object_session

    session = object_session(task_instance)
    if session is None:
        return
    try:
        with session.begin_nested():
            _write(session, task_instance, error)
    except SQLAlchemyError:
        log.exception("What made %s fail could not be noted", task_instance)


def _write(session: Session, task_instance: TaskInstance, error: BaseException | str) -> None:
    """Note it, unless the task itself has, which may have known more."""
    from airflow.models.task_state_store import TaskStateStoreModel as Cell
    from airflow.utils.sqlalchemy import build_upsert_stmt, get_dialect_name
    from sqlalchemy import select

    run = task_instance.dag_run
    if run is None or run.partition_key is None:
        return
    here = {
        "dag_run_id": run.id,
        "task_id": task_instance.task_id,
        "key": TASK_ERROR,
        **{name: getattr(task_instance, name) for name in instance_columns()},
    }
    there = session.scalar(select(Cell.value).where(*(getattr(Cell, name) == value for name, value in here.items())))
    noted = _noted(error, task_instance.try_number)
    if there is not None and (known := read_error(there)) is not None and known.try_number == noted.try_number:
        return
    values = {"value": json.dumps(noted.to_json()), "updated_at": noted.at}
    row = here | values | {"dag_id": task_instance.dag_id, "run_id": task_instance.run_id}
    session.execute(build_upsert_stmt(get_dialect_name(session), Cell, list(here), row, values))


def _noted(error: BaseException | str, try_number: int) -> TaskError:
    return TaskError(error_line(error), try_number, datetime.now(UTC))


def read_error(text: str) -> TaskError | None:
    """What the *text* of a cell says; ``None`` if it can't be read: anybody may have written it."""
    try:
        return TaskError.from_json(json.loads(text))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        log.debug("What made a task fail can't be read: %s", error)
        return None


def error_line(error: BaseException | str) -> str:
    """An exception in one line: its class, and what it says without the frames of a stack, and without secrets."""
    from airflow.sdk._shared.secrets_masker import redact

    said = _one_line(error if isinstance(error, str) else _words(error))
    hidden = _LOGIN.sub("***", str(redact(said)))
    if isinstance(error, str):
        return _bounded(hidden)
    name = type(error).__name__
    return _bounded(f"{name}: {hidden}" if hidden else name)


def _words(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - an author's exception may do anything
        return ""


def _one_line(text: str) -> str:
    """The lines of a *text*, without frames of a stack; of a traceback in it, the last one."""
    before, trace, after = text.partition(_TRACE)
    lines = [line.strip() for line in before.splitlines()]
    if trace:
        lines += [line for line in after.splitlines() if line.strip() and not line[0].isspace()][-1:]
    return " ".join(line for line in lines if line and not _FRAME.match(line))


def _bounded(text: str) -> str:
    shown = " ".join(_UNSHOWN.sub(" ", text).split())
    return shown if len(shown) <= MOST else f"{shown[: MOST - 1]}…"
