"""When a partition is made, and made again, on a real scheduler."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from airflow_partitions import PartitionByInterval
from tests.scheduler.conftest import Airflow
from tests.scheduler.test_dependencies import emit

pytestmark = pytest.mark.airflow

HOURS = PartitionByInterval("@hourly")
LONG_AGO = [str(key) for key in HOURS.keys("2013-03-01", "2013-03-02")]
NOW = datetime.now(UTC)
#: The last tick of a yearly schedule, half a year ago: too long ago for a new Dag to make up for it.
TICK = datetime(NOW.year if NOW.month > 6 else NOW.year - 1, (NOW.month + 5) % 12 + 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def run_policies(airflow: Airflow) -> str:
    airflow.write(
        "run_policies",
        f"""
        from datetime import timedelta
        from airflow_partitions import AtLeast, Within

        HOURS, DAYS = PartitionByInterval("@hourly"), PartitionByInterval("@daily")

        @asset(schedule=None, partition=HOURS)
        def readings(): ...

        @asset(schedule="0 0 1 {TICK.month} *", partition=PartitionBySequence(["north", "south"], name="region"))
        def stations(): ...

        @asset(schedule=readings, partition=DAYS, wait=AtLeast(20))
        def early(): ...

        @asset(schedule=readings, partition=DAYS, rerun="never")
        def never_again(): ...

        @asset(schedule=readings, partition=DAYS, rerun=Within("7d"))
        def while_young(): ...

        @asset(schedule=readings, partition=DAYS, rerun=Within("9000d", settle="8s"))
        def when_settled(): ...

        @asset(schedule=stations, partition=PartitionByProduct([
            PartitionByInterval("@monthly"), PartitionBySequence(["north", "south"], name="region")]))
        def monthly_stations(): ...

        with DAG("run_policies", schedule=None):
            EmptyOperator(task_id="nothing")
        """,
    )
    airflow.wait(lambda: airflow.parsed("monthly_stations"), "the consumers")
    return "run_policies"


def test_at_least_so_many_begin_once_and_all_once_more(airflow: Airflow, run_policies: str) -> None:
    emit(airflow, "readings", *LONG_AGO[:20])
    airflow.wait_finished("early", 1)
    emit(airflow, "readings", *LONG_AGO[20:23])
    assert airflow.keys("never_again") == []
    emit(airflow, "readings", LONG_AGO[23])
    airflow.wait_finished("early", 2)
    airflow.wait_finished("never_again", 1)
    airflow.wait_finished("while_young", 1)
    airflow.wait_finished("when_settled", 1)
    assert airflow.keys("early") == ["2013-03-01", "2013-03-01"]


def test_a_changed_upstream_makes_again_what_is_meant_to_be(airflow: Airflow, run_policies: str) -> None:
    emit(airflow, "readings", *LONG_AGO[3:7])
    airflow.wait_finished("early", 3)
    airflow.wait_finished("when_settled", 2)
    assert airflow.keys("when_settled") == ["2013-03-01", "2013-03-01"]
    assert airflow.keys("never_again") == ["2013-03-01"]
    assert airflow.keys("while_young") == ["2013-03-01"]
    pending = airflow.sql("select target_dag_id from asset_partition_dag_run where created_dag_run_id is null")
    assert not {"never_again", "while_young"} & {dag_id for (dag_id,) in pending}


def test_a6_intervals_only_the_consumer_has_are_those_the_tick_of_its_producer_makes_due(
    airflow: Airflow, run_policies: str
) -> None:
    assert airflow.trigger("stations", "south").status_code == 200
    keys = {key for key, _, _ in airflow.wait_finished("monthly_stations", 12)}
    months = PartitionByInterval("@monthly").keys(TICK.replace(year=TICK.year - 1), TICK)
    assert keys == {f"{month}|south" for month in months}


def test_an_upstream_of_another_file_may_be_named_alone(airflow: Airflow, run_policies: str) -> None:
    airflow.write(
        "elsewhere",
        """
        with DAG("elsewhere", schedule=Partitioned(Asset.ref(name="readings"), PartitionByInterval("@daily"))):
            EmptyOperator(task_id="nothing")
        """,
    )
    emit(airflow, "readings", LONG_AGO[0])
    assert airflow.wait_finished("elsewhere", 1)[0][:2] == ("2013-03-01", "success")


def test_a_bare_mention_of_an_asset_takes_nothing_from_its_consumers(airflow: Airflow, run_policies: str) -> None:
    airflow.write(
        "mention",
        """
        with DAG("mention", schedule=None):
            EmptyOperator(task_id="nothing", inlets=[Asset("readings")])
        """,
    )
    before = len(airflow.keys("elsewhere"))
    emit(airflow, "readings", LONG_AGO[1])
    airflow.wait_finished("elsewhere", before + 1)


def test_a_dag_with_airflows_own_partitions_is_waited_for(airflow: Airflow) -> None:
    airflow.write(
        "native_hours",
        """
        from airflow.sdk import CronPartitionTimetable
        from airflow_partitions import KeyFormat

        with DAG("native_hours", schedule=CronPartitionTimetable("0 * * * *", timezone="UTC"), start_date=None):
            EmptyOperator(task_id="make", outlets=[Asset("native_readings")])

        HOURS = KeyFormat(PartitionByInterval("@hourly"))

        @asset(schedule=Asset("native_readings"), upstreams={"native_readings": HOURS},
               partition=PartitionByInterval(dt.timedelta(hours=2)))
        def pairs(): ...
        """,
    )
    airflow.wait(lambda: airflow.parsed("pairs"), "the consumer")
    for key in ("2013-03-01T04:00:00", "2013-03-01T05:00:00"):
        assert airflow.trigger("native_hours", key).status_code == 200
    assert airflow.wait_finished("pairs", 1)[0][:2] == ("2013-03-01T04:00Z", "success")


@pytest.fixture(scope="module")
def slow(airflow: Airflow) -> Iterator[str]:
    """A key that a run makes for as long as the tests look at what waits for it."""
    airflow.write(
        "slow_readings",
        """
        import time

        HOURS = PartitionByInterval("@hourly")

        @asset(schedule=None, partition=HOURS)
        def slow_readings():
            while not (OUT / "slow_readings.go").exists():
                time.sleep(0.5)

        @asset(schedule=None, partition=HOURS)
        def steady(): ...

        @asset(schedule=slow_readings, partition=HOURS)
        def patient(): ...

        @asset(schedule=slow_readings, partition=HOURS, max_wait="1s")
        def impatient(): ...

        @asset(schedule=steady | slow_readings, partition=HOURS)
        def either_reading(): ...

        @asset(schedule=steady & slow_readings, partition=HOURS)
        def both_readings(): ...
        """,
    )
    airflow.wait(lambda: airflow.parsed("both_readings"), "the consumers")
    assert airflow.trigger("slow_readings", LONG_AGO[0]).status_code == 200
    airflow.wait(lambda: [state for _, state, _ in airflow.runs("slow_readings")] == ["running"], "the slow run")
    yield LONG_AGO[0]
    (airflow.out / "slow_readings.go").touch()


def test_of_either_one_the_side_in_the_making_is_not_waited_for(airflow: Airflow, slow: str) -> None:
    emit(airflow, "steady", slow)
    assert airflow.wait_finished("either_reading", 1)[0][:2] == (slow, "success")
    assert airflow.keys("both_readings") == []


def test_what_is_at_work_for_longer_than_max_wait_is_not_waited_for(airflow: Airflow, slow: str) -> None:
    emit(airflow, "slow_readings", slow)
    assert airflow.wait_finished("impatient", 1)[0][:2] == (slow, "success")
    assert airflow.keys("patient") == []
    assert airflow.keys("both_readings") == []
    assert airflow.keys("either_reading") == [slow]


def test_what_was_waited_for_is_read_once_it_is_there(airflow: Airflow, slow: str) -> None:
    (airflow.out / "slow_readings.go").touch()
    for dag_id, count in (("patient", 1), ("both_readings", 1), ("impatient", 2), ("either_reading", 2)):
        airflow.wait_finished(dag_id, count)
        assert airflow.keys(dag_id) == [slow] * count


def test_nothing_begins_before_its_time_and_each_partition_begins_once(airflow: Airflow) -> None:
    now = datetime.now(UTC)
    newest, older = (HOURS.last(now - timedelta(hours=hours)) for hours in (0, 1))
    assert newest is not None
    assert older is not None
    began = newest.end + (after := now + timedelta(seconds=25) - newest.end)
    airflow.write(
        "timed",
        f"""
        from datetime import timedelta

        HOURS = PartitionByInterval("@hourly")

        @asset(schedule=None, partition=HOURS)
        def fuel_levels(): ...

        @asset(schedule=fuel_levels, partition=HOURS, at=timedelta(seconds={after.total_seconds()}))
        def timed(): ...
        """,
    )
    emit(airflow, "fuel_levels", str(newest))
    assert airflow.keys("timed") == [] or datetime.now(UTC) > began
    emit(airflow, "fuel_levels", str(older))  # an hour after its time: at once
    airflow.wait_finished("timed", 2)
    emit(airflow, "fuel_levels", str(older))  # and again, as its rerun says
    airflow.wait_finished("timed", 3)
    assert sorted(airflow.keys("timed")) == [str(older), str(older), str(newest)]
    query = "select queued_at from dag_run where dag_id = 'timed' and partition_key = ?"
    ((start,),) = airflow.sql(query, str(newest))
    assert str(start) >= f"{began:%Y-%m-%d %H:%M:%S.%f}"
