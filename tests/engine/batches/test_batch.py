"""The choice and the end of batches, in the transactions of Airflow's scheduler, over Airflow's tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, event, func, insert, select, text, update
from sqlalchemy.orm import Session

from airflow_partitions.engine.batches import run_changes
from airflow_partitions.engine.batches.member import MEMBERS, Member, members_from_json
from airflow_partitions.engine.batches.outcome import OUTCOMES, Ending, Outcome, outcomes_to_json
from airflow_partitions.engine.batches.size import size_of
from airflow_partitions.engine.database.models import BatchMember
from airflow_partitions.engine.runs import mailbox
from airflow_partitions.engine.runs.claim import Claimant, claim_cell, door_cell, note_of, passed_cell
from airflow_partitions.operate.states.explanation import explain
from airflow_partitions.operate.upkeep import unfinished_batches
from airflow_partitions.operate.upkeep.unfinished_batches import delete_old_members, finish_batches
from tests.metadata import Metadata
from tests.operate.states.world import put_runs, put_tasks
from tests.orphaned_assets import throw_cells_away

pytestmark = pytest.mark.airflow

DAG_FILE = """
HOURS = PartitionByInterval("@hourly", start="2013-01-01")

@asset(schedule=None, partition=HOURS, batch=5)
def hours(partition): ...

@asset(schedule=None, partition=HOURS, batch="auto")
def grown(partition): ...

@asset(schedule="@hourly", partition=HOURS, batch=5)
def ticking(partition): ...

@asset(schedule=None, partition=HOURS)
def singles(partition): ...

@asset(schedule=hours, partition=DAYS)
def days(partition): ...

@asset(schedule=hours, partition=DAYS, is_paused_upon_creation=True)
def paused_days(partition): ...
"""
KEYS = [f"2013-01-01T{hour:02}:00Z" for hour in range(8)]
NOON = datetime(2026, 11, 5, 12, tzinfo=UTC)


@pytest.fixture
def dags(metadata: Metadata, tmp_path: Path) -> Metadata:
    from airflow.models.dag import DagModel

    metadata.parse(tmp_path, file=DAG_FILE)
    with metadata.engine.begin() as at:
        at.execute(update(DagModel).values(is_paused=DagModel.dag_id == "paused_days"))
    return metadata


def queue(metadata: Metadata, *keys: str, dag_id: str = "hours", began: datetime = NOON, **values: Any) -> list[str]:
    """Runs that have not begun; their ids."""
    put_runs(metadata, dag_id, list(keys), "queued", began, **values)
    put_tasks(metadata, dag_id, list(keys), dag_id, "scheduled", began)
    with metadata.engine.begin() as at:
        at.execute(text("update task_instance set state = null, try_number = 0 where state = 'scheduled'"))
    return [f"{dag_id} {key} {began.isoformat()}" for key in keys]


def clear(metadata: Metadata, run_id: str) -> None:
    from airflow.models.taskinstance import TaskInstance, clear_task_instances

    with Session(metadata.engine) as session:
        tasks = session.scalars(select(TaskInstance).where(TaskInstance.run_id == run_id)).all()
        clear_task_instances(list(tasks), session)
        session.commit()


def notify(metadata: Metadata, run_id: str, state: str, dag_id: str = "hours") -> None:
    """Let the state of a run be another one, as the scheduler does that."""
    from airflow.models.dagbag import DBDagBag
    from airflow.models.dagrun import DagRun
    from airflow.utils.sqlalchemy import prohibit_commit

    with Session(metadata.engine) as at, prohibit_commit(at) as guard:
        run = at.scalars(select(DagRun).where(DagRun.dag_id == dag_id, DagRun.run_id == run_id)).one()
        run.dag = DBDagBag().get_latest_version_of_dag(dag_id, session=at)
        run.state = state
        run.start_date = run.start_date or NOON
        getattr(run_changes, f"on_dag_run_{state}")(run, "")
        guard.commit()


def cells(metadata: Metadata, run_id: str) -> dict[str, Any]:
    with metadata.engine.connect() as at:
        rows = at.execute(text("select key, value from task_state_store where run_id = :run"), {"run": run_id})
        return {name: json.loads(value) for name, value in rows}


def members(metadata: Metadata, leader: str) -> list[Member]:
    form = cells(metadata, leader).get(MEMBERS)
    return [] if form is None else members_from_json(form)


def tell(metadata: Metadata, leader: str, *outcomes: Outcome) -> None:
    """What the leader's task writes."""
    from airflow.models.dagrun import DagRun
    from airflow.models.task_state_store import TaskStateStoreModel as Cell

    with metadata.engine.begin() as at:
        number = at.scalar(select(DagRun.id).where(DagRun.run_id == leader))
        at.execute(
            insert(Cell).values(
                dag_run_id=number, dag_id="hours", run_id=leader, task_id="hours", key=f"{OUTCOMES}0",
                value=json.dumps(outcomes_to_json(outcomes)), updated_at=NOON,
            )
        )  # fmt: skip


