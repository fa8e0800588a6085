"""What is there already is taken over: real files, a real metadata database."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import sleep

import pandas as pd
import pytest
from sqlalchemy import delete, update

from airflow_partitions import PartitionByInterval, Selection
from airflow_partitions.core.errors import InvalidDefinitionError, UnknownAssetError
from airflow_partitions.engine.graph.partitioned_assets import partitioned_asset
from airflow_partitions.engine.ledger.ledger import current_records, materialized_times, update_ledger
from airflow_partitions.engine.ledger.marks import Adoption
from airflow_partitions.operate.requests.forget import forget
from airflow_partitions.operate.upkeep import one_round
from airflow_partitions.operate.upkeep.adopt import adopt_from_asset, adopt_from_storage
from airflow_partitions.operate.upkeep.cell_check import cell_problems
from airflow_partitions.storage import Parquet
from airflow_partitions.storage.metadata.attempt import Attempt
from tests.metadata import LONG_AGO, Metadata

pytestmark = pytest.mark.airflow

DAYS = PartitionByInterval("@daily")
FRAME = pd.DataFrame({"rows": [1, 2, 3]})


class Lake:
    """A folder of partitions, and the Dag file of the asset that is stored there."""

    def __init__(self, metadata: Metadata, folder: Path) -> None:
        self.metadata = metadata
        self.storage = Parquet(str(folder / "lake"), partition=DAYS, partition_on={"date": "%Y-%m-%d"})
        self.dags = folder / "dags"
        self.dags.mkdir()
        self.parse()

    def parse(self, name: str = "flights", schedule: str = "@daily") -> None:
        text = f'Parquet("{self.storage.path}", partition_on={{"date": "%Y-%m-%d"}})'
        source = f"""
            from airflow_partitions.storage import Parquet

            @asset(schedule="@daily", partition=PartitionByInterval("{schedule}"), storage={text})
            def {name}(partition): ...

            @asset(schedule={name}, partition=PartitionByInterval("{schedule}"))
            def after_{name}(partition): ...
        """
        self.metadata.parse(self.dags, files=source)

    def rename(self, name: str) -> None:
        """Write another name into the file; Airflow then counts the Dags as gone, and their asset as not active."""
        from airflow.models.asset import AssetActive
        from airflow.models.dag import DagModel

        with self.metadata.engine.begin() as at:
            at.execute(update(DagModel).values(is_stale=True))
            at.execute(delete(AssetActive))
        self.parse(name)

    def save(self, *days: str, run: str = "run1") -> None:
        self.storage.save(dict.fromkeys(days, FRAME), attempt=Attempt("flights", run, 1), mode="overwrite")

    def recorded(self, asset: str = "flights") -> list[str]:
        return [str(key) for key, _ in current_records(asset, DAYS, Selection.all(DAYS))]


@pytest.fixture
def lake(metadata: Metadata, tmp_path: Path) -> Lake:
    return Lake(metadata, tmp_path)


def test_what_is_stored_is_taken_over_quietly_once_with_its_counts_and_its_run(lake: Lake) -> None:
    lake.save("2013-02-08", "2013-02-09")
    asset = partitioned_asset("flights")
    assert list(adopt_from_storage(asset, by="anna", dry_run=True).selection) == [*map(DAYS.parse, lake_days(8, 9))]
    assert lake.recorded() == []
    assert adopt_from_storage(asset, by="anna").to_json() == nothing() | {"count": 2, "present": 0}
    assert lake.recorded() == lake_days(8, 9)
    (_, record), _ = current_records("flights", DAYS, Selection.all(DAYS))
    assert (record.dag_id, record.run_id, record.extra["rows"], record.extra["files"]) == ("flights", "run1", 3, 1)
    assert Adoption.of(record.extra) == Adoption("anna", "storage")
    assert adopt_from_storage(asset, by="anna").to_json() == nothing()
    assert one_round().caught_up == 0
    assert list(cell_problems()) == []
    assert lake.metadata.pages("flights") == {"201302": lake_days(8, 9)}


def nothing() -> dict[str, object]:
    return {
        "asset": "flights",
        "source": "storage",
        "count": 0,
        "present": 2,
        "forgotten": 0,
        "foreign": [],
        "dry_run": False,
    }


def lake_days(*days: int) -> list[str]:
    return [f"2013-02-{day:02}" for day in days]


def test_what_was_published_while_its_event_was_lost_is_mended_and_nothing_else(lake: Lake) -> None:
    lake.save(*lake_days(7, 8, 9), run="run2")
    lake.metadata.emit("flights", "2013-02-07", at=datetime.now(UTC), source_dag_id="flights", source_run_id="run2")
    lake.metadata.emit("flights", "2013-02-08", at=LONG_AGO, source_dag_id="flights", source_run_id="run1")
    update_ledger("flights", DAYS)
    outcome = adopt_from_storage(partitioned_asset("flights"), by="anna")
    assert list(map(str, outcome.selection)) == lake_days(8, 9)
    records = {str(key): record for key, record in current_records("flights", DAYS, Selection.all(DAYS))}
    assert [records[day].run_id for day in lake_days(7, 8, 9)] == ["run2"] * 3
    assert records["2013-02-08"].first == LONG_AGO
    keys = {day: DAYS.parse(day) for day in lake_days(7, 8, 9)}
    assert [times.last > LONG_AGO for times in materialized_times("flights", DAYS, keys).values()] == [True] * 3


def test_files_of_others_count_and_what_is_no_partition_is_told(lake: Lake) -> None:
    for name in ("date=2013-02-08", "date=someday"):
        folder = Path(lake.storage.path, name)
        folder.mkdir(parents=True)
        FRAME.to_parquet(folder / "part.parquet")
    outcome = adopt_from_storage(partitioned_asset("flights"), by="anna")
    assert (list(map(str, outcome.selection)), outcome.foreign) == (["2013-02-08"], ("date=someday",))
    ((_, record),) = current_records("flights", DAYS, Selection.all(DAYS))
    assert datetime.now(UTC) - record.last < timedelta(minutes=1)
    assert (record.run_id, record.extra["files"]) == (None, 1)


def test_what_was_forgotten_stays_so_unless_it_was_stored_since(lake: Lake) -> None:
    lake.save(*lake_days(8, 9))
    asset = partitioned_asset("flights")
    adopt_from_storage(asset, by="anna")
    forget(asset, Selection.of(DAYS, *lake_days(8, 9)), by="anna")
    assert lake.recorded() == []
    sleep(1.1)  # storage counts in seconds
    lake.save("2013-02-09", run="run2")
    outcome = adopt_from_storage(asset, by="anna")
    assert (list(map(str, outcome.selection)), outcome.forgotten) == (["2013-02-09"], 1)
    assert lake.recorded() == ["2013-02-09"]


def test_the_ledger_of_an_asset_that_was_renamed_is_carried_over(lake: Lake) -> None:
    lake.metadata.emit("flights", "2013-02-08", source_dag_id="flights", source_run_id="run1", extra={"rows": 7})
    update_ledger("flights", DAYS)
    lake.metadata.emit("flights", "2013-02-09", at=LONG_AGO + timedelta(days=1))
    lake.metadata.emit("flights", "2013-02-10")
    forget(partitioned_asset("flights"), Selection.of(DAYS, "2013-02-10"), by="anna")
    lake.rename("departures")
    renamed = partitioned_asset("departures")
    assert len(adopt_from_asset(renamed, "flights", by="anna", dry_run=True).selection) == 2
    outcome = adopt_from_asset(renamed, "flights", by="anna")
    assert json.loads(json.dumps(outcome.to_json()))["count"] == 2
    assert lake.recorded("departures") == lake_days(8, 9)
    (_, record), _ = current_records("departures", DAYS, Selection.all(DAYS))
    assert (record.first, record.run_id, record.extra["rows"]) == (LONG_AGO, "run1", 7)
    assert len(adopt_from_asset(renamed, "flights", by="anna").selection) == 0
    assert one_round().problems == ()
    assert list(cell_problems()) == []


def test_what_can_not_be_taken_over_is_told(lake: Lake) -> None:
    lake.metadata.emit("flights", "2013-02-08")
    update_ledger("flights", DAYS)
    with pytest.raises(InvalidDefinitionError, match="no Dag says where asset 'after_flights' is stored"):
        adopt_from_storage(partitioned_asset("after_flights"), by="anna")
    with pytest.raises(UnknownAssetError, match="Airflow knows no asset 'fligths'"):
        adopt_from_asset(partitioned_asset("flights"), "fligths", by="anna")
    with pytest.raises(InvalidDefinitionError, match="its own ledger"):
        adopt_from_asset(partitioned_asset("flights"), "flights", by="anna")
    lake.parse("departures", "@weekly")
    with pytest.raises(InvalidDefinitionError, match=r"had partitions .*; expected such as mean the same as"):
        adopt_from_asset(partitioned_asset("departures"), "flights", by="anna")
