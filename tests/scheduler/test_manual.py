"""Manual runs, what tasks see, and one run of a partition at a time, on a real scheduler."""

from __future__ import annotations

import json
import textwrap
from datetime import UTC, datetime, timedelta

import pytest

from tests.scheduler.conftest import HEADER, Airflow

DATABASES = ("postgresql",)  # the database has little to do with it
pytestmark = [pytest.mark.airflow, pytest.mark.usefixtures("one_day")]


@pytest.fixture(scope="module")
def by_hand(airflow: Airflow) -> str:
    airflow.write(
        "by_hand",
        """
        import sys
        TABLE = Asset("table")

        def over(context):
            (OUT / "over").write_text(f"{context['partition']} {context['partition'].key['airport'] == 'JFK'}")

        with DAG("by_hand", on_success_callback=over, schedule=Partitioned(None, PartitionByProduct([
            PartitionByInterval("@daily", timezone="America/New_York", start="2013-01-01", name="day"),
            PartitionBySequence(["EWR", "JFK"], name="airport")]), asset=TABLE)):

            load = BashOperator(
                task_id="load",
                bash_command="echo '{{ partition }} {{ partition.airport }} {{ partition.start }} {{ partition.end }}'"
                f" > {OUT}/load",
            )

            @task
            def each(number, partition):
                (OUT / f"each{number}").write_text(partition.text)

            @task
            def each_too(number, partition=None):
                (OUT / f"each{number}").write_text(partition.text)

            @task.external_python(python=sys.executable)
            def elsewhere(partition=None):
                return {"partition": partition, "keys": [partition.key, partition.key["day"]]}

            @task(outlets=[TABLE])
            def check(returned, partition=None):
                import json
                from airflow.sdk import get_current_context
                context = get_current_context()
                assert returned["partition"] == partition
                assert returned["keys"] == [partition.key, partition.key["day"]]
                assert [type(key).__name__ for key in returned["keys"]] == ["ProductKey", "Interval"]
                assert [str(key) for key in returned["keys"]] == ["2013-11-03|JFK", "2013-11-03"]
                (OUT / "check").write_text(json.dumps({
                    "text": str(context["partition"]), "airport": partition["airport"],
                    "previous": partition.previous.text, "start": partition.start.isoformat(),
                    "past": [p.text for p, _ in zip(partition.iter_past_partitions(), range(3))],
                    "key": str(partition.key), "dimensions": list(partition.dimensions),
                }))

            load >> [each.expand(number=[1, 2]), each_too.expand(number=[3])] >> check(elsewhere())
        """,
    )
    return "by_hand"


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (None, "needs a partition_key"),
        ("2013-02-08", "2 joined by '|'"),
        ("2013-02-08|LGA", "nearest: "),
        ("yesterday|JFK", "is not a partition"),
        ("2013-02-08T00:00-05:00|JFK", "is written '2013-02-08|JFK'"),
        ("2012-12-31|JFK", "nearest: 2013-01-01"),
        ("2999-01-01|JFK", "is open until"),
    ],
)
def test_a16_a_manual_run_names_a_valid_closed_partition_or_is_refused(
    airflow: Airflow, by_hand: str, key: str | None, message: str
) -> None:
    answer = airflow.trigger(by_hand, key)
    assert answer.status_code == 400
    assert message in answer.json()["detail"]
    assert airflow.runs(by_hand) == []


def test_a10_a19_er4_er8_er11_er13_tasks_templates_callbacks_and_mapped_tasks_see_the_partition(
    airflow: Airflow, by_hand: str
) -> None:
    assert airflow.trigger(by_hand, "2013-11-03|JFK").status_code == 200
    assert airflow.wait_finished(by_hand, 1)[0][:2] == ("2013-11-03|JFK", "success")
    loaded = (airflow.out / "load").read_text().strip()
    assert loaded == "2013-11-03|JFK JFK 2013-11-03 00:00:00-04:00 2013-11-04 00:00:00-05:00"
    assert {(airflow.out / f"each{n}").read_text() for n in (1, 2, 3)} == {"2013-11-03|JFK"}
    assert json.loads((airflow.out / "check").read_text()) == {
        "text": "2013-11-03|JFK",
        "airport": "JFK",
        "previous": "2013-11-02|JFK",
        "start": "2013-11-03T00:00:00-04:00",
        "past": ["2013-11-02|JFK", "2013-11-01|JFK", "2013-10-31|JFK"],
        "key": "2013-11-03|JFK",
        "dimensions": ["day", "airport"],
    }
    assert airflow.events("table") == ["2013-11-03|JFK"]
    airflow.wait((airflow.out / "over").exists, "the Dag's callback")
    assert (airflow.out / "over").read_text() == "2013-11-03|JFK True"
    extra = json.loads(airflow.sql("select extra from asset where name = 'table'")[0][0])
    assert extra["airflow_partitions"]["definition"]["kind"] == "product"


