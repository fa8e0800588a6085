"""Spark assets under a real scheduler: from a manual run to a published partition, and on to the next asset."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.scheduler.conftest import Airflow
from tests.scheduler.test_upkeep import command

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
                     inputs={"factors": Parquet(f"{LAKE}/factors", partition=PartitionByInterval("@daily", name="day"),
                                                ownership="read-only")},
                     storage=Parquet(f"{LAKE}/days", partition_on={"day": "%Y-%m-%d"}))
        def days(spark, partition, halves, factors):
            return halves.crossJoin(factors.select("factor")).groupBy().sum("seconds")

        with DAG("days_of_halves", schedule=None):
            EmptyOperator(task_id="nothing")
        """,
    )
    lake = airflow.home.lake
    for day in ("2013-11-03", "2013-11-04"):  # the day in New York meets two in UTC
        folder = lake / "factors" / f"day={day}"
        folder.mkdir(parents=True)
        pq.write_table(
            pa.table({"factor": [1] if day == "2013-11-03" else pa.array([], "int64")}), folder / "0.parquet"
        )
    airflow.wait(lambda: airflow.parsed("halves") and airflow.parsed("days"), "the assets")
    for key in ("2013-11-02T12:00-04:00", "2013-11-03T00:00-04:00", "2013-11-03T12:00-05:00"):
        assert airflow.trigger("halves", key).status_code == 200
    assert {state for _, state, _ in airflow.wait_finished("halves", 3)} == {"success"}
    assert [(key, state) for key, state, _ in airflow.wait_finished("days", 1)] == [("2013-11-03", "success")]
    assert sorted(folder.name for folder in (lake / "halves").glob("half=*")) == [
        "half=2013-11-02T12",
        "half=2013-11-03T00",
        "half=2013-11-03T12",
    ]
    (day,) = (lake / "days").glob("day=*")
    (file,) = day.glob("*.parquet")
    table = pq.read_table(file, partitioning=None)
    assert (day.name, table.to_pylist()) == ("day=2013-11-03", [{"sum(seconds)": 25 * 3600}])
    ((extra,),) = airflow.sql(
        "select e.extra from asset_event e join asset a on a.id = e.asset_id where a.name = 'days'"
    )
    counts = json.loads(extra)
    halves = [
        file for name in ("2013-11-03T00", "2013-11-03T12") for file in (lake / "halves" / f"half={name}").glob("*.p*t")
    ]
    assert counts == {
        "rows": 1,
        "files": 1,
        "bytes": file.stat().st_size,
        "reads": {
            "halves": read(2, halves, rows=2),
            "factors": read(2, list((lake / "factors").rglob("*.parquet")), rows=1),
        },
        "application": counts["application"],
        "seconds": counts["seconds"],
    }
    command(airflow, "upkeep")
    (record,) = command(airflow, "records", "days")
    assert (record["key"], record["extra"]) == ("2013-11-03", counts)
    assert [half["extra"]["rows"] for half in command(airflow, "records", "halves")] == [1, 1, 1]


def read(partitions: int, files: list[Path], rows: int) -> dict[str, int]:
    """What is told of an input that was read once, as a whole."""
    size = sum(file.stat().st_size for file in files)
    return {
        "selected": partitions, "partitions": partitions, "files": len(files), "bytes": size, "rows": rows, "scans": 1,
    }  # fmt: skip


def test_a_cleared_succeeded_run_really_runs_its_job_again(airflow: Airflow) -> None:
    records = airflow.home.lake / "_days" / "partitions"

    def record() -> Any:
        return json.loads(max(records.rglob("*.json"), key=lambda file: file.stat().st_mtime_ns).read_text())

    before = record()
    run_id = airflow.runs("days")[0][2]
    airflow.api.post("dags/days/clearTaskInstances", {"dag_run_id": run_id, "dry_run": False, "only_failed": False})
    airflow.wait(lambda: airflow.events("days") == ["2013-11-03"] * 2, "the second event")
    after = record()
    assert before != after
    assert (before["rows"], after["rows"]) == (1, 1)


FROZEN = """
from airflow_partitions.spark.operator import SparkAssetOperator
from airflow_partitions.storage import Parquet
DAYS = PartitionByInterval("@daily", start="2013-01-01", name="day")
NUMBERS = Parquet(str(OUT / "numbers"), partition=DAYS, schema={"n": "bigint"})

def stubbed(name):
    asset = Asset(f"frozen_{name}")
    return SparkAssetOperator(
        task_id=name, asset=asset, outlets=[asset], storage=Parquet(str(OUT / name)).of(DAYS),
        inputs={"numbers": NUMBERS}, freeze=True, application="stub", spark_binary=str(OUT / f"{name}.sh"),
    )

@task
def change(**context):
    from airflow_partitions.storage.commit.commit import Commit
    import pyarrow as pa, pyarrow.parquet as pq
    day = context["partition"].text
    rows = len(NUMBERS.read(day, as_="arrow"))
    with Commit(NUMBERS) as commit:
        pq.write_table(pa.table({"n": list(range(rows + 1))}), commit.stage(day) / "0.parquet")
        commit.put(day, mode="overwrite")

with DAG("frozen", schedule=Partitioned(None, DAYS)):
    stubbed("first") >> change() >> stubbed("second")
"""


