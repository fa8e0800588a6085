"""Partitions marked as materialized and forgotten, on a real metadata database."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from airflow_partitions import PartitionByInterval, PartitionByProduct, PartitionBySequence, Selection
from airflow_partitions.core.definitions import PartitionDefinition
from airflow_partitions.core.dependencies.box import Box
from airflow_partitions.core.errors import InvalidKeyError, RequestSizeError, UnknownAssetError
from airflow_partitions.engine.graph.partitioned_assets import AssetDags, PartitionedAsset
from airflow_partitions.engine.ledger.cache import HistoryCache
from airflow_partitions.engine.ledger.ledger import current_records, materialized_times, records, update_ledger
from airflow_partitions.engine.ledger.marks import Mark
from airflow_partitions.operate.requests.forget import forget, remember
from airflow_partitions.operate.requests.mark import mark
from airflow_partitions.operate.upkeep import one_round
from tests.metadata import LONG_AGO, Metadata

pytestmark = pytest.mark.airflow

HOURS = PartitionByInterval("@hourly", start="2013-01-01")
AIRPORTS = PartitionBySequence(["EWR", "JFK"], name="airport")
AIRPORT_HOURS = PartitionByProduct([HOURS, AIRPORTS])
DAG_FILE = """
@asset(schedule="@hourly", partition=PartitionByInterval("@hourly", start="2013-01-01"))
def hours(partition): ...

