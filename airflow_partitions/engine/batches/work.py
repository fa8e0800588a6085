"""The work of a batch, in the task of its leader: one partition after the other, each with its own outcome."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager
from contextvars import copy_context
from datetime import UTC, datetime
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias

from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.core.partition import Partition
from airflow_partitions.core.versions import read_form
from airflow_partitions.engine.batches.common_fault import common_fault
from airflow_partitions.engine.batches.log_section import log_section, sections_apart, whole_section
from airflow_partitions.engine.batches.member import MEMBERS, Member, members_from_json
from airflow_partitions.engine.batches.member_context import enter, member_context, thread_contexts
from airflow_partitions.engine.batches.outcome import Ending, Outcome
from airflow_partitions.engine.batches.outcome_cells import OutcomeCells
from airflow_partitions.engine.runs.made_beside import MADE_BESIDE, MadeBeside
from airflow_partitions.engine.runs.own_past import wait_for_past
from airflow_partitions.engine.runs.publication import FAILED_CHECKS
from airflow_partitions.engine.runs.task_error import error_line

if TYPE_CHECKING:
    from airflow.sdk import BaseOperator, Context

    from airflow_partitions.core.keys import Key
    from airflow_partitions.storage.scan.stored_partition import StoredPartition

log = logging.getLogger(__name__)

#: A member whose run was ended by others meanwhile is noticed within this many seconds.
_LOOK_EVERY = 1.0


#: Makes the partitions of several contexts at once; gives what failed of single ones, by their place.
MakeTogether: TypeAlias = "Callable[[Sequence[Context]], Mapping[int, Exception]]"


#: Begins a job that makes the partitions of several contexts by itself; gives what waits for each, in their order.
MakeInOneJob: TypeAlias = "Callable[[Sequence[Context]], AbstractContextManager[Callable[[Context], Any]]]"


def make_batch(
    task: BaseOperator,
    context: Context,
    make: Callable[[Context], Any],
    together: MakeTogether | None = None,
    in_one_job: MakeInOneJob | None = None,
    threads: int = 1,
) -> Any:
    """Make the partition of this run, and those of the runs that the scheduler has given it, in the order of time.

    What fails of one is its own outcome: its run tries by itself later. What fails of the run's own partition is raised
    once the others are made. What is nobody's fault, such as a server that is away or memory that ends, ends the batch
    and is raised: those that were made stay made, the one at work and the others stay queued.

    :param task: which works.
    :param make: makes the partition of a context.
    :param together: makes those of several at once. What fails as a whole is tried again in halves, until those that
        fail are alone.
    :param in_one_job: makes several by one job. Not those that need the ones before them, which are published by then.
    :param threads: as many call *make* at a time.
    :returns: what it gives for the partition of this run.
    """
    MADE_BESIDE.clear()
    timetable = task.dag.timetable if task.has_dag() else None
    if getattr(timetable, "batch", 1) == 1:
        return make(context)
    form: Any = context["task_state_store"].get(MEMBERS)
    members = read_form(form, members_from_json, "the members of the batch", log.warning)
    if not members:
        return make(context)
    if getattr(timetable, "own_past", None) is not None:
        in_one_job = None
    return _Batch(context, make, together, in_one_job, threads, members).work()


class _Batch:
    """The partitions that one task makes.

    :param members: the runs that they are of, beside the task's own.
    """

    def __init__(
        self,
        context: Context,
        make: Callable[[Context], Any],
        together: MakeTogether | None,
        in_one_job: MakeInOneJob | None,
        threads: int,
        members: list[Member],
    ) -> None:
        self._context = context
        self._make = make
        self._together = together
        self._in_one_job = in_one_job
        self._threads = threads
        self._telling = Lock()
        self._own = _partition(context)
        self._contexts = {member: member_context(context, member) for member in members}
        self._cells = OutcomeCells(context["task_state_store"])
        self._made: set[Key] = set()
        self._stored = self._published()
        self._looked = time.monotonic()
        self._value: Any = None
        self._error: Exception | None = None

    def work(self) -> Any:
        """Make them all; what the function gives for the own one."""
        count = len(self._contexts) + 1
        log.info("Making %s partitions in one batch", f"{count:,}")
        with self._cells:
            if self._together is not None:
                self._make_group(self._together, self._needed())
            elif self._in_one_job is not None:
                group = self._needed()
                if len(group) == 1:
                    self._make_own()
                else:
                    with self._in_one_job([context for _, context in group]) as self._make:
                        self._make_each(group)
            elif self._threads > 1:
                self._make_by_threads(self._in_order())
            else:
                self._make_each(self._in_order())
        endings = [outcome.ending for outcome in self._cells.outcomes.values()]
        log.info(
            "Of %s other partitions %s were made, %s failed, %s were skipped, %s are left to the next run",
            f"{count - 1:,}",
            *(f"{endings.count(ending):,}" for ending in (Ending.MADE, Ending.FAILED, Ending.SKIPPED)),
            f"{count - 1 - len(endings):,}",
        )
        if self._error is not None:
            raise self._error
        return self._value

    def _in_order(self) -> list[tuple[Member | None, Context]]:
        """The contexts of all in the order of time, each with its member; none for the task's own."""
        contexts: list[tuple[Member | None, Context]] = [(None, self._context), *self._contexts.items()]
        return sorted(contexts, key=lambda each: _order(_partition(each[1])))

    def _needed(self) -> list[tuple[Member | None, Context]]:
        """The own one, and those that are to be made, in the order of time."""
        return [
            (member, context)
            for member, context in self._in_order()
            if member is None or (self._is_open(member, context) and self._is_needed(member, context))
        ]

    def _make_each(self, group: Sequence[tuple[Member | None, Context]]) -> None:
        """Make partitions one after the other."""
        from airflow.sdk.execution_time.context import set_current_context

        for member, context in group:
            with set_current_context(context):
                self._make_one(member, context)

    def _make_by_threads(self, group: Sequence[tuple[Member | None, Context]]) -> None:
        """Make some partitions at a time. Of what is nobody's fault those end that are at work, and no other begins."""

        def make(member: Member | None, context: Context) -> None:
            enter(context)
            with whole_section():
                self._make_one(member, context)

        threads = ThreadPoolExecutor(self._threads, thread_name_prefix="partition")
        with thread_contexts(self._context), sections_apart():
            try:
                futures = [threads.submit(copy_context().run, make, member, context) for member, context in group]
                for future in as_completed(futures):
                    future.result()
            finally:
                threads.shutdown(cancel_futures=True)

    def _make_one(self, member: Member | None, context: Context) -> None:
        if member is None:
            self._make_own()
        elif self._is_open(member, context):
            self._make_member(member, context)

    def _is_open(self, member: Member, context: Context) -> bool:
        """Whether nothing was told of it by an earlier try."""
        outcome = self._cells.outcomes.get(member.run_id)
        if outcome is not None and outcome.ending is not Ending.FAILED:
            self._made.add(_partition(context).wrapped)
        return outcome is None

    def _is_needed(self, member: Member, context: Context) -> bool:
        """Whether it is still to be made; if not, that is told."""
        begin = datetime.now(UTC)
        if self._has_ended(member):
            return False
        taken_over = self._taken_over(member, context)
        if taken_over is not None:
            self._tell(context, Outcome(member.run_id, Ending.MADE, begin, datetime.now(UTC), taken_over))
        elif member.skip:
            self._tell(context, Outcome(member.run_id, Ending.SKIPPED, begin, datetime.now(UTC), text=member.skip))
        return taken_over is None and not member.skip

    def _make_group(self, together: MakeTogether, group: Sequence[tuple[Member | None, Context]]) -> None:
        """Make some partitions at once."""
        begin = datetime.now(UTC)
        first, last = _partition(group[0][1]).text, _partition(group[-1][1]).text
        with log_section(first if len(group) == 1 else f"{first} to {last}: {len(group):,} partitions"):
            try:
                errors = together([context for _, context in group])
            except Exception as error:
                fault = common_fault(error)
                if fault is not None and (len(group) == 1 or not isinstance(fault, MemoryError)):
                    raise
                if len(group) == 1:
                    errors = {0: error}
                else:
                    log.exception("%s; trying again in halves", "Memory ended" if fault else "These failed together")
                    errors = None
        if errors is None:
            middle = len(group) // 2
            self._make_group(together, group[:middle])
            self._make_group(together, group[middle:])
            return
        for place, (member, context) in enumerate(group):
            failure = errors.get(place)
            if member is None:
                self._error = failure
            elif failure is None:
                extras, said = _told(context)
                self._tell(context, Outcome(member.run_id, Ending.MADE, begin, datetime.now(UTC), extras, said))
            else:
                log.error("Partition %s failed; its own run tries again", member.key, exc_info=failure)
                said = error_line(failure)
                self._tell(context, Outcome(member.run_id, Ending.FAILED, begin, datetime.now(UTC), text=said))

    def _tell(self, context: Context, outcome: Outcome) -> None:
        with self._telling:
            if outcome.ending is not Ending.FAILED:
                self._made.add(_partition(context).wrapped)
            if outcome.ending is Ending.MADE:
                partition, due = _partition(context), context["dag_run"].run_after
                MADE_BESIDE[partition.text] = MadeBeside(partition, due, outcome.extras)
            self._cells.add(outcome)

    def _make_own(self) -> None:
        with log_section(self._own.text):
            try:
                self._value = self._make(self._context)
            except Exception as error:
                if common_fault(error) is not None:
                    raise
                log.exception("Partition %s failed", self._own.text)
                self._error = error
            else:
                self._made.add(self._own.wrapped)

    def _make_member(self, member: Member, context: Context) -> None:
        from airflow.sdk.exceptions import AirflowRescheduleException, AirflowSkipException

        begin = datetime.now(UTC)
        with log_section(member.key):
            try:
                if self._has_ended(member):
                    return
                extras, text = self._made_by(member, context)
                outcome = Outcome(member.run_id, Ending.MADE, begin, datetime.now(UTC), extras, text)
            except AirflowRescheduleException:
                log.info("Partition %s can't be made now; its own run, or the next batch, looks again", member.key)
                return
            except AirflowSkipException as error:
                outcome = Outcome(member.run_id, Ending.SKIPPED, begin, datetime.now(UTC), text=str(error))
            except Exception as error:
                if common_fault(error) is not None:
                    raise
                log.exception("Partition %s failed; its own run tries again", member.key)
                text = error_line(error)
                outcome = Outcome(member.run_id, Ending.FAILED, begin, datetime.now(UTC), text=text)
        self._tell(context, outcome)

    def _made_by(self, member: Member, context: Context) -> tuple[dict[str, Any], str]:
        """Make its partition; the extras of its events, and the checks that it fails all the same."""
        from airflow.sdk.exceptions import AirflowSkipException

        if (taken_over := self._taken_over(member, context)) is not None:
            return taken_over, ""
        if member.skip:
            raise AirflowSkipException(member.skip)
        wait_for_past(context, self._made)
        self._make(context)
        return _told(context)

    def _taken_over(self, member: Member, context: Context) -> dict[str, Any] | None:
        """The extras of its events, if a task that ended before it could say so has published it already."""
        stored = self._stored.get(_partition(context).wrapped)
        if stored is None or not _is_by(stored, context, member):
            return None
        log.info("Partition %s was published already, by a task that ended before it could say so", member.key)
        return {outlet.name: _counts(stored) for outlet in context["task"].outlets}

    def _has_ended(self, member: Member) -> bool:
        """Whether somebody has ended its run meanwhile, as far as that is known by now."""
        if time.monotonic() - self._looked < _LOOK_EVERY:
            return False
        count = self._context["ti"].get_dr_count(
            dag_id=self._context["dag_run"].dag_id, run_ids=[member.run_id], states=["queued"]
        )
        if count:
            self._looked = time.monotonic()  # else the next one is looked at, too
            return False
        log.info("Run %s is not queued any more; its partition is left alone", member.run_id)
        return True

    def _published(self) -> Mapping[Key, StoredPartition]:
        """What is stored of the members' partitions."""
        storage = getattr(self._context["task"], "storage", None)
        if storage is None:
            return {}
        partitions = [_partition(context) for context in self._contexts.values()]
        stored: Mapping[Key, StoredPartition] = storage.get_many([partition.wrapped for partition in partitions])
        return stored


