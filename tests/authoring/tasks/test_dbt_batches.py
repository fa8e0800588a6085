"""Whether dbt's own results are exactly the batches of a partition."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.sdk import Asset
from airflow.sdk.execution_time.context import OutletEventAccessors

from airflow_partitions import DbtBatches, PartitionByInterval, PartitionBySequence
from airflow_partitions.core.errors import CheckError, InvalidDefinitionError, ResultError
from airflow_partitions.core.partition import Partition

NEW_YORK = PartitionByInterval("@daily", timezone="America/New_York")
SPRING = Partition(NEW_YORK, "2013-03-10")
BEGIN = datetime(2013, 3, 10, 5, tzinfo=UTC)
STARTED = datetime(2026, 11, 25, 12, tzinfo=UTC)
Batches = list[tuple[datetime, datetime]]


def hours(first: int, last: int) -> Batches:
    return [(BEGIN + timedelta(hours=hour), BEGIN + timedelta(hours=hour + 1)) for hour in range(first, last)]


def leave(folder: Path, began: datetime = STARTED, **models: tuple[Batches, Batches]) -> Path:
    """What dbt leaves, in the form of its version 1.11."""

    def form(batches: Batches) -> list[list[str]]:
        return [[bound.isoformat() for bound in batch] for batch in batches]

    results: list[dict[str, Any]] = [{"unique_id": "model.delays.flights", "status": "success", "batch_results": None}]
    results += [
        {
            "unique_id": f"model.delays.{name}",
            "status": "partial success" if failed else "success",
            "batch_results": {"successful": form(made), "failed": form(failed)},
        }
        for name, (made, failed) in models.items()
    ]
    metadata = {"dbt_version": "1.11.16", "invocation_started_at": began.isoformat().replace("+00:00", "Z")}
    (folder / "run_results.json").write_text(json.dumps({"metadata": metadata, "results": results}))
    return folder


def test_the_batches_of_a_partition_are_counted_and_told(tmp_path: Path) -> None:
    leave(tmp_path, hours=(hours(0, 23), []), coarse=([(BEGIN, BEGIN + timedelta(hours=23))], []))
    delays, others = Asset("delays"), Asset("others")
    events = OutletEventAccessors()
    events[delays].extra = {"rows": 5}
    context = {
        "partition": SPRING,
        "ti": SimpleNamespace(start_date=STARTED - timedelta(seconds=5)),
        "task": SimpleNamespace(outlets=[delays, others]),
        "outlet_events": events,
    }
    DbtBatches(tmp_path)(context)
    assert events[delays].extra == {"rows": 5, "dbt_batches": {"coarse": 1, "hours": 23}}
    assert events[others].extra == {"dbt_batches": {"coarse": 1, "hours": 23}}
    assert DbtBatches(tmp_path, models=["hours"]).check(SPRING) == {"hours": 23}


@pytest.mark.parametrize(
    ("made", "failed", "words"),
    [
        (hours(0, 22), [], "lacking: 2013-03-11T03:00 to 2013-03-11T04:00$"),
        (hours(1, 23), [], "lacking: 2013-03-10T05:00 to 2013-03-10T06:00$"),
        ([], [], "lacking: 2013-03-10T05:00 to 2013-03-11T04:00$"),
        (hours(0, 7) + hours(8, 23), hours(7, 8), "failed: 2013-03-10T12:00 to 2013-03-10T13:00$"),
        (hours(0, 23), hours(3, 4), "failed: 2013-03-10T08:00 to 2013-03-10T09:00$"),
        (hours(0, 23) + hours(2, 3), [], "made twice: 2013-03-10T07:00 to 2013-03-10T08:00$"),
        (hours(0, 24), [], "of others: 2013-03-11T04:00 to 2013-03-11T05:00$"),
        (hours(-5, 23), [], "of others: 2013-03-10T00:00 to 2013-03-10T01:00, .*, .* and 2 more$"),
        (
            [(BEGIN + timedelta(hours=hour), BEGIN + timedelta(hours=hour + 24)) for hour in (-5, 19)],
            [],
            "of more than it: 2013-03-10T00:00 to 2013-03-11T00:00, 2013-03-11T00:00 to 2013-03-12T00:00$",
        ),
    ],
)  # fmt: skip
def test_other_batches_fail_it_by_name(tmp_path: Path, made: Batches, failed: Batches, words: str) -> None:
    leave(tmp_path, hours=(made, failed), good=(hours(0, 23), []))
    begin = r"dbt's batches of hours are not partition 2013-03-10, 2013-03-10T05:00:00 to 2013-03-11T04:00:00: "
    with pytest.raises(CheckError, match=f"^{begin}{words}"):
        DbtBatches(tmp_path).check(SPRING)
    assert DbtBatches(tmp_path, models=["good"]).check(SPRING) == {"good": 23}


def test_one_batch_by_the_clocks_of_a_zone(tmp_path: Path) -> None:
    day = datetime(2013, 3, 10, tzinfo=UTC), datetime(2013, 3, 11, tzinfo=UTC)  # dbt takes all times for UTC
    leave(tmp_path, days=([day], []))
    assert DbtBatches(tmp_path, clock="wall").check(SPRING) == {"days": 1}
    with pytest.raises(CheckError, match="of more than it"):
        DbtBatches(tmp_path).check(SPRING)


def test_no_batches_at_all_are_no_success(tmp_path: Path) -> None:
    leave(tmp_path)
    with pytest.raises(CheckError, match="no batches of any model for partition 2013-03-10; expected microbatch"):
        DbtBatches(tmp_path).check(SPRING)
    leave(tmp_path, hours=(hours(0, 23), []))
    with pytest.raises(CheckError, match=r"no batches of hoors for partition 2013-03-10; .*found hours"):
        DbtBatches(tmp_path, models=["hoors", "hours"]).check(SPRING)


def test_results_of_another_run_are_none(tmp_path: Path) -> None:
    leave(tmp_path, hours=(hours(0, 23), []))
    with pytest.raises(ResultError, match=r"before this task, .*--target-path"):
        DbtBatches(tmp_path).check(SPRING, since=STARTED + timedelta(seconds=1))


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"metadata": {"invocation_started_at": 3}}', '{"metadata": {"invocation_started_at": "x"}}'],
)
def test_what_is_no_result_of_dbt_is_said(tmp_path: Path, text: str) -> None:
    with pytest.raises(ResultError, match=r"there is no .*run_results\.json.*expected the target folder"):
        DbtBatches(tmp_path).check(SPRING)
    (tmp_path / "run_results.json").write_text(text)
    with pytest.raises(ResultError, match=r"run_results\.json can't be read .*expected what dbt-core 1\.11 leaves"):
        DbtBatches(tmp_path).check(SPRING)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"clock": "walls"}, "clock='walls'; expected 'utc' or 'wall'; nearest: 'wall'"),
        ({"models": "hours"}, "models='hours'; expected names of models"),
        ({"models": [""]}, "expected names of models"),
    ],
)
def test_what_makes_no_sense_is_an_import_error(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidDefinitionError, match=words):
        DbtBatches("target", **options)


def test_a_partition_without_time_has_no_batches(tmp_path: Path) -> None:
    leave(tmp_path, hours=(hours(0, 23), []))
    with pytest.raises(InvalidDefinitionError, match="intervals of time, and 'JFK' has none"):
        DbtBatches(tmp_path).check(Partition(PartitionBySequence(["JFK"]), "JFK"))
