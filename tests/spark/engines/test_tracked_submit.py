"""Jobs of spark-submit on a cluster whose tasks wait without a worker."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Iterator
from importlib import import_module
from importlib.machinery import ModuleSpec
from pathlib import Path
from time import sleep
from types import ModuleType
from typing import Any, ClassVar

import pytest
from airflow.sdk.exceptions import TaskDeferred

from airflow_partitions.core.errors import (
    ForeignRowsError,
    InvalidDefinitionError,
    MissingSparkError,
    SparkServerError,
    UnansweredError,
)
from airflow_partitions.spark.engines import EmrServerless
from airflow_partitions.spark.engines.driver_pods import DriverPods
from airflow_partitions.spark.engines.resource_manager import ResourceManager
from airflow_partitions.spark.handover import PROPERTY, Handover
from airflow_partitions.spark.job_result import save_error
from airflow_partitions.spark.shipping import ship
from tests.batch_context import batch, endings
from tests.spark.engines.clusters import CLUSTERS, ClusterStandIn
from tests.spark.engines.test_platforms import Killed, made_elsewhere, next_event, succeed
from tests.spark.in_process import good
from tests.spark.operator_task import batched, context, task
from tests.spark.test_operator import content

pytestmark = [
    pytest.mark.usefixtures("airflow"),
    # Airflow's own, when its providers are imported, and when it reads from what it has started.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
_sleep = sleep
#: A cluster is asked as often as a test allows.
FREED = {"deferrable": True, "status_poll_interval": 0}


@pytest.fixture(params=CLUSTERS)
def remote(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ClusterStandIn]:
    """A cluster, which the default connection names."""
    stand_in = CLUSTERS[request.param](tmp_path_factory.mktemp("cluster"))
    with stand_in.serving() as url:
        stand_in.connect(url, monkeypatch)
        monkeypatch.setattr("time.sleep", lambda seconds: _sleep(min(seconds, 0.02)))
        yield stand_in
        for held in Held.made:
            held.set()


YARN = pytest.mark.parametrize("remote", ["YARN"], indirect=True)
KUBERNETES = pytest.mark.parametrize("remote", ["Kubernetes"], indirect=True)


def begin(lake: Any, number: int = 1, **changes: Any) -> TaskDeferred:
    """One try, until it gives its worker back."""
    with pytest.raises(TaskDeferred) as deferred:
        task(lake, **FREED, **changes).execute(context(lake, number))
    return deferred.value


def told(deferred: TaskDeferred) -> Any:
    """What the triggerer hands on when the wait is over: as Airflow keeps it, the trigger is made anew there."""
    place, arguments = deferred.trigger.serialize()
    module, _, name = place.rpartition(".")
    trigger = getattr(import_module(module), name)(**json.loads(json.dumps(arguments)))
    return asyncio.run(next_event(trigger))


def go_on(lake: Any, deferred: TaskDeferred, event: Any, number: int = 1, **changes: Any) -> dict[str, Any]:
    """The rest of the try, in another process; what its event says."""
    assert deferred.method_name == "resume"
    run, operator = context(lake, number), task(lake, **FREED, **changes)
    operator.resume(run, event=event, **json.loads(json.dumps(deferred.kwargs)))
    extra: dict[str, Any] = run["outlet_events"][operator.asset].extra
    return extra


class Held:
    """Work that goes on when it is told to, and then does something."""

    made: ClassVar[list[threading.Event]] = []

    def __init__(self, work: Any = succeed) -> None:
        self.goes_on = threading.Event()
        self.made.append(self.goes_on)
        self._work = work

    def __call__(self, handover: Handover) -> None:
        assert self.goes_on.wait(60)
        self._work(handover)


@pytest.mark.spark
def test_a_job_makes_the_partition_while_its_task_has_no_worker(lake: Any, remote: ClusterStandIn) -> None:
    words: dict[str, Any] = {"function": ship(made_elsewhere, inputs=["flights"]), "strict": True}
    deferred = begin(lake, **words)
    event = go_on(lake, deferred, told(deferred), **words)
    (row,) = lake.rows()
    assert row["most"] == 47.0
    assert ".zip/airflow_partitions" in row["package"]  # what the driver has of ours has come along
    counts = {"selected": 24, "partitions": 24, "files": 24, "rows": 48, "scans": 1}
    assert {name: event["reads"]["flights"][name] for name in counts} == counts
    assert remote.submits == 1
    assert list((lake.root / "_delays" / "staging").iterdir()) == []


@YARN
def test_what_spark_submit_is_told_for_yarn(lake: Any, remote: ClusterStandIn) -> None:
    remote.work = Held()
    begin(lake, conf={"spark.yarn.tags": "flights,daily"}, yarn_queue="etl", yarn_track_via_rm_api=True)
    (words,), (job,) = remote.words, remote.jobs.values()
    assert job.order.conf["spark.yarn.tags"] == f"flights,daily,{job.token}"
    assert job.order.conf["spark.yarn.submit.waitAppCompletion"] == "false"
    assert job.order.conf[PROPERTY].partition("@")[0].endswith(f"{job.token}/handover.json")
    options = dict(zip(words[:-1:2], words[1:-1:2], strict=True))
    assert (options["--master"], options["--deploy-mode"], options["--queue"]) == ("yarn", "cluster", "etl")


@KUBERNETES
def test_what_spark_submit_is_told_for_kubernetes(lake: Any, remote: ClusterStandIn, tmp_path: Path) -> None:
    remote.work, done = Held(), tmp_path / "done"
    begin(lake, conf={"spark.kubernetes.namespace": "spark"}, post_submit_commands=[f"touch {done}"])
    (words,), (job,) = remote.words, remote.jobs.values()
    name = job.order.conf["spark.kubernetes.driver.pod.name"]
    assert name == f"partition-{job.token}-driver"
    assert len(name) <= 63
    assert job.order.conf["spark.kubernetes.submission.waitAppCompletion"] == "false"
    options = dict(zip(words[:-1:2], words[1:-1:2], strict=True))
    assert (options["--master"], options["--deploy-mode"]) == (remote.host, "cluster")
    assert done.exists()


def test_a_job_that_has_ended_already_is_not_waited_for(lake: Any, remote: ClusterStandIn) -> None:
    answer = remote.answer

    def answer_at_its_end(method: str, path: str, body: Any) -> Any:
        told = answer(method, path, body)
        while method == "POST" and remote.jobs[1].state == "running":
            _sleep(0.01)
        return told

    remote.work, remote.answer = succeed, answer_at_its_end  # type: ignore[method-assign]
    task(lake, **FREED).execute(context(lake))
    assert content(lake) == "1"


def test_the_first_look_is_after_a_pause(lake: Any, remote: ClusterStandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    remote.work = held = Held()
    deferred = begin(lake)
    asked = len(remote.calls)
    pauses: list[tuple[float, int]] = []
    asleep, waiter = asyncio.sleep, threading.get_ident()

    async def pause(seconds: float) -> None:
        if threading.get_ident() != waiter:  # servers of other tests, in threads of their own
            return await asleep(seconds)
        pauses.append((seconds, len(remote.calls)))
        held.goes_on.set()
        return None

    with monkeypatch.context() as patch:
        patch.setattr("asyncio.sleep", pause)
        assert told(deferred)["state"] == "SUCCEEDED"
    assert pauses[0] == (0.02, asked)


def test_a_failed_job_shows_its_reason(lake: Any, remote: ClusterStandIn) -> None:
    def fail(handover: Handover) -> None:
        save_error(handover.staging, ForeignRowsError("3 rows belong elsewhere"))
        raise RuntimeError

    remote.work = held = Held(fail)
    deferred = begin(lake)
    held.goes_on.set()
    with pytest.raises(ForeignRowsError, match="3 rows belong elsewhere"):
        go_on(lake, deferred, told(deferred))
    assert content(lake) is None
    remote.work = Held()
    begin(lake, 2)
    assert remote.submits == 2


def test_a_driver_that_ends_without_a_word_is_told_as_its_cluster_tells_it(lake: Any, remote: ClusterStandIn) -> None:
    def end(_: Handover) -> None:
        raise RuntimeError

    remote.work = held = Held(end)
    deferred = begin(lake)
    held.goes_on.set()
    with pytest.raises(SparkServerError, match=rf"has ended as FAILED: {remote.failed}\)"):
        go_on(lake, deferred, told(deferred))
    remote.work = Held()
    begin(lake, 2)  # finds it failed, and starts another
    assert [job.token.split("-")[1] for job in remote.jobs.values()] == ["1", "2"]


def test_a_driver_that_its_cluster_has_forgotten(lake: Any, remote: ClusterStandIn) -> None:
    remote.work = held = Held()
    deferred = begin(lake)
    remote.jobs.clear()
    with pytest.raises(SparkServerError, match="is gone: its cluster knows nothing of it"):
        go_on(lake, deferred, told(deferred))
    deferred = begin(lake, 2)  # starts another
    held.goes_on.set()
    go_on(lake, deferred, told(deferred), 2)
    assert content(lake) == "1"
    assert remote.submits == 2


@pytest.mark.parametrize("when", ["it is submitted", "it waits without a worker"])
def test_the_next_try_of_a_killed_task_finds_its_job(lake: Any, remote: ClusterStandIn, when: str) -> None:
    remote.work = held = Held()
    if when == "it is submitted":
        with pytest.MonkeyPatch.context() as patch:
            for tracker in (ResourceManager, DriverPods):
                patch.setattr(tracker, "find", killed_asking)
            with pytest.raises(Killed):
                task(lake, **FREED).execute(context(lake))
    else:
        begin(lake)
    deferred = begin(lake, 2)
    held.goes_on.set()
    go_on(lake, deferred, told(deferred), 2)
    assert content(lake) == "1"
    assert remote.submits == 1
    remote.work = Held()
    begin(lake, 3)  # it was cleared
    assert remote.submits == 2


def killed_asking(*_: object, **__: object) -> None:
    raise Killed


def test_a_job_that_never_reached_its_cluster_is_started_by_the_next_try(
    lake: Any, remote: ClusterStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote.work = Held()
    with monkeypatch.context() as patch:
        patch.setattr("subprocess.Popen", killed_asking)
        with pytest.raises(Killed):
            task(lake, **FREED).execute(context(lake))
    begin(lake, 2)
    (job,) = remote.jobs.values()
    assert "-2-" in job.token  # spark-submit of the first may be on its way yet, and has a place of its own


def test_a_spark_submit_that_fails(lake: Any, remote: ClusterStandIn) -> None:
    remote.faults = [500]
    with pytest.raises(SparkServerError, match=r"(?s)did not start.*Cannot execute: spark3-submit .*HTTP Error 500"):
        task(lake, **FREED).execute(context(lake))
    assert remote.jobs == {}


def test_a_task_that_is_ended_while_spark_submit_runs_ends_its_driver(lake: Any, remote: ClusterStandIn) -> None:
    answer, reached, ended = remote.answer, threading.Event(), threading.Event()

    def answer_late(method: str, path: str, body: Any) -> Any:
        told = answer(method, path, body)
        if method == "POST":
            reached.set()
            assert ended.wait(60)
        return told

    def end() -> None:
        assert reached.wait(60)
        operator.on_kill()
        ended.set()

    remote.work, remote.answer = Held(), answer_late  # type: ignore[method-assign]
    operator = task(lake, **FREED)
    ending = threading.Thread(target=end)
    ending.start()
    with pytest.raises(SparkServerError):
        operator.execute(context(lake))
    ending.join()
    assert [job.state for job in remote.jobs.values()] == ["cancelled"]


def test_a_task_that_is_ended_while_it_has_no_worker_ends_its_driver(lake: Any, remote: ClusterStandIn) -> None:
    remote.work = Held()
    deferred = begin(lake)
    asyncio.run(deferred.trigger.on_kill())
    (job,) = remote.jobs.values()
    assert job.state == "cancelled"
    remote.work = held = Held()
    deferred = begin(lake, 2)  # it was cleared: finds it killed, and starts another
    held.goes_on.set()
    go_on(lake, deferred, told(deferred), 2)
    assert content(lake) == "1"
    assert remote.submits == 2


def test_a_cluster_that_is_away_for_a_time(lake: Any, remote: ClusterStandIn) -> None:
    remote.work = held = Held()
    deferred = begin(lake)
    held.goes_on.set()
    remote.faults = [401, 403, 429, 500, 0, 403]
    go_on(lake, deferred, told(deferred))
    assert remote.faults == []
    assert content(lake) == "1"


@pytest.mark.parametrize(
    ("fault", "cause"),
    [
        pytest.param(401, "Unauthorized", marks=pytest.mark.long),
        (403, "Forbidden"),
        pytest.param(429, "Too Many Requests", marks=pytest.mark.long),
        (500, "Internal Server Error"),
        pytest.param(0, "ConnectionError|MaxRetryError", marks=pytest.mark.long),
    ],
)
def test_a_cluster_that_does_not_tell_how_a_job_is(lake: Any, remote: ClusterStandIn, fault: int, cause: str) -> None:
    remote.work = held = Held()
    deferred = begin(lake)
    held.goes_on.set()
    remote.faults = [fault] * 200
    event = told(deferred)
    with pytest.raises(UnansweredError, match=rf"(?s)gave no answer that tells how.*({cause}).*the next try"):
        go_on(lake, deferred, event)
    assert content(lake) is None
    remote.faults = []
    while remote.jobs[1].state == "running":
        _sleep(0.01)
    task(lake, **FREED).execute(context(lake, 2))  # finds it, and it has ended
    assert content(lake) == "1"
    assert remote.submits == 1


@YARN
def test_another_server_at_the_address(lake: Any, remote: ClusterStandIn) -> None:
    remote.work = Held()
    answer = remote.answer

    def nothing_there(method: str, path: str, body: Any) -> Any:
        if method == "GET":
            raise LookupError("no such page")
        return answer(method, path, body)

    remote.answer = nothing_there  # type: ignore[method-assign]
    with pytest.raises(UnansweredError, match=r"the ResourceManager http://127.0.0.1:\d+ answered 404 Not Found"):
        task(lake, **FREED).execute(context(lake))


def test_the_task_of_a_batch_keeps_its_worker(lake: Any, remote: ClusterStandIn) -> None:
    remote.work = succeed
    made = batched(lake, good, deferrable=True, submit={"status_poll_interval": 0})
    keys = ["2013-01-01|EWR", "2013-01-01|JFK"]
    run = batch(made, keys[1], own=keys[0])
    made.task.execute(run)
    assert endings(run) == {keys[1]: "made"}
    assert remote.submits == 1  # for both


@YARN
def test_a_ticket_of_kerberos_is_shown(lake: Any, remote: ClusterStandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []

    class HTTPKerberosAuth:
        def __call__(self, request: Any) -> Any:
            shown.append(request.method)
            return request

    remote.work = held = Held()
    words = {"keytab": "/etc/somebody.keytab", "principal": "somebody@EXAMPLE.COM"}
    monkeypatch.setitem(sys.modules, "requests_kerberos", None)  # type: ignore[arg-type]
    with pytest.raises(MissingSparkError, match="what does that, here and in Airflow's triggerer: pip install"):
        task(lake, **FREED, **words).execute(context(lake))
    package = ModuleType("requests_kerberos")
    package.__spec__ = ModuleSpec(package.__name__, None)
    package.HTTPKerberosAuth = HTTPKerberosAuth  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, package.__name__, package)
    deferred = begin(lake, **words)
    held.goes_on.set()
    asked = len(shown)
    go_on(lake, deferred, told(deferred), **words)
    assert content(lake) == "1"
    assert asked
    assert len(shown) > asked  # by the triggerer, too


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"deploy_mode": "client"}, "deploy_mode='client', where the driver lives as long as the task does; expected"),
        ({"yarn_rm_auth": ("a", "b")}, r"yarn_rm_auth=\('a', 'b'\), an object of this process that"),
        (
            {"engine": EmrServerless(application_id="app", execution_role_arn="arn:aws:iam::1:role/spark")},
            r"its engine is a EmrServerless.*expected EmrServerless\(…, deferrable=True\)",
        ),
    ],
)
def test_what_no_dag_file_may_say(lake: Any, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidDefinitionError, match=words):
        task(lake, deferrable=True, **changes)
    task(lake, **changes)


@pytest.mark.parametrize(
    ("connection", "words"),
    [
        ({"host": "local[2]"}, r"asks for deploy mode 'client' on local\[2\]: .*expected one on a cluster"),
        ({"host": "yarn"}, "asks for deploy mode 'client' on yarn"),
        ({"host": "yarn", "extra": {"deploy-mode": "cluster"}}, "expected the address of its ResourceManager in its"),
        ({"host": "mesos://here", "extra": {"deploy-mode": "cluster"}}, "names mesos://here, where nobody but"),
        ({"host": "spark://here", "extra": {"deploy-mode": "cluster"}}, "Spark runs no Python there"),
        ({"conn_type": "spark_connect", "host": "here"}, "is of type 'spark_connect', whose functions run in the task"),
    ],
)
def test_a_connection_whose_jobs_hold_their_worker(
    lake: Any, monkeypatch: pytest.MonkeyPatch, connection: dict[str, Any], words: str
) -> None:
    before = sorted(lake.root.rglob("*"))
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps({"conn_type": "spark", **connection}))
    with pytest.raises(InvalidDefinitionError, match=words):
        task(lake, **FREED).execute(context(lake))
    assert sorted(lake.root.rglob("*")) == before


@YARN
def test_a_spark_submit_that_would_hold_the_worker_is_refused(lake: Any, remote: ClusterStandIn) -> None:
    with pytest.raises(InvalidDefinitionError, match="waitAppCompletion='true': spark-submit would hold the worker"):
        task(lake, **FREED, conf={"spark.yarn.submit.waitAppCompletion": "true"}).execute(context(lake))
    assert remote.submits == 0
