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
        from airflow_partitions.runs.key_list import AddingRun, read, write
        do(keys, self.name)
        if killed := json.loads((OUT / f"{{self.name}}.todo").read_text()).get("killed"):
            run = AddingRun(self.name, self.name, "manual__killed", dt.datetime.now(dt.UTC))
            write(keys, read(keys).settled().with_pending({{killed: None}}, run))
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


def test_er14_a_run_by_hand_takes_keys_that_were_added_or_came_with_an_event(airflow: Airflow, customers: str) -> None:
    answer = airflow.trigger("predictions", "anne")
    assert answer.status_code == 400
    said = answer.json()["detail"]
    assert "partition_key 'anne' is unknown: no task has added it" in said
    assert said.endswith("post an event of an asset that this Dag waits for; nearest: ann")
    assert airflow.trigger("predictions", "ann").status_code == 200
    assert airflow.wait_finished("predictions", 4)[3][:2] == ("ann", "success")
    airflow.wait_finished("reports", 4)


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


def test_er3_the_keys_belong_to_the_name_whichever_asset_adds_them(airflow: Airflow) -> None:
    airflow.write(
        "in_shops",
        ADDS
        + """
    buyers = PartitionAtRuntime(name="buyers")

    @asset(schedule=None, partition=buyers)
    def online():
        do(buyers, "online")

    @asset(schedule=None, partition=buyers)
    def in_shops():
        do(buyers, "in_shops")

    @asset(schedule=in_shops, partition=buyers)
    def greeted(partition):
        note("greeted", partition)
    """,
    )
    airflow.wait(lambda: airflow.parsed("greeted"), "the consumer")
    assert run(airflow, "online", add=[["ann", {"from": "online"}], [7, None]]) == "success"
    assert run(airflow, "in_shops", once=["ann", "bob"]) == "success"
    assert there(airflow, "in_shops") == ["ann", 7, "bob"]
    assert airflow.events("in_shops") == ["bob"]
    airflow.wait_finished("greeted", 1)
    assert told(airflow, "greeted-bob") == ["'bob'", None, ["int:7", "ann"], None]
    assert run(airflow, "in_shops", remove=["ann"]) == "success"
    assert run(airflow, "online", once=["ann", "bob"]) == "success"
    assert there(airflow, "online") == [7, "bob", "ann"]
    assert sorted(airflow.events("online")) == ["ann", "ann", "int:7"]


def test_er3_runs_of_two_assets_that_add_to_one_name_take_turns(airflow: Airflow) -> None:
    airflow.write(
        "rows",
        """
        places = PartitionAtRuntime(name="places")

        def add():
            import time
            count = len(places.partitions())
            time.sleep(3)
            places.add_partitions([count, count + 1])

        @asset(schedule=None, partition=places)
        def rows():
            add()

        @asset(schedule=None, partition=places)
        def columns():
            add()
        """,
    )
    airflow.wait(lambda: airflow.parsed("columns"), "the other asset")
    for dag_id in ("rows", "columns"):
        assert airflow.trigger(dag_id, None).status_code == 200
    for dag_id in ("rows", "columns"):
        assert airflow.wait_finished(dag_id, 1)[0][1] == "success"
    assert sorted(airflow.events("rows") + airflow.events("columns")) == [f"int:{number}" for number in range(4)]


def test_er6_more_keys_than_airflow_registers_in_time_are_refused_and_others_register_once(airflow: Airflow) -> None:
    airflow.write(
        "crowd",
        """
        visitors = PartitionAtRuntime(name="visitors")

        @asset(schedule=None, partition=visitors)
        def crowd():
            try:
                visitors.add_partitions(range(501))
            except ValueError as error:
                (OUT / "crowd").write_text(str(error))
            visitors.add_partitions(range(300))
        """,
    )
    assert airflow.trigger("crowd", None).status_code == 200
    assert airflow.wait_finished("crowd", 1)[0][1] == "success"
    assert "this task adds 501 keys, an event each; expected at most 500" in (airflow.out / "crowd").read_text()
    assert "[workers] execution_api_timeout. Set that to 6" in (airflow.out / "crowd").read_text()
    assert sorted(airflow.events("crowd")) == sorted(f"int:{number}" for number in range(300))


