"""A server that refuses, is killed, restarted or away; a task that is killed. Nothing is ever half published."""

from __future__ import annotations

import json
import os
import signal
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from airflow_partitions.core.errors import MissingListenerError, SparkServerError
from airflow_partitions.engine.runs import publication
from airflow_partitions.spark.connect import session
from airflow_partitions.spark.server.connect_server import ConnectServer
from tests.batch_context import batch, endings
from tests.spark.connect.task import task
from tests.spark.operator_task import batched, execute

pytestmark = [
    pytest.mark.spark,
    pytest.mark.usefixtures("airflow"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    # Of the client, when it gives up.
    pytest.mark.filterwarnings("ignore:.*RETRIES_EXCEEDED"),
]

FOLDER = "AIRFLOW_PARTITIONS_TEST_FOLDER"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConnectServer]:
    """A server of this file, since it is killed."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    log = tmp_path_factory.mktemp("server") / "server.log"
    conf = {"spark.sql.broadcastExchange.maxThreadThreshold": "1"}
    with ConnectServer(port=port, token="right", memory="512m", log=log, conf=conf) as running:
        yield running


@pytest.fixture
def without_listener(server: ConnectServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    server.stop()
    with monkeypatch.context() as patched:
        patched.setattr("airflow_partitions.spark.server.connect_server.settings", lambda _: {})
        server.start()
    yield
    server.stop()


@pytest.fixture(autouse=True)
def connection(
    request: pytest.FixtureRequest, server: ConnectServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if server.pid is None and "without_listener" not in request.fixturenames:
        server.start()
    monkeypatch.setenv("AIRFLOW_CONN_WARM", form(server))
    monkeypatch.setenv(FOLDER, str(tmp_path))
    monkeypatch.setattr(session, "RETRIES", 4)


def form(server: ConnectServer, token: str | None = "right") -> str:
    return json.dumps({"conn_type": "spark_connect", "host": "localhost", "port": server.port, "password": token})


def kill(server: ConnectServer) -> None:
    assert server.pid is not None
    os.kill(server.pid, signal.SIGKILL)
    gone(server)


def gone(server: ConnectServer) -> None:
    end = monotonic() + 120
    while server.pid is not None:
        assert monotonic() < end
        sleep(0.01)


def longest(partition: Any, flights: Any) -> Any:
    return flights.where(flights.origin == partition["airport"]).groupBy("origin").max("delay").toDF("origin", "most")


def waits(flights: Any) -> Any:
    """Asks the server once, says so, and waits before it goes on."""
    import os
    import time
    from pathlib import Path

    flights.count()
    folder = Path(os.environ["AIRFLOW_PARTITIONS_TEST_FOLDER"])
    (folder / "reached").touch()
    while not (folder / "go").exists():
        time.sleep(0.05)
    return flights.groupBy("origin").max("delay").where("origin = 'EWR'").toDF("origin", "most")


def computes(flights: Any) -> Any:
    """A query that takes for ever."""
    import os
    from pathlib import Path

    (Path(os.environ["AIRFLOW_PARTITIONS_TEST_FOLDER"]) / "reached").touch()
    return flights.crossJoin(flights.sparkSession.range(10**12)).groupBy("origin").count()


def swells(spark: Any) -> Any:
    return spark.range(1).selectExpr("size(sequence(1L, 400000000L + id)) as n")


def meanwhile(folder: Path, work: Callable[[], Any], act: Callable[[], None], *, again: bool = False) -> Any:
    """What comes of *work* if *act* happens when its function says that it is reached, once or *again* and again."""
    with ThreadPoolExecutor(1) as threads:
        result = threads.submit(work)
        end = monotonic() + 300
        while not (folder / "reached").exists():
            assert monotonic() < end
            assert not result.done(), result.result()
            sleep(0.05)
        act()
        while again and not result.done():
            sleep(0.5)
            act()
        (folder / "go").touch()
        return result.result()


@pytest.mark.parametrize("token", ["wrong", None])
def test_a_wrong_token_is_told(
    lake: Any, server: ConnectServer, monkeypatch: pytest.MonkeyPatch, token: str | None
) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_WARM", form(server, token))
    with pytest.raises(SparkServerError, match=rf"localhost:{server.port} of connection 'warm' refused the token"):
        execute(task(lake, longest), lake)


def test_a_killed_task_ends_its_query_and_publishes_nothing(lake: Any, tmp_path: Path) -> None:
    operator = task(lake, computes)
    with pytest.raises(SparkServerError, match="the job was ended"):
        meanwhile(tmp_path, lambda: execute(operator, lake), operator.on_kill, again=True)
    assert lake.rows() == []
    execute(task(lake, longest), lake, 2)  # which would wait for ever behind a query that goes on
    assert lake.rows() == [{"origin": "EWR", "most": 47.0}]


def test_a_job_that_begins_when_its_query_is_cancelled_is_ended(
    server: ConnectServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark cancels the jobs that there are, and begins the one that waits for the thread that makes broadcasts."""
    monkeypatch.setenv("SPARK_CONNECT_MODE_ENABLED", "1")
    from pyspark.errors import PySparkException
    from pyspark.sql.connect.session import SparkSession
    from pyspark.sql.functions import broadcast

    first, second, third = (SparkSession.builder.remote(server.url).create() for _ in range(3))

    def endless(spark: SparkSession) -> int:
        rows = spark.range(0, 2, 1, 2).where("java_method('java.lang.Thread', 'sleep', 3600000L) = ''")
        return spark.range(1).join(broadcast(rows), "id").count()

    with ThreadPoolExecutor(3) as threads:
        queries = []
        for spark in (first, second):
            queries.append(threads.submit(endless, spark))
            sleep(2)  # the first has the thread, the second waits for it
        for spark, query in zip((second, first), reversed(queries), strict=True):
            spark.interruptAll()
            with pytest.raises(PySparkException, match="OPERATION_CANCELED"):
                query.result(60)
        # All cores are taken otherwise, for ever.
        answer = threads.submit(third.range(7).count)
        try:
            assert answer.result(30) == 7
        except TimeoutError:
            third.interruptAll()
            wait([answer])
            kill(server)
            raise
    for spark in (first, second, third):
        spark.stop()


