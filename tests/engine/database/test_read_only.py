"""A database that can only be read: a standby, or one whose role may not write."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from airflow_partitions import PartitionByInterval, Selection
from airflow_partitions.core.errors import ReadOnlyError
from airflow_partitions.engine.database.connection import open_session
from airflow_partitions.engine.graph.partitioned_assets import partitioned_asset
from airflow_partitions.engine.ledger.corrections import forget
from airflow_partitions.engine.ledger.ledger import materialized_times, update_ledger
from airflow_partitions.operate.requests.materialize import ask
from airflow_partitions.operate.states import counts
from airflow_partitions.operate.upkeep import one_round
from tests.engine.database.conftest import Database
from tests.metadata import Metadata

pytestmark = pytest.mark.airflow

DAYS = PartitionByInterval("@daily", start="2013-01-01")
REFUSED = "Airflow's database refuses to be written: .*; ask again once the database can be written"


@pytest.fixture
def read_only(migrated: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    """A database with one asset, of which two days are in the ledger and one is not."""
    from airflow import settings

    metadata = Metadata(migrated.engine)
    metadata.prepare_runs()
    (tmp_path / "dags").mkdir()
    metadata.parse(
        tmp_path / "dags",
        flights="""
        @asset(schedule="@daily", partition=PartitionByInterval("@daily", start="2013-01-01"))
        def flights(partition): ...
        """,
    )
    with migrated.engine.begin() as at:
        at.execute(text("UPDATE dag SET is_paused = false"))
    metadata.emit("flights", "2013-01-01", "2013-01-02")
    update_ledger("flights", DAYS)
    metadata.emit("flights", "2013-01-03")
    if migrated.engine.dialect.name == "sqlite":
        engine = create_engine(f"sqlite:///file:{migrated.engine.url.database}?mode=ro&uri=true")
    else:
        with migrated.engine.connect() as at:
            at.execute(text(f"ALTER DATABASE {migrated.engine.url.database} SET default_transaction_read_only = on"))
            at.commit()
        engine = create_engine(migrated.engine.url)
    monkeypatch.setattr(settings, "engine", engine)
    yield migrated
    engine.dispose()


def test_what_is_there_is_told_and_what_is_asked_for_refused_in_a_sentence(read_only: Database) -> None:
    keys = {text: DAYS.parse(text) for text in ("2013-01-01", "2013-01-03")}
    assert list(materialized_times("flights", DAYS, keys)) == list(keys)
    assert counts("flights").counts.keys() == {"materialized", "missing"}
    selection = Selection.of(DAYS, "2013-01-02")
    for change in (
        lambda: update_ledger("flights", DAYS),
        lambda: forget("flights", selection, by="me"),
        lambda: ask(partitioned_asset("flights"), selection, by="me"),
    ):
        with pytest.raises(ReadOnlyError, match=REFUSED):
            change()
    with open_session() as at:
        assert at.scalar(text("select count(*) from asset_partitions_partition where is_forgotten")) == 0


def test_upkeep_tells_it_of_each_job(read_only: Database) -> None:
    problems = one_round().problems
    assert any("flights" in problem and "refuses to be written" in problem for problem in problems), problems
