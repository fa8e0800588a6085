"""What every managed engine does: jobs of its platform's stand-in, by the real operator of Airflow's provider."""

from __future__ import annotations

import asyncio
import json
import threading
from time import sleep
from typing import Any

import pytest
from airflow.sdk.exceptions import AirflowException, TaskDeferred

from airflow_partitions.core.errors import (
    ForeignRowsError,
    InvalidDefinitionError,
    MissingSparkError,
    SparkServerError,
    UnansweredError,
)
from airflow_partitions.spark.engines import SparkJob
from airflow_partitions.spark.engines.job import PROGRAM
from airflow_partitions.spark.handover import Handover
from airflow_partitions.spark.job_result import save_error
from airflow_partitions.spark.shipping import ship
from tests.batch_context import batch, endings
from tests.spark.in_process import good
from tests.spark.operator_task import batched, context, execute, task
from tests.spark.submissions import Cluster
from tests.spark.test_operator import content

pytestmark = [
    pytest.mark.usefixtures("airflow"),
    # Airflow's own, when its providers are imported.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore:ProvidersManager.hooks is deprecated"),
]

#: For what has nothing to do with a platform.
ONE = pytest.mark.parametrize("platform", ["Databricks"], indirect=True)


class Killed(BaseException):
    """Ends a task as nothing does that it could do something about."""


def made_elsewhere(partition: Any, flights: Any) -> Any:
    import airflow_partitions

    mine = flights.where(flights.origin == partition["airport"]).selectExpr("max(delay) as most")
    return mine.selectExpr("most", f"'{airflow_partitions.__file__}' as package")


def succeed(handover: Handover) -> None:
    Cluster().succeed(handover)


@pytest.mark.spark
def test_a_job_of_the_platform_makes_the_partition(lake: Any, platform: Any, mounted: Any) -> None:
    engine = platform.engine(**mounted)
    event = execute(task(lake, engine=engine, function=ship(made_elsewhere, inputs=["flights"]), strict=True), lake)
    (row,) = lake.rows()
    assert row["most"] == 47.0
    assert ".zip/airflow_partitions" in row["package"]  # nothing of ours was installed there
    assert (event["rows"], event["files"]) == (1, 1)
    counts = {"selected": 24, "partitions": 24, "files": 24, "rows": 48, "scans": 1}
    assert {name: event["reads"]["flights"][name] for name in counts} == counts
    assert list((lake.root / "_delays" / "staging").iterdir()) == []


def test_templates_of_airflows_operator_leave_a_job_as_it_is(lake: Any, platform: Any, mounted: Any) -> None:
    job = SparkJob(
        name="delays", token="0-1-0", application=PROGRAM, handovers=[lake.handover()], conf={"spark.a": platform.odd}
    )
    operator = platform.engine(**mounted).operator(job)
    fields = {name: getattr(operator, name) for name in type(operator).template_fields}
    said = json.dumps(fields, default=str)
    for word in (job.staged.program, "airflow_partitions-", "handover.json", "spark.a"):
        assert word in said
    operator.render_template_fields(context(lake))
    assert {name: getattr(operator, name) for name in fields} == fields


def test_a_failed_job_shows_its_reason(lake: Any, platform: Any, mounted: Any) -> None:
    def fail(handover: Handover) -> None:
        save_error(handover.staging, ForeignRowsError("3 rows belong elsewhere"))
        raise RuntimeError

    platform.work = fail
    operator = task(lake, engine=platform.engine(**mounted))
    with pytest.raises(ForeignRowsError, match="3 rows belong elsewhere"):
        operator.execute(context(lake))
    platform.work = succeed
    operator.execute(context(lake, 2))
    assert content(lake) == "1"
    assert len(platform.jobs) == 2


def test_a_job_that_ends_without_a_word(lake: Any, platform: Any, mounted: Any) -> None:
    def end(_: Handover) -> None:
        raise RuntimeError

    platform.work = end
    operator = task(lake, engine=platform.engine(**mounted))
    with pytest.raises(SparkServerError, match="did not start, or ended without a word of why"):
        operator.execute(context(lake))
    assert content(lake) is None
    platform.work = succeed
    operator.execute(context(lake, 2))
    assert content(lake) == "1"
    assert [job.state for job in platform.jobs.values()] == ["failed", "succeeded"]


