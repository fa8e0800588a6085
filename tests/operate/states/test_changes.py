"""What got worse since a time, on Airflow's tables."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from airflow_partitions.core.calendars.moment import past_moment
from airflow_partitions.core.dependencies import Selection
from airflow_partitions.core.errors import InvalidRequestError
from airflow_partitions.engine.graph.partitioned_assets import partitioned_asset
from airflow_partitions.operate.contract.changes import ListChanges
from airflow_partitions.operate.operations import answer
from airflow_partitions.operate.operations.changes import changes_of
from airflow_partitions.operate.requests.forget import forget
from tests.metadata import Metadata
from tests.operate.states.world import put_runs, put_tasks

NOW = datetime(2013, 2, 10, 12, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")


@pytest.fixture
def dags(metadata: Metadata, tmp_path: Path) -> Metadata:
    metadata.parse(
        tmp_path,
        flights="""
        from airflow.sdk.definitions.deadline import DeadlineAlert, AsyncCallback
        from airflow_partitions import PartitionDeadline
        import datetime as dt

        async def tell(**kwargs): ...

        TOLD = AsyncCallback(tell)
        LATE = DeadlineAlert(reference=PartitionDeadline("10:00"), interval=dt.timedelta(0), callback=TOLD)

        @asset(schedule="@daily", partition=PartitionByInterval("@daily", start="2013-02-01"), deadline=LATE)
        def flights(partition): ...

        @asset(schedule=flights, partition=PartitionByInterval("@daily", start="2013-02-01"))
        def delays(partition): ...
        """,
    )
    return metadata


def changes(since: datetime, now: datetime = NOW) -> dict[str, dict[str, str]]:
    """The partitions that got worse, by asset and kind."""
    assets = [partitioned_asset(name) for name in ("flights", "delays")]
    forms = (each.to_json() for each in changes_of(assets, since, now).values() if each)
    kinds = ("failed", "late", "stale", "missing")
    return {form["asset"]: {kind: form[kind]["partitions"] for kind in kinds if form[kind]} for form in forms}


@pytest.mark.airflow
def test_what_got_worse_since_a_time_is_told_by_asset(dags: Metadata) -> None:
    days = [f"2013-02-0{i}" for i in range(1, 9)]
    dags.emit("flights", *days, at=NOW - timedelta(days=2))
    dags.emit("delays", *days, at=NOW - timedelta(days=1, hours=6))
    assert changes(NOW - timedelta(hours=1)) == {}
    put_runs(dags, "flights", ["2013-02-03"], "failed", NOW - timedelta(hours=5), end_date=NOW - timedelta(hours=5))
    put_runs(dags, "flights", ["2013-02-04"], "failed", NOW - timedelta(hours=3), end_date=NOW - timedelta(hours=1))
    dags.emit("flights", "2013-02-05", at=NOW - timedelta(hours=5))
    dags.emit("flights", "2013-02-06", at=NOW - timedelta(hours=1))
    assert changes(NOW - timedelta(hours=2)) == {
        "flights": {"failed": "2013-02-04"},
        "delays": {"stale": "2013-02-06"},
    }
    assert changes(NOW - timedelta(hours=6)) == {
        "flights": {"failed": "2013-02-03 to 2013-02-04", "late": "2013-02-09"},
        "delays": {"stale": "2013-02-05 to 2013-02-06"},
    }
    assert changes(NOW - timedelta(hours=13)) == {
        "flights": {"failed": "2013-02-03 to 2013-02-04", "late": "2013-02-09", "missing": "2013-02-09"},
        "delays": {"stale": "2013-02-05 to 2013-02-06", "missing": "2013-02-09"},
    }


@pytest.mark.airflow
def test_what_was_forgotten_since_then_is_missing(dags: Metadata) -> None:
    dags.emit("flights", "2013-02-03", at=NOW - timedelta(days=2))
    asset = partitioned_asset("flights")
    before = datetime.now(UTC)
    forget(asset, Selection.of(asset.definition, "2013-02-03"), by="ann", reason="wrong")
    assert "2013-02-03" in changes(before, datetime.now(UTC))["flights"]["missing"].split("; ")
    after = datetime.now(UTC)
    assert "missing" not in changes(after, datetime.now(UTC)).get("flights", {})


@pytest.mark.airflow
def test_the_answer_comes_in_pages(dags: Metadata) -> None:
    for dag_id in ("flights", "delays"):
        began = datetime.now(UTC)
        put_runs(dags, dag_id, ["2013-02-03"], "failed", began, end_date=began)
        put_tasks(dags, dag_id, ["2013-02-03"], dag_id, "failed", began)
    page = answer(ListChanges.of(since="2h", limit=1))
    assert ([one["asset"] for one in page["assets"]], page["cursor"]) == (["delays"], "delays")
    page = answer(ListChanges.of(since="2h", limit=1, cursor=page["cursor"]))
    assert ([(one["asset"], one["failed"]["count"]) for one in page["assets"]], page["cursor"]) == (
        [("flights", 1)],
        None,
    )
    only = answer(ListChanges.of(since="2h", asset=["delays"]))["assets"]
    assert [one["asset"] for one in only] == ["delays"]


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2h", datetime(2013, 2, 10, 10, tzinfo=UTC)),
        ("30min", datetime(2013, 2, 10, 11, 30, tzinfo=UTC)),
        ("12:30", datetime(2013, 2, 10, 11, 30, tzinfo=UTC)),  # in Berlin
        ("22:00", datetime(2013, 2, 9, 21, tzinfo=UTC)),  # not yet today
        ("7:00", datetime(2013, 2, 10, 6, tzinfo=UTC)),
        ("2013-02-10T01:00+01:00", datetime(2013, 2, 10, tzinfo=UTC)),
        ("2013-02-10T00:00:00Z", datetime(2013, 2, 10, tzinfo=UTC)),
    ],
)
def test_a_time_of_the_past_is_said_in_several_ways(text: str, moment: datetime) -> None:
    assert past_moment(text, NOW, BERLIN) == moment


@pytest.mark.parametrize("text", ["", "yesterday", "25:00", "2013-02-10", "2013-02-10T01:00", "-2h", "99999999999d"])
def test_what_says_no_time_of_the_past_is_refused_with_what_does(text: str) -> None:
    with pytest.raises(
        InvalidRequestError, match=r"expected a length of time before now such as 30min, 2h or 7d"
    ) as error:
        past_moment(text, NOW, BERLIN)
    assert "2013-02-10T13:00+01:00" in str(error.value)


def test_a_time_to_come_is_refused() -> None:
    with pytest.raises(InvalidRequestError, match="still to come"):
        past_moment("2013-02-11T00:00Z", NOW, BERLIN)
