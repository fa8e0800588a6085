"""Keys that tasks added, as their consumers and those who ask for runs meet them, on a real scheduler."""

from __future__ import annotations

import pytest

from tests.scheduler.adder import ADDS, Adder, note
from tests.scheduler.conftest import Airflow

pytestmark = pytest.mark.airflow


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
    assert Adder(airflow, "customers").run(add=adds) == ("success", [7, "ann", "bob"])
    for consumer in ("predictions", "reports", "from_templates"):
        airflow.wait_finished(consumer, 3)
    return "customers"


def test_a7_each_added_key_runs_its_consumers_once_each_time(airflow: Airflow, customers: str) -> None:
    for dag_id in ("predictions", "reports", "from_templates"):
        runs = sorted((key, state) for key, state, _ in airflow.runs(dag_id))
        assert runs == [("ann", "success"), ("bob", "success"), ("int:7", "success")]
    for asset in ("customers", "predictions", "reports"):
        assert sorted(airflow.events(asset)) == ["ann", "bob", "int:7"]
    assert note(airflow, "listed-bob") == [7, "ann", "bob"]


def test_a20_a_consumer_sees_the_key_added_before_and_what_was_said_of_it(airflow: Airflow, customers: str) -> None:
    for name in ("prediction", "report"):  # and so does the consumer of the consumer
        assert note(airflow, f"{name}-int:7") == ["7", 0.5, [], None]
        assert note(airflow, f"{name}-ann") == ["'ann'", {"score": 4}, ["int:7"], 0.5]
        assert note(airflow, f"{name}-bob") == ["'bob'", None, ["ann", "int:7"], {"score": 4}]
    assert (airflow.out / "template-bob").read_text() == "ann None\n"


def test_er14_a_run_by_hand_takes_keys_that_were_added_or_came_with_an_event(airflow: Airflow, customers: str) -> None:
    answer = airflow.trigger("predictions", "anne")
    assert answer.status_code == 400
    message = answer.json()["detail"]
    assert "partition_key 'anne' is unknown: no task has added it" in message
    assert message.endswith("post an event of an asset that this Dag waits for; nearest: ann")
    assert airflow.trigger("predictions", "ann").status_code == 200
    assert airflow.wait_finished("predictions", 4)[3][:2] == ("ann", "success")
    airflow.wait_finished("reports", 4)


def test_a16_a_run_that_adds_keys_takes_none(airflow: Airflow, customers: str) -> None:
    answer = airflow.trigger(customers, "ann")
    assert answer.status_code == 400
    assert "trigger it without a partition_key" in answer.json()["detail"]


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
        if own := json.loads((OUT / "guests.request").read_text()).get("own"):
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
    adder, bad = Adder(airflow, guests), "x; touch y"
    assert adder.run(add=[[bad, None]])[0] == "failed"
    assert adder.run(own=[bad])[0] == "failed"
    assert airflow.events(guests) == []
    answer = airflow.trigger("greeted_guests", bad)
    assert answer.status_code == 400
    assert f"key '{bad}' is not allowed; the keys of 'invited' match [a-z]+" in answer.json()["detail"]
    send(airflow, guests, bad)
    send(airflow, guests, "ann")
    assert adder.run(own=["bob"])[0] == "success"
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
