"""The operator, with the submission of the job replaced by what a driver would leave."""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Event
from time import monotonic, sleep
from typing import Any

import attrs
import pytest

from airflow_partitions import PartitionByInterval
from airflow_partitions.core.errors import (
    ConflictError,
    ForeignRowsError,
    InvalidDefinitionError,
    JobError,
    MissingInputError,
    MissingPartitionError,
    MissingSparkError,
    ResultError,
    SchemaError,
    SparkServerError,
    StorageError,
    WriterError,
)
from airflow_partitions.engine.batches.common_fault import common_fault
from airflow_partitions.spark.handover import PROPERTY, Handover
from airflow_partitions.spark.job_result import load_error, save_error
from airflow_partitions.spark.shipping import Shipped
from airflow_partitions.storage import Csv, Files, Parquet, Text
from airflow_partitions.storage.stores.open import open_store
from tests.batch_context import batch, endings, outcomes
from tests.spark.operator_task import FUNCTION, batched, context, task
from tests.spark.submissions import Cluster

pytestmark = [
    pytest.mark.usefixtures("airflow"),
    # Airflow's own, when its providers are imported.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


def content(lake: Any) -> str | None:
    file = Path(lake.delays.path_of(lake.delays.partition.parse("2013-01-02|EWR"))) / "part-0.parquet"
    return file.read_text() if file.exists() else None


def test_publishes_and_reports(lake: Any, cluster: Cluster) -> None:
    run, operator = context(lake), task(lake)
    operator.execute(run)
    assert content(lake) == "1"
    (event,) = run["outlet_events"].values()
    assert event.extra == {
        "mine": 1,
        "rows": 3,
        "files": 1,
        "bytes": 1,
        "reads": {"flights": {"selected": 24, "partitions": 24, "files": 24, "bytes": 9, "rows": 48, "scans": 1}},
        "application": "local-1",
        "seconds": 1.5,
    }
    assert list((Path(lake.delays.path).parent / "_delays" / "staging").iterdir()) == []


def test_es7_a_spark_asset_records_its_schema_and_holds_to_it(lake: Any, cluster: Cluster) -> None:
    task(lake).execute(context(lake))
    assert open_store(lake.delays).recorded_schema() == {"x": "int"}
    cluster.schema, cluster.text = {"x": "bigint", "y": "string"}, "2"
    task(lake).execute(context(lake, run_id="second"))
    assert content(lake) == "2"
    assert open_store(lake.delays).recorded_schema() == {"x": "bigint", "y": "string"}
    cluster.schema, cluster.text = {"x": "string"}, "3"
    other = (
        r"partition '2013-01-02\|EWR': 'x' is string, not bigint; expected the columns x bigint, y string, or schema="
    )
    with pytest.raises(SchemaError, match=other):
        task(lake).execute(context(lake, run_id="third"))
    assert content(lake) == "2"
    task(lake, storage=attrs.evolve(lake.delays, schema={"x": "string"})).execute(context(lake, run_id="fourth"))
    assert content(lake) == "3"
    assert open_store(lake.delays).recorded_schema() == {"x": "string"}


def test_an_asset_may_be_named(lake: Any, cluster: Cluster) -> None:
    from airflow.sdk import Asset
    from airflow.sdk.definitions.asset import AssetRef

    run = context(lake)
    task(lake, asset="delays", outlets=[Asset("delays")]).execute(run)
    assert all(isinstance(key, AssetRef) for key in run["outlet_events"])


def test_the_command(lake: Any, cluster: Cluster) -> None:
    task(lake, conf={"spark.executor.cores": "2"}, strict=True, env_vars={"MINE": "1"}, py_files="helpers.py").execute(
        context(lake)
    )
    (command,) = cluster.commands
    assert command[0] == str(Path(sys.executable).with_name("spark-submit"))
    assert command[command.index("--master") + 1] == "local[2]"
    assert command[command.index("--name") + 1] == "delays"
    assert command[command.index("--py-files") + 1] == "helpers.py"
    assert Path(command[-1]).name == "make_partition.py"
    assert cluster.conf["spark.executor.cores"] == "2"
    assert cluster.handover.strict
    assert cluster.handover.function == FUNCTION
    (environment,) = cluster.environments
    assert environment["PYSPARK_PYTHON"] == environment["PYSPARK_DRIVER_PYTHON"] == sys.executable
    assert Path(environment["SPARK_HOME"], "bin", "spark-submit").exists()
    assert environment["MINE"] == "1"


def py_files(cluster: Cluster) -> list[str]:
    """Names of what the last command brings along for Python."""
    command = cluster.commands[-1]
    files = command[command.index("--py-files") + 1].split(",") if "--py-files" in command else []
    return [Path(file).name.partition("-")[0] for file in files]


def test_other_masters_choose_their_python(lake: Any, cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(
        "AIRFLOW_CONN_SPARK_DEFAULT", '{"conn_type": "spark", "host": "spark://127.0.0.1", "port": 7077}'
    )
    task(lake).execute(context(lake))
    assert "PYSPARK_PYTHON" not in cluster.environments[-1]
    assert cluster.environments[-1]["PYSPARK_DRIVER_PYTHON"] == sys.executable
    assert py_files(cluster) == []
    task(lake, spark_binary="/opt/spark/bin/spark-submit").execute(context(lake, 2))
    assert cluster.commands[-1][0] == "/opt/spark/bin/spark-submit"
    assert cluster.environments[-1] == {}
    assert py_files(cluster) == ["airflow_partitions"]
    monkeypatch.setenv(
        "AIRFLOW_CONN_SPARK_DEFAULT",
        '{"conn_type": "spark", "host": "yarn", "extra": {"spark-binary": "spark3-submit"}}',
    )
    task(lake, py_files="helpers.py").execute(context(lake, 3))
    assert cluster.commands[-1][0] == "spark3-submit"
    assert py_files(cluster) == ["helpers.py", "airflow_partitions"]


@pytest.mark.parametrize(
    "other",
    [
        {"conf": {"spark.pyspark.python": "/opt/python"}},
        {"conf": {"spark.pyspark.driver.python": "/opt/python", "spark.pyspark.python": sys.executable}},
        {"env_vars": {"PYSPARK_DRIVER_PYTHON": "/opt/python"}},
    ],
)
def test_a_driver_of_another_python_gets_the_package(lake: Any, cluster: Cluster, other: Any) -> None:
    task(lake, **other).execute(context(lake))
    assert py_files(cluster) == ["airflow_partitions"]


def test_spark_home_chooses_another_spark(
    lake: Any, cluster: Cluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import pyspark

    monkeypatch.setenv("SPARK_HOME", str(Path(pyspark.__file__).parent))  # it is the one of this environment
    task(lake).execute(context(lake))
    assert cluster.commands[-1][0] == str(Path(sys.executable).with_name("spark-submit"))
    assert py_files(cluster) == []
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    with pytest.raises(MissingSparkError, match=r"SPARK_HOME is '.*', and there is no .*spark-submit; exp"):
        task(lake).execute(context(lake, 2))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "spark-submit").touch()
    task(lake).execute(context(lake, 3))
    assert cluster.commands[-1][0] == f"{tmp_path}/bin/spark-submit"
    assert py_files(cluster) == ["airflow_partitions"]
    task(lake, spark_binary="/opt/spark/bin/spark-submit").execute(context(lake, 4))
    assert cluster.commands[-1][0] == "/opt/spark/bin/spark-submit"


def test_cluster_mode_of_a_standalone_cluster_runs_no_python(
    lake: Any, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = '{"conn_type": "spark", "host": "spark://master", "port": 7077, "extra": {"deploy-mode": "cluster"}}'
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", connection)
    with pytest.raises(InvalidDefinitionError, match="Spark runs no Python there: its standalone clusters"):
        task(lake).execute(context(lake))
    assert cluster.commands == []


def test_a_large_handover_lies_in_the_staging_place(lake: Any, cluster: Cluster) -> None:
    handovers = []

    def submit(hook: Any, application: str) -> None:
        cluster.commands.append(hook._build_spark_submit_command(application))
        handovers.append(Path(cluster.conf[PROPERTY].partition("@")[0]))
        cluster.succeed(Handover.from_text(handovers[0].read_text()))

    cluster.submit = submit  # type: ignore[method-assign]
    function = Shipped("f", "x" * 40_000, ("flights",))
    task(lake, function=function, files="mine.txt").execute(context(lake))
    assert handovers[0].is_relative_to(lake.root / "_delays" / "staging")
    assert cluster.commands[0][cluster.commands[0].index("--files") + 1] == "mine.txt"
    assert content(lake) == "1"


def test_a_program_of_the_author(lake: Any, cluster: Cluster) -> None:
    task(lake, function=None, application="/jobs/mine.py", application_args=["--fast"]).execute(context(lake))
    assert cluster.commands[-1][-2:] == ["/jobs/mine.py", "--fast"]
    assert cluster.handover.function is None


def test_a_cleared_task_really_runs_again(lake: Any, cluster: Cluster) -> None:
    store = {"spark_job_id": "driver-2013", "k8s_driver_status": "Succeeded"}
    operator = task(lake)
    operator.execute(context(lake, 1, task_state_store=store))
    cluster.text = "2nd"
    operator.execute(context(lake, 2, task_state_store=store))
    assert len(cluster.commands) == 2
    assert content(lake) == "2nd"


def test_an_older_try_does_not_publish(lake: Any, cluster: Cluster) -> None:
    task(lake).execute(context(lake, 2))
    cluster.text = "older"
    with pytest.raises(ConflictError, match="the older try 1"):
        task(lake).execute(context(lake, 1))
    assert content(lake) == "1"


def test_a_job_without_a_result_fails(lake: Any, cluster: Cluster) -> None:
    task(lake).execute(context(lake))
    cluster.job = lambda _: None
    with pytest.raises(ResultError, match="ended without a result file"):
        task(lake).execute(context(lake, 2))
    assert content(lake) == "1"


def test_the_reason_of_a_failed_job_is_raised(lake: Any, cluster: Cluster) -> None:
    from airflow.sdk.exceptions import AirflowException

    def fail(handover: Handover) -> None:
        save_error(handover.staging, ForeignRowsError("3 rows belong elsewhere"))
        raise AirflowException("Error code is: 1")

    cluster.job = fail
    with pytest.raises(ForeignRowsError, match="3 rows belong elsewhere"):
        task(lake).execute(context(lake))

    def fail_silently(_: Handover) -> None:
        raise AirflowException("Error code is: 137")

    cluster.job = fail_silently
    with pytest.raises(SparkServerError, match=r"did not start, or ended without a word of why, .*137"):
        task(lake).execute(context(lake, 2))
    assert content(lake) is None


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (ValueError("no\nsuch"), JobError, "ValueError: no\nsuch"),
        (MemoryError(), MemoryError, ""),
        (RuntimeError("... java.lang.OutOfMemoryError: Java heap space"), MemoryError, "Java heap space"),
        (ForeignRowsError("3 rows"), ForeignRowsError, "3 rows"),
    ],
)
def test_the_error_of_a_job_is_its_partition_s_and_memory_is_not(
    lake: Any, error: Exception, kind: type[Exception], words: str
) -> None:
    staging = lake.handover().staging
    save_error(staging, error)
    loaded = load_error(staging)
    assert type(loaded) is kind
    assert words in str(loaded)
    assert (common_fault(loaded) is None) == (kind is not MemoryError)


CLUSTER_MODE = {"deploy-mode": "cluster"}


@pytest.mark.parametrize(
    ("connection", "error", "words"),
    [
        ({"conn_type": "http", "host": "x"}, StorageError, "is of type 'http'; expected spark"),
        ({"conn_type": "spark", "host": "spark://m", "extra": CLUSTER_MODE}, InvalidDefinitionError, "runs no Python"),
        ({"conn_type": "spark_connect"}, InvalidDefinitionError, "has no host"),
        ({"conn_type": "spark", "host": "local", "extra": {"conf": 1}}, StorageError, "has conf=1"),
    ],
)
@pytest.mark.parametrize("name", ["flights", "partitions"])
def test_a_connection_of_the_wrong_kind_leaves_nothing_behind(
    lake: Any,
    cluster: Cluster,
    monkeypatch: pytest.MonkeyPatch,
    connection: dict[str, Any],
    error: type[Exception],
    words: str,
    name: str,
) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps(connection))
    before = sorted(lake.root.rglob("*"))
    with pytest.raises(error, match=words):
        task(lake, function=Shipped("f", "", (name,))).execute(context(lake))
    assert sorted(lake.root.rglob("*")) == before
    assert cluster.commands == []


