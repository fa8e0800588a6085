"""dbt's microbatch models by a real scheduler: one run of a Dag, one partition, exactly its batches."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from tests.engine.runs.test_dbt import dbt
from tests.scheduler.conftest import Airflow

__all__ = ["dbt"]
DATABASES = ("sqlite",)
pytestmark = [pytest.mark.airflow, pytest.mark.long]  # dbt is installed for it

DAG_FILE = """
from airflow.providers.standard.operators.bash import BashOperator
from airflow_partitions import DbtBatches

def dbt_dag(name, definition, model, clock="utc"):
    made = Asset(name)
    words = "" if clock == "utc" else f"('{clock}')"
    target = f"target-{name}"
    with DAG(name, schedule=Partitioned(None, definition, asset=made), max_active_runs=1):
        BashOperator(
            task_id="dbt",
            bash_command=f"venv/bin/dbt run --profiles-dir . --select {model} --target-path {target}",
            cwd="FOLDER",
            env={
                "DBT_EVENT_TIME_START": "{{ partition | dbt_start" + words + " }}",
                "DBT_EVENT_TIME_END": "{{ partition | dbt_end" + words + " }}",
                "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
            },
            append_env=True,
            post_execute=DbtBatches(f"FOLDER/{target}", clock=clock),
            outlets=[made],
            retries=0,
        )

NEW_YORK = PartitionByInterval("@daily", timezone="America/New_York", start="2013-01-01")
dbt_dag("dbt_hours", PartitionByInterval("@hourly", start="2013-01-01"), "hours")
dbt_dag("dbt_days", PartitionByInterval("@daily", start="2013-01-01"), "hours")
dbt_dag("dbt_local", NEW_YORK, "hours")
dbt_dag("dbt_walls", NEW_YORK, "days", "wall")
dbt_dag("dbt_months", PartitionByInterval("@monthly", start="2013-01-01"), "hours")
dbt_dag("dbt_wrong", NEW_YORK, "days")
"""
BATCHES = [
    ("dbt_hours", "2013-02-08T07:00Z", 1),
    ("dbt_days", "2013-02-08", 24),
    ("dbt_local", "2013-03-10", 23),
    ("dbt_local", "2013-11-03", 25),
    ("dbt_walls", "2013-03-10", 1),
    ("dbt_walls", "2013-11-03", 1),
    ("dbt_months", "2013-02-01", 28 * 24),
]


@pytest.fixture(scope="module")
def delays(airflow: Airflow, dbt: Path) -> Airflow:
    airflow.write("dbt_hours", DAG_FILE.replace("FOLDER", str(dbt)))
    return airflow


@pytest.mark.parametrize(("dag_id", "key", "batches"), BATCHES)
def test_a_partition_is_there_once_dbt_has_made_all_of_it(
    delays: Airflow, dbt: Path, dag_id: str, key: str, batches: int
) -> None:
    assert delays.trigger(dag_id, key).status_code == 200
    states = {text: state for text, state, _ in delays.wait_finished(dag_id, 1 + len(delays.events(dag_id)))}
    assert states[key] == "success"
    rows = delays.sql(
        "select e.extra from asset_event e join asset a on a.id = e.asset_id where a.name = ? and e.partition_key = ?",
        dag_id,
        key,
    )
    model = "days" if dag_id == "dbt_walls" else "hours"
    assert [json.loads(extra)["dbt_batches"] for (extra,) in rows] == [{model: batches}]
    with duckdb.connect(dbt / "delays.duckdb", read_only=True) as database:
        assert (database.execute(f"select count(*) from {model}").fetchone() or (0,))[0] >= batches


def test_what_dbt_calls_a_success_is_none_where_it_is_another_day(delays: Airflow, dbt: Path) -> None:
    assert delays.trigger("dbt_wrong", "2013-03-10").status_code == 200
    (run,) = delays.wait_finished("dbt_wrong", 1)
    assert run[:2] == ("2013-03-10", "failed")
    assert delays.events("dbt_wrong") == []
    results = json.loads((dbt / "target-dbt_wrong" / "run_results.json").read_text())["results"]
    assert {result["status"] for result in results} == {"success"}


#: Without the rest of what it brings: that is there, and its plugin is not to be in the Airflow of other tests.
COSMOS = ("astronomer-cosmos==1.15.1", "aenum==3.1.17", "deprecation==2.1.0", "msgpack==1.2.4")
COSMOS_DAG = """
import sys
sys.path.append("FOLDER/cosmos-packages")
from cosmos import ProfileConfig
from cosmos.operators.local import DbtRunLocalOperator
from airflow_partitions import DbtBatches

made = Asset("by_cosmos")
NEW_YORK = PartitionByInterval("@daily", timezone="America/New_York", start="2013-01-01")
with DAG("by_cosmos", schedule=Partitioned(None, NEW_YORK, asset=made), max_active_runs=1):
    DbtRunLocalOperator(
        task_id="dbt",
        project_dir="FOLDER",
        dbt_executable_path="FOLDER/venv/bin/dbt",
        profile_config=ProfileConfig("delays", "one", profiles_yml_filepath="FOLDER/profiles.yml"),
        select=["hours"],
        dbt_cmd_flags=["--target-path", "FOLDER/target-cosmos"],
        env={
            "DBT_EVENT_TIME_START": "{{ partition | dbt_start }}",
            "DBT_EVENT_TIME_END": "{{ partition | dbt_end }}",
            "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
        },
        append_env=True,
        install_deps=False,
        emit_datasets=False,
        post_execute=DbtBatches("FOLDER/target-cosmos"),
        outlets=[made],
        retries=0,
    )
"""


@pytest.fixture(scope="module")
def cosmos(airflow: Airflow, dbt: Path) -> Airflow:
    uv = [Path(sys.executable).with_name("uv"), "--system-certs", "pip", "install", "--quiet"]
    subprocess.run([*uv, "--no-deps", "--target", dbt / "cosmos-packages", *COSMOS], check=True)
    airflow.write("by_cosmos", COSMOS_DAG.replace("FOLDER", str(dbt)))
    return airflow


@pytest.mark.parametrize(("key", "batches"), [("2013-02-08", 24), ("2013-03-10", 23), ("2013-11-03", 25)])
def test_cosmos_makes_exactly_a_partition(cosmos: Airflow, key: str, batches: int) -> None:
    assert cosmos.trigger("by_cosmos", key).status_code == 200
    states = {text: state for text, state, _ in cosmos.wait_finished("by_cosmos", 1 + len(cosmos.events("by_cosmos")))}
    assert states[key] == "success"
    ((extra,),) = cosmos.sql(
        "select e.extra from asset_event e join asset a on a.id = e.asset_id"
        " where a.name = 'by_cosmos' and e.partition_key = ?",
        key,
    )
    assert json.loads(extra)["dbt_batches"] == {"hours": batches}
