"""Runs of a request: created many at once, or cleared where a partition has one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import TYPE_CHECKING, Any

from pendulum import instance
from sqlalchemy import func, insert, select

from airflow_partitions.core.errors import NotReadyError
from airflow_partitions.core.partition import Partition
from airflow_partitions.engine.database.connection import portions
from airflow_partitions.engine.runs.run_note import words
from airflow_partitions.engine.runs.task_rows import is_live
from airflow_partitions.operate.requests.producer import Producer
from airflow_partitions.operate.requests.request import Request

if TYPE_CHECKING:
    from airflow.models.dagrun import DagRun
    from sqlalchemy.orm import Session

    from airflow_partitions.core.keys import Key

_LONGEST = 1000  # what Airflow's column takes


def make_runs(session: Session, request: Request, producer: Producer, keys: Sequence[Key], first: int) -> None:
    """Give each of the *keys* a run of the *request*: a new one, or a new try of the newest that it has.

    A key with a run at work keeps that one, and the backfill says so.

    :param first: place of the first key in the request's order, counted from 1.
    """
    from airflow.models.backfill import BackfillDagRun, BackfillDagRunExceptionReason
    from airflow.utils.state import DagRunState

    newest = newest_runs(session, producer.dag_id, [str(key) for key in keys])
    at_work = {text for text, run in newest.items() if run.state in (DagRunState.QUEUED, DagRunState.RUNNING)}
    finished = {text: run for text, run in newest.items() if text not in at_work}
    runs = {
        str(run.partition_key): run
        for run in _create(session, request, producer, [k for k in keys if str(k) not in newest])
    }
    clear_runs(session, request, list(finished.values()))
    for key in keys:
        if (run := finished.get(str(key))) is not None:
            run.note = _note(request, producer, key, run.note)
    runs |= finished
    rows = [
        {
            "backfill_id": request.id,
            "dag_run_id": runs[str(key)].id if str(key) in runs else None,
            "exception_reason": None if str(key) in runs else BackfillDagRunExceptionReason.IN_FLIGHT.value,
            "partition_key": str(key),
            "sort_ordinal": ordinal,
        }
        for ordinal, key in enumerate(keys, first)
    ]
    session.execute(insert(BackfillDagRun), rows)


def newest_runs(session: Session, dag_id: str, keys: Sequence[str]) -> dict[str, DagRun]:
    """The newest run of each of a Dag's *keys* that has one."""
    from airflow.models.dagrun import DagRun

    runs: dict[str, DagRun] = {}
    for portion in portions(keys):
        numbers = (
            select(func.max(DagRun.id))
            .where(DagRun.dag_id == dag_id, DagRun.partition_key.in_(portion))
            .group_by(DagRun.partition_key)
        )
        numbers_of_portion = session.scalars(numbers).all()
        for ids in portions(numbers_of_portion):
            runs.update(
                (str(run.partition_key), run) for run in session.scalars(select(DagRun).where(DagRun.id.in_(ids)))
            )
    return runs


def clear_runs(session: Session, request: Request, runs: Sequence[DagRun]) -> None:
    """Let finished *runs* work again, as a part of the *request*."""
    from airflow.models.dagrun import DagRun
    from airflow.models.taskinstance import TaskInstance, clear_task_instances
    from airflow.utils.state import DagRunState
    from airflow.utils.types import DagRunTriggeredByType, DagRunType

    if not runs:
        return
    tasks = select(TaskInstance).where(
        TaskInstance.dag_id == request.dag_id,
        TaskInstance.run_id.in_([run.run_id for run in runs]),
        is_live(TaskInstance),
    )
    clear_task_instances(
        list(session.scalars(tasks)), session, dag_run_state=DagRunState.QUEUED, run_on_latest_version=True
    )
    # Airflow counts runs of other types against the Dag's limit, and would schedule nothing meanwhile. The newest
    # scheduled one stays what it is: the schedule goes on from there.
    last = session.scalar(
        select(DagRun.id)
        .where(DagRun.dag_id == request.dag_id, DagRun.run_type == DagRunType.SCHEDULED)
        .order_by(DagRun.run_after.desc())
        .limit(1)
    )
    for run in runs:
        run.state = DagRunState.QUEUED  # one without tasks is not reached by its tasks
        run.backfill_id = request.id
        run.triggered_by = DagRunTriggeredByType.BACKFILL
        if request.options.conf:
            run.conf = dict(request.options.conf)
        if run.id != last:
            run.run_type = DagRunType.BACKFILL_JOB
    session.flush()


