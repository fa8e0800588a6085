"""Every example of AIP-76, as it stands in dags/aip, on a real scheduler."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog import load_catalog

from airflow_partitions import PartitionByInterval
from tests.scheduler.conftest import Airflow

pytestmark = [pytest.mark.airflow, pytest.mark.usefixtures("one_day")]

EXAMPLES = Path(__file__).parents[2] / "dags" / "aip"
HOURS = PartitionByInterval("@hourly")


@contextmanager
def example(airflow: Airflow, name: str, *dag_ids: str, **instead: str) -> Iterator[None]:
    """Let Airflow have one of the files, perhaps with something in it replaced, and take it away at the end."""
    file = airflow.home.dags / f"aip_{name}.py"
    write(airflow, name, *dag_ids, **instead)
    try:
        yield
    finally:
        for dag_id in dag_ids:
            airflow.api.patch(f"dags/{dag_id}", {"is_paused": True})
        file.unlink()


def write(airflow: Airflow, name: str, *dag_ids: str, **instead: str) -> None:
    source = (EXAMPLES / f"{name}.py").read_text()
    for argument, other in instead.items():
        line = next(line for line in source.splitlines() if f"{argument}=" in line)
        source = source.replace(line, line.replace(f'{argument}="@daily"', f"{argument}={other}"))
    before = {dag_id: airflow.parsed(dag_id) for dag_id in dag_ids}
    file = airflow.home.dags / f"aip_{name}.py"
    part = file.with_suffix(".part")
    part.write_text(source)
    part.replace(file)
    airflow.wait(lambda: all(airflow.parsed(dag_id) > before[dag_id] for dag_id in dag_ids), f"{name} parsed")


def emit(airflow: Airflow, asset: str, *keys: object) -> None:
    """Events over REST, as if the asset's own runs had made the partitions."""
    airflow.wait(lambda: airflow.sql("select 1 from asset where name = ?", asset), f"the asset {asset}")
    ((asset_id,),) = airflow.sql("select id from asset where name = ?", asset)
    for key in keys:
        airflow.api.post("assets/events", {"asset_id": asset_id, "partition_key": str(key)})


def output(airflow: Airflow, dag_id: str) -> str:
    """What the tasks of a Dag have printed."""
    return "".join(path.read_text() for path in airflow.home.logs.rglob(f"dag_id={dag_id}/**/attempt=*.log"))


def yesterday(days: int = 1) -> datetime:
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return today - timedelta(days=days)


def hours_of(day: str) -> list[str]:
    return [str(key) for key in HOURS.keys(day, f"{datetime.fromisoformat(day) + timedelta(days=1):%Y-%m-%d}")]


def test_a2_a9_the_partition_is_the_hour_that_ended_when_the_schedule_ticked(airflow: Airflow) -> None:
    with example(airflow, "hourly", "hourly_data"):
        key, state, run_id = airflow.wait_finished("hourly_data", 1)[0]
        hour = HOURS.parse(key)
        assert state == "success"
        assert datetime.now(UTC) - timedelta(hours=2) < hour.end <= datetime.now(UTC)
        assert run_id.startswith(f"scheduled__{key}__")
        assert f"from {hour.start} to {hour.end}" in output(airflow, "hourly_data")


def test_a3_a_daily_tick_makes_24_hours(airflow: Airflow) -> None:
    day = f"{yesterday():%Y-%m-%d}"
    with example(airflow, "hourly_by_day", "hourly_data_generated_daily"):
        airflow.wait(lambda: airflow.keys("hourly_data_generated_daily") == hours_of(day), "24 runs")
        airflow.wait_finished("hourly_data_generated_daily", 2)


def test_a4_one_of_24_ticks_makes_the_day(airflow: Airflow) -> None:
    dag_id = "daily_data_checked_hourly"
    with example(airflow, "daily_by_hour", dag_id):
        assert [run[:2] for run in airflow.wait_finished(dag_id, 1)] == [(f"{yesterday():%Y-%m-%d}", "success")]
        airflow.parse_again(dag_id, "aip_daily_by_hour")
        assert len(airflow.runs(dag_id)) == 1


