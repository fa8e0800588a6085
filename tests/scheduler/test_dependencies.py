"""Dags scheduled on assets: a partition runs when its upstream partitions are there, on a real scheduler."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from airflow_partitions import PartitionByInterval
from tests.scheduler.conftest import Airflow

pytestmark = pytest.mark.airflow

HOURS = PartitionByInterval("@hourly", timezone="America/New_York")


def emit(airflow: Airflow, asset: str, *keys: str | None) -> None:
    """Events over REST, as a system outside Airflow sends them."""
    (row,) = airflow.sql("select id from asset where name = ?", asset)
    for key in keys:
        airflow.api.post("assets/events", {"asset_id": row[0], "partition_key": key})


def serialized(airflow: Airflow, dag_id: str, text: str) -> None:
    """Wait until the Dag that the scheduler reads says *text*: Airflow takes its time to write a changed one."""
    query = "select data from serialized_dag where dag_id = ? order by last_updated desc limit 1"
    airflow.wait(lambda: text in str(airflow.sql(query, dag_id)), f"{dag_id} with {text}")


@pytest.fixture(scope="module")
def consumers(airflow: Airflow) -> str:
    airflow.write(
        "consumers",
        """
        NEW_YORK = {"timezone": "America/New_York"}
        HOURS = PartitionByInterval("@hourly", **NEW_YORK)

        @asset(schedule=None, partition=HOURS)
        def flights(): ...

        @asset(schedule=None, partition=HOURS)
        def weather(): ...

        @asset(schedule=None, partition=PartitionByInterval("@yearly"))
        def slow(): ...

        def consumer(name, schedule, partition):
            with DAG(name, schedule=Partitioned(schedule, partition), max_active_runs=50) as dag:
                EmptyOperator(task_id="nothing")
            return dag

        same = consumer("same", flights, HOURS)
        shifted = consumer("shifted", flights, PartitionByInterval("30 * * * *", **NEW_YORK))
        daily = consumer("daily", flights, PartitionByInterval("@daily", **NEW_YORK))
        monthly = consumer("monthly", slow, PartitionByInterval("@monthly"))
        joined = consumer("joined", flights & weather, HOURS)
        either = consumer("either", flights | weather, HOURS)
        with DAG("referring", schedule=Partitioned(Asset.ref(name="flights"), PartitionByInterval("@daily", **NEW_YORK),
                                                   upstreams={"flights": HOURS})):
            EmptyOperator(task_id="nothing")
        by_airport = consumer("by_airport", flights, PartitionByProduct([
            PartitionByInterval("@daily", name="day", **NEW_YORK), PartitionBySequence(["EWR", "JFK"])]))

        with DAG("consumers", schedule=None):
            EmptyOperator(task_id="nothing")
        """,
    )
    airflow.wait(lambda: airflow.sql("select 1 from asset where name = 'weather'"), "the assets")
    return "consumers"


def test_a13_a_day_runs_when_its_23_hours_are_there_and_again_for_a_late_one(airflow: Airflow, consumers: str) -> None:
    keys = [str(key) for key in HOURS.keys("2013-03-10", "2013-03-11")]
    assert len(keys) == 23
    emit(airflow, "flights", *keys[:-1])
    airflow.wait(lambda: len(airflow.keys("same")) >= 22, "one to one")
    assert airflow.keys("daily") == []
    emit(airflow, "flights", keys[-1])
    assert airflow.wait_finished("daily", 1)[0][:2] == ("2013-03-10", "success")
    airflow.wait_finished("referring", 1)  # a run that begins after an event has nothing to make again
    emit(airflow, "flights", keys[5])
    airflow.wait_finished("daily", 2)
    assert airflow.keys("daily") == ["2013-03-10", "2013-03-10"]


def test_a13_an_upstream_may_be_named_with_its_definition(airflow: Airflow, consumers: str) -> None:
    airflow.wait_finished("referring", 2)
    assert airflow.keys("referring") == ["2013-03-10", "2013-03-10"]


def test_a11_the_same_definition_runs_one_to_one(airflow: Airflow, consumers: str) -> None:
    assert sorted(set(airflow.keys("same"))) == sorted(str(key) for key in HOURS.keys("2013-03-10", "2013-03-11"))


def test_a12_shifted_intervals_wait_for_both_they_overlap(airflow: Airflow, consumers: str) -> None:
    runs = set(airflow.wait_finished("shifted", 21))
    assert "2013-03-10T00:30-05:00" in {key for key, _, _ in runs}
    assert "2013-03-09T23:30-05:00" not in airflow.keys("shifted")


def test_a6_a_dimension_of_the_consumer_alone_fans_out(airflow: Airflow, consumers: str) -> None:
    airflow.wait_finished("by_airport", 2)
    assert set(airflow.keys("by_airport")) == {"2013-03-10|EWR", "2013-03-10|JFK"}


def test_a14_a_year_runs_its_months(airflow: Airflow, consumers: str) -> None:
    emit(airflow, "slow", "2012-01-01")
    airflow.wait_finished("monthly", 12)
    assert sorted(airflow.keys("monthly")) == [f"2012-{month:02}-01" for month in range(1, 13)]


def test_both_of_two_are_waited_for_and_one_of_them_alone_fires_again(airflow: Airflow, consumers: str) -> None:
    key = "2013-03-10T00:00-05:00"
    assert airflow.keys("joined") == []
    emit(airflow, "weather", key)
    airflow.wait_finished("joined", 1)
    emit(airflow, "weather", key)
    airflow.wait_finished("joined", 2)
    assert airflow.keys("joined") == [key, key]
    assert airflow.keys("either").count(key) >= 2


def test_an_event_with_a_malformed_key_blocks_nothing_and_can_be_seen(airflow: Airflow, consumers: str) -> None:
    emit(airflow, "flights", "10.03.2013", "2013-07-01T05:00-04:00")
    airflow.wait(lambda: "2013-07-01T05:00-04:00" in airflow.keys("same"), "the good one")
    log = airflow.sql("select extra from log where event = 'failed to map partition_key'")
    assert any("10.03.2013" in extra and "flights" in extra for (extra,) in log)


def test_a15_an_asset_driven_dag_is_backfilled_like_any_other(airflow: Airflow, consumers: str) -> None:
    span = {"from_date": "2013-06-01T00:00:00Z", "to_date": "2013-06-02T23:59:59Z"}
    airflow.api.post("backfills", {"dag_id": "daily", "max_active_runs": 9, **span})
    airflow.wait(lambda: {"2013-06-01", "2013-06-02"} <= set(airflow.keys("daily")), "the backfill")


def test_a_key_that_is_no_more_is_told_and_keeps_no_other_from_its_consumers(airflow: Airflow) -> None:
    for start in ("2013-01-01", "2013-03-01"):
        airflow.write(
            "tides",
            f"""
            @asset(schedule=None, partition=PartitionByInterval("@daily", start="{start}"))
            def tides(): ...

            @asset(schedule=tides, partition=PartitionByInterval("@daily"))
            def tide_days(): ...
            """,
        )
        serialized(airflow, "tide_days", start)
        emit(airflow, "tides", "2013-02-28", "2013-03-01")
        airflow.wait_finished("tide_days", 2 if start == "2013-01-01" else 3)
    assert sorted(airflow.keys("tide_days")) == ["2013-02-28", "2013-03-01", "2013-03-01"]
    (message,) = (
        extra
        for (extra,) in airflow.sql("select extra from log where event = 'failed to map partition_key'")
        if "tides" in extra
    )
    assert "'2013-02-28'" in message
    assert "nearest: 2013-03-01" in message


@pytest.fixture(scope="module")
def ruled(airflow: Airflow) -> str:
    airflow.write(
        "ruled",
        """
        from airflow_partitions import AllPartitions, ByDimension, LatestPartition, Lookback, SegmentMap

        YEARS, DAYS = PartitionByInterval("@yearly", start="2023-01-01"), PartitionByInterval("@daily", name="date")

        @asset(schedule=None, partition=YEARS)
        def census(): ...

        @asset(schedule=census, partition=PartitionByInterval("@yearly"), rules={"census": AllPartitions()})
        def all_years(): ...

        @asset(schedule=census, partition=PartitionByInterval("@yearly"), rules={"census": LatestPartition()})
        def newest_year(): ...

        AIRPORTS = PartitionBySequence(["EWR", "JFK", "LGA"], name="airport")

        @asset(schedule=None, partition=PartitionByProduct([DAYS, AIRPORTS]))
        def delays(): ...

        BY_CITY = {"date": Lookback(1), "city": SegmentMap({"NYC": ["JFK", "LGA"], "Newark": ["EWR"]})}

        @asset(schedule=delays, rules={"delays": ByDimension(BY_CITY)},
               partition=PartitionByProduct([DAYS, PartitionBySequence(["NYC", "Newark"], name="city")]))
        def cities(): ...

        with DAG("ruled", schedule=None):
            EmptyOperator(task_id="nothing")
        """,
    )
    airflow.wait(lambda: airflow.parsed("cities"), "the consumers")
    return "ruled"


def test_a20_rules_that_move_make_the_newest_partition_only(airflow: Airflow, ruled: str) -> None:
    years = PartitionByInterval("@yearly", start="2023-01-01")
    *older, newest = (str(key) for key in years.keys("2023-01-01", datetime(datetime.now(UTC).year, 1, 1, tzinfo=UTC)))
    emit(airflow, "census", newest)
    airflow.wait_finished("newest_year", 1)
    assert airflow.keys("all_years") == []
    emit(airflow, "census", *older)
    airflow.wait_finished("all_years", 1)
    emit(airflow, "census", older[0])
    airflow.wait_finished("all_years", 2)
    assert airflow.keys("all_years") == [newest, newest]
    assert airflow.keys("newest_year") == [newest]


def test_a20_each_dimension_has_the_rule_that_is_given_for_it(airflow: Airflow, ruled: str) -> None:
    emit(airflow, "delays", "2013-02-07|JFK", "2013-02-07|LGA", "2013-02-08|JFK", "2013-02-08|EWR")
    emit(airflow, "delays", "2013-02-07|EWR")
    assert airflow.wait_finished("cities", 1)[0][:2] == ("2013-02-08|Newark", "success")
    emit(airflow, "delays", "2013-02-08|LGA")
    airflow.wait_finished("cities", 2)
    assert airflow.keys("cities") == ["2013-02-08|Newark", "2013-02-08|NYC"]
