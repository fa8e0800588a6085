"""Runs that add keys: what starts them, and their turns, on a real scheduler."""

from __future__ import annotations

import pytest

from tests.scheduler.adder import ADDS, Adder
from tests.scheduler.conftest import Airflow

pytestmark = pytest.mark.airflow


@pytest.fixture(scope="module")
def drivers(airflow: Airflow) -> str:
    airflow.write(
        "drivers",
        ADDS
        + """
    contracts = PartitionAtRuntime(name="contracts")
    DAYS = PartitionByInterval("@daily", start="2013-01-01")

    @asset(schedule=None, partition=None)
    def export(): ...

    @asset(schedule=export, partition=contracts)
    def by_export():
        do(contracts, "by_export")

    @asset(schedule=None, partition=DAYS)
    def ledger_days(partition): ...

    @asset(schedule=ledger_days, partition=contracts)
    def by_day(partition):
        assert partition.start.year == 2013
        do(contracts, "by_day")

    with DAG("contract_consumer", schedule=Partitioned(by_export | by_day, contracts)):
        EmptyOperator(task_id="nothing")

    with DAG("drivers", schedule=None):
        EmptyOperator(task_id="nothing")
    """,
    )
    airflow.wait(lambda: airflow.parsed("contract_consumer"), "the consumer")
    return "drivers"


def test_a7_an_asset_without_partitions_drives_a_run_that_adds_keys(airflow: Airflow, drivers: str) -> None:
    Adder(airflow, "by_export").prepare(add=[["c1", None], ["c2", None]])
    assert airflow.trigger("export", None).status_code == 200
    assert airflow.wait_finished("by_export", 1)[0][:2] == (None, "success")
    assert sorted(airflow.events("by_export")) == ["c1", "c2"]
    airflow.wait(lambda: {"c1", "c2"} <= set(airflow.keys("contract_consumer")), "the consumer")


def test_a7_a_partition_drives_a_run_that_adds_keys_and_its_own_does_not_leak(airflow: Airflow, drivers: str) -> None:
    Adder(airflow, "by_day").prepare()
    assert airflow.trigger("ledger_days", "2013-02-08").status_code == 200
    assert airflow.wait_finished("by_day", 1)[0][:2] == ("2013-02-08", "success")
    assert airflow.events("by_day") == []
    Adder(airflow, "by_day").prepare(add=[["c3", None]])
    assert airflow.trigger("ledger_days", "2013-02-09").status_code == 200
    airflow.wait_finished("by_day", 2)
    assert airflow.events("by_day") == ["c3"]
    airflow.wait(lambda: "c3" in airflow.keys("contract_consumer"), "the consumer")
    assert "2013-02-08" not in airflow.keys("contract_consumer")


def test_a7_runs_that_add_keys_take_turns(airflow: Airflow) -> None:
    airflow.write(
        "turns",
        """
        seats = PartitionAtRuntime(name="seats")

        @asset(schedule=None, partition=seats, max_active_runs=3)
        def turns():
            import time
            there = len(seats.partitions())
            time.sleep(3)
            seats.add_partitions([there, there + 1])
        """,
    )
    for _ in range(3):
        assert airflow.trigger("turns", None).status_code == 200
    assert {state for _, state, _ in airflow.wait_finished("turns", 3)} == {"success"}
    assert sorted(airflow.events("turns")) == [f"int:{number}" for number in range(6)]


def test_er3_runs_of_two_assets_that_add_to_one_name_take_turns(airflow: Airflow) -> None:
    airflow.write(
        "rows",
        """
        places = PartitionAtRuntime(name="places")

        def add():
            import time
            count = len(places.partitions())
            time.sleep(3)
            places.add_partitions([count, count + 1])

        @asset(schedule=None, partition=places)
        def rows():
            add()

        @asset(schedule=None, partition=places)
        def columns():
            add()
        """,
    )
    airflow.wait(lambda: airflow.parsed("columns"), "the other asset")
    for dag_id in ("rows", "columns"):
        assert airflow.trigger(dag_id, None).status_code == 200
    for dag_id in ("rows", "columns"):
        assert airflow.wait_finished(dag_id, 1)[0][1] == "success"
    assert sorted(airflow.events("rows") + airflow.events("columns")) == [f"int:{number}" for number in range(4)]
