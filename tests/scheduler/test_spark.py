"""Spark assets under a real scheduler: from a manual run to a published partition, and on to the next asset."""

from __future__ import annotations

import json

import pytest

from tests.scheduler.conftest import Airflow

DATABASES = ("sqlite",)  # what Spark does has nothing to do with the database
pytestmark = [pytest.mark.airflow, pytest.mark.spark]


def test_a13_a_spark_asset_reads_just_the_upstream_partitions_it_waited_for(
    airflow: Airflow,
) -> None:
    airflow.write(
        "days_of_halves",
        """
        import os
        from airflow_partitions import spark_asset
        from airflow_partitions.storage import Parquet

        LAKE = os.environ["AIRFLOW_PARTITIONS_LAKE"]
        NEW_YORK = {"timezone": "America/New_York", "start": "2013-01-01"}
        SMALL = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "1", "spark.driver.memory": "1g"}

        @spark_asset(schedule=None, partition=PartitionByInterval("0 */12 * * *", **NEW_YORK), conf=SMALL, strict=True,
                     storage=Parquet(f"{LAKE}/halves", partition_on={"half": "%Y-%m-%dT%H"}))
        def halves(spark, partition):
            seconds = int(partition.interval.duration.total_seconds())
            return spark.createDataFrame([(seconds,)], "seconds int")

        @spark_asset(schedule=halves, partition=PartitionByInterval("@daily", **NEW_YORK), conf=SMALL, strict=True,
                     storage=Parquet(f"{LAKE}/days", partition_on={"day": "%Y-%m-%d"}))
        def days(spark, partition, halves):
            return halves.groupBy().sum("seconds")

        with DAG("days_of_halves", schedule=None):
            EmptyOperator(task_id="nothing")
        """,
    )
    airflow.wait(lambda: airflow.parsed("halves") and airflow.parsed("days"), "the assets")
    for key in ("2013-11-02T12:00-04:00", "2013-11-03T00:00-04:00", "2013-11-03T12:00-05:00"):
        assert airflow.trigger("halves", key).status_code == 200
    assert {state for _, state, _ in airflow.wait_finished("halves", 3)} == {"success"}
    assert [(key, state) for key, state, _ in airflow.wait_finished("days", 1)] == [("2013-11-03", "success")]
    lake = airflow.home.lake
    assert sorted(folder.name for folder in (lake / "halves").glob("half=*")) == [
        "half=2013-11-02T12",
        "half=2013-11-03T00",
        "half=2013-11-03T12",
    ]
    import pyarrow.parquet

    (day,) = (lake / "days").glob("day=*")
    table = pyarrow.parquet.read_table(next(day.glob("*.parquet")), partitioning=None)
    assert (day.name, table.to_pylist()) == ("day=2013-11-03", [{"sum(seconds)": 25 * 3600}])
    ((extra,),) = airflow.sql(
        "select e.extra from asset_event e join asset a on a.id = e.asset_id where a.name = 'days'"
    )
    counts = json.loads(extra)
    assert counts["rows"] == 1
    reads = counts["reads"]["halves"]
    assert (reads["selected"], reads["partitions"], reads["rows"]) == (2, 2, 2)


def test_a_cleared_succeeded_run_really_runs_its_job_again(airflow: Airflow) -> None:
    (folder,) = (airflow.home.lake / "days").glob("day=*")
    before = json.loads((folder / "_partition.json").read_text())
    run_id = airflow.runs("days")[0][2]
    airflow.api.post("dags/days/clearTaskInstances", {"dag_run_id": run_id, "dry_run": False, "only_failed": False})
    airflow.wait(lambda: airflow.events("days") == ["2013-11-03"] * 2, "the second event")
    after = json.loads((folder / "_partition.json").read_text())
    assert before != after
    assert (before["rows"], after["rows"]) == (1, 1)