def made(run_id: str, minute: int = 0, ending: Ending = Ending.MADE, said: str = "") -> Outcome:
    begin = NOON + timedelta(minutes=minute)
    extras = {"hours": {"rows": minute, "files": 1}} if ending is Ending.MADE else {}
    return Outcome(run_id, ending, begin, begin + timedelta(seconds=30), extras, said)


def states(metadata: Metadata) -> dict[str, str]:
    with metadata.engine.connect() as at:
        rows = at.execute(text("select partition_key, state from dag_run where dag_id = 'hours' order by id"))
        return dict(map(tuple, rows))


def events(metadata: Metadata) -> list[tuple[str, str, Any]]:
    from airflow.models.asset import AssetEvent

    with metadata.engine.connect() as at:
        query = select(AssetEvent.partition_key, AssetEvent.source_run_id, AssetEvent.extra).order_by(AssetEvent.id)
        return [tuple(row) for row in at.execute(query)]


def rows(metadata: Metadata) -> dict[str, str | None]:
    """What our table says of the members, by key."""
    from airflow.models.dagrun import DagRun

    with metadata.engine.connect() as at:
        query = select(DagRun.partition_key, BatchMember.outcome).join(BatchMember, BatchMember.run_id == DagRun.id)
        return dict(map(tuple, at.execute(query.order_by(DagRun.id))))


def keys(chosen: Sequence[Member]) -> list[str]:
    return [member.key for member in chosen]


def test_a_run_that_begins_gets_those_that_are_queued_up_to_the_size(dags: Metadata) -> None:
    leader, *_ = queue(dags, *KEYS)
    notify(dags, leader, "running")
    assert keys(members(dags, leader)) == KEYS[1:5]
    assert rows(dags) == dict.fromkeys(KEYS[1:5])
    assert {member.try_number for member in members(dags, leader)} == {1}
    with dags.engine.connect() as at:
        claims = dict(map(tuple, at.execute(text("select key, value from asset_state_store"))))
    for key in KEYS[1:5]:
        for cell in (claim_cell(key), door_cell(key), passed_cell(key)):
            assert json.loads(claims[cell])["run_id"] == leader


@pytest.mark.parametrize("state", ["success", "failed"])
def test_a_leader_that_has_ended_may_begin_anew_without_the_batch_of_before(dags: Metadata, state: str) -> None:
    leader, first, *_ = queue(dags, *KEYS)
    notify(dags, leader, "running")
    tell(dags, leader, made(first))
    notify(dags, leader, state)
    assert states(dags)[KEYS[1]] == "success"
    # A listener that fails leaves a run to what stands in its cells.
    assert cells(dags, leader) == {}


def begin_anew(metadata: Metadata, run_id: str) -> None:
    """Clear a run that leads a batch, as if nobody heard of its end, and let it begin."""
    with metadata.engine.begin() as at:
        at.execute(text("update dag_run set state = 'success' where run_id = :run"), {"run": run_id})
    clear(metadata, run_id)
    notify(metadata, run_id, "running")


