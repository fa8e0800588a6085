"""Assets with partitions in all states, for people and tests to look at."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import product
from pathlib import Path

from sqlalchemy import update

from airflow_partitions.engine.graph.partitioned_assets import partitioned_asset
from airflow_partitions.engine.ledger.ledger import update_ledger
from airflow_partitions.engine.runs.task_error import TASK_ERROR, TaskError
from tests.metadata import Metadata
from tests.operate.states.world import put_pending, put_runs, put_tasks

DAGS = Path(__file__).parent / "dags.py"
#: The day that could not be made.
BROKEN_DAY = "2013-02-08"
#: The day of a million millions of rows.
MUCH_DAY = date(2023, 3, 2)
SUNDAY = 6


def fill(metadata: Metadata, folder: Path) -> None:
    """Write the Dags to a *folder*, let Airflow read them, and put what has happened into an empty database."""
    from airflow.models.dag import DagModel

    metadata.prepare_runs()
    metadata.parse(folder, estate=DAGS.read_text())
    with metadata.engine.begin() as at:
        at.execute(update(DagModel).where(DagModel.dag_id != "mart_8_report").values(is_paused=False))
    now = datetime.now(UTC)
    made = now - timedelta(days=3)
    _fill_hours(metadata, made)
    _fill_winter(metadata, made)
    _fill_regions(metadata, made)
    _fill_deliveries(metadata, made)
    _fill_small(metadata, made, now)
    _fill_steps(metadata, made)
    for name in ("region_days", "hourly_departures", "open_hours"):
        update_ledger(name, partitioned_asset(name).meaning)


def keys_of(name: str) -> list[str]:
    """The texts of an asset's keys."""
    return list(map(str, partitioned_asset(name).definition.keys()))


def _fill_hours(metadata: Metadata, made: datetime) -> None:
    hours = keys_of("hourly_departures")
    gap = set(hours[4_000:4_048])
    failed, running, queued = hours[-6:-4], hours[-4:-2], hours[-2:]
    lacking = {*gap, *failed, *running, *queued}
    metadata.emit("hourly_departures", *(key for key in hours if key not in lacking), at=made, **_size(412))
    put_runs(metadata, "hourly_departures", failed, "failed", made)
    put_tasks(metadata, "hourly_departures", failed, "hourly_departures", "failed", made)
    put_runs(metadata, "hourly_departures", running, "running", made)
    put_tasks(metadata, "hourly_departures", running, "hourly_departures", "running", made)
    put_runs(metadata, "hourly_departures", queued, "queued", made)
    days = keys_of("daily_departures")
    without = {days[166], days[167], days[168], days[-1]}
    later = made + timedelta(hours=1)
    metadata.emit("daily_departures", *(day for day in days if day not in without), at=later, **_size(9_812))
    stale = [key for key in hours if key.startswith(("2024-07-04", "2024-10-31"))]
    metadata.emit("hourly_departures", *stale, at=later + timedelta(hours=1), **_size(433))
    put_pending(metadata, "daily_departures", days[-1])


def _fill_winter(metadata: Metadata, made: datetime) -> None:
    days = keys_of("days")
    states = {BROKEN_DAY: "failed", "2013-03-28": "failed", "2013-03-29": "running", "2013-03-30": "queued"}
    missing = {*days[14:17], days[-1]}
    for number, day in enumerate(day for day in days if day not in states and day not in missing):
        rows = 700 + 37 * number % 290
        checks = [{"name": name, "passed": True} for name in ("rows", "unique flight")]
        own = {"rows": rows, "files": 1, "bytes": 31 * rows, "seconds": 4 + rows % 71 / 10, "checks": checks}
        metadata.emit("days", day, at=made, extra=own)
    for day, state in states.items():
        put_runs(metadata, "days", [day], state, made)
        if state != "queued":
            put_tasks(metadata, "days", [day], "days", state, made)
        if state == "failed":
            noted = TaskError("ValueError: 3 of 842 departures have no airport", 1, made).to_json()
            metadata.put_task_cell(f"days {day} {made.isoformat()}", "days", TASK_ERROR, noted)
    put_runs(metadata, "days", [days[14]], "success", made)
    put_tasks(metadata, "days", [days[14]], "days", "skipped", made)
    texts = keys_of("airport_days")
    airports = len(texts) // len(days)
    metadata.emit("airport_days", *texts[: 60 * airports], at=made + timedelta(hours=1), **_size(7))
    metadata.emit("days", days[20], at=made + timedelta(hours=2), **_size(850))
    failed = texts[61 * airports : 61 * airports + 4]
    put_runs(metadata, "airport_days", failed, "failed", made)
    put_tasks(metadata, "airport_days", failed, "airport_days", "failed", made)
    for number, (mart, step) in enumerate(product(range(9), ("clean", "joined", "report"))):
        when = made + timedelta(hours=number % 3 + 1, minutes=mart)
        name, count = f"mart_{mart}_{step}", max(0, 89 - 7 * mart - 5 * (number % 3))
        metadata.emit(name, *days[:count], at=when, **_size(100 + number))
        if mart % 4 == 1:
            put_runs(metadata, name, days[count : count + mart], "failed", when)
            put_tasks(metadata, name, days[count : count + mart], name, "failed", when)


