"""Partitions in tasks, and partitions that need those before them, on a real Airflow with upkeep as a service."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest

from tests.scheduler.conftest import Airflow
from tests.scheduler.test_dependencies import emit
from tests.scheduler.test_upkeep import service

pytestmark = [pytest.mark.airflow, pytest.mark.usefixtures("one_day")]


def test_a_sensor_and_an_operator_in_other_dags(airflow: Airflow) -> None:
    airflow.write(
        "awaited_halves",
        """
from airflow_partitions import Materialize, MaterializedSensor
HALVES = PartitionByInterval("0 0,12 * * *", start="2013-01-01")

@asset(schedule=None, partition=HALVES)
def awaited_halves(partition):
    print(partition)

with DAG("halves_of_a_day", schedule=Partitioned(None, PartitionByInterval("@daily", start="2013-01-01"))):
    # A trigger may fire before the executor's word of the deferral is heard, and the try fails then: it is tried again.
    MaterializedSensor(
        task_id="both", asset="awaited_halves", poke_interval=5, timeout=600, retries=2,
        retry_delay=dt.timedelta(seconds=1),
    )

with DAG("makes_halves", schedule=None):
    Materialize(
        task_id="make", asset="awaited_halves", keys="2013-02-08", poke_interval=5, retries=2,
        retry_delay=dt.timedelta(seconds=1),
    )
""",
    )
    airflow.wait(lambda: airflow.parsed("makes_halves") and airflow.parsed("halves_of_a_day"), "the other Dags")
    assert airflow.trigger("halves_of_a_day", "2013-02-08").status_code == 200
    state = "select state from task_instance where dag_id = 'halves_of_a_day'"
    airflow.wait(lambda: airflow.sql(state) == [("deferred",)], "the sensor deferred")
    with service(airflow):
        assert airflow.trigger("makes_halves", None).status_code == 200
        assert airflow.wait_finished("makes_halves", 1)[0][1] == "success"
        assert sorted(airflow.keys("awaited_halves")) == ["2013-02-08T00:00Z", "2013-02-08T12:00Z"]
        assert airflow.wait_finished("halves_of_a_day", 1)[0][:2] == ("2013-02-08", "success")


def test_a_dag_without_partitions_runs_when_a_whole_range_is_complete(airflow: Airflow) -> None:
    airflow.write(
        "thirds",
        """
from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator

@asset(schedule=None, partition=PartitionByInterval("0 0,8,16 * * *", start="2013-01-01"))
def thirds(partition):
    print(partition)

with DAG("thirds_of_a_day", schedule=Partitioned(thirds, PartitionByInterval("@daily", start="2013-01-01"))):
    TriggerDagRunOperator(task_id="plain", trigger_dag_id="after_thirds", conf={"day": "{{ partition }}"})

with DAG("after_thirds", schedule=None):
    EmptyOperator(task_id="nothing")
""",
    )
    airflow.wait(lambda: airflow.parsed("after_thirds") and airflow.parsed("thirds_of_a_day"), "the other Dags")
    for key in ("2013-02-08T00:00Z", "2013-02-08T08:00Z"):
        assert airflow.trigger("thirds", key).status_code == 200
    airflow.wait_finished("thirds", 2)
    assert airflow.runs("after_thirds") == []
    assert airflow.trigger("thirds", "2013-02-08T16:00Z").status_code == 200
    assert airflow.wait_finished("after_thirds", 1)[0][1] == "success"
    ((conf,),) = airflow.sql("select conf from dag_run where dag_id = 'after_thirds'")
    assert "2013-02-08" in str(conf)


def test_an_event_of_an_asset_without_partitions_counts_for_all(airflow: Airflow) -> None:
    airflow.write(
        "turnover",
        """
DAYS = PartitionByInterval("@daily", start="2013-01-01")
from airflow_partitions import Unpartitioned

with DAG("turnover", schedule=Partitioned(
    Asset("turnover_sales") & Asset("turnover_rates"), DAYS,
    upstreams={"turnover_sales": DAYS}, rules={"turnover_rates": Unpartitioned()},
)):
    EmptyOperator(task_id="nothing")
""",
    )
    yesterday = str(datetime.now(UTC).date() - timedelta(days=1))
    with service(airflow):
        emit(airflow, "turnover_sales", "2013-02-08", yesterday)
        time.sleep(5)
        assert airflow.runs("turnover") == []
        emit(airflow, "turnover_rates", None)
        assert {run[0] for run in airflow.wait_finished("turnover", 2)} == {"2013-02-08", yesterday}
        emit(airflow, "turnover_rates", None)  # the newest is made again
        assert [run[0] for run in airflow.wait_finished("turnover", 3)][2] == yesterday


def test_partitions_that_need_the_one_before_them_are_made_in_order(airflow: Airflow) -> None:
    airflow.write(
        "balances",
        """
@asset(schedule=None, partition=PartitionByInterval("@daily", start="2013-02-01"), past=1)
def balances(partition):
    if (OUT / f"fail-{partition}").exists():
        raise RuntimeError("no balance today")
""",
    )
    (airflow.out / "fail-2013-02-02").touch()
    for day in ("2013-02-03", "2013-02-02", "2013-02-01"):
        assert airflow.trigger("balances", day).status_code == 200
    airflow.wait_finished("balances", 1, state="failed")
    assert airflow.events("balances") == ["2013-02-01"]
    failed = airflow.runs("balances", state="failed")
    assert [run[0] for run in failed] == ["2013-02-02"]
    (airflow.out / "fail-2013-02-02").unlink()
    airflow.api.post(f"dags/balances/dagRuns/{failed[0][2]}/clear", {"dry_run": False})
    airflow.wait_finished("balances", 3, state="success")
    assert airflow.events("balances") == ["2013-02-01", "2013-02-02", "2013-02-03"]
    backwards = {
        "dag_id": "balances", "from_date": "2013-02-01T00:00:00Z", "to_date": "2013-02-03T00:00:00Z",
        "run_backwards": True, "reprocess_behavior": "completed",
    }  # fmt: skip
    answer = airflow.api.ask("POST", "backfills", backwards)
    assert answer.status_code == 422
    assert "reverse" in answer.text
    forwards = backwards | {"to_date": "2013-02-06T00:00:00Z", "run_backwards": False, "reprocess_behavior": "failed"}
    assert airflow.api.ask("POST", "backfills", forwards).status_code == 200
    airflow.wait_finished("balances", 6, state="success")
    assert airflow.events("balances") == [f"2013-02-0{day}" for day in range(1, 7)]