def test_a_leader_that_begins_anew_ends_the_batch_that_nobody_has_ended(dags: Metadata) -> None:
    leader, first, second, *_ = queue(dags, *KEYS)
    notify(dags, leader, "running")
    tell(dags, leader, made(first, 7), made(second, 8, Ending.FAILED, "ValueError: no"))
    begin_anew(dags, leader)
    assert events(dags) == [(KEYS[1], first, {"rows": 7, "files": 1})]
    assert states(dags) == dict.fromkeys(KEYS, "queued") | {KEYS[0]: "running", KEYS[1]: "success"}
    assert keys(members(dags, leader)) == KEYS[3:7]
    assert rows(dags) == {KEYS[1]: "made", KEYS[2]: "failed", **dict.fromkeys(KEYS[3:7])}
    assert list(cells(dags, leader)) == [MEMBERS]


def test_upkeep_leaves_the_new_batch_of_a_leader_that_begins_anew_meanwhile(
    dags: Metadata, monkeypatch: pytest.MonkeyPatch
) -> None:
    leader, first, *_ = queue(dags, *KEYS)
    notify(dags, leader, "running")
    tell(dags, leader, made(first))
    with dags.engine.begin() as at:
        at.execute(text("update dag_run set state = 'queued' where run_id = :run"), {"run": leader})
    finish = unfinished_batches._finish

    def begin_first(*args: Any) -> bool:
        notify(dags, leader, "running")
        return finish(*args)

    monkeypatch.setattr(unfinished_batches, "_finish", begin_first)
    assert finish_batches(pytest.fail) == 0
    assert keys(members(dags, leader)) == KEYS[2:6]
    assert rows(dags) == {KEYS[1]: "made", **dict.fromkeys(KEYS[2:6])}


def test_a_dag_without_batches_asks_nothing(dags: Metadata) -> None:
    (run, _) = queue(dags, *KEYS[:2], dag_id="singles")
    with asked(dags) as statements:
        notify(dags, run, "running", "singles")
    assert not [statement for statement in statements if "batch" in statement or "state_store" in statement]


def test_other_requests_settings_and_keys_that_failed_or_are_made_elsewhere_are_left_out(dags: Metadata) -> None:
    from airflow.models.backfill import Backfill

    with dags.engine.begin() as at:
        backfill = at.execute(
            insert(Backfill).values(
                dag_id="hours", from_date=NOON, to_date=NOON, max_active_runs=1, dag_run_conf={}, is_paused=False
            )
        ).inserted_primary_key[0]  # type: ignore[index]
    leader, alone = queue(dags, KEYS[0], KEYS[1])
    queue(dags, KEYS[2], backfill_id=backfill)
    queue(dags, KEYS[3], conf={"a": 1})
    queue(dags, KEYS[4], KEYS[5])
    queue(dags, KEYS[0], KEYS[5], began=NOON + timedelta(hours=1))  # a second run of a key
    put_runs(dags, "singles", [KEYS[4]], "running", NOON)
    other = f"singles {KEYS[4]} {NOON.isoformat()}"
    asset_id = dags.asset("hours")
    with dags.engine.begin() as at:
        number = at.scalar(text("select id from dag_run where run_id = :run"), {"run": alone})
        at.execute(insert(BatchMember).values(run_id=number, leader_id=0, outcome="failed", error="E"))
        note = json.dumps(note_of(Claimant("singles", other)))
        statement = text(
            "insert into asset_state_store (asset_id, key, value, updated_at) values (:id, :key, :note, :at)"
        )
        at.execute(statement, {"id": asset_id, "key": claim_cell(KEYS[4]), "note": note, "at": NOON})
    notify(dags, leader, "running")
    assert keys(members(dags, leader)) == [KEYS[5]]
    notify(dags, alone, "running")
    assert members(dags, alone) == []
    assert rows(dags) == {KEYS[5]: None}