def _create(session: Session, request: Request, producer: Producer, keys: Sequence[Key]) -> list[DagRun]:
    """New runs for *keys*, with their tasks: what ``dag.create_dagrun`` does for one, for all of them at once."""
    from airflow.models.dag_version import DagVersion
    from airflow.models.tasklog import LogTemplate

    if not keys:
        return []
    now = datetime.now(UTC)
    newest = (
        select(DagVersion.id, select(func.max(LogTemplate.id)).scalar_subquery())
        .where(DagVersion.dag_id == producer.dag_id)
        .order_by(DagVersion.version_number.desc())
        .limit(1)
    )
    row = session.execute(newest).one_or_none()
    if row is None:
        raise NotReadyError(f"Dag {producer.dag_id} has no version yet; ask again once its file was read")
    version, template = row
    runs = [_new_run(request, producer, key, now + timedelta(microseconds=place)) for place, key in enumerate(keys)]
    for run in runs:
        run.log_template_id, run.created_dag_version_id = template, version
    session.add_all(runs)
    session.flush()
    _create_tasks(session, producer.dag, runs, version)
    return runs


def _new_run(request: Request, producer: Producer, key: Key, now: datetime) -> DagRun:
    """A new run for a *key*, queued.

    :param now: another moment for each run, by which OpenLineage tells the runs of a Dag apart.
    """
    from airflow.models.dagrun import DagRun
    from airflow.utils.state import DagRunState
    from airflow.utils.types import DagRunTriggeredByType, DagRunType

    timetable, interval = producer.timetable, producer.definition.interval_of(key)
    date = timetable.partition_date(key)
    run_after = now if interval is None or date is None else min(now, interval.end) + (date - interval.start)
    kind, text = DagRunType.BACKFILL_JOB, str(key)
    return DagRun(
        dag_id=producer.dag_id,
        run_id=timetable.generate_run_id(
            run_type=kind, run_after=instance(run_after), data_interval=None, partition_key=text
        ),
        run_after=run_after,
        conf=dict(request.options.conf),
        state=DagRunState.QUEUED,
        run_type=kind,
        triggered_by=DagRunTriggeredByType.BACKFILL,
        triggering_user_name=request.by or None,
        backfill_id=request.id,
        bundle_version=producer.bundle_version,
        partition_key=text,
        partition_date=date,
        note=_note(request, producer, key),
    )


def _create_tasks(session: Session, dag: Any, runs: Sequence[DagRun], version: Any) -> None:
    """The task instances of new *runs*."""
    from airflow.models.taskinstance import TaskInstance
    from airflow.settings import task_instance_mutation_hook

    without_hook = bool(getattr(task_instance_mutation_hook, "is_noop", False))
    counts: dict[str, int] = defaultdict(int)

    def tasks_of(run: DagRun) -> Iterator[Any]:
        internals: Any = run
        creator = internals._get_task_creator(counts, task_instance_mutation_hook, without_hook, version)  # noqa: SLF001
        return internals._create_tasks(dag.task_dict.values(), creator, session=session)  # type: ignore[no-any-return]  # noqa: SLF001

    tasks = chain.from_iterable(map(tasks_of, runs))
    if without_hook:
        session.bulk_insert_mappings(TaskInstance.__mapper__, tasks)
    else:
        session.bulk_save_objects(tasks)
    if dag.deadline:
        for run in runs:
            dag._process_dagrun_deadline_alerts(run, session)  # noqa: SLF001


def _note(request: Request, producer: Producer, key: Key, note: str | None = None) -> str:
    """The note of a run: its partition in words, or what a person wrote there, and who asked for it why."""
    label = f": {request.options.label}" if request.options.label else ""
    partition, own = words(Partition(producer.definition, key)), f"\nRequest {request.id}{label}"
    base = partition if not note or note.startswith(partition) else note.partition("\nRequest ")[0]
    return base[: max(0, _LONGEST - len(own))] + own[:_LONGEST]
