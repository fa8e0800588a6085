"""What happens in the oracle's world, as Airflow's tables have it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import cache, reduce
from operator import and_, or_
from types import ModuleType
from typing import Any

import attrs
import pytest
from airflow.sdk import Asset
from sqlalchemy import Select, Table, bindparam, delete, insert, select, update

from airflow_partitions import AtLeast, KeyFormat, Lookback, PartitionByInterval, Partitioned, Within
from airflow_partitions.core.dependencies import AllPartitions, LatestPartition, Window
from airflow_partitions.core.dependencies import Rule as PartitionRule
from airflow_partitions.core.errors import PartitionError
from airflow_partitions.core.versions import read_form
from airflow_partitions.engine.ledger import cache as times_cache
from airflow_partitions.engine.ledger import ledger, new_events, state_store
from airflow_partitions.engine.ledger.ledger_pages import PROGRESS, LedgerProgress, read_page
from airflow_partitions.engine.timetables import evaluation, mapper, partitioned
from airflow_partitions.engine.timetables.condition import condition_of
from airflow_partitions.engine.timetables.run_policy import RunPolicy
from airflow_partitions.engine.timetables.upstreams import Upstreams
from airflow_partitions.operate.upkeep import catch_up, pending_rows
from tests.engine.timetables.oracle import Condition, Consumer, Event, Rule, Run
from tests.metadata import Metadata

CLOCKED: tuple[ModuleType, ...] = (
    times_cache,
    catch_up,
    evaluation,
    ledger,
    mapper,
    new_events,
    partitioned,
    pending_rows,
    state_store,
)
Meaning = PartitionByInterval | KeyFormat


class Clock:
    """The time that the package sees."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = datetime(2013, 1, 1, tzinfo=UTC)

        class Set(datetime):
            @classmethod
            def now(cls, tz: Any = None) -> Any:
                return self.now

        for module in CLOCKED:
            monkeypatch.setattr(module, "datetime", Set)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A clock that a test sets."""
    return Clock(monkeypatch)


def rule_of(rule: Rule) -> PartitionRule | None:
    plain = Lookback(rule.before) if rule.before else None
    window = Window(timedelta(hours=rule.before), timedelta(hours=rule.after))
    return {"all": AllPartitions(), "latest": LatestPartition(), "window": window}.get(rule.name, plain)


def assets_of(condition: Condition) -> Any:
    if isinstance(condition, str):
        return Asset(condition)
    return reduce(and_ if condition[0] == "&" else or_, map(assets_of, condition[1:]))


def timetable_of(consumer: Consumer, meanings: Mapping[str, Any]) -> Partitioned:
    """The timetable of a consumer, as a loop of the scheduler reads it."""
    condition = condition_of(assets_of(consumer.condition))
    assert condition is not None
    rules = {name: own_rule for name, rule in consumer.rules.items() if (own_rule := rule_of(rule)) is not None}
    rerun = consumer.rerun if isinstance(consumer.rerun, str) else Within(*consumer.rerun)
    wait = None if consumer.wait is None else AtLeast(consumer.wait)
    run_policy = RunPolicy(wait, rerun, consumer.max_wait, consumer.at)
    definition = meanings[consumer.name]
    upstreams = Upstreams(definition, condition, {name: meanings[name] for name in consumer.rules}, rules, run_policy)
    timetable = Partitioned(upstreams, definition)
    timetable.dag_id = consumer.name
    return timetable


@attrs.define
class Stage:
    """Airflow's tables.

    :ivar prints: by which Airflow sees what each consumer waits for.
    """

    metadata: Metadata
    assets: Mapping[str, int]
    prints: dict[str, Any] = attrs.field(factory=dict)

    @classmethod
    def empty(cls, metadata: Metadata, names: list[str]) -> Stage:
        """With Dags that each make the asset of their own name."""
        from airflow.models.asset import TaskOutletAssetReference
        from airflow.models.dag import DagModel
        from airflow.models.dagbundle import DagBundleModel

        assets = {name: metadata.asset(name) for name in names}
        stage = cls(metadata, assets)
        stage._clear()
        with metadata.engine.begin() as at:
            at.execute(delete(TaskOutletAssetReference))
            at.execute(delete(DagModel))
            at.execute(delete(DagBundleModel))
            at.execute(insert(DagBundleModel).values(name="dags"))
            for name, number in assets.items():
                at.execute(
                    insert(DagModel).values(
                        dag_id=name, bundle_name="dags", is_paused=False, max_active_tasks=1,
                        max_consecutive_failed_dag_runs=0, has_task_concurrency_limits=False,
                    )
                )  # fmt: skip
                at.execute(insert(TaskOutletAssetReference).values(asset_id=number, dag_id=name, task_id="make"))
        return stage

    def _clear(self) -> None:
        from airflow.models.base import Base

        names = ("partitioned_asset_key_log", "asset_partition_dag_run", "asset_event", "asset_state_store", "dag_run")
        self.metadata.clear_rows()
        self.metadata.empty(Base.metadata.tables[name] for name in names)

    def reached(self, event: Event, consumers: Mapping[str, Partitioned]) -> dict[str, list[str]]:
        """The keys of each consumer that Airflow makes pending rows for."""
        keys: dict[str, list[str]] = {}
        for name, timetable in consumers.items():
            if timetable.upstreams is not None and event.asset in timetable.upstreams.leaves:
                try:
                    keys[name] = list(timetable.get_partition_mapper(name=event.asset).to_downstream(event.text))
                except PartitionError:  # Airflow puts it in its log
                    keys[name] = []
        return keys

    def commit(self, number: int, event: Event, reached: Mapping[str, list[str]]) -> None:
        """What the transaction that registers an event leaves behind."""
        from airflow.models.asset import AssetEvent, PartitionedAssetKeyLog
        from airflow.models.asset import AssetPartitionDagRun as Row

        asset_id = self.assets[event.asset]
        with self.metadata.engine.begin() as at:
            new = {"id": number, "asset_id": asset_id, "partition_key": event.text, "timestamp": event.at}
            at.execute(insert(AssetEvent), new)
            logs = []
            for name, keys in reached.items():
                for key in keys:
                    newest = at.execute(_newest_row(), {"dag_id": name, "key": key}).first()
                    row = newest.id if newest is not None and newest.created_dag_run_id is None else None
                    if row is None:
                        new = {
                            "target_dag_id": name,
                            "partition_key": key,
                            "created_at": event.at,
                            "rollup_fingerprint": self.prints.get(name),
                        }
                        row = at.execute(insert(Row), new).inserted_primary_key[0]  # type: ignore[index]
                    logs.append({
                        "asset_id": asset_id, "asset_event_id": number, "asset_partition_dag_run_id": row,
                        "source_partition_key": event.text, "target_dag_id": name, "target_partition_key": key,
                    })  # fmt: skip
            if logs:
                at.execute(insert(PartitionedAssetKeyLog), logs)

    def pending(self, consumer: str) -> dict[int, tuple[str, list[str]]]:
        """The key of each pending row of a consumer, and the assets whose events it stands for."""
        rows: dict[int, tuple[str, list[str]]] = {}
        with self.metadata.engine.connect() as at:
            for row, key, asset, _ in at.execute(_pending_rows(), {"dag_id": consumer}):
                rows.setdefault(row, (key, []))[1].append(asset)
        return rows

    def forget(self, consumer: str) -> None:
        """What the scheduler does to pending rows of a consumer that waits for something else now."""
        from airflow.models.asset import AssetPartitionDagRun as Row
        from airflow.models.asset import PartitionedAssetKeyLog as Log

        rows = select(Row.id).where(Row.target_dag_id == consumer, Row.created_dag_run_id.is_(None))
        with self.metadata.engine.begin() as at:
            at.execute(delete(Log).where(Log.asset_partition_dag_run_id.in_(rows)))
            at.execute(delete(Row).where(Row.target_dag_id == consumer, Row.created_dag_run_id.is_(None)))

    def put(self, run: Run, *, row: int | None = None) -> None:
        """Write a run as it is now; *row* is the pending row that it comes from."""
        from airflow.models.asset import AssetPartitionDagRun as Row
        from airflow.models.base import Base

        runs: Table = Base.metadata.tables["dag_run"]
        state = "queued" if run.began is None else "success" if run.ended else "running"
        values = {"state": state, "queued_at": run.queued, "start_date": run.began}
        with self.metadata.engine.begin() as at:
            if not at.execute(update(runs).where(runs.c.id == run.id).values(values)).rowcount:
                at.execute(
                    insert(runs).values(
                        **values, id=run.id, dag_id=run.dag_id, run_id=f"run{run.id}", run_type="manual",
                        run_after=run.queued, partition_key=run.key, log_template_id=None,
                    )
                )  # fmt: skip
            if row is not None:
                at.execute(update(Row).where(Row.id == row).values(created_dag_run_id=run.id))

    def pause(self, dag_id: str, *, paused: bool) -> None:
        from airflow.models.dag import DagModel

        with self.metadata.engine.begin() as at:
            at.execute(update(DagModel).where(DagModel.dag_id == dag_id).values(is_paused=paused))

    def purge_runs(self, runs: list[Run]) -> None:
        """What ``airflow db clean`` does to runs."""
        from airflow.models.asset import AssetPartitionDagRun as Row
        from airflow.models.base import Base

        table: Table = Base.metadata.tables["dag_run"]
        numbers = [run.id for run in runs]
        with self.metadata.engine.begin() as at:
            at.execute(delete(Row).where(Row.created_dag_run_id.in_(numbers)))
            at.execute(delete(table).where(table.c.id.in_(numbers)))

    def pages_and_events(self, asset: str) -> tuple[dict[str, datetime], list[tuple[str, datetime]]]:
        """What a task reads of an asset: its pages, and the events since."""
        from airflow.models.asset import AssetEvent

        form = self.metadata.cells(asset, PROGRESS).get(PROGRESS)
        progress = read_form(form, LedgerProgress.from_json, PROGRESS, print)
        pages: dict[str, datetime] = {}
        for page in self.metadata.cells(asset, "page/").values():
            pages |= {text: last for text, (_, last) in read_page(page).items()}
        query = select(AssetEvent.partition_key, AssetEvent.timestamp).where(AssetEvent.asset_id == self.assets[asset])
        if progress is not None and progress.until is not None:
            query = query.where(AssetEvent.timestamp >= progress.until)
        with self.metadata.engine.connect() as at:
            return pages, [(text, time) for text, time in at.execute(query)]


@cache
def _newest_row() -> Select[Any]:
    """The query for the newest row that stands for a ``key`` of a Dag, ``dag_id``."""
    from airflow.models.asset import AssetPartitionDagRun as Row

    query = select(Row.id, Row.created_dag_run_id).order_by(Row.id.desc()).limit(1)
    return query.where(Row.target_dag_id == bindparam("dag_id"), Row.partition_key == bindparam("key"))


@cache
def _pending_rows() -> Select[Any]:
    """The query for the pending rows of a Dag, ``dag_id``, once for each asset whose events they stand for."""
    from airflow.models.asset import AssetModel, PartitionedAssetKeyLog
    from airflow.models.asset import AssetPartitionDagRun as Row

    return (
        select(Row.id, Row.partition_key, AssetModel.name, Row.created_at)
        .join(PartitionedAssetKeyLog, PartitionedAssetKeyLog.asset_partition_dag_run_id == Row.id)
        .join(AssetModel, AssetModel.id == PartitionedAssetKeyLog.asset_id)
        .where(Row.target_dag_id == bindparam("dag_id"), Row.created_dag_run_id.is_(None))
        .order_by(Row.created_at, Row.id)
        .distinct()
    )