def test_eo2_scheduled_members_that_were_made_by_hand_are_told_so_and_ask_nothing(dags: Metadata) -> None:
    ends = [datetime(2013, 1, 1, hour + 1, tzinfo=UTC) for hour in range(4)]
    runs = [
        run
        for key, end in zip(KEYS, ends, strict=False)
        for run in queue(dags, key, dag_id="ticking", run_type="scheduled", run_after=end)
    ]
    dags.emit("ticking", KEYS[1], at=ends[1] - timedelta(minutes=1))  # provisional
    dags.emit("ticking", *KEYS[2:4], at=ends[3])
    notify(dags, runs[0], "running", "ticking")
    reasons = {member.key: member.skip for member in members(dags, runs[0])}
    assert list(reasons) == KEYS[1:4]
    assert not reasons[KEYS[1]]
    expected = "partition {} was made already, after its end: an event from outside"
    assert [reasons[key] for key in KEYS[2:4]] == [expected.format(key) for key in KEYS[2:4]]


@pytest.mark.parametrize("state", ["skipped", "success"])
def test_a_run_whose_task_has_ended_leads_nobody(dags: Metadata, state: str) -> None:
    leader, *_ = queue(dags, *KEYS)
    with dags.engine.begin() as at:
        at.execute(text("update task_instance set state = :state where run_id = :run"), {"run": leader, "state": state})
    notify(dags, leader, "running")
    assert not members(dags, leader)


def test_a_run_that_begins_while_another_makes_it_leads_nobody(dags: Metadata) -> None:
    leader, second, *_ = queue(dags, *KEYS)
    notify(dags, leader, "running")
    notify(dags, second, "running")
    assert members(dags, second) == []
    assert rows(dags) == dict.fromkeys(KEYS[1:5])


def test_what_was_made_ends_with_its_leader_and_wakes_who_waits(dags: Metadata) -> None:
    leader, first, bad, skipped, _, *_ = queue(dags, *KEYS)
    notify(dags, leader, "running")
    tell(
        dags,
        leader,
        made(first, 7),
        made(bad, 8, Ending.FAILED, "ValueError: no"),
        made(skipped, 9, Ending.SKIPPED, "made already"),
    )
    assert explain("hours", KEYS[1]).status.state == "running"
    assert f"run {leader} of hours makes it in its batch" in explain("hours", KEYS[1]).reasons[0]
    notify(dags, leader, "success")
    assert states(dags) == {key: "success" if key in (KEYS[0], KEYS[1], KEYS[3]) else "queued" for key in KEYS}
    assert events(dags) == [(KEYS[1], first, {"rows": 7, "files": 1})]
    assert rows(dags) == {KEYS[1]: "made", KEYS[2]: "failed", KEYS[3]: "skipped"}
    with dags.engine.connect() as at:
        task = at.execute(
            text("select state, try_number, duration from task_instance where run_id in (:a, :b) order by run_id"),
            {"a": first, "b": skipped},
        ).all()
        said = text("select r.partition_key, n.content from dag_run_note n join dag_run r on r.id = n.dag_run_id")
        notes = dict(map(tuple, at.execute(said)))
        pending = at.execute(
            text("select target_dag_id, partition_key, count(*) from asset_partition_dag_run group by 1, 2")
        ).all()
        logs = at.scalar(text("select count(*) from partitioned_asset_key_log"))
    assert [tuple(row) for row in task] == [("success", 1, 30.0), ("skipped", 1, 30.0)]
    assert notes == {
        KEYS[1]: f"Partition {KEYS[1]}: 2013-01-01 01:00 to 2013-01-01 02:00 UTC\nMade in the batch of run {leader}",
        KEYS[3]: f"Partition {KEYS[3]}: 2013-01-01 03:00 to 2013-01-01 04:00 UTC\nMade in the batch of run {leader}"
        "\nSkipped: made already",
    }
    assert [tuple(row) for row in pending] == [("days", "2013-01-01", 1)]
    assert logs == 1
    reasons = explain("hours", KEYS[2]).reasons
    assert any("ValueError: no" in reason for reason in reasons), reasons
    before = events(dags)
    notify(dags, leader, "success")  # a second time nothing is done
    assert events(dags) == before


def test_a_run_that_was_cancelled_meanwhile_keeps_its_state_and_what_was_published_has_its_event(
    dags: Metadata,
) -> None:
    leader, first, *_ = queue(dags, *KEYS[:3])
    notify(dags, leader, "running")
    with dags.engine.begin() as at:
        at.execute(text("update dag_run set state = 'failed' where run_id = :run"), {"run": first})
    tell(dags, leader, made(first))
    notify(dags, leader, "failed")
    assert states(dags) == {KEYS[0]: "failed", KEYS[1]: "failed", KEYS[2]: "queued"}
    assert [key for key, _, _ in events(dags)] == [KEYS[1]]