@pytest.mark.parametrize("partition", [None, "2013-01-02|EWR"])
def test_a_run_without_its_partition_fails_before_work(lake: Any, cluster: Cluster, partition: Any) -> None:
    with pytest.raises(MissingPartitionError, match="expected a run with a partition key"):
        task(lake).execute(context(lake, partition=partition))
    assert cluster.commands == []


def test_missing_inputs_fail_before_the_job(lake: Any, cluster: Cluster) -> None:
    with pytest.raises(MissingInputError, match="24 of 24"):
        task(lake).execute(context(lake, key="2013-01-03|EWR"))
    assert cluster.commands == []


def test_unusable_storage_fails_before_the_job(lake: Any, cluster: Cluster) -> None:
    storage = Parquet(str(lake.root / "no" / "where")).of(lake.delays.partition)
    with pytest.raises(StorageError, match="is missing"):
        task(lake, storage=storage).execute(context(lake))
    (lake.root / "file").touch()
    storage = Parquet(str(lake.root / "file")).of(lake.delays.partition)
    with pytest.raises(StorageError, match="can't be written"):
        task(lake, storage=storage).execute(context(lake))
    assert cluster.commands == []


def test_a_missing_connection_is_not_yarn(lake: Any, cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    from airflow.sdk import BaseHook
    from airflow.sdk.exceptions import AirflowNotFoundException

    def missing(conn_id: str) -> None:
        raise AirflowNotFoundException(conn_id)

    monkeypatch.setattr(BaseHook, "get_connection", missing)
    with pytest.raises(StorageError, match=r"no connection 'spark_other', and Airflow would silently submit to YARN"):
        task(lake, conn_id="spark_other").execute(context(lake))
    assert cluster.commands == []


def test_eu4_the_first_job_of_a_new_airflow_runs_on_its_own_machine_and_says_so(
    lake: Any, cluster: Cluster, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delenv("AIRFLOW_CONN_SPARK_DEFAULT")
    task(lake).execute(context(lake))
    log = caplog.messages[0]
    (command,) = cluster.commands
    assert command[command.index("--master") + 1] == "local[2]"
    assert "no connection 'spark_default', so the job runs on this machine" in log
    assert """AIRFLOW_CONN_SPARK_DEFAULT='{"conn_type": "spark", "host": "local[2]"}'""" in log


def test_eu13_the_log_says_what_was_read_and_published(
    lake: Any, cluster: Cluster, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    task(lake).execute(context(lake))
    line = "Published 2013-01-02|EWR: 3 rows, 1 file, 1 B; read flights 24 of 24 partitions, 48 rows; 1.5 s"
    assert line in caplog.messages


LOCAL = {"spark.sql.session.timeZone": "UTC", "spark.log.level": "WARN", "spark.ui.enabled": "false"}


@pytest.mark.parametrize(("host", "without"), [("local[4]", ()), ("spark://master", ("spark.ui.enabled",))])
def test_defaults_are_spark_s_weakest_properties(
    lake: Any, cluster: Cluster, monkeypatch: pytest.MonkeyPatch, host: str, without: tuple[str, ...]
) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps({"conn_type": "spark", "host": host}))
    monkeypatch.delenv("SPARK_SUBMIT_OPTS")  # which these tests have for all Java
    task(lake).execute(context(lake))
    assert cluster.defaults == {name: value for name, value in LOCAL.items() if name not in without}
    assert set(cluster.conf) == {PROPERTY}


@pytest.mark.parametrize("place", ["environment", "operator"])
def test_options_of_java_stand_beside_the_defaults(
    lake: Any, cluster: Cluster, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    own = {"SPARK_SUBMIT_OPTS": "-Xss4m -Dspark.log.level=INFO"}
    if place == "environment":
        monkeypatch.setenv("SPARK_SUBMIT_OPTS", own["SPARK_SUBMIT_OPTS"])
    before = os.environ.get("SPARK_SUBMIT_OPTS")
    task(lake, **({"env_vars": own} if place == "operator" else {})).execute(context(lake))
    assert "-Xss4m" in cluster.options
    assert cluster.defaults == {**LOCAL, "spark.log.level": "INFO"}
    assert os.environ.get("SPARK_SUBMIT_OPTS") == before


def test_a_connection_has_properties_for_all_jobs(lake: Any, cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    extra = {"conf": {"spark.driver.memory": "2g", "spark.log.level": "INFO"}}
    connection = {"conn_type": "spark", "host": "local[2]", "extra": extra}
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps(connection))
    task(lake, conf={"spark.log.level": "ERROR"}).execute(context(lake))
    assert cluster.conf["spark.driver.memory"] == "2g"
    assert cluster.conf["spark.log.level"] == "ERROR"
    connection["extra"] = {"conf": "spark.driver.memory=2g"}
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps(connection))
    with pytest.raises(StorageError, match="expected Spark properties by name"):
        task(lake).execute(context(lake, 2))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"durable": True}, "durable=True would take the outcome of an earlier job"),
        ({"default_args": {"durable": True}}, "durable=True"),
        ({"reconnect_on_retry": True}, "durable=True"),
        ({"storage": Parquet("/lake/x")}, "is not bound to a definition"),
        (
            {"storage": Parquet("/lake/x", partition=PartitionByInterval("@daily"), ownership="read-only")},
            "has ownership='read-only', so no asset makes all of it",
        ),
        ({"function": None}, "expected either a function or an application"),
        ({"application": "x.py"}, "expected either a function or an application"),
    ],
)
def test_wrong_combinations_are_refused_at_once(lake: Any, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidDefinitionError, match=words):
        task(lake, **changes)


