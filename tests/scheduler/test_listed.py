"""Products whose combinations are added at runtime, on a real scheduler."""

from __future__ import annotations

import pytest

from tests.scheduler.adder import ADDS, Adder, note
from tests.scheduler.conftest import Airflow
from tests.scheduler.test_schedule import yesterday

DATABASES = ("postgresql",)  # the database has little to do with it
pytestmark = [pytest.mark.airflow, pytest.mark.long, pytest.mark.usefixtures("one_day")]


@pytest.fixture(scope="module")
def day(airflow: Airflow) -> str:
    """The day that is due; Dags that add pairs of tenants and regions, that make their days, and wait for these."""
    airflow.write(
        "accounts",
        ADDS
        + """
    TENANTS = PartitionBySequence(["acme", "beta", "cole"], name="tenant")
    REGIONS = PartitionBySequence(["eu", "us"], name="region")
    DAYS = PartitionByInterval("@daily", name="day")
    PAIRS = PartitionAtRuntime("pairs", of=PartitionByProduct([TENANTS, REGIONS]))
    ORDERS = PartitionByProduct([TENANTS, REGIONS, DAYS], only=PAIRS)

    @asset(schedule=None, partition=PAIRS)
    def accounts():
        do(PAIRS, "accounts")

    orders = Asset("orders")
    with DAG("orders", start_date=LONG_AGO, max_active_runs=9, schedule=Partitioned("@daily", ORDERS, asset=orders)):
        EmptyOperator(task_id="make", outlets=[orders])

    @asset(schedule=orders, partition=DAYS)
    def daily(partition):
        needed = sorted(map(str, partition.upstream(orders)))
        (OUT / f"daily-{partition}").write_text(json.dumps(needed))
    """,
    )
    airflow.wait(lambda: all(map(airflow.parsed, ("orders", "daily"))), "the consumers")
    return f"{yesterday():%Y-%m-%d}"


def test_what_tasks_add_is_due_and_what_is_downstream_waits_for_all_of_it(airflow: Airflow, day: str) -> None:
    assert airflow.keys("orders") == []
    refused = airflow.trigger("orders", f"acme|eu|{day}")
    assert refused.status_code == 400
    assert f"'acme|eu|{day}' does not exist: there is no tenant 'acme'" in refused.json()["detail"]
    accounts = Adder(airflow, "accounts")
    added = accounts.run(add=[["acme|eu", None], [["beta", "us"], None]])
    assert added == ("success", [["acme", "eu"], ["beta", "us"]])
    assert accounts.run(add=[["acme|uk", None]])[0] == "failed"
    assert sorted(accounts.events) == ["acme|eu", "beta|us"]
    airflow.parse_again("orders", "accounts")
    made = [f"acme|eu|{day}", f"beta|us|{day}"]
    assert [(key, state) for key, state, _ in airflow.wait_finished("orders", 2)] == [(key, "success") for key in made]
    assert [(key, state) for key, state, _ in airflow.wait_finished("daily", 1)] == [(day, "success")]
    assert note(airflow, f"daily-{day}") == made


def test_what_a_person_adds_may_be_asked_for_and_what_is_dropped_may_not(airflow: Airflow, day: str) -> None:
    wrong = airflow.command("asset-partitions", "keys", "accounts", "--add", "acne|us")
    assert wrong.returncode == 1
    assert "'acne' is not one of the 3 values of 'tenant'; nearest: acme|us" in wrong.stderr
    assert airflow.command("asset-partitions", "keys", "accounts", "--add", "acme|us").returncode == 0
    assert airflow.trigger("orders", f"acme|us|{day}").status_code == 200
    assert airflow.wait_finished("orders", 3)[2][:2] == (f"acme|us|{day}", "success")
    airflow.wait_finished("daily", 2)
    assert note(airflow, f"daily-{day}") == [f"acme|eu|{day}", f"acme|us|{day}", f"beta|us|{day}"]
    assert airflow.command("asset-partitions", "keys", "accounts", "--remove", "beta|us").returncode == 0
    gone = airflow.trigger("orders", f"beta|us|{day}")
    assert gone.status_code == 400
    assert "does not exist: there is no tenant 'beta' with region 'us'" in gone.json()["detail"]