def test_the_next_try_of_a_killed_task_finds_its_job(
    lake: Any, platform: Any, mounted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    goes_on = threading.Event()

    def wait(handover: Handover) -> None:
        assert goes_on.wait(60)
        succeed(handover)

    platform.work = wait
    operator = task(lake, engine=platform.engine(**mounted))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("time.sleep", killed_while_it_waits)
        with pytest.raises(Killed):
            operator.execute(context(lake))
    assert content(lake) is None
    goes_on.set()
    operator.execute(context(lake, 2))
    assert content(lake) == "1"
    (job,) = platform.jobs.values()
    assert "-1-" in job.token
    assert list((lake.root / "_delays" / "staging").iterdir()) == []
    operator.execute(context(lake, 3))  # it was cleared
    assert len(platform.jobs) == 2


def killed(_: object) -> None:
    raise Killed


def killed_while_it_waits(seconds: float) -> None:
    """What a task does that waits; other threads, such as those of Spark's client, have a wait of their own."""
    if threading.current_thread() is threading.main_thread():
        raise Killed
    threading.Event().wait(seconds)


@pytest.mark.parametrize("change", ["function", "input", "conf", "damaged word"])
@ONE
def test_a_job_that_would_do_something_else_is_not_taken_over(
    lake: Any, platform: Any, mounted: Any, change: str
) -> None:
    platform.work = succeed
    engine, hours = platform.engine(**mounted), sorted((lake.root / "flights").iterdir())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("airflow_partitions.spark.operator.SparkAssetOperator._publish", killed)
        with pytest.raises((Killed, TypeError)):
            task(lake, engine=engine).execute(context(lake))
    changes: dict[str, Any] = {}
    if change == "function":
        changes["function"] = ship(good, inputs=["flights"])
    elif change == "conf":
        changes["conf"] = {"spark.sql.shuffle.partitions": "3"}
    elif change == "damaged word":
        (word,) = lake.root.rglob("job.json")
        word.write_text("{")
    else:
        (hours[30] / "more.parquet").write_bytes((hours[30] / "0.parquet").read_bytes())
    task(lake, engine=engine, **changes).execute(context(lake, 2))
    assert len(platform.jobs) == 2
    assert content(lake) == "1"


def test_a_task_that_is_ended_cancels_its_job(lake: Any, platform: Any, mounted: Any) -> None:
    def wait(_: Handover) -> None:
        assert next(iter(platform.jobs.values())).is_cancelled.wait(60)

    def end() -> None:
        while len(platform.calls) < 4:  # it is looked at
            sleep(0.01)
        operator.on_kill()

    platform.work = wait
    operator = task(lake, engine=platform.engine(**mounted))
    ending = threading.Thread(target=end)
    ending.start()
    with pytest.raises(SparkServerError):
        operator.execute(context(lake))
    ending.join()
    (job,) = platform.jobs.values()
    assert job.state == "cancelled"
    platform.work = succeed
    operator.execute(context(lake, 2))  # finds it cancelled
    assert content(lake) == "1"
    assert len(platform.jobs) == 2


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(429, id="busy", marks=pytest.mark.long),
        pytest.param(500, id="broken"),
        pytest.param(403, id="credentials ended"),
        pytest.param(0, id="no answer", marks=pytest.mark.long),
    ],
)
def test_a_platform_that_does_not_tell_how_a_job_is(lake: Any, platform: Any, mounted: Any, fault: int) -> None:
    def fail_from_now_on(handover: Handover) -> None:
        platform.faults = [fault] * 200
        succeed(handover)

    platform.work = fail_from_now_on
    operator = task(lake, engine=platform.engine(**mounted))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("time.sleep", lambda _: None)
        patch.setattr("airflow_partitions.spark.engines.managed.LONGEST", 3)
        with pytest.raises(UnansweredError, match=r"gave no answer that tells how the job is.*the next try"):
            operator.execute(context(lake))
    assert content(lake) is None
    platform.faults = []
    operator.execute(context(lake, 2))
    assert content(lake) == "1"
    assert len(platform.jobs) == 1


def test_a_job_that_is_gone_is_made_anew(lake: Any, platform: Any, mounted: Any) -> None:
    def vanish(_: Handover) -> None:
        platform.jobs.clear()

    platform.work = vanish
    operator = task(lake, engine=platform.engine(**mounted))
    with pytest.raises(SparkServerError):
        operator.execute(context(lake))
    platform.work = succeed
    operator.execute(context(lake, 2))
    assert content(lake) == "1"


