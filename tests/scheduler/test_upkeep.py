"""Ledgers, paused consumers and pending rows, kept in order by the command that users run."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from time import sleep
from typing import Any

import pytest

from airflow_partitions import PartitionByInterval
from airflow_partitions.engine.database.models import PREFIX
from tests.scheduler.conftest import Airflow
from tests.scheduler.test_dependencies import emit, serialized

DATABASES = ("sqlite", "postgresql")
pytestmark = pytest.mark.airflow

HOURS = [str(key) for key in PartitionByInterval("@hourly").keys("2014-03-01", "2014-03-03")]


def environment(airflow: Airflow) -> dict[str, str]:
    return airflow.home.environment(dict(os.environ), airflow.services.port)


def command(airflow: Airflow, *words: str) -> Any:
    """What ``airflow asset-partitions`` prints as JSON."""
    process = airflow.command("asset-partitions", *words, "--output", "json")
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout.splitlines()[-1])


@contextmanager
def service(airflow: Airflow) -> Iterator[Callable[[], list[Any]]]:
    """The command as a service, and what it has said so far."""
    file = airflow.home.root / f"upkeep-{os.urandom(4).hex()}.log"
    words = ("asset-partitions", "upkeep", "--loop", "--interval", "1", "--output", "json")
    process = airflow.command_line.start(*words, file=file)
    try:
        yield lambda: [json.loads(line) for line in file.read_text().splitlines() if line.startswith("{")]
    finally:
        os.kill(process.pid, signal.SIGTERM)
        try:
            airflow.wait(lambda: not process.is_running, "the end of upkeep", 60)
        finally:
            process.kill()
        assert process.wait() == 0


def running(airflow: Airflow) -> list[int]:
    """The upkeep processes that have not ended."""
    rows = airflow.sql(f"select id from {PREFIX}upkeep where ended_at is null order by id")
    return [number for (number,) in rows]


def ledger(airflow: Airflow, asset: str) -> list[str]:
    """The keys of the ledger, by time."""
    rows = airflow.sql(
        f'select p.key from {PREFIX}partition p join asset a on a.id = p.asset_id where a.name = ? order by p."start"',
        asset,
    )
    return [key for (key,) in rows]


def changes(airflow: Airflow, asset: str) -> int:
    """How often the partitions of an asset were written; those of others may be at any time, by their schedules."""
    ((number,),) = airflow.sql(f"select changes from {PREFIX}asset where name = ?", asset)
    return int(number)


def cells(airflow: Airflow, asset: str) -> dict[str, str]:
    """What tasks read of an asset, by name."""
    query = "select s.key, s.value from asset_state_store s join asset a on a.id = s.asset_id where a.name = ?"
    return dict(airflow.sql(query, asset))


def purge(airflow: Airflow) -> None:
    words = ["db", "clean", "--tables", "asset_event", "--clean-before-timestamp", "2100-01-01", "--skip-archive", "-y"]
    airflow.command(*words).check_returncode()


@pytest.fixture(scope="module")
def meter_consumer(airflow: Airflow) -> str:
    airflow.write(
        "meter_consumer",
        """
        HOURS, DAYS = PartitionByInterval("@hourly"), PartitionByInterval("@daily")

        @asset(schedule=None, partition=HOURS)
        def meters(): ...

        @asset(schedule=meters, partition=DAYS)
        def meter_days(): ...

        with DAG("meter_consumer", schedule=None):
            EmptyOperator(task_id="nothing")
        """,
    )
    airflow.wait(lambda: airflow.parsed("meter_days"), "the consumer")
    return "meter_consumer"


def test_what_was_materialized_outlives_airflows_events(airflow: Airflow, meter_consumer: str) -> None:
    emit(airflow, "meters", *HOURS[:23], "nonsense")
    report = command(airflow, "upkeep")
    assert report["working"]
    assert any("'nonsense'" in problem and "meters" in problem for problem in report["problems"])
    assert ledger(airflow, "meters") == HOURS[:23]
    before = changes(airflow, "meters")
    assert command(airflow, "upkeep")["working"]
    assert changes(airflow, "meters") == before
    purge(airflow)
    assert airflow.events("meters") == []
    emit(airflow, "meters", HOURS[23])
    assert airflow.wait_finished("meter_days", 1)[0][:2] == ("2014-03-01", "success")


def test_what_tasks_read_is_made_again(airflow: Airflow, meter_consumer: str) -> None:
    (asset,) = airflow.sql("select id from asset where name = 'meters'")
    command(airflow, "upkeep")
    before, read = ledger(airflow, "meters"), cells(airflow, "meters")
    response = airflow.api.ask("DELETE", f"assets/{asset[0]}/state-store")
    assert response.status_code in (200, 204), response.text
    assert cells(airflow, "meters") == {}
    assert ledger(airflow, "meters") == before
    command(airflow, "upkeep")
    assert cells(airflow, "meters") == read
    (report,) = command(airflow, "reconcile", "meters")
    assert (report["asset"], report["written"]) == ("meters", 0)
    assert ledger(airflow, "meters") == before == HOURS[:24]


def test_what_came_during_a_pause_is_caught_up(airflow: Airflow, meter_consumer: str) -> None:
    command(airflow, "upkeep")  # from now on it knows the consumer
    with service(airflow) as reports:
        airflow.wait(lambda: running(airflow), "the service")
        airflow.api.patch("dags/meter_days", {"is_paused": True})
        emit(airflow, "meters", *HOURS[24:])
        airflow.api.patch("dags/meter_days", {"is_paused": False})
        airflow.wait(lambda: "2014-03-02" in airflow.keys("meter_days"), "the day after the pause")
        airflow.wait(lambda: sum(line.get("caught_up", 0) for line in reports()) >= 1, "it is told")
    airflow.wait_finished("meter_days", 2)
    assert airflow.keys("meter_days").count("2014-03-02") == 1


def test_er2_a_pause_before_upkeep_ever_ran_is_caught_up(airflow: Airflow, meter_consumer: str) -> None:
    airflow.write(
        "dials",
        """
        HOURS, PAIRS = PartitionByInterval("@hourly"), PartitionByInterval(dt.timedelta(hours=2))

        @asset(schedule=None, partition=HOURS)
        def dials(): ...

        @asset(schedule=dials, partition=PAIRS)
        def dial_pairs(): ...

        with DAG("dials_file", schedule=None):
            EmptyOperator(task_id="nothing")
        """,
    )
    airflow.wait(lambda: airflow.parsed("dial_pairs"), "the consumer")
    emit(airflow, "dials", *HOURS[:2])
    airflow.wait_finished("dial_pairs", 1)
    airflow.api.patch("dags/dial_pairs", {"is_paused": True})
    emit(airflow, "dials", *HOURS[2:4], HOURS[0])
    airflow.api.patch("dags/dial_pairs", {"is_paused": False})
    assert command(airflow, "upkeep")["caught_up"] == 2
    airflow.wait_finished("dial_pairs", 3)
    assert sorted(airflow.keys("dial_pairs")) == ["2014-03-01T00:00Z", "2014-03-01T00:00Z", "2014-03-01T02:00Z"]


def test_a_consumer_that_is_new_or_redefined_starts_nothing_by_itself(airflow: Airflow, meter_consumer: str) -> None:
    for definition in ('PartitionByInterval("@daily")', 'PartitionByInterval("0 12 * * *")'):
        airflow.write(
            "newcomer",
            f"""
            with DAG("newcomer", schedule=Partitioned(Asset.ref(name="meters"), {definition})):
                EmptyOperator(task_id="nothing")
            """,
        )
        serialized(airflow, "newcomer", definition.partition('"')[2][:-2])
        for _ in range(2):
            assert command(airflow, "upkeep")["caught_up"] == 0
    assert airflow.keys("newcomer") == []


def test_one_works_the_others_stand_by_and_take_over(airflow: Airflow, meter_consumer: str) -> None:
    with service(airflow) as first:
        airflow.wait(lambda: running(airflow), "the first")
        with service(airflow) as second:
            airflow.wait(lambda: len(running(airflow)) == 2, "the second")
            emit(airflow, "meters", HOURS[0])
            airflow.wait(lambda: any(line.get("records") for line in first()), "the first works")
            assert not any(line.get("records") for line in second())
            assert not command(airflow, "upkeep")["working"]
            airflow.command("asset-partitions", "upkeep", "--check").check_returncode()
    assert running(airflow) == []


def test_few_rows_that_wait_stay(airflow: Airflow, meter_consumer: str) -> None:
    lonely = [f"20{year}-01-01T00:00Z" for year in range(20, 26)]
    emit(airflow, "meters", *lonely)
    sleep(6)  # younger ones stay anyway

    def pending_keys() -> set[str]:
        rows = airflow.sql(
            "select partition_key from asset_partition_dag_run where target_dag_id = 'meter_days'"
            " and created_dag_run_id is null"
        )
        return {key for (key,) in rows}

    assert {key[:10] for key in lonely} <= pending_keys()
    command(airflow, "upkeep")
    assert {key[:10] for key in lonely} <= pending_keys()


@pytest.fixture(scope="module")
def gauge_consumers(airflow: Airflow, meter_consumer: str) -> str:
    airflow.write(
        "gauge_consumers",
        """
        import json
        from airflow_partitions import KeyFormat, Lookback, Selection, materialized

        HOURS, DAYS = PartitionByInterval("@hourly"), PartitionByInterval("@daily")
        PARTS = PartitionByProduct([DAYS, PartitionBySequence(["a|b", "c"], name="part")])

        @asset(schedule=None, partition=HOURS)
        def gauges(): ...

        @asset(schedule=None, partition=PARTS)
        def parts(): ...

        def answer(*question):
            try:
                return {text: at.isoformat() for text, at in materialized(*question).items()}
            except Exception as error:
                return f"{type(error).__name__}: {error}"

        with DAG("gauge_consumers", schedule=None):

            @task(inlets=[Asset("plain")])
            def ask(run_id=None):
                some = [str(hour) for hour in HOURS.keys("2014-03-01", "2014-03-03")][22:26]
                day = Selection.of(HOURS, *list(HOURS.keys("2014-03-01", "2014-03-02")))
                answers = {
                    "all": answer(gauges), "by name": answer("gauges"), "bare": answer(Asset("gauges")),
                    "by reference": answer(Asset.ref(name="gauges")),
                    "keys": answer(gauges, some), "day": answer(gauges, day),
                    "parts": answer(parts, Selection.of(PARTS, r"2014-03-01|a\\|b", "2014-03-02|c")),
                    "other": answer(gauges, Selection.of(DAYS, "2014-03-01")), "malformed": answer(gauges, ["x"]),
                    "unknown": answer("gouges"), "unsaid": answer("plain"),
                }
                (OUT / f"answers-{run_id}.json").write_text(json.dumps(answers))

            ask()

        GAS = {"gas": KeyFormat(HOURS)}

        @asset(schedule=Asset("gas"), upstreams=GAS, partition=DAYS)
        def gas_days(self, partition):
            hours = Selection.between(HOURS, partition.start, partition.end)
            answers = [len(materialized(asset, hours)) for asset in ("gas", Asset("gas"))]
            answers += [partition.upstream("gas") == hours, partition.upstream_at_start("gas") == hours]
            (OUT / "gas_days.json").write_text(json.dumps(answers))

        @asset(schedule=Asset.ref(name="gauges"), partition=DAYS)
        def gauge_days(partition):
            import time
            if partition.text == "2014-03-02":
                (OUT / "gauge_days began").touch()
                while not (OUT / "gauge_days go").exists():
                    time.sleep(0.1)
            selections = partition.upstream(gauges), partition.upstream_at_start("gauges")
            needed, there = (sorted(map(str, selection)) for selection in selections)
            (OUT / f"gauge_days {partition}.json").write_text(json.dumps([needed, there]))
        """,
    )
    airflow.wait(lambda: airflow.parsed("gas_days"), "the consumer")
    return "gauge_consumers"


def ask(airflow: Airflow) -> Any:
    """What a task is told of materialized partitions."""
    before = len(airflow.runs("gauge_consumers"))
    assert airflow.trigger("gauge_consumers", None).status_code == 200
    _, state, run_id = airflow.wait_finished("gauge_consumers", before + 1)[-1]
    assert state == "success"
    return json.loads((airflow.out / f"answers-{run_id}.json").read_text())


def last_of(airflow: Airflow, asset: str) -> dict[str, datetime]:
    """When an asset's partitions were last materialized, as its events tell it."""
    rows = airflow.sql(
        "select e.partition_key, max(e.timestamp) from asset_event e join asset a on a.id = e.asset_id"
        " where a.name = ? and e.partition_key is not null group by e.partition_key",
        asset,
    )
    return {key: datetime.fromisoformat(at).replace(tzinfo=UTC) for key, at in rows}


