"""Tables of assets are kept small by upkeep, as they say."""

from __future__ import annotations

import json
import threading
from argparse import Namespace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import attrs
import pyarrow as pa
import pytest
from sqlalchemy import select, update

from airflow_partitions import PartitionByInterval, asset
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.engine.database.models import Asset
from airflow_partitions.operate.cli.maintain import maintain_tables
from airflow_partitions.operate.upkeep import Upkeep, one_round, tables
from airflow_partitions.storage import Iceberg, Maintenance, Storage
from airflow_partitions.storage.iceberg.table.open import open_table
from tests.metadata import Metadata

pytestmark = pytest.mark.airflow

DAYS = PartitionByInterval("@daily", start="2013-01-01", name="date")
SCHEMA = {"date": "date", "delay": "double"}
DAG_FILE = """
from datetime import timedelta

from airflow_partitions.storage import Iceberg, Maintenance

SCHEMA = {"date": "date", "delay": "double"}
SOON = timedelta(microseconds=1)


def table(name, **more):
    return Iceberg(f"db.{name}", catalog="maintained", schema=SCHEMA, create=True, **more)


@asset(
    schedule="@daily",
    partition=PartitionByInterval("@daily", start="2013-01-01", name="date"),
    storage=table("delays", maintenance=Maintenance(keep_snapshots=SOON, compact=True)),
)
def delays(): ...


@asset(
    schedule="@daily",
    partition=PartitionByInterval("@daily", start="2013-01-01", name="date"),
    storage=table("left", ownership="owned"),
)
def left_alone(): ...


@asset(
    schedule="@daily",
    partition=PartitionByInterval("@daily", start="2013-01-01", name="date"),
    storage=table("later", maintenance=Maintenance()),
)
def not_yet_made(): ...
"""


def rows(*delays: float) -> pa.Table:
    return pa.table({"delay": list(delays)})