def test_a13_the_last_hour_of_the_day_starts_the_model(airflow: Airflow) -> None:
    hours = hours_of("2024-02-08")
    with example(airflow, "language_model", "hourly_texts", "language_model"):
        emit(airflow, "hourly_texts", *hours[:-1])
        assert airflow.trigger("hourly_texts", hours[-1]).status_code == 200
        assert "2024-02-08" not in airflow.keys("language_model")
        runs = airflow.wait_finished("language_model", 1, partition_key="2024-02-08")
        assert [run[1] for run in runs] == ["success"]
        assert "trained on hourly_texts from 2024-02-08" in output(airflow, "language_model")


def test_a5_a6_two_segments_of_a_daily_tick_make_48_hours(airflow: Airflow) -> None:
    warehouses = ["marketing-dwh", "engineering-dwh"]
    hours = hours_of(f"{yesterday():%Y-%m-%d}")
    with example(airflow, "cloud_spend", "dwh_daily_cloud_spend", "dwh_spend_analysis"):
        spend = airflow.wait_finished("dwh_daily_cloud_spend", 2)
        assert [run[:2] for run in spend] == [(warehouse, "success") for warehouse in warehouses]
        expected = sorted(f"{hour}|{warehouse}" for hour in hours for warehouse in warehouses)
        airflow.wait(lambda: sorted(airflow.keys("dwh_spend_analysis")) == expected, "48 runs")
        airflow.wait_finished("dwh_spend_analysis", 2)


def test_a7_each_customer_added_is_predicted(airflow: Airflow) -> None:
    with example(airflow, "energy", "energy_consumption_model", "energy_prediction"):
        assert airflow.wait_finished("energy_consumption_model", 1)[0][:2] == (None, "success")
        predicted = sorted(run[:2] for run in airflow.wait_finished("energy_prediction", 3))
        assert predicted == [(customer, "success") for customer in ("acme", "initech", "umbrella")]
        assert "predicted initech with an error of 0.07" in output(airflow, "energy_prediction")


def test_a8_a_rich_key_keeps_its_fields(airflow: Airflow) -> None:
    with example(airflow, "positions", "measurements"):
        runs = airflow.wait_finished("measurements", 2)
        assert [run[:2] for run in runs] == [("x=0.0,y=0.0,z=1.5", "success"), ("x=0.0,y=4.0,z=1.5", "success")]
        assert "x=0.0,y=4.0,z=1.5: (0.0, 4.0, 1.5), at a height of 1.5" in output(airflow, "measurements")


def test_a10_a_task_goes_through_the_partitions_before_its_own(airflow: Airflow) -> None:
    with example(airflow, "past_partitions", "dwh_cloud_spend_so_far"):
        airflow.wait_finished("dwh_cloud_spend_so_far", 2)
        text = output(airflow, "dwh_cloud_spend_so_far")
        assert "engineering-dwh, one of ['marketing-dwh', 'engineering-dwh']" in text
        assert "after marketing-dwh" in text
        assert "after engineering-dwh" not in text


def test_a11_the_same_hour_of_both(airflow: Airflow) -> None:
    with example(airflow, "one_to_one", "raw_hourly_data", "clean_hourly_data"):
        assert airflow.trigger("raw_hourly_data", "2024-02-08T14:00Z").status_code == 200
        runs = airflow.wait_finished("clean_hourly_data", 1, partition_key="2024-02-08T14:00Z")
        assert [run[1] for run in runs] == ["success"]
        assert "cleaned 2024-02-08T14:00Z" in output(airflow, "clean_hourly_data")


def test_a12_half_past_waits_for_two_full_hours(airflow: Airflow) -> None:
    with example(airflow, "shifted", "hourly_readings", "hourly_data_shifted"):
        emit(airflow, "hourly_readings", "2024-02-08T14:00Z")
        assert airflow.trigger("hourly_readings", "2024-02-08T15:00Z").status_code == 200
        assert [run[:2] for run in airflow.wait_finished("hourly_data_shifted", 1)] == [
            ("2024-02-08T14:30Z", "success")
        ]


