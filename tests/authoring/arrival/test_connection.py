"""Datasets on an S3 store that is reached by a connection of Airflow alone."""

from __future__ import annotations

import asyncio
import json
import logging
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from airflow_partitions import PartitionByInterval, Selection
from airflow_partitions.authoring.arrival import ArrivalTrigger, PartitionSensor, PartitionTrigger, watched
from airflow_partitions.authoring.arrival.arrivals import Arrivals
from airflow_partitions.core.errors import InvalidDefinitionError, StorageError
from airflow_partitions.storage import Files, Parquet
from airflow_partitions.storage.consumers.ready import Ready
from airflow_partitions.storage.filesystem.filesystem import at

pytestmark = [
    # Airflow's own, when its providers are imported.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

SECRET = "quite-a-secret"
HOURS = PartitionByInterval("@hourly", name="hour", start="2013-01-01")
DAG_FILE = """
from airflow.sdk import DAG
from airflow_partitions import PartitionByInterval, Partitioned
from airflow_partitions.authoring.arrival import PartitionSensor, watched
from airflow_partitions.storage import Parquet
HOURS = PartitionByInterval("@hourly", name="hour", start="2013-01-01")
LANDING = Parquet("s3://reached/landing", partition=HOURS, conn_id="{name}")
landed = watched("landed", LANDING)
with DAG("days", schedule=Partitioned(landed, PartitionByInterval("@daily", start="2013-01-01"))):
    PartitionSensor(task_id="wait", files=LANDING)
"""


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """An S3 store that only the connection leads to."""
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def conn_id(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> str:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT_URL", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    name = f"lake_{uuid.uuid4().hex}"
    form = {
        "conn_type": "aws",
        "login": "somebody",
        "password": SECRET,
        "extra": {"endpoint_url": endpoint, "region_name": "us-east-1"},
    }
    monkeypatch.setenv(f"AIRFLOW_CONN_{name.upper()}", json.dumps(form))
    at("s3://reached", {"conn_id": name}).mkdir(exist_ok=True)
    return name


@pytest.fixture
def files(conn_id: str) -> Parquet:
    return Parquet(f"s3://reached/{uuid.uuid4().hex}", partition=HOURS, ownership="read-only", conn_id=conn_id)


def land(files: Parquet, *hours: int) -> None:
    for hour in hours:
        place = at(files.path_of(HOURS.parse(f"2013-02-08T{hour:02}:00Z")), dict(files.credentials))
        (place / "part-0.parquet").write_bytes(b"x")
        (place / "_SUCCESS").write_bytes(b"")


def rebuilt(trigger: Any) -> Any:
    """As the triggerer makes it from the database, which is told no secret."""
    _, kwargs = trigger.serialize()
    text = json.dumps(kwargs)
    assert SECRET not in text
    return type(trigger)(**json.loads(text))


def test_a_sensor_and_its_trigger_look_where_the_connection_leads(files: Parquet) -> None:
    ready = Ready(success_file="_SUCCESS")
    sensor = PartitionSensor(task_id="wait", files=files, keys="2013-02-08T05:00Z", ready=ready)
    assert not sensor.poke({})
    land(files, 5)
    assert sensor.poke({})
    selection = Selection.of(HOURS, "2013-02-08T05:00Z")
    trigger = rebuilt(PartitionTrigger(files.to_json(), selection.to_json(), ready.to_json(), 0.05))
    assert asyncio.run(anext(trigger.run())).payload == {"partitions": 1}


def test_a_watcher_keeps_its_state_there_too(files: Parquet) -> None:
    arrivals = Arrivals(files, "test", Ready(), f"{files.path}-state")
    land(files, 1, 2)
    trigger = rebuilt(ArrivalTrigger(arrivals.to_json(), 0.05))
    assert asyncio.run(anext(trigger.run())).payload["partitions"] == 2
    batch = arrivals.consumer().take()
    assert batch.keys == ["2013-02-08T01:00Z", "2013-02-08T02:00Z"]
    batch.confirm()
    assert not Arrivals.from_json(json.loads(json.dumps(arrivals.to_json()))).consumer().take()
    assert SECRET not in repr(arrivals)


def test_nothing_secret_is_in_a_serialized_dag_or_a_repr(conn_id: str, tmp_path: Path) -> None:
    from airflow.dag_processing.dagbag import DagBag
    from airflow.serialization.serialized_objects import DagSerialization

    (tmp_path / "case.py").write_text(DAG_FILE.format(name=conn_id))
    bag = DagBag(str(tmp_path))
    assert bag.import_errors == {}
    for dag in bag.dags.values():
        form = json.dumps(DagSerialization.to_dict(dag))
        assert SECRET not in form
        assert "somebody" not in form
    files = bag.dags["days"].task_dict["wait"].files
    assert files.conn_id == conn_id
    assert SECRET not in repr(files)


def test_what_a_driver_gets_names_no_connection(conn_id: str) -> None:
    from airflow_partitions.frames.input import Input

    files = Parquet("s3://reached/landing", partition=HOURS, conn_id=conn_id)
    form = Input("landing", files, Selection.of(HOURS, "2013-02-08T05:00Z")).to_json()
    assert conn_id not in json.dumps(form)


def test_connections_that_are_not_there(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StorageError, match="there is no connection 'nowhere'; expected one for s3://"):
        Parquet("s3://reached/landing", partition=HOURS, conn_id="nowhere").exists("2013-02-08T05:00Z")
    monkeypatch.setenv("AIRFLOW_CONN_ODD", '{"conn_type": "aws"}')
    with pytest.raises(StorageError, match="gives no file system for memory://"):
        at("memory://lake", {"conn_id": "odd"})


def test_credentials_or_a_connection() -> None:
    with pytest.raises(InvalidDefinitionError, match="not both"):
        Parquet("s3://reached/landing", conn_id="lake", credentials={"key": "x"})
    files = Parquet("s3://reached/landing", partition=HOURS, conn_id="lake")
    assert Files.from_json(files.to_json()) == files
    assert Files.from_json(files.to_json(), {"key": "x"}).conn_id is None
    assert Parquet("/lake", partition=HOURS, conn_id="unused").path == "/lake"  # a local one needs none
    assert PartitionSensor(task_id="wait", files=files).deferrable
    assert watched("connected", files)
