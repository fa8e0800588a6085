"""The ledger on a real metadata database: what was materialized, by range, and in pages."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier, Lock
from typing import Any

import pytest
from sqlalchemy import event

from airflow_partitions import (
    KeyFormat,
    PartitionAtRuntime,
    PartitionByInterval,
    PartitionByProduct,
    PartitionBySequence,
    Selection,
)
from airflow_partitions.core.calendars.instants import instant
from airflow_partitions.core.definitions import PartitionDefinition
from airflow_partitions.core.dependencies.box import Box
from airflow_partitions.engine.database.models import Asset, Forgetting, Partition
from airflow_partitions.engine.ledger import corrections, ledger
from airflow_partitions.engine.ledger.ledger import materialized_times, records, update_ledger
from airflow_partitions.engine.ledger.ledger_pages import meaning_form, months_with
from airflow_partitions.engine.ledger.mailbox import publish_missing
from airflow_partitions.engine.ledger.new_events import SETTLED
from airflow_partitions.operate.upkeep.cell_check import cell_problems
from tests.metadata import LONG_AGO, Metadata

pytestmark = pytest.mark.airflow

NEW_YORK = "America/New_York"
HOURS = PartitionByInterval("@hourly", timezone=NEW_YORK, start="2013-01-01")
DAYS = PartitionByInterval("@daily", timezone=NEW_YORK, name="date")
AIRPORTS = PartitionBySequence(["EWR", "JFK", "LGA"], name="airport")
AIRPORT_DAYS = PartitionByProduct([DAYS, AIRPORTS])
MARKETS = PartitionBySequence(["us|asia", "eu"], name="market")


def day(definition: PartitionDefinition, date: str) -> list[str]:
    following = (datetime.fromisoformat(date) + timedelta(days=1)).date()
    return [str(key) for key in definition.keys(date, following)]


def everything(definition: PartitionDefinition) -> Selection:
    return Selection(definition, (Box(None),))


def recorded_keys(asset: str, selection: Selection) -> list[str]:
    return [str(key) for key, _ in records(asset, selection)]


def of_day(definition: PartitionByInterval, date: str) -> Selection:
    return Selection.of(definition, *day(definition, date))


@pytest.mark.parametrize(("date", "count"), [("2013-03-10", 23), ("2013-11-03", 25), ("2013-07-01", 24)])
def test_a_range_of_hours_is_what_the_clock_shows_that_day(metadata: Metadata, date: str, count: int) -> None:
    hours = day(HOURS, date)
    around = str(HOURS.previous(hours[0])), str(HOURS.next(hours[-1]))
    metadata.emit("flights", *around, *reversed(hours))
    assert update_ledger("flights", HOURS).records == count + 2
    assert recorded_keys("flights", of_day(HOURS, date)) == hours
    assert len(hours) == count


def test_a_record_tells_who_made_it_first_and_last(metadata: Metadata) -> None:
    key, later = day(HOURS, "2013-07-01")[0], LONG_AGO + timedelta(days=1)
    metadata.emit("flights", key, source_dag_id="old", source_run_id="run1", extra={"rows": 1})
    metadata.emit("flights", key, at=later, source_dag_id="flights", source_run_id="run2", extra={"rows": 7})
    update_ledger("flights", HOURS)
    ((recorded_key, record),) = records("flights", Selection.of(HOURS, key))
    assert (str(recorded_key), record.dag_id, record.run_id, record.extra) == (key, "flights", "run2", {"rows": 7})
    assert (record.first, record.last) == (LONG_AGO, later)


def test_parts_of_a_product_are_told_once_and_in_order(metadata: Metadata) -> None:
    keys = [text for date in ("2013-03-09", "2013-03-10", "2013-03-11") for text in day(AIRPORT_DAYS, date)]
    metadata.emit("delays", *keys)
    update_ledger("delays", AIRPORT_DAYS)
    chosen = [keys[0], keys[2], keys[4], keys[6], keys[7]]
    assert recorded_keys("delays", Selection.of(AIRPORT_DAYS, *reversed(chosen))) == chosen
    whole = Selection.between(AIRPORT_DAYS, *(DAYS.parse(date).start for date in ("2013-03-09", "2013-03-11")))
    assert recorded_keys("delays", whole) == keys[:6]


def test_segments_and_runtime_keys_have_no_time(metadata: Metadata) -> None:
    metadata.emit("markets", "eu", "us|asia")
    update_ledger("markets", MARKETS)
    assert recorded_keys("markets", everything(MARKETS)) == ["eu", "us|asia"]
    assert recorded_keys("markets", Selection.of(MARKETS, "us|asia")) == ["us|asia"]
    active = PartitionAtRuntime(name="active")
    metadata.emit("models", "acme", "int:1", "a|b\\c")
    update_ledger("models", active)
    assert set(recorded_keys("models", everything(active))) == {"acme", "int:1", "a|b\\c"}
    assert recorded_keys("models", Selection.of(active, 1, "bob")) == ["int:1"]
    assert {name: set(page) for name, page in metadata.pages("models").items()} == {"": {"acme", "int:1", "a|b\\c"}}


def test_products_of_segments_have_no_time_either(metadata: Metadata) -> None:
    both = PartitionByProduct([MARKETS, AIRPORTS])
    keys = list(map(str, both.keys()))
    metadata.emit("both", *keys)
    update_ledger("both", both)
    assert sorted(recorded_keys("both", everything(both))) == sorted(keys)
    assert recorded_keys("both", Selection.of(both, keys[1])) == [keys[1]]


def test_a_definition_that_begins_later_keeps_what_it_has_still(metadata: Metadata) -> None:
    hours = day(HOURS, "2013-07-01")
    metadata.emit("flights", *hours)
    update_ledger("flights", HOURS)
    later = PartitionByInterval("@hourly", timezone=NEW_YORK, start=hours[20])
    metadata.purge()
    assert update_ledger("flights", later).records == 0
    assert recorded_keys("flights", of_day(HOURS, "2013-07-01")) == hours
    assert recorded_keys("flights", Selection(later, of_day(HOURS, "2013-07-01").boxes)) == hours[20:]
    assert metadata.pages("flights") == {"201307": hours[20:]}
    assert update_ledger("flights", HOURS).records == 0
    assert metadata.pages("flights") == {"201307": hours}


def test_keys_of_an_older_definition_are_left_alone(metadata: Metadata) -> None:
    hours, days = day(HOURS, "2013-07-01"), ["2013-07-01", "2013-07-02"]
    metadata.emit("flights", *hours)
    update_ledger("flights", HOURS)
    metadata.emit("flights", *days, "nonsense")
    progress = update_ledger("flights", DAYS)
    assert progress.records == 2
    assert set(progress.malformed) == {*hours, "nonsense"}
    assert recorded_keys("flights", Selection.of(DAYS, *days, "2013-07-03")) == days
    assert recorded_keys("flights", of_day(HOURS, "2013-07-01")) == hours
    assert metadata.progress("flights")["months"] == ["201307"]


def test_another_meaning_reads_all_events_again(metadata: Metadata) -> None:
    metadata.emit("flights", "2013-07-01", "2013-07-02")
    berlin = PartitionByInterval("@daily", timezone="Europe/Berlin")
    assert [update_ledger("flights", definition).records for definition in (DAYS, berlin, berlin)] == [2, 2, 0]
    assert recorded_keys("flights", Selection.of(berlin, "2013-07-01", "2013-07-02")) == ["2013-07-01", "2013-07-02"]


def test_an_hour_that_a_formatted_text_names_twice_is_two_partitions(metadata: Metadata) -> None:
    key_format = KeyFormat(HOURS)
    metadata.emit("weather", "2013-11-03T01:00:00", "2013-11-03T02:00:00")
    update_ledger("weather", key_format)
    hours = day(HOURS, "2013-11-03")[1:4]
    assert recorded_keys("weather", of_day(HOURS, "2013-11-03")) == hours
    assert metadata.pages("weather") == {"201311": hours}
    assert update_ledger("weather", key_format).records == 0


def test_what_was_purged_stays(metadata: Metadata) -> None:
    hours = day(HOURS, "2013-07-01")
    metadata.emit("flights", *hours[:20])
    update_ledger("flights", HOURS)
    metadata.purge()
    metadata.emit("flights", *hours[20:22])
    for anew in (False, True):
        update_ledger("flights", HOURS, anew=anew)
        assert recorded_keys("flights", of_day(HOURS, "2013-07-01")) == hours[:22]
        assert metadata.pages("flights") == {"201307": hours[:22]}


def test_a_month_of_a_zone_lies_on_the_pages_of_the_months_in_utc(metadata: Metadata) -> None:
    hours = [str(key) for key in HOURS.keys("2013-03-31", "2013-04-01")]
    metadata.emit("flights", *hours, at=LONG_AGO)
    update_ledger("flights", HOURS)
    assert metadata.pages("flights") == {"201303": hours[:20], "201304": hours[20:]}
    assert metadata.progress("flights")["months"] == ["201303", "201304"]
    (page,) = (page for name, page in metadata.cells("flights", "page/").items() if name.endswith("201304"))
    assert page == {"version": 1, "times": {hour: [instant(LONG_AGO)] for hour in hours[20:]}}
    selection = Selection.of(HOURS, hours[0], hours[3])
    assert list(months_with(selection, ["201302", "201303", "201304"])) == ["201303"]
    assert list(months_with(of_day(HOURS, "2013-03-31"), ["201302", "201303", "201304"])) == ["201303", "201304"]


def test_advancing_again_changes_nothing(metadata: Metadata) -> None:
    metadata.emit("flights", *day(HOURS, "2013-07-01"))
    metadata.emit("flights", *day(HOURS, "2013-08-01"), at=datetime.now(UTC))
    update_ledger("flights", HOURS)
    before = metadata.cells("flights")
    assert update_ledger("flights", HOURS).records == 0
    assert metadata.cells("flights") == before


def test_what_something_wrote_over_a_page_is_mended(metadata: Metadata) -> None:
    metadata.emit("flights", *day(HOURS, "2013-07-01"))
    update_ledger("flights", HOURS)
    before = metadata.cells("flights", "page/")
    (name,) = before
    metadata.put("flights", name, {"version": 1, "times": {"2013-07-01T00:00-04:00": [0]}})
    assert update_ledger("flights", HOURS, anew=True).records == 0
    assert metadata.cells("flights", "page/") == before


def test_a_lost_progress_makes_all_pages_again(metadata: Metadata) -> None:
    hours = day(HOURS, "2013-07-01")
    metadata.emit("flights", *hours)
    update_ledger("flights", HOURS)
    metadata.purge()
    metadata.write_row(Asset, meaning=meaning_form(DAYS))
    update_ledger("flights", HOURS)
    assert metadata.progress("flights")["months"] == ["201307"]
    assert metadata.pages("flights") == {"201307": hours}


def test_the_mark_says_from_when_on_events_are_still_to_be_read(
    metadata: Metadata, monkeypatch: pytest.MonkeyPatch
) -> None:
    metadata.asset("flights")
    begin = datetime.now(UTC)
    update_ledger("flights", HOURS)
    first = datetime.fromisoformat(metadata.progress("flights")["until"])
    assert begin <= first + SETTLED <= datetime.now(UTC)
    monkeypatch.setattr(ledger, "_AT_ONCE", 5)
    recent = [begin - timedelta(minutes=minutes) for minutes in (9, 5, 1)]
    hours = day(HOURS, "2013-07-01")
    metadata.emit("flights", *hours[:10])
    for hour, at in zip(hours[10:], recent, strict=False):
        metadata.emit("flights", hour, at=at)
    assert update_ledger("flights", HOURS).records == 13
    assert first <= datetime.fromisoformat(metadata.progress("flights")["until"]) < recent[0]
    settled = metadata.progress("flights")["event"]
    assert update_ledger("flights", HOURS).events == 3
    assert metadata.progress("flights")["event"] == settled
    assert metadata.pages("flights") == {"201307": hours[:13]}


def test_until_waits_for_the_last_batch(metadata: Metadata, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "_AT_ONCE", 5)
    untils: list[Any] = []
    write: Callable[..., Any] = ledger.write_progress

    def watched(at: Any, asset_id: int, progress: Any) -> Any:
        untils.append(progress.until)
        return write(at, asset_id, progress)

    monkeypatch.setattr(ledger, "write_progress", watched)
    metadata.emit("flights", *day(HOURS, "2013-07-01")[:10])
    update_ledger("flights", HOURS)
    assert [until is None for until in untils] == [True, True, True, False]


def test_pages_are_written_once_for_all_batches_and_made_up_where_a_process_was_killed_between_two(
    metadata: Metadata, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger, "_AT_ONCE", 5)
    published: list[int] = []
    publish: Callable[..., None] = ledger.publish

    def watched(at: Any, asset_id: int, *rest: Any) -> None:
        published.append(asset_id)
        publish(at, asset_id, *rest)

    def killed(at: Any, asset_id: int, *rest: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ledger, "publish", watched)
    hours = [*day(HOURS, "2013-07-01"), *day(HOURS, "2013-08-01")]
    metadata.emit("flights", *hours[:24])
    update_ledger("flights", HOURS)
    assert len(published) == 1
    metadata.emit("flights", *hours[24:44])
    monkeypatch.setattr(ledger, "publish", killed)
    with pytest.raises(KeyboardInterrupt):
        update_ledger("flights", HOURS)
    metadata.purge()
    assert metadata.pages("flights") == {"201307": hours[:24]}
    assert publish_missing() == [metadata.asset("flights")]
    assert metadata.pages("flights") == {"201307": hours[:24], "201308": hours[24:44]}
    assert publish_missing() == []


DAMAGED = ["x", 7, [], {}, None, {"version": 1}, {"version": "1"}, {"version": 99}, [[[[]]]], True]


@pytest.mark.parametrize("form", DAMAGED, ids=repr)
@pytest.mark.parametrize("cell", ["ledger", "page/", "forgotten"])
def test_eb4_a_cell_that_anybody_wrote_over_harms_nothing_and_is_written_anew(
    metadata: Metadata, cell: str, form: Any
) -> None:
    hours = day(HOURS, "2013-07-01")
    keys = dict(zip(hours, HOURS.keys("2013-07-01", "2013-07-02"), strict=True))
    metadata.emit("flights", *hours)
    update_ledger("flights", HOURS)
    corrections.forget("flights", Selection.of(HOURS, hours[3]), by="me")
    metadata.purge()
    before, there = metadata.cells("flights"), [*hours[:3], *hours[4:]]
    metadata.put("flights", min(metadata.cells("flights", cell)), form)
    assert list(materialized_times("flights", HOURS, keys)) == there
    assert recorded_keys("flights", of_day(HOURS, "2013-07-01")) == there
    problems = [problem for problem in cell_problems() if problem.asset == "flights"]
    assert [problem.is_rewritten for problem in problems] == ([] if form is None else [True])
    update_ledger("flights", HOURS, anew=True)
    assert [problem for problem in cell_problems() if problem.asset == "flights"] == []
    assert metadata.pages("flights") == {"201307": there}
    assert metadata.cells("flights", "forgotten") == {"forgotten": before["forgotten"]}


def test_eo3_records_are_examined_by_as_few_statements_however_many_there_are_and_only_those_asked_for(
    metadata: Metadata,
) -> None:
    def examined(assets: list[str] | None) -> tuple[list[str], int]:
        statements: list[Any] = []

        def note(*of: Any) -> None:
            statements.append(of[2])

        event.listen(metadata.engine, "before_cursor_execute", note)
        try:
            return [problem.text for problem in cell_problems(assets)], len(statements)
        finally:
            event.remove(metadata.engine, "before_cursor_execute", note)

    names = [f"flights_{number}" for number in range(30)]
    hours = day(HOURS, "2013-07-01")
    for name in names[:2]:
        metadata.emit(name, *hours)
        update_ledger(name, HOURS)
    before = examined(None)
    assert before[0] == []
    for name in names:
        metadata.emit(name, *hours, *day(HOURS, "2013-07-02"))
        update_ledger(name, HOURS)
    assert examined(None) == before
    metadata.write_row(Partition, Partition.key == hours[3], dag_id=None, event=10**6)
    metadata.write_row(Partition, Partition.asset_id == metadata.asset(names[4]), dag_id=None, event=10**6)
    problems, statements = examined(names[4:6])
    assert statements <= before[1]
    assert [names[4] in problem for problem in problems] == [True] * 11 + [False]
    assert "38 more partitions" in problems[10]
    assert hours[3] in problems[11]
    assert len(examined(None)[0]) == 29 + 11
    assert examined([]) == ([], 0)


@pytest.mark.parametrize("meaning", [{"definition": {"kind": "of a later release"}}, {}, []], ids=repr)
def test_a_definition_that_cant_be_read_is_told_and_written_anew(metadata: Metadata, meaning: Any) -> None:
    hours = day(HOURS, "2013-07-01")
    metadata.emit("flights", *hours)
    metadata.emit("others", *hours)
    for asset in ("flights", "others"):
        update_ledger(asset, HOURS)
    metadata.purge()
    metadata.write_row(Asset, Asset.name == "flights", meaning=meaning)
    (problem,) = cell_problems()
    assert (problem.asset, problem.is_rewritten) == ("flights", True)
    problems: list[str] = []
    update_ledger("flights", HOURS, problems.append)
    assert "can't be read" in problems[0]
    assert list(cell_problems()) == []
    for asset in ("flights", "others"):
        assert recorded_keys(asset, of_day(HOURS, "2013-07-01")) == hours


@pytest.mark.parametrize("column", [Asset.meaning, Asset.unpublished, Forgetting.selection, Partition.extra], ids=str)
def test_a_row_with_a_form_that_is_no_json_keeps_no_other_from_being_read(metadata: Metadata, column: Any) -> None:
    hours = day(HOURS, "2013-07-01")
    for asset in ("flights", "others"):
        metadata.emit(asset, *hours, extra={"by": "hand"})
        update_ledger(asset, HOURS)
        corrections.forget(asset, Selection.of(HOURS, hours[3]), by="me")
    there = [*hours[:3], *hours[4:]]
    flights = metadata.asset("flights")
    table = column.class_
    where = [(table.id if table is Asset else table.asset_id) == flights]
    metadata.break_form(column, *where, *([Partition.key == hours[7]] if table is Partition else []))
    problems = list(cell_problems())
    assert {problem.asset for problem in problems} == (set() if column is Asset.unpublished else {"flights"})
    assert all("'[111" in problem.text for problem in problems)
    assert recorded_keys("others", of_day(HOURS, "2013-07-01")) == there
    assert recorded_keys("flights", of_day(HOURS, "2013-07-01")) == there
    metadata.emit("flights", hours[5])
    publish_missing()
    update_ledger("flights", HOURS, anew=True)
    taken_back = column is Forgetting.selection
    assert metadata.pages("flights") == {"201307": hours if taken_back else there}
    assert [problem for problem in cell_problems() if not taken_back] == []


def test_records_whose_extra_is_of_another_shape_are_told_ten_of_an_asset(metadata: Metadata) -> None:
    hours = day(HOURS, "2013-07-01")
    metadata.emit("flights", *hours, extra={"by": "hand"})
    update_ledger("flights", HOURS)
    metadata.write_row(Partition, extra=[7])
    problems = list(cell_problems(["flights"]))
    assert [problem.is_rewritten for problem in problems] == [True] * 11
    assert "14 more partitions" in problems[-1].text
    ((_, record), *_) = records("flights", of_day(HOURS, "2013-07-01"))
    assert record.extra == {"unreadable": "[7]"}
    update_ledger("flights", HOURS, anew=True)
    assert list(cell_problems()) == []


def test_an_asset_nobody_has_ever_mentioned_has_no_records(metadata: Metadata) -> None:
    assert update_ledger("nothing", HOURS).records == 0
    assert recorded_keys("nothing", of_day(HOURS, "2013-07-01")) == []


def test_processes_that_advance_at_once_lose_nothing(metadata: Metadata) -> None:
    hours = [str(key) for key in HOURS.keys("2013-07-02", "2013-07-04")]
    metadata.emit("flights", hours[0])
    in_order = Lock()  # events as old as these are committed: one with a lesser id does not follow

    def work(some: list[str]) -> None:
        for hour in some:
            with in_order:
                metadata.emit("flights", hour)
            update_ledger("flights", HOURS)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(work, (hours[1::2], hours[2::2])))
    assert metadata.pages("flights") == {"201307": hours}


def test_processes_that_begin_a_ledger_at_once_make_it_once(metadata: Metadata) -> None:
    hours = [str(key) for key in HOURS.keys("2013-07-02", "2013-07-03")]
    names = [f"flights_{number}" for number in range(20)]
    for name in names:
        metadata.emit(name, *hours)
    together = Barrier(2)

    def begin(_: int) -> None:
        for name in names:
            together.wait(60)
            update_ledger(name, HOURS)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(begin, range(2)))
    for name in names:
        assert metadata.pages(name) == {"201307": hours}
        assert metadata.progress(name)["months"] == ["201307"]