def test_never_durable(lake: Any) -> None:
    assert task(lake).durable is False


def test_survives_the_copies_airflow_makes(lake: Any) -> None:
    import copy

    assert copy.deepcopy(task(lake)).storage == lake.delays


def test_serializes_with_its_dag(lake: Any) -> None:
    import json

    from airflow.sdk import DAG
    from airflow.serialization.serialized_objects import DagSerialization

    with DAG("dag", schedule=None) as dag:
        task(lake)
    data = DagSerialization.to_dict(dag)
    assert json.dumps(data) == json.dumps(DagSerialization.to_dict(dag))
    assert DagSerialization.from_dict(data).task_dict["delays"].task_type == "SparkAssetOperator"


@pytest.mark.parametrize(
    ("storage", "words"),
    [
        (
            Text("/lake/x", schema={"carrier": "string", "n": "int"}),
            "text can't hold carrier string, n int",
        ),
        (Csv("/lake/x", schema={"tags": "array<string>"}), "csv can't hold column 'tags', which is array<string>"),
    ],
)
def test_columns_that_the_format_can_not_hold_are_refused_at_once(lake: Any, storage: Files, words: str) -> None:
    with pytest.raises(WriterError, match=words):
        task(lake, storage=storage.of(lake.delays.partition))


KEYS = ["2013-01-01|EWR", "2013-01-01|JFK", "2013-01-02|EWR", "2013-01-02|JFK"]
LATER = "2013-01-03|EWR"  # without input