@pytest.fixture(scope="module")
def guests(airflow: Airflow) -> str:
    """An adding Dag with keys of some letters only, and one with keys of a class."""
    airflow.write(
        "guests",
        ADDS
        + """
    invited = PartitionAtRuntime(name="invited", allowed="[a-z]+")
    anybody = PartitionAtRuntime(name="anybody")
    seats = PartitionAtRuntime(name="seats_taken")

    class Seat(PartitionKey):
        row: int
        place: str

        def __str__(self):
            return f"seat {self.row}{self.place}"

    @asset(schedule=None, partition=invited)
    def guests(outlet_events):
        if own := json.loads((OUT / "guests.todo").read_text()).get("own"):
            outlet_events[Asset("guests")].add_partitions(own)
        do(invited, "guests")

    @asset(schedule=None, partition=seats)
    def taken():
        seats.add_partitions([Seat(row=1, place="a"), Seat(row=1, place="b")])
        (OUT / "taken").write_text(" ".join(str(seat) for seat in seats.partitions() if isinstance(seat, Seat)))

    @asset(schedule=taken, partition=seats)
    def ushers(partition):
        assert isinstance(partition.key, Seat)
        (OUT / str(partition.key)).write_text(f"{partition.previous and partition.previous.key}")

    with DAG("greeted_guests", schedule=Partitioned(guests, invited)):
        BashOperator(task_id="say", bash_command=f"echo '{{{{ partition }}}}' > {OUT}/greeted-guest")

    with DAG("anybodys_guests", schedule=Partitioned(Asset("callers"), anybody, upstreams={"callers": anybody})):
        BashOperator(task_id="say", bash_command=f'echo "$CALLER" > {OUT}/caller',
                     env={"CALLER": "{{ partition }}"}, append_env=True)
    """,
    )
    for dag_id in ("ushers", "greeted_guests", "anybodys_guests"):
        airflow.wait(lambda dag_id=dag_id: airflow.parsed(dag_id), dag_id)
    return "guests"


def send(airflow: Airflow, asset: str, key: str) -> None:
    """Post an event of that key."""
    ((asset_id,),) = airflow.sql("select id from asset where name = ?", asset)
    airflow.api.post("assets/events", {"asset_id": asset_id, "partition_key": key})


def test_er7_a_key_of_a_class_is_one_of_that_class_in_the_tasks(airflow: Airflow, guests: str) -> None:
    assert airflow.trigger("taken", None).status_code == 200
    assert airflow.wait_finished("taken", 1)[0][1] == "success"
    assert (airflow.out / "taken").read_text() == "seat 1a seat 1b"
    assert [state for _, state, _ in airflow.wait_finished("ushers", 2)] == ["success", "success"]
    assert (airflow.out / "seat 1a").read_text() == "None"
    assert (airflow.out / "seat 1b").read_text() == "seat 1a"


def test_ea7_a_key_that_is_not_allowed_is_refused_wherever_it_comes_in(airflow: Airflow, guests: str) -> None:
    bad = "x; touch y"
    assert run(airflow, guests, add=[[bad, None]]) == "failed"
    assert run(airflow, guests, own=[bad]) == "failed"
    assert airflow.events(guests) == []
    answer = airflow.trigger("greeted_guests", bad)
    assert answer.status_code == 400
    assert f"key '{bad}' is not allowed; the keys of 'invited' match [a-z]+" in answer.json()["detail"]
    send(airflow, guests, bad)
    send(airflow, guests, "ann")
    assert run(airflow, guests, own=["bob"]) == "success"
    assert sorted(key for key, _, _ in airflow.wait_finished("greeted_guests", 2)) == ["ann", "bob"]
    logs = airflow.sql("select extra from log where event = 'failed to map partition_key'")
    assert any(bad in extra and "is not allowed" in extra for (extra,) in logs)


def test_ea7_a_key_from_outside_is_data_for_a_shell_that_gets_it_by_its_environment(
    airflow: Airflow, guests: str
) -> None:
    pwned = airflow.out / "pwned"
    send(airflow, "callers", f"$(touch {pwned})`touch {pwned}`; touch {pwned}")
    assert airflow.wait_finished("anybodys_guests", 1)[0][1] == "success"
    assert (airflow.out / "caller").read_text() == f"$(touch {pwned})`touch {pwned}`; touch {pwned}\n"
    assert not pwned.exists()


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
