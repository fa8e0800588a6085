"""Partitions that others make: waited for in the triggerer, and reported as keyed events, on a real Airflow."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.scheduler.conftest import Airflow

DATABASES = ("sqlite", "postgresql")
pytestmark = pytest.mark.airflow

IMPORTS = """
from airflow_partitions.authoring.arrival import PartitionSensor, watched
from airflow_partitions.storage import Parquet
from airflow_partitions.storage.consumers.ready import Ready
HOURS = PartitionByInterval("@hourly", name="hour", start="2013-01-01")
LANDED = Parquet(str(OUT / "{folder}"), partition=HOURS, partition_on={{"hour": "%Y-%m-%dT%H"}}, ownership="read-only")
DONE = Ready(success_file="_SUCCESS")
"""


def land(folder: Path, *hours: int, day: str = "2013-02-08", done: bool = True) -> None:
    for hour in hours:
        partition = folder / f"hour={day}T{hour:02}"
        partition.mkdir(parents=True, exist_ok=True)
        (partition / "part-0.parquet").write_bytes(b"x")
        if done:
            (partition / "_SUCCESS").touch()


def test_a_sensor_waits_in_the_triggerer_for_what_its_partition_needs(airflow: Airflow) -> None:
    folder = airflow.out / "sensed"
    land(folder, *range(23))
    land(folder, 23, done=False)
    airflow.write(
        "arrival_sensor",
        IMPORTS.format(folder="sensed")
        + """
with DAG("arrival_sensor", schedule=Partitioned(None, PartitionByInterval("@daily", start="2013-01-01"))):
    PartitionSensor(task_id="hours", files=LANDED, ready=DONE, poke_interval=10, timeout=600)
    PartitionSensor(task_id="one", files=LANDED, keys="{{ partition }}T05:00Z", poke_interval=1, timeout=600)
with DAG("arrival_timeout", schedule=Partitioned(None, PartitionByInterval("@daily", start="2013-01-01"))):
    PartitionSensor(task_id="hours", files=LANDED, ready=DONE, poke_interval=1, timeout=3)
""",
    )
    assert airflow.trigger("arrival_sensor", "2013-02-08").status_code == 200

    def states() -> dict[str, str]:
        return dict(airflow.sql("select task_id, state from task_instance where dag_id = 'arrival_sensor'"))

    airflow.wait(lambda: states() == {"hours": "deferred", "one": "success"}, "the sensor deferred")
    land(folder, 23)
    assert airflow.wait_finished("arrival_sensor", 1)[0][:2] == ("2013-02-08", "success")
    airflow.wait(lambda: airflow.parsed("arrival_timeout"), "the other Dag")
    assert airflow.trigger("arrival_timeout", "2013-02-09").status_code == 200
    assert airflow.wait_finished("arrival_timeout", 1)[0][:2] == ("2013-02-09", "failed")


def test_a_watched_asset_has_a_keyed_event_for_every_arrival_once(airflow: Airflow) -> None:
    folder = airflow.out / "watched"
    folder.mkdir()
    airflow.write(
        "landed",
        IMPORTS.format(folder="watched")
        + """
landed = watched(
    "landed", LANDED, ready=DONE, state=str(OUT / "state"), poke_interval=dt.timedelta(seconds=1), limit=20
)
with DAG("arrived_days", schedule=Partitioned(landed, PartitionByInterval("@daily", start="2013-01-01"))):
    EmptyOperator(task_id="nothing")
with DAG("arrived_hours", schedule=Partitioned(landed, HOURS), max_active_runs=50):
    EmptyOperator(task_id="nothing")
""",
    )
    airflow.wait(lambda: airflow.parsed("arrived_hours") and airflow.parsed("arrived_days"), "the consumers")
    land(folder, *range(23))
    land(folder, 23, done=False)
    airflow.wait(lambda: len(airflow.events("landed")) >= 23, "the first 23 hours")
    time.sleep(5)  # the last is not complete: nothing may come of it
    assert sorted(airflow.events("landed")) == [f"2013-02-08T{hour:02}:00Z" for hour in range(23)]
    assert airflow.keys("arrived_days") == []
    land(folder, 23)
    assert airflow.wait_finished("arrived_days", 1)[0][:2] == ("2013-02-08", "success")
    airflow.wait_finished("arrived_hours", 24)
    assert sorted(airflow.events("landed")) == [f"2013-02-08T{hour:02}:00Z" for hour in range(24)]
    assert sorted(airflow.keys("arrived_hours")) == sorted(airflow.events("landed"))
    airflow.wait(lambda: {state for _, state, _ in airflow.runs("landed")} == {"success"}, "all reports confirmed")
    assert not [path for path in folder.rglob("_*") if path.name != "_SUCCESS"]  # it is external


def test_the_triggerer_reaches_s3_by_a_connection(airflow: Airflow) -> None:
    import s3fs
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    endpoint = {"endpoint_url": f"http://{host}:{port}"}
    store = s3fs.S3FileSystem(key="x", secret="x", client_kwargs=endpoint)
    store.mkdir("lake")
    airflow.api.post(
        "connections",
        {
            "connection_id": "lake",
            "conn_type": "aws",
            "login": "somebody",
            "password": "quite-a-secret",
            "extra": json.dumps({"region_name": "us-east-1", **endpoint}),
        },
    )
    airflow.write(
        "arrival_s3",
        """
from airflow_partitions.authoring.arrival import PartitionSensor, watched
from airflow_partitions.storage import Parquet
DAYS = PartitionByInterval("@daily", name="day", start="2013-01-01")
LANDED = Parquet("s3://lake/landed", partition=DAYS, ownership="read-only", conn_id="lake")
watched("landed_s3", LANDED, state="s3://lake/state", poke_interval=dt.timedelta(seconds=1))
with DAG("arrival_s3", schedule=Partitioned(None, DAYS)):
    # A trigger may fire before the executor's word of the deferral is heard, and the try fails then: it is tried again.
    PartitionSensor(
        task_id="day", files=LANDED, poke_interval=1, timeout=600, retries=2, retry_delay=dt.timedelta(seconds=1)
    )
""",
    )
    assert airflow.trigger("arrival_s3", "2013-02-08").status_code == 200
    state = "select state from task_instance where dag_id = 'arrival_s3'"
    airflow.wait(lambda: airflow.sql(state) == [("deferred",)], "the sensor deferred")
    store.pipe("lake/landed/day=2013-02-08/part-0.parquet", b"x")
    assert airflow.wait_finished("arrival_s3", 1)[0][:2] == ("2013-02-08", "success")
    airflow.wait(lambda: airflow.events("landed_s3") == ["2013-02-08"], "the watcher's event")
    airflow.wait(lambda: [state for _, state, _ in airflow.runs("landed_s3")] == ["success"], "the report confirmed")
    for table, column in (("serialized_dag", "data"), ("trigger", "kwargs")):
        assert not [row for row in airflow.sql(f"select {column} from {table}") if "quite-a-secret" in str(row)]
    logs = "".join(file.read_text(errors="replace") for file in (airflow.home.root / "logs").rglob("*.log"))
    assert logs
    assert "quite-a-secret" not in logs
    server.stop()
