"""Limits per value under a real scheduler: never two runs of one customer at work, of whatever Dag."""

from __future__ import annotations

from contextlib import nullcontext
from itertools import pairwise

import pytest

from tests.scheduler.conftest import Airflow
from tests.scheduler.test_requests import command
from tests.scheduler.test_stress import another_scheduler

pytestmark = pytest.mark.airflow

DAG_FILE = """
import time

HOURS = PartitionByInterval("@hourly", start="2013-01-01", name="hour")
CUSTOMERS = PartitionBySequence(["ann", "bob", "cid"], name="customer")
BOTH = PartitionByProduct([HOURS, CUSTOMERS])

def call(partition):
    began = time.time()
    time.sleep(0.2)
    with (OUT / "crm_calls").open("a") as file:
        print(partition["customer"], began, time.time(), file=file)

@asset(schedule=None, partition=BOTH, limits={"customer": "crm"})
def crm_calls(partition):
    call(partition)

@asset(schedule=None, partition=CUSTOMERS, limits={"customer": "crm"})
def crm_names(partition):
    call(partition)

@asset(schedule=None, partition=BOTH, limits={"customer": "crm"}, batch=6)
def crm_orders(partition):
    call(partition)

with DAG("limits", schedule=None):
    EmptyOperator(task_id="nothing")
"""
ASKED = (("crm_calls", "2013-01-01T00:00Z..2013-01-01T03:00Z"), ("crm_orders", "2013-01-01T00:00Z..2013-01-01T06:00Z"))


def test_no_two_runs_of_a_customer_are_ever_at_work_at_once(airflow: Airflow) -> None:
    airflow.write("limits", DAG_FILE)
    airflow.wait(lambda: all(map(airflow.parsed, ("crm_calls", "crm_names", "crm_orders"))), "the assets")
    is_alone = airflow.home.database.startswith("sqlite")  # Airflow allows one scheduler on it
    with nullcontext() if is_alone else another_scheduler(airflow) as process:
        for asset, keys in ASKED:
            code, answer = command(airflow, "materialize", asset, keys)
            assert code == 0, answer
        for customer in ("ann", "bob", "cid"):
            assert airflow.trigger("crm_names", customer).status_code == 200
        runs = [
            run
            for asset, number in (("crm_calls", 9), ("crm_orders", 18), ("crm_names", 3))
            for run in airflow.wait_finished(asset, number)
        ]
        assert process is None or process.is_running
    assert {state for _, state, _ in runs} == {"success"}
    calls = [line.split() for line in (airflow.out / "crm_calls").read_text().splitlines()]
    assert len(calls) == 30
    for customer in ("ann", "bob", "cid"):
        spans = sorted((float(began), float(ended)) for name, began, ended in calls if name == customer)
        assert len(spans) == 10
        assert all(ended <= began for (_, ended), (began, _) in pairwise(spans)), customer