def test_storage_that_its_machines_do_not_have_is_refused_before_anything_is_made(lake: Any, platform: Any) -> None:
    before = sorted(lake.root.rglob("*"))
    with pytest.raises(
        InvalidDefinitionError,
        match=r"can't be reached by the machines of .*; expected (s3|gs)://.* or a folder of mounts=",
    ):
        task(lake, engine=platform.engine()).execute(context(lake))
    assert sorted(lake.root.rglob("*")) == before
    assert platform.calls == []


def test_a_provider_that_is_not_installed_is_named(lake: Any, platform: Any, mounted: Any) -> None:
    engine = platform.engine(**mounted)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(engine), "provider", "apache-airflow-providers-nowhere")
        with pytest.raises(MissingSparkError, match="expected it: pip install apache-airflow-providers-nowhere"):
            task(lake, engine=engine).execute(context(lake))
    assert platform.calls == []
    assert not (lake.root / "_delays").exists()


@ONE
def test_a_program_of_the_author_travels_too(lake: Any, platform: Any, mounted: Any) -> None:
    platform.work = succeed
    program = lake.root / "mine.py"
    program.write_text("print('hello')\n")
    operator = task(
        lake, engine=platform.engine(**mounted), function=None, application=str(program), application_args=["--fast"]
    )
    operator.execute(context(lake))
    (job,) = platform.jobs.values()
    assert job.order.program.endswith(f"{job.token}/mine.py")
    assert job.order.arguments == ["--fast"]
    assert content(lake) == "1"


@ONE
def test_what_belongs_to_spark_submit_is_refused(lake: Any, platform: Any) -> None:
    with pytest.raises(InvalidDefinitionError, match="driver_memory belongs to spark-submit, and its engine is a"):
        task(lake, engine=platform.engine(), driver_memory="2g")
    with pytest.raises(InvalidDefinitionError, match=r"engine='EMR'; expected an Engine of"):
        task(lake, engine="EMR")


def test_a_task_waits_without_a_worker(lake: Any, platform: Any, mounted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    goes_on = threading.Event()

    def wait(handover: Handover) -> None:
        assert goes_on.wait(60)
        succeed(handover)

    platform.work = wait
    operator = task(lake, engine=platform.engine(**mounted, deferrable=True))
    with pytest.raises(TaskDeferred) as deferred:
        operator.execute(context(lake))
    assert deferred.value.method_name == "resume"
    arguments = json.loads(json.dumps(deferred.value.kwargs))  # Airflow keeps them
    goes_on.set()
    event = asyncio.run(next_event(deferred.value.trigger))
    task(lake, engine=operator.engine).resume(context(lake), event=event, **arguments)  # in another process
    assert content(lake) == "1"
    assert len(platform.jobs) == 1
    assert list((lake.root / "_delays" / "staging").iterdir()) == []


def test_a_failure_is_told_by_a_task_that_waited_without_a_worker(lake: Any, platform: Any, mounted: Any) -> None:
    goes_on = threading.Event()

    def fail(handover: Handover) -> None:
        assert goes_on.wait(60)
        save_error(handover.staging, ForeignRowsError("3 rows belong elsewhere"))
        raise RuntimeError

    platform.work = fail
    operator = task(lake, engine=platform.engine(**mounted, deferrable=True))
    with pytest.raises(TaskDeferred) as deferred:
        operator.execute(context(lake))
    goes_on.set()
    while platform.jobs[1].state == "running":
        sleep(0.01)
    # The operators of the platforms tell it by an event, or their triggers fail: then Airflow's next try asks again.
    try:
        event = asyncio.run(next_event(deferred.value.trigger))
    except AirflowException:
        platform.work = succeed
        operator.execute(context(lake, 2))
        assert content(lake) == "1"
        return
    with pytest.raises(ForeignRowsError, match="3 rows belong elsewhere"):
        operator.resume(context(lake), event=event, **(deferred.value.kwargs or {}))
    assert content(lake) is None


async def next_event(trigger: Any) -> Any:
    """What *trigger* says first, as Airflow's triggerer hands it on."""
    async for event in trigger.run():
        return event.payload
    raise AssertionError("it says nothing")


@ONE
def test_a_batch_does_not_wait_without_a_worker(lake: Any, platform: Any, mounted: Any) -> None:
    platform.work = succeed
    made = batched(lake, good, engine=platform.engine(**mounted, deferrable=True))
    keys = ["2013-01-01|EWR", "2013-01-01|JFK"]
    run = batch(made, keys[1], own=keys[0])
    made.task.execute(run)
    assert endings(run) == {keys[1]: "made"}
    assert len(platform.jobs) == 1  # for both
