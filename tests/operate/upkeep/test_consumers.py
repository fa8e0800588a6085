"""What consumers have missed, whatever happens to their files and to Airflow's rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import attrs
import pytest
from sqlalchemy import delete, insert, select, update
from sqlalchemy.event import listen, remove
from sqlalchemy.orm import Session

from airflow_partitions import PartitionByInterval
from airflow_partitions.engine.database.models import Consumer
from airflow_partitions.engine.database.models import Upkeep as Process
from airflow_partitions.engine.graph.serialized_dags import fingerprint, read_serialized_dags
from airflow_partitions.engine.timetables.evaluation import _history
from airflow_partitions.engine.timetables.upstreams import _produced
from airflow_partitions.operate.upkeep import Upkeep, one_round
from airflow_partitions.operate.upkeep.consumers import KEEP
from airflow_partitions.operate.upkeep.leader import ALIVE, Candidate, leader
from tests.metadata import LONG_AGO, Metadata

pytestmark = pytest.mark.airflow

HOURS = PartitionByInterval("@hourly", start="2013-01-01")
DAG_FILE = """
@asset(schedule="@hourly", partition=PartitionByInterval("@hourly", start="2013-01-01"))
def hours(partition): ...

@asset(schedule={schedule}, partition=PartitionByInterval("{every}", start="2013-01-01"))
def days(partition): ...
"""


@attrs.frozen
class Estate:
    """Hours, and a consumer of them."""

    metadata: Metadata
    folder: Path

    def write(self, every: str = "@daily", schedule: str = "hours") -> None:
        from airflow.models.dag import DagModel

        self.metadata.parse(self.folder, files=DAG_FILE.format(every=every, schedule=schedule))
        with self.metadata.engine.begin() as at:
            at.execute(update(DagModel).values(is_paused=False))
        _produced.cache_clear()
        _history.cache_clear()

    def pending(self) -> list[str]:
        from airflow.models.asset import AssetPartitionDagRun as Row

        with self.metadata.engine.connect() as at:
            return sorted(at.scalars(select(Row.partition_key).where(Row.created_dag_run_id.is_(None))))

    def positions(self) -> int:
        with self.metadata.engine.connect() as at:
            return len(at.execute(select(Consumer.event)).all())

    @contextmanager
    def statements(self) -> Iterator[list[str]]:
        """The statements that the database gets."""
        statements: list[str] = []

        def remember(_connection: object, _cursor: object, statement: str, *_: object) -> None:
            statements.append(statement)

        listen(self.metadata.engine, "before_cursor_execute", remember)
        try:
            yield statements
        finally:
            remove(self.metadata.engine, "before_cursor_execute", remember)


@pytest.fixture
def estate(metadata: Metadata, tmp_path: Path) -> Estate:
    estate = Estate(metadata, tmp_path)
    estate.write()
    return estate


def hours_of(start: str, end: str) -> list[str]:
    return [str(key) for key in HOURS.keys(start, end)]


@pytest.mark.parametrize("delivered", ["no row", "pending", "fired"])
def test_eb8_an_edit_that_is_taken_back_misses_nothing(estate: Estate, delivered: str) -> None:
    from airflow.models.asset import AssetEvent, PartitionedAssetKeyLog
    from airflow.models.asset import AssetPartitionDagRun as Row
    from airflow.models.dagrun import DagRun

    day = hours_of("2013-01-01", "2013-01-02")
    estate.metadata.emit("hours", *day[:20])
    one_round()
    estate.write("@weekly")
    one_round()
    estate.metadata.emit("hours", *day[20:])
    if delivered != "no row":
        prints = fingerprint(read_serialized_dags().consumers["days"])
        values = {"target_dag_id": "days", "partition_key": "2012-12-31", "rollup_fingerprint": prints}
        with estate.metadata.engine.begin() as at:
            run = None
            if delivered == "fired":
                made = {"dag_id": "days", "run_id": "made", "run_type": "manual", "state": "success"}
                made |= {"run_after": LONG_AGO, "partition_key": "2012-12-31", "log_template_id": None}
                (run,) = at.execute(insert(DagRun).values(**made)).inserted_primary_key  # type: ignore[misc]
            (row,) = at.execute(insert(Row).values(**values, created_dag_run_id=run)).inserted_primary_key  # type: ignore[misc]
            log = {"asset_id": estate.metadata.asset("hours"), "target_dag_id": "days", "source_partition_key": "x"}
            log |= {"asset_partition_dag_run_id": row, "target_partition_key": "2012-12-31"}
            events = at.scalars(select(AssetEvent.id).where(AssetEvent.partition_key.in_(day[20:])))
            at.execute(insert(PartitionedAssetKeyLog), [log | {"asset_event_id": event} for event in events.all()])
    assert one_round().caught_up == 0
    estate.write("@daily")
    assert one_round().caught_up == 1
    assert "2013-01-01" in estate.pending()
    assert one_round().caught_up == 0


def test_eb8_what_is_waited_for_no_more_is_remembered_for_a_week(estate: Estate) -> None:
    def age(by: timedelta) -> None:
        with estate.metadata.engine.begin() as at:
            at.execute(update(Consumer).values(looked_at=datetime.now(UTC) - by))

    def touched() -> list[bool]:
        with estate.metadata.engine.connect() as at:
            return sorted(datetime.now(UTC) - at < timedelta(days=1) for at in at.scalars(select(Consumer.looked_at)))

    from airflow.models.dag import DagModel

    one_round()
    estate.write("@weekly")
    one_round()
    age(KEEP - timedelta(hours=1))
    one_round()
    assert touched() == [False, True]  # the one in use says so
    with estate.metadata.engine.begin() as at:
        at.execute(update(DagModel).values(is_paused=True))
    age(2 * KEEP)
    one_round()
    assert touched() == [False, False]  # a pause may be long
    with estate.metadata.engine.begin() as at:
        at.execute(update(DagModel).values(is_paused=False))
    one_round()
    assert touched() == [True]
    with Session(estate.metadata.engine) as at:
        at.execute(delete(DagModel).where(DagModel.dag_id == "days"))
        at.commit()
    age(2 * KEEP)
    one_round()
    assert estate.positions() == 0


def test_eb10_however_many_partitions_are_caught_up_a_few_statements_do(estate: Estate) -> None:
    one_round()
    counts = []
    for start, end, days in (("2013-01-01", "2013-01-03", 2), ("2013-02-01", "2013-05-12", 100)):
        estate.metadata.emit("hours", *hours_of(start, end))
        one_round_of_ledgers(estate)
        with estate.statements() as statements:
            assert one_round().caught_up == days
        counts.append(len(statements))
    assert counts[1] - counts[0] < 20, counts


def one_round_of_ledgers(estate: Estate) -> None:
    """Let the ledgers be up to date, so that only the consumer is behind."""
    from airflow_partitions.engine.ledger.ledger import update_ledger

    update_ledger("hours", HOURS)


def test_eb10_the_leader_says_that_it_is_alive_while_a_round_takes_long(estate: Estate) -> None:
    with Candidate() as candidate:
        beats: list[int | None] = []

        def beat() -> None:
            with estate.metadata.engine.begin() as at:
                at.execute(update(Process).values(heartbeat_at=datetime.now(UTC) - 2 * ALIVE))
            candidate._beat_at -= ALIVE
            candidate.beat()
            beats.append(leader())

        estate.metadata.emit("hours", *hours_of("2013-01-01", "2013-01-02"))
        Upkeep(wait=True).round(beat=beat)
        assert len(beats) >= 5  # between assets, consumers and jobs
        assert None not in beats
        assert len(set(beats)) == 1
    assert leader() is None


def test_of_several_processes_the_oldest_that_is_alive_leads(metadata: Metadata) -> None:
    with Candidate() as other:
        with Candidate() as one:
            assert (other.leads(), one.leads()) == (True, False)
        with Candidate() as third:
            with metadata.engine.begin() as at:  # it is killed
                at.execute(update(Process).where(Process.id == leader()).values(heartbeat_at=LONG_AGO))
            assert third.leads()
            with Candidate():
                pass
            with metadata.engine.connect() as at:
                assert len(at.scalars(select(Process.id)).all()) == 3  # rows of long ago are deleted
    assert leader() is None


@pytest.mark.parametrize("long", [False, True])
def test_eb1_a_file_that_is_away_for_a_while_starts_no_history_and_loses_no_event(estate: Estate, long: bool) -> None:
    from airflow.jobs.scheduler_job_runner import SchedulerJobRunner
    from airflow.models.asset import AssetActive
    from airflow.models.dag import DagModel

    def away(is_away: bool) -> None:
        with Session(estate.metadata.engine) as at:
            if is_away:
                at.execute(delete(AssetActive))
                SchedulerJobRunner._cleanup_orphaned_asset_state_store(session=at)
            else:
                at.execute(insert(AssetActive), [{"name": name, "uri": uri} for name, uri in assets])
            at.execute(update(DagModel).values(is_stale=is_away and long))
            at.commit()
        _produced.cache_clear()
        _history.cache_clear()

    with estate.metadata.engine.connect() as at:
        assets: list[Any] = [tuple(row) for row in at.execute(select(AssetActive.name, AssetActive.uri))]
    days = [hours_of(f"2013-01-0{n}", f"2013-01-0{n + 1}") for n in range(1, 4)]
    work = Upkeep(wait=True)
    estate.metadata.emit("hours", *days[0])  # history, of before the consumer
    assert work.round().caught_up == 0
    estate.metadata.emit("hours", *days[1])
    assert one_round().caught_up == 1
    away(True)
    for _ in range(2):
        assert work.round().caught_up == one_round().caught_up == 0
    event = {"asset_id": estate.metadata.asset("hours"), "timestamp": LONG_AGO}
    from airflow.models.asset import AssetEvent

    with estate.metadata.engine.begin() as at:
        at.execute(insert(AssetEvent), [event | {"partition_key": key} for key in days[2]])
    assert work.round().caught_up == one_round().caught_up == 0
    assert estate.positions() == 1
    away(False)
    assert (work.round() if long else one_round()).caught_up == 1
    assert work.round().caught_up == one_round().caught_up == 0
    assert estate.pending() == ["2013-01-02", "2013-01-03"]


def test_eb13_what_lasts_is_told_once_and_again_when_it_has_come_back(estate: Estate) -> None:
    work = Upkeep(wait=True)
    assert work.round().problems == ()
    for _ in range(2):
        estate.write(schedule='Asset.ref(name="nothing")')
        (problem,) = work.round().problems
        assert problem.startswith("Dag 'days': no Dag makes partitions of the asset 'nothing'")
        for _ in range(3):
            outcome = work.round()
            assert outcome.problems == ()
            assert outcome.idle
        assert one_round().problems == (problem,)
        estate.write(schedule='Asset.ref(name="nobody")')
        (other,) = work.round().problems
        assert "'nobody'" in other
        estate.write()
        assert work.round().problems == ()


def test_d3_each_job_fails_by_itself(estate: Estate, monkeypatch: pytest.MonkeyPatch) -> None:
    from airflow_partitions.operate.upkeep import round as round_of_upkeep

    def broken(*_: Any, **__: Any) -> Any:
        raise TypeError("damaged")

    estate.metadata.emit("days", "2012-12-31")
    one_round()
    estate.metadata.emit("hours", *hours_of("2013-01-01", "2013-01-02"))
    jobs = ("update_ledger", "answer_all", "delete_hopeless", "finish_requests", "release_ended", "delete_fired")
    for job in (*jobs, "delete_old_requests", "delete_unused"):
        monkeypatch.setattr(round_of_upkeep, job, broken)
    outcome = one_round()
    assert outcome.caught_up == 1
    failed = [problem.partition(": ")[0] for problem in outcome.problems]
    assert [job for job in failed if job != "asset 'days'"] == [
        "asset 'hours'",
        "requests of tasks",
        "pending rows",
        "requests",
        "holds",
        "rows that fired",
        "old requests",
        "old positions of consumers",
    ]
    assert all(problem.endswith("TypeError: damaged") for problem in outcome.problems)