def unchanged(flights: Any) -> Any:
    return flights


def published(made: Any) -> dict[str, str]:
    """The run of each stored partition."""
    return {str(each.key): each.content.metadata.attempt.run_id for each in made.storage.list()}


def until(condition: Callable[[], bool]) -> bool:
    """Wait for it; whether it came."""
    end = monotonic() + 60
    while not condition() and monotonic() < end:
        sleep(0.01)
    return condition()


def test_one_submit_makes_all_partitions_of_a_batch_each_by_itself(lake: Any, cluster: Cluster) -> None:
    """They are published while the job goes on; one without its input, and one that fails, take nothing with them."""
    made = batched(lake, unchanged)
    done: list[str] = []

    def job(handover: Handover) -> None:
        assert until(lambda: len(published(made)) == len(done))
        if handover.partition.text == KEYS[1]:
            save_error(handover.staging, ValueError("no delays"))
            return
        cluster.succeed(handover)
        done.append(handover.partition.text)

    cluster.job = job
    run = batch(made, *KEYS[1:], LATER, own=KEYS[0])
    made.task.execute(run)
    assert len(cluster.commands) == 1
    assert done == [KEYS[0], KEYS[2], KEYS[3]]
    assert published(made) == {KEYS[0]: "leader", KEYS[2]: f"run {KEYS[2]}", KEYS[3]: f"run {KEYS[3]}"}
    assert endings(run) == {KEYS[1]: "failed", KEYS[2]: "made", KEYS[3]: "made", LATER: "failed"}
    told = outcomes(run)
    assert told[KEYS[1]].text == "JobError: ValueError: no delays"
    assert told[LATER].text.startswith("MissingInputError: ")
    assert told[KEYS[2]].extras[made.name]["rows"] == 3
    assert run["outlet_events"][made].extra["rows"] == 3