def times(texts: dict[str, str]) -> dict[str, datetime]:
    return {text: datetime.fromisoformat(at) for text, at in texts.items()}


def test_a_task_is_told_what_is_materialized_without_upkeep_and_with_it(airflow: Airflow, gauge_consumers: str) -> None:
    emit(airflow, "gauges", *HOURS[:24], HOURS[30], "nonsense", HOURS[3])
    emit(airflow, "parts", r"2014-03-01|a\|b", "2014-03-01|c")
    expected = last_of(airflow, "gauges")
    del expected["nonsense"]
    for upkeep in (False, True):
        if upkeep:
            command(airflow, "upkeep")
        answers = ask(airflow)
        for question in ("all", "by name", "by reference", "bare"):
            assert times(answers[question]) == expected, question
        assert sorted(answers["keys"]) == HOURS[22:24]
        assert sorted(answers["day"]) == HOURS[:24]
        assert list(answers["parts"]) == [r"2014-03-01|a\|b"]
        assert "'@hourly'" in answers["other"]
        assert "'@daily'" in answers["other"]
        assert answers["malformed"].startswith("InvalidKeyError: 'x' is not a partition")
        assert answers["unknown"].startswith("InvalidDefinitionError: there is no asset 'gouges'")
        assert answers["unsaid"].startswith("InvalidDefinitionError: nobody says what partitions asset 'plain' has")