def test_two_runs_of_one_partition_work_one_after_the_other(airflow: Airflow) -> None:
    airflow.write(
        "alone",
        """
        @asset(schedule=None, partition=PartitionBySequence(["a", "b"]))
        def alone(self, partition, context):
            import time
            assert self.name == "alone" and partition.key == "a"
            start = time.time()
            time.sleep(6)
            (OUT / f"alone-{context['run_id'][-8:]}").write_text(f"{start} {time.time()}")

        with DAG("alone_too", schedule=Partitioned(None, PartitionBySequence(["a", "b"]))):
            @task(outlets=[alone])
            def make(partition=None, dag_run=None):
                import time
                start = time.time()
                time.sleep(6)
                (OUT / f"alone-too-{dag_run.run_id}").write_text(f"{start} {time.time()}")

            make()
        """,
    )
    for _ in range(2):
        assert airflow.trigger("alone", "a").status_code == 200
    assert {state for _, state, _ in airflow.wait_finished("alone", 2)} == {"success"}
    (_, first_end), (second_start, _) = times_of(airflow, "alone")
    assert first_end <= second_start
    assert airflow.events("alone") == ["a", "a"]


def times_of(airflow: Airflow, name: str) -> list[tuple[float, float]]:
    """Start and end of each run that has left them in a file, in order; the files are taken away."""
    times = []
    for file in airflow.out.glob(f"{name}-*"):
        start, end = map(float, file.read_text().split())
        times.append((start, end))
        file.unlink()
    return sorted(times)


def test_er1_runs_of_two_dags_that_make_one_partition_work_one_after_the_other(airflow: Airflow) -> None:
    body = {"logical_date": None, "partition_key": "a", "dag_run_id": "same"}  # ids are unique within a Dag only
    for dag_id in ("alone", "alone_too"):
        assert airflow.api.ask("POST", f"dags/{dag_id}/dagRuns", body).status_code == 200
    for dag_id in ("alone", "alone_too"):
        assert [run[:2] for run in airflow.wait_finished(dag_id, 1, run_id="same")] == [("a", "success")]
    (_, first_end), (second_start, _) = times_of(airflow, "alone")
    assert first_end <= second_start


def test_a_run_whose_key_was_cleared_fails_before_work(airflow: Airflow) -> None:
    airflow.write(
        "keyless",
        """
        @asset(schedule=None, partition=PartitionBySequence(["a", "b"]), default_args={"retries": 3})
        def keyless(partition):
            with (OUT / "keyless").open("a") as file:
                file.write(partition.text)
        """,
    )
    assert airflow.trigger("keyless", "b").status_code == 200
    run_id = airflow.wait_finished("keyless", 1)[0][2]
    airflow.api.post("dags/keyless/clearPartitions", {"run_id": run_id, "dry_run": False})
    airflow.api.post("dags/keyless/clearTaskInstances", {"dag_run_id": run_id, "dry_run": False, "only_failed": False})
    airflow.wait(lambda: airflow.runs("keyless")[0][:2] == (None, "failed"), "the keyless run failed")
    assert (airflow.out / "keyless").read_text() == "b"
    logs = "".join(path.read_text() for path in airflow.home.logs.rglob("dag_id=keyless/**/attempt=*.log"))
    assert "has no partition_key: it was cleared, or the run is one of 'airflow dags test'" in logs


def test_er5_an_asset_beside_a_partitioned_one_starts_no_dag_without_partitions_and_says_how(airflow: Airflow) -> None:
    source = """
        DAYS = PartitionByInterval("@daily", start="2013-01-01")
        with DAG("beside", schedule=Partitioned(None, DAYS, asset=(MADE := Asset("beside_made")))):
            write = EmptyOperator(task_id="write", outlets=[MADE, Asset("beside")])
            {then}

        with DAG("after_beside", schedule={schedule}):
            EmptyOperator(task_id="nothing")
        """
    (airflow.home.dags / "beside.py").write_text(
        HEADER.format(out="") + textwrap.dedent(source.format(then="", schedule='Asset("beside")'))
    )

    def import_errors() -> str:
        return " ".join(error["stack_trace"] for error in airflow.api.get("importErrors")["import_errors"])

    airflow.wait(lambda: "TriggerDagRunOperator in beside" in import_errors(), "the import error")
    trigger = """
            from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
            write >> TriggerDagRunOperator(task_id="go_on", trigger_dag_id="after_beside")
        """
    airflow.write("beside", source.format(then=trigger.strip(), schedule="None"))
    assert airflow.trigger("beside", "2013-02-08").status_code == 200
    assert [run[:2] for run in airflow.wait_finished("after_beside", 1)] == [(None, "success")]