def test_a_shared_job_that_ends_before_its_time_loses_nothing_that_it_has_made(lake: Any, cluster: Cluster) -> None:
    from airflow.sdk.exceptions import AirflowException

    made, calls = batched(lake, unchanged), list[str]()

    def job(handover: Handover) -> None:
        calls.append(handover.partition.text)
        if calls == KEYS[:3]:
            raise AirflowException("Error code is: 137")
        cluster.succeed(handover)

    cluster.job = job
    run = batch(made, *KEYS[1:], own=KEYS[0])
    with pytest.raises(SparkServerError, match="137"):
        made.task.execute(run)
    assert endings(run) == {KEYS[1]: "made"}
    assert published(made) == {KEYS[0]: "leader", KEYS[1]: f"run {KEYS[1]}"}
    run = batch(made, own=KEYS[0], cells=run["task_state_store"])
    made.task.execute(run)
    assert calls == [*KEYS[:3], KEYS[0], *KEYS[2:]]
    assert endings(run) == dict.fromkeys(KEYS[1:], "made")
    assert len(cluster.commands) == 2


def test_a_shared_job_is_ended_by_what_ends_its_batch(
    lake: Any, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook

    made, is_killed = batched(lake, unchanged), Event()
    monkeypatch.setattr(SparkSubmitHook, "on_kill", lambda _: is_killed.set())

    def job(handover: Handover) -> None:
        if handover.partition.text == KEYS[0]:
            save_error(handover.staging, MemoryError())
        else:
            assert is_killed.wait(60)

    cluster.job = job
    run = batch(made, *KEYS[1:], own=KEYS[0])
    with pytest.raises(MemoryError):
        made.task.execute(run)
    assert is_killed.is_set()
    assert endings(run) == {}


def test_a_shared_job_leaves_out_whose_runs_were_ended(
    lake: Any, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    from airflow_partitions.engine.batches import work

    monkeypatch.setattr(work, "_LOOK_EVERY", 0)
    made, calls = batched(lake, unchanged), list[str]()
    run = batch(made, *KEYS[1:], own=KEYS[0])

    def job(handover: Handover) -> None:
        calls.append(handover.partition.text)
        run["ti"].ended.update(f"run {key}" for key in KEYS[1:3])
        cluster.succeed(handover)
        (places,) = lake.root.glob("_delays/staging")
        assert until(lambda: len(list(places.iterdir())) == 1 or len(calls) > 1)  # but that of the last

    cluster.job = job
    made.task.execute(run)
    assert calls == [KEYS[0], KEYS[3]]
    assert endings(run) == {KEYS[3]: "made"}