def test_a_task_is_told_of_what_was_purged(airflow: Airflow, gauge_consumers: str) -> None:
    expected = last_of(airflow, "gauges")
    del expected["nonsense"]
    command(airflow, "upkeep")
    purge(airflow)
    assert times(ask(airflow)["all"]) == expected
    emit(airflow, "gauges", HOURS[0], HOURS[40])
    answers = ask(airflow)
    assert times(answers["all"]) == expected | last_of(airflow, "gauges")
    assert sorted(answers["day"]) == HOURS[:24]


def test_a_task_is_told_of_keys_that_somebody_else_writes(airflow: Airflow, gauge_consumers: str) -> None:
    emit(airflow, "gas", *(key.replace("Z", ":00") for key in HOURS[:24]))
    airflow.wait_finished("gas_days", 1)
    assert json.loads((airflow.out / "gas_days.json").read_text()) == [24, 24, True, True]


def test_a10_a_task_is_told_what_its_partition_needs_and_what_was_there_when_its_run_began(
    airflow: Airflow, gauge_consumers: str
) -> None:
    assert airflow.trigger("gauge_days", "2014-03-02").status_code == 200
    airflow.wait((airflow.out / "gauge_days began").exists, "the task")
    emit(airflow, "gauges", HOURS[30], HOURS[31])  # one again, one for the first time
    (airflow.out / "gauge_days go").touch()
    airflow.wait_finished("gauge_days", 1, partition_key="2014-03-02")
    needed, there = json.loads((airflow.out / "gauge_days 2014-03-02.json").read_text())
    assert needed == HOURS[24:48]
    assert there == [HOURS[30], HOURS[40]]  # the first one's event was purged long ago