def _fill_regions(metadata: Metadata, made: datetime) -> None:
    keys = keys_of("region_days")
    gap, failed = set(keys[70_000:71_000]), keys[90_000:90_150]
    lacking = {*gap, *failed}
    metadata.emit("region_days", *(key for key in keys if key not in lacking), at=made, **_size(7))
    put_runs(metadata, "region_days", failed, "failed", made)


def _fill_deliveries(metadata: Metadata, made: datetime) -> None:
    """No Sunday is there; every second day tells no rows, one a million millions; ten failed, each for a reason."""
    days = [date(2023, 1, 1) + timedelta(days=number) for number in range(365)]
    failed = days[303:313]
    for number, day in enumerate(days):
        if day.weekday() == SUNDAY or day in failed:
            continue
        rows = 10**12 if day == MUCH_DAY else 1_000 + 40 * day.weekday() + number % 7
        extra = {} if number % 2 else {"rows": rows, "seconds": 3 + number % 5}
        metadata.emit("deliveries", str(day), at=made, extra=extra)
    for number, day in enumerate(failed):
        put_runs(metadata, "deliveries", [str(day)], "failed", made)
        put_tasks(metadata, "deliveries", [str(day)], "deliveries", "failed", made, tries=3)
        noted = TaskError(f"ValueError: lorry {number} has no load", 3, made).to_json()
        metadata.put_task_cell(f"deliveries {day} {made.isoformat()}", "deliveries", TASK_ERROR, noted)


def _fill_small(metadata: Metadata, made: datetime, now: datetime) -> None:
    metadata.emit("load_days", *keys_of("load_days")[:300:2], at=made, **_size(3))
    airports = keys_of("airports")
    metadata.emit("airports", *airports[:3], *airports[4:], "SFO", at=made, **_size(1))  # of an older list
    put_runs(metadata, "airports", airports[3:4], "failed", made)
    put_tasks(metadata, "airports", airports[3:4], "airports", "failed", made)
    names = [*(f"customer-{number:04}" for number in range(300)), "عميل", "👩🏽‍🚀"]
    metadata.emit("customers", *names, at=made, **_size(12))
    put_runs(metadata, "customers", ["customer-0300"], "failed", made)
    put_tasks(metadata, "customers", ["customer-0300"], "customers", "failed", made)
    months = [str(key) for key in partitioned_asset("months").definition.keys(end=now)]
    metadata.emit("months", *months, at=made)
    metadata.emit("months", f"{now:%Y-%m}", at=now)  # which is not over yet
    hours = [str(key) for key in partitioned_asset("open_hours").definition.keys(end=now)]
    metadata.emit("open_hours", *hours[:-100], at=made, **_size(55))
    metadata.emit("open_hours", *hours[-100:-6], at=now, **_size(56))
    put_runs(metadata, "open_hours", hours[-6:-3], "running", now)
    put_runs(metadata, "open_hours", hours[-3:], "queued", now)
    metadata.emit("single", "only", at=made)


def _fill_steps(metadata: Metadata, made: datetime) -> None:
    """Four tasks a day: on every tenth day the second fails, so those after it do not begin; the last are at work."""
    days = keys_of("steps")
    failed, working, without = set(days[5::10]), set(days[-3:-1]), {days[20], days[-1]}
    succeeded = [day for day in days if day not in failed | working | without]
    metadata.emit("steps", *succeeded, at=made + timedelta(hours=1), **_size(60))
    by_state = {
        "success": (succeeded, ("success", "success", "success", "success")),
        "failed": (sorted(failed), ("success", "failed", "upstream_failed", "upstream_failed")),
        "running": (sorted(working), ("success", "up_for_retry", None, None)),
    }
    for state, (some, tasks) in by_state.items():
        put_runs(metadata, "steps", some, state, made)
        for number, (task_id, task) in enumerate(zip(("load", "clean", "write", "announce"), tasks, strict=True)):
            has_begun = task in ("success", "failed", "up_for_retry")
            times = {"start_date": made, "end_date": made + timedelta(seconds=20 + 65 * number)} if has_begun else {}
            tries = (3 if task == "failed" else 1) if has_begun else 0
            put_tasks(metadata, "steps", some, task_id, task, made, tries, **times)


def _size(rows: int) -> dict[str, dict[str, int]]:
    return {"extra": {"rows": rows, "files": 1, "bytes": 31 * rows}}