def note_of(airflow: Airflow, dag_id: str, run_id: str) -> str:
    """What people read on a run."""
    return str(airflow.api.get(f"dags/{dag_id}/dagRuns/{run_id}")["note"])


def test_a17_a18_a_scheduled_run_leaves_off_if_its_partition_was_made_by_hand(airflow: Airflow) -> None:
    source = """
        @asset(schedule={schedule}, partition=PartitionByInterval("@daily"), start_date=LONG_AGO)
        def once(partition, context):
            with (OUT / "once").open("a") as file:
                file.write(context["dag_run"].run_type + " ")

        with DAG("in_steps", schedule=Partitioned({schedule}, PartitionByInterval("@daily")), start_date=LONG_AGO):
            @task
            def step(number, dag_run=None):
                with (OUT / "in_steps").open("a") as file:
                    file.write(dag_run.run_type + " ")

            step.override(task_id="load")(1) >> step.override(task_id="save", outlets=[Asset("saved")])(2) >> [
                step.override(task_id="tell")(3), step.override(task_id="tidy", trigger_rule="all_done")(4)]
        """
    day = datetime.now(UTC) - timedelta(days=1)
    airflow.write("once", source.format(schedule=None))
    by_hand = {}
    for dag_id in ("once", "in_steps"):
        body = {"logical_date": None, "partition_key": f"{day:%Y-%m-%d}"} | (
            {"note": "mine"} if dag_id == "once" else {}
        )
        assert airflow.api.ask("POST", f"dags/{dag_id}/dagRuns", body).status_code == 200
    for dag_id in ("once", "in_steps"):
        by_hand[dag_id] = airflow.wait_finished(dag_id, 1)[0][2]
    airflow.write("once", source.format(schedule="'@daily'"))
    words = f"Partition {day:%Y-%m-%d}: {day:%Y-%m-%d} 00:00 to {day + timedelta(days=1):%Y-%m-%d} 00:00 UTC"
    assert note_of(airflow, "once", by_hand["once"]) == "mine"
    assert note_of(airflow, "in_steps", by_hand["in_steps"]) == words
    scheduled = {}
    for dag_id, tasks in (("once", 1), ("in_steps", 4)):
        airflow.wait_finished(dag_id, 2)
        ((scheduled[dag_id],),) = airflow.sql(
            "select run_id from dag_run where dag_id = ? and run_type = 'scheduled'", dag_id
        )
        states = airflow.sql(
            "select state from task_instance where dag_id = ? and run_id = ?", dag_id, scheduled[dag_id]
        )
        assert states == [("skipped",)] * tasks
        reason = f"partition {day:%Y-%m-%d} was made already, after its end: run {by_hand[dag_id]} of {dag_id}"
        assert note_of(airflow, dag_id, scheduled[dag_id]) == f"{words}\nSkipped: {reason}"
    assert (airflow.out / "once").read_text() == "manual "
    assert (airflow.out / "in_steps").read_text() == "manual " * 4
    for dag_id in ("once", "in_steps"):
        body = {"dag_run_id": scheduled[dag_id], "dry_run": False, "only_failed": False}
        airflow.api.post(f"dags/{dag_id}/clearTaskInstances", body)
    airflow.wait(lambda: (airflow.out / "once").read_text() == "manual scheduled ", "a cleared run works")
    airflow.wait(
        lambda: (airflow.out / "in_steps").read_text() == "manual " * 4 + "scheduled " * 4, "all tasks of a cleared run"
    )
    assert note_of(airflow, "in_steps", scheduled["in_steps"]) == words


def test_er9_the_partition_of_a_run_that_was_deleted_is_made_again(airflow: Airflow) -> None:
    before = airflow.wait_finished("once", 2)
    for _, _, run_id in before:
        assert airflow.api.ask("DELETE", f"dags/once/dagRuns/{run_id}").status_code == 204
    airflow.parse_again("once")
    airflow.wait_finished("once", 1)
    assert (airflow.out / "once").read_text() == "manual scheduled scheduled "
