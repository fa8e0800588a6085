"""The note of a run: its partition in words, why it did nothing, and what its partition fails.

Airflow calls these listeners in the transaction that changes the run's state, in the scheduler and in the API server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from airflow.listeners import hookimpl
from sqlalchemy.orm import object_session

from airflow_partitions.core.errors import InvalidKeyError
from airflow_partitions.core.partition import Partition
from airflow_partitions.engine.runs.publication import FAILED_CHECKS
from airflow_partitions.engine.runs.skip import SKIP_REASON
from airflow_partitions.engine.timetables.base import PartitionTimetable

if TYPE_CHECKING:
    from airflow.models.dagrun import DagRun

SKIPPED = "\nSkipped: "
FAILED = "\nPublished in spite of failed checks: "
LONGEST_NOTE = 1000  # what Airflow's column takes


@hookimpl
def on_dag_run_running(dag_run: DagRun, msg: str) -> None:  # noqa: ARG001 - Airflow's names
    """Say which partition it is about, unless a person has left a note."""
    if (partition := partition_of_run(dag_run)) is not None:
        note, own = dag_run.note, words(partition)
        # A run that was cleared works now. In one that was not, it has just been said.
        if not note or (dag_run.clear_number and note.startswith((own + SKIPPED, own + FAILED))):
            write_note(dag_run, own)


@hookimpl
def on_dag_run_success(dag_run: DagRun, msg: str) -> None:  # noqa: ARG001 - Airflow's names
    """Add the reason why its tasks did nothing, if they were skipped because the partition was made already, and the
    checks that it failed and was published all the same."""
    if (partition := partition_of_run(dag_run)) is None:
        return
    note = own = dag_run.note or words(partition)
    for key, value in _pushed(dag_run):
        heading = SKIPPED if key == SKIP_REASON else FAILED
        if heading not in note:
            note += f"{heading}{value}"
    if note != own:
        write_note(dag_run, note)


def words(partition: Partition) -> str:
    """A sentence about a *partition*, with the bounds of its interval in its own zone."""
    time, start, end = partition.definition.time, partition.start, partition.end
    segments = [f"{name} {value}" for name, value in partition.dimensions.items() if time is None or name != time.name]
    if time is None or start is None or end is None:
        return f"Partition {partition}" + (f": {', '.join(segments)}" if len(segments) > 1 else "")
    first, last = (f"{bound:%Y-%m-%d %H:%M}{f':{bound:%S}' if bound.second else ''}" for bound in (start, end))
    zones = dict.fromkeys((f"{start:%Z}", f"{end:%Z}"))
    span = f"{first} {start:%Z} to {last} {end:%Z}" if len(zones) > 1 else f"{first} to {last} {start:%Z}"
    if time.timezone not in zones:
        span += f" ({time.timezone})"
    return f"Partition {partition}: " + ", ".join([span, *segments])


def partition_of_run(dag_run: DagRun) -> Partition | None:
    """The partition of a run; ``None`` if its Dag is not one of ours, or it has none."""
    timetable: Any = getattr(dag_run.dag, "timetable", None)
    if not isinstance(timetable, PartitionTimetable) or timetable.partition is None or dag_run.partition_key is None:
        return None
    try:
        return Partition(timetable.partition, dag_run.partition_key)
    except InvalidKeyError:  # of an older definition
        return None


def _pushed(dag_run: DagRun) -> list[tuple[str, str]]:
    """What its tasks have to say: key and text of their XComs."""
    from airflow.models.xcom import XComModel

    session = object_session(dag_run)
    if session is None:
        return []
    query = XComModel.get_many(run_id=dag_run.run_id, dag_ids=dag_run.dag_id)
    rows: Any = session.scalars(query.where(XComModel.key.in_([SKIP_REASON, FAILED_CHECKS])))
    return [(row.key, str(XComModel.deserialize_value(row))) for row in rows]


def write_note(dag_run: DagRun, text: str) -> None:
    """Set the note; at once, so that a person who sets one in the same moment does not fail the scheduler's commit."""
    from airflow.models.dagrun import DagRunNote
    from airflow.utils.sqlalchemy import build_upsert_stmt, get_dialect_name

    session, content = object_session(dag_run), text[:LONGEST_NOTE]
    if session is not None:
        values = {"dag_run_id": dag_run.id, "content": content}
        statement = build_upsert_stmt(
            get_dialect_name(session), DagRunNote, ["dag_run_id"], values, {"content": content}
        )
        session.execute(statement)
        session.expire(dag_run, ["dag_run_note"])
