"""Limits per value, in the transactions of Airflow's scheduler, over Airflow's tables."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, event, insert, select, text, update

from airflow_partitions.engine.batches.member import MEMBERS, members_from_json
from airflow_partitions.engine.database.models import LimitedRun
from airflow_partitions.operate.states.explanation import explain
from airflow_partitions.operate.upkeep.waiting_runs import look_at_limits
from tests.engine.batches.test_batch import NOON, asked, cells
from tests.engine.batches.test_batch import queue as queued
from tests.engine.limits.scheduler_loop import at_work, begin, end, keys_in, put_off, run_afters
from tests.metadata import Metadata

pytestmark = pytest.mark.airflow

DAG_FILE = """
CUSTOMERS = PartitionBySequence(["ann", "bob", "cid"], name="customer")
HOURS = PartitionByInterval("@hourly", start="2013-01-01", name="hour")
BOTH = PartitionByProduct([HOURS, CUSTOMERS])

@asset(schedule=None, partition=BOTH, limits={"customer": 1})
def calls(partition): ...

@asset(schedule=None, partition=BOTH, limits={"customer": "crm"})
def orders(partition): ...

@asset(schedule=None, partition=CUSTOMERS, limits={"customer": "crm"})
def names(partition): ...

@asset(schedule=None, partition=BOTH, limits={"customer": 1}, batch=10)
def batched(partition): ...

@asset(schedule=None, partition=BOTH, limits={"customer": 2}, batch=10, threads=4)
def by_threads(partition): ...

@asset(schedule=None, partition=BOTH)
def free(partition): ...