def test_a_server_that_is_restarted_while_a_job_runs_fails_its_task(
    lake: Any, server: ConnectServer, tmp_path: Path
) -> None:
    def restart() -> None:
        kill(server)
        server.start()

    with pytest.raises(SparkServerError, match="was restarted, or has closed the session, while the job ran"):
        meanwhile(tmp_path, lambda: execute(task(lake, waits), lake), restart)
    assert lake.rows() == []
    execute(task(lake, waits), lake, 2)
    assert lake.rows() == [{"origin": "EWR", "most": 47.0}]


def test_a_server_that_dies_in_a_query_fails_its_task_and_others_until_it_is_there_again(
    lake: Any, server: ConnectServer, tmp_path: Path
) -> None:
    with pytest.raises(SparkServerError, match="does not answer"):
        meanwhile(tmp_path, lambda: execute(task(lake, computes), lake), lambda: kill(server))
    with pytest.raises(SparkServerError, match=r"does not answer; .*nothing was published"):
        execute(task(lake, longest), lake, 2)
    assert lake.rows() == []
    server.start()
    execute(task(lake, longest), lake, 3)
    assert lake.rows() == [{"origin": "EWR", "most": 47.0}]


def test_a_job_that_takes_all_memory_ends_the_server_and_no_more(lake: Any, server: ConnectServer) -> None:
    execute(task(lake, longest), lake)
    with pytest.raises(SparkServerError, match="nothing was published"):
        execute(task(lake, swells), lake, 2)
    gone(server)
    assert lake.rows() == [{"origin": "EWR", "most": 47.0}]


def waits_at_jfk(partition: Any, flights: Any) -> Any:
    import os
    import time
    from pathlib import Path

    folder = Path(os.environ["AIRFLOW_PARTITIONS_TEST_FOLDER"])
    if partition.text == "2013-01-01|JFK":
        flights.count()
        (folder / "reached").touch()
        while not (folder / "go").exists():
            time.sleep(0.05)
    try:
        flights.count()
    except Exception as error:
        raise ValueError("no flights") from error
    return flights.where(flights.origin == partition["airport"]).groupBy("origin").max("delay").toDF("origin", "most")


def test_a_server_that_dies_in_a_batch_is_nobodys_outcome(lake: Any, server: ConnectServer, tmp_path: Path) -> None:
    keys = ["2013-01-01|EWR", "2013-01-01|JFK", "2013-01-02|EWR", "2013-01-02|JFK"]
    made = batched(lake, waits_at_jfk, conn_id="warm")
    run = batch(made, *keys[1:], own=keys[0])
    with pytest.raises(SparkServerError, match="does not answer"):
        meanwhile(tmp_path, lambda: made.task.execute(run), lambda: kill(server))
    assert endings(run) == {}
    assert [lake.rows(key) for key in keys[1:]] == [[], [], []]
    assert lake.rows(keys[0]) == [{"origin": "EWR", "most": 23.0}]  # of the leader itself
    server.start()
    run = batch(made, own=keys[0], cells=run["task_state_store"])
    made.task.execute(run)
    assert endings(run) == dict.fromkeys(keys[1:], "made")
    assert lake.rows(keys[2]) == [{"origin": "EWR", "most": 47.0}]


def test_a_server_that_dies_after_the_job_does_not_matter(
    lake: Any, server: ConnectServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish = publication.publish

    def late(*arguments: Any, **named: Any) -> Any:
        kill(server)
        return publish(*arguments, **named)

    monkeypatch.setattr(publication, "publish", late)
    execute(task(lake, longest), lake)
    assert lake.rows() == [{"origin": "EWR", "most": 47.0}]


@pytest.mark.usefixtures("without_listener")
def test_without_the_listener_reads_are_not_counted_and_strict_is_refused(lake: Any) -> None:
    event = execute(task(lake, longest), lake)
    assert lake.rows() == [{"origin": "EWR", "most": 47.0}]
    assert (event["rows"], event["files"]) == (1, 1)
    reads = event["reads"]["flights"]
    assert (reads["selected"], reads["files"], reads["rows"]) == (24, 0, None)
    assert event["unproven"] == "flights"
    assert event["unseen"] == ["reads: the Spark Connect server has no listener of airflow_partitions"]
    with pytest.raises(MissingListenerError, match=r"settings that `airflow asset-partitions spark-server` prints"):
        execute(task(lake, computes, strict=True), lake, 2)
