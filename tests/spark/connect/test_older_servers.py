"""A server of Spark 3.5, by a Python with a client of it: ours would leave out what the server does not know."""

from __future__ import annotations

import json
import time
import venv
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from airflow.sdk import Asset

from airflow_partitions.core.errors import (
    CheckError,
    InvalidDefinitionError,
    JobError,
    MissingListenerError,
    ResultError,
    SparkServerError,
)
from airflow_partitions.spark.connect.client_driver import UNWATCHED
from airflow_partitions.spark.proof.connect import NO_LISTENER
from tests.spark.connect.older_server import older_server
from tests.spark.connect.proxy import CLUSTER, proxied
from tests.spark.connect.task import task
from tests.spark.connect.test_operator import all_at_once, made_together, plausible
from tests.spark.operator_task import execute
from tests.spark.other_sparks import OtherSpark

pytestmark = [
    pytest.mark.long,  # a Spark of 300 MB is fetched
    pytest.mark.spark,
    pytest.mark.usefixtures("airflow"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

#: What a function below gives.
_token: dict[str, Callable[[], str]] = {}


def token() -> str:
    return _token["of the proxy"]()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with older_server("3.5", tmp_path_factory.mktemp("older") / "server.log") as address:
        yield address


@pytest.fixture(scope="module")
def python() -> str:
    """The one with a client of Spark 3.5."""
    return str(OtherSpark.of("3.5").with_client().python)


@pytest.fixture
def connect(server: str, python: str, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Set the connection."""

    def to(address: str = server, **extra: Any) -> None:
        host, _, port = address.partition(":")
        form = {"conn_type": "spark_connect", "host": host, "port": int(port), "extra": extra}
        monkeypatch.setenv("AIRFLOW_CONN_WARM", json.dumps(form))

    to(python=python)
    return to


def longest(spark: Any, partition: Any, flights: Any) -> Any:
    assert spark.version.startswith("3.5.")
    here = flights.withColumnRenamed("origin", "airport").where(f"airport = '{partition['airport']}'")
    here.createOrReplaceTempView("here")
    return spark.sql("SELECT airport AS origin, max(delay) AS most FROM here GROUP BY airport")


def test_a_partition_is_made_and_nobody_has_counted(lake: Any, connect: Any) -> None:
    event = execute(task(lake, longest), lake)
    assert lake.rows() == [{"origin": "EWR", "most": 47.0}]
    assert event["unproven"] == "flights"
    assert (event["rows"], event["reads"]["flights"]["selected"], event["reads"]["flights"]["rows"]) == (1, 24, None)
    assert (event["unseen"], event["unwatched"]) == ([NO_LISTENER], [UNWATCHED])


def test_the_client_of_this_environment_is_refused(lake: Any, connect: Any) -> None:
    connect()
    with pytest.raises(SparkServerError, match=r"runs Spark 3\.5\.9, and its client.*a Python with pyspark 3\.5$"):
        execute(task(lake, longest), lake)
    assert lake.rows() == []


def test_a_strict_job_is_refused_before_anything_starts(lake: Any, connect: Any) -> None:
    connect("127.0.0.1:1", python="/no/such/python")
    with pytest.raises(MissingListenerError, match=r"can't use the client of another Python.*expected strict=False"):
        execute(task(lake, longest, strict=True), lake)


def test_headers_and_a_token_go_along(lake: Any, server: str, python: str, connect: Any) -> None:
    with proxied(server, header="x-aws-proxy-auth", period=3_600) as proxy:
        _token["of the proxy"] = proxy.token
        own = {"headers": dict([CLUSTER]), "token_function": f"{__name__}.token", "token_header": "x-aws-proxy-auth"}
        connect(f"127.0.0.1:{proxy.port}", python=python, **own)
        execute(task(lake, longest), lake)
        assert proxy.refused == 0
        assert len(proxy.calls) > 2
    assert lake.rows() == [{"origin": "EWR", "most": 47.0}]


def raises(flights: Any) -> Any:
    if flights.count():
        raise LookupError("no such airport")
    return flights


def test_what_the_function_raises_is_raised(lake: Any, connect: Any) -> None:
    with pytest.raises(JobError, match="LookupError: no such airport"):
        execute(task(lake, raises), lake)
    assert lake.rows() == []


def test_a_server_that_is_away_and_a_python_that_is_none_are_told(lake: Any, python: str, connect: Any) -> None:
    connect(python="/no/such/python")
    with pytest.raises(InvalidDefinitionError, match=r"python '/no/such/python' in its extra can't be run here"):
        execute(task(lake, longest), lake)
    connect(python="/bin/false")
    with pytest.raises(SparkServerError, match=r"the process of /bin/false.*ended with 1 and without a word of why"):
        execute(task(lake, longest), lake, 2)
    connect("127.0.0.1:1", python=python)
    with pytest.raises(SparkServerError, match=r"server 127\.0\.0\.1:1 of connection 'warm' does not answer"):
        execute(task(lake, longest), lake, 3)


def test_a_python_without_a_client_is_told(lake: Any, connect: Any, tmp_path: Path) -> None:
    venv.create(tmp_path / "bare", symlinks=True)
    connect(python=str(tmp_path / "bare" / "bin" / "python"))
    with pytest.raises(
        ResultError, match=r"the Python of connection 'warm', .* has no module .*'pyspark\[connect\]==…'"
    ):
        execute(task(lake, longest), lake)


def lingers(spark: Any, flights: Any) -> Any:
    spark.range(10**13).selectExpr("max(hash(id))").collect()
    return flights


def test_a_task_that_is_killed_ends_its_job(lake: Any, connect: Any) -> None:
    operator = task(lake, lingers)

    def end() -> None:
        time.sleep(8)
        operator.on_kill()

    ending = Thread(target=end)
    ending.start()
    with pytest.raises(JobError, match="SystemExit: ended by signal 15"):
        execute(operator, lake)
    ending.join()
    assert lake.rows() == []
    execute(task(lake, longest), lake, 2)  # the server has its cores again
    assert lake.rows() == [{"origin": "EWR", "most": 47.0}]


def test_a_check_is_made_there(lake: Any, connect: Any) -> None:
    with pytest.raises(CheckError, match=r"plausible: 1 failing row; .*'most': 47"):
        execute(task(lake, longest, checks=[plausible]), lake)
    assert lake.rows() == []


def test_many_partitions_are_made_by_one_call(lake: Any, connect: Any) -> None:
    contexts, errors = made_together(task(lake, all_at_once, checks=[plausible]), lake)
    assert errors.keys() == {"2013-01-02|EWR"}
    rows = {"2013-01-01|EWR": 1, "2013-01-01|JFK": 1, "2013-01-02|JFK": 0}
    assert {str(each.key): each.rows for each in lake.delays.list()} == rows
    assert contexts[0]["outlet_events"][Asset("delays")].extra["unproven"] == "flights"