@asset(schedule="@hourly", partition=BOTH, limits={"customer": 1})
def scheduled(partition): ...
"""


def key(hour: int, customer: str) -> str:
    return f"2013-01-{1 + hour // 24:02}T{hour % 24:02}:00Z|{customer}"


@pytest.fixture
def dags(metadata: Metadata, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Metadata:
    from airflow.models.dag import DagModel

    monkeypatch.setenv("AIRFLOW__ASSET_PARTITIONS__LIMITS", '{"crm": 1}')
    metadata.parse(tmp_path, file=DAG_FILE)
    with metadata.engine.begin() as at:
        at.execute(update(DagModel).values(is_paused=False))
        at.execute(LimitedRun.__table__.delete())
    return metadata


def queue(metadata: Metadata, *keys: str, dag_id: str, **values: Any) -> list[str]:
    """Queued runs, one due after the other: of those due at the same moment the scheduler begins any first."""
    from airflow.models.dagrun import DagRun

    run_ids = queued(metadata, *keys, dag_id=dag_id, **values)
    with metadata.engine.begin() as at:
        dues = dict(at.execute(select(DagRun.run_id, DagRun.run_after).where(DagRun.run_id.in_(run_ids))).all())
        for place, run_id in enumerate(run_ids):
            due = dues[run_id] + timedelta(milliseconds=place)
            at.execute(update(DagRun).where(DagRun.run_id == run_id).values(run_after=due))
    return run_ids


def rows(metadata: Metadata) -> dict[str, tuple[str, int, bool]]:
    """Value, slots and whether it waits, of each limited run, by key."""
    from airflow.models.dagrun import DagRun

    with metadata.engine.connect() as at:
        query = select(DagRun.partition_key, LimitedRun.value, LimitedRun.slots, LimitedRun.run_after)
        query = query.join(DagRun, DagRun.id == LimitedRun.run_id).order_by(DagRun.id)
        return {key: (value, slots, own is not None) for key, value, slots, own in at.execute(query)}


def test_one_run_of_a_value_is_at_work_and_others_are_not_held_up(dags: Metadata) -> None:
    anns = [key(hour, "ann") for hour in range(40)]  # more than the scheduler looks at in one loop
    queue(dags, *anns[:24], dag_id="calls")
    queue(dags, key(0, "bob"), key(1, "bob"), dag_id="calls", began=NOON + timedelta(seconds=1))
    assert begin(dags) == [anns[0]]
    assert begin(dags) == [anns[0], key(0, "bob")]
    assert put_off(dags) == [*anns[1:24], key(1, "bob")]
    assert begin(dags) == [anns[0], key(0, "bob")]


def test_who_waits_has_its_turn_in_order_and_its_own_time_back(dags: Metadata) -> None:
    queue(dags, *(key(hour, "ann") for hour in range(3)), dag_id="calls")
    before = run_afters(dags)
    assert begin(dags) == [key(0, "ann")]
    end(dags, key(0, "ann"), "failed")
    assert put_off(dags) == [key(2, "ann")]
    assert begin(dags) == [key(1, "ann")]
    end(dags, key(1, "ann"))
    assert begin(dags) == [key(2, "ann")]
    end(dags, key(2, "ann"))
    assert run_afters(dags) == before
    assert rows(dags) == {}


def test_what_waits_is_asked_for_nothing_until_its_turn(dags: Metadata) -> None:
    queue(dags, key(0, "ann"), key(1, "ann"), dag_id="calls")
    begin(dags, loops=2)
    with asked(dags) as statements:
        begin(dags)
    assert not [statement for statement in statements if "limited_run" in statement]


def test_a_dag_without_limits_asks_nothing(dags: Metadata) -> None:
    queue(dags, key(0, "ann"), key(0, "bob"), dag_id="free")
    with asked(dags) as statements:
        assert len(begin(dags)) == 2
    end(dags, key(0, "ann"))
    assert not [statement for statement in statements if "limited_run" in statement]


def test_a_named_limit_is_one_of_several_dags(dags: Metadata) -> None:
    queue(dags, key(0, "ann"), dag_id="orders")
    queue(dags, "ann", "bob", dag_id="names", began=NOON + timedelta(seconds=1))
    assert begin(dags) == [key(0, "ann"), "bob"]
    waits = explain("names", "ann")
    assert waits.status.state == "queued"
    assert waits.reasons[1] == "it waits: 1 of 1 runs of crm=ann at work: of 1 other Dag"
    end(dags, key(0, "ann"))
    assert begin(dags) == ["ann", "bob"]


def test_it_is_told_what_a_run_waits_for(dags: Metadata) -> None:
    first, _ = queue(dags, key(0, "ann"), key(1, "ann"), dag_id="calls")
    begin(dags)
    assert f"it waits: 1 of 1 runs of customer=ann at work: {first}" in explain("calls", key(1, "ann")).reasons
    assert not [reason for reason in explain("calls", key(0, "ann")).reasons if "waits" in reason]


def test_a_run_that_waits_keeps_when_it_was_queued_and_has_not_begun(dags: Metadata) -> None:
    queue(dags, key(0, "ann"), key(1, "ann"), dag_id="calls")
    begin(dags)
    with dags.engine.connect() as at:
        from airflow.models.dagrun import DagRun

        query = select(DagRun.queued_at, DagRun.start_date, DagRun.end_date)
        assert at.execute(query.where(DagRun.partition_key == key(1, "ann"))).one() == (NOON, None, None)


def members(metadata: Metadata, leader: str) -> list[str]:
    form = cells(metadata, leader).get(MEMBERS)
    return [] if form is None else [member.key for member in members_from_json(form)]


def test_a_batch_makes_many_of_a_value_one_after_the_other_and_leaves_out_what_is_at_its_limit(dags: Metadata) -> None:
    from airflow.models.backfill import Backfill

    values = {"dag_id": "batched", "from_date": NOON, "to_date": NOON, "max_active_runs": 1, "dag_run_conf": {}}
    with dags.engine.begin() as at:
        backfill = at.execute(insert(Backfill).values(values | {"is_paused": False})).inserted_primary_key[0]  # type: ignore[index]
    leader, *_ = queue(dags, *(key(hour, "ann") for hour in range(3)), dag_id="batched")
    assert begin(dags) == [key(0, "ann")]
    assert members(dags, leader) == [key(1, "ann"), key(2, "ann")]
    second, *_ = queue(dags, key(5, "bob"), key(5, "ann"), key(6, "bob"), dag_id="batched", backfill_id=backfill)
    assert begin(dags) == [key(0, "ann"), key(5, "bob")]
    assert members(dags, second) == [key(6, "bob")]
    assert rows(dags) == {key(0, "ann"): ("ann", 1, False), key(5, "bob"): ("bob", 1, False)}
    assert keys_in(dags, "queued") == [key(1, "ann"), key(2, "ann"), key(5, "ann"), key(6, "bob")]


def test_a_leader_at_its_limit_leads_nobody(dags: Metadata) -> None:
    leader, second = queue(dags, key(0, "ann"), key(1, "ann"), dag_id="batched")
    begin(dags)
    with dags.engine.begin() as at:  # as an operator does that lets one run alone
        at.execute(text("update dag set max_active_runs = 2 where dag_id = 'batched'"))
        at.execute(text("delete from asset_partitions_batch_member"))
    assert begin(dags) == [key(0, "ann")]
    assert members(dags, leader) == [key(1, "ann")]
    assert members(dags, second) == []


def test_what_is_made_at_the_same_time_takes_slots_of_its_own(dags: Metadata) -> None:
    anns = [key(hour, "ann") for hour in range(4)]
    leader, *_ = queue(dags, *anns, key(0, "bob"), dag_id="by_threads")
    begin(dags)
    assert members(dags, leader) == [anns[1], key(0, "bob")]
    with dags.engine.connect() as at:
        query = select(LimitedRun.value, LimitedRun.slots).where(LimitedRun.run_id != 0).order_by(LimitedRun.value)
        assert [tuple(row) for row in at.execute(query)] == [("ann", 2), ("bob", 1)]


@pytest.mark.parametrize("how", ["deleted", "cleared", "listener lost"])
def test_upkeep_gives_a_turn_where_nobody_has(dags: Metadata, how: str) -> None:
    queue(dags, key(0, "ann"), key(1, "ann"), key(2, "ann"), dag_id="calls")
    begin(dags)
    assert look_at_limits() == 0
    state = {"cleared": "queued", "listener lost": "success"}.get(how)
    with dags.engine.begin() as at:
        statement = "update dag_run set state = :state" if state else "delete from dag_run"
        if state is None:
            at.execute(text("delete from task_instance"))
        at.execute(text(f"{statement} where partition_key = :key"), {"key": key(0, "ann"), "state": state})
    assert look_at_limits() == 1
    assert put_off(dags) == [key(2, "ann")]
    assert len(begin(dags)) == 1
    assert look_at_limits() == 0


def test_after_an_hour_a_run_looks_by_itself(dags: Metadata) -> None:
    from airflow.models.dagrun import DagRun

    queue(dags, key(0, "ann"), key(1, "ann"), dag_id="calls")
    before = run_afters(dags)
    begin(dags)
    for at_work_, state in (([key(0, "ann")], "running"), ([key(1, "ann")], "success")):
        with dags.engine.begin() as at:
            at.execute(
                update(DagRun).where(DagRun.partition_key == key(1, "ann")).values(run_after=NOON + timedelta(days=1))
            )
            at.execute(update(DagRun).where(DagRun.partition_key == key(0, "ann")).values(state=state))
        assert begin(dags) == at_work_
    end(dags, key(1, "ann"))
    assert run_afters(dags) == before


def test_upkeep_asks_no_more_the_more_values_wait(dags: Metadata) -> None:
    numbers = []
    for customer in ("ann", "bob"):
        queue(dags, key(0, customer), key(1, customer), dag_id="calls")
        begin(dags, loops=2)
        with asked(dags) as statements:
            assert look_at_limits() == 0
        numbers.append(len(statements))
    assert numbers[0] == numbers[1]


def test_who_is_ended_while_it_waits_waits_no_more(dags: Metadata) -> None:
    queue(dags, key(0, "ann"), key(1, "ann"), dag_id="calls")
    before = run_afters(dags)
    begin(dags)
    with dags.engine.begin() as at:
        at.execute(text("update dag_run set state = 'failed' where state = 'queued'"))
    look_at_limits()
    assert run_afters(dags) == before
    assert list(rows(dags)) == [key(0, "ann")]


def test_of_paused_dags_none_has_a_turn_that_another_can_take(dags: Metadata) -> None:
    queue(dags, key(0, "ann"), key(1, "ann"), dag_id="orders")
    queue(dags, "ann", dag_id="names", began=NOON + timedelta(seconds=1))
    assert begin(dags) == [key(0, "ann")]
    with dags.engine.begin() as at:
        at.execute(text("update dag set is_paused = true where dag_id = 'orders'"))
    end(dags, key(0, "ann"))
    assert begin(dags) == ["ann"]
    assert put_off(dags) == [key(1, "ann")]


def test_the_schedule_goes_on_from_the_last_run_though_it_waits(dags: Metadata) -> None:
    """The newest by ``run_after`` is where the schedule stands, and who waits has one put off."""
    from airflow.models.dagbag import DBDagBag
    from airflow.models.dagrun import DagRun
    from sqlalchemy.orm import Session

    queue(dags, key(0, "ann"), key(1, "ann"), dag_id="scheduled", run_type="scheduled")
    last = key(0, "bob")
    queue(dags, last, dag_id="scheduled", run_type="scheduled", began=NOON + timedelta(seconds=1))

    def place() -> object:
        with Session(dags.engine) as at:
            run = at.scalars(select(DagRun).where(DagRun.partition_key == key(1, "ann"))).one()
            dag = DBDagBag().get_latest_version_of_dag("scheduled", session=at)
            info = dag.timetable.run_info_from_dag_run(dag_run=run)  # type: ignore[union-attr]
            return info.run_after, info.partition_key

    before = place()
    begin(dags)
    assert put_off(dags) == [key(1, "ann")]
    assert place() == before == (NOON + timedelta(seconds=1), last)


@pytest.fixture
def broken(dags: Metadata) -> Iterator[list[int]]:
    """The number of the statement about limits that fails in the database; of those that were asked."""
    count = [0, 0]

    def fail(connection: Connection, cursor: object, statement: str, *_: object) -> None:
        if "limited_run" in statement:
            count[1] += 1
            if count[1] == count[0]:
                connection.connection.cursor().execute("select no_such_column from dag_run")

    event.listen(dags.engine, "before_cursor_execute", fail)
    yield count
    event.remove(dags.engine, "before_cursor_execute", fail)


def test_no_statement_that_fails_ends_the_scheduler_or_lets_two_begin(dags: Metadata, broken: list[int]) -> None:
    queue(dags, key(0, "ann"), key(1, "ann"), dag_id="calls")
    number, reached = 0, True
    while reached:
        number += 1
        with dags.engine.begin() as at:
            at.execute(text("update dag_run set state = 'queued', run_after = queued_at"))
            at.execute(LimitedRun.__table__.delete())
        broken[:] = number, 0
        assert len(begin(dags)) <= 1
        reached = broken[1] >= number
        broken[:] = 0, 0
        assert len(begin(dags, loops=2)) == 1, number
    assert number > 8


def test_the_end_of_a_run_is_committed_though_its_slots_can_not_be_given(dags: Metadata, broken: list[int]) -> None:
    queue(dags, key(0, "ann"), key(1, "ann"), dag_id="calls")
    number, reached = 0, True
    while reached:
        number += 1
        with dags.engine.begin() as at:
            at.execute(text("update dag_run set state = 'queued', run_after = queued_at"))
            at.execute(LimitedRun.__table__.delete())
        begin(dags, loops=2)
        broken[:] = number, 0
        end(dags, at_work(dags)[0])
        reached = broken[1] >= number
        broken[:] = 0, 0
        assert look_at_limits() == int(reached)
        assert len(begin(dags)) == 1
    assert number > 5
