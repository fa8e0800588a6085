"""The operator with a connection to a running server: what a task does, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import attrs
import pytest

from airflow_partitions.core.errors import (
    CheckError,
    InvalidDefinitionError,
    ResultError,
    SparkServerError,
    UnpromisedReadError,
)
from airflow_partitions.storage import Iceberg
from tests.spark.connect.task import task
from tests.spark.operator_task import context, execute

pytestmark = [
    pytest.mark.spark,
    pytest.mark.usefixtures("airflow"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    # Of the client, when it gives up.
    pytest.mark.filterwarnings("ignore:.*RETRIES_EXCEEDED"),
]


@pytest.fixture(autouse=True)
def connection(connect_server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    address = urlsplit(connect_server)
    form = {"conn_type": "spark_connect", "host": f"sc://{address.hostname}", "port": address.port}
    monkeypatch.setenv("AIRFLOW_CONN_WARM", json.dumps(form))


def longest(partition: Any, flights: Any) -> Any:
    return flights.where(flights.origin == partition["airport"]).groupBy("origin").max("delay").toDF("origin", "most")


def test_a_connection_of_type_spark_connect_runs_the_job_in_the_task(lake: Any) -> None:
    event = execute(task(lake, longest, strict=True), lake)
    assert lake.rows() == [{"origin": "EWR", "most": 47.0}]
    assert (event["rows"], event["files"]) == (1, 1)
    reads = event["reads"]["flights"]
    assert (reads["selected"], reads["partitions"], reads["files"], reads["rows"]) == (24, 24, 24, 48)
    assert event["application"].startswith(("local-", "app-"))
    assert "unseen" not in event


def test_spark_is_told_what_can_be_told_per_session(lake: Any) -> None:
    execute(task(lake, told, conf={"spark.sql.shuffle.partitions": "3"}), lake)
    assert lake.rows() == [{"name": "3 UTC"}]
    with pytest.raises(InvalidDefinitionError, match=r"conf spark\.executor\.memory=1g can't be set"):
        execute(task(lake, told, conf={"spark.executor.memory": "1g"}), lake, 2)


def all_at_once(partitions: Any, flights: Any) -> Any:
    from pyspark.sql import functions as f

    keys = [each.text for each in partitions]
    keyed = flights.withColumn("date", f.substring("hour", 1, 10)).withColumnRenamed("origin", "airport")
    mine = keyed.where(f.concat_ws("|", "date", "airport").isin(keys))
    mine = mine.where("date = '2013-01-01' or airport = 'EWR'")
    return mine.groupBy("date", "airport").agg(f.max("delay").alias("most"), f.count("*").alias("flights"))


def test_one_job_makes_all_partitions_of_a_batch(lake: Any) -> None:
    operator = task(lake, all_at_once, strict=True)
    keys = ["2013-01-01|EWR", "2013-01-01|JFK", "2013-01-02|EWR", "2013-01-02|JFK"]
    contexts = [context(lake, key=key, run_id=f"run {key}") for key in keys]
    for each in contexts:
        each["ti"].task_id = "delays"
    assert operator.make_together(operator.engine_of_run(contexts[0]), contexts) == {}
    stored = {str(each.key): each for each in operator.storage.list()}
    assert stored.keys() == set(keys)
    assert {each.content.metadata.attempt.run_id for each in stored.values()} == {f"run {key}" for key in keys}
    assert len({each.content.metadata.commit for each in stored.values()}) == 1
    assert [each["outlet_events"][operator.asset].extra["rows"] for each in contexts] == [1, 1, 1, 0]  # none is empty
    assert {each["outlet_events"][operator.asset].extra["batch"] for each in contexts} == {4}
    assert lake.rows("2013-01-02|EWR") == [{"most": 47.0, "flights": 24}]


def plausible(rows: Any) -> Any:
    return rows.where("most > 40")


FAILING = {"date": "2013-01-02", "airport": "EWR", "most": 47.0, "flights": 24}
SOME = ["2013-01-01|EWR", "2013-01-01|JFK", "2013-01-02|EWR", "2013-01-02|JFK"]


def made_together(operator: Any, lake: Any) -> tuple[list[Any], dict[str, str]]:
    """The contexts of several runs whose partitions one job has made, and what failed, by key."""
    contexts = [context(lake, key=key, run_id=f"run {key}") for key in SOME]
    for each in contexts:
        each["ti"].task_id = "delays"
        each["ti"].xcom_push = lambda *words: None
    errors = operator.make_together(operator.engine_of_run(contexts[0]), contexts)
    return contexts, {SOME[place]: str(error) for place, error in errors.items()}


@pytest.mark.parametrize("table", [False, True], ids=["files", "table"])
def test_a_check_over_spark_looks_at_each_of_a_batch(lake: Any, tmp_path: Path, table: bool) -> None:
    storage = lake.delays
    if table:
        catalog = {"type": "sql", "uri": f"sqlite:///{tmp_path}/c.db", "warehouse": str(tmp_path / "warehouse")}
        columns = {"date": "string", "airport": "string", "most": "double", "flights": "bigint"}
        storage = Iceberg("db.delays", credentials=catalog, schema=columns, create=True).of(lake.delays.partition)
    operator = task(lake, all_at_once, strict=True, storage=storage, checks=[plausible])
    contexts, errors = made_together(operator, lake)
    assert errors.keys() == {"2013-01-02|EWR"}
    assert "plausible: 1 failing row; expected no failing rows; such as {" in errors["2013-01-02|EWR"]
    assert all(f"'{name}': {value!r}" in errors["2013-01-02|EWR"] for name, value in FAILING.items())
    rows = {"2013-01-01|EWR": 1, "2013-01-01|JFK": 1, "2013-01-02|JFK": 0}
    assert {str(each.key): each.rows for each in operator.storage.list()} == rows
    event = contexts[0]["outlet_events"][operator.asset].extra
    assert [(check["name"], check["passed"]) for check in event["checks"]] == [("plausible", True)]


def by_table(partitions: Any, flights: Any) -> Any:
    from pyspark.sql import functions as f

    keys = [each.text for each in partitions]
    keyed = flights.withColumn("date", f.substring("hour", 1, 10)).withColumnRenamed("origin", "airport")
    mine = keyed.where(f.concat_ws("|", "date", "airport").isin(keys))
    most = mine.where("airport = 'EWR'").groupBy("date", "airport").agg(f.max("delay").alias("most"))
    return {"most": most, "counts": mine.groupBy("date", "airport").agg(f.count("*").alias("flights"))}


def test_tables_of_all_partitions_of_a_batch(lake: Any) -> None:
    storage = attrs.evolve(lake.delays, tables=["most", "counts"])
    operator = task(lake, by_table, strict=True, storage=storage)
    contexts, errors = made_together(operator, lake)
    assert not errors
    assert [each["outlet_events"][operator.asset].extra["rows"] for each in contexts] == [2, 1, 2, 1]
    for key, most in zip(SOME, ([23.0], [], [47.0], []), strict=True):
        assert storage.table("most").read(key, as_="arrow")["most"].to_pylist() == most
        assert storage.table("counts").read(key, as_="arrow")["flights"].to_pylist() == [24]
    assert len({each.content.metadata.commit for each in storage.list()}) == 1


def test_a_check_over_spark_is_made_on_the_server(lake: Any) -> None:
    with pytest.raises(CheckError, match=r"plausible: 1 failing row; .*'most': 47"):
        execute(task(lake, longest, checks=[plausible], strict=True), lake)
    assert lake.rows() == []


def told(spark: Any) -> Any:
    text = f"{spark.conf.get('spark.sql.shuffle.partitions')} {spark.conf.get('spark.sql.session.timeZone')}"
    return spark.createDataFrame([(text,)], "name string")


@pytest.mark.parametrize("arguments", [{"py_files": "more.py"}, {"driver_memory": "1g"}, {"packages": "a:b:1"}])
def test_what_belongs_to_submitting_is_refused_with_the_reason(lake: Any, arguments: dict[str, Any]) -> None:
    (name,) = arguments
    with pytest.raises(InvalidDefinitionError, match=f"{name} belongs to spark-submit, and connection 'warm'"):
        execute(task(lake, longest, **arguments), lake)


def test_a_program_needs_a_driver(lake: Any, tmp_path: Path) -> None:
    with pytest.raises(InvalidDefinitionError, match="'delays' is a program of its own, which needs a driver"):
        execute(task(lake, None, application=str(tmp_path / "program.py")), lake)


def by_the_driver(spark: Any) -> Any:
    return spark.sparkContext.parallelize([(1,)]).toDF(["n"])


def by_rdd(flights: Any) -> Any:
    return flights.rdd.toDF()


@pytest.mark.parametrize("function", [by_the_driver, by_rdd])
def test_a_function_that_needs_a_driver_is_told(lake: Any, function: Callable[..., Any]) -> None:
    with pytest.raises(ResultError, match=r"asks for what only a driver of its own has: .* connection of type spark"):
        execute(task(lake, function), lake)
    assert lake.rows() == []


def reads_the_root(spark: Any, flights: Any) -> Any:
    return spark.read.parquet(flights.inputFiles()[0].rsplit("/", 2)[0]).drop("hour")


def test_strict_refuses_before_anything_runs(lake: Any) -> None:
    with pytest.raises(UnpromisedReadError, match=r"hour=2013-01-01T\d\d%3A00-0500; promised: .*strict=False"):
        execute(task(lake, reads_the_root, strict=True), lake)
    assert lake.rows() == []


def copies(spark: Any, flights: Any) -> Any:
    spark.cloneSession()
    return flights.select("delay")


def test_a_copy_of_the_session_is_refused_or_told(lake: Any) -> None:
    with pytest.raises(UnpromisedReadError, match="asked for a copy of the session, which is not counted"):
        execute(task(lake, copies, strict=True), lake)
    assert execute(task(lake, copies), lake, 2)["unwatched"] == ["a copy of the session, which is not counted"]


def with_code(spark: Any, flights: Any) -> Any:
    from pyspark.sql.functions import udf

    own = spark.createDataFrame([(1.0,)], "factor double")
    return flights.crossJoin(own).select(udf(lambda delay: delay, "double")("delay").alias("delay"))


def test_code_that_was_sent_along_is_named(lake: Any) -> None:
    event = execute(task(lake, with_code, strict=True), lake)
    assert event["unwatched"] == [
        "a Python function of the job, called for rows",
        "rows of the job's own (createDataFrame)",
    ]
    assert event["reads"]["flights"]["rows"] == 48


def caches(flights: Any) -> Any:
    flights.cache().count()
    return flights.groupBy("origin").max("delay").where("origin = 'EWR'").toDF("origin", "most")


def test_rows_that_another_session_has_cached_are_not_taken(lake: Any) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    execute(task(lake, caches), lake)
    assert lake.rows() == [{"origin": "EWR", "most": 47.0}]
    for folder in Path(lake.flights.path).iterdir():
        pq.write_table(pa.table({"origin": ["EWR"], "delay": [100.0]}), folder / "0.parquet")
    execute(task(lake, caches), lake, 2)
    assert lake.rows() == [{"origin": "EWR", "most": 100.0}]


def test_a_port_that_speaks_no_connect_is_told(lake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as silent:
        form = {"conn_type": "spark_connect", "host": "sc://localhost", "port": silent.getsockname()[1]}
        silent.close()
        monkeypatch.setenv("AIRFLOW_CONN_WARM", json.dumps(form))
        monkeypatch.setattr("airflow_partitions.spark.connect.session.RETRIES", 1)
        with pytest.raises(SparkServerError, match="does not answer; expected one that speaks Spark Connect there"):
            execute(task(lake, longest), lake)


def test_a_server_of_an_older_spark_is_refused(lake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyspark.__version__", "9.0.0")
    with pytest.raises(SparkServerError, match=r"server runs Spark .*, and its client here is 9\.0\.0; expected"):
        execute(task(lake, longest), lake)
