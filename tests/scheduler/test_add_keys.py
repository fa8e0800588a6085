"""Tasks that add and remove keys, on a real scheduler."""

from __future__ import annotations

import pytest

from tests.scheduler.adder import ADDS, Adder, note
from tests.scheduler.conftest import Airflow

pytestmark = pytest.mark.airflow


def test_a7_keys_are_listed_added_once_or_again_and_removed(airflow: Airflow) -> None:
    adder = Adder.alone(airflow, "listed")
    assert adder.run(add=[["a", None], [7, None], ["b", None]]) == ("success", ["a", 7, "b"])
    assert adder.run(once=["a", "c", "c"], remove=["b"]) == ("success", ["a", 7, "c"])
    assert adder.run(add=[["a", None], ["b", None]]) == ("success", [7, "c", "a", "b"])
    assert sorted(adder.events) == ["a", "a", "b", "b", "c", "int:7"]


def test_a7_what_a_failed_task_added_was_never_added(airflow: Airflow) -> None:
    adder = Adder.alone(airflow, "failing")
    assert adder.run(add=[["a", None]], fail=True) == ("failed", ["a"])
    assert adder.run() == ("success", [])
    assert adder.run(once=["a"]) == ("success", ["a"])
    assert adder.events == ["a"]


def test_a7_what_a_task_wrote_that_was_killed_then_was_never_added(airflow: Airflow) -> None:
    adder = Adder.alone(airflow, "killed")
    assert adder.run(add=[["a", None]]) == ("success", ["a"])
    assert adder.run(killed="b") == ("success", ["a"])
    assert adder.run() == ("success", ["a"])
    assert adder.run(once=["a", "b"]) == ("success", ["a", "b"])
    assert adder.events == ["a", "b"]


def test_a7_a_run_that_adds_nothing_makes_no_event(airflow: Airflow) -> None:
    adder = Adder.alone(airflow, "idle")
    assert adder.run(add=[["a", None]]) == ("success", ["a"])
    assert adder.run(once=["a"]) == ("success", ["a"])
    assert adder.run(remove=["a"]) == ("success", [])
    assert adder.run() == ("success", [])
    assert adder.events == ["a"]


def test_a7_the_event_of_the_last_adding_run_is_found_behind_many_others(airflow: Airflow) -> None:
    adder = Adder.alone(airflow, "behind")
    assert adder.run(add=[["a", None]]) == ("success", ["a"])
    ((asset_id,),) = airflow.sql("select id from asset where name = 'behind'")
    for number in range(101):
        airflow.api.post("assets/events", {"asset_id": asset_id, "partition_key": f"from outside {number}"})
    assert adder.run() == ("success", ["a"])


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
    online, in_shops = Adder(airflow, "online"), Adder(airflow, "in_shops")
    assert online.run(add=[["ann", {"from": "online"}], [7, None]]) == ("success", ["ann", 7])
    assert in_shops.run(once=["ann", "bob"]) == ("success", ["ann", 7, "bob"])
    assert in_shops.events == ["bob"]
    airflow.wait_finished("greeted", 1)
    assert note(airflow, "greeted-bob") == ["'bob'", None, ["int:7", "ann"], None]
    assert in_shops.run(remove=["ann"]) == ("success", [7, "bob"])
    assert online.run(once=["ann", "bob"]) == ("success", [7, "bob", "ann"])
    assert sorted(online.events) == ["ann", "ann", "int:7"]


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