def test_deadlines_that_were_met_are_told_of_no_more(dags: Metadata) -> None:
    from airflow.models.deadline import Deadline
    from airflow.sdk.definitions.callback import AsyncCallback

    leader, first, second, third = queue(dags, *KEYS[:4])
    with Session(dags.engine) as at:
        for run, minutes in ((first, 5), (second, -5), (third, 5)):
            number = at.scalar(text("select id from dag_run where run_id = :run"), {"run": run})
            due = NOON + timedelta(minutes=minutes)
            at.add(Deadline(due, AsyncCallback("asyncio.sleep"), number, None))  # type: ignore[arg-type]
        at.commit()
    notify(dags, leader, "running")
    tell(dags, leader, made(first), made(second))
    notify(dags, leader, "success")
    query = (
        "select r.partition_key from deadline d join dag_run r on r.id = d.dagrun_id join callback c on"
        " c.id = d.callback_id order by 1"
    )
    with dags.engine.connect() as at:
        assert list(at.scalars(text(query))) == [KEYS[2], KEYS[3]]  # one came too late, one is still to be made
        assert at.scalar(text("select count(*) from callback")) == 2


def test_the_next_leader_takes_what_was_not_reached_and_what_was_cleared(dags: Metadata) -> None:
    leader, first, second, third = queue(dags, *KEYS[:4])
    notify(dags, leader, "running")
    tell(dags, leader, made(first), made(third))
    notify(dags, leader, "success")
    clear(dags, third)
    notify(dags, second, "running")
    assert [(member.key, member.try_number, member.clear_number) for member in members(dags, second)] == [
        (KEYS[3], 2, 1)
    ]


def test_claims_of_a_batch_are_made_again_when_airflow_has_thrown_them_away(dags: Metadata) -> None:
    leader, *_ = queue(dags, *KEYS[:3])
    notify(dags, leader, "running")
    throw_cells_away(dags)
    with dags.engine.begin() as at:
        mailbox.restore_claims(at)
        restored = dict(map(tuple, at.execute(text("select key, value from asset_state_store"))))
    assert {json.loads(restored[claim_cell(key)])["run_id"] for key in KEYS[1:3]} == {leader}


@contextmanager
def asked(metadata: Metadata) -> Iterator[list[str]]:
    statements: list[str] = []

    def note(connection: Connection, cursor: Any, statement: str, *_: Any) -> None:
        statements.append(statement)

    event.listen(metadata.engine, "before_cursor_execute", note)
    try:
        yield statements
    finally:
        event.remove(metadata.engine, "before_cursor_execute", note)


@contextmanager
def failing(metadata: Metadata, number: int) -> Iterator[Callable[[], bool]]:
    """The statement of that number of the batch fails in the database; whether there was one."""
    count = 0

    def fail(connection: Connection, cursor: Any, *_: Any) -> None:
        nonlocal count
        count += 1
        if count == number:
            cursor.execute("select no_such_column from dag_run")

    event.listen(metadata.engine, "before_cursor_execute", fail)
    try:
        yield lambda: count >= number
    finally:
        event.remove(metadata.engine, "before_cursor_execute", fail)