def test_a13_a_short_day_waits_for_its_23_hours_and_runs_again_for_a_new_one(airflow: Airflow) -> None:
    hours = PartitionByInterval("@hourly", timezone="America/New_York")
    first, *others = hours.keys("2024-03-10", "2024-03-11")
    with example(airflow, "aggregated", "hourly_sales", "aggregated_daily_data"):
        emit(airflow, "hourly_sales", *others)
        assert airflow.keys("aggregated_daily_data") == []
        assert airflow.trigger("hourly_sales", str(first)).status_code == 200
        airflow.wait_finished("aggregated_daily_data", 1)
        emit(airflow, "hourly_sales", others[5])
        airflow.wait_finished("aggregated_daily_data", 2)
        assert airflow.keys("aggregated_daily_data") == ["2024-03-10", "2024-03-10"]
        assert "added up 23 hours" in output(airflow, "aggregated_daily_data")


def test_a14_a_year_makes_its_twelve_months(airflow: Airflow) -> None:
    with example(airflow, "coarse_to_fine", "yearly_data", "data_using_slow_data"):
        assert airflow.trigger("yearly_data", "2023-01-01").status_code == 200
        expected = [f"2023-{month:02}-01" for month in range(1, 13)]
        airflow.wait(lambda: set(airflow.keys("data_using_slow_data")) >= set(expected), "twelve runs")
        airflow.wait_finished("data_using_slow_data", 1)


def test_a15_a_backfill_makes_the_days_of_its_range_that_exist(airflow: Airflow) -> None:
    with example(airflow, "from_2024", "daily_data_from_2024"):
        span = {"from_date": "2023-12-30T00:00:00Z", "to_date": "2024-01-02T00:00:00Z"}
        airflow.api.post("backfills", {"dag_id": "daily_data_from_2024", "max_active_runs": 4, **span})
        runs = sorted(run[:2] for run in airflow.wait_finished("daily_data_from_2024", 2, run_type="backfill"))
        assert runs == [("2024-01-01", "success"), ("2024-01-02", "success")]


def test_a16_a17_a_run_by_hand_names_its_partition_and_spares_the_scheduled_one(airflow: Airflow) -> None:
    dag_id, day = "daily_data_by_hand", f"{yesterday():%Y-%m-%d}"
    with example(airflow, "by_hand", dag_id, schedule="None"):
        refused = airflow.trigger(dag_id, None)
        assert refused.status_code == 400
        assert f"needs a partition_key, for example '{day}'" in refused.json()["detail"]
        assert airflow.trigger(dag_id, day).status_code == 200
        by_hand = airflow.wait_finished(dag_id, 1)[0][2]
        write(airflow, "by_hand", dag_id)
        airflow.wait_finished(dag_id, 2)
        states = airflow.sql("select state from task_instance where dag_id = ? and run_id != ?", dag_id, by_hand)
        assert states == [("skipped",)]
        assert "in a scheduled run" not in output(airflow, dag_id)
        query = (
            "select r.run_type, n.content from dag_run_note n join dag_run r on r.id = n.dag_run_id where dag_id = ?"
        )
        notes = dict(airflow.sql(query, dag_id))
        assert notes["manual"].startswith(f"Partition {day}: {day} 00:00 to ")
        assert notes["scheduled"].endswith(
            f"Skipped: partition {day} was made already, after its end: run {by_hand} of {dag_id}"
        )


def test_a20_partitions_are_inferred_from_the_schedule_and_from_the_upstream(airflow: Airflow) -> None:
    with example(airflow, "inferred", "noon_to_noon", "noon_to_noon_report"):
        assert airflow.trigger("noon_to_noon", "2024-02-08T12:00Z").status_code == 200
        airflow.wait(lambda: "2024-02-08T12:00Z" in airflow.keys("noon_to_noon_report"), "the report")
        airflow.wait(lambda: "reported 2024-02-08T12:00Z" in output(airflow, "noon_to_noon_report"), "its log")
        assert "from 2024-02-08 12:00:00+00:00 to 2024-02-09 12:00:00+00:00" in output(airflow, "noon_to_noon")


