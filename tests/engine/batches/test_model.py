"""Batches while all that can happen does happen in any order, compared with a list of what has happened."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from itertools import count
from typing import Any

import attrs
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import delete, insert, select, update

from airflow_partitions.engine.batches.outcome import OUTCOMES, Ending, outcomes_to_json
from airflow_partitions.engine.database.models import BatchMember
from airflow_partitions.operate.upkeep.unfinished_batches import finish_batches
from tests.engine.batches.test_batch import KEYS, NOON, dags, events, made, members, notify, queue
from tests.hunt import effort
from tests.metadata import Metadata, engine, metadata

__all__ = ["dags", "engine", "metadata"]

pytestmark = pytest.mark.airflow

#: Of the Dag: a leader's own partition, and those of the others.
BATCH = 5
ENDINGS = st.sampled_from([Ending.MADE, Ending.MADE, Ending.FAILED, Ending.SKIPPED])


@attrs.define(eq=False)
class Run:
    """A run of a partition.

    :ivar request: the backfill that it is of; ``None`` for one by hand.
    :ivar failed: whether a batch has failed it: it is tried alone.
    """

    id: str
    key: str
    request: int | None
    state: str = "queued"
    failed: bool = False


@attrs.define(eq=False)
class Batch:
    """What a run leads.

    :ivar told: what its task has said of members, of each once.
    :ivar is_open: whether nobody has ended its members yet.
    """

    leader: Run
    members: list[Run]
    told: dict[Run, Ending] = attrs.field(factory=dict)
    is_open: bool = True


class Model(RuleBasedStateMachine):
    """Airflow's tables, the listeners and upkeep, and a list of what has happened."""

    def __init__(self, metadata: Metadata) -> None:
        super().__init__()
        self.metadata = metadata
        self.numbers = count(1)
        self.runs: list[Run] = []
        self.batches: list[Batch] = []
        self.claims: dict[str, Run] = {}
        self.sent = Counter[tuple[str, str]]()
        self.requests: list[int | None] = [None]

    @initialize()
    def begin_from_nothing(self) -> None:
        from airflow.models.asset import AssetEvent
        from airflow.models.asset_state_store import AssetStateStoreModel
        from airflow.models.backfill import Backfill
        from airflow.models.dagrun import DagRun
        from airflow.models.task_state_store import TaskStateStoreModel
        from airflow.models.taskinstance import TaskInstance

        with self.metadata.engine.begin() as at:
            tables = BatchMember, AssetEvent, AssetStateStoreModel, TaskStateStoreModel, TaskInstance, DagRun, Backfill
            for table in tables:
                at.execute(delete(table))
            values = {"dag_id": "hours", "from_date": NOON, "to_date": NOON, "max_active_runs": 1, "dag_run_conf": {}}
            backfill = insert(Backfill).values(values | {"is_paused": False})
            self.requests.append(at.execute(backfill).inserted_primary_key[0])  # type: ignore[index]
        self.ask(KEYS, of_request=True)

    # --- what happens

    @rule(keys=st.lists(st.sampled_from(KEYS), min_size=2, max_size=6), of_request=st.booleans())
    def ask(self, keys: list[str], of_request: bool) -> None:
        request = self.requests[of_request]
        for key in keys:  # one may have several runs
            (run_id,) = queue(
                self.metadata, key, began=NOON + timedelta(minutes=next(self.numbers)), backfill_id=request
            )
            self.runs.append(Run(run_id, key, request))

    @precondition(lambda self: self._startable())
    @rule(data=st.data(), is_heard=st.sampled_from([True, True, True, False]))
    def begin(self, data: st.DataObject, is_heard: bool) -> None:
        """The scheduler lets a run begin, of each request one at a time.

        Its listener may be lost, but not that of its last end as well: it would go on with its old batch then.
        """
        run = data.draw(st.sampled_from(self._startable()))
        for batch in self.batches:
            if batch.is_open and batch.leader is run:
                is_heard = True
                self._close(batch)
        batch = Batch(run, self._choice(run) if is_heard else [])
        self._change(run, "running", is_heard=is_heard)
        assert [member.run_id for member in members(self.metadata, run.id)] == [each.id for each in batch.members]
        run.failed = run.failed and not is_heard
        self.batches.append(batch)
        self.claims |= {member.key: run for member in batch.members}

    @precondition(lambda self: self._at_work())
    @rule(data=st.data(), endings=st.lists(ENDINGS, min_size=1, max_size=4))
    def work(self, data: st.DataObject, endings: list[Ending]) -> None:
        """The task of a leader tells what became of the next ones."""
        batch = data.draw(st.sampled_from(self._at_work()))
        rest = [member for member in batch.members if member not in batch.told and member.state == "queued"]
        told = dict(zip(rest, endings, strict=False))
        batch.told |= told
        self._tell(batch.leader, told)

    @precondition(lambda self: self._at_work())
    @rule(
        data=st.data(),
        state=st.sampled_from(["success", "failed"]),
        is_heard=st.sampled_from([True, True, True, False]),
    )
    def end(self, data: st.DataObject, state: str, is_heard: bool) -> None:
        """A leader ends, well or not; the listener may be lost, and upkeep comes later."""
        batch = data.draw(st.sampled_from(self._at_work()))
        self._change(batch.leader, state, is_heard=is_heard)
        if is_heard:
            self._close(batch)

    @precondition(lambda self: any(batch.is_open for batch in self.batches))
    @rule()
    def upkeep(self) -> None:
        problems: list[str] = []
        finish_batches(problems.append)
        assert problems == []
        for batch in self.batches:
            if batch.leader.state != "running":
                self._close(batch)

    @precondition(lambda self: self._with("queued"))
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        self._change(data.draw(st.sampled_from(self._with("queued"))), "failed", is_heard=False)

    @precondition(lambda self: self._with("success", "failed"))
    @rule(data=st.data())
    def clear(self, data: st.DataObject) -> None:
        """A run is to begin anew, and its task with it."""
        from airflow.models.taskinstance import TaskInstance

        run = data.draw(st.sampled_from(self._with("success", "failed")))
        self._change(run, "queued", is_heard=False)
        with self.metadata.engine.begin() as at:
            at.execute(update(TaskInstance).where(TaskInstance.run_id == run.id).values(state=None))

    # --- what the machine knows

    def _with(self, *states: str) -> list[Run]:
        return [run for run in self.runs if run.state in states]

    def _startable(self) -> list[Run]:
        busy = {run.request for run in self._with("running")}
        return [run for run in self._with("queued") if run.request not in busy and not self._is_member(run)]

    def _at_work(self) -> list[Batch]:
        return [batch for batch in self.batches if batch.is_open and batch.leader.state == "running"]

    def _is_member(self, run: Run) -> bool:
        return any(batch.is_open and run in batch.members for batch in self.batches)

    def _choice(self, leader: Run) -> list[Run]:
        """The runs that are to be given to one that begins."""
        if leader.failed:
            return []
        queued = [
            run
            for run in self._with("queued")
            if run is not leader and run.request == leader.request and not run.failed and not self._is_member(run)
        ]
        chosen: dict[str, Run] = {}
        for run in queued[: BATCH - 1]:
            if run.key != leader.key:
                chosen.setdefault(run.key, run)
        others = {key for key, run in self.claims.items() if run.state == "running" and run is not leader}
        return [run for key, run in chosen.items() if key not in others]

    def _close(self, batch: Batch) -> None:
        """What its end makes of the members."""
        if not batch.is_open:
            return
        batch.is_open = False
        for member, ending in batch.told.items():
            member.failed = ending is Ending.FAILED
            if member.state == "queued" and ending is not Ending.FAILED:
                member.state = "success"
            if ending is Ending.MADE:  # also of one that was cancelled meanwhile
                self.sent[member.key, member.id] += 1

    def _change(self, run: Run, state: str, *, is_heard: bool) -> None:
        from airflow.models.dagrun import DagRun

        run.state = state
        if is_heard:
            notify(self.metadata, run.id, state)
            return
        with self.metadata.engine.begin() as at:
            at.execute(update(DagRun).where(DagRun.run_id == run.id).values(state=state, start_date=NOON))

    def _tell(self, leader: Run, told: dict[Run, Ending]) -> None:
        from airflow.models.dagrun import DagRun
        from airflow.models.task_state_store import TaskStateStoreModel as Cell

        outcomes = [made(member.id, ending=ending) for member, ending in told.items()]
        with self.metadata.engine.begin() as at:
            cell: dict[str, Any] = {
                "dag_run_id": at.scalar(select(DagRun.id).where(DagRun.run_id == leader.id)),
                "dag_id": "hours",
                "run_id": leader.id,
                "task_id": "hours",
                "key": f"{OUTCOMES}{next(self.numbers)}",
                "value": json.dumps(outcomes_to_json(outcomes)),
                "updated_at": NOON,
            }
            at.execute(insert(Cell).values(cell))

    # --- what holds

    @invariant()
    def each_run_is_in_the_state_that_became_of_it(self) -> None:
        assert dict(self._states()) == {run.id: run.state for run in self.runs}

    @invariant()
    def each_partition_that_was_made_has_its_event_once(self) -> None:
        assert Counter((key, run_id) for key, run_id, _ in events(self.metadata)) == +self.sent

    @invariant()
    def nobody_makes_what_another_one_makes(self) -> None:
        keys = [member.key for batch in self._at_work() for member in batch.members]
        assert len(keys) == len(set(keys))

    def _states(self) -> Iterator[tuple[str, str]]:
        from airflow.models.dagrun import DagRun

        with self.metadata.engine.connect() as at:
            for run_id, state in at.execute(select(DagRun.run_id, DagRun.state)):
                yield run_id, str(state)

    def teardown(self) -> None:
        """Whatever has happened: once the leaders have ended, upkeep leaves nobody in a batch."""
        for batch in self._at_work():
            self._change(batch.leader, "failed", is_heard=False)
        self.upkeep()
        self.each_run_is_in_the_state_that_became_of_it()
        self.each_partition_that_was_made_has_its_event_once()
        with self.metadata.engine.connect() as at:
            assert at.scalars(select(BatchMember.run_id).where(BatchMember.outcome.is_(None))).all() == []


def test_batches_do_what_the_list_says(dags: Metadata) -> None:
    examples = 40 if dags.engine.dialect.name == "sqlite" else 8
    run_state_machine_as_test(lambda: Model(dags), settings=effort(examples, 40))
