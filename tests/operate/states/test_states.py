"""States of partitions, on a real metadata database."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.event import listen, remove

from airflow_partitions import PartitionByInterval
from airflow_partitions.core.dependencies.selection_text import parse_selection
from airflow_partitions.core.errors import SelectionError
from airflow_partitions.engine.graph.partitioned_assets import partitioned_asset
from airflow_partitions.operate.requests.forget import forget
from airflow_partitions.operate.requests.runtime_keys import add_runtime_keys
from airflow_partitions.operate.states import State, counts, explain, states_of
from airflow_partitions.operate.upkeep import one_round
from tests.metadata import Metadata
from tests.operate.states.world import put_pending, put_runs, put_tasks, shown

pytestmark = pytest.mark.airflow

NOW = datetime(2013, 2, 10, 12, tzinfo=UTC)
DAYS = PartitionByInterval("@daily", start="2013-02-01")


def day(number: int) -> str:
    return f"2013-02-{number:02}"


@pytest.fixture
def dags(metadata: Metadata, tmp_path: Path) -> Metadata:
    metadata.parse(
        tmp_path,
        flights="""
        DAYS = PartitionByInterval("@daily", start="2013-02-01")

        @asset(schedule="@daily", partition=DAYS)
        def flights(partition): ...

        @asset(schedule=flights, partition=DAYS)
        def delays(partition): ...

        @asset(schedule=None, partition=PartitionBySequence(["EWR", "JFK", "LGA"], name="airport"))
        def airports(partition): ...

        @asset(schedule="@daily", partition=PartitionByProduct([DAYS, PartitionBySequence(["EWR", "JFK", "LGA"])]))
        def airport_days(partition): ...

        @asset(schedule="@daily", partition=PartitionByInterval("@daily"))
        def open_days(partition): ...
        """,
    )
    return metadata


def test_each_state_is_told_in_stretches(dags: Metadata) -> None:
    made, later = datetime(2013, 2, 20, tzinfo=UTC), datetime(2013, 2, 21, tzinfo=UTC)
    dags.emit("flights", *map(day, (1, 2, 3, 5)), at=made)
    put_runs(dags, "flights", [day(3)], "running", later)
    put_runs(dags, "flights", [day(4)], "failed", later)
    put_runs(dags, "flights", [day(5)], "failed", datetime(2013, 2, 19, tzinfo=UTC))  # and made since
    put_runs(dags, "flights", [day(6)], "queued", later)
    put_runs(dags, "flights", [day(1), day(7)], "failed", later, start_date=None)  # cancelled before they began
    put_runs(dags, "flights", [day(8)], "success", later)
    put_tasks(dags, "flights", [day(8)], "flights", "skipped", later)
    page = states_of("flights", newest_first=False, now=NOW)
    assert shown(page.stretches) == [
        ("materialized", day(1), day(2), 2),
        ("running", day(3), day(3), 1),
        ("failed", day(4), day(4), 1),
        ("materialized", day(5), day(5), 1),
        ("queued", day(6), day(6), 1),
        ("missing", day(7), day(7), 1),
        ("skipped", day(8), day(8), 1),
        ("missing", day(9), day(9), 1),
    ]
    assert page.cursor is None
    assert states_of("flights", now=NOW).stretches == page.stretches[::-1]
    assert counts("flights", now=NOW).to_json() == {
        "asset": "flights", "now": "2013-02-10T12:00:00+00:00", "total": 9, "provisional": 0,
        "counts": {"running": 1, "queued": 1, "failed": 1, "materialized": 3, "skipped": 1, "missing": 2},
    }  # fmt: skip


def test_a_partition_is_stale_or_waits_by_its_upstream(dags: Metadata) -> None:
    dags.emit("flights", *map(day, (1, 2, 3)), at=datetime(2013, 2, 20, tzinfo=UTC))
    dags.emit("delays", *map(day, (1, 2)), at=datetime(2013, 2, 21, tzinfo=UTC))
    dags.emit("flights", day(2), at=datetime(2013, 2, 22, tzinfo=UTC))
    put_pending(dags, "delays", day(3))
    assert shown(states_of("delays", now=NOW).stretches) == [
        ("missing", day(4), day(9), 6),
        ("waiting", day(3), day(3), 1),
        ("stale", day(2), day(2), 1),
        ("materialized", day(1), day(1), 1),
    ]


def test_a_matrix_is_told_by_time_and_sets_of_segments(dags: Metadata) -> None:
    keys = [f"{day(n)}|{airport}" for n in range(1, 8) for airport in ("EWR", "JFK", "LGA")]
    keys.remove(f"{day(4)}|JFK")
    dags.emit("airport_days", *keys)
    page = states_of("airport_days", newest_first=False, now=NOW)
    assert [one.to_json() for one in page.stretches] == [
        {"state": "materialized", "first": "2013-02-01|EWR", "last": "2013-02-03|LGA", "count": 9,
         "start": "2013-02-01T00:00:00+00:00", "end": "2013-02-04T00:00:00+00:00"},
        {"state": "materialized", "first": "2013-02-04|EWR", "last": "2013-02-04|LGA", "count": 2,
         "start": "2013-02-04T00:00:00+00:00", "end": "2013-02-05T00:00:00+00:00",
         "segments": {"segment": ["EWR", "LGA"]}},
        {"state": "missing", "first": "2013-02-04|JFK", "last": "2013-02-04|JFK", "count": 1,
         "start": "2013-02-04T00:00:00+00:00", "end": "2013-02-05T00:00:00+00:00",
         "segments": {"segment": ["JFK"]}},
        {"state": "materialized", "first": "2013-02-05|EWR", "last": "2013-02-07|LGA", "count": 9,
         "start": "2013-02-05T00:00:00+00:00", "end": "2013-02-08T00:00:00+00:00"},
        {"state": "missing", "first": "2013-02-08|EWR", "last": "2013-02-09|LGA", "count": 6,
         "start": "2013-02-08T00:00:00+00:00", "end": "2013-02-10T00:00:00+00:00"},
    ]  # fmt: skip
    definition = partitioned_asset("airport_days").definition
    some = parse_selection(definition, "2013-02-03..2013-02-06 & segment in JFK")
    assert shown(states_of("airport_days", some, newest_first=False, now=NOW).stretches) == [
        ("materialized", "2013-02-03|JFK", "2013-02-03|JFK", 1),
        ("missing", "2013-02-04|JFK", "2013-02-04|JFK", 1),
        ("materialized", "2013-02-05|JFK", "2013-02-05|JFK", 1),
    ]


def test_values_come_in_their_order(dags: Metadata) -> None:
    dags.emit("airports", "LGA", "EWR")
    assert shown(states_of("airports", newest_first=False).stretches) == [
        ("materialized", "EWR", "EWR", 1),
        ("missing", "JFK", "JFK", 1),
        ("materialized", "LGA", "LGA", 1),
    ]


def test_an_open_calendar_begins_where_anything_is_known_or_where_it_is_said(dags: Metadata) -> None:
    assert states_of("open_days", now=NOW).stretches == ()
    definition = partitioned_asset("open_days").definition
    some = parse_selection(definition, "2013-01-30..2013-02-03")
    assert shown(states_of("open_days", some, now=NOW).stretches) == [("missing", "2013-01-30", "2013-02-02", 4)]
    dags.emit("open_days", day(8))
    assert shown(states_of("open_days", now=NOW).stretches) == [
        ("missing", day(9), day(9), 1),
        ("materialized", day(8), day(8), 1),
    ]


def test_what_is_not_over_is_told_only_where_something_is_there(dags: Metadata) -> None:
    dags.emit("flights", *(day(n) for n in range(1, 10)))
    dags.emit("flights", day(12), at=NOW)
    page = states_of("flights", now=NOW)
    assert [one.to_json().get("provisional") for one in page.stretches] == [True, None]
    assert shown(page.stretches) == [("materialized", day(12), day(12), 1), ("materialized", day(1), day(9), 9)]


def test_states_are_the_same_before_and_after_upkeep_and_when_events_are_purged(dags: Metadata) -> None:
    dags.emit("flights", *map(day, (1, 2, 5)))
    before = states_of("flights", now=NOW)
    one_round()
    assert states_of("flights", now=NOW) == before
    dags.purge()
    assert states_of("flights", now=NOW) == before
    assert State.MATERIALIZED in counts("flights", now=NOW).counts


def test_what_is_forgotten_is_missing(dags: Metadata) -> None:
    dags.emit("flights", *map(day, (1, 2, 3)))
    flights = partitioned_asset("flights")
    for _ in range(2):  # of events, then of the ledger
        forget(flights, parse_selection(DAYS, day(2)), by="me")
        assert counts("flights", parse_selection(DAYS, "..2013-02-04"), now=NOW).counts == {
            State.MATERIALIZED: 2,
            State.MISSING: 1,
        }
        dags.emit("flights", day(2))
        assert counts("flights", now=NOW).counts == {State.MATERIALIZED: 3, State.MISSING: 6}
        one_round()


def test_runs_that_have_succeeded_are_not_looked_at(dags: Metadata) -> None:
    if dags.engine.name != "sqlite":
        pytest.skip("PostgreSQL reads a small table as a whole, whatever its indexes are")
    questions: list[tuple[str, Any]] = []

    def remember(*values: Any) -> None:
        questions.append((values[2], values[3]))

    listen(dags.engine, "before_cursor_execute", remember)
    states_of("flights", now=NOW)
    remove(dags.engine, "before_cursor_execute", remember)
    of_runs = [(text, values) for text, values in questions if "FROM dag_run" in text]
    assert of_runs
    with dags.engine.connect() as at:
        for text, values in of_runs:
            steps = [row.detail for row in at.exec_driver_sql(f"EXPLAIN QUERY PLAN {text}", values)]
            (step,) = (step for step in steps if " dag_run " in step)
            assert "(dag_id=? AND state=?)" in step


def test_the_queries_do_not_grow_with_the_history(dags: Metadata) -> None:
    def queries(**arguments: Any) -> int:
        statements: list[str] = []

        def remember(*values: Any) -> None:
            statements.append(values[2])

        listen(dags.engine, "before_cursor_execute", remember)
        states_of("delays", now=datetime(2043, 1, 1, tzinfo=UTC), **arguments)
        remove(dags.engine, "before_cursor_execute", remember)
        return len(statements)

    keys = [str(key) for key in DAYS.keys("2013-02-01", "2043-01-01")]
    dags.emit("flights", *keys[:40])
    dags.emit("delays", *keys[:40])
    one_round()
    queries()
    few = [queries(limit=None), queries(limit=10)]
    dags.emit("flights", *keys)
    dags.emit("delays", *keys)
    one_round()
    many = [queries(limit=None), queries(limit=10)]
    assert many[0] <= few[0]
    assert max(many) <= 40


def test_a_page_goes_on_where_the_one_before_it_ended(dags: Metadata) -> None:
    dags.emit("flights", *(day(n) for n in (1, 3, 4, 6, 9)))
    for newest_first in (True, False):
        cursor, stretches = None, list[tuple[str, str, str, int]]()
        while True:
            page = states_of("flights", newest_first=newest_first, limit=2, cursor=cursor, now=NOW)
            assert len(page.stretches) <= 2
            stretches += shown(page.stretches)
            if (cursor := page.cursor) is None:
                break
        assert stretches == shown(states_of("flights", newest_first=newest_first, limit=None, now=NOW).stretches)
    with pytest.raises(SelectionError, match="is of no page"):
        states_of("flights", cursor="yesterday", now=NOW)


def test_keys_known_only_at_runtime_are_those_on_the_list(dags: Metadata, tmp_path: Path) -> None:
    dags.parse(
        tmp_path,
        customers="""
        from airflow_partitions import PartitionAtRuntime

        CUSTOMERS = PartitionAtRuntime(name="customers")

        @asset(schedule="@daily", partition=CUSTOMERS)
        def models(): ...

        @asset(schedule=models, partition=CUSTOMERS)
        def predictions(partition): ...
        """,
    )
    add_runtime_keys(partitioned_asset("models"), ["ann", "bob", "eve"], by="me")
    dags.emit("predictions", "bob", at=datetime(2043, 1, 1, tzinfo=UTC))
    assert shown(states_of("predictions", newest_first=False).stretches) == [
        ("missing", "ann", "ann", 1),
        ("materialized", "bob", "bob", 1),
        ("missing", "eve", "eve", 1),
    ]


def test_one_event_of_an_upstream_without_partitions_is_there_for_all(dags: Metadata, tmp_path: Path) -> None:
    dags.parse(
        tmp_path,
        revenue="""
        @asset(
            schedule=Asset.ref(name="flights") & Asset("rates"),
            partition=PartitionByInterval("@daily", start="2013-02-01"),
            rules={"rates": Unpartitioned()},
        )
        def revenue(partition): ...
        """,
    )
    dags.emit("flights", day(1), day(2))
    (missing, waiting) = states_of("revenue", now=NOW).stretches
    assert shown((missing, waiting)) == [("missing", day(3), day(9), 7), ("waiting", day(1), day(2), 2)]
    assert [(one.asset, one.there, one.needed) for one in waiting.upstream] == [("flights", 2, 2), ("rates", 0, 1)]
    dags.emit("rates", None)
    assert counts("revenue", now=NOW).counts == {State.MISSING: 9}
    dags.emit("revenue", day(1), at=datetime(2043, 1, 1, tzinfo=UTC))
    dags.emit("rates", None, at=datetime(2043, 1, 2, tzinfo=UTC))
    assert counts("revenue", now=NOW).counts == {State.MATERIALIZED: 1, State.MISSING: 8}


def test_a_partition_is_stale_when_the_one_before_it_that_it_needs_is_made_again(
    dags: Metadata, tmp_path: Path
) -> None:
    dags.parse(
        tmp_path,
        balance="""
        @asset(schedule="@daily", partition=PartitionByInterval("@daily", start="2013-02-01"), past=1)
        def balance(partition): ...
        """,
    )
    for number in (1, 2, 3):
        dags.emit("balance", day(number), at=datetime(2043, 1, number, tzinfo=UTC))
    assert counts("balance", now=NOW).counts == {State.MATERIALIZED: 3, State.MISSING: 6}
    dags.emit("balance", day(1), at=datetime(2043, 1, 4, tzinfo=UTC))
    assert shown(states_of("balance", states={State.STALE}, now=NOW).stretches) == [("stale", day(2), day(2), 1)]
    assert explain("balance", day(2), now=NOW).reasons[0] == (
        "partition 2013-02-01 of 'balance', which it needs, was materialized at 2043-01-04 00:00:00 UTC"
    )