def _told(context: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """What the making of a member's partition has left: extras by asset, and the checks that it fails all the same."""
    extras, events = {}, context["outlet_events"]
    for outlet in context["task"].outlets:
        event = events[outlet]
        if event.partition_keys:
            raise InvalidDefinitionError(
                f"the function adds keys to its event ({', '.join(sorted(event.partition_keys))}), which has one in a"
                " batch; expected none, or no batch="
            )
        extras[outlet.name] = event.extra
    return extras, str(context["ti"].pushed.get(FAILED_CHECKS, ""))


def _partition(context: Mapping[str, Any]) -> Partition:
    partition: Partition = context["partition"]
    return partition


def _order(partition: Partition) -> tuple[Any, str]:
    return (partition.start or datetime.min.replace(tzinfo=UTC), partition.text)


def _is_by(stored: StoredPartition, context: Mapping[str, Any], member: Member) -> bool:
    """Whether the run of *member* has published what is stored, by the try that this one is."""
    metadata = stored.content.metadata
    if metadata is None:
        return False
    attempt = metadata.attempt
    run = context["dag_run"].dag_id, member.run_id, member.try_number
    return (attempt.dag_id, attempt.run_id, attempt.number) == run


def _counts(stored: StoredPartition) -> dict[str, Any]:
    metadata = stored.content.metadata
    return {} if metadata is None else {"rows": metadata.rows, "files": metadata.files, "bytes": metadata.bytes}
