"""Limits while all that can happen does happen in any order: no more work than may, and all have their turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from sqlalchemy import delete, text, update

from airflow_partitions.engine.database.models import LimitedRun
from airflow_partitions.operate.upkeep.waiting_runs import look_at_limits
from tests.engine.batches.test_batch import NOON, queue
from tests.engine.limits.scheduler_loop import at_work, begin, end, keys_in, put_off, run_afters
from tests.engine.limits.test_limits import dags, key
from tests.hunt import effort
from tests.metadata import Metadata

__all__ = ["dags"]

pytestmark = pytest.mark.airflow

CUSTOMERS = st.sampled_from(["ann", "bob", "cid"])
#: As many runs of one customer may be at work, of each Dag; those of one limit are counted together.
MOST = {"calls": 1, "orders": 1}


class Model(RuleBasedStateMachine):
    """Airflow's tables, its scheduler's loop, and upkeep."""

    def __init__(self, metadata: Metadata) -> None:
        super().__init__()
        self.metadata = metadata
        self.hours = count()
        self.due: dict[str, object] = {}

    @initialize()
    def begin_from_nothing(self) -> None:
        from airflow.models.dagrun import DagRun
        from airflow.models.taskinstance import TaskInstance

        with self.metadata.engine.begin() as at:
            for table in (LimitedRun, TaskInstance, DagRun):
                at.execute(delete(table))

    @rule(dag_id=st.sampled_from(sorted(MOST)), customers=st.lists(CUSTOMERS, min_size=1, max_size=4))
    def ask(self, dag_id: str, customers: list[str]) -> None:
        for customer in customers:
            hour = next(self.hours)
            queue(self.metadata, key(hour, customer), dag_id=dag_id, began=NOON + timedelta(seconds=hour))
        self.due = run_afters(self.metadata) | self.due

    @rule()
    def loop(self) -> None:
        begin(self.metadata)

    @rule(data=st.data(), state=st.sampled_from(["success", "failed"]), is_heard=st.sampled_from([True, True, False]))
    def end(self, data: st.DataObject, state: str, is_heard: bool) -> None:
        """A run ends; the listener may be lost, and upkeep comes later."""
        self._of("running", data, lambda one: end(self.metadata, one, state) if is_heard else self._write(one, state))

    @rule(data=st.data(), state=st.sampled_from(["running", "success", "failed"]))
    def clear(self, data: st.DataObject, state: str) -> None:
        self._of(state, data, lambda one: self._write(one, "queued"))

    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        self._of("queued", data, lambda one: self._write(one, "failed"))

    @rule()
    def let_an_hour_pass(self) -> None:
        """Who waits looks by itself."""
        from airflow.models.dagrun import DagRun

        now = datetime.now(UTC)
        with self.metadata.engine.begin() as at:
            at.execute(update(DagRun).where(DagRun.run_after > now).values(run_after=now - timedelta(seconds=1)))

    @rule()
    def upkeep(self) -> None:
        """After it none waits but for a run at work, or for one that has its turn."""
        look_at_limits()
        waiting = put_off(self.metadata)
        turns = {one for one in keys_in(self.metadata, "queued") if one not in waiting}
        first = {one.rpartition("|")[2] for one in (*at_work(self.metadata), *turns)}
        assert {one.rpartition("|")[2] for one in waiting} <= first

    @invariant()
    def no_more_are_at_work_than_may_be(self) -> None:
        with self.metadata.engine.connect() as at:
            rows = at.execute(text("select dag_id, partition_key from dag_run where state = 'running'"))
            numbers = Counter((dag_id, text_.rpartition("|")[2]) for dag_id, text_ in rows)
        assert all(number <= MOST[dag_id] for (dag_id, _), number in numbers.items()), numbers

    def teardown(self) -> None:
        for _ in range(200):
            look_at_limits()
            begin(self.metadata)
            for one in at_work(self.metadata):
                end(self.metadata, one)
            if not keys_in(self.metadata, "queued"):
                break
        assert keys_in(self.metadata, "queued") == []
        look_at_limits()
        assert run_afters(self.metadata) == self.due

    def _of(self, state: str, data: st.DataObject, change: Callable[[str], None]) -> None:
        if keys := keys_in(self.metadata, state):
            change(data.draw(st.sampled_from(keys)))

    def _write(self, one: str, state: str) -> None:
        with self.metadata.engine.begin() as at:
            statement = text("update dag_run set state = :state where partition_key = :key")
            at.execute(statement, {"state": state, "key": one})


def test_limits_hold_whatever_happens(dags: Metadata) -> None:
    run_state_machine_as_test(lambda: Model(dags), settings=effort(6, 25))  # type: ignore[no-untyped-call]