@pytest.fixture
def delays(metadata: Metadata, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iceberg:
    """A table of three days, one of which was published three times, and once by others."""
    catalog = {"type": "sql", "uri": f"sqlite:///{tmp_path}/catalog.db?timeout=60", "warehouse": f"{tmp_path}/lake"}
    monkeypatch.setenv("AIRFLOW_CONN_MAINTAINED", json.dumps({"conn_type": "iceberg", "extra": catalog}))
    metadata.parse(tmp_path, files=DAG_FILE)
    storage = Iceberg("db.delays", catalog="lake", credentials=catalog, partition=DAYS, schema=SCHEMA, create=True)
    storage = attrs.evolve(storage, catalog="maintained")
    for number in range(3):
        storage.save({"2013-01-01": rows(float(number))}, mode="overwrite")
    storage.save({"2013-01-02": rows(4.0), "2013-01-03": rows(5.0)})
    for delay in (6.0, 7.0):
        date = pa.array([datetime(2013, 1, 4, tzinfo=UTC).date()])
        open_table(storage).append(pa.table({"date": date, "delay": [delay]}))
    return storage


def test_a_table_is_kept_small_once_a_day_and_what_is_frozen_stays(metadata: Metadata, delays: Iceberg) -> None:
    frozen = delays.freeze("run")
    delays.save({"2013-01-01": rows(8.0)}, mode="overwrite")
    before = {str(key): each.metadata for key, each in delays.get_many().items()}
    outcome = one_round()
    assert outcome.problems == ()
    (made, later) = sorted(outcome.tables, key=lambda each: each.asset)
    assert (made.asset, made.table) == ("delays", "maintained://db.delays")
    assert made.snapshots == 6  # all but the newest and the one that is frozen
    assert made.compacted == ("2013-01-04",)
    assert made.manifests > made.into == 1
    assert (later.asset, later.idle) == ("not_yet_made", True)
    assert {str(key): each.metadata for key, each in delays.get_many().items()} == before
    assert delays.read("2013-01-04", as_="polars")["delay"].sort().to_list() == [6.0, 7.0]
    assert frozen.read("2013-01-01", as_="arrow")["delay"].to_pylist() == [2.0]
    assert one_round().tables == ()
    with metadata.engine.begin() as at:
        row = Asset.id == metadata.asset("delays")
        begun = at.scalar(select(Asset.maintained_at).where(row))
        assert begun is not None
        at.execute(update(Asset).where(row).values(maintained_at=begun - timedelta(days=1, seconds=1)))
    assert [each.asset for each in one_round().tables] == ["delays"]


def test_of_two_processes_one_begins_with_a_table(metadata: Metadata) -> None:
    for name in ("delays", "later"):
        metadata.asset(name)
    names = ["delays", "later", "nobody"]
    one, other = tables.due(names), tables.due(names)
    assert [next(one), next(other), *one, *other] == ["delays", "later"]


def test_a_dry_run_tells_the_same_and_changes_nothing(
    delays: Iceberg, metadata: Metadata, capsys: pytest.CaptureFixture[str]
) -> None:
    history = [each.snapshot_id for each in open_table(delays).snapshots()]
    maintain_tables(Namespace(assets=["delays"], dry_run=True, output="json"))
    (told,) = json.loads(capsys.readouterr().out)
    assert [each.snapshot_id for each in open_table(delays).snapshots()] == history
    with metadata.engine.connect() as at:
        assert at.scalars(select(Asset.maintained_at)).all() == []
    maintain_tables(Namespace(assets=["delays"], dry_run=False, output="json"))
    (done,) = json.loads(capsys.readouterr().out)
    assert done["compacted"] == told["compacted"] == ["2013-01-04"]
    assert done["snapshots"] == told["snapshots"] + 1  # compaction makes one more
    with pytest.raises(
        SystemExit, match=r"'left_alone' has no table that is kept small; .*as of: delays, not_yet_made"
    ):
        maintain_tables(Namespace(assets=["left_alone"], dry_run=True, output="json"))


def test_a_table_that_can_not_be_reached_is_told_and_keeps_nothing_else(
    delays: Iceberg, metadata: Metadata, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AIRFLOW_CONN_MAINTAINED")
    metadata.emit("delays", "2013-01-01")
    outcome = one_round()
    assert outcome.records == 1
    assert [problem.partition(": ")[0] for problem in outcome.problems] == ["asset 'delays'", "asset 'not_yet_made'"]
    assert "there is no connection 'maintained' to the catalog of table 'db.delays'" in outcome.problems[0]


def test_rounds_go_on_while_a_table_takes_long(delays: Iceberg, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on, maintain = threading.Event(), tables.maintain

    def slow(*args: object, **more: object) -> tables.TableUpkeep:
        assert go_on.wait(60)
        return maintain(*args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(tables, "maintain", slow)
    work = Upkeep()
    try:
        assert work.round().tables == work.round().tables == ()
        go_on.set()
        done: list[str] = []
        deadline = datetime.now(UTC) + timedelta(seconds=60)
        while len(done) < 2 and datetime.now(UTC) < deadline:
            done += [each.asset for each in work.round().tables]
        assert done == ["delays", "not_yet_made"]
    finally:
        work.close()


def test_what_is_declared_goes_through_json_and_makes_sense() -> None:
    policy = Maintenance(keep_snapshots=timedelta(days=3), compact=True)
    storage = Iceberg("db.delays", partition=DAYS, maintenance=policy)
    assert Storage.from_json(storage.to_json()) == storage
    with pytest.raises(InvalidDefinitionError, match="'read-only': others look after it; expected no maintenance="):
        Iceberg("db.delays", ownership="read-only", maintenance=policy)
    with pytest.raises(InvalidDefinitionError, match=r"keep_files=datetime.timedelta\(0\); expected a time above zero"):
        Maintenance(keep_files=0)  # type: ignore[arg-type]
    reached = attrs.evolve(storage, credentials={"type": "sql", "uri": "sqlite:///"})
    with pytest.raises(InvalidDefinitionError, match="by a connection of Airflow only"):
        asset(schedule="@daily", partition=DAYS, storage=reached)(own)


def own() -> None: ...