@asset(schedule=hours, partition=PartitionByInterval("@hourly", start="2013-01-01"))
def copies(partition): ...
"""


def asset_of(name: str, definition: PartitionDefinition = HOURS) -> PartitionedAsset:
    return PartitionedAsset(AssetDags(name, (), ()), definition)


def hours_of_day(definition: PartitionDefinition = HOURS) -> Selection:
    return Selection.between(definition, datetime(2013, 7, 1, tzinfo=UTC), datetime(2013, 7, 2, tzinfo=UTC))


def present(asset: str, definition: PartitionDefinition = HOURS) -> list[str]:
    """What all readers of the history agree on."""
    selection = hours_of_day(definition)
    texts = {str(key): key for key in selection}
    current = [str(key) for key, _ in current_records(asset, definition, selection)]
    assert list(materialized_times(asset, definition, texts)) == current
    update_ledger(asset, definition)
    assert [str(key) for key, _ in records(asset, selection)] == current
    assert [str(key) for key, _ in current_records(asset, definition, selection)] == current
    assert list(materialized_times(asset, definition, texts)) == current
    return current


@pytest.fixture
def dags(metadata: Metadata, tmp_path: Path) -> Metadata:
    from airflow.models.dag import DagModel
    from sqlalchemy import update

    metadata.parse(tmp_path, files=DAG_FILE)
    with metadata.engine.begin() as at:
        at.execute(update(DagModel).values(is_paused=False))
    return metadata


def waiting(metadata: Metadata) -> list[str]:
    """Keys of the consumer for which Airflow was asked to make a run."""
    from airflow.models.asset import AssetPartitionDagRun
    from sqlalchemy import select

    with metadata.engine.connect() as at:
        return [str(key) for key in at.scalars(select(AssetPartitionDagRun.partition_key).order_by("id"))]


def test_a_marked_partition_is_materialized_says_by_whom_and_starts_what_is_downstream(dags: Metadata) -> None:
    some = Selection.of(HOURS, "2013-07-01T05:00Z", "2013-07-01T06:00Z")
    assert mark(asset_of("hours"), some, by="anna", reason="loaded by hand", dry_run=True).to_json() == {
        "asset": "hours",
        "count": 2,
        "present": 0,
        "new": "2013-07-01T05:00Z..2013-07-01T07:00Z",
        "quiet": False,
        "dry_run": True,
    }
    assert present("hours") == []
    mark(asset_of("hours"), some, by="anna", reason="loaded by hand")
    assert present("hours") == ["2013-07-01T05:00Z", "2013-07-01T06:00Z"] == waiting(dags)
    (_, record), _ = current_records("hours", HOURS, some)
    assert Mark.of(record.extra) == Mark("anna", "loaded by hand")
    assert (record.dag_id, record.run_id) == (None, None)
    again = mark(asset_of("hours"), Selection.of(HOURS, *some, "2013-07-01T07:00Z"), by="anna", dry_run=True).to_json()
    assert (again["present"], again["new"]) == (2, "2013-07-01T07:00Z")


def test_a_quiet_mark_starts_nothing_nor_does_upkeep_afterwards(dags: Metadata) -> None:
    one_round()  # from here on it catches up
    mark(asset_of("hours"), hours_of_day(), by="anna", quiet=True)
    assert len(present("hours")) == 24
    assert one_round().caught_up == 0
    assert waiting(dags) == []
    dags.emit("hours", "2013-07-01T05:00Z", at=datetime.now(UTC))  # as one that Airflow did not deliver
    assert one_round().caught_up == 1


@pytest.mark.parametrize("recorded", [False, True], ids=["before upkeep", "after upkeep"])
def test_what_is_forgotten_is_missing_for_all_readers_until_it_is_made_again(
    metadata: Metadata, *, recorded: bool
) -> None:
    day = [str(key) for key in hours_of_day()]
    metadata.emit("hours", *day)
    if recorded:
        assert present("hours") == day
    some = Selection.of(HOURS, *day[3:6])
    assert len(forget(asset_of("hours"), some, by="anna", dry_run=True).selection) == 3
    assert len(current_texts()) == 24
    assert forget(asset_of("hours"), some, by="anna", reason="rows are missing").to_json() == {
        "asset": "hours",
        "count": 3,
        "absent": 0,
        "selection": "2013-07-01T03:00Z..2013-07-01T06:00Z",
        "dry_run": False,
    }
    assert metadata.pages("hours") == ({"201307": day[:3] + day[6:]} if recorded else {})
    assert present("hours") == day[:3] + day[6:]
    assert forget(asset_of("hours"), some, by="anna").absent == 3
    metadata.emit("hours", day[3], at=LONG_AGO + timedelta(days=1))
    mark(asset_of("hours"), Selection.of(HOURS, day[5]), by="anna")
    assert present("hours") == [*day[:4], *day[5:]]


@pytest.mark.parametrize("recorded", [False, True], ids=["before upkeep", "after upkeep"])
def test_what_was_forgotten_can_be_taken_back_as_it_was(dags: Metadata, *, recorded: bool) -> None:
    day = [str(key) for key in hours_of_day()]
    dags.emit("hours", *day)
    if recorded:
        one_round()
        dags.purge()
    before = dict(current_records("hours", HOURS, hours_of_day()))
    forget(asset_of("hours"), Selection.of(HOURS, *day[3:6]), by="anna")
    some = Selection.of(HOURS, *day[5:8])
    assert remember(asset_of("hours"), some, dry_run=True).selection == Selection.of(HOURS, day[5])
    assert len(current_texts()) == 21
    assert remember(asset_of("hours"), some).to_json() == {
        "asset": "hours",
        "count": 1,
        "selection": "2013-07-01T05:00Z",
        "dry_run": False,
    }
    assert current_texts() == [*day[:3], *day[5:]]
    assert remember(asset_of("hours"), hours_of_day()).to_json()["count"] == 2
    assert dict(current_records("hours", HOURS, hours_of_day())) == before
    assert waiting(dags) == []
    if recorded:
        assert dags.pages("hours") == {"201307": day}


def current_texts() -> list[str]:
    return [str(key) for key, _ in current_records("hours", HOURS, hours_of_day())]


def test_what_is_forgotten_stays_so_when_the_ledger_is_made_again_and_events_are_purged(metadata: Metadata) -> None:
    day = [str(key) for key in hours_of_day()]
    metadata.emit("hours", *day)
    update_ledger("hours", HOURS)
    forget(asset_of("hours"), Selection.of(HOURS, day[0]), by="anna")
    update_ledger("hours", HOURS, anew=True)
    assert present("hours") == day[1:]
    metadata.purge()
    assert present("hours") == day[1:]
    assert metadata.pages("hours") == {"201307": day[1:]}


def test_a_scheduler_that_remembers_a_partition_learns_that_it_is_forgotten(
    metadata: Metadata, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = next(iter(hours_of_day()))
    metadata.emit("hours", str(key))
    scheduler = HistoryCache()

    def remembers() -> bool:
        scheduler.refresh(at_once=True)
        return scheduler.times("hours", HOURS, [(str(key), key)])[str(key)] is not None

    assert remembers()
    forget(asset_of("hours"), Selection.of(HOURS, key), by="anna")
    assert not remembers()
    metadata.emit("hours", str(key))
    assert remembers()


def test_a_forgotten_matrix_is_kept_as_ranges_and_segments(metadata: Metadata) -> None:
    everything = hours_of_day(AIRPORT_HOURS)
    metadata.emit("delays", *map(str, everything))
    jfk = Selection(AIRPORT_HOURS, (Box(everything.boxes[0].time_range, {"airport": AIRPORTS.segments[1:]}),))
    forget(asset_of("delays", AIRPORT_HOURS), jfk, by="anna")
    assert present("delays", AIRPORT_HOURS) == [str(key) for key in everything - jfk]
    (part,) = metadata.cells("delays", "forgotten")["forgotten"]["parts"]
    assert len(part["selection"]["boxes"]) == 1


def test_what_one_person_forgets_between_two_events_is_one_part(metadata: Metadata) -> None:
    day = [str(key) for key in hours_of_day()]
    metadata.emit("hours", *day)
    for text in day[:3]:
        forget(asset_of("hours"), Selection.of(HOURS, text), by="anna")
    metadata.emit("hours", day[0], at=LONG_AGO + timedelta(days=1))
    forget(asset_of("hours"), Selection.of(HOURS, day[0], day[5]), by="anna")
    parts = metadata.cells("hours", "forgotten")["forgotten"]["parts"]
    assert len(parts) == 2
    assert present("hours") == day[3:5] + day[6:]


def test_nothing_too_much_and_what_is_not_over_are_refused(metadata: Metadata, monkeypatch: pytest.MonkeyPatch) -> None:
    metadata.asset("hours")
    open_hour = HOURS.key_at(datetime.now(UTC))
    with pytest.raises(InvalidKeyError, match=r"is not over yet.*; the newest interval that is over is 20"):
        mark(asset_of("hours"), Selection.of(HOURS, open_hour), by="anna")
    with pytest.raises(RequestSizeError, match="no partition is selected"):
        forget(asset_of("hours"), Selection(HOURS), by="anna")
    monkeypatch.setenv("AIRFLOW__ASSET_PARTITIONS__MAX_REQUEST_SIZE", "10")
    with pytest.raises(RequestSizeError, match=r"24 partitions are selected; expected at most 10.* in 3 parts"):
        mark(asset_of("hours"), hours_of_day(), by="anna")
    with pytest.raises(UnknownAssetError, match="there is no asset 'nothing' any more"):
        mark(asset_of("nothing"), Selection.of(HOURS, "2013-07-01T05:00Z"), by="anna")
