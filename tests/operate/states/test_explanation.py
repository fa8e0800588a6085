"""Why a partition is what it is, on a real metadata database."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from airflow_partitions import PartitionByInterval
from airflow_partitions.core.dependencies.selection_text import parse_selection
from airflow_partitions.core.errors import InvalidKeyError, UnknownAssetError
from airflow_partitions.engine.graph.partitioned_assets import partitioned_asset
from airflow_partitions.engine.runs.run_errors import KILLED
from airflow_partitions.operate.requests.forget import forget
from airflow_partitions.operate.states import State, explain, states_of
from airflow_partitions.operate.upkeep import one_round
from tests.metadata import Metadata
from tests.operate.states.world import put_pending, put_runs, put_tasks

pytestmark = pytest.mark.airflow

NOW = datetime(2013, 2, 10, 12, tzinfo=UTC)
DAYS = PartitionByInterval("@daily", start="2013-02-01")
HOURS = PartitionByInterval("@hourly", start="2013-02-01")
MADE = datetime(2013, 2, 20, 1, 2, 3, tzinfo=UTC)
LATER = datetime(2013, 2, 21, 4, 5, 6, tzinfo=UTC)


@pytest.fixture
def dags(metadata: Metadata, tmp_path: Path) -> Metadata:
    metadata.parse(
        tmp_path,
        flights="""
        @asset(schedule="@daily", partition=PartitionByInterval("@hourly", start="2013-02-01"))
        def flights(partition): ...

        @asset(schedule=flights, partition=PartitionByInterval("@daily", start="2013-02-01"))
        def delays(partition): ...
        """,
    )
    unpause(metadata)
    return metadata


def unpause(metadata: Metadata) -> None:
    from airflow.models.dag import DagModel
    from sqlalchemy import update

    with metadata.engine.begin() as at:
        at.execute(update(DagModel).values(is_paused=False))


def hours(day: str) -> list[str]:
    return [str(key) for key in parse_selection(HOURS, day)]


def reasons(asset: str, key: str) -> tuple[str, ...]:
    return explain(asset, key, now=NOW).reasons


def test_what_waits_names_the_upstream_partitions_that_it_lacks(dags: Metadata) -> None:
    dags.emit("flights", *hours("2013-02-03")[:22], at=MADE)
    explanation = explain("delays", "2013-02-03", now=NOW)
    assert explanation.status.state is State.WAITING
    assert explanation.reasons[0] == (
        "22 of 24 partitions of 'flights' that it needs are there, the last since 2013-02-20 01:02:03 UTC;"
        " 2013-02-03T22:00Z to 2013-02-03T23:00Z are lacking"
    )
    (flights,) = explanation.to_json()["upstream"]
    assert [(one["state"], one["count"]) for one in flights["stretches"]] == [("missing", 2), ("materialized", 22)]
    assert (flights["asset"], flights["dag_id"], flights["count"]) == ("flights", "delays", 24)


def test_what_nothing_counted_where_the_job_ran_is_said_to_be_unproven(dags: Metadata) -> None:
    reads = {"flights": {"rows": None, "files": 0}}
    dags.emit("delays", "2013-02-02", at=MADE, extra={"rows": 7, "reads": reads, "unproven": "flights"})
    dags.emit("delays", "2013-02-03", at=MADE, extra={"rows": 7, "unproven": ["flights"]})  # anybody may write events
    explanation = explain("delays", "2013-02-02", now=NOW)
    assert explanation.reasons[-1] == "what it read of flights is not proven: nothing counted it where its job ran"
    assert explanation.to_json()["events"][0]["unproven"] == "flights"
    other = explain("delays", "2013-02-03", now=NOW)
    assert (other.to_json()["events"][0]["unproven"], "proven" in str(other.reasons)) == (None, False)


def test_what_waits_for_a_run_names_it(dags: Metadata) -> None:
    dags.emit("flights", *hours("2013-02-03"), at=MADE)
    put_pending(dags, "delays", "2013-02-03")
    put_runs(dags, "flights", ["2013-02-03T05:00Z"], "running", LATER)
    (reason,) = reasons("delays", "2013-02-03")
    assert reason.startswith("partition 2013-02-03T05:00Z of 'flights', which it needs, has been in the making since")


def test_what_is_stale_names_the_upstream_partition_and_when(dags: Metadata) -> None:
    dags.emit("flights", *hours("2013-02-03"), at=MADE)
    dags.emit("delays", "2013-02-03", at=MADE, source_dag_id="delays", source_run_id="run1")
    dags.emit("flights", "2013-02-03T05:00Z", at=LATER)
    assert reasons("delays", "2013-02-03") == (
        "partition 2013-02-03T05:00Z of 'flights', which it needs, was materialized at 2013-02-21 04:05:06 UTC",
        "run run1 of delays materialized it at 2013-02-20 01:02:03 UTC",
    )
    (delays,) = explain("flights", "2013-02-03T05:00Z", now=NOW).to_json()["downstream"]
    assert [(one["state"], one["first"]) for one in delays["stretches"]] == [("stale", "2013-02-03")]


def test_what_failed_or_was_skipped_names_the_run_and_its_tasks(dags: Metadata) -> None:
    put_runs(dags, "flights", ["2013-02-03T05:00Z"], "failed", LATER, end_date=LATER)
    put_tasks(dags, "flights", ["2013-02-03T05:00Z"], "flights", "failed", LATER)
    cause, run = reasons("flights", "2013-02-03T05:00Z")
    assert cause == f"task flights failed: {KILLED}"
    assert run.startswith("run flights 2013-02-03T05:00Z ")
    assert run.endswith(" failed at 2013-02-21 04:05:06 UTC; nothing has materialized it since it began")
    put_runs(dags, "flights", ["2013-02-03T07:00Z"], "failed", LATER, end_date=LATER)
    put_tasks(dags, "flights", ["2013-02-03T07:00Z"], "flights", "failed", LATER, tries=3)
    assert reasons("flights", "2013-02-03T07:00Z")[0] == f"task flights failed after 3 tries: {KILLED}"
    put_runs(dags, "flights", ["2013-02-03T06:00Z"], "success", LATER, end_date=LATER)
    put_tasks(dags, "flights", ["2013-02-03T06:00Z"], "flights", "skipped", LATER)
    (reason,) = reasons("flights", "2013-02-03T06:00Z")
    assert reason.endswith("succeeded at 2013-02-21 04:05:06 UTC, but the task that makes it skipped itself")
    explanation = explain("flights", "2013-02-03T06:00Z", now=NOW)
    assert [(run["state"], run["tries"]) for run in explanation.to_json()["runs"]] == [("success", 1)]


def test_what_was_made_tells_its_events_also_when_they_are_purged(dags: Metadata) -> None:
    key, extra = "2013-02-03T05:00Z", {"rows": 7, "files": 1}
    dags.emit("flights", key, at=MADE, source_dag_id="flights", source_run_id="run1", extra=extra)
    dags.emit("flights", key, at=LATER, source_dag_id="flights", source_run_id="run2", extra=extra)
    events = explain("flights", key, now=NOW).to_json()["events"]
    assert [(event["at"], event["run_id"]) for event in events] == [
        ("2013-02-21T04:05:06+00:00", "run2"),
        ("2013-02-20T01:02:03+00:00", "run1"),
    ]
    one_round()
    dags.purge()
    assert explain("flights", key, now=NOW).to_json()["events"] == events[:1]


def test_what_is_missing_says_why(dags: Metadata) -> None:
    assert reasons("delays", "2013-02-03") == (
        "0 of 24 partitions of 'flights' that it needs are there; 2013-02-03T00:00Z to 2013-02-03T23:00Z are lacking",
    )
    assert reasons("flights", "2013-02-10T12:00Z")[0] == "its interval is not over before 2013-02-10 13:00:00 UTC"
    assert reasons("flights", "2013-02-03T05:00Z")[0].startswith("no run was made for it: its tick came before")
    dags.emit("flights", *hours("2013-02-03"))
    assert reasons("delays", "2013-02-03")[0].startswith("all that it needs is there, but no run was made")
    dags.emit("flights", "2013-02-04T05:00Z")
    forget(partitioned_asset("flights"), parse_selection(HOURS, "2013-02-04T05:00Z"), by="ada", reason="wrong file")
    assert reasons("flights", "2013-02-04T05:00Z")[0].startswith("ada forgot it at ")


def test_what_waits_for_its_time_says_when_it_begins(metadata: Metadata, tmp_path: Path) -> None:
    metadata.parse(
        tmp_path,
        flights="""
        DAYS = PartitionByInterval("@daily", timezone="America/New_York", start="2013-02-01")

        @asset(schedule=None, partition=DAYS)
        def flights(partition): ...

        @asset(schedule=flights, partition=DAYS, at="06:00")
        def delays(partition): ...
        """,
    )
    unpause(metadata)
    metadata.emit("flights", "2013-02-09", "2013-02-08", at=MADE)
    begins = "Dag delays makes it{} at 2013-02-10 11:00:00 UTC (at='06:00')"
    now = datetime(2013, 2, 10, 10, 59, tzinfo=UTC)
    assert f"all that it needs is there; {begins.format('')}" in explain("delays", "2013-02-09", now=now).reasons
    assert not any("06:00" in reason for reason in explain("delays", "2013-02-09", now=NOW).reasons)
    metadata.emit("delays", "2013-02-09", at=MADE)
    metadata.emit("flights", "2013-02-09", at=LATER)
    again = explain("delays", "2013-02-09", now=now)
    assert again.status.state is State.STALE
    assert begins.format(" again") in again.reasons


def test_nothing_is_told_of_an_upstream_asset_that_one_may_not_read(dags: Metadata) -> None:
    dags.emit("flights", *hours("2013-02-03")[:22], at=MADE)
    explanation = explain("delays", "2013-02-03", shows=lambda dags: dags.asset != "flights", now=NOW)
    assert explanation.reasons == ("it needs an asset that you may not read",)
    assert explanation.upstream == ()
    (stretch,) = states_of("delays", states={State.WAITING}, shows=lambda _: False, now=NOW).stretches
    assert "flights" not in str(stretch.to_json())


def test_an_unknown_asset_or_key_is_refused_with_the_nearest(dags: Metadata) -> None:
    with pytest.raises(UnknownAssetError, match="nearest: flights"):
        explain("flight", "2013-02-03", now=NOW)
    with pytest.raises(InvalidKeyError, match="2013-02-03T00:00Z"):
        explain("flights", "2013-02-03T00:30Z", now=NOW)
