"""Metrics that upkeep sends, as a StatsD server receives them."""

from __future__ import annotations

import socket
from argparse import Namespace
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import update

from airflow_partitions.operate.cli.upkeep import upkeep
from airflow_partitions.operate.operations.metrics import Metrics
from airflow_partitions.operate.upkeep.leader import Candidate
from tests.metadata import Metadata
from tests.operate.states.world import put_pending, put_runs

pytestmark = pytest.mark.airflow

DAGS = """
from airflow.sdk.definitions.deadline import DeadlineAlert, AsyncCallback
from airflow_partitions import PartitionDeadline
import datetime as dt

async def tell(**kwargs): ...

LATE = DeadlineAlert(reference=PartitionDeadline("10:00"), interval=dt.timedelta(0), callback=AsyncCallback(tell))

@asset(schedule=None, partition=PartitionByInterval("@daily", start="2013-02-01", end="2013-02-06"), deadline=LATE)
def days(): ...

@asset(schedule=days, partition=PartitionByInterval("@daily", start="2013-02-01", end="2013-02-06"), uri="x://lake/a.b")
def copies(): ...
"""


class Receiver:
    """A StatsD server: what is sent to a port over UDP."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self._socket.settimeout(0.5)
        self.port = self._socket.getsockname()[1]

    def metrics(self) -> dict[str, str]:
        """The last value of each name, and its kind."""
        metrics: dict[str, str] = {}
        try:
            while True:
                for line in self._socket.recv(65_536).decode().splitlines():
                    name, _, value = line.partition(":")
                    metrics[name] = value
        except TimeoutError:
            return metrics

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    from airflow._shared.observability.metrics import stats as _stats
    from airflow._shared.observability.metrics.base_stats_logger import NoStatsLogger
    from airflow.observability import stats

    receiver = Receiver()
    settings = {"STATSD_ON": "True", "STATSD_HOST": "127.0.0.1", "STATSD_PORT": str(receiver.port)}
    for name, value in settings.items():
        monkeypatch.setenv(f"AIRFLOW__METRICS__{name}", value)
    yield receiver
    client = getattr(_stats._get_backend(), "statsd", None)
    if client is not None:
        client.close()
    stats.initialize(factory=NoStatsLogger, export_legacy_names=True)
    receiver.close()


@pytest.fixture
def dags(metadata: Metadata, tmp_path: Path) -> Metadata:
    from airflow.models.dag import DagModel

    metadata.parse(tmp_path, metered=DAGS)
    with metadata.engine.begin() as at:
        at.execute(update(DagModel).values(is_paused=False))
    return metadata


def test_upkeep_sends_numbers_of_all_assets_to_statsd(dags: Metadata, receiver: Receiver) -> None:
    now = datetime.now(UTC)
    dags.emit("days", "2013-02-01", "2013-02-02", at=now)
    put_runs(dags, "days", ["2013-02-03"], "failed", now, end_date=now)
    put_pending(dags, "copies", "2013-02-01")
    upkeep(Namespace(check=False, loop=False, interval=0, output="json"))
    sent = receiver.metrics()
    ours = {name.removeprefix("airflow.asset_partitions."): value for name, value in sent.items()}
    expected = {
        "partitions.materialized": "2|g", "partitions.failed": "1|g", "partitions.missing": "6|g",
        "partitions.waiting": "1|g", "partitions.stale": "0|g", "late": "3|g", "requests.failed": "0|g",
        "assets.unknown": "0|g", "upkeep.heartbeat": "1|c",
    }  # fmt: skip
    assert {name: ours.get(name) for name in expected} == expected
    age = (now - datetime(2013, 2, 4, 10, tzinfo=UTC)).total_seconds()  # of February 3
    assert 0 <= float(ours["late.oldest_seconds"].partition("|")[0]) - age < timedelta(minutes=10).total_seconds()
    assert float(ours["waiting.longest_seconds"].partition("|")[0]) >= 0
    assert not [name for name in ours if name.startswith("asset.")]


def test_numbers_of_each_asset_are_sent_where_they_are_asked_for(
    dags: Metadata, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AIRFLOW__ASSET_PARTITIONS__METRICS_BY_ASSET", "True")
    Metrics().send(leads=True)
    sent = receiver.metrics()
    assert sent["airflow.asset_partitions.asset.partitions.days.missing"] == "5|g"
    assert sent["airflow.asset_partitions.asset.partitions.copies.missing"] == "5|g"


def test_a_process_that_stands_by_tells_since_when_none_works(dags: Metadata, receiver: Receiver) -> None:
    from airflow_partitions.engine.database.models import Upkeep

    with Candidate():
        dags.write_row(Upkeep, heartbeat_at=datetime.now(UTC) - timedelta(minutes=5))
        Metrics().send(leads=False)
    sent = receiver.metrics()
    assert sent.keys() == {"airflow.asset_partitions.upkeep.age_seconds"}
    assert 300 <= float(sent["airflow.asset_partitions.upkeep.age_seconds"].partition("|")[0]) < 400


def test_they_are_sent_once_a_minute_and_not_at_all_where_airflow_sends_none(
    dags: Metadata, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    metrics = Metrics()
    metrics.send(leads=True)
    assert receiver.metrics()
    metrics.send(leads=True)
    assert receiver.metrics() == {}
    monkeypatch.setenv("AIRFLOW__METRICS__STATSD_ON", "False")
    Metrics().send(leads=True)
    assert receiver.metrics() == {}