def test_the_ledger_is_shown(airflow: Airflow, gauge_consumers: str) -> None:
    command(airflow, "upkeep")
    shown = command(airflow, "records", "gauges", "--from", "2014-03-01T20:00Z", "--until", "2014-03-03")
    assert [row["key"] for row in shown] == [*HOURS[20:24], HOURS[30], HOURS[31], HOURS[40]]


def test_dags_of_several_files_that_wait_for_each_other_are_told(airflow: Airflow, meter_consumer: str) -> None:
    source = """
        DAYS = PartitionByInterval("@daily")

        @asset(schedule=Asset.ref(name="{upstream}"), upstreams={{"{upstream}": DAYS}}, partition=DAYS)
        def {name}(): ...
        """
    try:
        airflow.write("rise", source.format(name="rise", upstream="fall"))
        airflow.write("fall", source.format(name="fall", upstream="rise"), folder="other")
        starts = [
            "fall waits for itself: fall waits for asset 'rise' of rise, which waits for asset 'fall' of fall;",
            "rise waits for itself: rise waits for asset 'fall' of fall, which waits for asset 'rise' of rise;",
        ]
        (problem,) = (text for text in command(airflow, "upkeep")["problems"] if "waits for itself" in text)
        assert problem.startswith(tuple(starts))
        assert "take one of these assets out of the schedule" in problem
    finally:
        airflow.remove("rise")
        (airflow.home.root / "other" / "fall.py").unlink()


def test_a_task_is_told_while_runs_that_events_have_started_are_queued(airflow: Airflow) -> None:
    """Airflow's own answer about such events is an error."""
    airflow.write(
        "crowd_reader",
        """
        import json
        import time
        from airflow_partitions import materialized

        HOURS = PartitionByInterval("@hourly")

        @asset(schedule=None, partition=HOURS)
        def crowds(): ...

        @asset(schedule=crowds, partition=HOURS, max_active_runs=1)
        def crowd_consumer():
            while not (OUT / "crowd_consumer go").exists():
                time.sleep(0.2)

        with DAG("crowd_reader", schedule=None):

            @task
            def read():
                keys = sorted(materialized(crowds, [str(key) for key in HOURS.keys("2014-03-01", "2014-03-02")]))
                (OUT / "crowds.json").write_text(json.dumps(keys))

            read()
        """,
    )
    emit(airflow, "crowds", *HOURS[:3], HOURS[30])
    queued = "select count(*) from dag_run where dag_id = 'crowd_consumer' and state = 'queued'"
    airflow.wait(lambda: airflow.sql(queued) == [(3,)], "queued runs")
    command(airflow, "upkeep")
    assert airflow.trigger("crowd_reader", None).status_code == 200
    runs = airflow.wait_finished("crowd_reader", 1)
    (airflow.out / "crowd_consumer go").touch()
    assert [state for _, state, _ in runs] == ["success"]
    assert json.loads((airflow.out / "crowds.json").read_text()) == HOURS[:3]
    airflow.wait_finished("crowd_consumer", 4)
