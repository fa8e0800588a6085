"""The whole way, with a real spark-submit."""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any

import pyspark
import pytest
from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook

from airflow_partitions import Partition, PartitionByProduct, PartitionBySequence
from airflow_partitions.core.errors import SparkServerError, UnpromisedReadError
from airflow_partitions.spark.shipping import ship
from airflow_partitions.storage import Parquet
from tests.batch_context import batch, endings, outcomes
from tests.spark.operator_task import batched, execute, task

pytestmark = [
    pytest.mark.spark,
    pytest.mark.usefixtures("airflow"),
    # Airflow's own, when its providers are imported.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


def run(lake: Any, partition: Partition, number: int = 1, **changes: Any) -> dict[str, Any]:
    """One try of a task that is really submitted; what its event says."""
    arguments = {"function": None, "conf": {"spark.ui.enabled": "false"}, **changes}
    return execute(task(lake, **arguments), lake, number, partition=partition)


def counted(partition: Any, flights: Any) -> Any:
    return flights.where("origin = 'JFK'").selectExpr("count(*) as n", f"'{partition['customer']}' as customer")


def test_a_function_with_a_large_handover(lake: Any) -> None:
    names = [f"customer-{number:032d}" for number in range(1500)]
    definition = PartitionByProduct([lake.delays.partition.time, PartitionBySequence(names, name="customer")])
    storage = Parquet(str(lake.root / "customers"), partition_on={"date": "%Y-%m-%d", "customer": "{customer}"}).of(
        definition
    )
    partition = Partition(definition, f"2013-01-02|{names[7]}")
    extra = run(lake, partition, storage=storage, function=ship(counted, inputs=["flights"]), strict=True)
    assert (extra["rows"], extra["files"]) == (1, 1)
    assert extra["reads"]["flights"]["files"] == 24
    (file,) = Path(storage.path_of(partition.wrapped)).glob("*.parquet")
    import pyarrow.parquet as pq

    assert pq.read_table(file, partitioning=None).to_pylist() == [{"n": 24}]


def test_a_program_of_the_author(lake: Any) -> None:
    program = str(Path(__file__).with_name("program.py"))
    extra = run(lake, Partition(lake.delays.partition, "2013-01-02|JFK"), application=program)
    assert extra["rows"] == 1
    assert lake.rows("2013-01-02|JFK") == [{"origin": "JFK", "count": 24}]


def greedy(spark: Any, flights: Any) -> Any:
    return spark.read.parquet(flights.inputFiles()[0].rsplit("/", 2)[0]).drop("hour")


def test_a_named_error_comes_back_from_the_driver(lake: Any) -> None:
    with pytest.raises(UnpromisedReadError, match="24 places it was not promised"):
        run(
            lake,
            Partition(lake.delays.partition, "2013-01-02|EWR"),
            function=ship(greedy, inputs=["flights"]),
            strict=True,
        )
    assert lake.rows() == []


def settings(spark: Any) -> Any:
    import pyspark

    conf = spark.sparkContext.getConf()
    names = ("spark.sql.session.timeZone", "spark.ui.enabled", "spark.log.level", "spark.from")
    values = (*(conf.get(name) for name in names), pyspark.__file__)
    return spark.createDataFrame([values], ["zone", "pages", "log", "source", "python"])


def test_settings_of_the_user_are_stronger_than_our_defaults(
    lake: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = ["spark.sql.session.timeZone Asia/Tokyo", "spark.log.level INFO", "spark.from defaults"]
    (tmp_path / "spark-defaults.conf").write_text("\n".join(lines))
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    extra = {"conf": {"spark.log.level": "ERROR", "spark.from": "connection"}}
    connection = {"conn_type": "spark", "host": "local[1]", "extra": extra}
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps(connection))
    partition = Partition(lake.delays.partition, "2013-01-02|EWR")
    run(lake, partition, inputs={}, function=ship(settings), conf={"spark.from": "asset"})
    (row,) = lake.rows()
    # Of this environment, compiled already, and not from the zip that spark-submit puts first.
    assert row.pop("python") == pyspark.__file__
    assert row == {"zone": "Asia/Tokyo", "pages": "false", "log": "ERROR", "source": "asset"}


def session_zone(spark: Any) -> Any:
    return spark.createDataFrame([(spark.conf.get("spark.sql.session.timeZone"),)], ["zone"])


def test_a_job_is_in_utc_where_spark_submit_drops_our_defaults(lake: Any, tmp_path: Path) -> None:
    wrapper = tmp_path / "spark-submit"
    program = Path(sys.executable).with_name("spark-submit")
    options = shlex.quote(os.environ["SPARK_SUBMIT_OPTS"])  # of all Java of these tests
    wrapper.write_text(f'#!/bin/sh\nSPARK_SUBMIT_OPTS={options} TZ=Asia/Tokyo exec {program} "$@"\n')
    wrapper.chmod(0o755)
    partition = Partition(lake.delays.partition, "2013-01-02|JFK")
    run(lake, partition, inputs={}, function=ship(session_zone), spark_binary=str(wrapper))
    assert lake.rows("2013-01-02|JFK") == [{"zone": "UTC"}]


def fragile(partition: Any, flights: Any) -> Any:
    import os
    from pathlib import Path

    key, mark = partition.text, Path(os.environ["AIRFLOW_PARTITIONS_TEST_FOLDER"], "was ended")
    if key == "2013-01-01|JFK":
        raise ValueError(f"not {key}")
    if key == "2013-01-02|JFK" and not mark.exists():
        mark.touch()
        os._exit(9)  # as when a driver is killed
    return flights.where(flights.origin == partition["airport"]).groupBy("origin").max("delay").toDF("origin", "most")


def test_a_batch_is_one_submit_and_goes_on_after_its_driver_was_killed(
    lake: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AIRFLOW_PARTITIONS_TEST_FOLDER", str(tmp_path))
    submit, submits = SparkSubmitHook.submit, list[str]()

    def counted_submit(hook: Any, application: str = "", **named: Any) -> Any:
        submits.append(application)
        return submit(hook, application, **named)

    monkeypatch.setattr(SparkSubmitHook, "submit", counted_submit)
    keys = ["2013-01-01|EWR", "2013-01-01|JFK", "2013-01-02|EWR", "2013-01-02|JFK"]
    made = batched(lake, fragile, strict=True)
    first = batch(made, *keys[1:], own=keys[0])
    with pytest.raises(SparkServerError, match="ended without a word of why"):
        made.task.execute(first)
    assert endings(first) == {keys[1]: "failed", keys[2]: "made"}
    assert outcomes(first)[keys[1]].text == f"JobError: ValueError: not {keys[1]}"
    assert outcomes(first)[keys[2]].extras[made.name]["reads"]["flights"]["files"] == 24
    assert [lake.rows(key) for key in keys] == [
        [{"origin": "EWR", "most": 23.0}],
        [],
        [{"origin": "EWR", "most": 47.0}],
        [],
    ]
    second = batch(made, own=keys[0], cells=first["task_state_store"])
    made.task.execute(second)
    assert endings(second) == {keys[1]: "failed", keys[2]: "made", keys[3]: "made"}
    assert lake.rows(keys[3]) == [{"origin": "JFK", "most": 2.0}]
    assert len(submits) == 2
