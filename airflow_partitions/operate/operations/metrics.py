"""Metrics of an estate, sent as Airflow sends its own: by StatsD, DogStatsD or OpenTelemetry."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice

from sqlalchemy import func, select

from airflow_partitions.engine.database.connection import open_connection, open_session, portions
from airflow_partitions.engine.database.models import Upkeep
from airflow_partitions.engine.graph.partitioned_assets import AssetDags, PartitionedAsset, asset_dags, read_assets
from airflow_partitions.engine.ledger.scheduling_state import is_active
from airflow_partitions.engine.runs.request_state import REQUEST_STATES
from airflow_partitions.operate.operations.late import late_partitions
from airflow_partitions.operate.requests.progress import progress_of_all
from airflow_partitions.operate.requests.request_rows import requests_of
from airflow_partitions.operate.state import State
from airflow_partitions.operate.states.overview import overviews_of

log = logging.getLogger(__name__)

#: What the names of all of them begin with.
PREFIX = "asset_partitions"
# The newest requests are counted, as by the doctor.
_REQUESTS = 100
_AT_ONCE = 100


class Metrics:
    """What an upkeep process tells of an estate.

    States of partitions and of requests are part of the names; assets are tags, and a part of names as well where
    Airflow has these (``[metrics] legacy_names_on``), since plain StatsD has no tags.

    :ivar every: the time between two of its reports; ``None`` to send nothing.
    """

    def __init__(self) -> None:
        from airflow.configuration import conf
        from airflow.observability import stats
        from airflow.observability.metrics import stats_utils

        is_on = any(conf.getboolean("metrics", each) for each in ("statsd_on", "statsd_datadog_enabled", "otel_on"))
        seconds = conf.getint("asset_partitions", "metrics_interval", fallback=60)
        self.every = timedelta(seconds=seconds) if is_on and seconds > 0 else None
        self._by_asset = conf.getboolean("asset_partitions", "metrics_by_asset", fallback=False)
        self._names_assets = conf.getboolean("metrics", "legacy_names_on", fallback=True)
        self._sent: datetime | None = None
        self._stats = stats
        if self.every is not None:
            stats.initialize(factory=stats_utils.get_stats_factory(), export_legacy_names=self._names_assets)

    def send(self, *, leads: bool) -> None:
        """Send what there is to tell, if it is time; what can't be told is logged, and keeps nothing from going on.

        :param leads: whether this process works; one that stands by tells only how long ago another one did.
        """
        now = datetime.now(UTC)
        if self.every is None or (self._sent is not None and abs(now - self._sent) < self.every):
            return
        self._sent = now
        try:
            self._gauge("upkeep.age_seconds", _upkeep_age(now))
            if leads:
                self._stats.incr(f"{PREFIX}.upkeep.heartbeat")
                self._send_all(now)
        except Exception:
            log.exception("Metrics could not be sent")

    def _send_all(self, now: datetime) -> None:
        dags = list(asset_dags().values())
        self._send_states(dags, now)
        late = list(late_partitions(dags, _warn))
        self._gauge("late", sum(len(each.partitions) for each in late))
        due = [each.oldest for each in late if each.oldest is not None]
        self._gauge("late.oldest_seconds", (now - min(due)).total_seconds() if due else 0)
        since = _waiting_since({dag_id for each in dags for dag_id in each.producers})
        self._gauge("waiting.longest_seconds", 0 if since is None else max(0.0, (now - since).total_seconds()))
        requests = Counter(_request_states())
        for state in REQUEST_STATES:
            self._gauge(f"requests.{state}", requests[state])

    def _send_states(self, dags: list[AssetDags], now: datetime) -> None:
        total, unknown = Counter[State](), 0
        for portion in portions(dags, _AT_ONCE):
            for name, overview in overviews_of(list(read_assets(portion)), now).items():
                counts = None if overview.counts is None else overview.counts.counts
                unknown += counts is None
                total.update(counts or {})
                for state in State if self._by_asset and counts is not None else ():
                    self._send_of_asset(name, state, counts.get(state, 0) if counts else 0)
        for state in State:
            self._gauge(f"partitions.{state}", total[state])
        self._gauge("assets.unknown", unknown)

    def _send_of_asset(self, asset: str, state: State, number: int) -> None:
        self._stats.gauge(f"{PREFIX}.asset.partitions.{state}", number, tags={"asset": asset})
        if self._names_assets:
            name = self._stats.normalize_name_for_stats(asset, log_warning=False).replace(".", "__")
            self._stats.gauge(f"{PREFIX}.asset.partitions.{name}.{state}", number)

    def _gauge(self, name: str, value: float) -> None:
        self._stats.gauge(f"{PREFIX}.{name}", value)


def _warn(asset: PartitionedAsset, error: Exception) -> None:
    log.warning("What is late of asset %r can't be told", asset.name, exc_info=error)


def _upkeep_age(now: datetime) -> float:
    """Seconds since an upkeep process has last worked: the oldest that has not ended, or else the last that has."""
    working = select(Upkeep.heartbeat_at).where(Upkeep.ended_at.is_(None)).order_by(Upkeep.id).limit(1)
    with open_session() as session:
        at = session.scalar(working) or session.scalar(select(func.max(Upkeep.heartbeat_at)))
    return 0.0 if at is None else max(0.0, (now - at).total_seconds())


def _waiting_since(dag_ids: set[str]) -> datetime | None:
    """Since when a partition waits for others, of Dags that are active."""
    from airflow.models.asset import AssetPartitionDagRun as Row
    from airflow.models.dag import DagModel

    oldest: list[datetime] = []
    with open_connection() as connection:
        for portion in portions(sorted(dag_ids)):
            query = (
                select(func.min(Row.created_at))
                .join(DagModel, DagModel.dag_id == Row.target_dag_id)
                .where(Row.target_dag_id.in_(portion), Row.created_dag_run_id.is_(None), is_active())
            )
            oldest += filter(None, [connection.scalar(query)])
    return min(oldest, default=None)


def _request_states() -> Iterator[str]:
    with open_session() as session:
        newest = list(islice(requests_of(None), _REQUESTS))
        yield from (each.state for each in progress_of_all(session, newest))