def test_k6_tasks_of_a_run_read_what_the_first_one_read_until_all_are_done(airflow: Airflow) -> None:
    """The jobs are stubs that tell how many rows they read; a task between them replaces the partition."""
    numbers, fail = airflow.out / "numbers", airflow.out / "fail"
    (numbers / "day=2013-01-07").mkdir(parents=True)
    pq.write_table(pa.table({"n": [0]}), numbers / "day=2013-01-07" / "0.parquet")
    stub = Path(__file__).parents[1] / "spark" / "stub.py"
    for name, guard in (("first", ""), ("second", f"test ! -e {fail} &&")):
        binary = airflow.out / f"{name}.sh"
        binary.write_text(f'#!/bin/sh\n{guard} exec {sys.executable} {stub} "$@"\n')
        binary.chmod(0o755)
    fail.touch()
    airflow.write("frozen", FROZEN)

    def rows_read() -> dict[str, int]:
        files = {name: next((airflow.out / name).glob("day=*/*.parquet"), None) for name in ("first", "second")}
        return {name: pq.read_table(file, partitioning=None)["read"][0].as_py() for name, file in files.items() if file}

    def clear(**more: bool) -> None:
        count = len(airflow.events("frozen_second"))
        body = {"dag_run_id": airflow.runs("frozen")[0][2], "dry_run": False, "reset_dag_runs": True, **more}
        airflow.api.post("dags/frozen/clearTaskInstances", body)
        airflow.wait(lambda: len(airflow.events("frozen_second")) > count, "the second task")
        airflow.wait(lambda: airflow.keys("frozen") and airflow.runs("frozen")[0][1] == "success", "the run")

    assert airflow.trigger("frozen", "2013-01-07").status_code == 200
    assert airflow.wait_finished("frozen", 1)[0][1] == "failed"
    assert rows_read() == {"first": 1}
    fail.unlink()
    clear(only_failed=True)
    assert rows_read() == {"first": 1, "second": 1}
    assert not list((numbers.with_name(f"_{numbers.name}") / "listings").iterdir())
    clear(only_failed=False)
    assert rows_read() == {"first": 2, "second": 2}
    assert not list((numbers.with_name(f"_{numbers.name}") / "listings").iterdir())
    command(airflow, "upkeep")
    for asset in ("frozen_first", "frozen_second"):  # an operator in a Dag of one's own tells as much as @spark_asset
        (record,) = command(airflow, "records", asset)
        assert (record["extra"]["rows"], record["extra"]["files"]) == (2, 2)
        assert record["extra"]["reads"]["numbers"]["rows"] == 2


def test_a_task_has_the_client_of_spark_connect_before_it_begins(airflow: Airflow) -> None:
    airflow.write(
        "clients",
        """
        import sys

        BEFORE = "pyspark.sql.connect.session" in sys.modules  # when the task reads this file

        with DAG("clients", schedule=None):
            @task
            def tell():
                (OUT / "clients").write_text(str(BEFORE))
            tell()
        """,
    )
    airflow.trigger("clients", None)
    airflow.wait_finished("clients", 1)
    assert (airflow.out / "clients").read_text() == "True"
    loaded = {
        service.name
        for service in airflow.services.members
        if service.process and any("grpc" in part.path for part in service.process.memory_maps())
    }
    assert loaded == {"scheduler"}


@pytest.mark.long
def test_one_submit_makes_a_batch_of_which_each_run_keeps_its_own_outcome(airflow: Airflow) -> None:
    airflow.write(
        "one_submit",
        """
        import os
        from airflow_partitions import spark_asset
        from airflow_partitions.storage import Parquet

        LAKE = os.environ["AIRFLOW_PARTITIONS_LAKE"]
        SMALL = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "1", "spark.driver.memory": "1g"}

        @spark_asset(schedule=None, partition=PartitionByInterval("@hourly", start="2013-01-01"), conf=SMALL, batch=40,
                     storage=Parquet(f"{LAKE}/submitted", partition_on={"hour": "%Y-%m-%dT%H"}))
        def submitted(spark, partition):
            import os
            with open(os.environ["AIRFLOW_PARTITIONS_LAKE"] + "/submitted_by", "a") as file:
                print(partition.text, os.getpid(), file=file)
            if partition.start.hour == 5:
                raise ValueError("not this one")
            return spark.range(partition.start.hour + 1)

        with DAG("one_submit", schedule=None):
            EmptyOperator(task_id="nothing")
        """,
    )
    airflow.wait(lambda: airflow.parsed("submitted"), "the asset")
    command(airflow, "materialize", "submitted", "2013-01-01")
    runs = airflow.wait_finished("submitted", 24)
    assert {key for key, state, _ in runs if state == "failed"} == {"2013-01-01T05:00Z"}
    query = (
        "select e.partition_key, e.source_run_id, e.extra from asset_event e join asset a on a.id = e.asset_id"
        " where a.name = 'submitted' order by 1"
    )
    events = airflow.sql(query)
    assert [(key, run) for key, run, _ in events] == sorted(
        (key, run) for key, state, run in runs if state == "success"
    )
    assert all(json.loads(extra)["rows"] == int(key[11:13]) + 1 for key, _, extra in events)
    calls = [line.split() for line in (airflow.home.lake / "submitted_by").read_text().splitlines()]
    assert len(calls) == 25  # the bad one in the batch, and alone
    assert len({driver for _, driver in calls}) <= 3  # the first run alone, the batch, and the bad one
