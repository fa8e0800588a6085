"""Keys that tasks add while they run, on a real scheduler."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.scheduler.conftest import Airflow

pytestmark = pytest.mark.airflow

#: A Dag file whose adding tasks do what the test writes down for them.
ADDS = """
    import json

    def do(definition, name):
        todo = json.loads((OUT / f"{name}.todo").read_text())
        for key, metadata in todo.get("add", []):
            definition.add_partition(key, metadata)
        for key in todo.get("once", []):
            definition.add_partition(key, once=True)
        for key in todo.get("remove", []):
            definition.remove_partition(key)
        (OUT / f"{name}.there").write_text(json.dumps(definition.partitions()))
        if todo.get("fail"):
            raise ValueError("after adding")

    def note(name, partition):
        past = [p.text for p in partition.iter_past_partitions()]
        before = partition.previous
        told = [repr(partition.key), partition.metadata, past, None if before is None else before.metadata]
        (OUT / f"{name}-{partition}").write_text(json.dumps(told))
"""


def todo(airflow: Airflow, name: str, **what: Any) -> None:
    (airflow.out / f"{name}.todo").write_text(json.dumps(what))


def there(airflow: Airflow, name: str) -> Any:
    return json.loads((airflow.out / f"{name}.there").read_text())


def told(airflow: Airflow, name: str) -> Any:
    return json.loads((airflow.out / name).read_text())


def run(airflow: Airflow, dag_id: str, **what: Any) -> str:
    """Let the adding Dag make one run that does *what*; its state."""
    todo(airflow, dag_id, **what)
    count = len(airflow.runs(dag_id))
    assert airflow.trigger(dag_id, None).status_code == 200
    return airflow.wait_finished(dag_id, count + 1)[count][1]


def write_adder(airflow: Airflow, name: str) -> None:
    """A Dag that adds keys, and nobody who waits for them."""
    airflow.write(
        name,
        ADDS
        + f"""
    keys = PartitionAtRuntime(name="{name}_keys")

    @asset(schedule=None, partition=keys)
    def {name}(self):
        from airflow_partitions.runs.key_list import read, settled, write
        do(keys, self.name)
        if killed := json.loads((OUT / f"{{self.name}}.todo").read_text()).get("killed"):
            write(self.name, settled(self, read(self.name)).with_pending({{killed: None}}, "manual__killed"))
    """,
    )


@pytest.fixture(scope="module")
def customers(airflow: Airflow) -> str:
    """An adding Dag that has run once, and its consumers."""
    airflow.write(
        "customers",
        ADDS
        + """
    active = PartitionAtRuntime(name="active_customers")

    @asset(schedule=None, partition=active)
    def customers():
        do(active, "customers")

    @asset(schedule=customers, partition=active)
    def predictions(partition):
        note("prediction", partition)
        (OUT / f"listed-{partition}").write_text(json.dumps(active.partitions()))

    @asset(schedule=predictions, partition=active)
    def reports(partition):
        note("report", partition)

    with DAG("from_templates", schedule=Partitioned(customers, active)):
        BashOperator(task_id="say", bash_command="echo '{{ partition.previous }} {{ partition.metadata }}'"
                     f" > {OUT}/template-$KEY", env={"KEY": "{{ partition }}"}, append_env=True)
    """,
    )
    airflow.wait(lambda: all(map(airflow.parsed, ("predictions", "reports", "from_templates"))), "the consumers")
    adds = [["ann", {"score": 3}], [7, 0.5], ["ann", {"score": 4}], ["bob", None]]
    assert run(airflow, "customers", add=adds) == "success"
    for consumer in ("predictions", "reports", "from_templates"):
        airflow.wait_finished(consumer, 3)
    return "customers"


def test_a7_each_added_key_runs_its_consumers_once_each_time(airflow: Airflow, customers: str) -> None:
    for dag_id in ("predictions", "reports", "from_templates"):
        made = sorted((key, state) for key, state, _ in airflow.runs(dag_id))
        assert made == [("ann", "success"), ("bob", "success"), ("int:7", "success")]
    for asset in ("customers", "predictions", "reports"):
        assert sorted(airflow.events(asset)) == ["ann", "bob", "int:7"]
    assert told(airflow, "listed-bob") == [7, "ann", "bob"]


def test_a20_a_consumer_sees_the_key_added_before_and_what_was_said_of_it(airflow: Airflow, customers: str) -> None:
    for name in ("prediction", "report"):  # and so does the consumer of the consumer
        assert told(airflow, f"{name}-int:7") == ["7", 0.5, [], None]
        assert told(airflow, f"{name}-ann") == ["'ann'", {"score": 4}, ["int:7"], 0.5]
        assert told(airflow, f"{name}-bob") == ["'bob'", None, ["ann", "int:7"], {"score": 4}]
    assert (airflow.out / "template-bob").read_text() == "ann None\n"


def test_a16_a_run_that_adds_keys_takes_none(airflow: Airflow, customers: str) -> None:
    answer = airflow.trigger(customers, "ann")
    assert answer.status_code == 400
    assert "trigger it without a partition_key" in answer.json()["detail"]


def test_a7_keys_are_listed_added_once_or_again_and_removed(airflow: Airflow) -> None:
    write_adder(airflow, "listed")
    assert run(airflow, "listed", add=[["a", None], [7, None], ["b", None]]) == "success"
    assert there(airflow, "listed") == ["a", 7, "b"]
    assert run(airflow, "listed", once=["a", "c", "c"], remove=["b"]) == "success"
    assert there(airflow, "listed") == ["a", 7, "c"]
    assert run(airflow, "listed", add=[["a", None], ["b", None]]) == "success"
    assert there(airflow, "listed") == [7, "c", "a", "b"]
    assert sorted(airflow.events("listed")) == ["a", "a", "b", "b", "c", "int:7"]


def test_a7_what_a_failed_task_added_was_never_added(airflow: Airflow) -> None:
    write_adder(airflow, "failing")
    assert run(airflow, "failing", add=[["a", None]], fail=True) == "failed"
    assert there(airflow, "failing") == ["a"]
    assert run(airflow, "failing") == "success"
    assert there(airflow, "failing") == []
    assert run(airflow, "failing", once=["a"]) == "success"
    assert airflow.events("failing") == ["a"]


def test_a7_what_a_task_wrote_that_was_killed_then_was_never_added(airflow: Airflow) -> None:
    write_adder(airflow, "killed")
    assert run(airflow, "killed", add=[["a", None]]) == "success"
    assert run(airflow, "killed", killed="b") == "success"
    assert run(airflow, "killed") == "success"
    assert there(airflow, "killed") == ["a"]
    assert run(airflow, "killed", once=["a", "b"]) == "success"
    assert airflow.events("killed") == ["a", "b"]


def test_a7_a_run_that_adds_nothing_makes_no_event(airflow: Airflow) -> None:
    write_adder(airflow, "idle")
    assert run(airflow, "idle", add=[["a", None]]) == "success"
    assert run(airflow, "idle", once=["a"]) == "success"
    assert run(airflow, "idle", remove=["a"]) == "success"
    assert run(airflow, "idle") == "success"
    assert there(airflow, "idle") == []
    assert airflow.events("idle") == ["a"]


def test_a7_the_event_of_the_last_adding_run_is_found_behind_many_others(airflow: Airflow) -> None:
    write_adder(airflow, "behind")
    assert run(airflow, "behind", add=[["a", None]]) == "success"
    ((found,),) = airflow.sql("select id from asset where name = 'behind'")
    for number in range(101):
        airflow.api.post("assets/events", {"asset_id": found, "partition_key": f"from outside {number}"})
    assert run(airflow, "behind") == "success"
    assert there(airflow, "behind") == ["a"]


@pytest.fixture(scope="module")
def driven(airflow: Airflow) -> str:
    airflow.write(
        "driven",
        ADDS
        + """
    contracts = PartitionAtRuntime(name="contracts")
    DAYS = PartitionByInterval("@daily", start="2013-01-01")

    @asset(schedule=None, partition=None)
    def export(): ...

    @asset(schedule=export, partition=contracts)
    def by_export():
        do(contracts, "by_export")

    @asset(schedule=None, partition=DAYS)
    def ledger_days(partition): ...

    @asset(schedule=ledger_days, partition=contracts)
    def by_day(partition):
        assert partition.start.year == 2013
        do(contracts, "by_day")

    with DAG("driven_consumer", schedule=Partitioned(by_export | by_day, contracts)):
        EmptyOperator(task_id="nothing")

    with DAG("driven", schedule=None):
        EmptyOperator(task_id="nothing")
    """,
    )
    airflow.wait(lambda: airflow.parsed("driven_consumer"), "the consumer")
    return "driven"


def test_a7_an_asset_without_partitions_drives_a_run_that_adds_keys(airflow: Airflow, driven: str) -> None:
    todo(airflow, "by_export", add=[["c1", None], ["c2", None]])
    assert airflow.trigger("export", None).status_code == 200
    assert airflow.wait_finished("by_export", 1)[0][:2] == (None, "success")
    assert sorted(airflow.events("by_export")) == ["c1", "c2"]
    airflow.wait(lambda: {"c1", "c2"} <= set(airflow.keys("driven_consumer")), "the consumer")


def test_a7_a_partition_drives_a_run_that_adds_keys_and_its_own_does_not_leak(airflow: Airflow, driven: str) -> None:
    todo(airflow, "by_day")
    assert airflow.trigger("ledger_days", "2013-02-08").status_code == 200
    assert airflow.wait_finished("by_day", 1)[0][:2] == ("2013-02-08", "success")
    assert airflow.events("by_day") == []
    todo(airflow, "by_day", add=[["c3", None]])
    assert airflow.trigger("ledger_days", "2013-02-09").status_code == 200
    airflow.wait_finished("by_day", 2)
    assert airflow.events("by_day") == ["c3"]
    airflow.wait(lambda: "c3" in airflow.keys("driven_consumer"), "the consumer")
    assert "2013-02-08" not in airflow.keys("driven_consumer")


def test_a7_runs_that_add_keys_take_turns(airflow: Airflow) -> None:
    airflow.write(
        "turns",
        """
        seats = PartitionAtRuntime(name="seats")

        @asset(schedule=None, partition=seats, max_active_runs=3)
        def turns():
            import time
            there = len(seats.partitions())
            time.sleep(3)
            seats.add_partitions([there, there + 1])
        """,
    )
    for _ in range(3):
        assert airflow.trigger("turns", None).status_code == 200
    assert {state for _, state, _ in airflow.wait_finished("turns", 3)} == {"success"}
    assert sorted(airflow.events("turns")) == [f"int:{number}" for number in range(6)]
