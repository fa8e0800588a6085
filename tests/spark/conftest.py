"""A small lake of hourly flights."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import attrs
import pytest

from airflow_partitions import Partition, PartitionByInterval, PartitionByProduct, PartitionBySequence
from airflow_partitions.frames.input import Input
from airflow_partitions.spark.handover import Handover
from airflow_partitions.spark.shipping import Shipped, ship
from airflow_partitions.storage import Parquet
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.stores.open import open_staging

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.spark.submissions import Cluster

HOURLY = PartitionByInterval("@hourly", timezone="America/New_York", start="2013-01-01")
DAILY = PartitionByProduct(
    [
        PartitionByInterval("@daily", timezone="America/New_York", start="2013-01-01", name="date"),
        PartitionBySequence(["EWR", "JFK"], name="airport"),
    ]
)


@attrs.frozen
class Lake:
    """Flights by hour (2 rows each, for 2013-01-01 and 02), and a place for delays by day and airport."""

    root: Path

    @property
    def flights(self) -> Parquet:
        return Parquet(
            str(self.root / "flights"),
            partition=HOURLY,
            partition_on={"hour": "%Y-%m-%dT%H:%M%z"},
            schema={"origin": "string", "delay": "double"},
            ownership="read-only",
        )

    @property
    def delays(self) -> Parquet:
        return Parquet(str(self.root / "delays"), partition_on={"date": "%Y-%m-%d", "airport": "{airport}"}).of(DAILY)

    def fill(self) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        flights = self.flights
        for number, hour in enumerate(HOURLY.keys(end="2013-01-03")):
            folder = Path(flights.path_of(hour))
            folder.mkdir(parents=True)
            pq.write_table(pa.table({"origin": ["EWR", "JFK"], "delay": [1.0 * number, 2.0]}), folder / "0.parquet")

    def handover(self, key: str = "2013-01-02|EWR", *, number: int = 1, **changes: Any) -> Handover:
        partition = Partition(DAILY, key)
        attempt = Attempt("dag", "run", number)
        output = changes.get("output", self.delays)
        fields: dict[str, Any] = {
            "asset": "delays",
            "attempt": attempt,
            "partition": partition,
            "inputs": {"flights": Input.needed_by(partition, "flights", self.flights)},
            "output": output,
            "staging": attrs.evolve(open_staging(output.path, attempt), base=None),  # a driver is not told of it
        }
        return Handover(**{**fields, **changes})

    def rows(self, key: str = "2013-01-02|EWR") -> list[dict[str, Any]]:
        import pyarrow.parquet as pq

        folder = Path(self.delays.path_of(DAILY.parse(key)))
        rows: list[dict[str, Any]] = []
        for file in sorted(folder.glob("*.parquet")):
            rows += pq.read_table(file, partitioning=None).to_pylist()
        return rows


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    own_lake = Lake(tmp_path)
    own_lake.fill()
    return own_lake


@pytest.fixture
def shipped() -> Callable[[Callable[..., Any]], Shipped]:
    return lambda function: ship(function, inputs=["flights"])


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """What is marked as ``warm`` is run by a driver and by Spark Connect, unless it is marked as ``cold``, too."""
    definition = metafunc.definition
    if definition.get_closest_marker("warm") and "spark" in metafunc.fixturenames:
        ways = ["cold"] if definition.get_closest_marker("cold") else ["cold", "warm"]
        metafunc.parametrize("way", ways, indirect=True)


@pytest.fixture
def way(request: pytest.FixtureRequest) -> str:
    """Whether a test is run by a driver, ``cold``, or by Spark Connect, ``warm``."""
    return str(getattr(request, "param", "cold"))


@pytest.fixture
def spark(
    request: pytest.FixtureRequest, way: str, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> Iterator[SparkSession]:
    """The session of all tests, or one of Spark Connect, of this test alone."""
    # The way is no parameter of this fixture: it would be one of the session of all tests, too, made anew for each way.
    if way == "cold":
        yield spark
        return
    from airflow_partitions.spark.connect.access import access_of
    from airflow_partitions.spark.connect.session import connected
    from airflow_partitions.spark.connection import connection_of

    request.getfixturevalue("airflow")
    url = request.getfixturevalue("connect_server")
    address = urlsplit(url)
    connection = {"conn_type": "spark_connect", "host": f"sc://{address.hostname}", "port": address.port}
    monkeypatch.setenv("AIRFLOW_CONN_WARM", json.dumps(connection))
    with connected(access_of(connection_of("warm")), "test", conf={}, strict=False) as session:
        yield session


CONNECTION = '{"conn_type": "spark", "host": "local[2]"}'


class Events(dict[Any, Any]):
    """Stands for ``context["outlet_events"]``."""

    def __missing__(self, asset: Any) -> SimpleNamespace:
        self[asset] = SimpleNamespace(extra={})
        event: SimpleNamespace = self[asset]
        return event


@pytest.fixture
def airflow(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Enough of Airflow to run an operator: a home, a connection."""
    monkeypatch.setenv("AIRFLOW_HOME", str(tmp_path_factory.getbasetemp() / "airflow"))
    monkeypatch.setenv("AIRFLOW__CORE__LOAD_EXAMPLES", "False")
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", CONNECTION)


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    """Keeps what is submitted, and leaves what a driver would."""
    from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook

    from tests.spark.submissions import Cluster

    stub = Cluster()
    monkeypatch.setattr(SparkSubmitHook, "submit", lambda hook, *a, **k: stub.submit(hook, *a, **k))  # noqa: PLW0108
    return stub


_SECRET = {"AWS_ACCESS_KEY_ID": "somebody", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_DEFAULT_REGION": "us-east-1"}


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An S3 store."""
    from moto.server import ThreadedMotoServer
    from s3fs import S3FileSystem

    S3FileSystem.clear_instance_cache()  # they would be asking the store of another test
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    for name, value in {**_SECRET, "AWS_ENDPOINT_URL": f"http://{host}:{port}"}.items():
        monkeypatch.setenv(name, value)
    yield f"http://{host}:{port}"
    server.stop()
