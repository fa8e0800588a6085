"""Asset events and waiting windows put into Airflow's database, as many as a benchmark needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from airflow import settings
from airflow.models.asset import AssetEvent, AssetModel, AssetPartitionDagRun, PartitionedAssetKeyLog
from airflow.models.dagrun import DagRun
from airflow.models.serialized_dag import SerializedDagModel
from airflow.timetables.base import Timetable, compute_rollup_fingerprint
from airflow.utils.session import create_session
from sqlalchemy import event, insert, select

FIRST = datetime(2013, 1, 1, tzinfo=UTC)


def our_text(hour: datetime) -> str:
    """The key of an hour as we write it."""
    return f"{hour:%Y-%m-%dT%H:%MZ}"


def native_text(hour: datetime) -> str:
    """The key of an hour as Airflow writes it."""
    return f"{hour:%Y-%m-%dT%H:%M:%S}"


def hours(start: datetime, count: int) -> list[datetime]:
    """*count* hours from *start* on."""
    return [start + timedelta(hours=n) for n in range(count)]


def timetable(dag_id: str) -> Timetable:
    """The timetable of a Dag, as the scheduler reads it in each pass."""
    with create_session() as session:
        serialized = SerializedDagModel.get(dag_id, session=session)
        assert serialized is not None
        return serialized.dag.timetable


def add_events(asset: str, texts: list[str]) -> None:
    """One event for each key, of yesterday."""
    with create_session() as session:
        asset_id = session.scalar(select(AssetModel.id).where(AssetModel.name == asset))
        yesterday = datetime.now(UTC) - timedelta(days=1)
        session.execute(
            insert(AssetEvent),
            [{"asset_id": asset_id, "partition_key": text, "extra": {}, "timestamp": yesterday} for text in texts],
        )


def add_windows(dag_id: str, asset: str, windows: dict[str, list[str]]) -> None:
    """A waiting window of the Dag for each of its keys, with the upstream keys that have come."""
    fingerprint = compute_rollup_fingerprint(timetable(dag_id))
    add_events(asset, [text for texts in windows.values() for text in texts])
    with create_session() as session:
        asset_id = session.scalar(select(AssetModel.id).where(AssetModel.name == asset))
        events = dict(
            session.execute(
                select(AssetEvent.partition_key, AssetEvent.id).where(AssetEvent.asset_id == asset_id)
            ).all()
        )
        pending = [
            AssetPartitionDagRun(target_dag_id=dag_id, partition_key=key, rollup_fingerprint=fingerprint)
            for key in windows
        ]
        session.add_all(pending)
        session.flush()
        session.execute(
            insert(PartitionedAssetKeyLog),
            [
                {
                    "asset_id": asset_id,
                    "asset_event_id": events[text],
                    "asset_partition_dag_run_id": row.id,
                    "source_partition_key": text,
                    "target_dag_id": dag_id,
                    "target_partition_key": row.partition_key,
                }
                for row in pending
                for text in windows[str(row.partition_key)]
            ],
        )


def add_runs(dag_id: str, keys: list[str]) -> None:
    """A queued run of the Dag for each key, as a backfill makes them at once."""
    now = datetime.now(UTC)
    row = {
        "dag_id": dag_id,
        "log_template_id": None,
        "run_type": "manual",
        "state": "queued",
        "queued_at": now,
        "run_after": now,
    }
    with settings.engine.begin() as connection:
        connection.execute(
            insert(DagRun.__table__), [row | {"run_id": f"backfill__{key}", "partition_key": key} for key in keys]
        )


@contextmanager
def counted() -> Iterator[Callable[[], int]]:
    """How many statements the database has got since."""
    statements: list[str] = []

    def remember(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        statements.append(statement)

    event.listen(settings.engine, "before_cursor_execute", remember)
    try:
        yield lambda: len(statements)
    finally:
        event.remove(settings.engine, "before_cursor_execute", remember)