@pytest.mark.parametrize("moment", ["begin", "begin anew", "end"])
def test_no_statement_that_fails_ends_the_scheduler_or_loses_a_partition(
    dags: Metadata, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each in its turn: the leader's own state is committed, and upkeep finishes what was lost."""
    number, reached = 0, True
    while reached:
        number += 1
        leader, first, second = queue(dags, *KEYS[:3], began=NOON + timedelta(days=number))
        choice = "choose" if moment == "begin" else "end_batch"
        original = getattr(run_changes, choice)

        def broken(*args: Any, number: int = number, original: Callable[..., Any] = original) -> Any:
            nonlocal reached
            with failing(dags, number) as was_reached:
                try:
                    return original(*args)
                finally:
                    reached = was_reached()

        if moment != "begin":
            notify(dags, leader, "running")
            tell(dags, leader, made(first), made(second))
        with monkeypatch.context() as patch:
            patch.setattr(run_changes, choice, broken)
            if moment == "begin anew":
                begin_anew(dags, leader)
            else:
                notify(dags, leader, "running" if moment == "begin" else "success")
        with dags.engine.connect() as at:
            state = at.scalar(text("select state from dag_run where run_id = :run"), {"run": leader})
        assert state == ("success" if moment == "end" else "running")
        if moment == "begin":
            assert bool(members(dags, leader)) is not reached
        elif moment == "begin anew":  # it goes on with the batch that it had
            assert keys(members(dags, leader)) == (KEYS[1:3] if reached else [])
            notify(dags, leader, "success")
            assert [run for _, run, _ in events(dags)][-2:] == [first, second]
        else:
            assert finish_batches(pytest.fail) == reached
            assert [run for _, run, _ in events(dags)][-2:] == [first, second]
            assert finish_batches(pytest.fail) == 0
        with dags.engine.begin() as at:  # nobody is in the way of the next round
            at.execute(text("update dag_run set state = 'success'"))
            at.execute(BatchMember.__table__.delete())
    assert number > (6 if moment == "begin" else 10)
    with dags.engine.connect() as at:
        sent = at.scalar(select(func.count()).select_from(text("asset_event")))
    assert sent == (0 if moment == "begin" else 2 * number)


def ended(metadata: Metadata, dag_id: str, size: int, seconds: float, hour: int) -> None:
    """A batch of that size, which took so long."""
    began = NOON - timedelta(days=1) + timedelta(hours=hour)
    at_hour = [f"2012-01-01T{hour:02}:{number:04}" for number in range(size)]
    put_runs(metadata, dag_id, at_hour, "success", began, end_date=began + timedelta(seconds=seconds))
    with metadata.engine.begin() as at:
        query = text("select id from dag_run where partition_key like :key order by id")
        leader, *others = at.scalars(query, {"key": f"2012-01-01T{hour:02}:%"})
        if others:
            rows = [{"run_id": number, "leader_id": leader, "outcome": "made"} for number in others]
            at.execute(insert(BatchMember), rows)


@pytest.mark.parametrize(
    ("batches", "size"),
    [
        ([], 16),
        ([(1, 2.0)], 4),  # four times as many
        ([(16, 8.0)], 64),
        ([(16, 32.0)], 30),  # a minute's
        ([(16, 32.0), (100, 25.0)], 122),
        ([(8, 4_000.0)], 1),
        ([(1000, 1.0)], 2_000),
    ],
)
def test_a_size_of_its_own_is_what_takes_a_minute(dags: Metadata, batches: list[tuple[int, float]], size: int) -> None:
    for hour, (count, seconds) in enumerate(batches):
        ended(dags, "grown", count, seconds, hour)
    with dags.engine.connect() as at:
        assert size_of(at, "grown", "auto") == size
        assert size_of(at, "grown", 7) == 7


def test_a_batch_of_its_own_size_takes_what_is_queued(dags: Metadata) -> None:
    leader, *_ = queue(dags, *KEYS, dag_id="grown")
    notify(dags, leader, "running", "grown")
    assert keys(members(dags, leader)) == KEYS[1:]


def test_upkeep_frees_the_members_of_a_run_that_is_gone_and_forgets_those_of_runs_that_are(dags: Metadata) -> None:
    leader, *_ = queue(dags, *KEYS[:3])
    notify(dags, leader, "running")
    with dags.engine.begin() as at:
        at.execute(text("delete from task_state_store"))
        at.execute(text("delete from dag_run where run_id = :run"), {"run": leader})
    assert finish_batches(pytest.fail) == 1
    assert rows(dags) == {}
    with dags.engine.begin() as at:
        at.execute(insert(BatchMember).values(run_id=999_999, leader_id=1, outcome="made"))
    delete_old_members()
    with dags.engine.connect() as at:
        assert at.scalar(select(func.count()).select_from(BatchMember)) == 0