def test_a20_the_last_partitions_are_refreshed(airflow: Airflow) -> None:
    expected = [f"{yesterday(days):%Y-%m-%d}" for days in (3, 2, 1)]
    with example(airflow, "refreshed", "daily_data_refreshed"):
        airflow.wait_finished("daily_data_refreshed", 3)
        assert airflow.keys("daily_data_refreshed") == expected


def test_a20_a_sliding_window_needs_the_hour_before_too(airflow: Airflow) -> None:
    with example(airflow, "sliding_window", "hourly_clicks", "two_hours_of_clicks"):
        emit(airflow, "hourly_clicks", "2024-02-08T05:00Z")
        assert airflow.trigger("hourly_clicks", "2024-02-08T06:00Z").status_code == 200
        airflow.wait_finished("two_hours_of_clicks", 1)
        assert airflow.keys("two_hours_of_clicks") == ["2024-02-08T06:00Z"]
        assert "added up 2024-02-08T05:00Z and 2024-02-08T06:00Z" in output(airflow, "two_hours_of_clicks")


def test_a20_the_key_before_is_the_low_watermark(airflow: Airflow) -> None:
    with example(airflow, "watermark", "order_loads", "new_orders"):
        airflow.wait_finished("order_loads", 1)
        airflow.wait_finished("new_orders", 1)
        assert airflow.trigger("order_loads", None).status_code == 200
        airflow.wait_finished("new_orders", 2)
        assert airflow.keys("new_orders") == ["int:1000", "int:2000"]
        text = output(airflow, "new_orders")
        assert "orders 0 to 1000: 1000 rows" in text
        assert "orders 1000 to 2000: 1000 rows" in text


def test_a19_every_partition_has_its_mapped_tasks(airflow: Airflow) -> None:
    with example(airflow, "mapped_tasks", "files_by_hour"):
        for key in ("2024-02-08T05:00Z", "2024-02-08T06:00Z"):
            assert airflow.trigger("files_by_hour", key).status_code == 200
        airflow.wait_finished("files_by_hour", 3)
        airflow.wait_finished("files_by_hour", 2, run_type="manual")
        tasks = airflow.sql(
            "select r.partition_key, count(*) from task_instance t join dag_run r on r.run_id = t.run_id and"
            " r.dag_id = t.dag_id where t.dag_id = 'files_by_hour' and t.task_id = 'load' and r.run_type = 'manual'"
            " group by r.partition_key order by r.partition_key"
        )
        assert tasks == [("2024-02-08T05:00Z", 3), ("2024-02-08T06:00Z", 3)]
        assert {"2024-02-08T05:00Z", "2024-02-08T06:00Z"} <= set(airflow.events("files_by_hour"))


def test_a21_a_day_is_a_filter_on_a_table(airflow: Airflow) -> None:
    days = [yesterday(), yesterday(2)]
    half_hours = [day + timedelta(minutes=30 * number) for day in days for number in range(48)]
    uri, warehouse = f"sqlite:///{airflow.home.root}/shop.db", str(airflow.home.root / "shop")
    catalog = load_catalog("shop", type="sql", uri=uri, warehouse=warehouse)
    catalog.create_namespace("shop")
    sales = pa.table({"ts": pa.array(half_hours, pa.timestamp("us", "UTC")), "price": list(range(len(half_hours)))})
    catalog.create_table("shop.sales", sales.schema).append(sales)  # one file of both days, without a partition spec
    extra = json.dumps({"type": "sql", "uri": uri, "warehouse": warehouse})
    airflow.api.post("connections", {"connection_id": "shop", "conn_type": "iceberg", "extra": extra})
    with example(airflow, "external_table", "daily_sales_data"):
        assert airflow.wait_finished("daily_sales_data", 1)[0][1] == "success"
        assert f"48 rows of {days[0]:%Y-%m-%d}" in output(airflow, "daily_sales_data")


def test_every_example_is_run_here() -> None:
    source = Path(__file__).read_text()
    assert [file.stem for file in EXAMPLES.glob("*.py") if f'example(airflow, "{file.stem}"' not in source] == []
